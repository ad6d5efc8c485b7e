/* SPDX-License-Identifier: Apache-2.0 */
/* How the indices of a gather or a scatter select elements, derived from the operand shapes. */
#pragma once

#include "costmodel/backend.h"

enum index_form {
    INDEX_NONE,     /* no indices, or the shapes do not match */
    INDEX_ROWS,     /* Gather: each index selects a slice along the axis */
    INDEX_ELEMENTS, /* GatherElements, ScatterElements: one index per element */
    INDEX_RUNS,     /* GatherND, ScatterND: each row of indices selects contiguous elements */
};

struct indices {
    enum index_form form;
    int32_t n;                   /* indices per row: n > 1 only for INDEX_RUNS */
    int64_t ranges[CM_MAX_RANK]; /* index k of a row is in 0 .. ranges[k] - 1 */
};

/* Returns form INDEX_NONE also if the primitive is not a gather or scatter. */
struct indices indices_of(const struct cm_primitive *primitive);
