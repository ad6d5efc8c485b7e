/* SPDX-License-Identifier: Apache-2.0 */
/* Propagates the scale of DequantizeLinear. Data movement moves the scale with the elements. A
 * product runs on integers only if the scales are constant along the reduction axes and factor
 * out: sum of s (x - p) t (w - q) = s t (sum of (x - p) (w - q))
 * (docs/decisions/integers.md). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct op_context;

/* Scale of a value: SCALE_NONE if it is not dequantized; else SCALED, and bit a is set if the
 * scale may vary along axis a. */
typedef uint64_t scale_axes;
#define SCALE_NONE     ((scale_axes)0)
#define SCALED         ((scale_axes)1 << 63)
#define SCALE_ALL_AXES (SCALED - 1)

static inline scale_axes scale_axis(int axis) {
    return (scale_axes)1 << axis;
}

/* The next two functions require inferred types of the node. `of_values` has the scale of each
 * value, by value id. */

/* Returns the scale of output `slot`. `same`: all operands were dequantized with the same scale
 * tensor. */
scale_axes scale_of_output(const struct op_context *context, const scale_axes *of_values,
                           bool same, size_t slot);

/* Returns true if the node is a product that a runtime may compute on integers, because the
 * scales factor out. Sets *ret_rest to true if its other operations are on integers too. */
bool scale_factors_out(const struct op_context *context, const scale_axes *of_values,
                       bool *ret_rest);

/* `moves` of struct op_qdq. */
typedef scale_axes scale_moves(const struct op_context *context, scale_axes axes);
scale_moves scale_unchanged, scale_along_all_axes, scale_through_transpose,
    scale_through_expand, scale_through_reshape, scale_through_gather,
    scale_through_gather_elements;
/* `sums` of struct op_qdq. */
typedef scale_axes scale_sums(const struct op_context *context, size_t operand);
scale_sums scale_conv_sums, scale_nhwc_conv_sums, scale_transposed_conv_sums,
    scale_causal_conv_sums, scale_matmul_sums, scale_gemm_sums, scale_fused_matmul_sums;
/* `is_lost`, `is_none` and `does_more` of struct op_qdq. */
typedef bool scale_condition(const struct op_context *context);
scale_condition scale_is_lost_by_pad, scale_has_state, scale_has_activation, scale_always;
