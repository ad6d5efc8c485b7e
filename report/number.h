/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as text. NUMBERS_DEEPSPEED is the style of DeepSpeed's profiler until 2023-07 (before
 * its commit 488a1b987): Python's str(round(x / 10**k, 2)) and a unit, as in "14.07 GMACs",
 * "803.08 k", "1.0 KMACs". Its thresholds are integer divisions (x // 10**9 > 0). Its largest
 * unit is G (M for params): 3139930000000 MACs are "3139.93 GMACs". NUMBERS_PLAIN rounds the
 * same way with the prefixes k, M, G, T, P, E: "3.14 TMACs". An unknown number is "?".
 *
 * Integers are formatted by integer arithmetic, independent of the locale. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/costmodel.h"

struct text;

enum number_unit {
    NUMBER_PARAMS,  /* "3.46 M", "803.08 k", "999" */
    NUMBER_MACS,    /* "14.07 GMACs", "6.29 MMACs", "73.73 kMACs", "0 MACs" */
    NUMBER_FLOPS,   /* "8.21 G", "5.0 M", "81.92 k", "0" (DeepSpeed itself prints "0 ") */
    NUMBER_TIME,    /* value in ps: "1.5 s", "12.5 ms", "76.67 us", "1.0 ns", "999 ps" */
    NUMBER_RATE,    /* "15.86 TFLOPS", "1.5 GFLOPS", "0 FLOPS" */
    NUMBER_TRAFFIC, /* "1.5 TB/s", "12.5 GB/s", "0 B/s" */
    NUMBER_BYTES,   /* "1.5 GB", "12.5 MB", "1.0 kB", "999 B": decimal, as the others */
};

/* How numbers are written. */
enum number_style {
    NUMBERS_PLAIN,     /* up to two decimals and a decimal prefix: "14.07 GMACs", "1.0 kMACs" */
    NUMBERS_DEEPSPEED, /* DeepSpeed's style, as above */
    NUMBERS_SI,     /* three significant digits and a decimal prefix: "14.1 GMACs", "999 B" */
    NUMBERS_BINARY, /* as NUMBERS_SI, but bytes by powers of 1024: "1.25 GiB" */
    NUMBERS_EXACT,  /* the integer: "14068146176"; times in ps */
};

/* Returns the style that --units selects; `automatic` replaces CM_UNITS_AUTO. */
enum number_style number_style_of(enum cm_units units, enum number_style automatic);

/* Whether a figure is exact or a bound. */
enum number_bound {
    NUMBER_NO_BOUND,
    NUMBER_AT_MOST,  /* an upper bound: data-dependent dims at their maximum */
    NUMBER_AT_LEAST, /* a sum that leaves something out: unknown costs, nodes without a time */
    NUMBER_MIXED,    /* a sum of upper bounds that leaves something out */
};

static inline enum number_bound number_bound_of(bool is_upper_bound, bool is_partial) {
    if (is_upper_bound) return is_partial ? NUMBER_MIXED : NUMBER_AT_MOST;
    return is_partial ? NUMBER_AT_LEAST : NUMBER_NO_BOUND;
}
/* Returns "", "<= ", ">= " or "~ ", in Unicode "≤ " or "≥ ". */
const char *number_bound_prefix(enum number_bound bound, bool unicode);
/* Returns "", "at most", "at least" or the like. */
const char *number_bound_words(enum number_bound bound);

/* Appends a number with its unit, as listed above; "?" if unknown. */
void number_append(struct text *text, enum number_style style, enum number_unit unit,
                   int64_t value);

/* Appends a non-negative ratio rounded to `places` (at most 9) decimals, without trailing zeros
 * beyond the second: "0.25", "22324.67", "0.001234". With two places, a non-zero ratio that
 * would print as 0.00 is "<0.01". */
void number_append_real(struct text *text, double value, int places);

/* Appends all digits, in groups of three: "14,068,146,176". */
void number_append_exact(struct text *text, int64_t value);

/* Appends Python's f"{part / whole:.2%}": "100.00%", "0.04%". A whole of 0 gives "0.00%"; an
 * unknown operand, or a part of at least a million times the whole, gives "?%". */
void number_append_percent(struct text *text, int64_t part, int64_t whole);
