/* SPDX-License-Identifier: Apache-2.0 */
/* --value: contents of inputs, so that what hangs on them (a Reshape's shape, a Resize's
 * scales) is known. */
#ifndef PASSES_INFER_INPUT_VALUES_H
#define PASSES_INFER_INPUT_VALUES_H

#include "passes/pass.h"

/* What the caller gave for the input of that name; NULL: nothing. */
const struct cm_value_option *values_option(const struct analysis *analysis, const char *name);
/* Refuses a name that no input has, and an input whose contents stand in the file. */
int values_check(const struct analysis *analysis) CM_MUST_CHECK;
/*
 * Sets fact->value of the input, whose type and dims are known by now, from the option. A note
 * tells that it is assumed.
 */
int values_give(const struct analysis *analysis, const struct value *input,
                const struct cm_value_option *option, struct value_info *info) CM_MUST_CHECK;

#endif
