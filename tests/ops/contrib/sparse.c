/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of ops/contrib/sparse.c: attention over caches, windows and selections, and indexers. */
#include "op_harness.h"

#define DECODER(flags, caches)                                                                 \
    "float[4,3,8] float[6,3,8] float[8,8] float[8,16] float[24] - " caches " " flags           \
    " bool[]={0} bool[]={0}"

const struct op_case cases_contrib_sparse[] = {
    TITLE("counts projections of uncached keys"),
    /* projections 3 x (4 + 2 x 4) rows by 8 x 8; 12 queries x 2 heads x 4 keys x (4 + 4) */
    COSTS("com.microsoft:DecoderAttention-1", "num_heads=2",
          DECODER("bool[]={0} bool[]={0}", "- -"), "float[4,3,8] float[3,2,4,4] float[3,2,4,4]",
          36 * 64 + 96 * 8, 2 * 3072 + 96),
    /* 6 keys of the encoder */
    COSTS("com.microsoft:DecoderAttention-1", "num_heads=2",
          DECODER("bool[]={1} bool[]={0}", "- -"), "float[4,3,8] float[3,2,6,4] float[3,2,6,4]",
          3 * (4 + 2 * 6) * 64 + 144 * 8, 2 * 4224 + 144),
    /* a cache of 10 keys before the 4 new keys */
    COSTS("com.microsoft:DecoderAttention-1", "num_heads=2",
          DECODER("bool[]={0} bool[]={1}", "float[3,2,10,4] float[3,2,10,4]"),
          "float[4,3,8] float[3,2,14,4] float[3,2,14,4]", 36 * 64 + 336 * 8, 2 * 4992 + 336),
    /* all 10 keys of the encoder are cached */
    COSTS("com.microsoft:DecoderAttention-1", "num_heads=2",
          DECODER("bool[]={1} bool[]={1}", "float[3,2,10,4] float[3,2,10,4]"),
          "float[4,3,8] float[3,2,10,4] float[3,2,10,4]", 12 * 64 + 240 * 8, 2 * 2688 + 240),
    REFUSES("com.microsoft:DecoderAttention-1", "num_heads=0",
            DECODER("bool[]={0} bool[]={0}", "- -"), "float[*]",
            "query heads must be a multiple of key heads, got 0 and 0"),
    TITLE("counts windowed attention"),
    /* projections of 16 rows by 16 x (48 + 48); 16 queries x 2 heads x 5 keys x (8 + 8) */
    COSTS("com.microsoft:LongformerAttention-1", "num_heads=2 window=2",
          "float[2,8,16] float[16,48] float[48] float[2,8] float[16,48] float[48] "
          "int32[2,8]",
          "float[2,8,16]", 16 * 16 * 96 + 160 * 16, 2 * 27136 + 160),
    /* the window exceeds both ends: all 8 keys */
    COSTS("com.microsoft:LongformerAttention-1", "num_heads=2 window=8",
          "float[2,8,16] float[16,48] float[48] float[2,8] float[16,48] float[48] "
          "int32[2,8]",
          "float[2,8,16]", 16 * 16 * 96 + 256 * 16, 2 * 28672 + 256),
    /* projection of 16 rows by 16 x 48; 16 queries x 2 heads x 8 keys x (8 + 8) */
    COSTS("com.microsoft:QOrderedAttention-1",
          "num_heads=2 order_input=1 order_output=1 order_weight=0",
          "int8[2,8,16] float[] float[] float[] float[] int8[16,16] int8[16,16] int8[16,16] "
          "float[] float[] float[] float[16] float[16] float[16] - - float[]",
          "int8[2,8,16]", 16 * 16 * 48 + 256 * 16, 2 * 16384 + 256),
    REFUSES("com.microsoft:LongformerAttention-1", "num_heads=2 window=0",
            "float[2,8,16] float[16,48] float[48] float[2,8] float[16,48] float[48] "
            "int32[2,8]",
            "float[*]", "window must be >= 1, got 0"),
    TITLE("assumes full caches and selections"),
    /* 4 queries x 4 heads x 4 keys x (8 + 8); if the number of keys is unknown, all 16 of
     * the cache */
    COSTS("com.microsoft:SparseAttention-1", "num_heads=4 kv_num_heads=2 sparse_block_size=16",
          "float[1,4,32] float[1,4,16] float[1,4,16] float[1,2,16,8] float[1,2,16,8] "
          "int32[1,2] int32[1,1] int32[1]={4} int32[1]",
          "float[1,4,32] float[1,2,16,8] float[1,2,16,8]", 64 * 16, 2 * 1024 + 64),
    COSTS("com.microsoft:SparseAttention-1", "num_heads=4 kv_num_heads=2 sparse_block_size=16",
          "float[1,4,32] float[1,4,16] float[1,4,16] float[1,2,16,8] float[1,2,16,8] "
          "int32[1,2] int32[1,1] int32[1] int32[1]",
          "float[1,4,32] float[1,2,16,8] float[1,2,16,8]", 256 * 16, 2 * 4096 + 256),
    /* 3 pages of 16 keys per request: 5 x 4 x 48 scores */
    COSTS("com.microsoft:PagedAttention-1", "num_heads=4 kv_num_heads=2",
          "float16[5,32] float16[5,16] float16[5,16] float16[6,16,2,8] float16[6,16,2,8] "
          "int32[3] int32[2] int32[2,3]",
          "float16[5,32]", 960 * 16, 2 * 15360 + 960),
    /* one operand packs queries, keys and values: 8 heads of 4 */
    COSTS("com.microsoft:PagedAttention-1", "num_heads=4 kv_num_heads=2",
          "float16[5,32] - - float16[6,16,2,4] float16[6,16,2,4] int32[3] int32[2] "
          "int32[2,3]",
          "float16[5,16]", 960 * 8, 2 * 7680 + 960),
    /* values are the first 512 columns of the 576 of a key */
    COSTS("com.microsoft:PagedAttention-1",
          "num_heads=4 kv_num_heads=1 kv_cache_layout=LATENT v_head_size=512",
          "float16[5,2304] float16[5,576] - float16[6,16,1,576] - int32[3] int32[2] "
          "int32[2,3]",
          "float16[5,2048] float16[6,16,1,576]", 960 * (576 + 512), 2 * 1044480 + 960),
    /* 4 selected keys; 4 selected keys and a local window of 8 */
    COSTS("com.microsoft:SparsePagedAttention-1", "num_heads=4 kv_num_heads=2",
          "float16[5,32] float16[5,16] float16[5,16] float16[6,16,2,8] float16[6,16,2,8] "
          "int32[3] int32[2] int32[2,3] - int32[5,4] int32[5]",
          "float16[5,32]", 80 * 16, 2 * 1280 + 80),
    COSTS("com.microsoft:SparsePagedAttention-1",
          "num_heads=4 kv_num_heads=2 attention_mode=local_plus_selected "
          "local_window_size=8",
          "float16[5,32] float16[5,16] float16[5,16] float16[6,16,2,8] float16[6,16,2,8] "
          "int32[3] int32[2] int32[2,3] - int32[5,4] int32[5]",
          "float16[5,32]", 240 * 16, 2 * 3840 + 240),
    COSTS("com.microsoft:DynamicSparseAttention-1", "num_heads=4 kv_num_heads=2",
          "float[1,5,32] float[1,5,16] float[1,5,16] - - - - int32[5,4] int32[5] int32[1] "
          "int32[1]={5}",
          "float[1,5,32] float[1,2,5,8] float[1,2,5,8]", 80 * 16, 2 * 1280 + 80),
    GIVES("com.microsoft:PagedAttention-1", "num_heads=4 kv_num_heads=2",
          "float16[?,32] float16[?,16] float16[?,16] float16[?,16,2,8] float16[?,16,2,8] "
          "int32[?] int32[?] int32[?,?]",
          "float16[?,32] float16[?,16,2,8]"),
    TITLE("counts indexers"),
    /* 5 queries x 2 heads x 12 / 4 blocks x 16 columns; the output lists 8 + 4 - 1 keys */
    COSTS("com.microsoft:SparseAttentionIndexer-1",
          "policy_mode=qsa compress_ratio=4 token_budget=8",
          "float[1,5,32] float[1,5,16] float[16] float[16] float[32,8] float[32,8] - "
          "float[1,7,16]",
          "int32[1,5,11] float[1,12,16]", 5 * 2 * 3 * 16, 2 * 480),
    /* one operand packs queries and keys */
    COSTS("com.microsoft:SparseAttentionIndexer-1",
          "policy_mode=qsa compress_ratio=4 token_budget=8",
          "float[1,5,48] - float[16] float[16] float[32,8] float[32,8] - float[1,7,16]",
          "int32[1,5,11] float[1,12,16]", 5 * 2 * 3 * 16, 2 * 480),
    /* 6 tokens are pending: a complete window of 4, and 2; 5 more complete a window and
     * leave 3 */
    COSTS("com.microsoft:SparseAttentionIndexer-1",
          "policy_mode=csa compress_ratio=4 index_topk=3",
          "float[1,5,32] float[1,5,32] float[16] float[16] float[32,8] float[32,8] - "
          "float[1,7,16] float[1,5,32] float[4,32] float[1,5,2] int64[1,5] - "
          "float[2,1,6,32]",
          "int32[1,5,3] float[1,8,16] float[2,1,7,32]", 5 * 2 * 8 * 16, 2 * 1280),
    COSTS("com.microsoft:PackedSparseAttentionIndexer-1",
          "policy_mode=qsa compress_ratio=4 token_budget=8 state_capacity=6",
          "float[5,32] float[5,16] float[16] float[16] float[32,8] float[32,8] int32[3] "
          "int32[2] - - - - float[2,6,16] float[2,7,16] - int32[2,2]",
          "int32[5,11] int32[5] float[2,6,16] float[2,7,16] - int32[2,2]", 5 * 2 * 6 * 16,
          2 * 960),
    REFUSES("com.microsoft:SparseAttentionIndexer-1", "policy_mode=x compress_ratio=4",
            "float[1,5,32] float[1,5,16] float[16] float[16] float[32,8] float[32,8] - "
            "float[1,7,16]",
            "int32[*] float[*]", "policy_mode must be qsa or csa, got 'x'"),
    REFUSES("com.microsoft:SparseAttentionIndexer-1", "policy_mode=qsa compress_ratio=0",
            "float[1,5,32] float[1,5,16] float[16] float[16] float[32,8] float[32,8] - "
            "float[1,7,16]",
            "int32[*] float[*]", "compress_ratio must be >= 1, got 0"),
    {.op = NULL},
};
