/* SPDX-License-Identifier: Apache-2.0 */
#include "timed_harness.h"
#include "tests/temporary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/arena.h"
#include "tests/passes/model_harness.h"
#include "timing/estimate.h"
#include "timing/pipeline.h"
#include "timing/times.h"

struct bench *timed_run(const char *lines, const struct cm_options *options) {
    struct bench *bench = bench_open_with(lines, options);
    bench->timing = arena_alloc(bench->arena, sizeof *bench->timing);
    assert_non_null(bench->timing);
    if (bench->status == CM_OK)
        bench->status = timing_passes_run(&bench->analysis, 0, bench->timing);
    return bench;
}

struct bench *timed_open(const char *lines, const char *table) {
    const struct cm_options options = {.memory_alignment = 1};
    return timed_open_with(lines, table, &options);
}

struct bench *timed_open_with(const char *lines, const char *table,
                              const struct cm_options *options) {
    char path[TEMPORARY_PATH];
    temporary_path(path);
    char backend[TEMPORARY_PATH + 32];
    struct cm_options timed = *options;
    const int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, table, strlen(table)), (ssize_t)strlen(table));
    close(file);
    snprintf(backend, sizeof(backend), "fake:table=%s", path);
    timed.backend = backend;
    struct bench *bench = timed_run(lines, &timed);
    bench->options.backend = arena_strdup(bench->arena, backend); /* outlives this function */
    unlink(path);
    assert_int_equal(bench->status, CM_OK);
    return bench;
}

struct estimate_table *timed_estimate(const struct timing *timing) {
    struct estimate_table *table = NULL; /* a copy of the pointer: passes get it as const */
    memcpy(&table, &timing->estimate, sizeof table);
    return table;
}

const struct node_time *timed_node(const struct bench *bench, const char *node) {
    return &bench->timing->times->of_node[bench_node(bench, node)];
}

void timed_again(struct bench *bench) {
    struct analysis *analysis = &bench->timing->core;
    size_t first = 0;
    while (timing_pipeline.passes[first].gives != TABLE_ROOFLINE_BOUNDS) first++;
    runner_clear(&timing_pipeline, analysis, first);
    assert_int_equal(runner_run(&timing_pipeline, analysis, first, 0), CM_OK);
}
