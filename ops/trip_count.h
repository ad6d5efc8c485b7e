/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trip count of a Loop whose condition compares counters: numbers that change by a constant
 * step in every iteration are compared with each other or with constants. Exporters write
 * recurrent layers (tf2onnx) and scripted while loops this way.
 */
#ifndef OPS_TRIP_COUNT_H
#define OPS_TRIP_COUNT_H

#include "ops/body.h"

/* No upper bound is known. */
#define TRIP_COUNT_UNLIMITED INT64_MAX

/* Bounds of the trip count; a data-dependent exit may end a loop earlier than `upper`. */
struct trip_count {
    int64_t lower, upper;
};

/*
 * Computes bounds of the trip count of a Loop from the condition that its body returns; the
 * initial condition is assumed true. The last walk of the body must have used inputs that hold
 * in every iteration. Returns 0, or a negative status after a message.
 */
int trip_count_find(struct op_context *context, const struct body *body,
                    struct trip_count *ret);

#endif
