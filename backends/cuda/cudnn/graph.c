/* SPDX-License-Identifier: Apache-2.0 */
/* Creates, fills and destroys the descriptors of a graph. */
#include "backends/cuda/cudnn/graph.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/api.h"

#include "support/banned.h"

/* Alignment that cuDNN's engines assume (CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT). */
#define BYTE_ALIGNMENT ((int64_t)16)
#define MESSAGE_SIZE   4096

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

/* cuDNN's message has, for each engine, the input, `{"engineId":1,...}`, and, innermost first,
 * a line `Warning: STATUS; Reason: the check` per failed check. Prints the first check. */
void graph_last_error(const struct cuda_cudnn *cudnn, cudnnStatus_t status, char *ret,
                      size_t size) {
    char message[MESSAGE_SIZE] = "";
    cudnn->cudnnGetLastErrorString(message, sizeof(message));
    message[sizeof(message) - 1] = '\0';
    const char *first = strstr(message, "Reason: ");
    const char *reason = first != NULL ? first + strlen("Reason: ") : message;
    const int length = (int)strcspn(reason, "\n");
    (void)snprintf(ret, size, "%s%s%.*s", cudnn->cudnnGetErrorString(status),
                   length > 0 ? ", " : "", length, reason);
}

static void check(struct graph *graph, cudnnStatus_t status, const char *what) {
    char words[CM_REASON_SIZE];
    if (status == CUDNN_STATUS_SUCCESS || graph->status != CM_BACKEND_OK) return;
    graph_last_error(graph->cudnn, status, words, sizeof(words));
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
        (void)snprintf(what, sizeof(what), "attribute %d", (int)at->name);
        check(
            graph,
            graph->cudnn->cudnnBackendSetAttribute(ret, at->name, at->type, at->n, at->values),
            what);
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
