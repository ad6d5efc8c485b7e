/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolutions and matrix products. Weights of a convolution are in oneDNN's preferred layout,
 * because a runtime converts them once. Its activations are too, unless `keep_layout`, because
 * a chain of convolutions keeps them in that layout. Matrices keep their own layout: a
 * primitive does not say which matrix is constant.
 */
#include "backends/onednn/build.h"

#include <string.h>

#include "backends/primitive.h"

#include "support/banned.h"

static void add_dim(struct cm_tensor *tensor, int at, int64_t dim, int64_t stride) {
    tensor->dims[at] = dim;
    tensor->strides[at] = stride;
}

/* Permutes the dims of weights from [K, C/g, kernel..], transposed [C, K/g, kernel..], to
 * oneDNN's [g, K/g, C/g, kernel..], without the g if it is 1. Returns false if the rank is too
 * large or the groups do not divide the channels. */
static bool group_weights(const struct cm_primitive *primitive, struct cm_tensor *ret) {
    const struct cm_tensor *weights = &primitive->inputs[1];
    const bool transposed = primitive->kind == CM_DECONV;
    const int64_t groups = primitive->groups > 0 ? primitive->groups : 1;
    const int64_t rows = weights->dims[0] / groups;
    struct cm_tensor grouped = *weights;
    int at = 0;
    if (weights->rank + 1 > CM_MAX_RANK || weights->dims[0] % groups != 0) return false;
    memset(grouped.dims, 0, sizeof(grouped.dims));
    memset(grouped.strides, 0, sizeof(grouped.strides));
    if (groups > 1) add_dim(&grouped, at++, groups, rows * weights->strides[0]);
    if (transposed) add_dim(&grouped, at++, weights->dims[1], weights->strides[1]);
    add_dim(&grouped, at++, rows, weights->strides[0]);
    if (!transposed) add_dim(&grouped, at++, weights->dims[1], weights->strides[1]);
    for (int i = 2; i < weights->rank; i++)
        add_dim(&grouped, at++, weights->dims[i], weights->strides[i]);
    grouped.rank = at;
    *ret = grouped;
    return true;
}

/* Layouts requested from oneDNN, and the model's layouts. If `keep_layout`, those of x and y
 * are equal. */
struct operands {
    onednn_desc x, y, weights, bias;
    onednn_desc model_x, model_y, model_weights;
};

static dnnl_status_t describe(struct building *building, const struct cm_tensor *grouped,
                              struct operands *ret) {
    const struct cm_primitive *primitive = building->primitive;
    const bool any = !building->keep_layout;
    memset(ret, 0, sizeof(*ret));
    dnnl_status_t status = build_desc(building, &primitive->inputs[0], &ret->model_x);
    if (status == dnnl_success)
        status = build_desc(building, &primitive->outputs[0], &ret->model_y);
    if (status == dnnl_success) status = build_desc(building, grouped, &ret->model_weights);
    if (status == dnnl_success && primitive_has_bias(primitive))
        status = build_desc(building, &primitive->inputs[2], &ret->bias);
    if (status == dnnl_success) status = build_any(building, grouped, &ret->weights);
    ret->x = ret->model_x;
    ret->y = ret->model_y;
    if (status == dnnl_success && any)
        status = build_any(building, &primitive->inputs[0], &ret->x);
    if (status == dnnl_success && any)
        status = build_any(building, &primitive->outputs[0], &ret->y);
    return status;
}

static dnnl_status_t build_conv(struct building *building) {
    const struct cm_primitive *primitive = building->primitive;
    const struct onednn_window window = build_window(&primitive->window);
    struct cm_tensor grouped;
    struct operands all;
    if (!group_weights(primitive, &grouped)) return dnnl_unimplemented;
    dnnl_status_t status = describe(building, &grouped, &all);
    dnnl_primitive_attr_t attr = NULL;
    if (status == dnnl_success) status = build_post_ops(building, &attr);
    if (status == dnnl_success)
        status = calls_conv(building->lib, primitive->kind == CM_DECONV, all.x, all.weights,
                            all.bias, all.y, &window, attr, &build_part(building)->primitive);
    if (attr != NULL) (void)building->lib->api.dnnl_primitive_attr_destroy(attr);
    if (status != dnnl_success) return status;
    build_arg_any(building, DNNL_ARG_SRC, dnnl_query_src_md, 0, all.model_x,
                  primitive->inputs[0].element, BUILT_INPUT);
    build_arg_any(building, DNNL_ARG_WEIGHTS, dnnl_query_weights_md, 0, all.model_weights,
                  grouped.element, BUILT_INPUT + 1);
    if (all.bias != NULL)
        build_arg(building, DNNL_ARG_BIAS, all.bias, primitive->inputs[2].element,
                  BUILT_INPUT + 2);
    build_arg_any(building, DNNL_ARG_DST, dnnl_query_dst_md, 0, all.model_y,
                  primitive->outputs[0].element, BUILT_OUTPUT);
    return build_step_args(building);
}

static dnnl_status_t build_gemm(struct building *building) {
    static const int ids[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS};
    const struct cm_primitive *primitive = building->primitive;
    const int32_t rank = primitive->outputs[0].rank;
    onednn_desc descs[3] = {NULL, NULL, NULL};
    onednn_desc y = NULL;
    for (int i = 0; i < (primitive_has_bias(primitive) ? 3 : 2); i++) {
        if (primitive->inputs[i].rank > rank || rank < 2) return dnnl_unimplemented;
        const struct cm_tensor wide = build_widen(&primitive->inputs[i], rank);
        const dnnl_status_t status = build_desc(building, &wide, &descs[i]);
        if (status != dnnl_success) return status;
        build_arg(building, ids[i], descs[i], wide.element, BUILT_INPUT + i);
    }
    dnnl_primitive_attr_t attr = NULL;
    dnnl_status_t status = build_desc(building, &primitive->outputs[0], &y);
    if (status != dnnl_success) return status;
    build_arg(building, DNNL_ARG_DST, y, primitive->outputs[0].element, BUILT_OUTPUT);
    status = build_post_ops(building, &attr);
    if (status == dnnl_success)
        status = calls_matmul(building->lib, descs[0], descs[1], descs[2], y, attr,
                              &build_part(building)->primitive);
    if (attr != NULL) (void)building->lib->api.dnnl_primitive_attr_destroy(attr);
    return status == dnnl_success ? build_step_args(building) : status;
}

dnnl_status_t build_products(struct building *building) {
    return building->primitive->kind == CM_GEMM ? build_gemm(building) : build_conv(building);
}
