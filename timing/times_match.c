/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assigns the layers of imported times to nodes, in four steps:
 *
 *  - Names: a layer runs the nodes that are named by its name, its metadata or its outputs.
 *
 *  - Upstream: a layer may have the name of its last node but the operator of an earlier one.
 *    It runs both nodes and all nodes between them. Example: the layer relu_output_nchwc with
 *    operator Conv runs conv, bn and relu.
 *
 *  - Dataflow: a layer with a generated name (BiasGelu_3) ends with a free node (one that is
 *    not assigned to a layer) whose output has the shape of the layer's output. In the graph,
 *    this node is between nodes of layers that ran before and after this layer.
 *
 *  - Leftovers: a node that is still free, except convolutions and matrix products, is assumed
 *    to be fused into the layer that computes its operand or reads its result. Layers with a
 *    fused name or operator take precedence.
 *
 * Only ONNX Runtime needs the last three steps: other tools name every node. Views need no
 * layer: their time is 0 unless a layer runs them.
 */
#include "timing/primitives.h"
#include "timing/times_import.h"

#include <string.h>

#include "backends/primitive.h"
#include "backends/times/times.h"
#include "passes/memory/liveness.h"
#include "passes/walk/walk.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/map.h"
#include "support/text.h"

/* Maximum number of comparisons of layers with nodes: limits the run time for hostile files. */
#define MAX_COMPARISONS ((uint64_t)1 << 28)

struct pair {
    uint32_t layer;
    uint32_t node;
};

struct pairs {
    size_t n;
    struct pair *items;
};

struct matching {
    const struct timing *timing;
    struct imported *imported;
    struct map nodes;                    /* by name */
    struct map values;                   /* by name */
    struct map details;                  /* by layer name: index into detailed */
    const struct times_layer **detailed; /* layers of layer information files (no times) */
    uint32_t *owner;        /* by node: the first layer that runs it; ID_NONE if free */
    uint32_t *stamps;       /* by node: 1 + the layer that was last assigned to it */
    uint32_t *queue;        /* scratch, by node */
    bool *fused;            /* by layer: its name or operator differs from that of its node */
    enum times_role *roles; /* by layer */
    struct pairs runs;      /* nodes that share the time of a layer */
    struct pairs places;    /* nodes that locate a layer in the module tree (copy, opaque) */
    struct pairs inside;    /* nodes of an opaque block */
    uint64_t n_compared;
};

static const struct node *node_at(const struct matching *matching, uint32_t id) {
    return &matching->timing->core.model->nodes[id];
}

/* Returns true if the node is not assigned to a layer and has a non-constant output, so the
 * runtime must compute it. */
static bool is_free(const struct matching *matching, uint32_t id) {
    const struct node *node = node_at(matching, id);
    if (matching->owner[id] != ID_NONE) return false;
    for (size_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != ID_NONE &&
            !matching->timing->core.infer->infos[node->outputs[i]].is_constant)
            return true;
    return false;
}

/* Records that the layer runs the node. */
static void assign(struct matching *matching, uint32_t layer, uint32_t node) {
    if (matching->stamps[node] == layer + 1) return;
    matching->stamps[node] = layer + 1;
    if (matching->owner[node] == ID_NONE) matching->owner[node] = layer;
    matching->runs.items[matching->runs.n++] = (struct pair){layer, node};
}

/* Returns the node that computes operand i; ID_NONE if there is none. */
static uint32_t producer(const struct matching *matching, const struct node *node, size_t i) {
    const uint32_t value = node->inputs[i];
    return value == ID_NONE ? ID_NONE : matching->timing->core.model->values[value].node;
}

