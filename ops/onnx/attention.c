/* SPDX-License-Identifier: Apache-2.0 */
/* Attention: softmax(Q K' / sqrt(d)) V of each head.
 *     MACs = scores * (d + v), FLOPs = 2 * MACs + scores
 * with scores = batch * heads * queries * keys; d and v are the columns of K and V per head.
 * In this formula the softmax has one FLOP per score. Masks, also causal ones, do not reduce
 * the count. */
#include "ops/common.h"
#include "ops/onnx/facets.h"
#include "ops/onnx/patterns.h"
#include "ops/product.h"

/* Dims of one operand: [batch, heads, length, width] or [batch, length, heads * width]. */
struct heads {
    int64_t batch, heads, length, width;
};

static int64_t divide(int64_t a, int64_t b) {
    return b == 0 ? 0 : checked_div_floor(a, b);
}

/* Returns true for the rows of fused patterns, whose keys are transposed. */
static bool is_decomposed(const struct op_context *context) {
    return context->op->attrs == NULL;
}

static struct heads heads_of(const struct op_context *context, size_t i, const char *count) {
    const int rank = op_rank(context, i);
    struct heads heads = {DIM_UNKNOWN, DIM_UNKNOWN, DIM_UNKNOWN, DIM_UNKNOWN};
    if (rank != 3 && rank != 4) return heads;
    heads.batch = op_dim(context, i, 0);
    heads.length = op_dim(context, i, rank - 2);
    heads.width = op_dim(context, i, rank - 1);
    heads.heads = rank == 4                ? op_dim(context, i, 1)
                  : is_decomposed(context) ? 1
                                           : op_attr_int(context, count);
    if (rank == 3) heads.width = divide(heads.width, heads.heads);
    return heads;
}

/* Returns the number of keys, past and new; DIM_UNKNOWN if either is unknown. */
static int64_t n_keys(const struct op_context *context) {
    const int64_t keys = heads_of(context, 1, "kv_num_heads").length;
    if (!op_has_input(context, 4)) return keys;
    if (op_rank(context, 4) != 4) return DIM_UNKNOWN;
    return checked_add(op_dim(context, 4, 2), keys);
}

static int check_operand(const struct op_context *context, size_t i, const char *count) {
    const int rank = op_rank(context, i);
    if (rank == RANK_UNKNOWN || rank == 4) return CM_OK;
    if (rank != 3)
        return op_fail(context, DIAG_SHAPE, "input %zu must have rank 3 or 4, got %d", i, rank);
    const int64_t n = op_attr_int(context, count);
    const int64_t width = op_dim(context, i, 2);
    if (n < 1)
        return op_fail(context, DIAG_ATTRIBUTE, "%s is required if input %zu has rank 3", count,
                       i);
    if (is_known(width) && width % n != 0)
        return op_fail(context, DIAG_SHAPE, "%lld columns do not divide into %lld heads",
                       (long long)width, (long long)n);
    return CM_OK;
}

static int infer_attention(struct op_context *context) {
    int status = check_operand(context, 0, "q_num_heads");
    if (status == CM_OK) status = check_operand(context, 1, "kv_num_heads");
    if (status == CM_OK) status = check_operand(context, 2, "kv_num_heads");
    if (status < 0) return status;
    const struct heads q = heads_of(context, 0, "q_num_heads");
    const struct heads k = heads_of(context, 1, "kv_num_heads");
    const struct heads v = heads_of(context, 2, "kv_num_heads");
    if (common_differ(q.width, k.width))
        return op_fail(context, DIAG_SHAPE, "queries have %lld columns, keys %lld",
                       (long long)q.width, (long long)k.width);
    const enum dtype dtype = op_dtype(context, 0);
    const int rank = op_rank(context, 0);
    const int64_t flat[] = {q.batch, q.length, checked_mul(q.heads, v.width)};
    const int64_t deep[] = {q.batch, q.heads, q.length, v.width};
    const int64_t keys[] = {k.batch, k.heads, n_keys(context), k.width};
    const int64_t values[] = {k.batch, k.heads, n_keys(context), v.width};
    const int64_t scores[] = {q.batch, q.heads, q.length, n_keys(context)};
    status = op_output_dims(context, 0, dtype, rank, rank == 3 ? flat : deep);
    if (status == CM_OK) status = op_output_dims(context, 1, dtype, 4, keys);
    if (status == CM_OK) status = op_output_dims(context, 2, dtype, 4, values);
    return status < 0 ? status : op_output_dims(context, 3, dtype, 4, scores);
}

