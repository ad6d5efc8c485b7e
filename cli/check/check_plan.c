/* SPDX-License-Identifier: Apache-2.0 */
/* Selects batches, dims and convention: those of the command line, else of the budget, else of
 * the baseline, else the defaults. */
#include "cli/check/check_command.h"

#include <inttypes.h>
#include <stdio.h>

#include "costmodel/compare.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/text.h"

static bool is_convention(const char *name) {
    for (size_t i = 0; cm_convention_at(i) != NULL; i++)
        if (text_equal(cm_convention_at(i)->name, name)) return true;
    return false;
}

/* Appends a batch unless it is in the list: a baseline with a batch twice cannot be read. */
static int add_batch(const struct invocation *call, int64_t batch, int64_t *batches,
                     size_t *n) {
    for (size_t i = 0; i < *n; i++)
        if (batches[i] == batch) return CM_OK;
    if (*n == MAX_INTEGERS)
        return options_fault(call, "at most %d batches are supported", MAX_INTEGERS);
    batches[(*n)++] = batch;
    return CM_OK;
}

/* Lists the batches of the command line, else of the budget, else of the baseline. */
static int choose_batches(const struct invocation *call, const struct check_request *request,
                          const struct cm_budget *budget, const struct cm_baseline *baseline,
                          struct check_plan *plan) {
    const struct option_integers *given = &request->binding.batches;
    const size_t n_budget = given->n > 0 || budget == NULL ? 0 : budget->n_batches;
    const size_t n_baseline =
        given->n > 0 || n_budget > 0 || baseline == NULL ? 0 : baseline->n_profiles;
    size_t *n = &plan->n_batches;
    int64_t *batches =
        arena_array(call->arena, n_budget + n_baseline + given->n + 1, sizeof(*batches));
    int status = CM_OK;
    if (batches == NULL) return diag_no_memory(call->diag);
    plan->batches = batches;
    for (size_t i = 0; i < given->n && status == CM_OK; i++)
        status = add_batch(call, given->values[i], batches, n);
    for (size_t i = 0; i < n_budget && status == CM_OK; i++) {
        if (budget->batches[i] < 1 || budget->batches[i] > INT64_MAX)
            return options_fault(call, "%s: batch must be >= 1, got %zu", request->budget,
                                 budget->batches[i]);
        status = add_batch(call, (int64_t)budget->batches[i], batches, n);
    }
    for (size_t i = 0; i < n_baseline && status == CM_OK; i++) {
        const int64_t batch = baseline->profiles[i].figures.options.batch;
        status = add_batch(call, is_known(batch) ? batch : 0, batches, n);
    }
    if (*n == 0) *n = 1; /* the batch of the file */
    return status;
}

static bool is_given(const struct cm_options *options, const char *name) {
    for (size_t i = 0; i < options->n_dims; i++)
        if (text_equal(options->dims[i].name, name)) return true;
    return false;
}

/* Returns a copy of options->dims with room for `n` more; NULL if out of memory. */
static struct cm_dim_option *copy_dims(const struct invocation *call,
                                       const struct cm_options *options, size_t n) {
    struct cm_dim_option *dims = arena_array(call->arena, options->n_dims + n, sizeof(*dims));
    for (size_t i = 0; dims != NULL && i < options->n_dims; i++) dims[i] = options->dims[i];
    return dims;
}

/* Adds the dims of the budget, the file `path`, unless the command line binds them. */
static int add_budget_dims(const struct invocation *call, const char *path,
                           const struct cm_budget *budget, struct cm_options *options) {
    for (size_t i = 0; i < budget->n_dims; i++)
        if (budget->dims[i].size < 0)
            return options_fault(call, "%s: size of dim '%s' must be >= 0", path,
                                 budget->dims[i].name);
    struct cm_dim_option *dims = copy_dims(call, options, budget->n_dims);
    size_t n = options->n_dims;
    if (dims == NULL) return diag_no_memory(call->diag);
    for (size_t i = 0; i < budget->n_dims; i++)
        if (!is_given(options, budget->dims[i].name))
            dims[n++] = (struct cm_dim_option){budget->dims[i].name, budget->dims[i].size};
    options->dims = dims;
    options->n_dims = n;
    return CM_OK;
}

