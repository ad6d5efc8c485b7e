/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of hand-written results; tests/cli/test_trace covers a real model. */
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

static void writes_unknown_and_extreme_values_as_valid_json(void **state) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    (void)state;
    assert_non_null(out);
    assert_int_equal(
        report_write_trace(&(struct report){.result = &fixture_hostile, .out = out}), CM_OK);
    fclose(out);
    cJSON *root = cJSON_Parse(text);
    assert_non_null(root);
    for (const char *c = text; *c != '\0'; c++)
        assert_true((unsigned char)*c == '\n' || ((unsigned char)*c >= 0x20 && *c != '\x7f'));
    assert_null(strchr(text, '\xe9'));
    cJSON_Delete(root);
    fixture_expect_golden("hostile_trace.json", text);
    free(text);
}

static void writes_nothing_without_times(void **state) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    (void)state;
    assert_non_null(out);
    assert_int_equal(
        report_write_trace(&(struct report){.result = &fixture_pointnet, .out = out}),
        CM_USAGE);
    fclose(out);
    assert_int_equal(size, 0);
    free(text);
}

static void reports_a_full_disk(void **state) {
    (void)state;
    FILE *out = fopen("/dev/full", "w");
    if (out == NULL) skip();
    assert_int_equal(
        report_write_trace(&(struct report){.result = &fixture_hostile, .out = out}), CM_IO);
    fclose(out);
}

/* A file does not limit the depth of modules; modules below the depth have no track. */
static void omits_modules_below_the_depth(void **state) {
    struct cm_module modules[100];
    const size_t nodes[] = {0};
    struct cm_timed timed = fixture_hostile.measure->primitives[0];
    struct cm_measure measure = *fixture_hostile.measure;
    struct cm_result deep = fixture_hostile;
    struct cm_node node = fixture_hostile.nodes[0];
    char *text = NULL;
    size_t size = 0;
    (void)state;
    for (size_t i = 0; i < 100; i++)
        modules[i] = (struct cm_module){.path = "p",
                                        .name = "n",
                                        .type = "T",
                                        .depth = (int)i,
                                        .parent = i == 0 ? CM_NO_INDEX : i - 1};
    node.module = 99;
    node.costs.latency_ps = 1000000;
    timed.n_nodes = 1;
    timed.nodes = nodes;
    measure.primitives = &timed;
    measure.n_primitives = 1;
    deep.measure = &measure;
    deep.n_modules = 100;
    deep.modules = modules;
    deep.nodes = &node;
    deep.n_nodes = 1;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(report_write_trace(&(struct report){.result = &deep, .out = out}), CM_OK);
    fclose(out);
    assert_non_null(strstr(text, "modules, depth 63"));
    assert_null(strstr(text, "modules, depth 64"));
    assert_non_null(strstr(text, "\"ts\":0.0,\"dur\":1.0"));
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_unknown_and_extreme_values_as_valid_json),
        cmocka_unit_test(writes_nothing_without_times),
        cmocka_unit_test(reports_a_full_disk),
        cmocka_unit_test(omits_modules_below_the_depth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
