/* SPDX-License-Identifier: Apache-2.0 */
/* The work budget that all runs of the passes for one profile share. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "costmodel/costmodel.h"
#include "passes/memory/scheduler.h"
#include "passes/work.h"
#include "support/arena.h"

static void test_a_search_may_use_half_of_the_remaining_steps(void **state) {
    struct work work = {.steps_left = {1000, 1000}};
    (void)state;
    assert_int_equal(work_share(&work, WORK_SCHEDULES, 400), 400);
    assert_int_equal(work_share(&work, WORK_SCHEDULES, 4000), 500);
    work_search(&work, WORK_SCHEDULES, 400, 400);
    assert_false(work.is_exhausted); /* max_steps reached, not the share */
    work_search(&work, WORK_SCHEDULES, 200, 4000);
    assert_false(work.is_exhausted); /* it ended before its share of 300 */
    work_search(&work, WORK_SCHEDULES, 200, 4000);
    assert_true(work.is_exhausted);
    assert_int_equal(work_share(&work, WORK_SCHEDULES, 4000), 100);
    assert_int_equal(work_share(&work, WORK_ARENAS, 4000), 500);
    assert_int_equal(work_share(NULL, WORK_ARENAS, 4000), 4000);
}

static void test_every_model_may_be_run_16_times(void **state) {
    struct work work = work_start(NULL, 1000000);
    (void)state;
    for (int i = 0; i < WORK_RUNS; i++) assert_true(work_run(&work, 1000000));
    assert_false(work.is_exhausted);
    assert_false(work_run(&work, 1000000));
    assert_true(work.is_exhausted);
}

static void test_exhausted_work_is_noted(void **state) {
    struct cm_diagnostics *diag = cm_diagnostics_new();
    struct work work = {.is_exhausted = false};
    (void)state;
    work_note(&work, diag);
    assert_int_equal(cm_diagnostics_count(diag), 0);
    work.is_exhausted = true;
    work_note(&work, diag);
    assert_int_equal(cm_diagnostics_count(diag), 1);
    assert_string_equal(
        cm_diagnostics_get(diag, 0)->message,
        "the work budget is exhausted: a schedule or arena with less memory, or a "
        "larger batch that fits, may exist");
    cm_diagnostics_free(diag);
}

#define WIDTH 40

/* 40 independent chains of 2 tasks: the given order runs all first tasks before the second. */
static void test_the_scheduler_stops_at_its_share(void **state) {
    struct arena *arena = arena_new("test", 0);
    struct work work = {.steps_left = {64, 64}, .arena = arena};
    struct scheduler_edge edges[WIDTH];
    struct scheduler_tensor tensors[WIDTH];
    uint32_t members[2 * WIDTH];
    int64_t extra[2 * WIDTH] = {0};
    struct scheduler_result result;
    (void)state;
    for (uint32_t i = 0; i < WIDTH; i++) {
        edges[i] = (struct scheduler_edge){i, WIDTH + i};
        tensors[i] =
            (struct scheduler_tensor){.bytes = 1 + i * i % 7, .members = 2 * i, .n_members = 2};
        members[2 * i] = i;
        members[2 * i + 1] = WIDTH + i;
    }
    const struct scheduler_problem problem = {.n_tasks = 2 * WIDTH,
                                              .extra_bytes = extra,
                                              .n_edges = WIDTH,
                                              .edges = edges,
                                              .n_tensors = WIDTH,
                                              .tensors = tensors,
                                              .n_members = 2 * WIDTH,
                                              .members = members};
    assert_int_equal(scheduler_find(arena, &problem, &work, &result), CM_OK);
    assert_true(work.is_exhausted);
    assert_false(result.optimal);
    assert_true(result.peak <= result.given_peak);
    assert_int_equal(scheduler_find(arena, &problem, NULL, &result), CM_OK);
    assert_true(result.peak < result.given_peak);
    arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_search_may_use_half_of_the_remaining_steps),
        cmocka_unit_test(test_every_model_may_be_run_16_times),
        cmocka_unit_test(test_exhausted_work_is_noted),
        cmocka_unit_test(test_the_scheduler_stops_at_its_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
