/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the kernels of softmax and reductions. A contiguous row gets up to 256 threads;
 * else each thread has one row, so that neighbouring threads read neighbouring elements. */
#include "backends/cuda/jit/jit.h"
#include "backends/cuda/refuse.h"
#include "backends/primitive.h"
#include "support/checked.h"

int jit_write_softmax(const struct cm_primitive *primitive, struct jit *jit,
                      struct cm_reason *reason) {
    const struct cm_tensor *x = &primitive->inputs[0];
    const int32_t axis = primitive->axis;
    const bool is_log = primitive->algorithm == CM_SOFTMAX_LOG;
    if (axis < 0 || axis >= x->rank || !primitive_is_packed(x) ||
        !primitive_is_packed(&primitive->outputs[0]))
        return cuda_refuse(reason, CM_BACKEND_REFUSED, "softmax operands must be contiguous");
    const int64_t outer = primitive_elements_of(x, 0, axis);
    const int64_t inner = primitive_elements_of(x, axis + 1, x->rank);
    jit_add(jit, "typedef %s C;\n%s", jit_float_type(primitive), jit_prelude);
    if (inner == 1) {
        jit_begin_rows(jit, "row", outer, x->dims[axis]);
        jit_add(jit, "    softmax_row<TPR, %s>(x0 + row * L, y0 + row * L, L, t, mine);\n}\n",
                is_log ? "true" : "false");
    } else {
        const long long n = (long long)checked_mul(outer, inner);
        jit_begin(jit, false, n);
        jit_add(
            jit,
            "    const i64 row = blockIdx.x * (i64)%d + threadIdx.x, L = %lldll, S = %lldll;\n"
            "    const i64 at = row / S * L * S + row %% S;\n"
            "    if (row < %lldll) softmax_column<%s>(x0 + at, y0 + at, L, S);\n}\n",
            JIT_BLOCK, (long long)x->dims[axis], (long long)inner, n,
            is_log ? "true" : "false");
    }
    return CM_BACKEND_OK;
}

/* C++ expressions of each algorithm; v is an element, s the accumulator. */
static const struct {
    const char *initial; /* initial value of s */
    const char *term;    /* value accumulated for v */
    const char *combine; /* adds a term to s, and merges the accumulators of two threads */
    const char *finish;  /* result, from s and the number n of elements */
} reductions[CM_N_ALGORITHMS] = {
    [CM_REDUCE_SUM] = {"0", "v", "plus", "s"},
    [CM_REDUCE_MEAN] = {"0", "v", "plus", "s / n"},
    [CM_REDUCE_MAX] = {"-3e38f", "v", "most", "s"},
    [CM_REDUCE_MIN] = {"3e38f", "v", "least", "s"},
    [CM_REDUCE_PRODUCT] = {"1", "v", "times", "s"},
    [CM_REDUCE_L1] = {"0", "fabs(v)", "plus", "s"},
    [CM_REDUCE_L2] = {"0", "v * v", "plus", "sqrt(s)"},
    [CM_REDUCE_SUM_SQUARE] = {"0", "v * v", "plus", "s"},
    [CM_REDUCE_LOG_SUM] = {"0", "v", "plus", "log(s)"},
    [CM_REDUCE_LOG_SUM_EXP] = {"0", "exp(v)", "plus", "log(s)"},
    [CM_REDUCE_ARG_MAX] = {"-3e38f", "v", "most", "s"},
    [CM_REDUCE_ARG_MIN] = {"3e38f", "v", "least", "s"},
};

/* Kept axes and reduced axes; adjacent axes of one sort are merged if contiguous. */
struct reduction {
    int n_kept, n_reduced;
    int64_t kept[CM_MAX_RANK], kept_strides[CM_MAX_RANK];
    int64_t reduced[CM_MAX_RANK], reduced_strides[CM_MAX_RANK];
    int64_t n_rows, length; /* number of results; elements per result */
    bool last_reduced;      /* the axis with stride 1 is reduced */
};

static void add_axis(int64_t dim, int64_t stride, int *n, int64_t *dims, int64_t *strides) {
    if (*n > 0 && strides[*n - 1] == checked_mul(stride, dim)) {
        dims[*n - 1] = checked_mul(dims[*n - 1], dim);
        strides[*n - 1] = stride;
        return;
    }
    dims[*n] = dim;
    strides[(*n)++] = stride;
}

