/* SPDX-License-Identifier: Apache-2.0 */
/* A matrix product in BLAS terms: leading dims, transposes, one batch stride. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/backend.h"

#define GEMM_LOOPS (CM_MAX_RANK - 2)

struct gemm_matrix {
    bool column_major;         /* the first dim is contiguous */
    int64_t leading;           /* elements between rows; between columns if column_major */
    int64_t batch;             /* elements between matrices of the batch; 0 if shared */
    int64_t loops[GEMM_LOOPS]; /* stride along each of gemm.loops, elements */
};

/* y = a b + c; c is the addend. */
enum gemm_operand { GEMM_A, GEMM_B, GEMM_Y, GEMM_C, GEMM_OPERANDS };

enum gemm_addend {
    GEMM_NO_ADDEND,
    GEMM_BIAS,  /* one row, added to every row */
    GEMM_MATRIX /* has the shape of the result */
};

struct gemm {
    int64_t m, n, k;
    int64_t batch;             /* matrices per call */
    int32_t n_loops;           /* batch dims that cannot be merged into `batch` */
    int64_t loops[GEMM_LOOPS]; /* sizes of these dims, inner first */
    int64_t n_calls;           /* one call per index of the loops: product of the sizes */
    struct gemm_matrix matrices[GEMM_OPERANDS];
    enum gemm_addend addend;
};

/* Returns CM_BACKEND_OK, or CM_BACKEND_REFUSED with a reason if BLAS does not support the
 * strides, the addend does not match, or there are no elements. */
int gemm_read(const struct cm_primitive *primitive, struct gemm *ret, struct cm_reason *reason);
/* Returns the offset of a matrix in call `index`, in elements. */
int64_t gemm_offset(const struct gemm *gemm, enum gemm_operand which, int64_t index);
