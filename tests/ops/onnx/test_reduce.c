/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions and running sums: see ops/onnx/reduce.c. */
#include "op_harness.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void axes_are_dropped_or_kept(void **state) {
    static const struct op_case rows[] = {

        GIVES("ReduceMean-11", "axes=[2,3] keepdims=0", "float[1,512,7,7]", "float[1,512]"),
        GIVES("ReduceMean-11", "axes=[-1]", "float[1,512,7]", "float[1,512,1]"),
        GIVES("ReduceSum-1", NULL, "float[2,3]", "float[1,1]"),
        GIVES("ReduceSum-13", "keepdims=0", "float[2,3] int64[1]={1}", "float[2]"),
        GIVES("ReduceSum-13", "keepdims=0", "float[2,3] int64[0]={}", "float[]"),
        GIVES("ReduceSum-13", "noop_with_empty_axes=1", "float[2,3]", "float[2,3]"),
        GIVES("ReduceSum-13", "noop_with_empty_axes=1 keepdims=0", "float[2,3] int64[0]={}",
              "float[2,3]"),
        /* ReduceMax took axes as an attribute until 18 */
        GIVES("ReduceMax-17", "axes=[0] keepdims=0", "float[2,3]", "float[3]"),
        GIVES("ReduceMax-18", "keepdims=0", "float[2,3] int64[1]={0}", "float[3]"),
        GIVES("ReduceL2-18", NULL, "float[0,3] int64[1]={0}", "float[1,3]"),
        GIVES("ReduceProd-11", "axes=[1]", "float[?,3,?]", "float[?,1,?]"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void reduction_over_unknown_axes_has_unknown_dims(void **state) {
    static const struct op_case rows[] = {

        GIVES("ReduceSum-13", NULL, "float[2,3] int64[1]", "float[?,?]"),
        GIVES("ReduceSum-13", "keepdims=0", "float[2,3] int64[1]", "float[?]"),
        GIVES("ReduceSum-13", "keepdims=0", "float[2,3] int64[?]", "float[*]"),
        GIVES("ReduceSum-13", "keepdims=0", "float[*] int64[1]={0}", "float[*]"),
        GIVES("ReduceSum-13", "keepdims=0", "float[*]", "float[]"),
        GIVES("ReduceSum-13", NULL, "float[*]", "float[*]"),
        REFUSES("ReduceSum-13", NULL, "float[2,3] int64[1]={2}", "float[*]",
                "axis 2 is out of range for rank 2"),
        REFUSES("ReduceMean-11", "axes=[-3]", "float[2,3]", "float[*]",
                "axis -3 is out of range for rank 2"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void arg_max_and_arg_min_give_int64(void **state) {
    static const struct op_case rows[] = {

        GIVES("ArgMax-13", "axis=1 keepdims=0", "float[2,3,4]", "int64[2,4]"),
        GIVES("ArgMin-1", NULL, "float[2,3]", "int64[1,3]"),
        GIVES("ArgMax-12", "axis=-1 select_last_index=1", "float[2,?]", "int64[2,1]"),
        GIVES("ArgMax-12", NULL, "float[*]", "int64[*]"),
        REFUSES("ArgMax-12", "axis=2", "float[2,3]", "int64[*]", "axis 2 is out of range"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void known_elements_are_reduced(void **state) {
    static const struct op_case rows[] = {

        GIVES("ReduceProd-11", "keepdims=0", "int64[4]={2,3,4,5}", "int64[]={120}"),
        GIVES("ReduceSum-13", "keepdims=0", "int64[2,3]={1,2,3,4,5,6} int64[1]={0}",
              "int64[3]={5,7,9}"),
        GIVES("ReduceMax-11", "axes=[1] keepdims=0", "float[2,2]={1.5,-2,-4,-3}",
              "float[2]={1.5,-3}"),
        GIVES("ReduceMin-11", "axes=[1]", "int32[2,2]={1,-2,-4,-3}", "int32[2,1]={-2,-4}"),
        GIVES("ReduceMean-11", "keepdims=0", "int64[2]={-3,0}", "int64[]={-1}"),
        GIVES("ReduceMean-11", "keepdims=0", "float[2]={1,2}", "float[]={1.5}"),
        GIVES("ReduceSum-13", "keepdims=0", "int64[1000]=*3", "int64[]={3000}"),
        GIVES("ReduceProd-11", "keepdims=0", "int64[2]={4611686018427387904,2}", "int64[]=?"),
        GIVES("ReduceSum-13", "keepdims=0", "int32[2]={2147483647,1}", "int32[]=?"),
        GIVES("ReduceSum-13", "keepdims=0", "int64[100000000]=*3", "int64[]=?"),
        GIVES("ReduceMax-11", "keepdims=0", "int64[0]={}", "int64[]=?"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void running_sums_and_products_keep_the_shape(void **state) {
    static const struct op_case rows[] = {
        GIVES("CumProd-26", NULL, "float[2,3] int64[]={1}", "float[2,3]"),
        REFUSES("CumProd-26", NULL, "float[2,3] int64[]={2}", "float[*]",
                "axis 2 is out of range for rank 2"),

        GIVES("CumSum-11", NULL, "int64[4]={1,2,3,4} int64[]={0}", "int64[4]={1,3,6,10}"),
        GIVES("CumSum-14", "exclusive=1", "int64[4]={1,2,3,4} int64[]={0}",
              "int64[4]={0,1,3,6}"),
        GIVES("CumSum-14", "reverse=1", "int64[2,2]={1,2,3,4} int64[]={0}",
              "int64[2,2]={4,6,3,4}"),
        GIVES("CumSum-14", "reverse=1 exclusive=1", "int64[2,2]={1,2,3,4} int64[1]={-1}",
              "int64[2,2]={2,0,4,0}"),
        GIVES("CumSum-14", NULL, "float[?,3] int64[]", "float[?,3]"),
        GIVES("CumSum-14", NULL, "int64[2]={9223372036854775807,1} int64[]={0}", "int64[2]=?"),
        GIVES("CumSum-14", NULL, "int64[0,2]={} int64[]={0}", "int64[0,2]"),
        REFUSES("CumSum-14", NULL, "float[2,3] int64[]={2}", "float[*]",
                "axis 2 is out of range"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void a_reduction_costs_nothing_by_the_default_convention(void **state) {
    static const struct op_case rows[] = {

        COSTS("ReduceMean-11", "axes=[2,3]", "float[1,512,7,7]", "float[1,512,1,1]", OP_NO_MACS,
              OP_NO_FLOPS),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axes_are_dropped_or_kept),
        cmocka_unit_test(reduction_over_unknown_axes_has_unknown_dims),
        cmocka_unit_test(arg_max_and_arg_min_give_int64),
        cmocka_unit_test(known_elements_are_reduced),
        cmocka_unit_test(running_sums_and_products_keep_the_shape),
        cmocka_unit_test(a_reduction_costs_nothing_by_the_default_convention),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
