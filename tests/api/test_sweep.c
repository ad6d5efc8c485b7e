/* SPDX-License-Identifier: Apache-2.0 */
/* Several batches of a model: each row equals a profile of that batch alone. */
#include "costmodel/costmodel.h"
#include "tests/temporary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define N(array) (sizeof(array) / sizeof((array)[0]))

struct fixture {
    struct cm_diagnostics *diag;
    struct cm_model *model;
    struct cm_options options;
};

static void set_up(struct fixture *f) {
    f->diag = cm_diagnostics_new();
    assert_non_null(f->diag);
    cm_options_init(&f->options);
    assert_int_equal(cm_model_load_file(TEST_MODELS_DIR "/resnet50.onnx", f->diag, &f->model),
                     CM_OK);
}

static void tear_down(struct fixture *f) {
    cm_model_free(f->model);
    cm_diagnostics_free(f->diag);
}

static void each_row_equals_the_profile_of_its_batch(void **state) {
    static const int64_t batches[] = {8, 1};
    struct fixture f;
    struct cm_sweep *sweep = NULL;
    (void)state;
    set_up(&f);
    f.options.backend = "roofline:device=h200";
    assert_int_equal(cm_model_sweep(f.model, &f.options, batches, 2, f.diag, &sweep), CM_OK);
    assert_int_equal(sweep->n_rows, 2);
    assert_string_equal(sweep->times, "modelled");
    for (size_t i = 0; i < N(batches); i++) {
        const struct cm_sweep_row *row = &sweep->rows[i];
        struct cm_result *result = NULL;
        f.options.batch = batches[i];
        assert_int_equal(cm_model_profile(f.model, &f.options, f.diag, &result), CM_OK);
        assert_int_equal(row->batch, batches[i]);
        assert_string_equal(row->state, "done");
        assert_int_equal(row->costs.macs, result->totals.macs);
        assert_int_equal(row->costs.flops, result->totals.flops);
        assert_int_equal(row->costs.params, result->totals.params);
        assert_int_equal(row->required_bytes, result->memory.required_bytes);
        assert_int_equal(row->arena_bytes, result->memory.arena_bytes);
        assert_int_equal(row->costs.latency_ps, result->totals.latency_ps);
        assert_int_equal(row->timed_macs, result->totals.macs);
        cm_result_free(result);
    }
    cm_sweep_free(sweep);
    tear_down(&f);
}

/* The first layer is a proxy; the other times are not affected. */
static void counts_proxies_separately_from_times(void **state) {
    static const char table[] = "conv: proxy 0.001\neltwise: 0.001\n";
    static const int64_t batches[] = {1};
    char path[TEMPORARY_PATH];
    temporary_path(path);
    char backend[TEMPORARY_PATH + 32];
    struct fixture f;
    struct cm_sweep *sweep = NULL;
    const int file = mkstemp(path);
    (void)state;
    assert_true(file >= 0);
    assert_int_equal(write(file, table, strlen(table)), (ssize_t)strlen(table));
    close(file);
    snprintf(backend, sizeof(backend), "fake:table=%s", path);
    set_up(&f);
    f.options.backend = backend;
    assert_int_equal(cm_model_sweep(f.model, &f.options, batches, 1, f.diag, &sweep), CM_OK);
    unlink(path);
    assert_string_equal(sweep->times, "invented");
    cm_sweep_free(sweep);
    tear_down(&f);
}

static void continues_after_a_batch_that_fails(void **state) {
    static const int64_t batches[] = {1, INT64_MAX / 2, 2};
    struct fixture f;
    struct cm_sweep *sweep = NULL;
    (void)state;
    set_up(&f);
    f.options.memory_limit = 115000000; /* batch 1 takes 112 MB, batch 2 more */
    assert_int_equal(cm_model_sweep(f.model, &f.options, batches, 3, f.diag, &sweep), CM_OK);
    assert_string_equal(sweep->rows[0].state, "done");
    assert_string_equal(sweep->rows[1].state, "refused");
    assert_true(sweep->rows[1].problem[0] != '\0');
    assert_int_equal(sweep->rows[1].costs.macs, CM_UNKNOWN);
    assert_string_equal(sweep->rows[2].state, "misfit");
    assert_int_equal(sweep->rows[2].costs.latency_ps, CM_UNKNOWN);
    assert_string_equal(sweep->times, "");
    cm_sweep_free(sweep);
    tear_down(&f);
}

