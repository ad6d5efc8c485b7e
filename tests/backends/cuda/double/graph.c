/* SPDX-License-Identifier: Apache-2.0 */
/* Test double of the CUDA driver: modules, kernel launches, stream capture and graphs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define SPIN_S      0.05  /* simulated duration of costmodel_spin, seconds */
#define SLOW_MHZ    345.0 /* clock until double_state.slow_until */
#define STAMP_BYTES 24
#define MAX_NODES   4096
#define MAX_THREADS 1024
#define MAX_SHARED  (48u << 10)
#define MAX_DEPS    4

struct CUgraphNode_st {
    struct CUgraph_st *graph;
    CUgraphNodeType type;
    struct double_launch launch;
    CUfunction function;
    CUevent event;
    int n_deps;
    size_t deps[MAX_DEPS]; /* indices of the nodes that run before it */
};

struct CUgraph_st {
    size_t n;
    struct CUgraphNode_st nodes[MAX_NODES];
    size_t order[MAX_NODES]; /* of an executable graph: a topological order */
};

struct CUfunc_st {
    char name[64];
    CUmodule module;
    struct CUfunc_st *next;
};

struct CUmod_st {
    char *text; /* PTX, or CUDA source (the NVRTC double returns it instead of a cubin) */
    struct CUfunc_st *functions;
};

/* The active stream capture: at most one, in mode THREAD_LOCAL. */
static CUstream capturing;
static struct CUgraph_st *capture;
static bool invalid;

