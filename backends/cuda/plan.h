/* SPDX-License-Identifier: Apache-2.0 */
/* A plan runs either one primitive on many sets of operands, or a network. Each step of a
 * network launches the part that was made for its primitive. */
#pragma once

#include "backends/cuda/kernel_times.h"
#include "backends/cuda/sets.h"

/* The step made for one primitive, and its provider. */
struct plan_part {
    const struct cuda_provider *provider;
    struct cuda_step step;
    int32_t tried; /* candidates and configurations tried, including this one */
};

struct plan_launch {
    uint32_t part;                 /* index into cm_plan.parts */
    struct cuda_operands operands; /* operands of the first set */
};

/* Captured graphs of `n` executions each. Cold: the graphs are replayed in turn and together
 * use the first sets_used sets. Warm: one graph, which uses the first set only. */
struct plan_series {
    uint32_t n; /* 0 if none */
    uint32_t n_replays;
    uint32_t next; /* index of the next graph to replay */
    struct replay *replays;
};

#define PLAN_TRIES 4 /* maximum of replays per sample; the last is used at any SM clock */

struct cm_plan {
    struct cm_device *device;
    uint32_t n_parts;
    uint32_t n_launches;
    struct plan_part *parts;
    struct plan_launch *launches; /* launches of one execution */
    struct sets sets;
    bool is_network;
    bool no_graphs;               /* a launch could not be captured */
    struct plan_series series[2]; /* indexed by enum cm_cache */
    int64_t next_set;             /* set of the next cold execution; used if no_graphs */
    int64_t sets_used;            /* number of sets that cold executions use; 0 if none ran */
    struct replay_kernels kernels;
    struct kernel_times kernel_times;
    double plan_seconds;
};

/* As cm_backend.plan and cm_backend.network. */
int plan_make(struct cm_device *device, const struct cm_primitive *primitive,
              struct cm_plan **ret, struct cm_reason *reason);
int plan_network(struct cm_device *device, const struct cm_network *network,
                 struct cm_plan **ret, struct cm_reason *reason);
/* As cm_backend.run: *ret_seconds is the total of `n` executions. */
int plan_run(struct cm_plan *plan, uint32_t n, enum cm_cache cache, double *ret_seconds,
             struct cm_reason *reason);
/* As cm_backend.run_kernels. */
int plan_run_kernels(struct cm_plan *plan, double *ret_seconds, struct cm_reason *reason);
void plan_facts(const struct cm_plan *plan, struct cm_plan_facts *ret);
void plan_drop(struct cm_plan *plan);

/* For plan_make and plan_network. Returns an empty plan; NULL if out of memory. */
struct cm_plan *plan_new(struct cm_device *device, uint32_t n_parts, uint32_t n_launches);
/* Launches everything once on the first set and waits. */
int plan_run_once(struct cm_plan *plan, struct cm_reason *reason);
/* Captures the launches on the first set to list their kernels; sets no_graphs if it fails. */
int plan_read_kernels(struct cm_plan *plan, struct cm_reason *reason);
/* Drops the captured graphs, before the steps change. */
void plan_drop_graphs(struct cm_plan *plan);
