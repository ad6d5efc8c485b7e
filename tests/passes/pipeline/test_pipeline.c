/* SPDX-License-Identifier: Apache-2.0 */
/* The pass pipeline: contracts, names and failure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model_harness.h"
#include "passes/cost/count.h"
#include "passes/memory/liveness.h"
#include "passes/pipeline/pipeline.h"
#include "passes/walk/bind.h"
#include "passes/walk/walk.h"

static void test_earlier_passes_give_the_tables_that_each_pass_reads(void **state) {
    unsigned have = 0;
    (void)state;
    for (size_t i = 0; i < core_pipeline.n; i++) {
        const struct pass *pass = &core_pipeline.passes[i];
        if (pass->reads & ~have)
            fail_msg("no earlier pass gives a table that %s reads", pass->name);
        if (pass->gives == 0 || (pass->gives & have))
            fail_msg("%s gives no new table", pass->name);
        have |= pass->gives;
    }
    assert_int_equal(have & (have + 1), 0); /* consecutive bits */
}

static void test_passes_have_distinct_names_and_tables(void **state) {
    (void)state;
    for (size_t i = 0; i < core_pipeline.n; i++)
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(core_pipeline.passes[i].name, core_pipeline.passes[k].name);
            if (strcmp(core_pipeline.passes[i].name, "precision") != 0) /* it refines infer's */
                assert_int_not_equal(core_pipeline.passes[i].table,
                                     core_pipeline.passes[k].table);
        }
}

static void test_summaries_are_one_short_line(void **state) {
    (void)state;
    for (size_t i = 0; i < core_pipeline.n; i++) {
        const char *summary = core_pipeline.passes[i].summary;
        assert_true(summary[0] >= 'a' && summary[0] <= 'z');
        assert_null(strchr(summary, '\n'));
        assert_true(strlen(summary) <= 72);
        assert_true(summary[strlen(summary) - 1] != '.');
    }
}

static void test_a_failing_pass_ends_the_run(void **state) {
    struct bench *bench =
        bench_open("in x float[2,3]\nin w float[4,5]\nnode m MatMul x w -> y\nout y\n");
    (void)state;
    assert_int_equal(bench->status, CM_REFUSED);
    assert_non_null(bench->analysis.bind->ops);
    assert_non_null(bench->analysis.infer->infos);
    assert_null(bench->analysis.liveness->storage);
    assert_null(bench->analysis.count->nodes);
    bench_close(bench);
}

static void test_a_model_of_views_runs_without_messages(void **state) {
    struct bench *bench = bench_open("in x float[2,3]\nnode - Identity x -> y\nout y\n");
    (void)state;
    assert_int_equal(bench->status, CM_OK);
    assert_string_equal(bench_messages(bench), "");
    assert_string_equal(bench_paths(bench), "() Identity");
    bench_close(bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_earlier_passes_give_the_tables_that_each_pass_reads),
        cmocka_unit_test(test_passes_have_distinct_names_and_tables),
        cmocka_unit_test(test_summaries_are_one_short_line),
        cmocka_unit_test(test_a_failing_pass_ends_the_run),
        cmocka_unit_test(test_a_model_of_views_runs_without_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
