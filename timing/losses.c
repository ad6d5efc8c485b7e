/* SPDX-License-Identifier: Apache-2.0 */
/* Splits expected times from the lower bound up, as a ladder: without its launches a kernel
 * takes less; without its avoidable traffic less again; the rest above the bound is low
 * utilization. What a step saves beyond the bound does not count. */
#include "timing/losses.h"

#include "passes/cost/count.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "timing/estimate.h"
#include "timing/primitives.h"
#include "timing/timing.h"

/* Returns the seconds as picoseconds, at most *rest, and subtracts them from *rest. */
static int64_t take(double seconds, int64_t *rest) {
    const int64_t ps = estimate_ps(seconds);
    const int64_t ret = is_known(ps) && ps < *rest ? ps : *rest;
    *rest -= ret;
    return ret;
}

struct cm_losses losses_split(const struct modelled_time *modelled, int64_t latency_ps,
                              int64_t lower_bound_ps) {
    struct cm_losses ret = {.present = is_known(latency_ps) && is_known(lower_bound_ps)};
    int64_t rest = ret.present ? latency_ps - lower_bound_ps : 0;
    if (!ret.present) return ret;
    ret.bound_ps = lower_bound_ps;
    ret.launch_ps = take(modelled->kernel.launch, &rest);
    ret.traffic_ps = take(modelled->kernel.traffic, &rest);
    ret.utilization_ps = rest;
    return ret;
}

void losses_add(struct cm_losses *sum, const struct cm_losses *kernel, int64_t runs) {
    if (!kernel->present || !is_known(runs)) return;
    checked_add_to(&sum->launch_ps, checked_mul(runs, kernel->launch_ps));
    checked_add_to(&sum->traffic_ps, checked_mul(runs, kernel->traffic_ps));
    checked_add_to(&sum->utilization_ps, checked_mul(runs, kernel->utilization_ps));
    checked_add_to(&sum->bound_ps, checked_mul(runs, kernel->bound_ps));
    sum->present = is_known(sum->launch_ps) && is_known(sum->traffic_ps) &&
                   is_known(sum->utilization_ps) && is_known(sum->bound_ps);
}

int losses_of_model(const struct timing *timing, struct cm_losses *ret,
                    struct cm_losses *ret_sum) {
    const struct primitives_table *primitives = timing->primitives;
    const struct cm_measurement *items = timing->estimate->items;
    if (!timing->estimate->facts.modelled || timing->estimate->imported) return CM_OK;
    struct modelled_time *times =
        arena_array(timing->core.arena, primitives->n, sizeof(*times));
    if (!times) return diag_no_memory(timing->core.diag);
    const int status = estimate_modelled(timing, primitives->items, primitives->n, times);
    for (size_t i = 0; status == CM_OK && i < primitives->n; i++)
        if (estimate_has_time(&items[i]))
            ret[i] = losses_split(&times[i], estimate_ps(items[i].cold.median),
                                  estimate_ps(items[i].lower_bound));
    for (uint32_t id = 0; status == CM_OK && id < timing->core.model->n_nodes; id++) {
        const uint32_t at = primitives->of_node[id];
        const uint32_t graph = timing->core.model->nodes[id].graph;
        if (at != ID_NONE) losses_add(ret_sum, &ret[at], timing->core.count->runs[graph]);
    }
    return status;
}
