/* SPDX-License-Identifier: Apache-2.0 */
/* The passes in order, their contracts, and the runner that checks them. Start reading here. */
#include "passes/pipeline.h"

#include <stdio.h>
#include <string.h>

#include "ir/print.h"
#include "ir/verify.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

/* Name, run function and table of a pass. */
#define PASS(name, member)                                                                     \
#name, pass_##name, offsetof(struct analysis, member),                                     \
        sizeof(((struct analysis *)NULL)->member)

/* Each pass may read only the tables of the passes that give its `requires`. */
/* clang-format off */
static const struct pass pipeline[] = {
    /* The graph: operators, shapes, fused patterns. */
    {PASS(bind, bind), "give each node its operator row and check its signature",
     .requires = 0, .gives = HAS_OPERATORS},
    {PASS(batch, batch), "bind symbolic dims and re-batch models exported with a fixed batch",
     .requires = HAS_OPERATORS, .gives = HAS_BATCH},
    {PASS(infer, infer), "infer the type of every value and fold shape arithmetic",
     .requires = HAS_OPERATORS | HAS_BATCH, .gives = HAS_TYPES},
    {PASS(fuse_patterns, fused_patterns), "match operations that the exporter decomposed",
     .requires = HAS_OPERATORS | HAS_BATCH | HAS_TYPES, .gives = HAS_FUSED_PATTERNS},
    {PASS(precision, infer), "replace the dtypes of the file by those of --precision",
     .requires = HAS_OPERATORS | HAS_BATCH | HAS_TYPES | HAS_FUSED_PATTERNS,
     .gives = HAS_PRECISION},

    /* Memory: liveness, arena, parameters. */
    {PASS(liveness, liveness),
     "find which values own bytes and the steps at which they are live",
     .requires = HAS_OPERATORS | HAS_BATCH | HAS_TYPES | HAS_PRECISION, .gives = HAS_STORAGE},
    {PASS(in_place, in_place),
     "find nodes that could overwrite an operand, and the resulting peak",
     .requires = HAS_TYPES | HAS_STORAGE, .gives = HAS_IN_PLACE},
    {PASS(arena_plan, arena_plan), "assign each value that owns bytes an offset in one arena",
     .requires = HAS_TYPES | HAS_STORAGE | HAS_IN_PLACE, .gives = HAS_ARENA_PLAN},
    {PASS(params, params), "classify constants as learned parameters, buffers or neither",
     .requires = HAS_OPERATORS | HAS_TYPES | HAS_PRECISION, .gives = HAS_PARAMETERS},

    /* Costs of nodes and modules. Empty primitives and times unless a backend is selected. */
    {PASS(kernels, kernels), "map nodes to the kernels of a runtime, if a device is modelled",
     .requires = HAS_OPERATORS | HAS_TYPES | HAS_STORAGE | HAS_FUSED_PATTERNS,
     .gives = HAS_KERNELS},
    {PASS(primitives, primitives),
     "lower nodes to the distinct primitives that a backend could run",
     .requires = HAS_OPERATORS | HAS_TYPES | HAS_STORAGE | HAS_FUSED_PATTERNS | HAS_KERNELS,
     .gives = HAS_PRIMITIVES},
    {PASS(estimate, estimate), "get the latency of each primitive from the backend",
     .requires = HAS_PRIMITIVES, .gives = HAS_TIMES},
    {PASS(count, count), "count MACs, FLOPs and bytes of every node",
     .requires = HAS_OPERATORS | HAS_BATCH | HAS_TYPES | HAS_FUSED_PATTERNS | HAS_STORAGE |
                 HAS_TIMES,
     .gives = HAS_COSTS},
    {PASS(modules, modules), "recover the module hierarchy and sum the costs of each module",
     .requires = HAS_OPERATORS | HAS_TYPES | HAS_FUSED_PATTERNS | HAS_STORAGE |
                 HAS_PARAMETERS | HAS_COSTS,
     .gives = HAS_MODULES},
    {PASS(peak_memory, peak_memory),
     "list the values live at the peak and compute the peak of each module",
     .requires = HAS_TYPES | HAS_STORAGE | HAS_MODULES, .gives = HAS_PEAKS},
    {PASS(training, training),
     "compute the cost and memory of a training step, if one is requested",
     .requires = HAS_OPERATORS | HAS_BATCH | HAS_TYPES | HAS_FUSED_PATTERNS | HAS_STORAGE |
                 HAS_PARAMETERS | HAS_COSTS | HAS_MODULES,
     .gives = HAS_TRAINING},
    {PASS(gradient_kernels, gradient_kernels),
     "model the kernels of backward and of the optimizer on a modelled device",
     .requires = HAS_TYPES | HAS_STORAGE | HAS_KERNELS | HAS_PRIMITIVES | HAS_TIMES |
                 HAS_MODULES | HAS_TRAINING,
     .gives = HAS_GRADIENT_KERNELS},
    {PASS(memory_required, memory_required),
     "sum the device memory that the model requires: weights and arena",
     .requires = HAS_OPERATORS | HAS_TYPES | HAS_PARAMETERS | HAS_ARENA_PLAN | HAS_TRAINING,
     .gives = HAS_MEMORY_REQUIRED},

    /* Analysis of these results. */
    {PASS(explain, explain), "derive the figures of the nodes and modules named by --explain",
     .requires = HAS_OPERATORS | HAS_BATCH | HAS_TYPES | HAS_STORAGE | HAS_COSTS | HAS_MODULES,
     .gives = HAS_EXPLANATIONS},
    {PASS(roofline_bounds, roofline_bounds), "find the resource that limits each latency",
     .requires = HAS_PRIMITIVES | HAS_TIMES | HAS_COSTS | HAS_MODULES,
     .gives = HAS_ROOFLINE_BOUNDS},
    {PASS(breakdown, breakdown), "sum the costs by operator and the latency by kernel",
     .requires = HAS_TIMES | HAS_PRIMITIVES | HAS_COSTS, .gives = HAS_BREAKDOWN},
    {PASS(advice, advice), "suggest optimizations, if latencies are available",
     .requires = HAS_ROOFLINE_BOUNDS | HAS_PRIMITIVES | HAS_TIMES | HAS_MODULES |
                 HAS_MEMORY_REQUIRED,
     .gives = HAS_ADVICE},
    {PASS(input_pipeline, input_pipeline),
     "compare the demand for input samples with links; requires times",
     .requires = HAS_BATCH | HAS_TIMES | HAS_MODULES | HAS_GRADIENT_KERNELS,
     .gives = HAS_INPUT_PIPELINE},
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
    const struct infer_table *infer = &analysis->infer;
    print_model(analysis->model, infer->upper ? infer->upper->infos : infer->infos, &text);
    if (text.failed) return diag_no_memory(analysis->diag);
    if (fputs(text_string(&text), analysis->options->dump) >= 0) return CM_OK;
    return diag_error(analysis->diag, DIAG_IO, "cannot write the IR");
}

