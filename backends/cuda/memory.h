/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of the device. One plan is alive at a time as a rule, and nothing is allocated between
 * two of them: half of what is free is one block that each takes whole.
 */
#ifndef BACKENDS_CUDA_MEMORY_H
#define BACKENDS_CUDA_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include <cuda.h>

#include "costmodel/backend.h"

#define MEMORY_ALIGNMENT 256

struct memory_block {
    CUdeviceptr base; /* a multiple of MEMORY_ALIGNMENT */
    int64_t bytes;
    bool shared; /* it is the device's block */
};

struct memory {
    CUdeviceptr base; /* 0: not yet */
    int64_t bytes;
    bool taken;
};

/* A multiple of the alignment; DIM_OVERFLOW sticks. */
int64_t memory_align(int64_t bytes);
/* At least `least` bytes: the device's block, or, where that is too small or taken, one of its
 * own of up to `wish` bytes. */
int memory_take(struct cm_device *device, int64_t least, int64_t wish, struct memory_block *ret,
                struct cm_reason *reason);
void memory_give_back(struct cm_device *device, const struct memory_block *block);
/* The device's block, which nobody has taken. */
void memory_drop(struct cm_device *device);

#endif
