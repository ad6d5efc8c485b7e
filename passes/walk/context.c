/* SPDX-License-Identifier: Apache-2.0 */
/* Makes op_contexts and message frames: see context.h. Only this file applies overrides. */
#include "passes/walk/context.h"

#include "ir/print.h"
#include "support/arena.h"
#include "support/text.h"

/* Returns the info of an override, with the dtype that pass precision set. */
static const struct value_info *with_dtype(const struct op_source *source,
                                           const struct value_info *info, uint32_t value) {
    const enum dtype dtype = value == ID_NONE ? DTYPE_UNDEFINED : source->infos[value].dtype;
    if (info->dtype == dtype || !dtype_is_float(dtype) || !dtype_is_float(info->dtype))
        return info;
    struct value_info *copy = arena_copy(source->arena, info, sizeof(*copy));
    if (copy) copy->dtype = dtype;
    return copy;
}

/* Returns the operand's info, overrides included; NULL if it is omitted. */
static const struct value_info *operand(const struct op_source *source, uint32_t node,
                                        size_t slot) {
    const uint32_t value = source->model->nodes[node].inputs[slot];
    const struct override *override = source->overrides ? source->overrides[node] : NULL;
    for (; override; override = override->next)
        if (override->slot == slot) return with_dtype(source, override->info, value);
    return value == ID_NONE ? NULL : &source->infos[value];
}

static bool trains(const struct op_source *source, const struct op_context *context) {
    if (!context->op->trains) return false;
    if (source->mode == CM_MODE_TRAINING) return true;
    if (source->mode == CM_MODE_INFERENCE) return false;
    return context->op->trains(context);
}

/* Makes a context of `op` at `node`. The caller sets the inputs (*ret_inputs) and outputs. */
static int make(const struct op_source *source, const struct node *node, const struct op *op,
                struct op_context *ret, const struct value_info ***ret_inputs) {
    struct op_room *room = source->room;
    struct arena *arena = source->scratch ? source->scratch : source->arena;
    const bool fits = room && node->n_inputs <= sizeof room->inputs / sizeof *room->inputs &&
                      node->n_outputs <= sizeof room->outputs / sizeof *room->outputs;
    *ret_inputs =
        fits ? room->inputs : arena_array_raw(arena, node->n_inputs, sizeof **ret_inputs);
    *ret = (struct op_context){
        .model = source->model,
        .node = node,
        .op = op,
        .n_inputs = node->n_inputs,
        .inputs = *ret_inputs,
        .n_outputs = node->n_outputs,
        .outputs = fits ? room->outputs
                        : arena_array_raw(arena, node->n_outputs, sizeof *ret->outputs),
        .arena = source->arena,
        .diag = source->diag,
    };
    return ret->inputs && ret->outputs ? CM_OK : diag_no_memory(source->diag);
}

static int make_of_node(const struct op_source *source, uint32_t node_id,
                        struct op_context *ret) {
    const struct node *node = &source->model->nodes[node_id];
    const struct value_info **inputs = NULL;
    int status = make(source, node, source->ops[node_id], ret, &inputs);
    if (status < 0) return status;
    for (size_t i = 0; i < node->n_inputs; i++) inputs[i] = operand(source, node_id, i);
    ret->node_id = node_id;
    ret->training = trains(source, ret);
    return CM_OK;
}

int context_make(const struct op_source *source, uint32_t node_id, struct op_context *ret) {
    int status = make_of_node(source, node_id, ret);
    if (status < 0) return status;
    for (size_t i = 0; i < ret->n_outputs; i++) ret->outputs[i] = value_info_unknown();
    return CM_OK;
}

static void copy_outputs(const struct op_source *source, struct op_context *ret) {
    const struct node *node = ret->node;
    for (size_t i = 0; i < node->n_outputs; i++)
        ret->outputs[i] = node->outputs[i] == ID_NONE ? value_info_unknown()
                                                      : source->infos[node->outputs[i]];
}

int context_make_inferred(const struct op_source *source, uint32_t node_id,
                          struct op_context *ret) {
    int status = make_of_node(source, node_id, ret);
    if (status == CM_OK) copy_outputs(source, ret);
    return status;
}

int context_trains(const struct op_source *source, uint32_t node_id, bool *ret) {
    struct op_context context;
    *ret = false;
    if (!source->ops[node_id]->trains) return CM_OK;
    struct arena_mark mark = arena_save(source->arena);
    int status = context_make(source, node_id, &context);
    if (status == CM_OK) *ret = context.training;
    arena_restore(source->arena, mark);
    return status;
}

int context_make_fused(const struct op_source *source, const struct fused_pattern *fused,
                       struct op_context *ret) {
    const struct node *node = fused->node;
    const struct value_info **inputs = NULL;
    int status = make(source, node, fused->op, ret, &inputs);
    if (status < 0) return status;
    for (size_t i = 0; i < node->n_inputs; i++) {
        const uint32_t value = node->inputs[i];
        inputs[i] = value == ID_NONE ? NULL : &source->infos[value];
        if (value == ID_NONE || !source->overrides) continue;
        /* take the override of the first node that reads the value */
        for (size_t k = fused->n_nodes; k-- > 0;) {
            const struct node *part = &source->model->nodes[fused->nodes[k]];
            for (size_t slot = part->n_inputs; slot-- > 0;)
                if (part->inputs[slot] == value)
                    inputs[i] = operand(source, fused->nodes[k], slot);
        }
    }
    copy_outputs(source, ret);
    ret->node_id = fused->last;
    ret->training = trains(source, ret);
    return CM_OK;
}

static void print_place(const struct diag_frame *frame, struct text *out) {
    const struct node_frame *place = frame->context;
    const struct node *node = &place->model->nodes[place->node];
    print_node_label(place->node, node->name, node->type, out);
    if (place->op && place->op->since) text_printf(out, "-%d", place->op->since);
    text_printf(out, ", pass %s\n", place->pass);
    print_node(place->model, place->node, place->infos, out);
}

void node_frame_push(struct node_frame *place, struct cm_diagnostics *diag) {
    place->frame = (struct diag_frame){
        .label = "at node",
        .print = print_place,
        .node = place->model->nodes[place->node].name,
        .node_index = place->node,
        .context = place,
    };
    diag_push(diag, &place->frame);
}

void node_frame_pop(const struct node_frame *place, struct cm_diagnostics *diag) {
    diag_pop(diag, &place->frame);
}