static int index_names(struct matching *matching, const struct cm_times *const *files,
                       size_t n_files) {
    const struct model *model = matching->timing->core.model;
    uint32_t known = 0;
    size_t n = 0;
    int status = CM_OK;
    for (uint32_t id = 0; id < model->n_nodes && status == CM_OK; id++)
        if (model->nodes[id].name[0] != '\0')
            status = map_add(&matching->nodes, model->nodes[id].name, id, &known);
    for (uint32_t id = 0; id < model->n_values && status == CM_OK; id++)
        status = map_add(&matching->values, model->values[id].name, id, &known);
    for (size_t i = 0; i < n_files; i++) n += files[i]->has_times ? 0 : files[i]->n;
    matching->detailed =
        arena_array(matching->timing->core.scratch, n, sizeof(*matching->detailed));
    if (matching->detailed == NULL) return CM_NO_MEMORY;
    n = 0;
    for (size_t i = 0; i < n_files && status == CM_OK; i++)
        for (size_t k = 0; k < files[i]->n && !files[i]->has_times && status == CM_OK; k++) {
            matching->detailed[n] = &files[i]->layers[k];
            status =
                map_add(&matching->details, files[i]->layers[k].name, (uint32_t)n++, &known);
        }
    return status;
}

/* Finds a node by its name, by the name of a value that it computes, or by its number ("#17").
 * Returns ID_NONE if the name belongs to a graph input or weight, or is unknown (*ret_known is
 * false). */
static uint32_t find_node(const struct matching *matching, const char *name, bool *ret_known) {
    int64_t index = 0;
    *ret_known = true;
    const uint32_t node = map_get(&matching->nodes, name);
    if (node != MAP_NONE) return node;
    const uint32_t value = map_get(&matching->values, name);
    if (value != MAP_NONE) return matching->timing->core.model->values[value].node;
    *ret_known = name[0] == '#' && text_to_int64(name + 1, strlen(name + 1), &index) &&
                 index >= 0 && (uint64_t)index < matching->timing->core.model->n_nodes;
    return *ret_known ? (uint32_t)index : ID_NONE;
}

/* Records a node that locates a layer in the module tree. */
static void place(struct matching *matching, uint32_t layer, uint32_t node) {
    matching->places.items[matching->places.n++] = (struct pair){layer, node};
}

/* Step 1, names: a layer with exactly the name of a node runs only that node; otherwise the
 * layer runs or copies the nodes in its refs. */
static void match_names(struct matching *matching, uint32_t layer) {
    const struct times_layer *from = matching->imported->layers[layer].from;
    const uint32_t detail = map_get(&matching->details, from->name);
    const uint32_t same = map_get(&matching->nodes, from->name);
    matching->roles[layer] = from->role;
    if (same != MAP_NONE) {
        matching->fused[layer] =
            from->op[0] != '\0' && !text_equal(from->op, node_at(matching, same)->type);
        assign(matching, layer, same);
        return;
    }
    if (detail != MAP_NONE) from = matching->detailed[detail];
    for (size_t i = 0; i < from->n_refs; i++) {
        bool is_known_name = false;
        const uint32_t node = find_node(matching, from->refs[i].name, &is_known_name);
        if (!is_known_name || (node == ID_NONE && from->refs[i].role == TIMES_RUNS)) continue;
        matching->roles[layer] = from->refs[i].role;
        matching->fused[layer] = true;
        if (from->refs[i].role == TIMES_RUNS)
            assign(matching, layer, node);
        else if (node != ID_NONE)
            place(matching, layer, node);
        if (from->alternatives) return;
    }
}

/* Assigns the free nodes from the first to the last place of each opaque block, in execution
 * order, to the block. */
static void mark_blocks(struct matching *matching) {
    const struct liveness_table *liveness = matching->timing->core.liveness;
    const struct pairs *places = &matching->places;
    for (size_t i = 0; i < places->n;) {
        const uint32_t layer = places->items[i].layer;
        uint32_t first = UINT32_MAX;
        uint32_t last = 0;
        for (; i < places->n && places->items[i].layer == layer; i++) {
            const uint32_t step = liveness->step_of[places->items[i].node];
            if (step < first) first = step;
            if (step > last) last = step;
        }
        if (matching->roles[layer] != TIMES_CONTAINS) continue;
        matching->n_compared += last - first;
        if (matching->n_compared > MAX_COMPARISONS) continue;
        for (uint32_t step = first; step <= last; step++) {
            const uint32_t node = liveness->node_at[step];
            if (!is_free(matching, node)) continue;
            matching->owner[node] = layer;
            matching->inside.items[matching->inside.n++] = (struct pair){layer, node};
        }
    }
}

