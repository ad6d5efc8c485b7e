/* SPDX-License-Identifier: Apache-2.0 */
/* Divides weights, gradients and optimizer states of a step over GPUs (ZeRO, FSDP). The sums
 * are those of DeepSpeed's estimators (runtime/zero/stage_1_and_2.py, stage3.py): with P
 * parameters of 16 bits, N GPUs and Adam, stage 2 has 4 P + 16 P / N, stage 3 has 18 P / N and
 * 4 bytes for each parameter of the largest module. */
#include "passes/modules/modules.h"
#include "passes/params/params.h"
#include "passes/training/training.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"

#define STAGE_OF_GRADIENTS 2
#define STAGE_OF_WEIGHTS   3

static int64_t share(const struct training *training, int64_t bytes) {
    return checked_div_ceil(bytes, training->analysis->options->shard_gpus);
}

/* Returns the bytes of the parameters of a node that no earlier node uses, with gradients. */
static int64_t gathered_by(const struct training *training, uint32_t node, bool *seen) {
    const struct params_table *params = training->analysis->params;
    int64_t bytes = 0;
    for (size_t i = 0; i < params->n_used[node]; i++) {
        const uint32_t id = params->used[node][i];
        const struct param *param = &params->params[id];
        if (param->kind != PARAM_LEARNED || seen[id]) continue;
        seen[id] = true;
        checked_add_known_to(&bytes, checked_mul(training->frozen[id] ? 1 : 2, param->bytes));
    }
    return bytes;
}

/* Sets gather_bytes: the parameters of a module are gathered while it runs. A node outside all
 * modules counts as one. */
static int gather(const struct training *training) {
    const struct analysis *analysis = training->analysis;
    const struct modules_table *modules = analysis->modules;
    int64_t *own = arena_array(analysis->scratch, modules->n_modules, sizeof *own);
    bool *seen = arena_array(analysis->scratch, analysis->params->n_params, sizeof *seen);
    int64_t *largest = &training->table->gather_bytes;
    if (!own || !seen) return diag_no_memory(analysis->diag);
    for (uint32_t id = 0; id < training->model->n_nodes && !is_overflow(*largest); id++) {
        const uint32_t module = modules->of_node[id];
        const int64_t bytes = gathered_by(training, id, seen);
        own[module] = module == 0 ? bytes : checked_add(own[module], bytes);
        if (own[module] > *largest || is_overflow(own[module])) *largest = own[module];
    }
    return CM_OK;
}

/* Moves optimizer and gradients to the host, and with CM_OFFLOAD_ALL the weights. */
static void offload(struct training *training, int64_t buffer_bytes, int64_t *gradients) {
    const struct cm_options *options = training->analysis->options;
    struct training_table *table = training->table;
    int64_t moved = checked_add(table->optimizer_bytes, table->master_bytes);
    if (options->offload == CM_OFFLOAD_NONE) return;
    checked_add_to(&moved, *gradients);
    table->optimizer_bytes = table->master_bytes = table->update_bytes = *gradients = 0;
    if (options->zero_stage == STAGE_OF_GRADIENTS) table->whole_gradient_bytes = 0;
    if (options->offload == CM_OFFLOAD_ALL) {
        checked_add_to(&moved, checked_sub(table->weight_bytes, buffer_bytes));
        table->weight_bytes = buffer_bytes;
    }
    checked_add_to(&table->host_bytes, moved);
}

int training_shard(struct training *training, int64_t buffer_bytes) {
    const struct cm_options *options = training->analysis->options;
    struct training_table *table = training->table;
    const int64_t master = table->master_bytes;
    int64_t gradients = 0; /* those that are alive throughout */
    int status = CM_OK;
    table->whole_gradient_bytes = table->gradient_bytes;
    if (options->shard_gpus > 0) {
        gradients = share(training, master); /* the optimizer's, of 32 bits */
        table->master_bytes = share(training, master);
        table->optimizer_bytes = share(training, table->optimizer_bytes);
        table->host_bytes = share(training, table->host_bytes);
        table->update_bytes = share(training, table->update_bytes);
        table->step_flops = share(training, table->step_flops);
    }
    if (options->shard_gpus > 0 && options->zero_stage == STAGE_OF_WEIGHTS) {
        /* a gradient of 16 bits becomes one of 32 */
        gradients =
            share(training, checked_add(table->gradient_bytes, checked_div_floor(master, 2)));
        table->whole_gradient_bytes = 0;
        table->weight_bytes = checked_add(
            buffer_bytes, share(training, checked_sub(table->weight_bytes, buffer_bytes)));
        status = gather(training);
    }
    if (options->shard_gpus > 0) offload(training, buffer_bytes, &gradients);
    table->gradient_bytes = checked_add(table->whole_gradient_bytes, gradients);
    table->held_bytes = checked_add(checked_add(table->weight_bytes, gradients),
                                    checked_add(table->optimizer_bytes, table->master_bytes));
    checked_add_to(&table->held_bytes, table->gather_bytes);
    return status;
}
