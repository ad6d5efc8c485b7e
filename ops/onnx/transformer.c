/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of transformers besides softmax attention: rotary embedding, linear attention (with
 * a recurrent state), and the short causal convolution before it. */
#include "ops/common.h"
#include "ops/onnx/facets.h"
#include "ops/product.h"

static int infer_rotary(struct op_context *context) {
    const int rank = op_rank(context, 0);
    if (rank != RANK_UNKNOWN && rank != 3 && rank != 4)
        return op_fail(context, DIAG_SHAPE, "input 0 must have rank 3 or 4, got %d", rank);
    if (rank == 3 && op_attr_int(context, "num_heads") < 1 &&
        op_attr_int(context, "rotary_embedding_dim") > 0)
        return op_fail(context, DIAG_ATTRIBUTE, "num_heads is required if input 0 has rank 3");
    return common_infer_same(context);
}

/* Linear attention. Q [B, T, Hq k], K [B, T, H k], V [B, T, H v], packed; state [B, H, k, v].
 * Every query reads the state, every key updates it; with a delta rule every key also reads it:
 *     MACs = B * T * k * v * (Hq + H), with a delta rule B * T * k * v * (Hq + 2 H)
 * The operator of com.microsoft may have fewer query heads than key heads: a query then reads
 * several states. */
struct linear {
    int64_t batch, steps, queries, heads, key, value;
    bool delta;
};

static struct linear linear_sizes(const struct op_context *context) {
    struct linear sizes = {DIM_UNKNOWN, DIM_UNKNOWN, DIM_UNKNOWN, DIM_UNKNOWN,
                           DIM_UNKNOWN, DIM_UNKNOWN, false};
    const char *update = op_attr_string(context, "update_rule");
    sizes.delta = text_equal(update, "delta") || text_equal(update, "gated_delta");
    const int64_t queries = op_attr_int(context, "q_num_heads");
    sizes.heads = op_attr_int(context, "kv_num_heads");
    sizes.queries = queries > sizes.heads ? queries : sizes.heads;
    if (op_rank(context, 0) == 3) {
        sizes.batch = op_dim(context, 0, 0);
        sizes.steps = op_dim(context, 0, 1);
        sizes.key = common_divide(op_dim(context, 0, 2), queries);
    }
    if (op_rank(context, 2) == 3)
        sizes.value = common_divide(op_dim(context, 2, 2), sizes.heads);
    return sizes;
}

/* The output state has the dtype of the past state if there is one, else that of the queries.
 * In com.microsoft, state_window > 0 adds a first axis of this size to the output state. */
static int infer_linear(struct op_context *context) {
    const int64_t queries = op_attr_int(context, "q_num_heads");
    const int64_t heads = op_attr_int(context, "kv_num_heads");
    const bool allows_more_key_heads = context->op->domain[0] != '\0'; /* in com.microsoft */
    if (queries < 1 || heads < 1 ||
        (queries % heads != 0 && !(allows_more_key_heads && heads % queries == 0)))
        return op_fail(context, DIAG_ATTRIBUTE, "%lld heads of queries do not share %lld",
                       (long long)queries, (long long)heads);
    for (size_t i = 0; i < 3; i++) {
        int status = common_check_rank_is(context, i, 3);
        if (status < 0) return status;
        const int64_t columns = op_dim(context, i, 2);
        if (is_known(columns) && columns % (i == 0 ? queries : heads) != 0)
            return op_fail(context, DIAG_SHAPE, "%lld columns do not divide into %lld heads",
                           (long long)columns, (long long)(i == 0 ? queries : heads));
    }
    const struct linear s = linear_sizes(context);
    const int64_t window = op_attr_int(context, "state_window");
    const int64_t out[] = {s.batch, s.steps, checked_mul(s.queries, s.value)};
    const int64_t states[] = {window, s.batch, s.heads, s.key, s.value};
    const int first = window > 0 ? 0 : 1;
    const enum dtype state_dtype = op_dtype(context, op_has_input(context, 3) ? 3 : 0);
    int status = common_output(context, 3, out);
    return status < 0 ? status
                      : op_output_dims(context, 1, state_dtype, 5 - first, states + first);
}

static void macs_linear(const struct op_context *context, struct product *ret) {
    const struct linear s = linear_sizes(context);
    product_add(ret, "batch", s.batch);
    product_add(ret, "steps", s.steps);
    product_add(ret, "columns of a key", s.key);
    product_add(ret, "columns of a value", s.value);
    product_add(ret,
                s.delta ? "heads of queries and twice of keys" : "heads of queries and keys",
                checked_add(s.queries, checked_mul(s.delta ? 2 : 1, s.heads)));
}

/* Returns the FLOPs besides MACs: the scale of the output, the decay of the state, and the
 * difference and rate of a delta rule. */
