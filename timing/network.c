/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the network of --end-to-end: lists its steps and assigns an offset to every operand of
 * every step; views share the offset of their root. The operands of a primitive are a
 * subsequence of the operands of its node: each is matched with the next value that is large
 * enough. An operand without a match, for example a scale that only the primitive has, gets
 * separate memory. */
#include "timing/network.h"

#include "backends/primitive.h"
#include "passes/memory/arena_planner.h"
#include "passes/memory/liveness.h"
#include "passes/walk/walk.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "timing/estimate.h"
#include "timing/primitives.h"
#include "timing/timing.h"

#define OFFSET_ALIGNMENT 256 /* bytes */

struct building {
    const struct timing *timing;
    struct network *ret;
    struct cm_network_step *steps;
    struct cm_primitive *primitives; /* of the steps, each once */
    uint32_t *new_index; /* by primitive of the analysis: index plus one; 0: none yet */
    int64_t *bytes;      /* by root: size of the largest operand that is matched with it */
    int64_t *offsets;    /* by root */
    uint32_t (*operands)[CM_MAX_INPUTS + CM_MAX_OUTPUTS]; /* by step: roots, ID_NONE */
};

static int64_t round_up(int64_t bytes) {
    return checked_mul(checked_div_ceil(bytes, OFFSET_ALIGNMENT), OFFSET_ALIGNMENT);
}

static bool is_in_arena(enum storage storage) {
    return storage == STORAGE_INPUT || storage == STORAGE_ACTIVATION;
}

/* Returns the root of the first value, from index *at on, that has room for the operand, and
 * sets *at to the index after it; ID_NONE if there is none. Reserves bytes for the operand. */
static uint32_t match(struct building *building, const uint32_t *values, size_t n,
                      const struct cm_tensor *tensor, size_t *at) {
    const struct timing *timing = building->timing;
    const int64_t bytes = round_up(primitive_span(tensor));
    for (size_t i = *at; i < n; i++) {
        if (values[i] == ID_NONE) continue;
        const int64_t elements = shape_elements(&timing->core.infer->infos[values[i]].shape);
        const int64_t room = checked_mul(elements, primitive_element_size(tensor->element));
        if (!is_known(room) || primitive_span(tensor) > room) continue;
        const uint32_t root = timing->core.liveness->root[values[i]];
        *at = i + 1;
        if (is_overflow(bytes) || bytes > building->bytes[root]) building->bytes[root] = bytes;
        return root;
    }
    return ID_NONE;
}

/* Lists the steps and the roots of their operands. Returns false if one is in a body. */
static bool list_steps(struct building *building, const struct estimate_table *times) {
    const struct timing *timing = building->timing;
    struct cm_network *network = &building->ret->network;
    for (uint32_t step = 0; step < timing->core.liveness->n_steps; step++) {
        const uint32_t id = timing->core.liveness->node_at[step];
        const struct node *node = &timing->core.model->nodes[id];
        const uint32_t at = timing->primitives->of_node[id];
        if (at == ID_NONE) continue;
        const struct cm_primitive *primitive = &timing->primitives->items[at];
        const int32_t state = times->items[at].state;
        if (state != CM_MEASURED && state != CM_PROXY && state != CM_INVENTED) continue;
        if (node->graph != 0) return false;
        uint32_t *index = &building->new_index[at];
        if (*index == 0) {
            building->primitives[network->n_primitives] = *primitive;
            *index = ++network->n_primitives;
        }
        uint32_t *operands = building->operands[network->n_steps];
        building->ret->included[id] = true;
        building->steps[network->n_steps++].primitive = *index - 1;
        size_t next = 0;
        for (int32_t i = 0; i < primitive->n_inputs; i++)
            operands[i] =
                match(building, node->inputs, node->n_inputs, &primitive->inputs[i], &next);
        next = 0;
        for (int32_t i = 0; i < primitive->n_outputs; i++)
            operands[CM_MAX_INPUTS + i] =
                match(building, node->outputs, node->n_outputs, &primitive->outputs[i], &next);
    }
    return true;
}

