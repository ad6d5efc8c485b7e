/* SPDX-License-Identifier: Apache-2.0 */
/* Peak memory of whole models: live values, the peak of modules, in-place outputs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model_harness.h"
#include "passes/memory/arena_plan.h"
#include "passes/memory/in_place.h"
#include "passes/memory/liveness.h"
#include "passes/modules/modules.h"
#include "passes/summary/peak_memory.h"
#include "support/checked.h"

struct peak_case {
    const char *what;
    const char *lines;
    int64_t peak;
    int64_t in_place;
};

/* Values have 40 bytes, x and those of shape [1] have 4. */
static const struct peak_case cases[] = {
    {"a chain holds an operand and a result; a graph input is never overwritten",
     "in w float[10]\nnode a Exp w -> y\nnode b Exp y -> z\nout z\n", 80, 80},
    {"an elementwise node overwrites its operand",
     "in x float[1]\nnode a Expand x s -> y\nnode b Exp y -> z\nnode c ReduceSum z -> r\n"
     "out r\n",
     80, 44},
    {"a value with a later reader is not overwritten",
     "in x float[1]\nnode a Expand x s -> y\nnode b Exp y -> z\nnode c Add y z -> r\nout r\n",
     120, 80},
    {"of two operands at their last use only one is overwritten",
     "in x float[1]\nnode a Expand x s -> y\nnode b Expand x s -> z\n"
     "node c Add y z -> r\nout r\n",
     120, 84},
    {"a graph output is not overwritten",
     "in x float[1]\nnode a Expand x s -> y\nnode b Exp y -> z\nout y\nout z\n", 80, 80},
    {"a view keeps its source alive and owns nothing",
     "in x float[1]\nnode a Expand x s -> y\nnode b Flatten y -> v\nnode c Exp v -> z\n"
     "node d ReduceSum z -> r\nout r\n",
     80, 44},
    {"an operand of another size, 4 bytes, is not overwritten",
     "in x float[1]\nnode a Expand x t -> y\nnode b Expand x s -> z\n"
     "node c Add y z -> r\nout r\n",
     84, 48},
    {"nor one with as many bytes but fewer elements: 10 floats, 40 bools",
     "in x float[1]\nconst u int64[2] =4,10\nnode a Expand x s -> y\nnode b Expand x u -> z\n"
     "node c Equal y z -> q\nout q\n",
     240, 240},
    {"a cast to elements of the same size is elementwise",
     "in x float[1]\nnode a Expand x s -> y\nnode b Cast y -> z to=6\nnode c ReduceSum z -> r\n"
     "out r\n",
     80, 44},
    {"a BatchNormalization in inference mode is elementwise",
     "in x float[1,1]\nconst u int64[2] =1,10\ninit p float[10]\nnode a Expand x u -> y\n"
     "node b BatchNormalization y p p p p -> z\nnode c ReduceSum z -> r\nout r\n",
     80, 44},
    {"inputs and outputs of bodies are alive until their node has run",
     "in x float[1]\nin c bool[]\nnode a Expand x s -> y\n"
     "body then_branch\nnode t Exp y -> ty\nnode u Exp ty -> tz\nout tz\nclose\n"
     "body else_branch\nnode e Exp y -> ey\nout ey\nclose\n"
     "node i If c -> r\nout r\n",
     161, 161},
    {"without nodes nothing is alive", "in x float[1]\nout x\n", 0, 0},
};

static struct bench *open_case(const char *lines) {
    char text[2048];
    (void)snprintf(text, sizeof text, "opset 13\ninit s int64[1] =10\ninit t int64[1] =1\n%s",
                   lines);
    struct bench *bench = bench_open(text);
    assert_int_equal(bench->status, CM_OK);
    return bench;
}

static void peak_is_the_largest_sum_of_live_values(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bench *bench = open_case(cases[i].lines);
        const struct analysis *analysis = &bench->analysis;
        if (analysis->liveness->peak_bytes != cases[i].peak ||
            analysis->in_place->peak_bytes != cases[i].in_place)
            fail_msg("%s: got %lld and %lld in place", cases[i].what,
                     (long long)analysis->liveness->peak_bytes,
                     (long long)analysis->in_place->peak_bytes);
        bench_close(bench);
    }
}

#define MODULES                                                                                \
    "in x float[1]\n"                                                                          \
    "node /big/Expand Expand x s -> y\n"                                                       \
    "node /big/Exp Exp y -> z\n"                                                               \
    "node /small/ReduceSum ReduceSum z -> r\n"                                                 \
    "out r\n"

static int64_t module_peak(const struct bench *bench, const char *path) {
    const struct cm_module *module = bench_module(bench, path);
    assert_non_null(module);
    return bench->analysis.peak_memory->of_module[module - bench->analysis.modules->modules];
}

static void module_peak_includes_only_values_that_it_produced(void **state) {
    (void)state;
    struct bench *bench = open_case(MODULES);
    assert_int_equal(module_peak(bench, ""), 80);
    assert_int_equal(module_peak(bench, "big"), 80);
    assert_int_equal(module_peak(bench, "small"), 4);
    bench_close(bench);
}

static void values_at_the_peak_sum_to_the_peak(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bench *bench = open_case(cases[i].lines);
        const struct peak_memory_table *memory = bench->analysis.peak_memory;
        int64_t sum = 0;
        for (size_t k = 0; k < memory->n_live; k++) {
            sum += memory->live[k].bytes;
            if (k > 0) assert_true(memory->live[k].bytes <= memory->live[k - 1].bytes);
        }
        assert_int_equal(sum, bench->analysis.liveness->peak_bytes);
        assert_int_equal(memory->of_module[0], bench->analysis.liveness->peak_bytes);
        bench_close(bench);
    }
}

static void every_value_with_bytes_has_an_offset(void **state) {
    (void)state;
    struct bench *bench = open_case(MODULES);
    const struct arena_plan_table *plan = bench->analysis.arena_plan;
    assert_int_equal(plan->arena_bytes, 80);
    assert_true(is_known(plan->offsets[bench_value(bench, "x")]));
    assert_true(is_known(plan->offsets[bench_value(bench, "y")]));
    assert_false(is_known(plan->offsets[bench_value(bench, "s")]));
    bench_close(bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peak_is_the_largest_sum_of_live_values),
        cmocka_unit_test(module_peak_includes_only_values_that_it_produced),
        cmocka_unit_test(values_at_the_peak_sum_to_the_peak),
        cmocka_unit_test(every_value_with_bytes_has_an_offset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
