/* SPDX-License-Identifier: Apache-2.0 */
/* The double of libcuda.so.1. One thread, one device, one stream at a time. */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "double.h"

#define ALIGNMENT 256
#define MAX_NODES 4096
#define EXPORT    __attribute__((visibility("default")))

struct node {
    CUgraphNodeType type;
    struct double_launch launch;
    struct CUfunc_st *function;
};

struct CUgraph_st {
    size_t n;
    struct node nodes[MAX_NODES];
};

struct CUfunc_st {
    char name[64];
    struct CUfunc_st *next;
};

struct CUmod_st {
    char *text; /* the source: what NVRTC's double gives for a cubin */
    struct CUfunc_st *functions;
};

EXPORT struct double_state double_state = {
    .memory = (size_t)64 << 20, .driver_version = 13000, .n_devices = 1, .n_processes = 1};

static double now;
static struct CUgraph_st *capture;
static bool lost;
static int lost_with;

EXPORT bool double_fails(const char *name, int *ret) {
    if (double_state.fail == NULL || strcmp(double_state.fail, name) != 0) return false;
    if (double_state.fail_after-- > 0) return false;
    *ret = double_state.fail_with;
    if (double_state.loses) {
        lost = true;
        lost_with = CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    return true;
}

/* An error that breaks the context makes all later calls fail. */
static CUresult fails(const char *name) {
    int with = 0;
    if (lost) return (CUresult)lost_with;
    if (!double_fails(name, &with)) return CUDA_SUCCESS;
    lost = with == CUDA_ERROR_ILLEGAL_ADDRESS;
    lost_with = with;
    return (CUresult)with;
}

#define TRY(name)                                                                              \
    do {                                                                                       \
        const CUresult failed = fails(name);                                                   \
        if (failed != CUDA_SUCCESS) return failed;                                             \
    } while (0)

static CUresult add_node(CUgraphNodeType type, const struct double_launch *launch,
                         struct CUfunc_st *function) {
    if (capture == NULL) {
        now += DOUBLE_S;
        return CUDA_SUCCESS;
    }
    if (double_state.refuse_capture) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (capture->n == MAX_NODES) return CUDA_ERROR_OUT_OF_MEMORY;
    capture->nodes[capture->n++] = (struct node){type, *launch, function};
    return CUDA_SUCCESS;
}

static CUresult note(const struct double_launch *launch, CUgraphNodeType type,
                     struct CUfunc_st *function) {
    if (double_state.n_launches < DOUBLE_LAUNCHES)
        double_state.launches[double_state.n_launches++] = *launch;
    return add_node(type, launch, function);
}

EXPORT void double_launched(const char *name, unsigned grid, unsigned block, uint64_t first,
                            uint64_t last) {
    struct double_launch launch = {.grid = grid,
                                   .block = block,
                                   .first = first,
                                   .last = last,
                                   .captured = capture != NULL};
    static struct CUfunc_st function; /* of all launches that are a library's */
    (void)snprintf(launch.name, sizeof(launch.name), "%s", name);
    (void)snprintf(function.name, sizeof(function.name), "%s", name);
    (void)note(&launch, CU_GRAPH_NODE_TYPE_KERNEL, &function);
}

EXPORT CUresult cuInit(unsigned flags) {
    (void)flags;
    lost = false;
    TRY("cuInit");
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDriverGetVersion(int *ret) {
    *ret = double_state.driver_version;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGetErrorName(CUresult result, const char **ret) {
    *ret = result == CUDA_ERROR_ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS"
           : result == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY"
           : result == CUDA_ERROR_NO_DEVICE     ? "CUDA_ERROR_NO_DEVICE"
           : result == CUDA_ERROR_INVALID_VALUE ? "CUDA_ERROR_INVALID_VALUE"
                                                : NULL;
    return *ret ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

EXPORT CUresult cuGetErrorString(CUresult result, const char **ret) {
    return cuGetErrorName(result, ret);
}

EXPORT CUresult cuDeviceGet(CUdevice *ret, int ordinal) {
    *ret = ordinal;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetCount(int *ret) {
    *ret = double_state.n_devices;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetName(char *ret, int size, CUdevice device) {
    (void)device;
    (void)snprintf(ret, (size_t)size, "a double");
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetAttribute(int *ret, CUdevice_attribute which, CUdevice device) {
    (void)device;
    *ret = which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR         ? 9
           : which == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT           ? 4
           : which == CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR ? 2048
           : which == CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE                  ? 1 << 20
           : which == CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE              ? 3201000
           : which == CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH        ? 6144
                                                                         : 0;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceTotalMem(size_t *ret, CUdevice device) {
    (void)device;
    *ret = double_state.memory;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetPCIBusId(char *ret, int size, CUdevice device) {
    (void)device;
    (void)snprintf(ret, (size_t)size, "0000:1B:00.0");
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *ret, CUdevice device) {
    (void)device;
    TRY("cuDevicePrimaryCtxRetain");
    *ret = (CUcontext)&double_state;
    double_state.n_objects++;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
    (void)device;
    double_state.n_objects--;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxSetCurrent(CUcontext context) {
    (void)context;
    TRY("cuCtxSetCurrent");
    return CUDA_SUCCESS;
}

static void *make_object(size_t size) {
    double_state.n_objects++;
    return calloc(1, size);
}

static CUresult drop_object(void *object) {
    double_state.n_objects--;
    free(object);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamCreate(CUstream *ret, unsigned flags) {
    (void)flags;
    TRY("cuStreamCreate");
    *ret = make_object(1);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamDestroy(CUstream stream) {
    return drop_object(stream);
}

EXPORT CUresult cuStreamSynchronize(CUstream stream) {
    (void)stream;
    TRY("cuStreamSynchronize");
    return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
    (void)stream, (void)mode;
    TRY("cuStreamBeginCapture");
    capture = make_object(sizeof(*capture));
    return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamEndCapture(CUstream stream, CUgraph *ret) {
    (void)stream;
    *ret = capture;
    capture = NULL;
    TRY("cuStreamEndCapture");
    return CUDA_SUCCESS;
}

EXPORT CUresult cuEventCreate(CUevent *ret, unsigned flags) {
    (void)flags;
    TRY("cuEventCreate");
    *ret = make_object(sizeof(double));
    return CUDA_SUCCESS;
}

EXPORT CUresult cuEventDestroy(CUevent event) {
    return drop_object(event);
}

EXPORT CUresult cuEventRecord(CUevent event, CUstream stream) {
    (void)stream;
    TRY("cuEventRecord");
    memcpy(event, &now, sizeof(now));
    return CUDA_SUCCESS;
}

EXPORT CUresult cuEventSynchronize(CUevent event) {
    (void)event;
    TRY("cuEventSynchronize");
    return CUDA_SUCCESS;
}

/* The plain name, not the header's: see CUDA_DRIVER_PLAIN. */
#undef cuEventElapsedTime
EXPORT CUresult cuEventElapsedTime(float *ret, CUevent begin, CUevent end);
CUresult cuEventElapsedTime(float *ret, CUevent begin, CUevent end) {
    double times[2];
    TRY("cuEventElapsedTime");
    memcpy(&times[0], begin, sizeof(double));
    memcpy(&times[1], end, sizeof(double));
    *ret = (float)(1e3 * (times[1] - times[0]));
    return CUDA_SUCCESS;
}

EXPORT CUresult cuMemGetInfo(size_t *ret_free, size_t *ret_total) {
    *ret_total = double_state.memory;
    *ret_free = double_state.memory - double_state.n_allocated;
    return CUDA_SUCCESS;
}

/* Its size precedes it. */
EXPORT CUresult cuMemAlloc(CUdeviceptr *ret, size_t size) {
    TRY("cuMemAlloc");
    if (size > double_state.memory - double_state.n_allocated) return CUDA_ERROR_OUT_OF_MEMORY;
    char *block = NULL;
    if (posix_memalign((void **)&block, ALIGNMENT, size + ALIGNMENT) != 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(block, &size, sizeof(size));
    double_state.n_allocations++;
    double_state.n_allocated += size;
    *ret = double_state.last_base = (CUdeviceptr)(uintptr_t)(block + ALIGNMENT);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuMemFree(CUdeviceptr base) {
    char *block = (char *)(uintptr_t)base - ALIGNMENT;
    size_t size = 0;
    memcpy(&size, block, sizeof(size));
    double_state.n_allocations--;
    double_state.n_allocated -= size;
    free(block);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t size,
                                  CUstream stream);
EXPORT CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t size,
                                  CUstream stream) {
    TRY("cuMemcpyHtoDAsync");
    double_state.unordered |= stream == NULL;
    memcpy((void *)(uintptr_t)to, from, size);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t size,
                                  CUstream stream);
EXPORT CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t size,
                                  CUstream stream) {
    struct double_launch launch = {.name = "memcpy",
                                   .first = from,
                                   .last = to,
                                   .grid = (unsigned)size,
                                   .captured = capture != NULL};
    (void)stream;
    TRY("cuMemcpyDtoDAsync");
    memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, size);
    return note(&launch, CU_GRAPH_NODE_TYPE_MEMCPY, NULL);
}

EXPORT CUresult cuModuleLoadData(CUmodule *ret, const void *image) {
    TRY("cuModuleLoadData");
    CUmodule module = make_object(sizeof(*module));
    const size_t size = strlen(image) + 1;
    module->text = malloc(size);
    memcpy(module->text, image, size);
    *ret = module;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuModuleUnload(CUmodule module) {
    while (module->functions != NULL) {
        struct CUfunc_st *next = module->functions->next;
        free(module->functions);
        module->functions = next;
    }
    free(module->text);
    return drop_object(module);
}

EXPORT CUresult cuModuleGetFunction(CUfunction *ret, CUmodule module, const char *name) {
    if (strstr(module->text, name) == NULL) return CUDA_ERROR_NOT_FOUND;
    CUfunction function = calloc(1, sizeof(*function));
    (void)snprintf(function->name, sizeof(function->name), "%s", name);
    function->next = module->functions;
    module->functions = function;
    *ret = function;
    return CUDA_SUCCESS;
}

/* Not noted: there are as many as there is time for. */
static CUresult spin(void) {
    const struct timespec pause = {0, 20000000};
    (void)nanosleep(&pause, NULL);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz,
                               unsigned bx, unsigned by, unsigned bz, unsigned shared,
                               CUstream stream, void **args, void **extra) {
    struct double_launch launch = {.grid = gx, .block = bx, .captured = capture != NULL};
    (void)gy, (void)gz, (void)by, (void)bz, (void)shared, (void)stream, (void)extra;
    TRY("cuLaunchKernel");
    (void)snprintf(launch.name, sizeof(launch.name), "%s", function->name);
    if (strcmp(function->name, "costmodel_spin") == 0) return spin();
    if (args != NULL) {
        memcpy(&launch.first, args[0], sizeof(launch.first));
        memcpy(&launch.last, args[1], sizeof(launch.last));
    }
    return note(&launch, CU_GRAPH_NODE_TYPE_KERNEL, function);
}

EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec *ret, CUgraph graph,
                                            unsigned long long flags) {
    (void)flags;
    TRY("cuGraphInstantiateWithFlags");
    size_t *n = make_object(sizeof(*n));
    *n = graph->n;
    *ret = (CUgraphExec)n;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphUpload(CUgraphExec exec, CUstream stream) {
    (void)exec, (void)stream;
    TRY("cuGraphUpload");
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
    (void)stream;
    TRY("cuGraphLaunch");
    now += DOUBLE_S * (double)*(const size_t *)exec;
    double_state.n_replays++;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphExecDestroy(CUgraphExec exec) {
    return drop_object(exec);
}

EXPORT CUresult cuGraphDestroy(CUgraph graph) {
    return drop_object(graph);
}

EXPORT CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *ret, size_t *n) {
    for (size_t i = 0; ret != NULL && i < graph->n && i < *n; i++)
        ret[i] = (CUgraphNode)&graph->nodes[i];
    *n = graph->n;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *ret) {
    *ret = ((const struct node *)node)->type;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *ret) {
    const struct node *own = (const struct node *)node;
    memset(ret, 0, sizeof(*ret));
    ret->func = own->function;
    ret->gridDimX = own->launch.grid;
    ret->blockDimX = own->launch.block;
    ret->gridDimY = ret->gridDimZ = ret->blockDimY = ret->blockDimZ = 1;
    ret->sharedMemBytes = 64;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuFuncGetName(const char **ret, CUfunction function) {
    *ret = function->name;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuFuncGetAttribute(int *ret, CUfunction_attribute which, CUfunction function) {
    (void)function;
    *ret = which == CU_FUNC_ATTRIBUTE_NUM_REGS ? 40 : 1000;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *ret, CUfunction function,
                                                            int block, size_t shared) {
    (void)function, (void)shared;
    *ret = 2048 / block;
    return CUDA_SUCCESS;
}
