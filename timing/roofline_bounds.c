/* SPDX-License-Identifier: Apache-2.0 */
/* Pass roofline_bounds: computes the roofline of each time (Williams, Waterman, Patterson, CACM
 * 2009) and finds the resource that limits it. Modules sum up their primitives.
 *     roofline = lower bound / time
 *     lower bound = max(flops / peak rate, bytes / peak bandwidth)
 * A modelled time has the lower bound of the device model instead. */
#include "timing/roofline_bounds.h"

#include <math.h>

#include "backends/primitive.h"
#include "passes/cost/count.h"
#include "passes/modules/modules.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "timing/estimate.h"
#include "timing/primitives.h"
#include "timing/times.h"

#define LAUNCH_FLOORS 3   /* a time below this many launch floors is limited by the launch */
#define MIN_SHARE     0.4 /* a resource used below this share of its peak does not limit */

static const char *const names[N_LIMITED_BY] = {
    [LIMITED_BY_UNKNOWN] = "unknown",     [LIMITED_BY_COMPUTE] = "compute",
    [LIMITED_BY_MEMORY] = "memory",       [LIMITED_BY_LAUNCH] = "launch",
    [LIMITED_BY_OCCUPANCY] = "occupancy", [LIMITED_BY_KERNEL] = "kernel",
    [LIMITED_BY_MIXED] = "mixed",
};

const char *roofline_bounds_name(enum limited_by limited_by) {
    return names[limited_by];
}

double roofline_bounds_bytes(const struct cm_primitive *primitive) {
    return (double)primitive->bytes_read + (double)primitive->bytes_written;
}

/* Prefers the measured bandwidth to the published one. */
double roofline_bounds_bandwidth(const struct timing *timing) {
    const double measured = timing->estimate->ceilings.copy_bytes_per_s;
    return measured > 0 ? measured : timing->estimate->facts.bandwidth;
}

/* Returns the seconds that an empty primitive takes; 0: unknown. */
static double launch_floor(const struct timing *timing) {
    const double measured = timing->estimate->ceilings.floor_s;
    return measured > 0 ? measured : timing->estimate->facts.floor;
}

/* Returns true if every kernel has fewer blocks than multiprocessors. */
static bool is_tiny_grid(const struct cm_how *how) {
    for (int i = 0; i < how->n_kernels && i < CM_MAX_KERNELS; i++)
        if (how->kernels[i].blocks_per_unit <= 0 || how->kernels[i].blocks_per_unit >= 1)
            return false;
    return how->n_kernels > 0;
}

/* A device model computes the lower bound and the limiting resource itself. */
static void judge_model(const struct cm_measurement *measurement, struct achieved *ret) {
    const bool is_limit =
        measurement->limit >= 0 && measurement->limit <= (int32_t)CM_LIMIT_LAUNCH;
    ret->lower_bound_s = measurement->lower_bound;
    ret->limited_by = is_limit ? (enum limited_by)measurement->limit : LIMITED_BY_UNKNOWN;
}

/* The lower bound needs the peak rate of products only: others have too low an intensity. */
static void judge_run(const struct timing *timing, const struct cm_primitive *primitive,
                      const struct cm_measurement *measurement, struct achieved *ret) {
    const double seconds = measurement->cold.median;
    const double bandwidth = roofline_bounds_bandwidth(timing);
    const int32_t element = primitive->inputs[0].element;
    const bool is_element = element > CM_ELEMENT_NONE && element < CM_N_ELEMENTS;
    const double rate = is_element ? timing->estimate->ceilings.flops_per_s[element] : 0;
    /* Negative: unknown. */
    const double memory = bandwidth > 0 ? roofline_bounds_bytes(primitive) / bandwidth : -1;
    double compute = primitive_is_product(primitive) ? -1 : 0;
    if (rate > 0) compute = (double)primitive->flops / rate;
    if (memory >= 0 && compute >= 0) ret->lower_bound_s = fmax(memory, compute);
    if (seconds < LAUNCH_FLOORS * launch_floor(timing))
        ret->limited_by = LIMITED_BY_LAUNCH;
    else if (is_tiny_grid(&measurement->how))
        ret->limited_by = LIMITED_BY_OCCUPANCY;
    else if (fmax(compute / seconds, memory / seconds) >= MIN_SHARE)
        ret->limited_by = compute > memory ? LIMITED_BY_COMPUTE : LIMITED_BY_MEMORY;
    else
        ret->limited_by = compute < 0 || memory < 0 ? LIMITED_BY_UNKNOWN : LIMITED_BY_KERNEL;
}

/* Imported times have the lower bound of the modelled device; without one, nothing is set. */
static void judge_import(const struct timing *timing, const struct cm_measurement *measurement,
                         struct achieved *ret) {
    const double seconds = measurement->cold.median;
    if (measurement->lower_bound <= 0) return;
    judge_model(measurement, ret);
    if (seconds < LAUNCH_FLOORS * launch_floor(timing))
        ret->limited_by = LIMITED_BY_LAUNCH;
    else if (ret->lower_bound_s < MIN_SHARE * seconds)
        ret->limited_by = LIMITED_BY_KERNEL;
}

