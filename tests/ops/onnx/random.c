/* SPDX-License-Identifier: Apache-2.0 */
/* Random tensors: see ops/onnx/random.c. */
#include "op_harness.h"

const struct op_case cases_random[] = {
    TITLE("random tensors take their shape from attributes or input"),
    GIVES("RandomNormal-1", "shape=[2,3]", "", "float[2,3]=?"),
    GIVES("RandomUniform-22", "shape=[2,3] dtype=11 low=0.0 high=2.0", "", "double[2,3]"),
    GIVES("RandomNormalLike-1", NULL, "float16[2,?]", "float16[2,?]"),
    GIVES("RandomUniformLike-1", "dtype=1", "int64[2]", "float[2]"),
    GIVES("Bernoulli-15", NULL, "float[2]={0.5,0.5}", "float[2]=?"),
    GIVES("Bernoulli-22", "dtype=9", "float[*]", "bool[*]"),
    GIVES("Multinomial-7", "sample_size=5", "float[2,3]", "int32[2,5]"),
    GIVES("Multinomial-7", "dtype=7", "float[*]", "int64[?,1]"),
    REFUSES("RandomNormal-1", "shape=[-2]", "", "float[*]",
            "dim 0 of 'shape' is -2, less than 0"),
    REFUSES("RandomNormal-1", "shape=[2] dtype=77", "", "float[*]",
            "attribute 'dtype' must be an element type, got 77"),
    REFUSES("RandomNormal-1",
            "shape=[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
            "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]",
            "", "float[*]", "attribute 'shape' has 65 axes, at most 64 are read"),
    REFUSES("Multinomial-7", "sample_size=-1", "float[2,3]", "int32[*]",
            "sample_size is -1, less than 0"),
    REFUSES("Multinomial-7", NULL, "float[3]", "int32[*]", "input [3] has 1 axes, expected 2"),
    {.op = NULL},
};
