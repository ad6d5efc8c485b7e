/* SPDX-License-Identifier: Apache-2.0 */
/* Loop: a body that runs as often as a trip count and a condition allow. */
#include <math.h>
#include <stdlib.h>

#include "ops/body.h"
#include "ops/common.h"
#include "ops/merge.h"
#include "ops/onnx/facets.h"
#include "support/arena.h"

/* Operands of a Loop and inputs of its body, at the same indices: trip count (in the body the
 * iteration number), condition, loop-carried state. Output i - 1 of the body is input i of the
 * next iteration; the outputs after the state are stacked over all iterations. */
enum { LOOP_TRIPS, LOOP_CONDITION, LOOP_STATE };

/* No upper bound is known. */
#define TRIP_COUNT_UNLIMITED INT64_MAX

/* Bounds of the trip count; a data-dependent exit may end a loop earlier than `upper`. */
struct trip_count {
    int64_t lower, upper;
};

/* ---- Trip count of a Loop whose condition compares counters ----
 * Such a condition compares numbers that change by a constant step in every iteration, with
 * each other or with constants. Exporters write recurrent layers (tf2onnx) and scripted while
 * loops this way. Each value of the body is expressed as a linear function of one body input
 * (struct linear), then as a progression over the iterations (struct progression); comparing
 * two progressions gives the first iteration that ends the loop. */

/* Maximum number of values visited for one condition. */
#define MAX_STEPS  256
#define MAX_NUMBER (INT64_C(1) << 53)

/* The magnitude up to which a dtype represents every integer; 0: not used for counters. */
static const int64_t exact_to[DTYPE_N] = {
    [DTYPE_INT8] = INT8_MAX,
    [DTYPE_INT16] = INT16_MAX,
    [DTYPE_INT32] = INT32_MAX,
    [DTYPE_INT64] = MAX_NUMBER,
    [DTYPE_BFLOAT16] = INT64_C(1) << 8,
    [DTYPE_FLOAT16] = INT64_C(1) << 11,
    [DTYPE_FLOAT] = INT64_C(1) << 24,
    [DTYPE_DOUBLE] = MAX_NUMBER,
};

struct search {
    struct op_context *context;
    const struct graph *body;
    uint32_t graph;
    int steps_left; /* values that may still be visited */
    int status;     /* 0, or the failure that ended the search */
};

/* The linear function factor * input + offset. `input`: of the body; ID_NONE: constant. */
struct linear {
    uint32_t input;
    int64_t factor, offset;
    /* Over all intermediate values: largest magnitudes, and smallest exact range of a dtype. */
    int64_t max_factor, max_offset, exact_to;
};

/* A value that is start + k * step in iteration k >= 0. */
struct progression {
    int64_t start, step;
    int64_t last; /* largest k without an overflow of an intermediate value; -1: none */
};

