/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a new baseline says less than the old one, or more: what asks for a reason. */
#include "costmodel/check.h"

#include "compare/baseline.h"
#include "compare/conditions.h"
#include "compare/limit.h"
#include "costmodel/compare.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/text.h"

#include "support/banned.h"

/* Of each metric whether it counts: costs do, and what a limit is on. Times do not: measured
 * anew they differ by themselves. */
static int choose_metrics(size_t n_limits, const struct cm_check_limit *limits,
                          struct arena *arena, struct cm_diagnostics *diag, bool **ret) {
    struct cm_metric metric;
    size_t n = 0;
    while (cm_metric_at(n, &metric)) n++;
    bool *counts = arena_array(arena, n, sizeof(*counts));
    if (counts == NULL) return diag_no_memory(diag);
    for (size_t i = 0; i < n; i++)
        counts[i] = cm_metric_at(i, &metric) && metric.is_cost && !metric.timed;
    for (size_t i = 0; i < n_limits; i++) {
        struct limit limit;
        const int status = limit_parse(limits[i].text, limits[i].source, arena, diag, &limit);
        if (status != CM_OK) return status;
        counts[limit.metric] |= !limit.of.timed;
    }
    *ret = counts;
    return CM_OK;
}

static void compare_totals(const struct cm_result *old, const struct cm_result *now,
                           const bool *counts, struct cm_baseline_trend *trend) {
    struct cm_metric metric;
    for (size_t i = 0; cm_metric_at(i, &metric); i++) {
        struct cm_figure before;
        struct cm_figure after;
        if (!counts[i] || !cm_metric_of_total(i, old, &before) ||
            !cm_metric_of_total(i, now, &after) || !is_known(before.value) ||
            !is_known(after.value))
            continue;
        trend->cheaper |= after.value < before.value;
        trend->dearer |= after.value > before.value;
        if (after.value > before.value && trend->dearest == NULL) trend->dearest = metric.key;
    }
}

/* Whether the two were taken in one way, as every comparison is told. */
static int are_comparable(const struct cm_baseline *old,
                          const struct cm_baseline_profile *before,
                          const struct cm_baseline *now,
                          const struct cm_baseline_profile *after, struct arena *arena,
                          struct cm_diagnostics *diag, bool *ret) {
    const struct arena_mark mark = arena_save(arena);
    struct cm_result results[2];
    struct cm_diff *diff = NULL;
    int status = baseline_result(old, before, arena, diag, &results[0]);
    if (status == CM_OK) status = baseline_result(now, after, arena, diag, &results[1]);
    if (status == CM_OK) status = cm_diff_make(&results[0], &results[1], diag, &diff);
    bool other_inputs = false;
    if (status == CM_OK)
        status = conditions_other_inputs(&results[0], &results[1], arena, &other_inputs);
    if (status == CM_OK) *ret = cm_diff_comparable(diff) && !other_inputs;
    cm_diff_free(diff);
    arena_restore(arena, mark);
    return status;
}

/* Both have the same batches, or one of them guards less. */
static int compare_all(const struct cm_baseline *old, const struct cm_baseline *now,
                       const bool *counts, struct arena *arena, struct cm_diagnostics *diag,
                       struct cm_baseline_trend *trend) {
    trend->comparable = old->n_profiles == now->n_profiles;
    for (size_t i = 0; i < now->n_profiles && trend->comparable; i++) {
        const struct cm_baseline_profile *after = &now->profiles[i];
        const struct cm_baseline_profile *before =
            baseline_find(old, after->figures.options.batch);
        trend->comparable = before != NULL;
        if (before == NULL) break;
        const int status =
            are_comparable(old, before, now, after, arena, diag, &trend->comparable);
        if (status != CM_OK) return status;
        compare_totals(&before->figures, &after->figures, counts, trend);
    }
    return CM_OK;
}

int cm_baseline_compare(const struct cm_baseline *old, const struct cm_baseline *now,
                        size_t n_limits, const struct cm_check_limit *limits,
                        struct cm_diagnostics *diagnostics,
                        struct cm_baseline_trend *ret_trend) {
    struct cm_baseline_trend trend = {.comparable = true};
    struct arena *arena = arena_new("trend", 0);
    bool *counts = NULL;
    if (arena == NULL) return diag_no_memory(diagnostics);
    int status = choose_metrics(n_limits, limits, arena, diagnostics, &counts);
    if (status == CM_OK) status = compare_all(old, now, counts, arena, diagnostics, &trend);
    arena_free(arena);
    if (status != CM_OK) return status;
    *ret_trend = trend.comparable ? trend : (struct cm_baseline_trend){.comparable = false};
    return CM_OK;
}
