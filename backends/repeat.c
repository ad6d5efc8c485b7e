/* SPDX-License-Identifier: Apache-2.0 */
/* Order of the rounds, and selection among their measurements. */
#include "backends/repeat.h"

#include <math.h>
#include <stdbool.h>

#include "support/banned.h"

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

/* Replaces the first measurement by the later one if that was timed. Flags it unstable. */
static void replace_by_later(struct cm_measurement *first, const struct cm_measurement *later) {
    if (was_timed(later)) *first = *later;
    first->flags |= CM_FLAG_UNSTABLE;
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

/* Sets *first to the measurement that is kept after round 2; runs round 3 if the first two
 * differ by more than `drift`. */
static void settle(struct rounds *rounds, size_t index, const struct cm_measurement *second,
                   double drift, struct cm_measurement *first) {
    if (!was_timed(second)) {
        replace_by_later(first, second);
        return;
    }
    struct cm_measurement third;
    const double difference = drift_between(first, second);
    if (difference <= drift) {
        *first = *second;
        first->drift = difference;
        return;
    }
    rounds->total++;
    measure(rounds, 3, index, &third);
    if (was_timed(&third))
        *first = choose(first, second, &third, drift);
    else
        replace_by_later(first, second);
}

void repeat_run(const struct repeat_job *job, size_t n, double drift,
                struct cm_measurement *ret) {
    struct rounds rounds = {job, 0, n};
    struct cm_measurement second;
    for (size_t i = 0; i < n; i++) {
        measure(&rounds, 1, i, &ret[i]);
        rounds.total += was_timed(&ret[i]);
    }
    for (size_t i = n; i > 0; i--) {
        if (!was_timed(&ret[i - 1])) continue;
        measure(&rounds, 2, i - 1, &second);
        settle(&rounds, i - 1, &second, drift, &ret[i - 1]);
    }
}
