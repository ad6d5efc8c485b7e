/* SPDX-License-Identifier: Apache-2.0 */
/* Baselines: values survive the round trip through the file. */
#include "costmodel/check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compare/baseline.h"
#include "costmodel/compare.h"
#include "support/arena.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

static const size_t root_children[] = {1, 3};
static const size_t a_children[] = {2};
static const struct cm_module modules[] = {
    {.path = "",
     .name = "net",
     .type = "Net",
     .arguments = "",
     .parent = CM_NO_INDEX,
     .n_children = 2,
     .children = root_children,
     .calls = 1,
     .costs = {.params = 1,
               .buffers = 2,
               .macs = 3,
               .int_macs = 30,
               .flops = 4,
               .int_ops = 41,
               .bytes_read = 5,
               .bytes_written = 6,
               .weight_bytes = 7,
               .activation_bytes = 8,
               .latency_ps = 9,
               .upper_bound = CM_COST_BIT(activation_bytes)},
     .peak_activation_bytes = 10,
     .training = &(const struct cm_step){11, 12}},
    {.path = "a",
     .name = "a",
     .type = "a",
     .arguments = "",
     .depth = 1,
     .parent = 0,
     .n_children = 1,
     .children = a_children,
     .calls = 2,
     .costs = {.params = 1,
               .buffers = 2,
               .macs = CM_UNKNOWN,
               .int_macs = CM_UNKNOWN,
               .flops = 4,
               .int_ops = 41,
               .bytes_read = 5,
               .bytes_written = 6,
               .weight_bytes = 7,
               .activation_bytes = 8,
               .latency_ps = CM_UNKNOWN},
     .peak_activation_bytes = CM_UNKNOWN,
     .training = &(const struct cm_step){CM_UNKNOWN, 1}},
    {.path = "a.b.c",
     .name = "c",
     .type = "Conv2d",
     .arguments = "3, 64",
     .type_known = true,
     .depth = 2,
     .parent = 1,
     .calls = 1,
     .costs = {.params = 1,
               .buffers = 1,
               .macs = 1,
               .int_macs = 10,
               .flops = 1,
               .int_ops = 11,
               .bytes_read = 1,
               .bytes_written = 1,
               .weight_bytes = 1,
               .activation_bytes = 1,
               .latency_ps = 1},
     .training = &(const struct cm_step){1, 1}},
    {.path = "a-b",
     .name = "a-b",
     .type = "x",
     .arguments = "",
     .depth = 1,
     .parent = 0,
     .calls = 1,
     .costs = {.params = INT64_MAX,
               .buffers = 0,
               .macs = 0,
               .int_macs = 0,
               .flops = 0,
               .int_ops = 1,
               .bytes_read = 0,
               .bytes_written = 0,
               .weight_bytes = 0,
               .activation_bytes = 0,
               .latency_ps = 0},
     .training = &(const struct cm_step){0, 0}},
};

static const struct cm_named_size dims[] = {{"N", 4}, {"seq", 128}};
static const struct cm_name_count unknown[] = {{"a::Foo", 3}};
static const char *const freeze[] = {"layer1.*"};

static const struct cm_measure measure = {.backend = "",
                                          .problem = "",
                                          .modelled = true,
                                          .layout = "auto",
                                          .device = "a board",
                                          .version = "",
                                          .warning = "",
                                          .architecture = "",
                                          .address = "",
                                          .cached_since = ""};

static const struct cm_result full = {
    .model = {.path = "models/net.onnx", .producer = "x"},
    .options = {.batch = 4,
                .n_dims = N(dims),
                .dims = dims,
                .precision = "amp",
                .file_precision = "fp32",
                .convention = "exact",
                .mode = "training",
                .module_source = "scopes",
                .group = "g",
                .schedule = "min-memory"},
    .totals = {.params = 21,
               .buffers = 22,
               .macs = 23,
               .int_macs = 230,
               .flops = 24,
               .int_ops = 241,
               .bytes_read = 25,
               .bytes_written = 26,
               .weight_bytes = 27,
               .activation_bytes = 28,
               .latency_ps = 29,
               .upper_bound = CM_COST_BIT(macs)},
    .memory = {.peak_activation_bytes = 31,
               .peak_in_place_bytes = 32,
               .arena_bytes = 33,
               .arena_in_place_bytes = CM_UNKNOWN,
               .upper_bound = true,
               .peak_upper_bound = true,
               .alignment = 256,
               .required_bytes = 35},
    .time_error = {.present = true,
                   .latency_low_ps = 101,
                   .latency_high_ps = 102,
                   .mostly = "product",
                   .calibration = "none"},
    .training = {.present = true,
                 .optimizer = "adam",
                 .n_freeze = 1,
                 .freeze = freeze,
                 .learned = 40,
                 .frozen = 41,
                 .backward_macs = 42,
                 .backward_flops = 43,
                 .iteration_flops = 44,
                 .iteration_ps = 49,
                 .iteration_lower_bound_ps = 50,
                 .gradient_bytes = 45,
                 .optimizer_bytes = 46,
                 .saved_bytes = 47,
                 .peak_bytes = 48,
                 .peak_phase = "step",
                 .peak_node = CM_NO_INDEX},
    .n_modules = N(modules),
    .modules = modules,
    .coverage = {.nodes = 7,
                 .n_unknown_ops = N(unknown),
                 .unknown_ops = unknown,
                 .unknown_shapes = 2},
    .measure = &measure,
};

