/* SPDX-License-Identifier: Apache-2.0 */
/* Times of nodes, from the measurements of their primitives. */
#ifndef PASSES_LATENCY_ESTIMATE_H
#define PASSES_LATENCY_ESTIMATE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "costmodel/backend.h"
#include "support/checked.h"

struct analysis;
struct cm_costs;

/* Returns true if the time was measured (also by proxy), modelled, imported or invented. */
bool estimate_has_time(const struct cm_measurement *measurement);

/* Returns the state of a node's time; CM_VIEW if the node does nothing. */
enum cm_measure_state estimate_state(const struct analysis *analysis, uint32_t node);

/* Returns the primitive whose time the node shares: that of its group if the group was measured
 * or planned, else the node's own; ID_NONE if it has none. */
uint32_t estimate_primitive(const struct analysis *analysis, uint32_t node);
/* Returns the node's share of the time of estimate_primitive: 1; in a group, its separate time
 * / the sum of the separate times of all members. */
double estimate_share(const struct analysis *analysis, uint32_t node);
/* Returns true if the runs of estimate_primitive are counted at this node: false for all nodes
 * of a group but its product. */
bool estimate_runs(const struct analysis *analysis, uint32_t node);

/* Returns the measurement of estimate_primitive; NULL if there is no primitive or no time. */
const struct cm_measurement *estimate_of_node(const struct analysis *analysis, uint32_t node);

/* Returns seconds as integer picoseconds; DIM_OVERFLOW if negative or past 2^63. */
static inline int64_t estimate_ps(double seconds) {
    const double ps = round(seconds * 1e12);
    return ps >= 0 && ps < 9.2e18 ? (int64_t)ps : DIM_OVERFLOW;
}

/* Sets the latency and the lower bound of one run of a node. The latency is 0 if the node does
 * nothing, and DIM_UNKNOWN if it has no time. The lower bound is also DIM_UNKNOWN unless times
 * are modelled. */
void estimate_times(const struct analysis *analysis, uint32_t node, struct cm_costs *ret);

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
};

/* Computes the times of primitives on the modelled device of the options. Returns CM_OK,
 * CM_USAGE or CM_NO_MEMORY (reported). */
int estimate_modelled(const struct analysis *analysis, const struct cm_primitive *items,
                      size_t n, struct modelled_time *ret) __attribute__((warn_unused_result));

#endif
