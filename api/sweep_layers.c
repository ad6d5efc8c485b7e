/* SPDX-License-Identifier: Apache-2.0 */
/* Groups the nodes of a sweep into layers. A primitive includes batch and precision, so a node
 * has another primitive in each row; a layer is a set of nodes that share it in every row. */
#include "api/sweep.h"

#include <stdlib.h>

#include "costmodel/status.h"
#include "ir/graph.h"
#include "passes/public_figures.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/map.h"
#include "support/sort.h"
#include "support/text.h"

/* Returns false if out of memory. */
static bool allocate(struct sweep_layers *layers, size_t n_nodes) {
    struct arena *arena = layers->arena;
    const size_t n = n_nodes * layers->n_rows;
    layers->primitive_of = arena_array_raw(arena, n, sizeof(*layers->primitive_of));
    layers->latency_of = arena_array_raw(arena, n, sizeof(*layers->latency_of));
    layers->times = arena_array(arena, layers->n_rows, sizeof(struct cm_layer_time *));
    layers->labels = arena_array(arena, n_nodes, sizeof(*layers->labels));
    if (arena_failed(arena)) return false;
    for (size_t i = 0; i < n; i++) {
        layers->primitive_of[i] = ID_NONE;
        layers->latency_of[i] = CM_UNKNOWN;
    }
    layers->n_nodes = n_nodes;
    return true;
}

/* Copies the plan of a primitive; NULL if the result has no plans, or if out of memory. */
static const struct cm_layer_plan *copy_plan(struct sweep_layers *layers,
                                             const struct cm_timed *from,
                                             const struct cm_result *result) {
    struct cm_layer_plan *plan =
        cm_result_planned(result) ? arena_alloc(layers->result_arena, sizeof(*plan)) : NULL;
    if (plan == NULL) return NULL;
    *plan = (struct cm_layer_plan){
        .workspace_bytes = text_equal(from->state, "planned") ? from->workspace_bytes : 0,
        .reason = arena_strdup(layers->result_arena, from->reason),
    };
    return plan;
}

static void copy_primitive(struct sweep_layers *layers, size_t row, size_t index,
                           const struct cm_result *result) {
    const struct cm_timed *from = &result->measure->primitives[index];
    struct arena *result_arena = layers->result_arena;
    layers->times[row][index] = (struct cm_layer_time){
        .state = arena_strdup(result_arena, from->state),
        .primitive = arena_strdup(result_arena, from->primitive),
        .provider = arena_strdup(result_arena, from->provider),
        .algorithm = arena_strdup(result_arena, from->algorithm),
        .tensor_cores = arena_strdup(result_arena, from->tensor_cores),
        .plan = copy_plan(layers, from, result),
    };
    for (size_t i = 0; i < from->n_nodes; i++) {
        const size_t node = from->nodes[i];
        const size_t at = node * layers->n_rows + row;
        layers->primitive_of[at] = (uint32_t)index;
        layers->latency_of[at] = result->nodes[node].costs.latency_ps;
        const struct cm_node *named = &result->nodes[node];
        struct cm_sweep_layer *label = &layers->labels[node];
        if (label->op != NULL) continue;
        label->op = arena_strdup(result_arena, named->op);
        label->path = arena_strdup(result_arena, result->modules[named->module].path);
        label->node = arena_strdup(result_arena, named->name);
    }
}

void sweep_layers_add(struct sweep_layers *layers, size_t row, const struct cm_result *result) {
    if (!cm_result_timed(result) && !cm_result_planned(result)) return;
    if (layers->n_nodes == 0 && !allocate(layers, result->n_nodes)) return;
    BUG_ON(result->n_nodes != layers->n_nodes);
    const size_t n = result->measure->n_primitives;
    layers->times[row] = arena_array(layers->arena, n, sizeof(struct cm_layer_time));
    if (layers->times[row] == NULL) return;
    for (size_t i = 0; i < n; i++) copy_primitive(layers, row, i, result);
}

/* Sets group_of[node] to the number of its layer, ID_NONE for nodes without a primitive.
 * Returns the number of layers; 0 if out of memory. */
static size_t group_nodes(const struct sweep_layers *layers, uint32_t *group_of) {
    const size_t key_size = layers->n_rows * sizeof(*layers->primitive_of);
    uint32_t n = 0;
    struct map map;
    map_init(&map, layers->arena);
    for (size_t node = 0; node < layers->n_nodes; node++) {
        group_of[node] = ID_NONE;
        if (layers->labels[node].op == NULL) continue;
        const void *key = &layers->primitive_of[node * layers->n_rows];
        if (map_add_n(&map, key, key_size, n, &group_of[node]) != CM_OK) return 0;
        if (group_of[node] == MAP_NONE) group_of[node] = n++;
    }
    return n;
}

/* Adds the node to its layer; the first node labels the layer. */
static void add_node(const struct sweep_layers *layers, size_t node, struct cm_sweep_layer *to,
                     struct cm_layer_time *times) {
    static const struct cm_layer_time none = {CM_UNKNOWN, CM_UNKNOWN, "", "", "", "", "", NULL};
    const bool is_first = to->nodes == 0;
    if (is_first) *to = layers->labels[node];
    to->nodes++;
    for (size_t row = 0; row < layers->n_rows; row++) {
        const size_t at = node * layers->n_rows + row;
        const uint32_t primitive = layers->primitive_of[at];
        const int64_t latency = layers->latency_of[at];
        if (!is_first) {
            const int64_t sum = checked_add(times[row].latency_ps, latency);
            times[row].latency_ps = is_known(sum) ? sum : CM_UNKNOWN;
            continue;
        }
        times[row] = primitive == ID_NONE ? none : layers->times[row][primitive];
        times[row].latency_ps = is_known(latency) ? latency : CM_UNKNOWN;
        times[row].speedup = CM_UNKNOWN;
    }
}

