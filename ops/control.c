/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators with bodies: If, Loop, Scan, SequenceMap. A rule has its bodies walked with facts
 * that hold in every round, and says how often each runs.
 */
#include "ops/common.h"
#include "ops/families.h"
#include "ops/merge.h"
#include "support/arena.h"

#include "support/banned.h"

struct body {
    uint32_t graph;
    size_t n_inputs;
    struct fact *inputs;
    size_t n_outputs;
    const struct fact *outputs; /* by the last walk */
};

static int open_body(struct rule *rule, const char *attr, struct body *ret) {
    uint32_t id = rule_attr_graph(rule, attr);
    if (id == ID_NONE)
        return rule_fail(rule, DIAG_ATTRIBUTE, "attribute '%s' is missing", attr);
    const struct graph *graph = &rule->model->graphs[id];
    struct body body = {.graph = id, .n_inputs = graph->n_inputs};
    body.n_outputs = graph->n_outputs;
    body.inputs = arena_array(rule->arena, graph->n_inputs, sizeof *body.inputs);
    if (!body.inputs) return diag_no_memory(rule->diag);
    *ret = body;
    return 0;
}

/* A body must take and give what its operator hands over; `least_outputs` of it. */
static int check_body(const struct rule *rule, const struct body *body, size_t inputs,
                      size_t outputs) {
    if (body->n_inputs != inputs)
        return rule_fail(rule, DIAG_GRAPH, "the body has %zu inputs, expected %zu",
                         body->n_inputs, inputs);
    if (body->n_outputs < outputs)
        return rule_fail(rule, DIAG_GRAPH, "the body has %zu outputs, expected at least %zu",
                         body->n_outputs, outputs);
    return 0;
}

static int walk_body(struct rule *rule, struct body *body) {
    return rule->walker->walk(rule->walker->context, body->graph, body->n_inputs, body->inputs,
                              &body->outputs);
}

static int body_runs(const struct rule *rule, const struct body *body, int64_t times,
                     const char *assumption) {
    return rule->walker->runs(rule->walker->context, body->graph, times, assumption);
}

/* times, or one round of an unknown number, which the user is told; or `most` (DIM_UNKNOWN:
 * there is no limit), which the second walk counts. */
static int body_rounds(struct rule *rule, const struct body *body, int64_t times,
                       int64_t most) {
    const char *assumption = "the trip count is not known: one iteration is counted";
    times = rule_at_most(rule, times, most);
    if (is_known(times)) return body_runs(rule, body, times, NULL);
    if (is_known(most))
        assumption = arena_printf(rule->arena, "the trip count is not known, at most %lld",
                                  (long long)most);
    if (!assumption) return diag_no_memory(rule->diag);
    return body_runs(rule, body, times, assumption);
}

/* The type of a value that changes from round to round. */
static struct fact varying(const struct fact *fact) {
    struct fact copy = *fact;
    copy.value = NULL;
    copy.least = NULL;
    copy.is_constant = false;
    copy.is_weight = false;
    return copy;
}

static struct fact scalar_of(enum dtype dtype) {
    return fact_tensor(dtype, (struct shape){0, NULL});
}

/*
 * Values that a round hands to the next: n of them, from inputs[input] and outputs[output] of
 * the body on.
 */
struct carried {
    size_t input, output, n;
};

/* Walks that look for a state that holds in every round; after them nothing but the element
 * types is kept, which always holds. Bodies nest and the walks multiply, so the search is
 * short, and left out where bodies lie deeper than MAX_SEARCHED or the walker has had enough.
 */
#define MAX_ROUNDS   3
#define MAX_SEARCHED 3

static bool lies_deep(const struct rule *rule) {
    uint32_t graph = rule->node->graph;
    int depth = 0;
    while (graph != ID_NONE && rule->model->graphs[graph].parent != ID_NONE &&
           depth <= MAX_SEARCHED) {
        graph = rule->model->graphs[graph].parent;
        depth++;
    }
    return depth > MAX_SEARCHED;
}

static bool may_search(const struct rule *rule) {
    bool (*walker_may)(void *) = rule->walker->may_search;
    return !lies_deep(rule) && (!walker_may || walker_may(rule->walker->context));
}

/* Widens the state by what the last walk gave. *ret_changed: it did not hold yet. */
static int widen_state(struct rule *rule, struct body *body, const struct carried *carried,
                       bool *ret_changed) {
    *ret_changed = false;
    for (size_t i = 0; i < carried->n; i++) {
        struct fact *state = &body->inputs[carried->input + i];
        struct fact merged;
        int status = merge_facts(rule, state, &body->outputs[carried->output + i], &merged);
        if (status) return status;
        if (!merge_is_same(state, &merged)) *ret_changed = true;
        *state = merged;
    }
    return 0;
}

