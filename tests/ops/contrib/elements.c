/* SPDX-License-Identifier: Apache-2.0 */
/* See ops/contrib/elements.c. */
#include "op_harness.h"

const struct op_case cases_contrib_elements[] = {
    TITLE("refuses invalid inputs"),
    REFUSES("com.microsoft:ComplexMul-1", NULL, "float[3] float[3]", "float[*]",
            "the last dim must be 2 (complex numbers), got [3]"),
    REFUSES("com.microsoft:HyperConnectionPreMix-1", NULL, "float[8] float[4]", "float[*]",
            "the shape must divide into streams, got [8]"),
    TITLE("propagates unknown dims"),
    GIVES("com.microsoft:RelativePositionBias-1", "max_distance=9",
          "float[32,4] int64[1] int64[1]={7}", "float[1,4,?,7]"),
    TITLE("counts hyper connections"),
    /* a multiplication and an addition for each of 2 x 3 x 4 x 8 elements */
    COSTS("com.microsoft:EngramGate-1", NULL,
          "float[2,3,4,8] float[2,3,4,8] float[2,3,8] float[4,8] float[4,8]", "float[2,3,4,8]",
          192, 2 * 192),
    COSTS("com.microsoft:HyperConnectionPreMix-1", NULL, "float[2,3,4,8] float[2,3,4]",
          "float[2,3,8]", 192, 2 * 192),
    COSTS("com.microsoft:HyperConnectionPreMix-1", "num_branches=4", "float[32] float[4]",
          "float[8]", 32, 2 * 32),
    /* per element: 1 MAC for the block's result; a mixing matrix adds 4 for the streams */
    COSTS("com.microsoft:HyperConnectionPostMix-1", NULL,
          "float[2,3,4,8] float[2,3,8] float[2,3,4]", "float[2,3,4,8]", 192, 2 * 192),
    COSTS("com.microsoft:HyperConnectionPostMix-1", "num_branches=4",
          "float[2,3,32] float[2,3,8] float[2,3,4] float[2,3,4,4]", "float[2,3,32]",
          192 * (4 + 1), 2 * 960),
    TITLE("counts norms and activations like onnx operators"),
    COSTS("com.microsoft:ScaledSiLU-1", NULL, "float[2,5]", "float[2,5]", OP_NO_MACS, 10),
    COSTS("com.microsoft:QOrderedGelu-1", NULL, "int8[2,5] float[] float[]", "int8[2,5]",
          OP_NO_MACS, 10),
    COSTS("com.microsoft:QOrderedLayerNormalization-1", NULL,
          "int8[2,3,8] float[] float[8] float[8] float[]", "int8[2,3,8]", OP_NO_MACS, 5 * 48),
    COSTS("com.microsoft:QEmbedLayerNormalization-1", NULL,
          "int32[2,3] - uint8[9,8] uint8[9,8] - uint8[8] uint8[8] - float[] float[] - "
          "float[] float[] uint8[] uint8[] - uint8[] uint8[]",
          "float[2,3,8] int32[2]", OP_NO_MACS, 5 * 48),
    COSTS("com.microsoft:GatedRMSNorm-1", NULL, "float[2,8] float[4] float[2,8]", "float[2,8]",
          OP_NO_MACS, OP_NO_FLOPS),
    /* Arithmetic that the default convention does not count; n = 2 * 3 * 4 * 4 = 96. */
    TITLE("exact counts all arithmetic"),
    /* 12 rows of 4 in 2 heads; 4 per element for the norm, 6 for a SiLU and its product */
    COUNTS("com.microsoft:GatedRMSNorm-1", NULL, "float[2,3,8] float[4]! float[2,3,8]",
           "float[2,3,8]", {"exact", (4 + 6) * 48 + 2 * 12}),
    COUNTS("com.microsoft:BranchwiseRMSNorm-1", "num_branches=2", "float[2,3,8]",
           "float[2,3,8]", {"exact", 3 * 48 + 2 * 12}),
    COUNTS("com.microsoft:BiasDropout-1", NULL, "float[2,3,8] float[8] float[2,3,8]",
           "float[2,3,8]", {"exact", 2 * 48}),
    COUNTS("com.microsoft:LinearAttentionGate-1", NULL,
           "float[1,2,3] float[3] float[3] float[1,2,3]", "float[1,2,3] float[1,2,3]",
           {"exact", 5 * 6 + 4 * 6}),
    /* sine and cosine of 40 angles; 160 elements of queries and 80 of keys */
    COUNTS("com.microsoft:GemmaRotaryEmbedding-1", NULL,
           "float[1,5,8] float16[1,4,5,8] float16[1,4,5,8] float16[1,2,5,8] float16[1,2,5,8]",
           "float16[1,4,5,8] float16[1,2,5,8]", {"exact", 2 * 40 + 3 * (160 + 80)}),
    {.op = NULL},
};
