/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pass demand: what the model wants of a device: its weights, by element type and by how the
 * file stores them, and the arena; or, where an optimizer is given, the peak of a training
 * step. A tensor that many nodes or names share is there once.
 */
#include "passes/memory/memory_required.h"

#include "passes/memory/liveness.h"
#include "passes/pass.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"

#include "support/banned.h"

static const char *const storages[] = {
    [WEIGHT_RAW] = "raw",           [WEIGHT_TYPED] = "typed", [WEIGHT_EXTERNAL] = "external",
    [WEIGHT_COMPUTED] = "computed", [WEIGHT_INPUT] = "input", [WEIGHT_ABSENT] = "absent",
};

const char *memory_required_storage_name(enum weight_storage storage) {
    return storages[storage];
}

/* Equal initializers that an exporter merged stand behind Identities, each under its name. */
static uint32_t stored_value(const struct analysis *analysis, uint32_t value) {
    for (;;) {
        uint32_t id = analysis->model->values[value].node;
        if (id == ID_NONE || analysis->bind.ops[id]->memory != MEMORY_VIEW) return value;
        if (analysis->model->nodes[id].n_inputs == 0) return value;
        if (analysis->model->nodes[id].inputs[0] == ID_NONE) return value;
        value = analysis->model->nodes[id].inputs[0];
    }
}

/* Of a Constant node; NULL where the node computes, or has its number in an attribute. */
static const struct constant *constant_of_node(const struct node *node) {
    for (size_t i = 0; i < node->n_attrs; i++)
        if (node->n_inputs == 0 && node->attrs[i].kind == ATTR_TENSOR)
            return node->attrs[i].tensors[0];
    return NULL;
}

static enum weight_storage storage_of(const struct model *model, uint32_t id) {
    const struct value *value = &model->values[id];
    const struct constant *constant = value->constant;
    if (!constant && value->node != ID_NONE)
        constant = constant_of_node(&model->nodes[value->node]);
    if (!constant) return value->node == ID_NONE ? WEIGHT_INPUT : WEIGHT_COMPUTED;
    switch (constant->place) {
    case CONSTANT_EXTERNAL:
        return WEIGHT_EXTERNAL;
    case CONSTANT_ABSENT:
        return WEIGHT_ABSENT;
    default:
        return constant->is_typed ? WEIGHT_TYPED : WEIGHT_RAW;
    }
}

static struct weight_group *group_of(struct memory_required_table *table, enum dtype dtype,
                                     enum weight_storage storage) {
    for (size_t i = 0; i < table->n_groups; i++)
        if (table->groups[i].dtype == dtype && table->groups[i].storage == storage)
            return &table->groups[i];
    table->groups[table->n_groups] = (struct weight_group){.dtype = dtype, .storage = storage};
    return &table->groups[table->n_groups++];
}

/* What is fed as an input has its place in the arena. */
static void add_weight(const struct analysis *analysis, uint32_t value,
                       struct memory_required_table *table) {
    const struct value_info *info = &analysis->infer.facts[value];
    enum weight_storage storage = storage_of(analysis->model, value);
    int64_t bytes = liveness_bytes(info);
    if (bytes == DIM_UNKNOWN) return; /* texts */
    struct weight_group *group = group_of(table, info->dtype, storage);
    group->tensors++;
    group->elements = checked_add(group->elements, shape_elements(&info->shape));
    group->bytes = checked_add(group->bytes, bytes);
    if (storage != WEIGHT_INPUT) table->weight_bytes = checked_add(table->weight_bytes, bytes);
}

/* What stands in the file and is read or handed out, be it learned or not: a quantized weight
 * and its scales are no parameters. */
static bool is_weight(const struct analysis *analysis, uint32_t id) {
    const struct value *value = &analysis->model->values[id];
    if (analysis->params.of_value[id] != ID_NONE) return true;
    return analysis->infer.facts[id].is_weight && (value->n_uses > 0 || value->is_graph_output);
}

int pass_memory_required(const struct analysis *analysis, void *own) {
    struct memory_required_table *table = own;
    size_t n_values = analysis->model->n_values;
    bool *seen = arena_array(analysis->arena, n_values, sizeof *seen);
    table->groups = arena_array(analysis->arena, (size_t)DTYPE_N * (WEIGHT_ABSENT + 1),
                                sizeof *table->groups);
    if (!seen || !table->groups) return diag_no_memory(analysis->diag);
    for (uint32_t id = 0; id < n_values; id++) {
        uint32_t stored = is_weight(analysis, id) ? stored_value(analysis, id) : ID_NONE;
        if (stored == ID_NONE || seen[stored]) continue;
        seen[stored] = true;
        add_weight(analysis, stored, table);
    }
    table->required_bytes = analysis->training.optimizer
                                ? analysis->training.peak_bytes
                                : checked_add(table->weight_bytes, analysis->plan.arena_bytes);
    return CM_OK;
}
