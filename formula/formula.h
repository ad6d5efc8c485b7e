/* SPDX-License-Identifier: Apache-2.0 */
/* --formula: profiles a model at chosen sizes and fits polynomials in these sizes. */
#pragma once

#include "api/handle.h"
#include "costmodel/formula.h"
#include "formula/polynomial.h"

struct variable {
    const char *name; /* of the dim; NULL: the batch */
    size_t same_as;   /* the variable to which it is tied (equal sizes); itself: not tied */
    struct axis axis;
    int64_t largest; /* largest profiled size */
};

struct point {
    int64_t sizes[POLYNOMIAL_MAX_VARIABLES];
    /* The figures: metrics by module, then live bytes by node. NULL: sizes not accepted. */
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
    int64_t anchor[POLYNOMIAL_MAX_VARIABLES]; /* sizes that the model accepts */
    size_t n_modules;                         /* of every profile; 0 before the first */
    const char **paths;                       /* of the modules */
    size_t n_metrics;
    size_t n; /* profiles so far */
    size_t capacity;
    struct point *items;
    const char *batch_dim; /* name of the batch dim in the file; NULL: none */
    int64_t fixed;         /* batch of the latest profile; CM_UNKNOWN: no batch axis */
};

/* Returns the caller's options without those for times, dumps, memory limits and parts of the
 * report, none of which affects a formula. */
struct cm_options points_plain_options(const struct points *points);

/* Number and keys of the metrics of a module: "params" ... "peak_activation_bytes". */
size_t points_n_metrics(void);
const char *points_metric(size_t index);

/* Sets *ret to the profile at the sizes, made earlier or now; NULL if the model does not accept
 * these sizes. Returns CM_OK, CM_NO_MEMORY or CM_REFUSED (a limit). */
int points_at(struct points *points, const int64_t *sizes,
              const struct point **ret) CM_MUST_CHECK;

/* Profiles the model at the sizes by the public API, for names and messages. */
int points_profile(const struct points *points, const int64_t *sizes,
                   struct cm_diagnostics *diag, struct cm_result **ret) CM_MUST_CHECK;

/* Finds the variables, the anchor, and the axis of each variable. Sets *ret_fixed to the reason
 * if the batch cannot be a variable. Returns CM_USAGE or CM_REFUSED if a profile fails with
 * this status or a dim cannot vary. */
int formula_find_axes(struct points *points, const char **ret_fixed) CM_MUST_CHECK;

/* Fits and checks the polynomials. Fills the modules of *ret. */
int formula_fit(struct points *points, struct cm_formula *ret) CM_MUST_CHECK;
