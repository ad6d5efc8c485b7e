/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often something is run, and what is made of the times: the same for every device
 * (docs/measuring.md says why the constants are what they are).
 */
#ifndef BACKENDS_TIMING_H
#define BACKENDS_TIMING_H

#include <stdint.h>

#include "costmodel/backend.h"

#define TIMING_MOST_SAMPLES 201

struct timing_policy {
    int32_t warm_up_runs; /* at least so many calls, */
    double warm_up_s;     /* and so much time in them, before the first sample */
    double sample_s;      /* a sample is so many executions that it lasts about this long, */
    uint32_t most_per_sample;
    int32_t fewest_samples; /* no end before, */
    int32_t most_samples;   /* an end at the latest: <= TIMING_MOST_SAMPLES */
    double doubt;           /* enough once the median is known to this share of it, */
    double budget_s;        /* or the samples add up to this, */
    double limit_s;  /* or, however few there are, this time is over by the clock; the same for
                        the warm-up */
    double unstable; /* a larger doubt at the end is flagged */
    double drift;    /* how far two rounds may differ and still agree */
};

extern const struct timing_policy timing_default_policy;

/* Seconds from any beginning, never going back. */
struct timing_clock {
    double (*now)(void *context);
    void *context;
};

extern const struct timing_clock timing_monotonic_clock;

/* Runs `n` times; *ret_seconds for all of them. An enum cm_backend_status. */
struct timing_job {
    int (*run)(void *context, uint32_t n, enum cm_cache cache, double *ret_seconds,
               struct cm_reason *reason);
    void *context;
};

/*
 * Quartiles of `n` sorted samples, by linear interpolation between the two nearest: the k-th
 * quartile stands at (n - 1) * k / 4. n >= 1.
 */
void timing_summarize(const double *sorted, int32_t n, struct cm_timing *ret);

/* How well the median is known, as a share of it: what 95 of 100 others would lie within. */
double timing_doubt(const struct cm_timing *timing);

/*
 * Warms up and samples until the policy has enough. Adds to *flags. CM_BACKEND_OK, or what the
 * job returned; a job that gives no positive time is refused.
 */
int timing_run(const struct timing_job *job, const struct timing_policy *policy,
               const struct timing_clock *clock, enum cm_cache cache, struct cm_timing *ret,
               uint32_t *flags, struct cm_reason *reason) __attribute__((warn_unused_result));

#endif
