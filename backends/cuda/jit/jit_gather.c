/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the kernels of gathers. Every index is reduced modulo its range, so no thread accesses
 * memory outside the operands. */
#include "backends/cuda/indices.h"
#include "backends/cuda/jit/jit_index.h"
#include "backends/cuda/refuse.h"
#include "backends/primitive.h"

#include "support/banned.h"

#define VECTOR_BYTES 16

static int vector_of(const struct cm_tensor *x, int64_t run) {
    int64_t vector = VECTOR_BYTES / primitive_element_size(x->element);
    while (run % vector != 0) vector /= 2;
    return (int)vector;
}

/* Opens a kernel of `n` threads; declares i, the index of the thread. */
static void begin(struct jit *jit, int64_t n) {
    const char *type = n <= INT32_MAX ? "unsigned" : "u64";
    jit_begin(jit, true, n);
    jit_add(jit,
            "    const %s i = blockIdx.x * (%s)%d + threadIdx.x;\n"
            "    if (i >= %lldull) return;\n",
            type, type, JIT_BLOCK, (long long)n);
}

static void move(struct jit *jit, int vector) {
    const char *type = jit_bits(jit->primitive->outputs[0].element);
    jit_add(jit, "    ((vec<%s, %d> *)y0)[i] = ((const vec<%s, %d> *)x0)[from];\n}\n", type,
            vector, type, vector);
}

/* Gather: selects y [before, n_indices, after] from x [before, axis, after]. */
static void write_rows(struct jit *jit, int64_t before, int64_t axis, int64_t n_indices,
                       int64_t after) {
    const int vector = vector_of(&jit->primitive->inputs[0], after);
    const long long run = (long long)(after / vector);
    begin(jit, before * n_indices * (after / vector));
    jit_add(jit,
            "    const u64 row = i / %lldull, at = i %% %lldull, b = row / %lldull;\n"
            "    const u64 index = (u64)x1[row %% %lldull] %% %lldull;\n"
            "    const u64 from = (b * %lldull + index) * %lldull + at;\n",
            run, run, (long long)n_indices, (long long)n_indices, (long long)axis,
            (long long)axis, run);
    move(jit, vector);
}

/* GatherElements: one index per element of the result, along the axis. */
static void write_elements(struct jit *jit) {
    const struct cm_primitive *primitive = jit->primitive;
    const struct cm_tensor *x = &primitive->inputs[0];
    const struct cm_tensor *y = &primitive->outputs[0];
    begin(jit, primitive_elements(y));
    jit_add(jit, "    u64 r = i, from = 0;\n");
    for (int32_t axis = y->rank - 1; axis >= 0; axis--) {
        const long long stride = (long long)x->strides[axis];
        if (axis == primitive->axis)
            jit_add(jit, "    from += (u64)x1[i] %% %lldull * %lldull;\n",
                    (long long)x->dims[axis], stride);
        else
            jit_add(jit, "    from += r %% %lldull %% %lldull * %lldull;\n",
                    (long long)y->dims[axis], (long long)x->dims[axis], stride);
        jit_add(jit, "    r /= %lldull;\n", (long long)y->dims[axis]);
    }
    move(jit, 1);
}

/* GatherND: each row of indices selects a run of x. */
static void write_runs(struct jit *jit, int32_t width) {
    const struct cm_tensor *x = &jit->primitive->inputs[0];
    const int64_t n = primitive_elements(&jit->primitive->outputs[0]);
    const int64_t after = primitive_elements_of(x, width, x->rank);
    const int64_t n_runs = primitive_elements_of(x, 0, width);
    const int vector = vector_of(x, after);
    const long long run = (long long)(after / vector);
    begin(jit, n / vector);
    jit_add(jit, "    const u64 row = i / %lldull;\n    u64 which = 0;\n", run);
    for (int32_t k = 0; k < width; k++)
        jit_add(jit, "    which = which * %lldull + (u64)x1[row * %dull + %d] %% %lldull;\n",
                (long long)x->dims[k], (int)width, (int)k, (long long)x->dims[k]);
    jit_add(jit, "    const u64 from = which %% %lldull * %lldull + i %% %lldull;\n",
            (long long)n_runs, run, run);
    move(jit, vector);
}

/* Proxy for operators that compute positions from attributes instead of an indices operand; the
 * primitive does not say how. Copies elements in order. */
static void write_in_order(struct jit *jit) {
    const struct cm_tensor *x = &jit->primitive->inputs[0];
    const struct cm_tensor *y = &jit->primitive->outputs[0];
    const int64_t n = primitive_elements(y);
    const int64_t all = primitive_elements(x);
    int vector = vector_of(x, n);
    while (all % vector != 0) vector /= 2;
    begin(jit, n / vector);
    jit_add(jit, "    const u64 from = i %% %lldull;\n", (long long)(all / vector));
    move(jit, vector);
    (void)cuda_refuse(&jit->proxy_note, 0,
                      "copied the same number of elements in order instead");
}

int jit_write_gather(const struct cm_primitive *primitive, struct jit *jit,
                     struct cm_reason *reason) {
    const struct cm_tensor *x = &primitive->inputs[0];
    const struct cm_tensor *y = &primitive->outputs[0];
    const struct indices indices = indices_of(primitive);
    const int32_t axis = primitive->axis;
    if (primitive->n_outputs != 1 || x->element != y->element || axis < 0 ||
        axis >= (x->rank > 0 ? x->rank : 1) || !primitive_is_packed(x) ||
        !primitive_is_packed(y))
        return cuda_refuse(
            reason, CM_BACKEND_REFUSED,
            "gather requires one output, contiguous and of the operand's data type");
    jit_add(jit, "typedef float C;\n%s", jit_prelude);
    if (primitive->n_inputs < 2) {
        write_in_order(jit);
        return CM_BACKEND_OK;
    }
    if (!primitive_is_packed(&primitive->inputs[1]))
        return cuda_refuse(reason, CM_BACKEND_REFUSED, "gather indices must be contiguous");
    if (indices.form == INDEX_ROWS)
        write_rows(jit, primitive_elements_of(x, 0, axis), x->dims[axis],
                   primitive_elements(&primitive->inputs[1]),
                   primitive_elements_of(x, axis + 1, x->rank));
    else if (indices.form == INDEX_ELEMENTS)
        write_elements(jit);
    else if (indices.form == INDEX_RUNS)
        write_runs(jit, indices.n);
    else
        return cuda_refuse(reason, CM_BACKEND_REFUSED,
                           "the shape of the indices does not match the result");
    return CM_BACKEND_OK;
}
