/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the rows of a comparison: one tree with the modules of both sides, in the order of the
 * new side; removed modules follow their siblings. Rows have the indices of modules in the two
 * results, which keep the values. */
#include "compare/diff.h"

#include "compare/conditions.h"
#include "compare/match.h"
#include "costmodel/compare.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/map.h"
#include "support/text.h"

bool diff_is_unchanged(const struct cm_change *change) {
    return change->in_old == change->in_new && change->old_value == change->new_value &&
           change->old_upper_bound == change->new_upper_bound &&
           change->old_partial == change->new_partial;
}

/* cm_metric_of_module, cm_metric_of_operator or figure_of_total. */
typedef bool figure_getter(size_t metric, const struct cm_result *result, size_t index,
                           struct cm_figure *ret);

/* Returns the change of a metric: absent values are 0. The difference of partial sums is
 * unknown, except of costs if both sides leave something out: then it is that of the counted
 * parts. */
static struct cm_change change_of(const struct cm_diff *diff, size_t metric, figure_getter *get,
                                  size_t old_index, size_t new_index) {
    struct cm_figure was = {.value = 0};
    struct cm_figure is = {.value = 0};
    const bool in_old =
        old_index != CM_NO_INDEX && get(metric, diff->old_result, old_index, &was);
    const bool in_new =
        new_index != CM_NO_INDEX && get(metric, diff->new_result, new_index, &is);
    const int64_t difference = checked_sub(is.value, was.value);
    struct cm_metric of = {.timed = false};
    (void)cm_metric_at(metric, &of);
    const bool is_open = of.timed ? was.partial || is.partial : was.partial != is.partial;
    return (struct cm_change){
        .in_old = in_old,
        .in_new = in_new,
        .old_value = was.value,
        .new_value = is.value,
        .difference = is_known(difference) && !is_open ? difference : CM_UNKNOWN,
        .old_upper_bound = was.upper_bound,
        .new_upper_bound = is.upper_bound,
        .old_partial = was.partial,
        .new_partial = is.partial,
    };
}

static bool figure_of_total(size_t metric, const struct cm_result *result, size_t index,
                            struct cm_figure *ret) {
    (void)index;
    return cm_metric_of_total(metric, result, ret);
}

struct cm_change cm_diff_total(const struct cm_diff *diff, size_t metric) {
    if (diff == NULL) return (struct cm_change){0};
    return change_of(diff, metric, figure_of_total, 0, 0);
}

struct cm_change cm_diff_of_module(const struct cm_diff *diff, size_t row, size_t metric) {
    if (diff == NULL || row >= diff->n_modules) return (struct cm_change){0};
    const struct cm_diff_module *module = &diff->modules[row];
    return change_of(diff, metric, cm_metric_of_module, module->old_module, module->new_module);
}

struct cm_change cm_diff_of_operator(const struct cm_diff *diff, size_t row, size_t metric) {
    if (diff == NULL || row >= diff->n_operators) return (struct cm_change){0};
    const struct cm_diff_operator *op = &diff->operators[row];
    return change_of(diff, metric, cm_metric_of_operator, op->old_operator, op->new_operator);
}

bool diff_is_same(const struct cm_diff *diff, size_t row, change_getter *get) {
    for (size_t i = 0; i < diff->n_metrics; i++) {
        struct cm_metric metric;
        const struct cm_change change = get(diff, row, diff->metrics[i]);
        (void)cm_metric_at(diff->metrics[i], &metric);
        if (!metric.timed && !diff_is_unchanged(&change)) return false;
    }
    return true;
}

/* A module, or a pair of modules, that gets a row. */
struct pending {
    size_t old_module;
    size_t new_module;
    size_t parent; /* row */
};

struct builder {
    struct cm_diff *diff;
    const struct match *match;
    struct cm_diff_module *rows;
    size_t n_rows;
    struct pending *stack;
    size_t n_stack;
};

static void find_status(struct builder *builder, size_t index) {
    const struct cm_diff *diff = builder->diff;
    struct cm_diff_module *row = &builder->rows[index];
    if (row->old_module == CM_NO_INDEX || row->new_module == CM_NO_INDEX) {
        row->status = row->old_module == CM_NO_INDEX ? CM_DIFF_ADDED : CM_DIFF_REMOVED;
        row->is_part =
            row->parent != CM_NO_INDEX && builder->rows[row->parent].status == row->status;
        return;
    }
    const struct cm_module *was = &diff->old_result->modules[row->old_module];
    const struct cm_module *is = &diff->new_result->modules[row->new_module];
    const bool same_class = was->type_known == is->type_known &&
                            (!is->type_known || text_equal(was->type, is->type));
    row->reworked = !same_class || !text_equal(was->arguments, is->arguments);
    const bool moved =
        row->parent != CM_NO_INDEX && /* the root is named after the file */
        (builder->match->old_of[is->parent] != was->parent || !text_equal(was->name, is->name));
    const bool same = !row->reworked && diff_is_same(diff, index, cm_diff_of_module);
    row->status = moved ? CM_DIFF_RENAMED : same ? CM_DIFF_SAME : CM_DIFF_CHANGED;
}

static void push(struct builder *builder, size_t old_module, size_t new_module, size_t parent) {
    builder->stack[builder->n_stack++] = (struct pending){old_module, new_module, parent};
}

