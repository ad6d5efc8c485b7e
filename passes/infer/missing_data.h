/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensors whose contents are out of reach (value_info.is_data_missing), because their external
 * data file is missing, or because the model was read from a pipe. The analysis continues
 * without them; a node whose output shape, trip count or branch depends on them is an error.
 */
#ifndef PASSES_INFER_MISSING_DATA_H
#define PASSES_INFER_MISSING_DATA_H

#include "passes/infer/walk.h"

/* Drops the contents of a stored tensor that are out of reach. */
void missing_data_drop(struct walk *walk, struct value_info *info);

/* Returns true if only operands that are out of reach prevent the node from being folded. */
bool missing_data_prevents_fold(const struct op_context *context);

/* Returns CM_OK, or CM_REFUSED after a message if contents that are out of reach decide a
 * shape, trip count or branch of the node, whose outputs are in the table. */
int missing_data_check(const struct walk *walk, const struct op_context *context) CM_MUST_CHECK;

/* Notes how many tensors are out of reach, if any of them is shape arithmetic. */
void missing_data_note(const struct analysis *analysis, const struct infer_table *table);

#endif
