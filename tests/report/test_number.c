/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as Python prints them. The expected strings are Python's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "costmodel/result.h"
#include "report/number.h"
#include "support/arena.h"
#include "support/text.h"

static int make_text(void **state) {
    struct arena *arena = arena_new("test", 0);
    *state = arena;
    return arena == NULL;
}

static int drop_text(void **state) {
    arena_free(*state);
    return 0;
}

static const char *number(struct arena *arena, enum number_unit unit, int64_t value) {
    struct text text;
    text_init(&text, arena);
    number_append(&text, NUMBERS_PLAIN, unit, value);
    return text_string(&text);
}

static const char *percent(struct arena *arena, int64_t part, int64_t whole) {
    struct text text;
    text_init(&text, arena);
    number_append_percent(&text, part, whole);
    return text_string(&text);
}

static const char *exact(struct arena *arena, int64_t value) {
    struct text text;
    text_init(&text, arena);
    number_append_exact(&text, value);
    return text_string(&text);
}

/* clang-format off */
static const struct {
    enum number_unit unit;
    int64_t value;
    const char *printed;
} numbers[] = {
    /* str(round(x / 10**k, 2)) + unit, k by x // 10**k > 0 */
{NUMBER_MACS, INT64_C(0), "0 MACs"},
    {NUMBER_MACS, INT64_C(1), "1 MACs"},
    {NUMBER_MACS, INT64_C(999), "999 MACs"},
    {NUMBER_MACS, INT64_C(1000), "1.0 KMACs"},
    {NUMBER_MACS, INT64_C(1004), "1.0 KMACs"},
    {NUMBER_MACS, INT64_C(1005), "1.0 KMACs"},
    {NUMBER_MACS, INT64_C(1015), "1.01 KMACs"},
    {NUMBER_MACS, INT64_C(1025), "1.02 KMACs"},
    {NUMBER_MACS, INT64_C(2675), "2.67 KMACs"},
    {NUMBER_MACS, INT64_C(9995), "9.99 KMACs"},
    {NUMBER_MACS, INT64_C(9999), "10.0 KMACs"},
    {NUMBER_MACS, INT64_C(10000), "10.0 KMACs"},
    {NUMBER_MACS, INT64_C(100000), "100.0 KMACs"},
    {NUMBER_MACS, INT64_C(132096), "132.1 KMACs"},
    {NUMBER_MACS, INT64_C(132100), "132.1 KMACs"},
    {NUMBER_MACS, INT64_C(803081), "803.08 KMACs"},
    {NUMBER_MACS, INT64_C(999994), "999.99 KMACs"},
    {NUMBER_MACS, INT64_C(999995), "1000.0 KMACs"},
    {NUMBER_MACS, INT64_C(999999), "1000.0 KMACs"},
    {NUMBER_MACS, INT64_C(1000000), "1.0 MMACs"},
    {NUMBER_MACS, INT64_C(1005000), "1.0 MMACs"},
    {NUMBER_MACS, INT64_C(2675000), "2.67 MMACs"},
    {NUMBER_MACS, INT64_C(3463763), "3.46 MMACs"},
    {NUMBER_MACS, INT64_C(14068146176), "14.07 GMACs"},
    {NUMBER_MACS, INT64_C(999999999), "1000.0 MMACs"},
    {NUMBER_MACS, INT64_C(1000000000), "1.0 GMACs"},
    {NUMBER_MACS, INT64_C(1115000000), "1.11 GMACs"},
    {NUMBER_MACS, INT64_C(3139930000000), "3139.93 GMACs"},
    {NUMBER_MACS, INT64_C(14070000000), "14.07 GMACs"},
    {NUMBER_MACS, INT64_C(9007199254740993), "9007199.25 GMACs"},
    {NUMBER_MACS, INT64_C(9007199254740993005), "9007199254.74 GMACs"},
    {NUMBER_MACS, INT64_C(9223372036854775807), "9223372036.85 GMACs"},
    {NUMBER_PARAMS, INT64_C(0), "0"},
    {NUMBER_PARAMS, INT64_C(999), "999"},
    {NUMBER_PARAMS, INT64_C(1000), "1.0 k"},
    {NUMBER_PARAMS, INT64_C(1005), "1.0 k"},
    {NUMBER_PARAMS, INT64_C(2675), "2.67 k"},
    {NUMBER_PARAMS, INT64_C(132096), "132.1 k"},
    {NUMBER_PARAMS, INT64_C(803081), "803.08 k"},
    {NUMBER_PARAMS, INT64_C(999995), "1000.0 k"},
    {NUMBER_PARAMS, INT64_C(1000000), "1.0 M"},
    {NUMBER_PARAMS, INT64_C(3463763), "3.46 M"},
    {NUMBER_PARAMS, INT64_C(999999999), "1000.0 M"},
    {NUMBER_PARAMS, INT64_C(1000000000), "1000.0 M"},
    {NUMBER_PARAMS, INT64_C(3139930000000), "3139930.0 M"},
    {NUMBER_PARAMS, INT64_C(9223372036854775807), "9223372036854.78 M"},
    {NUMBER_FLOPS, INT64_C(0), "0"},
    {NUMBER_FLOPS, INT64_C(999), "999"},
    {NUMBER_FLOPS, INT64_C(1000), "1.0 K"},
    {NUMBER_FLOPS, INT64_C(1005), "1.0 K"},
    {NUMBER_FLOPS, INT64_C(2675), "2.67 K"},
    {NUMBER_FLOPS, INT64_C(132096), "132.1 K"},
    {NUMBER_FLOPS, INT64_C(803081), "803.08 K"},
    {NUMBER_FLOPS, INT64_C(999995), "1000.0 K"},
    {NUMBER_FLOPS, INT64_C(1000000), "1.0 M"},
    {NUMBER_FLOPS, INT64_C(3463763), "3.46 M"},
    {NUMBER_FLOPS, INT64_C(999999999), "1000.0 M"},
    {NUMBER_FLOPS, INT64_C(1000000000), "1.0 G"},
    {NUMBER_FLOPS, INT64_C(3139930000000), "3139.93 G"},
    {NUMBER_FLOPS, INT64_C(9223372036854775807), "9223372036.85 G"},
    {NUMBER_TIME, INT64_C(0), "0 ps"},
    {NUMBER_TIME, INT64_C(999), "999 ps"},
    {NUMBER_TIME, INT64_C(1000), "1.0 ns"},
    {NUMBER_TIME, INT64_C(76670000), "76.67 us"},
    {NUMBER_TIME, INT64_C(1315114914), "1.32 ms"},
    {NUMBER_TIME, INT64_C(8410000000000), "8.41 s"},
    {NUMBER_TIME, INT64_C(3600000000000000), "3600.0 s"},
    {NUMBER_TIME, CM_UNKNOWN, "?"},
    {NUMBER_RATE, INT64_C(0), "0 FLOPS"},
    {NUMBER_RATE, INT64_C(999), "999 FLOPS"},
    {NUMBER_RATE, INT64_C(1500), "1.5 KFLOPS"},
    {NUMBER_RATE, INT64_C(819200000), "819.2 MFLOPS"},
    {NUMBER_RATE, INT64_C(14750000000), "14.75 GFLOPS"},
    {NUMBER_RATE, INT64_C(15860000000000), "15.86 TFLOPS"},
    {NUMBER_TRAFFIC, INT64_C(0), "0 B/s"},
    {NUMBER_TRAFFIC, INT64_C(999999), "1000.0 kB/s"},
    {NUMBER_TRAFFIC, INT64_C(4800000000000), "4.8 TB/s"},
    {NUMBER_BYTES, INT64_C(0), "0 B"},
    {NUMBER_BYTES, INT64_C(999), "999 B"},
    {NUMBER_BYTES, INT64_C(1000), "1.0 kB"},
    {NUMBER_BYTES, INT64_C(1005), "1.0 kB"},
    {NUMBER_BYTES, INT64_C(2675), "2.67 kB"},
    {NUMBER_BYTES, INT64_C(132096), "132.1 kB"},
    {NUMBER_BYTES, INT64_C(803081), "803.08 kB"},
    {NUMBER_BYTES, INT64_C(999995), "1000.0 kB"},
    {NUMBER_BYTES, INT64_C(1000000), "1.0 MB"},
    {NUMBER_BYTES, INT64_C(3463763), "3.46 MB"},
    {NUMBER_BYTES, INT64_C(999999999), "1000.0 MB"},
    {NUMBER_BYTES, INT64_C(1000000000), "1.0 GB"},
    {NUMBER_BYTES, INT64_C(3139930000000), "3139.93 GB"},
    {NUMBER_BYTES, INT64_C(9223372036854775807), "9223372036.85 GB"},
};

