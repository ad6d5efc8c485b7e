/* SPDX-License-Identifier: Apache-2.0 */
/* One walk over a model: shape inference, and constant folding of shape arithmetic. They are
 * one walk because a Reshape's shape is a folded constant. Pass infer walks twice, for exact
 * shapes and for upper bounds. Pass batch compares a walk at the file's own batch with one at
 * another batch. */
#pragma once

#include "ops/op_context.h"
#include "passes/pass.h"
#include "passes/walk/bind.h"
#include "passes/walk/context.h"

/* One run of a body inside a Loop that is executed iteration by iteration. */
struct iteration {
    uint32_t graph;
    const struct iteration *outer;  /* run of the enclosing body; NULL if not executed */
    struct iteration *before;       /* the previous run of the same body, or NULL */
    int64_t runs;                   /* per run of `outer` */
    bool is_iteration;              /* one of several iterations; `runs` is 1 */
    bool is_assumed;                /* `runs` is unknown and set to 1 */
    bool is_alternative;            /* the body is a branch, see infer_table.alternative */
    bool is_dropped;                /* a later walk replaced this run */
    const struct value_info *infos; /* of iterations.values */
};

/* The runs of one body. */
struct iterations {
    size_t n_values;
    const uint32_t *values; /* inputs of the body and outputs of its nodes */
    struct iteration *last; /* newest run; NULL if none, or if no Loop around it is executed */
    bool is_executed;       /* the body is inside an executed Loop */
    bool is_mixed; /* a branch whose condition is static in only some runs; counted in all */
};

struct infer_table {
    struct value_info *infos; /* by value; pass precision sets the dtypes of --precision */
    enum dtype file_dtype; /* of most float elements in the file; DTYPE_UNDEFINED: no floats */
    int64_t *runs;         /* by graph: runs per run of the enclosing graph */
    bool *alternative; /* by graph: a branch; only the most expensive branch of a node counts */
    bool *assumed;     /* by graph: the trip count is unknown, and `runs` is 1 */
    bool is_open;      /* some output dims or trip counts are unknown */
    /* By graph: the runs of bodies inside executed Loops; NULL if no Loop was executed. `infos`
     * of such a body contain only what is the same in every run. */
    struct iterations *iterations;
    /* Upper-bound variant of this table: data-dependent dims and trip counts at their maximum.
     * Points to this table if every shape is static. */
    const struct infer_table *upper;
};

struct walk {
    const struct model *model;
    const struct op *const *ops;             /* by node */
    const struct value_info *const *inputs;  /* by value: inputs of the main graph, else NULL */
    const struct override *const *overrides; /* by node, or NULL */
    const int64_t *trips; /* by node: --trip-count, or DIM_UNKNOWN; NULL without that option */
    enum cm_mode mode;
    bool declared;    /* the file's declared types hold at the shapes of this walk */
    const char *pass; /* name in messages */
    struct arena *arena;
    struct arena *scratch;           /* restored after each node */
    struct cm_diagnostics *diag;     /* NULL: messages are dropped, errors still returned */
    struct infer_table *table;       /* filled by the walk */
    const struct infer_table *exact; /* walk_upper_bounds: table of the first walk; else NULL */
    int depth;                       /* nested bodies around the current node; 0: main graph */
    const struct infer_table
        *executed; /* earlier walk: execute only the Loops that it executed; NULL: all Loops */
    struct iteration *run;        /* current run of a body; NULL outside executed Loops */
    const struct walk_mark *mark; /* message state before the innermost node with bodies */
    const char *location;         /* external file that was checked last; NULL: none yet */
    bool is_missing;              /* that file cannot be read */
    /* Set by walk_start: */
    enum trip_outcome *trip_outcomes; /* by node: outcome of `trips` */
    bool *has_assumed;                /* by node: a note about an assumption was emitted */
    uint32_t *assumed;                /* nodes with has_assumed, in the order of the notes */
    size_t n_assumed;
    int64_t nested_trips;    /* product of the trip counts of executed Loops around the node */
    int64_t work_left;       /* budget of executed Loops: node walks and stored infos */
    struct op_budget budget; /* for folds outside executed Loops */
    struct op_budget run_budget; /* for folds inside executed Loops */
    int64_t n_walked;    /* nodes walked; a node of a body counts at each walk of the body */
    int64_t walks_limit; /* a body is not walked again once n_walked reaches this limit */
};

/* Returns a walk that fills `table` (zeroed), drops messages and has no overrides. */
struct walk walk_make(const struct analysis *analysis, const char *pass, struct arena *arena,
                      const struct value_info *const *inputs, struct infer_table *table);
/* Allocates the table and sets the inputs and initializers. */
int walk_start(struct walk *walk) CM_MUST_CHECK;
/* Sets walks_limit anew, as if the walk started now. */
void walk_renew_search(struct walk *walk);
/* Infers the outputs of a node, whose operands must be inferred. After an error the outputs are
 * unknown. */
int walk_node(struct walk *walk, uint32_t node) CM_MUST_CHECK;
/* Walks the main graph, then merges the infos of all iterations of executed Loops. */
int walk_model(struct walk *walk) CM_MUST_CHECK;
/* Walks every node of a graph, also after errors. Returns the status of the last error, or
 * CM_OK; stops at CM_NO_MEMORY. */
int walk_graph(struct walk *walk, uint32_t graph) CM_MUST_CHECK;

/* Second walk, with data-dependent dims at their maximum (the number of boxes that a detector
 * keeps). The bounds of an operand are propagated through operators that are monotone in it
 * (enum monotone in ops/op.h). If the outputs of an operator fall as the operand rises, the
 * lower bound of the operand's contents gives the upper bound of the outputs' contents. Other
 * unknown outputs stay unknown. So dims and contents are never below those at run time. Values
 * that the first walk knows are unchanged. Sets *ret to the table of the second walk, or to
 * exact->table if that has no unknown dims or trip counts. */
int walk_upper_bounds(const struct walk *exact, const struct infer_table **ret) CM_MUST_CHECK;

/* --- missing_data.c: tensors whose contents cannot be read. --- */

/* Drops the contents of a stored tensor if they cannot be read. */
void missing_data_drop(struct walk *walk, struct value_info *info);

/* Returns true if only missing contents of operands prevent the node from being folded. */
bool missing_data_prevents_fold(const struct op_context *context);

/* Call when the outputs of the node are in the table. Returns CM_OK, or CM_REFUSED after a
 * message if an output shape, the trip count or the branch depends on missing contents. */
int missing_data_check(const struct walk *walk, const struct op_context *context) CM_MUST_CHECK;

/* Emits a note that counts the missing tensors that shape arithmetic or a pattern may need. */
void missing_data_note(const struct analysis *analysis, const struct infer_table *table);
