/* SPDX-License-Identifier: Apache-2.0 */
/* oneDNN's C API, loaded at run time: only the headers are needed to build, of version 2 or 3.
 * The functions calls_... hide how the versions describe primitives. */
#pragma once

#include <stdbool.h>

#include <oneapi/dnnl/dnnl.h>

#include "costmodel/backend.h"

/* True if the headers are of this version or later. */
#define ONEDNN_HAS(major, minor)                                                               \
    (DNNL_VERSION_MAJOR > (major) ||                                                           \
     (DNNL_VERSION_MAJOR == (major) && DNNL_VERSION_MINOR >= (minor)))

/* clang-format off */
#define ONEDNN_COMMON(X)                                                                       \
    X(dnnl_version) X(dnnl_engine_create) X(dnnl_engine_destroy)                               \
    X(dnnl_stream_create) X(dnnl_stream_destroy) X(dnnl_stream_wait)                           \
    X(dnnl_primitive_desc_destroy) X(dnnl_primitive_desc_query)                                \
    X(dnnl_primitive_desc_query_md) X(dnnl_primitive_desc_query_s32)                           \
    X(dnnl_primitive_create) X(dnnl_primitive_execute) X(dnnl_primitive_destroy)               \
    X(dnnl_memory_create) X(dnnl_memory_destroy) X(dnnl_memory_desc_get_size)                  \
    X(dnnl_memory_desc_equal)                                                                  \
    X(dnnl_reorder_primitive_desc_create) X(dnnl_concat_primitive_desc_create)                 \
    X(dnnl_primitive_attr_create) X(dnnl_primitive_attr_destroy)                               \
    X(dnnl_primitive_attr_set_post_ops) X(dnnl_post_ops_create) X(dnnl_post_ops_destroy)       \
    X(dnnl_post_ops_append_eltwise) X(dnnl_post_ops_append_sum) X(dnnl_post_ops_append_binary)

#if DNNL_VERSION_MAJOR >= 3
#define ONEDNN_SONAME "libdnnl.so.3"
/* Debian 13 and Ubuntu 24.04 put the minor version into the file name. */
#define ONEDNN_MAX_MINOR 31
#define ONEDNN_OF_VERSION(X)                                                                   \
    X(dnnl_memory_desc_create_with_strides) X(dnnl_memory_desc_create_with_tag)                \
    X(dnnl_memory_desc_destroy)                                                                \
    X(dnnl_convolution_forward_primitive_desc_create)                                          \
    X(dnnl_deconvolution_forward_primitive_desc_create)                                        \
    X(dnnl_matmul_primitive_desc_create) X(dnnl_pooling_forward_primitive_desc_create)         \
    X(dnnl_batch_normalization_forward_primitive_desc_create)                                  \
    X(dnnl_layer_normalization_forward_primitive_desc_create)                                  \
    X(dnnl_eltwise_forward_primitive_desc_create) X(dnnl_binary_primitive_desc_create)         \
    X(dnnl_softmax_forward_primitive_desc_create) X(dnnl_reduction_primitive_desc_create)      \
    X(dnnl_resampling_forward_primitive_desc_create)                                           \
    X(dnnl_vanilla_rnn_forward_primitive_desc_create)                                          \
    X(dnnl_lstm_forward_primitive_desc_create) X(dnnl_lbr_gru_forward_primitive_desc_create)
/* Functions newer than 3.0: NULL if the library lacks them. */
#if ONEDNN_HAS(3, 7)
#define ONEDNN_OPTIONAL(X)                                                                     \
    X(dnnl_group_normalization_forward_primitive_desc_create)                                  \
    X(dnnl_binary_primitive_desc_create_v2)
#elif ONEDNN_HAS(3, 3)
#define ONEDNN_OPTIONAL(X) X(dnnl_group_normalization_forward_primitive_desc_create)
#else
#define ONEDNN_OPTIONAL(X)
#endif
typedef const_dnnl_memory_desc_t onednn_desc;
#else
#define ONEDNN_SONAME "libdnnl.so.2"
#define ONEDNN_MAX_MINOR -1
#define ONEDNN_OF_VERSION(X)                                                                   \
    X(dnnl_memory_desc_init_by_strides) X(dnnl_memory_desc_init_by_tag)                        \
    X(dnnl_primitive_desc_create) X(dnnl_dilated_convolution_forward_desc_init)                \
    X(dnnl_dilated_deconvolution_forward_desc_init) X(dnnl_matmul_desc_init)                   \
    X(dnnl_pooling_v2_forward_desc_init) X(dnnl_batch_normalization_forward_desc_init)         \
    X(dnnl_layer_normalization_forward_desc_init) X(dnnl_eltwise_forward_desc_init)            \
    X(dnnl_binary_desc_init) X(dnnl_softmax_forward_desc_init)                                 \
    X(dnnl_logsoftmax_forward_desc_init) X(dnnl_reduction_desc_init)                           \
    X(dnnl_resampling_forward_desc_init) X(dnnl_vanilla_rnn_forward_desc_init)                 \
    X(dnnl_lstm_forward_desc_init) X(dnnl_lbr_gru_forward_desc_init)
#define ONEDNN_OPTIONAL(X)
typedef const dnnl_memory_desc_t *onednn_desc;
#endif
/* clang-format on */

struct onednn_api {
#define ONEDNN_MEMBER(name) __typeof__(&(name)) name;
    ONEDNN_COMMON(ONEDNN_MEMBER)
    ONEDNN_OF_VERSION(ONEDNN_MEMBER)
    ONEDNN_OPTIONAL(ONEDNN_MEMBER)
#undef ONEDNN_MEMBER
};

/* Loads the library by `path`, or by its name if NULL, and all functions. Returns an enum
 * cm_backend_status. */
int api_load(const char *path, struct onednn_api *ret, struct cm_reason *reason);

/* Sets the reason and returns `status`. */
int onednn_refuse(struct cm_reason *reason, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

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

/* Window of convolutions and pools; `begin` and `end` are the padding. */
struct onednn_window {
    dnnl_dims_t kernel, strides, dilates, begin, end; /* dilates: 0 is dense */
};

/* Appends a function to the post-ops, which are applied to the result of a primitive. */
dnnl_status_t calls_append_eltwise(const struct onednn *lib, dnnl_post_ops_t ops,
                                   dnnl_alg_kind_t algorithm, float alpha, float beta);
/* Appends a post-op that adds the previous contents of the destination to the result. */
dnnl_status_t calls_append_sum(const struct onednn *lib, dnnl_post_ops_t ops);

/* Each of the following functions sets *ret to the primitive descriptor of one operation.
 * `attr`: post-ops, or NULL. */
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
/* Returns dnnl_unimplemented before oneDNN 3.3. */
dnnl_status_t calls_group_norm(const struct onednn *lib, onednn_desc data, int64_t groups,
                               float epsilon, unsigned flags, dnnl_primitive_desc_t *ret);
/* Computes `condition` ? a : b per element. Returns dnnl_unimplemented before oneDNN 3.7. */
dnnl_status_t calls_select(const struct onednn *lib, onednn_desc a, onednn_desc b,
                           onednn_desc condition, onednn_desc dst, dnnl_primitive_desc_t *ret);
dnnl_status_t calls_resampling(const struct onednn *lib, dnnl_alg_kind_t algorithm,
                               onednn_desc src, onednn_desc dst, dnnl_primitive_desc_t *ret);

/* A recurrent layer. `state` is the hidden state, `memory` the cell state, for LSTM only. */
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
