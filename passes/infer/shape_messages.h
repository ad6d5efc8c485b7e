/* SPDX-License-Identifier: Apache-2.0 */
/* Messages about inputs and their dims: what the model has, so that its user can give it right.
 */
#ifndef PASSES_INFER_SHAPE_MESSAGES_H
#define PASSES_INFER_SHAPE_MESSAGES_H

#include "passes/pass.h"

/* "[1,3,?]" in the analysis's arena; never NULL. */
const char *shapes_text(const struct analysis *analysis, const struct shape *shape);
/* "1x3xN" for --input: the declared dims, N at `axis` and wherever a dim is free. */
const char *shapes_example(const struct analysis *analysis, const struct value *value,
                           int axis);
/* --input names what the model does not have; --dim likewise. */
int shapes_unknown_input(const struct analysis *analysis, const char *name);
int shapes_unknown_dim(const struct analysis *analysis, const struct batch_table *table,
                       const char *name);
/* A tensor input without a shape. */
int shapes_no_rank(const struct analysis *analysis, const struct value *value);

#endif
