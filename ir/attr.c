/* SPDX-License-Identifier: Apache-2.0 */
/* Names of attribute kinds in messages. */
#include "ir/attr.h"

#include "support/banned.h"

static const char *const kind_names[] = {
    [ATTR_NONE] = "nothing",    [ATTR_INT] = "int",       [ATTR_FLOAT] = "float",
    [ATTR_STRING] = "string",   [ATTR_INTS] = "ints",     [ATTR_FLOATS] = "floats",
    [ATTR_STRINGS] = "strings", [ATTR_TENSOR] = "tensor", [ATTR_TENSORS] = "tensors",
    [ATTR_GRAPH] = "graph",     [ATTR_GRAPHS] = "graphs", [ATTR_OTHER] = "other",
};

const char *attr_kind_name(enum attr_kind kind) {
    const size_t n = sizeof kind_names / sizeof kind_names[0];
    return (size_t)kind < n ? kind_names[kind] : kind_names[ATTR_OTHER];
}