/* Returns true if the operator name of the layer contains that of the node: "FusedConv" and
 * "QLinearConv" contain "Conv". */
static bool has_operator(const struct times_layer *layer, const struct node *node) {
    return strstr(layer->op, node->type) != NULL;
}

/* Writes `node` and its free predecessors to `queue`; the search stops at nodes with the
 * layer's operator. Returns the number of nodes; sets *ret_found if one has the operator. */
static size_t list_upstream(struct matching *matching, const struct times_layer *layer,
                            uint32_t node, bool *ret_found) {
    size_t n = 1;
    matching->queue[0] = node;
    *ret_found = false;
    for (size_t i = 0; i < n; i++) {
        const struct node *at = node_at(matching, matching->queue[i]);
        if (i > 0 && has_operator(layer, at)) {
            *ret_found = true;
            continue;
        }
        for (size_t k = 0; k < at->n_inputs; k++) {
            const uint32_t from = producer(matching, at, k);
            if (from == ID_NONE || !is_free(matching, from)) continue;
            bool is_listed = false;
            for (size_t j = 0; j < n && !is_listed; j++) is_listed = matching->queue[j] == from;
            if (!is_listed && n < 64) matching->queue[n++] = from;
        }
    }
    return n;
}

/* Step 2, upstream. */
static void match_upstream(struct matching *matching) {
    const size_t n_named = matching->runs.n;
    for (size_t i = 0; i < n_named; i++) {
        const struct pair run = matching->runs.items[i];
        const struct times_layer *from = matching->imported->layers[run.layer].from;
        bool found = false;
        if (!from->alternatives || !matching->fused[run.layer] ||
            has_operator(from, node_at(matching, run.node)))
            continue;
        const size_t n = list_upstream(matching, from, run.node, &found);
        for (size_t k = 1; k < n && found; k++) assign(matching, run.layer, matching->queue[k]);
    }
}

/* The layers between which a free node ran, as far as dataflow tells. */
struct window {
    int64_t after;  /* last layer among its predecessors; -1 if none */
    int64_t before; /* first layer among its successors; INT64_MAX if none */
};

/* Returns the window of each node; NULL if out of memory. Only free nodes are between a node
 * and the layers of its window. */
static struct window *find_windows(const struct matching *matching) {
    const struct liveness_table *liveness = matching->timing->core.liveness;
    const struct model *model = matching->timing->core.model;
    struct window *windows =
        arena_array(matching->timing->core.scratch, model->n_nodes, sizeof(*windows));
    if (windows == NULL) return NULL;
    for (uint32_t step = 0; step < liveness->n_steps; step++) {
        const uint32_t id = liveness->node_at[step];
        const struct node *node = &model->nodes[id];
        windows[id] = (struct window){-1, INT64_MAX};
        for (size_t i = 0; i < node->n_inputs; i++) {
            const uint32_t from = producer(matching, node, i);
            if (from == ID_NONE) continue;
            const uint32_t owner = matching->owner[from];
            const int64_t at = owner == ID_NONE ? windows[from].after : (int64_t)owner;
            if (at > windows[id].after) windows[id].after = at;
        }
    }
    for (uint32_t step = liveness->n_steps; step-- > 0;) {
        const uint32_t id = liveness->node_at[step];
        const struct node *node = &model->nodes[id];
        for (size_t i = 0; i < node->n_outputs; i++) {
            const uint32_t value = node->outputs[i];
            for (size_t k = 0; value != ID_NONE && k < model->values[value].n_uses; k++) {
                const uint32_t reader = model->values[value].uses[k].node;
                const uint32_t owner = matching->owner[reader];
                const int64_t at = owner == ID_NONE ? windows[reader].before : (int64_t)owner;
                if (at < windows[id].before) windows[id].before = at;
            }
        }
    }
    return windows;
}

/* Returns true if no free node reads the results. */
static bool is_last(const struct matching *matching, uint32_t id) {
    const struct model *model = matching->timing->core.model;
    for (size_t i = 0; i < model->nodes[id].n_outputs; i++) {
        const uint32_t value = model->nodes[id].outputs[i];
        for (size_t k = 0; value != ID_NONE && k < model->values[value].n_uses; k++)
            if (is_free(matching, model->values[value].uses[k].node)) return false;
    }
    return true;
}

