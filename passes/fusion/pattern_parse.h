/* SPDX-License-Identifier: Apache-2.0 */
/* The formula of a composite (ops/onnx/patterns.h) as a tree. */
#ifndef PASSES_FUSION_PATTERN_PARSE_H
#define PASSES_FUSION_PATTERN_PARSE_H

#include <stdbool.h>
#include <stddef.h>

struct arena;

enum formula_kind {
    FORMULA_NUMBER,
    FORMULA_CALL,    /* operator `name` of its terms, in order */
    FORMULA_POWER,   /* its one term to the power `number` */
    FORMULA_PRODUCT, /* of its terms, or of their inverses */
    FORMULA_SUM,     /* of its terms, or of their negatives */
    FORMULA_LABEL,   /* its one term, named */
    FORMULA_NAME,
};

/* What a name may stand for. */
enum formula_role {
    ROLE_ANY,
    ROLE_IGNORED,
    ROLE_EPSILON,
    ROLE_FACTOR,
    ROLE_PARAMETER,
    ROLE_CONSTANT,
    ROLE_KEYS,
};

struct formula;

struct formula_term {
    const struct formula *of;
    bool inverse; /* 1 / it, - it */
    bool optional;
};

struct formula {
    enum formula_kind kind;
    enum formula_role role;
    double number;
    const char *name;
    size_t n;
    const struct formula_term *terms;
};

/* BUG where the text is no formula: it is ours. NULL: no memory. */
const struct formula *formula_parse(const char *text, struct arena *arena);

#endif