int check_plan_make(const struct invocation *call, const struct check_request *request,
                    const struct cm_budget *budget, const struct cm_baseline *baseline,
                    struct check_plan *ret) {
    int status = choose_batches(call, request, budget, baseline, ret);
    if (status == CM_OK && budget != NULL)
        status = add_budget_dims(call, request->budget, budget, &ret->options);
    if (ret->options.convention != NULL) return status; /* of the command line */
    if (budget != NULL && budget->convention[0] != '\0')
        ret->options.convention = budget->convention;
    else if (baseline != NULL && baseline->n_profiles > 0 &&
             is_convention(baseline->profiles[0].figures.options.convention))
        ret->options.convention = baseline->profiles[0].figures.options.convention;
    else /* also if the baseline has an unknown one, which the comparison reports */
        ret->options.convention = cm_convention_at(0)->name;
    return status;
}

int check_plan_take_limits(const struct invocation *call, size_t n,
                           const struct cm_check_limit *limits, struct check_plan *plan) {
    int64_t *limit_batches = arena_array(call->arena, n, sizeof(*limit_batches));
    if (limit_batches == NULL) return diag_no_memory(call->diag);
    plan->limit_batches = limit_batches;
    for (size_t i = 0; i < n; i++) {
        int64_t batch = CM_UNKNOWN;
        int status = cm_check_limit_batch(&limits[i], call->diag, &batch);
        if (status == CM_OK && is_known(batch))
            status = add_batch(call, batch, limit_batches, &plan->n_limit_batches);
        size_t metric = 0;
        struct cm_figure figure;
        if (status == CM_OK) status = cm_check_limit_metric(&limits[i], call->diag, &metric);
        if (status != CM_OK) return status;
        plan->n_llm_limits += cm_metric_of_llm(metric, NULL, &figure);
    }
    return CM_OK;
}

/* Returns the size of a symbolic dim in the baseline; -1: none. */
static int64_t kept_size(const struct cm_baseline *baseline, const char *name) {
    for (size_t i = 0; i < baseline->n_profiles; i++) {
        const struct cm_result *figures = &baseline->profiles[i].figures;
        for (size_t k = 0; k < figures->options.n_dims; k++)
            if (text_equal(figures->options.dims[k].name, name))
                return figures->options.dims[k].size;
    }
    return -1;
}

static int copy_baseline_dims(const struct invocation *call, const struct cm_baseline *baseline,
                              const struct cm_dims *free_dims, struct cm_options *options) {
    struct cm_dim_option *dims = copy_dims(call, options, free_dims->n);
    if (dims == NULL) return diag_no_memory(call->diag);
    for (size_t i = 0; i < free_dims->n; i++) {
        const int64_t size = kept_size(baseline, free_dims->dims[i].name);
        if (is_known(free_dims->dims[i].size) || size < 0) continue;
        const char *name = arena_strdup(call->arena, free_dims->dims[i].name);
        const char *shown = text_label(call->arena, free_dims->dims[i].name);
        if (arena_failed(call->arena)) return diag_no_memory(call->diag);
        dims[options->n_dims++] = (struct cm_dim_option){name, size};
        fprintf(stderr, "costmodel: dim %s is %" PRId64 ", as in the baseline\n", shown, size);
    }
    options->dims = dims;
    return CM_OK;
}

int check_plan_take_dims(const struct invocation *call, const struct cm_baseline *baseline,
                         struct cm_model *model, struct check_plan *plan) {
    struct cm_options options = plan->options;
    struct cm_dims *dims = NULL;
    if (baseline == NULL || plan->n_batches == 0) return CM_OK;
    options.batch = plan->batches[0];
    int status = cm_model_dims(model, &options, call->diag, &dims);
    if (status == CM_OK) status = copy_baseline_dims(call, baseline, dims, &plan->options);
    cm_dims_free(dims);
    return status;
}
