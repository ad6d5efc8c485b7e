/* SPDX-License-Identifier: Apache-2.0 */
/* Polynomials interpolated from exact values, compared with known ones. */
#include "formula/polynomial.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/arena.h"

#define N(array)  (sizeof(array) / sizeof((array)[0]))
#define MAX_TERMS 64

struct found {
    struct interpolation interpolation;
    wide numerators[MAX_TERMS];
    bool fits;
};

static int make(void **state) {
    *state = arena_new("test", 0);
    return *state == NULL;
}

static int end(void **state) {
    arena_free(*state);
    return 0;
}

static struct found interpolate(struct arena *arena, const struct axis *axes, size_t n_axes,
                                const int64_t *values) {
    struct found found;
    assert_int_equal(polynomial_prepare(arena, axes, n_axes, &found.interpolation), 0);
    assert_true(found.interpolation.n_points <= MAX_TERMS);
    found.fits = polynomial_interpolate(&found.interpolation, values, found.numerators);
    return found;
}

static void assert_term(const struct found *found, size_t index, int64_t numerator,
                        int64_t denominator) {
    int64_t have = 0;
    int64_t below = 0;
    assert_true(
        polynomial_term(&found->interpolation, found->numerators[index], &have, &below));
    assert_int_equal(have, numerator);
    assert_int_equal(below, denominator);
}

static void fits_a_linear_function(void **state) {
    static const struct axis axis = {.from = 1, .step = 1, .degree = 1};
    static const int64_t values[] = {439629568 + 7, 2 * 439629568 + 7};
    const struct found found = interpolate(*state, &axis, 1, values);
    const int64_t far = 1000000;
    assert_true(found.fits);
    assert_term(&found, 0, 7, 1);
    assert_term(&found, 1, 439629568, 1);
    assert_true(polynomial_has_value(&found.interpolation, found.numerators, &far,
                                     439629568 * far + 7));
    assert_false(polynomial_has_value(&found.interpolation, found.numerators, &far,
                                      439629568 * far + 8));
}

/* 1, 3, 6 ... is x (x + 1) / 2, the entries below a causal mask's diagonal. */
static void coefficients_may_be_fractions(void **state) {
    static const struct axis axis = {.from = 1, .step = 1, .degree = 2};
    static const int64_t values[] = {1, 3, 6};
    const struct found found = interpolate(*state, &axis, 1, values);
    assert_true(found.fits);
    assert_term(&found, 0, 0, 1);
    assert_term(&found, 1, 1, 2);
    assert_term(&found, 2, 1, 2);
}

/* 3 (h / 4)^2 at h = 8, 12, 16: the coefficient is 3 / 16. */
static void fits_a_floor_division(void **state) {
    static const struct axis axis = {.from = 8, .step = 4, .degree = 2};
    static const int64_t values[] = {3 * 4, 3 * 9, 3 * 16};
    const struct found found = interpolate(*state, &axis, 1, values);
    assert_true(found.fits);
    assert_term(&found, 0, 0, 1);
    assert_term(&found, 1, 0, 1);
    assert_term(&found, 2, 3, 16);
}

/* 5 x y^2 - 3 x + 2 y^2 - 11 at x = 2, 3 and y = 3, 5, 7. */
static void interpolates_two_variables_on_a_grid(void **state) {
    static const struct axis axes[] = {{2, 1, 1}, {3, 2, 2}};
    static const int64_t wanted[] = {-11, 0, 2, -3, 0, 5}; /* 1, y, y^2, x, x y, x y^2 */
    const int64_t at[] = {-7, 1000};
    int64_t values[6];
    for (int i = 0; i < 6; i++) {
        const int64_t x = 2 + i / 3;
        const int64_t y = 3 + 2 * (i % 3);
        values[i] = 5 * x * y * y - 3 * x + 2 * y * y - 11;
    }
    const struct found found = interpolate(*state, axes, N(axes), values);
    assert_true(found.fits);
    for (size_t i = 0; i < N(wanted); i++) assert_term(&found, i, wanted[i], 1);
    assert_true(polynomial_has_value(&found.interpolation, found.numerators, at,
                                     5 * -7 * 1000000 + 21 + 2 * 1000000 - 11));
}

