/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax, LogSoftmax and Hardmax: see ops/onnx/softmax.c. */
#include "op_harness.h"

const struct op_case cases_softmax[] = {
    TITLE("softmax keeps the shape at any opset"),
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
    REFUSES("Softmax-13", NULL, "float[]", "float[*]", "axis -1 is out of range for rank 0"),
    PRINTS("LogSoftmax-9", NULL, "float[32,9]", "float[32,9]", "dim=1"),
    PRINTS("Softmax-13", NULL, "float[32,9]", "float[32,9]", "dim=-1"),
    /* n = 2 x 3 x 8 x 8 = 384 inputs. */
    TITLE("counts flops per element of other layers"),
    COSTS("Softmax-13", NULL, "float[2,3,8,8]", "float[2,3,8,8]", OP_NO_MACS, 384),
    COSTS("LogSoftmax-13", NULL, "float[2,3,8,8]", "float[2,3,8,8]", OP_NO_MACS, OP_NO_FLOPS),
    /* Four rows of eight. */
    TITLE("counts softmax and activations by convention"),
    COUNTS("Softmax-13", "axis=-1", "float[4,8]", "float[4,8]", {"exact", 5 * 32 - 2 * 4},
           {"thop", 3 * 32 - 4}, {"ptflops", 32}, {"onnx-tool", 36 * 32}),
    /* before opset 13, 2 rows of 12 */
    COUNTS("Softmax-11", "axis=1", "float[2,3,4]", "float[2,3,4]", {"exact", 5 * 24 - 2 * 2}),
    COUNTS("LogSoftmax-11", "axis=1", "float[2,3,4]", "float[2,3,4]", {"exact", 5 * 24 - 2}),
    COUNTS("Hardmax-1", "axis=1", "float[2,3,4]", "float[2,3,4]", {"exact", 24 - 2}),
    COUNTS("Softmax-1", "axis=1", "float[2,3,4]", "float[2,3,4]", {"thop", 3 * 24 - 2}),
    COUNTS("Softmax-13", "axis=1", "float[2,3,4]", "float[2,3,4]", {"exact", 5 * 24 - 2 * 8}),
    TITLE("keeps costs of unknown shapes unknown"),
    COUNTS("Softmax-13", NULL, "float[4,0]", "float[4,0]", {"exact", 0}),
    /* Arithmetic that the default convention does not count; n = 2 * 3 * 4 * 4 = 96. */
    TITLE("exact counts all arithmetic"),
    COUNTS("Hardmax-13", NULL, "float[2,3,4,4]", "float[2,3,4,4]", {"exact", 24 * 3}),
    TITLE("lowers pools norms and reductions"),
    LOWERS("Softmax-13", NULL, "float[2,3,10]", "float[2,3,10]",
           "softmax plain f32 2x3x10 -> 2x3x10 axis 2"),
    LOWERS("Softmax-1", NULL, "float[2,3,10]", "float[2,3,10]",
           "softmax plain f32 2x30 -> 2x30 axis 1"),
    LOWERS("LogSoftmax-13", "axis=0", "float[2,3]", "float[2,3]", "softmax log f32 2x3 -> 2x3"),
    {.op = NULL},
};
