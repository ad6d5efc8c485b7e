/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The polynomial through exact values on a grid: integers all the way, with one denominator for
 * all coefficients, so that nothing is rounded and equality means equality.
 */
#ifndef FORMULA_POLYNOMIAL_H
#define FORMULA_POLYNOMIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

#define POLYNOMIAL_MOST_DEGREE    4 /* in one variable: attention over an image has it */
#define POLYNOMIAL_MOST_VARIABLES 8

/* Values of one variable: from, from + step ... from + degree * step. */
struct axis {
    int64_t from;
    int64_t step;
    int degree;
};

__extension__ typedef __int128 wide;

/* How a grid of values becomes coefficients: the same for every figure. */
struct interpolation {
    size_t n_axes;
    const struct axis *axes;
    size_t n_points; /* of the grid, the last axis the fastest; as many coefficients */
    wide denominator;
    wide (*basis)[POLYNOMIAL_MOST_DEGREE + 1][POLYNOMIAL_MOST_DEGREE + 1]; /* by axis */
    wide *work;
};

/* CM_OK, CM_NO_MEMORY. `axes` is borrowed. */
int polynomial_prepare(struct arena *arena, const struct axis *axes, size_t n_axes,
                       struct interpolation *ret) __attribute__((warn_unused_result));

/*
 * `ret`: n_points numerators, that of x^i y^j ... in the place of the grid's point (i, j ...).
 * False: past 2^127.
 */
bool polynomial_interpolate(const struct interpolation *interpolation, const int64_t *values,
                            wide *ret);

/* Whether the polynomial has exactly that value there. */
bool polynomial_has_value(const struct interpolation *interpolation, const wide *numerators,
                          const int64_t *at, int64_t value);

/* Lowest terms; false: past 2^63. */
bool polynomial_term(const struct interpolation *interpolation, wide numerator,
                     int64_t *ret_numerator, int64_t *ret_denominator);

/* The degree of the polynomial through all of n values at equal distances, at most `most`; -1:
 * none of so low a degree goes through them. */
int polynomial_degree(const int64_t *values, size_t n, int most);

/* Whether the polynomial through all of them has that value at the `index`-th place, which may
 * be far beyond the last. */
bool polynomial_continues(const int64_t *values, size_t n, int64_t index, int64_t value);

#endif
