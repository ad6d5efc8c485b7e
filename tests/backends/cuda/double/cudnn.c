/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Double of cuDNN: the handle and the graph API. Descriptors store their attributes. The checks
 * are those of the real library: descriptors are finalized before use and unchanged afterwards,
 * ids are unique, pointers are aligned and inside allocations.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "handle.h"

#define EXPORT         __attribute__((visibility("default")))
#define MAX_ATTRIBUTES 24
#define MAX_TENSORS    32
#define MAX_VALUES     128
#define FIRST_ENGINE   70

struct attribute {
    cudnnBackendAttributeName_t name;
    cudnnBackendAttributeType_t type;
    int64_t n;
    void *values;
};

/* The object that a cudnnBackendDescriptor_t points to. */
struct descriptor {
    cudnnBackendDescriptorType_t type;
    bool finalized;
    int n_attributes;
    struct attribute attributes[MAX_ATTRIBUTES];
    int64_t engine; /* index of the engine; for engines and configurations */
    int n_tensors;  /* for operation graphs: tensors of the operations */
    struct {
        struct descriptor *tensor;
        bool written;
    } tensors[MAX_TENSORS];
};

static char last_error[256];

cudnnStatus_t handle_refuse(cudnnStatus_t status, const char *text) {
    (void)snprintf(last_error, sizeof(last_error), "Warning: Reason: %s\n", text);
    return status;
}

EXPORT size_t cudnnGetVersion(void) {
    return double_state.cudnn_version;
}

EXPORT const char *cudnnGetErrorString(cudnnStatus_t status) {
    (void)status;
    return "CUDNN_STATUS_DOUBLE";
}

EXPORT void cudnnGetLastErrorString(char *message, size_t size) {
    (void)snprintf(message, size, "%s", last_error);
    last_error[0] = '\0';
}

EXPORT cudnnStatus_t cudnnCreate(cudnnHandle_t *ret) {
    int with = 0;
    if (double_fails("cudnnCreate", &with)) return (cudnnStatus_t)with;
    if (double_needs_context("cudnnCreate") != CUDA_SUCCESS)
        return CUDNN_STATUS_NOT_INITIALIZED;
    *ret = double_make("cudnn handle", sizeof(**ret));
    return CUDNN_STATUS_SUCCESS;
}

EXPORT cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
    double_drop("cudnn handle", handle, "cudnnDestroy");
    return CUDNN_STATUS_SUCCESS;
}

EXPORT cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
    if (!double_is("cudnn handle", handle, "cudnnSetStream")) return CUDNN_STATUS_BAD_PARAM;
    handle->stream = stream;
    return CUDNN_STATUS_SUCCESS;
}

size_t handle_size_of(cudnnDataType_t type) {
    switch (type) {
    case CUDNN_DATA_DOUBLE:
    case CUDNN_DATA_INT64:
        return 8;
    case CUDNN_DATA_FLOAT:
    case CUDNN_DATA_INT32:
        return 4;
    case CUDNN_DATA_HALF:
    case CUDNN_DATA_BFLOAT16:
        return 2;
    default:
        return 1;
    }
}

static size_t size_of_attribute(cudnnBackendAttributeType_t type) {
    switch (type) {
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR:
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_DOUBLE:
    case CUDNN_TYPE_FRACTION:
        return 8;
    case CUDNN_TYPE_BOOLEAN:
        return 1;
    default:
        return 4;
    }
}

EXPORT cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                                  cudnnBackendDescriptor_t *ret) {
    struct descriptor *descriptor = double_make("descriptor", sizeof(*descriptor));
    descriptor->type = type;
    *ret = descriptor;
    return CUDNN_STATUS_SUCCESS;
}

EXPORT cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t object) {
    struct descriptor *descriptor = object;
    if (!double_is("descriptor", object, "cudnnBackendDestroyDescriptor"))
        return CUDNN_STATUS_BAD_PARAM;
    for (int i = 0; i < descriptor->n_attributes; i++) free(descriptor->attributes[i].values);
    double_drop("descriptor", object, "cudnnBackendDestroyDescriptor");
    return CUDNN_STATUS_SUCCESS;
}

