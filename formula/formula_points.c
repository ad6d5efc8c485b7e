/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the passes up to the peaks at each point. A model accepts sizes if the passes succeed
 * and its modules are those of the other profiles. */
#include "formula/formula.h"

#include <string.h>

#include "passes/batch/batch.h"
#include "passes/memory/liveness.h"
#include "passes/modules/modules.h"
#include "passes/pipeline/pipeline.h"
#include "passes/summary/peak_memory.h"
#include "passes/work.h"
#include "report/table/columns.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

#define MAX_PROFILES 4096
#define MAX_BYTES    ((size_t)1 << 30) /* of the figures of all profiles */

static const char peak[] = "peak_activation_bytes";

/* Returns the number of columns that are not times, and one more for the peak. */
size_t points_n_metrics(void) {
    size_t n = 1;
    for (size_t i = 0; i < n_columns; i++) n += !columns[i].timed;
    return n;
}

static const struct column *metric_column(size_t index) {
    for (size_t i = 0; i < n_columns; i++)
        if (!columns[i].timed && index-- == 0) return &columns[i];
    return NULL;
}

const char *points_metric(size_t index) {
    const struct column *column = metric_column(index);
    return column ? column->key : peak;
}

struct cm_options points_plain_options(const struct points *points) {
    struct cm_options options = *points->options;
    options.backend = NULL;
    options.n_times = 0;
    options.dump = NULL;
    options.dump_after = NULL;
    options.memory_limit = 0;
    options.memory_plan = false;
    options.memory_curve = false;
    options.n_explain = 0;
    return options;
}

/* Returns the options with these sizes; `dims` is in `arena`, NULL if out of memory. */
static struct cm_options options_at(const struct points *points, const int64_t *sizes,
                                    struct arena *arena) {
    struct cm_dim_option *dims =
        arena_array(arena, points->options->n_dims + points->n_variables, sizeof(*dims));
    struct cm_options options = points_plain_options(points);
    size_t n = 0;
    for (size_t i = 0; dims && i < options.n_dims; i++) dims[n++] = points->options->dims[i];
    for (size_t i = 0; dims && i < points->n_variables; i++) {
        const struct variable *variable = &points->variables[i];
        if (variable->name)
            dims[n++] = (struct cm_dim_option){variable->name, sizes[variable->same_as]};
        else
            options.batch = sizes[i];
    }
    options.n_dims = n;
    options.dims = dims;
    return options;
}

int points_profile(const struct points *points, const int64_t *sizes,
                   struct cm_diagnostics *diag, struct cm_result **ret) {
    struct arena *arena = arena_new("trial", 0);
    int status = CM_NO_MEMORY;
    if (arena) {
        const struct cm_options options = options_at(points, sizes, arena);
        if (options.dims) status = cm_model_profile(points->model, &options, diag, ret);
    }
    arena_free(arena);
    return status;
}

static int copy_values(struct points *points, const struct analysis *analysis,
                       struct point *point) {
    const struct modules_table *modules = analysis->modules;
    const size_t n_metrics = points->n_metrics;
    if (points->n_modules == 0) {
        points->n_modules = modules->n_modules;
        points->paths = arena_array(points->arena, modules->n_modules, sizeof(*points->paths));
        if (!points->paths) return CM_NO_MEMORY;
        for (size_t i = 0; i < modules->n_modules; i++) {
            points->paths[i] = arena_strdup(points->arena, modules->modules[i].path);
            if (!points->paths[i]) return CM_NO_MEMORY;
        }
    }
    /* Sizes that change the modules are not accepted. Folding can depend on sizes. */
    if (modules->n_modules != points->n_modules) return CM_OK;
    for (size_t i = 0; i < points->n_modules; i++)
        if (!text_equal(points->paths[i], modules->modules[i].path)) return CM_OK;
    const size_t n_nodes = analysis->model->n_nodes;
    const size_t n = modules->n_modules * n_metrics + n_nodes;
    if (n > MAX_BYTES / sizeof(int64_t) / (points->n + 1))
        return diag_error(points->diag, DIAG_LIMIT, "the figures of %zu profiles exceed 1 GiB",
                          points->n + 1);
    int64_t *values = arena_array(points->arena, n, sizeof(*values));
    if (!values) return CM_NO_MEMORY;
    for (size_t i = 0; i < n - n_nodes; i++) {
        const struct column *column = metric_column(i % n_metrics);
        values[i] = column ? column_get(column, &modules->modules[i / n_metrics].costs)
                           : analysis->peak_memory->of_module[i / n_metrics];
    }
    for (uint32_t step = 0; step < analysis->liveness->n_steps; step++)
        values[n - n_nodes + analysis->liveness->node_at[step]] =
            analysis->liveness->live[step];
    point->values = values;
    return CM_OK;
}

static int profile(struct points *points, struct arena *arena, struct cm_diagnostics *diag,
                   struct point *point) {
    const struct cm_options options = options_at(points, point->sizes, arena);
    struct analysis analysis = {.model = points->model->model,
                                .arena = arena,
                                .diag = diag,
                                .options = &options,
                                .work = points->work};
    if (!options.dims) return CM_NO_MEMORY;
    const int status = pipeline_run_to(&analysis, TABLE_PEAK_MEMORY);
    if (status == CM_NO_MEMORY) return status;
    if (status < 0) return CM_OK;
    points->fixed = analysis.batch->batch;
    return copy_values(points, &analysis, point);
}

int points_at(struct points *points, const int64_t *sizes, const struct point **ret) {
    const size_t size = points->n_variables * sizeof(*sizes);
    for (size_t i = 0; i < points->n; i++) {
        if (memcmp(points->items[i].sizes, sizes, size) != 0) continue;
        *ret = points->items[i].values ? &points->items[i] : NULL;
        return CM_OK;
    }
    if (points->n == MAX_PROFILES || !work_run(points->work, points->model->model->n_nodes))
        return diag_error(points->diag, DIAG_LIMIT, "--formula needs more than %zu profiles",
                          points->n);
    struct point *items =
        arena_grow(points->arena, points->items, points->n, &points->capacity, sizeof(*items));
    if (!items) return CM_NO_MEMORY;
    points->items = items;
    struct point *point = &points->items[points->n++];
    *point = (struct point){.values = NULL};
    memcpy(point->sizes, sizes, size);
    struct arena *arena = arena_new("trial", 0);
    struct cm_diagnostics *diag = cm_diagnostics_new();
    const int status = arena && diag ? profile(points, arena, diag, point) : CM_NO_MEMORY;
    arena_free(arena);
    cm_diagnostics_free(diag);
    if (status == CM_OK) *ret = point->values ? point : NULL;
    return status;
}
