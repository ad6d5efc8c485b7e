/* SPDX-License-Identifier: Apache-2.0 */
/* Double of libcuda.so.1: errors, objects, device, contexts, streams, events. One device. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define MAX_OBJECTS 65536

struct CUevent_st {
    unsigned flags;
    double time;
    int stream;    /* 0: never recorded */
    uint64_t step; /* complete once the stream is complete up to this step */
    bool captured; /* recorded as an edge of a capture, so it has no time */
};

EXPORT struct double_state double_state = {.memory = (size_t)64 << 20,
                                           .driver_version = 13000,
                                           .sm = 90,
                                           .cudnn_version = 90100,
                                           .cudnn_launches = 1,
                                           .sm_mhz = 1500,
                                           .cache_bytes = 1 << 20,
                                           .n_devices = 1,
                                           .n_processes = 1};

uint64_t double_synced[MAX_STREAMS];
uint64_t double_step;
double double_now;

static bool lost, begun;
static int lost_with, n_streams = NULL_STREAM, n_retained;
static _Thread_local CUcontext current;
static uint64_t faulty_step; /* step whose work fails; 0: none */

static struct {
    const char *kind;
    void *object;
} objects[MAX_OBJECTS];
static size_t n_objects;

EXPORT void double_misuse(const char *format, ...) {
    va_list args;
    if (double_state.misuse[0] != '\0') return;
    va_start(args, format);
    (void)vsnprintf(double_state.misuse, sizeof(double_state.misuse), format, args);
    va_end(args);
}

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

/* After an error that breaks the context, all later calls fail. */
CUresult driver_fails(const char *name) {
    int with = 0;
    if (lost) return (CUresult)lost_with;
    if (!double_fails(name, &with)) return CUDA_SUCCESS;
    lost = with == CUDA_ERROR_ILLEGAL_ADDRESS;
    lost_with = with;
    return (CUresult)with;
}

CUresult driver_settle(void) {
    if (faulty_step == 0) return CUDA_SUCCESS;
    faulty_step = 0;
    lost = true;
    lost_with = CUDA_ERROR_ILLEGAL_ADDRESS;
    return CUDA_ERROR_ILLEGAL_ADDRESS;
}

EXPORT void *double_make(const char *kind, size_t size) {
    void *object = calloc(1, size);
    if (object == NULL || n_objects == MAX_OBJECTS) abort();
    objects[n_objects].kind = kind;
    objects[n_objects++].object = object;
    double_state.n_objects++;
    return object;
}

static size_t find_object(const char *kind, const void *object) {
    for (size_t i = n_objects; i-- > 0;)
        if (objects[i].object == object && strcmp(objects[i].kind, kind) == 0) return i;
    return MAX_OBJECTS;
}

EXPORT bool double_is(const char *kind, const void *object, const char *call) {
    if (find_object(kind, object) < MAX_OBJECTS) return true;
    double_misuse("%s: not a live %s", call, kind);
    return false;
}

EXPORT void double_drop(const char *kind, void *object, const char *call) {
    const size_t at = find_object(kind, object);
    if (at == MAX_OBJECTS) {
        double_misuse("%s: not a live %s", call, kind);
        return;
    }
    free(object);
    objects[at] = objects[--n_objects];
    double_state.n_objects--;
}

