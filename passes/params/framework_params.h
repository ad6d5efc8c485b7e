/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the parameters of the framework's model. The file may have fewer or more: the exporter
 * folds a BatchNorm into the layer before it, drops biases that are zero, stores equal tensors
 * once and stores transposed copies of weights.
 */
#ifndef PASSES_PARAMS_FRAMEWORK_PARAMS_H
#define PASSES_PARAMS_FRAMEWORK_PARAMS_H

#include "passes/pass.h"

/* Sets *ret to the totals derived from the parameter names that PyTorch's dynamo exporter lists
 * in the file; elements are DIM_UNKNOWN without a list. Returns CM_OK or CM_NO_MEMORY. */
int framework_params_find(const struct analysis *analysis,
                          struct framework_table *ret) CM_MUST_CHECK;

#endif
