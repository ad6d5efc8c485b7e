/* SPDX-License-Identifier: Apache-2.0 */
/* What an explanation says of a module by each convention is what a report by it says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model_harness.h"
#include "ops/flops/names/convention_names.h"

/* deepspeed counts no addition, only onnx-tool counts NonZero; of what follows that the
 * most is known: 4 x 8 elements. */
static const char lines[] =
    "in x float[4,8]\ninit w float[8,8] =1\nat :Net m:Block\n"
    "node a MatMul x w -> p\nnode b Relu p -> q\nnode c Add q x -> r\n"
    "node d NonZero r -> i\nnode e Transpose i -> t\nnode f GatherND r t -> s\n"
    "node g Relu s -> u\nout r\nout u\n";

static int64_t flops_by(const char *convention) {
    const struct cm_options options = {.convention = convention};
    struct bench *bench = bench_open_with(lines, &options);
    assert_int_equal(bench->status, CM_OK);
    int64_t flops = bench->analysis.modules.modules[1].costs.flops;
    bench_close(bench);
    return flops;
}

static void a_module_costs_by_each_convention_what_its_report_says(void **state) {
    static const char *const names[] = {"m"};
    (void)state;
    for (size_t asked = 0; conventions_at(asked); asked++) {
        const struct cm_options options = {
            .convention = conventions_at(asked)->name, .n_explain = 1, .explain = names};
        struct bench *bench = bench_open_with(lines, &options);
        assert_int_equal(bench->status, CM_OK);
        const struct explained *explained = &bench->analysis.explain.items[0];
        assert_true(explained->of_module);
        for (size_t i = 0; conventions_at(i); i++)
            assert_int_equal(explained->flops[i], flops_by(conventions_at(i)->name));
        bench_close(bench);
    }
}

static void a_node_of_bounded_size_costs_what_the_largest_does(void **state) {
    static const char *const names[] = {"g"};
    const struct cm_options options = {.n_explain = 1, .explain = names};
    struct bench *bench = bench_open_with(lines, &options);
    (void)state;
    assert_int_equal(bench->status, CM_OK);
    assert_false(bench->analysis.explain.items[0].of_module);
    assert_int_equal(bench->analysis.explain.items[0].flops[0], 4 * 8);
    bench_close(bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_module_costs_by_each_convention_what_its_report_says),
        cmocka_unit_test(a_node_of_bounded_size_costs_what_the_largest_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
