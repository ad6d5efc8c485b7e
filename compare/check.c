/* SPDX-License-Identifier: Apache-2.0 */
/* Regression gate: each limit at each batch is one case; the worst case is the verdict. */
#include "costmodel/check.h"

#include "compare/baseline.h"
#include "compare/blame.h"
#include "compare/judge.h"
#include "compare/limit.h"
#include "compare/side.h"
#include "costmodel/compare.h"
#include "ops/flops/names/convention_names.h"
#include "support/arena.h"
#include "support/arguments.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/glob.h"
#include "support/text.h"

#define MAX_FINDINGS 50 /* listed findings per case */

/* Default limits: no cost may increase. The last two apply to some checks only (is_default). */
static const struct cm_check_limit default_limits[] = {
    {"params <= +0%", "default"},
    {"macs <= +0%", "default"},
    {"flops <= +0%", "default"},
    {"weight_bytes <= +0%", "default"},
    {"peak_activation_bytes <= +0%", "default"},
    {"bytes_read <= +0%", "default"},
    {"bytes_written <= +0%", "default"},
    {"int_ops <= +0%", "default"},
    {"latency <= +0%", "default"},
};

#define N_DEFAULTS (sizeof(default_limits) / sizeof(default_limits[0]))

/* int_ops is part of flops by most conventions; only modelled times are free of noise. */
static bool is_default(const struct cm_check_limit *limit, const struct cm_result *result) {
    if (strncmp(limit->text, "int_ops", 7) == 0)
        return conventions_separate_integers(result->options.convention);
    if (strncmp(limit->text, "latency", 7) == 0)
        return text_equal(baseline_times(result).state, "modelled");
    return true;
}

struct check {
    const struct cm_check_options *options;
    struct arena *arena; /* of the verdict */
    struct cm_diagnostics *diag;
    size_t n_limits;
    struct limit *limits;
    bool can_accept; /* a new baseline would let a regression pass */
    struct cm_verdict *verdict;
};

static const char *const units[] = {
    [CM_UNIT_ELEMENTS] = "elements", [CM_UNIT_MACS] = "MACs", [CM_UNIT_FLOPS] = "flops",
    [CM_UNIT_BYTES] = "bytes",       [CM_UNIT_PS] = "ps",
};

/* Returns a copy in the arena of the verdict; "" if out of memory. */
static const char *keep(struct check *check, const char *text) {
    const char *copy = arena_strdup(check->arena, text);
    return copy == NULL ? "" : copy;
}

static int read_limits(struct check *check, const struct cm_result *result) {
    const bool given = check->options->n_limits > 0;
    const struct cm_check_limit *from = given ? check->options->limits : default_limits;
    const size_t n = given ? check->options->n_limits : N_DEFAULTS;
    check->limits = arena_array(check->arena, n, sizeof(*check->limits));
    if (check->limits == NULL) return diag_no_memory(check->diag);
    for (size_t i = 0; i < n; i++) {
        if (!given && !is_default(&from[i], result)) continue;
        const int status =
            limit_parse(keep(check, from[i].text), keep(check, from[i].source), check->arena,
                        check->diag, &check->limits[check->n_limits++]);
        if (status != CM_OK) return status;
    }
    return CM_OK;
}

/* The findings of a case, largest regression first. */
struct gathered {
    struct cm_check_finding list[MAX_FINDINGS];
    size_t n;
    int64_t more;
    enum judgement worst;
    enum judgement besides; /* worst without regressions */
};

/* Orders findings: largest regression first, then by value. */
static int compare_weights(const struct cm_check_finding *left,
                           const struct cm_check_finding *right) {
    if (left->over != right->over) return left->over > right->over ? -1 : 1;
    return (left->value < right->value) - (left->value > right->value);
}

/* Inserts a finding behind those of equal weight; a full list drops its last one. */
static void gather(struct gathered *gathered, const struct cm_check_finding *finding,
                   enum judgement judgement) {
    struct cm_check_finding *list = gathered->list;
    size_t at = gathered->n;
    if (judgement > gathered->worst) gathered->worst = judgement;
    if (judgement > gathered->besides && judgement != JUDGED_REGRESSION)
        gathered->besides = judgement;
    if (at == MAX_FINDINGS) {
        gathered->more++;
        if (compare_weights(finding, &list[--at]) >= 0) return;
    } else {
        gathered->n++;
    }
    for (; at > 0 && compare_weights(finding, &list[at - 1]) < 0; at--) list[at] = list[at - 1];
    list[at] = *finding;
}

