/* SPDX-License-Identifier: Apache-2.0 */
/* Elements chosen by their values: see ops/onnx/select.c. */
#include "op_harness.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void top_k_shortens_its_axis(void **state) {
    static const struct op_case rows[] = {
        GIVES("TopK-1", "k=3", "float[2,5]", "float[2,3] int64[2,3]"),
        GIVES("TopK-10", "axis=0", "float[4,5] int64[1]={2}", "float[2,5] int64[2,5]"),
        GIVES("TopK-11", NULL, "float[?,5] int64[1]={2}", "float[?,2] int64[?,2]"),
        GIVES("TopK-11", NULL, "float[2,5] int64[1]", "float[2,?] int64[2,?]"),
        GIVES("TopK-11", NULL, "float[*] int64[1]={2}", "float[*] int64[*]"),
        GIVES("TopK-24", NULL, "float[2,5] int64[1]={0}", "- int64[2,0]"),
        REFUSES("TopK-11", NULL, "float[2,5] int64[1]={6}", "float[*] int64[*]",
                "k is 6, axis 1 of [2,5] has fewer elements"),
        REFUSES("TopK-11", NULL, "float[2,5] int64[1]={-1}", "float[*] int64[*]",
                "k is -1, less than 0"),
        REFUSES("TopK-11", NULL, "float[2,5] int64[2]={1,1}", "float[*] int64[*]",
                "k has 2 elements, expected 1"),
        REFUSES("TopK-11", "axis=2", "float[2,5] int64[1]={1}", "float[*] int64[*]",
                "out of range"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void non_zero_folds_known_elements(void **state) {
    static const struct op_case rows[] = {
        GIVES("NonZero-9", NULL, "float[2,3]", "int64[2,?]"),
        GIVES("NonZero-13", NULL, "float[*]", "int64[?,?]"),
        GIVES("NonZero-13", NULL, "bool[4]={0,1,0,1}", "int64[1,2]={1,3}"),
        GIVES("NonZero-13", NULL, "int64[2,2]={1,0,1,1}", "int64[2,3]={0,1,1,0,0,1}"),
        GIVES("NonZero-13", NULL, "float[3]={0,0,0}", "int64[1,0]={}"),
        GIVES("NonZero-13", NULL, "float[3]=*1", "int64[1,3]={0,1,2}"),
        GIVES("NonZero-13", NULL, "float[1000,1000]=*1", "int64[2,1000000]=?"),
        GIVES("NonZero-13", NULL, "float[1000,1000]=*0", "int64[2,0]={}"),
        GIVES("NonZero-13", NULL, "float[]={1}", "int64[0,1]={}"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void compress_keeps_elements_with_a_true_condition(void **state) {
    static const struct op_case rows[] = {
        GIVES("Compress-9", "axis=0", "float[3,2] bool[3]={1,0,1}", "float[2,2]"),
        GIVES("Compress-9", NULL, "float[3,2] bool[2]={0,1}", "float[1]"),
        GIVES("Compress-11", "axis=-1", "float[3,2] bool[2]", "float[3,?]"),
        GIVES("Compress-11", NULL, "float[*] bool[2]", "float[?]"),
        GIVES("Compress-11", "axis=0", "float[*] bool[2]={1,1}", "float[*]"),
        GIVES("Compress-11", "axis=1", "int64[2,3]={1,2,3,4,5,6} bool[3]={1,0,1}",
              "int64[2,2]={1,3,4,6}"),
        GIVES("Compress-11", "axis=0", "int64[2,3]={1,2,3,4,5,6} bool[2]={0,1}",
              "int64[1,3]={4,5,6}"),
        GIVES("Compress-11", NULL, "int64[2,2]={1,2,3,4} bool[4]={0,1,1,0}", "int64[2]={2,3}"),
        GIVES("Compress-11", NULL, "int64[2,2]={1,2,3,4} bool[1]={0}", "int64[0]={}"),
        REFUSES("Compress-11", "axis=0", "float[2] bool[3]={1,1,1}", "float[*]",
                "the condition has 3 elements for 2"),
        REFUSES("Compress-11", "axis=2", "float[2] bool[3]={1,1,1}", "float[*]",
                "out of range"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void unique_counts_distinct_integers(void **state) {
    static const struct op_case rows[] = {
        GIVES("Unique-11", NULL, "float[2,3]", "float[?] int64[?] int64[6] int64[?]"),
        GIVES("Unique-11", NULL, "int64[4]={1,2,1,3}", "int64[3] - int64[4] -"),
        GIVES("Unique-11", NULL, "int64[4]=*9", "int64[1]"),
        GIVES("Unique-11", NULL, "float[4]={1.5,2,1.5,1.5}",
              "float[2] int64[2] int64[4] int64[2]"),
        GIVES("Unique-11", NULL, "float[3]={1,nan,1}", "float[?]"),
        GIVES("Unique-11", "axis=0", "int64[3,2]={1,2,1,3,1,2}",
              "int64[2,2] int64[2] int64[3]"),
        GIVES("Unique-11", "axis=1", "int64[2,3]={1,1,1,2,3,2}", "int64[2,2]"),
        /* 2^40 empty slices: too many to list */
        GIVES("Unique-11", "axis=0", "int64[1099511627776,0]={}", "int64[?,0]"),
        GIVES("Unique-11", "axis=1", "int64[2,3]={1,1,1,2,3,4}", "int64[2,3]"),
        GIVES("Unique-11", "axis=0", "float[0,2]={}", "float[0,2]"),
        GIVES("Unique-11", "axis=1", "float[2,3]", "float[2,?] int64[?] int64[3] int64[?]"),
        GIVES("Unique-11", "axis=0", "float[*]", "float[*] int64[?] int64[?] int64[?]"),
        GIVES("Unique-11", NULL, "float[*]", "float[?]"),
        REFUSES("Unique-11", "axis=3", "float[2,3]", "float[*]", "out of range"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void non_max_suppression_gives_a_data_dependent_dim(void **state) {
    static const struct op_case rows[] = {
        GIVES("NonMaxSuppression-10", NULL, "float[1,6,4] float[1,1,6] int64[1]={3}",
              "int64[?,3]"),
        GIVES("NonMaxSuppression-11", NULL, "float[1,6,4] float[1,1,6]", "int64[0,3]"),
        GIVES("NonMaxSuppression-11", NULL, "float[1,6,4] float[1,1,6] int64[]={0}",
              "int64[0,3]"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(top_k_shortens_its_axis),
        cmocka_unit_test(non_zero_folds_known_elements),
        cmocka_unit_test(compress_keeps_elements_with_a_true_condition),
        cmocka_unit_test(unique_counts_distinct_integers),
        cmocka_unit_test(non_max_suppression_gives_a_data_dependent_dim),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
