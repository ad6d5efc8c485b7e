/* SPDX-License-Identifier: Apache-2.0 */
/* Module sources that read the naming conventions of frameworks: see module_sources.h. */
#include <string.h>

#include "passes/modules/module_sources.h"
#include "passes/params/names.h"
#include "passes/params/params.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

/* --- Names with slashes. --- */

#define FUSED_FRONT "fused "
#define FUSED_JOINT " + "
#define FUSED_END   "Fusion"

/* Returns the length of the part of text[0..length) after its last '/'. */
static size_t last_part(const char *text, size_t length) {
    size_t n = 0;
    while (n < length && text[length - 1 - n] != '/') n++;
    return n;
}

/* Returns the length of "/a/MatMul" in "/a/MatMul/MatMulAddFusion" or
 * "/a/MatMul/MatMulAddFusion/", 0 for other names. */
static size_t before_fusion(const char *name, size_t length) {
    size_t end = length > 0 && name[length - 1] == '/' ? length - 1 : length;
    size_t mark = strlen(FUSED_END);
    if (end < mark || memcmp(name + end - mark, FUSED_END, mark) != 0) return 0;
    size_t part = last_part(name, end);
    return part < end ? end - part - 1 : 0;
}

static bool is_fused(const char *name, size_t length) {
    if (memchr(name, ' ', length) &&
        (text_starts_with(name, FUSED_FRONT) || strstr(name, FUSED_JOINT)))
        return true;
    return before_fusion(name, length) > 0;
}

/* Returns true for a scope that TensorFlow's runtime or a JAX transformation adds:
 * "StatefulPartitionedCall", "PartitionedCall_1", "jit(main)". */
static bool is_wrapper(const char *part, size_t length) {
    static const char *const calls[] = {"StatefulPartitionedCall", "PartitionedCall"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        size_t n = strlen(calls[i]);
        if (length >= n && strncmp(part, calls[i], n) == 0 && (length == n || part[n] == '_'))
            return true;
    }
    return length > 0 && part[length - 1] == ')' && memchr(part, '(', length);
}

/* Enters the scope without wrappers; each part is a distinct module. */
static uint32_t enter_unwrapped(struct scope_finder *finder, const char *name, size_t length) {
    struct text text;
    text_init(&text, finder->analysis->arena);
    for (size_t at = 0; at < length;) {
        const char *slash = memchr(name + at, '/', length - at);
        size_t end = slash ? (size_t)(slash - name) : length;
        if (end > at && !is_wrapper(name + at, end - at)) {
            if (text.length > 0) text_append_n(&text, "/", 1);
            text_append_n(&text, name + at, end - at);
        }
        at = end + 1;
    }
    return text.failed ? 0
                       : scopes_enter_distinct(finder->scopes, text_string(&text), text.length);
}

/* Enters the scope name[0..length). Returns ID_NONE if it is empty: a name without a slash. */
static uint32_t enter_scope(struct scope_finder *finder, const char *name, size_t length) {
    if (length == 0) return ID_NONE;
    if (name[0] != '/') return enter_unwrapped(finder, name, length);
    return paths_enter(&finder->scopes->paths, name, length);
}

/* Source scopes: names with slashes. PyTorch since 1.13 names nodes
 * "/layer1/layer1.0/conv1/Conv": the scope precedes the last slash. TensorFlow and Keras, by
 * tf2onnx, write "model/conv1/Conv2D" or "StatefulPartitionedCall/model/conv1/Conv2D"; JAX
 * "jit(main)/Dense_0/dot_general". Outputs of PyTorch's "/fc1/Gemm" are
 * "/fc1/Gemm_output_0". */
uint32_t source_slashes_find(struct scope_finder *finder, uint32_t id) {
    const struct node *node = &finder->model->nodes[id];
    const char *name = node->name;
    size_t length = strlen(name);
    if (is_fused(name, length)) return ID_NONE;
    size_t scope = length - last_part(name, length);
    if (scope == 0 && node->n_outputs > 0) {
        name = value_name(finder->model, node->outputs[0]);
        scope = name[0] == '/' ? (size_t)(names_base(name) - name) : 0;
    }
    return enter_scope(finder, name, scope);
}

/* Returns the scope of one part of a fused node's name, or ID_NONE. The part may itself be the
 * name of a fused node. */
static uint32_t enter_fused_part(struct scope_finder *finder, const char *name, size_t length) {
    size_t front = strlen(FUSED_FRONT);
    while (length > front && strncmp(name, FUSED_FRONT, front) == 0) {
        name += front;
        length -= front;
    }
    for (size_t inner = length; inner > 0; inner = before_fusion(name, inner)) length = inner;
    return enter_scope(finder, name, length - last_part(name, length));
}

/* Source fused: the name of a node that an optimizer fused contains the names of its parts:
 * "fused /a/Conv", "/a/Conv + /b/Relu", onnxruntime's "/a/MatMul/MatMulAddFusion". */