static const struct {
    int64_t part;
    int64_t whole;
    const char *printed;
} percents[] = {
    /* format(part / whole, ".2%") */
    {INT64_C(0), INT64_C(0), "0.00%"},
    {INT64_C(0), INT64_C(5), "0.00%"},
    {INT64_C(5), INT64_C(0), "0.00%"},
    {INT64_C(1), INT64_C(1), "100.00%"},
    {INT64_C(1), INT64_C(3), "33.33%"},
    {INT64_C(2), INT64_C(3), "66.67%"},
    {INT64_C(1), INT64_C(8000), "0.01%"},
    {INT64_C(1), INT64_C(20000), "0.01%"},
    {INT64_C(3), INT64_C(20000), "0.01%"},
    {INT64_C(256), INT64_C(3463763), "0.01%"},
    {INT64_C(6291456), INT64_C(14068146176), "0.04%"},
    {INT64_C(803081), INT64_C(3463763), "23.19%"},
    {INT64_C(9223372036854775807), INT64_C(9223372036854775807), "100.00%"},
    {INT64_C(1), INT64_C(9223372036854775807), "0.00%"},
    {INT64_C(4611686018427387904), INT64_C(9223372036854775807), "50.00%"},
    {INT64_C(3), INT64_C(2), "150.00%"},
    {INT64_C(12345), INT64_C(1000000), "1.23%"},
    {INT64_C(12355), INT64_C(1000000), "1.24%"},
    {INT64_C(5), INT64_C(100000), "0.01%"},
    {INT64_C(15), INT64_C(100000), "0.01%"},
    {INT64_C(25), INT64_C(100000), "0.03%"},
};

