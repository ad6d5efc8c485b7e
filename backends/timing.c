/* SPDX-License-Identifier: Apache-2.0 */
/* See timing.h. Reports the median of the samples: the minimum depends on lucky clocks, the
 * mean on interrupts. The quartiles show the uncertainty of the median. */
#include "backends/timing.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "backends/plugin/reason.h"

const struct timing_policy timing_default_policy = {
    .warm_up_runs = 3,
    .warm_up_s = 5e-3,
    .sample_s = 1e-3,
    .most_per_sample = 512,
    .fewest_samples = 11,
    .most_samples = TIMING_MAX_SAMPLES,
    .uncertainty = 0.01,
    .budget_s = 0.2,
    .limit_s = 2.0,
    .unstable = 0.025,
    .drift = 0.03,
};

static double monotonic_now(void *context) {
    struct timespec now = {0, 0};
    (void)context;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

const struct timing_clock timing_monotonic_clock = {monotonic_now, NULL};

static double quantile(const double *sorted, int32_t n, double at) {
    const double place = (double)(n - 1) * at;
    const int32_t below = (int32_t)place;
    const int32_t above = below + 1 < n ? below + 1 : below;
    return sorted[below] + (place - (double)below) * (sorted[above] - sorted[below]);
}

void timing_summarize(const double *sorted, int32_t n, struct cm_timing *ret) {
    ret->median = quantile(sorted, n, 0.5);
    ret->q1 = quantile(sorted, n, 0.25);
    ret->q3 = quantile(sorted, n, 0.75);
    ret->min = sorted[0];
    ret->max = sorted[n - 1];
    ret->n_samples = n;
}

/*     uncertainty = 1.57 (q3 - q1) / sqrt(n) / median
 *
 * The notch of a box plot (McGill, Tukey, Larsen: Variations of Box Plots, 1978): medians whose
 * notches do not overlap differ at about 95 % confidence. */
double timing_uncertainty(const struct cm_timing *timing) {
    if (!(timing->median > 0) || timing->n_samples < 1) return 0;
    return 1.57 * (timing->q3 - timing->q1) / sqrt(timing->n_samples) / timing->median;
}

/* Calls the job once, for `n` executions, and sets *ret to the seconds per execution. */
static int run_job(const struct timing_job *job, uint32_t n, enum cm_cache cache, double *ret,
                   struct cm_reason *reason) {
    double seconds = 0;
    const int status = job->run(job->context, n, cache, &seconds, reason);
    if (status != CM_BACKEND_OK) return status;
    if (!isfinite(seconds) || seconds <= 0)
        return reason_fail(reason, CM_BACKEND_REFUSED,
                           "%u runs took %g s: the clock must advance", (unsigned)n, seconds);
    *ret = seconds / n;
    return CM_BACKEND_OK;
}

/* Sets *ret_fastest to the shortest seconds per execution, which determine the size of a
 * sample. After the first warm_up_runs calls, each call doubles the number of executions, so
 * that short executions need few calls. */
static int warm_up(const struct timing_job *job, const struct timing_policy *policy,
                   const struct timing_clock *clock, enum cm_cache cache, double *ret_fastest,
                   struct cm_reason *reason) {
    const double begin = clock->now(clock->context);
    double fastest = INFINITY;
    double spent = 0;
    uint32_t n = 1;
    for (int32_t i = 0; i < policy->warm_up_runs || spent < policy->warm_up_s; i++) {
        double seconds = 0;
        if (i >= policy->warm_up_runs && n < policy->most_per_sample) n *= 2;
        const int status = run_job(job, n, cache, &seconds, reason);
        if (status != CM_BACKEND_OK) return status;
        fastest = fmin(fastest, seconds);
        spent += seconds * n;
        if (clock->now(clock->context) - begin >= policy->limit_s) break;
    }
    *ret_fastest = fastest;
    return CM_BACKEND_OK;
}

static void insert_sorted(double *sorted, int32_t n, double value) {
    int32_t at = n;
    while (at > 0 && sorted[at - 1] > value) at--;
    memmove(&sorted[at + 1], &sorted[at], (size_t)(n - at) * sizeof(*sorted));
    sorted[at] = value;
}

static int32_t most_samples(const struct timing_policy *policy) {
    return policy->most_samples < TIMING_MAX_SAMPLES ? policy->most_samples
                                                     : TIMING_MAX_SAMPLES;
}

int timing_run(const struct timing_job *job, const struct timing_policy *policy,
               const struct timing_clock *clock, enum cm_cache cache, struct cm_timing *ret,
               uint32_t *flags, struct cm_reason *reason) {
    double sorted[TIMING_MAX_SAMPLES];
    struct cm_timing timing = {.n_samples = 0};
    double fastest = 0;
    double sampled = 0;
    int status = warm_up(job, policy, clock, cache, &fastest, reason);
    if (status != CM_BACKEND_OK) return status;
    const double wanted = fmax(ceil(policy->sample_s / fastest), 1);
    const uint32_t per_sample =
        wanted < policy->most_per_sample ? (uint32_t)wanted : policy->most_per_sample;
    const double end = clock->now(clock->context) + policy->limit_s;
    bool is_enough = false;
    do {
        double seconds = 0;
        status = run_job(job, per_sample, cache, &seconds, reason);
        if (status != CM_BACKEND_OK) return status;
        sampled += seconds * per_sample;
        insert_sorted(sorted, timing.n_samples, seconds);
        timing_summarize(sorted, timing.n_samples + 1, &timing);
        is_enough =
            timing.n_samples >= policy->fewest_samples &&
            (sampled >= policy->budget_s || timing_uncertainty(&timing) <= policy->uncertainty);
    } while (!is_enough && timing.n_samples < most_samples(policy) &&
             clock->now(clock->context) < end);
    timing.per_sample = (int32_t)per_sample;
    if (timing.n_samples < policy->fewest_samples) *flags |= CM_FLAG_FEW_SAMPLES;
    if (timing_uncertainty(&timing) > policy->unstable) *flags |= CM_FLAG_UNSTABLE;
    *ret = timing;
    return CM_BACKEND_OK;
}

static int run_parts(const struct timing_parts *parts, double *ret_seconds,
                     struct cm_reason *reason) {
    const int status = parts->run(parts->context, ret_seconds, reason);
    if (status != CM_BACKEND_OK) return status;
    for (int32_t i = 0; i < parts->n; i++)
        if (!isfinite(ret_seconds[i]) || ret_seconds[i] <= 0)
            return reason_fail(reason, CM_BACKEND_REFUSED,
                               "kernel %d took %g s: the clock must advance", (int)i,
                               ret_seconds[i]);
    return CM_BACKEND_OK;
}

int timing_run_parts(const struct timing_parts *parts, const struct timing_policy *policy,
                     const struct timing_clock *clock, double *ret_medians,
                     struct cm_reason *reason) {
    double sorted[CM_MAX_KERNELS][TIMING_MAX_SAMPLES];
    double seconds[CM_MAX_KERNELS] = {0};
    struct cm_timing timing = {.n_samples = 0};
    const int32_t most = most_samples(policy);
    int32_t n = 0;
    int status = run_parts(parts, seconds, reason); /* warms up */
    if (status != CM_BACKEND_OK) return status;
    const double end = clock->now(clock->context) + policy->limit_s;
    do {
        status = run_parts(parts, seconds, reason);
        if (status != CM_BACKEND_OK) return status;
        for (int32_t i = 0; i < parts->n; i++) insert_sorted(sorted[i], n, seconds[i]);
        n++;
    } while (n < policy->fewest_samples && n < most && clock->now(clock->context) < end);
    for (int32_t i = 0; i < parts->n; i++) {
        timing_summarize(sorted[i], n, &timing);
        ret_medians[i] = timing.median;
    }
    return CM_BACKEND_OK;
}
