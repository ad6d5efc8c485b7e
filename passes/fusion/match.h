/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a value is what a formula says: the nodes between it and the values that the
 * formula's names stand for, in whatever order and form an exporter wrote them. Terms of a sum
 * and factors of a product are taken in any order and however they are bracketed; a - b is a +
 * (-b), a / b is a * (1 / b), x^2 is x * x, a square root is a power. One attempt takes bounded
 * time whatever the graph is.
 */
#ifndef PASSES_FUSION_MATCH_H
#define PASSES_FUSION_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ops/onnx/patterns.h"
#include "passes/fusion/pattern_parse.h"
#include "passes/infer/context.h"

#define MATCH_MAX_NODES    48
#define MATCH_MAX_NAMES    16
#define MATCH_DEEPEST_NEST 2 /* composites inside of composites */

/* A pattern with its formula read and its operator found. */
struct match_pattern {
    const struct pattern_row *row;
    const struct op *op;
    const struct pattern *formula;
};

struct match_patterns {
    size_t n;
    struct match_pattern *items;
};

/* What a name of the formula stands for: a value, or a number that stood in an attribute. */
struct match_name {
    const char *name;
    uint32_t value; /* ID_NONE: `number` alone */
    double number;
};

struct match {
    const struct op_source *source;
    const struct match_patterns *patterns;
    const uint32_t *taken; /* by node: ID_NONE where it may be part of a match */
    const struct match_pattern *pattern;
    uint32_t result; /* the value that is matched */
    uint32_t graph;  /* in which all of its nodes stand */

    size_t n_names;
    struct match_name names[MATCH_MAX_NAMES];
    size_t n_nodes;
    uint32_t nodes[MATCH_MAX_NODES]; /* the result's first, each once */
    size_t n_axes;                   /* of its reductions; 0: none seen yet */
    int axes[SHAPE_MAX_RANK];        /* ascending */
    int rank;                        /* of what is reduced */

    bool strict; /* inner sums and products are taken apart only where nobody else reads them */
    size_t nested;     /* patterns inside of patterns */
    size_t first_name; /* of the formula that is being matched */
    size_t steps;      /* left */
};

/* Whether `value` is what the pattern's formula says, with nobody else reading what lies
 * between; *match is then filled. Messages of constants that cannot be read are dropped. */
bool match_value(struct match *match, const struct match_pattern *pattern, uint32_t value);

/* What the name stands for, or NULL. */
const struct match_name *match_name(const struct match *match, const char *name);
/* The number that all elements of a constant are. */
bool match_number(const struct match *match, uint32_t value, double *ret);

#endif
