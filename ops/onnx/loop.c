/* SPDX-License-Identifier: Apache-2.0 */
/* Loop: a body that runs as often as a trip count and a condition let it. */
#include "ops/body.h"
#include "ops/common.h"
#include "ops/facets.h"
#include "ops/families.h"
#include "ops/trip_count.h"

#include "support/banned.h"

/* Inputs of the node (trip count, condition, state) and of the body (iteration, condition,
 * state); the body gives the condition, the state, then what is stacked. */
enum { LOOP_TRIPS, LOOP_CONDITION, LOOP_STATE };

/* The trip count that is asked for, ROUNDS_ENDLESS where there is none (exporters write 2^63 -
 * 1 for it). */
static int read_trips(struct op_context *context, int64_t *ret) {
    struct int_list list;
    int status = op_int_list(context, LOOP_TRIPS, &list);
    if (status) return status;
    *ret = op_has_input(context, LOOP_TRIPS) ? DIM_UNKNOWN : ROUNDS_ENDLESS;
    if (list.known && list.n == 1) *ret = list.values[0] < 0 ? 0 : list.values[0];
    return 0;
}

static struct value_info scalar_of(enum dtype dtype) {
    return value_info_tensor(dtype, (struct shape){0, NULL});
}

/* A round runs only while the condition holds, so a body sees it true. */
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

/* Bounds the trip count of a loop that starts, from the condition that its body returns. */
static int trip_count_of_condition(struct op_context *context, const struct body *body,
                                   struct rounds *ret) {
    bool goes_on = false, known = false;
    int status = body_condition(context, &body->outputs[0], &known, &goes_on);
    *ret = (struct rounds){known && goes_on ? ROUNDS_ENDLESS : 1,
                           known && !goes_on ? 1 : ROUNDS_ENDLESS};
    if (status || known || !context->walker->info) return status;
    return trip_count_find(context, body, ret);
}

/* Whether it is known that the first round is let in. */
static int starts(struct op_context *context, bool *ret) {
    bool condition = false;
    *ret = true;
    if (!op_has_input(context, LOOP_CONDITION)) return 0;
    return body_condition(context, op_input(context, LOOP_CONDITION), ret, &condition);
}

/* Rounds of a loop that may run and whose body was walked. */
static int loop_rounds(struct op_context *context, const struct body *body, int64_t trips,
                       struct rounds *ret) {
    bool started = false;
    int status = trip_count_of_condition(context, body, ret);
    if (!status) status = starts(context, &started);
    if (is_known(trips) && trips < ret->least) ret->least = trips;
    if (is_known(trips) && trips < ret->most) ret->most = trips;
    if (!started || !is_known(trips) || op_is_loose(context, LOOP_TRIPS)) ret->least = 0;
    return status;
}

static int64_t exact_rounds(const struct rounds *rounds) {
    const bool ends = rounds->least == rounds->most && rounds->most != ROUNDS_ENDLESS;
    return ends ? rounds->most : DIM_UNKNOWN;
}

/* Returns the upper bound of the trip count. Values near INT32_MAX or INT64_MAX, which
 * exporters write for "unlimited", are not a bound. */
static int64_t most_rounds(const struct rounds *rounds) {
    return rounds->most < INT32_MAX / 2 ? rounds->most : DIM_UNKNOWN;
}

/* Uses the trip count of --trip-count if it is not static. */
static void take_asked(const struct op_context *context, struct rounds *rounds) {
    const struct op_walker *walker = context->walker;
    if (!walker->trips) return;
    const int64_t asked = walker->trips(walker->context, context->node_id, exact_rounds(rounds),
                                        most_rounds(rounds));
    if (is_known(asked)) rounds->least = rounds->most = asked;
}

/* Whether it is plain before any walk that the body never runs. */
static int never_runs(struct op_context *context, int64_t trips, bool *ret) {
    bool known = false, starts = false;
    int status = body_condition(context, op_input(context, LOOP_CONDITION), &known, &starts);
    *ret = trips == 0 || (known && !starts);
    return status;
}

static int open_loop(struct op_context *context, struct body *body, struct carried *carried) {
    size_t n = context->n_inputs > LOOP_STATE ? context->n_inputs - LOOP_STATE : 0;
    *carried = (struct carried){LOOP_STATE, 1, n};
    int status = body_open(context, "body", body);
    if (!status)
        status = body_check(context, body, LOOP_STATE + n,
                            1 + (context->n_outputs > n ? context->n_outputs : n));
    return status ? status : loop_inputs(context, body);
}

/* Output i: of the state (which goes through untouched when there is no round), or stacked. */
static int loop_output(struct op_context *context, const struct body *body,
                       const struct carried *carried, size_t i, const struct rounds *rounds) {
    const int64_t times = op_at_most(context, exact_rounds(rounds), most_rounds(rounds));
    if (i >= carried->n)
        return body_output_stacked(context, i, &body->outputs[1 + i], 0, times);
    if (rounds->most == 0) return op_output_like(context, i, LOOP_STATE + i);
    const struct value_info state = body_last_state(body, carried, i, rounds->least > 0);
    return op_output_fact(context, i, &state);
}

static int infer_loop(struct op_context *context) {
    struct carried carried;
    struct body body;
    int64_t trips = 0;
    bool never = false;
    struct rounds rounds = {0, 0};
    int status = open_loop(context, &body, &carried);
    if (!status) status = read_trips(context, &trips);
    if (!status) status = never_runs(context, trips, &never);
    if (!status) status = body_walk_rounds(context, &body, &carried);
    if (!status && !never) status = loop_rounds(context, &body, trips, &rounds);
    if (!status) take_asked(context, &rounds);
    if (!status)
        status = body_rounds(context, &body, exact_rounds(&rounds), most_rounds(&rounds));
    for (size_t i = 0; i < context->n_outputs && !status; i++)
        status = loop_output(context, &body, &carried, i, &rounds);
    return status;
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
