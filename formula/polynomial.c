/* SPDX-License-Identifier: Apache-2.0 */
/* Newton's forward differences: with t = (x - from) / step,
 *
 *     p(x) = sum over k of  D^k p(from) * t (t - 1) ... (t - k + 1) / k!
 *
 * Axes are transformed one after the other. For each axis, the products above are expanded once
 * into powers of x, times degree! * step^degree, which makes their coefficients integers. */
#include "formula/polynomial.h"

#include "costmodel/costmodel.h"
#include "support/arena.h"

#define N_POWERS   (POLYNOMIAL_MAX_DEGREE + 1)
#define MAX_VALUES 16 /* on one line */

static wide power(wide base, int exponent) {
    wide product = 1;
    for (int i = 0; i < exponent; i++) product *= base;
    return product;
}

static wide factorial(int n) {
    wide product = 1;
    for (int i = 2; i <= n; i++) product *= i;
    return product;
}

/* Adds a * b to *sum. Returns false if the result does not fit 128 bits. */
static bool add_product(wide *sum, wide a, wide b) {
    wide product = 0;
    return !__builtin_mul_overflow(a, b, &product) &&
           !__builtin_add_overflow(*sum, product, sum);
}

/* Sets basis[k][i] to the coefficient of x^i in degree! step^degree / (k! step^k) times the k
 * factors (x - from) (x - from - step) ... */
static void fill_basis(const struct axis *axis, wide basis[N_POWERS][N_POWERS]) {
    for (int k = 0; k <= axis->degree; k++) {
        wide *row = basis[k];
        row[0] = factorial(axis->degree) / factorial(k) * power(axis->step, axis->degree - k);
        for (int i = 1; i < N_POWERS; i++) row[i] = 0;
        for (int factor = 0; factor < k; factor++)
            for (int i = k; i >= 0; i--)
                row[i] = (i > 0 ? row[i - 1] : 0) - row[i] * (axis->from + factor * axis->step);
    }
}

int polynomial_prepare(struct arena *arena, const struct axis *axes, size_t n_axes,
                       struct interpolation *ret) {
    *ret =
        (struct interpolation){.n_axes = n_axes, .axes = axes, .n_points = 1, .denominator = 1};
    for (size_t i = 0; i < n_axes; i++) ret->n_points *= (size_t)axes[i].degree + 1;
    ret->basis = arena_array(arena, n_axes, sizeof(*ret->basis));
    ret->work = arena_array(arena, ret->n_points, sizeof(*ret->work));
    if (!ret->basis || !ret->work) return CM_NO_MEMORY;
    for (size_t i = 0; i < n_axes; i++) {
        fill_basis(&axes[i], ret->basis[i]);
        ret->denominator *= factorial(axes[i].degree) * power(axes[i].step, axes[i].degree);
    }
    return CM_OK;
}

/* Replaces the values of a line of the grid by their forward differences, then by the
 * coefficients of powers of x. Returns false if one does not fit 128 bits. */
static bool transform_line(const struct interpolation *interpolation, size_t axis, wide *line,
                           size_t stride) {
    const int degree = interpolation->axes[axis].degree;
    wide powers[N_POWERS] = {0};
    for (int k = 1; k <= degree; k++)
        for (int i = degree; i >= k; i--)
            line[(size_t)i * stride] -= line[(size_t)(i - 1) * stride];
    for (int k = 0; k <= degree; k++)
        for (int i = 0; i <= k && line[(size_t)k * stride] != 0; i++)
            if (!add_product(&powers[i], line[(size_t)k * stride],
                             interpolation->basis[axis][k][i]))
                return false;
    for (int i = 0; i <= degree; i++) line[(size_t)i * stride] = powers[i];
    return true;
}

