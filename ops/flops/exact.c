/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The convention `exact`: every arithmetic operation on an element once, by the plain formula
 * of the operator. An elementary function (exp, log, erf, tanh, a root, a power) is one
 * operation, as is a comparison that picks a number (Relu, Max); logic, indices, casts and
 * moves are none. An operator that exporters also decompose costs the same as its parts.
 */
#include "ops/flops/terms.h"

#include "ops/op_context.h"
#include "support/checked.h"
#include "support/text.h"

#include "support/banned.h"

/* Inference: one scale and one shift per element. Training: 7 per element (mean, difference,
 * square, variance, quotient, scale, shift) and 2 per channel (epsilon, root). */
int64_t exact_batch_norm(const struct op_context *context) {
    if (!context->training) return checked_mul(2, op_elements(context, 0));
    int64_t each = checked_mul(7, op_elements(context, 0));
    return checked_add(each, checked_mul(2, op_elements(context, 1)));
}

/* Returns operations per element: 7 with scale and shift, one less without either. */
static int64_t normalization(const struct op_context *context) {
    return 5 + (op_has_input(context, 1) ? 1 : 0) + (op_has_input(context, 2) ? 1 : 0);
}

/* The same over rows. */
int64_t exact_layer_norm(const struct op_context *context) {
    const int64_t each = normalization(context);
    int64_t flops = checked_mul(each, op_elements(context, 0));
    return checked_add(flops, checked_mul(2, term_rows_before_axis(context)));
}

/* Square, mean, quotient, scale. */
int64_t exact_rms_norm(const struct op_context *context) {
    int64_t flops = checked_mul(op_has_input(context, 1) ? 4 : 3, op_elements(context, 0));
    return checked_add(flops, checked_mul(2, term_rows_before_axis(context)));
}

int64_t exact_instance_norm(const struct op_context *context) {
    if (op_rank(context, 0) < 2) return DIM_UNKNOWN;
    int64_t rows = checked_mul(op_dim(context, 0, 0), op_dim(context, 0, 1));
    return checked_add(checked_mul(7, op_elements(context, 0)), checked_mul(2, rows));
}

int64_t exact_group_norm(const struct op_context *context) {
    if (op_rank(context, 0) < 2) return DIM_UNKNOWN;
    int64_t rows = checked_mul(op_dim(context, 0, 0), op_attr_int(context, "num_groups"));
    int64_t flops = checked_mul(normalization(context), op_elements(context, 0));
    return checked_add(flops, checked_mul(2, rows));
}

/* Square, size - 1 sums, factor, bias, power, quotient. */
int64_t exact_local_response(const struct op_context *context) {
    int64_t each = checked_add(op_attr_int(context, "size"), 4);
    return checked_mul(each, op_output_elements(context, 0));
}

/* A row of n: n - 1 comparisons, n differences, n exponentials, n - 1 sums, n quotients. */
int64_t exact_softmax(const struct op_context *context) {
    int64_t flops = checked_mul(5, op_elements(context, 0));
    return checked_sub(flops, checked_mul(2, term_rows_along_axis(context)));
}

int64_t exact_scores(int masks, int64_t scores, int64_t rows) {
    if (scores == 0) return 0; /* no keys: empty rows */
    return checked_sub(checked_mul(6 + masks, scores), checked_mul(2, rows));
}

/* As softmax with differences instead of quotients, and one logarithm per row. */
int64_t exact_log_softmax(const struct op_context *context) {
    return checked_sub(checked_mul(5, op_elements(context, 0)), term_rows_along_axis(context));
}

/* x/sqrt2, erf, 1 +, x *, 0.5 *; or by tanh: power, two factors, sum, tanh, sum, two factors.
 */
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

/* Of `taps` neighbours along each of the spatial axes: products, and one sum less. */
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

/*
 * A cell, sigmoid at 4: LSTM 4 sums, 12, two tanh, 3 for the state, 1; GRU 3 sums, 8, one tanh,
 * 1 for the reset, 4 for the blend; RNN 1 sum and a tanh. Peepholes: a product and a sum each.
 */
int64_t exact_recurrence(const struct op_context *context) {
    const int64_t gates = term_gates(context);
    int64_t each = gates == 4 ? 22 : gates == 3 ? 17 : 2;
    if (op_has_input(context, 3)) each += 2 * gates;
    if (gates == 4 && op_has_input(context, 7)) each += 6;
    return checked_mul(each, term_cells(context));
}

/* ---- signals, losses, optimizers, classical models, operators fused by ONNX Runtime ---- */

/* 4 products and 6 sums a butterfly, of which 4 are in its MACs. */
int64_t exact_butterflies(const struct op_context *context) {
    return checked_div_floor(context->macs, 2);
}

