/* SPDX-License-Identifier: Apache-2.0 */
/* What the convention `exact` counts of ml.c's operators besides their MACs. */
#ifndef OPS_ONNX_ML_H
#define OPS_ONNX_ML_H

#include <stdint.h>

struct op_context;

/* A leaf of each tree for each row, whose weights are added up. */
int64_t ml_tree_votes(const struct op_context *context);

#endif
