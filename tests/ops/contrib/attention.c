/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of ops/contrib/attention.c. Shapes are those of ONNX Runtime 1.31.1 if it has a kernel.
 */
#include "op_harness.h"

const struct op_case cases_contrib_attention[] = {
    TITLE("counts projections of attention"),
    /* projection: 2 x 5 rows of 16 x 48, 7680; 2 x 4 x 5 x 5 scores of 4 + 4 MACs: 1600 */
    COSTS("com.microsoft:Attention-1", "num_heads=4", "float[2,5,16] float[16,48] float[48]",
          "float[2,5,16]", 9280, 18760),
    COSTS("com.microsoft:Attention-1", "num_heads=4 unidirectional=1",
          "float[2,5,16] float[16,48] float[48] - float[2,2,4,3,4]",
          "float[2,5,16] float[2,2,4,8,4]", 10240, 20800),
    COSTS("com.microsoft:Attention-1", "num_heads=4 qkv_hidden_sizes=[16,16,8]",
          "float[2,5,16] float[16,40] float[40]", "float[2,5,8]", 7600, 15400),
    REFUSES("com.microsoft:Attention-1", "num_heads=4 qkv_hidden_sizes=[16,16,-8]",
            "float[2,5,16] float[16,40] float[40]", "float[*]",
            "qkv_hidden_sizes must be >= 0"),
    COSTS("com.microsoft:QAttention-1", "num_heads=4",
          "uint8[2,5,16] int8[16,48] float[48] float[] float[] - uint8[] int8[]",
          "float[2,5,16]", 9280, 18760),
    GIVES("com.microsoft:Attention-1", "num_heads=4 past_present_share_buffer=1",
          "float[2,1,16] float[16,48] float[48] - float[2,2,4,32,4] - int32[]={7}",
          "float[2,1,16] float[2,2,4,32,4]"),
    /* the buffer of 32 positions holds 8 keys: 2 x (16 x 48 + 4 x 8 x 8) */
    COSTS("com.microsoft:Attention-1", "num_heads=4 past_present_share_buffer=1",
          "float[2,1,16] float[16,48] float[48] - float[2,2,4,32,4] - int32[]={7}",
          "float[2,1,16] float[2,2,4,32,4]", 2048, 4096 + 64),
    GIVES("com.microsoft:Attention-1", "num_heads=4", "float[?,?,16] float[16,48] float[48]",
          "float[?,?,16]"),
    /* 10 tokens fill 2 x 5 positions without padding; with 9 the number of scores is
     * unknown */
    COSTS("com.microsoft:PackedAttention-1", "num_heads=4",
          "float[10,16] float[16,48] float[48] int32[2,5] int32[3]", "float[10,16]", 9280,
          18760),
    COSTS("com.microsoft:PackedAttention-1", "num_heads=4",
          "float[9,16] float[16,48] float[48] int32[2,5] int32[3]", "float[9,16]", DIM_UNKNOWN,
          DIM_UNKNOWN),
    REFUSES("com.microsoft:Attention-1", "num_heads=0", "float[2,5,16] float[16,48] float[48]",
            "float[*]", "query heads must be a multiple of key heads, got 0 and 0"),
    TITLE("counts separate queries keys and values"),
    /* 2 x 4 x 5 x 7 scores of 4 + 4 MACs */
    COSTS("com.microsoft:MultiHeadAttention-1", "num_heads=4",
          "float[2,5,16] float[2,7,16] float[2,7,16]", "float[2,5,16]", 2240, 4760),
    COSTS("com.microsoft:MultiHeadAttention-1", "num_heads=4",
          "float[2,5,16] float[2,5,16] float[2,5,16] - - - float[2,4,3,4] float[2,4,3,4]",
          "float[2,5,16] float[2,4,8,4] float[2,4,8,4]", 2560, 5440),
    COSTS("com.microsoft:MultiHeadAttention-1", "num_heads=4",
          "float[2,5,16] float[2,4,7,4] float[2,4,7,4]", "float[2,5,16]", 2240, 4760),
    /* packed [batch 2, sequence 5, heads 4, 3 for query, key and value, 4 columns] */
    COSTS("com.microsoft:MultiHeadAttention-1", "num_heads=4", "float[2,5,4,3,4]",
          "float[2,5,16]", 1600, 3400),
    COSTS("com.microsoft:MultiHeadAttention-1", "num_heads=4", "float[2,5,16] float[2,7,4,2,4]",
          "float[2,5,16]", 2240, 4760),
    COSTS("com.microsoft:DecoderMaskedMultiHeadAttention-1", "num_heads=4",
          "float[2,1,16] float[2,1,16] float[2,1,16] - - float[2,4,6,4] float[2,4,6,4]",
          "float[2,1,16] float[2,4,7,4] float[2,4,7,4]", 448, 896 + 56),
    COSTS("com.microsoft:PackedMultiHeadAttention-1", "num_heads=4",
          "float[10,16] float[10,16] float[10,16] - int32[2,5] int32[3]", "float[10,16]", 1600,
          3400),
    TITLE("counts grouped query attention"),
    /* 4 query heads, 2 key heads, 8 columns: 2 x 4 x 5 x 5 x 16; with a past of 6: 2 x 4 x
     * 7 x 16 */
    COSTS("com.microsoft:GroupQueryAttention-1", "num_heads=4 kv_num_heads=2",
          "float[2,5,32] float[2,5,16] float[2,5,16] - - int32[2]={4,4} int32[]={5}",
          "float[2,5,32] float[2,2,5,8] float[2,2,5,8]", 3200, 6600),
    COSTS("com.microsoft:GroupQueryAttention-1", "num_heads=4 kv_num_heads=2",
          "float[2,1,32] float[2,1,16] float[2,1,16] float[2,2,6,8] float[2,2,6,8] "
          "int32[2]={6,6} int32[]={7}",
          "float[2,1,32] float[2,2,7,8] float[2,2,7,8]", 896, 1848),
    COSTS("com.microsoft:GroupQueryAttention-1", "num_heads=4 kv_num_heads=2",
          "float[2,5,64] - - - - int32[2]={4,4} int32[]={5}",
          "float[2,5,32] float[2,2,5,8] float[2,2,5,8]", 3200, 6600),
    /* number of keys unknown: the past counts as full */
    COSTS("com.microsoft:GroupQueryAttention-1", "num_heads=4 kv_num_heads=2",
          "float[2,1,32] float[2,1,16] float[2,1,16] float[2,2,6,8] float[2,2,6,8] "
          "int32[2] int32[]",
          "float[2,1,32] float[2,2,7,8] float[2,2,7,8]", 896, 1848),
    /* 3 keys in a buffer of 6 positions */
    COSTS("com.microsoft:GroupQueryAttention-1", "num_heads=4 kv_num_heads=2",
          "float[2,1,32] float[2,1,16] float[2,1,16] float[2,2,6,8] float[2,2,6,8] "
          "int32[2] int32[]={3}",
          "float[2,1,32] float[2,2,6,8] float[2,2,6,8]", 384, 768 + 24),
    /* caches of 8-bit and of 4-bit numbers; a byte packs two 4-bit numbers */
    COSTS("com.microsoft:GroupQueryAttention-1",
          "num_heads=4 kv_num_heads=2 k_quant_type=PER_TENSOR v_quant_type=PER_TENSOR "
          "kv_cache_bit_width=8",
          "float[2,1,32] float[2,1,16] float[2,1,16] int8[2,2,6,8] int8[2,2,6,8] "
          "int32[2]={6,6} int32[]={7}",
          "float[2,1,32] int8[2,2,7,8] int8[2,2,7,8]", 896, 1848),
    COSTS("com.microsoft:GroupQueryAttention-1",
          "num_heads=4 kv_num_heads=2 k_quant_type=PER_TENSOR v_quant_type=PER_TENSOR "
          "kv_cache_bit_width=4",
          "float[2,1,32] float[2,1,16] float[2,1,16] uint8[2,2,6,4] uint8[2,2,6,4] "
          "int32[2]={6,6} int32[]={7}",
          "float[2,1,32] uint8[2,2,7,4] uint8[2,2,7,4]", 896, 1848),
    REFUSES("com.microsoft:GroupQueryAttention-1", "num_heads=4 kv_num_heads=2",
            "float[2,1,32] float[2,1,16] float[2,1,16] float[2,2,6,8] float[2,2,6,9] "
            "int32[2] int32[]",
            "float[*]", "input 4 must have a last dim of 8, got [2,2,6,9]"),
    REFUSES("com.microsoft:MultiHeadAttention-1", "num_heads=4",
            "float[2,1,32] float[2,1,32] float[2,1,32] - - - float[2,4,6,7] "
            "float[2,4,6,8]",
            "float[*]", "input 6 must have a last dim of 8, got [2,4,6,7]"),
    /* 6 in the past and 1 new; a buffer of 6; fewer than the 5 new ones */
    REFUSES("com.microsoft:GroupQueryAttention-1", "num_heads=4 kv_num_heads=2",
            "float[2,1,32] float[2,1,16] float[2,1,16] float[2,2,6,8] float[2,2,6,8] "
            "int32[2] int32[]={8}",
            "float[*]", "attends to 8 keys, but has 1 to 7"),
    REFUSES("com.microsoft:DecoderMaskedMultiHeadAttention-1",
            "num_heads=4 past_present_share_buffer=1",
            "float[2,1,16] float[2,1,16] float[2,1,16] - - float[2,4,6,4] float[2,4,6,4] "
            "int32[]={6}",
            "float[*]", "attends to 7 keys, but has 1 to 6"),
    REFUSES("com.microsoft:GroupQueryAttention-1", "num_heads=4 kv_num_heads=2",
            "float[2,5,32] float[2,5,16] float[2,5,16] - - int32[2] int32[]={4}", "float[*]",
            "attends to 4 keys, but has 5 to 5"),
    REFUSES("com.microsoft:GroupQueryAttention-1", "num_heads=4 kv_num_heads=3",
            "float[2,1,32] float[2,1,16] float[2,1,16] - - int32[2] int32[]", "float[*]",
            "query heads must be a multiple of key heads, got 4 and 3"),
    TITLE("infers rotary embedding"),
    COSTS("com.microsoft:RotaryEmbedding-1", NULL,
          "float[2,4,5,8] int64[2,5] float[50,4] float[50,4]", "float[2,4,5,8]", OP_NO_MACS,
          OP_NO_FLOPS),
    TITLE("counts two products per score of attention"),
    /* the contrib operator with a past of 6: 2 x 4 heads x 7 keys */
    COSTS("com.microsoft:GroupQueryAttention-1", "num_heads=4 kv_num_heads=2",
          "float[2,1,32] float[2,1,16] float[2,1,16] float[2,2,6,8] float[2,2,6,8] int32[2] "
          "int32[]={7}",
          "float[2,1,32] float[2,2,7,8] float[2,2,7,8]", 2 * 4 * 7 * (8 + 8), 2 * 56 * 16 + 56),
    COSTS("com.microsoft:MultiHeadAttention-1", "num_heads=4",
          "float[2,5,16] float[2,7,16] float[2,7,16]", "float[2,5,16]", 2 * 4 * 5 * 7 * (4 + 4),
          2 * 280 * 8 + 280),
    /* projection: 2 x 5 rows by 16 x 48; 2 x 4 x 5 x 5 scores */
    COSTS("com.microsoft:Attention-1", "num_heads=4", "float[2,5,16] float[16,48]! float[48]!",
          "float[2,5,16]", 2 * 5 * 16 * 48 + 200 * (4 + 4), 2 * (7680 + 1600) + 200),
    TITLE("counts fused operators as their parts"),
    /* scale and softmax of 200 scores in rows of 5: 6 * 200 - 2 * 40; the mask adds 200 */
    COUNTS("com.microsoft:Attention-1", "num_heads=4 unidirectional=1",
           "float[2,5,16] float[16,48] float[48]", "float[2,5,16]",
           {"exact", 2 * 9280 + 1200 - 80 + 200}),
    COUNTS("com.microsoft:MultiHeadAttention-1", "num_heads=4",
           "float[2,5,16] float[2,7,16] float[2,7,16] - int32[2,7] float[1,1,5,7]",
           "float[2,5,16]", {"exact", 2 * 2240 + 6 * 280 - 2 * 40 + 280 + 280}),
    /* causal by default */
    COUNTS("com.microsoft:GroupQueryAttention-1", "num_heads=4 kv_num_heads=2",
           "float[2,5,32] float[2,5,16] float[2,5,16] - - int32[2] int32[]={5}",
           "float[2,5,32]", {"exact", 2 * 3200 + 6 * 200 - 2 * 40 + 200}),
    TITLE("lowers contrib attention"),
    LOWERS("com.microsoft:MultiHeadAttention-1", "num_heads=4",
           "float[2,5,16] float[2,7,16] float[2,7,16]", "float[2,5,16]",
           "attention f32 2x4x5x4/80x4x16x1 2x4x7x4/112x4x16x1 2x4x7x4/112x4x16x1 -> "
           "2x4x5x4/80x4x16x1"),
    LOWERS("com.microsoft:MultiHeadAttention-1", "num_heads=4 unidirectional=1",
           "float[2,5,16] float[2,5,16] float[2,5,16] - - float[1,4,5,5]", "float[2,5,16]",
           "attention f32 2x4x5x4/80x4x16x1 2x4x5x4/80x4x16x1 2x4x5x4/80x4x16x1 1x4x5x5 -> "
           "2x4x5x4/80x4x16x1 causal"),
    /* no primitive: with biases; with a padding mask; with packed keys and values */
    LOWERS("com.microsoft:MultiHeadAttention-1", "num_heads=4",
           "float[2,5,16] float[2,5,16] float[2,5,16] float[48]!", "float[2,5,16]", ""),
    LOWERS("com.microsoft:MultiHeadAttention-1", "num_heads=4",
           "float[2,5,16] float[2,5,16] float[2,5,16] - int32[2,5]", "float[2,5,16]", ""),
    LOWERS("com.microsoft:MultiHeadAttention-1", "num_heads=4",
           "float[2,5,16] float[2,7,4,2,4]", "float[2,5,16]", ""),
    /* two heads share the keys of one; the queries are the last 3 of 8 positions */
    LOWERS("com.microsoft:GroupQueryAttention-1", "num_heads=4 kv_num_heads=2",
           "float[1,3,16] float[1,3,8] float[1,3,8] float[1,2,5,4] float[1,2,5,4] int32[1] "
           "int32[1]",
           "float[1,3,16] float[1,2,8,4] float[1,2,8,4]",
           "attention f32 1x4x3x4/48x4x16x1 1x2x8x4 1x2x8x4 -> 1x4x3x4/48x4x16x1 "
           "causal-last"),
    LOWERS("com.microsoft:GroupQueryAttention-1", "num_heads=4 kv_num_heads=2 do_rotary=1",
           "float[1,3,16] float[1,3,8] float[1,3,8] - - int32[1] int32[1]",
           "float[1,3,16] float[1,2,3,4] float[1,2,3,4]", ""),
    LOWERS("com.microsoft:GroupQueryAttention-1", "num_heads=4 kv_num_heads=2 softcap=2.5",
           "float[1,3,16] float[1,3,8] float[1,3,8] - - int32[1] int32[1]",
           "float[1,3,16] float[1,2,3,4] float[1,2,3,4]", ""),
    {.op = NULL},
};
