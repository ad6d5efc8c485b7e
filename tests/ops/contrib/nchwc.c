/* SPDX-License-Identifier: Apache-2.0 */
/* See ops/contrib/nchwc.c. */
#include "op_harness.h"

const struct op_case cases_contrib_nchwc[] = {
    TITLE("refuses invalid inputs"),
    REFUSES("com.microsoft.nchwc:Upsample-1", "scales=[1,1,2]", "float[2,32,8,8]", "float[*]",
            "scales must have 4 entries, got 3"),
    REFUSES("com.microsoft.nchwc:Upsample-1", "scales=[1,1,0,2]", "float[2,32,8,8]", "float[*]",
            "the scale of axis 2 must be >= 1, got 0"),
    TITLE("propagates unknown dims"),
    /* the processor decides the number of channels per block: 16 or 8 */
    GIVES("com.microsoft.nchwc:ReorderInput-1", NULL, "float[2,24,8,8]", "float[2,?,8,8]"),
    GIVES("com.microsoft.nchwc:Conv-1", NULL, "float[2,?,8,8] float[32,24,1,1]",
          "float[2,32,8,8]"),
    TITLE("counts padding of blocked channels"),
    /* 1024 outputs of 27 MACs; a bias and an activation each */
    COSTS("com.microsoft.nchwc:Conv-1", "pads=[1,1,1,1] strides=[2,2] activation=Relu",
          "float[2,3,8,8] float[32,3,3,3]! float[32]!", "float[2,32,4,4]", 1024 * 27,
          2 * 27648 + 2 * 1024),
    COSTS("com.microsoft.nchwc:Conv-1", "pads=[1,1,1,1] group=32",
          "float[2,32,8,8] float[32,1,3,3]!", "float[2,32,8,8]", 4096 * 9, 2 * 36864),
    COSTS("com.microsoft.nchwc:MaxPool-1", "kernel_shape=[2,2] strides=[2,2]",
          "float[2,32,8,8]", "float[2,32,4,4]", OP_NO_MACS, 4096),
    COSTS("com.microsoft.nchwc:GlobalAveragePool-1", NULL, "float[2,32,8,8]", "float[2,32,1,1]",
          OP_NO_MACS, 4096),
    COSTS("com.microsoft.nchwc:Upsample-1", "scales=[1,1,2,3]", "float[2,32,8,8]",
          "float[2,32,16,24]", OP_NO_MACS, 2 * 32 * 16 * 24),
    {.op = NULL},
};
