/* SPDX-License-Identifier: Apache-2.0 */
/* A baseline is the part of profiles that is kept in a repository: totals and one line per
 * module. The file has the path of each module instead of its parent's index, which would
 * change with every added module; the module tree is rebuilt from the paths.
 * cm_baseline_compare finds the costs that decreased or increased between two baselines. */
#include "compare/baseline.h"

#include <string.h>

#include "compare/conditions.h"
#include "compare/limit.h"
#include "costmodel/compare.h"
#include "ops/flops/names/convention_names.h"
#include "report/table/columns.h"
#include "support/arena.h"
#include "support/arguments.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/glob.h"
#include "support/map.h"
#include "support/system.h"
#include "support/text.h"

#define MAX_SKIPPED 64 /* number of ancestors that find_parent looks up */

const struct cm_baseline_profile *baseline_find(const struct cm_baseline *baseline,
                                                int64_t batch) {
    for (size_t i = 0; i < baseline->n_profiles; i++)
        if (baseline->profiles[i].figures.options.batch == batch) return &baseline->profiles[i];
    return NULL;
}

struct tree {
    struct arena *arena;
    struct cm_diagnostics *diag;
    struct map map; /* path -> index */
    struct cm_module *modules;
    size_t n;
};

/* Returns the nearest preceding ancestor: "a.b" for "a.b.c", else "a", else the root (0). */
static size_t find_parent(struct tree *tree, const char *path) {
    char *above = arena_strdup(tree->arena, path);
    for (int i = 0; above != NULL && i < MAX_SKIPPED; i++) {
        char *dot = strrchr(above, '.');
        if (dot == NULL) return 0;
        *dot = '\0';
        const uint32_t found = map_get(&tree->map, above);
        if (found != MAP_NONE) return found;
    }
    return 0;
}

static int place_module(struct tree *tree, const struct cm_module *from) {
    struct cm_module *module = &tree->modules[tree->n];
    uint32_t existing = MAP_NONE;
    if ((from->path[0] == '\0') != (tree->n == 0))
        return diag_error(tree->diag, DIAG_FORMAT,
                          "modules: the root must be the first module of its batch");
    if (map_add(&tree->map, from->path, (uint32_t)tree->n, &existing) != CM_OK)
        return diag_no_memory(tree->diag);
    if (existing != MAP_NONE)
        return diag_error(tree->diag, DIAG_FORMAT, "modules: duplicate path '%.200s'",
                          from->path);
    const size_t parent = tree->n == 0 ? CM_NO_INDEX : find_parent(tree, from->path);
    const char *dot = strrchr(from->path, '.');
    *module = *from;
    module->name = dot == NULL ? from->path : dot + 1;
    module->parent = parent;
    module->depth = tree->n == 0 ? 0 : tree->modules[parent].depth + 1;
    tree->n++;
    return CM_OK;
}

/* Builds the tree of one batch. Children are in file order. */
static int make_tree(const struct cm_baseline *baseline, int64_t batch, struct tree *tree) {
    size_t n = 0;
    for (size_t i = 0; i < baseline->n_modules; i++) n += baseline->modules[i].batch == batch;
    if (n >= MAP_NONE)
        return diag_error(tree->diag, DIAG_LIMIT, "at most %u modules are supported, got %zu",
                          MAP_NONE - 1, n);
    tree->modules = arena_array(tree->arena, n, sizeof(*tree->modules));
    if (tree->modules == NULL) return diag_no_memory(tree->diag);
    map_init(&tree->map, tree->arena);
    for (size_t i = 0; i < baseline->n_modules; i++) {
        if (baseline->modules[i].batch != batch) continue;
        const int status = place_module(tree, &baseline->modules[i].module);
        if (status != CM_OK) return status;
    }
    if (tree->n == 0)
        return diag_error(tree->diag, DIAG_FORMAT, "modules: the root is missing");
    /* count the children, allocate their lists, then fill these */
    struct cm_module *modules = tree->modules;
    size_t **children = arena_array(tree->arena, tree->n, sizeof(*children));
    if (children == NULL) return diag_no_memory(tree->diag);
    for (size_t i = 1; i < tree->n; i++) modules[modules[i].parent].n_children++;
    for (size_t i = 0; i < tree->n; i++) {
        children[i] = arena_array(tree->arena, modules[i].n_children, sizeof(**children));
        if (children[i] == NULL) return diag_no_memory(tree->diag);
        modules[i].children = children[i];
        modules[i].n_children = 0;
    }
    for (size_t i = 1; i < tree->n; i++) {
        struct cm_module *parent = &modules[modules[i].parent];
        children[modules[i].parent][parent->n_children++] = i;
    }
    return CM_OK;
}

