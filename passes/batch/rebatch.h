/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Re-batches a model that was exported with a fixed batch.
 *
 * Exporters store the batch of the example input in constants: a Reshape's target, an Expand's
 * shape, a state tensor with a batch axis. The pass finds them by walking twice, at the file's
 * batch and at a large prime one: a dim that grew by exactly that factor holds the batch, and
 * an operator that no longer fits has a stale constant. The row-major order of the elements
 * decides which dim gets the new factor: with the target [128,8,32], [128,N,256] becomes
 * [128,8*N,32], not [N*128,8,32]. If two places are possible, the rest of the model decides: a
 * place is accepted only if every later operator fits with it, and with no other place. An
 * undecided place is an error, never a guess. See docs/decisions/rebatching.md.
 */
#ifndef PASSES_BATCH_REBATCH_H
#define PASSES_BATCH_REBATCH_H

#include "passes/batch/batch.h"
#include "passes/batch/batch_axis.h"
#include "passes/pass.h"
#include "support/diag.h"

/* Re-batches the model to `batch`. Before, table->inputs has the shapes of the file, and axis 0
 * of input `first` is the batch. On CM_OK, the inputs, overrides, rebatched and batch of the
 * table are set for `batch`. */
int rebatch(const struct analysis *analysis, struct batch_table *table, uint32_t first,
            int64_t batch) CM_MUST_CHECK;

/* --- The search: rebatch.c. Each of its steps, at one node: rebatch_step.c. --- */

#define CONTRADICTION 1 /* a node does not fit the choices made; positive, not an error */

/* A node at which the batch may be on more than one axis. */
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
    struct probe probe;
    struct infer_table before; /* at the batch of the file */
    struct infer_table after;  /* at PROBE_BATCH */
    struct change_list changes;
    size_t n_tilings; /* leading changes that are never undone: of tiled constants */
    struct choice *choices;
    size_t n_choices;
    size_t choices_capacity;
    size_t n_settled;            /* leading choices that are the same as in the kept solution */
    struct cm_diagnostics *sink; /* messages of the walk at PROBE_BATCH */
    bool misfit;                 /* type inference refused the last tried node */
    uint32_t at_fault;     /* the node of this step, or the node in its body that failed */
    size_t deepest;        /* step of the contradiction that is latest in the file */
    uint32_t deepest_node; /* at_fault of that step */
    const char *reason;    /* message of that step; NULL if there is none yet */
    int64_t steps_left;    /* node walks */
    int64_t refunds_left;  /* elements that may still be refunded to the fold budget */
};

/* Returns the node walked at that step. */
static inline uint32_t node_at(const struct search *search, size_t step) {
    return search->analysis->model->graphs[0].nodes[step];
}

/* Returns the info of the value at the batch of the file. */
static inline const struct value_info *before(const struct search *search, uint32_t value) {
    return &search->before.infos[value];
}

/*
 * Walks the node of a step, and makes a choice if the batch may be on several axes of its
 * output. If the node does not fit, changes an operand: a list of dims, a state or the trip
 * count of a loop, or a constant that was tiled to the batch. Returns CM_OK, CONTRADICTION with
 * a message in the sink, or CM_NO_MEMORY.
 */
int rebatch_step(struct search *search, size_t step) CM_MUST_CHECK;
/* Applies a change to its node; without memory, only marks the arena as failed. */
void rebatch_add_change(struct search *search, const struct batch_change *change);
/* Undoes all changes except the first n. */
void rebatch_undo_changes(struct search *search, size_t n);
/* Drops the messages of the sink. Returns CM_OK or CM_NO_MEMORY. */
int rebatch_reset_sink(struct search *search) CM_MUST_CHECK;

#endif