/* The failing batch is skipped; the device's memory is the limit of the first profile only. */
static void keeps_the_profile_of_the_first_batch_that_succeeds(void **state) {
    static const int64_t batches[] = {INT64_MAX / 2, 2, 3};
    struct fixture f;
    struct cm_sweep *sweep = NULL;
    (void)state;
    set_up(&f);
    f.options.backend = "roofline:device=h200";
    f.options.sweep_results = 1;
    f.options.fit_device = true;
    f.options.memory_curve = true;
    assert_int_equal(cm_model_sweep(f.model, &f.options, batches, 3, f.diag, &sweep), CM_OK);
    const struct cm_result *first = sweep->results[1];
    assert_int_equal(first->options.batch, 2);
    assert_int_equal(first->totals.latency_ps, sweep->rows[1].costs.latency_ps);
    assert_int_equal(first->memory.n_curve, first->n_nodes);
    assert_int_equal(first->memory.fit->limit_bytes, 141000000000);
    assert_int_equal(first->memory.fit->largest_batch, 14625);
    assert_string_equal(sweep->rows[2].state, "done");
    assert_int_equal(sweep->memory_limit, CM_UNKNOWN);
    cm_sweep_free(sweep);
    tear_down(&f);
}

static void keeps_the_results_of_the_first_rows_with_figures(void **state) {
    static const struct cm_sweep_point points[] = {
        {.batch = INT64_MAX / 2, .backend = "roofline:device=t4"},
        {.batch = 2, .backend = "roofline:device=h200"},
        {.batch = 2, .backend = "roofline:device=t4"},
        {.batch = 3, .backend = "roofline:device=t4"},
    };
    static const char *const devices[] = {"t4", "h200", "t4", "t4"};
    struct fixture f;
    struct cm_sweep *sweep = NULL;
    (void)state;
    set_up(&f);
    f.options.sweep_results = 2;
    f.options.memory_curve = true;
    assert_int_equal(cm_model_sweep_points(f.model, &f.options, points, 4, f.diag, &sweep),
                     CM_OK);
    for (size_t i = 0; i < 4; i++) {
        const struct cm_result *result = sweep->results[i];
        assert_string_equal(sweep->rows[i].device, devices[i]);
        assert_true((result != NULL) == (i == 1 || i == 2));
        if (result == NULL) continue;
        assert_int_equal(result->totals.latency_ps, sweep->rows[i].costs.latency_ps);
        assert_int_equal(result->memory.n_curve, result->n_nodes);
    }
    cm_sweep_free(sweep);
    tear_down(&f);
}

static void reports_each_assumption_once(void **state) {
    static const int64_t batches[] = {1, 2, 3};
    struct fixture f = {.diag = cm_diagnostics_new()};
    struct cm_sweep *sweep = NULL;
    (void)state;
    cm_options_init(&f.options);
    assert_int_equal(cm_model_load_file(TEST_MODELS_DIR "/loop_if.onnx", f.diag, &f.model),
                     CM_OK);
    const size_t loading = cm_diagnostics_count(f.diag);
    assert_int_equal(cm_model_sweep(f.model, &f.options, batches, 3, f.diag, &sweep), CM_OK);
    assert_int_equal(sweep->n_diagnostics, 2);
    assert_int_equal(cm_diagnostics_count(f.diag), loading + 2);
    for (size_t i = 0; i < 2; i++) {
        const struct cm_diagnostic *note = &sweep->diagnostics[i];
        assert_int_equal(note->severity, CM_NOTE);
        assert_string_equal(note->code, "assumption");
        assert_non_null(strstr(note->message, i == 0 ? "trip count" : "more expensive branch"));
        assert_string_equal(cm_diagnostics_get(f.diag, loading + i)->message, note->message);
    }
    cm_sweep_free(sweep);
    tear_down(&f);
}

static void refuses_batch_zero(void **state) {
    static const int64_t batches[] = {1, 0};
    struct fixture f;
    struct cm_sweep *sweep = NULL;
    (void)state;
    set_up(&f);
    assert_int_equal(cm_model_sweep(f.model, &f.options, batches, 2, f.diag, &sweep), CM_USAGE);
    assert_string_equal(cm_diagnostics_get(f.diag, 0)->message, "batch must be >= 1, got 0");
    assert_null(sweep);
    tear_down(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row_equals_the_profile_of_its_batch),
        cmocka_unit_test(counts_proxies_separately_from_times),
        cmocka_unit_test(continues_after_a_batch_that_fails),
        cmocka_unit_test(keeps_the_profile_of_the_first_batch_that_succeeds),
        cmocka_unit_test(keeps_the_results_of_the_first_rows_with_figures),
        cmocka_unit_test(reports_each_assumption_once),
        cmocka_unit_test(refuses_batch_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
