/* SPDX-License-Identifier: Apache-2.0 */
/* Mathematics of one operand: see ops/onnx/elementwise.c. */
#include "op_harness.h"

const struct op_case cases_elementwise[] = {
    TITLE("keeps shape and folds one operand"),
    GIVES("Abs-13", NULL, "int64[3]={-1,0,2}", "int64[3]={1,0,2}"),
    GIVES("Abs-13", NULL, "int64[]={-9223372036854775808}", "int64[]=?"),
    GIVES("Neg-6", NULL, "float[2]={1.5,-2}", "float[2]={-1.5,2}"),
    GIVES("Neg-6", NULL, "int64[]={-9223372036854775808}", "int64[]=?"),
    GIVES("Sign-9", NULL, "int64[3]={-5,0,7}", "int64[3]={-1,0,1}"),
    GIVES("Floor-13", NULL, "float[2]={1.5,-1.5}", "float[2]={1,-2}"),
    GIVES("Ceil-1", NULL, "float[2]={1.5,-1.5}", "float[2]={2,-1}"),
    GIVES("Round-11", NULL, "float[4]={0.5,1.5,2.5,-2.5}", "float[4]={0,2,2,-2}"),
    GIVES("Sqrt-13", NULL, "float[]={9}", "float[]={3}"),
    GIVES("Reciprocal-6", NULL, "float[]={4}", "float[]={0.25}"),
    GIVES("Exp-13", NULL, "float[2]={1,2}", "float[2]=?"),
    GIVES("Erf-9", NULL, "float[?,3]", "float[?,3]"),
    GIVES("Tan-7", NULL, "double[*]", "double[*]"),
    COSTS("Exp-13", NULL, "float[2,3]", "float[2,3]", OP_NO_MACS, OP_NO_FLOPS),
    /* Operators that the default convention does not count, and those without arithmetic. */
    TITLE("default convention counts no other flops"),
    COSTS("Erf-13", NULL, "float[2,3]", "float[2,3]", OP_NO_MACS, OP_NO_FLOPS),
    {.op = NULL},
};
