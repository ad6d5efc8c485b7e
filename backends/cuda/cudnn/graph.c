/* SPDX-License-Identifier: Apache-2.0 */
/* Creates, fills and destroys the descriptors of a graph; describes its operations. */
#include "backends/cuda/cudnn/graph.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/api.h"

/* Alignment that cuDNN's engines assume (CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT). */
#define BYTE_ALIGNMENT ((int64_t)16)

void graph_begin(struct graph *graph, const struct cuda_cudnn *cudnn) {
    memset(graph, 0, sizeof(*graph));
    graph->cudnn = cudnn;
}

void graph_end(struct graph *graph) {
    while (graph->n > 0)
        (void)graph->cudnn->cudnnBackendDestroyDescriptor(graph->all[--graph->n]);
    free(graph->all);
    graph->all = NULL;
    graph->capacity = 0;
}

void graph_fail(struct graph *graph, int status, const char *format, ...) {
    va_list args;
    if (graph->status != CM_BACKEND_OK) return;
    graph->status = status;
    va_start(args, format);
    (void)vsnprintf(graph->reason.text, sizeof(graph->reason.text), format, args);
    va_end(args);
}

static void check(struct graph *graph, cudnnStatus_t status, const char *what) {
    char words[CM_REASON_SIZE];
    if (status == CUDNN_STATUS_SUCCESS || graph->status != CM_BACKEND_OK) return;
    api_cudnn_error(graph->cudnn, status, words, sizeof(words));
    const bool memory = status == CUDNN_STATUS_ALLOC_FAILED;
    graph_fail(graph, memory ? CM_BACKEND_NO_MEMORY : CM_BACKEND_REFUSED, "%s: %s", what,
               words);
}

cudnnBackendDescriptor_t graph_make(struct graph *graph, cudnnBackendDescriptorType_t type) {
    cudnnBackendDescriptor_t descriptor = NULL;
    if (graph->status != CM_BACKEND_OK) return NULL;
    if (graph->n == graph->capacity) {
        const size_t capacity = graph->capacity > 0 ? 2 * graph->capacity : 64;
        cudnnBackendDescriptor_t *all = realloc(graph->all, capacity * sizeof(*all));
        if (all == NULL) {
            graph_fail(graph, CM_BACKEND_NO_MEMORY, "out of memory");
            return NULL;
        }
        graph->all = all;
        graph->capacity = capacity;
    }
    check(graph, graph->cudnn->cudnnBackendCreateDescriptor(type, &descriptor),
          "this cuDNN has not got it");
    if (graph->status != CM_BACKEND_OK) return NULL;
    graph->all[graph->n++] = descriptor;
    return descriptor;
}

cudnnBackendDescriptor_t graph_fill(struct graph *graph, cudnnBackendDescriptorType_t type,
                                    const struct graph_attribute *attributes) {
    cudnnBackendDescriptor_t ret = graph_make(graph, type);
    for (const struct graph_attribute *at = attributes; at->values != NULL; at++) {
        char what[64];
        if (graph->status != CM_BACKEND_OK) return NULL;
        if (at->n == 0) continue;
        const cudnnStatus_t status =
            graph->cudnn->cudnnBackendSetAttribute(ret, at->name, at->type, at->n, at->values);
        if (status == CUDNN_STATUS_SUCCESS) continue;
        (void)snprintf(what, sizeof(what), "attribute %d", (int)at->name);
        check(graph, status, what);
    }
    return ret;
}

cudnnBackendDescriptor_t graph_describe(struct graph *graph, cudnnBackendDescriptorType_t type,
                                        const char *what,
                                        const struct graph_attribute *attributes) {
    cudnnBackendDescriptor_t ret = graph_fill(graph, type, attributes);
    if (graph->status == CM_BACKEND_OK)
        check(graph, graph->cudnn->cudnnBackendFinalize(ret), what);
    return ret;
}

