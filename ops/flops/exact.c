/* SPDX-License-Identifier: Apache-2.0 */
/* The convention `exact` counts every arithmetic operation on an element once, by the
 * definition of the operator. An elementary function (exp, log, erf, tanh, root, power) is one
 * operation, as is a comparison that selects a number (Relu, Max). Logic, index arithmetic,
 * casts and data movement are not counted. A fused operator costs the same as the nodes into
 * which exporters decompose it.
 *
 * Each function returns the FLOPs in addition to those of MACs. Comments list the operations
 * per element, or per row, cell or score. */
#include "ops/flops/terms.h"

#include "ops/common.h"
#include "ops/op_context.h"
#include "support/checked.h"
#include "support/text.h"

/* Returns `each` operations per element of operand 0, and 2 per row: epsilon, root. */
static int64_t normalize(const struct op_context *context, int64_t each, int64_t rows) {
    return checked_add(checked_mul(each, op_elements(context, 0)), checked_mul(2, rows));
}

/* Inference, per element: scale, shift. Training, per element: mean, difference, square,
 * variance, quotient, scale, shift; per channel: epsilon, root. */
int64_t exact_batch_norm(const struct op_context *context) {
    if (!context->training) return checked_mul(2, op_elements(context, 0));
    return normalize(context, 7, op_elements(context, 1));
}

/* Returns operations per element: 5, and 1 each for a scale and a shift. */
static int64_t normalization(const struct op_context *context) {
    return 5 + op_has_input(context, 1) + op_has_input(context, 2);
}

int64_t exact_layer_norm(const struct op_context *context) {
    return normalize(context, normalization(context), term_rows_before_axis(context));
}

/* Per element: square, mean, quotient, scale. */
int64_t exact_rms_norm(const struct op_context *context) {
    return normalize(context, op_has_input(context, 1) ? 4 : 3, term_rows_before_axis(context));
}

int64_t exact_instance_norm(const struct op_context *context) {
    if (op_rank(context, 0) < 2) return DIM_UNKNOWN;
    return normalize(context, 7, checked_mul(op_dim(context, 0, 0), op_dim(context, 0, 1)));
}

int64_t exact_group_norm(const struct op_context *context) {
    if (op_rank(context, 0) < 2) return DIM_UNKNOWN;
    return normalize(context, normalization(context),
                     checked_mul(op_dim(context, 0, 0), op_attr_int(context, "num_groups")));
}

/* Per element: square, size - 1 additions, factor, bias, power, quotient. */
int64_t exact_local_response(const struct op_context *context) {
    int64_t each = checked_add(op_attr_int(context, "size"), 4);
    return checked_mul(each, op_output_elements(context, 0));
}

/* Per row of n: n - 1 comparisons and additions, n differences, exponentials and quotients. */
int64_t exact_softmax(const struct op_context *context) {
    int64_t flops = checked_mul(5, op_elements(context, 0));
    return checked_sub(flops, checked_mul(2, term_softmax_rows(context)));
}

int64_t exact_attention_scores_flops(int masks, int64_t scores, int64_t rows) {
    if (scores == 0) return 0; /* no keys: empty rows */
    return checked_sub(checked_mul(6 + masks, scores), checked_mul(2, rows));
}

/* As softmax with differences instead of quotients, and one logarithm per row. */
int64_t exact_log_softmax(const struct op_context *context) {
    return checked_sub(checked_mul(5, op_elements(context, 0)), term_softmax_rows(context));
}

/* Per element: x / sqrt 2, erf, 1 +, x *, 0.5 *. With tanh: power, two factors, addition, tanh,
 * addition, two factors. */
int64_t exact_gelu(const struct op_context *context) {
    const bool by_tanh = text_equal(op_attr_string(context, "approximate"), "tanh");
    return checked_mul(by_tanh ? 8 : 5, op_output_elements(context, 0));
}

int64_t exact_max_pool(const struct op_context *context) {
    int64_t joins = checked_sub(term_window(context, SHAPE_MAX_RANK), 1);
    return checked_mul(joins, op_output_elements(context, 0));
}

int64_t exact_average_pool(const struct op_context *context) {
    return checked_mul(term_window(context, SHAPE_MAX_RANK), op_output_elements(context, 0));
}

/* Returns the FLOPs of weighted sums of n = taps^spatial neighbours: n products and n - 1
 * additions per output element. */
