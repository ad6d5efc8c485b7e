/* SPDX-License-Identifier: Apache-2.0 */
/* Control flow: If, SequenceMap. See also loop.c and scan.c. */
#include "ops/body.h"
#include "ops/common.h"
#include "ops/facets.h"
#include "ops/merge.h"

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

/* The body runs once per element of operand 0. Input i of run k is element k of operand i if
 * the operand is a sequence, else the operand itself. */
static int infer_sequence_map(struct op_context *context) {
    struct body body;
    int status = body_open(context, "body", &body);
    if (!status) status = body_check(context, &body, context->n_inputs, context->n_outputs);
    if (status) return status;
    for (size_t i = 0; i < body.n_inputs; i++) {
        const struct value_info *input = op_input(context, i);
        bool by_element = i == 0 || input->kind == CM_TYPE_SEQUENCE;
        body.inputs[i] = by_element ? merge_element(input) : *input;
    }
    status = body_walk(context, &body);
    const struct value_info *first = op_input(context, 0);
    const int64_t times = first->items ? (int64_t)first->n_items : DIM_UNKNOWN;
    if (!status) status = body_report_trip_count(context, &body, times, DIM_UNKNOWN);
    for (size_t i = 0; i < context->n_outputs && !status; i++) {
        struct value_info sequence;
        status = merge_container(context, CM_TYPE_SEQUENCE, &body.outputs[i], &sequence);
        if (!status) status = op_output_info(context, i, &sequence);
    }
    return status;
}

/* clang-format off */
FACETS(ONNX, If) {NO_BOUNDS};
FACETS(ONNX, SequenceMap) {NO_BOUNDS};

#define CONTROL(name, from, infer_fn, letters)                                                 \
    {                                                                                          \
        SIGNATURE(ONNX, name, from), .infer = infer_fn, .memory = MEMORY_CONTROL,              \
        .param_roles = letters, .backward.saved_for_backward = ""                              \
    }

static const struct op rows[] = {
    /*      type         since shape rule          roles */
    CONTROL(If,             1, infer_if,           "i"),
    CONTROL(SequenceMap,   17, infer_sequence_map, "x"),
};
/* clang-format on */

OP_FAMILY(control,
          .declines = FACET_FOLD | FACET_ALGEBRA | FACET_MODULE | FACET_EXACT | FACET_QDQ);
