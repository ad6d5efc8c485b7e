/* SPDX-License-Identifier: Apache-2.0 */
/* The passes of the static core in order. Start reading here. */
#include "passes/pipeline/pipeline.h"

#include "passes/batch/batch.h"
#include "passes/cost/count.h"
#include "passes/device/device_memory.h"
#include "passes/fusion/fuse_patterns.h"
#include "passes/infer/infer.h"
#include "passes/memory/arena_plan.h"
#include "passes/memory/in_place.h"
#include "passes/memory/liveness.h"
#include "passes/modules/modules.h"
#include "passes/params/params.h"
#include "passes/precision/precision.h"
#include "passes/summary/explain.h"
#include "passes/summary/memory_required.h"
#include "passes/summary/operators.h"
#include "passes/summary/peak_memory.h"
#include "passes/training/training.h"
#include "passes/walk/bind.h"
#include "passes/walk/walk.h"

#define PASS(name, table) PASS_ROW(analysis, name, table)

/* The header of each pass names the tables that it reads. */
/* clang-format off */
static const struct pass passes[] = {
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

    /* Costs of nodes, modules and a training step. */
    {PASS(count, count), "count MACs, FLOPs and bytes of every node",
     COUNT_READS, TABLE_COUNT},
    {PASS(modules, modules), "recover the module hierarchy and sum the costs of each module",
     MODULES_READS, TABLE_MODULES},
    {PASS(peak_memory, peak_memory), "list the values live at the peak and compute the peak of each module",
     PEAK_MEMORY_READS, TABLE_PEAK_MEMORY},
    {PASS(training, training), "compute the cost and memory of a training step, if one is requested",
     TRAINING_READS, TABLE_TRAINING},
    {PASS(device_memory, device_memory), "replay the training step through an allocator of device memory",
     DEVICE_MEMORY_READS, TABLE_DEVICE_MEMORY},

    /* Summaries of these results. */
    {PASS(memory_required, memory_required), "sum the device memory that the model requires: weights and arena",
     MEMORY_REQUIRED_READS, TABLE_MEMORY_REQUIRED},
    {PASS(explain, explain), "derive the figures of the nodes and modules named by --explain",
     EXPLAIN_READS, TABLE_EXPLAIN},
    {PASS(operators, operators), "sum the costs by operator",
     OPERATORS_READS, TABLE_OPERATORS},
};
/* clang-format on */

const struct pipeline core_pipeline = {passes, sizeof passes / sizeof *passes,
                                       sizeof(struct analysis), NULL};

int pipeline_run_to(struct analysis *analysis, unsigned wanted) {
    if (!analysis->result_arena) analysis->result_arena = analysis->arena;
    const int status = runner_start(&core_pipeline, analysis);
    return status < 0 ? status : runner_run(&core_pipeline, analysis, 0, wanted);
}

int pipeline_run_from(struct analysis *analysis, enum pass_tables stale) {
    size_t first = 0;
    BUG_ON(stale < TABLE_LIVENESS);
    while (passes[first].gives != (unsigned)stale) first++;
    runner_clear(&core_pipeline, analysis, first);
    return runner_run(&core_pipeline, analysis, first, 0);
}
