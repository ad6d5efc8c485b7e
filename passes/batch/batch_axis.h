/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The axis on which each value holds the batch, and how a Reshape or a constant operand carries
 * it on: the queries of rebatch.c about one node.
 */
#ifndef PASSES_BATCH_BATCH_AXIS_H
#define PASSES_BATCH_BATCH_AXIS_H

#include "passes/infer/walk.h"

/* A prime larger than any plausible dim: a multiple of it in the second walk is the batch. */
#define PROBE_BATCH 10007

/* The batch in a value: dims[axis] = outer * batch * inner, in row-major order. */
struct batch_place {
    int axis;      /* -1 if the value does not hold the batch */
    int64_t outer; /* 0 if unknown */
};

/* A possible place of the batch in the target of a Reshape. */
struct batch_candidate {
    int axis;
    int64_t outer;
};

/* An operand that changes with the batch, at element or axis `axis`. */
struct batch_change {
    uint32_t node;
    uint32_t slot;
    bool is_target; /* the operand's elements list `dims`; else `dims` is its shape */
    int axis;
    const struct shape *dims; /* at the file's batch */
};

struct probe {
    const struct model *model;
    const struct op *const *ops;
    int64_t batch;                     /* the file's own */
    struct walk before;                /* at the file's batch */
    struct walk after;                 /* at PROBE_BATCH */
    const struct override **overrides; /* of `after`, by node */
    struct batch_place *places;        /* by value */
    struct arena *arena;
};

/*
 * Returns why the node, though inferred at both batches, cannot be right (static text), or
 * NULL. Its outputs must scale with the batch, the batch may not vanish in a product or behind
 * a fixed size, and the batch axis must be known at a Reshape with a fixed target.
 */
const char *batch_axis_objection(const struct probe *probe, uint32_t node);
/* Sets probe->places of the node's outputs. */
void batch_axis_place_outputs(struct probe *probe, uint32_t node);
/* Adds `change`, at batch `batch`, to overrides[change->node]. CM_OK or CM_NO_MEMORY. */
int batch_axis_apply(const struct probe *probe, const struct override **overrides,
                     const struct batch_change *change, int64_t batch) CM_MUST_CHECK;

/*
 * Lists where the batch of operand 0 may be in the output of a node whose target lists the
 * output's dims, by row-major order; at most one place per axis. Returns how many.
 */
size_t batch_axis_candidates(const struct probe *probe, uint32_t node,
                             struct batch_candidate out[SHAPE_MAX_RANK]);
/* Returns the axis of the value that scales with the batch, or -1. */
int batch_axis_grown_axis(const struct probe *probe, uint32_t value);
/* Returns true if the contents of the value are equal at both batches. */
bool batch_axis_is_fixed(const struct probe *probe, uint32_t value);
/*
 * Finds an operand that lists the dims of output 0 (of Expand, Resize) with the file's batch on
 * the axis where another operand holds it. Sets *ret to the change that would scale it.
 */
bool batch_axis_listed_dims(const struct probe *probe, uint32_t node, struct batch_change *ret);

#endif
