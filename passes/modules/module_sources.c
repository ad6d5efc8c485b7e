/* SPDX-License-Identifier: Apache-2.0 */
/* The list of sources, the best first: see module_sources.h. */
#include "passes/modules/module_sources.h"

#include "support/text.h"

#include "support/banned.h"

/* clang-format off */
static const struct module_source sources[] = {
    {.name = "metadata", .start = metadata_start, .find = metadata_find,
     .summary = "what the exporter noted of each node: paths and classes of its modules"},
    {.name = "functions", .start = functions_start, .find = functions_find,
     .summary = "calls of model-local functions"},
    {.name = "scopes", .find = named_find,
     .summary = "names with slashes: /layer1/conv1/Conv"},
    {.name = "paddle", .guesses = true, .start = paddle_start, .find = paddle_find,
     .summary = "Paddle's names: conv2d_0.w_0, relu_0.tmp_0"},
    {.name = "mxnet", .guesses = true, .start = mxnet_start, .find = mxnet_find,
     .summary = "MXNet's and Gluon's names: stage1_conv0_weight"},
    {.name = "parameters", .guesses = true, .find = params_find,
     .summary = "dotted names of parameters: layer1.conv1.weight"},
    {.name = "fused", .find = fused_find,
     .summary = "names of nodes that were made of several: /a/Conv + /b/Relu"},
    {.name = "types", .guesses = true, .foreign = true, .find = types_find,
     .summary = "nothing known: nodes by the type of their operator"},
};
/* clang-format on */

const struct module_source *module_source_at(size_t index) {
    return index < sizeof sources / sizeof *sources ? &sources[index] : NULL;
}

const struct module_source *module_source_find(const char *name) {
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        if (text_equal(sources[i].name, name)) return &sources[i];
    return NULL;
}
