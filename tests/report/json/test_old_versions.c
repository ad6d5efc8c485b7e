/* SPDX-License-Identifier: Apache-2.0 */
/* Files of costmodel/profile/1, sweep/1 and baseline/1 are read, and written as version 2. */
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "costmodel/check.h"
#include "costmodel/costmodel.h"
#include "report/names.h"
#include "support/arena.h"

#define VERSIONS "tests/report/versions/"

static void reads_a_profile_of_version_1(void **state) {
    (void)state;
    char *old = fixture_file(VERSIONS "profile-1.json");
    struct cm_result *result = NULL;
    assert_int_equal(cm_result_read_json(old, strlen(old), "old", NULL, &result), CM_OK);
    char *json = fixture_json(result);
    fixture_expect_golden("hostile.json", json);
    free(json);
    free(old);
    arena_free(result->arena);
}

static void reads_a_sweep_of_version_1(void **state) {
    (void)state;
    char *old = fixture_file(VERSIONS "sweep-1.json");
    struct cm_sweep *sweep = NULL;
    assert_int_equal(cm_sweep_read_json(old, strlen(old), "old", NULL, &sweep), CM_OK);
    assert_int_equal(sweep->rows[0].costs.upper_bound, CM_COST_BIT(macs) | CM_COST_BIT(flops));
    assert_true(sweep->rows[0].peak_upper_bound);
    assert_true(sweep->rows[0].memory_upper_bound);
    free(old);
    arena_free(sweep->arena);
}

static char *baseline_json(const struct cm_baseline *baseline) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(cm_baseline_write_json(baseline, out), CM_OK);
    fclose(out);
    return text;
}

static void reads_a_baseline_of_version_1(void **state) {
    (void)state;
    char *old = fixture_file(VERSIONS "baseline-1.json");
    struct cm_baseline *baseline = NULL;
    assert_int_equal(cm_baseline_read_json(old, strlen(old), "old", NULL, &baseline), CM_OK);
    const struct cm_result *figures = &baseline->profiles[0].figures;
    assert_true(figures->totals.upper_bound & CM_COST_BIT(macs));
    assert_true(figures->memory.upper_bound);
    assert_true(figures->memory.peak_upper_bound);
    char *json = baseline_json(baseline);
    assert_non_null(strstr(json, "\"schema\":\"costmodel/baseline/2\""));
    assert_non_null(strstr(json, "\"saved_bytes\":0"));
    assert_non_null(strstr(json, "\"memory_upper_bound\":true"));
    assert_null(strstr(json, "at_most"));
    assert_null(strstr(json, "kept_bytes"));
    free(json);
    free(old);
    cm_baseline_free(baseline);
}

static void accepts_current_and_former_names(void **state) {
    (void)state;
    assert_true(names_match("limited_by", "limited_by", 10));
    assert_true(names_match("limited_by", "bound<3", 5));
    assert_false(names_match("limited_by", "bounds", 6));
    assert_false(names_match("macs", "mac", 3));
    assert_string_equal(names_former("saved_bytes", 0), "kept_bytes");
    assert_null(names_former("saved_bytes", 1));
    assert_null(names_former("macs", 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_profile_of_version_1),
        cmocka_unit_test(reads_a_sweep_of_version_1),
        cmocka_unit_test(reads_a_baseline_of_version_1),
        cmocka_unit_test(accepts_current_and_former_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
