/* SPDX-License-Identifier: Apache-2.0 */
/* Activations and Dropout: see ops/onnx/activation.c. */
#include "op_harness.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void an_activation_keeps_the_shape_and_costs_one_flop_per_element(void **state) {
    static const struct op_case rows[] = {

        COSTS("Relu-6", NULL, "float[2,3]", "float[2,3]", OP_NO_MACS, 6),
        COSTS("LeakyRelu-16", NULL, "float[2,3]", "float[2,3]", OP_NO_MACS, 6),
        COSTS("Elu-6", NULL, "float[2,3]", "float[2,3]", OP_NO_MACS, 6),
        COSTS("Gelu-20", NULL, "float[2,3]", "float[2,3]", OP_NO_MACS, 6),
        COSTS("PRelu-9", NULL, "float[2,3] float[3]", "float[2,3]", OP_NO_MACS, 6),
        COSTS("Swish-24", NULL, "float[2,3]", "float[2,3]", OP_NO_MACS, 6),
        COSTS("SwiGLU-28", NULL, "float[2,3] float[2,3]", "float[2,3]", OP_NO_MACS, 6),
        REFUSES("SwiGLU-28", NULL, "float[2,3] float[3]", "float[*]",
                "the gate has the shape [2,3], the value [3]"),
        COSTS("Clip-11", NULL, "float[2,3] float[] float[]", "float[2,3]", OP_NO_MACS,
              OP_NO_FLOPS),
        COSTS("Sigmoid-13", NULL, "float[2,3]", "float[2,3]", OP_NO_MACS, OP_NO_FLOPS),
        COSTS("Tanh-13", NULL, "float[2,3]", "float[2,3]", OP_NO_MACS, OP_NO_FLOPS),
        COSTS("HardSwish-14", NULL, "float[2,3]", "float[2,3]", OP_NO_MACS, OP_NO_FLOPS),
        COSTS("HardSigmoid-6", NULL, "float[2,3]", "float[2,3]", OP_NO_MACS, OP_NO_FLOPS),
        COSTS("Relu-6", NULL, "float[0,3]", "float[0,3]", OP_NO_MACS, OP_NO_FLOPS),
        COSTS("Relu-6", NULL, "float[?,3]", "float[?,3]", OP_NO_MACS, DIM_UNKNOWN),
        GIVES("Relu-6", NULL, "float[*]", "float[*]"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void clip_reads_attributes_or_operands_by_opset(void **state) {
    static const struct op_case rows[] = {

        GIVES("Clip-6", "min=0.0 max=6.0", "float[2,3]", "float[2,3]"),
        GIVES("Clip-1", NULL, "float[2,3]", "float[2,3]"),
        GIVES("Clip-11", NULL, "float[2,3] - float[]", "float[2,3]"),
        GIVES("Clip-12", NULL, "int64[3]={-5,1,9} int64[]={0} int64[]={6}", "int64[3]={0,1,6}"),
        GIVES("Clip-12", NULL, "int64[2,2]={1,2,3,4} int64[0,1]={}", "int64[2,2]=?"),
        GIVES("Clip-12", NULL, "int64[3]={-5,1,9} - int64[]={6}", "int64[3]={-5,1,6}"),
        REFUSES("Clip-11", NULL, "float[2,3] float[2]", "float[*]",
                "input 1 must be a scalar, got [2]"),
        REFUSES("Clip-11", NULL, "float[2,3] int64[]", "float[*]",
                "input 1 must be of type float, got int64"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void prelu_broadcasts_slope_to_input_only(void **state) {
    static const struct op_case rows[] = {

        GIVES("PRelu-7", NULL, "float[1,24,8,8] float[24,1,1]", "float[1,24,8,8]"),
        GIVES("PRelu-1", NULL, "float[1,24,8,8] float[24]", "float[1,24,8,8]"),
        REFUSES("PRelu-7", NULL, "float[1,24] float[3,24]", "float[*]",
                "slope [3,24] does not broadcast to input [1,24]"),
        REFUSES("PRelu-6", NULL, "float[1,24,8] float[3]", "float[*]",
                "3 slopes for 24 channels"),
        PRINTS("PRelu-7", NULL, "float[1,24,8,8] float[24,1,1]", "float[1,24,8,8]",
               "num_parameters=24"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void the_dtype_of_a_dropout_mask_depends_on_the_opset(void **state) {
    static const struct op_case rows[] = {

        GIVES("Dropout-7", NULL, "float[2,3]", "float[2,3] float[2,3]"),
        GIVES("Dropout-10", NULL, "float[2,3]", "float[2,3] bool[2,3]"),
        GIVES("Dropout-12", NULL, "float[2,3] float[]={0.3} bool[]={1}",
              "float[2,3] bool[2,3]"),
        GIVES("Dropout-13", NULL, "float[2]={1,2} float[]={0.3} bool[]={0}", "float[2]={1,2}"),
        GIVES("Dropout-13", NULL, "float[2]={1,2} float[]={0.3} bool[]={1}", "float[2]=?"),
        COSTS("Dropout-13", NULL, "float[2,3] float[]={0.3} bool[]={1}", "float[2,3]",
              OP_NO_MACS, OP_NO_FLOPS),
        PRINTS("Dropout-7", "ratio=0.3", "float[2,3]", "float[2,3]", "p=0.3, inplace=False"),
        PRINTS("Dropout-13", NULL, "float[2,3] float[]={0.4}", "float[2,3]",
               "p=0.4, inplace=False"),
        PRINTS("Dropout-13", NULL, "float[2,3]", "float[2,3]", "p=0.5, inplace=False"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void an_activation_prints_as_its_module(void **state) {
    static const struct op_case rows[] = {

        PRINTS("Relu-6", NULL, "float[2]", "float[2]", ""),
        PRINTS("LeakyRelu-6", NULL, "float[2]", "float[2]", "negative_slope=0.01"),
        PRINTS("LeakyRelu-6", "alpha=0.2", "float[2]", "float[2]", "negative_slope=0.2"),
        PRINTS("Elu-6", NULL, "float[2]", "float[2]", "alpha=1.0"),
        PRINTS("Gelu-20", NULL, "float[2]", "float[2]", "approximate='none'"),
        PRINTS("Gelu-20", "approximate=tanh", "float[2]", "float[2]", "approximate='tanh'"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_activation_keeps_the_shape_and_costs_one_flop_per_element),
        cmocka_unit_test(clip_reads_attributes_or_operands_by_opset),
        cmocka_unit_test(prelu_broadcasts_slope_to_input_only),
        cmocka_unit_test(the_dtype_of_a_dropout_mask_depends_on_the_opset),
        cmocka_unit_test(an_activation_prints_as_its_module),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
