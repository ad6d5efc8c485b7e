/* SPDX-License-Identifier: Apache-2.0 */
/* The functions calls_... for oneDNN 2, in which a primitive descriptor is created from an
 * operation descriptor. */
#include "backends/onednn/api.h"

#if DNNL_VERSION_MAJOR < 3

dnnl_status_t calls_desc(const struct onednn *lib, struct onednn_descs *descs, int rank,
                         const dnnl_dim_t *dims, dnnl_data_type_t type,
                         const dnnl_dim_t *strides, onednn_desc *ret) {
    if (descs->n == MAX_DESCS) return dnnl_out_of_memory;
    dnnl_memory_desc_t *desc = &descs->items[descs->n];
    const dnnl_status_t status =
        strides ? lib->api.dnnl_memory_desc_init_by_strides(desc, rank, dims, type, strides)
                : lib->api.dnnl_memory_desc_init_by_tag(desc, rank, dims, type,
                                                        dnnl_format_tag_any);
    if (status != dnnl_success) return status;
    descs->n++;
    *ret = desc;
    return status;
}

void calls_drop_descs(const struct onednn *lib, struct onednn_descs *descs) {
    (void)lib;
    descs->n = 0;
}

static dnnl_status_t describe(const struct onednn *lib, dnnl_status_t status,
                              const void *operation, const_dnnl_primitive_attr_t attr,
                              dnnl_primitive_desc_t *ret) {
    if (status != dnnl_success) return status;
    return lib->api.dnnl_primitive_desc_create(ret, operation, attr, lib->engine, NULL);
}

dnnl_status_t calls_append_eltwise(const struct onednn *lib, dnnl_post_ops_t ops,
                                   dnnl_alg_kind_t algorithm, float alpha, float beta) {
    return lib->api.dnnl_post_ops_append_eltwise(ops, 1, algorithm, alpha, beta);
}

dnnl_status_t calls_append_sum(const struct onednn *lib, dnnl_post_ops_t ops) {
    return lib->api.dnnl_post_ops_append_sum(ops, 1);
}

dnnl_status_t calls_conv(const struct onednn *lib, bool transposed, onednn_desc src,
                         onednn_desc weights, onednn_desc bias, onednn_desc dst,
                         const struct onednn_window *window, const_dnnl_primitive_attr_t attr,
                         dnnl_primitive_desc_t *ret) {
    const struct onednn_api *api = &lib->api;
    __typeof__(api->dnnl_dilated_convolution_forward_desc_init) init =
        transposed ? api->dnnl_dilated_deconvolution_forward_desc_init
                   : api->dnnl_dilated_convolution_forward_desc_init;
    dnnl_convolution_desc_t operation;
    return describe(lib,
                    init(&operation, dnnl_forward_inference,
                         transposed ? dnnl_deconvolution_direct : dnnl_convolution_direct, src,
                         weights, bias, dst, window->strides, window->dilates, window->begin,
                         window->end),
                    &operation, attr, ret);
}

dnnl_status_t calls_pool(const struct onednn *lib, dnnl_alg_kind_t algorithm, onednn_desc src,
                         onednn_desc dst, const struct onednn_window *window,
                         dnnl_primitive_desc_t *ret) {
    dnnl_pooling_v2_desc_t operation;
    return describe(lib,
                    lib->api.dnnl_pooling_v2_forward_desc_init(
                        &operation, dnnl_forward_inference, algorithm, src, dst,
                        window->strides, window->kernel, window->dilates, window->begin,
                        window->end),
                    &operation, NULL, ret);
}

dnnl_status_t calls_matmul(const struct onednn *lib, onednn_desc a, onednn_desc b,
                           onednn_desc bias, onednn_desc dst, const_dnnl_primitive_attr_t attr,
                           dnnl_primitive_desc_t *ret) {
    dnnl_matmul_desc_t operation;
    return describe(lib, lib->api.dnnl_matmul_desc_init(&operation, a, b, bias, dst),
                    &operation, attr, ret);
}

dnnl_status_t calls_batch_norm(const struct onednn *lib, bool training, onednn_desc data,
                               float epsilon, unsigned flags, dnnl_primitive_desc_t *ret) {
    dnnl_batch_normalization_desc_t operation;
    return describe(lib,
                    lib->api.dnnl_batch_normalization_forward_desc_init(
                        &operation, training ? dnnl_forward_training : dnnl_forward_inference,
                        data, epsilon, flags),
                    &operation, NULL, ret);
}

dnnl_status_t calls_layer_norm(const struct onednn *lib, onednn_desc data, onednn_desc stat,
                               float epsilon, unsigned flags, dnnl_primitive_desc_t *ret) {
    dnnl_layer_normalization_desc_t operation;
    return describe(lib,
                    lib->api.dnnl_layer_normalization_forward_desc_init(
                        &operation, dnnl_forward_inference, data, stat, epsilon, flags),
                    &operation, NULL, ret);
}

