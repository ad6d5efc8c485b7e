/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as text. NUMBERS_PLAIN, NUMBERS_DEEPSPEED and percentages reproduce Python's
 * round(x / d, 2) for integers to the last digit. Python rounds twice: x / d to the nearest
 * double, then the exact binary value of this double to two decimals, half to even. Both steps
 * are computed in integers; rounding x / d once would differ from Python near ties. */
#include "report/number.h"

#include <inttypes.h>

#include "support/checked.h"
#include "support/text.h"

enum number_style number_style_of(enum cm_units units, enum number_style automatic) {
    static const enum number_style styles[] = {
        [CM_UNITS_EXACT] = NUMBERS_EXACT,
        [CM_UNITS_SI] = NUMBERS_SI,
        [CM_UNITS_BINARY] = NUMBERS_BINARY,
    };
    return units == CM_UNITS_AUTO ? automatic : styles[units];
}

/* A double that is not negative: mantissa / 2^scale. */
struct binary {
    uint64_t mantissa;
    int scale;
};

#define MANTISSA_BITS 53
#define MANTISSA_MIN  (UINT64_C(1) << (MANTISSA_BITS - 1))

/* Returns numerator / denominator as the nearest double, half to even. Both must be > 0, and
 * their quotient < 2^52. */
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

/* Returns n / 2^bits rounded to the nearest integer, half to even. */
static uint64_t shift_rounded(uint64_t n, int bits) {
    if (bits == 0) return n;
    if (bits >= 64) return 0; /* n < 2^61 here */
    uint64_t whole = n >> bits;
    uint64_t rest = n - (whole << bits);
    uint64_t half = UINT64_C(1) << (bits - 1);
    return rest > half || (rest == half && whole % 2 == 1) ? whole + 1 : whole;
}

/* Returns Python's round(value, 2), in hundredths. */
static uint64_t binary_hundredths(struct binary value) {
    return shift_rounded(100 * value.mantissa, value.scale);
}

/* Prefixes of a unit by power of 1000 or 1024; NULL-terminated. */
#define MAX_PREFIXES 8

static const char *const decimal[MAX_PREFIXES] = {"", "k", "M", "G", "T", "P", "E"};
static const char *const binary[MAX_PREFIXES] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};

static const struct {
    const char *base;
    const char *prefixes[MAX_PREFIXES]; /* NULL: decimal */
    const char *deepspeed[MAX_PREFIXES];
} units[] = {
    [NUMBER_PARAMS] = {"", {NULL}, {"", "k", "M"}},
    [NUMBER_MACS] = {"MACs", {NULL}, {"", "K", "M", "G"}},
    [NUMBER_FLOPS] = {"", {NULL}, {"", "K", "M", "G"}},
    [NUMBER_TIME] = {"s", {"p", "n", "u", "m", "", "k", "M"}, {"p", "n", "u", "m", ""}},
    [NUMBER_RATE] = {"FLOPS", {NULL}, {"", "K", "M", "G", "T"}},
    [NUMBER_TRAFFIC] = {"B/s", {NULL}, {"", "k", "M", "G", "T"}},
    [NUMBER_BYTES] = {"B", {NULL}, {"", "k", "M", "G"}},
};

/* Returns value / divisor in thousandths, rounded down; *ret_more: true if this is not exact.
 * The quotient must be < 1024. */
static uint64_t thousandths(uint64_t value, uint64_t divisor, bool *ret_more) {
    uint64_t rest = value % divisor;
    uint64_t below = divisor;
    const uint64_t lost = below >= (UINT64_C(1) << 50) ? rest % 1024 : 0;
    if (below >= (UINT64_C(1) << 50)) {
        rest /= 1024; /* so that rest * 1000 fits; 10^18 is a multiple of 1024, too */
        below /= 1024;
    }
    *ret_more = lost > 0 || rest * 1000 % below > 0;
    return value / divisor * 1000 + rest * 1000 / below;
}

/* Returns n / unit rounded to the nearest, half to even. `more`: the exact dividend exceeds
 * n by less than 1, so a half is rounded up. */
static uint64_t divide_rounded(uint64_t n, uint64_t unit, bool more) {
    const uint64_t whole = n / unit;
    const uint64_t twice = 2 * (n % unit);
    if (twice == unit && !more) return whole + whole % 2;
    return twice >= unit ? whole + 1 : whole;
}

/* Appends three digits: "1.23", "12.3", "123". Returns false if the value rounds up to `step`
 * and there is a larger prefix: 999.6 k is 1.00 M. */
static bool append_three(struct text *text, uint64_t value, uint64_t divisor, uint64_t step,
                         bool is_last) {
    bool more = false;
    const uint64_t n = thousandths(value, divisor, &more);
    const uint64_t hundredths = divide_rounded(n, 10, more);
    const uint64_t tenths = divide_rounded(n, 100, more);
    const uint64_t whole = divide_rounded(n, 1000, more);
    if (whole >= step && !is_last) return false;
    if (hundredths < 1000)
        text_printf(text, "%" PRIu64 ".%02" PRIu64, hundredths / 100, hundredths % 100);
    else if (tenths < 1000)
        text_printf(text, "%" PRIu64 ".%" PRIu64, tenths / 10, tenths % 10);
    else
        text_printf(text, "%" PRIu64, whole);
    return true;
}

