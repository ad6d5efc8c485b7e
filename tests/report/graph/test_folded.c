/* SPDX-License-Identifier: Apache-2.0 */
/* Folded stacks of a hand-written profile: each value fits int64_t, their sum does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "costmodel/costmodel.h"
#include "report/report.h"

static void refuses_overflowing_sums_before_writing(void **state) {
    const struct cm_node large = {
        .op = "Gemm", .name = "", .domain = "", .costs = {.macs = INT64_C(1) << 62}};
    const struct cm_node nodes[] = {large, large};
    const struct cm_module root = {.path = "", .name = "m", .parent = CM_NO_INDEX};
    const struct cm_result result = {
        .n_nodes = 2, .nodes = nodes, .n_modules = 1, .modules = &root};
    struct cm_diagnostics *diag = cm_diagnostics_new();
    struct cm_table_options options;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    (void)state;
    assert_non_null(out);
    cm_table_options_init(&options);
    assert_int_equal(report_write_folded(&(struct report){
                         .result = &result, .table = &options, .diag = diag, .out = out}),
                     CM_REFUSED);
    fclose(out);
    assert_int_equal(size, 0);
    assert_int_equal(cm_diagnostics_count(diag), 1);
    assert_string_equal(cm_diagnostics_get(diag, 0)->message,
                        "the sum of macs over all nodes must be below 2^63");
    free(text);
    cm_diagnostics_free(diag);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_overflowing_sums_before_writing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
