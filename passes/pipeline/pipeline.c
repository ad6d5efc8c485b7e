/* SPDX-License-Identifier: Apache-2.0 */
/* The passes in order, their contracts, and the runner that checks them. Start reading here. */
#include "passes/pipeline/pipeline.h"

#include <stdio.h>
#include <string.h>

#include "ir/print.h"
#include "ir/verify.h"
#include "passes/batch/batch.h"
#include "passes/cost/count.h"
#include "passes/fusion/fuse_patterns.h"
#include "passes/infer/infer.h"
#include "passes/latency/advice.h"
#include "passes/latency/breakdown.h"
#include "passes/latency/estimate.h"
#include "passes/latency/gradient_kernels.h"
#include "passes/latency/input_pipeline.h"
#include "passes/latency/kernels.h"
#include "passes/latency/primitives.h"
#include "passes/latency/roofline_bounds.h"
#include "passes/memory/arena_plan.h"
#include "passes/memory/in_place.h"
#include "passes/memory/liveness.h"
#include "passes/modules/modules.h"
#include "passes/params/params.h"
#include "passes/precision/precision.h"
#include "passes/summary/explain.h"
#include "passes/summary/memory_required.h"
#include "passes/summary/peak_memory.h"
#include "passes/training/training.h"
#include "passes/walk/bind.h"
#include "passes/walk/walk.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

/* Name, run function and table of a pass. */
#define PASS(name, table)                                                                      \
#name, pass_##name, offsetof(struct analysis, table), sizeof(struct table##_table)

/* The header of each pass names the tables that it reads. */
/* clang-format off */
static const struct pass pipeline[] = {
    /* The graph: operators, shapes, fused patterns. */
    {PASS(bind, bind), "give each node its operator row and check its signature",
     BIND_READS, TABLE_BIND},
    {PASS(batch, batch), "bind symbolic dims and re-batch models exported with a fixed batch",
     BATCH_READS, TABLE_BATCH},
    {PASS(infer, infer), "infer the type of every value and fold shape arithmetic",
     INFER_READS, TABLE_INFER},
    {PASS(fuse_patterns, fused_patterns), "match operations that the exporter decomposed",
     FUSE_PATTERNS_READS, TABLE_FUSED_PATTERNS},
    {PASS(precision, infer), "replace the dtypes of the file by those of --precision",
     PRECISION_READS, TABLE_PRECISION},

    /* Memory: liveness, arena, parameters. */
    {PASS(liveness, liveness), "find which values own bytes and the steps at which they are live",
     LIVENESS_READS, TABLE_LIVENESS},
    {PASS(in_place, in_place), "find nodes that could overwrite an operand, and the resulting peak",
     IN_PLACE_READS, TABLE_IN_PLACE},
    {PASS(arena_plan, arena_plan), "assign each value that owns bytes an offset in one arena",
     ARENA_PLAN_READS, TABLE_ARENA_PLAN},
    {PASS(params, params), "classify constants as learned parameters, buffers or neither",
     PARAMS_READS, TABLE_PARAMS},

    /* Costs of nodes and modules. Empty primitives and times unless a backend is selected. */
    {PASS(kernels, kernels), "map nodes to the kernels of a runtime, if a device is modelled",
     KERNELS_READS, TABLE_KERNELS},
    {PASS(primitives, primitives), "lower nodes to the distinct primitives that a backend could run",
     PRIMITIVES_READS, TABLE_PRIMITIVES},
    {PASS(estimate, estimate), "get the latency of each primitive from the backend",
     ESTIMATE_READS, TABLE_ESTIMATE},
    {PASS(count, count), "count MACs, FLOPs and bytes of every node",
     COUNT_READS, TABLE_COUNT},
    {PASS(modules, modules), "recover the module hierarchy and sum the costs of each module",
     MODULES_READS, TABLE_MODULES},
    {PASS(peak_memory, peak_memory), "list the values live at the peak and compute the peak of each module",
     PEAK_MEMORY_READS, TABLE_PEAK_MEMORY},
    {PASS(training, training), "compute the cost and memory of a training step, if one is requested",
     TRAINING_READS, TABLE_TRAINING},
    {PASS(gradient_kernels, gradient_kernels), "model the kernels of backward and of the optimizer on a modelled device",
     GRADIENT_KERNELS_READS, TABLE_GRADIENT_KERNELS},
    {PASS(memory_required, memory_required), "sum the device memory that the model requires: weights and arena",
     MEMORY_REQUIRED_READS, TABLE_MEMORY_REQUIRED},

    /* Analysis of these results. */
    {PASS(explain, explain), "derive the figures of the nodes and modules named by --explain",
     EXPLAIN_READS, TABLE_EXPLAIN},
    {PASS(roofline_bounds, roofline_bounds), "find the resource that limits each latency",
     ROOFLINE_BOUNDS_READS, TABLE_ROOFLINE_BOUNDS},
    {PASS(breakdown, breakdown), "sum the costs by operator and the latency by kernel",
     BREAKDOWN_READS, TABLE_BREAKDOWN},
    {PASS(advice, advice), "suggest optimizations, if latencies are available",
     ADVICE_READS, TABLE_ADVICE},
    {PASS(input_pipeline, input_pipeline), "compare the demand for input samples with links; requires times",
     INPUT_PIPELINE_READS, TABLE_INPUT_PIPELINE},
};
/* clang-format on */

