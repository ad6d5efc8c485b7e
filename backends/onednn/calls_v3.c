/* SPDX-License-Identifier: Apache-2.0 */
/* The functions calls_... for oneDNN 3, in which one call creates a primitive descriptor, and
 * memory descriptors are handles. */
#include "backends/onednn/api.h"

#if DNNL_VERSION_MAJOR >= 3

dnnl_status_t calls_desc(const struct onednn *lib, struct onednn_descs *descs, int rank,
                         const dnnl_dim_t *dims, dnnl_data_type_t type,
                         const dnnl_dim_t *strides, onednn_desc *ret) {
    if (descs->n == MAX_DESCS) return dnnl_out_of_memory;
    dnnl_memory_desc_t *desc = &descs->items[descs->n];
    const dnnl_status_t status =
        strides ? lib->api.dnnl_memory_desc_create_with_strides(desc, rank, dims, type, strides)
                : lib->api.dnnl_memory_desc_create_with_tag(desc, rank, dims, type,
                                                            dnnl_format_tag_any);
    if (status != dnnl_success) return status;
    descs->n++;
    *ret = *desc;
    return status;
}

void calls_drop_descs(const struct onednn *lib, struct onednn_descs *descs) {
    while (descs->n > 0) (void)lib->api.dnnl_memory_desc_destroy(descs->items[--descs->n]);
}

dnnl_status_t calls_append_eltwise(const struct onednn *lib, dnnl_post_ops_t ops,
                                   dnnl_alg_kind_t algorithm, float alpha, float beta) {
    return lib->api.dnnl_post_ops_append_eltwise(ops, algorithm, alpha, beta);
}

dnnl_status_t calls_append_sum(const struct onednn *lib, dnnl_post_ops_t ops) {
    return lib->api.dnnl_post_ops_append_sum(ops, 1, 0, dnnl_data_type_undef);
}

dnnl_status_t calls_conv(const struct onednn *lib, bool transposed, onednn_desc src,
                         onednn_desc weights, onednn_desc bias, onednn_desc dst,
                         const struct onednn_window *window, const_dnnl_primitive_attr_t attr,
                         dnnl_primitive_desc_t *ret) {
    const struct onednn_api *api = &lib->api;
    __typeof__(api->dnnl_convolution_forward_primitive_desc_create) create =
        transposed ? api->dnnl_deconvolution_forward_primitive_desc_create
                   : api->dnnl_convolution_forward_primitive_desc_create;
    return create(ret, lib->engine, dnnl_forward_inference,
                  transposed ? dnnl_deconvolution_direct : dnnl_convolution_direct, src,
                  weights, bias, dst, window->strides, window->dilates, window->begin,
                  window->end, attr);
}

dnnl_status_t calls_pool(const struct onednn *lib, dnnl_alg_kind_t algorithm, onednn_desc src,
                         onednn_desc dst, const struct onednn_window *window,
                         dnnl_primitive_desc_t *ret) {
    return lib->api.dnnl_pooling_forward_primitive_desc_create(
        ret, lib->engine, dnnl_forward_inference, algorithm, src, dst, window->strides,
        window->kernel, window->dilates, window->begin, window->end, NULL);
}

dnnl_status_t calls_matmul(const struct onednn *lib, onednn_desc a, onednn_desc b,
                           onednn_desc bias, onednn_desc dst, const_dnnl_primitive_attr_t attr,
                           dnnl_primitive_desc_t *ret) {
    return lib->api.dnnl_matmul_primitive_desc_create(ret, lib->engine, a, b, bias, dst, attr);
}

dnnl_status_t calls_batch_norm(const struct onednn *lib, bool training, onednn_desc data,
                               float epsilon, unsigned flags, dnnl_primitive_desc_t *ret) {
    return lib->api.dnnl_batch_normalization_forward_primitive_desc_create(
        ret, lib->engine, training ? dnnl_forward_training : dnnl_forward_inference, data, data,
        epsilon, flags, NULL);
}

dnnl_status_t calls_layer_norm(const struct onednn *lib, onednn_desc data, onednn_desc stat,
                               float epsilon, unsigned flags, dnnl_primitive_desc_t *ret) {
    return lib->api.dnnl_layer_normalization_forward_primitive_desc_create(
        ret, lib->engine, dnnl_forward_inference, data, data, stat, epsilon, flags, NULL);
}

dnnl_status_t calls_eltwise(const struct onednn *lib, dnnl_alg_kind_t algorithm,
                            onednn_desc src, onednn_desc dst, float alpha, float beta,
                            dnnl_primitive_desc_t *ret) {
    return lib->api.dnnl_eltwise_forward_primitive_desc_create(
        ret, lib->engine, dnnl_forward_inference, algorithm, src, dst, alpha, beta, NULL);
}

