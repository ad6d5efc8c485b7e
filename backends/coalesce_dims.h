/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same work in fewer dims: a ReLU over 1x64x56x56 is one over 200704 elements, a bias over
 * its channels has three dims. oneDNN has fast code for few dims and a reference for the rest,
 * cuDNN refuses more than three of them. Modules compile this file into themselves.
 */
#ifndef BACKENDS_COALESCE_DIMS_H
#define BACKENDS_COALESCE_DIMS_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/backend.h"

#define COLLAPSE_OPERANDS (CM_MAX_INPUTS + 1)

struct coalesced {
    int rank;                  /* >= 1 */
    int64_t dims[CM_MAX_RANK]; /* of what all operands are broadcast to */
    /* Each operand's own dims: 1 where it repeats itself; strides as they are. */
    int64_t own[COLLAPSE_OPERANDS][CM_MAX_RANK];
    int64_t strides[COLLAPSE_OPERANDS][CM_MAX_RANK];
};

/*
 * `n` operands, aligned at their last dims, broadcast to `shape`: axes of 1 are dropped,
 * neighbours that lie behind each other in every operand become one. False where an operand
 * does not broadcast to it.
 */
bool coalesce_dims(const struct cm_tensor *const *operands, int n,
                   const struct cm_tensor *shape, struct coalesced *ret);

#endif
