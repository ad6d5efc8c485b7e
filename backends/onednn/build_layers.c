/* SPDX-License-Identifier: Apache-2.0 */
/* Pools, norms, softmax and reductions. */
#include "backends/onednn/build.h"

#include <string.h>

#include "backends/collapse.h"

#include "support/banned.h"

dnnl_status_t build_pool(struct building *building) {
    static const dnnl_alg_kind_t algorithms[CM_N_ALGORITHMS] = {
        [CM_POOL_MAX] = dnnl_pooling_max,
        [CM_POOL_AVERAGE] = dnnl_pooling_avg_exclude_padding,
        [CM_POOL_AVERAGE_PADDING] = dnnl_pooling_avg_include_padding,
    };
    const struct cm_primitive *primitive = building->primitive;
    const struct onednn_window window = build_window(&primitive->window);
    onednn_desc x = NULL;
    onednn_desc y = NULL;
    dnnl_status_t status = build_desc(building, &primitive->inputs[0], &x);
    if (status == dnnl_success) status = build_desc(building, &primitive->outputs[0], &y);
    if (status != dnnl_success) return status;
    build_arg(building, DNNL_ARG_SRC, x, primitive->inputs[0].element);
    build_arg(building, DNNL_ARG_DST, y, primitive->outputs[0].element);
    return calls_pool(building->lib, algorithms[primitive->algorithm], x, y, &window,
                      &building->built->primitive);
}

/* A packed tensor of this shape. */
static dnnl_status_t describe_packed(struct building *building, int rank, const int64_t *dims,
                                     int32_t element, onednn_desc *ret) {
    struct cm_tensor tensor = {.element = element, .rank = rank};
    int64_t stride = 1;
    for (int i = rank - 1; i >= 0; i--) {
        tensor.dims[i] = dims[i];
        tensor.strides[i] = stride;
        stride *= dims[i];
    }
    return build_desc(building, &tensor, ret);
}

static dnnl_status_t add_vectors(struct building *building, const int *ids, int n,
                                 int64_t size) {
    for (int i = 0; i < n; i++) {
        onednn_desc desc = NULL;
        const dnnl_status_t status = describe_packed(building, 1, &size, CM_F32, &desc);
        if (status != dnnl_success) return status;
        build_arg(building, ids[i], desc, CM_F32);
    }
    return dnnl_success;
}

static dnnl_status_t build_batch_norm(struct building *building) {
    static const int ids[] = {DNNL_ARG_SCALE, DNNL_ARG_SHIFT, DNNL_ARG_MEAN, DNNL_ARG_VARIANCE};
    const struct cm_primitive *primitive = building->primitive;
    const struct cm_tensor *tensor = &primitive->inputs[0];
    const bool training = primitive->algorithm == CM_NORM_BATCH_TRAINING;
    unsigned flags = dnnl_use_scale | dnnl_use_shift;
    onednn_desc x = NULL;
    if (tensor->rank < 2) return dnnl_unimplemented;
    if (!training) flags |= dnnl_use_global_stats;
    dnnl_status_t status = build_desc(building, tensor, &x);
    if (status != dnnl_success) return status;
    build_arg(building, DNNL_ARG_SRC, x, tensor->element);
    build_arg(building, DNNL_ARG_DST, x, tensor->element);
    status = add_vectors(building, ids, 4, tensor->dims[1]);
    if (status != dnnl_success) return status;
    return calls_batch_norm(building->lib, training, x, (float)primitive->epsilon, flags,
                            &building->built->primitive);
}

/* Rows of `size` elements, each normalised by itself. */
static dnnl_status_t build_rows(struct building *building, int64_t size, bool affine) {
    static const int ids[] = {DNNL_ARG_SCALE, DNNL_ARG_SHIFT};
    const struct cm_primitive *primitive = building->primitive;
    const struct cm_tensor *tensor = &primitive->inputs[0];
    int64_t n = 1;
    for (int i = 0; i < tensor->rank; i++) n *= tensor->dims[i];
    if (size <= 0 || n % size != 0) return dnnl_unimplemented;
    const int64_t dims[] = {n / size, size};
    onednn_desc x = NULL;
    onednn_desc stat = NULL;
    dnnl_status_t status = describe_packed(building, 2, dims, tensor->element, &x);
    if (status == dnnl_success) status = describe_packed(building, 1, dims, CM_F32, &stat);
    if (status != dnnl_success) return status;
    build_arg(building, DNNL_ARG_SRC, x, tensor->element);
    build_arg(building, DNNL_ARG_DST, x, tensor->element);
    if (affine) status = add_vectors(building, ids, 2, size);
    if (status != dnnl_success) return status;
    return calls_layer_norm(building->lib, x, stat, (float)primitive->epsilon,
                            affine ? dnnl_use_scale | dnnl_use_shift : 0U,
                            &building->built->primitive);
}

static int64_t product_from(const struct cm_tensor *tensor, int axis) {
    int64_t n = 1;
    for (int i = axis; i < tensor->rank; i++) n *= tensor->dims[i];
    return n;
}

