/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One walk over a model: shape inference, and constant folding of shape arithmetic. They are
 * one walk because a Reshape's shape is a folded constant. Pass infer walks once; pass batch
 * walks at the file's own batch and at another one to compare them.
 */
#ifndef PASSES_INFER_WALK_H
#define PASSES_INFER_WALK_H

#include "ops/op_context.h"
#include "passes/pass.h"

struct walk {
    const struct model *model;
    const struct op *const *ops;             /* by node */
    const struct value_info *const *inputs;  /* by value: inputs of the main graph */
    const struct override *const *overrides; /* by node, or NULL */
    const int64_t *trips; /* by node: --trip-count of data-dependent Loops, or NULL */
    enum cm_mode mode;
    bool declared;    /* the file's declared types hold at the shapes of this walk */
    const char *pass; /* name in messages */
    struct arena *arena;
    struct arena *scratch;       /* restored after each node */
    struct cm_diagnostics *diag; /* NULL drops messages; statuses stay */
    struct infer_table *table;   /* to fill */
    const struct infer_table
        *exact; /* of the first walk, during walk_upper_bounds; else NULL */
    int depth;  /* of nested bodies */
    const struct infer_table
        *executed;         /* only Loops that this walk executed are; NULL: no restriction */
    struct iteration *run; /* of the body that is walked; NULL outside of executed Loops */
    const struct walk_mark *mark; /* before the innermost node with a body that is walked */
    /* Whether the external file at this location, the last one that was asked for, is out of
     * reach; NULL: none yet. */
    const char *location;
    bool is_missing;
    /* Set by walk_start: */
    enum trip_outcome *trip_outcomes; /* by node: outcome of `trips` */
    bool *has_assumed;                /* by node: the note about its assumption is emitted */
    uint32_t *assumed;                /* these nodes, in the order of the notes */
    size_t n_assumed;
    int64_t nested_trips; /* product of the trip counts of the executed Loops */
    int64_t work_left;    /* node walks and kept infos that executed Loops may still use */
    struct op_budget budget;
    struct op_budget run_budget; /* inside executed Loops */
    int64_t n_walked;            /* nodes, counting those of bodies at each walk */
    int64_t walks_limit;         /* n_walked from which on bodies are not walked again */
};

/* Allocates the table and sets the inputs and initializers. */
int walk_start(struct walk *walk) CM_MUST_CHECK;
/* Resets walks_limit, as if the walk started here. */
void walk_renew_search(struct walk *walk);
/* Infers one node whose operands are known; leaves its outputs unknown after an error. */
int walk_node(struct walk *walk, uint32_t node) CM_MUST_CHECK;
/* Walks the main graph and settles what holds in every iteration of executed Loops. */
int walk_model(struct walk *walk) CM_MUST_CHECK;
/* Walks every node of a graph, also after errors. Returns the worst status; stops at
 * CM_NO_MEMORY. */
int walk_graph(struct walk *walk, uint32_t graph) CM_MUST_CHECK;

/*
 * Second walk, with data-dependent dims at their maximum (how many boxes a detector keeps) and
 * propagated through operators whose outputs do not shrink when an operand grows
 * (ops/op.h). Other results stay unknown. Its dims, and the contents of shape arithmetic,
 * are never below those of a run; values that the first walk knows are the same.
 * Sets *ret to the first walk's table if that has no unknowns.
 */
int walk_upper_bounds(const struct walk *exact, const struct infer_table **ret) CM_MUST_CHECK;

#endif
