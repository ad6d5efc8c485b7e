/* SPDX-License-Identifier: Apache-2.0 */
/* Times a job: decides how often to execute it and computes statistics. The default policy is
 * the same for every device (docs/measuring.md explains its constants). */
#pragma once

#include <stdint.h>

#include "costmodel/backend.h"

#define TIMING_MAX_SAMPLES 201

struct timing_policy {
    int32_t warm_up_runs;     /* minimum number of warm-up calls */
    double warm_up_s;         /* minimum time of these calls, seconds */
    double sample_s;          /* target duration of a sample, seconds */
    uint32_t most_per_sample; /* maximum executions in a sample */
    int32_t fewest_samples;   /* minimum number of samples */
    int32_t most_samples;     /* maximum number, <= TIMING_MAX_SAMPLES */
    double uncertainty;       /* stop at this relative uncertainty of the median, */
    double budget_s;          /* or at this total time of the samples, seconds, */
    double limit_s;           /* or at this wall time, seconds; limits the warm-up too */
    double unstable;          /* flag the result if its final uncertainty is larger */
    double drift;             /* largest relative difference of two rounds that agree */
};

extern const struct timing_policy timing_default_policy;

/* A clock: `now` returns monotonic seconds from any origin. */
struct timing_clock {
    double (*now)(void *context);
    void *context;
};

extern const struct timing_clock timing_monotonic_clock;

/* A job to time: `run` executes it `n` times, sets *ret_seconds to the total and returns an
 * enum cm_backend_status. */
struct timing_job {
    int (*run)(void *context, uint32_t n, enum cm_cache cache, double *ret_seconds,
               struct cm_reason *reason);
    void *context;
};

/* Computes quartiles of `n` sorted samples by linear interpolation: the k-th quartile is at
 * index (n - 1) * k / 4. Requires n >= 1. */
void timing_summarize(const double *sorted, int32_t n, struct cm_timing *ret);

/* Returns the half-width of the median's notch (timing.c), divided by the median: medians whose
 * notches do not overlap differ at about 95 % confidence. Returns 0 if there are no samples. */
double timing_uncertainty(const struct cm_timing *timing);

/* Warms up and samples until the policy is satisfied. Adds CM_FLAG_FEW_SAMPLES and
 * CM_FLAG_UNSTABLE to *flags if they apply. Returns CM_BACKEND_OK or the job's status; a
 * non-positive time is refused. */
int timing_run(const struct timing_job *job, const struct timing_policy *policy,
               const struct timing_clock *clock, enum cm_cache cache, struct cm_timing *ret,
               uint32_t *flags, struct cm_reason *reason) __attribute__((warn_unused_result));

/* A job of `n` parts, at most CM_MAX_KERNELS. `run` executes all of them once and sets the
 * seconds of each. */
struct timing_parts {
    int (*run)(void *context, double *ret_seconds, struct cm_reason *reason);
    void *context;
    int32_t n;
};

/* Computes the median seconds of each part over policy->fewest_samples runs, or as many as fit
 * into policy->limit_s. Returns as timing_run. */
int timing_run_parts(const struct timing_parts *parts, const struct timing_policy *policy,
                     const struct timing_clock *clock, double *ret_medians,
                     struct cm_reason *reason) __attribute__((warn_unused_result));