/* Each frame times the window besides. */
int64_t exact_frames(const struct op_context *context) {
    const struct shape *out = op_output_shape(context, 0);
    const int64_t sums = checked_div_floor(context->macs, 2);
    if (!op_has_input(context, 2)) return sums;
    const int64_t frames = out->rank == 4 ? shape_product(out, 0, 2) : DIM_UNKNOWN;
    return checked_add(sums, checked_mul(frames, op_elements(context, 2)));
}

/* An elimination of m columns: (m - 1) m / 2 quotients; m - 1 products of the diagonal. */
int64_t exact_determinant(const struct op_context *context) {
    const int rank = op_rank(context, 0);
    if (rank < 2) return DIM_UNKNOWN;
    const int64_t m = op_dim(context, 0, rank - 1);
    if (m == 0) return 0;
    const int64_t quotients = checked_div_floor(checked_mul(m, checked_sub(m, 1)), 2);
    const int64_t each = checked_add(quotients, checked_sub(m, 1));
    return checked_mul(each, op_output_elements(context, 0));
}

/* The sign of each target's score, its weight, and what puts them together. */
int64_t exact_likelihood(const struct op_context *context) {
    const int64_t n = op_elements(context, 1);
    int64_t each = op_has_input(context, 2) ? 2 : 1;
    if (!text_equal(op_attr_string(context, "reduction"), "none")) each++;
    return checked_mul(each, n);
}

/* Logarithms of a softmax, 5 a score and the logarithm less 2 a row, and their likelihood. */
int64_t exact_cross_entropy(const struct op_context *context) {
    const int64_t logs = checked_mul(5, op_elements(context, 0));
    return checked_add(checked_sub(logs, op_elements(context, 1)), exact_likelihood(context));
}

/* Biases, and 5 of a SiLU. */
int64_t exact_causal_convolution(const struct op_context *context) {
    const bool plain = text_equal(op_attr_string(context, "activation"), "none");
    const int64_t each = (op_has_input(context, 2) ? 1 : 0) + (plain ? 0 : 5);
    return checked_mul(each, op_output_elements(context, 0));
}

/* Numbers that an optimizer moves: its outputs are these and `states` more of each. */
static int64_t moved(const struct op_context *context, size_t states, int64_t each) {
    const size_t n = context->n_inputs > 2 ? (context->n_inputs - 2) / (states + 2) : 0;
    int64_t elements = 0;
    for (size_t i = 0; i < n; i++)
        elements = checked_add(elements, op_elements(context, 2 + i));
    return checked_mul(each, elements);
}

/* Regularized gradient 2, squares 2, root and epsilon 2, step 3. */
int64_t exact_adagrad(const struct op_context *context) {
    return moved(context, 1, 9);
}

/* Regularized gradient 2, its mean 3, that of squares 4, root and epsilon 2, step 3. */
int64_t exact_adam(const struct op_context *context) {
    return moved(context, 2, op_attr_float(context, "norm_coefficient_post") != 0 ? 15 : 14);
}

/* Regularized gradient 2, its mean 3, step 2; Nesterov looks ahead by 2. */
int64_t exact_momentum(const struct op_context *context) {
    return moved(context, 1, text_equal(op_attr_string(context, "mode"), "nesterov") ? 9 : 7);
}

/* One intercept a score, which is the last output. */
int64_t exact_intercepts(const struct op_context *context) {
    if (!op_has_attr(context, "intercepts")) return 0;
    return op_output_elements(context, context->n_outputs - 1);
}

static int64_t rows_of(const struct shape *shape) {
    return shape->rank < 1 ? DIM_UNKNOWN : shape_product(shape, 0, shape->rank - 1);
}

/* A sum for each of skip and bias, then a norm by scale, with a shift or without. */
int64_t exact_skip_norm(const struct op_context *context) {
    const bool simple = text_equal(context->op->type, "SkipSimplifiedLayerNormalization");
    const size_t bias = simple ? 3 : 4;
    const int64_t norm = simple ? 4 : 6 + op_has_input(context, 3);
    const int64_t each = 1 + op_has_input(context, bias) + norm;
    const int64_t rows = rows_of(op_shape(context, 0));
    return checked_add(checked_mul(each, op_elements(context, 0)), checked_mul(2, rows));
}

/* The sums of two or three embeddings, then a norm. */
int64_t exact_embedding_norm(const struct op_context *context) {
    const struct shape *out = op_output_shape(context, 0);
    const int64_t each = 8 + op_has_input(context, 4);
    return checked_add(checked_mul(each, op_output_elements(context, 0)),
                       checked_mul(2, rows_of(out)));
}

/* Groups of a picture, with a skip and its bias where there are some, and a SiLU. */
int64_t exact_contrib_group_norm(const struct op_context *context) {
    if (op_rank(context, 0) < 1) return DIM_UNKNOWN;
    const int64_t rows = checked_mul(op_dim(context, 0, 0), op_attr_int(context, "groups"));
    const int64_t each = 7 + (op_attr_int(context, "activation") != 0 ? 5 : 0) +
                         op_has_input(context, 3) + op_has_input(context, 4);
    return checked_add(checked_mul(each, op_elements(context, 0)), checked_mul(2, rows));
}

