/* SPDX-License-Identifier: Apache-2.0 */
/* Norms. oneDNN has group and instance norms since 3.3; in older versions, and for RMS norms,
 * the proxy is a layer norm of the same rows, which reads and writes the same bytes. */
#include "backends/onednn/build.h"

#include <string.h>

#include "backends/primitive.h"

#include "support/banned.h"

/* Returns true if input `which` is a vector of `size` elements of fp32, which oneDNN requires
 * of statistics, scales and shifts. */
static bool is_given(const struct building *building, int which, int64_t size) {
    const struct cm_primitive *primitive = building->primitive;
    if (which < 1 || which >= primitive->n_inputs) return false;
    return primitive->inputs[which].element == CM_F32 &&
           primitive_elements(&primitive->inputs[which]) == size;
}

/* Adds `n` vectors: the inputs from `first` on. The plan allocates those that the model lacks,
 * and all of them if `first` is 0. */
static dnnl_status_t add_vectors(struct building *building, const int *ids, int n, int64_t size,
                                 int first) {
    const struct cm_tensor vector = {
        .element = CM_F32, .rank = 1, .dims = {size}, .strides = {1}};
    for (int i = 0; i < n; i++) {
        onednn_desc desc = NULL;
        const dnnl_status_t status = build_desc(building, &vector, &desc);
        if (status != dnnl_success) return status;
        build_arg(building, ids[i], desc, CM_F32,
                  first > 0 && is_given(building, first + i, size) ? BUILT_INPUT + first + i
                                                                   : BUILT_OWN);
    }
    return dnnl_success;
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

static dnnl_status_t add_data(struct building *building, const struct cm_tensor *x,
                              onednn_desc *ret) {
    const dnnl_status_t status = build_desc(building, x, ret);
    if (status != dnnl_success) return status;
    build_arg(building, DNNL_ARG_SRC, *ret, x->element, BUILT_INPUT);
    build_arg(building, DNNL_ARG_DST, *ret, x->element, BUILT_OUTPUT);
    return status;
}

static dnnl_status_t build_batch_norm(struct building *building) {
    static const int ids[] = {DNNL_ARG_SCALE, DNNL_ARG_SHIFT, DNNL_ARG_MEAN, DNNL_ARG_VARIANCE};
    const struct cm_primitive *primitive = building->primitive;
    const struct cm_tensor x = as_image(&primitive->inputs[0]);
    const bool training = primitive->algorithm == CM_NORM_BATCH_TRAINING;
    unsigned flags = dnnl_use_scale | dnnl_use_shift;
    onednn_desc desc = NULL;
    if (x.rank < 2) return dnnl_unimplemented;
    if (!training) flags |= dnnl_use_global_stats;
    dnnl_status_t status = add_data(building, &x, &desc);
    if (status == dnnl_success) status = add_vectors(building, ids, 2, x.dims[1], 1);
    /* In training the batch statistics are outputs. */
    if (status == dnnl_success)
        status = add_vectors(building, &ids[2], 2, x.dims[1], training ? 0 : 3);
    if (status != dnnl_success) return status;
    return calls_batch_norm(building->lib, training, desc, (float)primitive->epsilon, flags,
                            &build_part(building)->primitive);
}

/* Normalizes rows of `size` elements. */
static dnnl_status_t build_rows(struct building *building, int64_t size, bool affine) {
    static const int ids[] = {DNNL_ARG_SCALE, DNNL_ARG_SHIFT};
    const struct cm_primitive *primitive = building->primitive;
    const struct cm_tensor *tensor = &primitive->inputs[0];
    int64_t n = 1;
    for (int i = 0; i < tensor->rank; i++) n *= tensor->dims[i];
    if (size <= 0 || n % size != 0) return dnnl_unimplemented;
    const struct cm_tensor rows = {
        .element = tensor->element, .rank = 2, .dims = {n / size, size}, .strides = {size, 1}};
    const struct cm_tensor one = {
        .element = CM_F32, .rank = 1, .dims = {n / size}, .strides = {1}};
    onednn_desc x = NULL;
    onednn_desc stat = NULL;
    dnnl_status_t status = add_data(building, &rows, &x);
    if (status == dnnl_success) status = build_desc(building, &one, &stat);
    if (status == dnnl_success && affine) status = add_vectors(building, ids, 2, size, 1);
    if (status != dnnl_success) return status;
    return calls_layer_norm(building->lib, x, stat, (float)primitive->epsilon,
                            affine ? dnnl_use_scale | dnnl_use_shift : 0U,
                            &build_part(building)->primitive);
}

static dnnl_status_t build_groups(struct building *building, int64_t groups) {
    static const int ids[] = {DNNL_ARG_SCALE, DNNL_ARG_SHIFT};
    const struct cm_primitive *primitive = building->primitive;
    const struct cm_tensor x = as_image(&primitive->inputs[0]);
    onednn_desc desc = NULL;
    if (groups <= 0 || x.rank < 2 || x.dims[1] % groups != 0) return dnnl_unimplemented;
    dnnl_status_t status = add_data(building, &x, &desc);
    if (status == dnnl_success) status = add_vectors(building, ids, 2, x.dims[1], 1);
    if (status == dnnl_success)
        status =
            calls_group_norm(building->lib, desc, groups, (float)primitive->epsilon,
                             dnnl_use_scale | dnnl_use_shift, &build_part(building)->primitive);
    if (status == dnnl_success && !build_is_reference(building)) return status;
    build_start_over(building);
    build_set_proxy(building, "ran a layer norm of the same elements instead");
    return build_rows(
        building,
        primitive_elements_of(&primitive->inputs[0], 1, primitive->inputs[0].rank) / groups,
        false);
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
