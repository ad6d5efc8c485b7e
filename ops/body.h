/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bodies of operators (graphs that stand in attributes): a rule has them walked with facts that
 * hold in every round, and says how often each runs. What returns int returns 0, or the
 * negative status of a failure that has been reported.
 */
#ifndef OPS_BODY_H
#define OPS_BODY_H

#include "ops/op_context.h"

struct body {
    uint32_t graph;
    size_t n_inputs;
    struct value_info *inputs;
    size_t n_outputs;
    const struct value_info *outputs; /* by the last walk */
};

/*
 * Values that a round hands to the next: n of them, from inputs[input] and outputs[output] of
 * the body on.
 */
struct carried {
    size_t input, output, n;
};

/* The body in attribute `attr`, its inputs for the rule to fill. */
int body_open(struct op_context *context, const char *attr, struct body *ret);

/* A body must take and give what its operator hands over; so many outputs at least. */
int body_check(const struct op_context *context, const struct body *body, size_t inputs,
               size_t outputs);

/* The one element of a condition; *ret_known false: not known. */
int body_condition(struct op_context *context, const struct value_info *info, bool *ret_known,
                   bool *ret);

/* Infers the body with the inputs that it has; its outputs are those of this walk. */
int body_walk(struct op_context *context, struct body *body);

/* Says that the body runs so many times; assumption: why that is a guess, NULL where it is
 * none. */
int body_runs(const struct op_context *context, const struct body *body, int64_t times,
              const char *assumption);

/* times, or one round of an unknown number, which the user is told; or `most` (DIM_UNKNOWN:
 * there is no limit), which the second walk counts. */
int body_rounds(struct op_context *context, const struct body *body, int64_t times,
                int64_t most);

/* The type of a value that changes from round to round. */
struct value_info body_varying(const struct value_info *info);

/* Walks until the state going in holds for what comes out, and so for every round. */
int body_walk_rounds(struct op_context *context, struct body *body,
                     const struct carried *carried);

/* State i behind the last round: what a body gave, where one ran for certain. */
struct value_info body_last_state(const struct body *body, const struct carried *carried,
                                  size_t i, bool ran);

/* Output `slot`: one tensor a round, side by side along a new axis (-1: the last). */
int body_output_stacked(struct op_context *context, size_t slot,
                        const struct value_info *element, int64_t axis, int64_t times);

#endif