/* Adds a not-compared finding, so that a limit that matches no value does not pass. */
static void judge_nothing(const char *because, struct gathered *gathered) {
    const struct cm_check_finding finding = {
        .path = "",
        .state = judgement_name(JUDGED_NOT_COMPARED),
        .value = CM_UNKNOWN,
        .old = CM_UNKNOWN,
        .allowed = CM_UNKNOWN,
        .over = CM_UNKNOWN,
        .because = because,
    };
    gather(gathered, &finding, JUDGED_NOT_COMPARED);
}

static const char *const changes[] = {
    [CM_DIFF_SAME] = "changed", [CM_DIFF_CHANGED] = "changed", [CM_DIFF_RENAMED] = "renamed",
    [CM_DIFF_ADDED] = "added",  [CM_DIFF_REMOVED] = "removed",
};

/* Lists the modules that caused the regression of a limit on the whole model. */
static void list_blame(struct check *check, const struct side *side, const struct limit *limit,
                       struct cm_check_case *ret) {
    const size_t top = check->options->top;
    if (side->diff == NULL || !limit->of.of_modules || side->no_old != NULL) return;
    struct cm_blame *all = arena_array(check->arena, side->diff->n_modules, sizeof(*all));
    struct cm_check_blame *list = arena_array(check->arena, top, sizeof(*list));
    if (all == NULL || list == NULL) return;
    size_t n = cm_diff_blame(side->diff, limit->metric, -1, all);
    if (limit->of.is_sum) n = blame_roll_up(side->diff, n, top, check->arena, all);
    for (size_t i = 0; i < n; i++) {
        if (!is_known(all[i].difference) || all[i].difference <= 0) continue;
        if (ret->n_blame == top) {
            ret->more_blame++;
            continue;
        }
        const struct cm_diff_module *pair = &side->diff->modules[all[i].module];
        const struct cm_change change =
            cm_diff_of_module(side->diff, all[i].module, limit->metric);
        const bool gone = pair->new_module == CM_NO_INDEX;
        const bool fresh = pair->old_module == CM_NO_INDEX;
        const char *was = fresh ? "" : side->old.modules[pair->old_module].path;
        list[ret->n_blame++] = (struct cm_check_blame){
            .path = keep(check, gone ? was : side->now->modules[pair->new_module].path),
            .was = keep(check, was),
            .change = changes[pair->status],
            .value = change.new_value,
            .old = change.old_value,
            .upper_bound = change.new_upper_bound,
            .old_upper_bound = change.old_upper_bound,
            .by = all[i].difference,
        };
    }
    ret->blame = list;
}

static void begin_case(const struct limit *limit, int64_t batch, struct gathered *gathered,
                       struct cm_check_case *ret) {
    *gathered = (struct gathered){.worst = JUDGED_PASS, .besides = JUDGED_PASS};
    *ret = (struct cm_check_case){
        .limit = limit->text,
        .source = limit->source,
        .metric = limit->of.key,
        .unit = units[limit->of.unit],
        .batch = batch,
    };
}

/* Marks the regressions of a case that a waiver accepts; names the waiver also if it has
 * expired. */
static void waive(struct check *check, struct gathered *gathered,
                  const struct cm_check_case *of) {
    const struct cm_check_waiver *waiver = NULL;
    for (size_t i = 0; i < check->options->n_waivers; i++) {
        const struct cm_check_waiver *next = &check->options->waivers[i];
        if (!text_equal(next->limit, of->limit) && !text_equal(next->limit, of->metric))
            continue;
        if (waiver == NULL || waiver->is_expired) waiver = next;
    }
    if (waiver == NULL || gathered->worst != JUDGED_REGRESSION) return;
    const char *because =
        waiver->is_expired
            ? arena_printf(check->arena, "the waiver has expired, it was until %s: %s",
                           waiver->until, waiver->reason)
            : arena_printf(check->arena, "waived until %s: %s", waiver->until, waiver->reason);
    for (size_t i = 0; i < gathered->n && because != NULL; i++) {
        struct cm_check_finding *finding = &gathered->list[i];
        if (!text_equal(finding->state, judgement_name(JUDGED_REGRESSION))) continue;
        finding->because = because;
        if (!waiver->is_expired) finding->state = judgement_name(JUDGED_WAIVED);
    }
    if (!waiver->is_expired)
        gathered->worst = gathered->besides > JUDGED_WAIVED ? gathered->besides : JUDGED_WAIVED;
}

