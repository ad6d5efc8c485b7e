/* SPDX-License-Identifier: Apache-2.0 */
/* --schedule min-memory on whole models: orders, peaks, and whether they are optimal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model_harness.h"

#include "passes/memory/liveness.h"

struct schedule_case {
    const char *what;
    const char *lines;
    int64_t file; /* peak in the order of the file */
    int64_t least;
    const char *order; /* names of the nodes as they run */
};

/* x has 4 bytes, u 400, the sums 4. */
static const struct schedule_case cases[] = {
    {"sums each large value before producing the next",
     "in x float[1]\nnode a Expand x s -> p\nnode b Expand x s -> q\nnode c ReduceSum p -> r\n"
     "node d ReduceSum q -> t\nnode e Add r t -> y\nout y\n",
     804, 408, "a c b d e"},
    {"a view moves with its root",
     "in x float[1]\nnode a Expand x s -> p\nnode b Expand x s -> q\nnode v Flatten p -> w\n"
     "node c ReduceSum w -> r\nnode d ReduceSum q -> t\nnode e Add r t -> y\nout y\n",
     804, 408, "a v c b d e"},
    {"a chain has one order",
     "in x float[1]\nnode a Expand x s -> p\nnode b Exp p -> q\nout q\n", 800, 800, "a b"},
    {"a body runs right before its node, and its inputs are alive until then",
     "in x float[1]\nin k bool[]\nnode a Expand x s -> p\nnode b Expand x s -> q\n"
     "body then_branch\nnode t ReduceSum p -> pt\nout pt\nclose\n"
     "body else_branch\nnode u Exp p -> ue\nnode w ReduceSum ue -> pu\nout pu\nclose\n"
     "node i If k -> r\nnode d ReduceSum q -> g\nnode e Add r g -> y\nout y\n",
     1209, 813, "b d a t u w i e"},
    {"an output of a body is alive until its node has run, also if it is a view",
     "in x float[1]\nin k bool[]\nnode b Expand x s -> q\nnode e Exp q -> qe\n"
     "node d ReduceSum qe -> h\nnode f Add h x -> y\nnode a Expand x s -> p\n"
     "body then_branch\nnode t Identity p -> pt\nout pt\nclose\n"
     "body else_branch\nnode u Identity p -> pu\nout pu\nclose\n"
     "node i If k -> r\nnode c ReduceSum r -> g\nout q\nout y\nout g\n",
     1205, 812, "a t u i c b e d f"},
    {"a graph output is alive to the end, so it is produced late",
     "in x float[1]\nnode a Expand x s -> p\nnode b Expand x s -> q\nnode c ReduceSum q -> r\n"
     "out p\nout r\n",
     804, 408, "b c a"},
    {"all graph outputs are alive at the end",
     "in x float[1]\nnode a Expand x s -> p\nnode b Expand x s -> q\nout p\nout q\n", 804, 804,
     "a b"},
};

static struct bench *open_case(const char *lines, enum cm_schedule schedule) {
    const struct cm_options options = {.schedule = schedule};
    char text[2048];
    (void)snprintf(text, sizeof text, "opset 13\nconst s int64[1] =100\n%s", lines);
    struct bench *bench = bench_open_with(text, &options);
    assert_int_equal(bench->status, CM_OK);
    return bench;
}

static void expect_order(const struct bench *bench, const struct schedule_case *row) {
    const struct liveness_table *liveness = bench->analysis.liveness;
    char have[256] = "";
    for (uint32_t step = 0; step < liveness->n_steps; step++) {
        const char *name = bench->model.nodes[liveness->node_at[step]].name;
        if (*name == '\0') continue; /* the constant */
        const size_t end = strlen(have);
        (void)snprintf(have + end, sizeof have - end, "%s%s", end > 0 ? " " : "", name);
        assert_int_equal(liveness->step_of[liveness->node_at[step]], step);
    }
    if (strcmp(have, row->order) != 0) fail_msg("%s: %s", row->what, have);
}

