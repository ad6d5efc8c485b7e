/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the kernels of norms over `n` rows of `length` elements. Element r of row q is at
 *
 *     (q / q_inner) * q_outer_stride + (q % q_inner) * q_stride +
 *         (r / inner) * outer_stride + (r % inner) * stride
 *
 * The threads of a row sum its elements and their squares, then read the row again to normalize
 * it. A batch norm with given statistics is written as an elementwise function instead. */
#include "backends/cuda/jit/jit.h"
#include "backends/cuda/refuse.h"
#include "backends/primitive.h"
#include "support/checked.h"

struct rows {
    int64_t n, q_inner, q_outer_stride, q_stride;
    int64_t length, inner, outer_stride, stride;
    const char *parameter; /* C++ expression: index of scale and shift of element r of row q */
};

/* An image [N, C, S] with coalesced spatial dims. */
struct image {
    int64_t n, c, s;
    int64_t n_stride, c_stride, s_stride;
};

/* Returns false if the strides do not permit coalescing. */
static bool read_image(const struct cm_tensor *x, struct image *ret) {
    if (x->rank < 2) return false;
    *ret = (struct image){x->dims[0], x->dims[1], 1, x->strides[0], x->strides[1], 1};
    for (int32_t i = x->rank - 1; i >= 2; i--) {
        if (x->dims[i] == 1) continue;
        if (ret->s == 1)
            ret->s_stride = x->strides[i];
        else if (x->strides[i] != checked_mul(ret->s, ret->s_stride))
            return false;
        ret->s = checked_mul(ret->s, x->dims[i]);
    }
    return is_known(ret->s);
}

static bool same_strides(const struct cm_tensor *a, const struct cm_tensor *b) {
    if (a->rank != b->rank) return false;
    for (int32_t i = 0; i < a->rank; i++)
        if (a->dims[i] != b->dims[i] || (a->dims[i] != 1 && a->strides[i] != b->strides[i]))
            return false;
    return true;
}

/* Layer norm and RMS norm: the dims from `axis` on form a row. */
static bool read_last_dims(const struct cm_primitive *primitive, struct rows *ret) {
    const struct cm_tensor *x = &primitive->inputs[0];
    const int32_t axis = primitive->axis;
    if (!primitive_is_packed(x) || axis < 0 || axis >= x->rank) return false;
    const int64_t n = primitive_elements_of(x, 0, axis);
    const int64_t length = primitive_elements_of(x, axis, x->rank);
    *ret = (struct rows){.n = n,
                         .q_inner = n,
                         .q_stride = length,
                         .length = length,
                         .inner = length,
                         .stride = 1,
                         .parameter = "r"};
    return true;
}

/* A row is a channel of the batch (CM_NORM_BATCH_TRAINING), or a group or a channel of one
 * image. */
static bool read_images(const struct cm_primitive *primitive, struct rows *ret) {
    struct image image;
    const int32_t which = primitive->algorithm;
    const int64_t groups = which == CM_NORM_GROUP ? primitive->groups : 0;
    if (!read_image(&primitive->inputs[0], &image)) return false;
    if (which == CM_NORM_GROUP && (groups < 1 || image.c % groups != 0)) return false;
    if (which == CM_NORM_BATCH_TRAINING) {
        *ret = (struct rows){.n = image.c,
                             .q_inner = image.c,
                             .q_stride = image.c_stride,
                             .length = checked_mul(image.n, image.s),
                             .inner = image.s,
                             .outer_stride = image.n_stride,
                             .stride = image.s_stride,
                             .parameter = "q"};
        return true;
    }
    const int64_t of_row = which == CM_NORM_GROUP ? image.c / groups : 1;
    const int64_t in_image = image.c / of_row;
    *ret = (struct rows){.n = checked_mul(image.n, in_image),
                         .q_inner = in_image,
                         .q_outer_stride = image.n_stride,
                         .q_stride = checked_mul(of_row, image.c_stride),
                         .length = checked_mul(of_row, image.s),
                         .inner = image.s,
                         .outer_stride = image.c_stride,
                         .stride = image.s_stride,
                         .parameter = "q % QI * (L / IN) + r / IN"};
    return true;
}

