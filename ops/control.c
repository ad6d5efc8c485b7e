/* SPDX-License-Identifier: Apache-2.0 */
/* Operators with bodies: If, Loop, SequenceMap. Scan is in scan.c. */
#include "ops/body.h"
#include "ops/common.h"
#include "ops/families.h"
#include "ops/merge.h"
#include "ops/rounds.h"

#include "support/banned.h"

/* The one element of a condition; *ret_known false: not known. */
static int read_condition(struct rule *rule, const struct fact *fact, bool *ret_known,
                          bool *ret) {
    const struct constant *value = NULL;
    *ret_known = false;
    if (!fact->value || fact->least) return 0;
    if (fact->value->n_elements != 1)
        return rule_fail(rule, DIAG_SHAPE, "the condition has %lld elements, expected 1",
                         (long long)fact->value->n_elements);
    int status =
        constant_load(fact->value, &rule->model->reader, rule->arena, rule->diag, &value);
    if (status || !value || !constant_has_ints(value)) return status;
    *ret = constant_int_at(value, 0) != 0;
    *ret_known = true;
    return 0;
}

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
    if (!status) status = read_condition(rule, rule_input(rule, 0), &known, &condition);
    if (status) return status;
    if (!known) return infer_either(rule, &then_body, &else_body);
    return condition ? infer_taken(rule, &then_body, &else_body)
                     : infer_taken(rule, &else_body, &then_body);
}

/* Inputs of the node (trip count, condition, state) and of the body (iteration, condition,
 * state); the body gives the condition, the state, then what is stacked. */
enum { LOOP_TRIPS, LOOP_CONDITION, LOOP_STATE };

/* The trip count that is asked for, ROUNDS_ENDLESS where there is none (exporters write 2^63 -
 * 1 for it). */
static int read_trips(struct rule *rule, int64_t *ret) {
    struct int_list list;
    int status = rule_int_list(rule, LOOP_TRIPS, &list);
    if (status) return status;
    *ret = rule_has_input(rule, LOOP_TRIPS) ? DIM_UNKNOWN : ROUNDS_ENDLESS;
    if (list.known && list.n == 1) *ret = list.values[0] < 0 ? 0 : list.values[0];
    return 0;
}

static struct fact scalar_of(enum dtype dtype) {
    return fact_tensor(dtype, (struct shape){0, NULL});
}

/* A round runs only while the condition holds, so a body sees it true. */
static int loop_inputs(struct rule *rule, struct body *body) {
    const struct shape scalar = {0, NULL};
    body->inputs[0] = scalar_of(DTYPE_INT64);
    body->inputs[1] = scalar_of(DTYPE_BOOL);
    body->inputs[1].value = constant_splat_int(rule->arena, DTYPE_BOOL, &scalar, 1);
    if (!body->inputs[1].value) return diag_no_memory(rule->diag);
    for (size_t i = LOOP_STATE; i < body->n_inputs; i++)
        body->inputs[i] = body_varying(rule_input(rule, i));
    return 0;
}

/* What the condition that the body gives says of the rounds of a loop that starts. */
static int rounds_of_condition(struct rule *rule, const struct body *body, struct rounds *ret) {
    bool goes_on = false, known = false;
    int status = read_condition(rule, &body->outputs[0], &known, &goes_on);
    *ret = (struct rounds){known && goes_on ? ROUNDS_ENDLESS : 1,
                           known && !goes_on ? 1 : ROUNDS_ENDLESS};
    if (status || known || !rule->walker->fact) return status;
    return rounds_counted(rule, body, ret);
}

/* Rounds of a loop that may run and whose body was walked; *ret: DIM_UNKNOWN where data decide,
 * and *ret_most what they are at most. What exporters write where no limit is meant is none; a
 * body that large a count of runs says nothing. */
static int loop_rounds(struct rule *rule, const struct body *body, int64_t trips, int64_t *ret,
                       int64_t *ret_most) {
    const struct fact *start = rule_input(rule, LOOP_CONDITION);
    bool starts = false, known = false;
    struct rounds rounds;
    int status = rounds_of_condition(rule, body, &rounds);
    if (!status) status = read_condition(rule, start, &known, &starts);
    if (rule_has_input(rule, LOOP_CONDITION) && !known) rounds.least = 0;
    if (!is_known(trips)) rounds.least = 0;
    if (is_known(trips) && trips < rounds.least) rounds.least = trips;
    if (is_known(trips) && trips < rounds.most) rounds.most = trips;
    const bool exact = rounds.least == rounds.most && rounds.most != ROUNDS_ENDLESS;
    *ret = exact ? rounds.most : DIM_UNKNOWN;
    *ret_most = rounds.most < INT32_MAX ? rounds.most : DIM_UNKNOWN;
    return status;
}

/* Whether it is plain before any walk that the body never runs. */
static int never_runs(struct rule *rule, int64_t trips, bool *ret) {
    bool known = false, starts = false;
    int status = read_condition(rule, rule_input(rule, LOOP_CONDITION), &known, &starts);
    *ret = trips == 0 || (known && !starts);
    return status;
}

static int open_loop(struct rule *rule, struct body *body, struct carried *carried) {
    size_t n = rule->n_inputs > LOOP_STATE ? rule->n_inputs - LOOP_STATE : 0;
    *carried = (struct carried){LOOP_STATE, 1, n};
    int status = body_open(rule, "body", body);
    if (!status)
        status = body_check(rule, body, LOOP_STATE + n,
                            1 + (rule->n_outputs > n ? rule->n_outputs : n));
    return status ? status : loop_inputs(rule, body);
}

/* Output i: of the state (which goes through untouched when there is no round), or stacked. */
static int loop_output(struct rule *rule, const struct body *body,
                       const struct carried *carried, size_t i, int64_t rounds) {
    if (i >= carried->n) return body_output_stacked(rule, i, &body->outputs[1 + i], 0, rounds);
    if (rounds == 0) return rule_output_like(rule, i, LOOP_STATE + i);
    struct fact state = body_last_state(rule, body, carried, i, rounds);
    return rule_output_fact(rule, i, &state);
}

static int infer_loop(struct rule *rule) {
    struct carried carried;
    struct body body;
    int64_t trips = 0;
    bool never = false;
    int64_t rounds = 0, most = 0;
    int status = open_loop(rule, &body, &carried);
    if (!status) status = read_trips(rule, &trips);
    if (!status) status = never_runs(rule, trips, &never);
    if (!status) status = body_walk_rounds(rule, &body, &carried);
    if (!status && !never) status = loop_rounds(rule, &body, trips, &rounds, &most);
    if (!status && rule->walker->trips)
        rounds = rule->walker->trips(rule->walker->context, rule->node_id, rounds, most);
    if (!status) status = body_rounds(rule, &body, rounds, most);
    rounds = rule_at_most(rule, rounds, most);
    for (size_t i = 0; i < rule->n_outputs && !status; i++)
        status = loop_output(rule, &body, &carried, i, rounds);
    return status;
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
    CONTROL("Loop",         1, 3, VARIADIC, one_body, infer_loop,         "iix"),
    CONTROL("Loop",        11, 2, VARIADIC, one_body, infer_loop,         "iix"),
    CONTROL("SequenceMap", 17, 1, VARIADIC, one_body, infer_sequence_map, "x"),
};
/* clang-format on */

const struct op_family family_control = {"control", rows, sizeof rows / sizeof *rows, NULL};
