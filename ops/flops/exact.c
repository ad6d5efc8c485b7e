/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The convention `exact`: every arithmetic operation on an element once, by the plain formula
 * of the operator. An elementary function (exp, log, erf, tanh, a root, a power) is one
 * operation, as is a comparison that picks a number (Relu, Max); logic, indices, casts and
 * moves are none. An operator that exporters also take apart costs what its parts do.
 */
#include "ops/flops/terms.h"

#include "ops/op_context.h"
#include "support/checked.h"
#include "support/text.h"

#include "support/banned.h"

/* Scale and shift known beforehand; else mean 1, difference 1, square 1, mean 1, quotient 1,
 * scale 1, shift 1, and epsilon and root a channel. */
int64_t exact_batch_norm(const struct op_context *context) {
    if (!context->training) return checked_mul(2, op_elements(context, 0));
    int64_t each = checked_mul(7, op_elements(context, 0));
    return checked_add(each, checked_mul(2, op_elements(context, 1)));
}

/* Without scale or shift one less an element. */
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

/* The quotients are differences, and a row has one logarithm more. */
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
