/* SPDX-License-Identifier: Apache-2.0 */
/* A profile: checks options, runs the passes and assembles the result. */
#include "api/profiling.h"

#include "api/assemble.h"
#include "api/half.h"
#include "api/handle.h"
#include "ir/graph.h"
#include "passes/norms/restore_norms.h"
#include "passes/pipeline/pipeline.h"
#include "support/diag.h"

/* Returns the options; with an optimizer the default mode is training. The passes have the
 * batch of a micro-batch. */
static struct cm_options effective_options(const struct cm_options *options) {
    struct cm_options copy = *options;
    if (options->optimizer && options->mode == CM_MODE_MODEL) copy.mode = CM_MODE_TRAINING;
    if (copy.micro_batches > 1) copy.batch /= copy.micro_batches;
    return copy;
}

/* Returns the status of a step; CM_NO_MEMORY if an error message could not be allocated. */
static int end_step(struct cm_diagnostics *diagnostics, int status) {
    if (status < 0 && diag_starved(diagnostics)) status = CM_NO_MEMORY;
    return diag_finish(diagnostics, status);
}

int profiling_begin(struct profiling *profiling, struct cm_model *model,
                    const struct cm_options *options, struct cm_diagnostics *diagnostics) {
    *profiling = (struct profiling){
        .model = model,
        .result_arena = arena_new("result", 0),
        .arena = arena_new("analysis", 0),
        .options = effective_options(options),
    };
    if (profiling->result_arena == NULL || profiling->arena == NULL)
        return diag_no_memory(diagnostics);
    profiling->analysis = (struct analysis){
        .options = &profiling->options,
        .arena = profiling->arena,
        .result_arena = profiling->result_arena,
        .diag = diagnostics,
        .work = &profiling->work,
    };
    int status = profile_options_check(options, profiling->arena, diagnostics);
    if (status == CM_OK)
        status =
            restore_norms(model->model, options, profiling->arena, &profiling->analysis.model);
    if (status < 0) return end_step(diagnostics, status);
    profiling->work = work_start(profiling->arena, profiling->analysis.model->n_nodes);
    status = pipeline_run_to(&profiling->analysis, TABLE_ARENA_PLAN | TABLE_PARAMS);
    profiling->result_mark = arena_save(profiling->result_arena);
    profiling->arena_mark = arena_save(profiling->arena);
    return end_step(diagnostics, status);
}

static int finish(struct profiling *profiling, struct cm_diagnostics *diagnostics, size_t from,
                  struct cm_result **ret) {
    struct analysis *analysis = &profiling->analysis;
    struct assemble_extras extras = {.loading = profiling->model->notes};
    int status = pipeline_run_from(analysis, TABLE_COUNT);
    if (status == CM_OK) status = half_run(analysis, !profiling->of_sweep, &extras.timing);
    if (status < 0) return status;
    if (coverage_of(analysis, &extras.coverage) < 0) return diag_no_memory(diagnostics);
    status = assemble_warnings(analysis, &extras.coverage);
    if (status == CM_OK)
        status = fit_find(analysis, half_device_bytes(extras.timing), &extras.fit);
    if (status < 0) return status;
    work_note(analysis->work, diagnostics);
    status = assemble_messages(diagnostics, from, analysis->arena, &extras.analysis);
    return status < 0 ? status : assemble_result(analysis, &extras, ret);
}

int profiling_finish(struct profiling *profiling, const struct cm_options *options,
                     struct cm_diagnostics *diagnostics, size_t from, struct cm_result **ret) {
    arena_restore(profiling->result_arena, profiling->result_mark);
    arena_restore(profiling->arena, profiling->arena_mark);
    profiling->options = effective_options(options);
    profiling->analysis.diag = diagnostics;
    return end_step(diagnostics, finish(profiling, diagnostics, from, ret));
}

void profiling_end(struct profiling *profiling) {
    arena_free(profiling->arena);
    arena_free(profiling->result_arena);
}