static void finds_the_order_with_the_lowest_peak(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bench *bench = open_case(cases[i].lines, CM_SCHEDULE_MIN_MEMORY);
        const struct liveness_table *liveness = bench->analysis.liveness;
        if (liveness->file_peak_bytes != cases[i].file ||
            liveness->peak_bytes != cases[i].least || !liveness->is_optimal)
            fail_msg("%s: %lld, from %lld", cases[i].what, (long long)liveness->peak_bytes,
                     (long long)liveness->file_peak_bytes);
        expect_order(bench, &cases[i]);
        bench_close(bench);
    }
}

/* z (800 bytes) is alive only at the first step, which runs a (writes 400) or c (writes 4). */
static void not_proved_optimal_if_an_unread_input_sets_the_peak(void **state) {
    (void)state;
    const struct cm_options options = {.schedule = CM_SCHEDULE_MIN_MEMORY};
    struct bench *bench =
        bench_open_with("in x float[100]\nin z float[200]\nnode a Exp x -> p\n"
                        "node b ReduceSum p -> q\nnode c ReduceSum x -> y\n"
                        "out q\nout y\n",
                        &options);
    assert_int_equal(bench->status, CM_OK);
    assert_int_equal(bench->analysis.liveness->file_peak_bytes, 1600);
    assert_false(bench->analysis.liveness->is_optimal);
    bench_close(bench);
}

static void not_proved_optimal_if_a_size_is_unknown(void **state) {
    (void)state;
    struct bench *bench = open_case("in x float[100]\nnode - com.me::Odd x -> i\n"
                                    "node - Transpose i -> t\nnode - GatherND x t -> p\n"
                                    "node - Exp x -> q\nout p\nout q\n",
                                    CM_SCHEDULE_MIN_MEMORY);
    assert_int_equal(bench->analysis.liveness->peak_bytes, 800);
    assert_false(bench->analysis.liveness->is_optimal);
    bench_close(bench);
}

static void not_proved_optimal_if_a_size_is_an_upper_bound(void **state) {
    (void)state;
    struct bench *bench = open_case("in x float[100]\nnode - NonZero x -> i\n"
                                    "node - Transpose i -> t\nnode - GatherND x t -> p\n"
                                    "node - Exp x -> q\nout p\nout q\n",
                                    CM_SCHEDULE_MIN_MEMORY);
    assert_int_equal(bench->analysis.liveness->peak_bytes, 400 + 800 + 800);
    assert_false(bench->analysis.liveness->is_optimal);
    bench_close(bench);
}

static void graph_input_that_is_an_output_is_alive_throughout(void **state) {
    (void)state;
    struct bench *bench =
        open_case("in x float[100]\nin z float[200]\nnode - Exp x -> q\nout q\n"
                  "out z\n",
                  CM_SCHEDULE_MIN_MEMORY);
    assert_int_equal(bench->analysis.liveness->peak_bytes, 1600);
    assert_true(bench->analysis.liveness->is_optimal);
    bench_close(bench);
}

static void keeps_the_file_order_by_default(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bench *bench = open_case(cases[i].lines, CM_SCHEDULE_FILE);
        assert_int_equal(bench->analysis.liveness->peak_bytes, cases[i].file);
        assert_int_equal(bench->analysis.liveness->file_peak_bytes, cases[i].file);
        bench_close(bench);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_order_with_the_lowest_peak),
        cmocka_unit_test(not_proved_optimal_if_an_unread_input_sets_the_peak),
        cmocka_unit_test(not_proved_optimal_if_a_size_is_unknown),
        cmocka_unit_test(not_proved_optimal_if_a_size_is_an_upper_bound),
        cmocka_unit_test(graph_input_that_is_an_output_is_alive_throughout),
        cmocka_unit_test(keeps_the_file_order_by_default),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
