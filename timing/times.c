/* SPDX-License-Identifier: Apache-2.0 */
/* Pass times: the time of a node is that of one run, multiplied by the runs of its graph; the
 * time of a module is the sum over its nodes. An imported time is that of all runs, including
 * branches that are not counted. */
#include "timing/times.h"

#include <math.h>

#include "passes/cost/count.h"
#include "passes/modules/module_tree.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "timing/estimate.h"
#include "timing/kernels.h"
#include "timing/primitives.h"

/* Sets the time of one run of a node. The latency is 0 if the node does nothing, and
 * DIM_UNKNOWN if it has no time; the lower bound also unless times are modelled. */
static void find_time(const struct timing *timing, uint32_t node, struct node_time *ret) {
    const struct cm_measurement *measurement = estimate_of_node(timing, node);
    const bool is_view = estimate_state(timing, node) == CM_VIEW;
    ret->latency_ps = ret->lower_bound_ps = DIM_UNKNOWN;
    if (measurement == NULL && !is_view) return;
    ret->latency_ps =
        is_view ? 0 : estimate_ps(measurement->cold.median * estimate_share(timing, node));
    if (timing->estimate->facts.modelled)
        ret->lower_bound_ps = is_view ? 0 : estimate_ps(measurement->lower_bound);
}

static void mark_if_known(int64_t figure, uint32_t bit, uint32_t *set) {
    if (is_known(figure) && figure != 0) *set |= bit;
}

/* Computes the time of all runs. If the trip count is unknown, one iteration is timed. */
static void time_node(const struct timing *timing, uint32_t id, struct node_time *ret) {
    const struct analysis *core = &timing->core;
    const struct imported *imported = timing->estimate->imported;
    const uint32_t graph = core->model->nodes[id].graph;
    const int64_t runs = core->count->runs[graph];
    find_time(timing, id, ret);
    ret->latency_ps = checked_mul(ret->latency_ps, runs);
    ret->lower_bound_ps = checked_mul(ret->lower_bound_ps, runs);
    if (count_is_mixed(core, graph)) {
        mark_if_known(ret->latency_ps, CM_COST_BIT(latency_ps), &ret->upper_bound);
        mark_if_known(ret->lower_bound_ps, CM_COST_BIT(lower_bound_ps), &ret->upper_bound);
    }
    if (runs != 0 && count_is_assumed(core, graph)) {
        if (!imported) mark_if_known(ret->latency_ps, CM_COST_BIT(latency_ps), &ret->partial);
        mark_if_known(ret->lower_bound_ps, CM_COST_BIT(lower_bound_ps), &ret->partial);
    }
    if (imported && is_known(imported->node_ps[id])) ret->latency_ps = imported->node_ps[id];
}

/* Marks the times of a node with work but without a time as partial, because sums omit them.
 * Does not mark nodes in an opaque block: the block's time counts for a module. */
static void mark_untimed(const struct timing *timing, uint32_t id, struct node_time *ret) {
    const enum cm_measure_state state = estimate_state(timing, id);
    if (state == CM_VIEW || state == CM_PLANNED || state == CM_OPAQUE) return;
    if (!is_known(ret->latency_ps)) ret->partial |= CM_COST_BIT(latency_ps);
    if (timing->estimate->facts.modelled && !is_known(ret->lower_bound_ps))
        ret->partial |= CM_COST_BIT(lower_bound_ps);
}

static void add_time(struct node_time *sum, const struct node_time *time) {
    checked_add_known_to(&sum->latency_ps, time->latency_ps);
    checked_add_known_to(&sum->lower_bound_ps, time->lower_bound_ps);
    sum->upper_bound |= time->upper_bound;
    sum->partial |= time->partial;
}

/* The time of an opaque block counts for one module, `owner`, and its parents. Marks the times
 * of other modules that contain nodes of the block as partial. */
