/* SPDX-License-Identifier: Apache-2.0 */
#include "passes/device/device_memory.h"

#include "passes/device/caching_allocator.h"
#include "passes/device/workspace.h"
#include "passes/params/params.h"
#include "passes/training/optimizers.h"
#include "passes/training/training.h"
#include "passes/walk/walk.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"

#define NONE UINT32_MAX
#define MIB  (INT64_C(1) << 20)

/* The first step creates the optimizer states in memory that its activations left; then the
 * segments hardly change. */
#define REPLAYED_STEPS 3

/* Larger than any device: such a step is not replayed. */
#define LARGEST (INT64_C(1) << 50)

/* Fitted to training processes on A100 (docs/memory.md). */
#define CONTEXT      (1429 * MIB) /* driver, context, kernels of PyTorch */
#define CONVOLUTIONS (246 * MIB)  /* the convolution library, if it is used */

/* Bounds of the estimate in thousandths, between which nine of ten measurements lie. */
#define LOW  900
#define HIGH 1150

enum part {
    PART_WEIGHTS,
    PART_MASTER,
    PART_GATHERED,
    PART_STATES,
    PART_OF_BLOCKS, /* enum training_part from here */
    PART_UPDATE = PART_OF_BLOCKS + N_TRAINING_PARTS,
    PART_WORKSPACE,
    PART_ALLOCATOR,
    PART_CONTEXT,
    N_PARTS
};

static const struct {
    const char *name, *source;
} parts[N_PARTS] = {
    [PART_WEIGHTS] = {"weights", "file: params and buffers"},
    [PART_MASTER] = {"master weights", "rule: fp32 copies of 16-bit weights, sharded"},
    [PART_GATHERED] = {"gathered weights", "rule: largest module, with its gradients"},
    [PART_STATES] = {"optimizer states", "file, by the optimizer"},
    [PART_OF_BLOCKS + PART_ACTIVATION] = {"other activations", "file: values and gradients"},
    [PART_OF_BLOCKS + PART_SAVED] = {"saved activations", "file: read again by backward"},
    [PART_OF_BLOCKS + PART_HELD] = {"inputs and outputs", "file: held until the next step"},
    [PART_OF_BLOCKS + PART_CAST] = {"cast copies", "file: copies that autocast makes"},
    [PART_OF_BLOCKS + PART_GRADIENT] = {"gradients", "file: kept until the next step"},
    [PART_UPDATE] = {"update", "rule: temporaries of the optimizer"},
    [PART_WORKSPACE] = {"workspace", "fit: convolutions and matrix products"},
    [PART_ALLOCATOR] = {"allocator", "replay of PyTorch's caching allocator"},
    [PART_CONTEXT] = {"context", "fit: driver and libraries on A100"},
};

struct replay {
    const struct analysis *analysis;
    const struct training_table *step;
    struct caching_allocator *allocator;
    int64_t live[N_PARTS];    /* bytes now, rounded as allocated */
    int64_t at_peak[N_PARTS]; /* when their sum was largest */
    int64_t allocated;        /* sum of `live` */
    int64_t peak;             /* sum of `at_peak` */
    int64_t *workspace;       /* by node */
    uint32_t *of_block;       /* by block of the step: its block of the allocator; NONE */
    uint32_t *of_param;       /* by param: its temporaries during the update; NONE */
    uint32_t *taken;          /* blocks of the step in the order of `from` */
    uint32_t *released;       /* in the order of `to` */
};

static uint32_t take(struct replay *replay, enum part part, int64_t bytes) {
    if (bytes <= 0) return NONE;
    const uint32_t block = caching_allocator_take(replay->allocator, bytes);
    if (block == NONE) return NONE;
    const int64_t size = caching_allocator_size(replay->allocator, block);
    replay->live[part] += size;
    replay->allocated += size;
    if (replay->allocated <= replay->peak) return block;
    replay->peak = replay->allocated;
    for (size_t i = 0; i < N_PARTS; i++) replay->at_peak[i] = replay->live[i];
    return block;
}

static void release(struct replay *replay, enum part part, uint32_t block) {
    if (block == NONE) return;
    const int64_t size = caching_allocator_size(replay->allocator, block);
    replay->live[part] -= size;
    replay->allocated -= size;
    caching_allocator_release(replay->allocator, block);
}

