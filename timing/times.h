/* SPDX-License-Identifier: Apache-2.0 */
/* Pass times: computes the times of nodes and modules from those of the primitives. */
#pragma once

#include "backends/device/run_time.h"
#include "timing/timing.h"

/* Tables that pass times reads. */
#define TIMES_READS                                                                            \
    (TABLE_INFER | TABLE_KERNELS | TABLE_PRIMITIVES | TABLE_ESTIMATE | TABLE_COUNT |           \
     TABLE_MODULES)

/* Times of all runs, in picoseconds. */
struct node_time {
    int64_t latency_ps;     /* cold; DIM_UNKNOWN for a node without a time, which sums omit */
    int64_t lower_bound_ps; /* DIM_UNKNOWN unless times are modelled */
    uint32_t upper_bound;   /* as in cm_costs: CM_COST_BIT(latency_ps), ... */
    uint32_t partial;
};

/* Empty unless times are available. */
struct times_table {
    struct node_time *of_node;   /* by node, for all runs of its graph */
    struct node_time *of_module; /* by module, children included; the root also has host_ps */
    /* Of a modelled device, else DIM_UNKNOWN: */
    int64_t
        host_ps; /* time of the run in which no kernel runs: the device waits for the host */
    enum cm_time_kind kind;
    struct run_time run; /* of one run of the model */
};

/* Adds the runs of a node to *sum. Returns their seconds, 0 without a time. */
double times_add_runs(const struct timing *timing, uint32_t node, struct run_time *sum);

pass_run pass_times;