bool times_may_have_shape(const struct times_layer *layer, const struct shape *shape) {
    if (layer->rank < 0 || shape->rank < 0) return true;
    if (shape->rank != layer->rank) return false;
    for (int axis = 0; axis < shape->rank; axis++)
        if (is_known(shape->dims[axis]) && shape->dims[axis] != layer->dims[axis]) return false;
    return true;
}

/* Returns the last node of a layer with a generated name. In order of preference: a free node
 * with the operator of the layer, one whose operator is part of the layer's operator, the last
 * of a chain of free nodes; ID_NONE if none. Sets *ret_same if the operators are equal. */
static uint32_t find_end(struct matching *matching, const struct window *windows,
                         const uint32_t *free_nodes, size_t n_free, uint32_t layer,
                         bool *ret_same) {
    const struct times_layer *from = matching->imported->layers[layer].from;
    const struct value_info *infos = matching->timing->core.infer->infos;
    uint32_t fused = ID_NONE;
    uint32_t last = ID_NONE;
    *ret_same = false;
    matching->n_compared += n_free;
    if (matching->n_compared > MAX_COMPARISONS) return ID_NONE;
    for (size_t i = 0; i < n_free; i++) {
        const uint32_t id = free_nodes[i];
        const struct node *node = node_at(matching, id);
        if (matching->owner[id] != ID_NONE || windows[id].after >= (int64_t)layer ||
            windows[id].before <= (int64_t)layer || node->n_outputs == 0 ||
            node->outputs[0] == ID_NONE ||
            !times_may_have_shape(from, &infos[node->outputs[0]].shape))
            continue;
        *ret_same = text_equal(from->op, node->type);
        if (*ret_same) return id;
        if (fused == ID_NONE && has_operator(from, node)) fused = id;
        if (last == ID_NONE && from->rank >= 0 && is_last(matching, id)) last = id;
    }
    return fused != ID_NONE ? fused : last;
}

/* Step 3, dataflow: a fused layer also runs the free predecessors of its last node. */
static int match_dataflow(struct matching *matching) {
    const struct timing *timing = matching->timing;
    const struct window *windows = find_windows(matching);
    uint32_t *free_nodes =
        arena_array(timing->core.scratch, timing->core.model->n_nodes, sizeof(*free_nodes));
    size_t n_free = 0;
    if (windows == NULL || free_nodes == NULL) return CM_NO_MEMORY;
    for (uint32_t step = 0; step < timing->core.liveness->n_steps; step++)
        if (is_free(matching, timing->core.liveness->node_at[step]))
            free_nodes[n_free++] = timing->core.liveness->node_at[step];
    for (uint32_t layer = 0; layer < matching->imported->n; layer++) {
        const struct times_layer *from = matching->imported->layers[layer].from;
        bool same = false;
        bool found = false;
        if (matching->fused[layer] || map_get(&matching->nodes, from->name) != MAP_NONE)
            continue;
        const uint32_t end = find_end(matching, windows, free_nodes, n_free, layer, &same);
        if (end == ID_NONE || (from->role == TIMES_COPIES && !same)) continue;
        matching->fused[layer] = !same;
        const size_t n = same ? 1 : list_upstream(matching, from, end, &found);
        matching->queue[0] = end;
        for (size_t i = 0; i < n; i++) assign(matching, layer, matching->queue[i]);
    }
    return CM_OK;
}

/* Returns the last layer that computes an operand; ID_NONE if none. `fused`: consider only
 * fused layers. */
static uint32_t layer_before(const struct matching *matching, uint32_t id, bool fused) {
    const struct node *node = node_at(matching, id);
    uint32_t latest = ID_NONE;
    for (size_t i = 0; i < node->n_inputs; i++) {
        const uint32_t from = producer(matching, node, i);
        /* Skip nodes of other graphs: a branch that was not taken has no layers. */
        if (from == ID_NONE || node_at(matching, from)->graph != node->graph) continue;
        const uint32_t owner = matching->owner[from];
        if (owner == ID_NONE || (fused && !matching->fused[owner])) continue;
        if (latest == ID_NONE || owner > latest) latest = owner;
    }
    return latest;
}

