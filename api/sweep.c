/* SPDX-License-Identifier: Apache-2.0 */
/* --batch 1,8,32 and campaigns: one profile per point, and a table of them. */
#include "api/sweep.h"

#include <string.h>

#include "api/assemble.h"
#include "api/profiling.h"
#include "costmodel/costmodel.h"
#include "report/table/columns.h"
#include "support/arena.h"
#include "support/arguments.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/option_names.h"
#include "support/text.h"

#define MAX_NODES 30000 /* of the results of a sweep, except the first */

struct sweeping {
    struct cm_model *model;
    struct cm_options options;
    const struct cm_sweep_point *points;
    struct profiling profiling; /* of the last point; points before it may share it */
    int analysed;               /* status of profiling_begin */
    struct cm_diagnostics
        *analysis_messages;          /* messages of profiling_begin; NULL if none is open */
    struct cm_diagnostics *messages; /* messages of the profiles */
    size_t n_lost;                   /* messages dropped because an allocation failed */
    struct cm_sweep *ret;
    struct cm_result **results; /* of the rows: sweep->results */
    size_t n_left;              /* results to keep */
    size_t nodes_left;          /* of these; SIZE_MAX: any number of the first */
    struct sweep_layers layers; /* arena NULL: not requested */
    bool failed;                /* out of memory */
};

static const char *copy(struct sweeping *sweeping, const char *text) {
    const char *ret = arena_strdup(sweeping->ret->arena, text ? text : "");
    if (ret == NULL) sweeping->failed = true;
    return ret ? ret : "";
}

const char *sweep_first_message(const struct cm_diagnostics *diag) {
    const struct cm_diagnostic *error = diag_first_error(diag);
    if (error != NULL) return error->message;
    for (size_t i = 0; i < cm_diagnostics_count(diag); i++)
        if (cm_diagnostics_get(diag, i)->severity == CM_WARNING)
            return cm_diagnostics_get(diag, i)->message;
    return "";
}

/* Returns the MACs of the nodes whose primitives have a time; CM_UNKNOWN on overflow. */
static int64_t timed_macs(const struct cm_result *result) {
    const struct cm_measure *measure = result->measure;
    int64_t sum = 0;
    for (size_t i = 0; i < measure->n_primitives; i++) {
        const struct cm_timed *timed = &measure->primitives[i];
        if (!is_known(timed->median_ps)) continue;
        for (size_t k = 0; k < timed->n_nodes; k++) {
            const int64_t macs = result->nodes[timed->nodes[k]].costs.macs;
            if (is_known(macs)) checked_add_to(&sum, macs);
        }
    }
    return is_known(sum) ? sum : CM_UNKNOWN;
}

/* Returns "planned", "modelled", "invented" or "measured"; proxies count as measured. */
static const char *state_of_times(const struct cm_result *result) {
    if (result->measure->planned) return "planned";
    if (result->measure->modelled) return "modelled";
    return result->measure->invented ? "invented" : "measured";
}

static void fill_times(struct sweeping *sweeping, const struct cm_result *result,
                       struct cm_sweep_row *row) {
    if (cm_result_planned(result)) {
        const struct cm_measure *measure = result->measure;
        struct cm_sweep_plans *plans = arena_alloc(sweeping->ret->arena, sizeof(*plans));
        for (size_t i = 0; plans != NULL && i < measure->n_states; i++)
            if (text_equal(measure->states[i].state, "planned"))
                plans->planned_macs = measure->states[i].macs;
        for (size_t i = 0; plans != NULL && i < measure->n_primitives; i++)
            if (text_equal(measure->primitives[i].state, "planned") &&
                measure->primitives[i].workspace_bytes > plans->workspace_bytes)
                plans->workspace_bytes = measure->primitives[i].workspace_bytes;
        row->plans = plans;
    } else if (cm_result_timed(result)) {
        row->timed_macs = timed_macs(result);
        row->untimed_nodes = 0;
        for (size_t i = 0; i < result->measure->n_untimed; i++)
            checked_add_known_to(&row->untimed_nodes, result->measure->untimed[i].nodes);
        row->cached = result->measure->n_cached;
    } else {
        return;
    }
    row->device_bytes = result->measure->memory_bytes;
    if (result->time_error.present) {
        row->latency_low_ps = result->time_error.latency_low_ps;
        row->latency_high_ps = result->time_error.latency_high_ps;
    }
    row->device = copy(sweeping, result->measure->device);
    row->times = state_of_times(result);
    if (sweeping->ret->times[0] != '\0') return;
    sweeping->ret->times = copy(sweeping, state_of_times(result));
    sweeping->ret->device = copy(sweeping, result->measure->device);
}

