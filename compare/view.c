/* SPDX-License-Identifier: Apache-2.0 */
/* Selects and orders the rows of a diff report, and formats changes and labels. The list of
 * modules that changed any cost is computed metric by metric to bound the memory. */
#include "compare/view.h"

#include <stdlib.h>
#include <string.h>

#include "compare/diff.h"
#include "report/names.h"
#include "report/number.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/sort.h"
#include "support/text.h"

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
    bool *has_change;         /* by row: the module contributes to a change of costs */
    struct view *view;
};

static size_t blame(const struct viewer *viewer, size_t metric) {
    return cm_diff_blame(viewer->diff, metric, viewer->options->depth, viewer->scratch);
}

/* Returns the first changed time (`timed`) or first other changed metric; CM_NO_INDEX: none. */
static size_t first_changed(const struct viewer *viewer, bool timed) {
    for (size_t i = 0; i < viewer->diff->n_metrics; i++) {
        const size_t at = viewer->diff->metrics[i];
        struct cm_metric metric;
        if (!cm_metric_at(at, &metric) || metric.timed != timed) continue;
        if (blame(viewer, at) > 0) return at;
    }
    return CM_NO_INDEX;
}

/* Orders by magnitude, largest first. */
static int compare_sizes(int64_t a, int64_t b) {
    const uint64_t x = a < 0 ? -(uint64_t)a : (uint64_t)a;
    const uint64_t y = b < 0 ? -(uint64_t)b : (uint64_t)b;
    return x == y ? 0 : x > y ? -1 : 1;
}

static int compare_modules(const void *a, const void *b) {
    const struct view_module *x = a;
    const struct view_module *y = b;
    int order = compare_sizes(x->blame.difference, y->blame.difference);
    if (order == 0) order = compare_sizes(x->second, y->second);
    if (order != 0) return order;
    return x->blame.module < y->blame.module ? -1 : x->blame.module > y->blame.module;
}

/* Marks the modules that contribute to a change. A time, which always differs, or a metric that
 * is not a sum counts only if it is view->metric. */
static void mark_costs(const struct viewer *viewer) {
    const struct cm_diff *diff = viewer->diff;
    for (size_t i = 0; i < diff->n_metrics; i++) {
        const bool is_asked = diff->metrics[i] == viewer->view->metric;
        struct cm_metric metric;
        (void)cm_metric_at(diff->metrics[i], &metric);
        if (!metric.of_modules || (!is_asked && (metric.timed || !metric.is_sum))) continue;
        const size_t n = blame(viewer, diff->metrics[i]);
        for (size_t k = 0; k < n; k++) viewer->has_change[viewer->scratch[k].module] = true;
    }
}

static void list_modules(const struct viewer *viewer) {
    struct view *view = viewer->view;
    const size_t n = viewer->diff->n_modules;
    struct view_module *all = arena_array(viewer->arena, n, sizeof(*all));
    if (!all) return;
    for (size_t i = 0; i < n; i++) all[i].blame.module = i;
    for (size_t k = blame(viewer, view->metric); k-- > 0;)
        all[viewer->scratch[k].module].blame = viewer->scratch[k];
    for (size_t k = blame(viewer, view->second); k-- > 0;)
        all[viewer->scratch[k].module].second = viewer->scratch[k].difference;
    for (size_t i = 0; i < n; i++)
        if (viewer->has_change[i]) all[view->n_modules++] = all[i];
    if (view->n_modules > 0) sort_stable(all, view->n_modules, sizeof(*all), compare_modules);
    view->modules = all;
}

/* Returns true if `before` and `row` are siblings with new numbers, such as 3 -> 4, 4 -> 5. */
static bool continues(const struct cm_diff *diff, size_t before, size_t row) {
    const struct cm_diff_module *a = &diff->modules[before];
    const struct cm_diff_module *b = &diff->modules[row];
    return a->status == CM_DIFF_RENAMED && b->status == CM_DIFF_RENAMED &&
           a->parent == b->parent && !a->reworked && !b->reworked &&
           text_is_digits(view_module_of(diff, before)->name) &&
           text_is_digits(view_old_module_of(diff, before)->name) &&
           text_is_digits(view_module_of(diff, row)->name) &&
           text_is_digits(view_old_module_of(diff, row)->name);
}

static void list_plain(const struct viewer *viewer) {
    struct view *view = viewer->view;
    const size_t n = viewer->diff->n_modules;
    size_t n_rows = 0;
    view->plain = arena_array(viewer->arena, n, sizeof(*view->plain));
    view->plain_rows = arena_array(viewer->arena, n, sizeof(*view->plain_rows));
    if (!view->plain || !view->plain_rows) return;
    for (size_t i = 0; i < n; i++) {
        const struct cm_diff_module *module = &viewer->diff->modules[i];
        const bool shown =
            viewer->options->depth < 0 || module->depth <= viewer->options->depth;
        const bool is_listed = module->status == CM_DIFF_CHANGED
                                   ? module->reworked
                                   : module->status != CM_DIFF_SAME;
        if (!shown || !is_listed || module->is_part || viewer->has_change[i]) continue;
        if (n_rows > 0 && continues(viewer->diff, view->plain_rows[n_rows - 1], i))
            view->plain[view->n_plain - 1].n++;
        else
            view->plain[view->n_plain++] = (struct view_plain){n_rows, 1};
        view->plain_rows[n_rows++] = i;
    }
}

