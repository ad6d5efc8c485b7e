/* SPDX-License-Identifier: Apache-2.0 */
/* Regression gate: each limit at each batch is one case; the worst case is the verdict. */
#include "costmodel/check.h"

#include <stdlib.h>

#include "compare/baseline.h"
#include "compare/judge.h"
#include "compare/limit.h"
#include "compare/side.h"
#include "costmodel/compare.h"
#include "ops/flops/names/convention_names.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/glob.h"
#include "support/text.h"

#include "support/banned.h"

#define MAX_FINDINGS 50 /* listed findings per case */

/* Default limits: no cost increases. int_ops comes last: most conventions include it in flops.
 */
static const struct cm_check_limit default_limits[] = {
    {"params <= +0%", "default"},
    {"macs <= +0%", "default"},
    {"flops <= +0%", "default"},
    {"weight_bytes <= +0%", "default"},
    {"peak_activation_bytes <= +0%", "default"},
    {"int_ops <= +0%", "default"},
};

#define N_DEFAULTS (sizeof(default_limits) / sizeof(default_limits[0]))

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

/* Returns a copy in the arena of the verdict. */
static const char *keep(struct check *check, const char *text) {
    const char *copy = arena_strdup(check->arena, text);
    return copy == NULL ? "" : copy;
}

static int read_limits(struct check *check, const char *convention) {
    const bool given = check->options->n_limits > 0;
    const struct cm_check_limit *from = given ? check->options->limits : default_limits;
    const size_t n_defaults = N_DEFAULTS - !conventions_tell_integers(convention);
    check->n_limits = given ? check->options->n_limits : n_defaults;
    check->limits = arena_array(check->arena, check->n_limits, sizeof(*check->limits));
    if (check->limits == NULL) return diag_no_memory(check->diag);
    for (size_t i = 0; i < check->n_limits; i++) {
        const int status = limit_parse(keep(check, from[i].text), keep(check, from[i].source),
                                       check->arena, check->diag, &check->limits[i]);
        if (status != CM_OK) return status;
    }
    return CM_OK;
}

/* Findings of one case. */
struct gathered {
    struct cm_check_finding *list; /* MAX_FINDINGS */
    size_t n;
    int64_t more;
    enum judgement worst;
};

/* Orders findings: largest regression first, then by value. */
static int by_weight(const void *a, const void *b) {
    const struct cm_check_finding *left = a;
    const struct cm_check_finding *right = b;
    if (left->over != right->over) return left->over > right->over ? -1 : 1;
    const int64_t values[2] = {left->value, right->value};
    if (values[0] != values[1]) return values[0] > values[1] ? -1 : 1;
    return left < right ? -1 : left > right;
}

static void gather(struct gathered *gathered, const struct cm_check_finding *finding,
                   enum judgement judgement) {
    if (judgement > gathered->worst) gathered->worst = judgement;
    if (gathered->n == MAX_FINDINGS) {
        qsort(gathered->list, gathered->n, sizeof(*gathered->list), by_weight);
        struct cm_check_finding *last = &gathered->list[MAX_FINDINGS - 1];
        if (by_weight(finding, last) < 0) *last = *finding;
        gathered->more++;
        return;
    }
    gathered->list[gathered->n++] = *finding;
}

static void judge_modules(const struct side *side, const struct limit *limit,
                          struct gathered *gathered, struct cm_check_case *ret) {
    for (size_t i = 0; i < side->now->n_modules; i++) {
        const char *path = side->now->modules[i].path;
        if (path[0] == '\0' || !glob_matches(limit->modules, path)) continue;
        const struct figure figure = side_figure(side, limit, i);
        struct cm_check_finding finding = {.path = path};
        const enum judgement judgement = judge(limit, &figure, &finding);
        ret->compared++;
        if (judgement != JUDGED_PASS) gather(gathered, &finding, judgement);
    }
}

