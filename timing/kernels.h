/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of pass kernels and of the passes that read its table. */
#pragma once

#include "costmodel/backend.h"
#include "passes/memory/liveness.h"
#include "support/checked.h"
#include "timing/timing.h"

/* Tables that pass kernels reads. */
#define KERNELS_READS                                                                          \
    (TABLE_BIND | TABLE_BATCH | TABLE_INFER | TABLE_FUSED_PATTERNS | TABLE_LIVENESS |          \
     TABLE_COUNT)

/* Roles of the nodes of a QDQ graph in a runtime that computes its products on integers. */
enum qdq_role { QDQ_NONE, QDQ_PRODUCT, QDQ_QUANTIZES, QDQ_DEQUANTIZES };

/* Flags: who reads a value, besides the kernel that computes it. */
enum readers { READ_BY_PRODUCT = 1, READ_BY_OTHERS = 2 };

/* Empty unless a device is modelled. */
struct kernels_table {
    /* By node: */
    int64_t *read;            /* bytes that its kernel reads for the node */
    int64_t *written;         /* bytes that its kernel writes for the node */
    struct cm_fusion *fusion; /* in_graph is 0 for views and nodes counted with another node */
    uint8_t *qdq;             /* enum qdq_role */
    uint32_t *kernel;         /* the node that launches the kernel of the node */
    uint32_t *group;          /* identifies the nodes that some compiler has as one kernel */
    /* By value: */
    uint32_t *source; /* the value that it is a view of, or itself */
    bool *stored;     /* a kernel writes it to memory */
    uint8_t *outside; /* enum readers outside of its group */
    /* Of a run: */
    int64_t moved_bytes; /* inputs and outputs of the model */
    int64_t run_bytes;   /* weights, inputs and outputs of the model, each moved once */
};

pass_run pass_kernels;

/* Returns true for values in device memory that depend on the input. */
static inline bool kernels_depends_on_input(const struct timing *timing, uint32_t value) {
    if (value == ID_NONE) return false;
    const enum storage storage = timing->core.liveness->storage[value];
    return storage == STORAGE_ACTIVATION || storage == STORAGE_VIEW || storage == STORAGE_INPUT;
}

/* Adds kernels that run before or after the one of a node, and their memory traffic. */
static inline void kernels_add_extra(struct cm_fusion *fusion, int32_t n, int64_t bytes) {
    fusion->extra_kernels += n;
    checked_add_to(&fusion->extra_bytes, bytes);
}

/* Returns true if the node runs; false if it is a view or is counted with another node. */
static inline bool kernels_runs(const struct kernels_table *table, uint32_t node) {
    return table->fusion[node].in_graph != 0;
}

/* Returns true if BatchNormalizations use the statistics of the batch. */
static inline bool kernels_norms_use_batch(const struct cm_options *options) {
    return options->mode == CM_MODE_TRAINING ||
           (options->optimizer != NULL && options->mode == CM_MODE_MODEL);
}
