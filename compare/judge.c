/* SPDX-License-Identifier: Apache-2.0 */
/* Judges a value against a limit. A measured value is a range: pass if the whole range is
 * allowed, regression if none of it is, else ambiguous. An upper bound is judged as the range
 * from 0 to its value, with not-compared instead of ambiguous. A partial sum (unknown
 * operators) is a lower bound: it may be a regression, but never passes. */
#include "compare/judge.h"

#include <stdbool.h>

#include "support/checked.h"

static const char *const names[] = {
    [JUDGED_PASS] = "pass",
    [JUDGED_WAIVED] = "waived",
    [JUDGED_AMBIGUOUS] = "ambiguous",
    [JUDGED_NOT_COMPARED] = "not-compared",
    [JUDGED_REGRESSION] = "regression",
};

const char *judgement_name(enum judgement judgement) {
    return names[judgement];
}

/* Extends an upper bound down to 0, unless upper bounds count as values. */
static struct range extended_to_zero(struct range range, bool bounds_count) {
    if (range.upper_bound && !bounds_count && is_known(range.value)) range.low = 0;
    return range;
}

/* Judges one bound. Two upper bounds compare as values: they are computed in the same way. */
static enum judgement judge_bound(const struct bound *bound, const struct figure *figure) {
    const bool relative = bound->kind != BOUND_ABSOLUTE;
    const bool bounds_count = figure->bounds_count ||
                              (relative && figure->now.upper_bound && figure->old.upper_bound);
    const struct range now = extended_to_zero(figure->now, bounds_count);
    const struct range old = extended_to_zero(figure->old, bounds_count);
    const int64_t most_low = bound_most(bound, old.low);
    const int64_t most_high = bound_most(bound, old.high);
    if (!is_known(bound_most(bound, old.value))) return JUDGED_NOT_COMPARED;
    if (figure->no_value != NULL)
        return !relative && now.low > most_high ? JUDGED_REGRESSION : JUDGED_NOT_COMPARED;
    if (figure->doubt != NULL) return JUDGED_AMBIGUOUS;
    if (now.high <= most_low) return JUDGED_PASS;
    if (now.low > most_high) return JUDGED_REGRESSION;
    const bool is_open = now.upper_bound || (relative && old.upper_bound);
    return is_open ? JUDGED_NOT_COMPARED : JUDGED_AMBIGUOUS;
}

static const char *because(const struct limit *limit, const struct figure *figure,
                           enum judgement judgement) {
    if (judgement == JUDGED_PASS) return "";
    if (judgement == JUDGED_AMBIGUOUS)
        return figure->doubt != NULL ? figure->doubt : "the measured range overlaps the limit";
    if (figure->no_value != NULL) return figure->no_value;
    if (judgement == JUDGED_REGRESSION) return "";
    if (figure->no_old != NULL && limit_is_relative(limit)) return figure->no_old;
    return figure->now.upper_bound ? "the value is an upper bound and may be within the limit"
                                   : "the baseline value is an upper bound";
}

enum judgement judge(const struct limit *limit, const struct figure *figure,
                     struct cm_check_finding *ret) {
    enum judgement best = JUDGED_REGRESSION;
    int64_t allowed = CM_UNKNOWN;
    for (size_t i = 0; i < limit->n_bounds; i++) {
        const int64_t allows = bound_most(&limit->bounds[i], figure->old.value);
        const enum judgement judgement = is_known(figure->now.value)
                                             ? judge_bound(&limit->bounds[i], figure)
                                             : JUDGED_NOT_COMPARED;
        if (judgement < best) best = judgement;
        if (is_known(allows) && allows > allowed) allowed = allows;
    }
    ret->state = names[best];
    ret->value = figure->now.value;
    ret->old = figure->old.value;
    ret->upper_bound = figure->now.upper_bound;
    ret->old_upper_bound = is_known(figure->old.value) && figure->old.upper_bound;
    ret->allowed = allowed;
    ret->over =
        best == JUDGED_REGRESSION ? checked_sub(figure->now.value, allowed) : CM_UNKNOWN;
    if (is_overflow(ret->over)) ret->over = INT64_MAX;
    ret->because = because(limit, figure, best);
    return best;
}