int baseline_result(const struct cm_baseline *baseline,
                    const struct cm_baseline_profile *profile, struct arena *arena,
                    struct cm_diagnostics *diag, struct cm_result *ret) {
    struct tree tree = {.arena = arena, .diag = diag};
    const int status = make_tree(baseline, profile->figures.options.batch, &tree);
    if (status != CM_OK) return status;
    *ret = profile->figures;
    ret->model.path = baseline->model;
    ret->model.producer = "";
    ret->memory.peak_node = CM_NO_INDEX;
    ret->n_modules = tree.n;
    ret->modules = tree.modules;
    if (!profile->times.present) return CM_OK;
    struct cm_measure *measure = arena_alloc(arena, sizeof(*measure));
    if (measure == NULL) return diag_no_memory(diag);
    *measure = (struct cm_measure){
        .backend = "",
        .problem = "",
        .modelled = text_equal(profile->times.state, "modelled"),
        .invented = text_equal(profile->times.state, "invented"),
        .imported = text_equal(profile->times.state, "imported"),
        .other_shape = profile->times.other_shape,
        .layout = profile->times.layout,
        .device = profile->times.device,
        .version = "",
        .warning = "",
        .architecture = "",
        .address = "",
        .cached_since = "",
    };
    ret->measure = measure;
    return CM_OK;
}

/* The spread of a measured time of the model or a module ranges from the sum of the nodes'
 * first quartiles to the sum of their third quartiles. Errors of layers are correlated (clock,
 * load), so the quartiles are added linearly, not as variances. */

/* Returns a quartile of a node's latency, ps, from the quartile and median of one run. */
static int64_t scaled(int64_t latency, int64_t quartile, int64_t median) {
    if (!is_known(quartile) || median <= 0) return latency;
    const double scaled = (double)latency * ((double)quartile / (double)median);
    return scaled < 0x1p62 ? (int64_t)scaled : DIM_OVERFLOW;
}

/* Iterator over the timed nodes of a result; initialize `result`, and all other fields to 0. */
struct timed_node {
    const struct cm_result *result;
    size_t primitive; /* of the next node */
    size_t index;     /* of the next node in its list */
    const struct cm_node *node;
    int64_t low; /* quartiles of the node's latency, ps */
    int64_t high;
};

static bool next_timed(struct timed_node *at) {
    const struct cm_measure *measure = at->result->measure;
    for (; at->primitive < measure->n_primitives; at->primitive++, at->index = 0) {
        const struct cm_timed *timed = &measure->primitives[at->primitive];
        while (at->index < timed->n_nodes) {
            const size_t id = timed->nodes[at->index++];
            if (id >= at->result->n_nodes) continue; /* untrusted file */
            at->node = &at->result->nodes[id];
            if (!is_known(at->node->costs.latency_ps)) continue;
            at->low = scaled(at->node->costs.latency_ps, timed->q1_ps, timed->median_ps);
            at->high = scaled(at->node->costs.latency_ps, timed->q3_ps, timed->median_ps);
            return true;
        }
    }
    return false;
}

static void add_spread(struct cm_baseline_spread *spread, int64_t low, int64_t high) {
    spread->low_ps = checked_add(spread->low_ps, low);
    spread->high_ps = checked_add(spread->high_ps, high);
}

struct cm_baseline_spread *baseline_spreads(const struct cm_result *result,
                                            struct arena *arena) {
    struct cm_baseline_spread *list = arena_array(arena, result->n_modules, sizeof(*list));
    if (list == NULL || !cm_result_timed(result) || result->measure->modelled) return list;
    for (struct timed_node at = {.result = result}; next_timed(&at);)
        if (at.node->module < result->n_modules)
            add_spread(&list[at.node->module], at.low, at.high);
    for (size_t i = result->n_modules; i-- > 1;) { /* parents precede their children */
        const size_t parent = result->modules[i].parent;
        if (parent < i) add_spread(&list[parent], list[i].low_ps, list[i].high_ps);
    }
    for (size_t i = 0; i < result->n_modules; i++)
        list[i].present = is_known(list[i].low_ps) && is_known(list[i].high_ps);
    return list;
}