/* Appends a value with its unit and the prefix that fits. Only NUMBERS_DEEPSPEED may have
 * negative values, which it does not scale. */
static void append_scaled(struct text *text, enum number_style style, enum number_unit unit,
                          int64_t value) {
    const bool is_binary =
        style == NUMBERS_BINARY && (unit == NUMBER_BYTES || unit == NUMBER_TRAFFIC);
    const uint64_t step = is_binary ? 1024 : 1000;
    const char *const *prefixes = is_binary                    ? binary
                                  : style == NUMBERS_DEEPSPEED ? units[unit].deepspeed
                                  : units[unit].prefixes[0]    ? units[unit].prefixes
                                                               : decimal;
    uint64_t divisor = 1;
    size_t power = 0;
    while (value > 0 && (uint64_t)value / divisor >= step && prefixes[power + 1]) {
        divisor *= step;
        power++;
    }
    if (power == 0) {
        text_printf(text, "%" PRId64, value);
    } else if (style == NUMBERS_PLAIN || style == NUMBERS_DEEPSPEED) {
        /* Python's str(round(value / divisor, 2)) */
        const uint64_t n = binary_hundredths(binary_quotient((uint64_t)value, divisor));
        const bool is_short = n % 10 == 0;
        text_printf(text, "%" PRIu64 ".%0*" PRIu64, n / 100, is_short ? 1 : 2,
                    is_short ? n / 10 % 10 : n % 100);
    } else if (!append_three(text, (uint64_t)value, divisor, step, !prefixes[power + 1])) {
        text_append(text, "1.00");
        power++;
    }
    if (*prefixes[power] != '\0' || *units[unit].base != '\0')
        text_printf(text, " %s%s", prefixes[power], units[unit].base);
}

void number_append(struct text *text, enum number_style style, enum number_unit unit,
                   int64_t value) {
    if (!is_known(value))
        text_append(text, "?");
    else if (style == NUMBERS_EXACT || (value < 0 && style != NUMBERS_DEEPSPEED))
        text_printf(text, "%" PRId64, value);
    else
        append_scaled(text, style, unit, value);
}

#define MAX_PLACES 9

/* Appends "?" for negative values, and for values that do not fit into 63 bits when scaled. */
void number_append_real(struct text *text, double value, int places) {
    char digits[MAX_PLACES + 1];
    uint64_t scale = 1;
    for (int i = 0; i < places; i++) scale *= 10;
    if (!(value >= 0 && value < 9e18 / (double)scale)) {
        text_append(text, "?");
        return;
    }
    const uint64_t n = (uint64_t)(value * (double)scale + 0.5);
    if (n == 0 && value > 0 && places == 2) {
        text_append(text, "<0.01");
        return;
    }
    uint64_t rest = n % scale;
    for (int i = places; i-- > 0; rest /= 10) digits[i] = (char)('0' + rest % 10);
    while (places > 2 && digits[places - 1] == '0') places--;
    text_printf(text, "%" PRIu64 ".%.*s", n / scale, places, digits);
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

/* A part of at least this many times the whole prints as "?%": the two are unrelated, and
 * binary_quotient requires a small quotient. */
#define MAX_RATIO 1000000

void number_append_percent(struct text *text, int64_t part, int64_t whole) {
    if (part < 0 || whole < 0 || (whole > 0 && part / whole >= MAX_RATIO)) {
        text_append(text, "?%"); /* unknown values are negative */
        return;
    }
    uint64_t hundredths = 0;
    if (part > 0 && whole > 0) {
        const struct binary share = binary_quotient((uint64_t)part, (uint64_t)whole);
        /* Python's % format rounds 100 * share to a double */
        const uint64_t product = 100 * share.mantissa; /* < 2^60 */
        int excess = 0;
        while (product >> excess >= 2 * MANTISSA_MIN) excess++;
        hundredths = binary_hundredths(
            (struct binary){shift_rounded(product, excess), share.scale - excess});
    }
    text_printf(text, "%" PRIu64 ".%02" PRIu64 "%%", hundredths / 100, hundredths % 100);
}

const char *number_bound_prefix(enum number_bound bound, bool unicode) {
    static const char *const prefixes[][2] = {
        [NUMBER_NO_BOUND] = {"", ""},
        [NUMBER_AT_MOST] = {"<= ", "≤ "},
        [NUMBER_AT_LEAST] = {">= ", "≥ "},
        [NUMBER_MIXED] = {"~ ", "~ "},
    };
    return prefixes[bound][unicode];
}

const char *number_bound_words(enum number_bound bound) {
    static const char *const words[] = {[NUMBER_NO_BOUND] = "",
                                        [NUMBER_AT_MOST] = "at most",
                                        [NUMBER_AT_LEAST] = "at least",
                                        [NUMBER_MIXED] = "incomplete sum of upper bounds"};
    return words[bound];
}
