/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products: see ops/onnx/matmul.c. */
#include "op_harness.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void matmul_broadcasts_as_numpy(void **state) {
    static const struct op_case rows[] = {

        GIVES("MatMul-13", NULL, "float[3,4] float[4,5]", "float[3,5]"),
        GIVES("MatMul-1", NULL, "float[2,1,3,4] float[7,4,5]", "float[2,7,3,5]"),
        GIVES("MatMul-9", NULL, "int32[4] int32[4]", "int32[]"),
        GIVES("MatMul-9", NULL, "float[4] float[2,4,5]", "float[2,5]"),
        GIVES("MatMul-9", NULL, "float[2,3,4] float[4]", "float[2,3]"),
        GIVES("MatMul-13", NULL, "float[0,3,4] float[1,4,5]", "float[0,3,5]"),
        GIVES("MatMul-13", NULL, "float[?,3,?] float[4,5]", "float[?,3,5]"),
        GIVES("MatMul-13", NULL, "float[*] float[4,5]", "float[*]"),
        REFUSES("MatMul-13", NULL, "float[3,4] float[5,4]", "float[*]",
                "the inner axes of [3,4] and [5,4] differ: 4 and 5"),
        REFUSES("MatMul-13", NULL, "float[] float[5,4]", "float[*]",
                "input 0 must have rank >= 1, got a scalar"),
        REFUSES("MatMul-13", NULL, "float[2,3,4] float[3,4,5]", "float[*]", "do not broadcast"),
        REFUSES("MatMul-13", NULL, "float[3,4] int64[4,5]", "float[*]",
                "input 1 must be of type float, got int64"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void gemm_multiplies_two_matrices_and_adds_a_third(void **state) {
    static const struct op_case rows[] = {

        GIVES("Gemm-11", "transB=1", "float[32,1024] float[512,1024] float[512]",
              "float[32,512]"),
        GIVES("Gemm-7", "transA=1", "float[4,3] float[4,5] float[1]", "float[3,5]"),
        GIVES("Gemm-13", "transA=1 transB=1", "float[4,3] float[5,4]", "float[3,5]"),
        GIVES("Gemm-1", "broadcast=1", "float[3,4] float[4,5] float[5]", "float[3,5]"),
        GIVES("Gemm-11", NULL, "float[0,4] float[4,5]", "float[0,5]"),
        GIVES("Gemm-11", NULL, "float[?,4] float[*]", "float[?,?]"),
        REFUSES("Gemm-11", NULL, "float[2,3,4] float[4,5]", "float[*]",
                "input 0 must be a matrix, got [2,3,4]"),
        REFUSES("Gemm-11", "transB=1", "float[3,4] float[4,5]", "float[*]",
                "A has 4 columns, B 5 rows"),
        REFUSES("Gemm-11", NULL, "float[3,4] float[4,5] float[6]", "float[*]",
                "do not broadcast"),
        REFUSES("Gemm-11", NULL, "float[1,4] float[4,5] float[3,5]", "float[*]",
                "input 2 must broadcast to [1,5], got [3,5]"),
        REFUSES("Gemm-11", NULL, "float[1,4] float[4,5] float[1,1,1]", "float[*]",
                "input 2 must broadcast to [1,5], got [1,1,1]"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void a_product_costs_its_outputs_times_the_summed_axis(void **state) {
    static const struct op_case rows[] = {
        /* elimination of 3 x 3: 2^2 + 1^2 MACs; of 1 x 1: none */
        COSTS("Det-11", NULL, "float[2,3,3]", "float[2]", 10, 20),
        COSTS("Det-22", NULL, "float[1,1]", "float[]", OP_NO_MACS, OP_NO_FLOPS),
        GIVES("Det-11", NULL, "float[*]", "float[*]"),
        REFUSES("Det-11", NULL, "float[2,3]", "float[*]",
                "input 0 must hold square matrices, got [2,3]"),

        COSTS("MatMul-13", NULL, "float[3,4] float[4,5]", "float[3,5]", 60, 120),
        /* batch axes of B count even if A has none */
        COSTS("MatMul-13", NULL, "float[3,4] float[7,4,5]", "float[7,3,5]", 420, 840),
        COSTS("MatMul-13", NULL, "float[2,1,3,4] float[7,4,5]", "float[2,7,3,5]", 840, 1680),
        COSTS("MatMul-13", NULL, "float[4] float[4]", "float[]", 4, 8),
        COSTS("MatMul-13", NULL, "float[4] float[2,4,5]", "float[2,5]", 40, 80),
        COSTS("MatMul-13", NULL, "float[2,3,4] float[4]", "float[2,3]", 24, 48),
        COSTS("MatMul-13", NULL, "float[3,?] float[4,5]", "float[3,5]", 60, 120),
        COSTS("MatMul-13", NULL, "float[3,0] float[0,5]", "float[3,5]", OP_NO_MACS,
              OP_NO_FLOPS),
        COSTS("MatMul-13", NULL, "float[4611686018427387904,4] float[4,5]",
              "float[4611686018427387904,5]", DIM_OVERFLOW, DIM_OVERFLOW),
        /* the addend of a Gemm is not counted */
        COSTS("Gemm-11", "transB=1", "float[32,1024] float[512,1024] float[512]",
              "float[32,512]", 16777216, 33554432),
        COSTS("Gemm-11", "transA=1", "float[4,3] float[4,5]", "float[3,5]", 60, 120),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void a_product_prints_as_a_linear_layer(void **state) {
    static const struct op_case rows[] = {

        PRINTS("Gemm-11", "transB=1", "float[32,1024] float[512,1024] float[512]",
               "float[32,512]", "in_features=1024, out_features=512, bias=True"),
        PRINTS("Gemm-11", NULL, "float[32,1024] float[1024,512]", "float[32,512]",
               "in_features=1024, out_features=512, bias=False"),
        PRINTS("MatMul-13", NULL, "float[2,3,4] float[4,5]!", "float[2,3,5]",
               "in_features=4, out_features=5, bias=False"),
        PRINTS("MatMul-13", NULL, "float[2,3,4] float[2,4,5]", "float[2,3,5]", ""),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matmul_broadcasts_as_numpy),
        cmocka_unit_test(gemm_multiplies_two_matrices_and_adds_a_third),
        cmocka_unit_test(a_product_costs_its_outputs_times_the_summed_axis),
        cmocka_unit_test(a_product_prints_as_a_linear_layer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
