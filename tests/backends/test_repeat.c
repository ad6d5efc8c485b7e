/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the order of the rounds, and of the result if rounds do not agree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backends/repeat.h"

#define N(array)   (sizeof(array) / sizeof((array)[0]))
#define MAX_ROUNDS 3

/* Time of a primitive in each round, in ms; 0: it cannot be measured. */
struct script {
    double ms[4][MAX_ROUNDS];
    int round[4];
    size_t order[16];
    size_t n_order;
    size_t last_done, last_total;
};

static void measure(void *context, size_t index, struct cm_measurement *ret) {
    struct script *script = context;
    const int round = script->round[index]++;
    assert_true(round < MAX_ROUNDS);
    const double ms = script->ms[index][round];
    memset(ret, 0, sizeof(*ret));
    script->order[script->n_order++] = index;
    if (ms <= 0) {
        ret->state = CM_CRASHED;
        return;
    }
    ret->state = CM_MEASURED;
    ret->cold.median = ms * 1e-3;
    ret->how.workspace_bytes = round + 1; /* which round it was */
}

static void progress(void *context, int round, size_t done, size_t total) {
    struct script *script = context;
    assert_in_range(round, 1, MAX_ROUNDS);
    script->last_done = done;
    script->last_total = total;
}

static void run(struct script *script, size_t n, struct cm_measurement *ret) {
    const struct repeat_job job = {measure, progress, script};
    repeat_run(&job, n, 0.03, ret);
}

static void reverses_second_round(void **state) {
    (void)state;
    struct script script = {.ms = {{1, 1}, {2, 2}, {3, 3}}};
    struct cm_measurement results[3];
    const size_t want[] = {0, 1, 2, 2, 1, 0};
    run(&script, 3, results);
    assert_int_equal(script.n_order, N(want));
    assert_memory_equal(script.order, want, sizeof(want));
    assert_int_equal(script.last_done, 5);
    assert_int_equal(script.last_total, 6);
}

static void does_not_repeat_failed_primitives(void **state) {
    (void)state;
    struct script script = {.ms = {{1, 1}, {0}, {3, 3}}};
    struct cm_measurement results[3];
    const size_t want[] = {0, 1, 2, 2, 0};
    run(&script, 3, results);
    assert_int_equal(script.n_order, N(want));
    assert_memory_equal(script.order, want, sizeof(want));
    assert_int_equal(results[1].state, CM_CRASHED);
    assert_int_equal(results[1].flags, 0);
}

static void selects_round(void **state) {
    (void)state;
    static const struct {
        double ms[MAX_ROUNDS];
        int rounds;
        int used_round;
        uint32_t flags;
        int drift_permille;
    } cases[] = {
        {{1.0, 1.02}, 2, 2, 0, 20},                      /* they agree */
        {{1.0, 1.0}, 2, 2, 0, 0},                        /* they are equal */
        {{1.0, 2.0, 2.02}, 3, 3, 0, 10},                 /* the third agrees with the second */
        {{1.0, 2.0, 0.98}, 3, 3, 0, 20},                 /* the third agrees with the first */
        {{1.0, 2.0, 1.5}, 3, 3, CM_FLAG_UNSTABLE, 1000}, /* no two agree: the median */
        {{1.0, 2.0, 4.0}, 3, 2, CM_FLAG_UNSTABLE, 1000}, /* no two agree: the median */
        {{1.0, 2.0, 0.5}, 3, 1, CM_FLAG_UNSTABLE, 1000}, /* no two agree: the median */
        {{2.0, 1.0, 0.5}, 3, 2, CM_FLAG_UNSTABLE, 500},  /* no two agree: the median */
        {{1.0, 0}, 2, 1, CM_FLAG_UNSTABLE, 0},           /* the second failed */
        {{1.0, 2.0, 0}, 3, 2, CM_FLAG_UNSTABLE, 0},      /* the third failed */
    };
    for (size_t i = 0; i < N(cases); i++) {
        struct script script = {.n_order = 0};
        struct cm_measurement results;
        memcpy(script.ms[0], cases[i].ms, sizeof(cases[i].ms));
        run(&script, 1, &results);
        assert_int_equal(script.round[0], cases[i].rounds);
        assert_int_equal(results.state, CM_MEASURED);
        assert_int_equal(results.how.workspace_bytes, cases[i].used_round);
        assert_int_equal(results.flags, cases[i].flags);
        assert_int_equal((int)(results.drift * 1000 + 0.5), cases[i].drift_permille);
    }
}

static void runs_primitives_without_a_time_once(void **state) {
    (void)state;
    struct script script = {.ms = {{0}}};
    struct cm_measurement results;
    const struct repeat_job silent = {measure, NULL, &script};
    repeat_run(&silent, 1, 0.03, &results);
    assert_int_equal(script.n_order, 1);
    repeat_run(&silent, 0, 0.03, NULL);
    assert_int_equal(script.n_order, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reverses_second_round),
        cmocka_unit_test(does_not_repeat_failed_primitives),
        cmocka_unit_test(selects_round),
        cmocka_unit_test(runs_primitives_without_a_time_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
