/* SPDX-License-Identifier: Apache-2.0 */
/* Control flow: If, SequenceMap. See also loop.c and scan.c. */
#include "ops/body.h"
#include "ops/merge.h"
#include "ops/onnx/facets.h"
#include "support/arena.h"

static int infer_if(struct op_context *context) {
    const char *assumption =
        "the condition is data-dependent: counting the more expensive branch";
    struct body branches[2];
    bool known = false, condition = false;
    int status = body_open(context, "then_branch", &branches[0]);
    if (!status) status = body_open(context, "else_branch", &branches[1]);
    for (size_t i = 0; i < 2 && !status; i++)
        status = body_check(context, &branches[i], 0, context->n_outputs);
    if (!status) status = body_condition(context, op_input(context, 0), &known, &condition);
    /* if the condition is unknown, both run; pass count selects the more expensive one */
    const size_t taken = condition ? 0 : 1;
    for (size_t i = 0; i < 2 && !status; i++)
        if (!known || i == taken) status = body_walk(context, &branches[i]);
    for (size_t i = 0; i < 2 && !status; i++)
        status = body_runs(context, &branches[i], !known || i == taken ? 1 : 0,
                           known ? NULL : assumption);
    for (size_t i = 0; i < context->n_outputs && !status; i++) {
        struct value_info info;
        if (known) {
            info = branches[taken].outputs[i];
            info.is_constant = info.is_constant && op_input(context, 0)->is_constant;
            info.is_weight = false;
        } else {
            status =
                merge_infos(context, &branches[0].outputs[i], &branches[1].outputs[i], &info);
        }
        if (!status) status = op_output_info(context, i, &info);
    }
    return status;
}

/* Sets the inputs of run k: element k of an operand that is a sequence, else the operand
 * itself. k < 0: elements that hold in every run. */
static void set_map_inputs(const struct op_context *context, struct body *body, int64_t k) {
    for (size_t i = 0; i < body->n_inputs; i++) {
        const struct value_info *input = op_input(context, i);
        const bool by_element = i == 0 || input->kind == CM_TYPE_SEQUENCE;
        const bool is_known_here = k >= 0 && input->items && (size_t)k < input->n_items;
        body->inputs[i] = !by_element     ? *input
                          : is_known_here ? op_without_contents(&input->items[k])
                                          : merge_element(input);
    }
}

/* Infers the body with infos that hold in every run. */
static int map_at_once(struct op_context *context, struct body *body, int64_t times) {
    set_map_inputs(context, body, -1);
    int status = body_walk(context, body);
    if (!status) status = body_report_trip_count(context, body, times, DIM_UNKNOWN);
    for (size_t i = 0; i < context->n_outputs && !status; i++) {
        struct value_info sequence;
        status = merge_container(context, CM_TYPE_SEQUENCE, &body->outputs[i], &sequence);
        if (!status) status = op_output_info(context, i, &sequence);
    }
    return status;
}

/* Infers each run. Sets *ret_done to false if the budget is exhausted. */
static int map_each(struct op_context *context, struct body *body, int64_t times,
                    bool *ret_done) {
    const struct op_walker *walker = context->walker;
    const size_t n = (size_t)times;
    struct value_info *items =
        arena_array(context->arena, context->n_outputs * n, sizeof *items);
    if (!items) return diag_no_memory(context->diag);
    for (size_t k = 0; k < n; k++) {
        set_map_inputs(context, body, (int64_t)k);
        int status = walker->iterate(walker->context, body->graph, body->n_inputs, body->inputs,
                                     &body->outputs);
        *ret_done = body->outputs != NULL;
        if (status || !*ret_done) return status;
        for (size_t i = 0; i < context->n_outputs; i++)
            items[i * n + k] = op_without_contents(&body->outputs[i]);
    }
    int status = body_runs(context, body, times, NULL);
    for (size_t i = 0; i < context->n_outputs && !status; i++) {
        struct value_info sequence;
        status = merge_sequence(context, n, items + i * n, items + i * n, &sequence);
        if (!status) status = op_output_info(context, i, &sequence);
    }
    return status;
}

/* The body runs once per element of operand 0. */
static int infer_sequence_map(struct op_context *context) {
    const struct op_walker *walker = context->walker;
    const struct value_info *first = op_input(context, 0);
    const int64_t times = first->items ? (int64_t)first->n_items : DIM_UNKNOWN;
    struct body body;
    bool done = false;
    int status = body_open(context, "body", &body);
    if (!status) status = body_check(context, &body, context->n_inputs, context->n_outputs);
    if (!status) status = map_at_once(context, &body, times);
    if (status || times < 1 || !walker->begin ||
        !walker->begin(walker->context, body.graph, times, true))
        return status;
    status = map_each(context, &body, times, &done);
    done = done && !status;
    walker->end(walker->context, body.graph, times, done);
    return done || status == CM_NO_MEMORY ? status : map_at_once(context, &body, times);
}

/* clang-format off */
#define CONTROL(name, from, infer_fn, letters)                                                 \
    {                                                                                          \
        SIGNATURE(ONNX, name, from, NO_BOUNDS), .infer = infer_fn,                             \
        .memory = MEMORY_CONTROL, .param_roles = letters, .backward.saved_for_backward = ""    \
    }

static const struct op rows[] = {
    /*      type         since shape rule          roles */
    CONTROL(If,             1, infer_if,           "i"),
    CONTROL(SequenceMap,   17, infer_sequence_map, "x"),
};
/* clang-format on */

OP_FAMILY(control, .declines = FACETS_RARE | FACET_EXACT);
