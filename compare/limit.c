/* SPDX-License-Identifier: Apache-2.0 */
/* Parses limits. Numbers are parsed as integers, so "4.1G" is exactly 4,100,000,000. Fractions
 * of a unit are dropped; this changes no verdict, because values are integers. */
#include "compare/limit.h"

#include <string.h>

#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/text.h"

#define MAX_DECIMALS  6
#define PERCENT_ONE   1000000                          /* 1 % */
#define MAX_PERCENT   (INT64_C(1000000) * PERCENT_ONE) /* a factor of 10^4 */
#define PERCENT_WHOLE (INT64_C(100) * PERCENT_ONE)

/* Quantity of a suffix; decides which metrics accept it. */
enum measure { MEASURE_ANY, MEASURE_BYTES, MEASURE_TIME, MEASURE_SHARE };

struct suffix {
    const char *name;
    enum measure measure;
    int64_t factor; /* in bytes, picoseconds or counts */
};

static const struct suffix suffixes[] = {
    /* clang-format off */
    {"",    MEASURE_ANY,   1},
    {"k",   MEASURE_ANY,   INT64_C(1000)},
    {"M",   MEASURE_ANY,   INT64_C(1000000)},
    {"G",   MEASURE_ANY,   INT64_C(1000000000)},
    {"T",   MEASURE_ANY,   INT64_C(1000000000000)},
    {"B",   MEASURE_BYTES, 1},
    {"kB",  MEASURE_BYTES, INT64_C(1000)},
    {"MB",  MEASURE_BYTES, INT64_C(1000000)},
    {"GB",  MEASURE_BYTES, INT64_C(1000000000)},
    {"TB",  MEASURE_BYTES, INT64_C(1000000000000)},
    {"KiB", MEASURE_BYTES, INT64_C(1) << 10},
    {"MiB", MEASURE_BYTES, INT64_C(1) << 20},
    {"GiB", MEASURE_BYTES, INT64_C(1) << 30},
    {"TiB", MEASURE_BYTES, INT64_C(1) << 40},
    {"ps",  MEASURE_TIME,  1},
    {"ns",  MEASURE_TIME,  INT64_C(1000)},
    {"us",  MEASURE_TIME,  INT64_C(1000000)},
    {"ms",  MEASURE_TIME,  INT64_C(1000000000)},
    {"s",   MEASURE_TIME,  INT64_C(1000000000000)},
    {"%",   MEASURE_SHARE, PERCENT_ONE},
    /* clang-format on */
};

struct parse {
    struct arena *arena;
    struct cm_diagnostics *diag;
    struct limit *limit;
};

static int limit_fault(const struct parse *parse, const char *format, ...)
    __attribute__((format(printf, 2, 3), warn_unused_result));

