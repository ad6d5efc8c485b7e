/* SPDX-License-Identifier: Apache-2.0 */
/* Rotary embedding, linear attention, causal convolution: see ops/onnx/transformer.c. */
#include "op_harness.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void a_rotary_embedding_keeps_the_shape(void **state) {
    static const struct op_case rows[] = {
        COSTS("RotaryEmbedding-23", NULL, "float[2,4,3,8] float[50,4] float[50,4] int64[2,3]",
              "float[2,4,3,8]", OP_NO_MACS, OP_NO_FLOPS),
        GIVES("RotaryEmbedding-23", "num_heads=4", "float[2,3,32] float[2,3,4] float[2,3,4]",
              "float[2,3,32]"),
        REFUSES("RotaryEmbedding-23", NULL, "float[2,3] float[50,4] float[50,4]", "float[*]",
                "input 0 must have rank 3 or 4, got 2"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void linear_attention_reads_and_writes_a_state(void **state) {
    static const struct op_case rows[] = {
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
                "2 heads of queries do not share 4"), /* com.microsoft allows this */
        REFUSES("com.microsoft:LinearAttention-1", "q_num_heads=3 kv_num_heads=4",
                "float[1,4,24] float[1,4,32] float[1,4,24] - float[1,4,4] float[1,4,4]",
                "float[*] float[*]", "3 heads of queries do not share 4"),
        REFUSES("LinearAttention-27", "q_num_heads=4 kv_num_heads=2",
                "float[1,2,31] float[1,2,16] float[1,2,32]", "float[*] float[*]",
                "31 columns do not divide into 4 heads"),
        REFUSES("LinearAttention-27", "q_num_heads=4 kv_num_heads=2",
                "float[1,2,4,8] float[1,2,16] float[1,2,32]", "float[*] float[*]",
                "input 0 must have rank 3, got 4"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void causal_convolution_is_depthwise_and_returns_its_state(void **state) {
    static const struct op_case rows[] = {
        /* 2 * 3 * 7 outputs of 4 MACs; a bias and an activation are one FLOP each */
        COSTS("CausalConvWithState-27", NULL, "float[2,3,7] float[3,1,4]",
              "float[2,3,7] float[2,3,3]", 168, 336),
        COSTS("CausalConvWithState-27", "activation=silu",
              "float[2,3,7] float[3,1,4] float[3] float[2,3,3]", "float[2,3,7] float[2,3,3]",
              168, 336 + 42 + 42),
        REFUSES("CausalConvWithState-27", NULL, "float[2,3,7,7] float[3,1,4]",
                "float[*] float[*]", "input 0 must have rank 3, got 4"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rotary_embedding_keeps_the_shape),
        cmocka_unit_test(linear_attention_reads_and_writes_a_state),
        cmocka_unit_test(causal_convolution_is_depthwise_and_returns_its_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
