/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One walk over a model that infers the type of every value and folds what is shape arithmetic.
 * Shape inference and folding are one walk, because a Reshape's shape is a folded constant.
 * Pass infer walks once; pass batch walks at the file's own batch and at another to see what
 * moves.
 */
#ifndef PASSES_INFER_WALK_H
#define PASSES_INFER_WALK_H

#include "ops/op_context.h"
#include "passes/pass.h"

struct walk {
    const struct model *model;
    const struct op *const *ops;             /* by node */
    const struct value_info *const *inputs;  /* by value: facts of the main graph's inputs */
    const struct override *const *overrides; /* by node, or NULL */
    const int64_t *trips; /* by node: how often a Loop runs that the file does not tell; NULL */
    enum cm_mode mode;
    bool declared;    /* the file's declared types hold for the shapes that are walked */
    const char *pass; /* for places */
    struct arena *arena;
    struct arena *scratch;           /* emptied of what a node took when it is done */
    struct cm_diagnostics *diag;     /* NULL: messages are dropped, statuses stay */
    struct infer_table *table;       /* to fill */
    const struct infer_table *exact; /* of the first walk, in the second (walk_most.h); NULL */
    int depth;                       /* bodies around */
    enum trip_use *trip_uses;        /* by node: what became of `trips`; by walk_start */
    bool *has_assumed;               /* by node: its assumption was told; by walk_start */
    struct op_budget budget;         /* of its rules; by walk_start */
    int64_t n_walked;      /* nodes, those of bodies each time that they were walked */
    int64_t most_searched; /* n_walked from which on no body is walked again; by walk_start */
};

/* Allocates the table and sets the facts of inputs and initializers. */
int walk_start(struct walk *walk) CM_MUST_CHECK;
/* From here on bodies may be walked again as often as from the start. */
void walk_renew_search(struct walk *walk);
/* Infers one node whose operands are known; a fault leaves its outputs unknown. */
int walk_node(struct walk *walk, uint32_t node) CM_MUST_CHECK;
/* The types of the outputs, then their contents, of a rule with operands; for walk_most.c. */
int walk_infer(struct walk *walk, struct op_context *context) CM_MUST_CHECK;
int walk_fold(struct walk *walk, struct op_context *context) CM_MUST_CHECK;
/* Every node of a graph in order, past faults; the worst status. CM_NO_MEMORY ends it at once.
 */
int walk_graph(struct walk *walk, uint32_t graph) CM_MUST_CHECK;

#endif
