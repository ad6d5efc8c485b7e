/* SPDX-License-Identifier: Apache-2.0 */
/* A fit under way: what its parts share. */
#ifndef FORMULA_FORMULA_FIT_H
#define FORMULA_FORMULA_FIT_H

#include "formula/formula.h"

struct fit {
    struct points *points;
    const int64_t *anchor;
    struct arena *arena; /* of the result */
    struct arena *scratch;
    size_t n_axes; /* of variables that stand for themselves */
    struct axis axes[POLYNOMIAL_MOST_VARIABLES];
    size_t of_axis[POLYNOMIAL_MOST_VARIABLES]; /* its variable */
    struct interpolation interpolation;
    const struct point **grid;
    bool *in_grid;   /* by profile */
    int64_t *values; /* of one figure on the grid */
    wide *numerators;
    struct cm_formula *ret;
};

enum found { FOUND, FOUND_NONE, FOUND_LARGE };

/* The polynomial through a figure's values on the grid, into fit->numerators; FOUND_NONE: other
 * profiles have other values. */
enum found fit_interpolate(const struct fit *fit, size_t figure);

/* Whether the formula says anything of this point: it lies on the steps, and suits the model.
 */
bool fit_covers(const struct fit *fit, const struct point *point);

/* Whether fit->numerators give the figure there. */
bool fit_has_value(const struct fit *fit, const struct point *point, size_t figure);

/* fit->numerators as terms, the highest degree first; *ret_large is set where one is past 2^63.
 */
int fit_take_terms(const struct fit *fit, size_t *ret_n, const struct cm_monomial **ret,
                   bool *ret_large) CM_MUST_CHECK;

/* A figure that no one polynomial has as the largest of several: what is alive at each node.
 * Leaves *ret as it is where that is not found. */
int fit_peak(const struct fit *fit, struct cm_polynomial *ret) CM_MUST_CHECK;

#endif
