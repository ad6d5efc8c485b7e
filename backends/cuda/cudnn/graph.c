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

/* Returns the first failed check in cuDNN's message. For each engine it has the input,
 * `{"engineId":1,...}`, and, innermost first, a line `Warning: STATUS; Reason: the check` per
 * failed check. */
static const char *find_reason(const char *message) {
    const char *reason = strstr(message, "Reason: ");
    return reason != NULL ? reason + strlen("Reason: ") : message;
}

void graph_last_error(const struct cuda_cudnn *cudnn, cudnnStatus_t status, char *ret,
                      size_t size) {
    char message[MESSAGE_SIZE] = "";
    cudnn->cudnnGetLastErrorString(message, sizeof(message));
    message[sizeof(message) - 1] = '\0';
    const char *reason = find_reason(message);
    const char *name = cudnn->cudnnGetErrorString(status);
    const int length = (int)strcspn(reason, "\n");
    if (length > 0)
        (void)snprintf(ret, size, "%s, %.*s", name, length, reason);
    else
        (void)snprintf(ret, size, "%s", name);
}

static void check(struct graph *graph, cudnnStatus_t status, const char *what) {
    char words[CM_REASON_SIZE];
    if (status == CUDNN_STATUS_SUCCESS || graph->status != CM_BACKEND_OK) return;
    graph_last_error(graph->cudnn, status, words, sizeof(words));
    const bool memory = status == CUDNN_STATUS_ALLOC_FAILED;
    graph_fail(graph, memory ? CM_BACKEND_NO_MEMORY : CM_BACKEND_REFUSED, "%s: %s", what,
               words);
}

static bool has_room(struct graph *graph) {
    if (graph->n < graph->capacity) return true;
    const size_t capacity = graph->capacity > 0 ? 2 * graph->capacity : 64;
    cudnnBackendDescriptor_t *all = realloc(graph->all, capacity * sizeof(*all));
    if (all == NULL) return false;
    graph->all = all;
    graph->capacity = capacity;
    return true;
}

cudnnBackendDescriptor_t graph_make(struct graph *graph, cudnnBackendDescriptorType_t type) {
    cudnnBackendDescriptor_t descriptor = NULL;
    if (graph->status != CM_BACKEND_OK) return NULL;
    if (!has_room(graph)) {
        graph_fail(graph, CM_BACKEND_NO_MEMORY, "out of memory");
        return NULL;
    }
    check(graph, graph->cudnn->cudnnBackendCreateDescriptor(type, &descriptor),
          "this cuDNN has not got it");
    if (graph->status != CM_BACKEND_OK) return NULL;
    graph->all[graph->n++] = descriptor;
    return descriptor;
}

void graph_set(struct graph *graph, cudnnBackendDescriptor_t descriptor,
               cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t n,
               const void *values) {
    char what[64];
    if (graph->status != CM_BACKEND_OK) return;
    const cudnnStatus_t status =
        graph->cudnn->cudnnBackendSetAttribute(descriptor, name, type, n, values);
    if (status == CUDNN_STATUS_SUCCESS) return;
    (void)snprintf(what, sizeof(what), "attribute %d", (int)name);
    check(graph, status, what);
}

void graph_set_descriptor(struct graph *graph, cudnnBackendDescriptor_t descriptor,
                          cudnnBackendAttributeName_t name, cudnnBackendDescriptor_t value) {
    graph_set(graph, descriptor, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value);
}

void graph_finalize(struct graph *graph, cudnnBackendDescriptor_t descriptor,
                    const char *what) {
    if (graph->status != CM_BACKEND_OK) return;
    check(graph, graph->cudnn->cudnnBackendFinalize(descriptor), what);
}

void graph_add(struct graph *graph, cudnnBackendDescriptor_t operation, const char *what) {
    graph_finalize(graph, operation, what);
    if (graph->n_operations == GRAPH_MAX_OPERATIONS)
        graph_fail(graph, CM_BACKEND_REFUSED, "more than %d operations", GRAPH_MAX_OPERATIONS);
    if (graph->status == CM_BACKEND_OK) graph->operations[graph->n_operations++] = operation;
}

static void note_operand(struct graph *graph, const struct graph_operand *operand) {
    if (graph->n_operands == GRAPH_MAX_OPERANDS)
        graph_fail(graph, CM_BACKEND_REFUSED, "more than %d operands", GRAPH_MAX_OPERANDS);
    else
        graph->operands[graph->n_operands++] = *operand;
}

static cudnnBackendDescriptor_t make_tensor(struct graph *graph,
                                            const struct graph_shape *shape,
                                            struct graph_operand *operand) {
    const bool yes = true;
    const int64_t alignment = BYTE_ALIGNMENT;
    cudnnBackendDescriptor_t tensor = graph_make(graph, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    operand->id = ++graph->next_id;
    graph_set(graph, tensor, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1,
              &shape->type);
    graph_set(graph, tensor, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, shape->rank,
              shape->dims);
    graph_set(graph, tensor, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, shape->rank,
              shape->strides);
    graph_set(graph, tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &operand->id);
    graph_set(graph, tensor, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment);
    if (operand->role == GRAPH_VIRTUAL)
        graph_set(graph, tensor, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &yes);
    if (operand->role == GRAPH_VALUE)
        graph_set(graph, tensor, CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, &yes);
    graph_finalize(graph, tensor, "a tensor");
    if (operand->role != GRAPH_VIRTUAL) note_operand(graph, operand);
    return tensor;
}

cudnnBackendDescriptor_t graph_tensor(struct graph *graph, const struct graph_shape *shape,
                                      enum graph_role role, int index) {
    struct graph_operand operand = {.role = role, .index = index};
    return make_tensor(graph, shape, &operand);
}

static cudnnBackendDescriptor_t make_value(struct graph *graph, int rank, cudnnDataType_t type,
                                           struct graph_operand *operand) {
    struct graph_shape shape = {.type = type, .rank = rank};
    for (int i = 0; i < rank; i++) shape.dims[i] = shape.strides[i] = 1;
    return make_tensor(graph, &shape, operand);
}

cudnnBackendDescriptor_t graph_value(struct graph *graph, int rank, float value) {
    struct graph_operand operand = {.role = GRAPH_VALUE, .value.real = value};
    return make_value(graph, rank, CUDNN_DATA_FLOAT, &operand);
}

cudnnBackendDescriptor_t graph_count(struct graph *graph, int rank, int32_t value) {
    struct graph_operand operand = {.role = GRAPH_VALUE, .value.count = value};
    return make_value(graph, rank, CUDNN_DATA_INT32, &operand);
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
    if (element < 0 || element >= CM_N_ELEMENTS || !types[element].known) return false;
    *ret = types[element].type;
    return true;
}

cudnnDataType_t graph_compute_type(int32_t element) {
    if (element == CM_F64) return CUDNN_DATA_DOUBLE;
    return element == CM_I8 || element == CM_U8 ? CUDNN_DATA_INT32 : CUDNN_DATA_FLOAT;
}

cudnnDataType_t graph_virtual_type(cudnnDataType_t compute) {
    return compute == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
}
