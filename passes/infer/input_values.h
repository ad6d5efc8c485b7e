/* SPDX-License-Identifier: Apache-2.0 */
/* --value sets the contents of inputs, so that shapes that depend on them (a Reshape's shape, a
 * Resize's scales) are known. */
#ifndef PASSES_INFER_INPUT_VALUES_H
#define PASSES_INFER_INPUT_VALUES_H

#include "passes/pass.h"

/* Returns the option for the input of that name, or NULL. */
const struct cm_value_option *values_option(const struct analysis *analysis, const char *name);
/* Refuses names that no input has, and inputs whose contents are stored in the file. */
int values_check(const struct analysis *analysis) CM_MUST_CHECK;
/* Sets info->value of the input, whose type and dims are known, and emits a note. */
int values_set(const struct analysis *analysis, const struct value *input,
               const struct cm_value_option *option, struct value_info *info) CM_MUST_CHECK;

#endif