/* Returns the first layer that reads a result; ID_NONE if none. `fused`: consider only fused
 * layers. */
static uint32_t layer_after(const struct matching *matching, uint32_t id, bool fused) {
    const struct model *model = matching->timing->core.model;
    uint32_t first = ID_NONE;
    for (size_t i = 0; i < model->nodes[id].n_outputs; i++) {
        const uint32_t value = model->nodes[id].outputs[i];
        for (size_t k = 0; value != ID_NONE && k < model->values[value].n_uses; k++) {
            const uint32_t reader = model->values[value].uses[k].node;
            const uint32_t owner = matching->owner[reader];
            if (model->nodes[reader].graph != model->nodes[id].graph) continue;
            if (owner == ID_NONE || (fused && !matching->fused[owner])) continue;
            if (first == ID_NONE || owner < first) first = owner;
        }
    }
    return first;
}

/* Step 4, leftovers: rounds 0 and 1 consider only fused layers, rounds 2 and 3 all layers. Even
 * rounds visit nodes in execution order and assign each to the layer of an operand, odd rounds
 * in reverse order to the layer of a reader. */
static void match_leftovers(struct matching *matching) {
    const struct liveness_table *liveness = matching->timing->core.liveness;
    const struct primitives_table *primitives = matching->timing->primitives;
    for (int round = 0; round < 4; round++) {
        const bool forward = round % 2 == 0;
        for (uint32_t i = 0; i < liveness->n_steps; i++) {
            const uint32_t step = forward ? i : liveness->n_steps - 1 - i;
            const uint32_t id = liveness->node_at[step];
            if (!is_free(matching, id) ||
                primitive_is_product(&primitives->items[primitives->of_node[id]]))
                continue;
            const uint32_t layer = forward ? layer_before(matching, id, round < 2)
                                           : layer_after(matching, id, round < 2);
            if (layer != ID_NONE) assign(matching, layer, id);
        }
    }
}

/* Places a copy without a target at the nodes of the previous and the next layer. */
static void place_copies(struct matching *matching) {
    const struct imported *imported = matching->imported;
    uint32_t *first = matching->stamps; /* by layer: its first node; reuses the array */
    const size_t n = imported->n;
    for (size_t i = 0; i < n; i++) first[i] = ID_NONE;
    for (size_t i = matching->places.n; i-- > 0;)
        first[matching->places.items[i].layer] = matching->places.items[i].node;
    for (size_t i = matching->runs.n; i-- > 0;)
        first[matching->runs.items[i].layer] = matching->runs.items[i].node;
    for (int round = 0; round < 2; round++) {
        uint32_t nearest = ID_NONE; /* node of the layer before, then of the layer after */
        for (size_t i = 0; i < n; i++) {
            const uint32_t layer = (uint32_t)(round == 0 ? i : n - 1 - i);
            if (first[layer] != ID_NONE)
                nearest = first[layer];
            else if (matching->roles[layer] == TIMES_COPIES && nearest != ID_NONE)
                place(matching, layer, nearest);
        }
    }
}

struct groups {
    size_t *from;
    uint32_t *nodes;
};

/* Groups the nodes of the pairs by layer: layer i has the nodes ret->nodes[ret->from[i]] to
 * ret->nodes[ret->from[i + 1] - 1]. */
static int group(const struct matching *matching, const struct pairs *pairs,
                 struct groups *ret) {
    const size_t n = matching->imported->n;
    ret->from = arena_array(matching->timing->core.scratch, n + 2, sizeof(*ret->from));
    ret->nodes = arena_array(matching->timing->core.arena, pairs->n, sizeof(*ret->nodes));
    if (ret->from == NULL || ret->nodes == NULL) return CM_NO_MEMORY;
    for (size_t i = 0; i < pairs->n; i++) ret->from[pairs->items[i].layer + 2]++;
    for (size_t i = 2; i < n + 2; i++) ret->from[i] += ret->from[i - 1];
    for (size_t i = 0; i < pairs->n; i++)
        ret->nodes[ret->from[pairs->items[i].layer + 1]++] = pairs->items[i].node;
    return CM_OK;
}

