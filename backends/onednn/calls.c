/* SPDX-License-Identifier: Apache-2.0 */
/* The functions calls_... In oneDNN 2 a primitive descriptor is created from an operation
 * descriptor, and memory descriptors are structs. In oneDNN 3 one call creates a primitive
 * descriptor, and memory descriptors are handles. */
#include "backends/onednn/api.h"

#if DNNL_VERSION_MAJOR < 3

#define DESC_BY(what)   dnnl_memory_desc_init_by_##what
#define DESC_OF(desc)   (desc)
#define SAME(data)      data
#define BOTH(src, dst)  src
#define NO_PEEPHOLES(x) x

/* Creates *ret: its operation descriptor is a dnnl_<operation>_desc_t. dnnl_<init>_desc_init of
 * oneDNN 2 and dnnl_<create>_primitive_desc_create of oneDNN 3 have the last arguments. */
#define DESCRIBE(operation, init, create, attr, ...)                                           \
    dnnl_##operation##_desc_t desc;                                                            \
    dnnl_status_t status = lib->api.dnnl_##init##_desc_init(&desc, __VA_ARGS__);               \
    if (status == dnnl_success)                                                                \
        status = lib->api.dnnl_primitive_desc_create(ret, &desc, attr, lib->engine, NULL);     \
    return status

#else

#define DESC_BY(what)   dnnl_memory_desc_create_with_##what
#define DESC_OF(desc)   (*(desc))
#define SAME(data)      data, data
#define BOTH(src, dst)  src, dst
#define NO_PEEPHOLES(x) x, NULL, NULL

#define DESCRIBE(operation, init, create, attr, ...)                                           \
    return lib->api.dnnl_##create##_primitive_desc_create(ret, lib->engine, __VA_ARGS__, attr)

#endif

dnnl_status_t calls_desc(const struct onednn *lib, struct onednn_descs *descs, int rank,
                         const dnnl_dim_t *dims, dnnl_data_type_t type,
                         const dnnl_dim_t *strides, onednn_desc *ret) {
    if (descs->n == MAX_DESCS) return dnnl_out_of_memory;
    dnnl_memory_desc_t *desc = &descs->items[descs->n];
    const dnnl_status_t status =
        strides ? lib->api.DESC_BY(strides)(desc, rank, dims, type, strides)
                : lib->api.DESC_BY(tag)(desc, rank, dims, type, dnnl_format_tag_any);
    if (status != dnnl_success) return status;
    descs->n++;
    *ret = DESC_OF(desc);
    return status;
}

void calls_drop_descs(const struct onednn *lib, struct onednn_descs *descs) {
#if DNNL_VERSION_MAJOR < 3
    (void)lib;
    descs->n = 0;
#else
    while (descs->n > 0) (void)lib->api.dnnl_memory_desc_destroy(descs->items[--descs->n]);
#endif
}

dnnl_status_t calls_append_eltwise(const struct onednn *lib, dnnl_post_ops_t ops,
                                   dnnl_alg_kind_t algorithm, float alpha, float beta) {
#if DNNL_VERSION_MAJOR < 3
    return lib->api.dnnl_post_ops_append_eltwise(ops, 1, algorithm, alpha, beta);
#else
    return lib->api.dnnl_post_ops_append_eltwise(ops, algorithm, alpha, beta);
#endif
}

dnnl_status_t calls_append_sum(const struct onednn *lib, dnnl_post_ops_t ops) {
#if DNNL_VERSION_MAJOR < 3
    return lib->api.dnnl_post_ops_append_sum(ops, 1);
#else
    return lib->api.dnnl_post_ops_append_sum(ops, 1, 0, dnnl_data_type_undef);
#endif
}

dnnl_status_t calls_conv(const struct onednn *lib, bool transposed, onednn_desc src,
                         onednn_desc weights, onednn_desc bias, onednn_desc dst,
                         const struct onednn_window *window, const_dnnl_primitive_attr_t attr,
                         dnnl_primitive_desc_t *ret) {
    if (transposed) {
        DESCRIBE(deconvolution, dilated_deconvolution_forward, deconvolution_forward, attr,
                 dnnl_forward_inference, dnnl_deconvolution_direct, src, weights, bias, dst,
                 window->strides, window->dilates, window->begin, window->end);
    }
    DESCRIBE(convolution, dilated_convolution_forward, convolution_forward, attr,
             dnnl_forward_inference, dnnl_convolution_direct, src, weights, bias, dst,
             window->strides, window->dilates, window->begin, window->end);
}

dnnl_status_t calls_pool(const struct onednn *lib, dnnl_alg_kind_t algorithm, onednn_desc src,
                         onednn_desc dst, const struct onednn_window *window,
                         dnnl_primitive_desc_t *ret) {
    DESCRIBE(pooling_v2, pooling_v2_forward, pooling_forward, NULL, dnnl_forward_inference,
             algorithm, src, dst, window->strides, window->kernel, window->dilates,
             window->begin, window->end);
}

