/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An einsum of two operands is a batch of matrix products, once axes of a kind stand beside
 * each other:
 *     in both and in the result   batch
 *     in one and in the result    rows, columns
 *     in both alone               what is summed over
 * Bringing them there is not in it: products read strides. Without sums it is a multiplication
 * of elements. An einsum of one operand is a copy in another order, or a sum.
 */
#include "ops/lowering/lowering.h"

#include "ops/onnx/einsum.h"
#include "ops/op_context.h"

#include "support/banned.h"

static bool has_label(const struct einsum_term *term, int label) {
    for (int i = 0; i < term->rank; i++)
        if (term->labels[i] == label) return true;
    return false;
}

/* Whether every axis is as long as its label, and no label stands twice: no diagonals. */
static bool is_plain(const struct op_context *context, const struct einsum_axes *axes,
                     int which) {
    const struct einsum_term *term = &axes->operands[which];
    for (int i = 0; i < term->rank; i++) {
        const int64_t size = axes->sizes[term->labels[i]];
        if (!is_known(size) || op_dim(context, (size_t)which, i) != size) return false;
        for (int k = 0; k < i; k++)
            if (term->labels[k] == term->labels[i]) return false;
    }
    return true;
}

struct contraction {
    int64_t batch, rows, columns, sums;
};

/* False: a label of one operand alone, which is summed over before they are multiplied. */
static bool read_contraction(const struct einsum_axes *axes, struct contraction *ret) {
    *ret = (struct contraction){1, 1, 1, 1};
    for (int label = 0; label < EINSUM_LABELS; label++) {
        const bool in_a = has_label(&axes->operands[0], label);
        const bool in_b = has_label(&axes->operands[1], label);
        const bool in_y = has_label(&axes->output, label);
        int64_t *const size = in_a && in_b ? in_y ? &ret->batch : &ret->sums
                              : in_a       ? &ret->rows
                                           : &ret->columns;
        if (!in_a && !in_b) continue;
        if (!in_y && !(in_a && in_b)) return false;
        *size = checked_mul(*size, axes->sizes[label]);
    }
    return true;
}

static void set_dims(struct cm_tensor *tensor, int64_t batch, int64_t rows, int64_t columns) {
    const int32_t element = tensor->element;
    const int32_t first = batch == 1 ? 1 : 0;
    const int64_t dims[] = {batch, rows, columns};
    *tensor = (struct cm_tensor){.element = element, .rank = 3 - first};
    for (int32_t i = 0; i < tensor->rank; i++) tensor->dims[i] = dims[first + i];
    lowering_pack(tensor);
}

static bool lower_two(const struct op_context *context, const struct einsum_axes *axes,
                      struct cm_primitive *ret) {
    struct contraction sizes;
    if (!lowering_take(context, 0, ret) || !lowering_take(context, 1, ret) ||
        !lowering_give(context, 0, ret))
        return false;
    if (!is_plain(context, axes, 0) || !is_plain(context, axes, 1) ||
        !read_contraction(axes, &sizes))
        return false;
    if (sizes.rows == 1 && sizes.columns == 1 && sizes.sums == 1) {
        ret->kind = CM_ELTWISE;
        for (int i = 0; i < 2; i++) set_dims(&ret->inputs[i], 1, 1, sizes.batch);
        set_dims(&ret->outputs[0], 1, 1, sizes.batch);
        return lowering_step(ret, CM_MULTIPLY, 1);
    }
    set_dims(&ret->inputs[0], sizes.batch, sizes.rows, sizes.sums);
    set_dims(&ret->inputs[1], sizes.batch, sizes.sums, sizes.columns);
    set_dims(&ret->outputs[0], sizes.batch, sizes.rows, sizes.columns);
    return true;
}

static int axis_of(const struct einsum_term *term, int label) {
    for (int i = 0; i < term->rank; i++)
        if (term->labels[i] == label) return i;
    return -1;
}

/* The axes in the order of the result, those that it has not behind them. */
static bool lower_one(const struct op_context *context, const struct einsum_axes *axes,
                      struct cm_primitive *ret) {
    const struct einsum_term *term = &axes->operands[0];
    struct cm_tensor x;
    int32_t n = 0;
    if (!lowering_take(context, 0, ret) || !lowering_give(context, 0, ret)) return false;
    if (!is_plain(context, axes, 0) || ret->outputs[0].rank > term->rank) return false;
    x = ret->inputs[0];
    struct cm_tensor *y = &ret->outputs[0];
    const int32_t kept = y->rank;
    for (; n < kept; n++) {
        const int axis = axis_of(term, axes->output.labels[n]);
        ret->inputs[0].dims[n] = x.dims[axis];
        ret->inputs[0].strides[n] = x.strides[axis];
    }
    for (int i = 0; i < term->rank; i++) {
        if (has_label(&axes->output, term->labels[i])) continue;
        ret->inputs[0].dims[n] = x.dims[i];
        ret->inputs[0].strides[n++] = x.strides[i];
        y->dims[y->rank++] = 1;
    }
    lowering_pack(y);
    ret->kind = y->rank == kept ? CM_COPY : CM_REDUCE;
    ret->algorithm = y->rank == kept ? CM_ALGORITHM_NONE : CM_REDUCE_SUM;
    return true;
}

static bool lower_einsum(const struct op_context *context, int32_t which,
                         struct cm_primitive *ret) {
    struct einsum_axes axes;
    (void)which;
    if (!einsum_read(context, &axes)) return false;
    return axes.n == 1 ? lower_one(context, &axes, ret) : lower_two(context, &axes, ret);
}

#define OTHER_SUMS                                                                             \
    "three operands, diagonals, or sums over one operand of two have no primitive"

const struct lowering_row lowering_einsum[] = {
    {"Einsum", lower_einsum, CM_GEMM, 0, IMAGES_NONE, OTHER_SUMS},
    {NULL, NULL, 0, 0, IMAGES_NONE, NULL},
};
