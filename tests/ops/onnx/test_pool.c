/* SPDX-License-Identifier: Apache-2.0 */
/* Pools: see ops/onnx/pool.c and ops/window.c. */
#include "op_harness.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void a_pool_has_the_shape_that_its_window_gives(void **state) {
    static const struct op_case rows[] = {

        GIVES("MaxPool-8", "kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1]",
              "float[1,64,112,112]", "float[1,64,56,56] int64[1,64,56,56]"),
        GIVES("MaxPool-1", "kernel_shape=[1024]", "float[32,1024,1024]", "float[32,1024,1]"),
        GIVES("MaxPool-12", "kernel_shape=[2,2] dilations=[2,2]", "int8[1,1,4,4]",
              "int8[1,1,2,2] -"),
        GIVES("AveragePool-7", "kernel_shape=[2,2,2]", "float[1,3,4,5,6]", "float[1,3,3,4,5]"),
        GIVES("AveragePool-19", "kernel_shape=[2] dilations=[3] ceil_mode=1", "float[1,3,8]",
              "float[1,3,5]"),
        GIVES("LpPool-18", "kernel_shape=[2] strides=[2] p=3", "float[1,3,7]", "float[1,3,3]"),
        GIVES("MaxPool-12", "kernel_shape=[3,3] auto_pad=SAME_UPPER strides=[2,2]",
              "float[1,3,5,6]", "float[1,3,3,3]"),
        GIVES("MaxPool-12", "kernel_shape=[3,3]", "float[*]", "float[?,?,?,?]"),
        GIVES("MaxPool-12", "kernel_shape=[3,3]", "float[?,?,?,5]", "float[?,?,?,3]"),
        GIVES("MaxPool-12", "kernel_shape=[3,3]", "float[0,4,5,5]", "float[0,4,3,3]"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void ceil_mode_windows_start_inside_the_input(void **state) {
    static const struct op_case rows[] = {

        GIVES("MaxPool-12", "kernel_shape=[2] strides=[2] ceil_mode=1", "float[1,1,5]",
              "float[1,1,3]"),
        GIVES("MaxPool-12", "kernel_shape=[2] strides=[2]", "float[1,1,5]", "float[1,1,2]"),
        /* (2 + 0 - 1) / 2 rounded up is 1, but window 1 would start at 2, after the input */
        GIVES("MaxPool-12", "kernel_shape=[1,1] strides=[2,2] ceil_mode=1", "float[1,1,2,2]",
              "float[1,1,1,1]"),
        /* a window may start in the left padding, but not in the right padding */
        GIVES("MaxPool-12", "kernel_shape=[2] strides=[3] pads=[1,1] ceil_mode=1",
              "float[1,1,6]", "float[1,1,3]"),
        GIVES("MaxPool-12", "kernel_shape=[2] strides=[3] pads=[0,1] ceil_mode=1",
              "float[1,1,6]", "float[1,1,2]"),
        GIVES("AveragePool-10", "kernel_shape=[3,3] strides=[2,2] ceil_mode=1",
              "float[1,1,4,4]", "float[1,1,2,2]"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void a_pool_refuses_windows_that_do_not_match(void **state) {
    static const struct op_case rows[] = {

        REFUSES("MaxPool-12", "kernel_shape=[3]", "float[1,3]", "float[*]",
                "input 0 must have rank >= 3, got [1,3]"),
        REFUSES("MaxPool-12", "kernel_shape=[3,3]", "float[1,3,9]", "float[*]",
                "attribute 'kernel_shape' must have 1 entries, got 2"),
        REFUSES("MaxPool-12", "kernel_shape=[]", "float[1,3,9]", "float[*]",
                "attribute 'kernel_shape' is empty"),
        REFUSES("MaxPool-12", "kernel_shape=[0]", "float[1,3,9]", "float[*]",
                "attribute 'kernel_shape' has 0, less than 1"),
        REFUSES("MaxPool-12", "kernel_shape=[3] strides=[0]", "float[1,3,9]", "float[*]",
                "attribute 'strides' has 0, less than 1"),
        REFUSES("MaxPool-12", "kernel_shape=[5]", "float[1,3,4]", "float[*]",
                "a kernel that spans 5 does not fit 4"),
        REFUSES("GlobalAveragePool-1", NULL, "float[1,3]", "float[*]", "must have rank >= 3"),
        REFUSES("MaxPool-12", "kernel_shape=[9223372036854775807] dilations=[3]",
                "float[1,3,4]", "float[*]", "past 2^63"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void global_pool_reduces_spatial_dims_to_1(void **state) {
    static const struct op_case rows[] = {

        GIVES("GlobalAveragePool-1", NULL, "float[2,512,7,7]", "float[2,512,1,1]"),
        GIVES("GlobalMaxPool-22", NULL, "float[?,512,?]", "float[?,512,1]"),
        GIVES("GlobalLpPool-2", "p=1", "float[*]", "float[*]"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void infers_roi_pools_unpooling_and_col2im(void **state) {
    static const struct op_case rows[] = {
        GIVES("Col2Im-18", NULL, "float[1,10,5] int64[2]={5,5} int64[2]={1,5}",
              "float[1,2,5,5]"),
        GIVES("Col2Im-18", NULL, "float[?,10,5] int64[2] int64[2]={1,5}", "float[?,2,?,?]"),
        REFUSES("Col2Im-18", NULL, "float[10,5] int64[2]={5,5} int64[2]={1,5}", "float[*]",
                "input 0 must have rank 3, got 2"),

        GIVES("MaxUnpool-9", "kernel_shape=[2,2] strides=[2,2]",
              "float[1,1,2,2] int64[1,1,2,2]", "float[1,1,4,4]"),
        GIVES("MaxUnpool-11", "kernel_shape=[2,2] strides=[2,2]",
              "float[1,1,2,2] int64[1,1,2,2] int64[4]={1,1,5,5}", "float[1,1,5,5]"),
        GIVES("MaxUnpool-11", "kernel_shape=[2,2]", "float[1,1,2,2] int64[1,1,2,2] int64[4]",
              "float[?,?,?,?]"),
        REFUSES("MaxUnpool-11", "kernel_shape=[2,2]",
                "float[1,1,2,2] int64[1,1,2,2] int64[0]={}", "float[*]",
                "output_shape has 0 entries, the input has rank 4"),
        REFUSES("MaxUnpool-11", "kernel_shape=[2,2]",
                "float[1,1,2,2] int64[1,1,2,2] int64[1,1]", "float[*]", "must be a list"),
        REFUSES("MaxUnpool-11", "kernel_shape=[2,2]",
                "float[1,1,2,2] int64[1,1,2,2] int64[3]={1,1,5}", "float[*]",
                "output_shape has 3 entries, the input has rank 4"),
        GIVES("MaxRoiPool-1", "pooled_shape=[7,6]", "float[1,256,50,60] float[100,5]",
              "float[100,256,7,6]"),
        REFUSES("MaxRoiPool-1", "pooled_shape=[7]", "float[1,256,50,60] float[100,5]",
                "float[*]", "pooled_shape must have 2 entries, got 1"),
        REFUSES("MaxRoiPool-1", "pooled_shape=[7,6]", "float[1,256,50,60] float[100]",
                "float[*]", "input 1 must have rank 2, got 1"),
        REFUSES("MaxRoiPool-1", "pooled_shape=[7,0]", "float[1,256,50,60] float[100,5]",
                "float[*]", "a region of 7 x 0 is empty"),
        GIVES("RoiAlign-16", "output_height=7 output_width=7",
              "float[1,256,?,?] float[?,4] int64[?]", "float[?,256,7,7]"),
        GIVES("RoiAlign-10", NULL, "float[*] float[*] int64[*]", "float[?,?,1,1]"),
        REFUSES("RoiAlign-10", NULL, "float[1,2,3] float[5,4] int64[5]", "float[*]",
                "input 0 must have rank 4, got 3"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void a_pool_costs_its_input(void **state) {
    static const struct op_case rows[] = {

        COSTS("MaxPool-12", "kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1]",
              "float[1,64,112,112]", "float[1,64,56,56]", OP_NO_MACS, 802816),
        COSTS("GlobalAveragePool-1", NULL, "float[1,2048,7,7]", "float[1,2048,1,1]", OP_NO_MACS,
              100352),
        COSTS("MaxUnpool-9", "kernel_shape=[2,2]", "float[1,1,2,2] int64[1,1,2,2]",
              "float[1,1,3,3]", OP_NO_MACS, OP_NO_FLOPS),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void a_pool_prints_as_its_module(void **state) {
    static const struct op_case rows[] = {

        PRINTS("MaxPool-12", "kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1]",
               "float[1,64,112,112]", "float[1,64,56,56]",
               "kernel_size=3, stride=2, padding=1, dilation=1, ceil_mode=False"),
        PRINTS("MaxPool-12", "kernel_shape=[3,2] ceil_mode=1", "float[1,6,11,11]",
               "float[1,6,9,10]",
               "kernel_size=(3, 2), stride=1, padding=0, dilation=1, ceil_mode=True"),
        PRINTS("MaxPool-12", "kernel_shape=[3,3] pads=[0,0,1,1]", "float[1,6,11,11]",
               "float[1,6,10,10]",
               "kernel_size=3, stride=1, padding=(0, 0, 1, 1), dilation=1, ceil_mode=False"),
        PRINTS("AveragePool-7", "kernel_shape=[2,2] strides=[2,2]", "float[1,6,10,10]",
               "float[1,6,5,5]", "kernel_size=2, stride=2, padding=0"),
        PRINTS("GlobalAveragePool-1", NULL, "float[1,6,10,10]", "float[1,6,1,1]",
               "output_size=(1, 1)"),
        PRINTS("GlobalAveragePool-1", NULL, "float[1,6,10]", "float[1,6,1]", "output_size=1"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pool_has_the_shape_that_its_window_gives),
        cmocka_unit_test(ceil_mode_windows_start_inside_the_input),
        cmocka_unit_test(a_pool_refuses_windows_that_do_not_match),
        cmocka_unit_test(global_pool_reduces_spatial_dims_to_1),
        cmocka_unit_test(infers_roi_pools_unpooling_and_col2im),
        cmocka_unit_test(a_pool_costs_its_input),
        cmocka_unit_test(a_pool_prints_as_its_module),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