static int64_t exact_linear_attention(const struct op_context *context) {
    const struct linear s = linear_sizes(context);
    const int64_t steps = checked_mul(s.batch, s.steps);
    const int64_t cells = checked_mul(s.heads, checked_mul(s.key, s.value));
    int64_t each = checked_mul(s.queries, s.value);
    if (op_has_input(context, 4)) checked_add_to(&each, cells);
    if (s.delta) checked_add_to(&each, checked_mul(s.heads, checked_mul(2, s.value)));
    return checked_mul(steps, each);
}

/* Returns the MACs of the gradients: the MACs of each product, once per factor that requires a
 * gradient. The gradient of the state is always computed. */
static int64_t linear_backward(const struct op_context *context) {
    const struct linear s = linear_sizes(context);
    const int64_t each =
        checked_mul(checked_mul(s.batch, s.steps), checked_mul(s.key, s.value));
    const int64_t of_keys = s.delta ? 2 : 1;
    int64_t heads = checked_add(s.queries, s.delta ? s.heads : 0);
    if (context->gradients & 1U) checked_add_to(&heads, s.queries);
    if (context->gradients & 2U) checked_add_to(&heads, checked_mul(of_keys, s.heads));
    if (context->gradients & 4U) checked_add_to(&heads, s.heads);
    return checked_mul(each, heads);
}

/* Returns the saved bytes: the state at the start of each chunk, which backward recomputes. */
static int64_t chunk_states(const struct op_context *context) {
    const struct linear s = linear_sizes(context);
    const int64_t chunk = op_attr_int(context, "chunk_size");
    const int64_t chunks = chunk < 1 ? DIM_UNKNOWN : checked_div_ceil(s.steps, chunk);
    const int64_t cells = checked_mul(s.heads, checked_mul(s.key, s.value));
    return dtype_bytes(op_dtype(context, 0), checked_mul(checked_mul(s.batch, chunks), cells));
}

/* X [B, C, L], weight [C, 1, k] -> [B, C, L] and the state of the next call [B, C, k - 1]. */
static int infer_causal_conv(struct op_context *context) {
    const int64_t dims[] = {
        common_dim(context, 0, 3, 0),
        common_dim(context, 0, 3, 1),
        op_rank(context, 1) == 3 ? checked_sub(op_dim(context, 1, 2), 1) : DIM_UNKNOWN,
    };
    int status = common_check_rank_is(context, 0, 3);
    if (status == CM_OK) status = common_check_rank_is(context, 1, 3);
    if (status == CM_OK) status = common_infer_same(context);
    return status < 0 ? status : op_output_dims(context, 1, op_dtype(context, 0), 3, dims);
}

static void macs_causal_conv(const struct op_context *context, struct product *ret) {
    product_add(ret, "output elements", op_output_elements(context, 0));
    product_add(ret, "kernel", common_dim(context, 1, 3, 2));
}

/* Returns `saved_for_backward`; with SiLU, backward recomputes the input of the activation. */
static const char *causal_conv_saved(const struct op_context *context) {
    const char *activation = op_attr_string(context, "activation");
    const bool silu = text_equal(activation, "silu") || text_equal(activation, "swish");
    return silu ? "0123" : "1,03,,1";
}

/* clang-format off */
#define LINEAR(of, from, ...)                                                                  \
    {                                                                                          \
        SIGNATURE(of, LinearAttention, from, NO_PRIMITIVE(NO_LINEAR_ATTENTION),                \
                  EXACT(PLUS(exact_linear_attention, "for decay, rates and scale")),           \
                  NO_BOUNDS),                                                                  \
        .infer = infer_linear, .param_roles = "x",                                             \
        .cost = {macs_linear, "batch x steps x columns of key x of value x heads"},            \
        .backward = {__VA_ARGS__}                                                              \
    }

static const struct op rows[] = {
    {SIGNATURE(ONNX, RotaryEmbedding, 23, EXACT(EXACT_ROTARY), NO_PRIMITIVE(NO_ROTARY), NO_BOUNDS, PART(1, 2)),
     .infer = infer_rotary, .memory = MEMORY_IN_PLACE, .param_roles = "xmmi", .backward.saved_for_backward = "123,-"},
    LINEAR(ONNX,   27, .saved_for_backward = "ae", .extra = chunk_states, .macs = linear_backward),
    LINEAR(CONTRIB, 1, .saved_for_backward = "-"),
    {SIGNATURE(ONNX, CausalConvWithState, 27, DEEPSPEED(PLUS(term_causal_conv, "biases and activations")),
        EXACT(PLUS(exact_causal_convolution, "biases, and 5 per SiLU")), NO_BOUNDS,
        NO_PRIMITIVE("a convolution and its state are more than one primitive"),
        MULTIPLIES(2, scale_causal_conv_sums, .is_none = scale_has_state, .does_more = scale_has_activation)),
     .infer = infer_causal_conv, .bias = 2, .cost = {macs_causal_conv, "out x kernel"}, .param_roles = "xWWx",
     .backward = {.saved_for_backward = "1,03,,1", .saved_for_backward_of = causal_conv_saved, .factors = 2}},
};
/* clang-format on */

OP_FAMILY(transformer, .declines = FACETS_RARE);
