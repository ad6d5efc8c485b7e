/* SPDX-License-Identifier: Apache-2.0 */
/* The table of metrics: unique keys, and the values of results. */
#include "costmodel/compare.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "costmodel/llm.h"
#include "report/table/columns.h"

static void finds_every_key_at_its_index(void **state) {
    struct cm_metric metric;
    size_t n = 0;
    (void)state;
    for (; cm_metric_at(n, &metric); n++) {
        assert_true(metric.heading[0] != '\0');
        assert_int_equal(cm_metric_find(metric.key), n);
    }
    assert_true(n > n_columns);
    assert_false(cm_metric_at(CM_NO_INDEX, &metric));
    assert_true(cm_metric_find("no such metric") == CM_NO_INDEX);
}

static void returns_figures_of_language_models_apart(void **state) {
    const size_t metric = cm_metric_find("kv_bytes_per_token");
    const struct cm_llm llm = {.kv_bytes_per_token = 5};
    const struct cm_result result = {.totals = {.params = 1}};
    struct cm_figure figure = {.value = -2};
    (void)state;
    assert_false(cm_metric_of_total(metric, &result, &figure));
    assert_false(cm_metric_of_llm(cm_metric_find("macs"), &llm, &figure));
    assert_false(cm_metric_of_llm(CM_NO_INDEX, &llm, &figure));
    assert_int_equal(figure.value, -2);
    assert_true(cm_metric_of_llm(metric, &llm, &figure));
    assert_int_equal(figure.value, 5);
    assert_true(cm_metric_of_llm(metric, NULL, &figure));
    assert_int_equal(figure.value, CM_UNKNOWN);
}

static int64_t total_of(const char *key, const struct cm_result *result) {
    struct cm_figure figure = {.value = -1};
    assert_true(cm_metric_of_total(cm_metric_find(key), result, &figure));
    return figure.value;
}

static void returns_the_values_of_the_result(void **state) {
    const struct cm_module module = {.costs = {.params = 5, .macs = CM_UNKNOWN},
                                     .peak_activation_bytes = 6};
    const struct cm_operator conv = {.op = "Conv", .nodes = 7, .costs.macs = 8};
    const struct cm_result result = {
        .totals = {.params = 1, .macs = 2},
        .memory = {.peak_activation_bytes = 3, .required_bytes = 4},
        .n_modules = 1,
        .modules = &module,
        .n_operators = 1,
        .operators = &conv,
    };
    struct cm_figure figure = {.value = -1};
    (void)state;
    assert_int_equal(total_of("params", &result), 1);
    assert_int_equal(total_of("macs", &result), 2);
    assert_int_equal(total_of("peak_activation_bytes", &result), 3);
    assert_int_equal(total_of("required_bytes", &result), 4);
    assert_true(cm_metric_of_module(cm_metric_find("params"), &result, 0, &figure));
    assert_int_equal(figure.value, 5);
    assert_true(cm_metric_of_module(cm_metric_find("macs"), &result, 0, &figure));
    assert_int_equal(figure.value, CM_UNKNOWN);
    assert_true(
        cm_metric_of_module(cm_metric_find("peak_activation_bytes"), &result, 0, &figure));
    assert_int_equal(figure.value, 6);
    assert_true(cm_metric_of_operator(cm_metric_find("nodes"), &result, 0, &figure));
    assert_int_equal(figure.value, 7);
    assert_true(cm_metric_of_operator(cm_metric_find("macs"), &result, 0, &figure));
    assert_int_equal(figure.value, 8);
}

static void returns_false_for_absent_metrics(void **state) {
    const struct cm_module module = {.depth = 0};
    const struct cm_operator conv = {.op = "Conv"};
    const struct cm_result result = {
        .n_modules = 1, .modules = &module, .n_operators = 1, .operators = &conv};
    struct cm_figure figure = {.value = 42};
    const struct cm_result trained = {
        .training = {.present = true}, .n_modules = 1, .modules = &module};
    const size_t saved_bytes = cm_metric_find("training.saved_bytes");
    (void)state;
    assert_false(cm_metric_of_module(saved_bytes, &result, 0, &figure));
    assert_false(cm_metric_of_module(saved_bytes, &trained, 0, &figure));
    assert_false(cm_metric_of_total(cm_metric_find("latency_ps"), &result, &figure));
    assert_false(cm_metric_of_module(cm_metric_find("latency_ps"), &result, 0, &figure));
    assert_false(cm_metric_of_operator(cm_metric_find("latency_ps"), &result, 0, &figure));
    assert_false(cm_metric_of_total(cm_metric_find("training.peak_bytes"), &result, &figure));
    assert_false(cm_metric_of_module(cm_metric_find("arena_bytes"), &result, 0, &figure));
    assert_false(cm_metric_of_operator(cm_metric_find("params"), &result, 0, &figure));
    assert_int_equal(figure.value, 42);
}