bool polynomial_interpolate(const struct interpolation *interpolation, const int64_t *values,
                            wide *ret) {
    /* Forward differences up to degree 4 are at most 16 times as large, so below 2^127. */
    const wide limit = (wide)1 << 120;
    for (size_t i = 0; i < interpolation->n_points; i++) ret[i] = values[i];
    for (size_t axis = 0; axis < interpolation->n_axes; axis++) {
        for (size_t i = 0; i < interpolation->n_points; i++)
            if (ret[i] >= limit || ret[i] <= -limit) return false;
        size_t stride = 1;
        for (size_t i = axis + 1; i < interpolation->n_axes; i++)
            stride *= (size_t)interpolation->axes[i].degree + 1;
        const size_t length = (size_t)interpolation->axes[axis].degree + 1;
        for (size_t i = 0; i < interpolation->n_points; i++)
            if (i / stride % length == 0 &&
                !transform_line(interpolation, axis, ret + i, stride))
                return false;
    }
    return true;
}

/* Evaluates the last axis at `at` by Horner's rule, so that the grid has one axis less. Returns
 * false if a value does not fit 128 bits. */
static bool fold_axis(const struct interpolation *interpolation, size_t axis, size_t n,
                      int64_t at, wide *grid) {
    const size_t length = (size_t)interpolation->axes[axis].degree + 1;
    for (size_t i = 0; i < n; i++) {
        wide sum = 0;
        for (size_t k = length; k > 0; k--) {
            wide next = grid[i * length + k - 1];
            if (!add_product(&next, sum, at)) return false;
            sum = next;
        }
        grid[i] = sum;
    }
    return true;
}

bool polynomial_has_value(const struct interpolation *interpolation, const wide *numerators,
                          const int64_t *at, int64_t value) {
    wide *grid = interpolation->work;
    wide want = 0;
    size_t n = interpolation->n_points;
    for (size_t i = 0; i < n; i++) grid[i] = numerators[i];
    for (size_t axis = interpolation->n_axes; axis > 0; axis--) {
        n /= (size_t)interpolation->axes[axis - 1].degree + 1;
        if (!fold_axis(interpolation, axis - 1, n, at[axis - 1], grid)) return false;
    }
    return add_product(&want, interpolation->denominator, value) && want == grid[0];
}

static wide common_divisor(wide a, wide b) {
    if (a < 0) a = -a;
    while (b != 0) {
        const wide rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

bool polynomial_term(const struct interpolation *interpolation, wide numerator,
                     int64_t *ret_numerator, int64_t *ret_denominator) {
    const wide divisor = common_divisor(numerator, interpolation->denominator);
    const wide top = numerator / divisor;
    const wide bottom = interpolation->denominator / divisor;
    if (top > INT64_MAX || top < -INT64_MAX || bottom > INT64_MAX) return false;
    *ret_numerator = (int64_t)top;
    *ret_denominator = (int64_t)bottom;
    return true;
}

int polynomial_degree(const int64_t *values, size_t n, int max_degree) {
    wide differences[MAX_VALUES];
    int degree = 0;
    if (n > MAX_VALUES) return -1;
    for (size_t i = 0; i < n; i++) differences[i] = values[i];
    for (size_t k = 1; k < n; k++) {
        for (size_t i = n - 1; i >= k; i--) differences[i] -= differences[i - 1];
        if (differences[k] != 0) degree = (int)k;
    }
    return degree > max_degree ? -1 : degree;
}

bool polynomial_continues(const int64_t *values, size_t n, int64_t index, int64_t value) {
    wide differences[MAX_VALUES];
    wide sum = 0;
    wide binomial = 1;
    if (n > MAX_VALUES) return false;
    for (size_t i = 0; i < n; i++) differences[i] = values[i];
    for (size_t k = 1; k < n; k++)
        for (size_t i = n - 1; i >= k; i--) differences[i] -= differences[i - 1];
    for (size_t k = 0; k < n; k++) {
        if (differences[k] != 0 && !add_product(&sum, differences[k], binomial)) return false;
        binomial = binomial * (index - (int64_t)k) / ((int64_t)k + 1);
    }
    return sum == value;
}
