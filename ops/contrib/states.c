/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of com.microsoft with a state: LSTMs with attention or quantized weights, gated
 * delta networks, and causal convolutions over packed requests. */
#include "ops/common.h"
#include "ops/onnx/facets.h"
#include "ops/product.h"

/* Sizes of an LSTM on X [T, B, I]. `columns`: I plus the columns concatenated to X, if any. */
struct sizes {
    int64_t steps, batch, directions, hidden, columns;
};

static struct sizes read_sizes(const struct op_context *context, int64_t columns) {
    const bool both = text_equal(op_attr_string(context, "direction"), "bidirectional");
    struct sizes sizes = {common_dim(context, 0, 3, 0), common_dim(context, 0, 3, 1),
                          both ? 2 : 1, op_attr_int(context, "hidden_size"), columns};
    return sizes;
}

/* Y [T, D, B, h], Y_h and Y_c [D, B, h]. */
static int infer_lstm(struct op_context *context) {
    const struct sizes s = read_sizes(context, DIM_UNKNOWN);
    const enum dtype dtype = op_dtype(context, 0);
    const int64_t all[] = {s.steps, s.directions, s.batch, s.hidden};
    int status = CM_OK;
    for (size_t i = 0; i < 3 && status == CM_OK; i++)
        status = common_check_rank_is(context, i, 3);
    if (status < 0) return status;
    if (s.hidden < 1)
        return op_fail(context, DIAG_ATTRIBUTE, "hidden_size must be >= 1, got %lld",
                       (long long)s.hidden);
    status = op_output_dims(context, 0, dtype, 4, all);
    if (status == CM_OK) status = op_output_dims(context, 1, dtype, 3, all + 1);
    return status < 0 ? status : op_output_dims(context, 2, dtype, 3, all + 1);
}

/* Returns the rows of a cell's matrix products: D * B * T. */
static int64_t n_cells(const struct sizes *s) {
    return checked_mul(checked_mul(s->directions, s->batch), s->steps);
}

/* W is [D, I, 4 h]. */
static void macs_quantized(const struct op_context *context, struct product *ret) {
    const struct sizes s = read_sizes(context, common_dim(context, 0, 3, 2));
    product_add(ret, "steps, batch and directions", n_cells(&s));
    product_add(ret, "gates", 4);
    product_add(ret, "hidden", s.hidden);
    product_add(ret, "features and hidden", checked_add(s.columns, s.hidden));
}

/* Returns the MACs of Bahdanau attention over a memory [B, L, m] whose keys have `a` columns.
 * Per direction and batch element: L * m * a for the keys; in each step h * a for the query,
 * L * a for the scores, L * m for the context, and (m + h) * w for an attention layer, whose
 * weight is [m + h, w]. */
static int64_t attention_macs(const struct op_context *context, const struct sizes *s) {
    const int64_t length = common_dim(context, 11, 3, 1);
    const int64_t depth = common_dim(context, 11, 3, 2);
    const int64_t width = common_dim(context, 8, 3, 2);
    const int64_t keys = checked_mul(checked_mul(length, depth), width);
    const int64_t places = checked_mul(length, checked_add(width, depth));
    int64_t each = checked_add(checked_mul(s->hidden, width), places);
    if (!op_has_input(context, 11)) return 0;
    if (op_has_input(context, 13)) {
        const int64_t rows = checked_add(depth, s->hidden);
        checked_add_to(&each, checked_mul(rows, common_dim(context, 13, 3, 2)));
    }
    const int64_t once = checked_mul(checked_mul(s->directions, s->batch), keys);
    return checked_add(once, checked_mul(n_cells(s), each));
}

static void macs_attending(const struct op_context *context, struct product *ret) {
    const struct sizes s = read_sizes(context, common_dim(context, 1, 3, 2));
    const int64_t each =
        checked_mul(checked_mul(4, s.hidden), checked_add(s.columns, s.hidden));
    product_add(ret, "products of the cells and of their attention",
                checked_add(checked_mul(n_cells(&s), each), attention_macs(context, &s)));
}

/* Returns 10 FLOPs per hidden unit and step, 2 without biases, as for ONNX's LSTM. */
static int64_t cell_flops(const struct op_context *context) {
    const struct sizes s = read_sizes(context, DIM_UNKNOWN);
    const int64_t each = op_has_input(context, 3) ? 10 : 2;
    return checked_mul(each, checked_mul(n_cells(&s), s.hidden));
}

