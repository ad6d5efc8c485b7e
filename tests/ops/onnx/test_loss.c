/* SPDX-License-Identifier: Apache-2.0 */
/* Losses: see ops/onnx/loss.c. */
#include "op_harness.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void loss_is_a_scalar_or_one_value_per_target(void **state) {
    static const struct op_case rows[] = {
        GIVES("NegativeLogLikelihoodLoss-13", NULL, "float[3,5,6] int64[3,6]", "float[]"),
        GIVES("NegativeLogLikelihoodLoss-13", "reduction=none",
              "float[3,5,6] int64[3,6] float[5]", "float[3,6]"),
        GIVES("SoftmaxCrossEntropyLoss-13", "reduction=sum", "float16[3,5] int64[3]",
              "float16[] float16[3,5]"),
        GIVES("SoftmaxCrossEntropyLoss-12", "reduction=none", "float[?,5] int64[?]",
              "float[?]"),
        GIVES("SoftmaxCrossEntropyLoss-12", "reduction=none", "float[*] int64[*]", "float[*]"),
        REFUSES("SoftmaxCrossEntropyLoss-13", NULL, "float[3,5] int64[4]", "float[*]",
                "targets [4] do not fit scores [3,5]"),
        REFUSES("NegativeLogLikelihoodLoss-13", NULL, "float[3,5] int64[3,5]", "float[*]",
                "targets [3,5] do not fit scores [3,5]"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loss_is_a_scalar_or_one_value_per_target),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
