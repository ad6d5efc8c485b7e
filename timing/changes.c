/* SPDX-License-Identifier: Apache-2.0 */
/* The passes of times run again with each change (table `changes`): alone, then in the order of
 * these gains, each on top of the changes before it that helped. Gains therefore add up to less
 * than the time. */
#include "timing/changes.h"

#include <math.h>
#include <string.h>

#include "backends/device/run_time.h"
#include "backends/primitive.h"
#include "passes/batch/batch.h"
#include "passes/pipeline/pipeline.h"
#include "passes/public_figures.h"
#include "passes/summary/memory_required.h"
#include "passes/work.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/text.h"
#include "timing/advice.h"
#include "timing/estimate.h"
#include "timing/pipeline.h"
#include "timing/primitives.h"
#include "timing/times.h"

#define MIN_GAIN 0.01 /* of the time */

/* How the model runs. */
struct variant {
    struct cm_options options;
    bool has_graph;    /* the host does not launch single kernels */
    bool avoids_moves; /* no node only moves elements */
    double batches;    /* times are divided by it */
};

struct outcome {
    double seconds;
    double *of_node; /* seconds of its runs */
    enum cm_calibration_match match;
};

/* Changes how the model runs; returns false if the change does not apply. */
typedef bool change_apply(const struct timing *timing, struct variant *variant);

static bool is_gpu_of_cuda(const struct timing *timing) {
    return text_starts_with(timing->estimate->facts.architecture, "sm_");
}

static bool use_half(const struct timing *timing, struct variant *variant) {
    const struct primitives_table *primitives = timing->primitives;
    const bool has_fp16 = estimate_rate(timing, "matrix_fp16") > 0;
    variant->options.precision = has_fp16 ? CM_PRECISION_FP16 : CM_PRECISION_BF16;
    return (has_fp16 || estimate_rate(timing, "matrix_bf16") > 0) &&
           timing->core.options->precision != CM_PRECISION_AMP &&
           primitive_main_element(primitives->items, primitives->n) == CM_F32;
}

static bool use_channels_last(const struct timing *timing, struct variant *variant) {
    variant->options.layout = CM_LAYOUT_NHWC;
    return timing->core.options->layout == CM_LAYOUT_NCHW;
}

static bool use_compiler(const struct timing *timing, struct variant *variant) {
    variant->options.runtime = CM_RUNTIME_TORCH_COMPILE;
    return timing->core.options->runtime == CM_RUNTIME_TORCH_EAGER;
}

static bool use_engine(const struct timing *timing, struct variant *variant) {
    variant->options.runtime = CM_RUNTIME_TENSORRT;
    return timing->core.options->runtime != CM_RUNTIME_TENSORRT && is_gpu_of_cuda(timing);
}

static bool use_graph(const struct timing *timing, struct variant *variant) {
    variant->has_graph = true;
    return is_gpu_of_cuda(timing);
}

static bool avoid_moves(const struct timing *timing, struct variant *variant) {
    (void)timing;
    variant->avoids_moves = true;
    return true;
}

static bool double_batch(const struct timing *timing, struct variant *variant) {
    const int64_t batch = checked_mul(timing->core.batch->batch, 2);
    variant->options.batch = batch;
    variant->batches = 2;
    return is_known(batch) && batch > 0;
}

/* clang-format off */
static const struct change {
    const char *id, *name;
    change_apply *apply;
    bool of_runtime; /* the report states whether times of this runtime are known */
    const char *text;
} changes[] = {
    {"R2", "half-precision", use_half, false,
     "Try --precision fp16 or bf16 if accuracy allows: products run on matrix units, and "
     "kernels move half the bytes."},
    {"R3", "channels-last", use_channels_last, false,
     "Take --layout nhwc, and channels_last in the framework: no kernel turns images to the "
     "layout of matrix units and back."},
    {"R5", "torch-compile", use_compiler, true,
     "Compile the model (--runtime torch-compile): connected nodes between products are one "
     "kernel, which writes only what other kernels read."},
    {"R5", "tensorrt", use_engine, true,
     "Run the model in an inference engine (--runtime tensorrt): elementwise nodes are part of the "
     "kernel of the product that they follow."},
    {"R7", "graph", use_graph, false,
     "Replay the kernels as one CUDA graph: the device does not wait for the host to launch "
     "each of them."},
    {"R9", "copies", avoid_moves, false,
     "Look for layouts that avoid transposes, slices, concatenations and gathers. The gain is "
     "all of their time."},
    {"R10", "batch", double_batch, false,
     "Take twice the batch. The gain is that of each sample."},
};
/* clang-format on */

