/* SPDX-License-Identifier: Apache-2.0 */
/* Pass explain: the FLOPs per convention equal those of a profile with that convention. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model_harness.h"
#include "ops/flops/names/convention_names.h"
#include "passes/modules/modules.h"
#include "passes/summary/explain.h"

/* deepspeed does not count additions, only onnx-tool counts NonZero. The sizes behind
 * NonZero have an upper bound: 4 x 8 elements. */
static const char lines[] =
    "in x float[4,8]\ninit w float[8,8] =1\nat :Net m:Block\n"
    "node a MatMul x w -> p\nnode b Relu p -> q\nnode c Add q x -> r\n"
    "node d NonZero r -> i\nnode e Transpose i -> t\nnode f GatherND r t -> s\n"
    "node g Relu s -> u\nout r\nout u\n";

static int64_t flops_by(const char *convention) {
    const struct cm_options options = {.convention = convention};
    struct bench *bench = bench_open_with(lines, &options);
    assert_int_equal(bench->status, CM_OK);
    int64_t flops = bench->analysis.modules->modules[1].costs.flops;
    bench_close(bench);
    return flops;
}

static void explains_a_module_with_the_flops_of_each_convention(void **state) {
    static const char *const names[] = {"m"};
    (void)state;
    for (size_t given = 0; conventions_at(given); given++) {
        const struct cm_options options = {
            .convention = conventions_at(given)->name, .n_explain = 1, .explain = names};
        struct bench *bench = bench_open_with(lines, &options);
        assert_int_equal(bench->status, CM_OK);
        const struct cm_explanation *explained = &bench->analysis.explain->items[0];
        assert_true(explained->of_module);
        for (size_t i = 0; conventions_at(i); i++)
            assert_int_equal(explained->by[i].flops, flops_by(conventions_at(i)->name));
        bench_close(bench);
    }
}

static void explains_a_bounded_node_at_its_upper_bound(void **state) {
    static const char *const names[] = {"g"};
    const struct cm_options options = {.n_explain = 1, .explain = names};
    struct bench *bench = bench_open_with(lines, &options);
    (void)state;
    assert_int_equal(bench->status, CM_OK);
    assert_false(bench->analysis.explain->items[0].of_module);
    assert_int_equal(bench->analysis.explain->items[0].by[0].flops, 4 * 8);
    bench_close(bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(explains_a_module_with_the_flops_of_each_convention),
        cmocka_unit_test(explains_a_bounded_node_at_its_upper_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
