/* SPDX-License-Identifier: Apache-2.0 */
/* Recurrent layers. X [T, B, I] (layout 1: [B, T, I]), W [D, G h, I], R [D, G h, h], with
 * hidden size h, D directions and G gates: RNN 1, GRU 3, LSTM 4.
 *     MACs = D * B * T * (G h I + G h h)
 */
#include "ops/common.h"
#include "ops/onnx/facets.h"
#include "ops/product.h"

struct sizes {
    int64_t steps, batch, features, hidden, gates;
    int64_t directions; /* 0 if the attribute is invalid */
    bool batch_first;   /* layout 1, from opset 14 */
};

static struct sizes read_sizes(const struct op_context *context) {
    const char *direction = op_attr_string(context, "direction");
    const bool first = op_attr_int(context, "layout") != 0;
    struct sizes sizes = {.gates = term_gates(context), .batch_first = first};
    sizes.steps = op_dim(context, 0, first ? 1 : 0);
    sizes.batch = op_dim(context, 0, first ? 0 : 1);
    sizes.features = op_dim(context, 0, 2);
    if (!is_known(sizes.features)) sizes.features = op_dim(context, 1, 2);
    sizes.hidden = op_dim(context, 2, 2);
    if (!is_known(sizes.hidden))
        sizes.hidden = checked_div_floor(op_dim(context, 1, 1), sizes.gates);
    if (op_has_attr(context, "hidden_size")) sizes.hidden = op_attr_int(context, "hidden_size");
    if (text_equal(direction, "bidirectional")) sizes.directions = 2;
    if (text_equal(direction, "forward") || text_equal(direction, "reverse") ||
        text_equal(direction, "foward")) /* the default in GRU-1's schema */
        sizes.directions = 1;
    return sizes;
}

static int check_rank_three(const struct op_context *context, size_t i) {
    int rank = op_rank(context, i);
    if (rank == RANK_UNKNOWN || rank == 3) return CM_OK;
    return op_fail(context, DIAG_SHAPE, "input %zu must have rank 3, got %s", i,
                   op_shape_text(context, op_shape(context, i)));
}

static int check_dim(const struct op_context *context, size_t i, int axis, int64_t want,
                     const char *what) {
    const int64_t have = op_dim(context, i, axis);
    if (!common_differ(have, want)) return CM_OK;
    return op_fail(context, DIAG_SHAPE, "dim %d of input %zu must be %lld (%s), got %lld", axis,
                   i, (long long)want, what, (long long)have);
}

/* initial_h and, for LSTM, initial_c are [D, B, h]; Y [T, D, B, h], Y_h and Y_c [D, B, h].
 * Layout 1: [B, D, h], [B, T, D, h]. */
static int infer_recurrent(struct op_context *context) {
    int status = CM_OK;
    for (size_t i = 0; i < 3 && status == CM_OK; i++) status = check_rank_three(context, i);
    if (status < 0) return status;
    const struct sizes sizes = read_sizes(context);
    const int64_t d = sizes.directions, b = sizes.batch, h = sizes.hidden;
    const int64_t all[2][4] = {{sizes.steps, d, b, h}, {b, sizes.steps, d, h}};
    const int64_t last[2][3] = {{d, b, h}, {b, d, h}};
    const int64_t rows = checked_mul(sizes.gates, h);
    if (d == 0)
        return op_fail(context, DIAG_ATTRIBUTE,
                       "direction is none of forward, reverse, bidirectional");
    if (is_known(h) && h < 1)
        return op_fail(context, DIAG_ATTRIBUTE, "hidden_size must be >= 1, got %lld",
                       (long long)h);
    for (size_t i = 1; i < 3 && status == CM_OK; i++) {
        status = check_dim(context, i, 0, d, "directions");
        if (status == CM_OK) status = check_dim(context, i, 1, rows, "gates x hidden_size");
    }
    if (status == CM_OK) status = check_dim(context, 1, 2, sizes.features, "features");
    if (status == CM_OK) status = check_dim(context, 2, 2, h, "hidden_size");
    for (size_t i = 5; i < 7 && i < context->n_inputs && status == CM_OK; i++) {
        status = check_rank_three(context, i);
        for (int axis = 0; axis < 3 && status == CM_OK; axis++)
            status = check_dim(context, i, axis, last[sizes.batch_first][axis],
                               "directions x batch x hidden_size");
    }
    if (status == CM_OK) status = common_output(context, 4, all[sizes.batch_first]);
    for (size_t i = 1; i < 3 && status == CM_OK; i++)
        status = op_output_dims(context, i, op_dtype(context, 0), 3, last[sizes.batch_first]);
    return status;
}

