/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of ops/contrib/states.c. */
#include "op_harness.h"

const struct op_case cases_contrib_states[] = {
    TITLE("counts lstm cells"),
    /* 3 steps x 2 sequences, 4 gates of 5, 4 features and 5 states; 10 FLOPs per cell */
    COSTS("com.microsoft:DynamicQuantizeLSTM-1", "hidden_size=5",
          "float[3,2,4] uint8[1,4,20]! uint8[1,5,20]! float[1,40]! - - - - float[1]! "
          "uint8[1]! float[1]! uint8[1]!",
          "float[3,1,2,5] float[1,2,5] float[1,2,5]", 3 * 2 * 4 * 5 * (4 + 5),
          2 * 1080 + 10 * 3 * 2 * 5),
    COSTS("com.microsoft:DynamicQuantizeLSTM-1", "hidden_size=5 direction=bidirectional",
          "float[3,2,4] uint8[2,4,20]! uint8[2,5,20]! - - - - - float[2]! uint8[2]! "
          "float[2]! uint8[2]!",
          "float[3,2,2,5]", 2 * 3 * 2 * 4 * 5 * (4 + 5), 2 * 2160 + 2 * 2 * 3 * 2 * 5),
    /*
     * cells 3 x 2 x 20 x (16 + 5) = 2520; keys of 9 positions 2 x 9 x 6 x 7 = 756; each of
     * 6 rows: query 5 x 7, scores 9 x 7, context 9 x 6: 6 x 152 = 912
     */
    COSTS("com.microsoft:AttnLSTM-1", "hidden_size=5",
          "float[3,2,10] float[1,20,16] float[1,20,5] float[1,40] - - - - float[1,5,7] "
          "float[1,6,7] float[1,7] float[2,9,6] int32[2]",
          "float[3,1,2,5]", 2520 + 756 + 912, 2 * 4188 + 10 * 30),
    /* and an attention layer of (6 + 5) x 8 after each row */
    COSTS("com.microsoft:AttnLSTM-1", "hidden_size=5",
          "float[3,2,10] float[1,20,18] float[1,20,5] float[1,40] - - - - float[1,5,7] "
          "float[1,6,7] float[1,7] float[2,9,6] int32[2] float[1,11,8]",
          "float[3,1,2,5]", 6 * 20 * (18 + 5) + 756 + 912 + 6 * 11 * 8, 2 * 4956 + 300),
    REFUSES("com.microsoft:AttnLSTM-1", "hidden_size=0",
            "float[3,2,10] float[1,20,16] float[1,20,5]", "float[*]",
            "hidden_size must be >= 1, got 0"),
    REFUSES("com.microsoft:AttnLSTM-1", "hidden_size=5",
            "float[2,10] float[1,20,16] float[1,20,5]", "float[*]",
            "input 0 must have rank 3, got 2"),
    TITLE("infers states of causal convolutions"),
    COSTS("com.microsoft:CausalConvWithState-1", "activation=silu",
          "float[2,3,5] float[3,1,4] float[3]", "float[2,3,5] float[2,3,3]", 30 * 4,
          2 * 120 + 2 * 30),
    COSTS("com.microsoft:CausalConvWithState-1", "ndim=2", "float[2,3,6,5] float[3,1,2,4]",
          "float[2,3,6,5] float[2,3,6,3]", 180 * 2 * 4, 2 * 1440),
    GIVES("com.microsoft:CausalConvWithState-1", "channels_last=1 dilation=3",
          "float[2,5,3,7] float[21,1,4]", "float[2,5,3,7] float[2,9,3,7]"),
    GIVES("com.microsoft:CausalConvWithState-1", NULL, "float[?,3,5] float[*]",
          "float[?,3,5] float[?,3,?]"),
    COSTS("com.microsoft:VarlenCausalConvWithState-1", "state_update_capacity=2",
          "float[5,3] float[3,1,4] int32[3] - float[2,3,3] int32[2]",
          "float[5,3] float[2,3,3] float[2,2,3]", 15 * 4, 2 * 60),
    REFUSES("com.microsoft:CausalConvWithState-1", "ndim=4", "float[2,3,5] float[3,1,4]",
            "float[*] float[*]", "ndim must be 1, 2 or 3, got 4"),
    REFUSES("com.microsoft:CausalConvWithState-1", NULL, "float[2,3,5,5] float[3,1,4]",
            "float[*] float[*]", "input 0 must have rank 3, got 4"),
    TITLE("counts gated delta networks"),
    /* 4 tokens, 4 value heads, a state of 8 x 6: read, updated, and by the delta rule read
     * again */
    COSTS("com.microsoft:GatedDeltaNet-1", NULL,
          "float[4,2,8] float[4,2,8] float[4,4,6] - float[4,4] float[4,4] float[1,4,6,8]",
          "float[4,4,6] float[1,4,6,8]", 4 * 4 * 6 * 8 * 3, 2 * 2304),
    COSTS("com.microsoft:GatedDeltaNet-1", "update_rule=gated",
          "float[4,2,8] float[4,2,8] float[4,4,6] - float[4,4] - float[1,4,6,8]",
          "float[4,4,6] float[1,4,6,8]", 4 * 4 * 6 * 8 * 2, 2 * 1536),
    /* tokens as [1, 4]; 88 = 2 updates of 4 decays, 2 x 8 keys and 4 x 6 differences */
    GIVES("com.microsoft:GatedDeltaNet-1", "state_update_capacity=2",
          "float[1,4,2,8] float[1,4,2,8] float[1,4,4,6] - float[1,4,4] float[1,4,4] "
          "float[1,4,6,8]",
          "float[1,4,4,6] float[1,4,6,8] float[1,88]"),
    REFUSES("com.microsoft:GatedDeltaNet-1", NULL, "float[4,8] float[4,8] float[4,6]",
            "float[*]", "input 0 must have rank >= 3, got 2"),
    TITLE("counts gates and cells of recurrent layers"),
    COSTS("com.microsoft:DynamicQuantizeLSTM-1", "hidden_size=16",
          "float[7,2,8] int8[1,8,64]! int8[1,16,64]! float[1,128]! - - - - float[1]! "
          "int8[1]! float[1]! int8[1]!",
          "float[7,1,2,16]", 7 * 2 * 64 * 24, 2 * 7 * 2 * 64 * 24 + 10 * 7 * 2 * 16),
    {.op = NULL},
};
