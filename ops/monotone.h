/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Monotonicity of outputs in operands: if an operator is monotone, upper bounds of its operands
 * give upper bounds of its outputs (passes/infer/walk.h). An operator without an entry is
 * treated as not monotone, which is safe. Applies to shapes and contents; costs grow with both.
 */
#ifndef OPS_MONOTONE_H
#define OPS_MONOTONE_H

#include <stddef.h>

#include "ops/op.h"

/* Monotonicity in one operand, the others being constant. */
enum monotone {
    MONOTONE_NOT = '-',
    MONOTONE_DIMS = 'd',     /* no dim of an output is smaller where a dim of it is larger */
    MONOTONE_RISING = 'v',   /* and no dim or element of them where one of its elements is */
    MONOTONE_POSITIVE = 'p', /* the same, among operands without negative elements */
    MONOTONE_FALLING = 'f', /* no element of an output is larger where one of its elements is */
};

/* Returns one of these for operand `slot`, from `bounds` of the operator's facets. */
static inline char monotone_letter(const struct op *op, size_t slot) {
    const char *letter = op->facets && op->facets->bounds ? op->facets->bounds : "-";
    while (slot-- > 0 && letter[1]) letter++;
    return *letter;
}

#endif
