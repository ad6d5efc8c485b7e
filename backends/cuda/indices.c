/* SPDX-License-Identifier: Apache-2.0 */
/* Derives the meaning of indices from shapes alone. */
#include "backends/cuda/indices.h"

#include <string.h>

#include "backends/primitive.h"
#include "support/checked.h"

static struct indices along(const struct cm_primitive *primitive,
                            const struct cm_tensor *tensor, enum index_form form) {
    struct indices ret = {.form = form, .n = 1};
    ret.ranges[0] = tensor->dims[primitive->axis];
    return ret;
}

/* Each row of indices selects a run of `tensor`; `moved` contains the runs of all rows: tensor
 * [4,5,6], indices [3,2] -> moved [3,6]. */
static struct indices runs(const struct cm_tensor *tensor, const struct cm_tensor *indices,
                           const struct cm_tensor *moved) {
    struct indices ret = {.form = INDEX_NONE};
    if (indices->rank < 1) return ret;
    const int64_t width = indices->dims[indices->rank - 1];
    const int64_t n_rows = primitive_elements_of(indices, 0, indices->rank - 1);
    if (width < 1 || width > tensor->rank ||
        primitive_elements(moved) !=
            checked_mul(n_rows, primitive_elements_of(tensor, (int32_t)width, tensor->rank)))
        return ret;
    ret.form = INDEX_RUNS;
    ret.n = (int32_t)width;
    memcpy(ret.ranges, tensor->dims, (size_t)width * sizeof(ret.ranges[0]));
    return ret;
}

static struct indices of_gather(const struct cm_primitive *primitive) {
    const struct cm_tensor *x = &primitive->inputs[0];
    const struct cm_tensor *indices = &primitive->inputs[1];
    const struct cm_tensor *y = &primitive->outputs[0];
    const int64_t n_indices = primitive_elements(indices);
    const int64_t n = primitive_elements(y);
    const bool has_axis = primitive->axis >= 0 && primitive->axis < x->rank;
    if (has_axis &&
        n == checked_mul(checked_mul(primitive_elements_of(x, 0, primitive->axis), n_indices),
                         primitive_elements_of(x, primitive->axis + 1, x->rank)))
        return along(primitive, x, INDEX_ROWS);
    if (has_axis && n == n_indices && x->rank == y->rank)
        return along(primitive, x, INDEX_ELEMENTS);
    return runs(x, indices, y);
}

static struct indices of_scatter(const struct cm_primitive *primitive) {
    const struct cm_tensor *indices = &primitive->inputs[1];
    const struct cm_tensor *updates = &primitive->inputs[2];
    const struct cm_tensor *y = &primitive->outputs[0];
    if (primitive_elements(indices) == primitive_elements(updates) &&
        updates->rank == y->rank && primitive->axis >= 0 && primitive->axis < y->rank)
        return along(primitive, y, INDEX_ELEMENTS);
    return runs(y, indices, updates);
}

struct indices indices_of(const struct cm_primitive *primitive) {
    if (primitive->kind == CM_GATHER && primitive->n_inputs > 1) return of_gather(primitive);
    if (primitive->kind == CM_SCATTER && primitive->n_inputs > 2) return of_scatter(primitive);
    return (struct indices){.form = INDEX_NONE};
}
