/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the kernels of a graph; decides tensor-core use by kernel name. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "backends/cuda/replay.h"

#define MAX_NODES    65536
#define LONGEST_NAME 4096

/* Parts of the names of kernels that use tensor cores. Those before nvjet come from PyTorch's
 * profiler plugin (tb_plugin, tensor_core.py), the others from NVIDIA's libraries: nvjet is
 * cuBLAS on sm_90, gmma and wgmma are instructions, tensorop is CUTLASS. */
/* clang-format off */
static const char *const with_tensor_cores[] = {
    "h884", "s884", "h1688", "s1688", "hmma", "i8816", "16816", "c1688", "dgrad_1x1_stride_2x2",
    "first_layer_wgrad_kernel", "conv1x1", "conv2d_c1_k1", "direct_group", "xmma_implicit_gemm",
    "xmma_sparse_conv", "xmma_warp_specialized_implicit_gemm", "xmma_gemm", "xmma_sparse_gemm",
    "nvjet", "tensorop", "gmma", "bmma", "imma", "flash", "fort_native", "tensor16x8",
};
/* clang-format on */
/* Parts of the names of kernels that use no tensor cores; they take precedence. */
static const char *const without_tensor_cores[] = {
    "splitkreduce", "splitk_reduce", "nchwtonhwc", "nhwctonchw", "converttensor", "transpose",
    "ffma",         "simt",          "sgemm",      "memset",     "memcpy",        "costmodel_",
};

typedef char *demangle_function(const char *name, char *buffer, size_t *size, int *ret_status);

/* Looks the demangler up at run time: the module is not linked with the C++ library, but
 * NVIDIA's libraries have loaded it. */
void replay_demangle(char *name, size_t size) {
    demangle_function *function = NULL;
    int status = -1;
    if (strncmp(name, "_Z", 2) != 0) return;
    void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL) return;
    void *symbol = dlsym(library, "__cxa_demangle");
    memcpy(&function, &symbol, sizeof(symbol));
    char *text = function != NULL ? function(name, NULL, NULL, &status) : NULL;
    if (text != NULL && status == 0) (void)snprintf(name, size, "%s", text);
    free(text);
    (void)dlclose(library);
}

static bool has_part(const char *name, const char *part) {
    const size_t length = strlen(part);
    for (; *name != '\0'; name++)
        if (strncasecmp(name, part, length) == 0) return true;
    return false;
}

static int32_t by_name(const char *name) {
    for (size_t i = 0; i < sizeof(without_tensor_cores) / sizeof(char *); i++)
        if (has_part(name, without_tensor_cores[i])) return CM_TENSOR_CORES_NO;
    for (size_t i = 0; i < sizeof(with_tensor_cores) / sizeof(char *); i++)
        if (has_part(name, with_tensor_cores[i])) return CM_TENSOR_CORES_YES;
    return CM_TENSOR_CORES_UNKNOWN;
}

/* Demangles the name before truncating it, because mangled names of templates are longer than
 * the field and differ only at the end. */
static void take_name(const struct cm_device *device, CUfunction function,
                      struct cm_kernel *ret) {
    char text[LONGEST_NAME];
    const char *name = NULL;
    const struct cuda_driver *driver = &device->driver;
    if (driver->cuFuncGetName == NULL ||
        driver->cuFuncGetName(&name, function) != CUDA_SUCCESS || name == NULL)
        return;
    ret->tensor_cores = by_name(name);
    (void)snprintf(text, sizeof(text), "%s", name);
    replay_demangle(text, sizeof(text));
    (void)snprintf(ret->name, sizeof(ret->name), "%.*s", (int)sizeof(ret->name) - 1, text);
}

/* Registers, shared memory and block size limit the theoretical occupancy. The grid also
 * limits `occupancy`, which is estimated as in kineto's DeviceProperties.cpp. */
static void take_occupancy(const struct cm_device *device, CUfunction function,
                           size_t shared_bytes, struct cm_kernel *ret) {
    const double blocks = (double)ret->grid[0] * ret->grid[1] * ret->grid[2];
    const int threads = ret->block[0] * ret->block[1] * ret->block[2];
    int resident = 0;
    if (device->n_units == 0 || device->threads_a_unit == 0) return;
    ret->blocks_per_unit = blocks / device->n_units;
    if (device->driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
            &resident, function, threads, shared_bytes) != CUDA_SUCCESS)
        return;
    const double most = ret->blocks_per_unit < resident ? ret->blocks_per_unit : resident;
    ret->occupancy = most * threads / device->threads_a_unit;
    ret->theoretical_occupancy = (double)resident * threads / device->threads_a_unit;
}

