/* SPDX-License-Identifier: Apache-2.0 */
/* See ops/onnx/concat.c. */
#include "op_harness.h"

const struct op_case cases_concat[] = {
    TITLE("concat joins along its axis"),
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
    REFUSES("Concat-13", "axis=0", "float[9223372036854775807] float[9]", "float[*]", "2^63"),
    /* Operators that the default convention does not count, and those without arithmetic. */
    TITLE("default convention counts no other flops"),
    COSTS("Concat-13", "axis=0", "float[2,3] float[1,3]", "float[3,3]", OP_NO_MACS,
          OP_NO_FLOPS),
    TITLE("lowers data movement"),
    LOWERS("Concat-13", "axis=-1", "float[2,3] float[2,4]", "float[2,7]",
           "copy f32 2x3 2x4 -> 2x7 axis 1"),
    /* nine operands: the last two are merged into one of 3 + 4 columns */
    LOWERS("Concat-13", "axis=1",
           "float[2,1] float[2,2] float[2,1] float[2,1] float[2,1] float[2,1] float[2,1] "
           "float[2,3] float[2,4]",
           "float[2,15]", "copy f32 2x1 2x2 2x1 2x1 2x1 2x1 2x1 2x7 -> 2x15 axis 1"),
    {.op = NULL},
};
