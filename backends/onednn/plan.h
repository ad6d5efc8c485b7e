/* SPDX-License-Identifier: Apache-2.0 */
/* A plan: calls of oneDNN primitives on memory that the plan owns. The plan of a cm_primitive
 * has, for each set of operands, one call per part (build.h). The plan of a network has the
 * calls of all its steps (network.c). */
#pragma once

#include "backends/onednn/build.h"

struct plan_limits {
    int64_t cache_bytes;  /* cache size; all operand sets together must exceed 3 times this */
    int64_t memory_bytes; /* limit for operands; 0 if unknown */
};

struct call {
    dnnl_primitive_t primitive; /* borrowed from the plan */
    int n_args;
    dnnl_exec_arg_t args[MAX_ARGS]; /* the plan owns their memory objects */
};

#define MAX_BLOCKS 4

struct cm_plan {
    const struct onednn *lib;
    struct built *built; /* one; network: per primitive, its own and up to 3 reorders */
    size_t n_built;
    dnnl_primitive_t *primitives; /* MAX_PARTS per element of `built` */
    struct call *calls;           /* grouped by set */
    size_t n_calls;               /* calls per set */
    size_t calls_capacity;        /* allocated calls, of all sets */
    int64_t n_sets;
    int64_t next;             /* set of the next cold execution */
    bool cold;                /* the sets exceed three times the cache; true for a network */
    void *blocks[MAX_BLOCKS]; /* operand memory; indices in plan.c, or enum network_block */
    const char *algorithm;    /* NULL: oneDNN's implementation name of the first part */
    struct cm_reason note;    /* what ran instead, or that a reference implementation ran */
    int32_t state;
};

/* Returns `bytes` rounded up to the alignment of operands. */
size_t plan_aligned(size_t bytes);
/* Returns a block for operands, NULL if out of memory; release it with free. */
void *plan_memory(size_t bytes);
/* Writes random numbers of the type; fp32 and bf16 numbers are multiplied by `scale`. */
void plan_fill(void *address, size_t size, dnnl_data_type_t type, double scale);

/* Returns a plan with room for `n_built` primitives, for plan_drop; NULL if out of memory. */
struct cm_plan *plan_new(const struct onednn *lib, size_t n_built);
/* Allocates the calls of all sets; call it once. Returns false if out of memory. */
bool plan_reserve(struct cm_plan *plan, size_t calls_capacity);
/* Creates the oneDNN primitives of plan->built[at]. */
int plan_create(struct cm_plan *plan, size_t at, struct cm_reason *reason);
/* Adds memory at `address` as an argument of a call. */
dnnl_status_t plan_add_arg(const struct cm_plan *plan, struct call *call, int id,
                           onednn_desc desc, void *address);

/* Runs plan->calls[index] now, then destroys its arguments and zeroes it. */
int plan_run_call(struct cm_plan *plan, size_t index, struct cm_reason *reason);

/* Makes a plan of one primitive; `keep_layout` as for build_primitive. */
int plan_make(const struct onednn *lib, const struct cm_primitive *primitive, bool keep_layout,
              const struct plan_limits *limits, struct cm_plan **ret, struct cm_reason *reason);
/* Executes the plan n times and waits; *ret_seconds is the total. */
int plan_run_n(struct cm_plan *plan, uint32_t n, enum cm_cache cache, double *ret_seconds,
               struct cm_reason *reason);
/* As plan_run_n, but repeats the n executions until the threads of this process waited for a
 * CPU at most 1 % of the time. After 16 tries or 0.1 s, takes the try that waited least. */
int plan_run(struct cm_plan *plan, uint32_t n, enum cm_cache cache, double *ret_seconds,
             struct cm_reason *reason);
void plan_facts(const struct cm_plan *plan, struct cm_plan_facts *ret);
void plan_drop(struct cm_plan *plan);

/* Fills the arena and the weights of a network, before weights are reordered. */
struct network_filling {
    void (*fill)(void *context, const struct cm_network *network, char *arena, char *weights);
    void *context;
};

/* Indices of plan.blocks. */
enum network_block { NETWORK_ARENA, NETWORK_WEIGHTS, NETWORK_PRIVATE };

/* Makes the plan of a network. `filling` NULL: random numbers. Else as plan_make. */
int network_make(const struct onednn *lib, const struct cm_network *network, bool keep_layout,
                 const struct plan_limits *limits, const struct network_filling *filling,
                 struct cm_plan **ret, struct cm_reason *reason);