static int compare_operators(const void *a, const void *b) {
    const struct view_operator *x = a;
    const struct view_operator *y = b;
    int order = compare_sizes(x->change.difference, y->change.difference);
    if (order == 0) order = compare_sizes(x->nodes.difference, y->nodes.difference);
    if (order != 0) return order;
    return x->row < y->row ? -1 : x->row > y->row;
}

static void list_operators(const struct viewer *viewer) {
    struct view *view = viewer->view;
    const struct cm_diff *diff = viewer->diff;
    const size_t nodes = cm_metric_find("nodes");
    view->operators = arena_array(viewer->arena, diff->n_operators, sizeof(*view->operators));
    if (!view->operators) return;
    for (size_t i = 0; i < diff->n_operators; i++) {
        const struct cm_change change = cm_diff_of_operator(diff, i, view->operator_metric);
        if (diff_is_unchanged(&change) && diff_is_same(diff, i, cm_diff_of_operator)) continue;
        view->operators[view->n_operators++] =
            (struct view_operator){i, change, cm_diff_of_operator(diff, i, nodes)};
    }
    if (view->n_operators > 0)
        sort_stable(view->operators, view->n_operators, sizeof(*view->operators),
                    compare_operators);
}

/* Sets view->metric: the requested metric, else MACs if they changed, else the first that
 * changed (times last: measured times always differ). Sets view->second: MACs, or params if the
 * first is MACs. */
static void choose_metrics(const struct viewer *viewer) {
    struct view *view = viewer->view;
    const size_t macs = cm_metric_find("macs");
    view->metric = viewer->options->metric;
    if (view->metric == CM_NO_INDEX && blame(viewer, macs) > 0) view->metric = macs;
    if (view->metric == CM_NO_INDEX) view->metric = first_changed(viewer, false);
    if (view->metric == CM_NO_INDEX) view->metric = first_changed(viewer, true);
    if (view->metric == CM_NO_INDEX) view->metric = macs;
    view->second = view->metric == macs ? cm_metric_find("params") : macs;
    (void)cm_metric_at(view->metric, &view->by);
    (void)cm_metric_at(view->second, &view->second_by);
    view->operator_metric = view->by.of_operators ? view->metric : macs;
    (void)cm_metric_at(view->operator_metric, &view->operator_by);
}

int view_make(const struct cm_diff *diff, const struct cm_diff_options *options,
              struct arena *arena, struct view *ret) {
    *ret = (struct view){0};
    if (options->metric != CM_NO_INDEX && !cm_metric_at(options->metric, &ret->by))
        return CM_USAGE;
    const struct viewer viewer = {
        .diff = diff,
        .options = options,
        .arena = arena,
        .scratch = arena_array(arena, diff->n_modules, sizeof(*viewer.scratch)),
        .has_change = arena_array(arena, diff->n_modules, sizeof(*viewer.has_change)),
        .view = ret,
    };
    if (!viewer.scratch || !viewer.has_change) return CM_NO_MEMORY;
    choose_metrics(&viewer);
    mark_costs(&viewer);
    list_modules(&viewer);
    list_plain(&viewer);
    list_operators(&viewer);
    return arena_failed(arena) ? CM_NO_MEMORY : CM_OK;
}

static const enum number_unit unit_names[] = {
    [CM_UNIT_ELEMENTS] = NUMBER_PARAMS, [CM_UNIT_MACS] = NUMBER_MACS,
    [CM_UNIT_FLOPS] = NUMBER_FLOPS,     [CM_UNIT_BYTES] = NUMBER_BYTES,
    [CM_UNIT_PS] = NUMBER_TIME,
};

static void append_value(struct text *text, struct view_look look, int64_t value) {
    if (is_known(value) && value < 0) text_append(text, "-");
    number_append(text, number_style_of(look.units, NUMBERS_PLAIN), unit_names[look.unit],
                  is_known(value) && value < 0 ? -value : value);
}

static void append_side(struct text *text, struct view_look look, bool is_there,
                        struct cm_figure figure) {
    if (!is_there) {
        text_append(text, "-");
        return;
    }
    const enum number_bound bound = number_bound_of(figure.upper_bound, figure.partial);
    if (is_known(figure.value)) text_append(text, number_bound_prefix(bound, look.unicode));
    append_value(text, look, figure.value);
}

void view_append_old(struct text *text, struct view_look look, const struct cm_change *change) {
    append_side(
        text, look, change->in_old,
        (struct cm_figure){change->old_value, change->old_upper_bound, change->old_partial});
}

