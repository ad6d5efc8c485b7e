/* SPDX-License-Identifier: Apache-2.0 */
/* Operators with bodies: If, SequenceMap. Loop is in loop.c, Scan in scan.c. */
#include "ops/body.h"
#include "ops/common.h"
#include "ops/families.h"
#include "ops/merge.h"

#include "support/banned.h"

static int infer_taken(struct rule *rule, struct body *taken, const struct body *other) {
    int status = body_walk(rule, taken);
    if (!status) status = body_runs(rule, taken, 1, NULL);
    if (!status) status = body_runs(rule, other, 0, NULL);
    for (size_t i = 0; i < rule->n_outputs && !status; i++) {
        struct fact fact = taken->outputs[i];
        fact.is_constant = fact.is_constant && rule_input(rule, 0)->is_constant;
        fact.is_weight = false;
        status = rule_output_fact(rule, i, &fact);
    }
    return status;
}

/* Which branch costs more is seen when both are counted. */
static int infer_either(struct rule *rule, struct body *left, struct body *right) {
    const char *assumption = "the condition is not known: the dearer branch is counted";
    int status = body_walk(rule, left);
    if (!status) status = body_walk(rule, right);
    if (!status) status = body_runs(rule, left, 1, assumption);
    if (!status) status = body_runs(rule, right, 1, assumption);
    for (size_t i = 0; i < rule->n_outputs && !status; i++) {
        struct fact fact;
        status = merge_facts(rule, &left->outputs[i], &right->outputs[i], &fact);
        if (!status) status = rule_output_fact(rule, i, &fact);
    }
    return status;
}

static int infer_if(struct rule *rule) {
    struct body then_body, else_body;
    bool known = false, condition = false;
    int status = body_open(rule, "then_branch", &then_body);
    if (!status) status = body_open(rule, "else_branch", &else_body);
    if (!status) status = body_check(rule, &then_body, 0, rule->n_outputs);
    if (!status) status = body_check(rule, &else_body, 0, rule->n_outputs);
    if (!status) status = body_condition(rule, rule_input(rule, 0), &known, &condition);
    if (status) return status;
    if (!known) return infer_either(rule, &then_body, &else_body);
    return condition ? infer_taken(rule, &then_body, &else_body)
                     : infer_taken(rule, &else_body, &then_body);
}

/* One round an element of operand 0; of other operands sequences go by element too. */
static int infer_sequence_map(struct rule *rule) {
    struct body body;
    int status = body_open(rule, "body", &body);
    if (!status) status = body_check(rule, &body, rule->n_inputs, rule->n_outputs);
    if (status) return status;
    for (size_t i = 0; i < body.n_inputs; i++) {
        const struct fact *input = rule_input(rule, i);
        bool by_element = i == 0 || input->kind == CM_TYPE_SEQUENCE;
        body.inputs[i] = by_element ? merge_element(input) : *input;
    }
    status = body_walk(rule, &body);
    const struct fact *first = rule_input(rule, 0);
    const int64_t rounds = first->items ? (int64_t)first->n_items : DIM_UNKNOWN;
    if (!status) status = body_rounds(rule, &body, rounds, DIM_UNKNOWN);
    for (size_t i = 0; i < rule->n_outputs && !status; i++) {
        struct fact sequence;
        status = merge_container(rule, CM_TYPE_SEQUENCE, &body.outputs[i], &sequence);
        if (!status) status = rule_output_fact(rule, i, &sequence);
    }
    return status;
}

static const struct op_attr branches[] = {
    REQUIRED_ATTR("then_branch", ATTR_GRAPH), REQUIRED_ATTR("else_branch", ATTR_GRAPH), {0}};
static const struct op_attr one_body[] = {REQUIRED_ATTR("body", ATTR_GRAPH), {0}};
#define CONTROL(name, from, least, most, attributes, rule, letters)                            \
    {                                                                                          \
        .domain = "", .type = name, .since = from, .min_inputs = least, .max_inputs = most,    \
        .min_outputs = 1, .max_outputs = VARIADIC, .attrs = attributes, .infer = rule,         \
        .memory = MEMORY_CONTROL, .roles = letters, .backward.gradients = ""                   \
    }

/* clang-format off */
static const struct op rows[] = {
    /*      type        since in         attributes rule                roles */
    CONTROL("If",           1, 1, 1,        branches, infer_if,           "i"),
    CONTROL("SequenceMap", 17, 1, VARIADIC, one_body, infer_sequence_map, "x"),
};
/* clang-format on */

const struct op_family family_control = {"control", rows, sizeof rows / sizeof *rows, NULL};
