/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pass in_place: finds the nodes that could overwrite an operand at its last use, and computes
 * the peak if all of them do. An elementwise node reads element i before it writes element i,
 * so both can share bytes if they have the same number of elements of the same size (not a
 * comparison: floats in, bools out).
 */
#include "passes/memory/liveness.h"
#include "passes/pass.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"

#include "support/banned.h"

/* Returns, by value, true for roots that must not be overwritten: at first those of graph
 * outputs; pass_in_place adds those that are overwritten. NULL: out of memory. */
static bool *find_protected_roots(const struct analysis *analysis) {
    const struct model *model = analysis->model;
    bool *taken = arena_array(analysis->scratch, model->n_values, sizeof *taken);
    for (uint32_t id = 0; taken && id < model->n_values; id++)
        if (model->values[id].is_graph_output) taken[analysis->liveness.root[id]] = true;
    return taken;
}

/* Returns true if both have the same known number of elements. */
static bool same_elements(const struct shape *a, const struct shape *b) {
    if (shape_equal(a, b)) return shape_is_known(a);
    const int64_t elements = shape_elements(a);
    return is_known(elements) && elements == shape_elements(b);
}

/* Returns true if element i would have the same address in both. */
static bool same_layout(const struct analysis *analysis, uint32_t operand, uint32_t output) {
    const struct value_info *infos = analysis->infer.infos;
    const int64_t bytes = liveness_owned(analysis, output);
    return is_known(bytes) && bytes > 0 &&
           bytes == liveness_owned(analysis, analysis->liveness.root[operand]) &&
           same_elements(&infos[output].shape, &infos[operand].shape);
}

/* Returns the root of an operand that the node may overwrite, or ID_NONE. A node must have
 * written it (inputs belong to the caller), and this node must be its last use. */
static uint32_t overwritten(const struct analysis *analysis, uint32_t node_id,
                            const bool *taken) {
    const struct liveness_table *liveness = &analysis->liveness;
    const struct node *node = &analysis->model->nodes[node_id];
    if (!liveness->elementwise[node_id]) return ID_NONE;
    if (node->n_outputs == 0 || node->outputs[0] == ID_NONE) return ID_NONE;
    for (size_t i = 0; i < node->n_inputs; i++) {
        if (node->inputs[i] == ID_NONE) continue;
        uint32_t root = liveness->root[node->inputs[i]];
        if (liveness->storage[root] != STORAGE_ACTIVATION || taken[root]) continue;
        if (liveness->last[root] == liveness->step_of[node_id] &&
            same_layout(analysis, node->inputs[i], node->outputs[0]))
            return root;
    }
    return ID_NONE;
}

static void add_at(int64_t *change, uint32_t step, int64_t bytes) {
    change[step] = checked_add(change[step], bytes);
}

/* Returns the peak if `shared` bytes are subtracted from the live bytes of each step. */
static int64_t largest(const struct liveness_table *liveness, const int64_t *shared) {
    int64_t peak = 0;
    for (uint32_t step = 0; step < liveness->n_steps; step++) {
        int64_t live = checked_sub(liveness->live[step], shared[step]);
        if (!is_known(live)) return live;
        if (live > peak) peak = live;
    }
    return peak;
}

int pass_in_place(const struct analysis *analysis, void *own) {
    struct in_place_table *table = own;
    const struct liveness_table *liveness = &analysis->liveness;
    size_t n_values = analysis->model->n_values;
    int64_t *shared = arena_array(analysis->scratch, liveness->n_steps, sizeof *shared);
    bool *taken = find_protected_roots(analysis);
    table->overwrites = arena_array_raw(analysis->arena, n_values, sizeof *table->overwrites);
    if (!shared || !taken || !table->overwrites) return diag_no_memory(analysis->diag);
    for (uint32_t id = 0; id < n_values; id++) table->overwrites[id] = ID_NONE;
    for (uint32_t step = 0; step < liveness->n_steps; step++) {
        uint32_t node = liveness->node_at[step];
        uint32_t root = overwritten(analysis, node, taken);
        if (root == ID_NONE) continue;
        taken[root] = true;
        table->overwrites[analysis->model->nodes[node].outputs[0]] = root;
        table->n_overwriting++;
        add_at(shared, step, liveness_owned(analysis, root));
    }
    table->peak_bytes = largest(liveness, shared);
    return CM_OK;
}
