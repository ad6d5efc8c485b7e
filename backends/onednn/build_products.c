/* SPDX-License-Identifier: Apache-2.0 */
/* Builds convolutions and matrix products. The weights of a convolution are in oneDNN's
 * preferred layout, because a runtime converts them once. Unless `keep_layout`, its activations
 * are in oneDNN's preferred layout too, because a chain of convolutions does not convert them
 * in between. Matrices keep their own layout: a primitive does not say which matrix is
 * constant.
 *
 * The steps of a product become post-ops, which oneDNN applies to the result. The first
 * addition of a tensor of the result's size becomes a sum post-op: it reads the previous
 * contents of the destination instead of the tensor, as runtimes do for a residual connection.
 * This moves the same number of bytes and works in any layout. Other binary steps become binary
 * post-ops, whose operand may be broadcast. */
#include "backends/onednn/build.h"

#include "backends/primitive.h"

/* Prepends dims of 1 up to this rank: [4,5] with rank 3 becomes [1,4,5]. */
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

/* Returns true if step `index` is the first that adds a tensor of the size of the result. */
static bool is_sum(const struct cm_primitive *primitive, int32_t index) {
    for (int32_t i = 0; i <= index; i++) {
        const struct cm_eltwise *step = &primitive->steps[i];
        const bool adds =
            step->function == CM_ADD && primitive_elements(&primitive->inputs[step->operand]) ==
                                            primitive_elements(&primitive->outputs[0]);
        if (adds) return i == index;
    }
    return false;
}

/* Appends step `index` to the post-ops, and its operand, if it has one, to the part. */
static dnnl_status_t append(struct building *building, dnnl_post_ops_t ops, int32_t index) {
    const struct cm_primitive *primitive = building->primitive;
    const struct cm_eltwise *step = &primitive->steps[index];
    const struct cm_tensor *tensor = &primitive->inputs[step->operand];
    const int32_t rank = primitive->outputs[0].rank;
    dnnl_alg_kind_t algorithm = dnnl_alg_kind_undef;
    float alpha = 0;
    float beta = 0;
    if (!build_algorithm(step, &algorithm, &alpha, &beta)) return dnnl_unimplemented;
    if (step->function < CM_FIRST_BINARY)
        return calls_append_eltwise(building->lib, ops, algorithm, alpha, beta);
    if (is_sum(primitive, index)) return calls_append_sum(building->lib, ops);
    if (tensor->rank > rank) return dnnl_unimplemented;
    const struct cm_tensor wide = widen(tensor, rank);
    onednn_desc other =
        build_operand(building, DNNL_ARG_ATTR_MULTIPLE_POST_OP(index) | DNNL_ARG_SRC_1, &wide,
                      BUILT_INPUT + step->operand);
    if (building->status != dnnl_success) return building->status;
    return building->lib->api.dnnl_post_ops_append_binary(ops, algorithm, other);
}

/* Sets *ret to the post-ops of the steps; leaves it unchanged if there are none. */
static dnnl_status_t build_post_ops(struct building *building, dnnl_primitive_attr_t *ret) {
    const struct onednn_api *api = &building->lib->api;
    dnnl_post_ops_t ops = NULL;
    if (building->primitive->n_steps == 0) return dnnl_success;
    dnnl_status_t status = api->dnnl_post_ops_create(&ops);
    if (status != dnnl_success) return status;
    for (int32_t i = 0; i < building->primitive->n_steps && status == dnnl_success; i++)
        status = append(building, ops, i);
    if (status == dnnl_success) status = api->dnnl_primitive_attr_create(ret);
    if (status == dnnl_success) status = api->dnnl_primitive_attr_set_post_ops(*ret, ops);
    (void)api->dnnl_post_ops_destroy(ops);
    return status;
}

static void add_dim(struct cm_tensor *tensor, int at, int64_t dim, int64_t stride) {
    tensor->dims[at] = dim;
    tensor->strides[at] = stride;
}

/* Permutes the dims of weights from [K, C/g, kernel..] (transposed convolution:
 * [C, K/g, kernel..]) to oneDNN's [g, K/g, C/g, kernel..], without the first dim if g is 1.
 * Returns false if the rank is too large or the groups do not divide the channels. */
