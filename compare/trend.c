/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a new baseline says less than the old one, or more: what asks for a reason. */
#include "costmodel/check.h"

#include "compare/baseline.h"
#include "costmodel/compare.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/text.h"

#include "support/banned.h"

/* Times are left out: measured anew they differ by themselves. */
static void compare_totals(const struct cm_result *old, const struct cm_result *now,
                           struct cm_baseline_trend *trend) {
    struct cm_metric metric;
    for (size_t i = 0; cm_metric_at(i, &metric); i++) {
        struct cm_figure before;
        struct cm_figure after;
        if (metric.timed || !cm_metric_of_total(i, old, &before) ||
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
                          const struct cm_baseline_profile *after, struct cm_diagnostics *diag,
                          bool *ret) {
    struct cm_result results[2];
    struct cm_diff *diff = NULL;
    struct arena *arena = arena_new("trend", 0);
    if (arena == NULL) return diag_no_memory(diag);
    int status = baseline_result(old, before, arena, diag, &results[0]);
    if (status == CM_OK) status = baseline_result(now, after, arena, diag, &results[1]);
    if (status == CM_OK) status = cm_diff_make(&results[0], &results[1], diag, &diff);
    if (status == CM_OK) *ret = cm_diff_comparable(diff);
    cm_diff_free(diff);
    arena_free(arena);
    return status;
}

int cm_baseline_compare(const struct cm_baseline *old, const struct cm_baseline *now,
                        struct cm_diagnostics *diagnostics,
                        struct cm_baseline_trend *ret_trend) {
    struct cm_baseline_trend trend = {.comparable = true};
    for (size_t i = 0; i < now->n_profiles && trend.comparable; i++) {
        const struct cm_baseline_profile *after = &now->profiles[i];
        const struct cm_baseline_profile *before =
            baseline_find(old, after->figures.options.batch);
        trend.comparable = before != NULL;
        if (before == NULL) break;
        const int status =
            are_comparable(old, before, now, after, diagnostics, &trend.comparable);
        if (status != CM_OK) return status;
        compare_totals(&before->figures, &after->figures, &trend);
    }
    *ret_trend = trend.comparable ? trend : (struct cm_baseline_trend){.comparable = false};
    return CM_OK;
}
