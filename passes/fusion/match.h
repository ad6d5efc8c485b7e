/* SPDX-License-Identifier: Apache-2.0 */
/* Decides whether a value is the result of a pattern: finds the nodes that compute the value
 * from the values to which the pattern's names bind. Exporters write the same operation in
 * several forms, so terms of sums and factors of products match in any order and bracketing;
 * a - b is a + (-b), a / b is a * (1 / b), x^2 is x * x, a square root is a power. One attempt
 * takes bounded time on any graph. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ops/onnx/patterns.h"
#include "passes/walk/context.h"

/* --- The tree of a pattern. --- */

enum pattern_kind {
    PATTERN_NUMBER,
    PATTERN_CALL,    /* operator `name` applied to its terms, in order */
    PATTERN_POWER,   /* its only term to the power `number` */
    PATTERN_PRODUCT, /* of its terms or their reciprocals */
    PATTERN_SUM,     /* of its terms or their negatives */
    PATTERN_LABEL,   /* its only term, whose value gets the name `name` */
    PATTERN_NAME,    /* a value with the role of the name */
};

/* The values to which a name may bind: see the syntax in ops/onnx/patterns.h. */
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
    bool inverse; /* of a product: the reciprocal; of a sum: the negative */
    bool optional;
};

struct pattern {
    enum pattern_kind kind;
    enum pattern_role role;
    double number;    /* of PATTERN_NUMBER and PATTERN_POWER */
    const char *name; /* of PATTERN_CALL, PATTERN_LABEL and PATTERN_NAME */
    size_t n;
    const struct pattern_term *terms;
};

/* Parses the text of a fused pattern (ops/onnx/patterns.h). Returns NULL if out of memory. A
 * syntax error is a BUG: the texts are built in. */
const struct pattern *pattern_parse(const char *text, struct arena *arena);

/* --- The match. --- */

#define MATCH_MAX_NODES  48
#define MATCH_MAX_NAMES  16
#define MATCH_MAX_NESTED 2 /* depth of fused patterns inside fused patterns */

struct match_pattern {
    const struct pattern_row *row;
    const struct op *op;
    const struct pattern *tree; /* row->pattern, parsed */
};

struct match_patterns {
    size_t n;
    struct match_pattern *items;
};

/* Binding of a name of the pattern to a value or to a numeric attribute. */
struct match_name {
    const char *name;
    uint32_t value; /* ID_NONE if bound to an attribute */
    double number;  /* of the attribute, or of a value with ROLE_EPSILON */
};

struct match {
    const struct op_source *source;
    const struct match_patterns *patterns;
    const uint32_t *taken; /* by node: ID_NONE if the node may be part of a match */
    const struct match_pattern *pattern;
    uint32_t result; /* the matched value */
    uint32_t graph;  /* the graph of all nodes of the match */

    size_t n_names;
    struct match_name names[MATCH_MAX_NAMES];
    size_t n_nodes;
    uint32_t nodes[MATCH_MAX_NODES]; /* the result's producer first, without duplicates */
    size_t n_axes;                   /* reduction axes; 0 if no reduction is matched yet */
    int axes[SHAPE_MAX_RANK];        /* ascending */
    int rank;                        /* of the reduced tensor */

    bool strict;       /* inner sums and products are split only if they have one use */
    size_t nested;     /* current depth of nested patterns */
    size_t first_name; /* index of the first name of the innermost pattern */
    size_t steps;      /* remaining */
};

/* Returns true if `value` matches the pattern and no node outside the match reads an inner
 * value; *match then has names, nodes and axes. */
bool match_value(struct match *match, const struct match_pattern *pattern, uint32_t value);

/* Returns the binding of the name, or NULL. */
const struct match_name *match_name(const struct match *match, const char *name);

/* --- candidates.c: a cheap filter before the matcher. --- */

typedef uint64_t pattern_set; /* pattern i is bit i modulo 64, so patterns may share a bit */

struct candidates {
    struct match_patterns patterns; /* that may match; in analysis->arena */
    pattern_set *ends; /* by kind of bind_table, in scratch: patterns whose result it may be */
};

/* Finds which patterns may match from the operators of the model. It never drops a match. */
int candidates_find(const struct analysis *analysis, struct candidates *ret) CM_MUST_CHECK;

static inline pattern_set pattern_bit(size_t pattern) {
    return UINT64_C(1) << pattern % 64;
}
