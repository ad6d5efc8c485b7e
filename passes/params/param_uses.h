/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the facts from which pass params classifies constants: the values that may be
 * parameters, and the purposes for which each is used, also through views, slices and casts. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "passes/pass.h"

/* Origin of a tensor that may be a parameter. */
enum param_source {
    SOURCE_NONE,
    SOURCE_INITIALIZER,
    SOURCE_NODE,    /* a Constant, or computed from shapes alone: ConstantOfShape */
    SOURCE_INPUT,   /* weights may be inputs without a default value */
    SOURCE_RENAMED, /* Identity of an initializer whose output has a parameter's name */
};

/* Set of the operand roles (op.param_roles) in which a tensor is used. */
enum param_purpose {
    FOR_WEIGHT = 1 << 0,  /* W */
    FOR_FACTOR = 1 << 1,  /* w */
    FOR_TABLE = 1 << 2,   /* n */
    FOR_ELEMENT = 1 << 3, /* e */
    FOR_STAT = 1 << 4,    /* s */
    FOR_DATA = 1 << 5,    /* x */
    FOR_OTHER = 1 << 6,   /* m, i */
    FOR_REAL = 1 << 7,    /* as integers that are dequantized */
};

struct param_study {
    const struct analysis *analysis;
    const struct model *model;
    size_t n_nodes;
    const uint32_t *nodes; /* all nodes, in the order of order_nodes */
    uint8_t *sources;      /* by value: enum param_source */
    uint8_t *purposes;     /* by value: set of enum param_purpose */
    bool stores_weights;   /* initializers are weights of products */
    bool *is_from_source;  /* by value: it is a source, or a view, slice or cast of sources */
};

/* Fills *ret, in the scratch arena of the analysis. Returns CM_OK or CM_NO_MEMORY. */
int param_uses_find(const struct analysis *analysis, struct param_study *ret) CM_MUST_CHECK;

/* Loop-carried state that never changes: tf2onnx passes the weights of a recurrent layer to its
 * Loop this way. Both values are equal to the operand. */
struct loop_state {
    uint32_t inside; /* input of the body */
    uint32_t after;  /* output of the node, ID_NONE if omitted */
};

/* Returns true if operand `slot` is a state (role 'c') that the body returns unchanged. */
bool loop_state_find(const struct analysis *analysis, uint32_t node, size_t slot,
                     struct loop_state *ret);