dnnl_status_t calls_binary(const struct onednn *lib, dnnl_alg_kind_t algorithm, onednn_desc a,
                           onednn_desc b, onednn_desc dst, dnnl_primitive_desc_t *ret) {
    return lib->api.dnnl_binary_primitive_desc_create(ret, lib->engine, algorithm, a, b, dst,
                                                      NULL);
}

dnnl_status_t calls_group_norm(const struct onednn *lib, onednn_desc data, int64_t groups,
                               float epsilon, unsigned flags, dnnl_primitive_desc_t *ret) {
#if ONEDNN_HAS(3, 3)
    if (lib->api.dnnl_group_normalization_forward_primitive_desc_create != NULL)
        return lib->api.dnnl_group_normalization_forward_primitive_desc_create(
            ret, lib->engine, dnnl_forward_inference, data, data, groups, epsilon, flags, NULL);
#else
    (void)lib, (void)data, (void)groups, (void)epsilon, (void)flags, (void)ret;
#endif
    return dnnl_unimplemented;
}

dnnl_status_t calls_select(const struct onednn *lib, onednn_desc a, onednn_desc b,
                           onednn_desc condition, onednn_desc dst, dnnl_primitive_desc_t *ret) {
#if ONEDNN_HAS(3, 7)
    if (lib->api.dnnl_binary_primitive_desc_create_v2 != NULL)
        return lib->api.dnnl_binary_primitive_desc_create_v2(
            ret, lib->engine, dnnl_binary_select, a, b, condition, dst, NULL);
#else
    (void)lib, (void)a, (void)b, (void)condition, (void)dst, (void)ret;
#endif
    return dnnl_unimplemented;
}

dnnl_status_t calls_resampling(const struct onednn *lib, dnnl_alg_kind_t algorithm,
                               onednn_desc src, onednn_desc dst, dnnl_primitive_desc_t *ret) {
    return lib->api.dnnl_resampling_forward_primitive_desc_create(
        ret, lib->engine, dnnl_forward_inference, algorithm, NULL, src, dst, NULL);
}

dnnl_status_t calls_rnn(const struct onednn *lib, const struct onednn_rnn *rnn,
                        dnnl_primitive_desc_t *ret) {
    const struct onednn_api *api = &lib->api;
    if (rnn->algorithm == dnnl_vanilla_lstm)
        return api->dnnl_lstm_forward_primitive_desc_create(
            ret, lib->engine, dnnl_forward_inference, rnn->direction, rnn->src, rnn->state,
            rnn->memory, rnn->weights, rnn->recurrent, NULL, NULL, rnn->bias, rnn->dst,
            rnn->state, rnn->memory, 0, NULL);
    if (rnn->algorithm == dnnl_lbr_gru)
        return api->dnnl_lbr_gru_forward_primitive_desc_create(
            ret, lib->engine, dnnl_forward_inference, rnn->direction, rnn->src, rnn->state,
            rnn->weights, rnn->recurrent, rnn->bias, rnn->dst, rnn->state, 0, NULL);
    return api->dnnl_vanilla_rnn_forward_primitive_desc_create(
        ret, lib->engine, dnnl_forward_inference, rnn->activation, rnn->direction, rnn->src,
        rnn->state, rnn->weights, rnn->recurrent, rnn->bias, rnn->dst, rnn->state, 0, 0, 0,
        NULL);
}

dnnl_status_t calls_softmax(const struct onednn *lib, bool log, onednn_desc data, int axis,
                            dnnl_primitive_desc_t *ret) {
    return lib->api.dnnl_softmax_forward_primitive_desc_create(
        ret, lib->engine, dnnl_forward_inference,
        log ? dnnl_softmax_log : dnnl_softmax_accurate, data, data, axis, NULL);
}

dnnl_status_t calls_reduction(const struct onednn *lib, dnnl_alg_kind_t algorithm,
                              onednn_desc src, onednn_desc dst, float p,
                              dnnl_primitive_desc_t *ret) {
    return lib->api.dnnl_reduction_primitive_desc_create(ret, lib->engine, algorithm, src, dst,
                                                         p, 0.0F, NULL);
}

dnnl_status_t calls_concat(const struct onednn *lib, int n, const onednn_desc *srcs,
                           onednn_desc dst, int axis, dnnl_primitive_desc_t *ret) {
    return lib->api.dnnl_concat_primitive_desc_create(ret, lib->engine, dst, n, axis, srcs,
                                                      NULL);
}

#endif
