/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pass peak_memory: lists the values alive at the peak, and computes the peak of each module:
 * the most bytes at one step of live values that nodes inside the module write.
 */
#include <stdlib.h>

#include "passes/memory/liveness.h"
#include "passes/pass.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"

#include "support/banned.h"

/* Values with bytes by the step of their last use: one list per step. */
struct last_uses {
    uint32_t *heads; /* by step: a value, ID_NONE */
    uint32_t *next;  /* by value */
};

static int list_last_uses(const struct analysis *analysis, struct last_uses *ret) {
    const struct liveness_table *liveness = &analysis->liveness;
    const size_t n_values = analysis->model->n_values;
    const size_t n_heads = (size_t)liveness->n_steps + 1;
    ret->heads = arena_array_raw(analysis->scratch, n_heads, sizeof(*ret->heads));
    ret->next = arena_array_raw(analysis->scratch, n_values, sizeof(*ret->next));
    if (!ret->heads || !ret->next) return CM_NO_MEMORY;
    for (size_t step = 0; step < n_heads; step++) ret->heads[step] = ID_NONE;
    for (uint32_t id = 0; id < n_values; id++) {
        if (liveness_counted(analysis, id) == 0) continue;
        ret->next[id] = ret->heads[liveness->last[id]];
        ret->heads[liveness->last[id]] = id;
    }
    return CM_OK;
}

/* Returns the module that writes the value; the root for graph inputs. */
static uint32_t producer_module(const struct analysis *analysis, uint32_t value) {
    uint32_t node = analysis->model->values[value].node;
    return node == ID_NONE ? 0 : analysis->modules.of_node[node];
}

/* Live bytes by module. */
struct alive {
    const struct analysis *analysis;
    int64_t *now;
    int64_t *upper;
};

/* Adds bytes (or subtracts them, if negative) in the module of the value and its parents. */
static void live_add(struct alive *alive, uint32_t value, int64_t bytes) {
    const uint32_t *parents = alive->analysis->modules.parents;
    if (bytes == 0) return;
    for (uint32_t module = producer_module(alive->analysis, value); module != ID_NONE;
         module = parents[module])
        alive->now[module] = checked_add(alive->now[module], bytes);
}

/* Adds the outputs of a node to its module and parents, and updates their peaks: the live bytes
 * of a module grow only while its nodes run. */
static void live_run_node(struct alive *alive, uint32_t module, int64_t bytes) {
    const uint32_t *parents = alive->analysis->modules.parents;
    for (; module != ID_NONE; module = parents[module]) {
        const int64_t now = checked_add(alive->now[module], bytes);
        alive->now[module] = now;
        if (!is_known(now) || now > alive->upper[module]) alive->upper[module] = now;
    }
}

static int64_t bytes_written_by(const struct analysis *analysis, const struct node *node) {
    int64_t bytes = 0;
    for (size_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != ID_NONE)
            bytes = checked_add(bytes, liveness_counted(analysis, node->outputs[i]));
    return bytes;
}

static void live_add_inputs(struct alive *alive) {
    const struct analysis *analysis = alive->analysis;
    for (uint32_t id = 0; id < analysis->model->n_values; id++)
        if (analysis->model->values[id].node == ID_NONE)
            live_add(alive, id, liveness_counted(analysis, id));
}

static int peaks_of_modules(const struct analysis *analysis, int64_t **ret) {
    const struct liveness_table *liveness = &analysis->liveness;
    size_t n = analysis->modules.n_modules;
    struct last_uses last_uses;
    struct alive alive = {.analysis = analysis};
    alive.now = arena_array(analysis->scratch, n, sizeof(*alive.now));
    alive.upper = arena_array(analysis->arena, n, sizeof(*alive.upper));
    if (!alive.now || !alive.upper || list_last_uses(analysis, &last_uses) < 0)
        return CM_NO_MEMORY;
    live_add_inputs(&alive);
    for (uint32_t step = 0; step < liveness->n_steps; step++) {
        uint32_t id = liveness->node_at[step];
        const int64_t made = bytes_written_by(analysis, &analysis->model->nodes[id]);
        live_run_node(&alive, analysis->modules.of_node[id], made);
        for (uint32_t at = last_uses.heads[step]; at != ID_NONE; at = last_uses.next[at])
            live_add(&alive, at, -liveness_counted(analysis, at));
    }
    *ret = alive.upper;
    return CM_OK;
}

static int compare_live(const void *a, const void *b) {
    const struct live_value *left = a;
    const struct live_value *right = b;
    if (left->bytes != right->bytes) return left->bytes > right->bytes ? -1 : 1;
    return left->value < right->value ? -1 : left->value > right->value;
}

static int list_live(const struct analysis *analysis, struct peak_memory_table *table) {
    const struct liveness_table *liveness = &analysis->liveness;
    struct live_value *live =
        arena_array_raw(analysis->scratch, analysis->model->n_values, sizeof(*live));
    size_t n = 0;
    if (!live) return CM_NO_MEMORY;
    if (liveness->peak_node == ID_NONE) return CM_OK;
    uint32_t step = liveness->step_of[liveness->peak_node];
    for (uint32_t id = 0; id < analysis->model->n_values; id++) {
        int64_t bytes = liveness_counted(analysis, id);
        if (bytes == 0 || liveness->first[id] > step || liveness->last[id] < step) continue;
        live[n++] = (struct live_value){id, producer_module(analysis, id), bytes};
    }
    qsort(live, n, sizeof(*live), compare_live);
    table->live = arena_copy(analysis->arena, live, n * sizeof(*live));
    table->n_live = n;
    return table->live ? CM_OK : CM_NO_MEMORY;
}

int pass_peak_memory(const struct analysis *analysis, void *own) {
    struct peak_memory_table *table = own;
    if (peaks_of_modules(analysis, &table->of_module) < 0 || list_live(analysis, table) < 0)
        return diag_no_memory(analysis->diag);
    return CM_OK;
}
