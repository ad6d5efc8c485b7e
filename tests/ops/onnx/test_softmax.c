/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax, LogSoftmax and Hardmax: see ops/onnx/softmax.c. */
#include "op_harness.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void softmax_keeps_the_shape_at_any_opset(void **state) {
    static const struct op_case rows[] = {

        COSTS("Softmax-1", NULL, "float[2,10]", "float[2,10]", OP_NO_MACS, 20),
        COSTS("Softmax-13", "axis=-1", "float[2,3,10]", "float[2,3,10]", OP_NO_MACS, 60),
        COSTS("LogSoftmax-11", "axis=1", "float[32,9]", "float[32,9]", OP_NO_MACS, OP_NO_FLOPS),
        COSTS("Hardmax-13", NULL, "float[32,9]", "float[32,9]", OP_NO_MACS, OP_NO_FLOPS),
        GIVES("Softmax-1", NULL, "float[10]", "float[10]"),
        GIVES("Softmax-13", NULL, "float[?,3]", "float[?,3]"),
        GIVES("Softmax-13", NULL, "float[*]", "float[*]"),
        GIVES("Softmax-13", NULL, "float[0,3]", "float[0,3]"),
        REFUSES("Softmax-13", "axis=2", "float[2,10]", "float[*]",
                "axis 2 is out of range for rank 2"),
        REFUSES("Softmax-1", "axis=3", "float[2,10]", "float[*]",
                "axis 3 is out of range for rank 2"),
        REFUSES("Softmax-13", NULL, "float[]", "float[*]",
                "axis -1 is out of range for rank 0"),
        PRINTS("LogSoftmax-9", NULL, "float[32,9]", "float[32,9]", "dim=1"),
        PRINTS("Softmax-13", NULL, "float[32,9]", "float[32,9]", "dim=-1"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(softmax_keeps_the_shape_at_any_opset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
