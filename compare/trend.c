/* SPDX-License-Identifier: Apache-2.0 */
/* Compares two baselines: which costs decreased or increased. */
#include "costmodel/check.h"

#include "compare/baseline.h"
#include "compare/conditions.h"
#include "compare/limit.h"
#include "costmodel/compare.h"
#include "ops/flops/names/convention_names.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/glob.h"
#include "support/text.h"

#include "support/banned.h"

/* Costs and metrics with a limit. Times are skipped: they always differ. */
struct compared_metrics {
    bool *is_compared; /* by metric */
    size_t n_limits;
    struct limit *limits;
};

static int choose_metrics(bool separates_integers, size_t n_limits,
                          const struct cm_check_limit *limits, struct arena *arena,
                          struct cm_diagnostics *diag, struct compared_metrics *ret) {
    struct cm_metric metric;
    size_t n = 0;
    while (cm_metric_at(n, &metric)) n++;
    ret->n_limits = n_limits;
    ret->is_compared = arena_array(arena, n, sizeof(*ret->is_compared));
    ret->limits = arena_array(arena, n_limits, sizeof(*ret->limits));
    if (ret->is_compared == NULL || ret->limits == NULL) return diag_no_memory(diag);
    for (size_t i = 0; cm_metric_at(i, &metric); i++) {
        /* int_ops is a cost only if the convention excludes it from flops. */
        const bool apart = separates_integers && text_equal(metric.key, "int_ops");
        ret->is_compared[i] = (metric.is_cost || apart) && !metric.timed;
    }
    for (size_t i = 0; i < n_limits; i++) {
        struct limit *limit = &ret->limits[i];
        const int status = limit_parse(limits[i].text, limits[i].source, arena, diag, limit);
        if (status != CM_OK) return status;
        ret->is_compared[limit->metric] |= !limit->of.timed;
    }
    return CM_OK;
}

static void compare_change(const struct cm_change *change, const char *key, const char *path,
                           struct cm_baseline_trend *trend) {
    if (!is_known(change->old_value) || !is_known(change->new_value)) return;
    trend->decreased |= change->new_value < change->old_value;
    if (change->new_value <= change->old_value) return;
    trend->increased = true;
    if (trend->increased_metric != NULL) return;
    trend->increased_metric = key;
    trend->increased_module = path;
}

static bool is_limited(const struct compared_metrics *metrics, size_t metric,
                       const char *path) {
    for (size_t i = 0; i < metrics->n_limits; i++)
        if (metrics->limits[i].metric == metric && metrics->limits[i].modules[0] != '\0' &&
            glob_matches(metrics->limits[i].modules, path))
            return true;
    return false;
}

/* A new module is compared only if a limit applies to it; its old value is 0. */
static void compare_module(const struct cm_diff *diff, size_t row,
                           const struct compared_metrics *metrics,
                           struct cm_baseline_trend *trend) {
    const size_t module = diff->modules[row].new_module;
    struct cm_metric metric;
    if (module == CM_NO_INDEX) return;
    const char *path = diff->new_result->modules[module].path;
    for (size_t i = 0; path[0] != '\0' && cm_metric_at(i, &metric); i++) {
        const struct cm_change change = cm_diff_of_module(diff, row, i);
        if (!metrics->is_compared[i] || !change.in_new) continue;
        if (change.in_old || is_limited(metrics, i, path))
            compare_change(&change, metric.key, path, trend);
    }
}

/* Compares one batch; the total first, so that it is reported first. */
static int compare_profiles(const struct cm_result results[2],
                            const struct compared_metrics *metrics, struct arena *arena,
                            struct cm_diagnostics *diag, struct cm_baseline_trend *trend) {
    bool other_inputs = false;
    struct cm_diff *diff = NULL;
    int status = cm_diff_make(&results[0], &results[1], diag, &diff);
    if (status != CM_OK) return status;
    if (conditions_other_inputs(&results[0], &results[1], arena, &other_inputs) != CM_OK)
        status = diag_no_memory(diag);
    trend->comparable = cm_diff_comparable(diff) && !other_inputs;
    if (status == CM_OK && trend->comparable) {
        struct cm_metric metric;
        for (size_t i = 0; cm_metric_at(i, &metric); i++) {
            const struct cm_change change = cm_diff_total(diff, i);
            if (metrics->is_compared[i] && change.in_old && change.in_new)
                compare_change(&change, metric.key, "", trend);
        }
        for (size_t i = 0; i < diff->n_modules; i++) compare_module(diff, i, metrics, trend);
    }
    cm_diff_free(diff);
    return status;
}

/* Compares all batches; baselines with different batches are not comparable. */
static int compare_all(const struct cm_baseline *old, const struct cm_baseline *now,
                       const struct compared_metrics *metrics, struct arena *arena,
                       struct cm_diagnostics *diag, struct cm_baseline_trend *trend) {
    trend->comparable = old->n_profiles == now->n_profiles;
    for (size_t i = 0; i < now->n_profiles && trend->comparable; i++) {
        const struct arena_mark mark = arena_save(arena);
        const struct cm_baseline_profile *after = &now->profiles[i];
        const struct cm_baseline_profile *before =
            baseline_find(old, after->figures.options.batch);
        struct cm_result results[2];
        trend->comparable = before != NULL;
        if (before == NULL) break;
        int status = baseline_result(old, before, arena, diag, &results[0]);
        if (status == CM_OK) status = baseline_result(now, after, arena, diag, &results[1]);
        if (status == CM_OK) status = compare_profiles(results, metrics, arena, diag, trend);
        arena_restore(arena, mark);
        if (status != CM_OK) return status;
    }
    return CM_OK;
}

int cm_baseline_compare(const struct cm_baseline *old, const struct cm_baseline *now,
                        size_t n_limits, const struct cm_check_limit *limits,
                        struct cm_diagnostics *diagnostics,
                        struct cm_baseline_trend *ret_trend) {
    if (old == NULL || now == NULL || (limits == NULL && n_limits > 0) || ret_trend == NULL)
        return diag_null(diagnostics);
    struct cm_baseline_trend trend = {.comparable = true};
    struct arena *arena = arena_new("trend", 0);
    struct compared_metrics metrics;
    if (arena == NULL) return diag_no_memory(diagnostics);
    const bool separates_integers =
        now->n_profiles > 0 &&
        conventions_separate_integers(now->profiles[0].figures.options.convention);
    int status =
        choose_metrics(separates_integers, n_limits, limits, arena, diagnostics, &metrics);
    if (status == CM_OK) status = compare_all(old, now, &metrics, arena, diagnostics, &trend);
    status = arena_end(arena, status);
    if (status != CM_OK) return diag_finish(diagnostics, status);
    *ret_trend = trend.comparable ? trend : (struct cm_baseline_trend){.comparable = false};
    for (size_t i = 0; i < now->n_profiles; i++) { /* sums omit what is unknown */
        const struct cm_coverage *coverage = &now->profiles[i].figures.coverage;
        ret_trend->incomplete |= coverage->n_unknown_ops > 0 ||
                                 coverage->n_unknown_gradients > 0 ||
                                 cm_coverage_unbounded(coverage) > 0;
    }
    return CM_OK;
}
