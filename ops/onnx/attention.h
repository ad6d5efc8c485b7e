/* SPDX-License-Identifier: Apache-2.0 */
/* The row of a decomposed attention. */
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

#endif
