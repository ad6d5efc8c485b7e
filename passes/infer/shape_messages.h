/* SPDX-License-Identifier: Apache-2.0 */
/* Messages about inputs and their dims, with hints that list what the model has. */
#ifndef PASSES_INFER_SHAPE_MESSAGES_H
#define PASSES_INFER_SHAPE_MESSAGES_H

#include "passes/pass.h"

/* Returns "[1,3,?]", in the analysis' arena; never NULL. */
const char *shapes_text(const struct analysis *analysis, const struct shape *shape);
/* Returns "1x3xN" for --input: the declared dims, N for `axis` and symbolic dims. */
const char *shapes_example(const struct analysis *analysis, const struct value *value,
                           int axis);
/* Errors: --input or --dim names something that the model does not have. */
int shapes_unknown_input(const struct analysis *analysis, const char *name);
int shapes_unknown_dim(const struct analysis *analysis, const struct batch_table *table,
                       const char *name);
/* Error: a tensor input without a shape. */
int shapes_no_rank(const struct analysis *analysis, const struct value *value);

#endif