static int limit_fault(const struct parse *parse, const char *format, ...) {
    va_list args;
    struct text text = {.arena = parse->arena};
    va_start(args, format);
    text_vprintf(&text, format, args);
    va_end(args);
    return diag_error(parse->diag, DIAG_USAGE, "%s: limit '%s': %s",
                      text_label(parse->arena, parse->limit->source),
                      text_label(parse->arena, parse->limit->text), text_string(&text));
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

/* Returns a copy of [from, to) without surrounding blanks; NULL if out of memory. */
static char *copy_trimmed(const struct parse *parse, const char *from, const char *to) {
    while (from < to && is_blank(*from)) from++;
    while (to > from && is_blank(to[-1])) to--;
    return arena_strndup(parse->arena, from, (size_t)(to - from));
}

/* A decimal number as integers: whole + millionths / 10^6. */
struct decimal {
    int64_t whole; /* DIM_OVERFLOW past 2^63 */
    int64_t millionths;
    int n_digits;
    int n_decimals;
};

/* Returns the end of the number. */
static const char *read_decimal(const char *at, struct decimal *ret) {
    *ret = (struct decimal){0, 0, 0, 0};
    for (; text_is_digit(*at); at++, ret->n_digits++)
        ret->whole = checked_add(checked_mul(ret->whole, 10), *at - '0');
    if (*at != '.') return at;
    for (at++; text_is_digit(*at); at++, ret->n_digits++)
        if (ret->n_decimals++ < MAX_DECIMALS)
            ret->millionths = ret->millionths * 10 + (*at - '0');
    for (int n = ret->n_decimals; n < MAX_DECIMALS; n++) ret->millionths *= 10;
    return at;
}

/* Checks that the unit of a bound fits the metric. */
static int check_unit(const struct parse *parse, enum measure measure, const char *word) {
    const struct cm_metric *metric = &parse->limit->of;
    const bool is_time = metric->unit == CM_UNIT_PS;
    if (measure == MEASURE_BYTES && metric->unit != CM_UNIT_BYTES)
        return limit_fault(parse, "'%s' is a size in bytes, but %s is not", word, metric->key);
    if (measure == MEASURE_TIME && !is_time)
        return limit_fault(parse, "'%s' is a time, but %s is not", word, metric->key);
    if (measure == MEASURE_ANY && is_time)
        return limit_fault(parse, "'%s' requires a time unit: ps, ns, us, ms or s", word);
    return CM_OK;
}

static int read_bound(const struct parse *parse, const char *text, struct bound *ret) {
    const char *word = text_label(parse->arena, text);
    const bool more = text[0] == '+';
    const struct suffix *suffix = NULL;
    struct decimal decimal;
    if (text[0] == '-') return limit_fault(parse, "bound must be >= 0, got '%s'", word);
    const char *end = read_decimal(text + more, &decimal);
    while (is_blank(*end)) end++;
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
        if (text_equal(suffixes[i].name, end)) suffix = &suffixes[i];
    if (decimal.n_digits == 0 || suffix == NULL)
        return limit_fault(
            parse, "bound must be a number such as 4.1G, 16MiB, +2%% or +1MiB, got '%s'", word);
    if (suffix->measure == MEASURE_SHARE && !more)
        return limit_fault(parse, "percentages are relative to the baseline, use +%s", word);
    ret->kind = !more                              ? BOUND_ABSOLUTE
                : suffix->measure == MEASURE_SHARE ? BOUND_PERCENT
                                                   : BOUND_MORE;
    /* Factors are at most 2^40, so the second product does not overflow. */
    ret->value = checked_add(checked_mul(decimal.whole, suffix->factor),
                             decimal.millionths * suffix->factor / PERCENT_ONE);
    const int status = check_unit(parse, suffix->measure, word);
    if (status != CM_OK) return status;
    if (decimal.n_decimals > MAX_DECIMALS)
        return limit_fault(parse, "at most %d decimals are supported, got '%s'", MAX_DECIMALS,
                           word);
    if (is_overflow(ret->value))
        return limit_fault(parse, "bound must be below 2^63, got '%s'", word);
    if (ret->kind == BOUND_PERCENT && ret->value > MAX_PERCENT)
        return limit_fault(parse, "percentage must be at most 1000000, got '%s'", word);
    return CM_OK;
}

/* Parses [MODULES:] METRIC [@ BATCH]. MODULES may contain a colon, METRIC cannot; "latency" is
 * an alias of latency_ps. */
static int read_subject(const struct parse *parse, const char *from, const char *to) {
    struct limit *limit = parse->limit;
    const char *colon = to;
    while (colon > from && colon[-1] != ':') colon--;
    if (colon > from) {
        limit->modules = copy_trimmed(parse, from, colon - 1);
        if (limit->modules == NULL) return diag_no_memory(parse->diag);
        if (limit->modules[0] == '\0')
            return limit_fault(parse, "the module pattern before ':' is empty");
    }
    const char *at = memchr(colon, '@', (size_t)(to - colon));
    const char *name = copy_trimmed(parse, colon, at == NULL ? to : at);
    const char *batch = at == NULL ? "" : copy_trimmed(parse, at + 1, to);
    if (name == NULL || batch == NULL) return diag_no_memory(parse->diag);
    limit->metric = cm_metric_find(text_equal(name, "latency") ? "latency_ps" : name);
    if (!cm_metric_at(limit->metric, &limit->of)) {
        struct text known = {.arena = parse->arena};
        for (size_t i = 0; cm_metric_at(i, &limit->of); i++)
            text_printf(&known, "%s%s", i > 0 ? ", " : "", limit->of.key);
        const int status =
            limit_fault(parse, "unknown metric '%s'", text_label(parse->arena, name));
        diag_hint(parse->diag, "metrics are %s", text_string(&known));
        return status;
    }
    if (at != NULL && (!text_to_int64(batch, strlen(batch), &limit->batch) || limit->batch < 1))
        return limit_fault(parse, "batch must be >= 1, got '%s'",
                           text_label(parse->arena, batch));
    if (limit->modules[0] != '\0' && !limit->of.of_modules)
        return limit_fault(parse, "metric %s is not defined for modules", limit->of.key);
    return CM_OK;
}

int limit_parse(const char *text, const char *source, struct arena *arena,
                struct cm_diagnostics *diag, struct limit *ret) {
    *ret = (struct limit){.text = text, .source = source, .modules = "", .batch = CM_UNKNOWN};
    const struct parse parse = {arena, diag, ret};
    const char *sign = NULL;
    for (const char *at = strstr(text, "<="); at != NULL; at = strstr(at + 2, "<=")) sign = at;
    if (sign == NULL)
        return limit_fault(&parse, "METRIC <= BOUND is required, '<=' is missing");
    int status = read_subject(&parse, text, sign);
    for (const char *at = sign + 2; status == CM_OK && at != NULL;) {
        const char *end = at + strcspn(at, "|");
        const char *word = copy_trimmed(&parse, at, end);
        if (word == NULL) return diag_no_memory(diag);
        if (ret->n_bounds == LIMIT_MAX_BOUNDS)
            return limit_fault(&parse, "at most %d bounds are supported", LIMIT_MAX_BOUNDS);
        status = read_bound(&parse, word, &ret->bounds[ret->n_bounds++]);
        at = *end == '|' ? end + 1 : NULL;
    }
    struct cm_figure figure;
    if (status == CM_OK && limit_is_relative(ret) &&
        cm_metric_of_llm(ret->metric, NULL, &figure))
        return limit_fault(&parse, "%s requires absolute bounds: baselines do not have it",
                           ret->of.key);
    return status;
}

bool limit_is_relative(const struct limit *limit) {
    for (size_t i = 0; i < limit->n_bounds; i++)
        if (limit->bounds[i].kind != BOUND_ABSOLUTE) return true;
    return false;
}

/* Returns `old` increased by `percent` millionths of a percent, rounded down. The product is
 * split so that no part overflows unless the result does. */
static int64_t add_percent(int64_t old, int64_t percent) {
    const int64_t wholes = checked_mul(old / PERCENT_WHOLE, percent);
    int64_t rest = old % PERCENT_WHOLE;
    /* rest < 10^8 and percent <= 10^12: their product can exceed 2^63, so split again */
    const int64_t high = checked_mul(rest, percent / PERCENT_ONE) / 100;
    const int64_t low =
        (rest * (percent / PERCENT_ONE) % 100) * PERCENT_ONE + rest * (percent % PERCENT_ONE);
    return checked_add(checked_add(old, wholes), checked_add(high, low / PERCENT_WHOLE));
}

int64_t bound_most(const struct bound *bound, int64_t old) {
    if (bound->kind == BOUND_ABSOLUTE) return bound->value;
    if (!is_known(old)) return CM_UNKNOWN;
    const int64_t limit = bound->kind == BOUND_MORE ? checked_add(old, bound->value)
                                                    : add_percent(old, bound->value);
    return is_overflow(limit) ? INT64_MAX : limit;
}
