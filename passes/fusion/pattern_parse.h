/* SPDX-License-Identifier: Apache-2.0 */
/* The formula of a composite (ops/onnx/patterns.h) as a tree. */
#ifndef PASSES_FUSION_PATTERN_PARSE_H
#define PASSES_FUSION_PATTERN_PARSE_H

#include <stdbool.h>
#include <stddef.h>

struct arena;

enum pattern_kind {
    PATTERN_NUMBER,
    PATTERN_CALL,    /* operator `name` of its terms, in order */
    PATTERN_POWER,   /* its one term to the power `number` */
    PATTERN_PRODUCT, /* of its terms, or of their inverses */
    PATTERN_SUM,     /* of its terms, or of their negatives */
    PATTERN_LABEL,   /* its one term, named */
    PATTERN_NAME,
};

/* What a name may stand for. */
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
    bool inverse; /* 1 / it, - it */
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

/* BUG where the text is no formula: it is ours. NULL: no memory. */
const struct pattern *pattern_parse(const char *text, struct arena *arena);

#endif