static void read_reduction(const struct cm_primitive *primitive, struct reduction *ret) {
    const struct cm_tensor *x = &primitive->inputs[0];
    const struct cm_tensor *y = &primitive->outputs[0];
    *ret = (struct reduction){.n_rows = 1, .length = 1};
    for (int32_t i = 0; i < x->rank; i++) {
        if (x->dims[i] == 1) continue;
        const bool reduced = y->dims[i] == 1;
        if (reduced)
            add_axis(x->dims[i], x->strides[i], &ret->n_reduced, ret->reduced,
                     ret->reduced_strides);
        else
            add_axis(x->dims[i], x->strides[i], &ret->n_kept, ret->kept, ret->kept_strides);
        int64_t *n = reduced ? &ret->length : &ret->n_rows;
        *n = checked_mul(*n, x->dims[i]);
        if (x->strides[i] == 1) ret->last_reduced = reduced;
    }
}

/* Writes code that sets `offset` to the offset of element `of` along `n` axes. */
static void add_offset(struct jit *jit, const char *offset, const char *of, int n,
                       const int64_t *dims, const int64_t *strides) {
    jit_add(jit, "    %s = 0;\n    { i64 r = %s;\n", offset, of);
    for (int i = n - 1; i >= 0; i--)
        jit_add(jit, "      %s += r %% %lldll * %lldll; r /= %lldll;\n", offset,
                (long long)dims[i], (long long)strides[i], (long long)dims[i]);
    jit_add(jit, "    }\n");
}

static void write_reduction(struct jit *jit, const struct reduction *reduction) {
    const int32_t which = jit->primitive->algorithm;
    const bool rows = reduction->last_reduced;
    const int64_t n_rows = reduction->n_rows;
    if (rows) {
        jit_begin_rows(jit, "row", n_rows, reduction->length);
    } else {
        jit_begin(jit, false, n_rows);
        jit_add(jit,
                "    const int TPR = 1, t = 0;\n    const i64 L = %lldll;\n"
                "    const i64 row = blockIdx.x * (i64)%d + threadIdx.x;\n"
                "    const bool mine = row < %lldll;\n",
                (long long)reduction->length, JIT_BLOCK, (long long)n_rows);
    }
    jit_add(jit, "    C s = %s;\n    const C n = L;\n    (void)n;\n    i64 base, at;\n",
            reductions[which].initial);
    add_offset(jit, "base", "row", reduction->n_kept, reduction->kept, reduction->kept_strides);
    jit_add(jit, "    for (i64 i = t; mine && i < L; i += TPR) {\n");
    add_offset(jit, "at", "i", reduction->n_reduced, reduction->reduced,
               reduction->reduced_strides);
    jit_add(jit, "        const C v = get(x0[base + at]);\n        s = %s()(s, %s);\n    }\n",
            reductions[which].combine, reductions[which].term);
    if (rows) jit_add(jit, "    s = fold<TPR>(s, %s());\n", reductions[which].combine);
    jit_add(jit, "    if (mine && t == 0) put(y0[row], %s);\n}\n", reductions[which].finish);
}

int jit_write_reduce(const struct cm_primitive *primitive, struct jit *jit,
                     struct cm_reason *reason) {
    const struct cm_tensor *x = &primitive->inputs[0];
    const struct cm_tensor *y = &primitive->outputs[0];
    struct reduction reduction;
    if (primitive->n_inputs != 1 || x->rank != y->rank || !primitive_is_packed(y) ||
        reductions[primitive->algorithm].initial == NULL)
        return cuda_refuse(reason, CM_BACKEND_REFUSED, "unknown reduction");
    for (int32_t i = 0; i < x->rank; i++)
        if (y->dims[i] != 1 && y->dims[i] != x->dims[i])
            return cuda_refuse(reason, CM_BACKEND_REFUSED,
                               "the shape of the result does not match");
    if (primitive->algorithm == CM_REDUCE_ARG_MAX || primitive->algorithm == CM_REDUCE_ARG_MIN)
        (void)cuda_refuse(&jit->proxy_note, 0,
                          "computed the extreme values instead of their indices");
    read_reduction(primitive, &reduction);
    jit_add(jit, "typedef %s C;\n%s", jit_float_type(primitive), jit_prelude);
    write_reduction(jit, &reduction);
    return CM_BACKEND_OK;
}