static void write_rows(struct jit *jit, const struct rows *rows) {
    const struct cm_primitive *primitive = jit->primitive;
    const bool scales = primitive->n_inputs > 1;
    jit_begin_rows(jit, "q", rows->n, rows->length);
    jit_add(jit,
            "    const i64 QI = %lldll, IN = %lldll;\n    (void)QI;\n"
            "    const i64 base = q / QI * %lldll + q %% QI * %lldll;\n    C s = 0, ss = 0;\n"
            "#define AT (base + r / IN * %lldll + r %% IN * %lldll)\n#define PARAMETER %s\n",
            (long long)rows->q_inner, (long long)rows->inner, (long long)rows->q_outer_stride,
            (long long)rows->q_stride, (long long)rows->outer_stride, (long long)rows->stride,
            rows->parameter);
    jit_add(jit,
            "    for (i64 r = t; mine && r < L; r += TPR) {\n"
            "        const C v = get(x0[AT]);\n        s += v;\n        ss += v * v;\n    }\n"
            "    s = fold<TPR>(s, plus()) / L;\n    ss = fold<TPR>(ss, plus()) / L;\n"
            "    const C mean = %s, scale = rsqrt(ss - mean * mean + (C)%.17g);\n"
            "    for (i64 r = t; mine && r < L; r += TPR) {\n"
            "        C v = (get(x0[AT]) - mean) * scale;\n"
            "        const i64 p = (PARAMETER) %% %lldll;\n        (void)p;\n",
            primitive->algorithm == CM_NORM_RMS ? "0" : "s", primitive->epsilon,
            (long long)(scales ? primitive_elements(&primitive->inputs[1]) : 1));
    if (scales) jit_add(jit, "        v *= get(x1[p]);\n");
    if (primitive->n_inputs > 2) jit_add(jit, "        v += get(x2[p]);\n");
    jit_add(jit, "        put(y0[AT], v);\n    }\n}\n");
}

/* Writes a batch norm as an elementwise function of five operands, four of them per channel. */
static int write_given(struct jit *jit, struct cm_reason *reason) {
    const struct cm_primitive *primitive = jit->primitive;
    const struct cm_tensor *x = &primitive->inputs[0];
    const struct cm_tensor *operands[6] = {x};
    struct cm_tensor channels = {.element = CM_F32, .rank = x->rank};
    struct jit_index index;
    if (primitive->n_inputs != 5 || x->rank < 2)
        return cuda_refuse(reason, CM_BACKEND_REFUSED,
                           "a batch norm must have its statistics as operands");
    for (int32_t i = 0; i < x->rank; i++) channels.dims[i] = i == 1 ? x->dims[1] : 1;
    channels.strides[1] = 1;
    for (int i = 1; i < 5; i++) operands[i] = &channels;
    operands[5] = &primitive->outputs[0];
    if (!jit_index_read(operands[5], operands, 6, &index))
        return cuda_refuse(reason, CM_BACKEND_REFUSED,
                           "the shape of the result does not match");
    /* Vectorizes if the last dim is contiguous and within one channel. */
    const bool one_channel = index.strides[1][index.rank - 1] == 0;
    const int vector = one_channel ? jit_index_vector(&index, 4) : 1;
    jit_begin(jit, false, jit_index_elements(&index) / vector);
    jit_index_write(jit, &index, vector);
    jit_add(jit,
            "    const C scale = get(x1[o1]) * rsqrt(get(x4[o4]) + (C)%.17g);\n"
            "    const C shift = get(x2[o2]) - get(x3[o3]) * scale;\n"
            "    const auto in = *(const vec<%s, %d> *)(x0 + o0);\n    vec<%s, %d> out;\n"
            "    for (int j = 0; j < %d; j++) put(out.at[j], get(in.at[j]) * scale + shift);\n"
            "    *(vec<%s, %d> *)(y0 + o5) = out;\n}\n",
            primitive->epsilon, jit_type(x->element), vector, jit_type(operands[5]->element),
            vector, vector, jit_type(operands[5]->element), vector);
    return CM_BACKEND_OK;
}

int jit_write_norm(const struct cm_primitive *primitive, struct jit *jit,
                   struct cm_reason *reason) {
    const int32_t which = primitive->algorithm;
    struct rows rows;
    jit_add(jit, "typedef %s C;\n%s", jit_float_type(primitive), jit_prelude);
    if (which == CM_NORM_BATCH) return write_given(jit, reason);
    const bool last = which == CM_NORM_LAYER || which == CM_NORM_RMS;
    if (!same_strides(&primitive->inputs[0], &primitive->outputs[0]) ||
        !(last ? read_last_dims(primitive, &rows) : read_images(primitive, &rows)) ||
        !is_known(rows.n) || !is_known(rows.length))
        return cuda_refuse(reason, CM_BACKEND_REFUSED, "norm operands must be contiguous");
    write_rows(jit, &rows);
    return CM_BACKEND_OK;
}