/* Copies the findings into the case and counts the case in the verdict. Copies paths and
 * reasons, because the verdict outlives results and sides. */
static void end_case(struct check *check, struct gathered *gathered,
                     struct cm_check_case *ret) {
    struct cm_verdict *verdict = check->verdict;
    waive(check, gathered, ret);
    for (size_t i = 0; i < gathered->n; i++) {
        gathered->list[i].path = keep(check, gathered->list[i].path);
        gathered->list[i].because = keep(check, gathered->list[i].because);
    }
    ret->state = judgement_name(gathered->worst);
    ret->n_findings = gathered->n;
    ret->findings =
        arena_copy(check->arena, gathered->list, gathered->n * sizeof(*gathered->list));
    ret->more_findings = gathered->more;
    verdict->n_cases++;
    verdict->passed += gathered->worst == JUDGED_PASS;
    verdict->waived += gathered->worst == JUDGED_WAIVED;
    verdict->regressions += gathered->worst == JUDGED_REGRESSION;
    verdict->ambiguous += gathered->worst == JUDGED_AMBIGUOUS;
    verdict->not_compared += gathered->worst == JUDGED_NOT_COMPARED;
}

/* Judges the whole model, or each module that the pattern of the limit matches. */
static void make_case(struct check *check, const struct side *side, const struct limit *limit,
                      struct cm_check_case *ret) {
    const bool total = limit->modules[0] == '\0';
    const size_t n = total ? 1 : side->now->n_modules;
    struct gathered gathered;
    begin_case(limit, side->now->options.batch, &gathered, ret);
    for (size_t i = 0; i < n; i++) {
        const char *path = total ? "" : side->now->modules[i].path;
        if (!total && (path[0] == '\0' || !glob_matches(limit->modules, path))) continue;
        const struct figure figure = side_figure(side, limit, total ? CM_NO_INDEX : i);
        struct cm_check_finding finding = {.path = path};
        const enum judgement judgement = judge(limit, &figure, &finding);
        ret->compared++;
        if (total || judgement != JUDGED_PASS) gather(&gathered, &finding, judgement);
    }
    if (ret->compared == 0)
        judge_nothing(arena_printf(check->arena, "no module matches '%s'", limit->modules),
                      &gathered);
    const bool is_over = gathered.worst == JUDGED_REGRESSION;
    end_case(check, &gathered, ret);
    if (!is_over) return;
    check->can_accept |= limit_is_relative(limit);
    if (total) list_blame(check, side, limit, ret);
}

/* Makes a case that is not compared if the times of the profile were requested, but their
 * backend is unusable: a check without them is not the one that was asked for. */
static void check_times(struct check *check, const struct cm_result *result,
                        struct cm_check_case *ret) {
    const struct limit times = {.text = "the backend is usable", .source = "", .of.key = ""};
    struct gathered gathered;
    if (!cm_result_lacks_times(result)) return;
    begin_case(&times, result->options.batch, &gathered, ret);
    ret->compared = 1;
    judge_nothing(result->measure->problem, &gathered);
    end_case(check, &gathered, ret);
}

/* Makes the cases of one profile. Limits without a batch are skipped if `only_named`. */
static int check_result(struct check *check, const struct cm_result *result, bool only_named,
                        struct cm_check_case *cases, bool *is_used) {
    const int64_t batch = result->options.batch;
    struct side side = {.diff = NULL};
    struct arena *arena = arena_new("side", 0);
    if (arena == NULL) return diag_no_memory(check->diag);
    check_times(check, result, &cases[check->verdict->n_cases]);
    int status = side_make(result, check->options, arena, check->diag, &side);
    check->verdict->is_outdated |= side.is_outdated;
    for (size_t i = 0; i < check->n_limits && status == CM_OK; i++) {
        const struct limit *limit = &check->limits[i];
        if (limit->batch == CM_UNKNOWN ? only_named : limit->batch != batch) continue;
        is_used[i] = true;
        make_case(check, &side, limit, &cases[check->verdict->n_cases]);
    }
    cm_diff_free(side.diff);
    status = arena_end(arena, status);
    return diag_finish(check->diag, status);
}

