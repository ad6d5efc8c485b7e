/* SPDX-License-Identifier: Apache-2.0 */
/* Interpolates a polynomial through exact values on a grid, in integers with one denominator
 * for all coefficients: nothing is rounded. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

#define POLYNOMIAL_MAX_DEGREE    4 /* in one variable: attention over an image has it */
#define POLYNOMIAL_MAX_VARIABLES 8

/* Values of one variable: from, from + step ... from + degree * step. */
struct axis {
    int64_t from;
    int64_t step;
    int degree;
};

__extension__ typedef __int128 wide;

/* The transformation of the values on a grid into coefficients. */
struct interpolation {
    size_t n_axes;
    const struct axis *axes;
    size_t n_points;  /* of the grid, last axis fastest; also the number of coefficients */
    wide denominator; /* of all coefficients */
    wide (*basis)[POLYNOMIAL_MAX_DEGREE + 1][POLYNOMIAL_MAX_DEGREE + 1]; /* by axis */
    wide *work;                                                          /* n_points; scratch */
};

/* Returns CM_OK or CM_NO_MEMORY. `axes` is borrowed. */
int polynomial_prepare(struct arena *arena, const struct axis *axes, size_t n_axes,
                       struct interpolation *ret) __attribute__((warn_unused_result));

/* Computes the n_points numerators of the coefficients. The coefficient of x^i y^j has the
 * index of grid point (i, j). Returns false if a number does not fit 128 bits. */
bool polynomial_interpolate(const struct interpolation *interpolation, const int64_t *values,
                            wide *ret);

/* Returns true if the polynomial has exactly this value at the point `at`. */
bool polynomial_has_value(const struct interpolation *interpolation, const wide *numerators,
                          const int64_t *at, int64_t value);

/* Reduces a coefficient to lowest terms. Returns false if it does not fit int64_t. */
bool polynomial_term(const struct interpolation *interpolation, wide numerator,
                     int64_t *ret_numerator, int64_t *ret_denominator);

/* Returns the degree of the polynomial through n values; -1 if it is above `max_degree`. */
int polynomial_degree(const int64_t *values, size_t n, int max_degree);

/* Returns true if the polynomial through n values has this value at `index`. */
bool polynomial_continues(const int64_t *values, size_t n, int64_t index, int64_t value);
