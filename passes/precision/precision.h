/* SPDX-License-Identifier: Apache-2.0 */
/* The dtypes in which --precision runs the model: of values, and of the operands of a node. */
#pragma once

#include "passes/pass.h"

struct op;
struct op_context;

/* Tables that pass precision reads. */
#define PRECISION_READS (TABLE_BIND | TABLE_BATCH | TABLE_INFER | TABLE_FUSED_PATTERNS)

pass_run pass_precision;

/* Returns true for floats of 32 and 16 bits: --precision changes no other dtype. */
static inline bool precision_changes(enum dtype dtype) {
    return dtype == DTYPE_FLOAT || dtype == DTYPE_FLOAT16 || dtype == DTYPE_BFLOAT16;
}

/* Returns the dtype in which the operator reads operand `slot` of dtype `dtype`. They differ if
 * autocast casts the operand, or if products have 8-bit operands. */
enum dtype precision_cast(const struct analysis *analysis, const struct op *op, size_t slot,
                          enum dtype dtype);
/* Replaces the dtypes of the context's operands by those in which the operator reads them. */
int precision_apply(const struct analysis *analysis, struct op_context *context) CM_MUST_CHECK;
/* The same for a product of floats that a runtime computes on integers. */
int precision_apply_int8(const struct analysis *analysis,
                         struct op_context *context) CM_MUST_CHECK;
/* If the node adds a constant vector to a matrix product that nothing else reads, as an
 * exported Linear layer does, returns the product; otherwise ID_NONE. */
uint32_t precision_biased_product(const struct analysis *analysis, const struct op *op,
                                  const struct node *node);
