/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of pass training share: docs/training.md says what they compute. */
#ifndef PASSES_TRAINING_TRAINING_H
#define PASSES_TRAINING_TRAINING_H

#include <stdbool.h>
#include <stdint.h>

#include "passes/pass.h"

/* A node as a step sees it. A composite is one operation, at the node that makes its result. */
struct operation {
    const struct op *op;
    const char *saved_for_backward; /* the row's cells, or what it says of this node */
    const struct node *node; /* its operands and outputs; NULL: it is part of a composite */
    uint32_t whole;          /* the node at which the composite is counted; itself */
    uint32_t region;         /* index into regions, ID_NONE */
    uint32_t forward;        /* events: when it runs, */
    uint32_t again;          /* when it is run again, if its region is, */
    uint32_t backward;       /* and when its gradients are computed */
    bool has_backward;
    int64_t extra; /* bytes that it keeps and that are no value */
};

/* Consecutive steps in one checkpointed module, which keeps what enters it and nothing else. */
struct region {
    uint32_t first, last; /* steps */
    bool again;           /* whether anything in it has a backward */
};

struct training {
    const struct analysis *analysis;
    const struct model *model;
    struct training_table *table;
    bool *frozen;         /* by param */
    uint32_t *checkpoint; /* by module: the outermost checkpointed one around, ID_NONE */
    struct operation *operations; /* by node */
    size_t n_regions;
    struct region *regions;
    uint32_t *root;   /* by value: whose bytes it shares in a framework; itself */
    bool *is_strided; /* by value: not in row-major order in them */
    bool *wanted;     /* by value: its gradient is, since something behind it learns */
    bool *reached;    /* by value: a gradient comes back to it */
    int64_t *bytes;   /* by value: that it owns during a step; 0 of a view, a parameter */
};

/* Patterns of options to params and modules. CM_USAGE: one of them matches nothing. */
int training_choose(struct training *training) CM_MUST_CHECK;
/* Operations, views and bytes; who needs a gradient, and whom one reaches. */
int training_flow(struct training *training) CM_MUST_CHECK;
/* What is kept, by whom it was made, and the peak of the step. */
int training_steps(struct training *training) CM_MUST_CHECK;

/* Bytes of a tensor during a step: floats are halved with amp. */
int64_t training_bytes(const struct training *training, const struct value_info *info);
struct op_source;
struct op_context;
/* The rule of an operation, of one that is no part of another. */
int training_rule(const struct training *training, const struct op_source *source,
                  uint32_t node, struct op_context *ret) CM_MUST_CHECK;
/* Whether the operand has a gradient to be computed by that operation. */
bool training_wants(const struct training *training, const struct operation *operation,
                    size_t slot);
/* The graph's own runs in one pass through the model. */
int64_t training_runs(const struct training *training, uint32_t graph);

#endif