/* The reference listing: PointNet, batch 32, against totals of 3463763 and 14068146176. */
static const struct {
    const char *path;
    int64_t params;
    int64_t macs;
    const char *params_printed;
    const char *params_share;
    const char *macs_printed;
    const char *macs_share;
} listing[] = {
    {"(root)", INT64_C(3463763), INT64_C(14068146176), "3.46 M", "100.00%", "14.07 GMACs", "100.00%"},
    {"transform", INT64_C(2803529), INT64_C(14047092736), "2.8 M", "80.94%", "14.05 GMACs", "99.85%"},
    {"transform.input_transform", INT64_C(803081), INT64_C(4590739456), "803.08 k", "23.19%", "4.59 GMACs", "32.63%"},
    {"transform.input_transform.conv1", INT64_C(256), INT64_C(6291456), "256", "0.01%", "6.29 MMACs", "0.04%"},
    {"transform.input_transform.conv2", INT64_C(8320), INT64_C(268435456), "8.32 k", "0.24%", "268.44 MMACs", "1.91%"},
    {"transform.input_transform.conv3", INT64_C(132096), INT64_C(4294967296), "132.1 k", "3.81%", "4.29 GMACs", "30.53%"},
    {"transform.input_transform.fc1", INT64_C(524800), INT64_C(16777216), "524.8 k", "15.15%", "16.78 MMACs", "0.12%"},
    {"transform.input_transform.fc2", INT64_C(131328), INT64_C(4194304), "131.33 k", "3.79%", "4.19 MMACs", "0.03%"},
    {"transform.input_transform.fc3", INT64_C(2313), INT64_C(73728), "2.31 k", "0.07%", "73.73 KMACs", "0.00%"},
    {"transform.input_transform.bn1", INT64_C(128), INT64_C(0), "128", "0.00%", "0 MACs", "0.00%"},
    {"transform.input_transform.bn2", INT64_C(256), INT64_C(0), "256", "0.01%", "0 MACs", "0.00%"},
    {"transform.input_transform.bn3", INT64_C(2048), INT64_C(0), "2.05 k", "0.06%", "0 MACs", "0.00%"},
    {"transform.input_transform.bn4", INT64_C(1024), INT64_C(0), "1.02 k", "0.03%", "0 MACs", "0.00%"},
    {"transform.input_transform.bn5", INT64_C(512), INT64_C(0), "512", "0.01%", "0 MACs", "0.00%"},
    {"transform.feature_transform", INT64_C(1857344), INT64_C(4752146432), "1.86 M", "53.62%", "4.75 GMACs", "33.78%"},
    {"transform.feature_transform.conv1", INT64_C(4160), INT64_C(134217728), "4.16 k", "0.12%", "134.22 MMACs", "0.95%"},
    {"transform.feature_transform.conv2", INT64_C(8320), INT64_C(268435456), "8.32 k", "0.24%", "268.44 MMACs", "1.91%"},
    {"transform.feature_transform.conv3", INT64_C(132096), INT64_C(4294967296), "132.1 k", "3.81%", "4.29 GMACs", "30.53%"},
    {"transform.feature_transform.fc1", INT64_C(524800), INT64_C(16777216), "524.8 k", "15.15%", "16.78 MMACs", "0.12%"},
    {"transform.feature_transform.fc2", INT64_C(131328), INT64_C(4194304), "131.33 k", "3.79%", "4.19 MMACs", "0.03%"},
    {"transform.feature_transform.fc3", INT64_C(1052672), INT64_C(33554432), "1.05 M", "30.39%", "33.55 MMACs", "0.24%"},
    {"transform.feature_transform.bn1", INT64_C(128), INT64_C(0), "128", "0.00%", "0 MACs", "0.00%"},
    {"transform.feature_transform.bn2", INT64_C(256), INT64_C(0), "256", "0.01%", "0 MACs", "0.00%"},
    {"transform.feature_transform.bn3", INT64_C(2048), INT64_C(0), "2.05 k", "0.06%", "0 MACs", "0.00%"},
    {"transform.feature_transform.bn4", INT64_C(1024), INT64_C(0), "1.02 k", "0.03%", "0 MACs", "0.00%"},
    {"transform.feature_transform.bn5", INT64_C(512), INT64_C(0), "512", "0.01%", "0 MACs", "0.00%"},
    {"transform.conv1", INT64_C(256), INT64_C(6291456), "256", "0.01%", "6.29 MMACs", "0.04%"},
    {"transform.conv2", INT64_C(8320), INT64_C(268435456), "8.32 k", "0.24%", "268.44 MMACs", "1.91%"},
    {"transform.conv3", INT64_C(132096), INT64_C(4294967296), "132.1 k", "3.81%", "4.29 GMACs", "30.53%"},
    {"transform.bn1", INT64_C(128), INT64_C(0), "128", "0.00%", "0 MACs", "0.00%"},
    {"transform.bn2", INT64_C(256), INT64_C(0), "256", "0.01%", "0 MACs", "0.00%"},
    {"transform.bn3", INT64_C(2048), INT64_C(0), "2.05 k", "0.06%", "0 MACs", "0.00%"},
    {"fc1", INT64_C(524800), INT64_C(16777216), "524.8 k", "15.15%", "16.78 MMACs", "0.12%"},
    {"fc2", INT64_C(131328), INT64_C(4194304), "131.33 k", "3.79%", "4.19 MMACs", "0.03%"},
    {"fc3", INT64_C(2570), INT64_C(81920), "2.57 k", "0.07%", "81.92 KMACs", "0.00%"},
    {"bn1", INT64_C(1024), INT64_C(0), "1.02 k", "0.03%", "0 MACs", "0.00%"},
    {"bn2", INT64_C(512), INT64_C(0), "512", "0.01%", "0 MACs", "0.00%"},
    {"dropout", INT64_C(0), INT64_C(0), "0", "0.00%", "0 MACs", "0.00%"},
    {"logsoftmax", INT64_C(0), INT64_C(0), "0", "0.00%", "0 MACs", "0.00%"},
};
/* clang-format on */