/* Keeps of the state what no round can change. */
static void forget_shapes(struct body *body, const struct carried *carried) {
    for (size_t i = 0; i < carried->n; i++) {
        struct fact *state = &body->inputs[carried->input + i];
        bool tensor = state->kind == CM_TYPE_TENSOR;
        *state = tensor ? fact_tensor(state->dtype, shape_unknown()) : fact_unknown();
    }
}

/* Walks until the state going in holds for what comes out, and so for every round. */
static int walk_rounds(struct rule *rule, struct body *body, const struct carried *carried) {
    bool changed = true;
    for (int round = 0; changed && round <= MAX_ROUNDS; round++) {
        if (!may_search(rule)) round = MAX_ROUNDS;
        if (round == MAX_ROUNDS) forget_shapes(body, carried);
        int status = walk_body(rule, body);
        if (!status) status = widen_state(rule, body, carried, &changed);
        if (status) return status;
    }
    return 0;
}

/* State i behind the last round: what a body gave, where one ran for certain. */
static struct fact last_state(const struct rule *rule, const struct body *body,
                              const struct carried *carried, size_t i, int64_t rounds) {
    bool ran = is_known(rounds) && rounds > 0 && rule->end == RULE_EXACT;
    return varying(ran ? &body->outputs[carried->output + i]
                       : &body->inputs[carried->input + i]);
}

/* Output `slot`: one tensor a round, side by side along a new axis (-1: the last). */
static int output_stacked(struct rule *rule, size_t slot, const struct fact *element,
                          int64_t axis, int64_t times) {
    int64_t dims[SHAPE_MAX_RANK + 1];
    const struct shape *shape = &element->shape;
    int at = 0;
    if (element->kind != CM_TYPE_TENSOR || !shape_has_rank(shape))
        return rule_output_dims(rule, slot, element->dtype, RANK_UNKNOWN, NULL);
    int status = rule_normalize_axis(rule, axis, shape->rank + 1, &at);
    if (status) return status;
    for (int i = 0, from = 0; i <= shape->rank; i++)
        dims[i] = i == at ? times : shape->dims[from++];
    return rule_output_dims(rule, slot, element->dtype, shape->rank + 1, dims);
}

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
    int status = walk_body(rule, taken);
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
    int status = walk_body(rule, left);
    if (!status) status = walk_body(rule, right);
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
    int status = open_body(rule, "then_branch", &then_body);
    if (!status) status = open_body(rule, "else_branch", &else_body);
    if (!status) status = check_body(rule, &then_body, 0, rule->n_outputs);
    if (!status) status = check_body(rule, &else_body, 0, rule->n_outputs);
    if (!status) status = read_condition(rule, rule_input(rule, 0), &known, &condition);
    if (status) return status;
    if (!known) return infer_either(rule, &then_body, &else_body);
    return condition ? infer_taken(rule, &then_body, &else_body)
                     : infer_taken(rule, &else_body, &then_body);
}

/* Inputs of the node (trip count, condition, state) and of the body (iteration, condition,
 * state); the body gives the condition, the state, then what is stacked. */
enum { LOOP_TRIPS, LOOP_CONDITION, LOOP_STATE };

/* The trip count that is asked for: DIM_UNKNOWN too where there is none or no limit is meant
 * (exporters write 2^63 - 1 for it). */
static int read_trips(struct rule *rule, int64_t *ret) {
    struct int_list list;
    int status = rule_int_list(rule, LOOP_TRIPS, &list);
    if (status) return status;
    *ret = DIM_UNKNOWN;
    if (!list.known || list.n != 1 || list.values[0] == INT64_MAX) return 0;
    *ret = list.values[0] < 0 ? 0 : list.values[0];
    return 0;
}

/* A round runs only while the condition holds, so a body sees it true. */
static int loop_inputs(struct rule *rule, struct body *body) {
    const struct shape scalar = {0, NULL};
    body->inputs[0] = scalar_of(DTYPE_INT64);
    body->inputs[1] = scalar_of(DTYPE_BOOL);
    body->inputs[1].value = constant_splat_int(rule->arena, DTYPE_BOOL, &scalar, 1);
    if (!body->inputs[1].value) return diag_no_memory(rule->diag);
    for (size_t i = LOOP_STATE; i < body->n_inputs; i++)
        body->inputs[i] = varying(rule_input(rule, i));
    return 0;
}