void view_append_new(struct text *text, struct view_look look, const struct cm_change *change) {
    append_side(
        text, look, change->in_new,
        (struct cm_figure){change->new_value, change->new_upper_bound, change->new_partial});
}

void view_append_difference(struct text *text, struct view_look look, int64_t difference) {
    if (difference == 0) {
        text_append(text, "=");
        return;
    }
    if (is_known(difference) && difference > 0) text_append(text, "+");
    append_value(text, look, difference);
}

#define HUGE_RATIO 1000000 /* limit of number_append_percent */

void view_append_percent(struct text *text, const struct cm_change *change) {
    const int64_t difference = change->difference;
    if (!is_known(difference)) {
        text_append(text, "?");
    } else if (change->in_old && !change->in_new) {
        text_append(text, "gone");
    } else if ((!change->in_old && change->in_new) ||
               (difference != 0 && change->old_value == 0)) {
        text_append(text, "new");
    } else if (difference != 0) {
        text_append(text, difference < 0 ? "-" : "+");
        if (llabs(difference) / llabs(change->old_value) >= HUGE_RATIO)
            text_append(text, ">99999999%");
        else if (llabs(difference) < llabs(change->old_value) / 20000)
            text_append(text, "<0.01%");
        else
            number_append_percent(text, llabs(difference), llabs(change->old_value));
    }
}

struct cm_change view_blame_change(const struct cm_diff *diff, const struct cm_blame *blame,
                                   size_t metric) {
    const struct cm_diff_module *row = &diff->modules[blame->module];
    const struct cm_change all = cm_diff_of_module(diff, blame->module, metric);
    return (struct cm_change){
        .in_old = row->old_module != CM_NO_INDEX,
        .in_new = row->new_module != CM_NO_INDEX,
        .old_value = blame->old_value,
        .new_value = blame->new_value,
        .difference = blame->difference,
        .old_upper_bound = all.old_upper_bound,
        .new_upper_bound = all.new_upper_bound,
        .old_partial = all.old_partial,
        .new_partial = all.new_partial,
    };
}

static const char *next_argument(const char *arguments) {
    arguments += names_argument_length(arguments);
    return *arguments == '\0' ? arguments : arguments + strlen(", ");
}

/* Appends "64 -> 128, stride=(1, 1) -> (2, 2)": only the arguments that differ, if both have
 * the same number of arguments. */
static void append_arguments(struct text *text, const char *was, const char *is,
                             const char *arrow) {
    const char *between = "";
    const char *a = was;
    const char *b = is;
    for (; *a != '\0' && *b != '\0'; a = next_argument(a)) b = next_argument(b);
    if (*a != *b) {
        text_printf(text, "%s %s %s", was[0] == '\0' ? "none" : was, arrow,
                    is[0] == '\0' ? "none" : is);
        return;
    }
    for (; *was != '\0'; was = next_argument(was), is = next_argument(is)) {
        const size_t old_length = names_argument_length(was);
        const size_t new_length = names_argument_length(is);
        if (old_length == new_length && memcmp(was, is, old_length) == 0) continue;
        const char *equals = memchr(was, '=', old_length);
        size_t name = equals == NULL ? 0 : (size_t)(equals - was) + 1; /* length of "stride=" */
        if (name > new_length || memcmp(was, is, name) != 0) name = 0;
        text_append(text, between);
        text_append_n(text, was, old_length);
        text_printf(text, " %s ", arrow);
        text_append_n(text, is + name, new_length - name);
        between = ", ";
    }
}

static const char *path_of(const struct cm_module *module) {
    return module->path[0] == '\0' ? "(model)" : module->path;
}

static void append_class(struct text *text, const struct cm_module *module) {
    if (module->type_known) text_printf(text, " %s", module->type);
}

void view_append_label(struct text *text, const struct cm_diff *diff, size_t index,
                       const char *arrow) {
    const struct cm_diff_module *row = &diff->modules[index];
    const struct cm_module *module = view_module_of(diff, index);
    if (row->status == CM_DIFF_ADDED || row->status == CM_DIFF_REMOVED) {
        const size_t inside = view_inside(diff, index);
        text_append(text, row->status == CM_DIFF_ADDED ? "added " : "removed ");
        text_append(text, path_of(module));
        append_class(text, module);
        if (inside > 1) text_printf(text, ", %zu modules", inside);
        return;
    }
    const struct cm_module *was = view_old_module_of(diff, index);
    if (row->status == CM_DIFF_RENAMED) text_printf(text, "%s %s ", path_of(was), arrow);
    text_append(text, path_of(module));
    append_class(text, row->reworked ? was : module);
    if (!row->reworked) return;
    if (was->type_known != module->type_known ||
        (module->type_known && !text_equal(was->type, module->type))) {
        text_printf(text, " %s", arrow);
        append_class(text, module);
        if (!module->type_known) text_append(text, " ?");
    }
    if (text_equal(was->arguments, module->arguments)) return;
    text_append(text, "(");
    append_arguments(text, was->arguments, module->arguments, arrow);
    text_append(text, ")");
}
