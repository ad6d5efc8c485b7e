/* SPDX-License-Identifier: Apache-2.0 */
/* Views: see ops/onnx/reshape.c. */
#include "op_harness.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void reshape_resolves_0_and_minus_1(void **state) {
    static const struct op_case rows[] = {
        GIVES("Reshape-13", NULL, "float[1,3,256] int64[3]={2,-1,4}", "float[2,96,4]"),
        GIVES("Reshape-5", NULL, "float[2,3,4] int64[2]={0,-1}", "float[2,12]"),
        REFUSES("Reshape-13", NULL, "float[2,3,4] int64[0]={}", "float[]",
                "cannot reshape 24 elements"),
        GIVES("Reshape-13", NULL, "float[1,1] int64[0]={}", "float[]"),
        GIVES("Reshape-13", NULL, "float[] int64[2]={1,-1}", "float[1,1]"),
        /* a copied dim cancels out: -1 is known although the batch is unknown */
        GIVES("Reshape-13", NULL, "float[?,3,4] int64[2]={0,-1}", "float[?,12]"),
        GIVES("Reshape-13", NULL, "float[?,3,4] int64[2]={-1,12}", "float[?,12]"),
        GIVES("Reshape-13", NULL, "float[?,3,4] int64[2]={6,2}", "float[6,2]"),
        GIVES("Reshape-13", NULL, "float[*] int64[2]={0,-1}", "float[?,?]"),
        GIVES("Reshape-13", NULL, "float[*] int64[2]={5,6}", "float[5,6]"),
        GIVES("Reshape-13", NULL, "? int64[2]={5,-1}", "undefined[5,?]"),
        /* only the length of the target is known, or not even that */
        GIVES("Reshape-13", NULL, "float[2,3] int64[3]", "float[?,?,?]"),
        GIVES("Reshape-13", NULL, "float[2,3] int64[?]", "float[*]"),
        GIVES("Reshape-13", NULL, "float[2,3] int64[*]", "float[*]"),
        /* in opset 1 the target is an attribute */
        GIVES("Reshape-1", "shape=[3,2]", "float[2,3]", "float[3,2]"),
        GIVES("Reshape-1", NULL, "float[2,3]", "float[*]"),
        /* zero dims, with and without allowzero */
        GIVES("Reshape-13", NULL, "float[0,3] int64[2]={0,3}", "float[0,3]"),
        GIVES("Reshape-13", NULL, "float[0,3] int64[2]={0,-1}", "float[0,3]"),
        GIVES("Reshape-13", NULL, "float[0,4,2] int64[2]={0,4}", "float[0,4]"),
        GIVES("Reshape-14", "allowzero=1", "float[0,3] int64[2]={3,0}", "float[3,0]"),
        REFUSES("Reshape-14", "allowzero=1", "float[2,3] int64[2]={0,6}", "float[0,6]",
                "cannot reshape 6 elements [2,3] into [0,6]"),
        REFUSES("Reshape-14", "allowzero=1", "float[2,3] int64[2]={0,-1}", "float[0,6]",
                "target [0,-1] has both 0 and -1 with allowzero"),
        GIVES("Reshape-21", "allowzero=0", "float[2,3] int64[2]={0,-1}", "float[2,3]"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void reshape_refuses_mismatched_element_counts(void **state) {
    static const struct op_case rows[] = {
        REFUSES("Reshape-13", NULL, "float[1,3,256] int64[3]={2,-1,5}", "float[*]",
                "cannot reshape 768 elements [1,3,256] into [2,-1,5]"),
        REFUSES("Reshape-13", NULL, "float[?,3] int64[1]={0}", "float[*]",
                "cannot reshape [?,3] into [0]"),
        REFUSES("Reshape-13", NULL, "float[6] int64[2]={-1,-1}", "float[*]",
                "target [-1,-1] has more than one -1"),
        REFUSES("Reshape-13", NULL, "float[6] int64[1]={-2}", "float[*]",
                "target dim 0 is -2, less than -1"),
        REFUSES("Reshape-13", NULL, "float[6] int64[2]={6,0}", "float[*]",
                "target dim 1 copies the input's, which has 1 axes: [6] into [6,0]"),
        REFUSES("Reshape-13", NULL, "float[?] int64[65]", "float[*]",
                "target has 65 axes, at most 64 are supported"),
        REFUSES("Reshape-13", NULL, "float[?] int64[3]={4611686018427387904,4,-1}", "float[*]",
                "target [4611686018427387904,4,-1] has more than 2^63 elements"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void views_keep_their_contents(void **state) {
    static const struct op_case rows[] = {
        GIVES("Reshape-13", NULL, "int64[4]={1,2,3,4} int64[2]={2,2}", "int64[2,2]={1,2,3,4}"),
        GIVES("Reshape-13", NULL, "float[100000]=*2 int64[2]={-1,10}", "float[10000,10]=*2"),
        GIVES("Unsqueeze-11", "axes=[0]", "int64[]={7}", "int64[1]={7}"),
        GIVES("Squeeze-11", "axes=[0]", "int64[1]={7}", "int64[]={7}"),
        GIVES("Flatten-13", "axis=0", "float[2,1]={1.5,2.5}", "float[1,2]={1.5,2.5}"),
        GIVES("Identity-13", NULL, "bool[2]={1,0}", "bool[2]={1,0}"),
        GIVES("Unsqueeze-13", NULL, "int64[3] int64[1]={0}", "int64[1,3]=?"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void flatten_splits_at_its_axis(void **state) {
    static const struct op_case rows[] = {
        {.op = "Flatten-1",
         .inputs = "float[2,3,4]",
         .outputs = "float[2,12]",
         .describe = "start_dim=1, end_dim=-1"},
        {.op = "Flatten-11",
         .attrs = "axis=-1",
         .inputs = "float[2,3,4]",
         .outputs = "float[6,4]",
         .describe = ""},
        GIVES("Flatten-13", "axis=0", "float[2,3]", "float[1,6]"),
        GIVES("Flatten-13", "axis=2", "float[2,3]", "float[6,1]"),
        GIVES("Flatten-13", "axis=0", "float[]", "float[1,1]"),
        GIVES("Flatten-13", NULL, "float[?,3,4]", "float[?,12]"),
        GIVES("Flatten-13", NULL, "float[0,3,4]", "float[0,12]"),
        GIVES("Flatten-13", NULL, "float[*]", "float[?,?]"),
        REFUSES("Flatten-13", "axis=3", "float[2,3]", "float[*]",
                "axis 3 is out of range for rank 2"),
        REFUSES("Flatten-13", NULL, "float[2,4611686018427387904,4]", "float[*]", "past 2^63"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void squeeze_drops_unit_axes(void **state) {
    static const struct op_case rows[] = {
        GIVES("Squeeze-1", "axes=[0,2]", "float[1,3,1,5]", "float[3,5]"),
        GIVES("Squeeze-11", "axes=[-1]", "float[3,1]", "float[3]"),
        GIVES("Squeeze-13", NULL, "float[1,3,1] int64[1]={-1}", "float[1,3]"),
        GIVES("Squeeze-13", NULL, "float[1,3,1]", "float[3]"),
        GIVES("Squeeze-13", NULL, "float[1,?,1]", "float[*]"),
        GIVES("Squeeze-13", NULL, "float[?,3] int64[1]={0}", "float[3]"),
        GIVES("Squeeze-13", NULL, "float[1,3,1] int64[1]", "float[?,?]"),
        GIVES("Squeeze-13", NULL, "float[1,3,1] int64[?]", "float[*]"),
        GIVES("Squeeze-13", NULL, "float[*] int64[1]={0}", "float[*]"),
        REFUSES("Squeeze-13", NULL, "float[1,3] int64[1]={1}", "float[*]", "axis 1 of [1,3]"),
        REFUSES("Squeeze-13", NULL, "float[1,1] int64[2]={0,-2}", "float[*]",
                "axis 0 is listed twice"),
        REFUSES("Squeeze-13", NULL, "float[1] int64[2]={0,1}", "float[*]",
                "2 axes are squeezed out of 1"),
        REFUSES("Squeeze-13", NULL, "float[1] int64[1]={1}", "float[*]", "out of range"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void unsqueeze_counts_axes_of_its_output(void **state) {
    static const struct op_case rows[] = {
        GIVES("Unsqueeze-1", "axes=[0,3]", "float[3,4]", "float[1,3,4,1]"),
        GIVES("Unsqueeze-13", NULL, "float[3,4] int64[2]={-1,0}", "float[1,3,4,1]"),
        GIVES("Unsqueeze-13", NULL, "float[?] int64[]={1}", "float[?,1]"),
        GIVES("Unsqueeze-13", NULL, "float[3] int64[2]", "float[?,?,?]"),
        GIVES("Unsqueeze-13", NULL, "float[3] int64[?]", "float[*]"),
        GIVES("Unsqueeze-13", NULL, "float[*] int64[1]={0}", "float[*]"),
        REFUSES("Unsqueeze-13", NULL, "float[3] int64[2]={0,0}", "float[*]",
                "axis 0 is listed twice"),
        REFUSES("Unsqueeze-13", NULL, "float[3] int64[1]={2}", "float[*]",
                "out of range for rank 2"),
        REFUSES("Unsqueeze-13", NULL, "float[3] int64[64]", "float[*]",
                "64 new axes on 1: at most 64 are supported"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reshape_resolves_0_and_minus_1),
        cmocka_unit_test(reshape_refuses_mismatched_element_counts),
        cmocka_unit_test(views_keep_their_contents),
        cmocka_unit_test(flatten_splits_at_its_axis),
        cmocka_unit_test(squeeze_drops_unit_axes),
        cmocka_unit_test(unsqueeze_counts_axes_of_its_output),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
