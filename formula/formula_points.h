/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of one model at chosen sizes: what a formula is made from and checked against. */
#ifndef FORMULA_FORMULA_POINTS_H
#define FORMULA_FORMULA_POINTS_H

#include <stdbool.h>

#include "api/handle.h"
#include "formula/polynomial.h"

struct variable {
    const char *name; /* of the dim; NULL the batch */
    size_t same_as;   /* the variable whose size it takes: mostly itself */
    struct axis axis;
    int64_t largest;
};

struct point {
    int64_t sizes[POLYNOMIAL_MOST_VARIABLES];
    /* By module and metric, then by node what is alive at it; NULL: it cannot be profiled. */
    const int64_t *values;
};

struct points {
    struct cm_model *model;
    const struct cm_options *options; /* as they were given */
    struct arena *arena;
    struct cm_diagnostics *diag;
    size_t n_variables;
    struct variable variables[POLYNOMIAL_MOST_VARIABLES];
    size_t n_modules; /* of every profile; 0 before the first */
    const char **paths;
    size_t n_metrics;
    size_t n; /* profiles so far */
    size_t capacity;
    struct point *items;
    const char *batch_dim; /* what the file calls the batch; NULL: it has no name */
    int64_t fixed;         /* the batch of the file where it is no variable */
};

/* The options as they were given, without what a formula says nothing of. */
struct cm_options points_plain_options(const struct points *points);
/* The same with the sizes of the variables; `dims` has room for those that were given too. */
struct cm_options points_options(const struct points *points, const int64_t *sizes,
                                 struct cm_dim_option *dims);

/* The metrics of a module, by index: "macs" ... "peak_activation_bytes". */
size_t points_n_metrics(void);
const char *points_metric(size_t index);

/* A profile at the sizes, or the one that was taken before. *ret NULL: they do not suit the
 * model. CM_OK, CM_NO_MEMORY, CM_REFUSED (a limit). */
int points_at(struct points *points, const int64_t *sizes,
              const struct point **ret) CM_MUST_CHECK;

#endif