struct cm_baseline_spread *baseline_kept_spreads(const struct cm_baseline *baseline,
                                                 int64_t batch, struct arena *arena) {
    struct cm_baseline_spread *list = arena_array(arena, baseline->n_modules, sizeof(*list));
    size_t n = 0;
    for (size_t i = 0; list != NULL && i < baseline->n_modules; i++)
        if (baseline->modules[i].batch == batch) list[n++] = baseline->modules[i].times;
    return list;
}

static const char *doubt_of(const struct cm_measure *measure) {
    if (measure->warning[0] != '\0') return measure->warning;
    for (size_t i = 0; i < measure->n_primitives; i++) {
        const struct cm_timed *timed = &measure->primitives[i];
        if (timed->unstable) return "layers were unstable";
        if (timed->throttled) return "the device was throttled";
        if (timed->few_samples) return "layers have few samples";
    }
    return "";
}

struct cm_baseline_times baseline_times(const struct cm_result *result) {
    struct cm_baseline_times times = {.state = "", .device = "", .layout = "", .doubt = ""};
    const struct cm_measure *measure = result->measure;
    if (!cm_result_timed(result)) return times;
    times.present = true;
    times.state = measure->modelled   ? "modelled"
                  : measure->invented ? "invented"
                  : measure->imported ? "imported"
                                      : "measured";
    times.other_shape = measure->other_shape;
    times.device = measure->device;
    times.layout = measure->layout;
    for (size_t i = 0; i < measure->n_untimed; i++)
        times.untimed_nodes = checked_add(times.untimed_nodes, measure->untimed[i].nodes);
    if (measure->modelled) {
        times.low_ps = result->totals.latency_ps;
        times.high_ps = result->totals.latency_ps;
        return times;
    }
    for (struct timed_node at = {.result = result}; next_timed(&at);) {
        times.low_ps = checked_add(times.low_ps, at.low);
        times.high_ps = checked_add(times.high_ps, at.high);
    }
    times.doubt = doubt_of(measure);
    return times;
}

/* Copies the members that the baseline schema stores. */
static void copy_profile(struct cm_baseline_profile *profile, const struct cm_result *result) {
    struct cm_result *figures = &profile->figures;
    figures->model.n_inputs = result->model.n_inputs;
    figures->model.inputs = result->model.inputs;
    figures->options = result->options;
    figures->totals = result->totals;
    figures->framework.params = result->framework.params;
    figures->memory = (struct cm_memory){
        .peak_activation_bytes = result->memory.peak_activation_bytes,
        .peak_in_place_bytes = result->memory.peak_in_place_bytes,
        .arena_bytes = result->memory.arena_bytes,
        .arena_in_place_bytes = result->memory.arena_in_place_bytes,
        .required_bytes = result->memory.required_bytes,
        .upper_bound = result->memory.upper_bound,
        .peak_upper_bound = result->memory.peak_upper_bound,
        .alignment = result->memory.alignment,
    };
    figures->coverage = result->coverage;
    figures->training = result->training;
    figures->device_memory = result->device_memory;
    figures->time_error = result->time_error;
    profile->times = baseline_times(result);
    columns_clear_missing(result, &figures->totals);
}

/* Copies the old history. If there is a reason, appends an entry with the reason and the
 * changes of the metrics of the first batch. */
static void add_history(struct cm_baseline *baseline, const struct cm_baseline *old,
                        const char *reason, struct arena *arena) {
    const size_t n = old == NULL ? 0 : old->n_history;
    const int64_t batch = baseline->profiles[0].figures.options.batch;
    struct cm_baseline_change *history = arena_array(arena, n + 1, sizeof(*history));
    if (history == NULL) return;
    for (size_t i = 0; i < n; i++) history[i] = old->history[i];
    baseline->history = history;
    baseline->n_history = n;
    if (reason[0] == '\0') return;
    history[n].reason = reason;
    history[n].batch = batch;
    baseline->n_history++;
    const struct cm_baseline_profile *before = old == NULL ? NULL : baseline_find(old, batch);
    struct cm_metric metric;
    size_t n_metrics = 0;
    while (cm_metric_at(n_metrics, &metric)) n_metrics++;
    struct cm_named_size *changes = arena_array(arena, n_metrics, sizeof(*changes));
    if (changes == NULL) return;
    history[n].changes = changes;
    for (size_t i = 0; before != NULL && cm_metric_at(i, &metric); i++) {
        struct cm_figure was;
        struct cm_figure is;
        if (!cm_metric_of_total(i, &before->figures, &was) ||
            !cm_metric_of_total(i, &baseline->profiles[0].figures, &is))
            continue;
        const int64_t by = checked_sub(is.value, was.value);
        if (is_known(by) && by != 0)
            changes[history[n].n_changes++] = (struct cm_named_size){metric.key, by};
    }
}

