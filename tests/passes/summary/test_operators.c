/* SPDX-License-Identifier: Apache-2.0 */
/* Sums by operator; expected values are computed by hand. */
#include "passes/summary/operators.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model_harness.h"

static void operators_are_sorted_by_macs_then_by_flops(void **state) {
    struct bench *bench = bench_open(
        "in x float[4,4]\ninit w float[4,4]\nnode r Relu x -> p\nnode s Sigmoid p -> q\n"
        "node m MatMul q w -> t\nnode n MatMul t w -> u\nnode v com.microsoft::Gelu u -> "
        "y\nout y\n");
    (void)state;
    const struct operators_table *table = bench->analysis.operators;
    assert_int_equal(table->n, 4);
    assert_string_equal(table->items[0].op, "MatMul");
    assert_int_equal(table->items[0].nodes, 2);
    assert_int_equal(table->items[0].costs.macs, 2 * 4 * 4 * 4);
    assert_int_equal(table->items[0].costs.bytes_written, 2 * 4 * 4 * 4);
    assert_int_equal(table->items[0].costs.activation_bytes, 0); /* not of an operator */
    for (size_t i = 2; i < table->n; i++)
        assert_true(table->items[i - 1].costs.flops >= table->items[i].costs.flops ||
                    table->items[i - 1].costs.macs > table->items[i].costs.macs);
    assert_string_equal(table->items[table->of_node[bench_node(bench, "v")]].op,
                        "com.microsoft::Gelu");
    assert_int_equal(table->of_node[bench_node(bench, "m")], 0);
    bench_close(bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_are_sorted_by_macs_then_by_flops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
