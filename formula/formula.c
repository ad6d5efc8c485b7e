/* SPDX-License-Identifier: Apache-2.0 */
/* The public API of --formula: builds the result from profiles. */
#include "formula/formula.h"

#include "passes/work.h"
#include "support/arena.h"
#include "support/arguments.h"
#include "support/diag.h"
#include "support/text.h"

/* Returns the name of a variable. The batch is called N, or "batch" if a dim has the name N. */
static const char *name_of(const struct points *points, size_t index) {
    const char *name = points->variables[index].name;
    if (name) return name;
    for (size_t i = 0; i < points->n_variables; i++)
        if (points->variables[i].name && text_equal(points->variables[i].name, "N"))
            return "batch";
    return "N";
}

static const char *dim_of(const struct points *points, const struct variable *variable) {
    if (variable->name) return variable->name;
    return points->batch_dim ? points->batch_dim : "";
}

static void copy_variables(const struct points *points, struct cm_formula *formula) {
    struct cm_formula_variable *list =
        arena_array(formula->arena, points->n_variables, sizeof(*list));
    if (!list) return;
    for (size_t i = 0; i < points->n_variables; i++) {
        const struct variable *variable = &points->variables[i];
        const struct variable *same = &points->variables[variable->same_as];
        list[i] = (struct cm_formula_variable){
            .name = arena_strdup(formula->arena, name_of(points, i)),
            .what = variable->name ? "dim" : "batch",
            .dim = arena_strdup(formula->arena, dim_of(points, variable)),
            .same_as = variable->same_as == i
                           ? ""
                           : arena_strdup(formula->arena, name_of(points, variable->same_as)),
            .from = same->axis.from,
            .step = same->axis.step,
            .largest = variable->largest,
        };
    }
    formula->n_variables = points->n_variables;
    formula->variables = list;
}

static bool is_variable(const struct points *points, const char *dim) {
    for (size_t i = 0; i < points->n_variables; i++)
        if (text_equal(dim_of(points, &points->variables[i]), dim)) return true;
    return false;
}

/* Copies names of the model and its modules from a profile. */
static void copy_names(const struct points *points, const struct cm_result *result,
                       struct cm_formula *formula) {
    struct arena *arena = formula->arena;
    struct cm_formula_module *modules =
        arena_copy(arena, formula->modules, formula->n_modules * sizeof(*formula->modules));
    struct cm_named_size *dims = arena_array(arena, result->options.n_dims, sizeof(*dims));
    BUG_ON(result->n_modules != formula->n_modules);
    if (!modules || !dims) return;
    for (size_t i = 0; i < result->n_modules; i++) {
        modules[i].path = arena_strdup(arena, result->modules[i].path);
        modules[i].name = arena_strdup(arena, result->modules[i].name);
        modules[i].type = arena_strdup(arena, result->modules[i].type);
        modules[i].depth = result->modules[i].depth;
    }
    for (size_t i = 0; i < result->options.n_dims; i++) {
        const struct cm_named_size *dim = &result->options.dims[i];
        if (is_variable(points, dim->name)) continue;
        dims[formula->n_dims++] =
            (struct cm_named_size){arena_strdup(arena, dim->name), dim->size};
    }
    formula->modules = modules;
    formula->dims = dims;
    formula->model = arena_strdup(arena, result->model.path);
    formula->convention = arena_strdup(arena, result->options.convention);
    if (cm_result_converted(result))
        formula->precision = arena_strdup(arena, result->options.precision);
    formula->mode = arena_strdup(arena, result->options.mode);
}

static int find(struct points *points, struct cm_formula *formula) {
    struct cm_result *result = NULL;
    int status = profile_options_check(points->options, points->arena, points->diag);
    if (status == CM_OK) status = formula_find_axes(points, &formula->fixed_batch);
    if (status == CM_OK) status = formula_fit(points, formula);
    if (status == CM_OK) status = points_profile(points, points->anchor, points->diag, &result);
    if (status < 0) return status;
    copy_names(points, result, formula);
    copy_variables(points, formula);
    cm_result_free(result);
    formula->fixed_batch = arena_strdup(formula->arena, formula->fixed_batch);
    return arena_failed(formula->arena) ? CM_NO_MEMORY : CM_OK;
}

int cm_model_formula(struct cm_model *model, const struct cm_options *options,
                     struct cm_diagnostics *diagnostics, struct cm_formula **ret_formula) {
    options = ARGUMENTS_TAKE(cm_options, options, model && ret_formula, diagnostics);
    if (options == NULL) return CM_USAGE;
    struct arena *result = arena_new("result", 0);
    struct arena *arena = arena_new("formula", 0);
    struct work work = work_start(arena, model->model->n_nodes);
    struct cm_formula *formula = result ? arena_alloc(result, sizeof(*formula)) : NULL;
    struct points points = {.model = model,
                            .options = options,
                            .arena = arena,
                            .work = &work,
                            .diag = diagnostics,
                            .n_metrics = points_n_metrics()};
    int status = CM_NO_MEMORY;
    if (formula && arena) {
        *formula = (struct cm_formula){.fixed_batch = "", .arena = result};
        status = find(&points, formula);
        if (status == CM_OK) work_note(&work, diagnostics);
        if (arena_failed(result) || arena_failed(arena)) status = CM_NO_MEMORY;
    }
    status = diag_finish(diagnostics, status);
    arena_free(arena);
    if (status < 0)
        arena_free(result);
    else
        *ret_formula = formula;
    return status;
}

void cm_formula_free(struct cm_formula *formula) {
    if (formula) arena_free(formula->arena);
}