/* Sorts the blocks of the step by an event: `to`, or else `from`. */
static int sort_blocks(struct replay *replay, bool by_end, uint32_t **ret) {
    const struct training_table *step = replay->step;
    struct arena *scratch = replay->analysis->scratch;
    uint32_t *first = arena_array(scratch, (size_t)step->n_events + 1, sizeof *first);
    uint32_t *sorted = arena_array(scratch, step->n_blocks, sizeof *sorted);
    if (!first || !sorted) return diag_no_memory(replay->analysis->diag);
    for (size_t i = 0; i < step->n_blocks; i++)
        first[(by_end ? step->blocks[i].to : step->blocks[i].from) + 1]++;
    for (uint32_t event = 0; event < step->n_events; event++) first[event + 1] += first[event];
    for (uint32_t i = 0; i < step->n_blocks; i++)
        sorted[first[by_end ? step->blocks[i].to : step->blocks[i].from]++] = i;
    *ret = sorted;
    return CM_OK;
}

static void release_block(struct replay *replay, uint32_t i) {
    release(replay, PART_OF_BLOCKS + replay->step->blocks[i].part, replay->of_block[i]);
    replay->of_block[i] = NONE;
}

/* Replays forward and backward. */
static void run_events(struct replay *replay) {
    const struct training_table *step = replay->step;
    size_t next_taken = 0;
    size_t next_released = 0;
    for (uint32_t event = 1; event < step->n_events; event++) {
        const uint32_t node = step->node_at[event];
        while (next_taken < step->n_blocks &&
               step->blocks[replay->taken[next_taken]].from == event) {
            const uint32_t i = replay->taken[next_taken++];
            const struct training_block *block = &step->blocks[i];
            const uint32_t before = replay->of_block[i];
            replay->of_block[i] = take(replay, PART_OF_BLOCKS + block->part, block->bytes);
            release(replay, PART_OF_BLOCKS + block->part,
                    before); /* held since the last step */
        }
        if (event < step->first_back || step->flow->operations[node].has_backward)
            release(replay, PART_WORKSPACE,
                    take(replay, PART_WORKSPACE, replay->workspace[node]));
        while (next_released < step->n_blocks &&
               step->blocks[replay->released[next_released]].to == event) {
            const uint32_t i = replay->released[next_released++];
            const enum training_part part = step->blocks[i].part;
            if (part != PART_GRADIENT && part != PART_HELD) release_block(replay, i);
        }
    }
}

static bool learns(const struct replay *replay, size_t param) {
    return replay->analysis->params->params[param].kind == PARAM_LEARNED &&
           !replay->step->flow->frozen[param];
}

static struct optimizer_cost cost_of(const struct replay *replay, size_t param) {
    const struct value_info *infos = replay->analysis->infer->infos;
    const uint32_t value = replay->analysis->params->params[param].value;
    return optimizers_cost(replay->step->optimizer, &infos[value]);
}

static bool is_sharded(const struct replay *replay) {
    return replay->analysis->options->shard_gpus > 0;
}

/* Takes what is alive from the start. The shards of all parameters are one block each. */
static void hold_weights(struct replay *replay) {
    const struct params_table *params = replay->analysis->params;
    const struct training_table *step = replay->step;
    for (size_t i = 0; !is_sharded(replay) && i < params->n_params; i++)
        (void)take(replay, PART_WEIGHTS, params->params[i].bytes);
    if (is_sharded(replay)) {
        (void)take(replay, PART_WEIGHTS, step->weight_bytes);
        (void)take(replay, PART_MASTER, step->master_bytes);
        (void)take(replay, PART_GATHERED, step->gather_bytes);
        (void)take(replay, PART_OF_BLOCKS + PART_GRADIENT,
                   step->gradient_bytes - step->whole_gradient_bytes);
    }
    (void)take(replay, PART_WORKSPACE, WORKSPACE_PRODUCTS);
}

/* Creates the states, as the first update does: each of the optimizer's is a block. */
static void create_states(struct replay *replay) {
    const int64_t n = replay->step->optimizer->states;
    if (is_sharded(replay)) {
        (void)take(replay, PART_STATES, replay->step->optimizer_bytes);
        return;
    }
    for (size_t i = 0; i < replay->analysis->params->n_params; i++) {
        if (!learns(replay, i) || n == 0) continue;
        const int64_t bytes = cost_of(replay, i).state_bytes / n;
        for (int64_t k = 0; k < n; k++) (void)take(replay, PART_STATES, bytes);
    }
}