/* By tanh, behind a bias where there is one. */
int64_t exact_fast_gelu(const struct op_context *context) {
    return checked_mul(8 + op_has_input(context, 1), op_output_elements(context, 0));
}

/* A bias, what is added, and an activation, however many operations that takes: one. */
int64_t exact_fused(const struct op_context *context) {
    const int64_t each = op_has_input(context, 2) + op_has_input(context, 3) +
                         (op_has_attr(context, "activation") ? 1 : 0);
    return checked_mul(each, op_output_elements(context, 0));
}

/* Mean, difference, square, mean, quotient; epsilon and root of each group. */
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
        int64_t axis = axes ? axes[i] : usual[i];
        if (axis < 0) axis += x->rank;
        if (axis >= 0 && axis < x->rank) joined[axis] = true;
    }
    for (int axis = 0; axis < x->rank; axis++)
        if (!joined[axis]) groups = checked_mul(groups, x->dims[axis]);
    return checked_add(checked_mul(5, op_elements(context, 0)), checked_mul(2, groups));
}

/* Amount or square, their sum, the quotient; of squares a root a row. */
int64_t exact_lp_norm(const struct op_context *context) {
    const int64_t all = checked_mul(3, op_elements(context, 0));
    const bool roots = op_attr_int(context, "p") != 1;
    return roots ? all : checked_sub(all, term_rows_along_axis(context));
}

/* Least and largest with nought, and quotient, rounding and zero point of each; for the scale
 * two differences, two quotients and a rounding. */
int64_t exact_dynamic_scale(const struct op_context *context) {
    return checked_add(checked_mul(5, op_elements(context, 0)), 5);
}

/* A coordinate is a row of theta times the place and 1. */
int64_t exact_affine_grid(const struct op_context *context) {
    const struct shape *grid = op_output_shape(context, 0);
    if (grid->rank < 1) return DIM_UNKNOWN;
    const int64_t each = checked_mul(2, grid->dims[grid->rank - 1]);
    return checked_mul(each, op_output_elements(context, 0));
}

/* A row of n: n - 1 comparisons. */
int64_t exact_hardmax(const struct op_context *context) {
    return checked_sub(op_elements(context, 0), term_rows_along_axis(context));
}

/* Samples of 4 neighbours, 7 each, and what puts them together; as many as the region wants
 * where sampling_ratio is 0. */
int64_t exact_roi_align(const struct op_context *context) {
    const int64_t ratio = op_attr_int(context, "sampling_ratio");
    if (op_output_elements(context, 0) == 0) return 0;
    if (ratio < 1) return DIM_UNKNOWN;
    return checked_mul(checked_mul(8, checked_mul(ratio, ratio)),
                       op_output_elements(context, 0));
}

/* A bias, and what is added behind the dropout. */
int64_t exact_bias_dropout(const struct op_context *context) {
    return checked_mul(1 + op_has_input(context, 2), op_output_elements(context, 0));
}

/* Square, mean, quotient, scale, and epsilon and root a row of `columns`. */
static int64_t row_norm(const struct op_context *context, bool scaled, int64_t columns) {
    const int64_t n = op_elements(context, 0);
    const int64_t rows = columns == 0 ? 0 : checked_div_floor(n, columns);
    return checked_add(checked_mul(scaled ? 4 : 3, n), checked_mul(2, rows));
}

int64_t exact_branch_norm(const struct op_context *context) {
    const int rank = op_rank(context, 0);
    const int64_t branches = op_attr_int(context, "num_branches");
    if (rank < 1 || branches < 0) return DIM_UNKNOWN;
    int64_t columns = op_dim(context, 0, rank - 1);
    if (branches > 0) columns = checked_div_floor(columns, branches);
    return row_norm(context, op_has_input(context, 1), columns);
}

/* And a gate: a SiLU of 5 or a Sigmoid of 4, and the product with it. */
int64_t exact_gated_norm(const struct op_context *context) {
    const bool plain = text_equal(op_attr_string(context, "activation"), "sigmoid");
    const int64_t columns = op_rank(context, 1) == 1 ? op_dim(context, 1, 0) : DIM_UNKNOWN;
    return checked_add(row_norm(context, true, columns),
                       checked_mul(plain ? 5 : 6, op_elements(context, 0)));
}

/* Sine and cosine of the angles, then two products and a sum of queries and of keys. */
int64_t exact_gemma_rotary(const struct op_context *context) {
    const int64_t turned = checked_add(op_elements(context, 1), op_elements(context, 3));
    return checked_add(checked_mul(2, op_elements(context, 0)), checked_mul(3, turned));
}

/* Sum, Softplus of 3, product; a Sigmoid of 4. */
int64_t exact_gates(const struct op_context *context) {
    const int64_t rates = op_has_input(context, 3) ? op_elements(context, 3) : 0;
    return checked_add(checked_mul(5, op_elements(context, 0)), checked_mul(4, rates));
}
