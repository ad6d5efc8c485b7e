/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the integer arithmetic of QDQ graphs: a runtime may compute a Conv or MatMul between
 * DequantizeLinear and QuantizeLinear on integers (ops/qdq_propagation.h,
 * docs/decisions/integers.md). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ops/integers.h"
#include "ops/qdq_propagation.h"
#include "passes/pass.h"

/* Finds the values that are dequantized integers, also after nodes that only move elements.
 * Returns the scale axes by value; NULL if nothing is dequantized, or if memory ran out and the
 * arena has failed. */
scale_axes *dequantized_find(const struct analysis *analysis);

/* Returns true if the node is a product that a runtime may compute on integers, although it is
 * written on floats. Sets *ret_rest to true if its other operations are on integers too. */
bool dequantized_product(const struct analysis *analysis, const struct op_context *context,
                         bool *ret_rest);

/* Returns the part of the node's MACs and other operations that is on integers. */
struct integers dequantized_integers(const struct analysis *analysis,
                                     const struct op_context *context, int64_t macs);
