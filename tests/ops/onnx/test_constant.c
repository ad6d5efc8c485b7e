/* SPDX-License-Identifier: Apache-2.0 */
/* Constant, ConstantOfShape, Shape, Range and others: see ops/onnx/constant.c. */
#include "op_harness.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void constant_reads_each_of_its_value_attributes(void **state) {
    static const struct op_case rows[] = {
        GIVES("Constant-1", "value=int64[2]={3,4}", "", "int64[2]={3,4}"),
        GIVES("Constant-9", "value=float[]={0.5}", "", "float[]={0.5}"),
        GIVES("Constant-12", "value_int=7", "", "int64[]={7}"),
        GIVES("Constant-12", "value_ints=[7,8]", "", "int64[2]={7,8}"),
        GIVES("Constant-12", "value_ints=[]", "", "int64[0]={}"),
        GIVES("Constant-13", "value_float=0.5", "", "float[]={0.5}"),
        GIVES("Constant-13", "value_floats=[0.5,1.5]", "", "float[2]={0.5,1.5}"),
        GIVES("Constant-13", "value_string=abc", "", "string[]"),
        GIVES("Constant-13", "value_strings=[a,b]", "", "string[2]"),
        REFUSES("Constant-13", NULL, "", "float[*]",
                "none of value, value_int, value_ints, value_float ... is given"),
        REFUSES("Constant-13", "value_int=7 value_float=0.5", "", "float[*]",
                "both value_int and value_float are given"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void constant_of_shape_is_a_splat(void **state) {
    static const struct op_case rows[] = {
        GIVES("ConstantOfShape-9", NULL, "int64[2]={2,3}", "float[2,3]=*0"),
        GIVES("ConstantOfShape-9", "value=int64[1]={-1}", "int64[1]={3}",
              "int64[3]={-1,-1,-1}"),
        GIVES("ConstantOfShape-9", "value=bool[1]={1}", "int64[0]={}", "bool[]={1}"),
        GIVES("ConstantOfShape-9", NULL, "int64[2]={100000,100000}", "float[100000,100000]"),
        GIVES("ConstantOfShape-9", NULL, "int64[2]={0,3}", "float[0,3]={}"),
        GIVES("ConstantOfShape-20", NULL, "int64[2]", "float[?,?]"),
        GIVES("ConstantOfShape-20", NULL, "int64[?]", "float[*]"),
        REFUSES("ConstantOfShape-20", NULL, "int64[1]={-3}", "float[*]",
                "dim 0 is -3, less than 0"),
        REFUSES("ConstantOfShape-20", "value=int64[2]={1,2}", "int64[1]={3}", "int64[3]",
                "attribute 'value' has 2 elements, expected 1"),
        REFUSES("ConstantOfShape-20", NULL, "int64[65]", "float[*]",
                "the output would have 65 axes, at most 64 are supported"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void shape_folds_if_the_requested_dims_are_known(void **state) {
    static const struct op_case rows[] = {
        GIVES("Shape-1", NULL, "float[2,3]", "int64[2]={2,3}"),
        GIVES("Shape-13", NULL, "float[]", "int64[0]={}"),
        GIVES("Shape-13", NULL, "float[?,3]", "int64[2]=?"),
        GIVES("Shape-13", NULL, "float[*]", "int64[?]"),
        GIVES("Shape-15", "start=1", "float[?,3]", "int64[1]={3}"),
        GIVES("Shape-15", "end=-1", "float[2,3]", "int64[1]={2}"),
        GIVES("Shape-15", "start=-9 end=9", "float[2,3]", "int64[2]={2,3}"),
        GIVES("Shape-15", "start=1 end=0", "float[2,3]", "int64[0]={}"),
        GIVES("Size-1", NULL, "float[2,3]", "int64[]={6}"),
        GIVES("Size-13", NULL, "float[?,3]", "int64[]=?"),
        GIVES("Size-13", NULL, "float[?,0]", "int64[]={0}"),
        REFUSES("Size-13", NULL, "float[4611686018427387904,4]", "int64[]",
                "[4611686018427387904,4] has more than 2^63 elements"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void range_computes_its_length(void **state) {
    static const struct op_case rows[] = {
        GIVES("Range-11", NULL, "int64[]={0} int64[]={5} int64[]={1}", "-"),
        GIVES("Range-11", NULL, "int64[]={0} int64[]={5} int64[]={2}", "int64[3]={0,2,4}"),
        GIVES("Range-11", NULL, "int64[]={5} int64[]={0} int64[]={-2}", "int64[3]={5,3,1}"),
        GIVES("Range-11", NULL, "int64[]={5} int64[]={0} int64[]={1}", "int64[0]={}"),
        GIVES("Range-11", NULL, "float[]={1} float[]={2} float[]={0.5}", "float[2]={1,1.5}"),
        GIVES("Range-27", NULL, "float[]={1} float[]={2.1} float[]={0.5}",
              "float[3]={1,1.5,2}"),
        GIVES("Range-11", NULL, "float[]={0} float[]={1} float[]={0.1}", "float[10]=?"),
        GIVES("Range-11", NULL, "int64[1]={0} int64[1]={3} int64[1]={1}", "int64[3]={0,1,2}"),
        GIVES("Range-11", NULL, "int64[]={0} int64[] int64[]={1}", "int64[?]"),
        GIVES("Range-11", NULL, "int64[]={0} int64[]={1000000} int64[]={1}",
              "int64[1000000]=?"),
        REFUSES("Range-11", NULL, "int64[]={0} int64[]={5} int64[]={0}", "int64[?]",
                "delta is 0"),
        REFUSES("Range-11", NULL, "int64[2] int64[]={5} int64[]={1}", "int64[?]",
                "input 0 [2] has 2 elements, expected 1"),
        REFUSES("Range-11", NULL, "int64[]={0} float[]={5} int64[]={1}", "int64[?]",
                "input 1 is float, start is int64"),
        REFUSES("Range-11", NULL,
                "int64[]={-9223372036854775807} int64[]={9223372036854775807} int64[]={1}",
                "int64[?]", "2^63"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constant_reads_each_of_its_value_attributes),
        cmocka_unit_test(constant_of_shape_is_a_splat),
        cmocka_unit_test(shape_folds_if_the_requested_dims_are_known),
        cmocka_unit_test(range_computes_its_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
