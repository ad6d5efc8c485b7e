/* SPDX-License-Identifier: Apache-2.0 */
#include "timed_harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "model_harness.h"

struct bench *timed_open(const char *lines, const char *table) {
    const struct cm_options options = {.memory_alignment = 1};
    return timed_open_with(lines, table, &options);
}

struct bench *timed_open_with(const char *lines, const char *table,
                              const struct cm_options *options) {
    char path[] = "/tmp/test_times_XXXXXX";
    char backend[64];
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

static void run(struct bench *bench, const struct pass *pass, void *own, size_t size) {
    memset(own, 0, size);
    assert_int_equal(pass->run(&bench->analysis, own), CM_OK);
}

void timed_again(struct bench *bench) {
    struct analysis *analysis = &bench->analysis;
    run(bench, &pass_roofline_bounds, &analysis->bounds, sizeof(analysis->bounds));
    run(bench, &pass_breakdown, &analysis->breakdown, sizeof(analysis->breakdown));
    run(bench, &pass_advice, &analysis->advice, sizeof(analysis->advice));
}