/* Sets the nodes, places, inside and state of each layer. */
static int finish(const struct matching *matching) {
    static const enum cm_measure_state states[] = {[TIMES_RUNS] = CM_UNPLACED,
                                                   [TIMES_COPIES] = CM_COPY_LAYER,
                                                   [TIMES_CONTAINS] = CM_OPAQUE};
    struct groups runs, places, inside;
    if (group(matching, &matching->runs, &runs) < 0 ||
        group(matching, &matching->places, &places) < 0 ||
        group(matching, &matching->inside, &inside) < 0)
        return CM_NO_MEMORY;
    for (size_t i = 0; i < matching->imported->n; i++) {
        struct imported_layer *layer = &matching->imported->layers[i];
        layer->n_nodes = runs.from[i + 1] - runs.from[i];
        layer->nodes = runs.nodes + runs.from[i];
        layer->n_places = places.from[i + 1] - places.from[i];
        layer->places = places.nodes + places.from[i];
        layer->n_inside = inside.from[i + 1] - inside.from[i];
        layer->inside = inside.nodes + inside.from[i];
        layer->state = states[matching->roles[i]];
        if (layer->n_nodes > 0) layer->state = layer->n_nodes > 1 ? CM_SPLIT : CM_IMPORTED;
        if (layer->state == CM_OPAQUE && layer->n_places == 0) layer->state = CM_UNPLACED;
    }
    return CM_OK;
}

static int make_tables(struct matching *matching) {
    const struct imported *imported = matching->imported;
    const size_t n_nodes = matching->timing->core.model->n_nodes;
    const size_t n_stamps = n_nodes > imported->n ? n_nodes : imported->n;
    struct arena *scratch = matching->timing->core.scratch;
    size_t n = n_nodes + 3 * imported->n;
    for (size_t i = 0; i < imported->n; i++) n += imported->layers[i].from->n_refs;
    for (size_t i = 0; i < matching->details.n_entries; i++) /* layer names are distinct */
        n += matching->detailed[matching->details.entries[i].value]->n_refs;
    matching->owner = arena_array(scratch, n_nodes, sizeof(*matching->owner));
    matching->stamps = arena_array(scratch, n_stamps, sizeof(*matching->stamps));
    matching->queue = arena_array(scratch, n_nodes + 64, sizeof(*matching->queue));
    matching->fused = arena_array(scratch, imported->n, sizeof(*matching->fused));
    matching->roles = arena_array(scratch, imported->n, sizeof(*matching->roles));
    matching->runs.items = arena_array(scratch, n, sizeof(struct pair));
    matching->places.items = arena_array(scratch, n, sizeof(struct pair));
    matching->inside.items = arena_array(scratch, n_nodes, sizeof(struct pair));
    if (arena_failed(scratch)) return CM_NO_MEMORY;
    for (size_t i = 0; i < n_nodes; i++) matching->owner[i] = ID_NONE;
    return CM_OK;
}

int times_match(const struct timing *timing, const struct cm_times *const *files,
                size_t n_files, struct imported *imported) {
    struct matching matching = {.timing = timing, .imported = imported};
    map_init(&matching.nodes, timing->core.scratch);
    map_init(&matching.values, timing->core.scratch);
    map_init(&matching.details, timing->core.scratch);
    if (index_names(&matching, files, n_files) < 0 || make_tables(&matching) < 0)
        return diag_no_memory(timing->core.diag);
    bool is_onnxruntime = imported->n > 0;
    for (uint32_t layer = 0; layer < imported->n; layer++) {
        is_onnxruntime = is_onnxruntime && imported->layers[layer].from->alternatives;
        match_names(&matching, layer);
    }
    mark_blocks(&matching);
    match_upstream(&matching);
    if (is_onnxruntime && match_dataflow(&matching) < 0)
        return diag_no_memory(timing->core.diag);
    if (is_onnxruntime) match_leftovers(&matching);
    place_copies(&matching);
    if (finish(&matching) < 0 ||
        times_compare_shapes(timing, &matching.nodes, &matching.values, imported) < 0)
        return diag_no_memory(timing->core.diag);
    return CM_OK;
}
