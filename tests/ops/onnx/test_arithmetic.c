/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic: see ops/onnx/arithmetic.c, and the loops of folds: ops/fold.c. */
#include "op_harness.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void operands_broadcast_as_numpy_from_opset_7(void **state) {
    static const struct op_case rows[] = {

        GIVES("Add-7", NULL, "float[2,3,4] float[3,1]", "float[2,3,4]"),
        /* an empty splat has no first element to read */
        GIVES("Add-14", NULL, "uint64[0]=*7 uint64[1]={2}", "uint64[0]={}"),
        GIVES("Mul-14", NULL, "float[2,1] float[1,3]", "float[2,3]"),
        GIVES("Sub-13", NULL, "float[?,3] float[1]", "float[?,3]"),
        GIVES("Div-13", NULL, "float[?] float[3]", "float[3]"),
        GIVES("Div-13", NULL, "float[?] float[?]", "float[?]"),
        GIVES("Add-13", NULL, "float[0,3] float[1,3]", "float[0,3]"),
        GIVES("Add-13", NULL, "float[*] float[3]", "float[*]"),
        GIVES("Add-13", NULL, "? float[3]", "float[*]"),
        GIVES("Pow-15", NULL, "float[2,3] int64[]", "float[2,3]"),
        GIVES("Max-8", NULL, "float[2,1] float[3] float[]", "float[2,3]"),
        GIVES("Sum-13", NULL, "float[2,1]", "float[2,1]"),
        REFUSES("Add-7", NULL, "float[2,3] float[4]", "float[*]",
                "shapes [2,3] and [4] do not broadcast"),
        REFUSES("Add-7", NULL, "float[0] float[2]", "float[*]",
                "shapes [0] and [2] do not broadcast"),
        REFUSES("Add-7", NULL, "float[2,3] int64[3]", "float[*]",
                "input 1 must be of type float, got int64"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void before_opset_7_input_1_broadcasts_to_axes_of_input_0(void **state) {
    static const struct op_case rows[] = {

        GIVES("Add-6", "broadcast=1 axis=1", "float[2,3,4,5] float[3,4]", "float[2,3,4,5]"),
        GIVES("Add-1", "broadcast=1", "float[2,3,4,5] float[4,5]", "float[2,3,4,5]"),
        GIVES("Mul-6", "broadcast=1", "float[2,3] float[]", "float[2,3]"),
        GIVES("Mul-6", "broadcast=1 axis=-1", "float[2,3] float[3]", "float[2,3]"),
        GIVES("Sub-6", NULL, "float[2,3] float[2,3]", "float[2,3]"),
        GIVES("Sub-6", NULL, "float[?,3] float[2,?]", "float[?,3]"),
        GIVES("Pow-1", "broadcast=1", "float[2,3] float[1]", "float[2,3]"),
        GIVES("Add-6", NULL, "float[*] float[3]", "float[*]"),
        REFUSES("Add-6", NULL, "float[2,3] float[3]", "float[*]",
                "shapes [2,3] and [3] do not fit, broadcast is 0"),
        REFUSES("Add-6", "broadcast=1 axis=0", "float[2,3] float[3]", "float[*]",
                "shape [3] does not fit axes 0.. of [2,3]"),
        REFUSES("Add-6", "broadcast=1 axis=1", "float[2,3] float[3,1]", "float[*]",
                "axis 1 leaves no room for rank 2 in 2"),
        REFUSES("Add-6", "broadcast=1 axis=7", "float[2,3] float[3]", "float[*]",
                "axis 7 is out of range"),
        REFUSES("Sum-6", NULL, "float[2,3] float[3]", "float[*]",
                "input 1 has the shape [3], input 0 [2,3]"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void arithmetic_on_known_integers_is_exact(void **state) {
    static const struct op_case rows[] = {

        GIVES("Add-7", NULL, "int64[2]={1,2} int64[1]={3}", "int64[2]={4,5}"),
        GIVES("Sub-14", NULL, "int32[2]={1,2} int32[]={3}", "int32[2]={-2,-1}"),
        GIVES("Mul-7", NULL, "int64[2,1]={1,2} int64[3]={3,4,5}", "int64[2,3]={3,4,5,6,8,10}"),
        GIVES("Div-7", NULL, "int64[4]={7,-7,7,-7} int64[4]={2,2,-2,-2}",
              "int64[4]={3,-3,-3,3}"),
        GIVES("Mod-10", NULL, "int64[4]={7,-7,7,-7} int64[4]={3,3,-3,-3}",
              "int64[4]={1,2,-2,-1}"),
        GIVES("Mod-10", "fmod=1", "int64[4]={7,-7,7,-7} int64[4]={3,3,-3,-3}",
              "int64[4]={1,-1,1,-1}"),
        GIVES("Pow-12", NULL, "int64[3]={2,-3,5} int64[3]={10,3,0}", "int64[3]={1024,-27,1}"),
        GIVES("Max-12", NULL, "int64[2]={1,5} int64[2]={3,4} int64[]={2}", "int64[2]={3,5}"),
        GIVES("Min-12", NULL, "int64[2]={1,5} int64[2]={3,4}", "int64[2]={1,4}"),
        GIVES("Add-7", NULL, "int64[0]={} int64[1]={1}", "int64[0]={}"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void does_not_fold_results_out_of_range(void **state) {
    static const struct op_case rows[] = {

        GIVES("Add-7", NULL, "int64[]={9223372036854775807} int64[]={1}", "int64[]=?"),
        GIVES("Add-7", NULL, "int32[]={2147483647} int32[]={1}", "int32[]=?"),
        GIVES("Sub-7", NULL, "uint8[]={1} uint8[]={2}", "uint8[]=?"),
        GIVES("Mul-7", NULL, "int64[]={4611686018427387904} int64[]={2}", "int64[]=?"),
        GIVES("Div-7", NULL, "int64[]={1} int64[]={0}", "int64[]=?"),
        GIVES("Div-7", NULL, "int64[]={-9223372036854775808} int64[]={-1}", "int64[]=?"),
        GIVES("Mod-10", NULL, "int64[]={1} int64[]={0}", "int64[]=?"),
        GIVES("Mod-10", NULL, "int64[]={-9223372036854775808} int64[]={-1}", "int64[]=?"),
        GIVES("Pow-12", NULL, "int64[]={2} int64[]={64}", "int64[]=?"),
        GIVES("Pow-12", NULL, "int64[]={2} int64[]={-1}", "int64[]=?"),
        GIVES("Add-7", NULL, "float16[]={1} float16[]={2}", "float16[]={3}"),
        GIVES("Add-7", NULL, "int64[2]={1,2} int64[2]", "int64[2]=?"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void arithmetic_on_known_floats_rounds_to_their_dtype(void **state) {
    static const struct op_case rows[] = {

        GIVES("Div-7", NULL, "float[]={1} float[]={2}", "float[]={0.5}"),
        /* 2^24 + 1 is not a float32 */
        GIVES("Add-7", NULL, "float[]={16777216} float[]={1}", "float[]={16777216}"),
        GIVES("Add-7", NULL, "double[]={16777216} double[]={1}", "double[]={16777217}"),
        GIVES("Mod-10", "fmod=1", "float[]={-7.5} float[]={2}", "float[]={-1.5}"),
        GIVES("Pow-12", NULL, "float[]={9} float[]={0.5}", "float[]={3}"),
        GIVES("Mean-8", NULL, "float[]={1} float[]={2}", "float[]={1.5}"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void folds_splats_to_splats_of_any_size(void **state) {
    static const struct op_case rows[] = {

        GIVES("Add-7", NULL, "int64[1000000,1000000]=*3 int64[]={4}",
              "int64[1000000,1000000]=*7"),
        GIVES("Mul-7", NULL, "float[1000000]=*0.5 float[1,1]=*4", "float[1,1000000]=*2"),
        GIVES("Add-7", NULL, "int64[100000]=*3 int64[2,1]={1,2}", "int64[2,100000]=?"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void arithmetic_costs_nothing_by_the_default_convention(void **state) {
    static const struct op_case rows[] = {

        COSTS("Add-7", NULL, "float[2,3] float[2,3]", "float[2,3]", OP_NO_MACS, OP_NO_FLOPS),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operands_broadcast_as_numpy_from_opset_7),
        cmocka_unit_test(before_opset_7_input_1_broadcasts_to_axes_of_input_0),
        cmocka_unit_test(arithmetic_on_known_integers_is_exact),
        cmocka_unit_test(does_not_fold_results_out_of_range),
        cmocka_unit_test(arithmetic_on_known_floats_rounds_to_their_dtype),
        cmocka_unit_test(folds_splats_to_splats_of_any_size),
        cmocka_unit_test(arithmetic_costs_nothing_by_the_default_convention),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