/* Infers the graph in attribute `name`, which modifies the scores or their softmax. Ignores the
 * outputs of the graph: ONNX requires them to have the type of the scores. */
static int walk_modifier(struct op_context *context, const char *name,
                         const struct value_info *scores) {
    const uint32_t graph = op_attr_graph(context, name);
    const struct value_info *outputs = NULL;
    if (graph == ID_NONE) return CM_OK;
    int status = context->walker->walk(context->walker->context, graph, 1, scores, &outputs);
    return status < 0 ? status
                      : context->walker->runs(context->walker->context, graph, 1, NULL);
}

/* FlexAttention: 4-D operands; score_mod modifies the scores, prob_mod their softmax. */
static int infer_flex_attention(struct op_context *context) {
    int status = CM_OK;
    for (size_t i = 0; i < 3 && status == CM_OK; i++)
        status = common_check_rank_is(context, i, 4);
    if (status == CM_OK) status = infer_attention(context);
    if (status < 0) return status;
    const struct heads q = heads_of(context, 0, "");
    enum dtype dtype = op_dtype(context, 0) == DTYPE_DOUBLE ? DTYPE_DOUBLE : DTYPE_FLOAT;
    if (op_has_attr(context, "softmax_precision"))
        status = common_dtype_attr(context, "softmax_precision", &dtype);
    if (status < 0) return status;
    int64_t dims[] = {q.batch, q.heads, q.length, n_keys(context)};
    struct value_info scores = value_info_tensor(dtype, shape_unknown());
    if (shape_make(context->arena, 4, dims, &scores.shape) < 0)
        return diag_no_memory(context->diag);
    status = walk_modifier(context, "score_mod", &scores);
    return status < 0 ? status : walk_modifier(context, "prob_mod", &scores);
}

static int64_t attention_rows(const struct op_context *context) {
    if (is_decomposed(context)) {
        const int rank = op_rank(context, 2);
        if (rank < 2) return DIM_UNKNOWN;
        return divide(op_output_elements(context, 0), op_dim(context, 2, rank - 1));
    }
    const struct heads q = heads_of(context, 0, "q_num_heads");
    return checked_mul(checked_mul(q.batch, q.heads), q.length);
}

static int64_t attention_scores(const struct op_context *context) {
    const bool decomposed = is_decomposed(context);
    return checked_mul(attention_rows(context),
                       decomposed ? common_last_dim(context, 1) : n_keys(context));
}

static void macs_attention(const struct op_context *context, struct product *ret) {
    const struct heads q = heads_of(context, 0, "q_num_heads");
    const struct heads v = heads_of(context, 2, "kv_num_heads");
    product_add(ret, "scores", attention_scores(context));
    product_add(ret, "columns of query and value", checked_add(q.width, v.width));
}

static void macs_decomposed(const struct op_context *context, struct product *ret) {
    int64_t columns = DIM_UNKNOWN;
    if (op_rank(context, 0) > 1 && op_rank(context, 2) > 1)
        columns = checked_add(common_last_dim(context, 0), common_last_dim(context, 2));
    product_add(ret, "scores", attention_scores(context));
    product_add(ret, "columns of query and value", columns);
}

/* Returns the bytes that a fused kernel keeps for the backward pass besides the tensors: the
 * log-sum-exp of each row in float32. */
static int64_t row_sums(const struct op_context *context) {
    return dtype_bytes(DTYPE_FLOAT, attention_rows(context));
}

/* Returns the MACs of a fused kernel's backward pass. The kernel does not save the softmax, so
 * it computes Q K' again: scores * d MACs. The gradients of V and of the softmax have scores *
 * v MACs each, the gradients of Q and K scores * d each. Bit i of `gradients`: the gradient of
 * operand i is computed. */
static int64_t attention_backward(const struct op_context *context) {
    const int64_t scores = attention_scores(context);
    const int64_t q = checked_mul(scores, heads_of(context, 0, "q_num_heads").width);
    const int64_t v = checked_mul(scores, heads_of(context, 2, "kv_num_heads").width);
    int64_t macs = q;
    if (context->gradients & 4U) checked_add_to(&macs, v);
    if (context->gradients & 3U) checked_add_to(&macs, v);
    if (context->gradients & 1U) checked_add_to(&macs, q);
    if (context->gradients & 2U) checked_add_to(&macs, q);
    return macs;
}

