/* SPDX-License-Identifier: Apache-2.0 */
/* Einsum: see ops/onnx/einsum.c. */
#include "op_harness.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void infers_the_shape_from_the_equation(void **state) {
    static const struct op_case rows[] = {

        GIVES("Einsum-12", "equation=bij,bjk->bik", "float[5,2,3] float[5,3,4]",
              "float[5,2,4]"),
        GIVES("Einsum-12", "equation=ij,jk", "float[2,3] float[3,4]", "float[2,4]"),
        GIVES("Einsum-12", "equation=ba,ca", "float[2,3] float[4,3]", "float[2,4]"),
        GIVES("Einsum-12", "equation=ij->ji", "float[3,4]", "float[4,3]"),
        /* numpy sorts the labels of an implicit output: A before b */
        GIVES("Einsum-12", "equation=bA", "float[3,4]", "float[4,3]"),
        GIVES("Einsum-12", "equation=ij->i", "float[3,4]", "float[3]"),
        GIVES("Einsum-12", "equation=ii", "float[3,3]", "float[]"),
        GIVES("Einsum-12", "equation=...ii->...i", "float[2,5,3,3]", "float[2,5,3]"),
        GIVES("Einsum-12", "equation=...ij,...jk", "float[7,2,3] float[6,1,3,4]",
              "float[6,7,2,4]"),
        GIVES("Einsum-12", "equation=...ij,...jk->ik...", "float[7,2,3] float[7,3,4]",
              "float[2,4,7]"),
        GIVES("Einsum-12", "equation=,ij->ij", "float[] float[3,4]", "float[3,4]"),
        GIVES("Einsum-12", "equation=ij,jk->ik", "float[?,3] float[?,4]", "float[?,4]"),
        GIVES("Einsum-12", "equation=ij,jk->ik", "float[*] float[3,4]", "float[?,4]"),
        GIVES("Einsum-12", "equation=...j,jk->...k", "float[*] float[3,4]", "float[*]"),
        GIVES("Einsum-12", "equation=ij,ij->ij", "float[1,4] float[3,1]", "float[3,4]"),
        GIVES("Einsum-12", "equation=ij,jk->ik", "float[0,3] float[3,4]", "float[0,4]"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void refuses_an_equation_that_does_not_match_its_inputs(void **state) {
    static const struct op_case rows[] = {

        REFUSES("Einsum-12", "equation=ij,jk->ik", "float[2,3] float[4,5]", "float[*]",
                "axis 0 of input 1 has 4, the same label 3 before"),
        REFUSES("Einsum-12", "equation=ij,jk->ik", "float[2,3]", "float[*]",
                "the equation has more than 1 terms"),
        REFUSES("Einsum-12", "equation=ij->i", "float[2,3] float[2,3]", "float[*]",
                "the equation has 1 terms for 2 inputs"),
        REFUSES("Einsum-12", "equation=ij->ik", "float[2,3]", "float[*]",
                "the equation has an output label that no operand has"),
        REFUSES("Einsum-12", "equation=ij->ii", "float[2,3]", "float[*]",
                "the equation repeats an output label"),
        REFUSES("Einsum-12", "equation=ij->i", "float[2,3,4]", "float[*]",
                "input 0 has rank 3, its term has 2 labels"),
        REFUSES("Einsum-12", "equation=i1->i", "float[2,3]", "float[*]",
                "the equation has a character that is not a label"),
        REFUSES("Einsum-12", "equation=i->i->i", "float[2]", "float[*]",
                "the equation has a character that is not a label"),
        REFUSES("Einsum-12", "equation=...i...->i", "float[2]", "float[*]",
                "the equation has two ellipses in a term"),
        REFUSES("Einsum-12",
                "equation=abcdefghabcdefghabcdefghabcdefghabcdefghabcdefghabcdefghabcdefghi",
                "float[2]", "float[*]", "the equation has too many labels in a term"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

/* The test adds the operands; a row holds fewer. */
static void refuses_more_operands_than_supported(void **state) {
    static const struct op_case row = {.op = "Einsum-12",
                                       .attrs = "equation=i->i",
                                       .inputs = "float[2]",
                                       .outputs = "float[2]"};
    struct op_bench *bench = op_bench_open(&row);
    const struct value_info *inputs[33];
    (void)state;
    for (size_t i = 0; i < 33; i++) inputs[i] = bench->context.inputs[0];
    bench->context.inputs = inputs;
    bench->context.n_inputs = 33;
    assert_int_equal(bench->context.op->infer(&bench->context), CM_REFUSED);
    assert_string_equal(op_bench_message(bench), "33 operands, at most 32 are read");
    op_bench_close(bench);
}

static void two_operands_cost_the_product_of_all_labels(void **state) {
    static const struct op_case rows[] = {

        COSTS("Einsum-12", "equation=bij,bjk->bik", "float[5,2,3] float[5,3,4]", "float[5,2,4]",
              120, 240),
        COSTS("Einsum-12", "equation=i,j->ij", "float[3] float[4]", "float[3,4]", 12, 24),
        COSTS("Einsum-12", "equation=...ij,...jk", "float[7,2,3] float[6,1,3,4]",
              "float[6,7,2,4]", 1008, 2016),
        COSTS("Einsum-12", "equation=ij->ji", "float[3,4]", "float[4,3]", OP_NO_MACS,
              OP_NO_FLOPS),
        COSTS("Einsum-12", "equation=ij,jk->ik", "float[?,3] float[3,4]", "float[?,4]",
              DIM_UNKNOWN, DIM_UNKNOWN),
        COSTS("Einsum-12", "equation=i,j->ij", "float[4611686018427387904] float[4]",
              "float[4611686018427387904,4]", DIM_OVERFLOW, DIM_OVERFLOW),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void more_operands_cost_the_best_order(void **state) {
    static const struct op_case rows[] = {

        /* (10x100)(100x5)(5x50): the left product first, 5000 + 2500 */
        COSTS("Einsum-12", "equation=ij,jk,kl->il", "float[10,100] float[100,5] float[5,50]",
              "float[10,50]", 7500, 15000),
        /* (30x35)(35x15)(15x5)(5x10)(10x20)(20x25), the textbook chain: 15125 */
        COSTS("Einsum-12", "equation=ab,bc,cd,de,ef,fg->ag",
              "float[30,35] float[35,15] float[15,5] float[5,10] float[10,20] float[20,25]",
              "float[30,25]", 15125, 30250),
        /* seven vectors, one after the other: 6 products of 2 elements each */
        COSTS("Einsum-12", "equation=a,a,a,a,a,a,a->a",
              "float[2] float[2] float[2] float[2] float[2] float[2] float[2]", "float[2]", 12,
              24),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(infers_the_shape_from_the_equation),
        cmocka_unit_test(refuses_an_equation_that_does_not_match_its_inputs),
        cmocka_unit_test(refuses_more_operands_than_supported),
        cmocka_unit_test(two_operands_cost_the_product_of_all_labels),
        cmocka_unit_test(more_operands_cost_the_best_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
