/* SPDX-License-Identifier: Apache-2.0 */
/* Assigns the layers of imported times to nodes, in four steps:
 *
 *  - Names: a layer runs the nodes that are named by its name, its metadata or its outputs.
 *
 *  - Upstream: a layer may have the name of its last node but the operator of an earlier one.
 *    It runs both nodes and all nodes between them. Example: the layer relu_output_nchwc with
 *    operator Conv runs conv, bn and relu.
 *
 *  - Dataflow: a layer with a generated name (BiasGelu_3) ends with the last free node (one
 *    that is not assigned to a layer) whose output has the shape of the layer's output and
 *    whose operands are computed by earlier layers.
 *
 *  - Leftovers: a node that is still free, except convolutions and matrix products, is assumed
 *    to be fused into the layer that computes its operand or reads its result. Layers with a
 *    fused name or operator take precedence.
 *
 * Layers of tools that do not name nodes, or not all, (PyTorch, OpenVINO) are found by their
 * order instead of dataflow (times_align.c). TensorRT names every node: only names count. Views
 * need no layer: their time is 0 unless a layer runs them. */
#include "timing/primitives.h"
#include "timing/times_import.h"

#include <string.h>

#include "backends/primitive.h"
#include "backends/times/times.h"
#include "backends/times/times_names.h"
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

struct matching {
    const struct timing *timing;
    struct imported *imported;
    struct map nodes;                    /* by name */
    struct map values;                   /* by name */
    struct map details;                  /* by layer name: index into detailed */
    const struct times_layer **detailed; /* layers of layer information files (no times) */
    uint32_t *owner;   /* by node: the first layer that runs it; ID_NONE if free */
    uint32_t *stamps;  /* by node: 1 + the layer that was last assigned to it */
    uint32_t *queue;   /* scratch, by node */
    bool *fused;       /* by layer: its name or operator differs from that of its node */
    struct pair *runs; /* nodes that share the time of a layer */
    size_t n_runs;
    uint32_t *places; /* nodes that locate layers in the module tree (copy, opaque) */
    size_t n_places;
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
    matching->runs[matching->n_runs++] = (struct pair){layer, node};
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

/* Records a node that locates a layer in the module tree; the nodes of a layer adjoin. */
static void place(struct matching *matching, struct imported_layer *layer, uint32_t node) {
    if (node == ID_NONE) return;
    if (layer->n_places++ == 0) layer->places = matching->places + matching->n_places;
    matching->places[matching->n_places++] = node;
}

static enum cm_measure_state state_of(enum times_role role) {
    if (role == TIMES_RUNS) return CM_UNPLACED;
    return role == TIMES_COPIES ? CM_COPY_LAYER : CM_OPAQUE;
}

/* Step 1, names: a layer with exactly the name of a node runs only that node; otherwise the
 * layer runs or copies the nodes in its refs. */
static void match_names(struct matching *matching, uint32_t layer) {
    struct imported_layer *imported = &matching->imported->layers[layer];
    const struct times_layer *from = imported->from;
    /* Layers of TensorRT have no operators, so that their names differ. */
    const uint32_t detail =
        from->op[0] == '\0' ? map_get(&matching->details, from->name) : MAP_NONE;
    const uint32_t same = map_get(&matching->nodes, from->name);
    imported->state = state_of(from->role);
    if (same != MAP_NONE) {
        matching->fused[layer] =
            from->op[0] != '\0' && !text_equal(from->op, node_at(matching, same)->type);
        assign(matching, layer, same);
        if (from->types == NULL) return;
    }
    if (detail != MAP_NONE) from = matching->detailed[detail];
    for (size_t i = 0; i < from->n_refs; i++) {
        bool is_known_name = false;
        const uint32_t node = find_node(matching, from->refs[i].name, &is_known_name);
        if (!is_known_name || (node == ID_NONE && from->refs[i].role == TIMES_RUNS)) continue;
        imported->state = state_of(from->refs[i].role);
        matching->fused[layer] = true;
        if (from->refs[i].role == TIMES_RUNS)
            assign(matching, layer, node);
        else
            place(matching, imported, node);
        if (from->alternatives) return;
    }
}

/* Assigns the free nodes from the first to the last place of each opaque block, in execution
 * order, to the block. */
static int mark_blocks(struct matching *matching) {
    const struct analysis *core = &matching->timing->core;
    const struct liveness_table *liveness = core->liveness;
    uint32_t *inside = arena_array(core->arena, core->model->n_nodes, sizeof(*inside));
    if (!inside) return CM_NO_MEMORY;
    for (uint32_t i = 0; i < matching->imported->n; i++) {
        struct imported_layer *layer = &matching->imported->layers[i];
        uint32_t first = UINT32_MAX;
        uint32_t last = 0;
        if (layer->state != CM_OPAQUE) continue;
        if (layer->n_places == 0) layer->state = CM_UNPLACED;
        for (size_t k = 0; k < layer->n_places; k++) {
            const uint32_t step = liveness->step_of[layer->places[k]];
            if (step < first) first = step;
            if (step > last) last = step;
        }
        layer->inside = inside;
        for (uint32_t step = first; step <= last; step++) {
            const uint32_t node = liveness->node_at[step];
            if (++matching->n_compared > MAX_COMPARISONS) break;
            if (!is_free(matching, node)) continue;
            matching->owner[node] = i;
            layer->n_inside++;
            *inside++ = node;
        }
    }
    return CM_OK;
}

/* Returns true if the operator name of the layer contains that of the node: "FusedConv" and
 * "QLinearConv" contain "Conv". */
static bool has_operator(const struct times_layer *layer, const struct node *node) {
    if (layer->types != NULL)
        return times_has_word(layer->types, node->type, strlen(node->type));
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
            if (!layer->many) continue;
        }
        for (size_t k = 0; k < at->n_inputs; k++) {
            const uint32_t from = producer(matching, at, k);
            if (from == ID_NONE || !is_free(matching, from)) continue;
            bool is_listed = false;
            for (size_t j = 0; j < n && !is_listed; j++) is_listed = matching->queue[j] == from;
            if (!is_listed && n < 64) matching->queue[n++] = from;
            /* One product: of two branches that an Add joins, that of its first operand. */
            if (layer->types != NULL && !layer->many) break;
        }
    }
    return n;
}