static int64_t smaller_of(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t larger_of(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static bool is_within(int64_t number, int64_t limit) {
    return is_known(number) && number >= -limit && number <= limit;
}

/* ---- numbers ---- */

/* Returns true if the value is a tensor with one element, or with an unknown number of
 * elements: since a condition is computed from it, it then has one. */
static bool may_be_single(const struct value_info *info) {
    const int64_t elements = shape_elements(&info->shape);
    return info->kind == CM_TYPE_TENSOR && (elements == 1 || elements == DIM_UNKNOWN);
}

/* Sets *ret to the only element. Returns false unless it is a known integer; an unreadable
 * constant is unknown. */
static bool read_number(struct search *search, const struct value_info *info, int64_t *ret) {
    const struct constant *value = NULL;
    const struct op_context *context = search->context;
    if (!info->value || info->lower_bound || info->value->n_elements != 1) return false;
    int status =
        constant_load(info->value, &context->model->reader, context->arena, NULL, &value);
    if (status == CM_NO_MEMORY) search->status = diag_no_memory(context->diag);
    if (status < 0 || !value) return false;
    if (constant_has_reals(value)) {
        const double real = constant_real_at(value, 0);
        if (!(fabs(real) <= (double)MAX_NUMBER) || real != floor(real)) return false;
        *ret = (int64_t)real;
        return true;
    }
    if (!constant_has_ints(value)) return false;
    *ret = constant_int_at(value, 0);
    return is_within(*ret, MAX_NUMBER);
}

/* ---- linear functions ---- */

/* Records an intermediate value; returns false if its numbers are too large. */
static bool record_linear(struct linear *linear) {
    if (!is_within(linear->factor, MAX_NUMBER) || !is_within(linear->offset, MAX_NUMBER))
        return false;
    linear->max_factor = larger_of(linear->max_factor, llabs(linear->factor));
    linear->max_offset = larger_of(linear->max_offset, llabs(linear->offset));
    return true;
}

static bool add_linear(const struct linear *a, const struct linear *b, struct linear *ret) {
    if (a->input != ID_NONE && b->input != ID_NONE && a->input != b->input) return false;
    ret->input = a->input == ID_NONE ? b->input : a->input;
    ret->factor = checked_add(a->factor, b->factor);
    ret->offset = checked_add(a->offset, b->offset);
    return true;
}

static bool multiply_linear(const struct linear *a, const struct linear *b,
                            struct linear *ret) {
    if (a->input != ID_NONE && b->input != ID_NONE) return false;
    const struct linear *moving = a->input == ID_NONE ? b : a;
    const int64_t by = (moving == a ? b : a)->offset;
    ret->input = moving->input;
    ret->factor = checked_mul(moving->factor, by);
    ret->offset = checked_mul(moving->offset, by);
    return true;
}

static bool subtract_linear(const struct linear *a, const struct linear *b,
                            struct linear *ret) {
    const struct linear minus = {.input = b->input, .factor = -b->factor, .offset = -b->offset};
    return add_linear(a, &minus, ret);
}

static const struct {
    const char *type;
    bool (*combine)(const struct linear *a, const struct linear *b, struct linear *ret);
} arithmetic[] = {{"Add", add_linear}, {"Sub", subtract_linear}, {"Mul", multiply_linear}};

/* Returns true if the node forwards its one element under another dtype or shape. */
static bool is_view_or_cast(const struct node *node) {
    static const char *const types[] = {"Identity", "Cast", "Reshape", "Squeeze", "Unsqueeze"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (text_equal(node->type, types[i])) return true;
    return false;
}

/* Returns the ai.onnx node of the body that produces the value, or NULL. */
static const struct node *producer_in_body(const struct search *search, uint32_t id) {
    const struct value *value = &search->context->model->values[id];
    if (value->graph != search->graph || value->node == ID_NONE) return NULL;
    const struct node *node = &search->context->model->nodes[value->node];
    return node->domain[0] == '\0' ? node : NULL;
}

/* Expresses a value of the body as a linear function of one body input, by its producers.
 * Returns false if it is none, or if the search has ended. */
static bool linear_of_value(struct search *search, uint32_t id, struct linear *ret) {
    const struct op_walker *walker = search->context->walker;
    const struct graph *body = search->body;
    if (id == ID_NONE || search->status || search->steps_left-- <= 0) return false;
    const struct value_info *info = walker->info(walker->context, id);
    const struct node *node = producer_in_body(search, id);
    *ret = (struct linear){.input = ID_NONE, .exact_to = MAX_NUMBER};
    if (!may_be_single(info)) return false;
    const bool is_number = read_number(search, info, &ret->offset);
    if (!is_number && node && is_view_or_cast(node)) {
        if (!linear_of_value(search, node->inputs[0], ret)) return false;
    } else if (!is_number && node) {
        const size_t n = sizeof arithmetic / sizeof *arithmetic;
        struct linear a, b;
        size_t row = 0;
        while (row < n && !text_equal(node->type, arithmetic[row].type)) row++;
        if (row == n || !linear_of_value(search, node->inputs[0], &a) ||
            !linear_of_value(search, node->inputs[1], &b))
            return false;
        ret->exact_to = smaller_of(a.exact_to, b.exact_to);
        ret->max_factor = larger_of(a.max_factor, b.max_factor);
        ret->max_offset = larger_of(a.max_offset, b.max_offset);
        if (!arithmetic[row].combine(&a, &b, ret)) return false;
    } else if (!is_number) {
        uint32_t i = 0;
        while (i < body->n_inputs && body->inputs[i] != id) i++;
        if (i == body->n_inputs || i == LOOP_CONDITION) return false;
        ret->input = i;
        ret->factor = ret->max_factor = 1;
    }
    if (!record_linear(ret)) return false;
    ret->exact_to = smaller_of(ret->exact_to, exact_to[info->dtype]);
    return true;
}

/* Returns the largest k for which start + k * step is within +-limit. */
static int64_t last_within(int64_t start, int64_t step, int64_t limit) {
    if (!is_within(start, limit)) return -1;
    if (step == 0) return TRIP_COUNT_UNLIMITED;
    return step > 0 ? (limit - start) / step : (start + limit) / -step;
}

/* Returns the largest magnitude of the input for which every intermediate value is exact in its
 * dtype; negative if there is none. */
static int64_t input_range(const struct linear *linear) {
    const int64_t limit = linear->exact_to - linear->max_offset;
    return limit < 0 || linear->max_factor == 0 ? limit : limit / linear->max_factor;
}

/* Expresses a value of the body as a progression. Returns false if it is none. The iteration
 * number is {0, 1}; a state starts at its operand, and its step is what an iteration adds to
 * it. */
static bool progression_of_value(struct search *search, uint32_t id, struct progression *ret) {
    struct linear linear;
    struct linear next = {.exact_to = MAX_NUMBER};
    struct progression input = {0, 1, 0};
    if (!linear_of_value(search, id, &linear)) return false;
    if (linear.input == ID_NONE) input.step = 0;
    if (linear.input != ID_NONE && linear.input >= LOOP_STATE) { /* a state */
        if (!read_number(search, op_input(search->context, linear.input), &input.start) ||
            !linear_of_value(search, search->body->outputs[linear.input - 1], &next))
            return false;
        const bool stays = next.input == ID_NONE && next.offset == input.start;
        if (!stays && (next.input != linear.input || next.factor != 1)) return false;
        input.step = stays ? 0 : next.offset;
    }
    ret->start = checked_add(checked_mul(linear.factor, input.start), linear.offset);
    ret->step = checked_mul(linear.factor, input.step);
    ret->last = smaller_of(last_within(input.start, input.step, input_range(&linear)),
                           last_within(input.start, input.step, input_range(&next)));
    return is_within(ret->start, MAX_NUMBER) && is_within(ret->step, MAX_NUMBER);
}

/* ---- conditions ---- */

static const struct trip_count no_bounds = {0, TRIP_COUNT_UNLIMITED};

/* Returns the first k >= 0 at which (start + k * step < bound) == want. */
static int64_t first_below(int64_t start, int64_t step, int64_t bound, bool want) {
    if ((start < bound) == want) return 0;
    if (step == 0 || (step < 0) != want) return TRIP_COUNT_UNLIMITED;
    return want ? (start - bound) / -step + 1 : (bound - start + step - 1) / step;
}

static const struct {
    const char *type;
    bool swapped;  /* compares operand 1 - operand 0, else operand 0 - operand 1 */
    int64_t bound; /* the comparison is true if this difference is < bound */
} comparisons[] = {{"Less", false, 0},
                   {"Greater", true, 0},
                   {"LessOrEqual", false, 1},
                   {"GreaterOrEqual", true, 1}};

static struct trip_count first_of_comparison(struct search *search, const struct node *node,
                                             size_t row, bool want) {
    const bool swapped = comparisons[row].swapped;
    struct progression x, y;
    if (!progression_of_value(search, node->inputs[swapped], &x) ||
        !progression_of_value(search, node->inputs[!swapped], &y))
        return no_bounds;
    const int64_t k =
        first_below(x.start - y.start, x.step - y.step, comparisons[row].bound, want);
    const int64_t last = smaller_of(x.last, y.last);
    /* after `last`, a value may overflow: nothing is known of the later iterations */
    return k <= last ? (struct trip_count){k, k}
                     : (struct trip_count){last + 1, TRIP_COUNT_UNLIMITED};
}

static struct trip_count first_iteration(struct search *search, uint32_t id, bool want);

/* Combines the bounds of two conditions: if `both`, both must be `want`, else one of them. */
static struct trip_count first_of_and_or(struct search *search, const struct node *node,
                                         bool both, bool want) {
    const struct trip_count a = first_iteration(search, node->inputs[0], want);
    const struct trip_count b = first_iteration(search, node->inputs[1], want);
    if (!both)
        return (struct trip_count){smaller_of(a.lower, b.lower), smaller_of(a.upper, b.upper)};
    /* no upper bound: the two may have the value in different iterations */
    return (struct trip_count){a.lower > b.lower ? a.lower : b.lower, TRIP_COUNT_UNLIMITED};
}

static struct trip_count first_iteration_of_node(struct search *search, const struct node *node,
                                                 bool want) {
    const struct op_walker *walker = search->context->walker;
    if (is_view_or_cast(node)) return first_iteration(search, node->inputs[0], want);
    /* PaddlePaddle copies a condition by adding 0 */
    for (size_t i = 0; i < 2 && text_equal(node->type, "Add"); i++) {
        const uint32_t id = node->inputs[i];
        int64_t number = 1;
        if (id != ID_NONE && read_number(search, walker->info(walker->context, id), &number) &&
            number == 0)
            return first_iteration(search, node->inputs[1 - i], want);
    }
    if (text_equal(node->type, "Not")) return first_iteration(search, node->inputs[0], !want);
    if (text_equal(node->type, "And")) return first_of_and_or(search, node, want, want);
    if (text_equal(node->type, "Or")) return first_of_and_or(search, node, !want, want);
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++)
        if (text_equal(node->type, comparisons[i].type))
            return first_of_comparison(search, node, i, want);
    return no_bounds;
}

/* Returns bounds of the first iteration (from 0) in which the condition is `want`. */
static struct trip_count first_iteration(struct search *search, uint32_t id, bool want) {
    const struct op_walker *walker = search->context->walker;
    int64_t number = 0;
    if (id == ID_NONE || search->status || search->steps_left-- <= 0) return no_bounds;
    const struct value_info *info = walker->info(walker->context, id);
    const struct node *node = producer_in_body(search, id);
    if (!may_be_single(info)) return no_bounds;
    if (read_number(search, info, &number)) {
        const int64_t k = (number != 0) == want ? 0 : TRIP_COUNT_UNLIMITED;
        return (struct trip_count){k, k};
    }
    return node ? first_iteration_of_node(search, node, want) : no_bounds;
}

/* ---- the loop ---- */

struct loop {
    struct body body;
    struct carried carried;
    /* The trip count operand: DIM_UNKNOWN if its contents are unknown, TRIP_COUNT_UNLIMITED
     * (which exporters also write: 2^63 - 1) if it is omitted. */
    int64_t trips;
    struct trip_count trip_count;
};

/* Sets the inputs of the body. An iteration runs only if the condition is true, so the body
 * sees true. */
static int loop_inputs(struct op_context *context, struct body *body) {
    const struct shape scalar = {0, NULL};
    body->inputs[0] = value_info_tensor(DTYPE_INT64, scalar);
    body->inputs[1] = value_info_tensor(DTYPE_BOOL, scalar);
    body->inputs[1].value =
        constant_splat(context->arena, DTYPE_BOOL, &scalar, (struct number){.i = 1});
    if (!body->inputs[1].value) return diag_no_memory(context->diag);
    for (size_t i = LOOP_STATE; i < body->n_inputs; i++)
        body->inputs[i] = op_without_contents(op_input(context, i));
    return 0;
}

/* Sets *ret to true if the condition operand is known or omitted. Callers have handled a trip
 * count of 0 and a condition that is false, so the loop then starts. */
static int starts(struct op_context *context, bool *ret) {
    bool condition = false;
    *ret = true;
    if (!op_has_input(context, LOOP_CONDITION)) return 0;
    return body_condition(context, op_input(context, LOOP_CONDITION), ret, &condition);
}

/* Computes bounds of the trip count from `trips`, the condition operand and the condition that
 * the body returns, after a walk of the body with inputs that hold in every iteration. `trips`
 * must not be 0, and the condition operand must not be known to be false. */
static int find_trip_count(struct op_context *context, const struct body *body, int64_t trips,
                           struct trip_count *ret) {
    struct search search = {.context = context,
                            .body = &context->model->graphs[body->graph],
                            .graph = body->graph,
                            .steps_left = MAX_STEPS};
    bool goes_on = false, known = false, started = false;
    int status = body_condition(context, &body->outputs[0], &known, &goes_on);
    *ret = (struct trip_count){known && goes_on ? TRIP_COUNT_UNLIMITED : 1,
                               known && !goes_on ? 1 : TRIP_COUNT_UNLIMITED};
    if (!status && !known && context->walker->info) {
        *ret = first_iteration(&search, search.body->outputs[0], false);
        if (ret->lower != TRIP_COUNT_UNLIMITED) ret->lower++;
        if (ret->upper != TRIP_COUNT_UNLIMITED) ret->upper++;
        status = search.status;
    }
    if (!status) status = starts(context, &started);
    if (is_known(trips) && trips < ret->lower) ret->lower = trips;
    if (is_known(trips) && trips < ret->upper) ret->upper = trips;
    if (!started || !is_known(trips) || op_has_bounds(context, LOOP_TRIPS)) ret->lower = 0;
    return status;
}

static int64_t exact_trip_count(const struct trip_count *trip_count) {
    const bool ends =
        trip_count->lower == trip_count->upper && trip_count->upper != TRIP_COUNT_UNLIMITED;
    return ends ? trip_count->upper : DIM_UNKNOWN;
}

/* Returns the upper bound of the trip count; DIM_UNKNOWN if it is near INT32_MAX or larger, as
 * exporters write INT32_MAX or INT64_MAX for "unlimited". */
static int64_t upper_bound_of(const struct trip_count *trip_count) {
    return trip_count->upper < INT32_MAX / 2 ? trip_count->upper : DIM_UNKNOWN;
}

/* Returns the info as a state of one iteration: with contents, but not constant. */
static struct value_info state_of(const struct value_info *info) {
    struct value_info copy = *info;
    copy.is_constant = false;
    copy.is_weight = false;
    return copy;
}

/* Reports the trip count; one that is not static is replaced by that of --trip-count, if it is
 * given. */
static int report_trip_count(struct op_context *context, struct loop *loop) {
    const struct op_walker *walker = context->walker;
    struct trip_count *count = &loop->trip_count;
    const int64_t requested =
        walker->trips ? walker->trips(walker->context, context->node_id,
                                      exact_trip_count(count), upper_bound_of(count))
                      : DIM_UNKNOWN;
    if (is_known(requested)) count->lower = count->upper = requested;
    return body_report_trip_count(context, &loop->body, exact_trip_count(count),
                                  upper_bound_of(count));
}

/* Infers the body with infos that hold in every iteration. The outputs are stacked elements, or
 * states after the last iteration: the initial ones if the body never runs. */
static int infer_at_once(struct op_context *context, struct loop *loop) {
    struct trip_count *count = &loop->trip_count;
    bool known = false, begins = false;
    *count = (struct trip_count){0, 0};
    int status = loop_inputs(context, &loop->body);
    if (!status)
        status = body_condition(context, op_input(context, LOOP_CONDITION), &known, &begins);
    const bool never = loop->trips == 0 || (known && !begins);
    if (!status) status = body_walk_iterations(context, &loop->body, &loop->carried);
    if (!status && !never) status = find_trip_count(context, &loop->body, loop->trips, count);
    if (!status) status = report_trip_count(context, loop);
    const int64_t times =
        op_data_dependent_dim(context, exact_trip_count(count), upper_bound_of(count));
    for (size_t i = 0; i < context->n_outputs && !status; i++) {
        if (i >= loop->carried.n) {
            status = body_output_stacked(context, i, &loop->body.outputs[1 + i], 0, times);
            continue;
        }
        const struct value_info state =
            count->upper == 0
                ? state_of(op_input(context, LOOP_STATE + i))
                : body_last_state(&loop->body, &loop->carried, i, count->lower > 0);
        status = op_output_info(context, i, &state);
    }
    return status;
}

/* ---- execution iteration by iteration ---- */

/* Returns true if execution may determine an unknown part of the output: elements of a
 * sequence, dims, or the contents of shape arithmetic. */
static bool is_improvable(const struct value_info *output) {
    if (output->kind == CM_TYPE_SEQUENCE) return !output->items;
    if (!value_info_is_static(output)) return true;
    return !output->value && dtype_is_integer(output->dtype) &&
           shape_elements(&output->shape) <= LONGEST_SHORT;
}

/* Infers each iteration with its own shapes and contents: at most `trips`, until the condition
 * is false. Sets *ret_done to false if a condition is unknown or the budget is exhausted. */
static int infer_each(struct op_context *context, struct loop *loop, int64_t trips,
                      bool *ret_done) {
    const struct shape scalar = {0, NULL};
    const struct op_walker *walker = context->walker;
    const struct carried *carried = &loop->carried;
    struct body *body = &loop->body;
    struct value_info *state = body->inputs + carried->input;
    bool goes_on = true;
    int64_t k = 0;
    /* by output: the info of its stacked elements that holds for all iterations */
    struct value_info *stacked =
        arena_array(context->arena, context->n_outputs, sizeof *stacked);
    if (!stacked) return diag_no_memory(context->diag);
    int status = loop_inputs(context, body);
    for (size_t i = 0; i < carried->n; i++)
        state[i] = state_of(op_input(context, LOOP_STATE + i));
    *ret_done = true;
    for (; goes_on && k < trips && !status; k++) {
        body->inputs[LOOP_TRIPS].value =
            constant_ints(context->arena, DTYPE_INT64, &scalar, &k);
        if (!body->inputs[LOOP_TRIPS].value) return diag_no_memory(context->diag);
        body->outputs = NULL;
        status = walker->iterate(walker->context, body->graph, body->n_inputs, body->inputs,
                                 &body->outputs);
        *ret_done = false;
        if (!status && body->outputs)
            status = body_condition(context, &body->outputs[0], ret_done, &goes_on);
        for (size_t i = carried->n; i < context->n_outputs && !status && *ret_done; i++) {
            const struct value_info *element = &body->outputs[1 + i];
            if (k == 0)
                stacked[i] = *element;
            else if (!merge_is_same(&stacked[i], element))
                status = merge_infos(context, &stacked[i], element, &stacked[i]);
        }
        if (status || !*ret_done) return status;
        for (size_t i = 0; i < carried->n; i++)
            state[i] = state_of(&body->outputs[carried->output + i]);
    }
    if (status) return status;
    loop->trip_count = (struct trip_count){k, k};
    status = report_trip_count(context, loop);
    for (size_t i = 0; i < context->n_outputs && !status; i++)
        status = i < carried->n
                     ? op_output_info(context, i, &state[i])
                     : body_output_stacked(context, i, &stacked[i], 0, loop->trip_count.upper);
    return status;
}

static int infer_loop(struct op_context *context) {
    const struct op_walker *walker = context->walker;
    const size_t n = context->n_inputs > LOOP_STATE ? context->n_inputs - LOOP_STATE : 0;
    const size_t n_outputs = context->n_outputs > n ? context->n_outputs : n;
    struct loop loop = {.carried = {LOOP_STATE, 1, n}};
    struct int_list list;
    bool begins = false, needed = false, done = false;
    int status = body_open(context, "body", &loop.body);
    if (!status) status = body_check(context, &loop.body, LOOP_STATE + n, 1 + n_outputs);
    if (!status) status = op_int_list(context, LOOP_TRIPS, &list);
    if (status) return status;
    loop.trips = list.given ? DIM_UNKNOWN : TRIP_COUNT_UNLIMITED;
    if (list.known && list.n == 1) loop.trips = list.values[0] < 0 ? 0 : list.values[0];
    status = infer_at_once(context, &loop);
    if (status || !walker->begin) return status;
    /* execute the iterations, at most as many as the trip count operand allows, if that may
     * improve the outputs; if execution fails, restore those of infer_at_once */
    int64_t trips = exact_trip_count(&loop.trip_count);
    if (!is_known(trips) && !starts(context, &begins) && begins &&
        !op_has_bounds(context, LOOP_TRIPS))
        trips = loop.trips;
    for (size_t i = 0; i < context->n_outputs; i++)
        needed = needed || (op_has_output(context, i) && is_improvable(&context->outputs[i]));
    if (!is_known(trips) || trips < 1 ||
        !walker->begin(walker->context, loop.body.graph, trips, needed))
        return 0;
    status = infer_each(context, &loop, trips, &done);
    done = done && !status;
    walker->end(walker->context, loop.body.graph, trips, done);
    return done || status == CM_NO_MEMORY ? status : infer_at_once(context, &loop);
}

/* clang-format off */
#define LOOP(from)                                                                             \
    {                                                                                          \
        SIGNATURE(ONNX, Loop, from, NO_BOUNDS), .infer = infer_loop, .memory = MEMORY_CONTROL, \
        .param_roles = "iic", .backward.saved_for_backward = ""                                \
    }

static const struct op rows[] = {LOOP(1), LOOP(11)};
/* clang-format on */

OP_FAMILY(loop, .declines = FACETS_RARE | FACET_EXACT);