/* Returns false if the layer takes no time in any row, for example a view. */
static bool has_time(const struct cm_sweep_layer *layer) {
    for (size_t i = 0; i < layer->n_times; i++) {
        const struct cm_layer_time *time = &layer->times[i];
        if (is_known(time->latency_ps)
                ? time->latency_ps > 0
                : time->state[0] != '\0' && !text_equal(time->state, "view"))
            return true;
    }
    return false;
}

/* Returns the time per sample in the first row divided by that in this row. */
static int64_t speedup_of(const struct cm_sweep_row *first, int64_t first_ps,
                          const struct cm_sweep_row *row, int64_t ps) {
    if (!is_known(first_ps) || !is_known(ps) || first_ps <= 0 || ps <= 0) return CM_UNKNOWN;
    double ratio = (double)first_ps / (double)ps;
    if (is_known(first->batch) && is_known(row->batch))
        ratio *= (double)row->batch / (double)first->batch;
    return public_ratio(ratio);
}

/* Returns true if the same layers have a time in the first row and in `row`. A layer with an
 * empty state is ignored: it has no primitive, because it is part of another layer's time. */
static bool are_comparable(const struct cm_sweep *sweep, size_t row) {
    for (size_t i = 0; i < sweep->n_layers; i++) {
        const struct cm_layer_time *first = &sweep->layers[i].times[0];
        const struct cm_layer_time *other = &sweep->layers[i].times[row];
        if (first->state[0] == '\0' || other->state[0] == '\0') continue;
        if (is_known(first->latency_ps) != is_known(other->latency_ps)) return false;
    }
    return sweep->n_layers > 0;
}

/* A layer and its place in the order of the nodes. */
struct ranked {
    int64_t latency_ps; /* in the first row */
    size_t index;
};

static int compare_ranks(const void *left, const void *right) {
    const struct ranked *a = left;
    const struct ranked *b = right;
    if (a->latency_ps != b->latency_ps) return a->latency_ps > b->latency_ps ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* Copies the layers that take time into the sweep, longest first, and sets the speed-ups. */
static void sort_layers(struct sweep_layers *layers, const struct cm_sweep_layer *found,
                        size_t n_found, struct cm_sweep_row *rows, struct cm_sweep *ret) {
    const size_t n_rows = layers->n_rows;
    struct ranked *order = arena_array(layers->arena, n_found, sizeof(*order));
    struct cm_sweep_layer *list = arena_array(layers->result_arena, n_found, sizeof(*list));
    struct cm_layer_time *times =
        arena_array(layers->result_arena, n_found * n_rows, sizeof(*times));
    if (order == NULL || list == NULL || times == NULL) return;
    size_t n = 0;
    for (size_t i = 0; i < n_found; i++)
        if (has_time(&found[i])) order[n++] = (struct ranked){found[i].times[0].latency_ps, i};
    if (n > 0) sort_stable(order, n, sizeof(*order), compare_ranks);
    for (size_t i = 0; i < n; i++) {
        list[i] = found[order[i].index];
        for (size_t row = 0; row < n_rows; row++) times[i * n_rows + row] = list[i].times[row];
        list[i].times = &times[i * n_rows];
    }
    ret->n_layers = n;
    ret->layers = list;
    for (size_t i = 0; i < n_rows; i++)
        if (are_comparable(ret, i))
            rows[i].speedup = speedup_of(&rows[0], rows[0].costs.latency_ps, &rows[i],
                                         rows[i].costs.latency_ps);
    for (size_t i = 0; i < n * n_rows; i++) {
        const size_t row = i % n_rows;
        times[i].speedup =
            speedup_of(&rows[0], times[i - row].latency_ps, &rows[row], times[i].latency_ps);
    }
}

void sweep_layers_finish(struct sweep_layers *layers, struct cm_sweep_row *rows,
                         struct cm_sweep *ret) {
    struct arena *arena = layers->arena;
    if (layers->n_nodes == 0 || arena_failed(arena) || arena_failed(layers->result_arena))
        return;
    uint32_t *group_of = arena_array_raw(arena, layers->n_nodes, sizeof(*group_of));
    if (group_of == NULL) return;
    const size_t n = group_nodes(layers, group_of);
    struct cm_sweep_layer *found = arena_array(arena, n, sizeof(*found));
    struct cm_layer_time *times = arena_array(arena, n * layers->n_rows, sizeof(*times));
    if (found == NULL || times == NULL) return;
    for (size_t node = 0; node < layers->n_nodes; node++) {
        const uint32_t group = group_of[node];
        if (group != ID_NONE)
            add_node(layers, node, &found[group], &times[group * layers->n_rows]);
    }
    for (size_t i = 0; i < n; i++) {
        found[i].n_times = layers->n_rows;
        found[i].times = &times[i * layers->n_rows];
    }
    sort_layers(layers, found, n, rows, ret);
}