static const struct attribute *find(const struct descriptor *descriptor, int name) {
    for (int i = 0; i < descriptor->n_attributes; i++)
        if ((int)descriptor->attributes[i].name == name) return &descriptor->attributes[i];
    return NULL;
}

/* Returns the value of an attribute that has one, or `otherwise` if it is not set. */
static int64_t integer(const struct descriptor *descriptor, int name, int64_t otherwise) {
    const struct attribute *attribute = find(descriptor, name);
    int64_t value = 0;
    if (attribute == NULL) return otherwise;
    memcpy(&value, attribute->values, size_of_attribute(attribute->type));
    return value;
}

/* Returns the first descriptor or pointer; NULL if the attribute is not set or has another
 * type. */
static struct descriptor *object_at(const struct descriptor *descriptor, int name) {
    const struct attribute *attribute = find(descriptor, name);
    struct descriptor *ret = NULL;
    if (attribute != NULL && (attribute->type == CUDNN_TYPE_BACKEND_DESCRIPTOR ||
                              attribute->type == CUDNN_TYPE_VOID_PTR))
        memcpy(&ret, attribute->values, sizeof(struct descriptor *));
    return ret;
}

EXPORT cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t object,
                                              cudnnBackendAttributeName_t name,
                                              cudnnBackendAttributeType_t type, int64_t n,
                                              const void *values) {
    struct descriptor *descriptor = object;
    if (!double_is("descriptor", object, "cudnnBackendSetAttribute") || values == NULL ||
        n < 1 || n > MAX_VALUES || descriptor->n_attributes == MAX_ATTRIBUTES)
        return handle_refuse(CUDNN_STATUS_BAD_PARAM, "invalid attribute");
    if (descriptor->finalized)
        return handle_refuse(CUDNN_STATUS_NOT_INITIALIZED, "the descriptor is finalized");
    struct descriptor *const *objects = values;
    for (int64_t i = 0; type == CUDNN_TYPE_BACKEND_DESCRIPTOR && i < n; i++)
        if (!double_is("descriptor", objects[i], "cudnnBackendSetAttribute") ||
            !objects[i]->finalized)
            return handle_refuse(CUDNN_STATUS_BAD_PARAM, "a descriptor is not finalized");
    if (type == CUDNN_TYPE_HANDLE &&
        !double_is("cudnn handle", *(void *const *)values, "cudnnBackendSetAttribute"))
        return CUDNN_STATUS_BAD_PARAM;
    const size_t size = (size_t)n * size_of_attribute(type);
    struct attribute *attribute = &descriptor->attributes[descriptor->n_attributes++];
    *attribute = (struct attribute){name, type, n, malloc(size)};
    memcpy(attribute->values, values, size);
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t finalize_tensor(const struct descriptor *tensor) {
    const struct attribute *dims = find(tensor, CUDNN_ATTR_TENSOR_DIMENSIONS);
    const struct attribute *strides = find(tensor, CUDNN_ATTR_TENSOR_STRIDES);
    const int64_t alignment = integer(tensor, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 0);
    if (find(tensor, CUDNN_ATTR_TENSOR_DATA_TYPE) == NULL || dims == NULL || strides == NULL ||
        dims->n != strides->n || find(tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID) == NULL ||
        alignment < 1 || (alignment & (alignment - 1)) != 0)
        return handle_refuse(CUDNN_STATUS_BAD_PARAM, "the tensor is incomplete");
    for (int64_t i = 0; i < dims->n; i++)
        if (((const int64_t *)dims->values)[i] < 1)
            return handle_refuse(CUDNN_STATUS_BAD_PARAM, "the tensor is empty");
    return CUDNN_STATUS_SUCCESS;
}

static int64_t id_of(const struct descriptor *tensor) {
    return integer(tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID, 0);
}

/* Returns true if the attribute is a tensor that the operation writes. */
static bool is_result(cudnnBackendAttributeName_t name) {
    return name == CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y ||
           name == CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX ||
           name == CUDNN_ATTR_OPERATION_POINTWISE_YDESC ||
           name == CUDNN_ATTR_OPERATION_MATMUL_CDESC ||
           name == CUDNN_ATTR_OPERATION_REDUCTION_YDESC ||
           name == CUDNN_ATTR_OPERATION_RESAMPLE_FWD_YDESC ||
           name == CUDNN_ATTR_OPERATION_NORM_FWD_YDESC ||
           name == CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC;
}

static cudnnStatus_t add_tensor(struct descriptor *graph, struct descriptor *tensor,
                                bool written) {
    for (int i = 0; i < graph->n_tensors; i++) {
        if (graph->tensors[i].tensor == tensor) {
            graph->tensors[i].written |= written;
            return CUDNN_STATUS_SUCCESS;
        }
        if (id_of(graph->tensors[i].tensor) == id_of(tensor))
            return handle_refuse(CUDNN_STATUS_BAD_PARAM, "two tensors have one id");
    }
    if (graph->n_tensors == MAX_TENSORS) abort();
    graph->tensors[graph->n_tensors].tensor = tensor;
    graph->tensors[graph->n_tensors++].written = written;
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t finalize_operations(struct descriptor *graph) {
    const struct attribute *operations = find(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS);
    cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
    if (operations == NULL || find(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE) == NULL)
        return handle_refuse(CUDNN_STATUS_BAD_PARAM, "the graph is incomplete");
    for (int64_t i = 0; i < operations->n; i++) {
        const struct descriptor *operation = ((struct descriptor **)operations->values)[i];
        for (int j = 0; j < operation->n_attributes; j++) {
            const struct attribute *attribute = &operation->attributes[j];
            struct descriptor *tensor = object_at(operation, (int)attribute->name);
            if (tensor == NULL || tensor->type != CUDNN_BACKEND_TENSOR_DESCRIPTOR) continue;
            status = add_tensor(graph, tensor, is_result(attribute->name));
            if (status != CUDNN_STATUS_SUCCESS) return status;
        }
    }
    return status;
}

/* Requires three operands of a selection, and the axis of an index. */
static cudnnStatus_t finalize_pointwise(const struct descriptor *operation) {
    const struct descriptor *function =
        object_at(operation, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
    if (function == NULL || object_at(operation, CUDNN_ATTR_OPERATION_POINTWISE_XDESC) == NULL)
        return handle_refuse(CUDNN_STATUS_BAD_PARAM, "the function is incomplete");
    const int64_t mode = integer(function, CUDNN_ATTR_POINTWISE_MODE, -1);
    if (mode == CUDNN_POINTWISE_BINARY_SELECT &&
        (object_at(operation, CUDNN_ATTR_OPERATION_POINTWISE_BDESC) == NULL ||
         object_at(operation, CUDNN_ATTR_OPERATION_POINTWISE_TDESC) == NULL))
        return handle_refuse(CUDNN_STATUS_BAD_PARAM, "a selection lacks an operand");
    if (mode == CUDNN_POINTWISE_GEN_INDEX && find(function, CUDNN_ATTR_POINTWISE_AXIS) == NULL)
        return handle_refuse(CUDNN_STATUS_BAD_PARAM, "an index lacks its axis");
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t finalize_pack(const struct descriptor *pack) {
    const struct attribute *ids = find(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
    const struct attribute *pointers = find(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
    if (ids != NULL && pointers != NULL && ids->n == pointers->n) return CUDNN_STATUS_SUCCESS;
    return handle_refuse(CUDNN_STATUS_BAD_PARAM, "the variant pack is incomplete");
}

EXPORT cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t object) {
    struct descriptor *descriptor = object;
    cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
    if (!double_is("descriptor", object, "cudnnBackendFinalize")) return CUDNN_STATUS_BAD_PARAM;
    if (descriptor->type == CUDNN_BACKEND_TENSOR_DESCRIPTOR)
        status = finalize_tensor(descriptor);
    if (descriptor->type == CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR)
        status = finalize_pointwise(descriptor);
    if (descriptor->type == CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR)
        status = finalize_operations(descriptor);
    if (descriptor->type == CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR)
        status = finalize_pack(descriptor);
    if (descriptor->type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR &&
        (object_at(descriptor, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG) == NULL ||
         find(descriptor, CUDNN_ATTR_EXECUTION_PLAN_HANDLE) == NULL))
        status = handle_refuse(CUDNN_STATUS_BAD_PARAM, "the plan is incomplete");
    descriptor->finalized = status == CUDNN_STATUS_SUCCESS;
    return status;
}

/* Fills up to `n` engine configurations, each with the graph and its engine. Returns the number
 * of engines that exist. */
static int64_t give_engines(const struct descriptor *heuristics, int64_t n, void *ret) {
    const bool fallback =
        integer(heuristics, CUDNN_ATTR_ENGINEHEUR_MODE, 0) == (int64_t)CUDNN_HEUR_MODE_FALLBACK;
    struct descriptor *graph = object_at(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
    const struct attribute *operations = find(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS);
    const bool is_large =
        double_state.max_operations > 0 && operations->n > double_state.max_operations;
    const int64_t n_engines = fallback || is_large ? 0 : double_state.n_engines;
    for (int64_t i = 0; i < n && i < n_engines; i++) {
        struct descriptor *one = ((struct descriptor **)ret)[i];
        if (!double_is("descriptor", one, "cudnnBackendGetAttribute")) continue;
        (void)cudnnBackendSetAttribute(one, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH,
                                       CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &graph);
        one->engine = FIRST_ENGINE + i;
        one->finalized = true;
    }
    return n_engines;
}

/* Returns the workspace of a plan, bytes; only the first engine needs one. */
static int64_t workspace_of(const struct descriptor *plan) {
    const struct descriptor *configuration =
        object_at(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
    return configuration->engine == FIRST_ENGINE ? 4096 : 0;
}

static cudnnStatus_t get(const struct descriptor *descriptor, cudnnBackendAttributeName_t name,
                         int64_t n, int64_t *ret_n, void *ret) {
    int64_t value = 0;
    *ret_n = 1;
    switch ((int)name) {
    case CUDNN_ATTR_ENGINEHEUR_RESULTS:
        *ret_n = give_engines(descriptor, n, ret);
        return CUDNN_STATUS_SUCCESS;
    case CUDNN_ATTR_ENGINECFG_ENGINE: {
        struct descriptor *engine = *(struct descriptor **)ret;
        engine->engine = descriptor->engine;
        engine->finalized = true;
        return CUDNN_STATUS_SUCCESS;
    }
    case CUDNN_ATTR_ENGINE_GLOBAL_INDEX:
        value = descriptor->engine;
        break;
    case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
        value = workspace_of(descriptor);
        break;
    case CUDNN_ATTR_ENGINECFG_KNOB_CHOICES:
    case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE:
    case CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE:
        *ret_n = 0;
        return CUDNN_STATUS_SUCCESS;
    default:
        return handle_refuse(CUDNN_STATUS_NOT_SUPPORTED, "unknown attribute");
    }
    memcpy(ret, &value, sizeof(value));
    return CUDNN_STATUS_SUCCESS;
}

EXPORT cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t object,
                                              cudnnBackendAttributeName_t name,
                                              cudnnBackendAttributeType_t type, int64_t n,
                                              int64_t *ret_n, void *ret) {
    const struct descriptor *descriptor = object;
    (void)type;
    if (!double_is("descriptor", object, "cudnnBackendGetAttribute"))
        return CUDNN_STATUS_BAD_PARAM;
    if (!descriptor->finalized)
        return handle_refuse(CUDNN_STATUS_NOT_INITIALIZED, "the descriptor is not finalized");
    return get(descriptor, name, n, ret_n, ret);
}

static size_t bytes_of(const struct descriptor *tensor) {
    const struct attribute *dims = find(tensor, CUDNN_ATTR_TENSOR_DIMENSIONS);
    const struct attribute *strides = find(tensor, CUDNN_ATTR_TENSOR_STRIDES);
    int64_t last = 0;
    for (int64_t i = 0; i < dims->n; i++)
        last +=
            (((const int64_t *)dims->values)[i] - 1) * ((const int64_t *)strides->values)[i];
    return (size_t)(last + 1) *
           handle_size_of((cudnnDataType_t)integer(tensor, CUDNN_ATTR_TENSOR_DATA_TYPE, 0));
}

/* Finds the pointer of a tensor; false if the pack has none. */
static bool find_pointer(const struct descriptor *pack, int64_t id, const void **ret) {
    const struct attribute *ids = find(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
    const struct attribute *pointers = find(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
    for (int64_t i = 0; i < ids->n; i++) {
        if (((const int64_t *)ids->values)[i] != id) continue;
        *ret = ((void *const *)pointers->values)[i];
        return true;
    }
    return false;
}

static cudnnStatus_t add_tensors(const struct descriptor *graph, const struct descriptor *pack,
                                 struct double_launch *launch) {
    for (int i = 0; i < graph->n_tensors; i++) {
        const struct descriptor *tensor = graph->tensors[i].tensor;
        const bool by_value = integer(tensor, CUDNN_ATTR_TENSOR_IS_BY_VALUE, 0) != 0;
        const void *pointer = NULL;
        if (integer(tensor, CUDNN_ATTR_TENSOR_IS_VIRTUAL, 0) != 0) continue;
        if (!find_pointer(pack, id_of(tensor), &pointer))
            return handle_refuse(CUDNN_STATUS_BAD_PARAM, "the variant pack lacks a tensor");
        if ((int64_t)(uintptr_t)pointer %
                    integer(tensor, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 1) !=
                0 &&
            !by_value)
            return handle_refuse(CUDNN_STATUS_BAD_PARAM, "a pointer is not aligned");
        if (!by_value)
            double_add_access(launch, pointer, bytes_of(tensor), graph->tensors[i].written);
        else if (pointer == NULL || double_is_device((uint64_t)(uintptr_t)pointer, 1))
            return handle_refuse(CUDNN_STATUS_BAD_PARAM, "a value is not in host memory");
    }
    return CUDNN_STATUS_SUCCESS;
}

EXPORT cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t object,
                                         cudnnBackendDescriptor_t variants) {
    const struct descriptor *plan = object;
    const struct descriptor *pack = variants;
    struct double_launch launch = {.name = "cudnn_double", .grid = 4, .block = 256};
    int with = 0;
    if (double_fails("cudnnBackendExecute", &with)) return (cudnnStatus_t)with;
    if (!double_is("cudnn handle", handle, "cudnnBackendExecute") ||
        !double_is("descriptor", plan, "cudnnBackendExecute") ||
        !double_is("descriptor", pack, "cudnnBackendExecute"))
        return CUDNN_STATUS_BAD_PARAM;
    if (!plan->finalized || !pack->finalized)
        return handle_refuse(CUDNN_STATUS_BAD_PARAM, "plan or variant pack is not finalized");
    const struct descriptor *configuration =
        object_at(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
    const cudnnStatus_t status = add_tensors(
        object_at(configuration, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH), pack, &launch);
    if (status != CUDNN_STATUS_SUCCESS) return status;
    const void *workspace = object_at(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
    if (workspace_of(plan) > 0)
        double_add_access(&launch, workspace, (size_t)workspace_of(plan), true);
    launch.first = launch.accesses[0].at;
    launch.last = launch.accesses[launch.n_accesses > 1].at;
    for (int i = 0; i < double_state.cudnn_launches; i++)
        if (double_launch(handle->stream, &launch) != CUDA_SUCCESS)
            return handle_refuse(CUDNN_STATUS_EXECUTION_FAILED, "a launch failed");
    return CUDNN_STATUS_SUCCESS;
}
