/* SPDX-License-Identifier: Apache-2.0 */
/* Losses: see ops/onnx/loss.c. */
#include "op_harness.h"

const struct op_case cases_loss[] = {
    TITLE("loss is a scalar or one value per target"),
    GIVES("NegativeLogLikelihoodLoss-13", NULL, "float[3,5,6] int64[3,6]", "float[]"),
    GIVES("NegativeLogLikelihoodLoss-13", "reduction=none", "float[3,5,6] int64[3,6] float[5]",
          "float[3,6]"),
    GIVES("SoftmaxCrossEntropyLoss-13", "reduction=sum", "float16[3,5] int64[3]",
          "float16[] float16[3,5]"),
    GIVES("SoftmaxCrossEntropyLoss-12", "reduction=none", "float[?,5] int64[?]", "float[?]"),
    GIVES("SoftmaxCrossEntropyLoss-12", "reduction=none", "float[*] int64[*]", "float[*]"),
    REFUSES("SoftmaxCrossEntropyLoss-13", NULL, "float[3,5] int64[4]", "float[*]",
            "targets [4] do not fit scores [3,5]"),
    REFUSES("NegativeLogLikelihoodLoss-13", NULL, "float[3,5] int64[3,5]", "float[*]",
            "targets [3,5] do not fit scores [3,5]"),
    /* Computed by hand from the formulas of the ONNX operator definitions. */
    TITLE("exact counts each operation once"),
    /* each of 18 targets: sign, weight, sum of the mean */
    COUNTS("NegativeLogLikelihoodLoss-13", NULL, "float[3,5,6] int64[3,6] float[5]", "float[]",
           {"exact", 18 * 3}),
    /* each of 3 rows of 5: 4 maxima, 5 differences, 5 exponentials, 4 sums, 1 logarithm, 5
     * differences, and a sign */
    COUNTS("SoftmaxCrossEntropyLoss-13", "reduction=none", "float[3,5] int64[3]", "float[3]",
           {"exact", 3 * 24 + 3}),
    {.op = NULL},
};