EXPORT CUresult double_unsafe(void) {
    if (capturing == NULL) return CUDA_SUCCESS;
    invalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUresult graph_refuse(CUstream stream) {
    return stream != NULL && stream == capturing ? double_unsafe() : CUDA_SUCCESS;
}

CUresult graph_of_stream(CUstream stream, struct CUgraph_st **ret) {
    *ret = NULL;
    if (capturing == NULL) return CUDA_SUCCESS;
    if (stream == NULL && (capturing->flags & CU_STREAM_NON_BLOCKING) == 0) {
        invalid = true;
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    if (stream != capturing) return CUDA_SUCCESS;
    if (invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    *ret = capture;
    return CUDA_SUCCESS;
}

CUresult graph_add(struct CUgraph_st *graph, CUgraphNodeType type,
                   const struct double_launch *launch, CUfunction function, CUevent event) {
    if (double_state.refuse_capture && type == CU_GRAPH_NODE_TYPE_KERNEL)
        return double_unsafe();
    if (graph->n == MAX_NODES) return CUDA_ERROR_OUT_OF_MEMORY;
    struct CUgraphNode_st *node = &graph->nodes[graph->n];
    *node = (struct CUgraphNode_st){graph, type, *launch, function, event, .n_deps = 0};
    const bool follows =
        graph->n > 0 && !(double_state.branches && type == CU_GRAPH_NODE_TYPE_KERNEL &&
                          node[-1].type == CU_GRAPH_NODE_TYPE_KERNEL);
    if (follows) node->deps[node->n_deps++] = graph->n - 1;
    graph->n++;
    return CUDA_SUCCESS;
}

/* Returns false for launches that are not recorded in double_state.launches: copies between
 * host and device, and the kernels that raise or read the clock. */
static bool is_noted(const struct double_launch *launch) {
    return strncmp(launch->name, "memcpy ", 7) != 0 &&
           strcmp(launch->name, "costmodel_spin") != 0 &&
           strcmp(launch->name, "costmodel_stamp") != 0;
}

/* Advances the simulated time, and the cycle counter at the current clock rate. */
static void execute(const struct double_launch *launch) {
    static double last, cycles;
    const double mhz = double_now < double_state.slow_until ? SLOW_MHZ : double_state.sm_mhz;
    const bool stamps = strcmp(launch->name, "costmodel_stamp") == 0;
    if (strcmp(launch->name, "costmodel_spin") == 0)
        double_now += SPIN_S;
    else if (!stamps)
        driver_run();
    cycles += (double_now - last) * 1e6 * mhz;
    last = double_state.now = double_now;
    if (stamps) {
        const uint64_t reading[] = {(uint64_t)(1e9 * double_now), (uint64_t)cycles, 0};
        memcpy((void *)(uintptr_t)launch->first, reading, sizeof(reading));
    }
}

CUresult graph_enqueue(CUstream stream, CUgraphNodeType type,
                       const struct double_launch *launch, CUfunction function) {
    struct CUgraph_st *graph = NULL;
    struct double_launch own = *launch;
    int number = 0;
    CUresult result = driver_stream(launch->name, stream, &number);
    if (result == CUDA_SUCCESS) result = graph_of_stream(stream, &graph);
    if (result == CUDA_SUCCESS) result = memory_access(launch, number, graph == NULL);
    if (result != CUDA_SUCCESS) return result;
    own.captured = graph != NULL;
    if (is_noted(launch) && double_state.n_launches < DOUBLE_LAUNCHES)
        double_state.launches[double_state.n_launches++] = own;
    if (graph != NULL) return graph_add(graph, type, &own, function, NULL);
    execute(&own);
    return CUDA_SUCCESS;
}

EXPORT CUresult double_launch(CUstream stream, const struct double_launch *launch) {
    static struct CUfunc_st functions[16]; /* one per kernel name of the libraries */
    int i = 0;
    while (i < 15 && functions[i].name[0] != '\0' &&
           strcmp(functions[i].name, launch->name) != 0)
        i++;
    memcpy(functions[i].name, launch->name, sizeof(functions[i].name));
    if (double_state.library_allocates) (void)double_unsafe();
    return graph_enqueue(stream, CU_GRAPH_NODE_TYPE_KERNEL, launch, &functions[i]);
}

EXPORT CUresult cuModuleLoadData(CUmodule *ret, const void *image) {
    TRY("cuModuleLoadData");
    CUresult result = double_needs_context("cuModuleLoadData");
    if (result == CUDA_SUCCESS) result = double_unsafe();
    if (result != CUDA_SUCCESS) return result;
    int sm = double_state.sm;
    (void)sscanf(image, "// sm_%d", &sm);
    if (sm / 10 != double_state.sm / 10 || sm > double_state.sm)
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    CUmodule module = double_make("module", sizeof(*module));
    const size_t size = strlen(image) + 1;
    module->text = malloc(size);
    memcpy(module->text, image, size);
    *ret = module;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuModuleUnload(CUmodule module) {
    const CUresult result = double_unsafe();
    if (result != CUDA_SUCCESS) return result;
    if (!double_is("module", module, "cuModuleUnload")) return CUDA_ERROR_INVALID_HANDLE;
    while (module->functions != NULL) {
        struct CUfunc_st *next = module->functions->next;
        double_drop("function", module->functions, "cuModuleUnload");
        module->functions = next;
    }
    free(module->text);
    double_drop("module", module, "cuModuleUnload");
    return CUDA_SUCCESS;
}

/* Returns the parameter list of a kernel, after its opening parenthesis. */
static const char *parameters_of(const char *text, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = strstr(text, name); at != NULL; at = strstr(at + 1, name))
        if (at[length] == '(') return at + length + 1;
    return NULL;
}

EXPORT CUresult cuModuleGetFunction(CUfunction *ret, CUmodule module, const char *name) {
    if (!double_is("module", module, "cuModuleGetFunction")) return CUDA_ERROR_INVALID_HANDLE;
    if (parameters_of(module->text, name) == NULL) return CUDA_ERROR_NOT_FOUND;
    CUfunction function = double_make("function", sizeof(*function));
    (void)snprintf(function->name, sizeof(function->name), "%s", name);
    function->module = module;
    function->next = module->functions;
    module->functions = function;
    *ret = function;
    return CUDA_SUCCESS;
}

/* Returns __launch_bounds__ of the kernel whose parameters begin at `at`, or the maximum. */
static unsigned bounds_of(const char *text, const char *at) {
    static const char bounds[] = "__launch_bounds__(";
    const char *from = at - text > 128 ? at - 128 : text;
    const char *found = strstr(from, bounds);
    return found != NULL && found < at ? (unsigned)strtoul(found + strlen(bounds), NULL, 10)
                                       : MAX_THREADS;
}

static bool is_launchable(const char *name, const unsigned *grid, const unsigned *block,
                          unsigned shared, unsigned most) {
    const unsigned long threads = (unsigned long)block[0] * block[1] * block[2];
    if (threads == 0 || grid[0] == 0 || grid[1] == 0 || grid[2] == 0)
        double_misuse("%s: a launch without threads", name);
    else if (threads > MAX_THREADS || block[2] > 64)
        double_misuse("%s: %lu threads per block, at most %u", name, threads, MAX_THREADS);
    else if (threads > most)
        double_misuse("%s: %lu threads per block, compiled for %u", name, threads, most);
    else if (grid[0] > 0x7FFFFFFFu || grid[1] > 65535 || grid[2] > 65535)
        double_misuse("%s: the grid is too large", name);
    else if (shared > MAX_SHARED)
        double_misuse("%s: %u bytes of shared memory", name, shared);
    else
        return true;
    return false;
}

/* Records the memory accesses of a kernel: it reads const pointers and writes the others. The
 * buffer sizes are unknown, so each access has 1 byte. */
static void add_arguments(struct double_launch *launch, const char *at, void **args) {
    for (int i = 0; args != NULL && *at != ')' && *at != '\0'; i++) {
        const size_t length = strcspn(at, ",)");
        uint64_t address = 0;
        const bool is_pointer = memchr(at, '*', length) != NULL;
        if (is_pointer) memcpy(&address, args[i], sizeof(address));
        if (is_pointer && i == 0) launch->first = address;
        if (is_pointer && i == 1) launch->last = address;
        const bool writes = strncmp(at + strspn(at, " "), "const", 5) != 0;
        if (is_pointer) double_add_access(launch, (void *)(uintptr_t)address, 1, writes);
        at += length + (at[length] == ',');
    }
}

EXPORT CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz,
                               unsigned bx, unsigned by, unsigned bz, unsigned shared,
                               CUstream stream, void **args, void **extra) {
    struct double_launch launch = {.grid = gx, .block = bx};
    const unsigned grid[] = {gx, gy, gz};
    const unsigned block[] = {bx, by, bz};
    (void)extra;
    TRY("cuLaunchKernel");
    if (!double_is("function", function, "cuLaunchKernel")) return CUDA_ERROR_INVALID_HANDLE;
    const char *text = function->module->text;
    const char *parameters = parameters_of(text, function->name);
    if (!is_launchable(function->name, grid, block, shared, bounds_of(text, parameters)))
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(launch.name, function->name, sizeof(launch.name));
    add_arguments(&launch, parameters, args);
    if (strcmp(function->name, "costmodel_stamp") == 0) {
        memcpy(&launch.first, args[0], sizeof(launch.first));
        double_add_access(&launch, (void *)(uintptr_t)launch.first, STAMP_BYTES, true);
    }
    return graph_enqueue(stream, CU_GRAPH_NODE_TYPE_KERNEL, &launch, function);
}

EXPORT CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
    int number = 0;
    TRY("cuStreamBeginCapture");
    const CUresult result = driver_stream("cuStreamBeginCapture", stream, &number);
    if (result != CUDA_SUCCESS) return result;
    if (stream == NULL) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (capturing != NULL) return CUDA_ERROR_ILLEGAL_STATE;
    if (mode != CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)
        double_misuse("cuStreamBeginCapture: other threads would be restricted");
    capture = double_make("graph", sizeof(*capture));
    capturing = stream;
    invalid = false;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamEndCapture(CUstream stream, CUgraph *ret) {
    *ret = NULL;
    if (capturing == NULL || stream != capturing) {
        double_misuse("cuStreamEndCapture: the stream does not capture");
        return CUDA_ERROR_ILLEGAL_STATE;
    }
    capturing = NULL;
    const CUresult failed = driver_fails("cuStreamEndCapture");
    if (invalid || failed != CUDA_SUCCESS) {
        double_drop("graph", capture, "cuStreamEndCapture");
        return failed != CUDA_SUCCESS ? failed : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    *ret = capture;
    return CUDA_SUCCESS;
}

/* Appends a node to the order after the nodes that it depends on. Returns false for a cycle. */
static bool visit(struct CUgraph_st *graph, size_t at, char *marks, size_t *n) {
    enum { NEW, OPEN, DONE };
    if (marks[at] != NEW) return marks[at] == DONE;
    marks[at] = OPEN;
    for (int i = 0; i < graph->nodes[at].n_deps; i++)
        if (!visit(graph, graph->nodes[at].deps[i], marks, n)) return false;
    marks[at] = DONE;
    graph->order[(*n)++] = at;
    return true;
}

static bool sort_nodes(struct CUgraph_st *graph) {
    char marks[MAX_NODES] = {0};
    size_t n = 0;
    for (size_t i = 0; i < graph->n; i++)
        if (!visit(graph, i, marks, &n)) return false;
    return true;
}

EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec *ret, CUgraph graph,
                                            unsigned long long flags) {
    (void)flags;
    TRY("cuGraphInstantiateWithFlags");
    if (!double_is("graph", graph, "cuGraphInstantiateWithFlags"))
        return CUDA_ERROR_INVALID_HANDLE;
    struct CUgraph_st *exec = double_make("exec", sizeof(*exec));
    exec->n = graph->n;
    memcpy(exec->nodes, graph->nodes, graph->n * sizeof(graph->nodes[0]));
    if (!sort_nodes(exec)) {
        double_drop("exec", exec, "cuGraphInstantiateWithFlags");
        return CUDA_ERROR_INVALID_VALUE;
    }
    *ret = (CUgraphExec)exec;
    return CUDA_SUCCESS;
}

static CUresult check_exec(const char *call, CUgraphExec exec, CUstream stream,
                           int *ret_number) {
    const CUresult result = driver_stream(call, stream, ret_number);
    if (result != CUDA_SUCCESS) return result;
    if (!double_is("exec", exec, call)) return CUDA_ERROR_INVALID_HANDLE;
    return graph_refuse(stream);
}

EXPORT CUresult cuGraphUpload(CUgraphExec exec, CUstream stream) {
    int number = 0;
    TRY("cuGraphUpload");
    return check_exec("cuGraphUpload", exec, stream, &number);
}

EXPORT CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
    const struct CUgraph_st *graph = (const struct CUgraph_st *)exec;
    int number = 0;
    TRY("cuGraphLaunch");
    const CUresult result = check_exec("cuGraphLaunch", exec, stream, &number);
    if (result != CUDA_SUCCESS) return result;
    double_now += DOUBLE_GAP;
    for (size_t i = 0; i < graph->n; i++) {
        const struct CUgraphNode_st *node = &graph->nodes[graph->order[i]];
        if (node->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD) {
            if (double_is("event", node->event, "cuGraphLaunch"))
                driver_record(node->event, number);
            continue;
        }
        (void)memory_access(&node->launch, number, true);
        execute(&node->launch);
    }
    double_state.n_replays++;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphExecDestroy(CUgraphExec exec) {
    double_drop("exec", exec, "cuGraphExecDestroy");
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphDestroy(CUgraph graph) {
    double_drop("graph", graph, "cuGraphDestroy");
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *ret, size_t *n) {
    if (!double_is("graph", graph, "cuGraphGetNodes")) return CUDA_ERROR_INVALID_HANDLE;
    for (size_t i = 0; ret != NULL && i < graph->n && i < *n; i++) ret[i] = &graph->nodes[i];
    *n = graph->n;
    return CUDA_SUCCESS;
}

/* Returns the index of a node of a live graph; MAX_NODES if it is none. */
static size_t index_of(const struct CUgraph_st *graph, CUgraphNode node, const char *call) {
    if (double_is("graph", graph, call) && node >= graph->nodes &&
        node < graph->nodes + graph->n)
        return (size_t)(node - graph->nodes);
    double_misuse("%s: not a node of the graph", call);
    return MAX_NODES;
}

/* Returns the index of node `from` in the dependencies of `to`; n_deps if it is not there. */
static int find_dep(const struct CUgraphNode_st *to, size_t from) {
    int i = 0;
    while (i < to->n_deps && to->deps[i] != from) i++;
    return i;
}

/* Fills a list of nodes as the driver does: *n is the size of `ret`, then the number of
 * nodes. */
static CUresult fill_list(CUgraphNode *ret, size_t *n, CUgraphNode const *found,
                          size_t n_found) {
    for (size_t i = 0; ret != NULL && i < *n; i++) ret[i] = i < n_found ? found[i] : NULL;
    *n = ret != NULL && n_found > *n ? *n : n_found;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode *ret, size_t *n) {
    static CUgraphNode found[MAX_NODES];
    size_t n_found = 0;
    TRY("cuGraphGetRootNodes");
    if (!double_is("graph", graph, "cuGraphGetRootNodes")) return CUDA_ERROR_INVALID_HANDLE;
    for (size_t i = 0; i < graph->n; i++)
        if (graph->nodes[i].n_deps == 0) found[n_found++] = &graph->nodes[i];
    return fill_list(ret, n, found, n_found);
}

/* These functions have their first signature (CUDA_DRIVER_FIRST in api.h). */
#undef cuGraphNodeGetDependentNodes
#undef cuGraphAddDependencies
#undef cuGraphRemoveDependencies
EXPORT CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *ret, size_t *n);
EXPORT CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from,
                                       const CUgraphNode *to, size_t n);
EXPORT CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from,
                                          const CUgraphNode *to, size_t n);

CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *ret, size_t *n) {
    static CUgraphNode found[MAX_NODES];
    size_t n_found = 0;
    TRY("cuGraphNodeGetDependentNodes");
    struct CUgraph_st *graph = node->graph;
    const size_t at = index_of(graph, node, "cuGraphNodeGetDependentNodes");
    if (at == MAX_NODES) return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < graph->n; i++)
        if (find_dep(&graph->nodes[i], at) < graph->nodes[i].n_deps)
            found[n_found++] = &graph->nodes[i];
    return fill_list(ret, n, found, n_found);
}

/* Refuses an edge that exists already, and an edge from a node to itself. */
CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                size_t n) {
    TRY("cuGraphAddDependencies");
    for (size_t i = 0; i < n; i++) {
        const size_t first = index_of(graph, from[i], "cuGraphAddDependencies");
        const size_t second = index_of(graph, to[i], "cuGraphAddDependencies");
        if (first == MAX_NODES || second == MAX_NODES || first == second)
            return CUDA_ERROR_INVALID_VALUE;
        struct CUgraphNode_st *node = &graph->nodes[second];
        if (find_dep(node, first) < node->n_deps) return CUDA_ERROR_INVALID_VALUE;
        if (node->n_deps == MAX_DEPS) abort();
        node->deps[node->n_deps++] = first;
    }
    return CUDA_SUCCESS;
}

CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from,
                                   const CUgraphNode *to, size_t n) {
    TRY("cuGraphRemoveDependencies");
    for (size_t i = 0; i < n; i++) {
        const size_t first = index_of(graph, from[i], "cuGraphRemoveDependencies");
        const size_t second = index_of(graph, to[i], "cuGraphRemoveDependencies");
        if (first == MAX_NODES || second == MAX_NODES) return CUDA_ERROR_INVALID_VALUE;
        struct CUgraphNode_st *node = &graph->nodes[second];
        const int at = find_dep(node, first);
        if (at == node->n_deps) return CUDA_ERROR_INVALID_VALUE;
        node->deps[at] = node->deps[--node->n_deps];
    }
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphAddEventRecordNode(CUgraphNode *ret, CUgraph graph,
                                          const CUgraphNode *deps, size_t n, CUevent event) {
    static const struct double_launch none = {.name = "event"};
    TRY("cuGraphAddEventRecordNode");
    if (!double_is("graph", graph, "cuGraphAddEventRecordNode") ||
        !double_is("event", event, "cuGraphAddEventRecordNode"))
        return CUDA_ERROR_INVALID_VALUE;
    if (graph->n == MAX_NODES) return CUDA_ERROR_OUT_OF_MEMORY;
    struct CUgraphNode_st *node = &graph->nodes[graph->n];
    *node = (struct CUgraphNode_st){
        graph, CU_GRAPH_NODE_TYPE_EVENT_RECORD, none, NULL, event, .n_deps = 0};
    for (size_t i = 0; i < n; i++) {
        if (i == MAX_DEPS) abort();
        const size_t dep = index_of(graph, deps[i], "cuGraphAddEventRecordNode");
        if (dep == MAX_NODES || find_dep(node, dep) < node->n_deps)
            return CUDA_ERROR_INVALID_VALUE;
        node->deps[node->n_deps++] = dep;
    }
    graph->n++;
    *ret = node;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *ret) {
    *ret = node->type;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *ret) {
    if (node->type != CU_GRAPH_NODE_TYPE_KERNEL) return CUDA_ERROR_INVALID_VALUE;
    memset(ret, 0, sizeof(*ret));
    ret->func = node->function;
    ret->gridDimX = node->launch.grid;
    ret->blockDimX = node->launch.block;
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
