/* SPDX-License-Identifier: Apache-2.0 */
/* Slice, Split, Pad and CenterCropPad: see ops/onnx/slice.c. */
#include "op_harness.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define MOST  "9223372036854775807"
#define LEAST "-9223372036854775808"

static void slice_cuts_its_axes(void **state) {
    static const struct op_case rows[] = {
        GIVES("Slice-1", "starts=[1] ends=[3]", "float[5,6]", "float[2,6]"),
        GIVES("Slice-1", "axes=[1] starts=[-2] ends=[" MOST "]", "float[5,6]", "float[5,2]"),
        GIVES("Slice-10", NULL, "float[5,6] int64[1]={0} int64[1]={4} int64[1]={1}",
              "float[5,4]"),
        GIVES("Slice-13", NULL,
              "float[5,6] int64[2]={1,5} int64[2]={1000,1} int64[2]={0,1} "
              "int64[2]={2,-2}",
              "float[2,2]"),
        GIVES("Slice-13", NULL,
              "float[5] int64[1]={-1} int64[1]={" LEAST "} int64[1]={0} int64[1]={-1}",
              "float[5]"),
        GIVES("Slice-13", NULL,
              "float[5] int64[1]={" MOST "} int64[1]={" LEAST "} int64[1]={0} "
              "int64[1]={" LEAST "}",
              "float[1]"),
        GIVES("Slice-13", NULL,
              "float[5] int64[1]={" LEAST "} int64[1]={" MOST "} - int64[1]={" MOST "}",
              "float[1]"),
        GIVES("Slice-13", NULL, "float[5] int64[1]={3} int64[1]={3}", "float[0]"),
        GIVES("Slice-13", NULL, "float[5] int64[1]={4} int64[1]={2}", "float[0]"),
        GIVES("Slice-13", NULL, "float[0] int64[1]={0} int64[1]={2}", "float[0]"),
        GIVES("Slice-13", NULL,
              "float[0] int64[1]={0} int64[1]={-9} int64[1]={0} int64[1]={-1}", "float[0]"),
        GIVES("Slice-13", NULL,
              "float[3,4,5] int32[1]={-1} int32[1]={-3} int32[1]={-2} int32[1]={-1}",
              "float[3,2,5]"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void slice_with_unknown_bounds_has_unknown_dims_on_its_axes(void **state) {
    static const struct op_case rows[] = {
        GIVES("Slice-13", NULL, "float[?,6] int64[1]={0} int64[1]={2} int64[1]={0}",
              "float[?,6]"),
        GIVES("Slice-13", NULL, "float[5,6] int64[1] int64[1]={2} int64[1]={0}", "float[?,6]"),
        GIVES("Slice-13", NULL, "float[5,6] int64[1] int64[1] int64[1]={0}", "float[?,6]"),
        GIVES("Slice-13", NULL, "float[5,6] int64[1]={0} int64[1]={2} int64[1]", "float[?,?]"),
        GIVES("Slice-13", NULL, "float[5,6] int64[1]={0} int64[1]={2} int64[1]={0} int64[1]",
              "float[?,6]"),
        GIVES("Slice-13", NULL, "float[5,6] int64[1]={0} int64[1]", "float[?,6]"),
        GIVES("Slice-13", NULL, "float[5,6] int64[?] int64[?]", "float[?,?]"),
        GIVES("Slice-13", NULL, "float[*] int64[1]={0} int64[1]={2}", "float[*]"),
        GIVES("Slice-13", NULL, "? ? ?", "undefined[*]"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void slice_folds_known_elements(void **state) {
    static const struct op_case rows[] = {
        GIVES("Slice-1", "starts=[1] ends=[3]", "int64[4]={1,2,3,4}", "int64[2]={2,3}"),
        GIVES("Slice-13", NULL,
              "int64[4]={1,2,3,4} int64[1]={-1} int64[1]={" LEAST "} int64[1]={0} "
              "int64[1]={-2}",
              "int64[2]={4,2}"),
        GIVES("Slice-13", NULL,
              "int64[2,3]={1,2,3,4,5,6} int64[1]={1} int64[1]={" MOST "} int64[1]={1}",
              "int64[2,2]={2,3,5,6}"),
        GIVES("Slice-13", NULL, "float[100000]=*5 int64[1]={1} int64[1]={99999}",
              "float[99998]=*5"),
        GIVES("Slice-13", NULL, "int64[2]={1,2} int64[1]={2} int64[1]={9}", "int64[0]={}"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void slice_refuses_invalid_operands(void **state) {
    static const struct op_case rows[] = {
        REFUSES("Slice-13", NULL,
                "float[5] int64[1]={0} int64[1]={2} int64[1]={0} int64[1]={0}", "float[*]",
                "the step of axis 0 is 0"),
        REFUSES("Slice-13", NULL, "float[5,6] int64[2]={0,0} int64[2]={2,2} int64[2]={0,-2}",
                "float[*]", "axis 0 is sliced twice"),
        REFUSES("Slice-13", NULL, "float[5] int64[1]={0} int64[2]={2,2}", "float[*]",
                "ends has 2 entries, starts has 1"),
        REFUSES("Slice-13", NULL, "float[5] int64[1]={0} int64[1]={2} int64[1]={1}", "float[*]",
                "out of range"),
        REFUSES("Slice-13", NULL, "float[5] int64[2]={0,0} int64[2]={2,2}", "float[*]",
                "out of range"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void split_gives_each_output_its_part(void **state) {
    static const struct op_case rows[] = {
        GIVES("Split-2", "axis=1 split=[1,3]", "float[2,4]", "float[2,1] float[2,3]"),
        GIVES("Split-1", NULL, "float[6]", "float[2] float[2] float[2]"),
        GIVES("Split-11", "axis=-1", "float[2,4]", "float[2,2] float[2,2]"),
        GIVES("Split-13", NULL, "float[6,2] int64[2]={4,2}", "float[4,2] float[2,2]"),
        GIVES("Split-13", NULL, "float[6,2] int64[2]", "float[?,2] float[?,2]"),
        GIVES("Split-13", NULL, "float[?,2] int64[2]={4,2}", "float[4,2] float[2,2]"),
        GIVES("Split-13", NULL, "float[?,2]", "float[?,2] float[?,2]"),
        GIVES("Split-13", NULL, "float[*]", "float[*] float[*]"),
        GIVES("Split-13", NULL, "float[6] int64[2]={4,2}", "- float[2]"),
        GIVES("Split-18", "num_outputs=4", "float[7]", "float[2] float[2] float[2] float[1]"),
        GIVES("Split-18", "num_outputs=2", "float[0]", "float[0] float[0]"),
        GIVES("Split-18", "num_outputs=2", "float[?]", "float[?] float[?]"),
        GIVES("Split-13", NULL, "int64[3]={1,2,3} int64[2]={2,1}",
              "int64[2]={1,2} int64[1]={3}"),
        GIVES("Split-11", "axis=1", "int64[2,2]={1,2,3,4}",
              "int64[2,1]={1,3} int64[2,1]={2,4}"),
        REFUSES("Split-13", NULL, "float[7]", "float[*] float[*]",
                "an axis of 7 does not split into 2 equal parts"),
        REFUSES("Split-13", NULL, "float[7] int64[2]={4,2}", "float[*] float[*]",
                "split adds up to 6, the axis has 7"),
        REFUSES("Split-13", NULL, "float[2] int64[2]={9223372036854775807,1}",
                "float[*] float[*]", "split adds up to >= 2^63, the axis has 2"),
        REFUSES("Split-13", NULL, "float[7] int64[2]={8,-1}", "float[*] float[*]",
                "part 1 of split is -1, less than 0"),
        REFUSES("Split-13", NULL, "float[7] int64[1]={7}", "float[*] float[*]",
                "split has 1 entries, the node has 2 outputs"),
        REFUSES("Split-18", "num_outputs=3", "float[7]", "float[*] float[*]",
                "num_outputs is 3, the node has 2 outputs"),
        REFUSES("Split-18", "num_outputs=2", "float[7] int64[2]={4,3}", "float[*] float[*]",
                "both split and num_outputs are given"),
        REFUSES("Split-13", "axis=1", "float[7]", "float[*]", "out of range"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void pad_adds_margins(void **state) {
    static const struct op_case rows[] = {
        GIVES("Pad-1", "paddings=[0,1,0,2]", "float[2,3]", "float[2,6]"),
        GIVES("Pad-2", "pads=[0,1,0,2] mode=reflect", "float[2,3]", "float[2,6]"),
        GIVES("Pad-11", NULL, "float[2,3] int64[4]={0,-1,0,-1}", "float[2,1]"),
        GIVES("Pad-13", NULL, "float[?,3] int64[4]={0,1,0,1}", "float[?,5]"),
        GIVES("Pad-13", NULL, "float[2,3] int64[4]", "float[?,?]"),
        GIVES("Pad-13", NULL, "float[*] int64[4]={0,1,0,1}", "float[*]"),
        GIVES("Pad-18", NULL, "float[2,3] int64[2]={1,1} - int64[1]={-1}", "float[2,5]"),
        GIVES("Pad-18", NULL, "float[2,3] int64[2] - int64[1]={0}", "float[?,3]"),
        GIVES("Pad-18", NULL, "float[2,3] int64[2]={1,1} - int64[1]", "float[?,?]"),
        REFUSES("Pad-13", NULL, "float[2,3] int64[2]={1,1}", "float[*]",
                "pads has 2 entries, expected 2 for each of 2 axes"),
        REFUSES("Pad-13", NULL, "float[2] int64[2]={-2,-1}", "float[*]",
                "pads -2 and -1 make dimension 2 negative"),
        REFUSES("Pad-18", NULL, "float[2,3] int64[4]={1,1,1,1} - int64[2]={0,0}", "float[*]",
                "axis 0 is padded twice"),
        REFUSES("Pad-13", NULL, "float[2] int64[2]={9223372036854775807,1}", "float[*]",
                "2^63"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void pad_folds_in_every_mode(void **state) {
    static const struct op_case rows[] = {
        GIVES("Pad-11", NULL, "int64[2]={1,2} int64[2]={1,2}", "int64[5]={0,1,2,0,0}"),
        GIVES("Pad-11", NULL, "int64[2]={1,2} int64[2]={1,0} int64[]={9}", "int64[3]={9,1,2}"),
        GIVES("Pad-11", NULL, "int64[3]={1,2,3} int64[2]={-1,0}", "int64[2]={2,3}"),
        GIVES("Pad-11", "mode=edge", "int64[2]={1,2} int64[2]={2,1}", "int64[5]={1,1,1,2,2}"),
        GIVES("Pad-11", "mode=reflect", "int64[3]={1,2,3} int64[2]={2,2}",
              "int64[7]={3,2,1,2,3,2,1}"),
        GIVES("Pad-19", "mode=wrap", "int64[3]={1,2,3} int64[2]={1,1}", "int64[5]={3,1,2,3,1}"),
        GIVES("Pad-2", "pads=[1,0]", "float[1]={5}", "float[2]={0,5}"),
        GIVES("Pad-2", "pads=[1,0] value=2.5", "float[1]={5}", "float[2]=?"),
        GIVES("Pad-11", NULL, "int64[0]={} int64[2]={1,1} int64[]={3}", "int64[2]={3,3}"),
        GIVES("Pad-11", "mode=edge", "int64[0]={} int64[2]={1,1}", "int64[2]=?"),
        GIVES("Pad-11", NULL, "int64[2]=*7 int64[2]={1,0}", "int64[3]={0,7,7}"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void center_crop_pad_takes_its_sizes(void **state) {
    static const struct op_case rows[] = {
        GIVES("CenterCropPad-18", NULL, "float[5,6] int64[2]={3,9}", "float[3,9]"),
        GIVES("CenterCropPad-18", "axes=[-1]", "float[5,6] int64[1]={3}", "float[5,3]"),
        GIVES("CenterCropPad-18", "axes=[0]", "float[5,6] int64[1]", "float[?,6]"),
        REFUSES("CenterCropPad-18", NULL, "float[5,6] int64[1]={3}", "float[*]",
                "shape has 1 entries, expected one for each of 2 axes"),
        GIVES("CenterCropPad-18", NULL, "float[*] int64[1]={3}", "float[*]"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slice_cuts_its_axes),
        cmocka_unit_test(slice_with_unknown_bounds_has_unknown_dims_on_its_axes),
        cmocka_unit_test(slice_folds_known_elements),
        cmocka_unit_test(slice_refuses_invalid_operands),
        cmocka_unit_test(split_gives_each_output_its_part),
        cmocka_unit_test(pad_adds_margins),
        cmocka_unit_test(pad_folds_in_every_mode),
        cmocka_unit_test(center_crop_pad_takes_its_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
