/* SPDX-License-Identifier: Apache-2.0 */
/* See body.h. */
#include "ops/body.h"

#include "ops/merge.h"
#include "support/arena.h"

int body_open(struct op_context *context, const char *attr, struct body *ret) {
    const uint32_t id = op_attr_graph(context, attr);
    if (id == ID_NONE)
        return op_fail(context, DIAG_ATTRIBUTE, "attribute '%s' is missing", attr);
    const struct graph *graph = &context->model->graphs[id];
    *ret =
        (struct body){.graph = id, .n_inputs = graph->n_inputs, .n_outputs = graph->n_outputs};
    ret->inputs = arena_array(context->arena, graph->n_inputs, sizeof *ret->inputs);
    return ret->inputs ? 0 : diag_no_memory(context->diag);
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

/* Fixpoint search for loop-carried shapes: at most MAX_ROUNDS walks widen the state; if it
 * still changes, a last walk keeps only the dtypes, which no iteration changes. Walks of nested
 * bodies multiply, so a node that is nested deeper than MAX_SEARCHED has one walk before the
 * last, which suffices if the state keeps its shape, and none if the walker declines. */
#define MAX_ROUNDS   3
#define MAX_SEARCHED 3

/* Returns the first round of the search. */
static int first_round(const struct op_context *context) {
    const struct op_walker *walker = context->walker;
    uint32_t graph = context->node->graph;
    int depth = 0;
    if (walker->may_search && !walker->may_search(walker->context)) return MAX_ROUNDS;
    while (graph != ID_NONE && context->model->graphs[graph].parent != ID_NONE) {
        graph = context->model->graphs[graph].parent;
        if (++depth > MAX_SEARCHED) return MAX_ROUNDS - 1;
    }
    return 0;
}

int body_walk_iterations(struct op_context *context, struct body *body,
                         const struct carried *carried) {
    struct value_info *state = body->inputs + carried->input, merged;
    bool changed = true;
    for (int round = 0; changed && round <= MAX_ROUNDS; round++) {
        if (round < first_round(context)) round = first_round(context);
        for (size_t i = 0; round == MAX_ROUNDS && i < carried->n; i++)
            state[i] = state[i].kind == CM_TYPE_TENSOR
                           ? value_info_tensor(state[i].dtype, shape_unknown())
                           : value_info_unknown();
        int status = body_walk(context, body);
        changed = false;
        for (size_t i = 0; i < carried->n && !status; i++) {
            status =
                merge_infos(context, &state[i], &body->outputs[carried->output + i], &merged);
            if (status) break;
            if (!merge_is_same(&state[i], &merged)) changed = true;
            state[i] = merged;
        }
        if (status) return status;
    }
    return 0;
}

struct value_info body_last_state(const struct body *body, const struct carried *carried,
                                  size_t i, bool ran) {
    return op_without_contents(ran ? &body->outputs[carried->output + i]
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
