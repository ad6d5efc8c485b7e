/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Python's round() and format() on quotients of integers, to the last digit: x / d is the
 * nearest double, and round(…, 2) looks at that double's exact binary value, half to even. Both
 * steps are kept, each in integers; rounding x / d at once differs from Python near ties.
 */
#include "report/number.h"

#include <inttypes.h>

#include "support/checked.h"
#include "support/text.h"

#include "support/banned.h"

/* A double that is not negative: mantissa / 2^scale. */
struct binary {
    uint64_t mantissa;
    int scale;
};

#define MANTISSA_BITS 53
#define MANTISSA_MIN  (UINT64_C(1) << (MANTISSA_BITS - 1))

/* numerator / denominator to the nearest double, half to even. Both > 0, quotient < 2^52. */
static struct binary binary_quotient(uint64_t numerator, uint64_t denominator) {
    struct binary value = {numerator / denominator, 0};
    uint64_t rest = numerator % denominator;
    while (value.mantissa < MANTISSA_MIN) {
        rest *= 2;
        value.mantissa = 2 * value.mantissa + (rest >= denominator);
        if (rest >= denominator) rest -= denominator;
        value.scale++;
    }
    uint64_t twice = 2 * rest;
    if (twice > denominator || (twice == denominator && value.mantissa % 2 == 1))
        value.mantissa++;
    return value;
}

/* n / 2^bits to the nearest integer, half to even. */
static uint64_t shift_rounded(uint64_t n, int bits) {
    if (bits == 0) return n;
    if (bits >= 64) return 0; /* n < 2^61 here */
    uint64_t whole = n >> bits;
    uint64_t rest = n - (whole << bits);
    uint64_t half = UINT64_C(1) << (bits - 1);
    return rest > half || (rest == half && whole % 2 == 1) ? whole + 1 : whole;
}

/* 100 * value to the nearest double, as Python's % format multiplies. */
static struct binary binary_times_100(struct binary value) {
    uint64_t product = 100 * value.mantissa; /* < 2^60 */
    int excess = 0;
    while (product >> excess >= 2 * MANTISSA_MIN) excess++;
    return (struct binary){shift_rounded(product, excess), value.scale - excess};
}

/* round(value, 2), in hundredths. */
static uint64_t binary_hundredths(struct binary value) {
    return shift_rounded(100 * value.mantissa, value.scale);
}

/* One row a threshold, the largest first; the last has divisor 1. */
struct magnitude {
    uint64_t divisor;
    const char *suffix;
};

#define N_MAGNITUDES 5

static const struct magnitude magnitudes[][N_MAGNITUDES] = {
    [NUMBER_PARAMS] = {{1000000, " M"}, {1000, " k"}, {1, ""}},
    [NUMBER_MACS] = {{1000000000, " GMACs"},
                     {1000000, " MMACs"},
                     {1000, " KMACs"},
                     {1, " MACs"}},
    [NUMBER_FLOPS] = {{1000000000, " G"}, {1000000, " M"}, {1000, " K"}, {1, ""}},
    [NUMBER_TIME] = {{1000000000000, " s"},
                     {1000000000, " ms"},
                     {1000000, " us"},
                     {1000, " ns"},
                     {1, " ps"}},
    [NUMBER_RATE] = {{1000000000000, " TFLOPS"},
                     {1000000000, " GFLOPS"},
                     {1000000, " MFLOPS"},
                     {1000, " KFLOPS"},
                     {1, " FLOPS"}},
    [NUMBER_TRAFFIC] = {{1000000000000, " TB/s"},
                        {1000000000, " GB/s"},
                        {1000000, " MB/s"},
                        {1000, " kB/s"},
                        {1, " B/s"}},
    [NUMBER_BYTES] = {{1000000000, " GB"}, {1000000, " MB"}, {1000, " kB"}, {1, " B"}},
};

/* repr(round(x, 2)): two decimals at most, one at least. */
static void append_hundredths(struct text *text, uint64_t hundredths) {
    uint64_t cents = hundredths % 100;
    if (cents % 10 == 0)
        text_printf(text, "%" PRIu64 ".%" PRIu64, hundredths / 100, cents / 10);
    else
        text_printf(text, "%" PRIu64 ".%02" PRIu64, hundredths / 100, cents);
}

void number_append(struct text *text, enum number_unit unit, int64_t value) {
    if (!is_known(value)) {
        text_append(text, "?");
        return;
    }
    const struct magnitude *row = magnitudes[unit];
    while (row->divisor > 1 && value / (int64_t)row->divisor <= 0) row++;
    if (row->divisor == 1)
        text_printf(text, "%" PRId64, value);
    else
        append_hundredths(text,
                          binary_hundredths(binary_quotient((uint64_t)value, row->divisor)));
    text_append(text, row->suffix);
}

void number_append_exact(struct text *text, int64_t value) {
    if (!is_known(value)) {
        text_append(text, "?");
        return;
    }
    if (value < 0) text_append(text, "-");
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
    uint64_t unit = 1;
    while (rest / unit >= 1000) unit *= 1000;
    text_printf(text, "%" PRIu64, rest / unit);
    for (rest %= unit; unit > 1; rest %= unit) {
        unit /= 1000;
        text_printf(text, ",%03" PRIu64, rest / unit);
    }
}

/* Beyond this, part and whole do not belong together, and mantissas would not fit. */
#define MAX_RATIO 1000000

void number_append_percent(struct text *text, int64_t part, int64_t whole) {
    if (part < 0 || whole < 0 || (whole > 0 && part / whole >= MAX_RATIO)) {
        text_append(text, "?%"); /* the unknown is negative */
        return;
    }
    uint64_t hundredths = 0;
    if (part > 0 && whole > 0)
        hundredths = binary_hundredths(
            binary_times_100(binary_quotient((uint64_t)part, (uint64_t)whole)));
    text_printf(text, "%" PRIu64 ".%02" PRIu64 "%%", hundredths / 100, hundredths % 100);
}
