/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolutions and matrix products. Weights of a convolution stand in the layout that oneDNN
 * likes best, since a runtime brings them there once; its activations too, unless asked for
 * plainly, since a chain of convolutions stays in that layout. Matrices stay as they are: which
 * of them is constant a primitive does not say.
 */
#include "backends/onednn/build.h"

#include <string.h>

#include "support/banned.h"

/* [K, C/g, k..], of a transposed one [C, K/g, k..], as oneDNN has both: [g,] K/g, C/g, k.. */
static bool group_weights(const struct cm_primitive *primitive, struct cm_tensor *ret) {
    const struct cm_tensor *weights = &primitive->inputs[1];
    const bool transposed = primitive->kind == CM_DECONV;
    const int64_t groups = primitive->groups > 0 ? primitive->groups : 1;
    const int64_t rows = weights->dims[0] / groups;
    struct cm_tensor grouped = *weights;
    int at = 0;
    if (weights->rank + 1 > CM_MAX_RANK || weights->dims[0] % groups != 0) return false;
    memset(grouped.dims, 0, sizeof(grouped.dims));
    if (groups > 1) grouped.dims[at++] = groups;
    grouped.dims[at++] = transposed ? weights->dims[1] : rows;
    grouped.dims[at++] = transposed ? rows : weights->dims[1];
    for (int i = 2; i < weights->rank; i++) grouped.dims[at++] = weights->dims[i];
    grouped.rank = at;
    *ret = grouped;
    return true;
}

static dnnl_status_t describe_activations(struct building *building, onednn_desc *ret_x,
                                          onednn_desc *ret_y) {
    const struct cm_primitive *primitive = building->primitive;
    dnnl_status_t (*describe)(struct building *, const struct cm_tensor *, onednn_desc *) =
        building->plain ? build_desc : build_any;
    const dnnl_status_t status = describe(building, &primitive->inputs[0], ret_x);
    return status == dnnl_success ? describe(building, &primitive->outputs[0], ret_y) : status;
}

static onednn_desc query(const struct building *building, dnnl_query_t what) {
    return building->lib->api.dnnl_primitive_desc_query_md(building->built->primitive, what, 0);
}

static dnnl_status_t build_conv(struct building *building) {
    const struct cm_primitive *primitive = building->primitive;
    const struct onednn_window window = build_window(&primitive->window);
    const bool with_bias = primitive->n_inputs > 2;
    struct cm_tensor grouped;
    onednn_desc x = NULL;
    onednn_desc y = NULL;
    onednn_desc weights = NULL;
    onednn_desc bias = NULL;
    if (!group_weights(primitive, &grouped)) return dnnl_unimplemented;
    dnnl_status_t status = describe_activations(building, &x, &y);
    if (status == dnnl_success) status = build_any(building, &grouped, &weights);
    if (status == dnnl_success && with_bias)
        status = build_desc(building, &primitive->inputs[2], &bias);
    if (status == dnnl_success)
        status = calls_conv(building->lib, primitive->kind == CM_DECONV, x, weights, bias, y,
                            &window, &building->built->primitive);
    if (status != dnnl_success) return status;
    build_arg(building, DNNL_ARG_SRC, query(building, dnnl_query_src_md),
              primitive->inputs[0].element);
    build_arg(building, DNNL_ARG_WEIGHTS, query(building, dnnl_query_weights_md),
              grouped.element);
    if (with_bias) build_arg(building, DNNL_ARG_BIAS, bias, primitive->inputs[2].element);
    build_arg(building, DNNL_ARG_DST, query(building, dnnl_query_dst_md),
              primitive->outputs[0].element);
    return status;
}

/* All operands of a product have the same rank: ones go before the shorter. */
static struct cm_tensor widen(const struct cm_tensor *tensor, int32_t rank) {
    struct cm_tensor wide = *tensor;
    const int32_t more = rank - tensor->rank;
    for (int32_t i = rank - 1; i >= 0; i--) {
        const bool own = i >= more;
        wide.dims[i] = own ? tensor->dims[i - more] : 1;
        wide.strides[i] = own ? tensor->strides[i - more] : 1;
    }
    for (int32_t i = more - 1; i >= 0; i--)
        wide.strides[i] = wide.strides[i + 1] * (wide.dims[i + 1] > 0 ? wide.dims[i + 1] : 1);
    wide.rank = rank;
    return wide;
}

static dnnl_status_t build_gemm(struct building *building) {
    static const int ids[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS};
    const struct cm_primitive *primitive = building->primitive;
    const int32_t rank = primitive->outputs[0].rank;
    onednn_desc descs[3] = {NULL, NULL, NULL};
    onednn_desc y = NULL;
    for (int i = 0; i < primitive->n_inputs; i++) {
        if (primitive->inputs[i].rank > rank || rank < 2) return dnnl_unimplemented;
        const struct cm_tensor wide = widen(&primitive->inputs[i], rank);
        const dnnl_status_t status = build_desc(building, &wide, &descs[i]);
        if (status != dnnl_success) return status;
        build_arg(building, ids[i], descs[i], wide.element);
    }
    const dnnl_status_t status = build_desc(building, &primitive->outputs[0], &y);
    if (status != dnnl_success) return status;
    build_arg(building, DNNL_ARG_DST, y, primitive->outputs[0].element);
    return calls_matmul(building->lib, descs[0], descs[1], descs[2], y,
                        &building->built->primitive);
}

dnnl_status_t build_products(struct building *building) {
    return building->primitive->kind == CM_GEMM ? build_gemm(building) : build_conv(building);
}
