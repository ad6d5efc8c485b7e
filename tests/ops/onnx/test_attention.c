/* SPDX-License-Identifier: Apache-2.0 */
/* Attention as one operator: see ops/onnx/attention.c. */
#include "op_harness.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define HEADS "q_num_heads=8 kv_num_heads=8"

static void attention_outputs_a_value_for_each_query(void **state) {
    static const struct op_case rows[] = {
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
        REFUSES("Attention-23", HEADS, "float[2,5,100] float[2,7,100] float[2,7,100]",
                "float[*]", "100 columns do not divide into 8 heads"),
        REFUSES("Attention-23", NULL, "float[2,8,5,16] float[2,8,7,32] float[2,8,7,32]",
                "float[*]", "queries have 16 columns, keys 32"),
        REFUSES("ai.onnx.preview:FlexAttention-1", NULL,
                "float[2,5,128] float[2,7,128] float[2,7,128]", "float[*]",
                "input 0 must have rank 4, got 3"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

/* scores 2 * 8 * 5 * 7 = 560; MACs 560 * (16 + 32); FLOPs 2 per MAC and 1 per score */
static void attention_costs_two_products_and_a_softmax(void **state) {
    static const struct op_case rows[] = {
        /* 1 * 2 * 3 * 5 scores of 4 and 6 columns; two query heads share the key head */
        COSTS("ai.onnx.preview:FlexAttention-1", NULL,
              "float[1,2,3,4] float[1,1,5,4] float[1,1,5,6]", "float[1,2,3,6]", 300, 630),
        COSTS("Attention-23", NULL, "float[2,8,5,16] float[2,8,7,16] float[2,8,7,32]",
              "float[2,8,5,32]", 26880, 54320),
        COSTS("Attention-23", HEADS, "float[2,5,128] float[2,7,128] float[2,7,256]",
              "float[2,5,256]", 26880, 54320),
        COSTS("Attention-23", "is_causal=1",
              "float[2,8,5,16] float[2,4,7,16] float[2,4,7,32] bool[5,7]", "float[2,8,5,32]",
              26880, 54320),
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
    };
    (void)state;
    RUN_OP_CASES(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attention_outputs_a_value_for_each_query),
        cmocka_unit_test(attention_costs_two_products_and_a_softmax),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
