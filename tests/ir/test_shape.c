/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes: known, unknown, empty, too large. */
#include "ir/shape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "costmodel/costmodel.h"
#include "support/arena.h"
#include "support/text.h"

static int make(void **state) {
    *state = arena_new("test", 0);
    return *state == NULL;
}

static int end(void **state) {
    arena_free(*state);
    return 0;
}

#define U        DIM_UNKNOWN
#define HUGE_DIM ((int64_t)1 << 40)

static const struct {
    int rank;
    int64_t dims[4];
    int64_t elements;
    bool known;
    const char *printed;
} shapes[] = {
    {0, {0}, 1, true, "[]"},
    {1, {5}, 5, true, "[5]"},
    {4, {1, 3, 224, 224}, 150528, true, "[1,3,224,224]"},
    {4, {1, 3, U, 224}, U, false, "[1,3,?,224]"},
    {2, {U, 0}, 0, false, "[?,0]"},
    {3, {2, 0, 7}, 0, true, "[2,0,7]"},
    {2, {HUGE_DIM, HUGE_DIM}, DIM_OVERFLOW, true, "[1099511627776,1099511627776]"},
    {3, {HUGE_DIM, HUGE_DIM, 0}, 0, true, "[1099511627776,1099511627776,0]"},
    {3, {HUGE_DIM, HUGE_DIM, U}, DIM_OVERFLOW, false, "[1099511627776,1099511627776,?]"},
    {RANK_UNKNOWN, {0}, U, false, "[?...]"},
};

static void counts_and_prints_shapes(void **state) {
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct shape shape;
        struct text text;
        text_init(&text, *state);
        assert_int_equal(shape_make(*state, shapes[i].rank, shapes[i].dims, &shape), CM_OK);
        assert_int_equal(shape_is_known(&shape), shapes[i].known);
        assert_int_equal(shape_has_rank(&shape), shapes[i].rank != RANK_UNKNOWN);
        assert_true(shape_elements(&shape) == shapes[i].elements);
        shape_print(&shape, &text);
        assert_string_equal(text_string(&text), shapes[i].printed);
    }
}

static void compares_shapes_by_dim(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
            struct shape a;
            struct shape b;
            assert_int_equal(shape_make(*state, shapes[i].rank, shapes[i].dims, &a), CM_OK);
            assert_int_equal(shape_make(*state, shapes[k].rank, shapes[k].dims, &b), CM_OK);
            assert_int_equal(shape_equal(&a, &b), i == k);
        }
    }
}

static void multiplies_a_range_of_dims(void **state) {
    struct shape shape;
    assert_int_equal(shape_make(*state, 4, (const int64_t[]){2, 3, U, 5}, &shape), CM_OK);
    assert_int_equal(shape_product(&shape, 0, 2), 6);
    assert_int_equal(shape_product(&shape, 3, 4), 5);
    assert_int_equal(shape_product(&shape, 2, 2), 1);
    assert_true(shape_product(&shape, 1, 3) == U);
}

static void copies_dims_or_makes_them_unknown(void **state) {
    int64_t dims[] = {1, 2};
    struct shape shape;
    assert_int_equal(shape_make(*state, 3, NULL, &shape), CM_OK);
    for (int i = 0; i < 3; i++) assert_true(shape.dims[i] == U);
    assert_int_equal(shape_make(*state, 2, dims, &shape), CM_OK);
    dims[0] = 9;
    assert_int_equal(shape.dims[0], 1);
}

static void leaves_the_result_unchanged_on_failure(void **state) {
    struct arena *small = arena_new("small", 16);
    struct shape shape = {7, NULL};
    assert_int_equal(shape_make(*state, SHAPE_MAX_RANK + 1, NULL, &shape), CM_REFUSED);
    assert_int_equal(shape_make(small, 10, NULL, &shape), CM_NO_MEMORY);
    assert_int_equal(shape.rank, 7);
    assert_int_equal(shape_make(*state, SHAPE_MAX_RANK, NULL, &shape), CM_OK);
    arena_free(small);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(counts_and_prints_shapes, make, end),
        cmocka_unit_test_setup_teardown(compares_shapes_by_dim, make, end),
        cmocka_unit_test_setup_teardown(multiplies_a_range_of_dims, make, end),
        cmocka_unit_test_setup_teardown(copies_dims_or_makes_them_unknown, make, end),
        cmocka_unit_test_setup_teardown(leaves_the_result_unchanged_on_failure, make, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