static void fill(struct cm_baseline *baseline, const struct cm_result *const *results, size_t n,
                 struct arena *arena) {
    struct cm_baseline_profile *profiles = arena_array(arena, n, sizeof(*profiles));
    size_t n_modules = 0;
    for (size_t i = 0; i < n; i++) n_modules += results[i]->n_modules;
    struct cm_baseline_module *modules = arena_array(arena, n_modules, sizeof(*modules));
    if (profiles == NULL || modules == NULL) return;
    baseline->model = results[0]->model.path + system_folder_length(results[0]->model.path);
    baseline->n_profiles = n;
    baseline->profiles = profiles;
    baseline->n_modules = n_modules;
    baseline->modules = modules;
    for (size_t i = 0; i < n; i++) {
        const struct cm_result *result = results[i];
        const struct cm_baseline_spread *spreads = baseline_spreads(result, arena);
        if (spreads == NULL) return;
        copy_profile(&profiles[i], result);
        for (size_t k = 0; k < result->n_modules; k++, modules++) {
            modules->batch = result->options.batch;
            modules->module = result->modules[k];
            modules->times = spreads[k];
            columns_clear_missing(result, &modules->module.costs);
        }
    }
}

int cm_baseline_make(const struct cm_result *const *results, size_t n,
                     const struct cm_baseline *old, const char *reason,
                     struct cm_diagnostics *diagnostics, struct cm_baseline **ret_baseline) {
    const int status = arguments_check(ARGUMENT_POINTER, results, n,
                                       n > 0 && reason && ret_baseline, diagnostics);
    if (status < 0) return status;
    struct arena *arena = arena_new("baseline", 0);
    struct cm_baseline *baseline = arena == NULL ? NULL : arena_alloc(arena, sizeof(*baseline));
    if (baseline != NULL) fill(baseline, results, n, arena);
    if (baseline != NULL && !arena_failed(arena)) add_history(baseline, old, reason, arena);
    if (baseline == NULL || arena_failed(arena)) {
        arena_free(arena);
        return diag_no_memory(diagnostics);
    }
    baseline->arena = arena;
    *ret_baseline = baseline;
    return CM_OK;
}

/* The metrics to compare: costs and metrics with a limit, except times, which always differ. */
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

/* Compares a module. A new module, with old value 0, is compared only if a limit applies. */
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

/* Compares one batch. Compares the total first: only the first increase is reported. */
static int compare_profiles(const struct cm_result results[2],
                            const struct compared_metrics *metrics, struct arena *arena,
                            struct cm_diagnostics *diag, struct cm_baseline_trend *trend) {
    struct cm_diff *diff = NULL;
    const int status = cm_diff_make(&results[0], &results[1], diag, &diff);
    if (status != CM_OK) return status;
    trend->comparable =
        cm_diff_comparable(diff) && !conditions_other_inputs(&results[0], &results[1], arena);
    if (trend->comparable) {
        struct cm_metric metric;
        for (size_t i = 0; cm_metric_at(i, &metric); i++) {
            const struct cm_change change = cm_diff_total(diff, i);
            if (metrics->is_compared[i] && change.in_old && change.in_new)
                compare_change(&change, metric.key, "", trend);
        }
        for (size_t i = 0; i < diff->n_modules; i++) compare_module(diff, i, metrics, trend);
    }
    cm_diff_free(diff);
    return CM_OK;
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
    for (size_t i = 0; i < now->n_profiles; i++) { /* sums omit unknown values */
        const struct cm_coverage *coverage = &now->profiles[i].figures.coverage;
        ret_trend->incomplete |= coverage->incomplete != NULL || coverage->n_unknown_ops > 0 ||
                                 coverage->n_unknown_gradients > 0 ||
                                 cm_coverage_unbounded(coverage) > 0;
    }
    return CM_OK;
}
