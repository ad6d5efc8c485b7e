/* SPDX-License-Identifier: Apache-2.0 */
/* Terms that several FLOP conventions share. */
#include "ops/flops/terms.h"

#include "ops/op_context.h"
#include "support/checked.h"
#include "support/text.h"

int64_t term_biases(const struct op_context *context) {
    const size_t bias = context->op->bias;
    return bias > 0 && op_has_input(context, bias) ? op_output_elements(context, 0) : 0;
}

int64_t term_batch_norm(const struct op_context *context) {
    return checked_mul(context->training ? 5 : 2, op_elements(context, 0));
}

int64_t term_causal_conv(const struct op_context *context) {
    const char *activation = op_attr_string(context, "activation");
    const bool silu = text_equal(activation, "silu") || text_equal(activation, "swish");
    const int64_t each = op_has_input(context, context->op->bias) + (silu ? 1 : 0);
    return checked_mul(each, op_output_elements(context, 0));
}

int64_t term_operands(const struct op_context *context) {
    if (context->n_inputs == 0) return 0;
    return checked_mul((int64_t)context->n_inputs - 1, op_output_elements(context, 0));
}

int64_t term_reduction(const struct op_context *context) {
    int64_t joins = checked_sub(op_elements(context, 0), op_output_elements(context, 0));
    return is_known(joins) && joins < 0 ? 0 : joins; /* < 0: a reduction of no elements */
}

int64_t term_gates(const struct op_context *context) {
    if (text_equal(context->op->type, "LSTM")) return 4;
    return text_equal(context->op->type, "GRU") ? 3 : 1;
}

/* W is [D, G*h, I] and R is [D, G*h, h], so MACs = cells * G * (I + h). */
int64_t term_cells(const struct op_context *context) {
    if (op_rank(context, 1) != 3 || op_rank(context, 2) != 3) return DIM_UNKNOWN;
    int64_t operands = checked_add(op_dim(context, 1, 2), op_dim(context, 2, 2));
    int64_t per_cell = checked_mul(term_gates(context), operands);
    if (per_cell == 0) return 0;
    return checked_div_floor(context->macs, per_cell);
}

int64_t term_window(const struct op_context *context, size_t max_axes) {
    size_t n = 0;
    const int64_t *sizes = op_attr_ints(context, "kernel_shape", &n);
    int64_t window = 1;
    for (size_t i = 0; i < n && i < max_axes; i++) window = checked_mul(window, sizes[i]);
    return window;
}

/* Returns the attribute `axis` as a non-negative number; the last axis if it is out of range.
 * Infer rejects that, except axis = rank of a Softmax before opset 13. */
static int axis_of(const struct op_context *context, int rank) {
    int axis = 0;
    return shape_axis(op_attr_int(context, "axis"), rank, &axis) ? axis : rank - 1;
}

int64_t term_rows_along_axis(const struct op_context *context) {
    int rank = op_rank(context, 0);
    if (rank == RANK_UNKNOWN) return DIM_UNKNOWN;
    if (rank == 0) return 1;
    int64_t size = op_dim(context, 0, axis_of(context, rank));
    return size == 0 ? 0 : checked_div_floor(op_elements(context, 0), size);
}

int64_t term_rows_before_axis(const struct op_context *context) {
    int rank = op_rank(context, 0);
    if (rank == RANK_UNKNOWN) return DIM_UNKNOWN;
    int64_t rows = 1;
    for (int i = 0; rank > 0 && i < axis_of(context, rank); i++)
        rows = checked_mul(rows, op_dim(context, 0, i));
    return rows;
}

int64_t term_softmax_rows(const struct op_context *context) {
    const bool states_opset = text_equal(context->op->type, "QLinearSoftmax");
    const int64_t opset = states_opset ? op_attr_int(context, "opset") : context->op->since;
    if (op_elements(context, 0) == 0) return 0;
    return opset < 13 ? term_rows_before_axis(context) : term_rows_along_axis(context);
}

int term_spatial(const struct op_context *context) {
    int rank = op_rank(context, 0);
    if (rank == RANK_UNKNOWN) return RANK_UNKNOWN;
    return rank > 2 ? rank - 2 : 0;
}