/* Step 2, upstream. */
static void match_upstream(struct matching *matching) {
    const size_t n_named = matching->n_runs;
    for (size_t i = 0; i < n_named; i++) {
        const struct pair run = matching->runs[i];
        const struct times_layer *from = matching->imported->layers[run.layer].from;
        bool found = false;
        if ((!from->alternatives && !from->types) || !matching->fused[run.layer] ||
            has_operator(from, node_at(matching, run.node)))
            continue;
        const size_t n = list_upstream(matching, from, run.node, &found);
        for (size_t k = 1; k < n && found; k++) assign(matching, run.layer, matching->queue[k]);
    }
}

/* Returns, by node, 1 + the last layer among its predecessors, between which and the node are
 * only free nodes; 0 if none. Returns NULL if out of memory. */
static const uint32_t *find_earliest(const struct matching *matching) {
    const struct analysis *core = &matching->timing->core;
    uint32_t *earliest = arena_array(core->scratch, core->model->n_nodes, sizeof(*earliest));
    for (uint32_t step = 0; earliest && step < core->liveness->n_steps; step++) {
        const uint32_t id = core->liveness->node_at[step];
        const struct node *node = node_at(matching, id);
        for (size_t i = 0; i < node->n_inputs; i++) {
            const uint32_t from = producer(matching, node, i);
            if (from == ID_NONE) continue;
            const uint32_t owner = matching->owner[from];
            const uint32_t at = owner == ID_NONE ? earliest[from] : owner + 1;
            if (at > earliest[id]) earliest[id] = at;
        }
    }
    return earliest;
}

/* Returns false if the shape of the layer's output is known to differ. */
static bool may_have_shape(const struct times_layer *layer, const struct shape *shape) {
    if (layer->rank < 0 || shape->rank < 0) return true;
    if (shape->rank != layer->rank) return false;
    for (int axis = 0; axis < shape->rank; axis++)
        if (is_known(shape->dims[axis]) && shape->dims[axis] != layer->dims[axis]) return false;
    return true;
}

/* Returns the last node of a layer with a generated name: the first free node with the operator
 * of the layer, else the last free node; ID_NONE if none. Sets *ret_same if the operators are
 * equal. */
static uint32_t find_end(struct matching *matching, const uint32_t *earliest, uint32_t layer,
                         bool *ret_same) {
    const struct analysis *core = &matching->timing->core;
    const struct times_layer *from = matching->imported->layers[layer].from;
    uint32_t last = ID_NONE;
    matching->n_compared += core->liveness->n_steps;
    if (matching->n_compared > MAX_COMPARISONS) return ID_NONE;
    for (uint32_t step = 0; step < core->liveness->n_steps; step++) {
        const uint32_t id = core->liveness->node_at[step];
        const struct node *node = node_at(matching, id);
        if (!is_free(matching, id) || earliest[id] > layer || node->outputs[0] == ID_NONE ||
            !may_have_shape(from, &core->infer->infos[node->outputs[0]].shape))
            continue;
        *ret_same = text_equal(from->op, node->type);
        if (*ret_same) return id;
        last = id;
    }
    return last;
}

