/* SPDX-License-Identifier: Apache-2.0 */
/* See repeat.h. Runs the rounds and selects one of the measurements of each primitive. */
#include "backends/repeat.h"

#include <math.h>
#include <stdbool.h>

struct rounds {
    const struct repeat_job *job;
    size_t done;
    size_t total;
};

static bool was_timed(const struct cm_measurement *measurement) {
    const bool ran = measurement->state == CM_MEASURED || measurement->state == CM_PROXY ||
                     measurement->state == CM_INVENTED;
    return ran && measurement->cold.median > 0;
}

/* Returns |later / first - 1| of the cold medians. */
static double drift_between(const struct cm_measurement *first,
                            const struct cm_measurement *later) {
    return fabs(later->cold.median / first->cold.median - 1);
}

static void measure(struct rounds *rounds, int round, size_t index,
                    struct cm_measurement *ret) {
    const struct repeat_job *job = rounds->job;
    if (job->progress != NULL) job->progress(job->context, round, rounds->done, rounds->total);
    job->measure(job->context, index, ret);
    rounds->done++;
}

/* `a`, `b` and `c` are the timed rounds 1, 2 and 3. Returns `c` if it agrees with `a` or `b`
 * within `drift`, else the round with the median time, flagged unstable. */
static struct cm_measurement choose(const struct cm_measurement *a,
                                    const struct cm_measurement *b,
                                    const struct cm_measurement *c, double drift) {
    const double ac = drift_between(a, c);
    const double bc = drift_between(b, c);
    struct cm_measurement chosen = *c;
    chosen.drift = fmin(ac, bc);
    if (chosen.drift <= drift) return chosen;
    const double low = fmin(a->cold.median, b->cold.median);
    const double high = fmax(a->cold.median, b->cold.median);
    if (c->cold.median < low) chosen = a->cold.median <= b->cold.median ? *a : *b;
    if (c->cold.median > high) chosen = a->cold.median >= b->cold.median ? *a : *b;
    chosen.drift = drift_between(a, b);
    chosen.flags |= CM_FLAG_UNSTABLE;
    return chosen;
}

/* Measures a primitive in round 2, and in round 3 if the first two differ by more than `drift`.
 * *kept is the measurement of round 1 at first, the selected one at the end. */
static void repeat(struct rounds *rounds, size_t index, double drift,
                   struct cm_measurement *kept) {
    const struct cm_measurement first = *kept;
    struct cm_measurement second;
    struct cm_measurement third;
    measure(rounds, 2, index, &second);
    if (!was_timed(&second)) {
        kept->flags |= CM_FLAG_UNSTABLE;
        return;
    }
    const double difference = drift_between(&first, &second);
    *kept = second;
    if (difference <= drift) {
        kept->drift = difference;
        return;
    }
    rounds->total++;
    measure(rounds, 3, index, &third);
    if (was_timed(&third))
        *kept = choose(&first, &second, &third, drift);
    else
        kept->flags |= CM_FLAG_UNSTABLE;
}

void repeat_run(const struct repeat_job *job, size_t n, double drift,
                struct cm_measurement *ret) {
    struct rounds rounds = {job, 0, n};
    for (size_t i = 0; i < n; i++) {
        measure(&rounds, 1, i, &ret[i]);
        rounds.total += was_timed(&ret[i]);
    }
    for (size_t i = n; i > 0; i--)
        if (was_timed(&ret[i - 1])) repeat(&rounds, i - 1, drift, &ret[i - 1]);
}