EXPORT CUresult double_needs_context(const char *call) {
    if (!begun) {
        double_misuse("%s before cuInit", call);
        return CUDA_ERROR_NOT_INITIALIZED;
    }
    if (current == NULL || n_retained == 0) {
        double_misuse("%s without a current context", call);
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    return CUDA_SUCCESS;
}

EXPORT CUresult cuInit(unsigned flags) {
    lost = false;
    faulty_step = 0;
    TRY("cuInit");
    begun = flags == 0;
    return begun ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

EXPORT CUresult cuDriverGetVersion(int *ret) {
    *ret = double_state.driver_version;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGetErrorName(CUresult result, const char **ret) {
    static const struct {
        CUresult result;
        const char *name;
    } names[] = {{CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                 {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
                 {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE"},
                 {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY"},
                 {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT"},
                 {(CUresult)226, "CUDA_ERROR_CONTAINED"},
                 {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"}};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (names[i].result != result) continue;
        *ret = names[i].name;
        return CUDA_SUCCESS;
    }
    *ret = NULL;
    return CUDA_ERROR_INVALID_VALUE;
}

EXPORT CUresult cuGetErrorString(CUresult result, const char **ret) {
    return cuGetErrorName(result, ret);
}

static CUresult check_device(CUdevice device) {
    if (!begun) return CUDA_ERROR_NOT_INITIALIZED;
    return device >= 0 && device < double_state.n_devices ? CUDA_SUCCESS
                                                          : CUDA_ERROR_INVALID_DEVICE;
}

EXPORT CUresult cuDeviceGet(CUdevice *ret, int ordinal) {
    *ret = ordinal;
    return check_device(ordinal);
}

EXPORT CUresult cuDeviceGetCount(int *ret) {
    if (!begun) return CUDA_ERROR_NOT_INITIALIZED;
    *ret = double_state.n_devices;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetName(char *ret, int size, CUdevice device) {
    (void)snprintf(ret, (size_t)size, "a double");
    return check_device(device);
}

EXPORT CUresult cuDeviceGetAttribute(int *ret, CUdevice_attribute which, CUdevice device) {
    *ret = which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR         ? double_state.sm / 10
           : which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR       ? double_state.sm % 10
           : which == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT           ? 4
           : which == CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR ? 2048
           : which == CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE           ? double_state.cache_bytes
           : which == CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE       ? 3201000
           : which == CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH ? 6144
                                                                  : 0;
    return check_device(device);
}

EXPORT CUresult cuDeviceTotalMem(size_t *ret, CUdevice device) {
    *ret = double_state.memory;
    return check_device(device);
}

EXPORT CUresult cuDeviceGetPCIBusId(char *ret, int size, CUdevice device) {
    (void)snprintf(ret, (size_t)size, "0000:1B:00.0");
    return check_device(device);
}

EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *ret, CUdevice device) {
    TRY("cuDevicePrimaryCtxRetain");
    if (check_device(device) != CUDA_SUCCESS) return check_device(device);
    *ret = (CUcontext)&double_state;
    n_retained++;
    double_state.n_objects++;
    return CUDA_SUCCESS;
}

/* The last release ends the context. Objects that are still live then are a misuse. */
EXPORT CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
    (void)device;
    if (n_retained == 0) return CUDA_ERROR_INVALID_CONTEXT;
    double_state.n_objects--;
    if (--n_retained > 0) return CUDA_SUCCESS;
    if (n_objects > 0)
        double_misuse("cuDevicePrimaryCtxRelease: a %s is live", objects[0].kind);
    if (double_state.n_allocations > 0)
        double_misuse("cuDevicePrimaryCtxRelease: an allocation is live");
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxSetCurrent(CUcontext context) {
    TRY("cuCtxSetCurrent");
    if (context != NULL && context != (CUcontext)&double_state)
        return CUDA_ERROR_INVALID_CONTEXT;
    current = context;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamCreate(CUstream *ret, unsigned flags) {
    TRY("cuStreamCreate");
    const CUresult ready = double_needs_context("cuStreamCreate");
    if (ready != CUDA_SUCCESS) return ready;
    if (++n_streams == MAX_STREAMS) abort();
    CUstream stream = double_make("stream", sizeof(*stream));
    *stream = (struct CUstream_st){.number = n_streams, .flags = flags};
    *ret = stream;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamDestroy(CUstream stream) {
    double_drop("stream", stream, "cuStreamDestroy");
    return CUDA_SUCCESS;
}

CUresult driver_stream(const char *call, CUstream stream, int *ret_number) {
    const CUresult ready = double_needs_context(call);
    *ret_number = NULL_STREAM;
    if (ready != CUDA_SUCCESS || stream == NULL) return ready;
    if (!double_is("stream", stream, call)) return CUDA_ERROR_INVALID_HANDLE;
    *ret_number = stream->number;
    return CUDA_SUCCESS;
}

void driver_run(void) {
    double_now += DOUBLE_S;
    double_step++;
    if (double_state.fault_after > 0 && --double_state.fault_after == 0)
        faulty_step = double_step;
}

EXPORT CUresult cuStreamSynchronize(CUstream stream) {
    int number = 0;
    TRY("cuStreamSynchronize");
    CUresult result = driver_stream("cuStreamSynchronize", stream, &number);
    if (result != CUDA_SUCCESS) return result;
    result = graph_refuse(stream);
    if (result != CUDA_SUCCESS) return result;
    double_synced[number] = double_step;
    return driver_settle();
}

EXPORT CUresult cuEventCreate(CUevent *ret, unsigned flags) {
    TRY("cuEventCreate");
    const CUresult ready = double_needs_context("cuEventCreate");
    if (ready != CUDA_SUCCESS) return ready;
    *ret = double_make("event", sizeof(**ret));
    (*ret)->flags = flags;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuEventDestroy(CUevent event) {
    double_drop("event", event, "cuEventDestroy");
    return CUDA_SUCCESS;
}

void driver_record(CUevent event, int stream) {
    event->time = double_now;
    event->stream = stream;
    event->step = double_step;
    event->captured = false;
}

static CUresult record(const char *call, CUevent event, CUstream stream, bool external) {
    static const struct double_launch none = {.name = "event"};
    struct CUgraph_st *graph = NULL;
    int number = 0;
    CUresult result = driver_stream(call, stream, &number);
    if (result != CUDA_SUCCESS) return result;
    if (!double_is("event", event, call)) return CUDA_ERROR_INVALID_HANDLE;
    result = graph_of_stream(stream, &graph);
    if (result != CUDA_SUCCESS) return result;
    if (graph != NULL && external && double_state.refuse_external) return double_unsafe();
    if (graph != NULL && external)
        return graph_add(graph, CU_GRAPH_NODE_TYPE_EVENT_RECORD, &none, NULL, event);
    driver_record(event, number);
    event->captured = graph != NULL;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
    TRY("cuEventRecordWithFlags");
    return record("cuEventRecordWithFlags", event, stream,
                  (flags & CU_EVENT_RECORD_EXTERNAL) != 0);
}

EXPORT CUresult cuEventSynchronize(CUevent event) {
    TRY("cuEventSynchronize");
    if (!double_is("event", event, "cuEventSynchronize")) return CUDA_ERROR_INVALID_HANDLE;
    if (event->captured) return CUDA_ERROR_CAPTURED_EVENT;
    if (event->stream == 0) return CUDA_SUCCESS;
    if (double_synced[event->stream] < event->step) double_synced[event->stream] = event->step;
    return driver_settle();
}

static CUresult check_timed(CUevent event) {
    if (!double_is("event", event, "cuEventElapsedTime") || event->stream == 0 ||
        event->captured || (event->flags & CU_EVENT_DISABLE_TIMING) != 0)
        return CUDA_ERROR_INVALID_HANDLE;
    return double_synced[event->stream] < event->step ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

/* Exported under its plain name, which the header redefines: see CUDA_DRIVER_PLAIN. */
#undef cuEventElapsedTime
EXPORT CUresult cuEventElapsedTime(float *ret, CUevent begin, CUevent end);
CUresult cuEventElapsedTime(float *ret, CUevent begin, CUevent end) {
    TRY("cuEventElapsedTime");
    CUresult result = check_timed(begin);
    if (result == CUDA_SUCCESS) result = check_timed(end);
    if (result == CUDA_SUCCESS) *ret = (float)(1e3 * (end->time - begin->time));
    return result;
}
