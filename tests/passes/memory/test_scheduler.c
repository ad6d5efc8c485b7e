/* SPDX-License-Identifier: Apache-2.0 */
/* The scheduler compared with the optimum, which is found by visiting all sets of tasks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "passes/memory/scheduler.h"
#include "support/arena.h"

#define MAX_TASKS   12
#define MAX_EDGES   400
#define MAX_TENSORS 40
#define MAX_MEMBERS 400

struct dag {
    struct scheduler_problem problem;
    int64_t extra_bytes[MAX_TASKS];
    struct scheduler_edge edges[MAX_EDGES];
    struct scheduler_tensor tensors[MAX_TENSORS];
    uint32_t members[MAX_MEMBERS];
};

static uint32_t draw(uint64_t *state, uint32_t n) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*state >> 33) % n);
}

static void add_tensor(struct dag *dag, int64_t bytes, bool from_start, bool to_end) {
    dag->tensors[dag->problem.n_tensors++] = (struct scheduler_tensor){
        bytes, from_start, to_end, (uint32_t)dag->problem.n_members, 0};
}

static void add_member(struct dag *dag, uint32_t task) {
    dag->members[dag->problem.n_members++] = task;
    dag->tensors[dag->problem.n_tensors - 1].n_members++;
}

/* A random problem: each task writes one or two tensors that some later tasks read. */
static struct dag *random_dag(uint64_t *seed, uint32_t n) {
    struct dag *dag = calloc(1, sizeof *dag);
    uint32_t density = 2 + draw(seed, 5);
    assert_non_null(dag);
    dag->problem = (struct scheduler_problem){.n_tasks = n,
                                              .extra_bytes = dag->extra_bytes,
                                              .edges = dag->edges,
                                              .tensors = dag->tensors,
                                              .members = dag->members};
    for (uint32_t task = 0; task < n; task++) {
        if (draw(seed, 4) == 0) dag->extra_bytes[task] = 1 + draw(seed, 30);
        for (uint32_t i = 0; i <= draw(seed, 2); i++) {
            add_tensor(dag, 1 + draw(seed, 20), false, draw(seed, 6) == 0);
            add_member(dag, task);
            for (uint32_t reader = task + 1; reader < n; reader++) {
                if (draw(seed, density) != 0) continue;
                add_member(dag, reader);
                dag->edges[dag->problem.n_edges++] = (struct scheduler_edge){task, reader};
            }
        }
    }
    add_tensor(dag, 1 + draw(seed, 20), true, draw(seed, 4) == 0);
    for (uint32_t reader = 0; reader < n; reader++)
        if (reader == 0 || draw(seed, 3) == 0) add_member(dag, reader);
    return dag;
}

/* Returns the bytes alive while `task` runs after the tasks of the set `done`. */
static int64_t bytes_at(const struct dag *dag, uint32_t done, uint32_t task) {
    int64_t live = dag->extra_bytes[task];
    for (uint32_t i = 0; i < dag->problem.n_tensors; i++) {
        const struct scheduler_tensor *tensor = &dag->tensors[i];
        bool begun = tensor->from_start;
        bool needed = tensor->to_end;
        for (uint32_t k = 0; k < tensor->n_members; k++) {
            uint32_t member = dag->members[tensor->members + k];
            bool has_run = (done >> member & 1) != 0;
            begun = begun || has_run || member == task;
            needed = needed || !has_run;
        }
        if (begun && needed) live += tensor->bytes;
    }
    return live;
}

static bool may_run(const struct dag *dag, uint32_t done, uint32_t task) {
    if (done >> task & 1) return false;
    for (size_t i = 0; i < dag->problem.n_edges; i++)
        if (dag->edges[i].after == task && !(done >> dag->edges[i].before & 1)) return false;
    return true;
}

/* Returns the lowest peak of any order, computed over all 2^n sets. */
static int64_t lowest_peak(const struct dag *dag) {
    uint32_t n = dag->problem.n_tasks;
    int64_t *best = malloc(((size_t)1 << n) * sizeof *best);
    assert_non_null(best);
    for (uint32_t set = 0; set < 1u << n; set++) best[set] = INT64_MAX;
    best[0] = 0;
    for (uint32_t set = 0; set < 1u << n; set++)
        for (uint32_t task = 0; best[set] < INT64_MAX && task < n; task++) {
            if (!may_run(dag, set, task)) continue;
            int64_t peak = bytes_at(dag, set, task);
            if (peak < best[set]) peak = best[set];
            if (peak < best[set | 1u << task]) best[set | 1u << task] = peak;
        }
    int64_t lowest = best[(1u << n) - 1];
    free(best);
    return lowest;
}

