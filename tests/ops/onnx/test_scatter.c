/* SPDX-License-Identifier: Apache-2.0 */
/* Scatter operators: see ops/onnx/scatter.c. */
#include "op_harness.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void scatter_keeps_the_shape_of_its_data(void **state) {
    static const struct op_case rows[] = {
        GIVES("Scatter-9", NULL, "float[3,3] int64[2,3] float[2,3]", "float[3,3]"),
        GIVES("ScatterElements-11", "axis=1", "float[?,3] int64[*] float[2,3]", "float[?,3]"),
        GIVES("ScatterElements-18", "reduction=add", "float[*] int64[2] float[2]", "float[*]"),
        GIVES("ScatterND-11", NULL, "float[4,4,4] int64[2,1] float[2,4,4]", "float[4,4,4]"),
        GIVES("TensorScatter-24", NULL, "float[2,8,16,4] float[2,8,1,4] int64[2]",
              "float[2,8,16,4]"),
        REFUSES("ScatterElements-13", "axis=2", "float[3,3] int64[2,3] float[2,3]", "float[*]",
                "out of range"),
        REFUSES("ScatterElements-13", NULL, "float[3,3] int64[2] float[2]", "float[*]",
                "indices have 1 axes, the data has 2"),
        REFUSES("ScatterND-13", NULL, "float[4] int64[2,2] float[2]", "float[*]",
                "indices [2,2] do not point into data [4]"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void scatter_folds_without_a_reduction(void **state) {
    static const struct op_case rows[] = {
        GIVES("ScatterElements-11", "axis=0", "int64[3]={1,2,3} int64[2]={0,-1} int64[2]={8,9}",
              "int64[3]={8,2,9}"),
        GIVES("ScatterElements-13", "axis=1",
              "int64[2,2]={1,2,3,4} int64[2,1]={1,0} int64[2,1]={8,9}", "int64[2,2]={1,8,9,4}"),
        GIVES("ScatterElements-16", "reduction=add", "int64[1]={1} int64[1]={0} int64[1]={8}",
              "int64[1]=?"),
        GIVES("ScatterND-11", NULL, "int64[4]={1,1,1,1} int64[2,1]={1,3} int64[2]={8,9}",
              "int64[4]={1,8,1,9}"),
        GIVES("ScatterND-13", NULL, "int64[2,2]=*0 int64[1,1]={1} int64[1,2]={8,9}",
              "int64[2,2]={0,0,8,9}"),
        GIVES("ScatterND-13", NULL, "int64[2] int64[1,1]={1} int64[1]={8}", "int64[2]=?"),
        GIVES("ScatterND-13", NULL, "int64[0]={} int64[0,1]={} int64[0]={}", "int64[0]"),
        REFUSES("ScatterElements-13", NULL, "int64[2]={1,2} int64[1]={2} int64[1]={8}",
                "int64[2]", "index 2 is out of range for an axis of 2"),
        REFUSES("ScatterElements-13", NULL, "int64[2]={1,2} int64[1]={0} int64[2]={8,8}",
                "int64[2]", "indices [1] and updates [2] differ"),
        REFUSES("ScatterElements-13", NULL, "int64[1,1]={1} int64[1,2]={0,0} int64[1,2]={8,8}",
                "int64[1,1]", "indices [1,2] reach past the data [1,1] on axis 1"),
        REFUSES("ScatterND-13", NULL, "int64[2]={1,2} int64[1,1]={0} int64[2]={8,8}",
                "int64[2]", "updates [2] do not fit indices [1,1] and data [2]"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scatter_keeps_the_shape_of_its_data),
        cmocka_unit_test(scatter_folds_without_a_reduction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
