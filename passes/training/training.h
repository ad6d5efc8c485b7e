/* SPDX-License-Identifier: Apache-2.0 */
/* Data shared by the parts of pass training; docs/training.md has the formulas. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "passes/cost/count.h"
#include "passes/pass.h"
#include "support/checked.h"

/* Tables that pass training reads. */
#define TRAINING_READS                                                                         \
    (TABLE_BIND | TABLE_BATCH | TABLE_INFER | TABLE_FUSED_PATTERNS | TABLE_LIVENESS |          \
     TABLE_PARAMS | TABLE_COUNT | TABLE_MODULES)

enum training_phase {
    PHASE_FORWARD,
    PHASE_RECOMPUTE, /* of a checkpointed module, during backward */
    PHASE_BACKWARD,
    PHASE_STEP, /* optimizer update */
};

/* The contents of a block of device memory during a training step. */
enum training_part {
    PART_ACTIVATION, /* an output, or the gradient of one */
    PART_SAVED,      /* kept from forward to backward */
    PART_HELD,       /* an input or output of the model, held until the next step */
    PART_CAST,       /* a copy in another dtype, kept for backward */
    PART_GRADIENT,   /* of a parameter */
    N_TRAINING_PARTS
};

/* Bytes that are alive from event `from` to event `to` of the step, inclusive. */
struct training_block {
    enum training_part part;
    uint32_t from;
    uint32_t to;
    int64_t bytes;
    uint32_t users; /* of a gradient, while blocks are listed: further values that share it */
    uint32_t node;  /* makes the bytes, or has this gradient; ID_NONE: an unused input */
};

/* One training step. Figures may be DIM_UNKNOWN or DIM_OVERFLOW. */
struct training_table {
    const struct optimizer *optimizer; /* NULL: no step is requested; all else is unset */
    int64_t learned;                   /* elements that the optimizer updates */
    int64_t frozen;                    /* elements of frozen parameters */
    int64_t weight_bytes;              /* params and buffers */
    int64_t gradient_bytes;            /* of params */
    int64_t optimizer_bytes;           /* states on the device */
    int64_t host_bytes;                /* states that the host keeps */
    int64_t update_bytes;              /* temporaries of the optimizer's update */
    int64_t master_bytes;         /* of a sharded step: fp32 copies of weights of 16 bits */
    int64_t gather_bytes;         /* weights and gradients of the module that is gathered */
    int64_t whole_gradient_bytes; /* of gradient_bytes: those that are blocks of the step */
    int64_t held_bytes; /* alive throughout: weights, states, copies, all other gradients */
    int64_t weight_copy_bytes; /* of saved_bytes: copies of weights that autocast caches */
    int64_t saved_bytes;       /* saved for backward */
    int64_t backward_macs;
    int64_t backward_flops; /* by the convention */
    int64_t recompute_macs;
    int64_t recompute_flops;
    int64_t recompute_int_ops;
    int64_t step_flops;
    int64_t iteration_flops;   /* total, including forward */
    int64_t iteration_int_ops; /* total; integers have no gradient */
    int64_t peak_bytes;        /* maximum over all events of the step */
    uint32_t peak_node;        /* ID_NONE if no node runs at the peak */
    enum training_phase peak_phase;
    /* The step as a sequence of events: forward from event 1, backward from `first_back`. */
    uint32_t n_events; /* the last is n_events - 1 */
    uint32_t first_back;
    uint32_t *node_at; /* by event */
    size_t n_blocks;
    struct training_block *blocks; /* without weights and optimizer states */
    struct cm_step *of_node;       /* by node */
    struct cm_step *of_module;     /* by module, including children */
    const struct training *flow;   /* operations and gradients (passes/training/training.h) */
};

pass_run pass_training;

/* A node in a training step. A fused pattern with a gradient of its own is one operation,
 * stored at its last node. */
struct operation {
    const struct op *op;
    const char *saved_for_backward; /* cells (ops/op.h) of the operator, or of this node */
    const struct node *node;        /* operands and outputs of the operation; NULL for all nodes
                                       of a fused pattern but the last */
    uint32_t pattern_last;  /* last node of its fused pattern; the node itself if none */
    uint32_t region;        /* index into regions; ID_NONE: not checkpointed */
    uint32_t forward;       /* event of the forward pass */
    uint32_t recomputation; /* event of the recomputation, if its region has one */
    uint32_t backward;      /* event of the backward pass */
    bool has_backward;      /* it computes a gradient */
    int64_t extra;   /* bytes saved for backward besides values (log-sum-exp of attention) */
    uint64_t copied; /* operands of which it saves a copy in another dtype, as bits */
    int64_t copies;  /* bytes of these copies */
};

/* Consecutive nodes of one checkpointed module, which saves only its inputs. */
struct region {
    uint32_t first, last; /* steps of the schedule */
    bool is_recomputed;   /* an operation in it has a backward pass, so all are recomputed */
};

/* The order of a tensor's elements in memory. */
enum training_layout {
    LAYOUT_ROW_MAJOR,
    LAYOUT_STRIDED,    /* a view that is not row-major */
    LAYOUT_HEADS_LAST, /* output [batch, heads, length, width] of fused attention, which a
                          kernel writes so that its Transpose is row-major */
};

struct training {
    const struct analysis *analysis;
    const struct model *model;
    struct training_table *table;
    bool *frozen;         /* by param */
    uint32_t *checkpoint; /* by module: the outermost checkpointed module that contains it, or
                             itself; ID_NONE if none */
    struct operation *operations; /* by node */
    size_t n_regions;
    struct region *regions;
    uint32_t *root;  /* by value: the value whose bytes it shares in a framework, or itself */
    uint8_t *layout; /* by value: enum training_layout */
    bool *requires_grad; /* by value: it depends on a learned parameter that is not frozen */
    bool *reached;       /* by value: a gradient of the loss reaches it */
    int64_t *bytes;      /* by value: owned during a step; 0 for views and parameters */
};

/* Sets `operations`, `root`, `layout` and `bytes`, and finds where gradients flow. */
int training_flow(struct training *training) CM_MUST_CHECK;
/* Sets the bytes of one GPU, and held_bytes. `buffer_bytes`: those of buffers in weights. */
int training_shard(struct training *training, int64_t buffer_bytes) CM_MUST_CHECK;
/* Computes saved bytes and the peak of the step. */
int training_steps(struct training *training) CM_MUST_CHECK;

struct op_source;
struct op_context;
/* Makes the context of an operation: of the node, or of its fused pattern. */
int training_context(const struct training *training, const struct op_source *source,
                     uint32_t node, struct op_context *ret) CM_MUST_CHECK;
/* Returns true if the operand requires a gradient and the operator has one for it. Does not
 * test whether a gradient reaches the operation: see has_backward. */
bool training_needs_gradient(const struct training *training, const struct operation *operation,
                             size_t slot);
/* Returns the operands that require a gradient, as bits; the first 32. */
uint32_t training_gradients(const struct training *training, const struct operation *operation);
/* Returns true if the forward pass of the operation runs again during backward. */
static inline bool training_is_recomputed(const struct training *training,
                                          const struct operation *operation) {
    return operation->region != ID_NONE && training->regions[operation->region].is_recomputed;
}
/* Returns how often the graph runs in the forward passes of a step. */
static inline int64_t training_runs(const struct training *training, uint32_t graph) {
    return training->analysis->count->runs[graph];
}
/* Returns how often the graph runs in the forward pass of one micro-batch. */
static inline int64_t training_runs_once(const struct training *training, uint32_t graph) {
    return checked_div_floor(training_runs(training, graph),
                             pass_micro_batches(training->analysis));
}
