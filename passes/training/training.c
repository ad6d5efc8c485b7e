/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pass training: computes memory and operations of one training step: gradients, optimizer
 * states, master weights, saved activations, MACs of backward. Runs if options name an
 * optimizer. docs/training.md has the formulas and a comparison with PyTorch.
 */
#include "passes/training/training.h"

#include "ops/flops/conventions.h"
#include "passes/infer/bind.h"
#include "passes/infer/context.h"
#include "passes/training/optimizers.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"

#include "support/banned.h"

#define MASTER_BYTES 4 /* with amp: per element of the master weights and of each state */
#define UNSCALE      1 /* with amp: FLOPs per gradient element to undo loss scaling */

static void add_learned(struct training *training, const struct param *param) {
    struct training_table *table = training->table;
    const struct value_info *info = &training->analysis->infer.infos[param->value];
    const bool mixed = training->analysis->options->amp && info->dtype != DTYPE_DOUBLE;
    int64_t bytes = training_bytes(training, info);
    int64_t wide = mixed ? checked_mul(MASTER_BYTES, param->elements) : bytes;
    table->weight_bytes = checked_add_known(table->weight_bytes, bytes);
    if (training->frozen[param - training->analysis->params.params]) {
        table->frozen = checked_add_known(table->frozen, param->elements);
        return;
    }
    table->learned = checked_add_known(table->learned, param->elements);
    table->gradient_bytes = checked_add_known(table->gradient_bytes, bytes);
    table->optimizer_bytes =
        checked_add_known(table->optimizer_bytes, checked_mul(table->optimizer->states, wide));
    if (mixed) table->master_bytes = checked_add_known(table->master_bytes, wide);
}

static void add_params(struct training *training) {
    const struct params_table *params = &training->analysis->params;
    struct training_table *table = training->table;
    for (size_t i = 0; i < params->n_params; i++) {
        if (params->params[i].kind == PARAM_LEARNED)
            add_learned(training, &params->params[i]);
        else
            table->weight_bytes =
                checked_add_known(table->weight_bytes, params->params[i].bytes);
    }
    int64_t each = table->optimizer->flops + (training->analysis->options->amp ? UNSCALE : 0);
    table->step_flops = checked_mul(each, table->learned);
}

/* Returns the operands whose gradients are computed, as bits. */
static uint32_t operands_with_gradient(const struct training *training,
                                       const struct operation *operation) {
    uint32_t operands = 0;
    for (size_t i = 0; i < operation->node->n_inputs && i < 32; i++)
        if (training_needs_gradient(training, operation, i)) operands |= UINT32_C(1) << i;
    return operands;
}

/* Returns the number of factors with a gradient, at most 2: a product of more factors is a
 * chain of products of two. */
static int64_t factors_with_gradient(const struct training *training,
                                     const struct operation *operation) {
    int64_t n = 0;
    for (size_t i = 0; i < operation->node->n_inputs && n < 2; i++)
        n += i < (size_t)operation->op->backward.factors &&
             training_needs_gradient(training, operation, i);
    return n;
}

/* Returns the backward MACs by the operator's own function. */
static int64_t macs_by_rule(const struct training *training, const struct op_source *source,
                            uint32_t id) {
    const struct operation *operation = &training->operations[id];
    struct arena_mark mark = arena_save(source->arena);
    struct op_context context;
    if (training_context(training, source, id, &context) < 0) return DIM_OVERFLOW;
    int64_t macs =
        operation->op->backward.macs(&context, operands_with_gradient(training, operation));
    arena_restore(source->arena, mark);
    return checked_mul(macs, training_runs(training, operation->node->graph));
}

static int64_t backward_macs(const struct training *training, const struct op_source *source,
                             uint32_t id) {
    const struct operation *operation = &training->operations[id];
    if (!operation->has_backward) return 0;
    if (bind_hides_gradient(operation->op)) return DIM_UNKNOWN;
    if (operation->op->backward.macs) return macs_by_rule(training, source, id);
    int64_t forward = training->analysis->count.nodes[id].costs.macs;
    int64_t n = factors_with_gradient(training, operation);
    return n == 0 ? 0 : checked_mul(n, forward);
}

