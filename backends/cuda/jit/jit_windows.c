/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the kernels of pools and resampling, with one thread per element of the result. */
#include "backends/cuda/jit/jit.h"
#include "backends/cuda/refuse.h"
#include "backends/primitive.h"
#include "support/checked.h"

/* Opens the kernel: declares r, the number of the thread, and the offsets `from` and `to`. */
static int begin(struct jit *jit, struct cm_reason *reason) {
    const struct cm_primitive *primitive = jit->primitive;
    const struct cm_tensor *x = &primitive->inputs[0];
    const struct cm_tensor *y = &primitive->outputs[0];
    const int64_t n = primitive_elements(y);
    if (x->rank != y->rank || x->rank < 3 || x->rank > 2 + CM_MAX_SPATIAL ||
        primitive->n_outputs != 1)
        return cuda_refuse(reason, CM_BACKEND_REFUSED,
                           "an image must have 1 to 3 spatial dims");
    jit_add(jit, "typedef %s C;\n%s", jit_float_type(primitive), jit_prelude);
    jit_begin(jit, false, n);
    jit_add(jit,
            "    i64 r = blockIdx.x * (i64)%d + threadIdx.x, from = 0, to = 0;\n"
            "    if (r >= %lldll) return;\n",
            JIT_BLOCK, (long long)n);
    return CM_BACKEND_OK;
}

/* Returns the axis with the smallest stride among those not in the bit set `done`: neighbouring
 * threads get neighbouring elements. */
static int32_t next_axis(const struct cm_tensor *y, unsigned done) {
    int32_t best = -1;
    for (int32_t i = y->rank - 1; i >= 0; i--)
        if ((done >> i & 1U) == 0 && (best < 0 || y->strides[i] < y->strides[best])) best = i;
    return best;
}

/* Writes code that declares p<axis>, the coordinates of this thread's element of y, and
 * computes `to`, the offset of this element in y, and `from`, that of its channel in x. */
static void write_positions(struct jit *jit) {
    const struct cm_tensor *y = &jit->primitive->outputs[0];
    unsigned done = 0;
    for (int32_t n = 0; n < y->rank; n++) {
        const int32_t axis = next_axis(y, done);
        done |= 1U << axis;
        jit_add(jit,
                "    const i64 p%d = r %% %lldll;\n    r /= %lldll;\n    to += p%d * %lldll;\n",
                (int)axis, (long long)y->dims[axis], (long long)y->dims[axis], (int)axis,
                (long long)y->strides[axis]);
    }
    for (int32_t axis = 0; axis < 2; axis++)
        jit_add(jit, "    from += p%d * %lldll;\n", (int)axis,
                (long long)jit->primitive->inputs[0].strides[axis]);
}

int jit_write_pool(const struct cm_primitive *primitive, struct jit *jit,
                   struct cm_reason *reason) {
    const struct cm_tensor *x = &primitive->inputs[0];
    const struct cm_window *window = &primitive->window;
    const bool most = primitive->algorithm == CM_POOL_MAX;
    const bool padding = primitive->algorithm == CM_POOL_AVERAGE_PADDING;
    int64_t volume = 1;
    const int status = begin(jit, reason);
    if (status != CM_BACKEND_OK) return status;
    if (window->n_spatial != x->rank - 2)
        return cuda_refuse(reason, CM_BACKEND_REFUSED,
                           "the window must have the spatial dims of the image");
    write_positions(jit);
    jit_add(jit, "    C s = %s;\n    int n = 0;\n", most ? "-3e38f" : "0");
    for (int i = 0; i < window->n_spatial; i++) {
        volume = checked_mul(volume, window->kernel[i]);
        jit_add(jit,
                "    for (i64 k%d = 0; k%d < %lldll; k%d++) {\n"
                "    const i64 i%d = p%d * %lldll - %lldll + k%d * %lldll;\n"
                "    if (i%d < 0 || i%d >= %lldll) continue;\n",
                i, i, (long long)window->kernel[i], i, i, i + 2, (long long)window->strides[i],
                (long long)window->pads_begin[i], i, (long long)window->dilations[i], i, i,
                (long long)x->dims[i + 2]);
    }
    jit_add(jit, "    const C v = get(x0[from");
    for (int i = 0; i < window->n_spatial; i++)
        jit_add(jit, " + i%d * %lldll", i, (long long)x->strides[i + 2]);
    jit_add(jit, "]);\n    n++;\n    %s;\n    ", most ? "s = s > v ? s : v" : "s += v");
    for (int i = 0; i < window->n_spatial; i++) jit_add(jit, "}");
    if (padding)
        jit_add(jit, "\n    s /= %lldll;\n", (long long)volume);
    else
        jit_add(jit, "\n    %s\n", most ? "(void)n;" : "s /= n > 0 ? n : 1;");
    jit_add(jit, "    put(y0[to], s);\n}\n");
    return CM_BACKEND_OK;
}

/* Writes code that declares, per spatial axis, the lower neighbour a, the upper neighbour b and
 * the weight w of the upper one. */
static void neighbours(struct jit *jit, bool linear) {
    const struct cm_tensor *x = &jit->primitive->inputs[0];
    const struct cm_tensor *y = &jit->primitive->outputs[0];
    for (int32_t i = 2; i < x->rank; i++) {
        const long long last = (long long)x->dims[i] - 1;
        jit_add(jit, "    const C f%d = (p%d + (C)0.5) * (C)%.17g%s;\n", (int)i, (int)i,
                (double)x->dims[i] / (double)y->dims[i], linear ? " - (C)0.5" : "");
        jit_add(jit,
                "    const C g%d = fmin(fmax(f%d, (C)0), (C)%lldll);\n"
                "    const i64 a%d = (i64)g%d, b%d = a%d < %lldll ? a%d + 1 : a%d;\n"
                "    const C w%d = g%d - a%d;\n    (void)b%d; (void)w%d;\n",
                (int)i, (int)i, last, (int)i, (int)i, (int)i, (int)i, last, (int)i, (int)i,
                (int)i, (int)i, (int)i, (int)i, (int)i);
    }
}

int jit_write_resample(const struct cm_primitive *primitive, struct jit *jit,
                       struct cm_reason *reason) {
    const struct cm_tensor *x = &primitive->inputs[0];
    const bool linear = primitive->algorithm == CM_RESAMPLE_LINEAR;
    const int n = x->rank - 2;
    const int status = begin(jit, reason);
    if (status != CM_BACKEND_OK) return status;
    write_positions(jit);
    neighbours(jit, linear);
    jit_add(jit, "    C s = 0;\n");
    for (unsigned corner = 0; corner < (linear ? 1U << n : 1U); corner++) {
        jit_add(jit, "    s += get(x0[from");
        for (int i = 0; i < n; i++)
            jit_add(jit, " + %c%d * %lldll", (corner >> i & 1U) != 0 ? 'b' : 'a', i + 2,
                    (long long)x->strides[i + 2]);
        jit_add(jit, "])");
        for (int i = 0; i < n && linear; i++)
            jit_add(jit, " * (%sw%d)", (corner >> i & 1U) != 0 ? "" : "1 - ", i + 2);
        jit_add(jit, ";\n");
    }
    jit_add(jit, "    put(y0[to], s);\n}\n");
    return CM_BACKEND_OK;
}
