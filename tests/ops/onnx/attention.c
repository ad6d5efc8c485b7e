/* SPDX-License-Identifier: Apache-2.0 */
/* Attention as one operator: see ops/onnx/attention.c. */
#include "op_harness.h"

#define HEADS "q_num_heads=8 kv_num_heads=8"

const struct op_case cases_attention[] = {
    TITLE("attention outputs a value for each query"),
    GIVES("Attention-23", NULL, "float[2,8,5,16] float[2,8,7,16] float[2,8,7,32]",
          "float[2,8,5,32]"),
    GIVES("Attention-24", HEADS, "float[2,5,128] float[2,7,128] float[2,7,256]",
          "float[2,5,256]"),
    /* keys and values of earlier calls precede the new ones; all four outputs */
    GIVES("Attention-23", NULL,
          "float16[2,8,5,16] float16[2,4,7,16] float16[2,4,7,32] - float16[2,4,3,16] "
          "float16[2,4,3,32]",
          "float16[2,8,5,32] float16[2,4,10,16] float16[2,4,10,32] float16[2,8,5,10]"),
    GIVES("Attention-25", "is_causal=1 left_window_size=3",
          "float[2,8,0,16] float[2,8,7,16] float[2,8,7,32] bool[5,7]", "float[2,8,0,32]"),
    GIVES("Attention-23", NULL, "float[?,8,?,16] float[?,8,?,16] float[?,8,?,16]",
          "float[?,8,?,16]"),
    GIVES("Attention-23", NULL, "float[*] float[*] float[*]", "float[*]"),
    REFUSES("Attention-23", NULL, "float[5,16] float[7,16] float[7,16]", "float[*]",
            "input 0 must have rank 3 or 4, got 2"),
    REFUSES("Attention-23", "q_num_heads=8", "float[2,5,128] float[2,7,128] float[2,7,128]",
            "float[*]", "kv_num_heads is required if input 1 has rank 3"),
    REFUSES("Attention-23", "q_num_heads=0 kv_num_heads=8",
            "float[2,5,128] float[2,7,128] float[2,7,128]", "float[*]",
            "q_num_heads is required if input 0 has rank 3"),
    REFUSES("Attention-23", HEADS, "float[2,5,100] float[2,7,100] float[2,7,100]", "float[*]",
            "100 columns do not divide into 8 heads"),
    REFUSES("Attention-23", NULL, "float[2,8,5,16] float[2,8,7,32] float[2,8,7,32]", "float[*]",
            "queries have 16 columns, keys 32"),
    REFUSES("ai.onnx.preview:FlexAttention-1", NULL,
            "float[2,5,128] float[2,7,128] float[2,7,128]", "float[*]",
            "input 0 must have rank 4, got 3"),
    /* scores 2 * 8 * 5 * 7 = 560; MACs 560 * (16 + 32); FLOPs 2 per MAC and 1 per score */
    TITLE("attention costs two products and a softmax"),
    /* 1 * 2 * 3 * 5 scores of 4 and 6 columns; two query heads share the key head */
    COSTS("ai.onnx.preview:FlexAttention-1", NULL,
          "float[1,2,3,4] float[1,1,5,4] float[1,1,5,6]", "float[1,2,3,6]", 300, 630),
    COSTS("Attention-23", NULL, "float[2,8,5,16] float[2,8,7,16] float[2,8,7,32]",
          "float[2,8,5,32]", 26880, 54320),
    COSTS("Attention-23", HEADS, "float[2,5,128] float[2,7,128] float[2,7,256]",
          "float[2,5,256]", 26880, 54320),
    COSTS("Attention-23", "is_causal=1",
          "float[2,8,5,16] float[2,4,7,16] float[2,4,7,32] bool[5,7]", "float[2,8,5,32]", 26880,
          54320),
    COSTS("Attention-23", NULL,
          "float[2,8,5,16] float[2,8,4,16] float[2,8,4,32] - float[2,8,3,16] "
          "float[2,8,3,32]",
          "float[2,8,5,32]", 26880, 54320),
    COSTS("Attention-23", NULL, "float[2,8,5,16] float[2,8,?,16] float[2,8,?,32]",
          "float[2,8,5,32]", DIM_UNKNOWN, DIM_UNKNOWN),
    COSTS("Attention-23", NULL, "float[2,8,0,16] float[2,8,7,16] float[2,8,7,32]",
          "float[2,8,0,32]", OP_NO_MACS, OP_NO_FLOPS),
    COSTS("Attention-23", NULL,
          "float[1,1,4294967296,16] float[1,1,4294967296,16] float[1,1,4294967296,16]",
          "float[1,1,4294967296,16]", DIM_OVERFLOW, DIM_OVERFLOW),
    TITLE("counts two products per score of attention"),
    /* 2 x 8 heads x 16 queries x 32 keys: 8192 scores; 64 MACs with the key, 64 with the
     * value */
    COSTS("Attention-23", NULL, "float[2,8,16,64] float[2,8,32,64] float[2,8,32,64]",
          "float[2,8,16,64]", 8192 * (64 + 64), 2 * 8192 * 128 + 8192),
    /* sharing key heads does not reduce the MACs */
    COSTS("Attention-23", NULL, "float[2,8,16,64] float[2,2,32,64] float[2,2,32,64]",
          "float[2,8,16,64]", 8192 * 128, 2 * 8192 * 128 + 8192),
    /* values half as wide */
    COSTS("Attention-23", "is_causal=1", "float[2,8,16,64] float[2,8,32,64] float[2,8,32,32]",
          "float[2,8,16,32]", 8192 * (64 + 32), 2 * 8192 * 96 + 8192),
    /* one new token after 10 cached keys: 4 heads x 11 keys */
    COSTS("Attention-23", "q_num_heads=4 kv_num_heads=2",
          "float[1,1,32] float[1,1,16] float[1,1,16] - float[1,2,10,8] float[1,2,10,8]",
          "float[1,1,32] float[1,2,11,8] float[1,2,11,8]", 4 * 11 * (8 + 8), 2 * 44 * 16 + 44),
    /* Four rows of eight. */
    TITLE("counts softmax and activations by convention"),
    COUNTS("Attention-23", NULL, "float[1,2,4,8] float[1,2,0,8] float[1,2,0,8]",
           "float[1,2,4,8]", {"exact", 0}, {"thop", 0}),
    TITLE("lowers attention"),
    LOWERS("Attention-23", NULL, "float[2,8,16,64] float[2,2,32,64] float[2,2,32,64]",
           "float[2,8,16,64]", "attention f32 2x8x16x64 2x2x32x64 2x2x32x64 -> 2x8x16x64"),
    /* the heads are adjacent in a row */
    LOWERS("Attention-23", "q_num_heads=4 kv_num_heads=4 is_causal=1",
           "float[2,16,32] float[2,16,32] float[2,16,32]", "float[2,16,32]",
           "attention f32 2x4x16x8/512x8x32x1 2x4x16x8/512x8x32x1 2x4x16x8/512x8x32x1 -> "
           "2x4x16x8/512x8x32x1 causal"),
    /* keys of earlier calls come before those of this one */
    LOWERS("Attention-23", NULL,
           "float[1,2,1,8] float[1,2,1,8] float[1,2,1,8] bool[1,11] float[1,2,10,8] "
           "float[1,2,10,8]",
           "float[1,2,1,8] float[1,2,11,8] float[1,2,11,8]",
           "attention f32 1x2x1x8 1x2x11x8 1x2x11x8 bool 1x11 -> f32 1x2x1x8"),
    /* the first query follows the keys of earlier calls */
    LOWERS("Attention-23", "is_causal=1",
           "float[1,2,4,8] float[1,2,4,8] float[1,2,4,8] - float[1,2,10,8] "
           "float[1,2,10,8]",
           "float[1,2,4,8] float[1,2,14,8] float[1,2,14,8]",
           "attention f32 1x2x4x8 1x2x14x8 1x2x14x8 -> 1x2x4x8 causal-last"),
    /* without a cache, query i sees keys 0 .. i */
    LOWERS("Attention-23", "is_causal=1", "float[1,2,4,8] float[1,2,9,8] float[1,2,9,8]",
           "float[1,2,4,8]", "attention f32 1x2x4x8 1x2x9x8 1x2x9x8 -> 1x2x4x8 causal"),
    /* a single query that follows the keys of earlier calls reads all of them */
    LOWERS("Attention-23", "is_causal=1",
           "float[1,2,1,8] float[1,2,1,8] float[1,2,1,8] - float[1,2,10,8] "
           "float[1,2,10,8]",
           "float[1,2,1,8] float[1,2,11,8] float[1,2,11,8]",
           "attention f32 1x2x1x8 1x2x11x8 1x2x11x8 -> 1x2x1x8"),
    LOWERS("Attention-23", "softcap=2.5", "float[1,2,4,8] float[1,2,4,8] float[1,2,4,8]",
           "float[1,2,4,8]", ""),
    LOWERS("Attention-25", "left_window_size=3", "float[1,2,4,8] float[1,2,4,8] float[1,2,4,8]",
           "float[1,2,4,8]", ""),
    {.op = NULL},
};