static void judge_total(const struct side *side, const struct limit *limit,
                        struct gathered *gathered, struct cm_check_case *ret) {
    const struct figure figure = side_figure(side, limit, CM_NO_INDEX);
    struct cm_check_finding finding = {.path = ""};
    const enum judgement judgement = judge(limit, &figure, &finding);
    ret->compared = 1;
    gather(gathered, &finding, judgement);
}

/* Adds a finding for a limit that applies to nothing, so that it does not count as passed. */
static void judge_nothing(const char *because, struct gathered *gathered) {
    const struct cm_check_finding finding = {
        .path = "",
        .state = judgement_name(JUDGED_NOT_COMPARED),
        .value = CM_UNKNOWN,
        .old = CM_UNKNOWN,
        .bound = CM_UNKNOWN,
        .over = CM_UNKNOWN,
        .because = because,
    };
    gather(gathered, &finding, JUDGED_NOT_COMPARED);
}

static const char *const changes[] = {
    [CM_DIFF_SAME] = "changed", [CM_DIFF_CHANGED] = "changed", [CM_DIFF_RENAMED] = "renamed",
    [CM_DIFF_ADDED] = "added",  [CM_DIFF_REMOVED] = "removed",
};

static struct cm_check_blame blame_one(struct check *check, const struct side *side,
                                       const struct cm_blame *blame, size_t metric) {
    const struct cm_diff_module *pair = &side->diff->modules[blame->module];
    const struct cm_change change = cm_diff_of_module(side->diff, blame->module, metric);
    const bool gone = pair->new_module == CM_NO_INDEX;
    const bool fresh = pair->old_module == CM_NO_INDEX;
    const char *was = fresh ? "" : side->old.modules[pair->old_module].path;
    return (struct cm_check_blame){
        .path = keep(check, gone ? was : side->now->modules[pair->new_module].path),
        .was = keep(check, was),
        .change = changes[pair->status],
        .value = change.new_value,
        .old = change.old_value,
        .upper_bound = change.new_upper_bound,
        .old_upper_bound = change.old_upper_bound,
        .by = blame->difference,
    };
}

/* Lists the modules that caused the regression of a limit on the whole model. */
static int list_blame(struct check *check, const struct side *side, const struct limit *limit,
                      struct cm_check_case *ret) {
    const size_t top = check->options->top;
    if (side->diff == NULL || !limit->of.of_modules || side->no_old != NULL) return CM_OK;
    struct cm_blame *all = arena_array(check->arena, side->diff->n_modules, sizeof(*all));
    struct cm_check_blame *list = arena_array(check->arena, top, sizeof(*list));
    if (all == NULL || list == NULL) return diag_no_memory(check->diag);
    const size_t n = cm_diff_blame(side->diff, limit->metric, -1, all);
    for (size_t i = 0; i < n; i++) {
        if (!is_known(all[i].difference) || all[i].difference <= 0) continue;
        if (ret->n_blame < top)
            list[ret->n_blame++] = blame_one(check, side, &all[i], limit->metric);
        else
            ret->more_blame++;
    }
    ret->blame = list;
    return CM_OK;
}

/* Copies paths and reasons, because the verdict outlives results and sides. */
static void keep_findings(struct check *check, struct gathered *gathered) {
    for (size_t i = 0; i < gathered->n; i++) {
        gathered->list[i].path = keep(check, gathered->list[i].path);
        gathered->list[i].because = keep(check, gathered->list[i].because);
    }
}

static struct cm_check_case case_of(const struct limit *limit, int64_t batch) {
    return (struct cm_check_case){
        .limit = limit->text,
        .source = limit->source,
        .metric = limit->of.key,
        .unit = units[limit->of.unit],
        .batch = batch,
    };
}

static int gathered_init(struct check *check, struct gathered *ret) {
    *ret = (struct gathered){.worst = JUDGED_PASS};
    ret->list = arena_array(check->arena, MAX_FINDINGS, sizeof(*ret->list));
    return ret->list == NULL ? diag_no_memory(check->diag) : CM_OK;
}

