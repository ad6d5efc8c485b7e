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

#define FUSED_PATTERNS_READS FUSE_PATTERNS_READS
#define PASS(...)            PASS_ROW(analysis, __VA_ARGS__)

/* The header of each pass names the tables that it reads. */
/* clang-format off */
static const struct pass passes[] = {
    /* The graph: operators, shapes, fused patterns. */
    PASS(bind, bind, BIND, "give each node its operator row and check its signature"),
    PASS(batch, batch, BATCH, "bind symbolic dims and re-batch models exported with a fixed batch"),
    PASS(infer, infer, INFER, "infer the type of every value and fold shape arithmetic"),
    PASS(fuse_patterns, fused_patterns, FUSED_PATTERNS, "match operations that the exporter decomposed"),
    PASS(precision, infer, PRECISION, "replace the dtypes of the file by those of --precision"),

    /* Memory: liveness, arena, parameters. */
    PASS(liveness, liveness, LIVENESS, "find which values own bytes and the steps at which they are live"),
    PASS(in_place, in_place, IN_PLACE, "find nodes that could overwrite an operand, and the resulting peak"),
    PASS(arena_plan, arena_plan, ARENA_PLAN, "assign each value that owns bytes an offset in one arena"),
    PASS(params, params, PARAMS, "classify constants as learned parameters, buffers or neither"),

    /* Costs of nodes, modules and a training step. */
    PASS(count, count, COUNT, "count MACs, FLOPs and bytes of every node"),
    PASS(modules, modules, MODULES, "recover the module hierarchy and sum the costs of each module"),
    PASS(peak_memory, peak_memory, PEAK_MEMORY, "list the values live at the peak and compute the peak of each module"),
    PASS(training, training, TRAINING, "compute the cost and memory of a training step, if one is requested"),
    PASS(device_memory, device_memory, DEVICE_MEMORY, "replay the training step through an allocator of device memory"),

    /* Summaries of these results. */
    PASS(memory_required, memory_required, MEMORY_REQUIRED, "sum the device memory that the model requires: weights and arena"),
    PASS(explain, explain, EXPLAIN, "derive the figures of the nodes and modules named by --explain"),
    PASS(operators, operators, OPERATORS, "sum the costs by operator"),
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