static int64_t peak_of(const struct dag *dag, const uint32_t *order) {
    uint32_t done = 0;
    int64_t peak = 0;
    for (uint32_t i = 0; i < dag->problem.n_tasks; i++) {
        assert_true(may_run(dag, done, order[i]));
        if (bytes_at(dag, done, order[i]) > peak) peak = bytes_at(dag, done, order[i]);
        done |= 1u << order[i];
    }
    return peak;
}

static void peak_of_a_small_graph_is_the_optimum(void **state) {
    static const uint32_t given[MAX_TASKS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    uint64_t seed = 1;
    int n_lowered = 0;
    (void)state;
    for (int round = 0; round < 300; round++) {
        struct arena *arena = arena_new("test", 0);
        struct dag *dag = random_dag(&seed, 1 + draw(&seed, MAX_TASKS));
        struct scheduler_result result;
        assert_int_equal(scheduler_find(arena, &dag->problem, NULL, &result), CM_OK);
        assert_int_equal(result.given_peak, peak_of(dag, given));
        assert_int_equal(result.peak, peak_of(dag, result.order));
        assert_int_equal(result.peak, lowest_peak(dag));
        assert_true(result.optimal);
        n_lowered += result.peak < result.given_peak;
        free(dag);
        arena_free(arena);
    }
    assert_true(n_lowered > 100);
}

/* 200 chains of three tasks; their results are summed. Interleaved, as given, each chain holds
 * a large value; one chain after the other, each holds only its result. */
static void interleaved_chains_are_run_one_after_the_other(void **state) {
    enum { N_CHAINS = 200, LENGTH = 3, N = N_CHAINS * LENGTH + 1 };
    struct arena *arena = arena_new("test", 0);
    static int64_t extra_bytes[N];
    static struct scheduler_edge edges[N];
    static struct scheduler_tensor tensors[N];
    static uint32_t members[2 * N];
    struct scheduler_problem problem = {.n_tasks = N,
                                        .extra_bytes = extra_bytes,
                                        .edges = edges,
                                        .tensors = tensors,
                                        .members = members};
    struct scheduler_result result;
    (void)state;
    for (uint32_t task = 0; task + 1 < N; task++) {
        uint32_t next = task / N_CHAINS + 1 < LENGTH ? task + N_CHAINS : N - 1;
        edges[problem.n_edges++] = (struct scheduler_edge){task, next};
        tensors[problem.n_tensors++] = (struct scheduler_tensor){
            next == N - 1 ? 1 : 100, false, false, (uint32_t)problem.n_members, 2};
        members[problem.n_members++] = task;
        members[problem.n_members++] = next;
    }
    assert_int_equal(scheduler_find(arena, &problem, NULL, &result), CM_OK);
    assert_int_equal(result.given_peak, 100 * N_CHAINS + 100);
    assert_int_equal(result.peak, N_CHAINS - 1 + 200);
    arena_free(arena);
}

/* Residual blocks: a hundred thousand tasks whose given order is optimal. */
static void long_narrow_graph_is_solved_exactly(void **state) {
    enum { N = 100000 };
    struct arena *arena = arena_new("test", 0);
    int64_t *extra_bytes = arena_array(arena, N, sizeof *extra_bytes);
    struct scheduler_edge *edges = arena_array(arena, 2 * N, sizeof *edges);
    struct scheduler_tensor *tensors = arena_array(arena, N, sizeof *tensors);
    uint32_t *members = arena_array(arena, 3 * N, sizeof *members);
    struct scheduler_problem problem = {.n_tasks = N,
                                        .extra_bytes = extra_bytes,
                                        .edges = edges,
                                        .tensors = tensors,
                                        .members = members};
    struct scheduler_result result;
    uint64_t seed = 5;
    (void)state;
    for (uint32_t task = 0; task < N; task++) {
        tensors[problem.n_tensors] = (struct scheduler_tensor){
            1 + draw(&seed, 1000), false, task + 1 == N, (uint32_t)problem.n_members, 1};
        members[problem.n_members++] = task;
        for (uint32_t reader = task + 1; reader < N && reader <= task + 4; reader += 3) {
            if (reader > task + 1 && task % 4 != 0) continue;
            edges[problem.n_edges++] = (struct scheduler_edge){task, reader};
            members[problem.n_members++] = reader;
            tensors[problem.n_tensors].n_members++;
        }
        problem.n_tensors++;
    }
    assert_int_equal(scheduler_find(arena, &problem, NULL, &result), CM_OK);
    assert_true(result.optimal);
    assert_int_equal(result.peak, result.given_peak);
    arena_free(arena);
}

static void expect_order(const struct scheduler_problem *problem, const uint32_t *order) {
    uint32_t *places = calloc(problem->n_tasks, sizeof *places);
    assert_non_null(places);
    for (uint32_t i = 0; i < problem->n_tasks; i++) places[order[i]] = i;
    for (uint32_t i = 0; i < problem->n_tasks; i++) assert_int_equal(order[places[i]], i);
    for (size_t i = 0; i < problem->n_edges; i++)
        assert_true(places[problem->edges[i].before] < places[problem->edges[i].after]);
    free(places);
}

/* Each task reads two of the hundred before it: too wide for an exact search. */
static void wide_graph_is_improved_around_its_peak(void **state) {
    enum { N = 400, BACK = 100 };
    struct arena *arena = arena_new("test", 0);
    static int64_t extra_bytes[N];
    static struct scheduler_edge edges[2 * N];
    static struct scheduler_tensor tensors[N];
    static uint32_t readers[N][N];
    static uint32_t members[4 * N];
    struct scheduler_problem problem = {.n_tasks = N,
                                        .extra_bytes = extra_bytes,
                                        .edges = edges,
                                        .tensors = tensors,
                                        .members = members};
    struct scheduler_result result;
    uint64_t seed = 11;
    uint32_t place = 0;
    int64_t peak = 0;
    (void)state;
    for (uint32_t task = 1; task < N; task++)
        for (int i = 0; i < 2; i++) {
            uint32_t back = 1 + draw(&seed, task < BACK ? task : BACK);
            edges[problem.n_edges++] = (struct scheduler_edge){task - back, task};
            readers[task - back][task] = 1;
        }
    for (uint32_t task = 0; task < N; task++) {
        struct scheduler_tensor tensor = {1, false, task + 1 == N, (uint32_t)problem.n_members,
                                          1};
        members[problem.n_members++] = task;
        for (uint32_t reader = task + 1; reader < N; reader++) {
            if (!readers[task][reader]) continue;
            members[problem.n_members++] = reader;
            tensor.n_members++;
        }
        tensors[problem.n_tensors++] = tensor;
    }
    assert_int_equal(scheduler_find(arena, &problem, NULL, &result), CM_OK);
    expect_order(&problem, result.order);
    assert_int_equal(scheduler_peak(arena, &problem, result.order, &peak, &place), CM_OK);
    assert_int_equal(result.peak, peak);
    assert_true(10 * result.peak < 9 * result.given_peak);
    assert_false(result.optimal);
    arena_free(arena);
}

static void problem_without_tasks_has_peak_0(void **state) {
    struct arena *arena = arena_new("test", 0);
    const struct scheduler_problem problem = {0};
    struct scheduler_result result;
    (void)state;
    assert_int_equal(scheduler_find(arena, &problem, NULL, &result), CM_OK);
    assert_int_equal(result.peak, 0);
    arena_free(arena);
}

static void tasks_without_memory_peak_at_the_first(void **state) {
    struct arena *arena = arena_new("test", 0);
    const struct scheduler_problem problem = {.n_tasks = 1,
                                              .extra_bytes = (const int64_t[]){0}};
    int64_t peak = -1;
    uint32_t place = UINT32_MAX;
    (void)state;
    assert_int_equal(scheduler_peak(arena, &problem, (const uint32_t[]){0}, &peak, &place),
                     CM_OK);
    assert_int_equal(peak, 0);
    assert_int_equal(place, 0);
    arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peak_of_a_small_graph_is_the_optimum),
        cmocka_unit_test(interleaved_chains_are_run_one_after_the_other),
        cmocka_unit_test(long_narrow_graph_is_solved_exactly),
        cmocka_unit_test(wide_graph_is_improved_around_its_peak),
        cmocka_unit_test(problem_without_tasks_has_peak_0),
        cmocka_unit_test(tasks_without_memory_peak_at_the_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
