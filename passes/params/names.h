/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the names in a file tell. Exporters keep the names that a person gave ("fc1.weight") and
 * make up the others ("onnx::Conv_220", "/fc1/Constant_output_0", "val_12", "17"): which of the
 * two a name is decides whether a constant is taken for a parameter.
 */
#ifndef PASSES_PARAMS_NAMES_H
#define PASSES_PARAMS_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* The name without what stands before it: the scope, or the call of an inlined function. */
const char *names_base(const char *name);
/* Whether an exporter made it up. Also true of "". */
bool names_generated(const char *name);
/* Whether PyTorch's newer exporter made it up for what it computed, of no parameter as a rule,
 * before the model runs: "val_12", "unsqueeze_3". */
bool names_traced(const char *name);
/* Whether it is dotted as frameworks name parameters and buffers: "layer1.0.bn1.weight". */
bool names_parameter(const char *name);
/* Length of the module's path at the front of names_base: 14 of "layer1.0.conv1.weight". 0
 * where it has none. */
size_t names_module_length(const char *name);
/* "relu_2", name[0..length), is a further use of the name "relu": gives 2 and the length of
 * "relu", else 0. */
int names_repeat(const char *name, size_t length, size_t *ret_length);

#endif
