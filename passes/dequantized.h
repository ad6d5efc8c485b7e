/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Integers that a graph spells as floating-point numbers. A product of dequantized operands is
 * one of integers, times a scale,
 *     sum of s (x - p) t (w - q) = s t (sum of (x - p) (w - q)),
 * and that is how runtimes compute it: QuantizeLinear and DequantizeLinear around a Conv or a
 * MatMul are how a file says that they may (docs/decisions/integers.md).
 */
#ifndef PASSES_DEQUANTIZED_H
#define PASSES_DEQUANTIZED_H

#include <stdbool.h>

#include "ops/integers.h"
#include "passes/pass.h"

/* Which values are integers, shifted and scaled, under whatever shape: `ret` has one element
 * for each value of the model, and is all false. */
void dequantized_find(const struct analysis *analysis, bool *ret);

/* What of the node is on integers, by what it is and what it is given. */
struct integers dequantized_integers(const struct analysis *analysis, const struct rule *rule,
                                     int64_t macs);

#endif