static void count_node(struct training *training, const struct op_source *source,
                       const struct convention *convention, uint32_t id) {
    struct training_table *table = training->table;
    const struct operation *operation = &training->operations[id];
    const struct cm_costs *costs = &training->analysis->count.nodes[id].costs;
    struct cm_step *step = &table->of_node[id];
    step->backward_macs = operation->node ? backward_macs(training, source, id) : 0;
    int64_t each = convention_per_mac(convention, operation->op);
    int64_t flops = each == 0 ? 0 : checked_mul(each, step->backward_macs);
    table->backward_macs = checked_add_known(table->backward_macs, step->backward_macs);
    table->backward_flops = checked_add_known(table->backward_flops, flops);
    if (!training_is_recomputed(training, operation)) return;
    table->recompute_macs = checked_add_known(table->recompute_macs, costs->macs);
    table->recompute_flops = checked_add_known(table->recompute_flops, costs->flops);
    table->recompute_int_ops = checked_add_known(table->recompute_int_ops, costs->int_ops);
}

static void count_nodes(struct training *training) {
    const struct analysis *analysis = training->analysis;
    const struct convention *convention = convention_find(analysis->options->convention);
    const struct op_source source = context_source(analysis);
    for (uint32_t id = 0; id < training->model->n_nodes; id++)
        count_node(training, &source, convention, id);
    if (convention->backward > 0) /* a multiple of forward */
        training->table->backward_flops =
            checked_mul(convention->backward, analysis->modules.modules[0].costs.flops);
}

static void sum_iteration(struct training *training) {
    struct training_table *table = training->table;
    const struct cm_costs *forward = &training->analysis->modules.modules[0].costs;
    int64_t flops = checked_add(forward->flops, table->recompute_flops);
    flops = checked_add(flops, table->backward_flops);
    table->iteration_flops = checked_add(flops, table->step_flops);
    table->iteration_int_ops = checked_add(forward->int_ops, table->recompute_int_ops);
}

/* Sums the nodes of each module, children included. Children follow their parents. */
static void sum_modules(struct training *training) {
    const struct modules_table *modules = &training->analysis->modules;
    struct training_table *table = training->table;
    for (uint32_t id = 0; id < training->model->n_nodes; id++) {
        struct cm_step *module = &table->of_module[modules->of_node[id]];
        const struct cm_step *node = &table->of_node[id];
        module->backward_macs = checked_add_known(module->backward_macs, node->backward_macs);
        module->saved_bytes = checked_add_known(module->saved_bytes, node->saved_bytes);
    }
    for (size_t id = modules->n_modules; id-- > 1;) {
        struct cm_step *outer = &table->of_module[modules->parents[id]];
        const struct cm_step *inner = &table->of_module[id];
        outer->backward_macs = checked_add_known(outer->backward_macs, inner->backward_macs);
        outer->saved_bytes = checked_add_known(outer->saved_bytes, inner->saved_bytes);
    }
}

/* Marks the saved bytes of unknown operators as unknown. */
static void hide_unknown(struct training *training) {
    for (uint32_t id = 0; id < training->model->n_nodes; id++)
        if (training->operations[id].has_backward &&
            bind_hides_gradient(training->operations[id].op))
            training->table->of_node[id].saved_bytes = DIM_UNKNOWN;
}

int pass_training(const struct analysis *analysis, void *own) {
    struct training_table *table = own;
    table->optimizer = optimizers_find(analysis->options->optimizer);
    if (!table->optimizer) return CM_OK;
    struct training *training = arena_alloc(analysis->arena, sizeof(*training));
    if (!training) return diag_no_memory(analysis->diag);
    *training =
        (struct training){.analysis = analysis, .model = analysis->model, .table = table};
    table->flow = training;
    table->of_node =
        arena_array(analysis->arena, analysis->model->n_nodes, sizeof(*table->of_node));
    table->of_module =
        arena_array(analysis->arena, analysis->modules.n_modules, sizeof(*table->of_module));
    if (!table->of_node || !table->of_module) return diag_no_memory(analysis->diag);
    int status = training_choose(training);
    if (status == CM_OK) status = training_flow(training);
    if (status < 0) return status;
    add_params(training);
    status = training_steps(training);
    if (status < 0) return status;
    count_nodes(training);
    sum_iteration(training);
    sum_modules(training);
    hide_unknown(training);
    return CM_OK;
}
