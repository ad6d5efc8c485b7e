/* SPDX-License-Identifier: Apache-2.0 */
/* Pass infer: infers the type of every value and folds shape arithmetic. Its table is filled by
 * a walk. */
#pragma once

#include "passes/pass.h"
#include "passes/walk/context.h"
#include "passes/walk/walk.h"

/* Tables that pass infer reads. */
#define INFER_READS (TABLE_BIND | TABLE_BATCH)

pass_run pass_infer;

/* Returns the tables from which contexts are made: TABLE_BIND, TABLE_BATCH, TABLE_INFER. */
struct op_source infer_source(const struct analysis *analysis);

/* Returns true if the node dequantizes integers: DequantizeLinear. */
bool infer_dequantizes(const struct analysis *analysis, uint32_t node);
