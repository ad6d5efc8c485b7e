/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons, logic, bits and Where: see ops/onnx/logic.c. */
#include "op_harness.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void a_comparison_gives_bools(void **state) {
    static const struct op_case rows[] = {

        GIVES("Equal-13", NULL, "float[2,3] float[3]", "bool[2,3]"),
        GIVES("Less-1", "broadcast=1 axis=0", "float[2,3] float[2]", "bool[2,3]"),
        GIVES("GreaterOrEqual-12", NULL, "float[*] float[3]", "bool[*]"),
        GIVES("Equal-11", NULL, "int64[3]={1,2,3} int64[]={2}", "bool[3]={0,1,0}"),
        GIVES("Greater-9", NULL, "float[2]={1.5,-1} float[]={0}", "bool[2]={1,0}"),
        GIVES("LessOrEqual-16", NULL, "int64[3]={1,2,3} int64[]={2}", "bool[3]={1,1,0}"),
        GIVES("Less-13", NULL, "int64[1000000]=*3 int64[]={4}", "bool[1000000]=*1"),
        REFUSES("Less-13", NULL, "float[2] int64[2]", "bool[*]",
                "input 1 must be of type float, got int64"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void logic_folds_on_bools(void **state) {
    static const struct op_case rows[] = {

        GIVES("And-7", NULL, "bool[2]={0,1} bool[]={1}", "bool[2]={0,1}"),
        GIVES("Or-7", NULL, "bool[2]={0,1} bool[]={0}", "bool[2]={0,1}"),
        GIVES("Xor-7", NULL, "bool[2]={0,1} bool[]={1}", "bool[2]={1,0}"),
        GIVES("Not-1", NULL, "bool[2]={0,1}", "bool[2]={1,0}"),
        GIVES("And-1", "broadcast=1", "bool[2,3] bool[3]", "bool[2,3]"),
        REFUSES("Not-1", NULL, "float[2]", "bool[*]",
                "input 0 must be of type bool, got float"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void where_selects_between_two_operands(void **state) {
    static const struct op_case rows[] = {

        GIVES("Where-9", NULL, "bool[2,1] float[3] float[]", "float[2,3]"),
        GIVES("Where-9", NULL, "bool[3]={0,1,0} int64[3]={1,2,3} int64[]={-1}",
              "int64[3]={-1,2,-1}"),
        GIVES("Where-16", NULL, "bool[*] float[3] float[]", "float[*]"),
        GIVES("Where-9", NULL, "bool[0] float[1] float[]", "float[0]"),
        REFUSES("Where-9", NULL, "float[3] float[3] float[]", "float[*]",
                "input 0 must be of type bool, got float"),
        REFUSES("Where-9", NULL, "bool[3] float[3] int64[]", "float[*]",
                "input 2 must be of type float, got int64"),
        REFUSES("Where-9", NULL, "bool[2] float[3] float[]", "float[*]", "do not broadcast"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void infers_number_tests_and_bitwise_operators(void **state) {
    static const struct op_case rows[] = {

        GIVES("IsNaN-9", NULL, "float[2]={1,nan}", "bool[2]={0,1}"),
        GIVES("IsInf-10", NULL, "float[2,?]", "bool[2,?]"),
        GIVES("BitShift-11", "direction=LEFT", "uint8[2] uint8[1]", "uint8[2]"),
        REFUSES("BitShift-11", "direction=up", "uint8[2] uint8[1]", "uint8[*]",
                "direction is neither LEFT nor RIGHT"),
        GIVES("BitwiseAnd-18", NULL, "int32[2,1] int32[3]", "int32[2,3]"),
        GIVES("BitwiseNot-18", NULL, "int32[2]", "int32[2]"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_comparison_gives_bools),
        cmocka_unit_test(logic_folds_on_bools),
        cmocka_unit_test(where_selects_between_two_operands),
        cmocka_unit_test(infers_number_tests_and_bitwise_operators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
