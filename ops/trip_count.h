/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often a Loop runs whose condition counts: numbers that change by the same step in every
 * round are compared with each other, or with numbers that stay. So exporters write recurrent
 * layers (tf2onnx) and while-loops of scripts.
 */
#ifndef OPS_TRIP_COUNT_H
#define OPS_TRIP_COUNT_H

#include "ops/body.h"

/* No end is known. */
#define ROUNDS_ENDLESS INT64_MAX

/* Between these: what data decide may end a loop earlier. */
struct rounds {
    int64_t least, most;
};

/*
 * By the condition that the body of a Loop gives, whose last walk took in states that hold in
 * every round: how often the body runs that runs once. 0, or a negative status after a message.
 */
int trip_count_find(struct op_context *context, const struct body *body, struct rounds *ret);

#endif