/* Rounds of a loop that may run and whose body was walked. */
static int loop_rounds(struct rule *rule, const struct body *body, int64_t trips,
                       int64_t *ret) {
    bool goes_on = false, known = false, starts = false, starts_known = false;
    int status = read_condition(rule, &body->outputs[0], &known, &goes_on);
    if (!status)
        status = read_condition(rule, rule_input(rule, LOOP_CONDITION), &starts_known, &starts);
    if (status) return status;
    if (!rule_has_input(rule, LOOP_CONDITION)) starts_known = true;
    *ret = DIM_UNKNOWN;
    if (!known || !starts_known) return 0;
    if (goes_on)
        *ret = trips;
    else if (is_known(trips))
        *ret = trips < 1 ? trips : 1;
    else if (!rule_has_input(rule, LOOP_TRIPS))
        *ret = 1;
    return 0;
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
    int status = open_body(rule, "body", body);
    if (!status)
        status = check_body(rule, body, LOOP_STATE + n,
                            1 + (rule->n_outputs > n ? rule->n_outputs : n));
    return status ? status : loop_inputs(rule, body);
}

/* Output i: of the state (which goes through untouched when there is no round), or stacked. */
static int loop_output(struct rule *rule, const struct body *body,
                       const struct carried *carried, size_t i, int64_t rounds) {
    if (i >= carried->n) return output_stacked(rule, i, &body->outputs[1 + i], 0, rounds);
    if (rounds == 0) return rule_output_like(rule, i, LOOP_STATE + i);
    struct fact state = last_state(rule, body, carried, i, rounds);
    return rule_output_fact(rule, i, &state);
}

/* What exporters write where no limit is meant is none; a body that large a count of runs says
 * nothing. */
#define MOST_TRIPS INT32_MAX

static int infer_loop(struct rule *rule) {
    struct carried carried;
    struct body body;
    int64_t trips = 0;
    bool never = false;
    int status = open_loop(rule, &body, &carried);
    if (!status) status = read_trips(rule, &trips);
    if (!status) status = never_runs(rule, trips, &never);
    if (!status) status = walk_rounds(rule, &body, &carried);
    int64_t rounds = never ? 0 : trips;
    if (!status && !never) status = loop_rounds(rule, &body, trips, &rounds);
    const int64_t most = is_known(trips) && trips < MOST_TRIPS ? trips : DIM_UNKNOWN;
    if (!status && rule->walker->trips)
        rounds = rule->walker->trips(rule->walker->context, rule->node_id, rounds, most);
    if (!status) status = body_rounds(rule, &body, rounds, most);
    rounds = rule_at_most(rule, rounds, most);
    for (size_t i = 0; i < rule->n_outputs && !status; i++)
        status = loop_output(rule, &body, &carried, i, rounds);
    return status;
}

/*
 * Operands: [sequence_lens, opset 8 only] state… scanned…; the body takes the state and a slice
 * of each scanned operand. Opset 8 puts a batch axis before everything, and scans axis 1; from
 * 9 on there is none, and attributes name the axes.
 */
struct scan {
    struct body body;
    struct carried state;
    size_t first; /* operand: the first state */
    size_t n_scanned;
    bool batched;
    int64_t batch;  /* 1 where there is none */
    int64_t length; /* of the scanned axis */
};

static int open_scan(struct rule *rule, struct scan *scan) {
    int64_t n_scanned = rule_attr_int(rule, "num_scan_inputs");
    int status = open_body(rule, "body", &scan->body);
    if (status) return status;
    scan->batched = rule->op->since == 8;
    scan->first = scan->batched ? 1 : 0;
    size_t operands = rule->n_inputs - scan->first;
    if (n_scanned < 1 || (uint64_t)n_scanned > operands)
        return rule_fail(rule, DIAG_ATTRIBUTE, "num_scan_inputs is %lld of %zu operands",
                         (long long)n_scanned, operands);
    scan->n_scanned = (size_t)n_scanned;
    scan->state = (struct carried){0, 0, operands - scan->n_scanned};
    scan->length = DIM_UNKNOWN;
    scan->batch = scan->batched ? DIM_UNKNOWN : 1;
    status = check_body(rule, &scan->body, operands, scan->state.n);
    return status ? status : check_body(rule, &scan->body, operands, rule->n_outputs);
}

/* Takes a dim that several operands must agree on. */
static int agree(const struct rule *rule, const char *what, int64_t dim, int64_t *common) {
    if (is_known(dim) && is_known(*common) && dim != *common)
        return rule_fail(rule, DIAG_SHAPE, "operands have %s %lld and %lld", what,
                         (long long)*common, (long long)dim);
    if (!is_known(*common)) *common = dim;
    return 0;
}

/* The operand without its axis `axis`, whose dim is given back; a rank that is too low is
 * refused. */