/* The largest values, with the highest degree and the largest step. */
static void large_values_stay_exact(void **state) {
    static const struct axis axis = {.from = 256, .step = 64, .degree = 4};
    const int64_t k = 40000000;
    int64_t values[5];
    for (int i = 0; i < 5; i++) {
        const int64_t x = 256 + 64 * i;
        values[i] = k * x * x * x * x - 1;
    }
    const struct found found = interpolate(*state, &axis, 1, values);
    assert_true(found.fits);
    assert_term(&found, 0, -1, 1);
    for (size_t i = 1; i < 4; i++) assert_term(&found, i, 0, 1);
    assert_term(&found, 4, k, 1);
}

static void fits_a_constant_without_variables(void **state) {
    static const int64_t value = 12;
    const struct found found = interpolate(*state, NULL, 0, &value);
    assert_true(found.fits);
    assert_term(&found, 0, 12, 1);
    assert_true(polynomial_has_value(&found.interpolation, found.numerators, NULL, 12));
}

static void reports_terms_above_2_to_63(void **state) {
    static const struct axis axis = {.from = 1, .step = 1, .degree = 1};
    static const int64_t values[] = {-INT64_MAX, INT64_MAX};
    const struct found found = interpolate(*state, &axis, 1, values);
    int64_t numerator = 0;
    int64_t denominator = 0;
    assert_true(found.fits);
    assert_false(
        polynomial_term(&found.interpolation, found.numerators[1], &numerator, &denominator));
}

static void reports_coefficients_above_128_bits(void **state) {
    static const struct axis axis = {.from = 1 << 28, .step = 1 << 16, .degree = 4};
    static const int64_t values[] = {INT64_MAX, 0, INT64_MAX, 0, INT64_MAX};
    const struct found found = interpolate(*state, &axis, 1, values);
    assert_false(found.fits);
}

static const struct {
    int64_t values[6];
    int degree;
} lines[] = {
    {{0, 0, 0, 0, 0, 0}, 0},
    {{5, 5, 5, 5, 5, 5}, 0},
    {{5, 7, 9, 11, 13, 15}, 1},
    {{0, 1, 4, 9, 16, 25}, 2},
    {{0, 1, 8, 27, 64, 125}, 3},
    {{0, 1, 16, 81, 256, 625}, 4},
    {{0, 1, 32, 243, 1024, 3125}, -1},
    {{0, 0, 1, 1, 2, 2}, -1}, /* rounded down */
    {{1, 2, 3, 4, 5, 7}, -1},
    {{INT64_MAX, -INT64_MAX, INT64_MAX, -INT64_MAX, INT64_MAX, -INT64_MAX}, -1},
};

static void differences_determine_the_degree(void **state) {
    (void)state;
    for (size_t i = 0; i < N(lines); i++)
        assert_int_equal(polynomial_degree(lines[i].values, N(lines[i].values), 4),
                         lines[i].degree);
}

/* Six equal values may come from a floor division by 14: the value at a distance decides. */
static void verifies_a_polynomial_at_a_distant_point(void **state) {
    static const int64_t flat[] = {1, 1, 1, 1, 1, 1};
    static const int64_t squares[] = {0, 1, 4, 9, 16, 25};
    (void)state;
    assert_false(polynomial_continues(flat, N(flat), 13, 2));
    assert_true(polynomial_continues(flat, N(flat), 13, 1));
    assert_true(polynomial_continues(squares, N(squares), 101, 10201));
    assert_false(polynomial_continues(squares, N(squares), 101, 10202));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(fits_a_linear_function, make, end),
        cmocka_unit_test_setup_teardown(coefficients_may_be_fractions, make, end),
        cmocka_unit_test_setup_teardown(fits_a_floor_division, make, end),
        cmocka_unit_test_setup_teardown(interpolates_two_variables_on_a_grid, make, end),
        cmocka_unit_test_setup_teardown(large_values_stay_exact, make, end),
        cmocka_unit_test_setup_teardown(fits_a_constant_without_variables, make, end),
        cmocka_unit_test_setup_teardown(reports_terms_above_2_to_63, make, end),
        cmocka_unit_test_setup_teardown(reports_coefficients_above_128_bits, make, end),
        cmocka_unit_test(differences_determine_the_degree),
        cmocka_unit_test(verifies_a_polynomial_at_a_distant_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
