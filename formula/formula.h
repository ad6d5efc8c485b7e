/* SPDX-License-Identifier: Apache-2.0 */
/* The two halves of a formula: along which sizes it is looked for, and what is found there. */
#ifndef FORMULA_FORMULA_H
#define FORMULA_FORMULA_H

#include "costmodel/formula.h"
#include "formula/formula_points.h"

/*
 * The variables that there are, and of each where to begin, by which step to go, and how high
 * the degree is. CM_USAGE, CM_REFUSED: as a profile would say, or a variable cannot vary.
 */
int formula_find_axes(struct points *points, int64_t *ret_anchor,
                      const char **ret_fixed) CM_MUST_CHECK;

/* The polynomials through the grid of the axes, checked. Fills the modules of *ret. */
int formula_fit(struct points *points, const int64_t *anchor,
                struct cm_formula *ret) CM_MUST_CHECK;

#endif
