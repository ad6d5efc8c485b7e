/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up former names in a table, and splits constructor arguments. */
#include "report/names.h"

#include <string.h>

#include "support/text.h"

static const struct {
    const char *name;
    const char *old;
} renamed[] = {
    /* `old` is a key of costmodel/profile/1, sweep/1, baseline/1, diff/1 or check/1 */
    {"upper_bound", "at_most"},
    {"shape_upper_bound", "shape_at_most"},
    {"peak_upper_bound", "peak_at_most"},
    {"memory_upper_bound", "memory_at_most"},
    {"saved_bytes", "kept_bytes"},
    {"training.saved_bytes", "training.kept_bytes"},
    {"fused_patterns", "composites"},
    {"custom_ops", "described_ops"},
    {"limited_by", "bound"},
    {"limiters", "bounds"},
};

#define N_RENAMED (sizeof(renamed) / sizeof(renamed[0]))

const char *names_former(const char *name, size_t i) {
    for (size_t k = 0; k < N_RENAMED; k++)
        if (text_equal(renamed[k].name, name) && i-- == 0) return renamed[k].old;
    return NULL;
}

bool names_match(const char *name, const char *given, size_t length) {
    const char *candidate = name;
    for (size_t i = 0; candidate != NULL; i++) {
        if (strlen(candidate) == length && memcmp(candidate, given, length) == 0) return true;
        candidate = names_former(name, i);
    }
    return false;
}

size_t names_argument_length(const char *arguments) {
    size_t depth = 0;
    size_t length = 0;
    for (; arguments[length] != '\0'; length++) {
        const char c = arguments[length];
        if (c == '(' || c == '[' || c == '{') depth++;
        if ((c == ')' || c == ']' || c == '}') && depth > 0) depth--;
        if (depth == 0 && c == ',' && arguments[length + 1] == ' ') break;
    }
    return length;
}