static void copy_custom_ops(struct sweeping *sweeping, const struct cm_coverage *coverage) {
    const size_t n = coverage->n_custom_ops;
    if (n == 0 || sweeping->ret->n_custom_ops > 0) return;
    struct cm_name_count *list = arena_array(sweeping->ret->arena, n, sizeof(*list));
    if (list == NULL) {
        sweeping->failed = true;
        return;
    }
    for (size_t i = 0; i < n; i++)
        list[i] = (struct cm_name_count){copy(sweeping, coverage->custom_ops[i].name),
                                         coverage->custom_ops[i].count};
    sweeping->ret->n_custom_ops = n;
    sweeping->ret->custom_ops = list;
}

static void fill_row(struct sweeping *sweeping, const struct cm_result *result,
                     const struct cm_diagnostics *diag, struct cm_sweep_row *row) {
    uint32_t shown_costs = 0;
    for (size_t i = 0; i < n_columns; i++)
        if (columns[i].of_batch) shown_costs |= column_bit(&columns[i]);
    if (!is_known(row->batch)) row->batch = result->options.batch;
    row->costs = result->totals;
    row->costs.upper_bound &= shown_costs;
    columns_clear_missing(result, &row->costs);
    row->peak_activation_bytes = result->memory.peak_activation_bytes;
    row->arena_bytes = result->memory.arena_bytes;
    row->required_bytes = result->memory.required_bytes;
    row->peak_upper_bound = result->memory.peak_upper_bound;
    row->memory_upper_bound = result->memory.upper_bound;
    row->precision = copy(sweeping, result->options.precision);
    fill_times(sweeping, result, row);
    copy_custom_ops(sweeping, &result->coverage);
    if (cm_result_lacks_times(result) || !cm_result_complete(result)) {
        row->state = "incomplete";
        row->problem = copy(sweeping, sweep_first_message(diag));
    }
    const int64_t limit = sweeping->ret->memory_limit;
    if (!is_known(limit) || (is_known(row->required_bytes) && row->required_bytes <= limit))
        return;
    row->state = "misfit";
    row->problem = "required memory exceeds the limit";
}

const char *sweep_state(int status, const struct cm_diagnostics *diag) {
    if (status == CM_OK) return "done";
    if (status == CM_IO && diag->is_transient) return "transient";
    if (status == CM_USAGE) return "usage";
    return status == CM_REFUSED ? "refused" : "failed";
}

static bool share_analysis(const struct cm_sweep_point *a, const struct cm_sweep_point *b) {
    bool is_same =
        a->batch == b->batch && a->n_dims == b->n_dims && a->precision == b->precision;
    for (size_t i = 0; is_same && i < a->n_dims; i++)
        is_same =
            text_equal(a->dims[i].name, b->dims[i].name) && a->dims[i].size == b->dims[i].size;
    return is_same;
}

static void end_analysis(struct sweeping *sweeping) {
    if (sweeping->analysis_messages == NULL) return;
    profiling_end(&sweeping->profiling);
    cm_diagnostics_free(sweeping->analysis_messages);
    sweeping->analysis_messages = NULL;
}

