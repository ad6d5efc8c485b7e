/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the scale goes by which integers were dequantized. Through what moves elements it
 * follows them; out of a product it can be taken where it is the same for all that is summed,
 *     sum of s (x - p) t (w - q) = s t (sum of (x - p) (w - q)),
 * and only there is the product one of integers (docs/decisions/integers.md).
 */
#ifndef OPS_QDQ_PROPAGATION_H
#define OPS_QDQ_PROPAGATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct op_context;

/* Of a value: none, where it is no dequantized integers; else SCALED, and bit a where the scale
 * may change from place to place along axis a. */
typedef uint64_t scale_axes;
#define SCALE_NONE ((scale_axes)0)
#define SCALED     ((scale_axes)1 << 63)

/* Both take rules of nodes whose types are known; `of_values` is by value of the model. */

/* Of output `slot`, which the node dequantizes or passes on. `same`: its operands were
 * dequantized by the very same scale. */
scale_axes scale_of_output(const struct op_context *context, const scale_axes *of_values,
                           bool same, size_t slot);

/* Whether it multiplies integers, so that all of its MACs are on such. *ret_rest: and so is
 * what else it does. */
bool scale_comes_out(const struct op_context *context, const scale_axes *of_values,
                     bool *ret_rest);

#endif
