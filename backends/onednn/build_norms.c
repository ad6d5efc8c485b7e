/* SPDX-License-Identifier: Apache-2.0 */
/* Norms. oneDNN has group and instance norms since 3.3; in older versions, and for RMS norms,
 * the proxy is a layer norm of the same rows, which reads and writes the same bytes. */
#include "backends/onednn/build.h"

#include <string.h>

#include "backends/primitive.h"

#include "support/banned.h"

/* Adds `n` vectors of `size` elements: the inputs from `first` on. The plan allocates those
 * that the model lacks or does not store as fp32, which oneDNN requires of statistics, scales
 * and shifts; and all of them if `first` is 0. */
static void add_vectors(struct building *building, const int *ids, int n, int64_t size,
                        int first) {
    const struct cm_primitive *primitive = building->primitive;
    const struct cm_tensor vector = {
        .element = CM_F32, .rank = 1, .dims = {size}, .strides = {1}};
    for (int i = 0; i < n; i++) {
        const struct cm_tensor *input = &primitive->inputs[first + i];
        const bool is_given = first > 0 && first + i < primitive->n_inputs &&
                              input->element == CM_F32 && primitive_elements(input) == size;
        (void)build_operand(building, ids[i], &vector,
                            is_given ? BUILT_INPUT + first + i : BUILT_OWN);
    }
}

/* Returns [N,C,W] as [N,C,1,W], other ranks unchanged: oneDNN's fast code for plain layout
 * requires two or more spatial dims, or none. */
static struct cm_tensor as_image(const struct cm_tensor *x) {
    struct cm_tensor image = *x;
    if (x->rank != 3) return image;
    image.rank = 4;
    image.dims[2] = 1;
    image.dims[3] = x->dims[2];
    image.strides[2] = x->strides[2] * x->dims[2];
    image.strides[3] = x->strides[2];
    return image;
}

static dnnl_status_t build_batch_norm(struct building *building) {
    static const int ids[] = {DNNL_ARG_SCALE, DNNL_ARG_SHIFT, DNNL_ARG_MEAN, DNNL_ARG_VARIANCE};
    const struct cm_primitive *primitive = building->primitive;
    const struct cm_tensor x = as_image(&primitive->inputs[0]);
    const bool training = primitive->algorithm == CM_NORM_BATCH_TRAINING;
    unsigned flags = dnnl_use_scale | dnnl_use_shift;
    if (x.rank < 2) return dnnl_unimplemented;
    if (!training) flags |= dnnl_use_global_stats;
    onednn_desc desc = build_in_place(building, &x);
    add_vectors(building, ids, 2, x.dims[1], 1);
    /* In training the batch statistics are outputs. */
    add_vectors(building, &ids[2], 2, x.dims[1], training ? 0 : 3);
    if (building->status != dnnl_success) return building->status;
    return calls_batch_norm(building->lib, training, desc, (float)primitive->epsilon, flags,
                            &build_part(building)->primitive);
}

/* Normalizes rows of `size` elements. */
static dnnl_status_t build_rows(struct building *building, int64_t size, bool affine) {
    static const int ids[] = {DNNL_ARG_SCALE, DNNL_ARG_SHIFT};
    const struct cm_primitive *primitive = building->primitive;
    const struct cm_tensor *tensor = &primitive->inputs[0];
    const int64_t n = primitive_elements(tensor);
    if (size <= 0 || n % size != 0) return dnnl_unimplemented;
    const struct cm_tensor rows = {
        .element = tensor->element, .rank = 2, .dims = {n / size, size}, .strides = {size, 1}};
    const struct cm_tensor one = {
        .element = CM_F32, .rank = 1, .dims = {n / size}, .strides = {1}};
    onednn_desc x = build_in_place(building, &rows);
    onednn_desc stat = build_desc(building, &one, false);
    if (affine) add_vectors(building, ids, 2, size, 1);
    if (building->status != dnnl_success) return building->status;
    return calls_layer_norm(building->lib, x, stat, (float)primitive->epsilon,
                            affine ? dnnl_use_scale | dnnl_use_shift : 0U,
                            &build_part(building)->primitive);
}

static dnnl_status_t build_groups(struct building *building, int64_t groups) {
    static const int ids[] = {DNNL_ARG_SCALE, DNNL_ARG_SHIFT};
    const struct cm_primitive *primitive = building->primitive;
    const struct cm_tensor *tensor = &primitive->inputs[0];
    const struct cm_tensor x = as_image(tensor);
    if (groups <= 0 || x.rank < 2 || x.dims[1] % groups != 0) return dnnl_unimplemented;
    onednn_desc desc = build_in_place(building, &x);
    add_vectors(building, ids, 2, x.dims[1], 1);
    if (building->status == dnnl_success &&
        calls_group_norm(building->lib, desc, groups, (float)primitive->epsilon,
                         dnnl_use_scale | dnnl_use_shift,
                         &build_part(building)->primitive) == dnnl_success &&
        !build_is_reference(building))
        return dnnl_success;
    build_start_over(building);
    build_set_proxy(building, "ran a layer norm of the same elements instead");
    return build_rows(building, primitive_elements_of(tensor, 1, tensor->rank) / groups, false);
}

dnnl_status_t build_norm(struct building *building) {
    const struct cm_primitive *primitive = building->primitive;
    const struct cm_tensor *x = &primitive->inputs[0];
    switch (primitive->algorithm) {
    case CM_NORM_BATCH:
    case CM_NORM_BATCH_TRAINING:
        return build_batch_norm(building);
    case CM_NORM_LAYER:
        return build_rows(building, primitive_elements_of(x, primitive->axis, x->rank), true);
    case CM_NORM_RMS:
        build_set_proxy(building, "ran a layer norm of the same rows instead");
        return build_rows(building, primitive_elements_of(x, primitive->axis, x->rank), true);
    case CM_NORM_INSTANCE:
        return build_groups(building, x->rank > 1 ? x->dims[1] : 0);
    case CM_NORM_GROUP:
        return build_groups(building, primitive->groups);
    default:
        return dnnl_unimplemented;
    }
}
