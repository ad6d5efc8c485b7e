/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times the analysis without process start: loads and profiles one file repeatedly, and prints
 *
 *     <median microseconds> <fastest microseconds> <nodes>
 *
 * of loading and profiling. ROUNDS / 10 further rounds come first, as warm-up.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "costmodel/costmodel.h"
#include "support/sort.h"

#define MAX_ROUNDS 100000

static double now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int compare_doubles(const void *left, const void *right) {
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* Times loading and profiling, without freeing the model and the result. */
static int analyse(const char *path, int64_t batch, struct cm_diagnostics *diagnostics,
                   double *ret_us, int64_t *ret_nodes) {
    struct cm_options options;
    cm_options_init(&options);
    options.batch = batch;
    struct cm_model *model = NULL;
    struct cm_result *result = NULL;
    double start = now_us();
    int status = cm_model_load_file(path, diagnostics, &model);
    if (status == CM_OK) status = cm_model_profile(model, &options, diagnostics, &result);
    *ret_us = now_us() - start;
    if (status == CM_OK) *ret_nodes = result->coverage.nodes;
    cm_result_free(result);
    cm_model_free(model);
    return status;
}

static int run_rounds(const char *path, int64_t batch, size_t n_rounds, double *times) {
    size_t n_warm = n_rounds / 10;
    int64_t n_nodes = 0;
    for (size_t i = 0; i < n_warm + n_rounds; i++) {
        struct cm_diagnostics *diagnostics = cm_diagnostics_new();
        double *time = &times[i < n_warm ? 0 : i - n_warm];
        int status = analyse(path, batch, diagnostics, time, &n_nodes);
        cm_diagnostics_free(diagnostics);
        if (status != CM_OK) {
            fprintf(stderr, "%s: %s\n", path, cm_status_message(status));
            return status;
        }
    }
    sort_stable(times, n_rounds, sizeof(*times), compare_doubles);
    printf("%.1f %.1f %" PRId64 "\n", times[n_rounds / 2], times[0], n_nodes);
    return CM_OK;
}

int main(int argc, char **argv) {
    long batch = argc == 4 ? strtol(argv[2], NULL, 10) : 0;
    long n_rounds = argc == 4 ? strtol(argv[3], NULL, 10) : 0;
    if (batch < 1 || n_rounds < 1 || n_rounds > MAX_ROUNDS) {
        fputs("usage: bench_analysis MODEL BATCH ROUNDS\n", stderr);
        return 2;
    }
    double *times = malloc((size_t)n_rounds * sizeof(*times));
    if (times == NULL) {
        fputs("out of memory\n", stderr);
        return 1;
    }
    int status = run_rounds(argv[1], batch, (size_t)n_rounds, times);
    free(times);
    return status == CM_OK ? 0 : 1;
}
