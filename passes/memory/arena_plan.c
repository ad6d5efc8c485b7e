/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pass arena_plan: assigns an offset in one arena to every value that owns bytes, graph inputs
 * and outputs included, so that values alive at the same step do not overlap. Offsets are
 * multiples of the requested alignment.
 */
#include "passes/memory/arena_planner.h"
#include "passes/memory/liveness.h"
#include "passes/pass.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"

#include "support/banned.h"

/* Blocks to place, and the value of each. */
struct collected {
    struct block *blocks;
    uint32_t *values;
    size_t n;
    int64_t total;
};

/* Rounds up to the alignment, so that the next block is aligned too. */
static int64_t round_up(const struct analysis *analysis, int64_t bytes) {
    int64_t alignment = analysis->options->memory_alignment;
    if (alignment <= 1) return bytes;
    return checked_mul(checked_div_ceil(bytes, alignment), alignment);
}

static int collect(const struct analysis *analysis, struct collected *ret) {
    const struct liveness_table *liveness = &analysis->liveness;
    size_t n = analysis->model->n_values;
    ret->blocks = arena_array_raw(analysis->scratch, n, sizeof(*ret->blocks));
    ret->values = arena_array_raw(analysis->scratch, n, sizeof(*ret->values));
    if (!ret->blocks || !ret->values) return diag_no_memory(analysis->diag);
    for (uint32_t id = 0; id < n; id++) {
        int64_t bytes = liveness_owned(analysis, id);
        if (bytes == 0 || bytes == DIM_UNKNOWN) continue;
        bytes = round_up(analysis, bytes);
        ret->total = checked_add(ret->total, bytes);
        ret->values[ret->n] = id;
        ret->blocks[ret->n++] = (struct block){bytes, liveness->first[id], liveness->last[id]};
    }
    return CM_OK;
}

static int plan_fresh(const struct analysis *analysis, const struct collected *all,
                      struct arena_plan_table *table) {
    struct arena_layout plan;
    if (arena_layout(analysis->scratch, all->blocks, all->n, analysis->options->memory_plan,
                     analysis->work, &plan) < 0)
        return diag_no_memory(analysis->diag);
    table->arena_bytes = plan.bytes;
    table->by_planner = arena_copy(analysis->arena, plan.by, sizeof(plan.by));
    if (!table->by_planner) return diag_no_memory(analysis->diag);
    for (size_t i = 0; i < all->n; i++) table->offsets[all->values[i]] = plan.offsets[i];
    return CM_OK;
}

/*
 * Merges each value that is written in place into the block of its operand, which then stays
 * alive until the last use of the value. Steps are visited in order, so the block of the
 * operand is final. Returns the number of blocks left.
 */
static size_t share_blocks(const struct analysis *analysis, struct collected *all,
                           uint32_t *block_of) {
    const struct liveness_table *liveness = &analysis->liveness;
    const uint32_t *overwrites = analysis->in_place.overwrites;
    for (size_t i = 0; i < all->n; i++) block_of[all->values[i]] = (uint32_t)i;
    for (uint32_t step = 0; step < liveness->n_steps; step++) {
        const struct node *node = &analysis->model->nodes[liveness->node_at[step]];
        uint32_t output = node->n_outputs > 0 ? node->outputs[0] : ID_NONE;
        if (output == ID_NONE || overwrites[output] == ID_NONE) continue;
        all->blocks[block_of[output]].bytes = 0;
        block_of[output] = block_of[overwrites[output]];
        all->blocks[block_of[output]].last = liveness->last[output];
    }
    size_t n = 0;
    for (size_t i = 0; i < all->n; i++)
        if (all->blocks[i].bytes > 0) all->blocks[n++] = all->blocks[i];
    return n;
}

static int plan_in_place(const struct analysis *analysis, struct collected *all,
                         struct arena_plan_table *table) {
    struct arena_layout plan;
    size_t n_values = analysis->model->n_values;
    uint32_t *block_of = arena_array_raw(analysis->scratch, n_values, sizeof(*block_of));
    table->arena_in_place_bytes = table->arena_bytes;
    if (analysis->in_place.n_overwriting == 0) return CM_OK;
    if (!block_of) return diag_no_memory(analysis->diag);
    size_t n = share_blocks(analysis, all, block_of);
    if (arena_layout(analysis->scratch, all->blocks, n, false, analysis->work, &plan) < 0)
        return diag_no_memory(analysis->diag);
    table->arena_in_place_bytes = plan.bytes;
    return CM_OK;
}

int pass_arena_plan(const struct analysis *analysis, void *own) {
    struct arena_plan_table *table = own;
    struct collected all = {0};
    size_t n = analysis->model->n_values;
    table->offsets = arena_array_raw(analysis->arena, n, sizeof(*table->offsets));
    if (!table->offsets) return diag_no_memory(analysis->diag);
    for (size_t i = 0; i < n; i++) table->offsets[i] = DIM_UNKNOWN;
    table->arena_bytes = table->arena_in_place_bytes = DIM_UNKNOWN;
    int status = collect(analysis, &all);
    if (status < 0 || !is_known(all.total)) return status;
    status = plan_fresh(analysis, &all, table);
    return status < 0 ? status : plan_in_place(analysis, &all, table);
}