dnnl_status_t build_norm(struct building *building) {
    const struct cm_primitive *primitive = building->primitive;
    const struct cm_tensor *x = &primitive->inputs[0];
    switch (primitive->algorithm) {
    case CM_NORM_BATCH:
    case CM_NORM_BATCH_TRAINING:
        return build_batch_norm(building);
    case CM_NORM_LAYER:
        return build_rows(building, product_from(x, primitive->axis), true);
    case CM_NORM_RMS:
        build_instead(building, "a layer norm of the same rows ran in its place");
        return build_rows(building, product_from(x, primitive->axis), true);
    case CM_NORM_INSTANCE:
        build_instead(building, "a layer norm of the same elements ran in its place");
        return build_rows(building, product_from(x, 2), false);
    case CM_NORM_GROUP:
        if (primitive->groups <= 0) return dnnl_unimplemented;
        build_instead(building, "a layer norm of the same elements ran in its place");
        return build_rows(building, product_from(x, 1) / primitive->groups, false);
    default:
        return dnnl_unimplemented;
    }
}

static dnnl_status_t softmax_along(struct building *building, int rank, const int64_t *dims) {
    const struct cm_primitive *primitive = building->primitive;
    const int32_t element = primitive->inputs[0].element;
    onednn_desc desc = NULL;
    const dnnl_status_t status = describe_packed(building, rank, dims, element, &desc);
    if (status != dnnl_success) return status;
    build_arg(building, DNNL_ARG_SRC, desc, element);
    build_arg(building, DNNL_ARG_DST, desc, element);
    return calls_softmax(building->lib, primitive->algorithm == CM_SOFTMAX_LOG, desc, 1,
                         &building->built->primitive);
}

dnnl_status_t build_softmax(struct building *building) {
    const struct cm_primitive *primitive = building->primitive;
    const struct cm_tensor *x = &primitive->inputs[0];
    if (primitive->axis < 0 || primitive->axis >= x->rank) return dnnl_unimplemented;
    const int64_t inner = product_from(x, primitive->axis + 1);
    const int64_t size = x->dims[primitive->axis];
    const int64_t dims[] = {product_from(x, 0) / (size * inner), size, inner};
    return softmax_along(building, inner > 1 ? 3 : 2, dims);
}

dnnl_status_t build_softmax_rows(struct building *building) {
    const struct cm_tensor *x = &building->primitive->inputs[0];
    const int64_t size = x->dims[building->primitive->axis];
    const int64_t dims[] = {product_from(x, 0) / size, size};
    build_instead(building, "a softmax along the last axis ran in its place");
    return softmax_along(building, 2, dims);
}

struct reduction {
    dnnl_alg_kind_t algorithm;
    float p;
};

static dnnl_status_t reduce(struct building *building, const struct reduction *reduction) {
    const struct cm_primitive *primitive = building->primitive;
    const struct cm_tensor *const both[] = {&primitive->inputs[0], &primitive->outputs[0]};
    const int32_t element = both[0]->element;
    struct collapsed less;
    onednn_desc descs[2] = {NULL, NULL};
    if (!collapse(both, 2, both[0], &less)) return dnnl_unimplemented;
    /* Nothing is reduced where every axis that is has one element. */
    if (memcmp(less.own[0], less.own[1], sizeof(less.own[0])) == 0) return build_copy(building);
    for (int i = 0; i < 2; i++) {
        const dnnl_status_t status =
            describe_packed(building, less.rank, less.own[i], element, &descs[i]);
        if (status != dnnl_success) return status;
    }
    build_arg(building, DNNL_ARG_SRC, descs[0], element);
    build_arg(building, DNNL_ARG_DST, descs[1], element);
    return calls_reduction(building->lib, reduction->algorithm, descs[0], descs[1],
                           reduction->p, &building->built->primitive);
}

dnnl_status_t build_reduce(struct building *building) {
    static const struct reduction reductions[CM_N_ALGORITHMS] = {
        [CM_REDUCE_SUM] = {dnnl_reduction_sum, 0},
        [CM_REDUCE_MEAN] = {dnnl_reduction_mean, 0},
        [CM_REDUCE_MAX] = {dnnl_reduction_max, 0},
        [CM_REDUCE_MIN] = {dnnl_reduction_min, 0},
        [CM_REDUCE_PRODUCT] = {dnnl_reduction_mul, 0},
        [CM_REDUCE_L1] = {dnnl_reduction_norm_lp_power_p_sum, 1},
        [CM_REDUCE_L2] = {dnnl_reduction_norm_lp_sum, 2},
    };
    const struct reduction *reduction = &reductions[building->primitive->algorithm];
    if (reduction->algorithm == dnnl_alg_kind_undef) return dnnl_unimplemented;
    return reduce(building, reduction);
}

dnnl_status_t build_sum(struct building *building) {
    static const struct reduction sum = {dnnl_reduction_sum, 0};
    build_instead(building, "a sum ran in its place");
    return reduce(building, &sum);
}
