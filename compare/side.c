/* SPDX-License-Identifier: Apache-2.0 */
/* Determines which values of a profile and its baseline are comparable. */
#include "compare/side.h"

#include <inttypes.h>

#include "compare/baseline.h"
#include "compare/conditions.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/text.h"

/* Sets `no_old` to the first condition that prevents any comparison, and `no_old_times` to the
 * first condition that prevents a comparison of times. */
static void read_conditions(struct side *side, struct arena *arena) {
    const bool other_inputs = conditions_other_inputs(&side->old, side->now, arena);
    for (size_t i = 0; i < side->diff->n_conditions; i++) {
        const struct cm_condition *condition = &side->diff->conditions[i];
        const bool breaks = condition->weight == CM_CONDITION_BREAKS ||
                            (other_inputs && text_equal(condition->key, "inputs"));
        const char **reason = breaks ? &side->no_old : &side->no_old_times;
        if ((!breaks && condition->weight != CM_CONDITION_TIMES) || *reason != NULL) continue;
        if (text_equal(condition->key, "counting")) {
            side->is_outdated = true;
            *reason = "the baseline was counted by another version of the counting rules";
            continue;
        }
        *reason =
            arena_printf(arena, "%s is %s in the baseline, %s here", condition->key,
                         condition->old_value[0] == '\0' ? "not set" : condition->old_value,
                         condition->new_value[0] == '\0' ? "not set" : condition->new_value);
    }
}

static int compare(struct side *side, const struct cm_baseline *baseline,
                   const struct cm_baseline_profile *profile, struct arena *arena,
                   struct cm_diagnostics *diag) {
    struct diag_frame frame = {.label = "in", .what = "the baseline"};
    diag_push(diag, &frame);
    int status = baseline_result(baseline, profile, arena, diag, &side->old);
    diag_pop(diag, &frame);
    if (status != CM_OK) return status;
    side->has_old = true;
    side->old_times = profile->times;
    side->old_spreads = baseline_kept_spreads(baseline, profile->figures.options.batch, arena);
    if (side->old_spreads == NULL) return diag_no_memory(diag);
    status = cm_diff_make(&side->old, side->now, diag, &side->diff);
    if (status != CM_OK) return status;
    side->of_module = arena_array(arena, side->now->n_modules, sizeof(*side->of_module));
    if (side->of_module == NULL) return diag_no_memory(diag);
    for (size_t i = 0; i < side->diff->n_modules; i++) {
        const size_t module = side->diff->modules[i].new_module;
        if (module != CM_NO_INDEX) side->of_module[module] = i;
    }
    read_conditions(side, arena);
    return CM_OK;
}

static const char *find_unknown(const struct cm_result *result, int64_t n_shapes,
                                const char *whose, struct arena *arena) {
    const struct cm_coverage *coverage = &result->coverage;
    if (coverage->n_unknown_ops > 0)
        return arena_printf(arena, "%s has unknown operators: %s", whose,
                            coverage->unknown_ops[0].name);
    if (n_shapes > 0)
        return arena_printf(arena, "%s has %" PRId64 " unknown shape%s", whose, n_shapes,
                            text_plural(n_shapes));
    if (coverage->incomplete != NULL && coverage->incomplete->unknown_trip_counts > 0)
        return arena_printf(arena, "%s has Loops with an unknown trip count", whose);
    return NULL;
}

/* Returns why sums are incomplete; NULL: they are complete. */
static const char *find_unbounded(const struct cm_result *result, const char *whose,
                                  struct arena *arena) {
    const int64_t n_shapes = cm_coverage_unbounded(&result->coverage);
    const char *unknown = find_unknown(result, n_shapes, whose, arena);
    if (unknown != NULL || result->coverage.unknown_shapes == 0) return unknown;
    /* Sums omit unknown costs of nodes, for example upper bounds that overflow. */
    for (size_t i = 0; i < result->n_nodes; i++) {
        const struct cm_costs *costs = &result->nodes[i].costs;
        if (!is_known(costs->macs) || !is_known(costs->flops) || !is_known(costs->bytes_read) ||
            !is_known(costs->bytes_written) || !is_known(costs->activation_bytes))
            return arena_printf(arena, "%s has nodes with unbounded costs", whose);
    }
    return NULL;
}

static struct gaps find_gaps(const struct cm_result *result,
                             const struct cm_baseline_times *times, const char *whose,
                             struct arena *arena) {
    const struct cm_coverage *coverage = &result->coverage;
    struct gaps gaps = {.sums = find_unbounded(result, whose, arena)};
    /* Metrics of a step also omit shapes with only an upper bound, and unknown gradients. */
    gaps.step = find_unknown(result, coverage->unknown_shapes, whose, arena);
    if (gaps.step == NULL && coverage->n_unknown_gradients > 0)
        gaps.step = arena_printf(arena, "%s has operators with unknown gradients: %s", whose,
                                 coverage->unknown_gradients[0].name);
    if (times->present && !is_known(times->untimed_nodes))
        gaps.times = arena_printf(arena, "%s lacks the number of nodes without a time", whose);
    else if (times->present && times->untimed_nodes != 0)
        gaps.times = arena_printf(arena, "%s has %" PRId64 " node%s without a time", whose,
                                  times->untimed_nodes, text_plural(times->untimed_nodes));
    return gaps;
}

static const char *gap_of(const struct gaps *gaps, const struct limit *limit,
                          const struct cm_result *result) {
    const char *sums = cm_metric_is_of_step(limit->metric, result) ? gaps->step : gaps->sums;
    return sums == NULL && limit->of.timed ? gaps->times : sums;
}

