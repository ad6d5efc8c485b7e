/* SPDX-License-Identifier: Apache-2.0 */
/* Naming conventions of exporters, mainly PyTorch's: see names.h. */
#include "passes/params/names.h"

#include <string.h>

#include "support/text.h"

#define LARGEST_REPEAT 1000000000

/* Returns the index at which the digits at the end of text[0..length) begin. */
static size_t trailing_digits(const char *text, size_t length) {
    while (length > 0 && text_is_digit(text[length - 1])) length--;
    return length;
}

const char *names_base(const char *name) {
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

/* Returns true for "Constant" and "Constant_12" if the type is "Constant". */
static bool is_numbered(const char *base, const char *type) {
    size_t length = strlen(type);
    if (strncmp(base, type, length) != 0) return false;
    const char *rest = base + length;
    return *rest == '\0' || (*rest == '_' && trailing_digits(rest, strlen(rest)) == 1);
}

/* Returns true for "Constant_3_output_0". */
static bool is_node_output(const char *base) {
    static const char mark[] = "_output_";
    size_t mark_length = sizeof mark - 1;
    size_t length = strlen(base);
    size_t end = trailing_digits(base, length);
    return end < length && end >= mark_length &&
           strncmp(base + end - mark_length, mark, mark_length) == 0;
}

/* Returns true for constants of TensorFlow's expressions: "sub/x:0", "Const_1:0". */
static bool is_tensorflow_constant(const char *base) {
    const size_t length = strlen(base);
    if (length < 3 || strcmp(base + length - 2, ":0") != 0) return false;
    if (strncmp(base, "Const", 5) == 0) return base[5] == ':' || base[5] == '_';
    return length == 3 && (*base == 'x' || *base == 'y');
}

/* PyTorch's dynamo exporter names constants by the calls that computed them. Constants of the
 * calls below are usually not computed from a parameter: masks ("where", "val_21"), angles
 * ("unsqueeze_14", "cos"), filled tensors. Those of other calls (slice_1, neg, embedding_2) are
 * often views or simple functions of a parameter. */
static const char *const calls[] = {
    "arange",    "cos",       "full",          "full_like", "masked_fill", "mul",
    "ones",      "ones_like", "scalar_tensor", "sin",       "tril",        "triu",
    "unsqueeze", "val",       "where",         "zeros",     "zeros_like",
};

bool names_traced(const char *name) {
    const char *base = names_base(name);
    const size_t whole = strlen(base);
    size_t length = trailing_digits(base, whole);
    if (length < whole && (length == 0 || base[--length] != '_')) return false;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (*calls[i] == *base && strncmp(base, calls[i], length) == 0 &&
            calls[i][length] == '\0')
            return true;
    return false;
}

bool names_generated(const char *name) {
    const char *base = names_base(name);
    return trailing_digits(base, strlen(base)) == 0 || strstr(base, "::") ||
           is_numbered(base, "Constant") || is_numbered(base, "scalar_tensor_default") ||
           is_node_output(base) || is_tensorflow_constant(base) || names_traced(name);
}

bool names_parameter(const char *name) {
    return names_module_length(name) > 0;
}

size_t names_module_length(const char *name) {
    const char *base = names_base(name);
    const char *dot = strrchr(base, '.');
    if (!dot || dot[1] == '\0' || names_generated(name)) return 0;
    return (size_t)(dot - base);
}

int names_repeat(const char *name, size_t length, size_t *ret_length) {
    size_t end = trailing_digits(name, length);
    int64_t number = 0;
    if (end == length || end < 2 || name[end - 1] != '_' || name[end] == '0') return 0;
    if (!text_to_int64(name + end, length - end, &number) || number > LARGEST_REPEAT) return 0;
    *ret_length = end - 1;
    return (int)number;
}

void names_add_common(struct common_module *common, const char *param_name) {
    const char *base = names_base(param_name);
    const size_t length = names_module_length(param_name);
    if (length == 0) return;
    if (!common->path) {
        *common = (struct common_module){base, length};
        return;
    }
    const char *path = common->path;
    size_t same = 0;
    while (same < common->length && same < length && path[same] == base[same]) same++;
    const bool whole =
        (same == common->length || path[same] == '.') && (same == length || base[same] == '.');
    while (!whole && same > 0 && path[same - 1] != '.') same--;
    common->length = !whole && same > 0 ? same - 1 : same;
}
