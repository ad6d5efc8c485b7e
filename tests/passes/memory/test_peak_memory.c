/* SPDX-License-Identifier: Apache-2.0 */
/* Peaks of whole models: what lives when, who made it, what may be overwritten. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model_harness.h"
#include "support/checked.h"

struct peaks {
    const char *what;
    const char *lines;
    int64_t peak;
    int64_t in_place;
};

/* x has 4 bytes, all others 40 unless it is said. */
static const struct peaks cases[] = {
    {"a chain holds an operand and a result, and an input is the caller's",
     "in w float[10]\nnode a Exp w -> y\nnode b Exp y -> z\nout z\n", 80, 80},
    {"the second of two may be written over the first",
     "in x float[1]\nnode a Expand x s -> y\nnode b Exp y -> z\nnode c ReduceSum z -> r\n"
     "out r\n",
     80, 44},
    {"a value that is read again later is not written over",
     "in x float[1]\nnode a Expand x s -> y\nnode b Exp y -> z\nnode c Add y z -> r\nout r\n",
     120, 80},
    {"of two operands that die only one is given away",
     "in x float[1]\nnode a Expand x s -> y\nnode b Expand x s -> z\n"
     "node c Add y z -> r\nout r\n",
     120, 84},
    {"a result of the model is not written over",
     "in x float[1]\nnode a Expand x s -> y\nnode b Exp y -> z\nout y\nout z\n", 80, 80},
    {"a view keeps its source alive and owns nothing",
     "in x float[1]\nnode a Expand x s -> y\nnode b Flatten y -> v\nnode c Exp v -> z\n"
     "node d ReduceSum z -> r\nout r\n",
     80, 44},
    {"an operand of another size, here 4 bytes, is not written over",
     "in x float[1]\nnode a Expand x t -> y\nnode b Expand x s -> z\n"
     "node c Add y z -> r\nout r\n",
     84, 48},
    {"nor one of as many bytes but fewer elements: 10 floats for 40 bools",
     "in x float[1]\nconst u int64[2] =4,10\nnode a Expand x s -> y\nnode b Expand x u -> z\n"
     "node c Equal y z -> q\nout q\n",
     240, 240},
    {"a cast to elements of the same size is elementwise",
     "in x float[1]\nnode a Expand x s -> y\nnode b Cast y -> z to=6\nnode c ReduceSum z -> r\n"
     "out r\n",
     80, 44},
    {"a normalization by statistics is elementwise",
     "in x float[1,1]\nconst u int64[2] =1,10\ninit p float[10]\nnode a Expand x u -> y\n"
     "node b BatchNormalization y p p p p -> z\nnode c ReduceSum z -> r\nout r\n",
     80, 44},
    {"what bodies read and hand out stays until their node is done",
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

static void peaks_are_what_lives_together(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bench *bench = open_case(cases[i].lines);
        const struct analysis *analysis = &bench->analysis;
        if (analysis->liveness.peak_bytes != cases[i].peak ||
            analysis->in_place.peak_bytes != cases[i].in_place)
            fail_msg("%s: have %lld and %lld in place", cases[i].what,
                     (long long)analysis->liveness.peak_bytes,
                     (long long)analysis->in_place.peak_bytes);
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
    return bench->analysis.memory.of_module[module - bench->analysis.modules.modules];
}

static void a_module_answers_for_what_it_made_itself(void **state) {
    (void)state;
    struct bench *bench = open_case(MODULES);
    assert_int_equal(module_peak(bench, ""), 80);
    assert_int_equal(module_peak(bench, "big"), 80);
    assert_int_equal(module_peak(bench, "small"), 4);
    bench_close(bench);
}

static void the_values_at_the_peak_sum_up_to_it(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bench *bench = open_case(cases[i].lines);
        const struct memory_table *memory = &bench->analysis.memory;
        int64_t sum = 0;
        for (size_t k = 0; k < memory->n_live; k++) {
            sum += memory->live[k].bytes;
            if (k > 0) assert_true(memory->live[k].bytes <= memory->live[k - 1].bytes);
        }
        assert_int_equal(sum, bench->analysis.liveness.peak_bytes);
        assert_int_equal(memory->of_module[0], bench->analysis.liveness.peak_bytes);
        bench_close(bench);
    }
}

static void every_value_with_bytes_has_a_place(void **state) {
    (void)state;
    struct bench *bench = open_case(MODULES);
    const struct plan_table *plan = &bench->analysis.plan;
    assert_int_equal(plan->arena_bytes, 80);
    assert_true(is_known(plan->offsets[bench_value(bench, "x")]));
    assert_true(is_known(plan->offsets[bench_value(bench, "y")]));
    assert_false(is_known(plan->offsets[bench_value(bench, "s")]));
    bench_close(bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peaks_are_what_lives_together),
        cmocka_unit_test(a_module_answers_for_what_it_made_itself),
        cmocka_unit_test(the_values_at_the_peak_sum_up_to_it),
        cmocka_unit_test(every_value_with_bytes_has_a_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
