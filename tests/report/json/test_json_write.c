/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON report against goldens: keys, their order, and unusual values. */
#include "fixture.h"
#include "report/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "costmodel/costmodel.h"

static void a_known_model_has_the_documented_keys_in_order(void **state) {
    (void)state;
    char *text = fixture_json(&fixture_pointnet);
    fixture_expect_golden("pointnet.json", text);
    free(text);
}

static void writes_unknown_and_extreme_values_as_documented(void **state) {
    (void)state;
    char *text = fixture_json(&fixture_hostile);
    fixture_expect_golden("hostile.json", text);
    free(text);
}

static void hostile_names_leave_the_json_valid(void **state) {
    (void)state;
    char *text = fixture_json(&fixture_hostile);
    cJSON *root = cJSON_Parse(text);
    assert_non_null(root);
    for (const char *c = text; *c != '\0'; c++)
        assert_true((unsigned char)*c == '\n' || ((unsigned char)*c >= 0x20 && *c != '\x7f'));
    assert_null(strchr(text, '\xe9'));
    cJSON_Delete(root);
    free(text);
}

static void escapes_control_characters_and_reads_them_back(void **state) {
    static const char name[] = "\x7f\xc2\x9b"
                               "2J\xe2\x80\xae\xc3\xa9";
    (void)state;
    struct cm_module module = fixture_pointnet.modules[0];
    struct cm_result result = fixture_pointnet;
    module.name = name;
    module.n_children = 0;
    result.modules = &module;
    result.n_modules = 1;
    char *text = fixture_json(&result);
    assert_non_null(strstr(text, "\"\\u007f\\u009b2J\\u202e\xc3\xa9\""));
    cJSON *root = cJSON_Parse(text);
    const cJSON *first = cJSON_GetArrayItem(cJSON_GetObjectItem(root, "modules"), 0);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(first, "name")), name);
    cJSON_Delete(root);
    free(text);
}

static void integers_are_exact_to_2_to_the_63(void **state) {
    (void)state;
    struct cm_result result = fixture_pointnet;
    result.totals.macs = INT64_MAX;
    result.totals.flops = INT64_MAX - 1;
    result.totals.params = 9007199254740993;
    char *text = fixture_json(&result);
    assert_non_null(strstr(text, "\"macs\":9223372036854775807,"));
    assert_non_null(strstr(text, "\"flops\":9223372036854775806,"));
    assert_non_null(strstr(text, "\"params\":9007199254740993,"));
    free(text);
}

static void writes_overflow_as_null(void **state) {
    (void)state;
    struct cm_result result = fixture_pointnet;
    result.totals.macs = CM_UNKNOWN + 1;
    result.totals.flops = CM_UNKNOWN;
    char *text = fixture_json(&result);
    assert_non_null(strstr(text, "\"macs\":null,\"int_macs\":0,\"flops\":null,"));
    free(text);
}

static void truncates_long_types_to_valid_json(void **state) {
    (void)state;
    struct cm_type endless = {.kind = CM_TYPE_SEQUENCE, .rank = -1};
    endless.element = &endless;
    struct cm_value input = {.name = "x", .type = endless, .bytes = CM_UNKNOWN};
    struct cm_result result = fixture_pointnet;
    result.model.n_inputs = 1;
    result.model.inputs = &input;
    char *text = fixture_json(&result);
    cJSON *root = cJSON_Parse(text);
    assert_non_null(root);
    cJSON_Delete(root);
    free(text);
}

static void reports_a_full_disk(void **state) {
    (void)state;
    FILE *out = fopen("/dev/full", "w");
    if (out == NULL) skip();
    assert_int_equal(
        report_write_json(&(struct report){.result = &fixture_pointnet, .out = out}), CM_IO);
    fclose(out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_known_model_has_the_documented_keys_in_order),
        cmocka_unit_test(writes_unknown_and_extreme_values_as_documented),
        cmocka_unit_test(hostile_names_leave_the_json_valid),
        cmocka_unit_test(escapes_control_characters_and_reads_them_back),
        cmocka_unit_test(integers_are_exact_to_2_to_the_63),
        cmocka_unit_test(writes_overflow_as_null),
        cmocka_unit_test(truncates_long_types_to_valid_json),
        cmocka_unit_test(reports_a_full_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