static int drop_axis(struct rule *rule, const struct fact *from, int64_t axis, struct fact *ret,
                     int64_t *ret_dim) {
    const struct shape *shape = &from->shape;
    int64_t dims[SHAPE_MAX_RANK];
    int at = 0;
    struct fact fact = varying(from);
    *ret_dim = DIM_UNKNOWN;
    if (from->kind == CM_TYPE_TENSOR && shape_has_rank(shape)) {
        int status = rule_normalize_axis(rule, axis, shape->rank, &at);
        if (status) return status;
        *ret_dim = shape->dims[at];
        for (int i = 0, to = 0; i < shape->rank; i++)
            if (i != at) dims[to++] = shape->dims[i];
        if (shape_make(rule->arena, shape->rank - 1, dims, &fact.shape) < 0)
            return diag_no_memory(rule->diag);
    }
    *ret = fact;
    return 0;
}

/* Entry i of a list attribute, 0 where it is absent. */
static int64_t axis_of(const struct rule *rule, const char *attr, size_t i) {
    size_t n = 0;
    const int64_t *axes = rule_attr_ints(rule, attr, &n);
    return i < n ? axes[i] : 0;
}

/* Operand i as the body sees it. */
static int scan_input(struct rule *rule, struct scan *scan, size_t i) {
    struct fact fact = varying(rule_input(rule, scan->first + i));
    int64_t dim = DIM_UNKNOWN;
    int status = 0;
    if (scan->batched) {
        status = drop_axis(rule, &fact, 0, &fact, &dim);
        if (!status) status = agree(rule, "batch", dim, &scan->batch);
    }
    if (!status && i >= scan->state.n) {
        status = drop_axis(rule, &fact, axis_of(rule, "scan_input_axes", i - scan->state.n),
                           &fact, &dim);
        if (!status) status = agree(rule, "length", dim, &scan->length);
    }
    scan->body.inputs[i] = fact;
    return status;
}

/* What the body gave as output i, with the axes that it does not see. */
static int scan_output(struct rule *rule, const struct scan *scan, size_t i) {
    struct fact fact;
    int status = 0;
    if (i < scan->state.n) {
        fact = last_state(rule, &scan->body, &scan->state, i, scan->length);
    } else {
        fact = scan->body.outputs[i];
        int64_t axis = axis_of(rule, "scan_output_axes", i - scan->state.n);
        status = output_stacked(rule, i, &fact, axis, scan->length);
        if (status || !scan->batched) return status;
        fact = rule->outputs[i];
    }
    return scan->batched ? output_stacked(rule, i, &fact, 0, scan->batch)
                         : rule_output_fact(rule, i, &fact);
}

static int infer_scan(struct rule *rule) {
    struct scan scan = {.first = 0};
    int status = open_scan(rule, &scan);
    for (size_t i = 0; i < scan.body.n_inputs && !status; i++)
        status = scan_input(rule, &scan, i);
    if (!status) status = walk_rounds(rule, &scan.body, &scan.state);
    if (!status)
        status =
            body_rounds(rule, &scan.body, checked_mul(scan.batch, scan.length), DIM_UNKNOWN);
    for (size_t i = 0; i < rule->n_outputs && !status; i++)
        status = scan_output(rule, &scan, i);
    return status;
}

/* One round an element of operand 0; of other operands sequences go by element too. */
static int infer_sequence_map(struct rule *rule) {
    struct body body;
    int status = open_body(rule, "body", &body);
    if (!status) status = check_body(rule, &body, rule->n_inputs, rule->n_outputs);
    if (status) return status;
    for (size_t i = 0; i < body.n_inputs; i++) {
        const struct fact *input = rule_input(rule, i);
        bool by_element = i == 0 || input->kind == CM_TYPE_SEQUENCE;
        body.inputs[i] = by_element ? merge_element(input) : *input;
    }
    status = walk_body(rule, &body);
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
static const struct op_attr scan_8[] = {REQUIRED_ATTR("body", ATTR_GRAPH),
                                        REQUIRED_ATTR("num_scan_inputs", ATTR_INT),
                                        OPTIONAL_ATTR("directions", ATTR_INTS),
                                        {0}};
static const struct op_attr scan_9[] = {REQUIRED_ATTR("body", ATTR_GRAPH),
                                        REQUIRED_ATTR("num_scan_inputs", ATTR_INT),
                                        OPTIONAL_ATTR("scan_input_axes", ATTR_INTS),
                                        OPTIONAL_ATTR("scan_input_directions", ATTR_INTS),
                                        OPTIONAL_ATTR("scan_output_axes", ATTR_INTS),
                                        OPTIONAL_ATTR("scan_output_directions", ATTR_INTS),
                                        {0}};

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
    CONTROL("Scan",         8, 2, VARIADIC, scan_8,   infer_scan,         "ix"),
    CONTROL("Scan",         9, 1, VARIADIC, scan_9,   infer_scan,         "x"),
    CONTROL("SequenceMap", 17, 1, VARIADIC, one_body, infer_sequence_map, "x"),
};
/* clang-format on */

const struct op_family family_control = {"control", rows, sizeof rows / sizeof *rows, NULL};
