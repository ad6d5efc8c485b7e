/* SPDX-License-Identifier: Apache-2.0 */
/* See body.h. */
#include "ops/body.h"

#include "ops/merge.h"
#include "support/arena.h"

#include "support/banned.h"

int body_open(struct op_context *context, const char *attr, struct body *ret) {
    uint32_t id = op_attr_graph(context, attr);
    if (id == ID_NONE)
        return op_fail(context, DIAG_ATTRIBUTE, "attribute '%s' is missing", attr);
    const struct graph *graph = &context->model->graphs[id];
    struct body body = {.graph = id, .n_inputs = graph->n_inputs};
    body.n_outputs = graph->n_outputs;
    body.inputs = arena_array(context->arena, graph->n_inputs, sizeof *body.inputs);
    if (!body.inputs) return diag_no_memory(context->diag);
    *ret = body;
    return 0;
}

int body_check(const struct op_context *context, const struct body *body, size_t inputs,
               size_t outputs) {
    if (body->n_inputs != inputs)
        return op_fail(context, DIAG_GRAPH, "the body has %zu inputs, expected %zu",
                       body->n_inputs, inputs);
    if (body->n_outputs < outputs)
        return op_fail(context, DIAG_GRAPH, "the body has %zu outputs, expected at least %zu",
                       body->n_outputs, outputs);
    return 0;
}

int body_condition(struct op_context *context, const struct value_info *info, bool *ret_known,
                   bool *ret) {
    const struct constant *value = NULL;
    *ret_known = false;
    if (!info->value || info->lower_bound) return 0;
    if (info->value->n_elements != 1)
        return op_fail(context, DIAG_SHAPE, "the condition has %lld elements, expected 1",
                       (long long)info->value->n_elements);
    int status = constant_load(info->value, &context->model->reader, context->arena,
                               context->diag, &value);
    if (status || !value || !constant_has_ints(value)) return status;
    *ret = constant_int_at(value, 0) != 0;
    *ret_known = true;
    return 0;
}

int body_walk(struct op_context *context, struct body *body) {
    return context->walker->walk(context->walker->context, body->graph, body->n_inputs,
                                 body->inputs, &body->outputs);
}

int body_runs(const struct op_context *context, const struct body *body, int64_t times,
              const char *assumption) {
    return context->walker->runs(context->walker->context, body->graph, times, assumption);
}

int body_report_trip_count(struct op_context *context, const struct body *body, int64_t times,
                           int64_t max_times) {
    const char *assumption = "the trip count is not known: one iteration is counted";
    times = op_data_dependent_dim(context, times, max_times);
    if (is_known(times)) return body_runs(context, body, times, NULL);
    if (is_known(max_times))
        assumption = arena_printf(context->arena, "the trip count is not known, at most %lld",
                                  (long long)max_times);
    if (!assumption) return diag_no_memory(context->diag);
    return body_runs(context, body, times, assumption);
}

struct value_info body_varying(const struct value_info *info) {
    struct value_info copy = *info;
    copy.value = NULL;
    copy.lower_bound = NULL;
    copy.is_constant = false;
    copy.is_weight = false;
    return copy;
}

/* Fixpoint search for loop-carried shapes: at most MAX_ROUNDS walks widen the state; if it
 * still changes, only element types are kept, which no iteration changes. Walks of nested
 * bodies multiply, so the search is skipped if the node is nested deeper than MAX_SEARCHED, or
 * if the walker declines (may_search). */
#define MAX_ROUNDS   3
#define MAX_SEARCHED 3

static bool is_nested_deep(const struct op_context *context) {
    uint32_t graph = context->node->graph;
    int depth = 0;
    while (graph != ID_NONE && context->model->graphs[graph].parent != ID_NONE &&
           depth <= MAX_SEARCHED) {
        graph = context->model->graphs[graph].parent;
        depth++;
    }
    return depth > MAX_SEARCHED;
}

static bool may_search(const struct op_context *context) {
    bool (*walker_may)(void *) = context->walker->may_search;
    return !is_nested_deep(context) && (!walker_may || walker_may(context->walker->context));
}

/* Merges the outputs of the last walk into the state. Sets *ret_changed if the state changed.
 */
static int widen_state(struct op_context *context, struct body *body,
                       const struct carried *carried, bool *ret_changed) {
    *ret_changed = false;
    for (size_t i = 0; i < carried->n; i++) {
        struct value_info *state = &body->inputs[carried->input + i];
        struct value_info merged;
        int status = merge_infos(context, state, &body->outputs[carried->output + i], &merged);
        if (status) return status;
        if (!merge_is_same(state, &merged)) *ret_changed = true;
        *state = merged;
    }
    return 0;
}

/* Keeps only the element types of the state. */
static void forget_shapes(struct body *body, const struct carried *carried) {
    for (size_t i = 0; i < carried->n; i++) {
        struct value_info *state = &body->inputs[carried->input + i];
        bool tensor = state->kind == CM_TYPE_TENSOR;
        *state =
            tensor ? value_info_tensor(state->dtype, shape_unknown()) : value_info_unknown();
    }
}

int body_walk_iterations(struct op_context *context, struct body *body,
                         const struct carried *carried) {
    bool changed = true;
    for (int round = 0; changed && round <= MAX_ROUNDS; round++) {
        if (!may_search(context)) round = MAX_ROUNDS;
        if (round == MAX_ROUNDS) forget_shapes(body, carried);
        int status = body_walk(context, body);
        if (!status) status = widen_state(context, body, carried, &changed);
        if (status) return status;
    }
    return 0;
}

struct value_info body_last_state(const struct body *body, const struct carried *carried,
                                  size_t i, bool ran) {
    return body_varying(ran ? &body->outputs[carried->output + i]
                            : &body->inputs[carried->input + i]);
}

int body_output_stacked(struct op_context *context, size_t slot,
                        const struct value_info *element, int64_t axis, int64_t times) {
    int64_t dims[SHAPE_MAX_RANK + 1];
    const struct shape *shape = &element->shape;
    int at = 0;
    if (element->kind != CM_TYPE_TENSOR || !shape_has_rank(shape))
        return op_output_dims(context, slot, element->dtype, RANK_UNKNOWN, NULL);
    int status = op_normalize_axis(context, axis, shape->rank + 1, &at);
    if (status) return status;
    for (int i = 0, from = 0; i <= shape->rank; i++)
        dims[i] = i == at ? times : shape->dims[from++];
    return op_output_dims(context, slot, element->dtype, shape->rank + 1, dims);
}