size_t pipeline_length(void) {
    return sizeof(pipeline) / sizeof(*pipeline);
}

const struct pass *pipeline_pass(size_t index) {
    return &pipeline[index];
}

static int check_dump_option(const struct analysis *analysis) {
    const char *name = analysis->options->dump_after;
    for (size_t i = 0; name && i < pipeline_length(); i++)
        if (text_equal(pipeline[i].name, name)) return CM_OK;
    if (!name) return CM_OK;
    int status = diag_error(analysis->diag, DIAG_USAGE, "pass '%s' not found", name);
    diag_hint(analysis->diag, "'costmodel passes' lists all passes");
    return status;
}

/* Prints the model with the types inferred so far, if --dump-after names this pass. */
static int dump(const struct analysis *analysis, const struct pass *pass) {
    struct text text;
    if (!text_equal(analysis->options->dump_after, pass->name)) return CM_OK;
    text_init(&text, analysis->arena);
    const struct infer_table *infer = analysis->infer;
    print_model(analysis->model, infer->upper ? infer->upper->infos : infer->infos, &text);
    if (text.failed) return diag_no_memory(analysis->diag);
    if (fputs(text_string(&text), analysis->options->dump) >= 0) return CM_OK;
    return diag_error(analysis->diag, DIAG_IO, "cannot write the IR");
}

static void set_table(struct analysis *analysis, const struct pass *pass, void *table) {
    memcpy((char *)analysis + pass->table, &table, sizeof table);
}

static void *get_table(const struct analysis *analysis, const struct pass *pass) {
    void *table = NULL;
    memcpy(&table, (const char *)analysis + pass->table, sizeof table);
    return table;
}

/* Returns the analysis with only the tables that the pass reads, and its own. */
static struct analysis view_of(const struct analysis *analysis, const struct pass *pass) {
    struct analysis view = *analysis;
    for (size_t i = 0; i < pipeline_length(); i++) set_table(&view, &pipeline[i], NULL);
    for (size_t i = 0; i < pipeline_length(); i++)
        if ((pass->reads & pipeline[i].gives) != 0 || pipeline[i].table == pass->table)
            set_table(&view, &pipeline[i], get_table(analysis, &pipeline[i]));
    return view;
}

static int run_pass(const struct analysis *analysis, const struct pass *pass) {
    const struct analysis view = view_of(analysis, pass);
    struct arena_mark mark = arena_save(analysis->scratch);
    int status = pass->run(&view, get_table(analysis, pass));
    arena_restore(analysis->scratch, mark);
    /* A pass may treat a constant as unknown because loading it ran out of memory. */
    if (status != CM_NO_MEMORY &&
        (arena_failed(analysis->arena) || arena_failed(analysis->result_arena) ||
         arena_failed(analysis->scratch)))
        return diag_no_memory(analysis->diag);
    return status == CM_OK && analysis->options->dump ? dump(analysis, pass) : status;
}

/* Runs the passes from index `first` up to the one that gives the last of `wanted`; 0: all. */
static int run_passes(struct analysis *analysis, size_t first, unsigned wanted) {
    int status = CM_OK;
    unsigned have = 0;
    analysis->scratch = arena_new("scratch", 0);
    if (!analysis->scratch) return diag_no_memory(analysis->diag);
    for (size_t i = 0; i < pipeline_length() && status >= 0; i++) {
        BUG_ON((pipeline[i].reads & ~have) != 0);
        if (i >= first) status = run_pass(analysis, &pipeline[i]);
        have |= pipeline[i].gives;
        if (wanted != 0 && (wanted & ~have) == 0) break;
    }
    arena_free(analysis->scratch);
    analysis->scratch = NULL;
    return status < 0 ? status : CM_OK;
}

int pipeline_run_to(struct analysis *analysis, unsigned wanted) {
    int status = check_dump_option(analysis);
    if (status < 0) return status;
#ifndef NDEBUG
    verify_model(analysis->model);
#endif
    if (!analysis->result_arena) analysis->result_arena = analysis->arena;
    for (size_t i = 0; i < pipeline_length(); i++)
        set_table(analysis, &pipeline[i], arena_alloc(analysis->arena, pipeline[i].table_size));
    if (arena_failed(analysis->arena)) return diag_no_memory(analysis->diag);
    return run_passes(analysis, 0, wanted);
}

int pipeline_run_from(struct analysis *analysis, enum pass_tables stale) {
    size_t first = 0;
    while (pipeline[first].gives != (unsigned)stale) first++;
    for (size_t i = first; i < pipeline_length(); i++)
        memset(get_table(analysis, &pipeline[i]), 0, pipeline[i].table_size);
    return run_passes(analysis, first, 0);
}