dnnl_status_t calls_eltwise(const struct onednn *lib, dnnl_alg_kind_t algorithm,
                            onednn_desc src, onednn_desc dst, float alpha, float beta,
                            dnnl_primitive_desc_t *ret) {
    dnnl_eltwise_desc_t operation;
    if (!lib->api.dnnl_memory_desc_equal(src, dst)) return dnnl_unimplemented;
    return describe(lib,
                    lib->api.dnnl_eltwise_forward_desc_init(&operation, dnnl_forward_inference,
                                                            algorithm, src, alpha, beta),
                    &operation, NULL, ret);
}

dnnl_status_t calls_binary(const struct onednn *lib, dnnl_alg_kind_t algorithm, onednn_desc a,
                           onednn_desc b, onednn_desc dst, dnnl_primitive_desc_t *ret) {
    dnnl_binary_desc_t operation;
    return describe(lib, lib->api.dnnl_binary_desc_init(&operation, algorithm, a, b, dst),
                    &operation, NULL, ret);
}

dnnl_status_t calls_group_norm(const struct onednn *lib, onednn_desc data, int64_t groups,
                               float epsilon, unsigned flags, dnnl_primitive_desc_t *ret) {
    (void)lib, (void)data, (void)groups, (void)epsilon, (void)flags, (void)ret;
    return dnnl_unimplemented;
}

dnnl_status_t calls_select(const struct onednn *lib, onednn_desc a, onednn_desc b,
                           onednn_desc condition, onednn_desc dst, dnnl_primitive_desc_t *ret) {
    (void)lib, (void)a, (void)b, (void)condition, (void)dst, (void)ret;
    return dnnl_unimplemented;
}

dnnl_status_t calls_resampling(const struct onednn *lib, dnnl_alg_kind_t algorithm,
                               onednn_desc src, onednn_desc dst, dnnl_primitive_desc_t *ret) {
    dnnl_resampling_desc_t operation;
    return describe(lib,
                    lib->api.dnnl_resampling_forward_desc_init(
                        &operation, dnnl_forward_inference, algorithm, NULL, src, dst),
                    &operation, NULL, ret);
}

dnnl_status_t calls_rnn(const struct onednn *lib, const struct onednn_rnn *rnn,
                        dnnl_primitive_desc_t *ret) {
    const struct onednn_api *api = &lib->api;
    dnnl_rnn_desc_t operation;
    dnnl_status_t status = dnnl_unimplemented;
    if (rnn->algorithm == dnnl_vanilla_lstm)
        status = api->dnnl_lstm_forward_desc_init(
            &operation, dnnl_forward_inference, rnn->direction, rnn->src, rnn->state,
            rnn->memory, rnn->weights, rnn->recurrent, rnn->bias, rnn->dst, rnn->state,
            rnn->memory, 0);
    if (rnn->algorithm == dnnl_lbr_gru)
        status = api->dnnl_lbr_gru_forward_desc_init(
            &operation, dnnl_forward_inference, rnn->direction, rnn->src, rnn->state,
            rnn->weights, rnn->recurrent, rnn->bias, rnn->dst, rnn->state, 0);
    if (rnn->algorithm == dnnl_vanilla_rnn)
        status = api->dnnl_vanilla_rnn_forward_desc_init(
            &operation, dnnl_forward_inference, rnn->activation, rnn->direction, rnn->src,
            rnn->state, rnn->weights, rnn->recurrent, rnn->bias, rnn->dst, rnn->state, 0, 0, 0);
    return describe(lib, status, &operation, NULL, ret);
}

dnnl_status_t calls_softmax(const struct onednn *lib, bool log, onednn_desc data, int axis,
                            dnnl_primitive_desc_t *ret) {
    dnnl_softmax_desc_t operation;
    const dnnl_status_t status = log ? lib->api.dnnl_logsoftmax_forward_desc_init(
                                           &operation, dnnl_forward_inference, data, axis)
                                     : lib->api.dnnl_softmax_forward_desc_init(
                                           &operation, dnnl_forward_inference, data, axis);
    return describe(lib, status, &operation, NULL, ret);
}

dnnl_status_t calls_reduction(const struct onednn *lib, dnnl_alg_kind_t algorithm,
                              onednn_desc src, onednn_desc dst, float p,
                              dnnl_primitive_desc_t *ret) {
    dnnl_reduction_desc_t operation;
    return describe(lib,
                    lib->api.dnnl_reduction_desc_init(&operation, algorithm, src, dst, p, 0.0F),
                    &operation, NULL, ret);
}

dnnl_status_t calls_concat(const struct onednn *lib, int n, const onednn_desc *srcs,
                           onednn_desc dst, int axis, dnnl_primitive_desc_t *ret) {
    dnnl_memory_desc_t copies[MAX_DESCS];
    for (int i = 0; i < n; i++) copies[i] = *srcs[i];
    return lib->api.dnnl_concat_primitive_desc_create(ret, dst, n, axis, copies, NULL,
                                                      lib->engine);
}

#endif
