/* SPDX-License-Identifier: Apache-2.0 */
/* --precision: the dtype in which a backend runs fp32 nodes. */
#ifndef PASSES_LATENCY_PRECISION_H
#define PASSES_LATENCY_PRECISION_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/costmodel.h"

struct analysis;
struct op_context;

/* Returns true if the precision changes dtypes. */
bool precision_changes(enum cm_precision precision);

/*
 * Changes the dtype of every fp32 operand and output of the node. `kind` is that of its
 * primitive (enum cm_primitive_kind): products may have other dtypes than other primitives.
 * Returns CM_OK or CM_NO_MEMORY.
 */
int precision_apply(const struct analysis *analysis, int32_t kind,
                    struct op_context *context) CM_MUST_CHECK;

#endif