/* Makes the cases of limits whose batch was not profiled. */
static void check_idle(struct check *check, struct cm_check_case *cases, const bool *is_used) {
    for (size_t i = 0; i < check->n_limits; i++) {
        const struct limit *limit = &check->limits[i];
        struct cm_check_case *made = &cases[check->verdict->n_cases];
        struct gathered gathered;
        if (is_used[i]) continue;
        begin_case(limit, limit->batch, &gathered, made);
        made->compared = limit->modules[0] == '\0';
        judge_nothing("this batch was not profiled", &gathered);
        end_case(check, &gathered, made);
    }
}

/* Lists the batches of the baseline that were not profiled. */
static void list_unchecked(struct check *check, const struct cm_result *const *results,
                           size_t n) {
    const struct cm_baseline *baseline = check->options->baseline;
    if (baseline == NULL) return;
    size_t *list = arena_array(check->arena, baseline->n_profiles, sizeof(*list));
    if (list == NULL) return;
    for (size_t i = 0; i < baseline->n_profiles; i++) {
        const int64_t batch = baseline->profiles[i].figures.options.batch;
        size_t k = 0;
        while (k < n && results[k]->options.batch != batch) k++;
        if (is_known(batch) && k == n) list[check->verdict->n_unchecked++] = (size_t)batch;
    }
    check->verdict->unchecked = list;
}

static const char *worst_state(const struct cm_verdict *verdict) {
    return judgement_name(verdict->regressions > 0    ? JUDGED_REGRESSION
                          : verdict->not_compared > 0 ? JUDGED_NOT_COMPARED
                          : verdict->ambiguous > 0    ? JUDGED_AMBIGUOUS
                          : verdict->waived > 0       ? JUDGED_WAIVED
                                                      : JUDGED_PASS);
}

static int check_all(struct check *check, const struct cm_result *const *results, size_t n) {
    struct cm_verdict *verdict = check->verdict;
    const struct cm_baseline *baseline = check->options->baseline;
    int status = read_limits(check, results[0]);
    if (status != CM_OK) return status;
    bool *is_used = arena_array(check->arena, check->n_limits, sizeof(*is_used));
    const int64_t n_cases = checked_mul((int64_t)n + 1, (int64_t)check->n_limits + 1);
    struct cm_check_case *cases =
        is_known(n_cases) ? arena_array(check->arena, (size_t)n_cases, sizeof(*cases)) : NULL;
    if (is_used == NULL || cases == NULL) return diag_no_memory(check->diag);
    verdict->model = keep(check, results[0]->model.path);
    verdict->convention = keep(check, results[0]->options.convention);
    verdict->precision =
        cm_result_converted(results[0]) ? keep(check, results[0]->options.precision) : "";
    const struct cm_baseline_times times = baseline_times(results[0]);
    const char *comma = times.device[0] == '\0' ? "" : ", ";
    verdict->times =
        times.present ? arena_printf(check->arena, "%s%s%s", times.state, comma, times.device)
                      : "";
    verdict->fail_ambiguous = check->options->fail_ambiguous;
    verdict->baseline = baseline == NULL ? "" : keep(check, baseline->model);
    if (check->options->commit != NULL) verdict->commit = keep(check, check->options->commit);
    if (baseline != NULL && baseline->commit != NULL)
        verdict->baseline_commit = keep(check, baseline->commit);
    verdict->accept = "";
    verdict->cases = cases;
    for (size_t i = 0; i < n && status == CM_OK; i++)
        status = check_result(check, results[i], i >= n - check->options->n_extra_profiles,
                              cases, is_used);
    if (status != CM_OK) return status;
    check_idle(check, cases, is_used);
    list_unchecked(check, results, n);
    verdict->state = worst_state(verdict);
    if (verdict->regressions == 0 || check->can_accept)
        verdict->accept = keep(check, check->options->accept ? check->options->accept : "");
    return CM_OK;
}

