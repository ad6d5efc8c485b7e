/* SPDX-License-Identifier: Apache-2.0 */
/* --precision: the elements that a backend is to run the fp32 work of a file in. */
#ifndef PASSES_LATENCY_PRECISION_H
#define PASSES_LATENCY_PRECISION_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/costmodel.h"

struct analysis;
struct op_context;

/* Whether elements are other than those that the file stores. */
bool precision_changes(enum cm_precision precision);

/*
 * The same node with those elements: every fp32 operand and result has another type. `kind` is
 * that of its primitive (enum cm_primitive_kind), since operands of products may be smaller
 * than the rest.
 */
int precision_apply(const struct analysis *analysis, int32_t kind,
                    struct op_context *context) CM_MUST_CHECK;

#endif
