/* SPDX-License-Identifier: Apache-2.0 */
/* Loops whose condition compares a counter: see ops/onnx/loop.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "model_harness.h"

#include "passes/walk/walk.h"

/*
 * A loop over a counter `s`. The body computes the condition, `go`, and the counter of the next
 * iteration, `t`; each iteration stacks a value of x.
 */
struct loop {
    const char *trips; /* "n", or "-" for none */
    const char *start; /* "int64[] =0": type and value of the counter */
    const char *body;
    const char *trip_count;     /* "7"; "?" */
    const char *max_trip_count; /* upper bound; NULL: `trip_count` */
};

#define COUNT_UP  "const one int64[] =1\nnode - Add s one -> t\n"
#define BELOW_TEN "const ten int64[] =10\nnode - Less t ten -> go\n"
#define DATA      "node - ReduceMax x -> peak keepdims=0\nnode - Cast peak -> wish to=9\n"

static void check_loop(const struct loop *loop) {
    char lines[2048];
    char want[64];
    (void)snprintf(
        lines, sizeof lines,
        "in x float[4]\nin n int64[]\nconst c bool[] =1\nconst first %s\nbody body\n"
        "in i int64[]\nin on bool[]\nin s %.*s\n%snode m Relu x -> r\nout go\nout t\nout r\n"
        "close\nnode l Loop %s c first -> last all\nout all\n",
        loop->start, (int)strcspn(loop->start, " "), loop->start, loop->body, loop->trips);
    struct bench *bench = bench_open(lines);
    if (bench->status != CM_OK) fail_msg("%s: %s", loop->body, bench_messages(bench));
    (void)snprintf(want, sizeof want, "f32[%s,4]", loop->trip_count);
    if (strcmp(bench_type(bench, "all"), want) != 0)
        fail_msg("%s\n%s, not %s", loop->body, bench_type(bench, "all"), want);
    const struct value_info *most =
        &bench->analysis.infer->upper->infos[bench_value(bench, "all")];
    const char *wanted = loop->max_trip_count ? loop->max_trip_count : loop->trip_count;
    if (is_known(most->shape.dims[0]))
        (void)snprintf(want, sizeof want, "%lld", (long long)most->shape.dims[0]);
    else
        (void)snprintf(want, sizeof want, "?");
    if (strcmp(want, wanted) != 0)
        fail_msg("%s\nupper bound is %s, not %s", loop->body, want, wanted);
    bench_close(bench);
}

#define CHECK(rows)                                                                            \
    for (size_t row_ = 0; row_ < sizeof rows / sizeof *rows; row_++) check_loop(&rows[row_])

static void test_counts_iterations_of_a_compared_counter(void **state) {
    static const struct loop rows[] = {
        /* the body runs with s = 0 … 9 */
        {"-", "int64[] =0", COUNT_UP BELOW_TEN, "10", NULL},
        {"-", "int64[] =7", COUNT_UP BELOW_TEN, "3", NULL},
        {"-", "int64[] =50", COUNT_UP BELOW_TEN, "1", NULL},
        {"-", "int64[] =0", COUNT_UP "const ten int64[] =10\nnode - LessOrEqual t ten -> go\n",
         "11", NULL},
        {"-", "int64[] =0", COUNT_UP "const ten int64[] =10\nnode - Greater ten t -> go\n",
         "10", NULL},
        {"-", "int64[] =0",
         COUNT_UP "const ten int64[] =10\nnode - GreaterOrEqual t ten -> over\n"
                  "node - Not over -> go\n",
         "10", NULL},
        /* s = 0, 3, 6, 9 */
        {"-", "int64[] =0", "const step int64[] =3\nnode - Add step s -> t\n" BELOW_TEN, "4",
         NULL},
        /* s = 20, 16, 12, 8: continues while s - 4 > 4 */
        {"-", "int64[] =20",
         "const step int64[] =4\nnode - Sub s step -> t\nconst low int64[] =4\n"
         "node - Greater t low -> go\n",
         "4", NULL},
        /* 2 s + 1 < 10 for s = 1, 2, …: ends after s = 4 */
        {"-", "int64[] =0",
         COUNT_UP "const two int64[] =2\nnode - Mul t two -> d\nnode - Add d one -> e\n"
                  "const ten int64[] =10\nnode - Less e ten -> go\n",
         "5", NULL},
        /* compares the iteration number i: continues while i + 3 < 10 */
        {"-", "int64[] =0",
         COUNT_UP "const ten int64[] =10\nconst three int64[] =3\nnode - Add i three -> j\n"
                  "node - Less j ten -> go\n",
         "8", NULL},
    };
    (void)state;
    CHECK(rows);
}

