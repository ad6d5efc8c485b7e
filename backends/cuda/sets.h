/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operands in as many sets as it takes for the L2 cache to have forgotten the first one when
 * its turn comes again, in one block with the workspace at its end.
 */
#ifndef BACKENDS_CUDA_SETS_H
#define BACKENDS_CUDA_SETS_H

#include "backends/cuda/fill.h"
#include "backends/cuda/provider.h"

struct sets {
    struct memory_block block;
    int64_t bytes; /* of one */
    int64_t n;
    bool cold; /* they are more than the cache holds */
    CUdeviceptr workspace;
};

/* Memory for at least one set, filled. */
int sets_make(struct cm_device *device, const struct cm_primitive *primitive, struct sets *ret,
              struct cuda_operands *ret_first, struct cm_reason *reason);
/* Finds room for the workspace; CM_BACKEND_NO_MEMORY: there is none beside one set. */
int sets_reserve(const struct cm_device *device, struct sets *sets, int64_t workspace_bytes,
                 struct cm_reason *reason);
/* As many copies of the first set as there shall be. */
int sets_repeat(const struct cm_device *device, struct sets *sets, struct cm_reason *reason);
void sets_drop(struct cm_device *device, struct sets *sets);

/* The operands of set `index`. */
struct cuda_operands sets_at(const struct sets *sets, const struct cuda_operands *first,
                             int64_t index);

/* Fills `bytes` from an address on. */
int sets_fill(const struct cm_device *device, const struct fill *fill, CUdeviceptr at,
              int64_t bytes, struct cm_reason *reason);

#endif
