/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of an operator's arithmetic is on integers, and what on floating-point numbers, by what
 * the operator is and by the types that it is given. What the graph around a node adds,
 * products of dequantized operands, is passes/params/dequantized.h. docs/decisions/integers.md
 * says why so.
 */
#ifndef OPS_INTEGERS_H
#define OPS_INTEGERS_H

#include <stdbool.h>
#include <stdint.h>

struct op;
struct op_context;

struct integers {
    int64_t macs;       /* of one run; DIM_UNKNOWN, DIM_OVERFLOW pass */
    int64_t other_macs; /* those that are not on integers */
    bool rest;          /* whether what it does besides MACs is on integers */
};

/* `macs`: all of one run of the node (product_macs). */
struct integers integers_of(const struct op_context *context, int64_t macs);

/* All MACs on integers, the rest or not. */
struct integers integers_all(int64_t macs, bool rest);

/* All MACs, on whatever. */
int64_t integers_total(const struct integers *integers);

/* What of it is on integers, for people; NULL: that the types of its operands decide. */
const char *integers_words(const struct op *op);
/* Whether output 0 is operand 0, whose integers are shifted and scaled: DequantizeLinear. */
bool integers_are_scaled(const struct op *op);

#endif
