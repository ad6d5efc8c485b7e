/* SPDX-License-Identifier: Apache-2.0 */
/* Pass in_place: finds the nodes that could overwrite an operand at its last use, and computes
 * the peak if all of them do. An elementwise node reads element i before it writes element i,
 * so both can share bytes if they have the same number of elements of the same size (not a
 * comparison: floats in, bools out). */
#include "passes/memory/in_place.h"

#include "passes/memory/liveness.h"
#include "passes/pass.h"
#include "passes/walk/walk.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"

/* Returns true if element i would have the same address in both: the same bytes and the same
 * known number of elements. */
static bool same_layout(const struct analysis *analysis, uint32_t operand, uint32_t output) {
    const struct shape *from = &analysis->infer->infos[operand].shape;
    const struct shape *to = &analysis->infer->infos[output].shape;
    const int64_t bytes = liveness_owned(analysis, output);
    if (!is_known(bytes) || bytes == 0 ||
        bytes != liveness_owned(analysis, analysis->liveness->root[operand]))
        return false;
    if (shape_equal(to, from)) return shape_is_known(to);
    const int64_t elements = shape_elements(to);
    return is_known(elements) && elements == shape_elements(from);
}

/* Returns the root of an operand that the node may overwrite, or ID_NONE. A node must have
 * written it (inputs belong to the caller), and this node must be its last use. `taken`, by
 * value: roots of graph outputs, and those that are overwritten already. */
static uint32_t overwritten(const struct analysis *analysis, uint32_t node_id,
                            const bool *taken) {
    const struct liveness_table *liveness = analysis->liveness;
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

int pass_in_place(const struct analysis *analysis, void *own) {
    struct in_place_table *table = own;
    const struct liveness_table *liveness = analysis->liveness;
    const struct model *model = analysis->model;
    bool *taken = arena_array(analysis->scratch, model->n_values, sizeof *taken);
    bool is_exact = true;
    table->overwrites =
        arena_array_raw(analysis->arena, model->n_values, sizeof *table->overwrites);
    if (!taken || !table->overwrites) return diag_no_memory(analysis->diag);
    for (uint32_t id = 0; id < model->n_values; id++) {
        table->overwrites[id] = ID_NONE;
        if (model->values[id].is_graph_output) taken[liveness->root[id]] = true;
    }
    for (uint32_t step = 0; step < liveness->n_steps; step++) {
        const uint32_t node = liveness->node_at[step];
        const uint32_t root = overwritten(analysis, node, taken);
        int64_t live = liveness->live[step];
        if (root != ID_NONE) {
            taken[root] = true;
            table->overwrites[model->nodes[node].outputs[0]] = root;
            table->n_overwriting++;
            live = checked_sub(live, liveness_owned(analysis, root)); /* the bytes are shared */
        }
        if (is_exact && (!is_known(live) || live > table->peak_bytes)) table->peak_bytes = live;
        is_exact = is_exact && is_known(live);
    }
    return CM_OK;
}
