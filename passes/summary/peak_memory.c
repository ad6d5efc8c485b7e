/* SPDX-License-Identifier: Apache-2.0 */
/* Pass peak_memory: lists the values alive at the peak, and computes the peak of each module:
 * the most bytes at one step of live values that nodes inside the module write. */
#include "passes/summary/peak_memory.h"

#include <stdlib.h>

#include "passes/memory/liveness.h"
#include "passes/modules/modules.h"
#include "passes/pass.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/sort.h"

/* Returns the module that writes the value; the root for graph inputs. */
static uint32_t producer_module(const struct analysis *analysis, uint32_t value) {
    uint32_t node = analysis->model->values[value].node;
    return node == ID_NONE ? 0 : analysis->modules->of_node[node];
}

/* Adds bytes (may be negative) to the live bytes of the value's module and its parents. */
static void live_add(const struct analysis *analysis, int64_t *live, uint32_t value,
                     int64_t bytes) {
    const uint32_t *parents = analysis->modules->parents;
    if (bytes == 0) return;
    for (uint32_t module = producer_module(analysis, value); module != ID_NONE;
         module = parents[module])
        checked_add_to(&live[module], bytes);
}

/* Computes the peak of each module, in bytes. Its live bytes grow only while its nodes run. */
static int peaks_of_modules(const struct analysis *analysis, int64_t **ret) {
    const struct liveness_table *liveness = analysis->liveness;
    const struct model *model = analysis->model;
    const size_t n_modules = analysis->modules->n_modules;
    const size_t n_heads = (size_t)liveness->n_steps + 1;
    struct arena *scratch = analysis->scratch;
    int64_t *live = arena_array(scratch, n_modules, sizeof(*live));
    int64_t *peaks = arena_array(analysis->arena, n_modules, sizeof(*peaks));
    /* Values with bytes by the step of their last use: one list per step. */
    uint32_t *heads = arena_array_raw(scratch, n_heads, sizeof(*heads));
    uint32_t *next = arena_array_raw(scratch, model->n_values, sizeof(*next));
    if (arena_failed(scratch) || !peaks) return CM_NO_MEMORY;
    for (size_t step = 0; step < n_heads; step++) heads[step] = ID_NONE;
    for (uint32_t id = 0; id < model->n_values; id++) {
        const int64_t bytes = liveness_counted(analysis, id);
        if (bytes == 0) continue;
        next[id] = heads[liveness->last[id]];
        heads[liveness->last[id]] = id;
        if (model->values[id].node == ID_NONE) live_add(analysis, live, id, bytes);
    }
    for (uint32_t step = 0; step < liveness->n_steps; step++) {
        const struct node *node = &model->nodes[liveness->node_at[step]];
        uint32_t module = analysis->modules->of_node[liveness->node_at[step]];
        int64_t written = 0;
        for (size_t i = 0; i < node->n_outputs; i++)
            if (node->outputs[i] != ID_NONE)
                checked_add_to(&written, liveness_counted(analysis, node->outputs[i]));
        for (; module != ID_NONE; module = analysis->modules->parents[module]) {
            checked_add_to(&live[module], written);
            if (!is_known(live[module]) || live[module] > peaks[module])
                peaks[module] = live[module];
        }
        for (uint32_t id = heads[step]; id != ID_NONE; id = next[id])
            live_add(analysis, live, id, -liveness_counted(analysis, id));
    }
    *ret = peaks;
    return CM_OK;
}

static int compare_live(const void *a, const void *b) {
    const struct live_value *left = a;
    const struct live_value *right = b;
    if (left->bytes != right->bytes) return left->bytes > right->bytes ? -1 : 1;
    return left->value < right->value ? -1 : left->value > right->value;
}

int pass_peak_memory(const struct analysis *analysis, void *own) {
    struct peak_memory_table *table = own;
    const struct liveness_table *liveness = analysis->liveness;
    const size_t n_values = analysis->model->n_values;
    struct live_value *live = arena_array_raw(analysis->scratch, n_values, sizeof(*live));
    size_t n = 0;
    if (!live || peaks_of_modules(analysis, &table->of_module) < 0)
        return diag_no_memory(analysis->diag);
    if (liveness->peak_node == ID_NONE) return CM_OK;
    const uint32_t step = liveness->step_of[liveness->peak_node];
    for (uint32_t id = 0; id < n_values; id++) {
        const int64_t bytes = liveness_counted(analysis, id);
        if (bytes == 0 || liveness->first[id] > step || liveness->last[id] < step) continue;
        live[n++] = (struct live_value){id, producer_module(analysis, id), bytes};
    }
    sort_stable(live, n, sizeof(*live), compare_live);
    table->live = arena_copy(analysis->arena, live, n * sizeof(*live));
    table->n_live = n;
    return table->live ? CM_OK : diag_no_memory(analysis->diag);
}