static int64_t interpolation(const struct op_context *context, int64_t taps) {
    const int spatial = term_spatial(context);
    if (spatial == RANK_UNKNOWN) return DIM_UNKNOWN;
    int64_t neighbours = 1;
    for (int i = 0; i < spatial; i++) neighbours = checked_mul(neighbours, taps);
    int64_t each = checked_sub(checked_mul(2, neighbours), 1);
    return checked_mul(each, op_output_elements(context, 0));
}

int64_t exact_resize(const struct op_context *context) {
    const char *mode = op_attr_string(context, "mode");
    if (text_equal(mode, "nearest")) return 0;
    const bool cubic = text_equal(mode, "cubic") || text_equal(mode, "bicubic");
    return interpolation(context, cubic ? 4 : 2);
}

int64_t exact_mean(const struct op_context *context) {
    return checked_add(term_operands(context), op_output_elements(context, 0));
}

/* Per cell, a sigmoid is 4 operations:
 *     LSTM  4 additions, 3 sigmoids (12), 2 tanh, 3 for the cell state, 1 for the output = 22
 *     GRU   3 additions, 2 sigmoids (8), 1 tanh, 1 for the reset gate, 4 for the new state = 17
 *     RNN   1 addition, 1 tanh = 2
 * Two biases per gate add 2; each of the 3 peepholes adds a product and an addition. */
int64_t exact_recurrence(const struct op_context *context) {
    const int64_t gates = term_gates(context);
    int64_t each = gates == 4 ? 22 : gates == 3 ? 17 : 2;
    if (op_has_input(context, 3)) each += 2 * gates;
    if (gates == 4 && op_has_input(context, 7)) each += 6;
    return checked_mul(each, term_cells(context));
}

/* ---- signals, losses, optimizers, classical models, operators fused by ONNX Runtime ---- */

/* A butterfly has 4 products and 6 additions; 4 of each are its MACs, 2 additions remain. */
int64_t exact_butterflies(const struct op_context *context) {
    return checked_div_floor(context->macs, 2);
}

/* The additions of exact_butterflies, and the product of each frame with the window. */
int64_t exact_frames(const struct op_context *context) {
    const struct shape *out = op_output_shape(context, 0);
    const int64_t sums = checked_div_floor(context->macs, 2);
    if (!op_has_input(context, 2)) return sums;
    const int64_t frames = out->rank == 4 ? shape_product(out, 0, 2) : DIM_UNKNOWN;
    return checked_add(sums, checked_mul(frames, op_elements(context, 2)));
}

/* Gaussian elimination of m columns: (m - 1) m / 2 quotients; m - 1 products along the
 * diagonal. */
int64_t exact_determinant(const struct op_context *context) {
    const int rank = op_rank(context, 0);
    if (rank < 2) return DIM_UNKNOWN;
    const int64_t m = op_dim(context, 0, rank - 1);
    if (m == 0) return 0;
    const int64_t quotients = checked_div_floor(checked_mul(m, checked_sub(m, 1)), 2);
    const int64_t each = checked_add(quotients, checked_sub(m, 1));
    return checked_mul(each, op_output_elements(context, 0));
}

/* Per target: negation, product with its weight, addition for a reduction. */
int64_t exact_likelihood(const struct op_context *context) {
    const int64_t n = op_elements(context, 1);
    int64_t each = op_has_input(context, 2) ? 2 : 1;
    if (!text_equal(op_attr_string(context, "reduction"), "none")) each++;
    return checked_mul(each, n);
}

/* LogSoftmax (5 per score, less 1 per row) and the negative log likelihood. */
int64_t exact_cross_entropy(const struct op_context *context) {
    const int64_t logs = checked_mul(5, op_elements(context, 0));
    return checked_add(checked_sub(logs, op_elements(context, 1)), exact_likelihood(context));
}

/* Per element: bias, SiLU (5). */
int64_t exact_causal_convolution(const struct op_context *context) {
    const bool plain = text_equal(op_attr_string(context, "activation"), "none");
    const int64_t each = (op_has_input(context, 2) ? 1 : 0) + (plain ? 0 : 5);
    return checked_mul(each, op_output_elements(context, 0));
}

/* Per parameter element, with a regularized gradient (2):
 *     Adagrad   squares 2, root and epsilon 2, step 3
 *     Adam      mean 3, mean of squares 4, root and epsilon 2, step 3; regularization after it
 *     Momentum  mean 3, step 2; Nesterov momentum 2 more
 */
