/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One walk over a model: shape inference, and constant folding of shape arithmetic. They are
 * one walk because a Reshape's shape is a folded constant. Pass infer walks the exact shapes,
 * then upper bounds; pass batch walks at the file's own batch and at another one to compare
 * them.
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
        *exact; /* table of the first walk, during walk_upper_bounds; else NULL */
    int depth;  /* of nested bodies */
    const struct infer_table
        *executed;         /* table of a walk: execute only the Loops executed there; or NULL */
    struct iteration *run; /* of the body that is walked; NULL outside of executed Loops */
    const struct walk_mark *mark; /* state before the innermost node with a body being walked */
    const char *location;         /* the external file last asked for; NULL: none yet */
    bool is_missing;              /* that file is missing */
    /* Set by walk_start: */
    enum trip_outcome *trip_outcomes; /* by node: outcome of `trips` */
    bool *has_assumed;                /* by node: the note about its assumption is emitted */
    uint32_t *assumed;                /* these nodes, in the order of the notes */
    size_t n_assumed;
    int64_t nested_trips; /* product of the trip counts of the executed Loops */
    int64_t work_left;    /* node walks and kept infos that executed Loops may still use */
    struct op_budget budget;
    struct op_budget run_budget; /* inside executed Loops */
    int64_t n_walked;            /* nodes; those of a body count once per walk of the body */
    int64_t walks_limit;         /* n_walked from which on bodies are not walked again */
};

/* Allocates the table and sets the inputs and initializers. */
int walk_start(struct walk *walk) CM_MUST_CHECK;
/* Resets walks_limit, as if the walk started here. */
void walk_renew_search(struct walk *walk);
/* Infers one node whose operands are known; leaves its outputs unknown after an error. */
int walk_node(struct walk *walk, uint32_t node) CM_MUST_CHECK;
/* Walks the main graph, then merges the infos of all iterations of executed Loops. */
int walk_model(struct walk *walk) CM_MUST_CHECK;
/* Walks every node of a graph, also after errors. Returns the worst status; stops at
 * CM_NO_MEMORY. */
int walk_graph(struct walk *walk, uint32_t graph) CM_MUST_CHECK;

/*
 * Second walk, with data-dependent dims at their maximum (how many boxes a detector keeps). The
 * maxima are propagated through operators whose outputs do not shrink when an operand grows
 * (ops/op.h); other unknown outputs stay unknown. The resulting dims and contents are never
 * below those at run time. Values that the first walk knows are unchanged. Sets *ret to the
 * table of the second walk; to that of the first if it has no unknowns.
 */
int walk_upper_bounds(const struct walk *exact, const struct infer_table **ret) CM_MUST_CHECK;

#endif
