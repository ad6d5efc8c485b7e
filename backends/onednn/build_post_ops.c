/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Post-ops of products: elementwise steps that oneDNN applies to the result. The first addition
 * of a tensor of the same size is a sum post-op: it reads the previous contents of the
 * destination instead of the tensor, as runtimes do for a residual connection. This moves the
 * same number of bytes and works in any layout. Other binary steps are binary post-ops, whose
 * operand may be broadcast.
 */
#include "backends/onednn/build.h"

#include <string.h>

#include "backends/primitive.h"

#include "support/banned.h"

struct cm_tensor build_widen(const struct cm_tensor *tensor, int32_t rank) {
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

/* Makes the descriptor of an operand, with leading dims of 1 up to the rank of the result. */
static dnnl_status_t describe_operand(struct building *building, int32_t operand,
                                      onednn_desc *ret) {
    const struct cm_primitive *primitive = building->primitive;
    const struct cm_tensor *tensor = &primitive->inputs[operand];
    const int32_t rank = primitive->outputs[0].rank;
    if (tensor->rank > rank) return dnnl_unimplemented;
    const struct cm_tensor wide = build_widen(tensor, rank);
    return build_desc(building, &wide, ret);
}

static dnnl_status_t append(struct building *building, dnnl_post_ops_t ops, int32_t index) {
    const struct cm_primitive *primitive = building->primitive;
    const struct cm_eltwise *step = &primitive->steps[index];
    dnnl_alg_kind_t algorithm = dnnl_alg_kind_undef;
    onednn_desc other = NULL;
    float alpha = 0;
    float beta = 0;
    if (!build_algorithm(step, &algorithm, &alpha, &beta)) return dnnl_unimplemented;
    if (step->function < CM_FIRST_BINARY)
        return calls_append_eltwise(building->lib, ops, algorithm, alpha, beta);
    if (is_sum(primitive, index)) return calls_append_sum(building->lib, ops);
    const dnnl_status_t status = describe_operand(building, step->operand, &other);
    if (status != dnnl_success) return status;
    return building->lib->api.dnnl_post_ops_append_binary(ops, algorithm, other);
}

dnnl_status_t build_post_ops(struct building *building, dnnl_primitive_attr_t *ret) {
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

dnnl_status_t build_step_args(struct building *building) {
    const struct cm_primitive *primitive = building->primitive;
    for (int32_t i = 0; i < primitive->n_steps; i++) {
        const struct cm_eltwise *step = &primitive->steps[i];
        onednn_desc desc = NULL;
        if (step->function < CM_FIRST_BINARY || is_sum(primitive, i)) continue;
        const dnnl_status_t status = describe_operand(building, step->operand, &desc);
        if (status != dnnl_success) return status;
        build_arg(building, DNNL_ARG_ATTR_MULTIPLE_POST_OP(i) | DNNL_ARG_SRC_1, desc,
                  primitive->inputs[step->operand].element, BUILT_INPUT + step->operand);
    }
    return dnnl_success;
}
