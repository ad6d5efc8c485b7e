/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of one model at chosen sizes, for fitting and checking formulas. */
#ifndef FORMULA_FORMULA_POINTS_H
#define FORMULA_FORMULA_POINTS_H

#include <stdbool.h>

#include "api/handle.h"
#include "formula/polynomial.h"

struct variable {
    const char *name; /* of the dim; NULL: the batch */
    size_t same_as;   /* the variable whose size it takes; usually itself */
    struct axis axis;
    int64_t largest; /* largest profiled size */
};

struct point {
    int64_t sizes[POLYNOMIAL_MAX_VARIABLES];
    /* The figures: metrics by module, then live bytes by node. NULL: the model does not accept
     * the sizes. */
    const int64_t *values;
};

struct points {
    struct cm_model *model;
    const struct cm_options *options; /* of the caller */
    struct arena *arena;
    struct cm_diagnostics *diag;
    struct work *work; /* of all profiles */
    size_t n_variables;
    struct variable variables[POLYNOMIAL_MAX_VARIABLES];
    size_t n_modules;   /* of every profile; 0 before the first */
    const char **paths; /* of the modules */
    size_t n_metrics;
    size_t n; /* profiles so far */
    size_t capacity;
    struct point *items;
    const char *batch_dim; /* name of the batch dim in the file; NULL: none */
    int64_t fixed;         /* batch of the file if it is not a variable */
};

/* Returns the caller's options without those for times, dumps, memory limits and parts of the
 * report, none of which affects a formula. */
struct cm_options points_plain_options(const struct points *points);
/* The same with the sizes of the variables. Fills `dims`, which must have room for the dims of
 * the caller's options and n_variables more. */
struct cm_options points_options(const struct points *points, const int64_t *sizes,
                                 struct cm_dim_option *dims);

/* Metrics of a module by index: "params" ... "peak_activation_bytes". */
size_t points_n_metrics(void);
const char *points_metric(size_t index);

/* Sets *ret to the profile at the sizes, an earlier one if there is one; NULL if the model does
 * not accept them. Returns CM_OK, CM_NO_MEMORY or CM_REFUSED (a limit). */
int points_at(struct points *points, const int64_t *sizes,
              const struct point **ret) CM_MUST_CHECK;

#endif