#define N_CHANGES (sizeof changes / sizeof *changes)

/* Returns true if the node only moves elements. */
static bool is_move(const struct timing *timing, uint32_t node) {
    const uint32_t at = estimate_primitive(timing, node);
    const int32_t kind = at == ID_NONE ? CM_PRIMITIVE_NONE : timing->primitives->items[at].kind;
    return kind == CM_COPY || kind == CM_GATHER;
}

/* Sums the times of a model whose passes have run. */
static void sum_times(const struct timing *timing, const struct variant *variant,
                      struct outcome *ret) {
    struct cm_calibration fit = timing->estimate->facts.fit;
    const size_t n_nodes = timing->core.model->n_nodes;
    struct run_time run = {.moved = timing->times->run.moved};
    if (variant->has_graph) fit.host = 0;
    memset(ret->of_node, 0, n_nodes * sizeof *ret->of_node);
    for (uint32_t id = 0; id < n_nodes; id++)
        if (!variant->avoids_moves || !is_move(timing, id))
            ret->of_node[id] = times_add_runs(timing, id, &run) / variant->batches;
    ret->seconds = run_time_expected(&run, &fit) / variant->batches;
    ret->match = (enum cm_calibration_match)fit.match;
}

/* Runs the passes for a variant; those of the core only if it changes what they read. Sets the
 * seconds to INFINITY if the model cannot run so, or not all of its nodes have a time. */
static int evaluate(const struct timing *timing, const struct variant *variant,
                    struct outcome *ret) {
    const struct cm_options *before = timing->core.options;
    const struct cm_options *options = &variant->options;
    const bool keeps_core = options->precision == before->precision && variant->batches <= 1;
    const int64_t memory = timing->estimate->facts.memory_bytes;
    if (keeps_core && options->runtime == before->runtime &&
        options->layout == before->layout) {
        sum_times(timing, variant, ret);
        return CM_OK;
    }
    struct arena *arena = arena_new("change", 0);
    struct cm_diagnostics diag = {.arena = arena};
    struct work work = {.arena = arena}; /* no search for a schedule or an arena */
    struct analysis core = timing->core;
    struct timing changed;
    int status = CM_OK;
    if (!arena) return diag_no_memory(timing->core.diag);
    if (!keeps_core) core = (struct analysis){.model = core.model};
    core.options = options;
    core.arena = core.result_arena = arena;
    core.diag = &diag;
    core.work = &work;
    if (!keeps_core) status = pipeline_run_to(&core, TABLE_MEMORY_REQUIRED);
    if (status == CM_OK) status = timing_passes_run(&core, TABLE_TIMES, &changed);
    ret->seconds = INFINITY;
    if (status == CM_OK && changed.times->of_module &&
        (changed.times->of_module[0].partial & ~timing->times->of_module[0].partial) == 0 &&
        (variant->batches <= 1 || memory <= 0 ||
         core.memory_required->required_bytes <= memory))
        sum_times(&changed, variant, ret);
    arena_free(arena);
    return status == CM_NO_MEMORY ? diag_no_memory(timing->core.diag) : CM_OK;
}

/* Adds the change; the nodes are those that take less time than before. The gain is unknown if
 * `after` has no time. */
