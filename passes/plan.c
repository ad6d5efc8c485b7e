/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pass plan: an offset in one arena for every value that owns bytes, inputs and results of the
 * model among them, so that no two that are alive at one step overlap. Offsets are exact to the
 * byte: what a runtime rounds up to is its own affair, and would blur the ratio to the bound.
 */
#include "passes/lifetime.h"
#include "passes/packing.h"
#include "passes/pass.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"

#include "support/banned.h"

/* Values with bytes to place, and which value each is. */
struct collected {
    struct block *blocks;
    uint32_t *values;
    size_t n;
    int64_t total;
};

static void collect(const struct analysis *analysis, struct plan_table *table,
                    struct collected *ret) {
    const struct lifetime_table *lifetime = &analysis->lifetime;
    for (uint32_t id = 0; id < analysis->model->n_values; id++) {
        int64_t bytes = lifetime_owned(analysis, id);
        table->offsets[id] = DIM_UNKNOWN;
        if (bytes == 0 || bytes == DIM_UNKNOWN) continue;
        ret->total = checked_add(ret->total, bytes);
        ret->values[ret->n] = id;
        ret->blocks[ret->n++] = (struct block){bytes, lifetime->first[id], lifetime->last[id]};
    }
}

static int run(const struct analysis *analysis, void *own) {
    struct plan_table *table = own;
    struct collected all = {0};
    struct packing_plan plan;
    size_t n = analysis->model->n_values;
    table->offsets = arena_array(analysis->arena, n, sizeof(*table->offsets));
    all.blocks = arena_array(analysis->arena, n, sizeof(*all.blocks));
    all.values = arena_array(analysis->arena, n, sizeof(*all.values));
    if (!table->offsets || !all.blocks || !all.values) return diag_no_memory(analysis->diag);
    collect(analysis, table, &all);
    table->arena_bytes = DIM_UNKNOWN;
    if (!is_known(all.total)) return CM_OK;
    if (packing_plan(analysis->arena, all.blocks, all.n, analysis->options->memory_plan,
                     &plan) < 0)
        return diag_no_memory(analysis->diag);
    table->arena_bytes = plan.bytes;
    table->by_planner = arena_copy(analysis->arena, plan.by, sizeof(plan.by));
    if (!table->by_planner) return diag_no_memory(analysis->diag);
    for (size_t i = 0; i < all.n; i++) table->offsets[all.values[i]] = plan.offsets[i];
    return CM_OK;
}

const struct pass pass_plan = {
    .name = "plan",
    .summary = "give every value that owns bytes a place in one arena",
    .needs = HAS_TYPES | HAS_STORAGE,
    .gives = HAS_PLAN,
    .run = run,
    .own = offsetof(struct analysis, plan),
};