void graph_add(struct graph *graph, cudnnBackendDescriptorType_t type, const char *what,
               const struct graph_attribute *attributes) {
    cudnnBackendDescriptor_t operation = graph_describe(graph, type, what, attributes);
    if (graph->n_operations == GRAPH_MAX_OPERATIONS)
        graph_fail(graph, CM_BACKEND_REFUSED, "more than %d operations", GRAPH_MAX_OPERATIONS);
    if (graph->status == CM_BACKEND_OK) graph->operations[graph->n_operations++] = operation;
}

static cudnnBackendDescriptor_t make_tensor(struct graph *graph,
                                            const struct graph_shape *shape,
                                            struct graph_operand operand) {
    const bool yes = true;
    const int64_t alignment = BYTE_ALIGNMENT;
    operand.id = ++graph->next_id;
    const struct graph_attribute attributes[] = {
        {CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &shape->type},
        {CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, shape->rank, shape->dims},
        {CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, shape->rank, shape->strides},
        {CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &operand.id},
        {CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment},
        {CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, operand.role == GRAPH_VIRTUAL, &yes},
        {CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, operand.role == GRAPH_VALUE, &yes},
        {0},
    };
    cudnnBackendDescriptor_t tensor =
        graph_describe(graph, CUDNN_BACKEND_TENSOR_DESCRIPTOR, "a tensor", attributes);
    if (operand.role == GRAPH_VIRTUAL) return tensor;
    if (graph->n_operands == GRAPH_MAX_OPERANDS)
        graph_fail(graph, CM_BACKEND_REFUSED, "more than %d operands", GRAPH_MAX_OPERANDS);
    else
        graph->operands[graph->n_operands++] = operand;
    return tensor;
}

cudnnBackendDescriptor_t graph_tensor(struct graph *graph, const struct graph_shape *shape,
                                      enum graph_role role, int index) {
    return make_tensor(graph, shape, (struct graph_operand){.role = role, .index = index});
}

static cudnnBackendDescriptor_t make_value(struct graph *graph, int rank, cudnnDataType_t type,
                                           struct graph_operand operand) {
    struct graph_shape shape = {.type = type, .rank = rank};
    for (int i = 0; i < rank; i++) shape.dims[i] = shape.strides[i] = 1;
    return make_tensor(graph, &shape, operand);
}

cudnnBackendDescriptor_t graph_value(struct graph *graph, int rank, float value) {
    return make_value(graph, rank, CUDNN_DATA_FLOAT,
                      (struct graph_operand){.role = GRAPH_VALUE, .value.real = value});
}

cudnnBackendDescriptor_t graph_count(struct graph *graph, int rank, int32_t value) {
    return make_value(graph, rank, CUDNN_DATA_INT32,
                      (struct graph_operand){.role = GRAPH_VALUE, .value.count = value});
}

void graph_convolve(struct graph *graph, const struct graph_convolution *from) {
    const float one = 1;
    const float zero = 0;
    const struct cm_window *window = from->window;
    const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    const int64_t n = window->n_spatial;
    const struct graph_attribute attributes[] = {
        {CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &from->compute},
        {CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode},
        {CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &n},
        {CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, n, window->pads_begin},
        {CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, n, window->pads_end},
        {CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, n, window->strides},
        {CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, n, window->dilations},
        {0},
    };
    const cudnnBackendDescriptor_t how =
        graph_describe(graph, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR,
                       "the window of the convolution", attributes);
    const struct graph_attribute forward[] = {
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, from->x),
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, from->w),
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, from->y),
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, how),
        {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, 1, &one},
        {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, 1, &zero},
        {0},
    };
    const struct graph_attribute backward[] = {
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, from->x),
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, from->w),
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, from->y),
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, how),
        {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, CUDNN_TYPE_FLOAT, 1, &one},
        {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA, CUDNN_TYPE_FLOAT, 1, &zero},
        {0},
    };
    if (from->backward)
        graph_add(graph, CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
                  "the convolution", backward);
    else
        graph_add(graph, CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                  "the convolution", forward);
}

