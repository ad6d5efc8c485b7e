/* SPDX-License-Identifier: Apache-2.0 */
/* Decoded attributes of a node. Names and strings are NUL-terminated and live in the model's
 * arena. */
#ifndef IR_ATTR_H
#define IR_ATTR_H

#include <stddef.h>
#include <stdint.h>

struct constant;

enum attr_kind {
    ATTR_NONE,
    ATTR_INT,
    ATTR_FLOAT,
    ATTR_STRING,
    ATTR_INTS,
    ATTR_FLOATS,
    ATTR_STRINGS,
    ATTR_TENSOR,
    ATTR_TENSORS,
    ATTR_GRAPH, /* graphs[0] is an id into the model's graphs */
    ATTR_GRAPHS,
    ATTR_OTHER, /* sparse tensors, type protos: only the name is kept */
};

struct attr {
    const char *name;
    enum attr_kind kind;
    size_t n; /* elements of the plural kinds; 1 otherwise */
    int64_t i;
    double f;
    const char *s;
    const int64_t *ints;
    const double *floats;
    const char *const *strings;
    const struct constant *const *tensors;
    const uint32_t *graphs;
};

/* Returns "int", "floats", … for messages. */
const char *attr_kind_name(enum attr_kind kind);

#endif
