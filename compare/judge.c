/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known exactly is above a bound or it is not. What was measured lies in a range: it
 * passes when all of it is allowed, is a regression when nothing of it is, and ambiguous
 * between. What is known only in part is at least that much, so that it may be too much, but is
 * never little enough.
 */
#include "compare/judge.h"

#include <stdbool.h>

#include "support/checked.h"

#include "support/banned.h"

static const char *const names[] = {
    [JUDGED_PASS] = "pass",
    [JUDGED_AMBIGUOUS] = "ambiguous",
    [JUDGED_NOT_COMPARED] = "not-compared",
    [JUDGED_REGRESSION] = "regression",
};

const char *judgement_name(enum judgement judgement) {
    return names[judgement];
}

static struct range allowed(const struct bound *bound, const struct range *old) {
    return (struct range){
        .value = bound_most(bound, old->value),
        .low = bound_most(bound, old->low),
        .high = bound_most(bound, old->high),
    };
}

static enum judgement judge_bound(const struct bound *bound, const struct figure *figure,
                                  const struct range *most) {
    const bool relative = bound->kind != BOUND_ABSOLUTE;
    if (!is_known(most->value)) return JUDGED_NOT_COMPARED;
    if (figure->no_value != NULL)
        return !relative && figure->now.low > most->high ? JUDGED_REGRESSION
                                                         : JUDGED_NOT_COMPARED;
    if (figure->doubt != NULL) return JUDGED_AMBIGUOUS;
    if (figure->now.high <= most->low) return JUDGED_PASS;
    return figure->now.low > most->high ? JUDGED_REGRESSION : JUDGED_AMBIGUOUS;
}

static const char *because(const struct figure *figure, enum judgement judgement) {
    if (judgement == JUDGED_PASS) return "";
    if (judgement == JUDGED_AMBIGUOUS)
        return figure->doubt != NULL ? figure->doubt
                                     : "what was measured lies on both sides of the limit";
    if (figure->no_value != NULL) return figure->no_value;
    return judgement == JUDGED_NOT_COMPARED && figure->no_old != NULL ? figure->no_old : "";
}

enum judgement judge(const struct limit *limit, const struct figure *figure,
                     struct cm_check_finding *ret) {
    enum judgement best = JUDGED_REGRESSION;
    int64_t most = CM_UNKNOWN;
    for (size_t i = 0; i < limit->n_bounds; i++) {
        const struct range range = allowed(&limit->bounds[i], &figure->old);
        const enum judgement judgement = is_known(figure->now.value)
                                             ? judge_bound(&limit->bounds[i], figure, &range)
                                             : JUDGED_NOT_COMPARED;
        if (judgement < best) best = judgement;
        if (is_known(range.value) && range.value > most) most = range.value;
    }
    ret->state = names[best];
    ret->value = figure->now.value;
    ret->old = figure->old.value;
    ret->bound = most;
    ret->over = best == JUDGED_REGRESSION ? checked_sub(figure->now.value, most) : CM_UNKNOWN;
    if (is_overflow(ret->over)) ret->over = INT64_MAX;
    ret->because = because(figure, best);
    return best;
}
