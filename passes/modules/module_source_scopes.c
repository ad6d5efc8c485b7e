/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names with slashes. PyTorch from 1.13 on calls a node "/layer1/layer1.0/conv1/Conv": before
 * the last slash stands its scope. TensorFlow and Keras, by tf2onnx, write "model/conv1/Conv2D"
 * or "StatefulPartitionedCall/model/conv1/Conv2D"; JAX "jit(main)/Dense_0/dot_general".
 *
 * And the names of nodes that an optimizer made of several, which hold those of their parts:
 * "fused /a/Conv", "/a/Conv + /b/Relu", onnxruntime's "/a/MatMul/MatMulAddFusion".
 */
#include <string.h>

#include "passes/modules/module_sources.h"
#include "passes/params/names.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

#include "support/banned.h"

#define FUSED_FRONT "fused "
#define FUSED_JOINT " + "
#define FUSED_END   "Fusion"

size_t scope_length(const char *name) {
    return (size_t)(names_base(name) - name);
}

/* Length of the part of text[0..length) behind its last '/'. */
static size_t last_part(const char *text, size_t length) {
    size_t n = 0;
    while (n < length && text[length - 1 - n] != '/') n++;
    return n;
}

/* Length of "/a/MatMul" in "/a/MatMul/MatMulAddFusion", which may end in a slash; else 0. */
static size_t before_fusion(const char *name, size_t length) {
    size_t end = length > 0 && name[length - 1] == '/' ? length - 1 : length;
    size_t mark = strlen(FUSED_END);
    if (end < mark || memcmp(name + end - mark, FUSED_END, mark) != 0) return 0;
    size_t part = last_part(name, end);
    return part < end ? end - part - 1 : 0;
}

/* Two of the marks have a blank, as hardly any other name does: one look for both. */
static bool is_fused(const char *name, size_t length) {
    if (memchr(name, ' ', length) &&
        (text_starts_with(name, FUSED_FRONT) || strstr(name, FUSED_JOINT)))
        return true;
    return before_fusion(name, length) > 0;
}

/* Parts that the runtime of TensorFlow or a transformation of JAX puts around what a person
 * named: "StatefulPartitionedCall", "PartitionedCall_1", "jit(main)". */
static bool is_wrapper(const char *part, size_t length) {
    static const char *const calls[] = {"StatefulPartitionedCall", "PartitionedCall"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        size_t n = strlen(calls[i]);
        if (length >= n && strncmp(part, calls[i], n) == 0 && (length == n || part[n] == '_'))
            return true;
    }
    return length > 0 && part[length - 1] == ')' && memchr(part, '(', length);
}

/* Without the wrappers; each part is a module of that very name. */
static int enter_unwrapped(struct scope_finder *finder, const char *name, size_t length,
                           uint32_t *ret) {
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
    if (text.failed) return CM_NO_MEMORY;
    return enter_distinct(finder, text_string(&text), text.length, ret);
}

/* name[0..length) is a scope; none of a node without a slash in its name: ID_NONE. */
static int enter_scope(struct scope_finder *finder, const char *name, size_t length,
                       uint32_t *ret) {
    *ret = ID_NONE;
    if (length == 0) return CM_OK;
    if (name[0] != '/') return enter_unwrapped(finder, name, length, ret);
    return paths_enter(&finder->scopes->paths, name, length, ret);
}

/* PyTorch calls the outputs of "/fc1/Gemm" "/fc1/Gemm_output_0". */
static const char *output_name(const struct scope_finder *finder, const struct node *node) {
    const char *name = node->n_outputs > 0 ? value_name(finder->model, node->outputs[0]) : "";
    return name[0] == '/' ? name : "";
}

int named_find(struct scope_finder *finder, uint32_t id, uint32_t *ret) {
    const struct node *node = &finder->model->nodes[id];
    const char *name = node->name;
    size_t length = strlen(name);
    *ret = ID_NONE;
    if (is_fused(name, length)) return CM_OK;
    size_t scope = length - last_part(name, length);
    if (scope == 0) {
        name = output_name(finder, node);
        scope = scope_length(name);
    }
    return enter_scope(finder, name, scope, ret);
}

/* Narrows *scope, ID_NONE at first, to what is also around the part. */
static int add_part(struct scope_finder *finder, const char *part, size_t length,
                    uint32_t *scope) {
    uint32_t found;
    int status = enter_scope(finder, part, length - last_part(part, length), &found);
    if (status < 0 || found == ID_NONE) return status;
    *scope = *scope == ID_NONE ? found : paths_common(&finder->scopes->paths, *scope, found);
    return CM_OK;
}

/* One name of a fused node, that of a node fused before perhaps. */
static int add_name(struct scope_finder *finder, const char *name, size_t length,
                    uint32_t *scope) {
    size_t front = strlen(FUSED_FRONT);
    while (length > front && strncmp(name, FUSED_FRONT, front) == 0) {
        name += front;
        length -= front;
    }
    for (size_t inner = length; inner > 0; inner = before_fusion(name, inner)) length = inner;
    return add_part(finder, name, length, scope);
}

int fused_find(struct scope_finder *finder, uint32_t id, uint32_t *ret) {
    const char *name = finder->model->nodes[id].name;
    *ret = ID_NONE;
    if (!is_fused(name, strlen(name))) return CM_OK;
    for (const char *at = name; at;) {
        const char *joint = strstr(at, FUSED_JOINT);
        size_t length = joint ? (size_t)(joint - at) : strlen(at);
        int status = add_name(finder, at, length, ret);
        if (status < 0) return status;
        at = joint ? joint + strlen(FUSED_JOINT) : NULL;
    }
    return CM_OK;
}
