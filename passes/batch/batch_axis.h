/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the batch lies in each value, and how a Reshape or a constant operand carries it on:
 * the local questions of rebatch.h, about one node at a time.
 */
#ifndef PASSES_BATCH_BATCH_AXIS_H
#define PASSES_BATCH_BATCH_AXIS_H

#include "passes/infer/walk.h"

/*
 * A prime larger than any plausible dim, so that a dim of the second walk that is a multiple of
 * it got it from the batch.
 */
#define PROBE_BATCH 10007

/* The batch in a value: dims[axis] = outer * batch * inner, in row-major order. */
struct batch_place {
    int axis;      /* -1: the value does not hold it */
    int64_t outer; /* 0: cannot be told */
};

/* A possible place in a Reshape's target. */
struct batch_candidate {
    int axis;
    int64_t outer;
};

/* One operand that must change with the batch: element or axis `axis`, `from` at the file's
 * batch. */
struct batch_change {
    uint32_t node;
    uint32_t slot;
    bool is_target; /* the operand's value spells the dims `dims`; else it is its own shape */
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
 * Why the node cannot be right although its rule took its operands at both batches: a sentence
 * in static storage, NULL where nothing speaks against it. Its outputs must grow with the batch
 * alone, the batch may not vanish in a product or behind a size that was baked in, and a target
 * may not hide where it lies.
 */
const char *batch_axis_objection(const struct probe *probe, uint32_t node);
/* Notes where the batch lies in the node's outputs. */
void batch_axis_place_outputs(struct probe *probe, uint32_t node);
/* Puts `change` in force at batch `batch` (overrides[change->node]); CM_OK, CM_NO_MEMORY. */
int batch_axis_apply(const struct probe *probe, const struct override **overrides,
                     const struct batch_change *change, int64_t batch) CM_MUST_CHECK;

/*
 * For a node whose target spells the output's dims: the places at which the batch of operand 0
 * may come to lie in the output, by row-major order alone. At most one an axis.
 */
size_t batch_axis_candidates(const struct probe *probe, uint32_t node,
                             struct batch_candidate out[SHAPE_MAX_RANK]);
/* The output axis that grew when the node was walked with the target that stands; -1: none. */
int batch_axis_grown_axis(const struct probe *probe, uint32_t value);
/* Whether a value that the walks folded is the same at both batches, or stands in the file. */
bool batch_axis_stands(const struct probe *probe, uint32_t value);
/*
 * An operand that lists the dims of output 0 (of Expand, of Resize) with the file's batch on
 * the axis where another operand holds it: the change that would take it along. False: none.
 */
bool batch_axis_listed_dims(const struct probe *probe, uint32_t node, struct batch_change *ret);

#endif
