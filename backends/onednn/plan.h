/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is run and timed: calls of primitives of oneDNN on memory of the plan's own. A primitive
 * of ours is one call or a few, in as many sets of operands as a cold execution needs
 * (operands.c); a network is the calls of all its steps (network.c).
 */
#ifndef BACKENDS_ONEDNN_PLAN_H
#define BACKENDS_ONEDNN_PLAN_H

#include "backends/onednn/build.h"

struct plan_limits {
    int64_t cache_bytes;  /* what a cold execution has to get past */
    int64_t memory_bytes; /* what operands may take; 0: not known */
};

struct call {
    dnnl_primitive_t primitive; /* borrowed of the plan */
    int n_args;
    dnnl_exec_arg_t args[MAX_ARGS]; /* owned */
};

#define MAX_BLOCKS 4

struct cm_plan {
    const struct onednn *lib;
    struct built *built; /* of one primitive, or of each of a network */
    size_t n_built;
    dnnl_primitive_t *primitives; /* MAX_PARTS of each */
    struct call *calls;           /* those of one set after the other */
    size_t n_calls;               /* of one set */
    size_t most_calls;            /* of all sets: what there is room for */
    int64_t n_sets;
    int64_t next; /* the set of the next cold execution */
    bool cold;    /* the sets are more than the cache holds */
    void *blocks[MAX_BLOCKS];
    const char *algorithm; /* NULL: the name of the primitive */
    struct cm_reason proxy_note;
    int32_t state;
};

/* NULL: there is no memory. Ended with plan_drop. */
struct cm_plan *plan_new(const struct onednn *lib, size_t n_built);
/* Room for so many calls, once; false: there is no memory. */
bool plan_reserve(struct cm_plan *plan, size_t most_calls);
/* oneDNN's own primitives of what was built. */
int plan_create(struct cm_plan *plan, size_t built, struct cm_reason *reason);
/* Memory at `bytes` as one more operand of a call. */
dnnl_status_t plan_add_arg(const struct cm_plan *plan, struct call *call, int id,
                           onednn_desc desc, void *bytes);

/* Runs one call now and forgets it. */
int plan_run_call(struct cm_plan *plan, size_t call, struct cm_reason *reason);

int plan_make(const struct onednn *lib, const struct cm_primitive *primitive, bool plain,
              const struct plan_limits *limits, struct cm_plan **ret, struct cm_reason *reason);
/* The batch as it comes. */
int plan_run_once(struct cm_plan *plan, uint32_t n, enum cm_cache cache, double *ret_seconds,
                  struct cm_reason *reason);
/* One that no other process took part in, if such a one can be had. */
int plan_run(struct cm_plan *plan, uint32_t n, enum cm_cache cache, double *ret_seconds,
             struct cm_reason *reason);
void plan_facts(const struct cm_plan *plan, struct cm_plan_facts *ret);
void plan_drop(struct cm_plan *plan);

#endif
