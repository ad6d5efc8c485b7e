/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a comparison as JSON: all rows, exact figures, null for unknown figures; missing
 * figures are omitted. This file collects the rows; json_schema_diff.c describes their keys. */
#include "report/diff/diff_json.h"

#include "compare/diff.h"
#include "compare/view.h"
#include "report/json/json_diff.h"
#include "report/json/json_document.h"
#include "report/json/json_schema.h"
#include "support/arena.h"
#include "support/arguments.h"
#include "support/text.h"

struct gatherer {
    const struct cm_diff *diff;
    struct view view;
    struct arena *arena;
};

static struct diff_side side_of(const struct cm_result *result) {
    return (struct diff_side){
        .path = result->model.path,
        .batch = result->options.batch,
        .convention = result->options.convention,
        .precision = result->options.precision,
        .mode = result->options.mode,
        .modules = (int64_t)result->n_modules,
        .nodes = (int64_t)result->n_nodes,
        .n_custom_ops = result->coverage.n_custom_ops,
        .custom_ops = result->coverage.custom_ops,
    };
}

static const char *const effects[] = {
    [CM_CONDITION_NOTE] = "none",
    [CM_CONDITION_INCOMPLETE] = "incomplete",
    [CM_CONDITION_TIMES] = "times",
    [CM_CONDITION_BREAKS] = "incomparable",
};

static struct diff_metric metric_row(size_t index, const struct cm_change *change) {
    struct cm_metric metric;
    (void)cm_metric_at(index, &metric);
    return (struct diff_metric){metric.key, *change};
}

typedef struct cm_change change_getter(const struct cm_diff *diff, size_t row, size_t metric);

/* Returns the metrics in which the row differs. Counts them first to allocate no more than
 * needed, because models have many rows. */
static const struct diff_metric *gather_metrics(struct gatherer *gatherer, size_t row,
                                                change_getter *get, size_t *ret_n) {
    const struct cm_diff *diff = gatherer->diff;
    size_t n = 0;
    for (size_t i = 0; i < diff->n_metrics; i++) {
        const struct cm_change change = get(diff, row, diff->metrics[i]);
        n += !diff_is_unchanged(&change);
    }
    struct diff_metric *rows = arena_array(gatherer->arena, n, sizeof(*rows));
    *ret_n = 0;
    for (size_t i = 0; rows != NULL && i < diff->n_metrics; i++) {
        const struct cm_change change = get(diff, row, diff->metrics[i]);
        if (!diff_is_unchanged(&change))
            rows[(*ret_n)++] = metric_row(diff->metrics[i], &change);
    }
    return rows;
}

static const char *const statuses[] = {
    [CM_DIFF_SAME] = "same",   [CM_DIFF_CHANGED] = "changed", [CM_DIFF_RENAMED] = "renamed",
    [CM_DIFF_ADDED] = "added", [CM_DIFF_REMOVED] = "removed",
};

static struct diff_module module_row(struct gatherer *gatherer, size_t row,
                                     const struct view_module *cost) {
    struct diff_module ret = {.status = statuses[gatherer->diff->modules[row].status]};
    const struct cm_diff_module *module = &gatherer->diff->modules[row];
    const struct cm_module *is = view_module_of(gatherer->diff, row);
    const bool is_pair = module->old_module != CM_NO_INDEX && module->new_module != CM_NO_INDEX;
    const struct cm_module *was = is_pair ? view_old_module_of(gatherer->diff, row) : is;
    ret.path = is->path;
    if (!text_equal(was->path, is->path)) ret.old_path = was->path;
    if (is->type_known) ret.type = is->type;
    if (was->type_known && !(is->type_known && text_equal(was->type, is->type)))
        ret.old_type = was->type;
    if (!text_equal(was->arguments, is->arguments)) {
        ret.arguments = is->arguments;
        ret.old_arguments = was->arguments;
    }
    ret.is_tree = !is_pair;
    if (!is_pair) ret.modules = (int64_t)view_inside(gatherer->diff, row);
    ret.is_cost = cost != NULL;
    if (cost != NULL) ret.accounts_for = cost->blame.difference;
    ret.metrics = gather_metrics(gatherer, row, cm_diff_of_module, &ret.n_metrics);
    return ret;
}