/* Parses a limit. Its texts are not valid afterwards. */
static int parse_alone(const struct cm_check_limit *limit, bool others,
                       struct cm_diagnostics *diagnostics, struct limit *ret) {
    int status = arguments_check(ARGUMENT_cm_check_limit, limit, 1, others, diagnostics);
    if (status < 0) return status;
    struct arena *arena = arena_new("limit", 0);
    if (arena == NULL) return diag_no_memory(diagnostics);
    status = limit_parse(limit->text, limit->source, arena, diagnostics, ret);
    return diag_finish(diagnostics, arena_end(arena, status));
}

int cm_check_limit_batch(const struct cm_check_limit *limit, struct cm_diagnostics *diagnostics,
                         int64_t *ret_batch) {
    struct limit parsed;
    const int status = parse_alone(limit, ret_batch, diagnostics, &parsed);
    if (status == CM_OK) *ret_batch = parsed.batch;
    return status;
}

int cm_check_limit_metric(const struct cm_check_limit *limit,
                          struct cm_diagnostics *diagnostics, size_t *ret_metric) {
    struct limit parsed;
    const int status = parse_alone(limit, ret_metric, diagnostics, &parsed);
    if (status == CM_OK) *ret_metric = parsed.metric;
    return status;
}

int cm_check(const struct cm_result *const *results, size_t n,
             const struct cm_check_options *options, struct cm_diagnostics *diagnostics,
             struct cm_verdict **ret_verdict) {
    options =
        ARGUMENTS_TAKE(cm_check_options, options, results && n > 0 && ret_verdict, diagnostics);
    if (options == NULL) return CM_USAGE;
    int status = arguments_check(ARGUMENT_POINTER, results, n, true, diagnostics);
    if (status < 0) return status;
    struct check check = {.options = options, .diag = diagnostics};
    check.arena = arena_new("verdict", 0);
    if (check.arena == NULL) return diag_no_memory(diagnostics);
    check.verdict = arena_alloc(check.arena, sizeof(*check.verdict));
    status = check.verdict == NULL ? CM_NO_MEMORY : check_all(&check, results, n);
    if (status == CM_NO_MEMORY || arena_failed(check.arena))
        status = diag_no_memory(diagnostics);
    if (status != CM_OK) {
        arena_free(check.arena);
        return status;
    }
    check.verdict->arena = check.arena;
    *ret_verdict = check.verdict;
    return CM_OK;
}

int cm_verdict_join(const struct cm_verdict *const *verdicts, size_t n,
                    struct cm_diagnostics *diagnostics, struct cm_verdict **ret_verdict) {
    const int status = arguments_check(ARGUMENT_POINTER, verdicts, n,
                                       verdicts && n > 0 && ret_verdict, diagnostics);
    if (status < 0) return status;
    struct arena *arena = arena_new("verdicts", 0);
    if (arena == NULL) return diag_no_memory(diagnostics);
    struct cm_verdict *joined = arena_alloc(arena, sizeof(*joined));
    struct cm_verdict *models = arena_array(arena, n, sizeof(*models));
    if (joined == NULL || models == NULL) {
        arena_free(arena);
        return diag_no_memory(diagnostics);
    }
    *joined = (struct cm_verdict){.model = "",
                                  .convention = "",
                                  .precision = "",
                                  .baseline = "",
                                  .times = "",
                                  .accept = "",
                                  .commit = verdicts[0]->commit,
                                  .n_models = n,
                                  .models = models,
                                  .arena = arena};
    for (size_t i = 0; i < n; i++) {
        const struct cm_verdict *one = verdicts[i];
        if (one->n_models > 0) {
            arena_free(arena);
            return diag_error(diagnostics, DIAG_USAGE, "verdict %zu is of several models", i);
        }
        models[i] = *one;
        joined->passed += one->passed;
        joined->waived += one->waived;
        joined->regressions += one->regressions;
        joined->ambiguous += one->ambiguous;
        joined->not_compared += one->not_compared;
        joined->fail_ambiguous |= one->fail_ambiguous;
        joined->is_outdated |= one->is_outdated;
    }
    joined->state = worst_state(joined);
    *ret_verdict = joined;
    return CM_OK;
}
