/* SPDX-License-Identifier: Apache-2.0 */
/* Re-batches a model that was exported with a fixed batch.
 *
 * Exporters store the batch of the example input in constants: a Reshape's target, an Expand's
 * shape, a state tensor with a batch axis. The pass finds them by propagating N, the batch,
 * through the ordinary shape inference: each dim is known at the file's batch and at a large
 * prime, so a dim that grew by the ratio of both is a multiple of N, and any other is constant.
 * A node that does not fit has a stale operand. See docs/decisions/rebatching.md. */
#pragma once

#include "passes/batch/batch.h"
#include "passes/pass.h"
#include "passes/walk/walk.h"
#include "support/diag.h"

/* Re-batches the model to `batch`. Before, table->inputs has the shapes of the file, and axis 0
 * of input `first` is the batch. On CM_OK, the inputs, overrides, rebatched and batch of the
 * table are set for `batch`. */
int rebatch(const struct analysis *analysis, struct batch_table *table, uint32_t first,
            int64_t batch) CM_MUST_CHECK;

/* N in the second walk: a prime larger than any plausible dim. */
#define PROBE_BATCH 10007

#define CONTRADICTION 1 /* a node does not fit the choices made; positive, not an error */

/* The batch in a value: dims[axis] = outer * N * inner, in row-major order. */
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

/* A Reshape at which the batch may be on more than one axis. */
struct choice {
    size_t step;
    size_t n_changes; /* number of changes before the choice */
    size_t n;         /* alternatives */
    size_t taken;     /* index of the current alternative */
    size_t settled;   /* index of the alternative in the kept solution */
    struct op_budget budget;
    struct batch_location alternatives[SHAPE_MAX_RANK];
};

struct search {
    const struct analysis *analysis;
    const struct model *model;
    const struct op *const *ops;
    struct arena *arena;
    uint32_t first;                    /* the input that leads with the batch */
    int64_t batch;                     /* the file's own */
    struct infer_table before;         /* at the batch of the file */
    struct infer_table after;          /* at PROBE_BATCH */
    struct walk walk;                  /* fills `after` */
    const struct override **overrides; /* of `after`, by node */
    struct batch_location *places;     /* by value */
    struct change_list changes;
    size_t n_tilings; /* leading changes that are never undone: of tiled constants */
    struct choice *choices;
    size_t n_choices;
    size_t choices_capacity;
    size_t n_settled; /* leading choices that are the same as in the kept solution */
    bool unlikely; /* also try less likely places: unit axes moved by a Reshape, axes that are
                      a multiple of the batch although another has exactly its size, and
                      operands that are computed from inputs but do not hold the batch */
    bool squares;  /* accept products of the batch with itself */
    bool misfit;   /* type inference refused the last tried node */
    struct cm_diagnostics *sink; /* messages of the walk at PROBE_BATCH */
    uint32_t at_fault;     /* the node of this step, or the node in its body that failed */
    size_t deepest;        /* step of the contradiction that is latest in the file */
    uint32_t deepest_node; /* at_fault of that step */
    const char *reason;    /* message of that step; NULL if there is none yet */
    int64_t work_left;
};

/* Returns the info of the value at the batch of the file. */
static inline const struct value_info *before(const struct search *search, uint32_t value) {
    return &search->before.infos[value];
}

/* Returns the info of the value at PROBE_BATCH. */
static inline const struct value_info *after(const struct search *search, uint32_t value) {
    return &search->after.infos[value];
}

/* --- batch_axis.c: where a value holds the batch. --- */

/* Returns the power of N in the value's size: how many of its axes hold the batch; -1 if the
 * rank changed, or a dim changed by another factor. */
int batch_axis_power(const struct search *search, uint32_t value);
/* Returns the first axis of the value that holds the batch, or -1. The value may be ID_NONE. */
int batch_axis_of(const struct search *search, uint32_t value);
/* Sets the places of the outputs of a node that fits. */
void batch_axis_locate_outputs(const struct search *search, uint32_t node);
/* Returns the number of elements before the batch in row-major order, 0 if unknown. */
int64_t batch_axis_prefix(const struct search *search, uint32_t value);
/* Returns batch_location.outer of that axis, if `prefix` elements come before the batch; 0 if
 * the batch cannot be there. */
int64_t batch_axis_outer(const struct shape *shape, int axis, int64_t prefix);
/* Lists the axes of a tensor of that shape that may hold the batch, if `prefix` elements come
 * before it in row-major order. If axes have exactly the batch's size, only they are listed, or
 * with search->unlikely they come first. Returns how many. */
size_t batch_axis_places(const struct search *search, const struct shape *shape, int64_t prefix,
                         struct batch_location out[SHAPE_MAX_RANK]);
/* The same for the output of a Reshape, by the place of its operand. */
size_t batch_axis_places_after(const struct search *search, const struct node *node,
                               struct batch_location out[SHAPE_MAX_RANK]);
/* Returns true if the node is a Reshape: its target lists the dims of its output. */
bool batch_axis_is_reshape(const struct search *search, uint32_t node);
/* Returns the contents of the value if it is a list of at most SHAPE_MAX_RANK integers that are
 * equal at both batches; else NULL. The value may be ID_NONE. */
const struct constant *batch_axis_fixed_list(const struct search *search, uint32_t value);
/* Checks a node that was inferred at both batches. Its outputs must scale with the batch, the
 * batch may only vanish in a reduction or a loop over samples, and the batch axis must be known
 * at a Reshape with a fixed target. Returns NULL, or the objection (static text); then
 * *ret_node is the node at fault, which may be in a body. */
const char *batch_axis_objection(const struct search *search, uint32_t node,
                                 uint32_t *ret_node);

/* --- repair.c: one node, and the operands of it that change. --- */

/* Walks the node of a step, and makes a choice if the batch may be on several axes of its
 * output. If the node does not fit, changes operands. Returns CM_OK, CONTRADICTION with a
 * message in the sink, or CM_NO_MEMORY. */
int repair_step(struct search *search, size_t step) CM_MUST_CHECK;
/* Adds `change` for the size `batch` to overrides[change->node]. CM_OK, CM_NO_MEMORY. */
int repair_apply(const struct search *search, const struct override **overrides,
                 const struct batch_change *change, int64_t batch) CM_MUST_CHECK;
/* Appends the change to the list; without memory, only marks the arena as failed. */
void repair_push(struct arena *arena, struct change_list *list,
                 const struct batch_change *change);
/* Applies a change to its node; without memory, only marks the arena as failed. */
void repair_add(struct search *search, const struct batch_change *change);
/* Undoes all changes except the first n. */
void repair_undo(struct search *search, size_t n);
/* Drops the messages of the sink. Returns CM_OK or CM_NO_MEMORY. */
int repair_reset_sink(struct search *search) CM_MUST_CHECK;

/* --- tiling.c: products of constants that were tiled to the batch. --- */

struct tiling {
    struct change_list changes; /* where the export tiled a constant */
    uint32_t product;  /* may or may not run for each sample; ID_NONE if there is none */
    uint32_t constant; /* from which this product is computed */
    uint32_t assumed;  /* constant images that are assumed to be tiled; ID_NONE if none */
};

/* Finds where an export tiled the operands of products that do not hold the batch, for a
 * solution of the search. Appends to ret->changes. Returns CM_OK or CM_NO_MEMORY. */
int tiling_find(struct search *search, struct tiling *ret) CM_MUST_CHECK;
