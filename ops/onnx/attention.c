/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attention: softmax(Q K' / sqrt(d)) V of each head.
 *     MACs = scores * (d + v), FLOPs = 2 * MACs + scores
 * scores = batch * heads * queries * keys; d, v the last axes of Q and V in one head. The one
 * FLOP a score is the softmax. No mask takes away from what is counted, a causal one neither:
 * how much of it a kernel skips is the kernel's business.
 */
#include "ops/onnx/attention.h"

#include "ops/common.h"
#include "ops/contrib/attention.h"
#include "ops/families.h"
#include "ops/product.h"

#include "support/banned.h"

/* One operand: [batch, heads, length, width], or [batch, length, heads * width]. */
struct heads {
    int64_t batch, heads, length, width;
};

static int64_t divide(int64_t a, int64_t b) {
    return b == 0 ? 0 : checked_div_floor(a, b);
}

static struct heads heads_of(const struct rule *rule, size_t i, const char *count) {
    const int rank = rule_rank(rule, i);
    struct heads heads = {DIM_UNKNOWN, DIM_UNKNOWN, DIM_UNKNOWN, DIM_UNKNOWN};
    if (rank != 3 && rank != 4) return heads;
    heads.batch = rule_dim(rule, i, 0);
    heads.length = rule_dim(rule, i, rank - 2);
    heads.width = rule_dim(rule, i, rank - 1);
    heads.heads = rank == 4 ? rule_dim(rule, i, 1) : rule_attr_int(rule, count);
    if (rank == 3) heads.width = divide(heads.width, heads.heads);
    return heads;
}

/* Keys of earlier calls come before those of this one. */
static int64_t n_keys(const struct rule *rule) {
    const int64_t keys = heads_of(rule, 1, "kv_num_heads").length;
    if (!rule_has_input(rule, 4)) return keys;
    if (rule_rank(rule, 4) != 4) return DIM_UNKNOWN;
    return checked_add(rule_dim(rule, 4, 2), keys);
}

static int check_operand(const struct rule *rule, size_t i, const char *count) {
    const int rank = rule_rank(rule, i);
    if (rank == RANK_UNKNOWN || rank == 4) return CM_OK;
    if (rank != 3)
        return rule_fail(rule, DIAG_SHAPE, "input %zu has the rank %d, 3 or 4 is wanted", i,
                         rank);
    const int64_t n = rule_attr_int(rule, count);
    const int64_t width = rule_dim(rule, i, 2);
    if (n < 1)
        return rule_fail(rule, DIAG_ATTRIBUTE, "%s is wanted where input %zu has the rank 3",
                         count, i);
    if (is_known(width) && width % n != 0)
        return rule_fail(rule, DIAG_SHAPE, "%lld columns do not divide into %lld heads",
                         (long long)width, (long long)n);
    return CM_OK;
}

static int check_operands(const struct rule *rule) {
    int status = check_operand(rule, 0, "q_num_heads");
    for (size_t i = 1; i < 3 && status == CM_OK; i++)
        status = check_operand(rule, i, "kv_num_heads");
    if (status < 0) return status;
    const int64_t q = heads_of(rule, 0, "q_num_heads").width;
    const int64_t k = heads_of(rule, 1, "kv_num_heads").width;
    if (is_known(q) && is_known(k) && q != k)
        return rule_fail(rule, DIAG_SHAPE, "queries have %lld columns, keys %lld", (long long)q,
                         (long long)k);
    return CM_OK;
}

static int infer_attention(struct rule *rule) {
    int status = check_operands(rule);
    if (status < 0) return status;
    const struct heads q = heads_of(rule, 0, "q_num_heads");
    const struct heads k = heads_of(rule, 1, "kv_num_heads");
    const struct heads v = heads_of(rule, 2, "kv_num_heads");
    const enum dtype dtype = rule_dtype(rule, 0);
    const int rank = rule_rank(rule, 0);
    const int64_t flat[] = {q.batch, q.length, checked_mul(q.heads, v.width)};
    const int64_t deep[] = {q.batch, q.heads, q.length, v.width};
    const int64_t keys[] = {k.batch, k.heads, n_keys(rule), k.width};
    const int64_t values[] = {k.batch, k.heads, n_keys(rule), v.width};
    const int64_t scores[] = {q.batch, q.heads, q.length, n_keys(rule)};
    status = rule_output_dims(rule, 0, dtype, rank, rank == 3 ? flat : deep);
    if (status == CM_OK) status = rule_output_dims(rule, 1, dtype, 4, keys);
    if (status == CM_OK) status = rule_output_dims(rule, 2, dtype, 4, values);
    if (status == CM_OK) status = rule_output_dims(rule, 3, dtype, 4, scores);
    return status;
}

/* What the graph of that name makes of the scores, which must be the same again. */
static int walk_modifier(struct rule *rule, const char *name, const struct fact *scores) {
    const uint32_t graph = rule_attr_graph(rule, name);
    const struct fact *outputs = NULL;
    if (graph == ID_NONE) return CM_OK;
    int status = rule->walker->walk(rule->walker->context, graph, 1, scores, &outputs);
    return status < 0 ? status : rule->walker->runs(rule->walker->context, graph, 1, NULL);
}

/* Operands of four axes; the scores pass through score_mod, their softmax through prob_mod. */
static int infer_flex_attention(struct rule *rule) {
    for (size_t i = 0; i < 3; i++)
        if (rule_rank(rule, i) != RANK_UNKNOWN && rule_rank(rule, i) != 4)
            return rule_fail(rule, DIAG_SHAPE, "input %zu has rank %d, 4 is wanted", i,
                             rule_rank(rule, i));
    int status = infer_attention(rule);
    if (status < 0) return status;
    const struct heads q = heads_of(rule, 0, "");
    const bool precise = rule_dtype(rule, 0) == DTYPE_DOUBLE;
    enum dtype dtype = precise ? DTYPE_DOUBLE : DTYPE_FLOAT;
    if (rule_has_attr(rule, "softmax_precision"))
        status = common_dtype_attr(rule, "softmax_precision", &dtype);
    if (status < 0) return status;
    int64_t dims[] = {q.batch, q.heads, q.length, n_keys(rule)};
    struct fact scores = fact_tensor(dtype, shape_unknown());
    if (shape_make(rule->arena, 4, dims, &scores.shape) < 0) return diag_no_memory(rule->diag);
    status = walk_modifier(rule, "score_mod", &scores);
    return status < 0 ? status : walk_modifier(rule, "prob_mod", &scores);
}

/* As a composite: the axes in front of the last two are what they are. */
static int64_t taken_apart_keys(const struct rule *rule) {
    const int rank = rule_rank(rule, 1);
    return rank < 2 ? DIM_UNKNOWN : rule_dim(rule, 1, rank - 1);
}

static bool is_vendor(const struct rule *rule) {
    return text_equal(rule->op->domain, "com.microsoft");
}

int64_t attention_rows(const struct rule *rule) {
    if (is_vendor(rule)) return vendor_attention_rows(rule);
    if (rule->op == &attention_taken_apart) {
        const int rank = rule_rank(rule, 2);
        if (rank < 2) return DIM_UNKNOWN;
        return divide(rule_output_elements(rule, 0), rule_dim(rule, 2, rank - 1));
    }
    const struct heads q = heads_of(rule, 0, "q_num_heads");
    return checked_mul(checked_mul(q.batch, q.heads), q.length);
}

int64_t attention_scores(const struct rule *rule) {
    if (is_vendor(rule)) return vendor_attention_scores(rule);
    const bool apart = rule->op == &attention_taken_apart;
    return checked_mul(attention_rows(rule), apart ? taken_apart_keys(rule) : n_keys(rule));
}

int attention_masks(const struct rule *rule) {
    if (is_vendor(rule)) return vendor_attention_masks(rule);
    if (rule->op == &attention_taken_apart)
        return rule_has_input(rule, 3) + rule_has_input(rule, 4);
    return rule_attr_int(rule, "is_causal") != 0 || rule_has_input(rule, 3);
}

static void macs_attention(const struct rule *rule, struct product *ret) {
    const struct heads q = heads_of(rule, 0, "q_num_heads");
    const struct heads v = heads_of(rule, 2, "kv_num_heads");
    product_add(ret, "scores", attention_scores(rule));
    product_add(ret, "columns of query and value", checked_add(q.width, v.width));
}

static void macs_taken_apart(const struct rule *rule, struct product *ret) {
    const int rank_q = rule_rank(rule, 0);
    const int rank_v = rule_rank(rule, 2);
    int64_t columns = DIM_UNKNOWN;
    if (rank_q > 1 && rank_v > 1)
        columns = checked_add(rule_dim(rule, 0, rank_q - 1), rule_dim(rule, 2, rank_v - 1));
    product_add(ret, "scores", attention_scores(rule));
    product_add(ret, "columns of query and value", columns);
}

static const struct op_attr attention_23[] = {INT_ATTR("is_causal", 0),
                                              OPTIONAL_ATTR("kv_num_heads", ATTR_INT),
                                              OPTIONAL_ATTR("q_num_heads", ATTR_INT),
                                              INT_ATTR("qk_matmul_output_mode", 0),
                                              OPTIONAL_ATTR("scale", ATTR_FLOAT),
                                              FLOAT_ATTR("softcap", 0),
                                              OPTIONAL_ATTR("softmax_precision", ATTR_INT),
                                              {0}};
static const struct op_attr attention_25[] = {INT_ATTR("is_causal", 0),
                                              OPTIONAL_ATTR("kv_num_heads", ATTR_INT),
                                              INT_ATTR("left_window_size", -1),
                                              OPTIONAL_ATTR("q_num_heads", ATTR_INT),
                                              INT_ATTR("qk_matmul_output_mode", 0),
                                              INT_ATTR("right_window_size", -1),
                                              OPTIONAL_ATTR("scale", ATTR_FLOAT),
                                              FLOAT_ATTR("softcap", 0),
                                              OPTIONAL_ATTR("softmax_precision", ATTR_INT),
                                              {0}};

static const struct op_attr flex_attention_1[] = {OPTIONAL_ATTR("prob_mod", ATTR_GRAPH),
                                                  OPTIONAL_ATTR("scale", ATTR_FLOAT),
                                                  OPTIONAL_ATTR("score_mod", ATTR_GRAPH),
                                                  OPTIONAL_ATTR("softmax_precision", ATTR_INT),
                                                  {0}};

/* The logarithm of the sum of each row's exponentials, by which its weights are found again. */
static int64_t row_sums(const struct rule *rule) {
    return dtype_bytes(DTYPE_FLOAT, attention_rows(rule));
}

/*
 * A fused kernel keeps no weights: it computes Q K' again, and then the gradients of V and of
 * the weights, each the product of scores and V's columns, and of Q and K, of scores and Q's.
 */
static int64_t attention_backward(const struct rule *rule, uint32_t wanted) {
    const int64_t scores = attention_scores(rule);
    const int64_t q = checked_mul(scores, heads_of(rule, 0, "q_num_heads").width);
    const int64_t v = checked_mul(scores, heads_of(rule, 2, "kv_num_heads").width);
    int64_t macs = q;
    if (wanted & 4U) macs = checked_add(macs, v);
    if (wanted & 3U) macs = checked_add(macs, v);
    if (wanted & 1U) macs = checked_add(macs, q);
    if (wanted & 2U) macs = checked_add(macs, q);
    return macs;
}

#define ATTENTION(from, most, out, attributes, rule, count, ...)                               \
    {                                                                                          \
        .domain = "", .type = "Attention", .since = from, .min_inputs = 3, .max_inputs = most, \
        .min_outputs = 1, .max_outputs = out, .attrs = attributes, .infer = rule,              \
        .cost = {.macs = count,                                                                \
                 .macs_are = "scores x (columns of a query and of a value)",                   \
                 .extra = attention_scores,                                                    \
                 .extra_is = "at 1 a score"},                                                  \
        .roles = "xxxmxxi", __VA_ARGS__                                                        \
    }

/* In a training step each of its parts keeps what it keeps: weights that stand in the file are
 * there, and no fused kernel is at work. */
const struct op attention_taken_apart = ATTENTION(1, 5, 1, NULL, common_infer_unknown_rank,
                                                  macs_taken_apart, .backward.gradients = NULL);

#define FUSED                                                                                  \
    .backward.gradients = "0123ye,0123ye,0123ye,-", .backward.extra = row_sums,                \
    .backward.macs = attention_backward

static const struct op rows[] = {
    ATTENTION(23, 6, 4, attention_23, infer_attention, macs_attention, FUSED),
    ATTENTION(24, 7, 4, attention_23, infer_attention, macs_attention, FUSED),
    ATTENTION(25, 7, 4, attention_25, infer_attention, macs_attention, FUSED),
    {.domain = "ai.onnx.preview",
     .type = "FlexAttention",
     .since = 1,
     .min_inputs = 3,
     .max_inputs = 3,
     .min_outputs = 1,
     .max_outputs = 1,
     .attrs = flex_attention_1,
     .infer = infer_flex_attention,
     .cost = {.macs = macs_attention,
              .macs_are = "scores x (columns of a query and of a value)",
              .extra = attention_scores,
              .extra_is = "at 1 a score"},
     .roles = "x",
     .backward.gradients = "012ye",
     .backward.extra = row_sums,
     .backward.macs = attention_backward},
};

const struct op_family family_attention = {"attention", rows, sizeof(rows) / sizeof(rows[0]),
                                           NULL};
