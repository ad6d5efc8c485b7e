/* SPDX-License-Identifier: Apache-2.0 */
/* Loop: a body that runs as often as a trip count and a condition allow. */
#include "ops/body.h"
#include "ops/common.h"
#include "ops/facets.h"
#include "ops/merge.h"
#include "ops/trip_count.h"
#include "support/arena.h"

#include "support/banned.h"

struct loop {
    struct body body;
    struct carried carried;
    int64_t trips; /* the trip count operand, as read_trips sets it */
    struct trip_count trip_count;
};

/* Sets *ret to the trip count operand: DIM_UNKNOWN if its contents are unknown,
 * TRIP_COUNT_UNLIMITED (which exporters also write: 2^63 - 1) if it is omitted. */
static int read_trips(struct op_context *context, int64_t *ret) {
    struct int_list list;
    int status = op_int_list(context, LOOP_TRIPS, &list);
    if (status) return status;
    *ret = op_has_input(context, LOOP_TRIPS) ? DIM_UNKNOWN : TRIP_COUNT_UNLIMITED;
    if (list.known && list.n == 1) *ret = list.values[0] < 0 ? 0 : list.values[0];
    return 0;
}

static struct value_info scalar_of(enum dtype dtype) {
    return value_info_tensor(dtype, (struct shape){0, NULL});
}

/* Sets the inputs of the body. An iteration runs only if the condition is true, so the body
 * sees true. */
static int loop_inputs(struct op_context *context, struct body *body) {
    const struct shape scalar = {0, NULL};
    body->inputs[0] = scalar_of(DTYPE_INT64);
    body->inputs[1] = scalar_of(DTYPE_BOOL);
    body->inputs[1].value = constant_splat_int(context->arena, DTYPE_BOOL, &scalar, 1);
    if (!body->inputs[1].value) return diag_no_memory(context->diag);
    for (size_t i = LOOP_STATE; i < body->n_inputs; i++)
        body->inputs[i] = body_varying(op_input(context, i));
    return 0;
}

/* Computes bounds of the trip count from the condition that the body returns, for a loop that
 * starts. */
static int trip_count_of_condition(struct op_context *context, const struct body *body,
                                   struct trip_count *ret) {
    bool goes_on = false, known = false;
    int status = body_condition(context, &body->outputs[0], &known, &goes_on);
    *ret = (struct trip_count){known && goes_on ? TRIP_COUNT_UNLIMITED : 1,
                               known && !goes_on ? 1 : TRIP_COUNT_UNLIMITED};
    if (status || known || !context->walker->info) return status;
    return trip_count_find(context, body, ret);
}

/* Sets *ret to true if the condition operand is known or omitted. The loop then starts, unless
 * never_runs. */
static int starts(struct op_context *context, bool *ret) {
    bool condition = false;
    *ret = true;
    if (!op_has_input(context, LOOP_CONDITION)) return 0;
    return body_condition(context, op_input(context, LOOP_CONDITION), ret, &condition);
}

/* Computes bounds of the trip count after a walk of the body. `trips` must not be 0 and the
 * condition operand not false (never_runs). */
