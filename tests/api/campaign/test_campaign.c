/* SPDX-License-Identifier: Apache-2.0 */
/* The numbering of combinations, and invalid campaigns. */
#include "costmodel/campaign.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/temporary.h"

static const size_t sizes[] = {16, 32, 64};
static const size_t many[] = {1};
static const struct cm_campaign_dim dims[] = {{"seq", 3, sizes}, {"h", 2, sizes}};
static const struct cm_campaign_model models[] = {{"a.onnx", 1, 0, NULL, NULL},
                                                  {"b.onnx", 1, 2, dims, NULL}};
static const size_t batches[] = {4, 1};
static const char *const precisions[] = {"fp16", "fp32"};
static const char *const devices[] = {"h200"};

static struct cm_campaign example(void) {
    return (struct cm_campaign){
        .n_models = 2,
        .models = models,
        .n_batches = 2,
        .batches = batches,
        .n_precisions = 2,
        .precisions = precisions,
        .n_devices = 1,
        .devices = devices,
        .measure = "fake",
        .runtime = "",
        .convention = "",
        .mode = "",
        .optimizer = "",
    };
}

static void numbers_combinations_with_devices_varying_fastest(void **state) {
    static const struct {
        size_t index;
        const char *model;
        size_t seq, h;
        int64_t batch;
        const char *precision, *device;
    } rows[] = {
        {0, "a.onnx", 0, 0, 4, "fp16", "h200"},   {1, "a.onnx", 0, 0, 4, "fp16", ""},
        {2, "a.onnx", 0, 0, 4, "fp32", "h200"},   {7, "a.onnx", 0, 0, 1, "fp32", ""},
        {8, "b.onnx", 16, 16, 4, "fp16", "h200"}, {16, "b.onnx", 16, 32, 4, "fp16", "h200"},
        {55, "b.onnx", 64, 32, 1, "fp32", ""},
    };
    const struct cm_campaign campaign = example();
    (void)state;
    assert_int_equal(cm_campaign_count(&campaign), 8 + 6 * 8);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t at[CM_CAMPAIGN_MAX_DIMS] = {0, 0};
        struct cm_combination combination;
        cm_campaign_at(&campaign, rows[i].index, at, &combination);
        assert_string_equal(combination.model->path, rows[i].model);
        assert_int_equal(at[0], rows[i].seq);
        assert_int_equal(at[1], rows[i].h);
        assert_int_equal(combination.batch, rows[i].batch);
        assert_string_equal(combination.precision, rows[i].precision);
        assert_string_equal(combination.device, rows[i].device);
    }
}

static void axes_without_values_count_as_one_value(void **state) {
    struct cm_campaign campaign = example();
    size_t at[CM_CAMPAIGN_MAX_DIMS];
    struct cm_combination combination;
    (void)state;
    campaign.n_models = 1;
    campaign.n_batches = campaign.n_precisions = campaign.n_devices = 0;
    campaign.measure = "";
    assert_int_equal(cm_campaign_count(&campaign), 1);
    cm_campaign_at(&campaign, 0, at, &combination);
    assert_int_equal(combination.batch, 0);
    assert_string_equal(combination.precision, "file");
    assert_string_equal(combination.device, "");
}

static void counts_of_combinations_saturate(void **state) {
    const struct cm_campaign_dim huge[] = {
        {"a", SIZE_MAX / 2, many}, {"b", SIZE_MAX / 2, many}, {"c", 2, many}};
    const struct cm_campaign_model one = {"a.onnx", 1, 3, huge, NULL};
    struct cm_campaign campaign = example();
    (void)state;
    campaign.n_models = 1;
    campaign.models = &one;
    assert_int_equal(cm_campaign_count(&campaign), SIZE_MAX);
    assert_int_equal(cm_campaign_count(NULL), 0);
}

static void refuses_shards_that_do_not_exist(void **state) {
    static const size_t shards[][2] = {{3, 2}, {0, 2}, {1, 0}};
    static const char *const messages[] = {"shard must be from 1 to 2, got 3",
                                           "shard must be from 1 to 2, got 0",
                                           "shard must be from 1 to 0, got 1"};
    const struct cm_campaign campaign = example();
    struct cm_campaign_outcome outcome;
    (void)state;
    for (size_t i = 0; i < sizeof(shards) / sizeof(shards[0]); i++) {
        struct cm_diagnostics *diag = cm_diagnostics_new();
        const struct cm_campaign_run run = {.size = sizeof run,
                                            .folder = "/nonexistent",
                                            .shard = shards[i][0],
                                            .n_shards = shards[i][1]};
        assert_int_equal(cm_campaign_run(&campaign, &run, diag, &outcome), CM_USAGE);
        assert_string_equal(cm_diagnostics_get(diag, 0)->message, messages[i]);
        cm_diagnostics_free(diag);
    }
}

/* Replaces the manifest of the folder `context` by that of another campaign. */
static void change_manifest(void *context, size_t done, size_t total) {
    const struct cm_campaign other = example();
    char path[TEMPORARY_PATH];
    (void)done;
    (void)total;
    snprintf(path, sizeof(path), "%s/campaign.json", (const char *)context);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    assert_int_equal(cm_campaign_write_json(&other, out), CM_OK);
    fclose(out);
}

static void notices_that_another_run_changes_the_manifest(void **state) {
    const struct cm_campaign_model missing = {.path = "missing.onnx", .bytes = CM_UNKNOWN};
    static const char *const files[] = {"campaign.json", "shard-1-of-1.part"};
    struct cm_campaign campaign = example();
    struct cm_campaign_outcome outcome;
    char folder[TEMPORARY_PATH];
    char path[TEMPORARY_PATH];
    char message[2 * TEMPORARY_PATH];
    (void)state;
    temporary_path(folder);
    assert_non_null(mkdtemp(folder));
    campaign.models = &missing;
    campaign.n_models = 1;
    const struct cm_campaign_run run = {.size = sizeof run,
                                        .folder = folder,
                                        .shard = 1,
                                        .n_shards = 1,
                                        .progress = change_manifest,
                                        .progress_context = folder};
    struct cm_diagnostics *diag = cm_diagnostics_new();
    assert_int_equal(cm_campaign_run(&campaign, &run, diag, &outcome), CM_REFUSED);
    snprintf(message, sizeof(message), "another run has changed '%s/campaign.json' meanwhile",
             folder);
    assert_string_equal(cm_diagnostics_get(diag, 0)->message, message);
    cm_diagnostics_free(diag);
    for (size_t i = 0; i < 2; i++) {
        assert_true(snprintf(path, sizeof(path), "%s/%s", folder, files[i]) < TEMPORARY_PATH);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(rmdir(folder), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_combinations_with_devices_varying_fastest),
        cmocka_unit_test(axes_without_values_count_as_one_value),
        cmocka_unit_test(counts_of_combinations_saturate),
        cmocka_unit_test(refuses_shards_that_do_not_exist),
        cmocka_unit_test(notices_that_another_run_changes_the_manifest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
