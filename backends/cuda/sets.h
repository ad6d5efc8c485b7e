/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of operands: so many that the first is evicted from the L2 cache before its next use.
 * One block holds them, with the workspace at its end. */
#pragma once

#include "backends/cuda/fill.h"
#include "backends/cuda/provider.h"

struct sets {
    struct memory_block block;
    int64_t bytes; /* per set */
    int64_t n;
    CUdeviceptr workspace;
};

/* Allocates room for at least one set and fills the first. *ret_first: operands of that set. */
int sets_make(struct cm_device *device, const struct cm_primitive *primitive, struct sets *ret,
              struct cuda_operands *ret_first, struct cm_reason *reason);
/* Reserves the workspace and computes sets->n. Returns CM_BACKEND_NO_MEMORY if no set fits
 * beside the workspace. */
int sets_reserve(const struct cm_device *device, struct sets *sets, int64_t workspace_bytes,
                 struct cm_reason *reason);
/* Returns true if executions that cycle through `used` sets find none of them in the cache. */
bool sets_are_cold(const struct cm_device *device, const struct sets *sets, int64_t used);
/* Copies the first set to all others. */
int sets_repeat(const struct cm_device *device, struct sets *sets, struct cm_reason *reason);
void sets_drop(struct cm_device *device, struct sets *sets);

/* Returns the operands of set `index`. */
struct cuda_operands sets_at(const struct sets *sets, const struct cuda_operands *first,
                             int64_t index);

/* Fills `bytes` bytes of device memory at address `at`. */
int sets_fill(const struct cm_device *device, const struct fill *fill, CUdeviceptr at,
              int64_t bytes, struct cm_reason *reason);
