/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of the search of rebatch.h, and its two tools: one step at a node (rebatch_step.c)
 * and the comparison of two ways that fit (rebatch_solution.c). Nobody else includes this.
 */
#ifndef PASSES_BATCH_REBATCH_SEARCH_H
#define PASSES_BATCH_REBATCH_SEARCH_H

#include "passes/batch/batch_axis.h"

#define CONTRADICTION 1 /* of this node with the choices made; not a status */

/* A node at which the batch may lie in more than one place. */
struct choice {
    size_t step;
    size_t n_changes; /* before it */
    size_t n;
    size_t taken;   /* alternatives[taken] is in force */
    size_t settled; /* what the first solution took */
    struct op_budget budget;
    struct batch_candidate alternatives[SHAPE_MAX_RANK];
};

struct change_list {
    struct batch_change *items;
    size_t n;
    size_t capacity;
};

/* The first way through the model that fits. */
struct solution {
    struct change_list changes;
    struct value_info *facts;          /* at PROBE_BATCH, by value */
    const struct override **overrides; /* by node */
    bool leads;                        /* the batch leads every output */
};

struct search {
    const struct analysis *analysis;
    struct probe probe;
    struct infer_table before;
    struct infer_table after;
    struct change_list changes;
    struct choice *choices;
    size_t n_choices;
    size_t choices_capacity;
    size_t n_settled;            /* leading choices that are taken as in the first solution */
    struct cm_diagnostics *sink; /* messages of the second walk */
    bool misfit;                 /* the rule of the node that was tried last refused it */
    size_t deepest;              /* step of the contradiction that came last in the file */
    const char *reason;          /* and its message; NULL: none yet */
    int64_t steps_left;
    int64_t refunds_left; /* elements */
};

static inline uint32_t search_node_at(const struct search *search, size_t step) {
    return search->analysis->model->graphs[0].nodes[step];
}

/* At the file's own batch. */
static inline const struct value_info *search_fact_before(const struct search *search,
                                                          uint32_t value) {
    return &search->before.facts[value];
}

/*
 * Walks the node of a step with what was chosen for it, or chooses: CM_OK, CONTRADICTION with a
 * message in the sink, CM_NO_MEMORY.
 */
int step_advance(struct search *search, size_t step) CM_MUST_CHECK;
/* Takes back all changes but the first n. */
void step_undo(struct search *search, size_t n);
/* An empty sink for the messages of the next step. */
int step_fresh_sink(struct search *search) CM_MUST_CHECK;

/* Whether the batch is the first axis of every output that depends on the inputs. */
bool solution_leads(const struct search *search);
/* A copy of where the search stands, which it does not touch when it goes on. */
int solution_keep(struct search *search, struct solution *ret) CM_MUST_CHECK;
/* Whether where the search stands has the sizes, outputs and MACs of that solution. */
int solution_is_same(const struct search *search, const struct solution *solution,
                     bool *ret_same) CM_MUST_CHECK;

#endif
