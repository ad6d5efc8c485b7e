/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oneDNN's C API, loaded at run time: only the headers are needed to build. Versions 2 and 3
 * describe primitives differently; calls_v2.c and calls_v3.c contain the differences, and one
 * of them compiles to nothing.
 */
#ifndef BACKENDS_ONEDNN_API_H
#define BACKENDS_ONEDNN_API_H

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

#endif
