/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far measured times may be off, of the whole and of each module: between the sum of all
 * first quartiles and the sum of all third ones. Layers err together (a clock, a neighbour)
 * more than alone, so the quartiles are added and not their squares.
 */
#include "compare/baseline.h"

#include "support/arena.h"
#include "support/checked.h"
#include "support/text.h"

#include "support/banned.h"

/* latency * quartile / median: the node may run several times. */
static int64_t scaled(int64_t latency, int64_t quartile, int64_t median) {
    if (!is_known(quartile) || median <= 0) return latency;
    const double scaled = (double)latency * ((double)quartile / (double)median);
    return scaled < 0x1p62 ? (int64_t)scaled : DIM_OVERFLOW;
}

/* Told of each node that has a time, and between what that lies. */
typedef void spread_taker(void *context, const struct cm_node *node, int64_t low, int64_t high);

static void walk_primitive(const struct cm_result *result, const struct cm_timed *timed,
                           spread_taker *take, void *context) {
    for (size_t i = 0; i < timed->n_nodes; i++) {
        if (timed->nodes[i] >= result->n_nodes) continue; /* a file may say anything */
        const struct cm_node *node = &result->nodes[timed->nodes[i]];
        const int64_t latency = node->costs.latency_ps;
        if (!is_known(latency)) continue;
        take(context, node, scaled(latency, timed->q1_ps, timed->median_ps),
             scaled(latency, timed->q3_ps, timed->median_ps));
    }
}

static void walk_times(const struct cm_result *result, spread_taker *take, void *context) {
    for (size_t i = 0; i < result->measure->n_primitives; i++)
        walk_primitive(result, &result->measure->primitives[i], take, context);
}

static void add_to_total(void *context, const struct cm_node *node, int64_t low, int64_t high) {
    struct cm_baseline_times *times = context;
    (void)node;
    times->low_ps = checked_add(times->low_ps, low);
    times->high_ps = checked_add(times->high_ps, high);
}

/* Modules of a result, and their spreads. */
struct spreads {
    const struct cm_result *result;
    struct cm_baseline_spread *of_module;
};

static void add_spread(struct spreads *spreads, size_t module, int64_t low, int64_t high) {
    struct cm_baseline_spread *spread = &spreads->of_module[module];
    spread->low_ps = checked_add(spread->low_ps, low);
    spread->high_ps = checked_add(spread->high_ps, high);
}

static void add_to_module(void *context, const struct cm_node *node, int64_t low,
                          int64_t high) {
    struct spreads *spreads = context;
    if (node->module < spreads->result->n_modules) add_spread(spreads, node->module, low, high);
}

/* Parents stand before their children. */
static void add_up(struct spreads *spreads) {
    for (size_t i = spreads->result->n_modules; i-- > 1;) {
        const struct cm_baseline_spread *spread = &spreads->of_module[i];
        const size_t parent = spreads->result->modules[i].parent;
        if (parent < i) add_spread(spreads, parent, spread->low_ps, spread->high_ps);
    }
}

struct cm_baseline_spread *baseline_spreads(const struct cm_result *result,
                                            struct arena *arena) {
    struct cm_baseline_spread *list = arena_array(arena, result->n_modules, sizeof(*list));
    struct spreads spreads = {result, list};
    if (list == NULL || !cm_result_timed(result) || result->measure->modelled) return list;
    walk_times(result, add_to_module, &spreads);
    add_up(&spreads);
    for (size_t i = 0; i < result->n_modules; i++)
        list[i].present = is_known(list[i].low_ps) && is_known(list[i].high_ps);
    return list;
}

struct cm_baseline_spread *baseline_kept_spreads(const struct cm_baseline *baseline,
                                                 int64_t batch, struct arena *arena) {
    struct cm_baseline_spread *list = arena_array(arena, baseline->n_modules, sizeof(*list));
    size_t n = 0;
    for (size_t i = 0; list != NULL && i < baseline->n_modules; i++)
        if (baseline->modules[i].batch == batch) list[n++] = baseline->modules[i].times;
    return list;
}

static const char *doubt_of(const struct cm_measure *measure) {
    if (measure->warning[0] != '\0') return measure->warning;
    for (size_t i = 0; i < measure->n_primitives; i++) {
        const struct cm_timed *timed = &measure->primitives[i];
        if (timed->unstable) return "layers were unstable";
        if (timed->throttled) return "the device held its clock back";
        if (timed->few_samples) return "layers have few samples";
    }
    return "";
}

struct cm_baseline_times baseline_times(const struct cm_result *result) {
    struct cm_baseline_times times = {
        .state = "", .device = "", .precision = "", .layout = "", .doubt = ""};
    const struct cm_measure *measure = result->measure;
    if (!cm_result_timed(result)) return times;
    times.present = true;
    times.state = measure->modelled ? "modelled" : measure->invented ? "invented" : "measured";
    times.device = measure->device;
    times.precision = measure->precision;
    times.layout = measure->layout;
    for (size_t i = 0; i < measure->n_untimed; i++)
        times.untimed_nodes = checked_add(times.untimed_nodes, measure->untimed[i].nodes);
    if (measure->modelled) {
        times.low_ps = result->totals.latency_ps;
        times.high_ps = result->totals.latency_ps;
        return times;
    }
    walk_times(result, add_to_total, &times);
    times.doubt = doubt_of(measure);
    return times;
}