int64_t exact_optimizer(const struct op_context *context) {
    const bool adam = text_equal(context->op->type, "Adam");
    const size_t lists = adam ? 4 : 3; /* parameters, gradients, states */
    const size_t n = context->n_inputs > 2 ? (context->n_inputs - 2) / lists : 0;
    int64_t each = 9;
    int64_t elements = 0;
    if (adam) each = op_attr_float(context, "norm_coefficient_post") != 0 ? 15 : 14;
    if (text_equal(context->op->type, "Momentum"))
        each = text_equal(op_attr_string(context, "mode"), "nesterov") ? 9 : 7;
    for (size_t i = 0; i < n; i++) checked_add_to(&elements, op_elements(context, 2 + i));
    return checked_mul(each, elements);
}

/* One addition per score; the scores are the last output. */
int64_t exact_intercepts(const struct op_context *context) {
    if (!op_has_attr(context, "intercepts")) return 0;
    return op_output_elements(context, context->n_outputs - 1);
}

static int64_t rows_of(const struct shape *shape) {
    return shape->rank < 1 ? DIM_UNKNOWN : shape_product(shape, 0, shape->rank - 1);
}

/* Per element: additions of skip and bias, then LayerNormalization or RMSNormalization. */
int64_t exact_skip_norm(const struct op_context *context) {
    const bool simple = text_equal(context->op->type, "SkipSimplifiedLayerNormalization");
    const int64_t norm = simple ? 4 : 6 + op_has_input(context, 3);
    return normalize(context, 1 + op_has_input(context, simple ? 3 : 4) + norm,
                     rows_of(op_shape(context, 0)));
}

/* Per element: additions of two or three embeddings, then LayerNormalization. */
int64_t exact_embedding_norm(const struct op_context *context) {
    const struct shape *out = op_output_shape(context, 0);
    const int64_t each = 8 + op_has_input(context, 4);
    return checked_add(checked_mul(each, op_output_elements(context, 0)),
                       checked_mul(2, rows_of(out)));
}

/* As GroupNormalization; also per element: additions of skip and bias, SiLU (5). */
int64_t exact_contrib_group_norm(const struct op_context *context) {
    if (op_rank(context, 0) < 1) return DIM_UNKNOWN;
    const int64_t each = 7 + (op_attr_int(context, "activation") != 0 ? 5 : 0) +
                         op_has_input(context, 3) + op_has_input(context, 4);
    return normalize(context, each,
                     checked_mul(op_dim(context, 0, 0), op_attr_int(context, "groups")));
}

/* As exact_gelu with tanh; also 1 per element for a bias. */
int64_t exact_fast_gelu(const struct op_context *context) {
    return checked_mul(8 + op_has_input(context, 1), op_output_elements(context, 0));
}

/* Per element: bias, addend, and 1 for the activation, whichever it is. */
int64_t exact_fused(const struct op_context *context) {
    const int64_t each = op_has_input(context, 2) + op_has_input(context, 3) +
                         (op_has_attr(context, "activation") ? 1 : 0);
    return checked_mul(each, op_output_elements(context, 0));
}

/* Per element: mean, difference, square, mean, quotient; per group: epsilon, root. */
int64_t exact_mean_variance(const struct op_context *context) {
    static const int64_t usual[] = {0, 2, 3};
    const struct shape *x = op_shape(context, 0);
    size_t n = 0;
    const int64_t *axes = op_attr_ints(context, "axes", &n);
    bool joined[SHAPE_MAX_RANK] = {false};
    int64_t groups = 1;
    if (!shape_has_rank(x)) return DIM_UNKNOWN;
    if (!axes) n = sizeof(usual) / sizeof(usual[0]);
    for (size_t i = 0; i < n; i++) {
        int axis = 0;
        if (shape_axis(axes ? axes[i] : usual[i], x->rank, &axis)) joined[axis] = true;
    }
    for (int axis = 0; axis < x->rank; axis++)
        if (!joined[axis]) groups = checked_mul(groups, x->dims[axis]);
    return normalize(context, 5, groups);
}

/* Per row of n: n absolute values or squares, n - 1 additions, n quotients; if p = 2 a root. */
int64_t exact_lp_norm(const struct op_context *context) {
    const int64_t all = checked_mul(3, op_elements(context, 0));
    const bool roots = op_attr_int(context, "p") != 1;
    return roots ? all : checked_sub(all, term_rows_along_axis(context));
}