/* Assigns consecutive offsets to the weights, and plans the arena of the activations. */
static int place_values(struct building *building) {
    const struct timing *timing = building->timing;
    const struct liveness_table *liveness = timing->core.liveness;
    const size_t n_values = timing->core.model->n_values;
    struct cm_network *network = &building->ret->network;
    struct block *blocks = arena_array(timing->core.arena, n_values, sizeof(*blocks));
    uint32_t *values = arena_array(timing->core.arena, n_values, sizeof(*values));
    struct arena_layout plan;
    size_t n = 0;
    if (!blocks || !values) return CM_NO_MEMORY;
    for (uint32_t id = 0; id < n_values; id++) {
        const int64_t bytes = building->bytes[id];
        if (bytes == 0) continue;
        if (!is_in_arena(liveness->storage[id])) {
            building->offsets[id] = network->weight_bytes;
            checked_add_to(&network->weight_bytes, bytes);
            continue;
        }
        checked_add_to(&network->arena_bytes, bytes);
        values[n] = id;
        blocks[n++] = (struct block){bytes, liveness->first[id], liveness->last[id]};
    }
    if (n == 0 || !is_known(network->arena_bytes)) return CM_OK;
    if (arena_layout(timing->core.arena, blocks, n, false, NULL, &plan) < 0)
        return CM_NO_MEMORY;
    network->arena_bytes = plan.bytes;
    for (size_t i = 0; i < n; i++) building->offsets[values[i]] = plan.offsets[i];
    return CM_OK;
}

static struct cm_place place(const struct building *building, uint32_t root,
                             const struct cm_tensor *tensor, int64_t *own) {
    struct cm_place ret = {.block = CM_BLOCK_WEIGHTS, .offset = *own};
    if (root == ID_NONE) {
        checked_add_to(own, round_up(primitive_span(tensor)));
        return ret;
    }
    ret.offset = building->offsets[root];
    if (is_in_arena(building->timing->core.liveness->storage[root])) ret.block = CM_BLOCK_ARENA;
    return ret;
}

int network_build(const struct timing *timing, const struct estimate_table *times,
                  struct network *ret) {
    struct arena *arena = timing->core.arena;
    const struct model *model = timing->core.model;
    const size_t n_steps = timing->core.liveness->n_steps;
    const size_t n_primitives = timing->primitives->n;
    struct building building = {
        .timing = timing,
        .ret = ret,
        .steps = arena_array(arena, n_steps, sizeof(*building.steps)),
        .primitives = arena_array(arena, n_primitives, sizeof(*building.primitives)),
        .new_index = arena_array(arena, n_primitives, sizeof(*building.new_index)),
        .bytes = arena_array(arena, model->n_values, sizeof(*building.bytes)),
        .offsets = arena_array(arena, model->n_values, sizeof(*building.offsets)),
        .operands = arena_array(arena, n_steps, sizeof(*building.operands)),
    };
    struct cm_network *network = &ret->network;
    *ret = (struct network){.included = arena_array(arena, model->n_nodes, sizeof(bool))};
    if (arena_failed(arena)) return diag_no_memory(timing->core.diag);
    network->primitives = building.primitives;
    network->steps = building.steps;
    if (!list_steps(&building, times)) {
        ret->why_not = "the model has control flow, whose trip counts are data-dependent";
        return CM_OK;
    }
    if (network->n_steps == 0) {
        ret->why_not = "no layer was run";
        return CM_OK;
    }
    if (place_values(&building) < 0) return diag_no_memory(timing->core.diag);
    int64_t own = network->weight_bytes; /* operands without a match follow the weights */
    for (uint32_t i = 0; i < network->n_steps; i++) {
        struct cm_network_step *step = &building.steps[i];
        const struct cm_primitive *primitive = &building.primitives[step->primitive];
        const uint32_t *operands = building.operands[i];
        for (int32_t k = 0; k < primitive->n_inputs; k++)
            step->inputs[k] = place(&building, operands[k], &primitive->inputs[k], &own);
        for (int32_t k = 0; k < primitive->n_outputs; k++)
            step->outputs[k] =
                place(&building, operands[CM_MAX_INPUTS + k], &primitive->outputs[k], &own);
    }
    network->weight_bytes = own;
    if (!is_known(network->weight_bytes) || !is_known(network->arena_bytes))
        ret->why_not = "its activations and weights exceed 2^63 bytes";
    return CM_OK;
}
