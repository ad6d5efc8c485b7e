/* SPDX-License-Identifier: Apache-2.0 */
/* Finds where gradients flow. A forward walk finds the values that depend on a learned
 * parameter that is not frozen, a backward walk those that a gradient of a graph output
 * reaches. A value has a gradient if both find it. */
#include "passes/fusion/fuse_patterns.h"
#include "passes/infer/infer.h"
#include "passes/memory/liveness.h"
#include "passes/params/params.h"
#include "passes/precision/precision.h"
#include "passes/training/training.h"
#include "passes/walk/context.h"
#include "passes/walk/walk.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"

/* Maximum number of forward walks. The state of a loop depends on the previous iteration, so
 * the walk is repeated until nothing changes. */
#define MAX_ROUNDS 8

bool training_needs_gradient(const struct training *training, const struct operation *operation,
                             size_t slot) {
    uint32_t value = operation->node->inputs[slot];
    return value != ID_NONE && training->requires_grad[value] &&
           op_has_gradient(operation->saved_for_backward, slot);
}

/* Returns the tensor of which the Reshape of a strided `operand` is the transposed view;
 * ID_NONE if there is none. PyTorch's exporter writes a key of [batch, heads, length, width]
 * transposed as Reshape to [batch * heads, length, width], Transpose, Reshape to [batch, heads,
 * width, length]; the framework transposes it without a copy. */
static uint32_t transposed_source(const struct training *training, uint32_t operand,
                                  uint32_t result) {
    const struct value_info *infos = training->analysis->infer->infos;
    const uint32_t copy = training->model->values[training->root[operand]].node;
    const struct shape *to = &infos[result].shape;
    if (copy == ID_NONE || !training->operations[copy].node) return ID_NONE;
    const struct operation *operation = &training->operations[copy];
    const int last = to->rank - 1;
    if (!operation->op->backward.view || operation->node->inputs[0] == ID_NONE || last < 1)
        return ID_NONE;
    const struct shape *from = &infos[operation->node->inputs[0]].shape;
    if (from->rank != to->rank || from->dims[last] != to->dims[last - 1] ||
        from->dims[last - 1] != to->dims[last])
        return ID_NONE;
    for (int i = 0; i < last - 1; i++)
        if (from->dims[i] != to->dims[i]) return ID_NONE;
    return operation->node->inputs[0];
}

/* Lets the outputs of a view share the bytes of its first input. */
static void share_outputs(struct training *training, const struct op_context *context) {
    const struct op_backward *backward = &context->op->backward;
    const struct node *node = context->node;
    const enum op_memory memory = context->op->memory;
    if (context->n_inputs == 0 || !context->inputs[0]) return;
    uint32_t operand = node->inputs[0];
    enum op_view view = VIEW_NONE;
    if (backward->view)
        view = backward->view(context);
    else if (memory == MEMORY_VIEW ||
             (memory == MEMORY_VIEW_UNLESS_TRAINING && !context->training))
        view = VIEW_SAME;
    const uint8_t layout = training->layout[operand];
    if (view == VIEW_SHAPED && layout != LAYOUT_ROW_MAJOR) {
        operand = transposed_source(training, operand, node->outputs[0]);
        view = operand == ID_NONE ? VIEW_NONE : VIEW_STRIDED;
    } else if (view == VIEW_SHAPED) {
        view = VIEW_SAME;
    }
    if (view == VIEW_NONE) return;
    for (size_t i = 0; i < node->n_outputs; i++) {
        const uint32_t value = node->outputs[i];
        if (value == ID_NONE || (i > 0 && !backward->view)) continue;
        training->root[value] = training->root[operand];
        training->layout[value] = view != VIEW_STRIDED          ? layout
                                  : layout == LAYOUT_HEADS_LAST ? LAYOUT_ROW_MAJOR
                                                                : LAYOUT_STRIDED;
    }
}

/* Returns the fused pattern of the node; NULL if it has none, or if the row of the pattern has
 * no gradients: then those of the single nodes count. */
static const struct fused_pattern *fused_pattern_of(const struct training *training,
                                                    uint32_t id) {
    const struct fused_patterns_table *table = training->analysis->fused_patterns;
    uint32_t index = table->of_node[id];
    if (index == ID_NONE || !table->items[index].op->backward.saved_for_backward) return NULL;
    return &table->items[index];
}

int training_context(const struct training *training, const struct op_source *source,
                     uint32_t node, struct op_context *ret) {
    const struct fused_pattern *fused_pattern = fused_pattern_of(training, node);
    int status = fused_pattern ? context_make_fused(source, fused_pattern, ret)
                               : context_make_inferred(source, node, ret);
    return status == CM_OK ? precision_apply(training->analysis, ret) : status;
}

