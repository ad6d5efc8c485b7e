/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the network of --end-to-end: lists its steps and assigns an offset to every operand of
 * every step; views share the offset of their root. The operands of a primitive are a
 * subsequence of the operands of its node: each is matched with the next value that is large
 * enough. An operand without a match, for example a scale that only the primitive has, gets
 * separate memory.
 */
#include "passes/latency/network.h"

#include <string.h>

#include "backends/primitive.h"
#include "passes/memory/arena_planner.h"
#include "passes/pass.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"

#include "support/banned.h"

#define OFFSET_ALIGNMENT 256 /* bytes */

struct building {
    const struct analysis *analysis;
    struct arena *arena;
    struct network *ret;
    struct cm_network_step *steps;
    struct cm_primitive *primitives; /* of the steps, each once */
    uint32_t *new_index; /* by primitive of the analysis: index plus one; 0: none yet */
    uint32_t *node_of;   /* by step */
    int64_t *bytes;      /* by root: size of the largest operand that is matched with it */
    int64_t *offsets;    /* by root */
    uint32_t (*operands)[CM_MAX_INPUTS + CM_MAX_OUTPUTS]; /* by step: roots, ID_NONE */
    int64_t own_bytes; /* of operands without a match, which follow the weights */
};

static int64_t round_up(int64_t bytes) {
    return checked_mul(checked_div_ceil(bytes, OFFSET_ALIGNMENT), OFFSET_ALIGNMENT);
}

static bool is_in_arena(enum storage storage) {
    return storage == STORAGE_INPUT || storage == STORAGE_ACTIVATION;
}

static bool was_measured(const struct cm_measurement *measurement) {
    return measurement->state == CM_MEASURED || measurement->state == CM_PROXY ||
           measurement->state == CM_INVENTED;
}

/* Returns the root of the first value, from index *at on, that has room for the operand, and
 * sets *at to the index after it. Returns ID_NONE if there is none. */
static uint32_t match(const struct building *building, const uint32_t *values, size_t n,
                      const struct cm_tensor *tensor, size_t *at) {
    const struct analysis *analysis = building->analysis;
    for (size_t i = *at; i < n; i++) {
        if (values[i] == ID_NONE) continue;
        const int64_t elements = shape_elements(&analysis->infer.infos[values[i]].shape);
        const int64_t room = checked_mul(elements, primitive_element_size(tensor->element));
        if (!is_known(room) || primitive_span(tensor) > room) continue;
        *at = i + 1;
        return analysis->liveness.root[values[i]];
    }
    return ID_NONE;
}

static void match_operands(struct building *building, uint32_t step) {
    const struct node *node = &building->analysis->model->nodes[building->node_of[step]];
    const struct cm_primitive *primitive =
        &building->ret->network.primitives[building->steps[step].primitive];
    uint32_t *operands = building->operands[step];
    size_t at = 0;
    for (int32_t i = 0; i < primitive->n_inputs; i++)
        operands[i] = match(building, node->inputs, node->n_inputs, &primitive->inputs[i], &at);
    at = 0;
    for (int32_t i = 0; i < primitive->n_outputs; i++)
        operands[CM_MAX_INPUTS + i] =
            match(building, node->outputs, node->n_outputs, &primitive->outputs[i], &at);
}

static void reserve_bytes(struct building *building, uint32_t root,
                          const struct cm_tensor *tensor) {
    const int64_t bytes = round_up(primitive_span(tensor));
    if (root == ID_NONE)
        building->own_bytes = checked_add(building->own_bytes, bytes);
    else if (is_overflow(bytes) || bytes > building->bytes[root])
        building->bytes[root] = bytes;
}

static void reserve_operands(struct building *building, uint32_t step) {
    const struct cm_primitive *primitive =
        &building->ret->network.primitives[building->steps[step].primitive];
    const uint32_t *operands = building->operands[step];
    for (int32_t i = 0; i < primitive->n_inputs; i++)
        reserve_bytes(building, operands[i], &primitive->inputs[i]);
    for (int32_t i = 0; i < primitive->n_outputs; i++)
        reserve_bytes(building, operands[CM_MAX_INPUTS + i], &primitive->outputs[i]);
}

static uint32_t add_primitive(struct building *building, uint32_t primitive) {
    struct cm_network *network = &building->ret->network;
    uint32_t *index = &building->new_index[primitive];
    if (*index == 0) {
        building->primitives[network->n_primitives] =
            building->analysis->primitives.items[primitive];
        *index = ++network->n_primitives;
    }
    return *index - 1;
}

/* Lists the steps. Returns false if one is in a body of control flow. */
static bool list_steps(struct building *building, const struct estimate_table *times) {
    const struct analysis *analysis = building->analysis;
    const struct primitives_table *primitives = &analysis->primitives;
    uint32_t n = 0;
    for (uint32_t step = 0; step < analysis->liveness.n_steps; step++) {
        const uint32_t node = analysis->liveness.node_at[step];
        const uint32_t primitive = primitives->of_node[node];
        if (primitive == ID_NONE || !was_measured(&times->items[primitive])) continue;
        if (analysis->model->nodes[node].graph != 0) return false;
        building->ret->included[node] = true;
        building->node_of[n] = node;
        building->steps[n++].primitive = add_primitive(building, primitive);
    }
    building->ret->network.n_steps = n;
    return true;
}