/* Per element: minimum, maximum, quotient, rounding, zero point. Per node: 5 for the scale. */
int64_t exact_dynamic_scale(const struct op_context *context) {
    return checked_add(checked_mul(5, op_elements(context, 0)), 5);
}

/* Each coordinate is the product of a row of theta with the position (x, y, .., 1): as many
 * products and additions as there are coordinates. */
int64_t exact_affine_grid(const struct op_context *context) {
    const struct shape *grid = op_output_shape(context, 0);
    if (grid->rank < 1) return DIM_UNKNOWN;
    const int64_t each = checked_mul(2, grid->dims[grid->rank - 1]);
    return checked_mul(each, op_output_elements(context, 0));
}

/* Per row of n: n - 1 comparisons. */
int64_t exact_hardmax(const struct op_context *context) {
    return checked_sub(op_elements(context, 0), term_softmax_rows(context));
}

/* Per sample: bilinear interpolation of 4 neighbours 7, pooling 1. If sampling_ratio is 0, the
 * number of samples is data-dependent. */
int64_t exact_roi_align(const struct op_context *context) {
    const int64_t ratio = op_attr_int(context, "sampling_ratio");
    if (op_output_elements(context, 0) == 0) return 0;
    if (ratio < 1) return DIM_UNKNOWN;
    return checked_mul(checked_mul(8, checked_mul(ratio, ratio)),
                       op_output_elements(context, 0));
}

/* Per element: bias, addition of the residual. */
int64_t exact_bias_dropout(const struct op_context *context) {
    return checked_mul(1 + op_has_input(context, 2), op_output_elements(context, 0));
}

/* Per element: square, mean, quotient, scale; per row of `columns`: epsilon, root. */
static int64_t row_norm(const struct op_context *context, bool scaled, int64_t columns) {
    const int64_t n = op_elements(context, 0);
    return normalize(context, scaled ? 4 : 3, columns == 0 ? 0 : checked_div_floor(n, columns));
}

int64_t exact_branch_norm(const struct op_context *context) {
    const int rank = op_rank(context, 0);
    const int64_t branches = op_attr_int(context, "num_branches");
    if (rank < 1 || branches < 0) return DIM_UNKNOWN;
    int64_t columns = op_dim(context, 0, rank - 1);
    if (branches > 0) columns = checked_div_floor(columns, branches);
    return row_norm(context, op_has_input(context, 1), columns);
}

/* As row_norm; also per element: SiLU (5) or sigmoid (4) of the gate, product. */
int64_t exact_gated_norm(const struct op_context *context) {
    const bool plain = text_equal(op_attr_string(context, "activation"), "sigmoid");
    const int64_t columns = op_rank(context, 1) == 1 ? op_dim(context, 1, 0) : DIM_UNKNOWN;
    return checked_add(row_norm(context, true, columns),
                       checked_mul(plain ? 5 : 6, op_elements(context, 0)));
}

/* Per angle: sine, cosine. Per element of queries and keys: two products, an addition. */
int64_t exact_gemma_rotary(const struct op_context *context) {
    const int64_t turned = checked_add(op_elements(context, 1), op_elements(context, 3));
    return checked_add(checked_mul(2, op_elements(context, 0)), checked_mul(3, turned));
}

/* Per decay: addition, Softplus (3), product. Per rate: sigmoid (4). */
int64_t exact_gates(const struct op_context *context) {
    const int64_t rates = op_has_input(context, 3) ? op_elements(context, 3) : 0;
    return checked_add(checked_mul(5, op_elements(context, 0)), checked_mul(4, rates));
}

/* Per rotated element: two products, an addition. */
int64_t exact_rotary(const struct op_context *context) {
    const int64_t part = op_attr_int(context, "rotary_embedding_dim");
    const int64_t heads = op_attr_int(context, "num_heads");
    const int64_t all = op_elements(context, 0);
    int64_t columns = common_dim(context, 0, 4, 3); /* of one head; in rank 3 they are packed */
    if (op_rank(context, 0) == 3 && heads > 0)
        columns = checked_div_floor(op_dim(context, 0, 2), heads);
    if (part <= 0 || all == 0) return checked_mul(3, all);
    if (columns == 0) return 0;
    return checked_mul(3, checked_mul(checked_div_floor(all, columns), part));
}
