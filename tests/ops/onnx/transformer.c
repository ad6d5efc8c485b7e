/* SPDX-License-Identifier: Apache-2.0 */
/* Rotary embedding, linear attention, causal convolution: see ops/onnx/transformer.c. */
#include "op_harness.h"

const struct op_case cases_transformer[] = {
    TITLE("a rotary embedding keeps the shape"),
    COSTS("RotaryEmbedding-23", NULL, "float[2,4,3,8] float[50,4] float[50,4] int64[2,3]",
          "float[2,4,3,8]", OP_NO_MACS, OP_NO_FLOPS),
    GIVES("RotaryEmbedding-23", "num_heads=4", "float[2,3,32] float[2,3,4] float[2,3,4]",
          "float[2,3,32]"),
    REFUSES("RotaryEmbedding-23", NULL, "float[2,3] float[50,4] float[50,4]", "float[*]",
            "input 0 must have rank 3 or 4, got 2"),
    TITLE("linear attention reads and writes a state"),
    /* B 1, T 2, k 8, v 16; 4 heads read the state, 2 update it; the delta rule reads it
     * once more */
    COSTS("LinearAttention-27", "q_num_heads=4 kv_num_heads=2",
          "float[1,2,32] float[1,2,16] float[1,2,32]", "float[1,2,64] float[1,2,8,16]",
          2 * 8 * 16 * (4 + 2 + 2), 2 * 2 * 8 * 16 * 8),
    COSTS("LinearAttention-27", "q_num_heads=4 kv_num_heads=2 update_rule=linear",
          "float16[1,2,32] float16[1,2,16] float16[1,2,32] float[1,2,8,16]",
          "float16[1,2,64] float[1,2,8,16]", 2 * 8 * 16 * (4 + 2), 2 * 2 * 8 * 16 * 6),
    GIVES("LinearAttention-27", "q_num_heads=4 kv_num_heads=2",
          "float[?,?,32] float[?,?,16] float[?,?,32]", "float[?,?,64] float[?,2,8,16]"),
    REFUSES("LinearAttention-27", "q_num_heads=3 kv_num_heads=2",
            "float[1,2,30] float[1,2,16] float[1,2,32]", "float[*] float[*]",
            "3 heads of queries do not share 2"),
    REFUSES("LinearAttention-27", "q_num_heads=2 kv_num_heads=4",
            "float[1,2,16] float[1,2,32] float[1,2,64]", "float[*] float[*]",
            "2 heads of queries do not share 4"),
    /* com.microsoft allows this */
    REFUSES("com.microsoft:LinearAttention-1", "q_num_heads=3 kv_num_heads=4",
            "float[1,4,24] float[1,4,32] float[1,4,24] - float[1,4,4] float[1,4,4]",
            "float[*] float[*]", "3 heads of queries do not share 4"),
    REFUSES("LinearAttention-27", "q_num_heads=4 kv_num_heads=2",
            "float[1,2,31] float[1,2,16] float[1,2,32]", "float[*] float[*]",
            "31 columns do not divide into 4 heads"),
    REFUSES("LinearAttention-27", "q_num_heads=4 kv_num_heads=2",
            "float[1,2,4,8] float[1,2,16] float[1,2,32]", "float[*] float[*]",
            "input 0 must have rank 3, got 4"),
    TITLE("causal convolution is depthwise and returns its state"),
    /* 2 * 3 * 7 outputs of 4 MACs; a bias and an activation are one FLOP each */
    COSTS("CausalConvWithState-27", NULL, "float[2,3,7] float[3,1,4]",
          "float[2,3,7] float[2,3,3]", 168, 336),
    COSTS("CausalConvWithState-27", "activation=silu",
          "float[2,3,7] float[3,1,4] float[3] float[2,3,3]", "float[2,3,7] float[2,3,3]", 168,
          336 + 42 + 42),
    REFUSES("CausalConvWithState-27", NULL, "float[2,3,7,7] float[3,1,4]", "float[*] float[*]",
            "input 0 must have rank 3, got 4"),
    TITLE("counts gated delta networks"),
    COSTS("com.microsoft:LinearAttention-1", "q_num_heads=2 kv_num_heads=4",
          "float[1,4,8] float[1,4,16] float[1,4,24] - float[1,4,4] float[1,4,4]",
          "float[1,4,24] float[1,4,4,6]", 4 * 4 * 6 * (4 + 2 * 4), 2 * 1152),
    TITLE("counts a kernel per output of convolutions"),
    COSTS("CausalConvWithState-27", "activation=silu", "float[2,3,5] float[3,1,4]! float[3]!",
          "float[2,3,5] float[2,3,3]", 2 * 3 * 5 * 4, 2 * 120 + 30 + 30),
    TITLE("counts two products per score of attention"),
    /* 4 steps x a state of 4 x 6, which 2 heads read and 2 heads update */
    COSTS("LinearAttention-27", "q_num_heads=2 kv_num_heads=2 update_rule=linear",
          "float[1,4,8] float[1,4,8] float[1,4,12]", "float[1,4,12] float[1,2,4,6]",
          4 * (4 * 6) * (2 + 2), 2 * 384),
    COSTS("RotaryEmbedding-23", NULL, "float[1,4,5,8] float[1,5,4] float[1,5,4]",
          "float[1,4,5,8]", OP_NO_MACS, OP_NO_FLOPS),
    /* Computed by hand from the formulas of the ONNX operator definitions. */
    TITLE("exact counts each operation once"),
    /* half of each head is rotated: two multiplications and an addition per element */
    COUNTS("RotaryEmbedding-23", "rotary_embedding_dim=4",
           "float[2,4,3,8] float[50,2] float[50,2] int64[2,3]", "float[2,4,3,8]",
           {"exact", 3 * 96}),
    /* 2048 MACs; decay: 2 steps x 2 states of 8 x 16; delta rule: 2 operations x 2 steps x
     * 2 states x 16 values; scale: 2 x 64 */
    COUNTS("LinearAttention-27", "q_num_heads=4 kv_num_heads=2",
           "float[1,2,32] float[1,2,16] float[1,2,32] - float[1,2,2] float[1,2,2]",
           "float[1,2,64] float[1,2,8,16]", {"exact", 4096 + 512 + 128 + 128}),
    COUNTS("CausalConvWithState-27", "activation=silu", "float[2,3,7] float[3,1,4] float[3]",
           "float[2,3,7] float[2,3,3]", {"exact", 336 + 42 + 5 * 42}),
    {.op = NULL},
};