static void take_kernel(const struct cm_device *device, CUgraphNode node,
                        struct cm_kernel *ret) {
    CUDA_KERNEL_NODE_PARAMS params;
    const struct cuda_driver *driver = &device->driver;
    int registers = 0;
    int shared_bytes = 0;
    memset(&params, 0, sizeof(params));
    if (driver->cuGraphKernelNodeGetParams(node, &params) != CUDA_SUCCESS) return;
    CUfunction function = params.func;
    if (function == NULL && params.kern != NULL && driver->cuKernelGetFunction != NULL)
        (void)driver->cuKernelGetFunction(&function, params.kern);
    const int grid[3] = {(int)params.gridDimX, (int)params.gridDimY, (int)params.gridDimZ};
    const int block[3] = {(int)params.blockDimX, (int)params.blockDimY, (int)params.blockDimZ};
    for (int i = 0; i < 3; i++) {
        ret->grid[i] = grid[i];
        ret->block[i] = block[i];
    }
    if (function == NULL) return;
    take_name(device, function, ret);
    (void)driver->cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function);
    (void)driver->cuFuncGetAttribute(&shared_bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
                                     function);
    ret->registers = registers;
    ret->shared_bytes = shared_bytes + (int)params.sharedMemBytes;
    take_occupancy(device, function, params.sharedMemBytes, ret);
}

/* Returns the index of an equal launch in the list; -1: none. */
static int32_t find(const struct replay_kernels *kernels, const struct cm_kernel *kernel) {
    for (int32_t i = 0; i < kernels->n && i < CM_MAX_KERNELS; i++) {
        const struct cm_kernel *item = &kernels->items[i];
        if (strcmp(item->name, kernel->name) == 0 &&
            memcmp(item->grid, kernel->grid, sizeof(item->grid)) == 0 &&
            memcmp(item->block, kernel->block, sizeof(item->block)) == 0 &&
            item->shared_bytes == kernel->shared_bytes)
            return i;
    }
    return -1;
}

/* Describes the kernel, copy or memset of a node. Returns false for other nodes. */
static bool read_node(const struct cm_device *device, CUgraphNode node, struct cm_kernel *ret) {
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    struct cm_kernel kernel = {.calls = 1};
    if (device->driver.cuGraphNodeGetType(node, &type) != CUDA_SUCCESS) return false;
    if (type == CU_GRAPH_NODE_TYPE_KERNEL)
        take_kernel(device, node, &kernel);
    else if (type == CU_GRAPH_NODE_TYPE_MEMCPY)
        (void)snprintf(kernel.name, sizeof(kernel.name), "memcpy");
    else if (type == CU_GRAPH_NODE_TYPE_MEMSET)
        (void)snprintf(kernel.name, sizeof(kernel.name), "memset");
    else
        return false;
    if (type != CU_GRAPH_NODE_TYPE_KERNEL) kernel.tensor_cores = CM_TENSOR_CORES_NO;
    if (kernel.tensor_cores != CM_TENSOR_CORES_UNKNOWN)
        (void)snprintf(kernel.rule, sizeof(kernel.rule), "name");
    *ret = kernel;
    return true;
}

int32_t replay_kernel_at(const struct cm_device *device, CUgraphNode node,
                         const struct replay_kernels *kernels) {
    struct cm_kernel kernel;
    return read_node(device, node, &kernel) ? find(kernels, &kernel) : -1;
}

void replay_kernels(const struct cm_device *device, const struct replay *replay,
                    struct replay_kernels *ret) {
    size_t n = 0;
    struct cm_kernel kernel;
    const struct cuda_driver *driver = &device->driver;
    memset(ret, 0, sizeof(*ret));
    if (driver->cuGraphGetNodes(replay->graph, NULL, &n) != CUDA_SUCCESS || n == 0 ||
        n > MAX_NODES)
        return;
    CUgraphNode *nodes = calloc(n, sizeof(*nodes));
    if (nodes == NULL || driver->cuGraphGetNodes(replay->graph, nodes, &n) != CUDA_SUCCESS)
        n = 0;
    for (size_t i = 0; i < n; i++) {
        if (!read_node(device, nodes[i], &kernel)) continue;
        const int32_t at = find(ret, &kernel);
        if (at >= 0) {
            ret->items[at].calls++;
            continue;
        }
        if (ret->n < CM_MAX_KERNELS) ret->items[ret->n] = kernel;
        ret->n++;
    }
    free(nodes);
}