/* Step 3, dataflow: a fused layer also runs the free predecessors of its last node. */
static int match_dataflow(struct matching *matching) {
    const uint32_t *earliest = find_earliest(matching);
    if (earliest == NULL) return CM_NO_MEMORY;
    for (uint32_t layer = 0; layer < matching->imported->n; layer++) {
        const struct times_layer *from = matching->imported->layers[layer].from;
        bool same = false;
        bool found = false;
        if (matching->fused[layer] || map_get(&matching->nodes, from->name) != MAP_NONE)
            continue;
        const uint32_t end = find_end(matching, earliest, layer, &same);
        if (end == ID_NONE || (from->role == TIMES_COPIES && !same)) continue;
        matching->fused[layer] = !same;
        const size_t n = same ? 1 : list_upstream(matching, from, end, &found);
        matching->queue[0] = end;
        for (size_t i = 0; i < n; i++) assign(matching, layer, matching->queue[i]);
    }
    return CM_OK;
}

/* Returns `nearest` or the layer of `other`, a neighbour of node `id`: the later one if
 * `before`, else the earlier one. `fused`: consider only fused layers. */
static uint32_t nearer(const struct matching *matching, uint32_t id, uint32_t other,
                       bool before, bool fused, uint32_t nearest) {
    /* Skip nodes of other graphs: a branch that was not taken has no layers. */
    if (other == ID_NONE || node_at(matching, other)->graph != node_at(matching, id)->graph)
        return nearest;
    const uint32_t owner = matching->owner[other];
    if (owner == ID_NONE || (fused && !matching->fused[owner])) return nearest;
    return nearest == ID_NONE || (before ? owner > nearest : owner < nearest) ? owner : nearest;
}

/* Returns the last layer that computes an operand (`before`), or the first layer that reads a
 * result; ID_NONE if none. */
static uint32_t find_neighbour(const struct matching *matching, uint32_t id, bool before,
                               bool fused) {
    const struct model *model = matching->timing->core.model;
    const struct node *node = &model->nodes[id];
    uint32_t nearest = ID_NONE;
    for (size_t i = 0; before && i < node->n_inputs; i++)
        nearest = nearer(matching, id, producer(matching, node, i), before, fused, nearest);
    for (size_t i = 0; !before && i < node->n_outputs; i++) {
        const uint32_t value = node->outputs[i];
        for (size_t k = 0; value != ID_NONE && k < model->values[value].n_uses; k++)
            nearest =
                nearer(matching, id, model->values[value].uses[k].node, before, fused, nearest);
    }
    return nearest;
}

/* Step 4, leftovers: assigns each node to the layer of an operand or, in reverse order, of a
 * reader, if the layer is fused; then to any layer of an operand. */
static void match_leftovers(struct matching *matching) {
    const struct liveness_table *liveness = matching->timing->core.liveness;
    const struct primitives_table *primitives = matching->timing->primitives;
    for (int round = 0; round < 3; round++)
        for (uint32_t i = 0; i < liveness->n_steps; i++) {
            const bool before = round != 1;
            const uint32_t id = liveness->node_at[before ? i : liveness->n_steps - 1 - i];
            if (!is_free(matching, id) ||
                primitive_is_product(&primitives->items[primitives->of_node[id]]))
                continue;
            const uint32_t layer = find_neighbour(matching, id, before, round < 2);
            if (layer != ID_NONE) assign(matching, layer, id);
        }
}

/* Sets the nodes of each layer. */
static int group_runs(const struct matching *matching) {
    struct imported *imported = matching->imported;
    uint32_t *nodes =
        arena_array(matching->timing->core.arena, matching->n_runs, sizeof(*nodes));
    uint32_t *next = arena_array(matching->timing->core.scratch, imported->n, sizeof(*next));
    uint32_t n = 0;
    if (!nodes || !next) return CM_NO_MEMORY;
    for (size_t i = 0; i < matching->n_runs; i++)
        imported->layers[matching->runs[i].layer].n_nodes++;
    for (size_t i = 0; i < imported->n; i++) {
        next[i] = n;
        imported->layers[i].nodes = nodes + n;
        n += (uint32_t)imported->layers[i].n_nodes;
    }
    for (size_t i = 0; i < matching->n_runs; i++)
        nodes[next[matching->runs[i].layer]++] = matching->runs[i].node;
    return CM_OK;
}

