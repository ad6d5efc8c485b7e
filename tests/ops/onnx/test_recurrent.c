/* SPDX-License-Identifier: Apache-2.0 */
/* Recurrent layers: see ops/onnx/recurrent.c. */
#include "op_harness.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void output_axes_follow_the_layout(void **state) {
    static const struct op_case rows[] = {

        GIVES("LSTM-7", "hidden_size=128 direction=bidirectional",
              "float[20,3,64] float[2,512,64] float[2,512,128] float[2,1024]",
              "float[20,2,3,128] float[2,3,128] float[2,3,128]"),
        GIVES("LSTM-14", "hidden_size=5 layout=1", "float[3,20,4] float[1,20,4] float[1,20,5]",
              "float[3,20,1,5] float[3,1,5] float[3,1,5]"),
        GIVES("GRU-14", "hidden_size=5 direction=reverse",
              "float[7,3,4] float[1,15,4] float[1,15,5]", "- float[1,3,5]"),
        GIVES("RNN-1", "hidden_size=5", "float[7,3,4] float[1,5,4] float[1,5,5]",
              "float[7,1,3,5] float[1,3,5]"),
        GIVES("GRU-1", "hidden_size=5", "float[7,3,4] float[1,15,4] float[1,15,5]",
              "float[7,1,3,5] float[1,3,5]"),
        GIVES("LSTM-7", NULL, "float[?,?,4] float[1,20,4] float[*]",
              "float[?,1,?,5] float[1,?,5]"),
        GIVES("LSTM-7", "hidden_size=5", "float[*] float[*] float[*]",
              "float[?,1,?,5] float[1,?,5] float[1,?,5]"),
        GIVES("RNN-7", NULL, "float[0,3,4] float[1,5,4] float[1,5,5]", "float[0,1,3,5]"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void a_layer_whose_weights_do_not_fit_is_refused(void **state) {
    static const struct op_case rows[] = {

        REFUSES("LSTM-7", "hidden_size=5", "float[7,3,4] float[1,20,6] float[1,20,5]",
                "float[*]", "dim 2 of input 1 must be 4 (features), got 6"),
        REFUSES("LSTM-7", "hidden_size=5", "float[7,3,4] float[1,15,4] float[1,20,5]",
                "float[*]", "dim 1 of input 1 must be 20 (gates x hidden_size), got 15"),
        REFUSES("LSTM-7", "hidden_size=5", "float[7,3,4] float[2,20,4] float[1,20,5]",
                "float[*]", "dim 0 of input 1 must be 1 (directions), got 2"),
        REFUSES("LSTM-7", "hidden_size=5", "float[7,3,4] float[1,20,4] float[1,20,6]",
                "float[*]", "dim 2 of input 2 must be 5 (hidden_size), got 6"),
        REFUSES("LSTM-7", "hidden_size=0", "float[7,3,4] float[1,0,4] float[1,0,0]", "float[*]",
                "hidden_size must be >= 1, got 0"),
        REFUSES("LSTM-7", "direction=up", "float[7,3,4] float[1,20,4] float[1,20,5]",
                "float[*]", "direction is none of forward, reverse, bidirectional"),
        REFUSES("LSTM-7", NULL, "float[7,3] float[1,20,4] float[1,20,5]", "float[*]",
                "input 0 must have rank 3, got [7,3]"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

/* MACs: D*B*T * (G*h*I + G*h*h). FLOPs: as DeepSpeed 0.19.8 counts the torch.nn layers. */
static void a_layer_costs_its_gates_at_each_step(void **state) {
    static const struct op_case rows[] = {

        COSTS("LSTM-7", NULL, "float[3,4,6] float[1,20,6] float[1,20,5] float[1,40]",
              "float[3,1,4,5]", 2640, 5880),
        COSTS("LSTM-7", NULL, "float[3,4,6] float[1,20,6] float[1,20,5]", "float[3,1,4,5]",
              2640, 5400),
        COSTS("LSTM-7", "direction=bidirectional",
              "float[3,4,6] float[2,20,6] float[2,20,5] float[2,40]", "float[3,2,4,5]", 5280,
              11760),
        COSTS("GRU-7", NULL, "float[3,4,6] float[1,15,6] float[1,15,5] float[1,30]",
              "float[3,1,4,5]", 1980, 4380),
        COSTS("GRU-7", NULL, "float[3,4,6] float[1,15,6] float[1,15,5]", "float[3,1,4,5]", 1980,
              4020),
        COSTS("RNN-7", NULL, "float[3,4,6] float[1,5,6] float[1,5,5] float[1,10]",
              "float[3,1,4,5]", 660, 1380),
        COSTS("RNN-7", NULL, "float[3,4,6] float[1,5,6] float[1,5,5]", "float[3,1,4,5]", 660,
              1260),
        /* 2*3*20 * 4*128*(64+128) MACs; 2 FLOPs per cell */
        COSTS("LSTM-7", "hidden_size=128 direction=bidirectional",
              "float[20,3,64] float[2,512,64] float[2,512,128]", "float[20,2,3,128]", 11796480,
              23623680),
        COSTS("LSTM-14", "hidden_size=128 direction=bidirectional layout=1",
              "float[3,20,64] float[2,512,64] float[2,512,128]", "float[3,20,2,128]", 11796480,
              23623680),
        COSTS("GRU-7", "hidden_size=5", "float[7,3,4] float[1,15,4] float[1,15,5]",
              "float[7,1,3,5]", 2835, 5775),
        COSTS("RNN-7", "hidden_size=5", "float[7,3,4] float[1,5,4] float[1,5,5]",
              "float[7,1,3,5]", 945, 1785),
        COSTS("RNN-7", "hidden_size=5", "float[0,3,4] float[1,5,4] float[1,5,5]",
              "float[0,1,3,5]", 0, 0),
        COSTS("RNN-7", "hidden_size=5", "float[?,3,4] float[1,5,4] float[1,5,5]",
              "float[?,1,3,5]", DIM_UNKNOWN, DIM_UNKNOWN),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void a_layer_prints_its_features(void **state) {
    static const struct op_case rows[] = {

        PRINTS("LSTM-7", "hidden_size=128 direction=bidirectional",
               "float[20,3,64] float[2,512,64] float[2,512,128]", "float[20,2,3,128]",
               "64, 128, bidirectional=True"),
        PRINTS("GRU-7", NULL, "float[7,3,4] float[1,15,4] float[1,15,5]", "float[7,1,3,5]",
               "4, 5"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_axes_follow_the_layout),
        cmocka_unit_test(a_layer_whose_weights_do_not_fit_is_refused),
        cmocka_unit_test(a_layer_costs_its_gates_at_each_step),
        cmocka_unit_test(a_layer_prints_its_features),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
