/* SPDX-License-Identifier: Apache-2.0 */
/* Pass params: classifies constants as learned parameters, buffers or neither. */
#pragma once

#include "passes/pass.h"

/* Tables that pass params reads. */
#define PARAMS_READS (TABLE_BIND | TABLE_BATCH | TABLE_INFER | TABLE_PRECISION)

enum param_kind { PARAM_NONE, PARAM_LEARNED, PARAM_BUFFER };

/* A constant, or the output of an Identity of a constant if named like a parameter. */
struct param {
    uint32_t value;
    enum param_kind kind;
    const char *name;
    int64_t elements;
    int64_t bytes;
};

/* Parameters of the framework's model, derived from the exporter's list of their names. */
struct framework_table {
    int64_t elements; /* DIM_UNKNOWN if the file does not determine it, DIM_OVERFLOW */
    size_t n_absent;  /* listed parameters without a tensor of their own in the file */
    size_t n_unknown; /* absent parameters with an unknown number of elements */
    const char *const *unknown; /* their names */
    const char *shared; /* parameter that the most modules use instead of an equal one of their
                           own; NULL if none */
    size_t n_sharing;   /* modules that use it, its own included */
};

struct params_table {
    size_t n_params;
    struct param *params;
    struct framework_table framework;
    uint32_t *of_value; /* by value: index into params, ID_NONE */
    /* Params that each node uses, directly or through views, slices and casts. */
    uint32_t *n_used;      /* by node */
    const uint32_t **used; /* by node: indices into params */
};

pass_run pass_params;
