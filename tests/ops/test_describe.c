/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as Python prints them: see ops/describe.h. */
#include "ops/describe.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "support/arena.h"

static void a_float32_prints_as_its_shortest_decimal(void **state) {
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {1e-5F, "1e-05"},    {0.001F, "0.001"},
        {0.0001F, "0.0001"}, {1e-12F, "1e-12"},
        {1, "1.0"},          {0, "0.0"},
        {-0.5, "-0.5"},      {0.3F, "0.3"},
        {100, "100.0"},      {16777216, "16777216.0"},
        {1e16F, "1e+16"},    {0.97F, "0.97"},
        {1234.5F, "1234.5"}, {3.4028234663852886e38, "3.4028235e+38"},
    };
    struct arena *arena = arena_new("test", 0);
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct text out;
        text_init(&out, arena);
        describe_real(&out, cases[i].value);
        assert_string_equal(text_string(&out), cases[i].text);
    }
    arena_free(arena);
}

static void integers_have_all_their_digits(void **state) {
    static const struct {
        int64_t value;
        const char *text;
    } cases[] = {
        {0, "0"},
        {7, "7"},
        {-1, "-1"},
        {10, "10"},
        {-100, "-100"},
        {INT64_MAX, "9223372036854775807"},
        {DIM_UNKNOWN, "?"},
        {DIM_OVERFLOW + 1, "-9223372036854775806"},
        {DIM_OVERFLOW, "?"},
    };
    struct arena *arena = arena_new("test", 0);
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct text out;
        text_init(&out, arena);
        describe_int(&out, cases[i].value);
        assert_string_equal(text_string(&out), cases[i].text);
    }
    arena_free(arena);
}

static void sizes_print_as_one_when_all_are_equal(void **state) {
    static const int64_t equal[] = {3, 3};
    static const int64_t mixed[] = {3, DIM_UNKNOWN};
    struct arena *arena = arena_new("test", 0);
    struct text out;
    (void)state;
    text_init(&out, arena);
    describe_sizes(&out, 2, equal);
    describe_sizes(&out, 2, mixed);
    describe_tuple(&out, 1, equal);
    assert_string_equal(text_string(&out), "3(3, ?)(3,)");
    arena_free(arena);
}

static void a_linear_layer_names_its_features(void **state) {
    struct arena *arena = arena_new("test", 0);
    struct text out;
    (void)state;
    text_init(&out, arena);
    assert_int_equal(describe_linear(4, 5, true, &out), CM_OK);
    assert_string_equal(text_string(&out), "in_features=4, out_features=5, bias=True");
    arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_float32_prints_as_its_shortest_decimal),
        cmocka_unit_test(integers_have_all_their_digits),
        cmocka_unit_test(sizes_print_as_one_when_all_are_equal),
        cmocka_unit_test(a_linear_layer_names_its_features),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