/* The getters agree with the flags of the row. A metric is of results or of language models. */
static void agrees_with_the_flags_of_the_metric(void **state) {
    const struct cm_measure measure = {.problem = "", .modelled = true};
    const struct cm_step step = {.backward_macs = 1};
    const struct cm_module module = {.training = &step};
    const struct cm_operator conv = {.op = "Conv"};
    const struct cm_result result = {
        .training = {.present = true},
        .time_error = {.present = true},
        .measure = &measure,
        .n_modules = 1,
        .modules = &module,
        .n_operators = 1,
        .operators = &conv,
    };
    struct cm_metric metric;
    (void)state;
    for (size_t i = 0; cm_metric_at(i, &metric); i++) {
        struct cm_figure figure = {.value = 0};
        assert_int_equal(cm_metric_of_total(i, &result, &figure),
                         !cm_metric_of_llm(i, NULL, &figure));
        assert_int_equal(cm_metric_of_module(i, &result, 0, &figure), metric.of_modules);
        assert_int_equal(cm_metric_of_operator(i, &result, 0, &figure), metric.of_operators);
    }
}

static void measured_result_has_no_lower_bound(void **state) {
    const struct cm_measure measure = {.problem = ""};
    const struct cm_result result = {.measure = &measure};
    struct cm_figure figure = {.value = 0};
    (void)state;
    assert_true(cm_metric_of_total(cm_metric_find("latency_ps"), &result, &figure));
    assert_false(cm_metric_of_total(cm_metric_find("lower_bound_ps"), &result, &figure));
}

static bool total_is_at_most(const char *key, const struct cm_result *result) {
    struct cm_figure figure = {.value = 0};
    assert_true(cm_metric_of_total(cm_metric_find(key), result, &figure));
    return figure.upper_bound;
}

static bool module_is_at_most(const char *key, const struct cm_result *result) {
    struct cm_figure figure = {.value = 0};
    assert_true(cm_metric_of_module(cm_metric_find(key), result, 0, &figure));
    return figure.upper_bound;
}

static void marks_upper_bounds(void **state) {
    const struct cm_module module = {
        .costs = {.upper_bound = CM_COST_BIT(flops) | CM_COST_BIT(activation_bytes)}};
    const struct cm_operator conv = {.op = "Conv", .costs.upper_bound = CM_COST_BIT(macs)};
    struct cm_result result = {
        .totals = {.upper_bound = CM_COST_BIT(macs)},
        .memory = {.upper_bound = true},
        .n_modules = 1,
        .modules = &module,
        .n_operators = 1,
        .operators = &conv,
    };
    struct cm_figure figure = {.value = 0};
    (void)state;
    assert_true(total_is_at_most("macs", &result));
    assert_false(total_is_at_most("flops", &result));
    assert_false(total_is_at_most("peak_activation_bytes", &result));
    assert_true(total_is_at_most("arena_bytes", &result));
    assert_true(total_is_at_most("required_bytes", &result));
    assert_false(total_is_at_most("nodes", &result));
    assert_true(module_is_at_most("flops", &result));
    assert_false(module_is_at_most("macs", &result));
    assert_true(module_is_at_most("peak_activation_bytes", &result));
    assert_true(cm_metric_of_operator(cm_metric_find("macs"), &result, 0, &figure));
    assert_true(figure.upper_bound);
    assert_true(cm_metric_of_operator(cm_metric_find("flops"), &result, 0, &figure));
    assert_false(figure.upper_bound);
    result.memory.peak_upper_bound = true;
    assert_true(total_is_at_most("peak_activation_bytes", &result));
}

/* Training metrics skip bounded tensors, so they are not upper bounds. */
static void does_not_mark_training_metrics_as_upper_bounds(void **state) {
    const struct cm_result plain = {.memory = {.upper_bound = true}};
    const struct cm_result step = {.memory = {.upper_bound = true},
                                   .training = {.present = true}};
    (void)state;
    assert_false(cm_metric_is_of_step(cm_metric_find("required_bytes"), &plain));
    assert_true(cm_metric_is_of_step(cm_metric_find("required_bytes"), &step));
    assert_true(cm_metric_is_of_step(cm_metric_find("training.peak_bytes"), &step));
    assert_false(cm_metric_is_of_step(cm_metric_find("arena_bytes"), &step));
    assert_false(cm_metric_is_of_step(cm_metric_find("macs"), &step));
    assert_false(total_is_at_most("required_bytes", &step));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_every_key_at_its_index),
        cmocka_unit_test(returns_figures_of_language_models_apart),
        cmocka_unit_test(returns_the_values_of_the_result),
        cmocka_unit_test(returns_false_for_absent_metrics),
        cmocka_unit_test(agrees_with_the_flags_of_the_metric),
        cmocka_unit_test(measured_result_has_no_lower_bound),
        cmocka_unit_test(marks_upper_bounds),
        cmocka_unit_test(does_not_mark_training_metrics_as_upper_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
