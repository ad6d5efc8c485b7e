/* SPDX-License-Identifier: Apache-2.0 */
/* Syntax of limits, and the largest value that a bound allows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compare/limit.h"
#include "costmodel/costmodel.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

struct sink {
    struct arena *arena;
    struct cm_diagnostics *diag;
};

static struct sink sink_new(void) {
    struct sink sink = {arena_new("test", 0), cm_diagnostics_new()};
    assert_non_null(sink.arena);
    assert_non_null(sink.diag);
    return sink;
}

static void sink_free(struct sink *sink) {
    cm_diagnostics_free(sink->diag);
    arena_free(sink->arena);
}

static const struct {
    const char *text;
    enum bound_kind kind;
    int64_t value;
} bounds[] = {
    {"macs <= 4100000000", BOUND_ABSOLUTE, 4100000000},
    {"macs<=4.1G", BOUND_ABSOLUTE, 4100000000},
    {"macs <= 4.089184 G", BOUND_ABSOLUTE, 4089184000},
    {"params <= 25.5M", BOUND_ABSOLUTE, 25500000},
    {"params <= .5k", BOUND_ABSOLUTE, 500},
    {"params <= 0", BOUND_ABSOLUTE, 0},
    {"arena_bytes <= 1.5GiB", BOUND_ABSOLUTE, 1610612736},
    {"arena_bytes <= 1.5GB", BOUND_ABSOLUTE, 1500000000},
    {"arena_bytes <= 300M", BOUND_ABSOLUTE, 300000000},
    {"arena_bytes <= 0.9999B", BOUND_ABSOLUTE, 0},
    {"arena_bytes <= 8388607TiB", BOUND_ABSOLUTE, 8388607 * (INT64_C(1) << 40)},
    {"arena_bytes <= +1MiB", BOUND_MORE, 1048576},
    {"latency <= 2.5ms", BOUND_ABSOLUTE, 2500000000},
    {"latency_ps <= +3us", BOUND_MORE, 3000000},
    {"macs <= +2%", BOUND_PERCENT, 2000000},
    {"macs <= +0%", BOUND_PERCENT, 0},
    {"macs <= +0.000001%", BOUND_PERCENT, 1},
    {"macs <= +1000000%", BOUND_PERCENT, 1000000000000},
};

static void parses_bounds_as_exact_integers(void **state) {
    (void)state;
    for (size_t i = 0; i < N(bounds); i++) {
        struct sink sink = sink_new();
        struct limit limit;
        assert_int_equal(limit_parse(bounds[i].text, "--limit", sink.arena, sink.diag, &limit),
                         CM_OK);
        assert_int_equal(limit.n_bounds, 1);
        assert_int_equal(limit.bounds[0].kind, bounds[i].kind);
        assert_int_equal(limit.bounds[0].value, bounds[i].value);
        assert_int_equal(limit.batch, CM_UNKNOWN);
        assert_string_equal(limit.modules, "");
        sink_free(&sink);
    }
}

static void parses_modules_and_batch(void **state) {
    (void)state;
    struct sink sink = sink_new();
    struct limit limit;
    assert_int_equal(limit_parse("a:b.*: flops @ 32 <= 1G | +2% | +1k", "b.json", sink.arena,
                                 sink.diag, &limit),
                     CM_OK);
    assert_string_equal(limit.modules, "a:b.*");
    assert_string_equal(limit.of.key, "flops");
    assert_int_equal(limit.batch, 32);
    assert_int_equal(limit.n_bounds, 3);
    assert_int_equal(limit.bounds[2].kind, BOUND_MORE);
    sink_free(&sink);
}

/* The last `<=` separates: a path may contain one. */
static void accepts_a_path_with_a_comparison_sign(void **state) {
    (void)state;
    struct sink sink = sink_new();
    struct limit limit;
    assert_int_equal(limit_parse("a<=b: macs <= 1", "--limit", sink.arena, sink.diag, &limit),
                     CM_OK);
    assert_string_equal(limit.modules, "a<=b");
    sink_free(&sink);
}