static void build_rows(struct builder *builder) {
    push(builder, 0, 0, CM_NO_INDEX);
    while (builder->n_stack > 0) {
        const struct pending pending = builder->stack[--builder->n_stack];
        const size_t index = builder->n_rows++;
        const bool is_root = pending.parent == CM_NO_INDEX;
        builder->rows[index] = (struct cm_diff_module){
            .old_module = pending.old_module,
            .new_module = pending.new_module,
            .parent = pending.parent,
            .depth = is_root ? 0 : builder->rows[pending.parent].depth + 1,
        };
        find_status(builder, index);
        const struct cm_diff_module *row = &builder->rows[index];
        const struct match *match = builder->match;
        /* removed children are pushed first, so that they get the last rows */
        if (row->old_module != CM_NO_INDEX) {
            const struct cm_module *was = &builder->diff->old_result->modules[row->old_module];
            for (size_t i = was->n_children; i-- > 0;)
                if (match->new_of[was->children[i]] == CM_NO_INDEX)
                    push(builder, was->children[i], CM_NO_INDEX, index);
        }
        if (row->new_module != CM_NO_INDEX) {
            const struct cm_module *is = &builder->diff->new_result->modules[row->new_module];
            for (size_t i = is->n_children; i-- > 0;)
                push(builder, match->old_of[is->children[i]], is->children[i], index);
        }
    }
}

static void make_modules(struct cm_diff *diff, struct arena *arena) {
    const size_t capacity = diff->old_result->n_modules + diff->new_result->n_modules;
    struct match match;
    match_modules(diff->old_result, diff->new_result, arena, &match);
    struct builder builder = {
        .diff = diff,
        .match = &match,
        .rows = arena_array(arena, capacity, sizeof(*builder.rows)),
        .stack = arena_array(arena, capacity, sizeof(*builder.stack)),
    };
    if (arena_failed(arena)) return;
    diff->modules = builder.rows;
    diff->n_modules = capacity; /* build_rows compares rows before it has counted them */
    build_rows(&builder);
    diff->n_modules = builder.n_rows;
}

static void make_operators(struct cm_diff *diff, struct arena *arena) {
    const struct cm_result *was = diff->old_result;
    const struct cm_result *is = diff->new_result;
    struct cm_diff_operator *rows =
        arena_array(arena, was->n_operators + is->n_operators, sizeof(*rows));
    struct map map;
    size_t n = 0;
    if (!rows) return;
    map_init(&map, arena);
    for (; n < is->n_operators; n++) {
        rows[n] = (struct cm_diff_operator){is->operators[n].op, CM_NO_INDEX, n};
        if (map_set(&map, is->operators[n].op, (uint32_t)n) != CM_OK) return;
    }
    for (size_t i = 0; i < was->n_operators; i++) {
        const uint32_t row = map_get(&map, was->operators[i].op);
        if (row != MAP_NONE)
            rows[row].old_operator = i;
        else
            rows[n++] = (struct cm_diff_operator){was->operators[i].op, i, CM_NO_INDEX};
    }
    diff->operators = rows;
    diff->n_operators = n;
}

static void make_metrics(struct cm_diff *diff, struct arena *arena) {
    bool no_times = false;
    for (size_t i = 0; i < diff->n_conditions; i++)
        no_times |= diff->conditions[i].weight == CM_CONDITION_TIMES;
    struct cm_metric metric;
    size_t n = 0;
    while (cm_metric_at(n, &metric)) n++;
    size_t *metrics = arena_array(arena, n, sizeof(*metrics));
    if (!metrics) return;
    for (size_t i = 0; cm_metric_at(i, &metric); i++) {
        const struct cm_change total = cm_diff_total(diff, i);
        if (metric.timed && no_times) continue;
        /* Omit a part that is 0, or absent from a profile of an older version. */
        if (metric.is_part &&
            ((total.old_value == 0 && total.new_value == 0) || !total.in_old || !total.in_new))
            continue;
        if (total.in_old || total.in_new) metrics[diff->n_metrics++] = i;
    }
    diff->metrics = metrics;
}

int cm_diff_make(const struct cm_result *old_result, const struct cm_result *new_result,
                 struct cm_diagnostics *diagnostics, struct cm_diff **ret_diff) {
    if (old_result == NULL || new_result == NULL || ret_diff == NULL)
        return diag_null(diagnostics);
    struct arena *arena = arena_new("diff", 0);
    struct cm_diff *diff = arena ? arena_alloc(arena, sizeof(*diff)) : NULL;
    if (!diff) {
        arena_free(arena);
        return diag_no_memory(diagnostics);
    }
    *diff =
        (struct cm_diff){.old_result = old_result, .new_result = new_result, .arena = arena};
    conditions_find(diff, arena);
    make_metrics(diff, arena);
    make_modules(diff, arena);
    make_operators(diff, arena);
    if (arena_failed(arena)) {
        arena_free(arena);
        return diag_no_memory(diagnostics);
    }
    *ret_diff = diff;
    return CM_OK;
}

void cm_diff_free(struct cm_diff *diff) {
    if (diff) arena_free(diff->arena);
}

bool cm_diff_comparable(const struct cm_diff *diff) {
    if (diff == NULL) return false;
    return diff->n_conditions == 0 || diff->conditions[0].weight != CM_CONDITION_BREAKS;
}

static struct cm_change total_of(const struct cm_diff *diff, size_t row, size_t metric) {
    (void)row;
    return cm_diff_total(diff, metric);
}

bool cm_diff_differs(const struct cm_diff *diff) {
    if (diff == NULL) return false;
    if (!diff_is_same(diff, 0, total_of)) return true;
    for (size_t i = 0; i < diff->n_operators; i++)
        if (!diff_is_same(diff, i, cm_diff_of_operator)) return true;
    for (size_t i = 0; i < diff->n_modules; i++)
        if (diff->modules[i].status != CM_DIFF_SAME) return true;
    return false;
}