/* Replays the update, then releases the gradients. */
static void run_update(struct replay *replay) {
    const struct params_table *params = replay->analysis->params;
    const struct training_table *step = replay->step;
    if (is_sharded(replay))
        release(replay, PART_UPDATE, take(replay, PART_UPDATE, step->update_bytes));
    for (size_t i = 0; i < params->n_params; i++) {
        replay->of_param[i] = NONE;
        if (is_sharded(replay) || !learns(replay, i)) continue;
        const struct optimizer_cost cost = cost_of(replay, i);
        replay->of_param[i] = take(replay, PART_UPDATE, cost.temporary_bytes);
        if (!cost.is_alone) continue;
        release(replay, PART_UPDATE, replay->of_param[i]);
        replay->of_param[i] = NONE;
    }
    for (size_t i = 0; i < params->n_params; i++)
        release(replay, PART_UPDATE, replay->of_param[i]);
    for (uint32_t i = 0; i < step->n_blocks; i++)
        if (step->blocks[i].part == PART_GRADIENT) release_block(replay, i);
}

static int start(struct replay *replay) {
    struct arena *scratch = replay->analysis->scratch;
    const size_t n_blocks = replay->step->n_blocks;
    const size_t n_nodes = replay->analysis->model->n_nodes;
    replay->allocator = caching_allocator_new(scratch);
    replay->of_block = arena_array_raw(scratch, n_blocks, sizeof *replay->of_block);
    replay->of_param =
        arena_array_raw(scratch, replay->analysis->params->n_params, sizeof *replay->of_param);
    replay->workspace = arena_array(scratch, n_nodes, sizeof *replay->workspace);
    if (arena_failed(scratch)) return diag_no_memory(replay->analysis->diag);
    for (size_t i = 0; i < n_blocks; i++) replay->of_block[i] = NONE;
    for (uint32_t id = 0; id < n_nodes; id++)
        replay->workspace[id] = workspace_of_node(replay->analysis, id);
    int status = sort_blocks(replay, false, &replay->taken);
    return status == CM_OK ? sort_blocks(replay, true, &replay->released) : status;
}

static void run(struct replay *replay) {
    hold_weights(replay);
    for (int i = 0; i < REPLAYED_STEPS; i++) {
        run_events(replay);
        if (i == 0) create_states(replay);
        run_update(replay);
    }
}

static bool has_convolutions(const struct analysis *analysis) {
    for (uint32_t id = 0; id < analysis->model->n_nodes; id++)
        if (workspace_is_convolution(analysis, id)) return true;
    return false;
}

static int estimate(const struct replay *replay, struct cm_device_memory *ret) {
    struct cm_memory_part *list =
        arena_array(replay->analysis->result_arena, N_PARTS, sizeof *list);
    int64_t bytes[N_PARTS];
    if (!list) return diag_no_memory(replay->analysis->diag);
    for (size_t i = 0; i < N_PARTS; i++) bytes[i] = replay->at_peak[i];
    bytes[PART_ALLOCATOR] = caching_allocator_reserved(replay->allocator) - replay->peak;
    bytes[PART_CONTEXT] = CONTEXT + (has_convolutions(replay->analysis) ? CONVOLUTIONS : 0);
    ret->present = true;
    ret->parts = list;
    ret->bytes = 0;
    for (size_t i = 0; i < N_PARTS; i++) {
        ret->bytes += bytes[i];
        if (bytes[i] > 0)
            list[ret->n_parts++] =
                (struct cm_memory_part){parts[i].name, bytes[i], parts[i].source};
    }
    ret->low_bytes = ret->bytes / 1000 * LOW;
    ret->high_bytes = ret->bytes / 1000 * HIGH;
    return CM_OK;
}

int pass_device_memory(const struct analysis *analysis, void *own) {
    struct device_memory_table *table = own;
    struct replay replay = {.analysis = analysis, .step = analysis->training};
    table->estimate = (struct cm_device_memory){
        .bytes = CM_UNKNOWN, .low_bytes = CM_UNKNOWN, .high_bytes = CM_UNKNOWN};
    if (!replay.step->optimizer || !is_known(replay.step->peak_bytes) ||
        replay.step->peak_bytes > LARGEST)
        return CM_OK;
    int status = start(&replay);
    if (status < 0) return status;
    run(&replay);
    if (arena_failed(analysis->scratch)) return diag_no_memory(analysis->diag);
    return estimate(&replay, &table->estimate);
}
