/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows that changed a cost, the largest change first, and those that did not. Whether a module
 * changed any cost is asked of each metric in turn, so that memory holds one at a time.
 */
#include "compare/view.h"

#include <stdlib.h>

#include "compare/changes.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/text.h"

#include "support/banned.h"

void cm_diff_options_init(struct cm_diff_options *options) {
    *options = (struct cm_diff_options){.metric = CM_NO_INDEX, .depth = -1, .top = 10};
}

bool view_is_described_alike(const struct cm_diff *diff) {
    const struct cm_coverage *was = &diff->old_result->coverage;
    const struct cm_coverage *is = &diff->new_result->coverage;
    if (was->n_custom_ops != is->n_custom_ops) return false;
    for (size_t i = 0; i < was->n_custom_ops; i++)
        if (was->custom_ops[i].count != is->custom_ops[i].count ||
            !text_equal(was->custom_ops[i].name, is->custom_ops[i].name))
            return false;
    return true;
}

size_t view_shown(const struct cm_diff_options *options, size_t n) {
    const size_t top = (size_t)options->top;
    return options->top > 0 && top < n ? top : n;
}

const struct cm_module *view_old_module_of(const struct cm_diff *diff, size_t row) {
    return &diff->old_result->modules[diff->modules[row].old_module];
}

const struct cm_module *view_module_of(const struct cm_diff *diff, size_t row) {
    const size_t module = diff->modules[row].new_module;
    return module == CM_NO_INDEX ? view_old_module_of(diff, row)
                                 : &diff->new_result->modules[module];
}

size_t view_inside(const struct cm_diff *diff, size_t row) {
    size_t n = 1;
    const int depth = diff->modules[row].depth;
    for (size_t i = row + 1; i < diff->n_modules && diff->modules[i].depth > depth; i++)
        n += diff->modules[i].is_part;
    return n;
}

struct viewer {
    const struct cm_diff *diff;
    const struct cm_diff_options *options;
    struct arena *arena;
    struct cm_blame *scratch; /* n_modules of the diff */
    bool *costs;              /* by row: it has a part of some change */
    struct view *view;
};

static size_t blame(const struct viewer *viewer, size_t metric) {
    return cm_diff_blame(viewer->diff, metric, viewer->options->depth, viewer->scratch);
}

/* MACs, or else the first of which modules, or the total, changed. */
static size_t choose_metric(const struct viewer *viewer) {
    const size_t macs = cm_metric_find("macs");
    if (viewer->options->metric != CM_NO_INDEX) return viewer->options->metric;
    if (blame(viewer, macs) > 0) return macs;
    for (size_t i = 0; i < viewer->diff->n_metrics; i++) {
        struct cm_metric metric;
        if (!cm_metric_at(viewer->diff->metrics[i], &metric) || metric.timed) continue;
        if (blame(viewer, viewer->diff->metrics[i]) > 0) return viewer->diff->metrics[i];
    }
    return macs;
}