uint32_t source_fused_find(struct scope_finder *finder, uint32_t id) {
    const char *name = finder->model->nodes[id].name;
    uint32_t around = ID_NONE;
    for (const char *at = is_fused(name, strlen(name)) ? name : NULL; at;) {
        const char *joint = strstr(at, FUSED_JOINT);
        const uint32_t part =
            enter_fused_part(finder, at, joint ? (size_t)(joint - at) : strlen(at));
        if (around == ID_NONE)
            around = part;
        else if (part != ID_NONE)
            around = paths_common(&finder->scopes->paths, around, part);
        at = joint ? joint + strlen(FUSED_JOINT) : NULL;
    }
    return around;
}

/* --- Parameters. --- */

/* Source parameters: a node that uses layer1.0.conv1.weight is in module layer1.0.conv1; one
 * that uses parameters of several modules is in the module around them. */
uint32_t source_params_find(struct scope_finder *finder, uint32_t node) {
    const struct params_table *params = finder->analysis->params;
    struct common_module common = {0};
    for (size_t i = 0; i < params->n_used[node]; i++)
        names_add_common(&common, params->params[params->used[node][i]].name);
    if (common.length == 0) return ID_NONE;
    return scopes_enter_module(finder->scopes, common.path, common.length);
}

/* --- Conventions of Paddle and MXNet; operator types. --- */

/* Returns the length of the layer "conv2d_0" in Paddle's "conv2d_0.w_0" if `kind` is "w_". */
static size_t paddle_layer(const char *name, const char *kind) {
    const char *dot = strrchr(name, '.');
    if (!dot || dot == name || !text_is_digit(dot[-1]) || !text_starts_with(dot + 1, kind))
        return 0;
    const char *number = dot + 1 + strlen(kind);
    return text_is_digits(number) ? (size_t)(dot - name) : 0;
}

static size_t paddle_param(const char *name) {
    const size_t length = paddle_layer(name, "w_");
    return length > 0 ? length : paddle_layer(name, "b_");
}

/* Returns the length of the layer "stage1_conv0" in MXNet's "stage1_conv0_weight". */
static size_t mxnet_param(const char *name) {
    static const char *const ends[] = {"_weight",       "_bias",       "_gamma",
                                       "_beta",         "_moving_var", "_moving_mean",
                                       "_running_mean", "_running_var"};
    if (strpbrk(name, "./:")) return 0;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (text_ends_with(name, ends[i])) return strlen(name) - strlen(ends[i]);
    return 0;
}

/* Returns true if at least half of the parameters follow the convention. Names of this kind do
 * not show that they are paths, so the whole file must support the guess. */
static bool is_convention(const struct scope_finder *finder,
                          size_t (*length)(const char *name)) {
    const struct params_table *params = finder->analysis->params;
    size_t n = 0;
    for (size_t i = 0; i < params->n_params; i++) n += length(params->params[i].name) > 0;
    return n > 0 && n >= params->n_params - n;
}

bool source_paddle_start(struct scope_finder *finder) {
    return is_convention(finder, paddle_param);
}

bool source_mxnet_start(struct scope_finder *finder) {
    return is_convention(finder, mxnet_param);
}

/* Takes the layer's name from its parameters, else from its outputs: "relu_0.tmp_0". */
uint32_t source_paddle_find(struct scope_finder *finder, uint32_t id) {
    const struct params_table *params = finder->analysis->params;
    const struct node *node = &finder->model->nodes[id];
    for (size_t i = 0; i < params->n_used[id]; i++) {
        const char *name = params->params[params->used[id][i]].name;
        size_t length = paddle_param(name);
        if (length > 0) return scopes_enter_distinct(finder->scopes, name, length);
    }
    for (size_t i = 0; i < node->n_outputs; i++) {
        const char *name = value_name(finder->model, node->outputs[i]);
        size_t length = paddle_layer(name, "tmp_");
        if (length > 0) return scopes_enter_distinct(finder->scopes, name, length);
    }
    return ID_NONE;
}

/* Splits the name after the number of each block: "resnetv10_stage1_conv0" is
 * resnetv10/stage1/conv0. */
uint32_t source_mxnet_find(struct scope_finder *finder, uint32_t id) {
    const char *name = finder->model->nodes[id].name;
    const char *own = strstr(name, "__"); /* the operator: "_fwd", "__plus0" */
    size_t length = own ? (size_t)(own - name) : strlen(name);
    if (!own && text_ends_with(name, "_fwd")) length -= strlen("_fwd");
    if (length == 0 || name[0] == '_') return ID_NONE;
    char *text = arena_strndup(finder->analysis->arena, name, length);
    if (!text) return ID_NONE;
    for (size_t i = 1; i < length; i++)
        if (text[i] == '_' && text_is_digit(text[i - 1])) text[i] = '/';
    return scopes_enter_distinct(finder->scopes, text, length);
}

uint32_t source_types_find(struct scope_finder *finder, uint32_t id) {
    const char *type = finder->model->nodes[id].type;
    return scopes_enter_distinct(finder->scopes, type, strlen(type));
}
