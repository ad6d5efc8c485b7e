/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Integers that a graph spells as floating-point numbers: QuantizeLinear and DequantizeLinear
 * around a Conv or a MatMul are how a file says that it may be computed on integers
 * (ops/qdq_propagation.h, docs/decisions/integers.md).
 */
#ifndef PASSES_PARAMS_DEQUANTIZED_H
#define PASSES_PARAMS_DEQUANTIZED_H

#include <stdbool.h>
#include <stdint.h>

#include "ops/integers.h"
#include "ops/qdq_propagation.h"
#include "passes/pass.h"

/* Whether the node gives its integers, shifted and scaled: a DequantizeLinear. */
bool dequantizes(const struct analysis *analysis, uint32_t node);

/* Which values are dequantized integers, under whatever shape: *ret has one element for each
 * value of the model, or is NULL where nothing is dequantized. CM_OK, or CM_NO_MEMORY. */
int dequantized_find(const struct analysis *analysis, scale_axes **ret) CM_MUST_CHECK;

/* What of the node is on integers, by what it is and what it is given. */
struct integers dequantized_integers(const struct analysis *analysis,
                                     const struct op_context *context, int64_t macs);

#endif