/* Writes and reads the baseline. */
static struct cm_baseline *reread(const struct cm_result *result, struct cm_diagnostics *diag) {
    const struct cm_result *const results[] = {result};
    struct cm_baseline *made = NULL;
    struct cm_baseline *read = NULL;
    char *text = NULL;
    char *again = NULL;
    size_t size = 0;
    assert_int_equal(cm_baseline_make(results, 1, NULL, "why", diag, &made), CM_OK);
    FILE *stream = open_memstream(&text, &size);
    assert_int_equal(cm_baseline_write_json(made, stream), CM_OK);
    fclose(stream);
    assert_int_equal(cm_baseline_read_json(text, size, "text", diag, &read), CM_OK);
    stream = open_memstream(&again, &size);
    assert_int_equal(cm_baseline_write_json(read, stream), CM_OK);
    fclose(stream);
    assert_string_equal(again, text);
    cm_baseline_free(made);
    free(text);
    free(again);
    return read;
}

/* All metrics: a missing one would be compared with 0. */
static void restores_every_metric_from_the_file(void **state) {
    struct cm_diagnostics *diag = cm_diagnostics_new();
    struct cm_baseline *baseline = reread(&full, diag);
    struct arena *arena = arena_new("test", 0);
    struct cm_result result;
    struct cm_metric metric;
    (void)state;
    assert_int_equal(baseline_result(baseline, &baseline->profiles[0], arena, diag, &result),
                     CM_OK);
    for (size_t i = 0; cm_metric_at(i, &metric); i++) {
        struct cm_figure want = {.value = 0};
        struct cm_figure have = {.value = 0};
        if (cm_metric_of_llm(i, NULL, &want)) continue; /* not of a result */
        assert_true(cm_metric_of_total(i, &full, &want));
        assert_true(cm_metric_of_total(i, &result, &have));
        assert_int_equal(have.value, want.value);
        assert_int_equal(have.upper_bound, want.upper_bound);
        for (size_t k = 0; k < full.n_modules; k++) {
            if (!cm_metric_of_module(i, &full, k, &want)) continue;
            assert_true(cm_metric_of_module(i, &result, k, &have));
            assert_int_equal(have.value, want.value);
            assert_int_equal(have.upper_bound, want.upper_bound);
        }
    }
    arena_free(arena);
    cm_baseline_free(baseline);
    cm_diagnostics_free(diag);
}

/* The diff has no change and no condition, although a baseline omits nodes. */
static void has_no_difference_to_its_profile(void **state) {
    struct cm_diagnostics *diag = cm_diagnostics_new();
    struct cm_baseline *baseline = reread(&full, diag);
    struct arena *arena = arena_new("test", 0);
    struct cm_diff *diff = NULL;
    struct cm_result result;
    (void)state;
    assert_int_equal(baseline_result(baseline, &baseline->profiles[0], arena, diag, &result),
                     CM_OK);
    assert_int_equal(cm_diff_make(&result, &full, diag, &diff), CM_OK);
    assert_false(cm_diff_differs(diff));
    assert_true(cm_diff_comparable(diff));
    for (size_t i = 0; i < diff->n_conditions; i++)
        assert_true(diff->conditions[i].weight != CM_CONDITION_TIMES);
    cm_diff_free(diff);
    arena_free(arena);
    cm_baseline_free(baseline);
    cm_diagnostics_free(diag);
}

/* "a.b" is not a module, so "a.b.c" is a child of "a"; "a-b" is not. */
static void rebuilds_the_module_tree_from_paths(void **state) {
    struct cm_diagnostics *diag = cm_diagnostics_new();
    struct cm_baseline *baseline = reread(&full, diag);
    struct arena *arena = arena_new("test", 0);
    struct cm_result result;
    (void)state;
    assert_int_equal(baseline_result(baseline, &baseline->profiles[0], arena, diag, &result),
                     CM_OK);
    for (size_t i = 0; i < full.n_modules; i++) {
        assert_int_equal(result.modules[i].parent, full.modules[i].parent);
        assert_int_equal(result.modules[i].depth, full.modules[i].depth);
        assert_int_equal(result.modules[i].n_children, full.modules[i].n_children);
    }
    arena_free(arena);
    cm_baseline_free(baseline);
    cm_diagnostics_free(diag);
}

static void ignores_unknown_values_in_a_trend(void **state) {
    struct cm_result less = full;
    struct cm_baseline_trend trend;
    struct cm_diagnostics *diag = cm_diagnostics_new();
    struct cm_baseline *old = reread(&full, diag);
    (void)state;
    less.totals.macs = CM_UNKNOWN;
    struct cm_baseline *now = reread(&less, diag);
    assert_int_equal(cm_baseline_compare(old, now, 0, NULL, diag, &trend), CM_OK);
    assert_true(trend.comparable && !trend.decreased && !trend.increased);
    cm_baseline_free(now);
    less.totals.macs = full.totals.macs - 1;
    less.totals.flops = full.totals.flops + 1;
    less.totals.latency_ps = 1;
    now = reread(&less, diag);
    assert_int_equal(cm_baseline_compare(old, now, 0, NULL, diag, &trend), CM_OK);
    assert_true(trend.comparable && trend.decreased && trend.increased);
    assert_string_equal(trend.increased_metric, "flops");
    cm_baseline_free(now);
    cm_baseline_free(old);
    cm_diagnostics_free(diag);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(restores_every_metric_from_the_file),
        cmocka_unit_test(has_no_difference_to_its_profile),
        cmocka_unit_test(rebuilds_the_module_tree_from_paths),
        cmocka_unit_test(ignores_unknown_values_in_a_trend),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
