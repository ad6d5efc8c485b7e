/* SPDX-License-Identifier: Apache-2.0 */
/* Normalizations: see ops/onnx/norm.c. */
#include "op_harness.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void a_batch_norm_keeps_the_shape_and_gives_statistics(void **state) {
    static const struct op_case rows[] = {

        GIVES("BatchNormalization-15", NULL,
              "float[4,64,9] float[64] float[64] float[64] float[64]", "float[4,64,9]"),
        GIVES("BatchNormalization-15", "training_mode=1",
              "float[4,64,9] float[64] float[64] float[64] float[64]",
              "float[4,64,9] float[64] float[64]"),
        GIVES("BatchNormalization-9", NULL,
              "float[4,64,9] float[64] float[64] float[64] float[64]",
              "float[4,64,9] float[64] float[64] float[64] float[64]"),
        GIVES("BatchNormalization-15", NULL,
              "float16[4,64] float16[64] float16[64] float[64] float[64]",
              "float16[4,64] float[64]"),
        GIVES("BatchNormalization-9", NULL,
              "float[?,?] float[64] float[64] float[64] float[64]", "float[?,?] float[64]"),
        GIVES("BatchNormalization-9", NULL, "float[*] float[*] float[*] float[*] float[*]",
              "float[*] float[?]"),
        GIVES("BatchNormalization-9", NULL, "float[8] float[1] float[1] float[1] float[1]",
              "float[8]"),
        GIVES("BatchNormalization-7", "spatial=0",
              "float[4,2,3] float[2,3] float[2,3] float[2,3] float[2,3]", "float[4,2,3]"),
        GIVES("BatchNormalization-9", NULL, "float[0,2,3] float[2] float[2] float[2] float[2]",
              "float[0,2,3]"),
        REFUSES("BatchNormalization-9", NULL,
                "float[4,2,3] float[3] float[3] float[3] float[3]", "float[*]",
                "input 1 must have shape [2], got [3]"),
        REFUSES("BatchNormalization-9", NULL,
                "float[4,2,3] float[2] float[2] float[2,1] float[2]", "float[*]",
                "input 3 must have shape [2], got [2,1]"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void the_mode_of_a_batch_norm_decides_its_cost(void **state) {
    static const struct op_case rows[] = {

        /* n = 2304; 2 n in inference, 5 n in training */
        COSTS("BatchNormalization-15", NULL,
              "float[4,64,9] float[64] float[64] float[64] float[64]", "float[4,64,9]",
              OP_NO_MACS, 4608),
        COSTS("BatchNormalization-14", "training_mode=1",
              "float[4,64,9] float[64] float[64] float[64] float[64]", "float[4,64,9]",
              OP_NO_MACS, 11520),
        COSTS("BatchNormalization-14", "training_mode=0",
              "float[4,64,9] float[64] float[64] float[64] float[64]",
              "float[4,64,9] float[64] float[64]", OP_NO_MACS, 4608),
        /* before opset 14 the number of outputs selects the training mode */
        COSTS("BatchNormalization-9", NULL,
              "float[4,64,9] float[64] float[64] float[64] float[64]", "float[4,64,9]",
              OP_NO_MACS, 4608),
        COSTS("BatchNormalization-13", NULL,
              "float[4,64,9] float[64] float[64] float[64] float[64]",
              "float[4,64,9] float[64] float[64] - -", OP_NO_MACS, 11520),
        COSTS("BatchNormalization-9", NULL,
              "float[4,64,9] float[64] float[64] float[64] float[64]", "float[4,64,9] - - - -",
              OP_NO_MACS, 4608),
        COSTS("BatchNormalization-6", "is_test=1",
              "float[4,64,9] float[64] float[64] float[64] float[64]",
              "float[4,64,9] float[64] float[64]", OP_NO_MACS, 4608),
        COSTS("BatchNormalization-6", NULL,
              "float[4,64,9] float[64] float[64] float[64] float[64]",
              "float[4,64,9] float[64] float[64]", OP_NO_MACS, 11520),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void other_norms_keep_the_shape(void **state) {
    static const struct op_case rows[] = {

        GIVES("InstanceNormalization-6", NULL, "float[1,3,8,8] float[3] float[3]",
              "float[1,3,8,8]"),
        REFUSES("InstanceNormalization-6", NULL, "float[1,3,8,8] float[4] float[3]", "float[*]",
                "input 1 must have shape [3], got [4]"),
        REFUSES("InstanceNormalization-6", NULL, "float[1,3] float[3] float[3]", "float[*]",
                "must have rank >= 3"),
        GIVES("LayerNormalization-17", NULL, "float[2,5,768] float[768] float[768]",
              "float[2,5,768] float[2,5,1] float[2,5,1]"),
        GIVES("LayerNormalization-17", "axis=1", "float16[2,5,6] float16[5,6]",
              "float16[2,5,6] float[2,1,1]"),
        GIVES("LayerNormalization-17", NULL, "float[*] float[768]", "float[*] float[*]"),
        GIVES("LayerNormalization-17", NULL, "float[?,?,768] float[768]",
              "float[?,?,768] float[?,?,1]"),
        REFUSES("LayerNormalization-17", NULL, "float[2,5] float[4]", "float[*]",
                "do not broadcast"),
        REFUSES("LayerNormalization-17", NULL, "float[2,5] float[3,5]", "float[*]",
                "input 1 has the shape [3,5], [5] is normalized"),
        REFUSES("LayerNormalization-17", "axis=2", "float[2,5] float[5]", "float[*]",
                "axis 2 is out of range"),
        REFUSES("LayerNormalization-17", NULL, "float[] float[]", "float[*]",
                "axis -1 is out of range for rank 0"),
        GIVES("GroupNormalization-18", "num_groups=2", "float[1,4,8] float[2] float[2]",
              "float[1,4,8]"),
        GIVES("GroupNormalization-21", "num_groups=2", "float[1,4,8] float[4] float[4]",
              "float[1,4,8]"),
        REFUSES("GroupNormalization-21", "num_groups=2", "float[1,4,8] float[2] float[2]",
                "float[*]", "input 1 must have shape [4], got [2]"),
        REFUSES("GroupNormalization-21", "num_groups=3", "float[1,4,8] float[4] float[4]",
                "float[*]", "4 channels do not divide into 3 groups"),
        REFUSES("GroupNormalization-21", "num_groups=0", "float[1,?,8] float[4] float[4]",
                "float[*]", "? channels do not divide into 0 groups"),
        GIVES("RMSNormalization-23", NULL, "float[2,768] float[768]", "float[2,768]"),
        GIVES("LRN-13", "size=5", "float[1,96,55,55]", "float[1,96,55,55]"),
        REFUSES("LRN-1", "size=0", "float[1,96,55,55]", "float[*]", "size must be >= 1, got 0"),
        GIVES("LpNormalization-1", "axis=0", "float[2,3]", "float[2,3]"),
        REFUSES("LpNormalization-1", "axis=5", "float[2,3]", "float[*]",
                "axis 5 is out of range"),
        GIVES("MeanVarianceNormalization-13", NULL, "float[1,2,3,4]", "float[1,2,3,4]"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void other_norms_cost_five_for_each_element(void **state) {
    static const struct op_case rows[] = {

        COSTS("LayerNormalization-17", NULL, "float[2,5,768] float[768] float[768]",
              "float[2,5,768]", OP_NO_MACS, 38400),
        COSTS("InstanceNormalization-6", NULL, "float[1,3,8,8] float[3] float[3]",
              "float[1,3,8,8]", OP_NO_MACS, 960),
        COSTS("GroupNormalization-21", "num_groups=2", "float[1,4,8] float[4] float[4]",
              "float[1,4,8]", OP_NO_MACS, 160),
        COSTS("LRN-13", "size=5", "float[1,96,55,55]", "float[1,96,55,55]", OP_NO_MACS,
              OP_NO_FLOPS),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void a_norm_prints_as_its_module(void **state) {
    static const struct op_case rows[] = {

        PRINTS("BatchNormalization-15", NULL,
               "float[4,64,9] float[64] float[64] float[64] float[64]", "float[4,64,9]",
               "64, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True"),
        PRINTS("BatchNormalization-9", "epsilon=0.001 momentum=0.97",
               "float[4,64,9] float[64] float[64] float[64] float[64]", "float[4,64,9]",
               "64, eps=0.001, momentum=0.03, affine=True, track_running_stats=True"),
        PRINTS("LayerNormalization-17", "epsilon=1e-06", "float[2,5,768] float[768] float[768]",
               "float[2,5,768]", "(768,), eps=1e-06, elementwise_affine=True"),
        PRINTS("LayerNormalization-17", "axis=-2 epsilon=1e-12", "float[2,5,6] float[5,6]",
               "float[2,5,6]", "(5, 6), eps=1e-12, elementwise_affine=True"),
        PRINTS("GroupNormalization-21", "num_groups=2", "float[1,4,8] float[4] float[4]",
               "float[1,4,8]", "2, 4, eps=1e-05, affine=True"),
        PRINTS("LRN-13", "size=5", "float[1,96,55,55]", "float[1,96,55,55]",
               "5, alpha=0.0001, beta=0.75, k=1.0"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_norm_keeps_the_shape_and_gives_statistics),
        cmocka_unit_test(the_mode_of_a_batch_norm_decides_its_cost),
        cmocka_unit_test(other_norms_keep_the_shape),
        cmocka_unit_test(other_norms_cost_five_for_each_element),
        cmocka_unit_test(a_norm_prints_as_its_module),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