static void mark_inside(const struct modules_table *modules, const struct imported_layer *layer,
                        struct node_time *of_module) {
    const uint32_t owner = module_common(modules, layer->places, layer->n_places);
    for (size_t i = 0; i < layer->n_inside; i++) {
        uint32_t module = modules->of_node[layer->inside[i]];
        for (uint32_t other = owner; module != other;) {
            if (module < other) {
                other = modules->parents[other];
                continue;
            }
            of_module[module].partial |= CM_COST_BIT(latency_ps);
            module = modules->parents[module];
        }
    }
}

static void time_modules(const struct timing *timing, const struct times_table *table) {
    const struct modules_table *modules = timing->core.modules;
    const struct imported *imported = timing->estimate->imported;
    struct node_time *of_module = table->of_module;
    for (size_t i = 0; i < timing->core.model->n_nodes; i++)
        add_time(&of_module[modules->of_node[i]], &table->of_node[i]);
    /* imported layers without nodes: opaque blocks, copies, and layers that match no node */
    for (size_t i = 0; imported && i < imported->n; i++) {
        const struct imported_layer *layer = &imported->layers[i];
        if (layer->n_nodes > 0) continue;
        const uint32_t module = module_common(modules, layer->places, layer->n_places);
        checked_add_known_to(&of_module[module].latency_ps, layer->latency_ps);
    }
    for (size_t i = modules->n_modules; i-- > 1;)
        add_time(&of_module[modules->parents[i]], &of_module[i]);
    for (size_t i = 0; imported && i < imported->n; i++)
        mark_inside(modules, &imported->layers[i], of_module);
    /* The time of a module is unknown if none of its nodes has an imported time: they are
     * inside an opaque block, or no layer runs them. Modules with only views take no time. */
    for (size_t i = modules->n_modules; imported && i-- > 1;)
        if (of_module[i].latency_ps == 0 && (of_module[i].partial & CM_COST_BIT(latency_ps)))
            of_module[i].latency_ps = DIM_UNKNOWN;
}

double times_add_runs(const struct timing *timing, uint32_t node, struct run_time *sum) {
    const struct cm_measurement *time = estimate_of_node(timing, node);
    const int64_t runs = timing->core.count->runs[timing->core.model->nodes[node].graph];
    if (time == NULL || !is_known(runs)) return 0;
    run_time_add(sum, &timing->primitives->items[estimate_primitive(timing, node)],
                 time->cold.median, (enum cm_limit)time->limit, (double)runs);
    return (double)runs * time->cold.median;
}

/* Adds the time in which the device waits for the host to the root module: no node takes it. */
static void add_host(const struct timing *timing, struct times_table *table) {
    const struct cm_calibration *fit = &timing->estimate->facts.fit;
    struct node_time *root = &table->of_module[0];
    table->host_ps = DIM_UNKNOWN;
    if (!timing->estimate->facts.modelled || timing->estimate->imported) return;
    if (is_known(timing->kernels->moved_bytes) && timing->estimate->facts.host_link > 0)
        table->run.moved = (double)timing->kernels->moved_bytes;
    for (uint32_t id = 0; id < timing->core.model->n_nodes; id++)
        (void)times_add_runs(timing, id, &table->run);
    const double expected = run_time_expected(&table->run, fit);
    table->kind = run_time_kind(&table->run, expected);
    table->host_ps = estimate_ps(fmax(0, expected - table->run.seconds));
    checked_add_known_to(&root->latency_ps, table->host_ps);
}

int pass_times(const struct analysis *analysis, void *own) {
    const struct timing *timing = timing_of(analysis);
    struct times_table *table = own;
    const size_t n_nodes = analysis->model->n_nodes;
    if (!timing->estimate->done) return CM_OK;
    table->of_node = arena_array(analysis->arena, n_nodes, sizeof *table->of_node);
    table->of_module =
        arena_array(analysis->arena, analysis->modules->n_modules, sizeof *table->of_module);
    if (!table->of_node || !table->of_module) return diag_no_memory(analysis->diag);
    for (uint32_t id = 0; id < n_nodes; id++) {
        time_node(timing, id, &table->of_node[id]);
        mark_untimed(timing, id, &table->of_node[id]);
    }
    time_modules(timing, table);
    add_host(timing, table);
    return CM_OK;
}