static void test_ignores_casts_and_views_of_the_counter(void **state) {
    static const struct loop rows[] = {
        {"-", "int32[1] =0",
         "const one int32[1] =1\nnode - Add s one -> t\nconst ten float[] =10\n"
         "node - Cast t -> f to=1\nnode - Identity f -> g\nconst none int64[0] =0\n"
         "node - Reshape g none -> h\nnode - Less h ten -> go\n",
         "10", NULL},
        /* a condition that is copied by adding 0 */
        {"-", "int64[] =0",
         COUNT_UP "const ten int64[] =10\nnode - Less t ten -> below\n"
                  "node - Cast below -> number to=7\nconst none int64[1] =0\n"
                  "node - Add number none -> same\nnode - Cast same -> go to=9\n",
         "10", NULL},
        /* floats represent every integer up to 2^24 only */
        {"-", "int32[] =0",
         "const step int32[] =1000000\nnode - Add s step -> t\nconst far float[] =16000000\n"
         "node - Cast t -> f to=1\nnode - Less f far -> go\n",
         "16", NULL},
        {"-", "int32[] =0",
         "const step int32[] =1000000\nnode - Add s step -> t\nconst far float[] =17000000\n"
         "node - Cast t -> f to=1\nnode - Less f far -> go\n",
         "?", NULL},
        /* a float counter stops at 2^24 in steps of 1; an int32 overflows at 2^31, also in an
         * intermediate value */
        {"-", "float[] =16777210",
         "const one float[] =1\nnode - Add s one -> t\nconst far float[] =16777230\n"
         "node - Sub far t -> left\nconst none float[] =0\nnode - Greater left none -> go\n",
         "?", NULL},
        {"-", "int32[] =2147483638",
         "const one int32[] =1\nnode - Add s one -> t\nnode - Cast t -> wide to=7\n"
         "const far int64[] =2147483658\nnode - Less wide far -> go\n",
         "?", NULL},
        {"-", "int32[] =0",
         "const one int32[] =1\nnode - Add s one -> t\nconst most int32[] =2147483600\n"
         "node - Add t most -> a\nnode - Sub a most -> b\nconst end int32[] =100\n"
         "node - Less b end -> go\n",
         "?", NULL},
        {"-", "int32[] =0",
         "const one int32[] =1\nnode - Add s one -> t\nconst most int32[] =2147483600\n"
         "node - Add t most -> a\nnode - Sub a most -> b\nconst end int32[] =40\n"
         "node - Less b end -> go\n",
         "40", NULL},
        /* an int8 wraps from 127 to -128 */
        {"-", "int8[] =0",
         "const one int8[] =1\nnode - Add s one -> t\nconst far int8[] =127\n"
         "node - LessOrEqual t far -> go\n",
         "?", NULL},
        {"-", "float[] =0",
         "const half float[] =0.5\nnode - Add s half -> t\n"
         "const ten float[] =10\nnode - Less t ten -> go\n",
         "?", NULL},
    };
    (void)state;
    CHECK(rows);
}

static void test_applies_the_trip_count_operand(void **state) {
    static const struct loop rows[] = {
        {"n", "int64[] =0", COUNT_UP BELOW_TEN, "?", "10"},
        {"n", "int64[] =0", COUNT_UP "node - Identity on -> go\n", "?", NULL},
    };
    (void)state;
    CHECK(rows);
}

