/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a node and a table of facts to the rule that an operator row works on, and to the place
 * that a message about the node names. Shared by every pass that calls rules.
 */
#ifndef PASSES_INFER_CONTEXT_H
#define PASSES_INFER_CONTEXT_H

#include "ops/op_context.h"
#include "passes/pass.h"
#include "support/diag.h"

/* Room for the lists of one rule, as long as nearly every node needs them. */
struct op_room {
    const struct value_info *inputs[4];
    struct value_info outputs[1];
};

/* What the passes that call rules have in common. */
struct op_source {
    const struct model *model;
    const struct op *const *ops;             /* by node */
    const struct override *const *overrides; /* by node; NULL: none at all */
    const struct value_info *facts;          /* by value */
    enum cm_mode mode;
    struct arena *arena;   /* what a rule states lives here */
    struct arena *scratch; /* the rule's own lists; NULL: in `arena` too */
    struct op_room *room;  /* they stand there where they fit; NULL, or of a caller who is done
                                with each rule when it makes the next */
    struct cm_diagnostics *diag;
};

/* Of an analysis whose types are inferred. */
struct op_source context_source(const struct analysis *analysis);

/* Inputs and outputs of *ret are in the source's room or scratch; the outputs are unknown. */
int context_make(const struct op_source *source, uint32_t node,
                 struct op_context *ret) CM_MUST_CHECK;
/* The same for a node whose types were inferred: the outputs are what the facts say. */
int context_make_inferred(const struct op_source *source, uint32_t node,
                          struct op_context *ret) CM_MUST_CHECK;
/* Whether the node trains (rule->training), without the rest of its rule. */
int context_trains(const struct op_source *source, uint32_t node, bool *ret) CM_MUST_CHECK;
/* The rule of a whole composite: facts of its operands and of its result, made by its last
 * node.
 */
int context_make_fused(const struct op_source *source,
                       const struct fused_pattern *fused_pattern,
                       struct op_context *ret) CM_MUST_CHECK;

/* `17 "layer1.0/conv1", Conv-11, pass infer`, and below it the node as a source line. */
struct node_place {
    struct diag_frame frame;
    const struct model *model;
    const struct op *op;            /* NULL before bind */
    const struct value_info *facts; /* NULL: declared types */
    const char *pass;
    uint32_t node;
};

void node_place_push(struct node_place *place, struct cm_diagnostics *diag);
void node_place_pop(const struct node_place *place, struct cm_diagnostics *diag);

#endif
