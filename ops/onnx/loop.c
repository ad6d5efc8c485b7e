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
    body->inputs[1].value = constant_splat_int(context->arena, DTYPE_BOOL, &scalar, 1);
    if (!body->inputs[1].value) return diag_no_memory(context->diag);
    for (size_t i = LOOP_STATE; i < body->n_inputs; i++)
        body->inputs[i] = op_without_contents(op_input(context, i));
    return 0;
}

/* Sets *ret to true if the condition operand is known or omitted. The loop then starts, unless
 * never_runs. */
static int starts(struct op_context *context, bool *ret) {
    bool condition = false;
    *ret = true;
    if (!op_has_input(context, LOOP_CONDITION)) return 0;
    return body_condition(context, op_input(context, LOOP_CONDITION), ret, &condition);
}

/* Computes bounds of the trip count after a walk of the body, also from the condition that the
 * body returns. `trips` must not be 0 and the condition operand not false (never_runs). */
static int find_trip_count(struct op_context *context, const struct body *body, int64_t trips,
                           struct trip_count *ret) {
    bool goes_on = false, known = false, started = false;
    int status = body_condition(context, &body->outputs[0], &known, &goes_on);
    *ret = (struct trip_count){known && goes_on ? TRIP_COUNT_UNLIMITED : 1,
                               known && !goes_on ? 1 : TRIP_COUNT_UNLIMITED};
    if (!status && !known && context->walker->info)
        status = trip_count_find(context, body, ret);
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
    struct int_list list;
    loop->carried = (struct carried){LOOP_STATE, 1, n};
    int status = body_open(context, "body", &loop->body);
    if (!status) status = body_check(context, &loop->body, LOOP_STATE + n, 1 + n_outputs);
    if (!status) status = op_int_list(context, LOOP_TRIPS, &list);
    if (status) return status;
    loop->trips = list.given ? DIM_UNKNOWN : TRIP_COUNT_UNLIMITED;
    if (list.known && list.n == 1) loop->trips = list.values[0] < 0 ? 0 : list.values[0];
    return 0;
}

/* Returns the state of one iteration, with its contents. */
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
    bool never = false;
    *count = (struct trip_count){0, 0};
    int status = loop_inputs(context, &loop->body);
    if (!status) status = never_runs(context, loop->trips, &never);
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

/* --- Execution iteration by iteration. --- */

/* Returns true if execution may determine an unknown part of the output: elements of a
 * sequence, dims, or the contents of shape arithmetic. */
static bool is_improvable(const struct value_info *output) {
    if (output->kind == CM_TYPE_SEQUENCE) return !output->items;
    if (!value_info_is_static(output)) return true;
    return !output->value && dtype_is_integer(output->dtype) &&
           shape_elements(&output->shape) <= LONGEST_SHORT;
}

/* Infers at most `trips` iterations, until the condition is false. Sets *ret_done to false if a
 * condition is unknown or the budget is exhausted. `stacked`: the infos of the stacked elements
 * that hold for all iterations. */
static int infer_iterations(struct op_context *context, struct loop *loop, int64_t trips,
                            struct value_info *stacked, bool *ret_done) {
    const struct shape scalar = {0, NULL};
    const struct op_walker *walker = context->walker;
    struct body *body = &loop->body;
    bool goes_on = true;
    int64_t k = 0;
    *ret_done = true;
    for (; goes_on && k < trips; k++) {
        body->inputs[LOOP_TRIPS].value =
            constant_ints(context->arena, DTYPE_INT64, &scalar, &k);
        if (!body->inputs[LOOP_TRIPS].value) return diag_no_memory(context->diag);
        body->outputs = NULL;
        int status = walker->iterate(walker->context, body->graph, body->n_inputs, body->inputs,
                                     &body->outputs);
        *ret_done = false;
        if (!status && body->outputs)
            status = body_condition(context, &body->outputs[0], ret_done, &goes_on);
        for (size_t i = loop->carried.n; i < context->n_outputs && !status && *ret_done; i++) {
            const struct value_info *element = &body->outputs[1 + i];
            if (k == 0)
                stacked[i] = *element;
            else if (!merge_is_same(&stacked[i], element))
                status = merge_infos(context, &stacked[i], element, &stacked[i]);
        }
        if (status || !*ret_done) return status;
        for (size_t i = 0; i < loop->carried.n; i++)
            body->inputs[loop->carried.input + i] =
                state_of(&body->outputs[loop->carried.output + i]);
    }
    loop->trip_count = (struct trip_count){k, k};
    return 0;
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
        status = i < loop->carried.n
                     ? op_output_info(context, i, &loop->body.inputs[loop->carried.input + i])
                     : body_output_stacked(context, i, &stacked[i], 0, loop->trip_count.upper);
    return status;
}

static int infer_loop(struct op_context *context) {
    const struct op_walker *walker = context->walker;
    struct loop loop;
    bool begins = false, needed = false, done = false;
    int status = open_loop(context, &loop);
    if (!status) status = infer_at_once(context, &loop);
    if (status || !walker->begin) return status;
    /* the trip count operand, although the condition may end the loop earlier */
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
