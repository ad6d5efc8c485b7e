/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which outputs grow with which operands: what makes of upper bounds of operands upper bounds
 * of outputs (passes/infer/walk.h). An operator that is not in the table promises
 * nothing, which is never wrong. It says of shapes and contents; costs grow with both.
 */
#ifndef OPS_MONOTONE_H
#define OPS_MONOTONE_H

#include <stddef.h>

#include "ops/op.h"

/* What holds of an operand while the others stay as they are. */
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
