/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions: see ops/onnx/convolution.c. Costs are computed by hand. */
#include "op_harness.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void a_convolution_has_the_shape_that_its_window_gives(void **state) {
    static const struct op_case rows[] = {

        GIVES("Conv-11", "kernel_shape=[7,7] strides=[2,2] pads=[3,3,3,3]",
              "float[1,3,224,224] float[64,3,7,7]", "float[1,64,112,112]"),
        GIVES("Conv-1", NULL, "float[2,4,10] float[5,4,3] float[5]", "float[2,5,8]"),
        GIVES("Conv-22", "dilations=[2,3] pads=[2,0,2,0]", "float[1,2,9,20] float[4,2,3,3]",
              "float[1,4,9,14]"),
        GIVES("Conv-11", "pads=[0,1,2,0] strides=[2,1]", "float[1,1,5,5] float[1,1,3,3]",
              "float[1,1,3,4]"),
        GIVES("Conv-11", "auto_pad=SAME_UPPER strides=[2,3]", "float[1,1,5,7] float[1,1,3,3]",
              "float[1,1,3,3]"),
        GIVES("Conv-11", "auto_pad=SAME_LOWER", "float[1,1,5,7] float[1,1,2,2]",
              "float[1,1,5,7]"),
        GIVES("Conv-11", "auto_pad=VALID pads=[9,9,9,9]", "float[1,1,5,5] float[1,1,3,3]",
              "float[1,1,3,3]"),
        GIVES("Conv-11", "group=4", "float[1,8,5,5] float[12,2,1,1]", "float[1,12,5,5]"),
        GIVES("Conv-11", NULL, "float16[1,3,8,9,10] float16[2,3,2,2,2]", "float16[1,2,7,8,9]"),
        GIVES("Conv-11", "pads=[] strides=[]", "float[1,1,5] float[1,1,3]", "float[1,1,3]"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void convolution_propagates_unknown_dims(void **state) {
    static const struct op_case rows[] = {

        GIVES("Conv-11", NULL, "float[0,3,8,8] float[2,3,3,3]", "float[0,2,6,6]"),
        GIVES("Conv-11", "pads=[1,1]", "float[1,3,0] float[2,3,3]", "float[1,2,0]"),
        GIVES("Conv-11", NULL, "float[?,3,?,8] float[2,3,3,3]", "float[?,2,?,6]"),
        GIVES("Conv-11", NULL, "float[?,?,8,8] float[2,3,?,3]", "float[?,2,?,6]"),
        GIVES("Conv-11", "kernel_shape=[3,3]", "float[1,3,8,8] float[?,?,?,?]",
              "float[1,?,6,6]"),
        GIVES("Conv-11", NULL, "float[*] float[2,3,3,3]", "float[?,2,?,?]"),
        GIVES("Conv-11", NULL, "float[1,3,8,8] float[*]", "float[1,?,?,?]"),
        GIVES("Conv-11", NULL, "float[*] float[*]", "float[*]"),
        GIVES("Conv-11", NULL, "? ?", "undefined[*]"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void a_convolution_refuses_operands_that_do_not_match(void **state) {
    static const struct op_case rows[] = {

        REFUSES("Conv-11", NULL, "float[1,64,56,56] float[64,32,3,3]", "float[*]",
                "input has 64 channels, weight expects 32 x 1 groups"),
        REFUSES("Conv-11", "group=2", "float[1,64,56,56] float[64,64,3,3]", "float[*]",
                "weight expects 64 x 2 groups"),
        REFUSES("Conv-11", "group=2", "float[1,4,5] float[3,2,1]", "float[*]",
                "3 filters do not divide into 2 groups"),
        REFUSES("Conv-11", "group=0", "float[1,4,5] float[3,2,1]", "float[*]",
                "group must be >= 1, got 0"),
        REFUSES("Conv-11", NULL, "float[1,4,5,5] float[3,4,1]", "float[*]",
                "input [1,4,5,5] and weight [3,4,1] differ in rank"),
        REFUSES("Conv-11", NULL, "float[1,4] float[3,4]", "float[*]",
                "input and weight must have rank >= 3, got 2"),
        REFUSES("Conv-11", "strides=[0]", "float[1,4,5] float[3,4,1]", "float[*]",
                "attribute 'strides' has 0, less than 1"),
        REFUSES("Conv-11", "strides=[1,1]", "float[1,4,5] float[3,4,1]", "float[*]",
                "attribute 'strides' must have 1 entries, got 2"),
        REFUSES("Conv-11", "dilations=[-1]", "float[1,4,5] float[3,4,1]", "float[*]",
                "attribute 'dilations' has -1, less than 1"),
        REFUSES("Conv-11", "kernel_shape=[-3]", "float[1,4,5] float[3,4,3]", "float[*]",
                "attribute 'kernel_shape' has -3, less than 1"),
        REFUSES("Conv-11", "kernel_shape=[5]", "float[1,4,9] float[3,4,3]", "float[*]",
                "kernel_shape has 5 on spatial axis 0, the weight has 3"),
        REFUSES("Conv-11", "pads=[1]", "float[1,4,5] float[3,4,1]", "float[*]",
                "attribute 'pads' must have 2 entries, got 1"),
        REFUSES("Conv-11", "pads=[-1,0]", "float[1,4,5] float[3,4,1]", "float[*]",
                "attribute 'pads' has -1, less than 0"),
        REFUSES("Conv-11", "auto_pad=SAME", "float[1,4,5] float[3,4,1]", "float[*]",
                "auto_pad is none of NOTSET, SAME_UPPER, SAME_LOWER, VALID"),
        REFUSES("Conv-11", NULL, "float[1,4,5] float[3,4,7]", "float[*]",
                "a kernel that spans 7 does not fit 5"),
        REFUSES("Conv-11", NULL, "float[1,4,5] float[3,4,0]", "float[*]",
                "the kernel is empty on spatial axis 0"),
        REFUSES("Conv-11", NULL, "float[1,4,5] float[3,4,1] float[4]", "float[*]",
                "input 2 must have shape [3], got [4]"),
        REFUSES("Conv-11", NULL, "float[1,4,5] float[?,4,1] float[3,1]", "float[*]",
                "input 2 must have rank 1, got [3,1]"),
        REFUSES("Conv-11", NULL, "float[1,4,5] float16[3,4,1]", "float[*]",
                "input 1 must be of type float, got float16"),
        REFUSES("Conv-11", "pads=[9223372036854775807,9223372036854775807]",
                "float[1,4,5] float[3,4,1]", "float[*]", "past 2^63"),
        REFUSES("DeformConv-19", "offset_group=0",
                "float[1,1,3,3] float[1,1,2,2] float[1,8,2,2]", "float[*]",
                "offset_group must be >= 1, got 0"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void a_transposed_convolution_infers_the_larger_output(void **state) {
    static const struct op_case rows[] = {

        GIVES("ConvTranspose-11", "strides=[2,2]", "float[1,64,28,28] float[64,32,2,2]",
              "float[1,32,56,56]"),
        GIVES("ConvTranspose-1", "strides=[3,2] output_padding=[1,1]",
              "float[1,1,3,3] float[1,2,3,3]", "float[1,2,10,8]"),
        GIVES("ConvTranspose-11", "strides=[3,2] output_shape=[10,8]",
              "float[1,1,3,3] float[1,2,3,3]", "float[1,2,10,8]"),
        GIVES("ConvTranspose-11", "strides=[3,2] output_shape=[1,2,10,8]",
              "float[1,1,3,3] float[1,2,3,3]", "float[1,2,10,8]"),
        GIVES("ConvTranspose-11", "strides=[3,2] pads=[1,2,1,2]",
              "float[1,1,3,3] float[1,2,3,3]", "float[1,2,7,3]"),
        GIVES("ConvTranspose-11", "dilations=[2,2]", "float[1,1,3,3] float[1,1,2,2]",
              "float[1,1,5,5]"),
        GIVES("ConvTranspose-11", "auto_pad=SAME_UPPER strides=[2,2]",
              "float[1,1,3,3] float[1,2,3,3]", "float[1,2,6,6]"),
        GIVES("ConvTranspose-11", "group=3", "float[1,6,4] float[6,5,3]", "float[1,15,6]"),
        GIVES("ConvTranspose-11", "strides=[2]", "float[?,4,?] float[4,5,2]", "float[?,5,?]"),
        GIVES("ConvTranspose-11", "strides=[2]", "float[*] float[4,5,2]", "float[?,5,?]"),
        REFUSES("ConvTranspose-11", NULL, "float[1,3,4] float[4,5,2]", "float[*]",
                "input has 3 channels, weight expects 4"),
        REFUSES("ConvTranspose-11", "group=3", "float[1,4,4] float[4,5,2]", "float[*]",
                "4 channels do not divide into 3 groups"),
        REFUSES("ConvTranspose-11", "output_padding=[-1]", "float[1,4,4] float[4,5,2]",
                "float[*]", "output_padding is negative on spatial axis 0"),
        REFUSES("ConvTranspose-11", "output_padding=[1,1]", "float[1,4,4] float[4,5,2]",
                "float[*]", "output_padding must have 1 entries, got 2"),
        REFUSES("ConvTranspose-11", "output_shape=[1,2,3,4]", "float[1,4,4] float[4,5,2]",
                "float[*]", "output_shape must have 1 entries, got 4"),
        REFUSES("ConvTranspose-11", "pads=[5,5]", "float[1,4,4] float[4,5,2]", "float[*]",
                "would have the shape [1,5,-5]"),
        REFUSES("ConvTranspose-11", "group=4611686018427387904", "float[1,?,4] float[?,4,2]",
                "float[*]", "past 2^63"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void a_convolution_costs_a_kernel_for_each_output(void **state) {
    static const struct op_case rows[] = {

        /* 64*112*112 outputs of 3*7*7 MACs */
        COSTS("Conv-11", "strides=[2,2] pads=[3,3,3,3]", "float[1,3,224,224] float[64,3,7,7]",
              "float[1,64,112,112]", 118013952, 236027904),
        /* a bias adds one for each output: 2*5*8 */
        COSTS("Conv-11", NULL, "float[2,4,10] float[5,4,3] float[5]", "float[2,5,8]", 960,
              2000),
        /* grouped: 12*5*5 outputs of 2 MACs */
        COSTS("Conv-11", "group=4", "float[1,8,5,5] float[12,2,1,1]", "float[1,12,5,5]", 600,
              1200),
        /* depthwise: 8*6*6 outputs of 9 MACs */
        COSTS("Conv-11", "group=8 pads=[1,1,1,1]", "float[1,8,6,6] float[8,1,3,3]",
              "float[1,8,6,6]", 2592, 5184),
        /* dilation changes the number of outputs only: 4*9*14 of 18 MACs */
        COSTS("Conv-11", "dilations=[2,3] pads=[2,0,2,0]", "float[1,2,9,20] float[4,2,3,3]",
              "float[1,4,9,14]", 9072, 18144),
        /* 3-D: 2*7*8*9 of 24 MACs */
        COSTS("Conv-11", NULL, "float[1,3,8,9,10] float[2,3,2,2,2]", "float[1,2,7,8,9]", 24192,
              48384),
        COSTS("Conv-11", NULL, "float[0,3,8,8] float[2,3,3,3]", "float[0,2,6,6]", OP_NO_MACS,
              OP_NO_FLOPS),
        COSTS("Conv-11", NULL, "float[?,3,8,8] float[2,3,3,3]", "float[?,2,6,6]", DIM_UNKNOWN,
              DIM_UNKNOWN),
        COSTS("Conv-11", NULL, "float[4611686018427387904,3,8] float[2,3,3]",
              "float[4611686018427387904,2,6]", DIM_OVERFLOW, DIM_OVERFLOW),
        COSTS("DeformConv-19", NULL, "float[1,1,3,3] float[1,1,2,2] float[1,8,2,2] float[1]",
              "float[1,1,2,2]", 16, 36),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void a_transposed_convolution_costs_a_kernel_for_each_input(void **state) {
    static const struct op_case rows[] = {

        /* 64*28*28 inputs of 32*2*2 MACs */
        COSTS("ConvTranspose-11", "strides=[2,2]", "float[1,64,28,28] float[64,32,2,2]",
              "float[1,32,56,56]", 6422528, 12845056),
        /* grouped, with a bias: 24 inputs of 15 MACs, 15*6 outputs */
        COSTS("ConvTranspose-11", "group=3", "float[1,6,4] float[6,5,3] float[15]",
              "float[1,15,6]", 360, 810),
        COSTS("ConvTranspose-11", "strides=[2,2,2]", "float[1,4,2,3,4] float[4,2,2,2,2]",
              "float[1,2,4,6,8]", 1536, 3072),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void a_convolution_prints_as_its_module(void **state) {
    static const struct op_case rows[] = {

        PRINTS("Conv-11", "strides=[2,2] pads=[3,3,3,3]", "float[1,3,224,224] float[64,3,7,7]",
               "float[1,64,112,112]",
               "3, 64, kernel_size=(7, 7), stride=(2, 2), padding=(3, 3), bias=False"),
        PRINTS("Conv-11", NULL, "float[2,3,9] float[64,3,1] float[64]", "float[2,64,9]",
               "3, 64, kernel_size=(1,), stride=(1,)"),
        PRINTS("Conv-11", "group=8 dilations=[2,2] pads=[0,0,1,1]",
               "float[1,8,9,9] float[8,1,3,3] float[8]", "float[1,8,6,6]",
               "8, 8, kernel_size=(3, 3), stride=(1, 1), dilation=(2, 2), groups=8"),
        PRINTS("Conv-11", "auto_pad=SAME_UPPER", "float[1,8,9] float[8,8,3] float[8]",
               "float[1,8,9]", "8, 8, kernel_size=(3,), stride=(1,), padding=same"),
        PRINTS("ConvTranspose-11", "group=3 strides=[2] output_padding=[1] pads=[1,1]",
               "float[1,6,4] float[6,5,3]", "float[1,15,8]",
               "6, 15, kernel_size=(3,), stride=(2,), padding=(1,), output_padding=(1,), "
               "groups=3, bias=False"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_convolution_has_the_shape_that_its_window_gives),
        cmocka_unit_test(convolution_propagates_unknown_dims),
        cmocka_unit_test(a_convolution_refuses_operands_that_do_not_match),
        cmocka_unit_test(a_transposed_convolution_infers_the_larger_output),
        cmocka_unit_test(a_convolution_costs_a_kernel_for_each_output),
        cmocka_unit_test(a_transposed_convolution_costs_a_kernel_for_each_input),
        cmocka_unit_test(a_convolution_prints_as_its_module),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
