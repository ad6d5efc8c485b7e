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

#include "model_harness.h"
#include "passes/latency/estimate.h"
#include "passes/pipeline/pipeline.h"

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
    struct bench *bench = bench_open_with(lines, &timed);
    unlink(path);
    assert_int_equal(bench->status, CM_OK);
    return bench;
}

struct estimate_table *timed_estimate(const struct analysis *analysis) {
    struct estimate_table *table = NULL; /* a copy of the pointer: passes get it as const */
    memcpy(&table, &analysis->estimate, sizeof table);
    return table;
}

void timed_again(struct bench *bench) {
    assert_int_equal(pipeline_run_from(&bench->analysis, TABLE_ROOFLINE_BOUNDS), CM_OK);
}
