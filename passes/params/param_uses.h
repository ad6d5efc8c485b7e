/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What pass params looks at before it decides: which values may be parameters, and what each of
 * them is used for, through whatever passes it on.
 */
#ifndef PASSES_PARAMS_PARAM_USES_H
#define PASSES_PARAMS_PARAM_USES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "passes/pass.h"

/* Where a tensor that may be a parameter comes from. */
enum param_source {
    SOURCE_NONE,
    SOURCE_INITIALIZER,
    SOURCE_NODE,    /* a Constant, or computed from shapes alone: ConstantOfShape */
    SOURCE_INPUT,   /* of a model whose weights are inputs only */
    SOURCE_RENAMED, /* Identity of an initializer, under a parameter's name */
};

/* What it is used for: a set of roles. */
enum param_purpose {
    FOR_WEIGHT = 1 << 0,  /* W */
    FOR_FACTOR = 1 << 1,  /* w */
    FOR_TABLE = 1 << 2,   /* n */
    FOR_ELEMENT = 1 << 3, /* e */
    FOR_STAT = 1 << 4,    /* s */
    FOR_DATA = 1 << 5,    /* x */
    FOR_OTHER = 1 << 6,   /* m, i */
    FOR_REAL = 1 << 7,    /* the real numbers that its integers are dequantized to */
};

struct param_study {
    const struct analysis *analysis;
    const struct model *model;
    size_t n_nodes;
    const uint32_t *nodes; /* in order */
    uint8_t *sources;      /* by value: enum param_source */
    uint8_t *purposes;     /* by value: set of enum param_purpose */
    bool *carries; /* by value: it is a source, or nothing but sources under other shapes */
};

/* Its lists lie in the scratch of the analysis. CM_OK, or CM_NO_MEMORY with a message. */
int param_uses_find(const struct analysis *analysis, struct param_study *ret) CM_MUST_CHECK;

#endif