/* Returns the length of the state of a causal window of k elements: (k - 1) * dilation. */
static int64_t causal_state_length(const struct op_context *context, int axis) {
    const int64_t kernel = op_rank(context, 1) > axis ? op_dim(context, 1, axis) : DIM_UNKNOWN;
    const int64_t back = checked_mul(checked_sub(kernel, 1), op_attr_int(context, "dilation"));
    return is_known(back) && back < 0 ? 0 : back;
}

/* X [N, C, spatial], or [N, length, channels..] with channels_last. The state has the shape of
 * X with causal_state_length() as the causal axis, which is the last spatial one; a window of
 * states adds a first axis. */
static int infer_causal(struct op_context *context) {
    const struct shape *x = op_shape(context, 0);
    const bool last = op_attr_int(context, "channels_last") != 0;
    const int64_t spatial = op_attr_int(context, "ndim");
    const int64_t window = op_attr_int(context, "state_window");
    int64_t dims[SHAPE_MAX_RANK + 1];
    int rank = 0;
    int status = common_infer_same(context);
    if (status < 0) return status;
    if (spatial < 1 || spatial > 3)
        return op_fail(context, DIAG_ATTRIBUTE, "ndim must be 1, 2 or 3, got %lld",
                       (long long)spatial);
    if (!shape_has_rank(x))
        return op_output_dims(context, 1, op_dtype(context, 0), RANK_UNKNOWN, NULL);
    if (x->rank < 3 || (!last && x->rank != spatial + 2))
        return op_fail(context, DIAG_SHAPE, "input 0 must have rank %lld, got %d",
                       (long long)(last ? 3 : spatial + 2), x->rank);
    if (window > 0) dims[rank++] = window;
    const int causal = rank + (last ? 1 : x->rank - 1);
    for (int axis = 0; axis < x->rank; axis++) dims[rank++] = x->dims[axis];
    dims[causal] = causal_state_length(context, (int)spatial + 1);
    return op_output_dims(context, 1, op_dtype(context, 0), rank, dims);
}

static void macs_causal(const struct op_context *context, struct product *ret) {
    const struct shape *weight = op_shape(context, 1);
    product_add(ret, "output elements", op_output_elements(context, 0));
    product_add(ret, "kernel",
                weight->rank > 2 ? shape_product(weight, 2, weight->rank) : DIM_UNKNOWN);
}

/* Tokens [T, C] of several requests; states [requests, C, causal_state_length]. */
static int infer_packed_causal(struct op_context *context) {
    const int64_t requests = checked_sub(common_dim(context, 2, 1, 0), 1);
    const int64_t channels = common_dim(context, 0, 2, 1);
    const int64_t state[] = {requests, channels, causal_state_length(context, 2)};
    const int64_t updates[] = {requests, op_attr_int(context, "state_update_capacity"),
                               channels};
    int status = common_infer_same(context);
    if (status == CM_OK) status = op_output_dims(context, 1, op_dtype(context, 0), 3, state);
    return status < 0 ? status : op_output_dims(context, 2, op_dtype(context, 0), 3, updates);
}

/* Q and K [tokens, heads, k], V [tokens, value heads, v]; tokens may be [batch, steps]. The
 * state [requests, value heads, v, k] is read by every query and updated by every key; a delta
 * rule also reads it for every key:
 *     MACs = tokens * k * v * value heads * (2, or 3 by a delta rule)
 */
struct delta {
    int64_t requests, heads, value_heads, key, value;
    int rank; /* of Q, K and V; 0 if all three are packed into Q */
};

static struct delta read_delta(const struct op_context *context) {
    const int rank = op_rank(context, 0);
    struct delta d = {DIM_UNKNOWN, DIM_UNKNOWN, DIM_UNKNOWN, DIM_UNKNOWN, DIM_UNKNOWN, rank};
    d.requests = common_dim(context, 6, 4, 0);
    if (!is_known(d.requests)) d.requests = checked_sub(common_dim(context, 3, 1, 0), 1);
    if (!op_has_input(context, 1)) {
        d.rank = 0;
        d.value_heads = common_dim(context, 6, 4, 1);
        d.value = common_dim(context, 6, 4, 2);
        d.key = common_dim(context, 6, 4, 3);
        const int64_t columns = common_last_dim(context, 0);
        const int64_t others = checked_sub(columns, checked_mul(d.value_heads, d.value));
        const int64_t each = checked_mul(2, d.key);
        d.heads = each == 0 ? DIM_UNKNOWN : checked_div_floor(others, each);
    } else if (rank >= 3 && op_rank(context, 2) == rank) {
        d.heads = op_dim(context, 0, rank - 2);
        d.key = op_dim(context, 0, rank - 1);
        d.value_heads = op_dim(context, 2, rank - 2);
        d.value = op_dim(context, 2, rank - 1);
    }
    return d;
}

