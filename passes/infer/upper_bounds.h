/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The second walk: where the first left a dim open that only data decide (how many boxes a
 * detector keeps), it asks the rules for the largest, and takes these through the rest of the
 * model: through an operator whose outputs do not shrink when its operand grows
 * (ops/monotone.h). What other operators make of them stays unknown. So its dims, and the
 * contents of shape arithmetic, are never below what a run can give; where the first walk
 * knows, both say the same.
 */
#ifndef PASSES_INFER_UPPER_BOUNDS_H
#define PASSES_INFER_UPPER_BOUNDS_H

#include "passes/infer/walk.h"

/* Behind a walk of the whole model. *ret: the table of that walk itself where nothing is open.
 */
int most_walk(const struct walk *exact, const struct infer_table **ret) CM_MUST_CHECK;

/* Of the walk: one node; what is to be kept of a fact of a value that a body is handed. */
int most_of_node(struct walk *walk, struct op_context *context) CM_MUST_CHECK;
struct value_info most_of_value(const struct walk *walk, uint32_t value,
                                const struct value_info *info);

#endif