/* Profiles the model at point i; the result is valid until the next point. */
static int profile_point(struct sweeping *sweeping, size_t i, struct cm_diagnostics *diag,
                         struct cm_result **ret) {
    const struct cm_sweep_point *point = &sweeping->points[i];
    sweeping->options.batch = point->batch;
    sweeping->options.n_dims = point->n_dims;
    sweeping->options.dims = point->dims;
    sweeping->options.precision = point->precision;
    sweeping->options.backend = point->backend;
    /* Start an analysis unless the previous point shares its own. */
    if (sweeping->analysis_messages == NULL || !share_analysis(&point[-1], point)) {
        end_analysis(sweeping);
        sweeping->analysis_messages = cm_diagnostics_new();
        if (sweeping->analysis_messages == NULL) return CM_NO_MEMORY;
        sweeping->analysed = profiling_begin(&sweeping->profiling, sweeping->model,
                                             &sweeping->options, sweeping->analysis_messages);
    }
    for (size_t k = 0; k < cm_diagnostics_count(sweeping->analysis_messages); k++)
        diag_repeat(diag, cm_diagnostics_get(sweeping->analysis_messages, k));
    diag->n_dropped += sweeping->analysis_messages->n_dropped;
    if (sweeping->analysed != CM_OK) return sweeping->analysed;
    sweeping->profiling.of_sweep = sweeping->n_left == 0;
    return profiling_finish(&sweeping->profiling, &sweeping->options, diag, 0, ret);
}

/* Clears options that only a single profile needs. Rows show whether they fit, but a sweep does
 * not search for the largest batch. */
static void drop_details(struct cm_options *options) {
    options->memory_limit = 0;
    options->fit_device = false;
    options->memory_curve = false;
    options->memory_plan = false;
}

/* Keeps the result of point i beyond the next point. */
static void keep(struct sweeping *sweeping, size_t i, struct cm_result *result) {
    const bool fits = result->n_nodes <= sweeping->nodes_left;
    sweeping->n_left = fits ? sweeping->n_left - 1 : 0;
    if (fits) {
        sweeping->results[i] = result;
        sweeping->nodes_left = sweeping->nodes_left == SIZE_MAX
                                   ? MAX_NODES
                                   : sweeping->nodes_left - result->n_nodes;
        sweeping->profiling.result_arena = NULL;
        end_analysis(sweeping);
    }
    if (sweeping->n_left == 0) drop_details(&sweeping->options); /* of the other points */
}

static void profile_one(struct sweeping *sweeping, size_t i, struct cm_diagnostics *diag,
                        struct cm_sweep_row *row) {
    struct cm_result *result = NULL;
    const int status = profile_point(sweeping, i, diag, &result);
    row->state = sweep_state(status, diag);
    if (status == CM_NO_MEMORY) sweeping->failed = true;
    if (status == CM_OK) {
        fill_row(sweeping, result, diag, row);
        if (sweeping->layers.arena != NULL) sweep_layers_add(&sweeping->layers, i, result);
        const size_t dropped = sweeping->messages->n_dropped;
        for (size_t k = 0; k < result->n_diagnostics; k++)
            diag_repeat(sweeping->messages, &result->diagnostics[k]);
        const size_t lost = diag->n_dropped + sweeping->messages->n_dropped - dropped;
        if (lost > sweeping->n_lost) sweeping->n_lost = lost;
    } else {
        row->problem = copy(sweeping, sweep_first_message(diag));
    }
    if (status == CM_OK && sweeping->n_left > 0) keep(sweeping, i, result);
}

struct cm_sweep_row sweep_empty_row(int64_t batch) {
    struct cm_sweep_row row = {
        .combination = CM_NO_INDEX,
        .batch = batch > 0 ? batch : CM_UNKNOWN,
        .state = "done",
        .problem = "",
        .peak_activation_bytes = CM_UNKNOWN,
        .arena_bytes = CM_UNKNOWN,
        .required_bytes = CM_UNKNOWN,
        .timed_macs = CM_UNKNOWN,
        .untimed_nodes = CM_UNKNOWN,
        .device_bytes = CM_UNKNOWN,
        .latency_low_ps = CM_UNKNOWN,
        .latency_high_ps = CM_UNKNOWN,
        .speedup = CM_UNKNOWN,
    };
    for (size_t i = 0; i < n_columns; i++) column_set(&columns[i], &row.costs, CM_UNKNOWN);
    return row;
}