static int fill_operation(struct training *training, const struct op_source *source,
                          uint32_t id) {
    const struct fused_pattern *fused_pattern = fused_pattern_of(training, id);
    struct operation *operation = &training->operations[id];
    struct arena_mark mark = arena_save(training->analysis->arena);
    struct op_context context;
    operation->pattern_last = fused_pattern ? fused_pattern->last : id;
    operation->op = source->ops[id];
    if (operation->pattern_last != id) return CM_OK;
    int status = training_context(training, source, id, &context);
    if (status < 0) return status;
    const struct op_backward *backward = &context.op->backward;
    operation->op = context.op;
    operation->node = context.node;
    operation->saved_for_backward = backward->saved_for_backward_of
                                        ? backward->saved_for_backward_of(&context)
                                        : backward->saved_for_backward;
    share_outputs(training, &context);
    if (op_primitive_kind(context.op) == CM_ATTENTION && op_rank(&context, 0) == 4 &&
        context.n_outputs > 0 && context.node->outputs[0] != ID_NONE)
        training->layout[context.node->outputs[0]] = LAYOUT_HEADS_LAST;
    if (!backward->saved_for_backward_of) arena_restore(training->analysis->arena, mark);
    return CM_OK;
}

/* Sets requires_grad of a value of float or unknown dtype. Returns true if it was not set. */
static bool require(struct training *training, uint32_t value) {
    if (value == ID_NONE || training->requires_grad[value]) return false;
    const enum dtype dtype = training->analysis->infer->infos[value].dtype;
    training->requires_grad[value] = dtype == DTYPE_UNDEFINED || dtype_is_float(dtype);
    return training->requires_grad[value];
}

static bool any_requires_grad(const struct training *training,
                              const struct operation *operation) {
    for (size_t i = 0; i < operation->node->n_inputs; i++)
        if (training_needs_gradient(training, operation, i)) return true;
    return false;
}

static bool require_outputs(struct training *training, const struct node *node) {
    bool changed = false;
    for (size_t i = 0; i < node->n_outputs; i++)
        changed = require(training, node->outputs[i]) || changed;
    return changed;
}

/* The outputs of a node require a gradient if an output of its body does. The inputs of a body
 * require a gradient if an input of its node does, or if an output of the body does (a loop
 * feeds it back). */
static bool propagate_through_bodies(struct training *training) {
    bool changed = false;
    for (uint32_t id = 1; id < training->model->n_graphs; id++) {
        const struct graph *graph = &training->model->graphs[id];
        if (graph->owner == ID_NONE) continue;
        bool inside = false;
        for (size_t i = 0; i < graph->n_outputs; i++)
            inside = inside || training->requires_grad[graph->outputs[i]];
        if (inside)
            changed =
                require_outputs(training, &training->model->nodes[graph->owner]) || changed;
        if (!inside && !any_requires_grad(training, &training->operations[graph->owner]))
            continue;
        for (size_t i = 0; i < graph->n_inputs; i++)
            changed = require(training, graph->inputs[i]) || changed;
    }
    return changed;
}

static void find_requires_grad(struct training *training) {
    const struct params_table *params = training->analysis->params;
    const struct liveness_table *liveness = training->analysis->liveness;
    for (size_t i = 0; i < params->n_params; i++)
        if (params->params[i].kind == PARAM_LEARNED && !training->frozen[i])
            training->requires_grad[params->params[i].value] = true;
    for (int round = 0; round < MAX_ROUNDS; round++) {
        for (uint32_t step = 0; step < liveness->n_steps; step++) {
            const struct operation *operation = &training->operations[liveness->node_at[step]];
            if (operation->node && any_requires_grad(training, operation))
                (void)require_outputs(training, operation->node);
        }
        if (training->model->n_graphs == 1 || !propagate_through_bodies(training)) break;
    }
}

static bool has_reached_output(const struct training *training, const struct node *node) {
    for (size_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != ID_NONE && training->requires_grad[node->outputs[i]] &&
            training->reached[node->outputs[i]])
            return true;
    return false;
}

/* Marks the outputs of bodies as reached. In backward order, a node precedes its bodies. */
static void reach_bodies(struct training *training, const struct node *owner) {
    for (size_t i = 0; i < owner->n_attrs; i++) {
        const struct attr *attr = &owner->attrs[i];
        if (attr->kind != ATTR_GRAPH && attr->kind != ATTR_GRAPHS) continue;
        for (size_t k = 0; k < attr->n; k++) {
            const struct graph *body = &training->model->graphs[attr->graphs[k]];
            for (size_t out = 0; out < body->n_outputs; out++)
                training->reached[body->outputs[out]] = true;
        }
    }
}