static int add_change(const struct timing *timing, const struct change *change,
                      const struct outcome *before, const struct outcome *after,
                      struct advice_table *table) {
    const size_t n_nodes = timing->core.model->n_nodes;
    struct cm_advice *item = &table->items[table->n++];
    bool *faster = arena_array(timing->core.arena, n_nodes, sizeof *faster);
    struct text text;
    if (!faster) return diag_no_memory(timing->core.diag);
    for (size_t i = 0; i < n_nodes; i++)
        faster[i] =
            isfinite(after->seconds) && after->of_node[i] < (1 - MIN_GAIN) * before->of_node[i];
    text_init(&text, timing->core.result_arena);
    text_append(&text, change->text);
    if (change->of_runtime && after->match < CM_CALIBRATION_WIDTH)
        text_append(&text, " No times of this runtime on the device are known.");
    if (text.failed) return diag_no_memory(timing->core.diag);
    *item = (struct cm_advice){
        .rule = change->id,
        .name = change->name,
        .text = text_string(&text),
        .gain_ps = isfinite(after->seconds)
                       ? public_count(estimate_ps(before->seconds - after->seconds))
                       : CM_UNKNOWN};
    return advice_list_nodes(timing, faster, item);
}

/* Evaluates each change alone. Sets the seconds that it saves: 0 for the last, which comes last
 * because it changes the work; negative if the change does not apply. */
static int evaluate_alone(const struct timing *timing, const struct variant *base,
                          const struct outcome *now, struct outcome *next, double *gains) {
    int status = CM_OK;
    for (size_t i = 0; i < N_CHANGES && status == CM_OK; i++) {
        struct variant variant = *base;
        gains[i] = -1;
        if (!changes[i].apply(timing, &variant)) continue;
        if (i + 1 == N_CHANGES) next->seconds = INFINITY;
        if (i + 1 < N_CHANGES) status = evaluate(timing, &variant, next);
        gains[i] = fmax(0, now->seconds - next->seconds);
    }
    return status;
}

int changes_evaluate(struct timing *timing) {
    const size_t n_nodes = timing->core.model->n_nodes;
    struct arena *arena = timing->core.arena;
    struct advice_table *table = arena_alloc(arena, sizeof *table);
    struct outcome now = {.of_node = arena_array(arena, n_nodes, sizeof *now.of_node)};
    struct outcome next = {.of_node = arena_array(arena, n_nodes, sizeof *next.of_node)};
    struct variant variant = {.options = *timing->core.options, .batches = 1};
    double gains[N_CHANGES];
    if (!timing->estimate->facts.modelled || timing->estimate->imported ||
        !timing->times->of_node)
        return CM_OK;
    if (table)
        table->items = arena_array(timing->core.result_arena, N_CHANGES + timing->advice->n,
                                   sizeof *table->items);
    if (!table || !table->items || !now.of_node || !next.of_node)
        return diag_no_memory(timing->core.diag);
    variant.options.dump_after = NULL;
    variant.options.schedule = CM_SCHEDULE_FILE;
    sum_times(timing, &variant, &now);
    const double all = now.seconds;
    int status = evaluate_alone(timing, &variant, &now, &next, gains);
    while (status == CM_OK) {
        struct variant changed = variant;
        size_t best = 0;
        for (size_t i = 1; i < N_CHANGES; i++)
            if (gains[i] > gains[best]) best = i;
        if (gains[best] < 0) break;
        gains[best] = -1;
        (void)changes[best].apply(timing, &changed);
        status = evaluate(timing, &changed, &next);
        /* A larger batch helps if launches take most of the time. */
        const bool is_unknown = best + 1 == N_CHANGES && isinf(next.seconds) &&
                                timing->times->kind == CM_TIME_LAUNCH;
        if (status < 0 || (!is_unknown && now.seconds - next.seconds <= MIN_GAIN * all))
            continue;
        status = add_change(timing, &changes[best], &now, &next, table);
        const struct outcome last = now;
        now = next;
        next = last;
        variant = changed;
    }
    for (size_t i = 0; i < timing->advice->n; i++)
        table->items[table->n++] = timing->advice->items[i];
    timing->advice = table;
    return status;
}