static int find_trip_count(struct op_context *context, const struct body *body, int64_t trips,
                           struct trip_count *ret) {
    bool started = false;
    int status = trip_count_of_condition(context, body, ret);
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

/* Replaces a trip count that is not static by that of --trip-count, if it is given. */
static void use_requested_trip_count(const struct op_context *context,
                                     struct trip_count *trip_count) {
    const struct op_walker *walker = context->walker;
    if (!walker->trips) return;
    const int64_t requested =
        walker->trips(walker->context, context->node_id, exact_trip_count(trip_count),
                      upper_bound_of(trip_count));
    if (is_known(requested)) trip_count->lower = trip_count->upper = requested;
}

/* Sets *ret to true if the operands alone show that the body never runs: the trip count is 0 or
 * the condition false. */
static int never_runs(struct op_context *context, int64_t trips, bool *ret) {
    bool known = false, starts = false;
    int status = body_condition(context, op_input(context, LOOP_CONDITION), &known, &starts);
    *ret = trips == 0 || (known && !starts);
    return status;
}

static int open_loop(struct op_context *context, struct loop *loop) {
    const size_t n = context->n_inputs > LOOP_STATE ? context->n_inputs - LOOP_STATE : 0;
    const size_t n_outputs = context->n_outputs > n ? context->n_outputs : n;
    loop->carried = (struct carried){LOOP_STATE, 1, n};
    int status = body_open(context, "body", &loop->body);
    if (!status) status = body_check(context, &loop->body, LOOP_STATE + n, 1 + n_outputs);
    return status ? status : read_trips(context, &loop->trips);
}

/* Returns the state of one iteration, with its contents. */
static struct value_info state_of(const struct value_info *info) {
    struct value_info copy = *info;
    copy.is_constant = false;
    copy.is_weight = false;
    return copy;
}

/* Sets output i to stacked elements, or to a state after the last iteration: the initial state
 * if the body never runs. */
static int loop_output(struct op_context *context, const struct loop *loop, size_t i) {
    const struct trip_count *trip_count = &loop->trip_count;
    const int64_t times = op_data_dependent_dim(context, exact_trip_count(trip_count),
                                                upper_bound_of(trip_count));
    if (i >= loop->carried.n)
        return body_output_stacked(context, i, &loop->body.outputs[1 + i], 0, times);
    const struct value_info state =
        trip_count->upper == 0
            ? state_of(op_input(context, LOOP_STATE + i))
            : body_last_state(&loop->body, &loop->carried, i, trip_count->lower > 0);
    return op_output_info(context, i, &state);
}

static int report_trip_count(struct op_context *context, struct loop *loop) {
    use_requested_trip_count(context, &loop->trip_count);
    return body_report_trip_count(context, &loop->body, exact_trip_count(&loop->trip_count),
                                  upper_bound_of(&loop->trip_count));
}

/* Infers the body with infos that hold in every iteration. */
static int infer_at_once(struct op_context *context, struct loop *loop) {
    bool never = false;
    loop->trip_count = (struct trip_count){0, 0};
    int status = loop_inputs(context, &loop->body);
    if (!status) status = never_runs(context, loop->trips, &never);
    if (!status) status = body_walk_iterations(context, &loop->body, &loop->carried);
    if (!status && !never)
        status = find_trip_count(context, &loop->body, loop->trips, &loop->trip_count);
    if (!status) status = report_trip_count(context, loop);
    for (size_t i = 0; i < context->n_outputs && !status; i++)
        status = loop_output(context, loop, i);
    return status;
}

/* --- Execution iteration by iteration. --- */

/* Returns true if execution may determine an unknown part of the output: elements of a
 * sequence, dims, or the contents of shape arithmetic. */
static bool is_improvable(const struct value_info *output) {
    if (output->kind == CM_TYPE_SEQUENCE) return !output->items;
    if (!value_info_is_static(output)) return true;
    return !output->value && dtype_is_integer(output->dtype) &&
           shape_elements(&output->shape) <= LONGEST_SHORT;
}

/* Infers iteration k. Sets *ret_goes_on to the condition of the next one, and *ret_done to
 * false if it is unknown or the budget is exhausted. */
static int infer_iteration(struct op_context *context, struct body *body, int64_t k,
                           bool *ret_done, bool *ret_goes_on) {
    const struct shape scalar = {0, NULL};
    const struct op_walker *walker = context->walker;
    body->inputs[LOOP_TRIPS].value = constant_ints(context->arena, DTYPE_INT64, &scalar, &k);
    if (!body->inputs[LOOP_TRIPS].value) return diag_no_memory(context->diag);
    body->outputs = NULL;
    int status = walker->iterate(walker->context, body->graph, body->n_inputs, body->inputs,
                                 &body->outputs);
    *ret_done = false;
    if (status || !body->outputs) return status;
    return body_condition(context, &body->outputs[0], ret_done, ret_goes_on);
}

/* Merges the elements that iteration k stacks into `stacked`, the infos that hold for all
 * earlier iterations. */
static int merge_stacked(struct op_context *context, const struct loop *loop, int64_t k,
                         struct value_info *stacked) {
    for (size_t i = loop->carried.n; i < context->n_outputs; i++) {
        const struct value_info *element = &loop->body.outputs[1 + i];
        int status = 0;
        if (k == 0) stacked[i] = *element;
        if (k > 0 && !merge_is_same(&stacked[i], element))
            status = merge_infos(context, &stacked[i], element, &stacked[i]);
        if (status) return status;
    }
    return 0;
}

/* Infers at most `trips` iterations, until the condition is false. Sets *ret_done to false if a
 * condition is unknown or the budget is exhausted. */
static int infer_iterations(struct op_context *context, struct loop *loop, int64_t trips,
                            struct value_info *stacked, bool *ret_done) {
    struct body *body = &loop->body;
    bool goes_on = true;
    *ret_done = true;
    int64_t k = 0;
    for (; *ret_done && goes_on && k < trips; k++) {
        int status = infer_iteration(context, body, k, ret_done, &goes_on);
        if (!status && *ret_done) status = merge_stacked(context, loop, k, stacked);
        if (status || !*ret_done) return status;
        for (size_t i = 0; i < loop->carried.n; i++)
            body->inputs[loop->carried.input + i] =
                state_of(&body->outputs[loop->carried.output + i]);
    }
    loop->trip_count = (struct trip_count){k, k};
    return 0;
}

static int iterated_output(struct op_context *context, const struct loop *loop,
                           const struct value_info *stacked, size_t i) {
    if (i >= loop->carried.n)
        return body_output_stacked(context, i, &stacked[i], 0, loop->trip_count.upper);
    return op_output_info(context, i, &loop->body.inputs[loop->carried.input + i]);
}

/* Infers each iteration with its own shapes and contents. */
static int infer_each(struct op_context *context, struct loop *loop, int64_t trips,
                      bool *ret_done) {
    struct value_info *stacked =
        arena_array(context->arena, context->n_outputs, sizeof *stacked);
    if (!stacked) return diag_no_memory(context->diag);
    int status = loop_inputs(context, &loop->body);
    for (size_t i = 0; i < loop->carried.n; i++)
        loop->body.inputs[LOOP_STATE + i] = state_of(op_input(context, LOOP_STATE + i));
    if (!status) status = infer_iterations(context, loop, trips, stacked, ret_done);
    if (status || !*ret_done) return status;
    status = report_trip_count(context, loop);
    for (size_t i = 0; i < context->n_outputs && !status; i++)
        status = iterated_output(context, loop, stacked, i);
    return status;
}

/* Returns the exact trip count if known; else the trip count operand, although the condition
 * may end the loop earlier. DIM_UNKNOWN if it is unknown or only a bound, or if the loop may
 * not start. */
static int64_t static_trips(struct op_context *context, const struct loop *loop) {
    const int64_t exact = exact_trip_count(&loop->trip_count);
    bool begins = false;
    if (is_known(exact)) return exact;
    if (starts(context, &begins) || !begins || op_has_bounds(context, LOOP_TRIPS))
        return DIM_UNKNOWN;
    return loop->trips;
}

static int infer_loop(struct op_context *context) {
    const struct op_walker *walker = context->walker;
    struct loop loop;
    bool needed = false, done = false;
    int status = open_loop(context, &loop);
    if (!status) status = infer_at_once(context, &loop);
    if (status || !walker->begin) return status;
    const int64_t trips = static_trips(context, &loop);
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
FACETS(ONNX, Loop) {NO_BOUNDS};

#define LOOP(from)                                                                             \
    {                                                                                          \
        SIGNATURE(ONNX, Loop, from), .infer = infer_loop, .memory = MEMORY_CONTROL,            \
        .param_roles = "iic", .backward.saved_for_backward = ""                                \
    }

static const struct op rows[] = {LOOP(1), LOOP(11)};
/* clang-format on */

OP_FAMILY(loop,
          .declines = FACET_FOLD | FACET_ALGEBRA | FACET_MODULE | FACET_EXACT | FACET_QDQ);
