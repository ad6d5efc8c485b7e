/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of training as nodes: see ops/onnx/optimizer.c. */
#include "op_harness.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void an_optimizer_gives_tensors_and_states(void **state) {
    static const struct op_case rows[] = {
        GIVES("ai.onnx.preview.training:Adagrad-1", NULL,
              "float[] int64[] float[3] float[3] float[3]", "float[3] float[3]"),
        GIVES("ai.onnx.preview.training:Adam-1", NULL,
              "float[] int64[] float[3] double[4] float[3] double[4] float[3] double[4] "
              "float[3] double[4]",
              "float[3] double[4] float[3] double[4] float[3] double[4]"),
        GIVES("ai.onnx.preview.training:Momentum-1",
              "alpha=0.9 beta=0.1 mode=standard norm_coefficient=0.0",
              "float[] int64[] float[3] float[4] float[3] float[4] float[3] float[4]",
              "float[3] float[4] float[3] float[4]"),
        REFUSES("ai.onnx.preview.training:Adam-1", NULL,
                "float[] int64[] float[3] float[3] float[3]", "float[3]",
                "3 tensors do not form 4 lists of equal length"),
        REFUSES("ai.onnx.preview.training:Adagrad-1", NULL,
                "float[] int64[] float[3] float[3] float[3]", "float[3] float[3] float[3]",
                "at most 2 outputs are possible, got 3"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void a_gradient_has_the_type_of_its_tensor_and_unknown_costs(void **state) {
    static const struct op_case rows[] = {
        COSTS("ai.onnx.preview.training:Gradient-1", "xs=[a,b] y=c",
              "float[2,3] double[4] float[5]", "float[2,3] double[4]", DIM_UNKNOWN,
              DIM_UNKNOWN),
        REFUSES("ai.onnx.preview.training:Gradient-1", "xs=[a] y=c", "float[2,3] float[5]",
                "float[2,3] float[5]",
                "xs must have at most as many names as there are inputs, and at least as many "
                "as there are outputs; got 1 names, 2 inputs, 2 outputs"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_optimizer_gives_tensors_and_states),
        cmocka_unit_test(a_gradient_has_the_type_of_its_tensor_and_unknown_costs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
