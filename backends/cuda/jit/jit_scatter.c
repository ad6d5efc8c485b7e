/* SPDX-License-Identifier: Apache-2.0 */
/* Scatter: copies x, then writes the updates. Indices are reduced modulo their range. The order
 * of two updates of one element is undefined. */
#include "backends/cuda/indices.h"
#include "backends/cuda/jit/jit_index.h"
#include "backends/cuda/refuse.h"
#include "backends/primitive.h"

#include "support/banned.h"

static void begin(struct jit *jit, int64_t n) {
    jit_begin(jit, true, n);
    jit_add(jit,
            "    const u64 i = blockIdx.x * (u64)%d + threadIdx.x;\n"
            "    if (i >= %lldull) return;\n",
            JIT_BLOCK, (long long)n);
}

/* ScatterElements: one index per update, along the axis. */
static void write_elements(struct jit *jit) {
    const struct cm_tensor *updates = &jit->primitive->inputs[2];
    const struct cm_tensor *y = &jit->primitive->outputs[0];
    jit_add(jit, "    u64 r = i, to = 0;\n");
    for (int32_t axis = updates->rank - 1; axis >= 0; axis--) {
        const long long dim = (long long)updates->dims[axis];
        if (axis == jit->primitive->axis)
            jit_add(jit, "    to += (u64)x1[i] %% %lldull * %lldull;\n",
                    (long long)y->dims[axis], (long long)y->strides[axis]);
        else
            jit_add(jit, "    to += r %% %lldull %% %lldull * %lldull;\n", dim,
                    (long long)y->dims[axis], (long long)y->strides[axis]);
        jit_add(jit, "    r /= %lldull;\n", dim);
    }
    jit_add(jit, "    y0[to] = x2[i];\n}\n");
}

/* ScatterND: each row of indices selects a run of the result. */
static void write_runs(struct jit *jit, int64_t width, int64_t after) {
    const struct cm_tensor *y = &jit->primitive->outputs[0];
    jit_add(jit, "    const u64 row = i / %lldull;\n    u64 which = 0;\n", (long long)after);
    for (int64_t k = 0; k < width; k++)
        jit_add(jit,
                "    which = which * %lldull + (u64)x1[row * %lldull + %lld] %% %lldull;\n",
                (long long)y->dims[k], (long long)width, (long long)k, (long long)y->dims[k]);
    jit_add(jit, "    y0[which * %lldull + i %% %lldull] = x2[i];\n}\n", (long long)after,
            (long long)after);
}

int jit_write_scatter(const struct cm_primitive *primitive, struct jit *jit,
                      struct cm_reason *reason) {
    const struct cm_tensor *x = &primitive->inputs[0];
    const struct cm_tensor *indices = &primitive->inputs[1];
    const struct cm_tensor *updates = &primitive->inputs[2];
    const struct cm_tensor *y = &primitive->outputs[0];
    if (primitive->n_inputs != 3 || primitive->n_outputs != 1 || !primitive_is_packed(x) ||
        !primitive_is_packed(indices) || !primitive_is_packed(updates) ||
        !primitive_is_packed(y) || x->element != y->element || updates->element != y->element ||
        x->rank != y->rank || primitive_elements(x) != primitive_elements(y) ||
        indices->rank < 1)
        return cuda_refuse(reason, CM_BACKEND_REFUSED, "scatter operands must be contiguous");
    const int64_t n = primitive_elements(updates);
    const struct indices how = indices_of(primitive);
    jit_add(jit, "typedef float C;\n%s", jit_prelude);
    begin(jit, primitive_elements(y));
    jit_add(jit, "    y0[i] = x0[i];\n}\n");
    begin(jit, n);
    if (how.form == INDEX_ELEMENTS)
        write_elements(jit);
    else if (how.form == INDEX_RUNS)
        write_runs(jit, how.n, primitive_elements_of(y, how.n, y->rank));
    else
        return cuda_refuse(reason, CM_BACKEND_REFUSED,
                           "the shape of the updates does not match the indices");
    return CM_BACKEND_OK;
}
