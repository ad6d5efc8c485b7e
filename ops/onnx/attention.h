/* SPDX-License-Identifier: Apache-2.0 */
/* Attention as one operator, and the sizes that conventions count it by. */
#ifndef OPS_ONNX_ATTENTION_H
#define OPS_ONNX_ATTENTION_H

#include <stdint.h>

#include "ops/op.h"

struct op_context;

/*
 * The same as a composite: softmax(Q @ K + mask + bias) @ V with operands Q [..., n, d],
 * K [..., d, m] (as the product has it), V [..., m, v], mask, bias.
 */
extern const struct op attention_taken_apart;

/* Elements of the matrices of scores, and how many rows they have. */
int64_t attention_scores(const struct op_context *context);
/* How many masks and biases are put onto each score. */
int attention_masks(const struct op_context *context);
int64_t attention_rows(const struct op_context *context);

#endif
