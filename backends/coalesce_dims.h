/* SPDX-License-Identifier: Apache-2.0 */
/* Coalesces dims: a ReLU over [1,64,56,56] becomes one over [200704], and the sum [8,64,56,56]
 * + [64,1,1] becomes [8,64,3136] + [1,64,1]. oneDNN is fast for few dims only, and cuDNN
 * refuses more than three. The backend modules compile this file themselves. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/backend.h"

#define COALESCE_OPERANDS (CM_MAX_INPUTS + 1)

struct coalesced {
    int rank;                  /* >= 1 */
    int64_t dims[CM_MAX_RANK]; /* dims after broadcasting */
    /* Dims of each operand, 1 along a broadcast axis, and its strides in elements. */
    int64_t operand_dims[COALESCE_OPERANDS][CM_MAX_RANK];
    int64_t strides[COALESCE_OPERANDS][CM_MAX_RANK];
};

/* Aligns `n` operands at their last dims, broadcasts them to `shape`, drops axes of 1 and
 * merges axes that are contiguous in every operand. Returns false if one does not broadcast. */
bool coalesce_dims(const struct cm_tensor *const *operands, int n,
                   const struct cm_tensor *shape, struct coalesced *ret);