static void test_data_dependent_exit_gives_an_upper_bound(void **state) {
    static const struct loop rows[] = {
        {"-", "int64[] =0",
         COUNT_UP DATA "const ten int64[] =10\nnode - Less t ten -> below\n"
                       "node - And below wish -> go\n",
         "?", "10"},
        {"-", "int64[] =0",
         COUNT_UP DATA "const ten int64[] =10\nnode - Less t ten -> below\n"
                       "node - Or below wish -> go\n",
         "?", NULL},
        /* not (10 <= t or wish) */
        {"-", "int64[] =0",
         COUNT_UP DATA "const ten int64[] =10\nnode - LessOrEqual ten t -> over\n"
                       "node - Or wish over -> end\nnode - Not end -> go\n",
         "?", "10"},
        /* INT32_MAX means "no limit" */
        {"-", "int32[] =1",
         "const one int32[] =1\nnode - Add s one -> t\n" DATA
         "const far int32[] =2147483647\nnode - Less t far -> below\n"
         "node - And below wish -> go\n",
         "?", NULL},
        /* the smaller of two limits */
        {"-", "int64[] =0",
         COUNT_UP "const ten int64[] =10\nconst six int64[] =6\nnode - Less t ten -> a\n"
                  "node - Less t six -> b\nnode - And a b -> go\n",
         "6", NULL},
    };
    (void)state;
    CHECK(rows);
}

static void test_other_conditions_stay_unknown(void **state) {
    static const struct loop rows[] = {
        /* the counter doubles: 1, 2, 4, … */
        {"-", "int64[] =1", "node - Add s s -> t\n" BELOW_TEN, "?", NULL},
        /* the counter moves away from the limit */
        {"-", "int64[] =0", "const one int64[] =1\nnode - Sub s one -> t\n" BELOW_TEN, "?",
         NULL},
        /* the counter never changes */
        {"-", "int64[] =0", "node - Identity s -> t\n" BELOW_TEN, "?", NULL},
        /* the limit is an input of the model */
        {"-", "int64[] =0", COUNT_UP "node - Less t n -> go\n", "?", NULL},
        /* the limit is in a missing external file */
        {"-", "int64[] =0", COUNT_UP "init far int64[]\nnode - Less t far -> go\n", "?", NULL},
        /* the step depends on the iteration */
        {"-", "int64[] =0", "node - Add s i -> t\n" BELOW_TEN, "?", NULL},
        {"-", "int64[2] =0",
         "const one int64[] =1\nnode - Add s one -> t\nnode - ReduceMax t -> u keepdims=0\n"
         "const ten int64[] =10\nnode - Less u ten -> go\n",
         "?", NULL},
    };
    (void)state;
    CHECK(rows);
}

static void test_visits_nested_conditions_in_bounded_time(void **state) {
    char body[1600] = COUNT_UP BELOW_TEN;
    size_t n = strlen(body);
    n += (size_t)snprintf(body + n, sizeof body - n, "node - And go go -> go0\n");
    for (int i = 0; i < 40; i++)
        n += (size_t)snprintf(body + n, sizeof body - n, "node - And go%d go%d -> go%d\n", i, i,
                              i + 1);
    (void)snprintf(body + n, sizeof body - n, "node - Identity go40 -> end\n");
    struct bench *bench = NULL;
    char lines[2048];
    (void)state;
    (void)snprintf(lines, sizeof lines,
                   "const c bool[] =1\nconst first int64[] =0\nbody body\nin i int64[]\n"
                   "in on bool[]\nin s int64[]\n%sout end\nout t\nout t\nclose\n"
                   "node l Loop - c first -> last all\nout all\n",
                   body);
    bench = bench_open(lines);
    assert_int_equal(bench->status, CM_OK);
    assert_string_equal(bench_type(bench, "all"), "i64[?]");
    bench_close(bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_iterations_of_a_compared_counter),
        cmocka_unit_test(test_ignores_casts_and_views_of_the_counter),
        cmocka_unit_test(test_applies_the_trip_count_operand),
        cmocka_unit_test(test_data_dependent_exit_gives_an_upper_bound),
        cmocka_unit_test(test_other_conditions_stay_unknown),
        cmocka_unit_test(test_visits_nested_conditions_in_bounded_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
