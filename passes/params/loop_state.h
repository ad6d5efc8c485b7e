/* SPDX-License-Identifier: Apache-2.0 */
/* Finds loop-carried state that never changes: tf2onnx passes the weights of a recurrent layer
 * to its Loop this way. */
#ifndef PASSES_PARAMS_LOOP_STATE_H
#define PASSES_PARAMS_LOOP_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct analysis;

/* The values that are equal to the operand. */
struct loop_state {
    uint32_t inside; /* input of the body */
    uint32_t after;  /* output of the node, ID_NONE if omitted */
};

/* Returns true if operand `slot` of the node is a state (role 'c') that the body returns
 * unchanged. */
bool loop_state_find(const struct analysis *analysis, uint32_t node, size_t slot,
                     struct loop_state *ret);

#endif
