/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the text of a fused pattern (ops/onnx/patterns.h) into a tree. */
#ifndef PASSES_FUSION_PATTERN_PARSE_H
#define PASSES_FUSION_PATTERN_PARSE_H

#include <stdbool.h>
#include <stddef.h>

struct arena;

enum pattern_kind {
    PATTERN_NUMBER,
    PATTERN_CALL,    /* operator `name` applied to its terms, in order */
    PATTERN_POWER,   /* its only term to the power `number` */
    PATTERN_PRODUCT, /* of its terms or their reciprocals */
    PATTERN_SUM,     /* of its terms or their negatives */
    PATTERN_LABEL,   /* its only term, which gets a name */
    PATTERN_NAME,
};

/* The values to which a name may bind. */
enum pattern_role {
    ROLE_ANY,
    ROLE_IGNORED,
    ROLE_EPSILON,
    ROLE_FACTOR,
    ROLE_PARAMETER,
    ROLE_CONSTANT,
    ROLE_KEYS,
};

struct pattern;

struct pattern_term {
    const struct pattern *of;
    bool inverse; /* reciprocal of a factor, negative of a term */
    bool optional;
};

struct pattern {
    enum pattern_kind kind;
    enum pattern_role role;
    double number;
    const char *name;
    size_t n;
    const struct pattern_term *terms;
};

/* Returns NULL if out of memory. A syntax error is a BUG: the texts are built in. */
const struct pattern *pattern_parse(const char *text, struct arena *arena);

#endif