static void take_findings(struct check *check, struct gathered *gathered,
                          struct cm_check_case *ret) {
    qsort(gathered->list, gathered->n, sizeof(*gathered->list), by_weight);
    keep_findings(check, gathered);
    ret->state = judgement_name(gathered->worst);
    ret->n_findings = gathered->n;
    ret->findings = gathered->list;
    ret->more_findings = gathered->more;
}

static int make_case(struct check *check, const struct side *side, const struct limit *limit,
                     struct cm_check_case *ret) {
    struct gathered gathered;
    const bool total = limit->modules[0] == '\0';
    const int status = gathered_init(check, &gathered);
    if (status != CM_OK) return status;
    *ret = case_of(limit, side->now->options.batch);
    if (total)
        judge_total(side, limit, &gathered, ret);
    else
        judge_modules(side, limit, &gathered, ret);
    if (ret->compared == 0)
        judge_nothing(arena_printf(check->arena, "no module matches '%s'", limit->modules),
                      &gathered);
    take_findings(check, &gathered, ret);
    if (gathered.worst != JUDGED_REGRESSION || !total) return CM_OK;
    return list_blame(check, side, limit, ret);
}

static void count_case(struct cm_verdict *verdict, const struct cm_check_case *case_) {
    verdict->passed += text_equal(case_->state, "pass");
    verdict->regressions += text_equal(case_->state, "regression");
    verdict->ambiguous += text_equal(case_->state, "ambiguous");
    verdict->not_compared += text_equal(case_->state, "not-compared");
}

/* Returns true if the limit applies: without a batch it applies to each requested batch. */
static bool is_tried(const struct limit *limit, int64_t batch, bool only_named) {
    return limit->batch == CM_UNKNOWN ? !only_named : limit->batch == batch;
}

static int check_side(struct check *check, const struct side *side, bool only_named,
                      struct cm_check_case *cases, bool *is_used) {
    for (size_t i = 0; i < check->n_limits; i++) {
        const struct limit *limit = &check->limits[i];
        if (!is_tried(limit, side->now->options.batch, only_named)) continue;
        is_used[i] = true;
        const int status = make_case(check, side, limit, &cases[check->verdict->n_cases]);
        if (status != CM_OK) return status;
        const struct cm_check_case *made = &cases[check->verdict->n_cases++];
        count_case(check->verdict, made);
        check->can_accept |= text_equal(made->state, "regression") && limit_is_relative(limit);
    }
    return CM_OK;
}

static int check_result(struct check *check, const struct cm_result *result, bool only_named,
                        struct cm_check_case *cases, bool *is_used) {
    struct side side = {.diff = NULL};
    struct arena *arena = arena_new("side", 0);
    if (arena == NULL) return diag_no_memory(check->diag);
    int status = side_make(result, check->options, arena, check->diag, &side);
    if (status == CM_OK) status = check_side(check, &side, only_named, cases, is_used);
    side_free(&side);
    status = arena_end(arena, status);
    return diag_finish(check->diag, status);
}

/* Makes the case of a limit whose batch was not profiled. */
static int make_idle_case(struct check *check, const struct limit *limit,
                          struct cm_check_case *ret) {
    struct gathered gathered;
    const int status = gathered_init(check, &gathered);
    if (status != CM_OK) return status;
    *ret = case_of(limit, limit->batch);
    ret->compared = limit->modules[0] == '\0';
    judge_nothing("this batch was not profiled", &gathered);
    take_findings(check, &gathered, ret);
    return CM_OK;
}

static int check_idle(struct check *check, struct cm_check_case *cases, const bool *is_used) {
    for (size_t i = 0; i < check->n_limits; i++) {
        if (is_used[i]) continue;
        struct cm_check_case *made = &cases[check->verdict->n_cases];
        const int status = make_idle_case(check, &check->limits[i], made);
        if (status != CM_OK) return status;
        check->verdict->n_cases++;
        count_case(check->verdict, made);
    }
    return CM_OK;
}

static bool is_profiled(const struct cm_result *const *results, size_t n, int64_t batch) {
    for (size_t i = 0; i < n; i++)
        if (results[i]->options.batch == batch) return true;
    return false;
}

