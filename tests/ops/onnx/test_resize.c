/* SPDX-License-Identifier: Apache-2.0 */
/* Resampling: see ops/onnx/resize.c. */
#include "op_harness.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void upsample_scales_every_axis(void **state) {
    static const struct op_case rows[] = {
        GIVES("Upsample-1", "height_scale=2.0 width_scale=1.5", "float[1,3,4,6]",
              "float[1,3,8,9]"),
        {.op = "Upsample-7",
         .attrs = "scales=[1.0,1.0,2.0,2.0]",
         .inputs = "float[1,3,4,6]",
         .outputs = "float[1,3,8,12]",
         .flops = 288,
         .describe = "scale_factor=2.0, mode='nearest'"},
        {.op = "Upsample-9",
         .attrs = "mode=linear",
         .inputs = "float[?,3,4,6] float[4]={1,1,2,3}",
         .outputs = "float[?,3,8,18]",
         .describe = "scale_factor=(2.0, 3.0), mode='bilinear'"},
        {.op = "Resize-10",
         .inputs = "float[1,3,4] float[3]={1,1,0.5}",
         .outputs = "float[1,3,2]",
         .describe = "scale_factor=0.5, mode='nearest'"},
        GIVES("Upsample-9", NULL, "float[1,3,4,6] float[4]", "float[?,?,?,?]"),
        GIVES("Upsample-9", NULL, "float[1,3,4,6] float[?]", "float[?,?,?,?]"),
        GIVES("Upsample-9", NULL, "float[*] float[4]={1,1,2,2}", "float[*]"),
        REFUSES("Upsample-9", NULL, "float[1,3] float[4]={1,1,2,2}", "float[*]",
                "scales has 4 entries, the input [1,3] has 2 axes"),
        REFUSES("Upsample-9", NULL, "float[3] float[1]={0}", "float[*]",
                "the scale of axis 0 is 0, expected above 0"),
        REFUSES("Upsample-9", NULL, "float[3] float[1]={-1}", "float[*]",
                "the scale of axis 0 is -1, expected above 0"),
        REFUSES("Upsample-9", NULL, "float[3] float[1]={nan}", "float[*]",
                "the scale of axis 0 is nan, expected above 0"),
        REFUSES("Upsample-9", NULL, "float[3] float[1]={1e30}", "float[*]",
                "axis 0 of 3 times 1e+30 is past 2^62"),
        REFUSES("Upsample-9", NULL, "float[1,3] float[1,2]={1,2}", "float[*]",
                "scales must be a list, got shape [1,2]"),
        GIVES("Upsample-9", NULL, "float[0] float[1]={2}", "float[0]"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void resize_takes_scales_or_sizes(void **state) {
    static const struct op_case rows[] = {
        {.op = "Resize-11",
         .attrs = "mode=cubic",
         .inputs = "float[1,3,4,4] float[0]={} float[4]={1,1,2,2}",
         .outputs = "float[1,3,8,8]",
         .flops = 192,
         .describe = "scale_factor=2.0, mode='bicubic'"},
        {.op = "Resize-11",
         .attrs = "mode=linear",
         .inputs = "float[1,3,4,4] float[0]={} float[0]={} int64[4]={1,3,7,9}",
         .outputs = "float[1,3,7,9]",
         .describe = "size=(7, 9), mode='bilinear'"},
        {.op = "Resize-13",
         .attrs = "mode=linear",
         .inputs = "float[1,3,4,4] - - int64[4]",
         .outputs = "float[?,?,?,?]",
         .describe = "mode='bilinear'"},
        GIVES("Resize-13", NULL, "float[1,3,4,4] - float[0] int64[4]={1,3,7,9}",
              "float[1,3,7,9]"),
        GIVES("Resize-13", NULL, "float[1,3,4,4] - float[?] int64[4]={1,3,7,9}",
              "float[1,3,7,9]"),
        GIVES("Resize-13", NULL, "float[1,3,4,4] - float[4]", "float[?,?,?,?]"),
        GIVES("Resize-13", NULL, "float[*] - float[2]={1,2}", "float[*]"),
        /* the scale and the product are rounded to float32 */
        GIVES("Resize-13", NULL, "float[5] - float[1]={0.6}", "float[3]"),
        GIVES("Resize-13", NULL, "float[10] - float[1]={0.15}", "float[1]"),
        GIVES("Resize-13", "coordinate_transformation_mode=tf_crop_and_resize",
              "float[10] float[2]={0.2,0.7} float[1]={2}", "float[10]"),
        GIVES("Resize-13", "coordinate_transformation_mode=tf_crop_and_resize",
              "float[10] float[2] float[1]={2}", "float[?]"),
        REFUSES("Resize-13", NULL, "float[1,3,4,4]", "float[*]",
                "neither scales and sizes are given, expected one of them"),
        REFUSES("Resize-13", NULL, "float[4] - float[1]={1} int64[1]={4}", "float[*]",
                "both scales and sizes are given, expected one of them"),
        REFUSES("Resize-13", NULL, "float[4,4] - - int64[1]={4}", "float[*]",
                "sizes has 1 entries for 2 axes"),
        REFUSES("Resize-13", NULL, "float[4] - - int64[1]={-4}", "float[*]",
                "the size of axis 0 is -4, less than 0"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void resize_18_reads_axes_and_may_keep_the_aspect_ratio(void **state) {
    static const struct op_case rows[] = {
        GIVES("Resize-18", "axes=[2,3]", "float[?,3,4,4] - float[2]={2,3}", "float[?,3,8,12]"),
        GIVES("Resize-18", "axes=[-1,-2]", "float[1,3,4,4] - - int64[2]={8,6}",
              "float[1,3,6,8]"),
        GIVES("Resize-18", "axes=[2]", "float[1,3,4,4] - - int64[1]", "float[1,3,?,4]"),
        GIVES("Resize-18", "axes=[0,1] keep_aspect_ratio_policy=not_larger",
              "float[4,2] - - int64[2]={7,8}", "float[7,4]"),
        GIVES("Resize-18", "axes=[0,1] keep_aspect_ratio_policy=not_smaller",
              "float[4,2] - - int64[2]={7,8}", "float[16,8]"),
        GIVES("Resize-19", "axes=[0,1] keep_aspect_ratio_policy=not_smaller",
              "float[?,2] - - int64[2]={7,8}", "float[?,?]"),
        REFUSES("Resize-18", "axes=[0,0]", "float[4,2] - - int64[2]={7,8}", "float[*]",
                "listed twice"),
        REFUSES("Resize-18", "axes=[2]", "float[4,2] - - int64[1]={7}", "float[*]",
                "out of range"),
        REFUSES("Resize-18", "axes=[0,1,0]", "float[4,2] - - int64[3]={7,7,7}", "float[*]",
                "axes has 3 entries, the input has 2 axes"),
        REFUSES("Resize-18", "keep_aspect_ratio_policy=not_smaller",
                "float[1,2] - - int64[2]={4611686018427387904,2}", "float[*]",
                "axis 0 would have 4.61169e+18 elements"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void grid_sample_has_the_shape_of_its_grid(void **state) {
    static const struct op_case rows[] = {
        {.op = "GridSample-16",
         .inputs = "float[2,3,4,5] float[2,6,7,2]",
         .outputs = "float[2,3,6,7]",
         .flops = OP_NO_FLOPS},
        GIVES("GridSample-20", NULL, "float[?,3,4,5,6] float[2,6,7,8,3]", "float[2,3,6,7,8]"),
        GIVES("GridSample-20", NULL, "float[*] float[2,6,7,2]", "float[2,?,6,7]"),
        GIVES("GridSample-20", NULL, "float[2,3,4,5] float[*]", "float[2,3,?,?]"),
        GIVES("GridSample-20", NULL, "float[*] float[*]", "float[*]"),
        REFUSES("GridSample-20", NULL, "float[2,3,4,5] float[2,6,2]", "float[*]",
                "input [2,3,4,5] and grid [2,6,2] do not fit"),
        GIVES("AffineGrid-20", NULL, "float[] int64[4]", "float[?,?,?,2]"),
        GIVES("AffineGrid-20", NULL, "float[2,2,3] int64[4]={2,3,5,6}", "float[2,5,6,2]"),
        GIVES("AffineGrid-20", NULL, "float[2,3,4] int64[5]={2,3,4,5,6}", "float[2,4,5,6,3]"),
        GIVES("AffineGrid-20", NULL, "float[2,2,3] int64[4]", "float[2,?,?,2]"),
        GIVES("AffineGrid-20", NULL, "float[2,2,3] int64[?]", "float[*]"),
        REFUSES("AffineGrid-20", NULL, "float[2,2,3] int64[3]={2,3,4}", "float[*]",
                "size has 3 entries, expected 4 or 5"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(upsample_scales_every_axis),
        cmocka_unit_test(resize_takes_scales_or_sizes),
        cmocka_unit_test(resize_18_reads_axes_and_may_keep_the_aspect_ratio),
        cmocka_unit_test(grid_sample_has_the_shape_of_its_grid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