/* Lists the modules that account for a change of costs, then those that were renamed, added,
 * removed or changed without one. */
static void gather_modules(struct gatherer *gatherer, struct diff_document *ret) {
    const struct view *view = &gatherer->view;
    size_t n = view->n_modules;
    for (size_t i = 0; i < view->n_plain; i++) n += view->plain[i].n;
    struct diff_module *rows = arena_array(gatherer->arena, n, sizeof(*rows));
    if (rows == NULL) return;
    for (size_t i = 0; i < view->n_modules; i++)
        rows[ret->n_modules++] =
            module_row(gatherer, view->modules[i].blame.module, &view->modules[i]);
    for (size_t i = 0; i < view->n_plain; i++)
        for (size_t k = 0; k < view->plain[i].n; k++)
            rows[ret->n_modules++] =
                module_row(gatherer, view->plain_rows[view->plain[i].first + k], NULL);
    ret->modules = rows;
}

static void gather_operators(struct gatherer *gatherer, struct diff_document *ret) {
    const struct view *view = &gatherer->view;
    struct diff_operator *rows = arena_array(gatherer->arena, view->n_operators, sizeof(*rows));
    for (size_t i = 0; rows != NULL && i < view->n_operators; i++) {
        const size_t row = view->operators[i].row;
        rows[i].op = gatherer->diff->operators[row].op;
        rows[i].metrics =
            gather_metrics(gatherer, row, cm_diff_of_operator, &rows[i].n_metrics);
    }
    ret->n_operators = view->n_operators;
    ret->operators = rows;
}

/* Collects all rows of the document. The caller checks the arena before it writes anything. */
static void gather(struct gatherer *gatherer, struct diff_document *ret) {
    const struct cm_diff *diff = gatherer->diff;
    struct diff_condition *conditions =
        arena_array(gatherer->arena, diff->n_conditions, sizeof(*conditions));
    struct diff_metric *totals = arena_array(gatherer->arena, diff->n_metrics, sizeof(*totals));
    for (size_t i = 0; conditions != NULL && i < diff->n_conditions; i++) {
        const struct cm_condition *condition = &diff->conditions[i];
        conditions[i] =
            (struct diff_condition){condition->key, condition->old_value, condition->new_value,
                                    effects[condition->weight]};
    }
    for (size_t i = 0; totals != NULL && i < diff->n_metrics; i++) {
        const struct cm_change total = cm_diff_total(diff, diff->metrics[i]);
        totals[i] = metric_row(diff->metrics[i], &total);
    }
    *ret = (struct diff_document){
        .old_side = side_of(diff->old_result),
        .new_side = side_of(diff->new_result),
        .comparable = cm_diff_comparable(diff),
        .n_conditions = diff->n_conditions,
        .conditions = conditions,
        .n_totals = diff->n_metrics,
        .totals = totals,
        .sorted_by = gatherer->view.by.key,
    };
    gather_modules(gatherer, ret);
    gather_operators(gatherer, ret);
}

int diff_json_write(const struct cm_diff *diff, const struct cm_diff_options *options,
                    bool in_html, FILE *out) {
    struct gatherer gatherer = {.diff = diff, .arena = arena_new("diff json", 0)};
    struct diff_document document;
    if (gatherer.arena == NULL) return CM_NO_MEMORY;
    int status = view_make(diff, options, gatherer.arena, &gatherer.view);
    if (status == CM_OK) gather(&gatherer, &document);
    if (status == CM_OK && !arena_failed(gatherer.arena))
        status = json_document_write(&json_diff, &document, in_html, out);
    return arena_end(gatherer.arena, status);
}

int cm_diff_write_json(const struct cm_diff *diff, const struct cm_diff_options *options,
                       FILE *out) {
    options = ARGUMENTS_TAKE(cm_diff_options, options, diff && out, NULL);
    if (options == NULL) return CM_USAGE;
    return diff_json_write(diff, options, false, out);
}