/* Assigns consecutive offsets to the weights. */
static void place_weights(struct building *building) {
    const struct analysis *analysis = building->analysis;
    int64_t *end = &building->ret->network.weight_bytes;
    for (uint32_t id = 0; id < analysis->model->n_values; id++) {
        if (building->bytes[id] == 0 || is_in_arena(analysis->liveness.storage[id])) continue;
        building->offsets[id] = *end;
        *end = checked_add(*end, building->bytes[id]);
    }
}

static int place_activations(struct building *building) {
    const struct analysis *analysis = building->analysis;
    const size_t n_values = analysis->model->n_values;
    struct block *blocks = arena_array(building->arena, n_values, sizeof(*blocks));
    uint32_t *values = arena_array(building->arena, n_values, sizeof(*values));
    struct arena_layout plan;
    int64_t total = 0;
    size_t n = 0;
    if (!blocks || !values) return CM_NO_MEMORY;
    for (uint32_t id = 0; id < n_values; id++) {
        if (building->bytes[id] == 0 || !is_in_arena(analysis->liveness.storage[id])) continue;
        total = checked_add(total, building->bytes[id]);
        values[n] = id;
        blocks[n++] = (struct block){building->bytes[id], analysis->liveness.first[id],
                                     analysis->liveness.last[id]};
    }
    building->ret->network.arena_bytes = total;
    if (n == 0 || !is_known(total)) return CM_OK;
    if (arena_layout(building->arena, blocks, n, false, NULL, &plan) < 0) return CM_NO_MEMORY;
    building->ret->network.arena_bytes = plan.bytes;
    for (size_t i = 0; i < n; i++) building->offsets[values[i]] = plan.offsets[i];
    return CM_OK;
}

static struct cm_place place(const struct building *building, uint32_t root,
                             const struct cm_tensor *tensor, int64_t *own) {
    struct cm_place ret = {.block = CM_BLOCK_WEIGHTS, .offset = *own};
    if (root == ID_NONE) {
        *own = checked_add(*own, round_up(primitive_span(tensor)));
        return ret;
    }
    ret.offset = building->offsets[root];
    if (is_in_arena(building->analysis->liveness.storage[root])) ret.block = CM_BLOCK_ARENA;
    return ret;
}

static void place_operands(struct building *building, uint32_t index, int64_t *own) {
    struct cm_network_step *step = &building->steps[index];
    const struct cm_primitive *primitive = &building->ret->network.primitives[step->primitive];
    const uint32_t *operands = building->operands[index];
    for (int32_t i = 0; i < primitive->n_inputs; i++)
        step->inputs[i] = place(building, operands[i], &primitive->inputs[i], own);
    for (int32_t i = 0; i < primitive->n_outputs; i++)
        step->outputs[i] =
            place(building, operands[CM_MAX_INPUTS + i], &primitive->outputs[i], own);
}

static int place_all(struct building *building) {
    struct cm_network *network = &building->ret->network;
    for (uint32_t i = 0; i < network->n_steps; i++) {
        match_operands(building, i);
        reserve_operands(building, i);
    }
    place_weights(building);
    const int status = place_activations(building);
    int64_t own = network->weight_bytes;
    for (uint32_t i = 0; status == CM_OK && i < network->n_steps; i++)
        place_operands(building, i, &own);
    network->weight_bytes = checked_add(network->weight_bytes, building->own_bytes);
    if (!is_known(network->weight_bytes) || !is_known(network->arena_bytes))
        building->ret->why_not = "its activations and weights exceed 2^63 bytes";
    return status;
}

static bool make_tables(struct building *building) {
    const struct model *model = building->analysis->model;
    struct arena *arena = building->arena;
    const size_t n = building->analysis->liveness.n_steps;
    const size_t n_primitives = building->analysis->primitives.n;
    building->ret->included = arena_array(arena, model->n_nodes, sizeof(bool));
    building->primitives = arena_array(arena, n_primitives, sizeof(*building->primitives));
    building->new_index = arena_array(arena, n_primitives, sizeof(*building->new_index));
    building->steps = arena_array(arena, n, sizeof(*building->steps));
    building->node_of = arena_array(arena, n, sizeof(*building->node_of));
    building->operands = arena_array(arena, n, sizeof(*building->operands));
    building->bytes = arena_array(arena, model->n_values, sizeof(*building->bytes));
    building->offsets = arena_array(arena, model->n_values, sizeof(*building->offsets));
    return !arena_failed(arena);
}

int network_build(const struct analysis *analysis, const struct estimate_table *times,
                  struct network *ret) {
    struct building building = {.analysis = analysis, .arena = analysis->arena, .ret = ret};
    memset(ret, 0, sizeof(*ret));
    if (!make_tables(&building)) return diag_no_memory(analysis->diag);
    ret->network.primitives = building.primitives;
    ret->network.steps = building.steps;
    if (!list_steps(&building, times)) {
        ret->why_not = "the model has control flow, whose trip counts are data-dependent";
        return CM_OK;
    }
    if (ret->network.n_steps == 0) {
        ret->why_not = "no layer was run";
        return CM_OK;
    }
    return place_all(&building) < 0 ? diag_no_memory(analysis->diag) : CM_OK;
}