/* Lists the batches of the baseline that were not profiled. */
static int list_unchecked(struct check *check, const struct cm_result *const *results,
                          size_t n) {
    const struct cm_baseline *baseline = check->options->baseline;
    if (baseline == NULL) return CM_OK;
    size_t *list = arena_array(check->arena, baseline->n_profiles, sizeof(*list));
    if (list == NULL) return diag_no_memory(check->diag);
    for (size_t i = 0; i < baseline->n_profiles; i++) {
        const int64_t batch = baseline->profiles[i].figures.options.batch;
        if (is_known(batch) && !is_profiled(results, n, batch))
            list[check->verdict->n_unchecked++] = (size_t)batch;
    }
    check->verdict->unchecked = list;
    return CM_OK;
}

static const char *worst_state(const struct cm_verdict *verdict) {
    return judgement_name(verdict->regressions > 0    ? JUDGED_REGRESSION
                          : verdict->not_compared > 0 ? JUDGED_NOT_COMPARED
                          : verdict->ambiguous > 0    ? JUDGED_AMBIGUOUS
                                                      : JUDGED_PASS);
}

static const char *say_times(struct check *check, const struct cm_result *result) {
    const struct cm_baseline_times times = baseline_times(result);
    if (!times.present) return "";
    const char *text = arena_printf(check->arena, "%s, %s", times.state, times.device);
    return text == NULL ? "" : text;
}

static int check_all(struct check *check, const struct cm_result *const *results, size_t n) {
    struct cm_verdict *verdict = check->verdict;
    const struct cm_baseline *baseline = check->options->baseline;
    int status = read_limits(check, results[0]->options.convention);
    if (status != CM_OK) return status;
    bool *is_used = arena_array(check->arena, check->n_limits, sizeof(*is_used));
    const int64_t n_cases = checked_mul((int64_t)n + 1, (int64_t)check->n_limits);
    struct cm_check_case *cases =
        is_known(n_cases) ? arena_array(check->arena, (size_t)n_cases, sizeof(*cases)) : NULL;
    if (is_used == NULL || cases == NULL) return diag_no_memory(check->diag);
    verdict->model = keep(check, results[0]->model.path);
    verdict->convention = keep(check, results[0]->options.convention);
    verdict->times = say_times(check, results[0]);
    verdict->fail_ambiguous = check->options->fail_ambiguous;
    verdict->baseline = baseline == NULL ? "" : keep(check, baseline->model);
    verdict->accept = "";
    verdict->cases = cases;
    for (size_t i = 0; i < n && status == CM_OK; i++)
        status =
            check_result(check, results[i], i >= n - check->options->n_beside, cases, is_used);
    if (status == CM_OK) status = check_idle(check, cases, is_used);
    if (status == CM_OK) status = list_unchecked(check, results, n);
    verdict->state = worst_state(verdict);
    if (verdict->regressions == 0 || check->can_accept)
        verdict->accept = keep(check, check->options->accept);
    return status;
}

int cm_check_limit_batch(const struct cm_check_limit *limit, struct cm_diagnostics *diagnostics,
                         int64_t *ret_batch) {
    struct limit parsed;
    struct arena *arena = arena_new("limit", 0);
    if (arena == NULL) return diag_no_memory(diagnostics);
    int status = limit_parse(limit->text, limit->source, arena, diagnostics, &parsed);
    status = arena_end(arena, status);
    if (status == CM_OK) *ret_batch = parsed.batch;
    return diag_finish(diagnostics, status);
}

int cm_check(const struct cm_result *const *results, size_t n,
             const struct cm_check_options *options, struct cm_diagnostics *diagnostics,
             struct cm_verdict **ret_verdict) {
    struct check check = {.options = options, .diag = diagnostics};
    check.arena = arena_new("verdict", 0);
    if (check.arena == NULL) return diag_no_memory(diagnostics);
    check.verdict = arena_alloc(check.arena, sizeof(*check.verdict));
    int status = check.verdict == NULL ? CM_NO_MEMORY : check_all(&check, results, n);
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