static bool group_weights(const struct cm_primitive *primitive, struct cm_tensor *ret) {
    const struct cm_tensor *weights = &primitive->inputs[1];
    const bool transposed = primitive->kind == CM_DECONV;
    const int64_t groups = primitive->groups > 0 ? primitive->groups : 1;
    const int64_t rows = weights->dims[0] / groups;
    struct cm_tensor grouped = {.element = weights->element};
    int at = 0;
    if (weights->rank + 1 > CM_MAX_RANK || weights->dims[0] % groups != 0) return false;
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

static dnnl_status_t build_conv(struct building *building) {
    const struct cm_primitive *primitive = building->primitive;
    const struct cm_tensor *x = &primitive->inputs[0];
    const struct cm_tensor *y = &primitive->outputs[0];
    const struct onednn_window window = build_window(&primitive->window);
    const bool any = !building->keep_layout;
    struct cm_tensor grouped;
    if (!group_weights(primitive, &grouped)) return dnnl_unimplemented;
    onednn_desc model_x = build_desc(building, x, false);
    onednn_desc model_y = build_desc(building, y, false);
    onednn_desc model_weights = build_desc(building, &grouped, false);
    onednn_desc bias = primitive_has_bias(primitive)
                           ? build_desc(building, &primitive->inputs[2], false)
                           : NULL;
    onednn_desc weights = build_desc(building, &grouped, true);
    onednn_desc wanted_x = any ? build_desc(building, x, true) : model_x;
    onednn_desc wanted_y = any ? build_desc(building, y, true) : model_y;
    if (building->status != dnnl_success) return building->status;
    dnnl_primitive_attr_t attr = NULL;
    dnnl_status_t status = build_post_ops(building, &attr);
    if (status == dnnl_success)
        status = calls_conv(building->lib, primitive->kind == CM_DECONV, wanted_x, weights,
                            bias, wanted_y, &window, attr, &build_part(building)->primitive);
    if (attr != NULL) (void)building->lib->api.dnnl_primitive_attr_destroy(attr);
    if (status != dnnl_success) return status;
    build_arg_any(building, DNNL_ARG_SRC, dnnl_query_src_md, 0, model_x, x->element,
                  BUILT_INPUT);
    build_arg_any(building, DNNL_ARG_WEIGHTS, dnnl_query_weights_md, 0, model_weights,
                  grouped.element, BUILT_INPUT + 1);
    if (bias != NULL)
        build_arg(building, DNNL_ARG_BIAS, bias, primitive->inputs[2].element, BUILT_INPUT + 2);
    build_arg_any(building, DNNL_ARG_DST, dnnl_query_dst_md, 0, model_y, y->element,
                  BUILT_OUTPUT);
    return dnnl_success;
}

static dnnl_status_t build_gemm(struct building *building) {
    static const int ids[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS};
    const struct cm_primitive *primitive = building->primitive;
    const struct cm_tensor *result = &primitive->outputs[0];
    onednn_desc descs[3] = {NULL, NULL, NULL};
    for (int i = 0; i < (primitive_has_bias(primitive) ? 3 : 2); i++) {
        if (primitive->inputs[i].rank > result->rank || result->rank < 2)
            return dnnl_unimplemented;
        const struct cm_tensor wide = widen(&primitive->inputs[i], result->rank);
        descs[i] = build_operand(building, ids[i], &wide, BUILT_INPUT + i);
    }
    onednn_desc y = build_operand(building, DNNL_ARG_DST, result, BUILT_OUTPUT);
    if (building->status != dnnl_success) return building->status;
    dnnl_primitive_attr_t attr = NULL;
    dnnl_status_t status = build_post_ops(building, &attr);
    if (status == dnnl_success)
        status = calls_matmul(building->lib, descs[0], descs[1], descs[2], y, attr,
                              &build_part(building)->primitive);
    if (attr != NULL) (void)building->lib->api.dnnl_primitive_attr_destroy(attr);
    return status;
}

dnnl_status_t build_products(struct building *building) {
    return building->primitive->kind == CM_GEMM ? build_gemm(building) : build_conv(building);
}
