/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Number of parameters of the framework's model. The file may have fewer or more: the exporter
 * folds a BatchNorm into the convolution before it, drops biases that are zero, stores equal
 * tensors once and copies transposed weights.
 */
#ifndef PASSES_PARAMS_FRAMEWORK_PARAMS_H
#define PASSES_PARAMS_FRAMEWORK_PARAMS_H

#include "passes/pass.h"

/* Derives it from the exporter's list of names. Returns CM_OK or CM_NO_MEMORY. */
int framework_params_find(const struct analysis *analysis,
                          struct framework_table *ret) CM_MUST_CHECK;

#endif
