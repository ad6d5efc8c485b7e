/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of training as nodes: see ops/onnx/optimizer.c. */
#include "op_harness.h"

const struct op_case cases_optimizer[] = {
    TITLE("an optimizer gives tensors and states"),
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
    TITLE("a gradient has the type of its tensor and unknown costs"),
    COSTS("ai.onnx.preview.training:Gradient-1", "xs=[a,b] y=c",
          "float[2,3] double[4] float[5]", "float[2,3] double[4]", DIM_UNKNOWN, DIM_UNKNOWN),
    REFUSES("ai.onnx.preview.training:Gradient-1", "xs=[a] y=c", "float[2,3] float[5]",
            "float[2,3] float[5]",
            "xs must have at most as many names as there are inputs, and at least as many "
            "as there are outputs; got 1 names, 2 inputs, 2 outputs"),
    /* Computed by hand from the formulas of the ONNX operator definitions. */
    TITLE("exact counts each operation once"),
    COUNTS("ai.onnx.preview.training:Adam-1", NULL,
           "float[] int64[] float[3] float[4] float[3] float[4] float[3] float[4] float[3] "
           "float[4]",
           "float[3] float[4] float[3] float[4] float[3] float[4]", {"exact", 14 * 7}),
    COUNTS("ai.onnx.preview.training:Momentum-1",
           "alpha=0.9 beta=0.1 mode=nesterov norm_coefficient=0.0",
           "float[] int64[] float[3] float[3] float[3]", "float[3] float[3]", {"exact", 9 * 3}),
    {.op = NULL},
};