/* Returns the first node that the layer runs or is placed at; ID_NONE if none. */
static uint32_t first_node(const struct imported_layer *layer) {
    if (layer->n_nodes > 0) return layer->nodes[0];
    return layer->n_places > 0 ? layer->places[0] : ID_NONE;
}

/* Places copies without a target at the nodes of the previous and the next layer. */
static void place_copies(struct matching *matching) {
    const struct imported *imported = matching->imported;
    uint32_t before = ID_NONE;
    for (size_t i = 0; i < imported->n; i++) {
        size_t next = i;
        while (next < imported->n && first_node(&imported->layers[next]) == ID_NONE) next++;
        const uint32_t after =
            next < imported->n ? first_node(&imported->layers[next]) : ID_NONE;
        for (; i < next; i++) {
            if (imported->layers[i].state != CM_COPY_LAYER) continue;
            place(matching, &imported->layers[i], before);
            place(matching, &imported->layers[i], after);
        }
        before = after;
    }
}

/* Step 3 for layers with operators of ONNX: their order. */
static int match_order(struct matching *matching) {
    const struct imported *imported = matching->imported;
    const size_t n_nodes = matching->timing->core.model->n_nodes;
    uint32_t *found = arena_array(matching->timing->core.scratch, n_nodes, sizeof(*found));
    if (!found || times_align(matching->timing, imported, matching->owner, found) != CM_OK)
        return CM_NO_MEMORY;
    for (uint32_t node = 0; node < n_nodes; node++) {
        if (found[node] == ID_NONE || matching->owner[node] != ID_NONE) continue;
        const struct times_layer *from = imported->layers[found[node]].from;
        matching->fused[found[node]] =
            from->many || from->is_product || strchr(from->types, ' ') != NULL;
        assign(matching, found[node], node);
    }
    return CM_OK;
}

/* A layer without nodes between others does work that the model does not have, like a
 * normalization that the exporter folded: it is placed like a copy. Products are not. */
static void mark_extra(const struct imported *imported) {
    size_t first = 0;
    size_t last = imported->n;
    while (first < imported->n && imported->layers[first].n_nodes == 0) first++;
    while (last > first && imported->layers[last - 1].n_nodes == 0) last--;
    for (size_t i = first; i < last; i++) {
        struct imported_layer *layer = &imported->layers[i];
        if (layer->n_nodes == 0 && layer->from->types != NULL && !layer->from->is_product)
            layer->state = CM_COPY_LAYER;
    }
}

static int make_tables(struct matching *matching) {
    const struct imported *imported = matching->imported;
    const size_t n_nodes = matching->timing->core.model->n_nodes;
    struct arena *scratch = matching->timing->core.scratch;
    size_t n = n_nodes + 3 * imported->n;
    for (size_t i = 0; i < imported->n; i++) n += imported->layers[i].from->n_refs;
    for (size_t i = 0; i < matching->details.n_entries; i++) /* each has at most one layer */
        n += matching->detailed[matching->details.entries[i].value]->n_refs;
    matching->owner = arena_array(scratch, n_nodes, sizeof(*matching->owner));
    matching->stamps = arena_array(scratch, n_nodes, sizeof(*matching->stamps));
    matching->queue = arena_array(scratch, n_nodes + 64, sizeof(*matching->queue));
    matching->fused = arena_array(scratch, imported->n, sizeof(*matching->fused));
    matching->runs = arena_array(scratch, n, sizeof(*matching->runs));
    matching->places = arena_array(matching->timing->core.arena, n, sizeof(*matching->places));
    if (arena_failed(scratch) || matching->places == NULL) return CM_NO_MEMORY;
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
    bool has_types = false;
    for (uint32_t layer = 0; layer < imported->n; layer++) {
        is_onnxruntime = is_onnxruntime && imported->layers[layer].from->alternatives;
        has_types = has_types || imported->layers[layer].from->types != NULL;
        match_names(&matching, layer);
    }
    if (mark_blocks(&matching) < 0) return diag_no_memory(timing->core.diag);
    match_upstream(&matching);
    if (is_onnxruntime && match_dataflow(&matching) < 0)
        return diag_no_memory(timing->core.diag);
    if (has_types && match_order(&matching) < 0) return diag_no_memory(timing->core.diag);
    if (is_onnxruntime || has_types) match_leftovers(&matching);
    if (group_runs(&matching) < 0) return diag_no_memory(timing->core.diag);
    mark_extra(imported);
    place_copies(&matching);
    if (times_compare_shapes(timing, &matching.nodes, &matching.values, imported) < 0)
        return diag_no_memory(timing->core.diag);
    return CM_OK;
}
