/* SPDX-License-Identifier: Apache-2.0 */
/* Handles tensors whose contents cannot be read (value_info.is_data_missing), because their
 * external data file is missing or the model was read from a pipe. The analysis continues
 * without the contents, but reports an error if an output shape, trip count or branch depends
 * on them. */
#include "passes/walk/bind.h"
#include "passes/walk/walk.h"
#include "support/arena.h"

/* Returns true if the contents cannot be read. Remembers the result for the last external file,
 * because consecutive tensors are often in the same file. */
static bool is_unreadable(struct walk *walk, const struct constant *constant) {
    if (constant->place != CONSTANT_EXTERNAL)
        return constant_unreadable(constant, &walk->model->reader) != NULL;
    if (walk->location != constant->location) {
        walk->location = constant->location;
        walk->is_missing = constant_unreadable(constant, &walk->model->reader) != NULL;
    }
    return walk->is_missing;
}

void missing_data_drop(struct walk *walk, struct value_info *info) {
    if (!info->value || !is_unreadable(walk, info->value)) return;
    info->value = NULL;
    info->is_data_missing = true;
}

bool missing_data_prevents_fold(const struct op_context *context) {
    bool has_missing = false;
    for (size_t i = 0; i < context->n_inputs; i++) {
        const struct value_info *info = context->inputs[i];
        if (!info || info->value) continue;
        if (!info->is_data_missing) return false;
        has_missing = true;
    }
    return has_missing && context->op->fold;
}

/* --- Messages. --- */

/* Returns the tensor of an initializer or of a Constant node; NULL for other values. */
static const struct constant *stored_tensor(const struct model *model, uint32_t id) {
    const struct value *value = &model->values[id];
    if (value->constant || value->node == ID_NONE) return value->constant;
    const struct attr *attr = node_attr(&model->nodes[value->node], "value");
    return attr && attr->kind == ATTR_TENSOR ? attr->tensors[0] : NULL;
}

/* Returns the first operand of the node that has no data; ID_NONE if all have. */
static uint32_t missing_operand(const struct infer_table *table, const struct node *node) {
    for (size_t i = 0; i < node->n_inputs; i++)
        if (node->inputs[i] != ID_NONE && table->infos[node->inputs[i]].is_data_missing)
            return node->inputs[i];
    return ID_NONE;
}

/* Returns the tensor or body input from which a value without data is computed. */
static uint32_t origin_of(const struct model *model, const struct infer_table *table,
                          uint32_t id) {
    while (model->values[id].node != ID_NONE) {
        const uint32_t next = missing_operand(table, &model->nodes[model->values[id].node]);
        if (next == ID_NONE) break;
        id = next;
    }
    return id;
}

/* Returns "external data 'x.data' was not found". */
static const char *reason_text(const struct model *model, struct arena *arena,
                               const struct constant *constant) {
    const char *reason = constant ? constant_unreadable(constant, &model->reader) : NULL;
    if (!reason) reason = "cannot be read";
    if (constant && constant->place == CONSTANT_EXTERNAL)
        return arena_printf(arena, "external data '%s' %s", constant->location, reason);
    return arena_printf(arena, "its bytes %s", reason);
}

static int refuse(const struct walk *walk, uint32_t operand, const char *what) {
    const struct model *model = walk->model;
    const uint32_t id = origin_of(model, walk->table, operand);
    const struct constant *constant = stored_tensor(model, id);
    const char *reason = reason_text(model, walk->arena, constant);
    if (!reason) return diag_no_memory(walk->diag);
    const int status =
        diag_error(walk->diag, DIAG_VALUE,
                   "%s depends on the contents of tensor '%s', which are unknown: %s", what,
                   model->values[id].name, reason);
    if (constant && constant->place == CONSTANT_EXTERNAL)
        diag_hint(walk->diag, "put '%s' into the model's folder", constant->location);
    else
        diag_hint(walk->diag, "give the model as a file instead of a pipe");
    return status;
}

/* --- Shapes, trip counts and branches that depend on missing contents. --- */

/* Returns the first operand whose missing contents decide an output shape, else ID_NONE. Also
 * returns ID_NONE if the shape of an operand is unknown: then an earlier node is at fault. */
static uint32_t shape_operand(const struct walk *walk, const struct op_context *context) {
    const struct node *node = context->node;
    uint32_t found = ID_NONE;
    bool is_settled = true;
    for (size_t i = 0; i < node->n_outputs; i++)
        is_settled =
            is_settled && (node->outputs[i] == ID_NONE ||
                           value_info_is_static(&walk->table->infos[node->outputs[i]]));
    if (is_settled || bind_is_unknown(context->op)) return ID_NONE;
    for (size_t i = 0; i < context->n_inputs; i++) {
        const struct value_info *info = context->inputs[i];
        if (!info) continue;
        if (!value_info_is_static(info)) return ID_NONE;
        const bool is_deciding =
            info->is_data_missing && monotone_letter(context->op, i) != MONOTONE_DIMS;
        if (found == ID_NONE && is_deciding) found = node->inputs[i];
    }
    return found;
}

int missing_data_check(const struct walk *walk, const struct op_context *context) {
    if (missing_operand(walk->table, context->node) == ID_NONE) return CM_OK;
    const size_t n = context->n_inputs < 2 ? context->n_inputs : 2; /* M and cond of a Loop */
    const bool is_assumed =
        context->op->memory == MEMORY_CONTROL && walk->has_assumed[context->node_id];
    for (size_t i = 0; i < n && is_assumed; i++)
        if (context->inputs[i] && context->inputs[i]->is_data_missing)
            return refuse(walk, context->node->inputs[i],
                          context->n_inputs > 1 ? "the trip count" : "the branch taken");
    const uint32_t shape = shape_operand(walk, context);
    return shape == ID_NONE ? CM_OK : refuse(walk, shape, "the output shape");
}

/* Returns true if the contents may be needed: as shape arithmetic, or as a number in a fused
 * pattern. */
static bool is_missed(const struct analysis *analysis, const struct infer_table *table,
                      uint32_t id) {
    const struct value *value = &analysis->model->values[id];
    if (shape_elements(&table->infos[id].shape) == 1) return true;
    for (uint32_t i = 0; i < value->n_uses; i++) {
        const struct use *use = &value->uses[i];
        const struct node *node = &analysis->model->nodes[use->node];
        if (op_role(analysis->bind->ops[use->node], use->slot) == 'i') return true;
        for (size_t k = 0; k < node->n_outputs; k++)
            if (node->outputs[k] != ID_NONE && table->infos[node->outputs[k]].is_data_missing)
                return true;
    }
    return false;
}

void missing_data_note(const struct analysis *analysis, const struct infer_table *table) {
    const struct model *model = analysis->model;
    uint32_t first = ID_NONE;
    size_t n = 0;
    for (uint32_t id = 0; id < model->n_values; id++) {
        const struct value_info *info = &table->infos[id];
        if (!info->is_data_missing || !info->is_weight || !is_missed(analysis, table, id))
            continue;
        if (n++ == 0) first = id;
    }
    if (n == 0) return;
    const char *reason = reason_text(model, analysis->arena, stored_tensor(model, first));
    if (n == 1)
        diag_note(analysis->diag, DIAG_VALUE, "the contents of tensor '%s' are unknown: %s",
                  model->values[first].name, reason);
    else
        diag_note(analysis->diag, DIAG_VALUE, "the contents of %zu tensors are unknown: %s", n,
                  reason);
}
