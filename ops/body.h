/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of control-flow operators (graphs in attributes). An infer function infers a body with
 * value infos that hold in every iteration, and reports how often the body runs. Functions that
 * return int return 0, or the negative status of a reported failure. */
#pragma once

#include "ops/op_context.h"

struct body {
    uint32_t graph; /* graph id */
    size_t n_inputs;
    struct value_info *inputs;
    size_t n_outputs;
    const struct value_info *outputs; /* set by body_walk */
};

/* Loop-carried values: outputs[output + i] of one iteration is inputs[input + i] of the next,
 * for i < n. */
struct carried {
    size_t input, output, n;
};

/* Opens the body in attribute `attr`; the caller fills ret->inputs. */
int body_open(struct op_context *context, const char *attr, struct body *ret);

/* Checks that the body has `inputs` inputs and at least `outputs` outputs. */
int body_check(const struct op_context *context, const struct body *body, size_t inputs,
               size_t outputs);

/* Reads a condition: sets *ret to its one element, and *ret_known to false if it is unknown. */
int body_condition(struct op_context *context, const struct value_info *info, bool *ret_known,
                   bool *ret);

/* Infers the body with body->inputs and sets body->outputs. */
int body_walk(struct op_context *context, struct body *body);

/* Reports that the body runs `times` times; arguments as for op_walker.runs. */
int body_runs(const struct op_context *context, const struct body *body, int64_t times,
              const char *assumption);

/* Reports the trip count `times`. In the upper-bound walk, `max_times` (DIM_UNKNOWN: unlimited)
 * replaces an unknown `times`. A count that is still unknown is taken as 1, with a note. */
int body_report_trip_count(struct op_context *context, const struct body *body, int64_t times,
                           int64_t max_times);

/* Infers the body until its carried inputs are a fixed point: they hold in every iteration. */
int body_walk_iterations(struct op_context *context, struct body *body,
                         const struct carried *carried);

/* Returns carried value i after the loop, without contents: the body's output if the body runs
 * at least once (`ran`), else the initial state. */
struct value_info body_last_state(const struct body *body, const struct carried *carried,
                                  size_t i, bool ran);

/* Sets output `slot` to the element tensors of all iterations, stacked along a new axis (-1:
 * last). */
int body_output_stacked(struct op_context *context, size_t slot,
                        const struct value_info *element, int64_t axis, int64_t times);