#define N(array) (sizeof(array) / sizeof((array)[0]))

static void numbers_are_rounded_as_python_rounds_them(void **state) {
    for (size_t i = 0; i < N(numbers); i++)
        assert_string_equal(number(*state, numbers[i].unit, numbers[i].value),
                            numbers[i].printed);
}

static void percentages_are_formatted_as_python_formats_them(void **state) {
    for (size_t i = 0; i < N(percents); i++)
        assert_string_equal(percent(*state, percents[i].part, percents[i].whole),
                            percents[i].printed);
}

static void the_reference_listing_is_printed_to_the_letter(void **state) {
    for (size_t i = 0; i < N(listing); i++) {
        assert_string_equal(number(*state, NUMBER_PARAMS, listing[i].params),
                            listing[i].params_printed);
        assert_string_equal(number(*state, NUMBER_MACS, listing[i].macs),
                            listing[i].macs_printed);
        assert_string_equal(percent(*state, listing[i].params, listing[0].params),
                            listing[i].params_share);
        assert_string_equal(percent(*state, listing[i].macs, listing[0].macs),
                            listing[i].macs_share);
    }
}

static void exact_numbers_are_grouped_by_three(void **state) {
    assert_string_equal(exact(*state, 0), "0");
    assert_string_equal(exact(*state, 999), "999");
    assert_string_equal(exact(*state, 1000), "1,000");
    assert_string_equal(exact(*state, 1000001), "1,000,001");
    assert_string_equal(exact(*state, 14068146176), "14,068,146,176");
    assert_string_equal(exact(*state, INT64_MAX), "9,223,372,036,854,775,807");
    assert_string_equal(exact(*state, -1234), "-1,234");
}

static void the_unknown_is_a_question_mark(void **state) {
    assert_string_equal(number(*state, NUMBER_MACS, CM_UNKNOWN), "?");
    assert_string_equal(number(*state, NUMBER_BYTES, CM_UNKNOWN + 1), "?");
    assert_string_equal(exact(*state, CM_UNKNOWN), "?");
    assert_string_equal(percent(*state, CM_UNKNOWN, 5), "?%");
    assert_string_equal(percent(*state, 5, CM_UNKNOWN), "?%");
}

static void a_part_that_is_no_part_is_a_question_mark(void **state) {
    assert_string_equal(percent(*state, INT64_MAX, 1), "?%");
    assert_string_equal(percent(*state, -1, 5), "?%");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_rounded_as_python_rounds_them),
        cmocka_unit_test(percentages_are_formatted_as_python_formats_them),
        cmocka_unit_test(the_reference_listing_is_printed_to_the_letter),
        cmocka_unit_test(exact_numbers_are_grouped_by_three),
        cmocka_unit_test(the_unknown_is_a_question_mark),
        cmocka_unit_test(a_part_that_is_no_part_is_a_question_mark),
    };
    return cmocka_run_group_tests(tests, make_text, drop_text);
}
