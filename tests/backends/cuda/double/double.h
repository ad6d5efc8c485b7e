/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that the doubles of NVIDIA's libraries recorded, and the switches that make them fail.
 * Nothing runs in them: memory is the host's, copies are made, a launch only advances a clock
 * of their own.
 */
#ifndef TESTS_BACKENDS_CUDA_DOUBLE_H
#define TESTS_BACKENDS_CUDA_DOUBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DOUBLE_LAUNCHES 8192
#define DOUBLE_S        1e-5 /* of a launch */

struct double_launch {
    char name[64];
    unsigned grid, block;
    uint64_t first,
        last; /* addresses of the first operand and of one more (kernels: the next) */
    bool captured;
};

struct double_state {
    /* To be set. */
    const char *fail; /* the call that fails; NULL: none */
    int fail_after;   /* so many calls of it succeed before */
    int fail_with;
    bool loses;          /* and with that the device is lost */
    size_t memory;       /* bytes that there are */
    bool refuse_capture; /* launches fail while one is on */
    int driver_version;
    int n_devices;
    unsigned n_processes; /* that NVML tells */
    unsigned long long throttle;
    /* To be read. */
    size_t n_launches; /* in order, replays not among them */
    struct double_launch launches[DOUBLE_LAUNCHES];
    size_t n_replays;
    bool unordered;       /* a copy to the device went past the streams */
    size_t n_allocations; /* that live */
    size_t n_allocated;   /* bytes of them */
    size_t n_objects;     /* streams, events, modules, graphs, descriptors that live */
    uint64_t last_base;   /* of the allocation before */
};

/* The symbol `double_state` of libcuda.so.1. */
extern struct double_state double_state;

/* Whether call `name` is to fail now; *ret is with what. For the other doubles. */
bool double_fails(const char *name, int *ret);
void double_launched(const char *name, unsigned grid, unsigned block, uint64_t first,
                     uint64_t last);

#endif
