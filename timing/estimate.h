/* SPDX-License-Identifier: Apache-2.0 */
/* Times of nodes, from the measurements of their primitives. */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "backends/device/ceilings.h"
#include "backends/device/kernel_time.h"
#include "costmodel/backend.h"
#include "support/checked.h"
#include "timing/timing.h"

/* Tables that pass estimate reads. */
#define ESTIMATE_READS                                                                         \
    (TABLE_INFER | TABLE_LIVENESS | TABLE_COUNT | TABLE_KERNELS | TABLE_PRIMITIVES)

/* Latency of the nodes run as one network. */
struct network_time {
    struct cm_measurement measurement; /* only its warm times are used */
    const bool *included;              /* by node; NULL if not requested */
    int64_t sum_cold_ps;               /* sum of the separate cold times of these nodes */
    int64_t sum_warm_ps;
};

/* A layer of cm_options.times. */
struct imported_layer {
    const struct times_layer *from;
    enum cm_measure_state state; /* imported, split, opaque, a copy or unplaced */
    struct cm_timing timing;     /* as times_layer.timing */
    double mean;                 /* as times_layer.mean */
    int64_t latency_ps;          /* timing.median */
    size_t n_nodes;
    const uint32_t *nodes; /* nodes that share its time */
    size_t n_places;
    const uint32_t *places; /* nodes that locate a layer without nodes: its time counts for the
                               smallest module that contains them; for the model if none */
    size_t n_inside;
    const uint32_t *inside; /* of an opaque block: nodes without a time of their own */
    double expected_s;      /* seconds of its nodes on the modelled device; 0: unknown */
    double lower_bound_s;   /* their least seconds there; 0: unknown */
};

struct imported {
    const char *tools;   /* "onnxruntime" */
    const char *version; /* "profile.json: 3 runs, CPUExecutionProvider" */
    size_t n;
    struct imported_layer *layers; /* in execution order */
    const char *other_shape; /* why the times belong to other shapes than those of the model;
                                NULL: they do not, or the files have no shapes */
    double run;              /* sum of cm_times.run of the files, seconds; 0: unknown */
    double gap, host;        /* the same of cm_times.gap and .host */
    double placed_share; /* share of the time outside CM_UNPLACED layers; negative: no time */
    int64_t *node_ps;    /* by node, in one run of the model; DIM_UNKNOWN */
};

struct estimate_table {
    bool done;                    /* latencies are available */
    const char *problem;          /* why requested latencies are missing, or NULL */
    struct cm_device_facts facts; /* of the device */
    struct cm_measurement *items; /* by primitive */
    double *unfused_s;    /* by product of a group: sum of its members, seconds; or NULL */
    size_t n_cached;      /* primitives that were measured in an earlier run of the program */
    int64_t cached_since; /* oldest of these measurements, seconds since 1970 */
    bool has_ceilings;    /* false for modelled devices */
    struct ceilings ceilings;
    struct network_time network;
    const struct imported *imported; /* NULL unless cm_options.times */
};

pass_run pass_estimate;

/* Returns true if the time was measured (also by proxy), modelled, imported or invented. */
bool estimate_has_time(const struct cm_measurement *measurement);

/* Returns the state of a node's time; CM_VIEW if the node does nothing. */
enum cm_measure_state estimate_state(const struct timing *timing, uint32_t node);

/* Returns the primitive whose time the node shares: that of its group if the group was measured
 * or planned, else the node's own; ID_NONE if it has none. */
uint32_t estimate_primitive(const struct timing *timing, uint32_t node);
/* Returns the node's share of the time of estimate_primitive: 1; in a group, its separate time
 * / the sum of the separate times of all members. */
double estimate_share(const struct timing *timing, uint32_t node);
/* Returns true if the runs of estimate_primitive are counted at this node: false for all nodes
 * of a group but its product. */
bool estimate_runs(const struct timing *timing, uint32_t node);

/* Returns the measurement of estimate_primitive; NULL if there is no primitive or no time. */
const struct cm_measurement *estimate_of_node(const struct timing *timing, uint32_t node);

/* Returns the operations per second of a published rate ("matrix_fp16"); 0 if none. */
double estimate_rate(const struct timing *timing, const char *name);

/* Returns seconds as integer picoseconds; DIM_OVERFLOW if negative or past 2^63. */
static inline int64_t estimate_ps(double seconds) {
    const double ps = round(seconds * 1e12);
    return ps >= 0 && ps < 9.2e18 ? (int64_t)ps : DIM_OVERFLOW;
}

/* Returns the share of multiprocessors that have a block (SM efficiency); 0: unknown. */
static inline double estimate_unit_efficiency(const struct cm_kernel *kernel) {
    return kernel->blocks_per_unit < 1 ? kernel->blocks_per_unit : 1;
}

/* Returns the sum of the times of all kernels in seconds; 0 unless there are several and each
 * has a name and a time. */
double estimate_kernels_sum(const struct cm_how *how);

/* Returns "yes", "no", or "unknown" for all other values: plug-ins are not trusted. */
const char *estimate_tensor_cores_name(int32_t tensor_cores);

struct modelled_time {
    int64_t expected_ps, lower_bound_ps; /* DIM_UNKNOWN if the device cannot time it */
    enum cm_limit limit;
    struct kernel_time kernel; /* if it is known */
};

/* Computes the times of primitives on the modelled device of the options. Returns CM_OK,
 * CM_USAGE or CM_NO_MEMORY (reported). */
int estimate_modelled(const struct timing *timing, const struct cm_primitive *items, size_t n,
                      struct modelled_time *ret) __attribute__((warn_unused_result));