/* Returns false if an operand does not have rank 3: infer failed for the node. */
static bool has_ranks(const struct op_context *context) {
    for (size_t i = 0; i < 3; i++)
        if (op_rank(context, i) != 3 && op_rank(context, i) != RANK_UNKNOWN) return false;
    return true;
}

static void recurrent_macs(const struct op_context *context, struct product *ret) {
    if (!has_ranks(context)) {
        product_add(ret, "of operands without a rank", DIM_UNKNOWN);
        return;
    }
    struct sizes sizes = read_sizes(context);
    product_add(ret, "directions", sizes.directions);
    product_add(ret, "batch", sizes.batch);
    product_add(ret, "steps", sizes.steps);
    product_add(ret, "gates", sizes.gates);
    product_add(ret, "hidden", sizes.hidden);
    product_add(ret, "features and hidden", checked_add(sizes.features, sizes.hidden));
}

/* Returns the bytes saved for backpropagation through time. Values per cell: LSTM 4 gates and
 * the cell state; GRU 3 gates and the recurrent part of the third; RNN none, since its gate is
 * its state. The state adds 1, unless the node outputs Y. */
static int64_t recurrent_states(const struct op_context *context) {
    if (!has_ranks(context)) return DIM_UNKNOWN;
    const struct sizes sizes = read_sizes(context);
    const int64_t inner = sizes.gates > 1 ? sizes.gates + 1 : 0;
    const int64_t each = inner + (op_has_output(context, 0) ? 0 : 1);
    int64_t cells = checked_mul(checked_mul(sizes.directions, sizes.batch), sizes.steps);
    cells = checked_mul(cells, sizes.hidden);
    return dtype_bytes(op_dtype(context, 0), checked_mul(each, cells));
}

/* Returns the MACs of the gradients. Those of X and of W each cost as many MACs as the product
 * X W, the gradient of R as many as H R. The gradients of the states are always computed, since
 * they pass from step to step: as many MACs as H R, less one step if the initial state requires
 * no gradient. */
static int64_t recurrent_backward(const struct op_context *context) {
    if (!has_ranks(context)) return DIM_UNKNOWN;
    const struct sizes sizes = read_sizes(context);
    int64_t row = checked_mul(checked_mul(sizes.directions, sizes.batch), sizes.gates);
    row = checked_mul(row, sizes.hidden);
    const int64_t inputs = checked_mul(checked_mul(row, sizes.steps), sizes.features);
    const int64_t states = checked_mul(checked_mul(row, sizes.steps), sizes.hidden);
    int64_t macs = states;
    if (!(context->gradients & 32U)) macs = checked_sub(macs, checked_mul(row, sizes.hidden));
    if (is_known(macs) && macs < 0) macs = 0; /* 0 steps */
    if (context->gradients & 1U) checked_add_to(&macs, inputs);
    if (context->gradients & 2U) checked_add_to(&macs, inputs);
    if (context->gradients & 4U) checked_add_to(&macs, states);
    return macs;
}

/* Returns the FLOPs that DeepSpeed's profiler adds to 2 * MACs: 10 per cell of an LSTM, 7 of a
 * GRU, 1 of an RNN. Its 2 * K FLOPs of a product with K terms include the addition of the bias.
 * Without biases there is 1 less for each of the two products of a gate: RNN 1 - 2 = -1. */
static int64_t recurrent_flops(const struct op_context *context) {
    if (!has_ranks(context)) return DIM_UNKNOWN;
    struct sizes sizes = read_sizes(context);
    int64_t each = sizes.gates == 4 ? 10 : sizes.gates == 3 ? 7 : 1;
    if (!op_has_input(context, 3)) each -= 2 * sizes.gates;
    int64_t cells = checked_mul(sizes.directions, sizes.hidden);
    cells = checked_mul(cells, checked_mul(sizes.batch, sizes.steps));
    return checked_mul(each, cells);
}

static int describe_recurrent(const struct op_context *context, struct text *out) {
    if (!has_ranks(context)) return CM_OK;
    struct sizes sizes = read_sizes(context);
    describe_int(out, sizes.features);
    text_append(out, ", ");
    describe_int(out, sizes.hidden);
    if (sizes.directions == 2) text_append(out, ", bidirectional=True");
    return CM_OK;
}

/* ---- lowering ---- */

enum slots { BIAS = 3, FIRST_STATE = 5, LAST_STATE = 6, PEEPHOLES = 7 };

/* Returns true if the activations of the gates are `names` in each direction, or default. */
static bool has_activations(const struct op_context *context, const char *const *names,
                            size_t n) {
    const struct attr *attr = node_attr(context->node, "activations");
    if (attr == NULL || attr->kind != ATTR_STRINGS) return true;
    for (size_t i = 0; i < attr->n; i++)
        if (!text_equal(attr->strings[i], names[i % n])) return false;
    return true;
}

