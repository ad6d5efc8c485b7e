/* SPDX-License-Identifier: Apache-2.0 */
/* Pass arena_plan: assigns an offset in one arena to every value that owns bytes, graph inputs
 * and outputs included, so that values alive at the same step do not overlap. Offsets are
 * multiples of the requested alignment. */
#include "passes/memory/arena_plan.h"

#include "passes/memory/arena_planner.h"
#include "passes/memory/in_place.h"
#include "passes/memory/liveness.h"
#include "passes/pass.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"

/* Merges each value that is written in place into the block of its operand, which then stays
 * alive until the last use of the value. Steps are visited in order, so the block of the
 * operand is final. `block_of`, by value, is scratch. Returns the number of blocks left. */
static size_t share_blocks(const struct analysis *analysis, struct block *blocks,
                           const uint32_t *values, size_t n, uint32_t *block_of) {
    const struct liveness_table *liveness = analysis->liveness;
    const uint32_t *overwrites = analysis->in_place->overwrites;
    size_t n_left = 0;
    for (size_t i = 0; i < n; i++) block_of[values[i]] = (uint32_t)i;
    for (uint32_t step = 0; step < liveness->n_steps; step++) {
        const struct node *node = &analysis->model->nodes[liveness->node_at[step]];
        uint32_t output = node->n_outputs > 0 ? node->outputs[0] : ID_NONE;
        if (output == ID_NONE || overwrites[output] == ID_NONE) continue;
        blocks[block_of[output]].bytes = 0;
        block_of[output] = block_of[overwrites[output]];
        blocks[block_of[output]].last = liveness->last[output];
    }
    for (size_t i = 0; i < n; i++)
        if (blocks[i].bytes > 0) blocks[n_left++] = blocks[i];
    return n_left;
}

int pass_arena_plan(const struct analysis *analysis, void *own) {
    struct arena_plan_table *table = own;
    const size_t n_values = analysis->model->n_values;
    const int64_t alignment = analysis->options->memory_alignment;
    struct arena *scratch = analysis->scratch;
    struct block *blocks = arena_array_raw(scratch, n_values, sizeof(*blocks));
    uint32_t *values = arena_array_raw(scratch, n_values, sizeof(*values)); /* by block */
    uint32_t *block_of = arena_array_raw(scratch, n_values, sizeof(*block_of));
    struct arena_layout plan;
    int64_t total = 0;
    size_t n = 0;
    table->offsets = arena_array_raw(analysis->arena, n_values, sizeof(*table->offsets));
    if (arena_failed(scratch) || !table->offsets) return diag_no_memory(analysis->diag);
    table->arena_bytes = table->arena_in_place_bytes = DIM_UNKNOWN;
    for (uint32_t id = 0; id < n_values; id++) {
        int64_t bytes = liveness_owned(analysis, id);
        table->offsets[id] = DIM_UNKNOWN;
        if (bytes == 0 || bytes == DIM_UNKNOWN) continue;
        if (alignment > 1) /* so that the next block is aligned too */
            bytes = checked_mul(checked_div_ceil(bytes, alignment), alignment);
        checked_add_to(&total, bytes);
        values[n] = id;
        blocks[n++] =
            (struct block){bytes, analysis->liveness->first[id], analysis->liveness->last[id]};
    }
    if (!is_known(total)) return CM_OK;
    if (arena_layout(scratch, blocks, n, analysis->options->memory_plan, analysis->work,
                     &plan) < 0)
        return diag_no_memory(analysis->diag);
    for (size_t i = 0; i < n; i++) table->offsets[values[i]] = plan.offsets[i];
    table->arena_bytes = table->arena_in_place_bytes = plan.bytes;
    table->by_planner = arena_copy(analysis->arena, plan.by, sizeof(plan.by));
    if (!table->by_planner) return diag_no_memory(analysis->diag);
    if (analysis->in_place->n_overwriting == 0) return CM_OK;
    n = share_blocks(analysis, blocks, values, n, block_of);
    if (arena_layout(scratch, blocks, n, false, analysis->work, &plan) < 0)
        return diag_no_memory(analysis->diag);
    table->arena_in_place_bytes = plan.bytes;
    return CM_OK;
}
