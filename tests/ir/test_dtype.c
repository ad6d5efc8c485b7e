/* SPDX-License-Identifier: Apache-2.0 */
/* Element types: one row each, and sizes of packed ones. */
#include "ir/dtype.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "support/checked.h"

static void names_every_dtype_uniquely(void **state) {
    (void)state;
    for (int i = 1; i < DTYPE_N; i++) {
        const enum dtype dtype = (enum dtype)i;
        assert_int_equal(dtype_from_name(dtype_name(dtype)), dtype);
        assert_int_equal(dtype_from_onnx(i), dtype);
        assert_true(dtype_class(dtype) != DTYPE_CLASS_NONE);
        assert_true(strlen(dtype_short_name(dtype)) > 1);
        assert_true(dtype_bits(dtype) > 0 || dtype == DTYPE_STRING);
        assert_int_equal(dtype_is_float(dtype), dtype_class(dtype) == DTYPE_CLASS_FLOAT);
    }
}

static void returns_undefined_for_unknown_dtypes(void **state) {
    (void)state;
    static const int64_t numbers[] = {0, -1, DTYPE_N, 1000, INT64_MIN, INT64_MAX, 1LL << 32};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        assert_int_equal(dtype_from_onnx(numbers[i]), DTYPE_UNDEFINED);
    }
    assert_int_equal(dtype_from_name("Float"), DTYPE_UNDEFINED);
    assert_int_equal(dtype_from_name(""), DTYPE_UNDEFINED);
    assert_string_equal(dtype_name((enum dtype)99), "undefined");
}

static const struct {
    enum dtype dtype;
    int64_t n;
    int64_t bytes;
} sizes[] = {
    {DTYPE_FLOAT, 10, 40},
    {DTYPE_FLOAT, 0, 0},
    {DTYPE_FLOAT, DIM_UNKNOWN, DIM_UNKNOWN},
    {DTYPE_FLOAT, DIM_OVERFLOW, DIM_OVERFLOW},
    {DTYPE_FLOAT, INT64_MAX / 4, INT64_MAX / 4 * 4},
    {DTYPE_FLOAT, INT64_MAX / 4 + 1, DIM_OVERFLOW},
    {DTYPE_BOOL, 3, 3},
    {DTYPE_COMPLEX128, 2, 32},
    {DTYPE_INT4, 4, 2},
    {DTYPE_INT4, 5, 3},
    {DTYPE_UINT4, INT64_MAX, INT64_MAX / 2 + 1},
    {DTYPE_FLOAT4E2M1, 1, 1},
    {DTYPE_UINT2, 5, 2},
    {DTYPE_INT2, 4, 1},
    {DTYPE_STRING, 3, DIM_UNKNOWN},
    {DTYPE_UNDEFINED, 3, DIM_UNKNOWN},
    {DTYPE_UNDEFINED, DIM_OVERFLOW, DIM_OVERFLOW},
};

static void computes_bytes_or_propagates_unknown(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (dtype_bytes(sizes[i].dtype, sizes[i].n) != sizes[i].bytes) fail_msg("row %zu", i);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_every_dtype_uniquely),
        cmocka_unit_test(returns_undefined_for_unknown_dtypes),
        cmocka_unit_test(computes_bytes_or_propagates_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
