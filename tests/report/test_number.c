/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as text. The expected strings were printed by Python. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "costmodel/result.h"
#include "report/number.h"
#include "support/arena.h"
#include "support/text.h"

static int make_arena(void **state) {
    struct arena *arena = arena_new("test", 0);
    *state = arena;
    return arena == NULL;
}

static int drop_arena(void **state) {
    arena_free(*state);
    return 0;
}

static const char *number(struct arena *arena, enum number_unit unit, int64_t value) {
    struct text text;
    text_init(&text, arena);
    number_append(&text, NUMBERS_DEEPSPEED, unit, value);
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
    /* str(round(x / 10**k, 2)) + unit, for the largest k in 0, 3, 6, 9 with x // 10**k > 0 */
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

static void rounds_numbers_as_python_does(void **state) {
    for (size_t i = 0; i < N(numbers); i++)
        assert_string_equal(number(*state, numbers[i].unit, numbers[i].value),
                            numbers[i].printed);
}

static void plain_numbers_have_prefixes_up_to_peta(void **state) {
    static const struct {
        enum number_unit unit;
        int64_t value;
        const char *printed;
    } cases[] = {
        {NUMBER_MACS, INT64_C(1000), "1.0 kMACs"},
        {NUMBER_PARAMS, INT64_C(803081), "803.08 k"},
        {NUMBER_PARAMS, INT64_C(3139930000), "3.14 G"},
        {NUMBER_MACS, INT64_C(3139930000000), "3.14 TMACs"},
        {NUMBER_FLOPS, INT64_C(3139930000000000), "3.14 P"},
        {NUMBER_BYTES, INT64_C(3139930000000), "3.14 TB"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct text text;
        text_init(&text, *state);
        number_append(&text, NUMBERS_PLAIN, cases[i].unit, cases[i].value);
        assert_string_equal(text_string(&text), cases[i].printed);
    }
}

static void formats_percentages_as_python_does(void **state) {
    for (size_t i = 0; i < N(percents); i++)
        assert_string_equal(percent(*state, percents[i].part, percents[i].whole),
                            percents[i].printed);
}

static void prints_the_numbers_of_the_reference_listing(void **state) {
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

static void groups_digits_of_exact_numbers_by_three(void **state) {
    assert_string_equal(exact(*state, 0), "0");
    assert_string_equal(exact(*state, 999), "999");
    assert_string_equal(exact(*state, 1000), "1,000");
    assert_string_equal(exact(*state, 1000001), "1,000,001");
    assert_string_equal(exact(*state, 14068146176), "14,068,146,176");
    assert_string_equal(exact(*state, INT64_MAX), "9,223,372,036,854,775,807");
    assert_string_equal(exact(*state, -1234), "-1,234");
}

/* clang-format off */
/* Three significant digits, by quantize(…, ROUND_HALF_EVEN) of Python's module decimal. A number
 * that rounds to 1000 gets the next prefix: 999500 is "1.00 M". */
static const struct {
    enum number_style units;
    enum number_unit unit;
    int64_t value;
    const char *printed;
} scaled[] = {
    {NUMBERS_SI, NUMBER_MACS, INT64_C(0), "0 MACs"},
    {NUMBERS_SI, NUMBER_MACS, INT64_C(1), "1 MACs"},
    {NUMBERS_SI, NUMBER_MACS, INT64_C(999), "999 MACs"},
    {NUMBERS_SI, NUMBER_MACS, INT64_C(1000), "1.00 kMACs"},
    {NUMBERS_SI, NUMBER_MACS, INT64_C(1004), "1.00 kMACs"},
    {NUMBERS_SI, NUMBER_MACS, INT64_C(1005), "1.00 kMACs"},
    {NUMBERS_SI, NUMBER_MACS, INT64_C(1015), "1.02 kMACs"},
    {NUMBERS_SI, NUMBER_MACS, INT64_C(1025), "1.02 kMACs"},
    {NUMBERS_SI, NUMBER_MACS, INT64_C(9994), "9.99 kMACs"},
    {NUMBERS_SI, NUMBER_MACS, INT64_C(9995), "10.0 kMACs"},
    {NUMBERS_SI, NUMBER_MACS, INT64_C(9996), "10.0 kMACs"},
    {NUMBERS_SI, NUMBER_MACS, INT64_C(9999), "10.0 kMACs"},
    {NUMBERS_SI, NUMBER_MACS, INT64_C(10049), "10.0 kMACs"},
    {NUMBERS_SI, NUMBER_MACS, INT64_C(10050), "10.0 kMACs"},
    {NUMBERS_SI, NUMBER_MACS, INT64_C(99949), "99.9 kMACs"},
    {NUMBERS_SI, NUMBER_MACS, INT64_C(99950), "100 kMACs"},
    {NUMBERS_SI, NUMBER_MACS, INT64_C(99951), "100 kMACs"},
    {NUMBERS_SI, NUMBER_MACS, INT64_C(999499), "999 kMACs"},
    {NUMBERS_SI, NUMBER_MACS, INT64_C(999500), "1.00 MMACs"},
    {NUMBERS_SI, NUMBER_MACS, INT64_C(999501), "1.00 MMACs"},
    {NUMBERS_SI, NUMBER_MACS, INT64_C(999999), "1.00 MMACs"},
    {NUMBERS_SI, NUMBER_MACS, INT64_C(1000000), "1.00 MMACs"},
    {NUMBERS_SI, NUMBER_MACS, INT64_C(14068146176), "14.1 GMACs"},
    {NUMBERS_SI, NUMBER_MACS, INT64_C(4294967296), "4.29 GMACs"},
    {NUMBERS_SI, NUMBER_MACS, INT64_C(9223372036854775807), "9.22 EMACs"},
    {NUMBERS_SI, NUMBER_MACS, INT64_C(9223372036854775806), "9.22 EMACs"},
    {NUMBERS_SI, NUMBER_MACS, INT64_C(999999999999999999), "1.00 EMACs"},
    {NUMBERS_SI, NUMBER_MACS, INT64_C(1000000000000000000), "1.00 EMACs"},
    {NUMBERS_SI, NUMBER_MACS, INT64_C(500000000000000001), "500 PMACs"},
    {NUMBERS_SI, NUMBER_PARAMS, INT64_C(0), "0"},
    {NUMBERS_SI, NUMBER_PARAMS, INT64_C(999), "999"},
    {NUMBERS_SI, NUMBER_PARAMS, INT64_C(1005), "1.00 k"},
    {NUMBERS_SI, NUMBER_PARAMS, INT64_C(3463763), "3.46 M"},
    {NUMBERS_SI, NUMBER_PARAMS, INT64_C(9223372036854775807), "9.22 E"},
    {NUMBERS_SI, NUMBER_BYTES, INT64_C(0), "0 B"},
    {NUMBERS_SI, NUMBER_BYTES, INT64_C(999), "999 B"},
    {NUMBERS_SI, NUMBER_BYTES, INT64_C(1024), "1.02 kB"},
    {NUMBERS_SI, NUMBER_BYTES, INT64_C(1352545740), "1.35 GB"},
    {NUMBERS_BINARY, NUMBER_BYTES, INT64_C(0), "0 B"},
    {NUMBERS_BINARY, NUMBER_BYTES, INT64_C(1), "1 B"},
    {NUMBERS_BINARY, NUMBER_BYTES, INT64_C(1023), "1023 B"},
    {NUMBERS_BINARY, NUMBER_BYTES, INT64_C(1024), "1.00 KiB"},
    {NUMBERS_BINARY, NUMBER_BYTES, INT64_C(1025), "1.00 KiB"},
    {NUMBERS_BINARY, NUMBER_BYTES, INT64_C(1029), "1.00 KiB"},
    {NUMBERS_BINARY, NUMBER_BYTES, INT64_C(10239), "10.0 KiB"},
    {NUMBERS_BINARY, NUMBER_BYTES, INT64_C(10240), "10.0 KiB"},
    {NUMBERS_BINARY, NUMBER_BYTES, INT64_C(1048575), "1.00 MiB"},
    {NUMBERS_BINARY, NUMBER_BYTES, INT64_C(1048576), "1.00 MiB"},
    {NUMBERS_BINARY, NUMBER_BYTES, INT64_C(1047552), "1023 KiB"},
    {NUMBERS_BINARY, NUMBER_BYTES, INT64_C(1048064), "1.00 MiB"},
    {NUMBERS_BINARY, NUMBER_BYTES, INT64_C(1352545740), "1.26 GiB"},
    {NUMBERS_BINARY, NUMBER_BYTES, INT64_C(1099511627776), "1.00 TiB"},
    {NUMBERS_BINARY, NUMBER_BYTES, INT64_C(1125899906842623), "1.00 PiB"},
    {NUMBERS_BINARY, NUMBER_BYTES, INT64_C(1125899906842624), "1.00 PiB"},
    {NUMBERS_BINARY, NUMBER_BYTES, INT64_C(1152921504606846975), "1.00 EiB"},
    {NUMBERS_BINARY, NUMBER_BYTES, INT64_C(1152921504606846976), "1.00 EiB"},
    {NUMBERS_BINARY, NUMBER_BYTES, INT64_C(1729382256910270464), "1.50 EiB"},
    {NUMBERS_BINARY, NUMBER_BYTES, INT64_C(9223372036854775807), "8.00 EiB"},
    {NUMBERS_BINARY, NUMBER_BYTES, INT64_C(1125899906842623), "1.00 PiB"},
    {NUMBERS_BINARY, NUMBER_MACS, INT64_C(1000), "1.00 kMACs"},
    {NUMBERS_BINARY, NUMBER_MACS, INT64_C(1024), "1.02 kMACs"},
    {NUMBERS_SI, NUMBER_TIME, INT64_C(0), "0 ps"},
    {NUMBERS_SI, NUMBER_TIME, INT64_C(999), "999 ps"},
    {NUMBERS_SI, NUMBER_TIME, INT64_C(1000), "1.00 ns"},
    {NUMBERS_SI, NUMBER_TIME, INT64_C(76670000), "76.7 us"},
    {NUMBERS_SI, NUMBER_TIME, INT64_C(1000000000000), "1.00 s"},
    {NUMBERS_SI, NUMBER_TIME, INT64_C(3600000000000000), "3.60 ks"},
    {NUMBERS_SI, NUMBER_TIME, INT64_C(9223372036854775807), "9.22 Ms"},
    {NUMBERS_EXACT, NUMBER_MACS, INT64_C(0), "0"},
    {NUMBERS_EXACT, NUMBER_MACS, INT64_C(1234567), "1234567"},
    {NUMBERS_EXACT, NUMBER_MACS, INT64_C(9223372036854775807), "9223372036854775807"},
};
/* clang-format on */

static void prints_three_significant_digits(void **state) {
    for (size_t i = 0; i < sizeof(scaled) / sizeof(scaled[0]); i++) {
        struct text text;
        text_init(&text, *state);
        number_append(&text, scaled[i].units, scaled[i].unit, scaled[i].value);
        assert_string_equal(text_string(&text), scaled[i].printed);
    }
}

static void rounds_ratios_to_the_given_places(void **state) {
    static const struct {
        double value;
        int places;
        const char *printed;
    } rows[] = {
        {0, 2, "0.00"},
        {0.004, 2, "<0.01"},
        {0.005, 2, "0.01"},
        {22324.6712, 2, "22324.67"},
        {0.25, 9, "0.25"},
        {1, 9, "1.00"},
        {0.000500833, 9, "0.000500833"},
        {0.1, 9, "0.10"},
        {1e12, 2, "1000000000000.00"},
        {1e30, 2, "?"},
        {-1, 2, "?"},
        {INFINITY, 2, "?"},
        {1e-12, 9, "0.00"},
        {0.123, 9, "0.123"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct text text;
        text_init(&text, *state);
        number_append_real(&text, rows[i].value, rows[i].places);
        assert_string_equal(text_string(&text), rows[i].printed);
    }
}

static void prints_unknown_numbers_as_a_question_mark(void **state) {
    assert_string_equal(number(*state, NUMBER_MACS, CM_UNKNOWN), "?");
    assert_string_equal(number(*state, NUMBER_BYTES, CM_UNKNOWN + 1), "?");
    assert_string_equal(exact(*state, CM_UNKNOWN), "?");
    assert_string_equal(percent(*state, CM_UNKNOWN, 5), "?%");
    assert_string_equal(percent(*state, 5, CM_UNKNOWN), "?%");
}

static void prints_invalid_percentages_as_a_question_mark(void **state) {
    assert_string_equal(percent(*state, INT64_MAX, 1), "?%");
    assert_string_equal(percent(*state, -1, 5), "?%");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_numbers_as_python_does),
        cmocka_unit_test(plain_numbers_have_prefixes_up_to_peta),
        cmocka_unit_test(formats_percentages_as_python_does),
        cmocka_unit_test(prints_the_numbers_of_the_reference_listing),
        cmocka_unit_test(groups_digits_of_exact_numbers_by_three),
        cmocka_unit_test(prints_three_significant_digits),
        cmocka_unit_test(rounds_ratios_to_the_given_places),
        cmocka_unit_test(prints_unknown_numbers_as_a_question_mark),
        cmocka_unit_test(prints_invalid_percentages_as_a_question_mark),
    };
    return cmocka_run_group_tests(tests, make_arena, drop_arena);
}