static int run_pass(struct analysis *analysis, const struct pass *pass) {
    struct arena_mark mark = arena_save(analysis->scratch);
    int status = pass->run(analysis, (char *)analysis + pass->table);
    arena_restore(analysis->scratch, mark);
    /* A pass may treat a constant as unknown because loading it ran out of memory. */
    if (status != CM_NO_MEMORY &&
        (arena_failed(analysis->arena) || arena_failed(analysis->result_arena) ||
         arena_failed(analysis->scratch)))
        return diag_no_memory(analysis->diag);
    return status == CM_OK && analysis->options->dump ? dump(analysis, pass) : status;
}

/* Runs the passes from index `first` up to the one that completes `wanted`; 0: all of them. */
static int run_passes(struct analysis *analysis, size_t first, unsigned wanted) {
    int status = CM_OK;
    unsigned have = 0;
    analysis->scratch = arena_new("scratch", 0);
    if (!analysis->scratch) return diag_no_memory(analysis->diag);
    for (size_t i = 0; i < pipeline_length() && status >= 0; i++) {
        BUG_ON((pipeline[i].requires & ~have) != 0);
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
    return run_passes(analysis, 0, wanted);
}

int pipeline_run_from(struct analysis *analysis, enum pass_facts stale) {
    size_t first = 0;
    while ((pipeline[first].gives & (unsigned)stale) == 0) first++;
    for (size_t i = first; i < pipeline_length(); i++)
        memset((char *)analysis + pipeline[i].table, 0, pipeline[i].table_size);
    return run_passes(analysis, first, 0);
}
