/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the op_context of a node (the argument of an operator's functions) from the tables of
 * the passes, and the frame that locates messages about the node. */
#pragma once

#include "ops/op_context.h"
#include "passes/pass.h"
#include "support/diag.h"

/* Replaces the value info of operand `slot` of `node`. */
struct override {
    uint32_t node;
    uint32_t slot;
    const struct value_info *info;
    const struct override *next; /* of the same node */
};

/* Nodes into which an exporter decomposed one operation: LayerNorm before opset 17, GELU. */
struct fused_pattern {
    const char *name;        /* class name in the framework: "LayerNorm" */
    const struct op *op;     /* row that gives its costs, such as that of LayerNormalization */
    const struct node *node; /* the operation as one node: operands and result are values of the
                                model, attributes are those of the row */
    uint32_t last;           /* node that produces the result */
    size_t n_nodes;
    const uint32_t *nodes; /* in file order */
    bool foldable;         /* Conv+BN: counted as two operations; of_node omits its nodes */
};

/* Stack space for the operand lists of one context; suffices for most nodes. */
struct op_room {
    const struct value_info *inputs[4];
    struct value_info outputs[1];
};

/* The tables from which contexts are made. */
struct op_source {
    const struct model *model;
    const struct op *const *ops;             /* by node */
    const struct override *const *overrides; /* by node, or NULL */
    const struct value_info *infos;          /* by value */
    enum cm_mode mode;
    struct arena *arena;   /* for allocations of operator functions */
    struct arena *scratch; /* for operand lists; NULL: `arena` */
    struct op_room *room;  /* for operand lists that fit; NULL if several contexts coexist */
    struct cm_diagnostics *diag;
};

/* Makes the context of a node with unknown outputs, for shape inference. */
int context_make(const struct op_source *source, uint32_t node,
                 struct op_context *ret) CM_MUST_CHECK;
/* Makes the context of a node with its inferred outputs. */
int context_make_inferred(const struct op_source *source, uint32_t node,
                          struct op_context *ret) CM_MUST_CHECK;
/* Sets *ret to the member `training` of the node's context. */
int context_trains(const struct op_source *source, uint32_t node, bool *ret) CM_MUST_CHECK;
/* Makes the context of a fused pattern as one node. */
int context_make_fused(const struct op_source *source,
                       const struct fused_pattern *fused_pattern,
                       struct op_context *ret) CM_MUST_CHECK;

/* A message frame; prints `17 "layer1.0/conv1", Conv-11, pass infer` and the node's line. */
struct node_frame {
    struct diag_frame frame;
    const struct model *model;
    const struct op *op;            /* NULL before bind */
    const struct value_info *infos; /* NULL: declared types */
    const char *pass;
    uint32_t node;
};

void node_frame_push(struct node_frame *place, struct cm_diagnostics *diag);
void node_frame_pop(const struct node_frame *place, struct cm_diagnostics *diag);