static void sweep_all(struct sweeping *sweeping, struct cm_sweep_row *rows) {
    for (size_t i = 0; i < sweeping->ret->n_rows && !sweeping->failed; i++) {
        struct cm_diagnostics *diag = cm_diagnostics_new();
        const struct cm_progress at = {"batches", 0, i, sweeping->ret->n_rows};
        rows[i] = sweep_empty_row(sweeping->points[i].batch);
        if (sweeping->points[i].precision != CM_PRECISION_AS_STORED)
            rows[i].precision = option_precision_name((int32_t)sweeping->points[i].precision);
        if (sweeping->options.progress != NULL)
            sweeping->options.progress(sweeping->options.progress_context, &at);
        if (diag == NULL)
            sweeping->failed = true;
        else
            profile_one(sweeping, i, diag, &rows[i]);
        cm_diagnostics_free(diag);
    }
    end_analysis(sweeping);
}

/* If the points have several backends, sets the device of each row to what its backend names:
 * "t4" of "roofline:device=t4". Rows without figures have no device else. */
static void name_devices(struct sweeping *sweeping, struct cm_sweep_row *rows) {
    const struct cm_sweep_point *points = sweeping->points;
    bool is_one = true;
    for (size_t i = 1; i < sweeping->ret->n_rows && is_one; i++)
        is_one = text_equal(points[0].backend, points[i].backend);
    for (size_t i = 0; i < sweeping->ret->n_rows && !is_one; i++) {
        const char *equals = points[i].backend ? strrchr(points[i].backend, '=') : NULL;
        rows[i].device = copy(sweeping, equals ? equals + 1 : points[i].backend);
    }
}

/* Copies the messages that are not the problem of a row into the sweep. */
static int keep_messages(struct sweeping *sweeping) {
    struct message_list list;
    struct cm_sweep *sweep = sweeping->ret;
    const int status = assemble_messages(sweeping->messages, 0, sweep->arena, &list);
    if (status != CM_OK) return status;
    for (size_t i = 0; i < list.n; i++) {
        bool is_problem = false;
        for (size_t k = 0; k < sweep->n_rows && !is_problem; k++)
            is_problem = text_equal(sweep->rows[k].problem, list.items[i].message);
        if (!is_problem) list.items[sweep->n_diagnostics++] = list.items[i];
    }
    sweep->diagnostics = list.items;
    return CM_OK;
}

static struct cm_sweep *new_sweep(size_t n, struct cm_sweep_row **ret_rows,
                                  struct cm_result ***ret_results) {
    struct arena *arena = arena_new("result", 0);
    struct cm_sweep *sweep = arena ? arena_alloc(arena, sizeof(*sweep)) : NULL;
    *ret_rows = arena ? arena_array(arena, n, sizeof(**ret_rows)) : NULL;
    *ret_results = arena ? arena_array(arena, n, sizeof(struct cm_result *)) : NULL;
    if (sweep == NULL || *ret_rows == NULL || *ret_results == NULL) {
        arena_free(arena);
        return NULL;
    }
    *sweep = (struct cm_sweep){.device = "", .times = "", .n_rows = n, .rows = *ret_rows};
    sweep->arena = arena;
    sweep->results = *ret_results;
    return sweep;
}