void graph_point(struct graph *graph, const struct graph_pointwise *from) {
    const cudnnPointwiseMode_t mode = from->mode;
    const bool limits = from->has_limits;
    const struct graph_attribute attributes[] = {
        {CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &from->mode},
        {CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &from->compute},
        {CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, CUDNN_TYPE_DOUBLE, limits, &from->low},
        {CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, CUDNN_TYPE_DOUBLE, limits, &from->high},
        {CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, CUDNN_TYPE_DOUBLE, limits, &from->slope},
        {CUDNN_ATTR_POINTWISE_ELU_ALPHA, CUDNN_TYPE_DOUBLE, mode == CUDNN_POINTWISE_ELU_FWD,
         &from->alpha},
        {CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, mode == CUDNN_POINTWISE_GEN_INDEX,
         &from->axis},
        {CUDNN_ATTR_POINTWISE_SWISH_BETA, CUDNN_TYPE_DOUBLE, mode == CUDNN_POINTWISE_SWISH_FWD,
         &from->alpha},
        {0},
    };
    const cudnnBackendDescriptor_t function =
        graph_describe(graph, CUDNN_BACKEND_POINTWISE_DESCRIPTOR, "the function", attributes);
    const struct graph_attribute operation[] = {
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, function),
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, from->x),
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, from->b),
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, from->t),
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, from->y),
        {0},
    };
    graph_add(graph, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, "the elementwise function",
              operation);
}

void graph_multiply(struct graph *graph, cudnnBackendDescriptor_t a, cudnnBackendDescriptor_t b,
                    cudnnBackendDescriptor_t y, cudnnDataType_t compute) {
    const struct graph_attribute attributes[] = {
        {CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &compute},
        {0},
    };
    const cudnnBackendDescriptor_t product = graph_describe(
        graph, CUDNN_BACKEND_MATMUL_DESCRIPTOR, "the element of the product", attributes);
    const struct graph_attribute operation[] = {
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_MATMUL_ADESC, a),
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_MATMUL_BDESC, b),
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_MATMUL_CDESC, y),
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_MATMUL_DESC, product),
        {0},
    };
    graph_add(graph, CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR, "the product", operation);
}

void graph_reduce(struct graph *graph, cudnnReduceTensorOp_t kind, cudnnBackendDescriptor_t x,
                  cudnnBackendDescriptor_t y) {
    const cudnnDataType_t compute = CUDNN_DATA_FLOAT;
    const struct graph_attribute attributes[] = {
        {CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1, &kind},
        {CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &compute},
        {0},
    };
    const cudnnBackendDescriptor_t reduction = graph_describe(
        graph, CUDNN_BACKEND_REDUCTION_DESCRIPTOR, "the kind of reduction", attributes);
    const struct graph_attribute operation[] = {
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_REDUCTION_DESC, reduction),
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x),
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, y),
        {0},
    };
    graph_add(graph, CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR, "the reduction", operation);
}

bool graph_type(int32_t element, cudnnDataType_t *ret) {
    static const struct {
        bool known;
        cudnnDataType_t type;
    } types[CM_N_ELEMENTS] = {
        [CM_F64] = {true, CUDNN_DATA_DOUBLE},      [CM_F32] = {true, CUDNN_DATA_FLOAT},
        [CM_F16] = {true, CUDNN_DATA_HALF},        [CM_BF16] = {true, CUDNN_DATA_BFLOAT16},
        [CM_F8E4M3] = {true, CUDNN_DATA_FP8_E4M3}, [CM_F8E5M2] = {true, CUDNN_DATA_FP8_E5M2},
        [CM_I64] = {true, CUDNN_DATA_INT64},       [CM_I32] = {true, CUDNN_DATA_INT32},
        [CM_I8] = {true, CUDNN_DATA_INT8},         [CM_U8] = {true, CUDNN_DATA_UINT8},
        [CM_BOOL] = {true, CUDNN_DATA_BOOLEAN},
    };
    *ret = types[element].type;
    return types[element].known;
}

cudnnDataType_t graph_compute_type(int32_t element) {
    if (element == CM_F64) return CUDNN_DATA_DOUBLE;
    return element == CM_I8 || element == CM_U8 ? CUDNN_DATA_INT32 : CUDNN_DATA_FLOAT;
}
