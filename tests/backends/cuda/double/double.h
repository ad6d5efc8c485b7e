/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Doubles of NVIDIA's driver and libraries. They compute nothing: device memory is host memory,
 * copies are made, and a launch advances a clock. They refuse the calls that the real libraries
 * refuse (streams, contexts, captures, launch limits, finalized descriptors, supported types)
 * and record each launch with the memory that it would read and write.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cuda.h>

#define DOUBLE_LAUNCHES 8192
#define DOUBLE_ACCESSES 12
#define DOUBLE_S        1e-5 /* seconds per launch */
#define DOUBLE_GAP      4e-6 /* seconds from a graph's launch to its first node */

/* A range of device memory that a launch reads or writes. */
struct double_access {
    uint64_t at;
    size_t bytes;
    bool writes;
};

struct double_launch {
    char name[64];
    unsigned grid, block;
    uint64_t first, last; /* addresses of the first two operands */
    double alpha, beta;   /* scaling factors of a product */
    int epilogue;         /* of a product: cublasLtEpilogue_t */
    bool captured;
    int n_accesses;
    struct double_access accesses[DOUBLE_ACCESSES];
};

struct double_state {
    /* Set by tests. */
    const char *fail; /* call that fails; NULL: none */
    int fail_after;   /* number of its calls that succeed first */
    int fail_with;
    bool loses;             /* the failure also loses the device */
    int fault_after;        /* > 0: the n-th next launch or copy fails, when it runs */
    size_t memory;          /* bytes of the device */
    bool refuse_capture;    /* launches fail during a capture */
    bool refuse_external;   /* events cannot be recorded by nodes of a graph */
    bool branches;          /* captured kernels do not depend on each other */
    bool library_allocates; /* cuBLASLt allocates at each launch */
    int driver_version;
    int sm;
    double sm_mhz;     /* SM clock */
    double slow_until; /* SM clock is 345 MHz until this device time, in seconds */
    int cache_bytes;
    int n_devices;
    int n_engines;               /* engines that cuDNN lists; 0: no plan exists */
    int max_operations;          /* larger graphs have no engine; 0: no limit */
    unsigned n_processes;        /* reported by NVML */
    unsigned long long throttle; /* reasons reported by NVML */
    int throttle_readings;       /* > 0: number of readings that report `throttle` */
    size_t cudnn_version;
    int nvrtc_first;    /* oldest architecture that NVRTC compiles for */
    int cudnn_launches; /* launches per executed plan */
    /* Read by tests. */
    double now;        /* time of the device, in seconds */
    size_t n_launches; /* recorded in order, without replays of graphs */
    struct double_launch launches[DOUBLE_LAUNCHES];
    size_t n_replays;
    size_t n_allocations; /* live */
    size_t n_allocated;   /* bytes of live allocations */
    size_t n_objects;     /* live streams, events, modules, graphs, descriptors */
    char misuse[256];     /* first call that no real library accepts; "": none */
};

/* Defined in the double of libcuda.so.1. */
extern struct double_state double_state;

/* Records a call that would be undefined behaviour or an error on a device. */
void double_misuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Returns true if call `name` must fail now; *ret is the status. */
bool double_fails(const char *name, int *ret);
/* Returns CUDA_SUCCESS if a context is current on this thread. */
CUresult double_needs_context(const char *call);

/* Creates a zeroed object of a kind such as "stream" or "layout". */
void *double_make(const char *kind, size_t size);
/* Returns true if `object` is a live object of this kind; else records a misuse. */
bool double_is(const char *kind, const void *object, const char *call);
void double_drop(const char *kind, void *object, const char *call);

/* Returns true if the range is inside one live allocation. */
bool double_is_device(uint64_t at, size_t bytes);
void double_add_access(struct double_launch *launch, const void *at, size_t bytes, bool writes);
/* Launches a kernel of a library: captures it if the stream captures, else runs it. */
CUresult double_launch(CUstream stream, const struct double_launch *launch);
/* Called by calls that are illegal during a capture: if there is one, invalidates it and
 * returns an error, else returns CUDA_SUCCESS. */
CUresult double_unsafe(void);