void roofline_bounds_compute(const struct timing *timing, const struct cm_primitive *primitive,
                             const struct cm_measurement *measurement, struct achieved *ret) {
    const double seconds = measurement->cold.median;
    *ret = (struct achieved){.present = estimate_has_time(measurement) && seconds > 0,
                             .roofline = -1,
                             .lower_bound_s = -1};
    if (!ret->present) return;
    ret->flops_per_s = (double)primitive->flops / seconds;
    ret->bytes_per_s = roofline_bounds_bytes(primitive) / seconds;
    if (timing->estimate->imported)
        judge_import(timing, measurement, ret);
    else if (measurement->state == CM_MODELLED)
        judge_model(measurement, ret);
    else
        judge_run(timing, primitive, measurement, ret);
    if (ret->lower_bound_s >= 0) ret->roofline = ret->lower_bound_s / seconds;
}

/* Sums of one module in one pass through the model. */
struct tally {
    double seconds;
    double flops;
    double bytes;
    double lower_bound_s;
    double bounded_s; /* time of the primitives that have a lower bound */
    double by_limit[N_LIMITED_BY];
};

static void add_tally(struct tally *sum, const struct tally *more) {
    sum->seconds += more->seconds;
    sum->flops += more->flops;
    sum->bytes += more->bytes;
    sum->lower_bound_s += more->lower_bound_s;
    sum->bounded_s += more->bounded_s;
    for (int i = 0; i < N_LIMITED_BY; i++) sum->by_limit[i] += more->by_limit[i];
}

static struct achieved of_tally(const struct tally *tally) {
    struct achieved ret = {.present = tally->seconds > 0, .roofline = -1, .lower_bound_s = -1};
    if (!ret.present) return ret;
    ret.flops_per_s = tally->flops / tally->seconds;
    ret.bytes_per_s = tally->bytes / tally->seconds;
    if (tally->bounded_s > 0) ret.roofline = tally->lower_bound_s / tally->bounded_s;
    ret.limited_by = LIMITED_BY_MIXED;
    for (int i = 0; i < N_LIMITED_BY; i++)
        if (tally->by_limit[i] > tally->seconds / 2) ret.limited_by = (enum limited_by)i;
    return ret;
}

static int compute_modules(const struct timing *timing, struct roofline_bounds_table *table) {
    const struct modules_table *modules = timing->core.modules;
    struct tally *tallies =
        arena_array(timing->core.arena, modules->n_modules, sizeof(*tallies));
    table->of_module =
        arena_array(timing->core.arena, modules->n_modules, sizeof(*table->of_module));
    if (!tallies || !table->of_module) return diag_no_memory(timing->core.diag);
    for (uint32_t node = 0; node < timing->core.model->n_nodes; node++) {
        const int64_t graph_runs =
            timing->core.count->runs[timing->core.model->nodes[node].graph];
        const struct cm_measurement *measurement = estimate_of_node(timing, node);
        if (measurement == NULL || !is_known(graph_runs) || graph_runs == 0) continue;
        const uint32_t at = estimate_primitive(timing, node);
        const struct cm_primitive *primitive = &timing->primitives->items[at];
        const struct achieved *achieved = &table->of_primitive[at];
        if (!achieved->present) continue;
        struct limit_total *total = &table->totals[achieved->limited_by];
        struct tally *tally = &tallies[modules->of_node[node]];
        const double runs = (double)graph_runs * estimate_share(timing, node);
        const double seconds = measurement->cold.median * runs;
        total->nodes++;
        checked_add_known_to(&total->latency_ps, timing->times->of_node[node].latency_ps);
        tally->seconds += seconds;
        tally->flops += (double)primitive->flops * runs;
        tally->bytes += roofline_bounds_bytes(primitive) * runs;
        tally->by_limit[achieved->limited_by] += seconds;
        if (achieved->lower_bound_s < 0) continue;
        tally->lower_bound_s += achieved->lower_bound_s * runs;
        tally->bounded_s += seconds;
    }
    for (size_t i = modules->n_modules; i-- > 1;)
        add_tally(&tallies[modules->parents[i]], &tallies[i]);
    for (size_t i = 0; i < modules->n_modules; i++) table->of_module[i] = of_tally(&tallies[i]);
    return CM_OK;
}

int pass_roofline_bounds(const struct analysis *analysis, void *own) {
    const struct timing *timing = timing_of(analysis);
    struct roofline_bounds_table *table = own;
    const struct primitives_table *primitives = timing->primitives;
    if (!timing->estimate->done) return CM_OK;
    table->of_primitive =
        arena_array(timing->core.arena, primitives->n, sizeof(*table->of_primitive));
    if (!table->of_primitive) return diag_no_memory(timing->core.diag);
    const struct imported *imported = timing->estimate->imported;
    if (imported != NULL && imported->other_shape != NULL) return CM_OK; /* no rates */
    for (size_t i = 0; i < primitives->n; i++)
        roofline_bounds_compute(timing, &primitives->items[i], &timing->estimate->items[i],
                                &table->of_primitive[i]);
    table->done = true;
    return compute_modules(timing, table);
}
