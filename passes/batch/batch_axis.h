/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries of rebatch.c about one node: which axis of each value holds the batch, and which axis
 * holds it after a Reshape or a change of a constant operand.
 */
#ifndef PASSES_BATCH_BATCH_AXIS_H
#define PASSES_BATCH_BATCH_AXIS_H

#include "passes/walk/walk.h"

/* Batch of the second walk: a prime larger than any plausible dim, so that a dim holds the
 * batch if it grows by the same factor. */
#define PROBE_BATCH 10007

/* The batch in a value: dims[axis] = outer * batch * inner, in row-major order. */
struct batch_location {
    int axis;      /* -1 if the value does not hold the batch */
    int64_t outer; /* 0 if unknown */
};

/* An operand that changes with the batch, at element or axis `axis`. */
struct batch_change {
    uint32_t node;
    uint32_t slot;
    bool is_target; /* the operand's elements list `dims`; else `dims` is its shape */
    int axis;
    const struct shape *dims; /* at the file's batch */
};

struct change_list {
    struct batch_change *items;
    size_t n;
    size_t capacity;
};

struct probe {
    const struct model *model;
    const struct op *const *ops;
    int64_t batch; /* the file's own */
    bool unlikely; /* also try less likely places: unit axes moved by a Reshape, axes that are a
                      multiple of the batch although another has exactly its size, and operands
                      that are computed from inputs but do not hold the batch */
    bool squares;  /* accept products of the batch with itself */
    struct walk before;  /* at the file's batch */
    struct walk after;   /* at PROBE_BATCH */
    int64_t trials_left; /* budget of trial walks, in operands of nodes; negative: exceeded */
    const struct override **overrides; /* of `after`, by node */
    struct batch_location *places;     /* by value */
    uint32_t assumed; /* constant images that are assumed to be tiled; ID_NONE if none */
    struct arena *arena;
};

/*
 * Checks a node that was inferred at both batches. Its outputs must scale with the batch, the
 * batch may only vanish in a reduction or a loop over samples, and the batch axis must be known
 * at a Reshape with a fixed target. Returns NULL, or the objection (static text); then
 * *ret_node is the node at fault, which may be in a body.
 */
const char *batch_axis_objection(const struct probe *probe, uint32_t node, uint32_t *ret_node);
/* Sets probe->places of the node's outputs. */
void batch_axis_locate_outputs(struct probe *probe, uint32_t node);
/* Adds `change` for the batch size `batch` to overrides[change->node]. Returns CM_OK or
 * CM_NO_MEMORY. */
int batch_axis_apply(const struct probe *probe, const struct override **overrides,
                     const struct batch_change *change, int64_t batch) CM_MUST_CHECK;

/*
 * Lists where the batch of operand 0 may be in the output of a Reshape (a node whose target
 * lists the output's dims), by row-major order; at most one place per axis. Returns how many.
 */
size_t batch_axis_candidates(const struct probe *probe, uint32_t node,
                             struct batch_location out[SHAPE_MAX_RANK]);
/* Lists where the batch may be in a tensor of that shape, if `prefix` elements come before the
 * batch in row-major order. Returns how many. */
size_t batch_axis_locations_in(const struct probe *probe, const struct shape *shape,
                               int64_t prefix, struct batch_location out[SHAPE_MAX_RANK]);
/* Appends the change to the list; without memory, only marks the arena as failed. */
void batch_axis_push(struct arena *arena, struct change_list *list,
                     const struct batch_change *change);

/* Returns the power of the batch in the value's size: how many of its axes grew by the batch's
 * factor; -1 if the rank changed, or a dim changed by another factor. */
int batch_axis_power(const struct probe *probe, uint32_t value);
/* Returns the contents of the value if it is a list of at most SHAPE_MAX_RANK integers that are
 * equal at both batches; else NULL. */
const struct constant *batch_axis_fixed_list(const struct probe *probe, uint32_t value);
/* Returns the axis of the value that scales with the batch, or -1. */
int batch_axis_grown_axis(const struct probe *probe, uint32_t value);
/* Returns true if the contents of the value are equal at both batches. */
bool batch_axis_is_fixed(const struct probe *probe, uint32_t value);
/* Finds an operand whose contents list dims, one of which scales with the batch. Sets *ret to
 * the dims at the file's batch. Returns the axis of the scaled dim, or -1. */
int batch_axis_grown_list(const struct probe *probe, uint32_t node, struct shape *ret);
/*
 * Finds an operand that lists the dims of output 0 (of Expand, Resize) with the file's batch on
 * the axis where another operand holds the batch. Sets *ret to the change that would scale the
 * listed dim. Returns false if there is none.
 */
bool batch_axis_listed_dims(const struct probe *probe, uint32_t node, struct batch_change *ret);

/* --- constant_products.c: products of constants that were tiled to the batch. --- */

struct tiling_search;

/*
 * Finds where an export tiled the constant operands of products, and appends the change that
 * scales each of these places to `tilings`. `probe` must be at a solution of the search
 * (rebatch.c) at PROBE_BATCH, and `changes` be the changes of this solution. Sets *ret to the
 * state for constant_products_undecided; NULL without a product of constants. Returns
 * CM_OK or CM_NO_MEMORY.
 */
int constant_products_find(struct probe *probe, const struct change_list *changes,
                           struct change_list *tilings,
                           struct tiling_search **ret) CM_MUST_CHECK;
/*
 * Call after the last constant_products_find. Returns the id of a node that computes or depends
 * on a product of constants and may or may not run for each sample; ID_NONE if none. Sets
 * *ret_constant to the id of the value that may have been tiled.
 */
uint32_t constant_products_undecided(const struct tiling_search *search,
                                     uint32_t *ret_constant);

#endif
