/* SPDX-License-Identifier: Apache-2.0 */
/* Splits an operator's arithmetic into integer and floating-point operations, by its type and
 * the dtypes of its operands. passes/cost/dequantized.h handles products of dequantized
 * operands, which depend on the graph around the node. Rationale:
 * docs/decisions/integers.md. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct op;
struct op_context;

struct integers {
    int64_t macs;       /* integer MACs of one run; DIM_UNKNOWN, DIM_OVERFLOW */
    int64_t other_macs; /* floating-point MACs of one run; DIM_UNKNOWN, DIM_OVERFLOW */
    bool rest;          /* the operations other than MACs are on integers */
};

/* Splits the operations of a node; `macs`: MACs of one run (product_macs). */
struct integers integers_of(const struct op_context *context, int64_t macs);

/* Returns a split with all MACs on integers. */
struct integers integers_all(int64_t macs, bool rest);

/* Returns all MACs, integer or not. */
int64_t integers_total(const struct integers *integers);

/* Describes the operator's integer arithmetic, for `costmodel ops`: "MACs on integers"; NULL if
 * the operand dtypes decide. */
const char *integers_words(const struct op *op);
/* Returns true if output 0 is operand 0, shifted and scaled: DequantizeLinear. */
bool integers_are_scaled(const struct op *op);
/* Returns true if output 1 is a scale that is computed at run time: DynamicQuantizeLinear. */
bool integers_computes_scale(const struct op *op);