static const struct {
    const char *text;
    const char *message;
} faults[] = {
    {"macs < 3", "--limit: limit 'macs < 3': METRIC <= BOUND is required, '<=' is missing"},
    {"", "--limit: limit '': METRIC <= BOUND is required, '<=' is missing"},
    {"mac <= 3", "--limit: limit 'mac <= 3': unknown metric 'mac'"},
    {"<= 3", "--limit: limit '<= 3': unknown metric ''"},
    {": macs <= 3", "--limit: limit ': macs <= 3': the module pattern before ':' is empty"},
    {"macs @ 0 <= 3", "--limit: limit 'macs @ 0 <= 3': batch must be >= 1, got '0'"},
    {"macs @ x <= 3", "--limit: limit 'macs @ x <= 3': batch must be >= 1, got 'x'"},
    {"macs <= -3", "--limit: limit 'macs <= -3': bound must be >= 0, got '-3'"},
    {"macs <= nan", "--limit: limit 'macs <= nan': bound must be a number such as 4.1G, 16MiB, "
                    "+2% or +1MiB, got 'nan'"},
    {"macs <= +inf", "--limit: limit 'macs <= +inf': bound must be a number such as 4.1G, "
                     "16MiB, +2% or +1MiB, got '+inf'"},
    {"macs <= 1e9", "--limit: limit 'macs <= 1e9': bound must be a number such as 4.1G, 16MiB, "
                    "+2% or +1MiB, got '1e9'"},
    {"macs <= 1 |", "--limit: limit 'macs <= 1 |': bound must be a number such as 4.1G, 16MiB, "
                    "+2% or +1MiB, got ''"},
    {"macs <= +-1", "--limit: limit 'macs <= +-1': bound must be a number such as 4.1G, 16MiB, "
                    "+2% or +1MiB, got '+-1'"},
    {"macs <= 2%",
     "--limit: limit 'macs <= 2%': percentages are relative to the baseline, use +2%"},
    {"macs <= 5MiB",
     "--limit: limit 'macs <= 5MiB': '5MiB' is a size in bytes, but macs is not"},
    {"macs <= 5ms", "--limit: limit 'macs <= 5ms': '5ms' is a time, but macs is not"},
    {"latency <= 5",
     "--limit: limit 'latency <= 5': '5' requires a time unit: ps, ns, us, ms or s"},
    {"macs <= 4.0891842",
     "--limit: limit 'macs <= 4.0891842': at most 6 decimals are supported, got '4.0891842'"},
    {"macs <= 9223372036854775808", "--limit: limit 'macs <= 9223372036854775808': bound must "
                                    "be below 2^63, got '9223372036854775808'"},
    {"arena_bytes <= 8388608TiB",
     "--limit: limit 'arena_bytes <= 8388608TiB': bound must be below 2^63, got '8388608TiB'"},
    {"macs <= +1000001%",
     "--limit: limit 'macs <= +1000001%': percentage must be at most 1000000, got '+1000001%'"},
    {"macs <= 1|2|3|4|5", "--limit: limit 'macs <= 1|2|3|4|5': at most 4 bounds are supported"},
    {"layer1.*: arena_bytes <= 1", "--limit: limit 'layer1.*: arena_bytes <= 1': metric "
                                   "arena_bytes is not defined for modules"},
    {"active_params <= 1 | +2%", "--limit: limit 'active_params <= 1 | +2%': active_params "
                                 "requires absolute bounds: baselines do not have it"},
    {"macs <= \x1b[31m",
     "--limit: limit 'macs <= \\x1b[31m': bound must be a number such as 4.1G, 16MiB, +2% or "
     "+1MiB, got '\\x1b[31m'"},
};

static void reports_the_limit_and_the_invalid_word(void **state) {
    (void)state;
    for (size_t i = 0; i < N(faults); i++) {
        struct sink sink = sink_new();
        struct limit limit;
        assert_int_equal(limit_parse(faults[i].text, "--limit", sink.arena, sink.diag, &limit),
                         CM_USAGE);
        assert_string_equal(cm_diagnostics_get(sink.diag, 0)->message, faults[i].message);
        sink_free(&sink);
    }
}

static void lists_the_metrics_for_an_unknown_name(void **state) {
    (void)state;
    struct sink sink = sink_new();
    struct limit limit;
    assert_int_equal(limit_parse("x <= 1", "--limit", sink.arena, sink.diag, &limit), CM_USAGE);
    assert_true(text_starts_with(cm_diagnostics_get(sink.diag, 0)->hint,
                                 "metrics are params, buffers, macs, "));
    sink_free(&sink);
}

#define MOST INT64_MAX

static const struct {
    struct bound bound;
    int64_t old;
    int64_t most;
} allowed[] = {
    {{BOUND_ABSOLUTE, 7}, CM_UNKNOWN, 7},
    {{BOUND_MORE, 7}, CM_UNKNOWN, CM_UNKNOWN},
    {{BOUND_PERCENT, 7}, CM_UNKNOWN, CM_UNKNOWN},
    {{BOUND_MORE, 7}, 5, 12},
    {{BOUND_MORE, 7}, MOST - 3, MOST},
    {{BOUND_PERCENT, 2000000}, 100, 102},
    {{BOUND_PERCENT, 2000000}, 49, 49}, /* 49.98 */
    {{BOUND_PERCENT, 2000000}, 50, 51},
    {{BOUND_PERCENT, 0}, 4089184256, 4089184256},
    {{BOUND_PERCENT, 1}, 100000000, 100000001}, /* a millionth of a percent is 10^-8 */
    {{BOUND_PERCENT, 1}, 99999999, 99999999},
    {{BOUND_PERCENT, 12345678}, 987654321987654321, 1109586944333333323},
    {{BOUND_PERCENT, 1000000000000}, 3, 30003},
    {{BOUND_PERCENT, 1000000000000}, MOST / 2, MOST},
    {{BOUND_PERCENT, 100000000}, MOST / 2, MOST - 1},
};

static void rounds_the_allowed_value_down_and_saturates(void **state) {
    (void)state;
    for (size_t i = 0; i < N(allowed); i++)
        assert_int_equal(bound_most(&allowed[i].bound, allowed[i].old), allowed[i].most);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parses_bounds_as_exact_integers),
        cmocka_unit_test(parses_modules_and_batch),
        cmocka_unit_test(accepts_a_path_with_a_comparison_sign),
        cmocka_unit_test(reports_the_limit_and_the_invalid_word),
        cmocka_unit_test(lists_the_metrics_for_an_unknown_name),
        cmocka_unit_test(rounds_the_allowed_value_down_and_saturates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