static bool find_algorithm(const struct op_context *context, int32_t which, int32_t *ret) {
    static const char *const lstm[] = {"Sigmoid", "Tanh", "Tanh"};
    static const char *const relu[] = {"Relu"};
    *ret = which;
    if (which == CM_RNN_LSTM) return has_activations(context, lstm, 3);
    if (which == CM_RNN_GRU) return has_activations(context, lstm, 2);
    if (has_activations(context, lstm + 1, 1)) return true;
    *ret = CM_RNN_RELU;
    return has_activations(context, relu, 1);
}

/* Ignores the lengths of the sequences of a batch (all steps run) and linear_before_reset of
 * GRU (both variants cost the same). */
static bool lower_rnn(const struct op_context *context, int32_t which,
                      struct cm_primitive *ret) {
    const bool batch_first = op_attr_int(context, "layout") != 0;
    const struct cm_tensor *x = &ret->inputs[0];
    struct cm_tensor *y = &ret->outputs[0];
    if (!find_algorithm(context, which, &ret->algorithm) || op_has_input(context, PEEPHOLES) ||
        op_attr_int(context, "input_forget") != 0)
        return false;
    for (size_t slot = 0; slot <= LAST_STATE; slot++) {
        if (slot > BIAS && slot < FIRST_STATE) continue; /* lengths of the sequences */
        if (slot >= BIAS && !op_has_input(context, slot)) continue;
        if (!lowering_add_input(context, slot, ret)) return false;
        struct cm_tensor *operand = &ret->inputs[ret->n_inputs - 1];
        if (slot != BIAS && operand->rank != 3) return false;
        if (batch_first && (slot == 0 || slot >= FIRST_STATE)) lowering_swap(operand, 0, 1);
    }
    ret->directions = (int32_t)ret->inputs[2].dims[0];
    ret->hidden = ret->inputs[2].dims[2];
    ret->n_outputs = 1;
    if (op_has_output(context, 0)) {
        if (!lowering_output(context, 0, y) || y->rank != 4) return false;
        if (batch_first) lowering_swap(y, 0, 1);
        if (batch_first) lowering_swap(y, 1, 2);
    } else { /* y is computed even if the node does not output it */
        *y = (struct cm_tensor){.element = x->element,
                                .rank = 4,
                                .dims = {x->dims[0], ret->directions, x->dims[1], ret->hidden}};
        lowering_pack(y);
    }
    for (size_t slot = 1; slot < CM_MAX_OUTPUTS; slot++) {
        if (!op_has_output(context, slot)) continue;
        if (!lowering_add_output(context, slot, ret) ||
            ret->outputs[ret->n_outputs - 1].rank != 3)
            return false;
        if (batch_first) lowering_swap(&ret->outputs[ret->n_outputs - 1], 0, 1);
    }
    return true;
}

/* clang-format off */
#define RECURRENT(name, from, letters, algorithm, ...)                                         \
    {                                                                                          \
        SIGNATURE(ONNX, name, from, EXACT(EXACT_RECURRENCE), BOUNDS("d---d"),                  \
                  DEEPSPEED(PLUS(recurrent_flops, "gates and states of the cells")),           \
                  PTFLOPS(.per_mac = 1, PTFLOPS_RECURRENCE), PTFLOPS_ATEN(.per_mac = 0),       \
                  THOP(.per_mac = 1, THOP_RECURRENCE), TORCH(.per_mac = 0),                    \
                  LOWER(lower_rnn, CM_RNN, algorithm, IMAGES_NONE, LIMIT_CELLS), __VA_ARGS__), \
        .infer = infer_recurrent, .param_roles = letters, .module = #name,                     \
        .cost = {recurrent_macs,                                                               \
                 "steps x batch x directions x gates x hidden x (input + hidden)"},            \
        .describe = describe_recurrent, .backward.extra = recurrent_states,                    \
        .backward.saved_for_backward = "aye,aye,aye,aye,-,aye",                                \
        .backward.macs = recurrent_backward                                                    \
    }
#define TOOL_COUNTS ONNX_TOOL(.per_mac = 1, ONNX_TOOL_RECURRENCE)

static const struct op rows[] = {
    SINCE3(RECURRENT, RNN, 1, 7, 14,    "xWWWim",   CM_RNN_TANH, FVCORE(.per_mac = 0)),
    SINCE4(RECURRENT, GRU, 1, 3, 7, 14, "xWWWim",   CM_RNN_GRU,  FVCORE(.per_mac = 0), TOOL_COUNTS),
    SINCE3(RECURRENT, LSTM, 1, 7, 14,   "xWWWimmW", CM_RNN_LSTM, FVCORE(.per_mac = 0), TOOL_COUNTS),
};
/* clang-format on */

OP_FAMILY(recurrent, .declines = FACET_FOLD | FACET_ALGEBRA | FACET_QDQ);