static int sweep_points(struct sweeping *sweeping, size_t n, struct cm_diagnostics *diagnostics,
                        struct cm_sweep **ret_sweep) {
    struct cm_sweep_row *rows = NULL;
    const struct cm_options *options = &sweeping->options;
    sweeping->messages = cm_diagnostics_new();
    struct cm_sweep *sweep =
        sweeping->messages ? new_sweep(n, &rows, &sweeping->results) : NULL;
    sweeping->ret = sweep;
    if (sweep == NULL) {
        cm_diagnostics_free(sweeping->messages);
        return diag_no_memory(diagnostics);
    }
    sweep->memory_limit = options->memory_limit > 0 ? options->memory_limit : CM_UNKNOWN;
    sweep->model = copy(sweeping, cm_model_path(sweeping->model));
    sweep->convention = copy(sweeping, options->convention);
    sweep->backend = copy(sweeping, options->backend);
    sweeping->n_left = options->sweep_results;
    sweeping->nodes_left = SIZE_MAX;
    if (sweeping->n_left == 0) drop_details(&sweeping->options);
    struct arena *layers = options->sweep_layers ? arena_new("layers", 0) : NULL;
    if (options->sweep_layers && layers == NULL) sweeping->failed = true;
    sweeping->layers =
        (struct sweep_layers){.arena = layers, .result_arena = sweep->arena, .n_rows = n};
    sweep_all(sweeping, rows);
    name_devices(sweeping, rows);
    if (layers != NULL) sweep_layers_finish(&sweeping->layers, rows, sweep);
    if (layers != NULL && arena_failed(layers)) sweeping->failed = true;
    arena_free(layers);
    for (size_t i = 0; i < cm_diagnostics_count(sweeping->messages) && diagnostics; i++)
        diag_repeat(diagnostics, cm_diagnostics_get(sweeping->messages, i));
    if (diagnostics != NULL) diagnostics->n_dropped += sweeping->n_lost;
    if (keep_messages(sweeping) != CM_OK) sweeping->failed = true;
    cm_diagnostics_free(sweeping->messages);
    if (sweeping->failed || arena_failed(sweep->arena) || diag_starved(diagnostics)) {
        cm_sweep_free(sweep);
        return diag_no_memory(diagnostics);
    }
    *ret_sweep = sweep;
    return CM_OK;
}

int cm_model_sweep_points(struct cm_model *model, const struct cm_options *options,
                          const struct cm_sweep_point *points, size_t n,
                          struct cm_diagnostics *diagnostics, struct cm_sweep **ret_sweep) {
    struct sweeping sweeping = {.model = model, .points = points};
    const int status =
        arguments_check(ARGUMENT_cm_sweep_point, points, n, model && ret_sweep, diagnostics);
    if (status < 0) return status;
    if (!arguments_take(ARGUMENT_cm_options, options, &sweeping.options, true, diagnostics))
        return CM_USAGE;
    return sweep_points(&sweeping, n, diagnostics, ret_sweep);
}

int cm_model_sweep(struct cm_model *model, const struct cm_options *options,
                   const int64_t *batches, size_t n, struct cm_diagnostics *diagnostics,
                   struct cm_sweep **ret_sweep) {
    const bool others = model && (batches || n == 0) && ret_sweep;
    options = ARGUMENTS_TAKE(cm_options, options, others, diagnostics);
    if (options == NULL) return CM_USAGE;
    struct arena *arena = arena_new("points", 0);
    struct cm_sweep_point *points = arena ? arena_array(arena, n, sizeof(*points)) : NULL;
    int status = points ? CM_OK : diag_no_memory(diagnostics);
    for (size_t i = 0; i < n && status == CM_OK; i++) {
        points[i] = (struct cm_sweep_point){batches[i], options->n_dims, options->dims,
                                            options->precision, options->backend};
        if (batches[i] < 1)
            status = diag_error(diagnostics, DIAG_USAGE, "batch must be >= 1, got %lld",
                                (long long)batches[i]);
    }
    if (status == CM_OK && options->n_times > 0 && n > 1)
        status =
            diag_error(diagnostics, DIAG_USAGE, "imported times require one batch, got %zu", n);
    struct sweeping sweeping = {.model = model, .options = *options, .points = points};
    if (status == CM_OK) status = sweep_points(&sweeping, n, diagnostics, ret_sweep);
    arena_free(arena);
    return status;
}

void cm_sweep_free(struct cm_sweep *sweep) {
    if (sweep == NULL) return;
    for (size_t i = 0; i < sweep->n_rows && sweep->results != NULL; i++)
        cm_result_free(sweep->results[i]);
    arena_free(sweep->arena);
}
