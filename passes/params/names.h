/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises the naming conventions of exporters. They keep names that a person gave
 * ("fc1.weight") and generate the others ("onnx::Conv_220", "/fc1/Constant_output_0", "val_12",
 * "17"). Pass params uses the difference to classify constants. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Returns the text after the last '/': the name without the scope or inlined call before it. */
const char *names_base(const char *name);
/* Returns true if an exporter generated the name. Also true for "". */
bool names_generated(const char *name);
/* Returns true if PyTorch's dynamo exporter generated the name for a value that it computed at
 * export, usually not from a parameter: "val_12", "unsqueeze_3". */
bool names_traced(const char *name);
/* Returns true if the name is dotted like a parameter or buffer: "layer1.0.bn1.weight". */
bool names_parameter(const char *name);
/* Returns the length of the module path at the front of names_base: 14 for
 * "layer1.0.conv1.weight"; 0 if it has none. */
size_t names_module_length(const char *name);
/* Returns 2 and sets *ret_length to the length of "relu" if name[0..length) is "relu_2", the
 * second reuse of "relu". Returns 0 if the name is not a reuse. */
int names_repeat(const char *name, size_t length, size_t *ret_length);

/* Module path that contains the modules of several parameters: layer1 for layer1.0.conv1.weight
 * and layer1.bn.bias. */
struct common_module {
    const char *path; /* NULL if no parameter with a module was added */
    size_t length;
};

/* Shortens the path to the parts that it shares with the module of the parameter. Ignores a
 * parameter without a module. */
void names_add_common(struct common_module *common, const char *param_name);