/* Returns the FLOPs besides MACs: scaling, masks, biases and softmax of the scores. */
static int64_t exact_attention(const struct op_context *context) {
    const bool decomposed = is_decomposed(context);
    const bool causal = !decomposed && op_attr_int(context, "is_causal") != 0;
    const int biases = decomposed && op_has_input(context, 4);
    return exact_attention_scores_flops((causal || op_has_input(context, 3)) + biases,
                                        attention_scores(context), attention_rows(context));
}

/* Returns the FLOPs of the softmax only: thop does not count products without a weight. */
static int64_t thop_attention(const struct op_context *context) {
    return thop_softmax_flops(attention_scores(context), attention_rows(context));
}

static bool attends(const struct op_context *context, struct op_attention *ret) {
    const struct heads q = heads_of(context, 0, "q_num_heads");
    const struct heads k = heads_of(context, 1, "kv_num_heads");
    const struct heads v = heads_of(context, 2, "kv_num_heads");
    const int64_t window =
        context->op->since >= 25 ? op_attr_int(context, "left_window_size") : -1;
    *ret = (struct op_attention){.heads = q.heads,
                                 .kv_heads = k.heads,
                                 .key_columns = k.width,
                                 .value_columns = v.width,
                                 .window = window < 0 ? 0 : checked_add(window, 1),
                                 .keys = 1,
                                 .values = 2,
                                 .mask = 3,
                                 .is_causal = op_attr_int(context, "is_causal") != 0};
    return is_known(q.heads) && is_known(k.heads) && is_known(k.width) && is_known(v.width);
}

/* clang-format off */
#define ATTENTION(signature, infer_fn, count, ...)                                             \
    {                                                                                          \
        signature, .infer = infer_fn,                                                          \
        .cost = {count, "scores x (columns of a query and of a value)"},                       \
        .param_roles = "xxxmxxi", __VA_ARGS__                                                  \
    }
#define FUSED                                                                                  \
    .backward.saved_for_backward = "0123ye,0123ye,0123ye,-", .backward.extra = row_sums,       \
    .backward.macs = attention_backward

static const struct op_facets facets = {DEEPSPEED(PLUS(attention_scores, "scores")), EXACT(EXACT_ATTENTION),
    PTFLOPS(.per_mac = 1, PLUS(attention_scores, "scores")),
    THOP(PLUS(thop_attention, "operations: 3 per score, less 1 per row")),
    LOWER(lower_attention, CM_ATTENTION, 0, IMAGES_NONE, LIMIT_ATTENTION), NO_BOUNDS,
    EXTENDS(1, 4, 2), ATTENDS(attends)};

/* Operator row of decomposed attention (a fused pattern). In a training step no fused kernel runs: each
 * node of the pattern saves its own values. */
const struct op attention_decomposed =
    ATTENTION(OP_SIGNATURE("", "Attention", 1, 3, 5, 1, 1, NULL), common_infer_unknown_rank,
              macs_decomposed, .facets = &facets, .backward.saved_for_backward = NULL);

/* Operator row of an exported call of scaled_dot_product_attention, which trains with a fused
 * kernel. */
const struct op attention_exported =
    ATTENTION(OP_SIGNATURE("", "Attention", 1, 3, 5, 1, 1, NULL), common_infer_unknown_rank,
              macs_decomposed, .facets = &facets, FUSED);

static const struct op rows[] = {
    ATTENTION(ONNX_Attention_23, infer_attention, macs_attention, .facets = &facets, FUSED),
    ATTENTION(ONNX_Attention_24, infer_attention, macs_attention, .facets = &facets, FUSED),
    ATTENTION(ONNX_Attention_25, infer_attention, macs_attention, .facets = &facets, FUSED),
    {SIGNATURE(PREVIEW, FlexAttention, 1, DEEPSPEED(PLUS(attention_scores, "scores")), NO_BOUNDS,
        EXACT(PLUS(exact_attention, "operations: 6 per score, less 2 per row")),
        NO_PRIMITIVE("graphs may modify its scores")),
     .infer = infer_flex_attention, .cost = {macs_attention, "scores x (columns of a query and of a value)"},
     .param_roles = "xxxmxxi",
     .backward = {.saved_for_backward = "012ye", .extra = row_sums, .macs = attention_backward}},
};
/* clang-format on */

OP_FAMILY(attention, .declines = FACETS_RARE);
