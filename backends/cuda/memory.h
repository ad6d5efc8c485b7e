/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory. Usually one plan exists at a time, so half of the free memory is allocated
 * once as a shared block that each plan takes as a whole. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <cuda.h>

#include "costmodel/backend.h"

#define MEMORY_ALIGNMENT 256

struct memory_block {
    CUdeviceptr base; /* multiple of MEMORY_ALIGNMENT */
    int64_t bytes;
    bool shared; /* true for the shared block */
};

/* The shared block. */
struct memory {
    CUdeviceptr base; /* 0 if not allocated */
    int64_t bytes;
    bool taken; /* a plan uses it */
};

/* Returns `bytes` rounded up to MEMORY_ALIGNMENT; DIM_OVERFLOW if that overflows. */
int64_t memory_align(int64_t bytes);
/* Takes at least `least` bytes: the shared block or, if it is too small or taken, a private
 * block of up to `wish` bytes. CM_BACKEND_NO_MEMORY if `least` exceeds limit or free memory. */
int memory_take(struct cm_device *device, int64_t least, int64_t wish, struct memory_block *ret,
                struct cm_reason *reason);
/* Takes a private block in any case. */
int memory_take_private(struct cm_device *device, int64_t least, int64_t wish,
                        struct memory_block *ret, struct cm_reason *reason);
void memory_give_back(struct cm_device *device, const struct memory_block *block);
/* Frees the shared block, which must not be taken. */
void memory_drop(struct cm_device *device);