static void find_reached(struct training *training) {
    const struct liveness_table *liveness = training->analysis->liveness;
    const struct graph *main = &training->model->graphs[0];
    for (size_t i = 0; i < main->n_outputs; i++) training->reached[main->outputs[i]] = true;
    for (uint32_t step = liveness->n_steps; step-- > 0;) {
        struct operation *operation = &training->operations[liveness->node_at[step]];
        const struct node *node = operation->node;
        if (!node || !has_reached_output(training, node)) continue;
        operation->has_backward = true;
        for (size_t i = 0; i < node->n_inputs; i++)
            if (training_needs_gradient(training, operation, i))
                training->reached[node->inputs[i]] = true;
        if (operation->op->memory == MEMORY_CONTROL) reach_bodies(training, node);
    }
}

/* Returns true if only the addition of a learned bias reads the product: a framework writes the
 * biased product at once. */
static bool is_biased_later(const struct training *training, uint32_t value) {
    const struct value *product = &training->model->values[value];
    if (product->node == ID_NONE || product->n_uses != 1 || product->is_graph_output ||
        training->operations[product->node].op->backward.factors == 0)
        return false;
    const struct operation *reader = &training->operations[product->uses[0].node];
    if (!reader->node || reader->op->algebra != ALGEBRA_SUM || reader->node->n_inputs != 2)
        return false;
    const uint32_t other = reader->node->inputs[1 - product->uses[0].slot];
    return other != ID_NONE && training->analysis->params->of_value[other] != ID_NONE &&
           training->analysis->infer->infos[other].shape.rank == 1;
}

/* Returns the bytes that the value owns in a training step. A constant computed from weights is
 * an activation here, since the weights change with every step. A view that a framework copies
 * owns the copy; the copy of a weight is not an activation. Values inside a fused pattern are
 * not written. */
static int64_t owned(const struct training *training, uint32_t value) {
    const struct liveness_table *liveness = training->analysis->liveness;
    const uint32_t node = training->model->values[value].node;
    enum storage storage = liveness->storage[value];
    if (training->root[value] != value) return 0;
    if (node != ID_NONE && !training->operations[node].node) return 0;
    if (is_biased_later(training, value)) return 0;
    const bool changes = storage == STORAGE_CONSTANT && training->requires_grad[value] &&
                         training->analysis->params->of_value[value] == ID_NONE;
    if (storage == STORAGE_VIEW) storage = liveness->storage[liveness->root[value]];
    if (storage != STORAGE_ACTIVATION && storage != STORAGE_INPUT && !changes) return 0;
    return liveness_bytes(&training->analysis->infer->infos[value]);
}

uint32_t training_gradients(const struct training *training,
                            const struct operation *operation) {
    uint32_t operands = 0;
    for (size_t i = 0; i < operation->node->n_inputs && i < 32; i++)
        if (training_needs_gradient(training, operation, i)) operands |= UINT32_C(1) << i;
    return operands;
}

/* Sets `extra` of the operation of a node. */
static int add_extra(struct training *training, const struct op_source *source, uint32_t id) {
    struct operation *operation = &training->operations[id];
    struct arena_mark mark = arena_save(source->arena);
    struct op_context context;
    if (!operation->has_backward || !operation->op->backward.extra) return CM_OK;
    int status = training_context(training, source, id, &context);
    if (status < 0) return status;
    context.gradients = training_gradients(training, operation);
    operation->extra = checked_mul(operation->op->backward.extra(&context),
                                   training_runs_once(training, operation->node->graph));
    arena_restore(source->arena, mark);
    return CM_OK;
}

int training_flow(struct training *training) {
    const struct liveness_table *liveness = training->analysis->liveness;
    const struct op_source source = infer_source(training->analysis);
    struct arena *arena = training->analysis->arena;
    const size_t n_values = training->model->n_values;
    int status = CM_OK;
    training->operations =
        arena_array(arena, training->model->n_nodes, sizeof(*training->operations));
    training->root = arena_array(arena, n_values, sizeof(*training->root));
    training->layout = arena_array(arena, n_values, sizeof(*training->layout));
    training->requires_grad = arena_array(arena, n_values, sizeof(*training->requires_grad));
    training->reached = arena_array(arena, n_values, sizeof(*training->reached));
    training->bytes = arena_array(arena, n_values, sizeof(*training->bytes));
    if (arena_failed(arena)) return diag_no_memory(training->analysis->diag);
    for (uint32_t id = 0; id < n_values; id++) training->root[id] = id;
    for (uint32_t step = 0; step < liveness->n_steps && status == CM_OK; step++)
        status = fill_operation(training, &source, liveness->node_at[step]);
    if (status < 0) return status;
    find_requires_grad(training);
    find_reached(training);
    for (uint32_t id = 0; id < training->model->n_nodes && status == CM_OK; id++)
        status = add_extra(training, &source, id);
    for (uint32_t id = 0; id < training->model->n_values; id++)
        training->bytes[id] = owned(training, id);
    return status;
}
