/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the kernels of gathers and scatters. Every index is reduced modulo its range, so no
 * thread accesses memory outside the operands. */
#include "backends/cuda/indices.h"
#include "backends/cuda/jit/jit.h"
#include "backends/cuda/refuse.h"
#include "backends/primitive.h"

/* Returns the most elements of x that one load can have and that divide `run`. */
static int vector_of(const struct cm_tensor *x, int64_t run) {
    int64_t vector = JIT_VECTOR_BYTES / primitive_element_size(x->element);
    while (run % vector != 0) vector /= 2;
    return (int)vector;
}

/* Opens a kernel of `n` threads; declares i, the index of the thread. */
static void begin(struct jit *jit, int64_t n, bool wide) {
    const char *type = wide ? "u64" : "unsigned";
    jit_begin(jit, true, n);
    jit_add(jit,
            "    const %s i = blockIdx.x * (%s)%d + threadIdx.x;\n"
            "    if (i >= %lldull) return;\n",
            type, type, JIT_BLOCK, (long long)n);
}

/* GatherElements, ScatterElements: one index per element of `moved`, along the axis. Declares
 * a variable named by `offset`, the offset in `tensor` that belongs to element i of `moved`. */
static void add_element(struct jit *jit, const char *offset, const struct cm_tensor *moved,
                        const struct cm_tensor *tensor) {
    jit_add(jit, "    u64 r = i, %s = 0;\n", offset);
    for (int32_t axis = moved->rank - 1; axis >= 0; axis--) {
        const long long dim = (long long)moved->dims[axis];
        const long long range = (long long)tensor->dims[axis];
        const long long stride = (long long)tensor->strides[axis];
        if (axis == jit->primitive->axis)
            jit_add(jit, "    %s += (u64)x1[i] %% %lldull * %lldull;\n", offset, range, stride);
        else
            jit_add(jit, "    %s += r %% %lldull %% %lldull * %lldull;\n", offset, dim, range,
                    stride);
        jit_add(jit, "    r /= %lldull;\n", dim);
    }
}

/* GatherND, ScatterND: each row of `width` indices selects a run of `tensor`; `run` successive
 * values of i belong to one run. Declares `which`, the number of the run in `tensor`. */
static void add_run(struct jit *jit, const struct cm_tensor *tensor, int32_t width,
                    long long run) {
    jit_add(jit, "    const u64 row = i / %lldull;\n    u64 which = 0;\n", run);
    for (int32_t k = 0; k < width; k++)
        jit_add(jit, "    which = which * %lldull + (u64)x1[row * %dull + %d] %% %lldull;\n",
                (long long)tensor->dims[k], (int)width, (int)k, (long long)tensor->dims[k]);
}

/* Writes the copy of vector `from` of x to vector i of y. */
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
    const int64_t n = before * n_indices * (after / vector);
    begin(jit, n, n > INT32_MAX);
    jit_add(jit,
            "    const u64 row = i / %lldull, at = i %% %lldull, b = row / %lldull;\n"
            "    const u64 index = (u64)x1[row %% %lldull] %% %lldull;\n"
            "    const u64 from = (b * %lldull + index) * %lldull + at;\n",
            run, run, (long long)n_indices, (long long)n_indices, (long long)axis,
            (long long)axis, run);
    move(jit, vector);
}

/* GatherND. */
static void write_runs(struct jit *jit, int32_t width) {
    const struct cm_tensor *x = &jit->primitive->inputs[0];
    const int64_t n = primitive_elements(&jit->primitive->outputs[0]);
    const int64_t after = primitive_elements_of(x, width, x->rank);
    const int vector = vector_of(x, after);
    const long long run = (long long)(after / vector);
    begin(jit, n / vector, n / vector > INT32_MAX);
    add_run(jit, x, width, run);
    jit_add(jit, "    const u64 from = which %% %lldull * %lldull + i %% %lldull;\n",
            (long long)primitive_elements_of(x, 0, width), run, run);
    move(jit, vector);
}

/* Proxy for operators that compute positions from attributes, which the primitive lacks,
 * instead of an indices operand. Copies elements in order. */
static void write_in_order(struct jit *jit) {
    const struct cm_tensor *x = &jit->primitive->inputs[0];
    const struct cm_tensor *y = &jit->primitive->outputs[0];
    const int64_t n = primitive_elements(y);
    const int64_t all = primitive_elements(x);
    int vector = vector_of(x, n);
    while (all % vector != 0) vector /= 2;
    begin(jit, n / vector, n / vector > INT32_MAX);
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
    if (indices.form == INDEX_ROWS) {
        write_rows(jit, primitive_elements_of(x, 0, axis), x->dims[axis],
                   primitive_elements(&primitive->inputs[1]),
                   primitive_elements_of(x, axis + 1, x->rank));
    } else if (indices.form == INDEX_ELEMENTS) {
        begin(jit, primitive_elements(y), primitive_elements(y) > INT32_MAX);
        add_element(jit, "from", y, x);
        move(jit, 1);
    } else if (indices.form == INDEX_RUNS) {
        write_runs(jit, indices.n);
    } else {
        return cuda_refuse(reason, CM_BACKEND_REFUSED,
                           "the shape of the indices does not match the result");
    }
    return CM_BACKEND_OK;
}

/* Copies x, then writes the updates. The order of two updates of one element is undefined. */
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
    const struct indices how = indices_of(primitive);
    jit_add(jit, "typedef float C;\n%s", jit_prelude);
    begin(jit, primitive_elements(y), true);
    jit_add(jit, "    y0[i] = x0[i];\n}\n");
    begin(jit, primitive_elements(updates), true);
    if (how.form == INDEX_ELEMENTS) {
        add_element(jit, "to", updates, y);
        jit_add(jit, "    y0[to] = x2[i];\n}\n");
    } else if (how.form == INDEX_RUNS) {
        const long long run = (long long)primitive_elements_of(y, how.n, y->rank);
        add_run(jit, y, how.n, run);
        jit_add(jit, "    y0[which * %lldull + i %% %lldull] = x2[i];\n}\n", run, run);
    } else {
        return cuda_refuse(reason, CM_BACKEND_REFUSED,
                           "the shape of the updates does not match the indices");
    }
    return CM_BACKEND_OK;
}
