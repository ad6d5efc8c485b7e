/* SPDX-License-Identifier: Apache-2.0 */
/* The list of passes: each finds what it needs, and has a table of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model_harness.h"
#include "passes/pipeline.h"

static void test_each_pass_comes_after_what_it_needs(void **state) {
    unsigned have = 0;
    (void)state;
    for (size_t i = 0; i < pipeline_length(); i++) {
        const struct pass *pass = pipeline_pass(i);
        if (pass->needs & ~have) fail_msg("%s needs what no pass before it gives", pass->name);
        if (pass->gives == 0 || (pass->gives & have))
            fail_msg("%s gives nothing of its own", pass->name);
        have |= pass->gives;
    }
    assert_int_equal(have & (have + 1), 0); /* no fact is left out */
}

static void test_no_two_passes_share_a_name_or_a_table(void **state) {
    (void)state;
    for (size_t i = 0; i < pipeline_length(); i++)
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(pipeline_pass(i)->name, pipeline_pass(k)->name);
            assert_int_not_equal(pipeline_pass(i)->own, pipeline_pass(k)->own);
        }
}

static void test_each_pass_says_what_it_does_in_one_line(void **state) {
    (void)state;
    for (size_t i = 0; i < pipeline_length(); i++) {
        const char *summary = pipeline_pass(i)->summary;
        assert_true(summary[0] >= 'a' && summary[0] <= 'z');
        assert_null(strchr(summary, '\n'));
        assert_true(strlen(summary) <= 72);
        assert_true(summary[strlen(summary) - 1] != '.');
    }
}

/* A pass that fails is the last; what came before it has been done. */
static void test_the_first_pass_that_fails_ends_the_run(void **state) {
    struct bench *bench =
        bench_open("in x float[2,3]\nin w float[4,5]\nnode m MatMul x w -> y\nout y\n");
    (void)state;
    assert_int_equal(bench->status, CM_REFUSED);
    assert_non_null(bench->analysis.bind.ops);
    assert_non_null(bench->analysis.infer.facts);
    assert_null(bench->analysis.liveness.storage);
    assert_null(bench->analysis.count.nodes);
    bench_close(bench);
}

static void test_a_model_that_does_nothing_is_a_model(void **state) {
    struct bench *bench = bench_open("in x float[2,3]\nnode - Identity x -> y\nout y\n");
    (void)state;
    assert_int_equal(bench->status, CM_OK);
    assert_string_equal(bench_messages(bench), "");
    assert_string_equal(bench_paths(bench), "() Identity");
    bench_close(bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_pass_comes_after_what_it_needs),
        cmocka_unit_test(test_no_two_passes_share_a_name_or_a_table),
        cmocka_unit_test(test_each_pass_says_what_it_does_in_one_line),
        cmocka_unit_test(test_the_first_pass_that_fails_ends_the_run),
        cmocka_unit_test(test_a_model_that_does_nothing_is_a_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