dnnl_status_t calls_matmul(const struct onednn *lib, onednn_desc a, onednn_desc b,
                           onednn_desc bias, onednn_desc dst, const_dnnl_primitive_attr_t attr,
                           dnnl_primitive_desc_t *ret) {
    DESCRIBE(matmul, matmul, matmul, attr, a, b, bias, dst);
}

dnnl_status_t calls_batch_norm(const struct onednn *lib, bool training, onednn_desc data,
                               float epsilon, unsigned flags, dnnl_primitive_desc_t *ret) {
    DESCRIBE(batch_normalization, batch_normalization_forward, batch_normalization_forward,
             NULL, training ? dnnl_forward_training : dnnl_forward_inference, SAME(data),
             epsilon, flags);
}

dnnl_status_t calls_layer_norm(const struct onednn *lib, onednn_desc data, onednn_desc stat,
                               float epsilon, unsigned flags, dnnl_primitive_desc_t *ret) {
    DESCRIBE(layer_normalization, layer_normalization_forward, layer_normalization_forward,
             NULL, dnnl_forward_inference, SAME(data), stat, epsilon, flags);
}

dnnl_status_t calls_eltwise(const struct onednn *lib, dnnl_alg_kind_t algorithm,
                            onednn_desc src, onednn_desc dst, float alpha, float beta,
                            dnnl_primitive_desc_t *ret) {
#if DNNL_VERSION_MAJOR < 3
    if (!lib->api.dnnl_memory_desc_equal(src, dst)) return dnnl_unimplemented;
#endif
    DESCRIBE(eltwise, eltwise_forward, eltwise_forward, NULL, dnnl_forward_inference, algorithm,
             BOTH(src, dst), alpha, beta);
}

dnnl_status_t calls_binary(const struct onednn *lib, dnnl_alg_kind_t algorithm, onednn_desc a,
                           onednn_desc b, onednn_desc dst, dnnl_primitive_desc_t *ret) {
    DESCRIBE(binary, binary, binary, NULL, algorithm, a, b, dst);
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
    DESCRIBE(resampling, resampling_forward, resampling_forward, NULL, dnnl_forward_inference,
             algorithm, NULL, src, dst);
}

dnnl_status_t calls_rnn(const struct onednn *lib, const struct onednn_rnn *rnn,
                        dnnl_primitive_desc_t *ret) {
    if (rnn->algorithm == dnnl_vanilla_lstm) {
        DESCRIBE(rnn, lstm_forward, lstm_forward, NULL, dnnl_forward_inference, rnn->direction,
                 rnn->src, rnn->state, rnn->memory, rnn->weights, NO_PEEPHOLES(rnn->recurrent),
                 rnn->bias, rnn->dst, rnn->state, rnn->memory, 0);
    }
    if (rnn->algorithm == dnnl_lbr_gru) {
        DESCRIBE(rnn, lbr_gru_forward, lbr_gru_forward, NULL, dnnl_forward_inference,
                 rnn->direction, rnn->src, rnn->state, rnn->weights, rnn->recurrent, rnn->bias,
                 rnn->dst, rnn->state, 0);
    }
    DESCRIBE(rnn, vanilla_rnn_forward, vanilla_rnn_forward, NULL, dnnl_forward_inference,
             rnn->activation, rnn->direction, rnn->src, rnn->state, rnn->weights,
             rnn->recurrent, rnn->bias, rnn->dst, rnn->state, 0, 0, 0);
}

dnnl_status_t calls_softmax(const struct onednn *lib, bool log, onednn_desc data, int axis,
                            dnnl_primitive_desc_t *ret) {
#if DNNL_VERSION_MAJOR < 3
    if (log) {
        DESCRIBE(softmax, logsoftmax_forward, , NULL, dnnl_forward_inference, data, axis);
    }
    DESCRIBE(softmax, softmax_forward, , NULL, dnnl_forward_inference, data, axis);
#else
    DESCRIBE(, , softmax_forward, NULL, dnnl_forward_inference,
             log ? dnnl_softmax_log : dnnl_softmax_accurate, data, data, axis);
#endif
}

dnnl_status_t calls_reduction(const struct onednn *lib, dnnl_alg_kind_t algorithm,
                              onednn_desc src, onednn_desc dst, float p,
                              dnnl_primitive_desc_t *ret) {
    DESCRIBE(reduction, reduction, reduction, NULL, algorithm, src, dst, p, 0.0F);
}

dnnl_status_t calls_concat(const struct onednn *lib, int n, const onednn_desc *srcs,
                           onednn_desc dst, int axis, dnnl_primitive_desc_t *ret) {
#if DNNL_VERSION_MAJOR < 3
    dnnl_memory_desc_t copies[MAX_DESCS];
    for (int i = 0; i < n; i++) copies[i] = *srcs[i];
    return lib->api.dnnl_concat_primitive_desc_create(ret, dst, n, axis, copies, NULL,
                                                      lib->engine);
#else
    return lib->api.dnnl_concat_primitive_desc_create(ret, lib->engine, dst, n, axis, srcs,
                                                      NULL);
#endif
}
