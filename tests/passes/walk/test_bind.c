/* SPDX-License-Identifier: Apache-2.0 */
/* Pass bind: operator rows of nodes, and the check of their signatures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model_harness.h"
#include "passes/walk/bind.h"

struct bind_case {
    const char *lines;
    int status;
    const char *messages;
};

static void check_cases(const struct bind_case *rows, size_t n) {
    for (size_t i = 0; i < n; i++) {
        struct bench *bench = bench_open(rows[i].lines);
        if (bench->status != rows[i].status || strcmp(bench_messages(bench), rows[i].messages))
            fail_msg("row %zu: %d, %s", i, bench->status, bench_messages(bench));
        bench_close(bench);
    }
}

#define CHECK(rows) check_cases(rows, sizeof(rows) / sizeof *(rows))

static void test_refuses_wrong_operand_counts(void **state) {
    static const struct bind_case rows[] = {
        {"in x float[2]\nnode a Add x -> y\nout y\n", CM_REFUSED,
         "error[arity] at a: number of inputs must be >= 2, got 1"},
        {"in x float[2]\nnode r Relu x x -> y\nout y\n", CM_REFUSED,
         "error[arity] at r: number of inputs must be <= 1, got 2"},
        {"in x float[2]\nnode r Relu x -> y z\nout y\n", CM_REFUSED,
         "error[arity] at r: number of outputs must be <= 1, got 2"},
        {"in x float[2]\nnode r Relu x ->\nout x\n", CM_REFUSED,
         "error[arity] at r: number of outputs must be >= 1, got 0"},
        /* omitted trailing operands do not count */
        {"in x float[2]\nnode a Add x - -> y\nout y\n", CM_REFUSED,
         "error[arity] at a: number of inputs must be >= 2, got 1"},
        {"in x float[2]\nnode r Relu x - - -> y -\nout y\n", CM_OK, ""},
        /* a node without a name is printed by its number */
        {"in x float[2]\nnode - Relu x -> y\nnode - Relu y y -> z\nout z\n", CM_REFUSED,
         "error[arity] at #1: number of inputs must be <= 1, got 2"},
    };
    (void)state;
    CHECK(rows);
}

static void test_checks_attributes_against_the_row(void **state) {
    static const struct bind_case rows[] = {
        {"in x float[1,4,4]\nnode p MaxPool x -> y\nout y\n", CM_REFUSED,
         "error[attribute] at p: attribute 'kernel_shape' is missing"},
        {"in x float[1,4,4]\nnode p MaxPool x -> y kernel_shape=2\nout y\n", CM_REFUSED,
         "error[attribute] at p: attribute 'kernel_shape' must be of kind ints, got int"},
        {"in x float[2,3]\nnode c Concat x x -> y axis=last\nout y\n", CM_REFUSED,
         "error[attribute] at c: attribute 'axis' must be of kind int, got string"},
        {"in x float[2,3]\nnode l LeakyRelu x -> y alpha=1\nout y\n", CM_REFUSED,
         "error[attribute] at l: attribute 'alpha' must be of kind float, got int"},
        /* attributes that the row does not list are ignored */
        {"in x float[2,3]\nnode r Relu x -> y colour=blue\nout y\n", CM_OK, ""},
    };
    (void)state;
    CHECK(rows);
}

static void test_reports_every_error(void **state) {
    static const struct bind_case rows[] = {
        {"in x float[2]\nnode a Add x -> y\nnode r Relu y y -> z\nout z\n", CM_REFUSED,
         "error[arity] at a: number of inputs must be >= 2, got 1\n"
         "error[arity] at r: number of inputs must be <= 1, got 2"},
    };
    (void)state;
    CHECK(rows);
}

static void test_an_error_prints_its_node_as_source(void **state) {
    struct bench *bench = bench_open("in x float[2]\nnode layer1/add Add x -> y\nout y\n");
    (void)state;
    assert_int_equal(cm_diagnostics_count(bench->diag), 1);
    assert_string_equal(cm_diagnostics_get(bench->diag, 0)->place,
                        "at node 0 \"layer1/add\", Add-7, pass bind\n%y = Add(%x: f32[2])");
    bench_close(bench);
}

static void test_the_opset_selects_the_row(void **state) {
    static const struct {
        const char *lines;
        int32_t since;
    } rows[] = {
        {"opset 1\nin x float[1,2]\nnode n Squeeze x -> y\nout y\n", 1},
        {"opset 12\nin x float[1,2]\nnode n Squeeze x -> y\nout y\n", 1},
        {"opset 13\nin x float[1,2]\nnode n Squeeze x -> y\nout y\n", 13},
        {"opset 1000\nin x float[1,2]\nnode n Squeeze x -> y\nout y\n", 13},
        {"opset 17\nin x float[1,2]\nnode n ai.onnx::Squeeze x -> y\nout y\n", 13},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench *bench = bench_open(rows[i].lines);
        assert_int_equal(bench->analysis.bind->ops[bench_node(bench, "n")]->since,
                         rows[i].since);
        bench_close(bench);
    }
}

static void test_unknown_operators_get_their_own_row(void **state) {
    static const struct {
        const char *lines;
        bool unknown;
    } rows[] = {
        {"in x float[2]\nnode n com.me::Odd x x x -> y z u\nout y\n", true},
        {"in x float[2]\nnode n Odd x -> y\nout y\n", true},
        {"in x float[2]\nnode n com.me::Relu x -> y\nout y\n", true},
        /* LayerNormalization exists since opset 17 */
        {"opset 16\nin x float[2]\ninit s float[2]\nnode n LayerNormalization x s -> y\n"
         "out y\n",
         true},
        {"opset 17\nin x float[2]\ninit s float[2]\nnode n LayerNormalization x s -> y\n"
         "out y\n",
         false},
        {"in x float[2]\nnode n Relu x -> y\nout y\n", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench *bench = bench_open(rows[i].lines);
        const struct bind_table *table = bench->analysis.bind;
        assert_int_equal(bench->status, CM_OK);
        if (bind_is_unknown(table->ops[bench_node(bench, "n")]) != rows[i].unknown)
            fail_msg("row %zu", i);
        assert_int_equal(table->n_unknown, rows[i].unknown);
        assert_string_equal(bench_type(bench, "y"), rows[i].unknown ? "?" : "f32[2]");
        bench_close(bench);
    }
}

static void test_cached_rows_depend_on_type_domain_and_opset(void **state) {
    struct bench *bench =
        bench_open("opset 12\nin x float[1,2]\nnode a Squeeze x -> y\nopset 13\n"
                   "node b Squeeze y -> z\nnode c Squeeze z -> u\nout u\n");
    const struct op *const *ops = bench->analysis.bind->ops;
    (void)state;
    assert_int_equal(ops[0]->since, 1);
    assert_int_equal(ops[1]->since, 13);
    assert_ptr_equal(ops[1], ops[2]);
    bench_close(bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refuses_wrong_operand_counts),
        cmocka_unit_test(test_checks_attributes_against_the_row),
        cmocka_unit_test(test_reports_every_error),
        cmocka_unit_test(test_an_error_prints_its_node_as_source),
        cmocka_unit_test(test_the_opset_selects_the_row),
        cmocka_unit_test(test_unknown_operators_get_their_own_row),
        cmocka_unit_test(test_cached_rows_depend_on_type_domain_and_opset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
