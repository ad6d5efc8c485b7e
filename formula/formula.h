/* SPDX-License-Identifier: Apache-2.0 */
/* --formula: finds the axes along which sizes vary, then fits polynomials to profiles. */
#ifndef FORMULA_FORMULA_H
#define FORMULA_FORMULA_H

#include "costmodel/formula.h"
#include "formula/formula_points.h"

/*
 * Finds the variables and, for each, the first size, the step and the degree. Sets ret_anchor
 * to sizes of the variables that the model accepts, *ret_fixed to the reason if the batch
 * cannot be a variable. Returns CM_USAGE or CM_REFUSED if a profile does, or if a dim cannot
 * vary.
 */
int formula_find_axes(struct points *points, int64_t *ret_anchor,
                      const char **ret_fixed) CM_MUST_CHECK;

/* Fits and checks the polynomials. Fills the modules of *ret. */
int formula_fit(struct points *points, struct cm_formula *ret) CM_MUST_CHECK;

#endif
