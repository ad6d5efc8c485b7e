/* SPDX-License-Identifier: Apache-2.0 */
/* An einsum of one operand or of two, as labels on axes: what a primitive is made of. */
#ifndef OPS_ONNX_EINSUM_H
#define OPS_ONNX_EINSUM_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/shape.h"

struct op_context;

#define EINSUM_LETTERS 52
#define EINSUM_LABELS  (EINSUM_LETTERS + SHAPE_MAX_RANK) /* and the axes of an ellipsis */

struct einsum_term {
    int rank;
    uint8_t labels[2 * SHAPE_MAX_RANK]; /* of each axis, below EINSUM_LABELS */
};

struct einsum_axes {
    int n; /* operands: 1 or 2 */
    struct einsum_term operands[2];
    struct einsum_term output;
    int64_t sizes[EINSUM_LABELS];
};

/*
 * Of a node whose types are known. False: more operands, or the axes are not known. An axis of
 * one element may bear a label of another size.
 */
bool einsum_read(const struct op_context *context, struct einsum_axes *ret);

#endif
