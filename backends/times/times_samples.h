/* SPDX-License-Identifier: Apache-2.0 */
/* Times and operands of layers in single runs of the model, and their summary. */
#pragma once

#include "backends/times/times.h"

/* A time of a layer in one run. */
struct times_sample {
    uint32_t layer; /* index into times->layers */
    int64_t run;    /* index of the run; outside of [0, times->runs): does not count */
    double seconds;
};

/* Summarizes `runs` times: the n samples, which this sorts, and zeros. */
struct cm_timing times_summarize(double *samples, size_t n, size_t runs);

/* Sets the time of each layer that has samples, over the runs from `first` on. The samples of a
 * layer in one run add up; it takes 0 in a run without samples. Sorts the samples. `runs` is
 * scratch for n numbers. */
void times_sum_samples(struct cm_times *times, struct times_sample *samples, size_t n,
                       int64_t first, double *runs);

/* Counts a run in which a layer reads the shape, once; read_in: the latest run of each shape.
 * If out of memory, the arena of one of the maps has failed. */
void times_count_read(struct cm_times *times, struct map *read_in, const char *shape,
                      int64_t run);
