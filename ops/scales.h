/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the scale goes by which integers were dequantized. Through what moves elements it
 * follows them; out of a product it can be taken where it is the same for all that is summed,
 *     sum of s (x - p) t (w - q) = s t (sum of (x - p) (w - q)),
 * and only there is the product one of integers (docs/decisions/integers.md).
 */
#ifndef OPS_SCALES_H
#define OPS_SCALES_H

#include <stdbool.h>
#include <stdint.h>

struct rule;

/* Of a value: no dequantized integers, or their scale changes along more than one axis; one
 * scale; SCALE_ALONG + a: one for each place along axis a. */
typedef uint8_t scale_kind;
#define SCALE_NONE  ((scale_kind)0)
#define SCALE_WHOLE ((scale_kind)1)
#define SCALE_ALONG ((scale_kind)2)

/* Both take rules of nodes whose types are known; `of_values` is by value of the model. */

/* Of the outputs, which it dequantizes or passes on. `same`: its operands have the very same
 * scale. */
scale_kind scale_of_outputs(const struct rule *rule, const scale_kind *of_values, bool same);

/* Whether it multiplies integers, so that all of its MACs are on such. *ret_rest: and so is
 * what else it does. */
bool scale_comes_out(const struct rule *rule, const scale_kind *of_values, bool *ret_rest);

#endif
