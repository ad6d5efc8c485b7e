/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that differ between oneDNN 2 and 3. */
#ifndef BACKENDS_ONEDNN_CALLS_H
#define BACKENDS_ONEDNN_CALLS_H

#include <stdbool.h>

#include "backends/onednn/api.h"

#define MAX_DESCS 32

/* Memory descriptors, owned by the plan. */
struct onednn_descs {
    int n;
    dnnl_memory_desc_t items[MAX_DESCS];
};

struct onednn {
    struct onednn_api api;
    dnnl_engine_t engine;
    dnnl_stream_t stream;
};

/* Creates a memory descriptor in `descs`. `strides` NULL: a layout of oneDNN's choice. */
dnnl_status_t calls_desc(const struct onednn *lib, struct onednn_descs *descs, int rank,
                         const dnnl_dim_t *dims, dnnl_data_type_t type,
                         const dnnl_dim_t *strides, onednn_desc *ret);
void calls_drop_descs(const struct onednn *lib, struct onednn_descs *descs);

/* Window of convolutions and pools. */
struct onednn_window {
    dnnl_dims_t kernel, strides, dilates, begin, end; /* dilates: 0 is dense */
};

/* Appends a function to the post-ops, which are applied to the result of a primitive. */
dnnl_status_t calls_append_eltwise(const struct onednn *lib, dnnl_post_ops_t ops,
                                   dnnl_alg_kind_t algorithm, float alpha, float beta);
/* Appends a post-op that adds the previous contents of the result. */
dnnl_status_t calls_append_sum(const struct onednn *lib, dnnl_post_ops_t ops);

/* `attr`: post-ops, or NULL. */
dnnl_status_t calls_conv(const struct onednn *lib, bool transposed, onednn_desc src,
                         onednn_desc weights, onednn_desc bias, onednn_desc dst,
                         const struct onednn_window *window, const_dnnl_primitive_attr_t attr,
                         dnnl_primitive_desc_t *ret);
dnnl_status_t calls_pool(const struct onednn *lib, dnnl_alg_kind_t algorithm, onednn_desc src,
                         onednn_desc dst, const struct onednn_window *window,
                         dnnl_primitive_desc_t *ret);
dnnl_status_t calls_matmul(const struct onednn *lib, onednn_desc a, onednn_desc b,
                           onednn_desc bias, onednn_desc dst, const_dnnl_primitive_attr_t attr,
                           dnnl_primitive_desc_t *ret);
dnnl_status_t calls_batch_norm(const struct onednn *lib, bool training, onednn_desc data,
                               float epsilon, unsigned flags, dnnl_primitive_desc_t *ret);
dnnl_status_t calls_layer_norm(const struct onednn *lib, onednn_desc data, onednn_desc stat,
                               float epsilon, unsigned flags, dnnl_primitive_desc_t *ret);
dnnl_status_t calls_eltwise(const struct onednn *lib, dnnl_alg_kind_t algorithm,
                            onednn_desc src, onednn_desc dst, float alpha, float beta,
                            dnnl_primitive_desc_t *ret);
dnnl_status_t calls_binary(const struct onednn *lib, dnnl_alg_kind_t algorithm, onednn_desc a,
                           onednn_desc b, onednn_desc dst, dnnl_primitive_desc_t *ret);
/* Returns dnnl_unimplemented before 3.3. */
dnnl_status_t calls_group_norm(const struct onednn *lib, onednn_desc data, int64_t groups,
                               float epsilon, unsigned flags, dnnl_primitive_desc_t *ret);
/* `condition` ? a : b; returns dnnl_unimplemented before 3.7. */
dnnl_status_t calls_select(const struct onednn *lib, onednn_desc a, onednn_desc b,
                           onednn_desc condition, onednn_desc dst, dnnl_primitive_desc_t *ret);
dnnl_status_t calls_resampling(const struct onednn *lib, dnnl_alg_kind_t algorithm,
                               onednn_desc src, onednn_desc dst, dnnl_primitive_desc_t *ret);

/* `memory` is the cell state, for LSTM only. */
struct onednn_rnn {
    dnnl_alg_kind_t algorithm;  /* dnnl_vanilla_lstm, dnnl_lbr_gru, dnnl_vanilla_rnn */
    dnnl_alg_kind_t activation; /* for dnnl_vanilla_rnn */
    dnnl_rnn_direction_t direction;
    onednn_desc src, state, memory, weights, recurrent, bias, dst;
};

dnnl_status_t calls_rnn(const struct onednn *lib, const struct onednn_rnn *rnn,
                        dnnl_primitive_desc_t *ret);
dnnl_status_t calls_softmax(const struct onednn *lib, bool log, onednn_desc data, int axis,
                            dnnl_primitive_desc_t *ret);
dnnl_status_t calls_reduction(const struct onednn *lib, dnnl_alg_kind_t algorithm,
                              onednn_desc src, onednn_desc dst, float p,
                              dnnl_primitive_desc_t *ret);
dnnl_status_t calls_concat(const struct onednn *lib, int n, const onednn_desc *srcs,
                           onednn_desc dst, int axis, dnnl_primitive_desc_t *ret);

#endif
