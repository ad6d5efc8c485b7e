/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that move elements: see ops/onnx/move.c. */
#include "op_harness.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void transpose_permutes_axes(void **state) {
    static const struct op_case rows[] = {
        GIVES("Transpose-1", "perm=[2,0,1]", "float[2,3,4]", "float[4,2,3]"),
        GIVES("Transpose-13", NULL, "float[2,3,4]", "float[4,3,2]"),
        GIVES("Transpose-13", NULL, "float[]", "float[]"),
        GIVES("Transpose-13", "perm=[0,2,1]", "float[?,3,?]", "float[?,?,3]"),
        GIVES("Transpose-13", "perm=[1,0]", "float[*]", "float[*]"),
        GIVES("Transpose-13", "perm=[1,0]", "int64[2,3]={1,2,3,4,5,6}",
              "int64[3,2]={1,4,2,5,3,6}"),
        GIVES("Transpose-13", "perm=[1,0]", "float[0,3]={}", "float[3,0]={}"),
        GIVES("Transpose-13", "perm=[1,0]", "float[1000,1000]=*3", "float[1000,1000]=*3"),
        REFUSES("Transpose-13", "perm=[1,0]", "float[2,3,4]", "float[*]",
                "perm has 2 entries, the input has 3 axes"),
        REFUSES("Transpose-13", "perm=[0,0]", "float[2,3]", "float[*]",
                "perm is not a permutation of 2 axes"),
        REFUSES("Transpose-13", "perm=[0,2]", "float[2,3]", "float[*]",
                "perm is not a permutation of 2 axes"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void concat_joins_along_its_axis(void **state) {
    static const struct op_case rows[] = {
        GIVES("Concat-1", NULL, "float[2,3] float[2,4]", "float[2,7]"),
        GIVES("Concat-4", "axis=0", "float[2,3] float[5,3] float[1,3]", "float[8,3]"),
        GIVES("Concat-13", "axis=-1", "float[2,3] float[2,4]", "float[2,7]"),
        GIVES("Concat-13", "axis=1", "float[2,3]", "float[2,3]"),
        GIVES("Concat-13", "axis=1", "float[?,3] float[2,?]", "float[2,?]"),
        GIVES("Concat-13", "axis=1", "float[*] float[2,4]", "float[2,?]"),
        GIVES("Concat-13", "axis=1", "float[*] ?", "float[*]"),
        GIVES("Concat-13", "axis=1", "float[2,0] float[2,4]", "float[2,4]"),
        GIVES("Concat-13", "axis=0", "int64[1]={1} int64[2]={2,3}", "int64[3]={1,2,3}"),
        GIVES("Concat-13", "axis=1", "int64[2,1]={1,2} int64[2,2]={3,4,5,6}",
              "int64[2,3]={1,3,4,2,5,6}"),
        GIVES("Concat-13", "axis=0", "float[1]={0.5} float[3]=*2", "float[4]={0.5,2,2,2}"),
        GIVES("Concat-13", "axis=0", "float[70000]=*1 float[1]=*1", "float[70001]=?"),
        GIVES("Concat-13", "axis=0", "int64[1] int64[1]={1}", "int64[2]=?"),
        REFUSES("Concat-13", "axis=0", "float[2,3] float[2,4]", "float[*]",
                "input 1 [2,4] has 4 on axis 1, those before it 3"),
        REFUSES("Concat-13", "axis=0", "float[2,3] float[2]", "float[*]",
                "input 1 [2] has 1 axes, those before it 2"),
        REFUSES("Concat-13", "axis=2", "float[2,3]", "float[*]", "out of range"),
        REFUSES("Concat-13", "axis=0", "float[9223372036854775807] float[9]", "float[*]",
                "2^63"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void expand_broadcasts_both_ways(void **state) {
    static const struct op_case rows[] = {
        GIVES("Expand-8", NULL, "float[3,1] int64[3]={2,1,6}", "float[2,3,6]"),
        GIVES("Expand-13", NULL, "float[3,4] int64[1]={1}", "float[3,4]"),
        GIVES("Expand-13", NULL, "float[3,1] int64[2]", "float[3,?]"),
        GIVES("Expand-13", NULL, "float[3,1] int64[?]", "float[*]"),
        GIVES("Expand-13", NULL, "float[*] int64[2]={3,4}", "float[*]"),
        GIVES("Expand-13", NULL, "float[1] int64[1]={0}", "float[0]"),
        GIVES("Expand-13", NULL, "int64[2,1]={1,2} int64[2]={2,3}", "int64[2,3]={1,1,1,2,2,2}"),
        GIVES("Expand-13", NULL, "float[]={2} int64[2]={1000,1000}", "float[1000,1000]=?"),
        GIVES("Expand-13", NULL, "float[1]=*2 int64[2]={1000,1000}", "float[1000,1000]=*2"),
        REFUSES("Expand-13", NULL, "float[3] int64[1]={4}", "float[*]", "do not broadcast"),
        REFUSES("Expand-13", NULL, "float[1] int64[1]={-1}", "float[*]",
                "target dim 0 is -1, less than 0"),
        REFUSES("Expand-13", NULL, "float[1] int64[65]", "float[*]",
                "the output would have 65 axes, at most 64 are supported"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void tile_multiplies_dims(void **state) {
    static const struct op_case rows[] = {
        GIVES("Tile-6", NULL, "float[2,3] int64[2]={2,1}", "float[4,3]"),
        GIVES("Tile-13", NULL, "float[?,3] int64[2]={2,2}", "float[?,6]"),
        GIVES("Tile-13", NULL, "float[2,3] int64[2]={0,1}", "float[0,3]"),
        GIVES("Tile-13", NULL, "float[2,3] int64[2]", "float[?,?]"),
        GIVES("Tile-13", NULL, "float[2,3] int64[?]", "float[?,?]"),
        GIVES("Tile-13", NULL, "float[*] int64[2]={1,2}", "float[?,?]"),
        GIVES("Tile-13", NULL, "float[*] int64[?]", "float[*]"),
        GIVES("Tile-13", NULL, "int64[2]={1,2} int64[1]={2}", "int64[4]={1,2,1,2}"),
        GIVES("Tile-13", NULL, "int64[1,2]={1,2} int64[2]={2,1}", "int64[2,2]={1,2,1,2}"),
        GIVES("Tile-1", NULL, "float[2,3] float[]={2} float[]={1}", "float[2,6]"),
        GIVES("Tile-1", NULL, "float[2,3] float[] float[]={1}", "float[2,?]"),
        GIVES("Tile-1", NULL, "float[2,3] float[]={2} float[]", "float[?,?]"),
        REFUSES("Tile-13", NULL, "float[2,3] int64[1]={2}", "float[*]",
                "repeats has 1 entries, the input has 2 axes"),
        REFUSES("Tile-13", NULL, "float[2] int64[1]={-2}", "float[*]",
                "repeats of axis 0 is -2, less than 0"),
        REFUSES("Tile-1", NULL, "float[2,3] float[]={-2} float[]={0}", "float[*]",
                "tiles is -2, less than 0"),
        REFUSES("Tile-13", NULL, "float[9] int64[1]={4611686018427387904}", "float[*]", "2^63"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void depth_to_space_and_space_to_depth_move_blocks(void **state) {
    static const struct op_case rows[] = {
        {.op = "DepthToSpace-11",
         .attrs = "blocksize=2 mode=CRD",
         .inputs = "float[1,8,2,3]",
         .outputs = "float[1,2,4,6]",
         .describe = "upscale_factor=2",
         .flops = OP_NO_FLOPS},
        GIVES("DepthToSpace-1", "blocksize=2", "float[?,8,2,?]", "float[?,2,4,?]"),
        GIVES("DepthToSpace-1", "blocksize=2", "float[*]", "float[?,?,?,?]"),
        GIVES("SpaceToDepth-1", "blocksize=2", "float[1,2,4,6]", "float[1,8,2,3]"),
        REFUSES("DepthToSpace-1", "blocksize=2", "float[1,6,2,3]", "float[*]",
                "axis 1 of [1,6,2,3] is not a multiple of 4"),
        REFUSES("SpaceToDepth-13", "blocksize=2", "float[1,2,5,6]", "float[*]",
                "not a multiple of 2"),
        REFUSES("SpaceToDepth-13", "blocksize=0", "float[1,2,5,6]", "float[*]",
                "blocksize is 0, less than 1"),
        REFUSES("SpaceToDepth-13", "blocksize=2", "float[1,2]", "float[*]",
                "input [1,2] has 2 axes, expected 4"),
        REFUSES("SpaceToDepth-13", "blocksize=4294967296", "float[1,2,0,0]", "float[*]",
                "2^63"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void infers_operators_that_keep_the_shape(void **state) {
    static const struct op_case rows[] = {
        GIVES("Trilu-14", NULL, "float[2,3]", "float[2,3]"),
        GIVES("Trilu-14", NULL, "int64[2,3]={1,2,3,4,5,6}", "int64[2,3]={1,2,3,0,5,6}"),
        GIVES("Trilu-14", "upper=0", "int64[2,3]={1,2,3,4,5,6} int64[]={1}",
              "int64[2,3]={1,2,0,4,5,6}"),
        GIVES("Trilu-14", "upper=1", "int64[2,2]=*1 int64[1]={1}", "int64[2,2]={0,1,0,0}"),
        REFUSES("Trilu-14", NULL, "float[3]", "float[*]",
                "input [3] has 1 axes, expected at least 2"),
        REFUSES("Trilu-14", NULL, "int64[2,2]=*1 int64[2]={0,1}", "int64[2,2]",
                "k has 2 elements, expected 1"),
        GIVES("ReverseSequence-10", NULL, "float[4,2,5] int64[2]", "float[4,2,5]"),
        GIVES("ReverseSequence-10", "time_axis=1 batch_axis=0", "float[4,?] int64[4]",
              "float[4,?]"),
        REFUSES("ReverseSequence-10", "time_axis=1", "float[4,2] int64[4]", "float[*]",
                "time_axis is 1 and batch_axis 1, expected 0 and 1 or 1 and 0"),
        REFUSES("ReverseSequence-10", NULL, "float[4] int64[4]", "float[*]",
                "input has 1 axes, expected at least 2"),
        GIVES("EyeLike-9", NULL, "int32[2,3]", "int32[2,3]"),
        GIVES("EyeLike-22", "dtype=1", "int32[2,?]", "float[2,?]"),
        GIVES("EyeLike-22", "dtype=1", "int32[*]", "float[?,?]"),
        REFUSES("EyeLike-22", NULL, "int32[2]", "float[*]", "input [2] has 1 axes, expected 2"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void one_hot_inserts_an_axis(void **state) {
    static const struct op_case rows[] = {
        GIVES("OneHot-9", NULL, "int64[2,3] int64[]={10} float[2]", "float[2,3,10]"),
        GIVES("OneHot-11", "axis=0", "int64[2,3] int64[1]={10} float[2]", "float[10,2,3]"),
        GIVES("OneHot-11", "axis=-2", "int64[2,3] float[]={10} int32[2]", "int32[2,10,3]"),
        GIVES("OneHot-11", NULL, "int64[2,3] int64[] float[2]", "float[2,3,?]"),
        GIVES("OneHot-11", NULL, "int64[*] int64[]={3} float[2]", "float[*]"),
        REFUSES("OneHot-11", "axis=3", "int64[2,3] int64[]={3} float[2]", "float[*]",
                "out of range"),
        REFUSES("OneHot-11", NULL, "int64[2,3] int64[]={-3} float[2]", "float[*]",
                "depth is not one number that is at least 0"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transpose_permutes_axes),
        cmocka_unit_test(concat_joins_along_its_axis),
        cmocka_unit_test(expand_broadcasts_both_ways),
        cmocka_unit_test(tile_multiplies_dims),
        cmocka_unit_test(depth_to_space_and_space_to_depth_move_blocks),
        cmocka_unit_test(infers_operators_that_keep_the_shape),
        cmocka_unit_test(one_hot_inserts_an_axis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
