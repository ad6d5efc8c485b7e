/* SPDX-License-Identifier: Apache-2.0 */
/* Sums the samples of each layer per run of the model, and summarizes the runs. */
#include "backends/times/times_samples.h"

#include <stdlib.h>

#include "support/arena.h"
#include "support/sort.h"

static int compare_samples(const void *left, const void *right) {
    const struct times_sample *a = left;
    const struct times_sample *b = right;
    if (a->layer != b->layer) return a->layer < b->layer ? -1 : 1;
    if (a->run != b->run) return a->run < b->run ? -1 : 1;
    return (a->seconds > b->seconds) - (a->seconds < b->seconds);
}

static int compare_double(const void *left, const void *right) {
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return (a > b) - (a < b);
}

struct cm_timing times_summarize(double *samples, size_t n, size_t runs) {
    const size_t ranks[] = {
        0, (runs - 1) / 4, (runs - 1) / 2, runs / 2, runs - 1 - (runs - 1) / 4, runs - 1};
    const size_t n_zeros = runs - n;
    double at[6];
    if (n > 0) sort_stable(samples, n, sizeof(*samples), compare_double);
    for (size_t i = 0; i < 6; i++) at[i] = ranks[i] < n_zeros ? 0 : samples[ranks[i] - n_zeros];
    return (struct cm_timing){.median = (at[2] + at[3]) / 2,
                              .q1 = at[1],
                              .q3 = at[4],
                              .min = at[0],
                              .max = at[5],
                              .n_samples = runs < INT32_MAX ? (int32_t)runs : INT32_MAX,
                              .per_sample = 1};
}

void times_sum_samples(struct cm_times *times, struct times_sample *samples, size_t n,
                       int64_t first, double *runs) {
    const size_t n_runs = (size_t)(times->runs - first);
    if (n > 0) sort_stable(samples, n, sizeof(*samples), compare_samples);
    for (size_t i = 0; i < n;) {
        const uint32_t layer = samples[i].layer;
        int64_t latest = -1;
        double sum = 0;
        size_t n_sums = 0;
        for (; i < n && samples[i].layer == layer; i++) {
            if (samples[i].run < first || samples[i].run >= times->runs) continue;
            if (samples[i].run != latest) runs[n_sums++] = 0;
            latest = samples[i].run;
            runs[n_sums - 1] += samples[i].seconds;
        }
        for (size_t k = 0; k < n_sums; k++) sum += runs[k];
        times->layers[layer].mean = sum / (double)n_runs;
        times->layers[layer].timing = times_summarize(runs, n_sums, n_runs);
    }
}

void times_count_read(struct cm_times *times, struct map *read_in, const char *shape,
                      int64_t run) {
    const uint32_t n = map_get(&times->reads, shape);
    if (map_get(read_in, shape) == (uint32_t)run) return;
    const char *key = n == MAP_NONE ? arena_strdup(times->arena, shape) : shape;
    if (key != NULL && map_set(read_in, key, (uint32_t)run) == CM_OK)
        (void)!map_set(&times->reads, key, n == MAP_NONE ? 1 : n + 1);
}