static uint64_t magnitude(int64_t value) {
    return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

static int compare_sizes(int64_t a, int64_t b) {
    const uint64_t x = magnitude(a);
    const uint64_t y = magnitude(b);
    return x == y ? 0 : x > y ? -1 : 1;
}

static int compare_modules(const void *a, const void *b) {
    const struct view_module *x = a;
    const struct view_module *y = b;
    int order = compare_sizes(x->blame.difference, y->blame.difference);
    if (order == 0) order = compare_sizes(x->beside, y->beside);
    if (order != 0) return order;
    return x->blame.module < y->blame.module ? -1 : x->blame.module > y->blame.module;
}

/* Times are told by who asks for them: they differ everywhere. */
static void mark_costs(const struct viewer *viewer) {
    const struct cm_diff *diff = viewer->diff;
    for (size_t i = 0; i < diff->n_metrics; i++) {
        const bool is_asked = diff->metrics[i] == viewer->view->metric;
        struct cm_metric metric;
        (void)cm_metric_at(diff->metrics[i], &metric);
        if (!metric.of_modules || (!is_asked && (metric.timed || !metric.is_sum))) continue;
        const size_t n = blame(viewer, diff->metrics[i]);
        for (size_t k = 0; k < n; k++) viewer->costs[viewer->scratch[k].module] = true;
    }
}

static int list_modules(const struct viewer *viewer) {
    struct view *view = viewer->view;
    const size_t n = viewer->diff->n_modules;
    struct view_module *all = arena_array(viewer->arena, n, sizeof(*all));
    if (!all) return CM_NO_MEMORY;
    for (size_t i = 0; i < n; i++) all[i].blame.module = i;
    for (size_t k = blame(viewer, view->metric); k-- > 0;)
        all[viewer->scratch[k].module].blame = viewer->scratch[k];
    for (size_t k = blame(viewer, view->beside); k-- > 0;)
        all[viewer->scratch[k].module].beside = viewer->scratch[k].difference;
    for (size_t i = 0; i < n; i++)
        if (viewer->costs[i]) all[view->n_modules++] = all[i];
    if (view->n_modules > 0) qsort(all, view->n_modules, sizeof(*all), compare_modules);
    view->modules = all;
    return CM_OK;
}

static bool is_number(const char *name) {
    const char *c = name;
    while (*c >= '0' && *c <= '9') c++;
    return *c == '\0' && c > name;
}

/* Whether `row` goes on with what `before` began: 3 -> 4, 4 -> 5. */
static bool continues(const struct cm_diff *diff, size_t before, size_t row) {
    const struct cm_diff_module *a = &diff->modules[before];
    const struct cm_diff_module *b = &diff->modules[row];
    return a->status == CM_DIFF_RENAMED && b->status == CM_DIFF_RENAMED &&
           a->parent == b->parent && !a->reworked && !b->reworked &&
           is_number(view_module_of(diff, before)->name) &&
           is_number(view_old_module_of(diff, before)->name) &&
           is_number(view_module_of(diff, row)->name) &&
           is_number(view_old_module_of(diff, row)->name);
}

static bool is_plain(const struct viewer *viewer, size_t row) {
    const struct cm_diff_module *module = &viewer->diff->modules[row];
    const bool shown = viewer->options->depth < 0 || module->depth <= viewer->options->depth;
    const bool says =
        module->status == CM_DIFF_CHANGED ? module->reworked : module->status != CM_DIFF_SAME;
    return shown && says && !module->is_part && !viewer->costs[row];
}

static int list_plain(const struct viewer *viewer) {
    struct view *view = viewer->view;
    const size_t n = viewer->diff->n_modules;
    size_t n_rows = 0;
    view->plain = arena_array(viewer->arena, n, sizeof(*view->plain));
    view->plain_rows = arena_array(viewer->arena, n, sizeof(*view->plain_rows));
    if (!view->plain || !view->plain_rows) return CM_NO_MEMORY;
    for (size_t i = 0; i < n; i++) {
        if (!is_plain(viewer, i)) continue;
        if (n_rows > 0 && continues(viewer->diff, view->plain_rows[n_rows - 1], i))
            view->plain[view->n_plain - 1].n++;
        else
            view->plain[view->n_plain++] = (struct view_plain){n_rows, 1};
        view->plain_rows[n_rows++] = i;
    }
    return CM_OK;
}

static int compare_operators(const void *a, const void *b) {
    const struct view_operator *x = a;
    const struct view_operator *y = b;
    int order = compare_sizes(x->change.difference, y->change.difference);
    if (order == 0) order = compare_sizes(x->nodes.difference, y->nodes.difference);
    if (order != 0) return order;
    return x->row < y->row ? -1 : x->row > y->row;
}

static bool any_changed(const struct cm_diff *diff, size_t row) {
    for (size_t i = 0; i < diff->n_metrics; i++) {
        struct cm_metric metric;
        const struct cm_change change = cm_diff_of_operator(diff, row, diff->metrics[i]);
        (void)cm_metric_at(diff->metrics[i], &metric);
        if (!metric.timed && !change_is_none(&change)) return true;
    }
    return false;
}

static int list_operators(const struct viewer *viewer) {
    struct view *view = viewer->view;
    const struct cm_diff *diff = viewer->diff;
    const size_t nodes = cm_metric_find("nodes");
    view->operators = arena_array(viewer->arena, diff->n_operators, sizeof(*view->operators));
    if (!view->operators) return CM_NO_MEMORY;
    for (size_t i = 0; i < diff->n_operators; i++) {
        const struct cm_change change = cm_diff_of_operator(diff, i, view->operator_metric);
        if (change_is_none(&change) && !any_changed(diff, i)) continue;
        view->operators[view->n_operators++] =
            (struct view_operator){i, change, cm_diff_of_operator(diff, i, nodes)};
    }
    if (view->n_operators > 0)
        qsort(view->operators, view->n_operators, sizeof(*view->operators), compare_operators);
    return CM_OK;
}

/* Beside MACs parameters, beside anything else MACs. */
static void choose_metrics(const struct viewer *viewer) {
    struct view *view = viewer->view;
    const size_t macs = cm_metric_find("macs");
    view->metric = choose_metric(viewer);
    view->beside = view->metric == macs ? cm_metric_find("params") : macs;
    (void)cm_metric_at(view->metric, &view->by);
    (void)cm_metric_at(view->beside, &view->beside_by);
    view->operator_metric = view->by.of_operators ? view->metric : macs;
    (void)cm_metric_at(view->operator_metric, &view->operator_by);
}

int view_make(const struct cm_diff *diff, const struct cm_diff_options *options,
              struct arena *arena, struct view *ret) {
    *ret = (struct view){0};
    const struct viewer viewer = {
        .diff = diff,
        .options = options,
        .arena = arena,
        .scratch = arena_array(arena, diff->n_modules, sizeof(*viewer.scratch)),
        .costs = arena_array(arena, diff->n_modules, sizeof(*viewer.costs)),
        .view = ret,
    };
    if (!viewer.scratch || !viewer.costs) return CM_NO_MEMORY;
    choose_metrics(&viewer);
    mark_costs(&viewer);
    int status = list_modules(&viewer);
    if (status == CM_OK) status = list_plain(&viewer);
    return status == CM_OK ? list_operators(&viewer) : status;
}
