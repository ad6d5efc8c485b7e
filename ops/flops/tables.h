/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of the conventions, a file a kin, and the terms that they share. */
#ifndef OPS_FLOPS_TABLES_H
#define OPS_FLOPS_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include "ops/flops/conventions.h"

extern const struct convention_row convention_exact[];
extern const struct convention_row convention_torch[];
extern const struct convention_row convention_fvcore[];
extern const struct convention_row convention_ptflops[];
extern const struct convention_row convention_ptflops_aten[];
extern const struct convention_row convention_thop[];
extern const struct convention_row convention_onnx_tool[];

/* One addition per output element where the node has a bias, which stands at another operand in
 * each family. */
int64_t term_bias_2(const struct op_context *context, int64_t macs);
int64_t term_bias_3(const struct op_context *context, int64_t macs);
int64_t term_bias_6(const struct op_context *context, int64_t macs);
int64_t term_bias_8(const struct op_context *context, int64_t macs);
#define BIASES(slot) .extra = term_bias_##slot, .extra_description = "biases"
/* An operation for each output element and each operand after the first: Sum of four is 3. */
int64_t term_operands(const struct op_context *context, int64_t macs);
#define OPERANDS                                                                               \
    .extra = term_operands,                                                                    \
    .extra_description = "output elements for each operand after the first"
/* n - out: what it takes to put n elements together into out. */
int64_t term_joins(const struct op_context *context, int64_t macs);
#define JOINS .extra = term_joins, .extra_description = "input elements less output elements"

/* Of the convention `exact` alone: convention_exact_terms.c. */
int64_t exact_butterflies(const struct op_context *context, int64_t macs);
int64_t exact_frames(const struct op_context *context, int64_t macs);
int64_t exact_determinant(const struct op_context *context, int64_t macs);
int64_t exact_likelihood(const struct op_context *context, int64_t macs);
int64_t exact_cross_entropy(const struct op_context *context, int64_t macs);
int64_t exact_rotary(const struct op_context *context, int64_t macs);
int64_t exact_linear_attention(const struct op_context *context, int64_t macs);
int64_t exact_causal_convolution(const struct op_context *context, int64_t macs);
int64_t exact_adagrad(const struct op_context *context, int64_t macs);
int64_t exact_adam(const struct op_context *context, int64_t macs);
int64_t exact_momentum(const struct op_context *context, int64_t macs);
int64_t exact_tree_votes(const struct op_context *context, int64_t macs);
int64_t exact_intercepts(const struct op_context *context, int64_t macs);
int64_t exact_skip_norm(const struct op_context *context, int64_t macs);
int64_t exact_embedding_norm(const struct op_context *context, int64_t macs);
int64_t exact_vendor_group_norm(const struct op_context *context, int64_t macs);
int64_t exact_fast_gelu(const struct op_context *context, int64_t macs);
int64_t exact_fused(const struct op_context *context, int64_t macs);
int64_t exact_mean_variance(const struct op_context *context, int64_t macs);
int64_t exact_lp_norm(const struct op_context *context, int64_t macs);
int64_t exact_dynamic_scale(const struct op_context *context, int64_t macs);
int64_t exact_affine_grid(const struct op_context *context, int64_t macs);
int64_t exact_hardmax(const struct op_context *context, int64_t macs);
int64_t exact_roi_align(const struct op_context *context, int64_t macs);
int64_t exact_bias_dropout(const struct op_context *context, int64_t macs);
int64_t exact_branch_norm(const struct op_context *context, int64_t macs);
int64_t exact_gated_norm(const struct op_context *context, int64_t macs);
int64_t exact_gemma_rotary(const struct op_context *context, int64_t macs);
int64_t exact_gates(const struct op_context *context, int64_t macs);
int64_t exact_last_bias(const struct op_context *context, int64_t macs);

/* Steps * batch * directions * hidden of LSTM, GRU, RNN. */
int64_t term_cells(const struct op_context *context, int64_t macs);
/* The gates of a recurrent operator: 4, 3, 1. */
int64_t term_gates(const struct op_context *context);
/* Product of the first `most` sizes of kernel_shape. */
int64_t term_window(const struct op_context *context, size_t most);
/* Elements of input 0 divided by its size along the attribute `axis`. */
int64_t term_rows_along_axis(const struct op_context *context);
/* Elements of input 0 in front of the axis at which `axis` normalizes. */
int64_t term_rows_before_axis(const struct op_context *context);
/* The spatial axes of input 0: rank - 2; RANK_UNKNOWN where that is. */
int term_spatial(const struct op_context *context);

#endif
