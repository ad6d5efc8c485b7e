/* SPDX-License-Identifier: Apache-2.0 */
/* The demand for input samples, and the links that can meet it. */
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

static struct cm_result *profile(const char *backend, int64_t batch, int64_t sample_bytes,
                                 const char *optimizer) {
    struct cm_model *model = NULL;
    struct cm_result *result = NULL;
    struct cm_options options;
    cm_options_init(&options);
    options.batch = batch;
    options.backend = backend;
    options.sample_bytes = sample_bytes;
    options.optimizer = optimizer;
    assert_int_equal(cm_model_load_file(TEST_MODELS_DIR "/resnet50.onnx", NULL, &model), CM_OK);
    assert_int_equal(cm_model_profile(model, &options, NULL, &result), CM_OK);
    cm_model_free(model);
    return result;
}

/* A profile whose step takes `seconds`: one layer takes all of it. */
static struct cm_result *profile_step(const char *seconds, int64_t sample_bytes) {
    char path[TEMPORARY_PATH];
    char backend[TEMPORARY_PATH + 32];
    temporary_path(path);
    const int file = mkstemp(path);
    assert_true(file >= 0);
    dprintf(file,
            "gemm: %s\nconv: view\npool: view\neltwise: view\nreduce: view\ncopy: view\n"
            "norm: view\n",
            seconds);
    close(file);
    snprintf(backend, sizeof(backend), "fake:table=%s", path);
    struct cm_result *result = profile(backend, 256, sample_bytes, NULL);
    unlink(path);
    return result;
}

static const struct cm_input_link *link_named(const struct cm_input_pipeline *pipeline,
                                              const char *name) {
    for (size_t i = 0; i < pipeline->n_links; i++)
        if (strcmp(pipeline->links[i].name, name) == 0) return &pipeline->links[i];
    fail();
    return NULL;
}

/* 256 * 500 kB / 21.70 ms = 5.90 GB/s (datawhalechina/llm-algo-leetcode#136) */
static void demand_is_samples_per_second_times_their_size(void **state) {
    struct cm_result *result = profile_step("0.0217", 500000);
    const struct cm_input_pipeline *pipeline = result->input_pipeline;
    (void)state;
    assert_non_null(pipeline);
    assert_int_equal(pipeline->samples, 256);
    assert_int_equal(pipeline->step_ps, 21700000000);
    assert_int_equal(pipeline->bytes_per_s, 5898617512);
    assert_int_equal(pipeline->host_link, CM_UNKNOWN);
    assert_false(link_named(pipeline, "25 Gbit/s Ethernet")->suffices);
    assert_false(link_named(pipeline, "NVMe SSD, PCIe 3.0 x4")->suffices);
    assert_true(link_named(pipeline, "NVMe SSD, PCIe 4.0 x4")->suffices);
    assert_true(link_named(pipeline, "100 Gbit/s Ethernet")->suffices);
    assert_string_equal(pipeline->advice,
                        "NVMe SSD, PCIe 4.0 x4 (7.00 GB/s) is the slowest link that delivers "
                        "5.90 GB/s.");
    cm_result_free(result);
}

static void a_demand_above_all_links_requires_several(void **state) {
    struct cm_result *result = profile_step("0.001", 500000);
    (void)state;
    assert_string_equal(result->input_pipeline->advice,
                        "No link of the table delivers 128.00 GB/s: read from several at once, "
                        "or keep the data set in memory.");
    cm_result_free(result);
}

static void links_are_sorted_by_rate(void **state) {
    struct cm_result *result = profile_step("0.0217", 1);
    const struct cm_input_pipeline *pipeline = result->input_pipeline;
    (void)state;
    for (size_t i = 1; i < pipeline->n_links; i++)
        assert_true(pipeline->links[i - 1].bytes_per_s < pipeline->links[i].bytes_per_s);
    assert_true(pipeline->links[0].suffices);
    cm_result_free(result);
}

static void demand_of_a_training_step_uses_the_time_of_the_step(void **state) {
    struct cm_result *forward = profile("roofline:device=t4", 32, 150000, NULL);
    struct cm_result *training = profile("roofline:device=t4", 32, 150000, "adam");
    (void)state;
    assert_int_equal(forward->input_pipeline->step_ps, forward->totals.latency_ps);
    assert_int_equal(training->input_pipeline->step_ps, training->training.iteration_ps);
    assert_true(training->input_pipeline->bytes_per_s < forward->input_pipeline->bytes_per_s);
    assert_int_equal(forward->input_pipeline->host_link, 16000000000);
    cm_result_free(forward);
    cm_result_free(training);
}

static void a_slow_host_link_is_named(void **state) {
    struct cm_result *result = profile("roofline:device=t4", 32, 100000000, NULL);
    (void)state;
    assert_non_null(strstr(result->input_pipeline->advice,
                           " The link from the host to the device (16.00 GB/s) is too slow: "
                           "send compressed samples and decode them on the device."));
    cm_result_free(result);
}

static void needs_a_size_and_times(void **state) {
    struct cm_result *without_size = profile("roofline:device=t4", 32, 0, NULL);
    struct cm_result *without_times = profile(NULL, 32, 500000, NULL);
    (void)state;
    assert_null(without_size->input_pipeline);
    assert_null(without_times->input_pipeline);
    cm_result_free(without_size);
    cm_result_free(without_times);
}

static void refuses_negative_sizes(void **state) {
    struct cm_diagnostics *diag = cm_diagnostics_new();
    struct cm_model *model = NULL;
    struct cm_result *result = NULL;
    struct cm_options options;
    (void)state;
    cm_options_init(&options);
    options.sample_bytes = -1;
    assert_int_equal(cm_model_load_file(TEST_MODELS_DIR "/pointnet.onnx", diag, &model), CM_OK);
    assert_int_equal(cm_model_profile(model, &options, diag, &result), CM_USAGE);
    assert_string_equal(cm_diagnostics_get(diag, cm_diagnostics_count(diag) - 1)->message,
                        "cm_options.sample_bytes must be >= 0, got -1");
    cm_model_free(model);
    cm_diagnostics_free(diag);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(demand_is_samples_per_second_times_their_size),
        cmocka_unit_test(a_demand_above_all_links_requires_several),
        cmocka_unit_test(links_are_sorted_by_rate),
        cmocka_unit_test(demand_of_a_training_step_uses_the_time_of_the_step),
        cmocka_unit_test(a_slow_host_link_is_named),
        cmocka_unit_test(needs_a_size_and_times),
        cmocka_unit_test(refuses_negative_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