static int infer_delta(struct op_context *context) {
    const struct delta d = read_delta(context);
    const struct shape *q = op_shape(context, 0);
    const int64_t state[] = {d.requests, d.value_heads, d.value, d.key};
    /* The decay, key and difference of each kept step. */
    const int64_t step =
        checked_add(d.value_heads, checked_add(checked_mul(d.heads, d.key),
                                               checked_mul(d.value_heads, d.value)));
    const int64_t updates[] = {
        d.requests, checked_mul(op_attr_int(context, "state_update_capacity"), step)};
    int64_t dims[SHAPE_MAX_RANK + 1];
    const int leading = d.rank == 0 ? q->rank - 1 : q->rank - 2;
    int rank = RANK_UNKNOWN;
    if (shape_has_rank(q) && leading < 1)
        return op_fail(context, DIAG_SHAPE, "input 0 must have rank >= %d, got %d",
                       d.rank == 0 ? 2 : 3, q->rank);
    if (shape_has_rank(q)) {
        for (rank = 0; rank < leading; rank++) dims[rank] = q->dims[rank];
        dims[rank++] = d.value_heads;
        dims[rank++] = d.value;
    }
    int status = op_output_dims(context, 0, op_dtype(context, 0), rank, dims);
    if (status == CM_OK) status = op_output_dims(context, 1, DTYPE_FLOAT, 4, state);
    return status < 0 ? status : op_output_dims(context, 2, DTYPE_FLOAT, 2, updates);
}

static void macs_delta(const struct op_context *context, struct product *ret) {
    const struct delta d = read_delta(context);
    const char *update = op_attr_string(context, "update_rule");
    const bool reads = text_equal(update, "delta") || text_equal(update, "gated_delta");
    product_add(ret, "output elements", op_output_elements(context, 0));
    product_add(ret, "columns of a key", d.key);
    product_add(ret, "reads and updates of the state", reads ? 3 : 2);
}

/* clang-format off */
#define CONTRIB(name, infer_fn, count, are, bias_, letters, class, ...)                        \
    {                                                                                          \
        SIGNATURE(CONTRIB, name, 1, __VA_ARGS__), .infer = infer_fn, .bias = bias_,            \
        .cost = {count, are},                                                                  \
        .param_roles = letters, .module = class, .backward.saved_for_backward = "-"            \
    }
#define LSTM  "steps x batch x directions x 4 x hidden x (input + hidden)"
#define CELLS "gates and states of the cells"

static const struct op rows[] = {
    /*      type                       shape rule           MACs            are                                                bias roles             module */
    CONTRIB(DynamicQuantizeLSTM,       infer_lstm,          macs_quantized, LSTM,                                                0, "xWWWimmWiiii",   "LSTM",
        DEEPSPEED(PLUS(cell_flops, "gates and states of the cells")), NO_PRIMITIVE(NO_QUANTIZED),
        INTEGERS(INTEGERS_PRODUCTS)),
    CONTRIB(AttnLSTM,                  infer_lstm,          macs_attending, LSTM ", and of its attention",                       0, "xWWWimmWWWWxiW", NULL,
        DEEPSPEED(PLUS(cell_flops, "gates and states of the cells")), NO_PRIMITIVE(NO_FUSED)),
    CONTRIB(CausalConvWithState,       infer_causal,        macs_causal,    "out x kernel",                                      2, "xWWx",           NULL,
        DEEPSPEED(PLUS(term_causal_conv, "biases and activations")),
        EXACT(PLUS(exact_causal_convolution, "biases, and 5 per SiLU")), NO_PRIMITIVE(NO_FUSED),
        MULTIPLIES(2, scale_causal_conv_sums, .is_none = scale_has_state, .does_more = scale_has_activation)),
    CONTRIB(VarlenCausalConvWithState, infer_packed_causal, macs_causal,    "out x kernel",                                      3, "xWiWxi",         NULL,
        DEEPSPEED(PLUS(term_causal_conv, "biases and activations")), NO_PRIMITIVE(NO_FUSED)),
    CONTRIB(GatedDeltaNet,             infer_delta,         macs_delta,     "out x columns of a key x (2, or 3 by a delta rule)", 0, "xxxixxxnni",     NULL,
        NO_PRIMITIVE(NO_LINEAR_ATTENTION)),
};
/* clang-format on */

OP_FAMILY(contrib_states, .declines = FACETS_RARE | FACET_BOUNDS);