int side_make(const struct cm_result *now, const struct cm_check_options *options,
              struct arena *arena, struct cm_diagnostics *diag, struct side *ret) {
    const struct cm_baseline *baseline = options->baseline;
    const struct cm_baseline_profile *profile =
        baseline == NULL ? NULL : baseline_find(baseline, now->options.batch);
    *ret = (struct side){.now = now, .times = baseline_times(now)};
    if (baseline == NULL)
        ret->no_old = options->no_baseline ? options->no_baseline : "";
    else if (profile == NULL)
        ret->no_old =
            is_known(now->options.batch)
                ? arena_printf(arena, "the baseline has no batch %" PRId64, now->options.batch)
                : "the baseline has a batch, the model has no batch axis";
    ret->spreads = baseline_spreads(now, arena);
    if (ret->spreads == NULL) return diag_no_memory(diag);
    const int status = profile == NULL ? CM_OK : compare(ret, baseline, profile, arena, diag);
    ret->bounds_count = options->allow_incomplete;
    ret->llm = options->llm;
    ret->no_llm = options->no_llm;
    if (status != CM_OK || options->allow_incomplete) return status;
    ret->gaps = find_gaps(now, &ret->times, "the model", arena);
    if (ret->has_old)
        ret->old_gaps = find_gaps(&ret->old, &ret->old_times, "the baseline", arena);
    return CM_OK;
}

static struct range exactly(struct cm_figure figure) {
    return (struct range){figure.value, figure.value, figure.value, figure.upper_bound};
}

static struct cm_figure figure_of(const struct limit *limit, const struct cm_result *result,
                                  size_t module) {
    struct cm_figure figure = {.value = CM_UNKNOWN};
    if (module == CM_NO_INDEX)
        (void)cm_metric_of_total(limit->metric, result, &figure);
    else
        (void)cm_metric_of_module(limit->metric, result, module, &figure);
    return figure;
}

/* Sets the spread of the total (of_module NULL) or of a module, and extends it to include the
 * value, because files are untrusted. Returns false if the spread is unknown. Modelled times
 * have no spread: returns true without a change. */
static bool set_spread(struct range *range, const struct cm_baseline_times *times,
                       const struct cm_baseline_spread *of_module) {
    if (is_known(times->low_ps) && times->low_ps == times->high_ps) return true;
    if (of_module == NULL) {
        range->low = times->low_ps;
        range->high = times->high_ps;
    } else if (of_module->present) {
        range->low = of_module->low_ps;
        range->high = of_module->high_ps;
    } else {
        return false;
    }
    if (!is_known(range->low) || !is_known(range->high)) return false;
    if (range->low > range->value) range->low = range->value;
    if (range->high < range->value) range->high = range->value;
    return true;
}

static void add_spread(const struct side *side, const struct limit *limit, size_t module,
                       struct figure *figure) {
    const struct cm_baseline_spread *of_module =
        module == CM_NO_INDEX ? NULL : &side->spreads[module];
    if (!limit->of.timed || !is_known(figure->now.value)) return;
    if (side->times.doubt[0] != '\0') figure->doubt = side->times.doubt;
    if (!set_spread(&figure->now, &side->times, of_module))
        figure->no_value = "the spread of this time is unknown";
    if (!is_known(figure->old.value)) return;
    if (side->old_times.doubt[0] != '\0') figure->doubt = side->old_times.doubt;
    const struct cm_baseline_spread *of_old = NULL;
    if (module != CM_NO_INDEX) {
        const size_t old = side->diff->modules[side->of_module[module]].old_module;
        if (old == CM_NO_INDEX)
            return; /* the time of a module that did not exist is exactly 0 */
        of_old = &side->old_spreads[old];
    }
    if (set_spread(&figure->old, &side->old_times, of_old)) return;
    figure->no_old = "the baseline has no time spreads of modules: update it";
    figure->old.value = CM_UNKNOWN;
}

struct figure side_figure(const struct side *side, const struct limit *limit, size_t module) {
    struct cm_figure of_llm;
    if (cm_metric_of_llm(limit->metric, side->llm, &of_llm))
        return (struct figure){.now = exactly(of_llm),
                               .old = exactly((struct cm_figure){.value = CM_UNKNOWN}),
                               .no_value = is_known(of_llm.value) ? NULL
                                           : side->no_llm
                                               ? side->no_llm
                                               : "the profile has no value of this metric"};
    struct figure figure = {
        .now = exactly(figure_of(limit, side->now, module)),
        .old = exactly((struct cm_figure){.value = CM_UNKNOWN}),
        .no_value = gap_of(&side->gaps, limit, side->now),
        .no_old = side->no_old,
        .bounds_count = side->bounds_count,
    };
    if (limit->of.timed && !limit->of.modelled && side->times.other_shape != NULL) {
        figure.now.value = CM_UNKNOWN;
        figure.no_value = side->times.other_shape;
    }
    if (limit->of.timed && figure.no_old == NULL) figure.no_old = side->no_old_times;
    if (figure.no_old == NULL) figure.no_old = gap_of(&side->old_gaps, limit, &side->old);
    if (!is_known(figure.now.value) && figure.no_value == NULL)
        figure.no_value = limit->of.modelled ? "there are no modelled times"
                          : limit->of.timed  ? "there are no times"
                                             : "the profile has no value of this metric";
    if (figure.no_old == NULL) {
        size_t old = module;
        if (module != CM_NO_INDEX)
            old = side->diff->modules[side->of_module[module]].old_module;
        struct cm_figure before = {.value = 0}; /* of a new module */
        if (module == CM_NO_INDEX || old != CM_NO_INDEX)
            before = figure_of(limit, &side->old, old);
        figure.old = exactly(before);
        if (!is_known(figure.old.value))
            figure.no_old = "the baseline has no value of this metric";
    }
    add_spread(side, limit, module, &figure);
    return figure;
}
