/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan: calls of oneDNN primitives on memory of its own. A primitive needs one call or a few,
 * with as many sets of operands as cold executions need (operands.c); a network has the calls
 * of all its steps (network.c).
 */
#ifndef BACKENDS_ONEDNN_PLAN_H
#define BACKENDS_ONEDNN_PLAN_H

#include "backends/onednn/build.h"

struct plan_limits {
    int64_t cache_bytes;  /* cache size that cold executions must exceed */
    int64_t memory_bytes; /* limit for operands; 0 if unknown */
};

struct call {
    dnnl_primitive_t primitive; /* borrowed from the plan */
    int n_args;
    dnnl_exec_arg_t args[MAX_ARGS]; /* owned */
};

#define MAX_BLOCKS 4

struct cm_plan {
    const struct onednn *lib;
    struct built *built; /* one, or one per primitive of a network */
    size_t n_built;
    dnnl_primitive_t *primitives; /* MAX_PARTS per element of `built` */
    struct call *calls;           /* grouped by set */
    size_t n_calls;               /* calls per set */
    size_t most_calls;            /* capacity */
    int64_t n_sets;
    int64_t next; /* set of the next cold execution */
    bool cold;    /* the sets exceed the cache */
    void *blocks[MAX_BLOCKS];
    const char *algorithm; /* NULL: the name of the primitive */
    struct cm_reason proxy_note;
    int32_t state;
};

/* Returns NULL if out of memory; release with plan_drop. */
struct cm_plan *plan_new(const struct onednn *lib, size_t n_built);
/* Allocates the calls, once; returns false if out of memory. */
bool plan_reserve(struct cm_plan *plan, size_t most_calls);
/* Creates the oneDNN primitives of plan->built[built]. */
int plan_create(struct cm_plan *plan, size_t built, struct cm_reason *reason);
/* Adds memory at `bytes` as an argument of a call. */
dnnl_status_t plan_add_arg(const struct cm_plan *plan, struct call *call, int id,
                           onednn_desc desc, void *bytes);

/* Runs one call now and drops it. */
int plan_run_call(struct cm_plan *plan, size_t call, struct cm_reason *reason);

/* Makes a plan of one primitive; `plain` as for build_primitive. */
int plan_make(const struct onednn *lib, const struct cm_primitive *primitive, bool plain,
              const struct plan_limits *limits, struct cm_plan **ret, struct cm_reason *reason);
/* Runs one batch. */
int plan_run_once(struct cm_plan *plan, uint32_t n, enum cm_cache cache, double *ret_seconds,
                  struct cm_reason *reason);
/* Runs a batch without disturbance by other processes, if possible. */
int plan_run(struct cm_plan *plan, uint32_t n, enum cm_cache cache, double *ret_seconds,
             struct cm_reason *reason);
void plan_facts(const struct cm_plan *plan, struct cm_plan_facts *ret);
void plan_drop(struct cm_plan *plan);

#endif
