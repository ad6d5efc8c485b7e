/* SPDX-License-Identifier: Apache-2.0 */
/* A product of ours as a BLAS sees it: leading dims, transposed or not, one stride of a batch.
 */
#ifndef BACKENDS_CUDA_GEMM_H
#define BACKENDS_CUDA_GEMM_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/backend.h"

#define GEMM_LOOPS (CM_MAX_RANK - 2)

struct gemm_matrix {
    bool column_major; /* the first dim is the one without gaps */
    int64_t leading;   /* elements from one row (column) to the next */
    int64_t batch;     /* elements from one matrix of the batch to the next; 0: the same */
    int64_t loops[GEMM_LOOPS]; /* the same of gemm.loops */
};

enum gemm_addend {
    GEMM_NO_ADDEND,
    GEMM_BIAS,  /* one row, added to every row */
    GEMM_MATRIX /* of the result's shape */
};

struct gemm {
    int64_t m, n, k;
    int64_t batch;             /* matrices of one call */
    int32_t n_loops;           /* batch dims that have no common stride: a call each */
    int64_t loops[GEMM_LOOPS]; /* their sizes, outer first */
    int64_t n_calls;           /* product of them */
    struct gemm_matrix a, b, y, c;
    enum gemm_addend addend;
};

/* False, with a reason: strides that no BLAS takes, an addend of another shape, no elements. */
bool gemm_read(const struct cm_primitive *primitive, struct gemm *ret,
               struct cm_reason *reason);
/* Where call `index` finds its part, in elements from the begin. */
int64_t gemm_offset(const struct gemm *gemm, const struct gemm_matrix *matrix, int64_t index);

#endif
