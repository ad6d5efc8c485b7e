/* SPDX-License-Identifier: Apache-2.0 */
/* Pass training: computes memory and operations of one training step: gradients, optimizer
 * states, saved activations, MACs of backward. Runs if options name an
 * optimizer. docs/training.md has the formulas and a comparison with PyTorch. */
#include "passes/training/training.h"

#include "ops/flops/conventions.h"
#include "passes/cost/count.h"
#include "passes/infer/infer.h"
#include "passes/modules/modules.h"
#include "passes/params/params.h"
#include "passes/training/optimizers.h"
#include "passes/walk/bind.h"
#include "passes/walk/context.h"
#include "passes/walk/walk.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/glob.h"

#define UNSCALE 1 /* with amp: FLOPs per gradient element to undo loss scaling */

static int refuse(const struct training *training, const char *what, const char *pattern) {
    struct cm_diagnostics *diag = training->analysis->diag;
    int status = diag_error(diag, DIAG_USAGE, "no %s matches '%s'", what, pattern);
    diag_hint(diag, "names are dotted, as in the file; * matches any text");
    return status;
}

/* Freezes a parameter, or lets it learn. Integers have no gradients. */
static void set_frozen(struct training *training, size_t param, bool is_frozen) {
    const uint32_t value = training->analysis->params->params[param].value;
    training->frozen[param] =
        is_frozen || !dtype_is_float(training->analysis->infer->infos[value].dtype);
}

/* Calls set_frozen of parameters with a matching name, or used by a node of a matching module.
 * matches[m]: the pattern matches the path of module m or of one of its parents. */
static int set_matching(struct training *training, const char *pattern, bool is_frozen,
                        bool *matches) {
    const struct params_table *params = training->analysis->params;
    const struct modules_table *modules = training->analysis->modules;
    bool any = false;
    for (uint32_t id = 0; id < modules->n_modules; id++) {
        const uint32_t parent = modules->parents[id];
        matches[id] = (parent != ID_NONE && matches[parent]) ||
                      glob_matches(pattern, modules->modules[id].path);
    }
    for (size_t i = 0; i < params->n_params; i++)
        if (glob_matches(pattern, params->params[i].name)) {
            set_frozen(training, i, is_frozen);
            any = true;
        }
    for (uint32_t id = 0; id < training->model->n_nodes; id++)
        for (size_t i = 0; i < params->n_used[id]; i++)
            if (matches[modules->of_node[id]]) {
                set_frozen(training, params->used[id][i], is_frozen);
                any = true;
            }
    return any ? CM_OK : refuse(training, "parameter or module", pattern);
}

/* Marks the matching modules; choose then keeps the outermost. */
static int checkpoint(struct training *training, const char *pattern) {
    const struct modules_table *table = training->analysis->modules;
    bool any = false;
    for (uint32_t id = 1; id < table->n_modules; id++)
        if (glob_matches(pattern, table->modules[id].path)) {
            training->checkpoint[id] = id;
            any = true;
        }
    return any ? CM_OK : refuse(training, "module", pattern);
}

/* Matches the name patterns of --trainable, --freeze and --checkpoint: sets `frozen` and
 * `checkpoint`. A pattern without a match is an error. */
static int choose(struct training *training) {
    const struct analysis *analysis = training->analysis;
    const struct cm_options *options = analysis->options;
    size_t n_modules = analysis->modules->n_modules;
    bool *matches = arena_array(analysis->arena, n_modules, sizeof(*matches));
    int status = CM_OK;
    training->frozen =
        arena_array(analysis->arena, analysis->params->n_params, sizeof(*training->frozen));
    training->checkpoint =
        arena_array(analysis->arena, n_modules, sizeof(*training->checkpoint));
    if (!matches || !training->frozen || !training->checkpoint)
        return diag_no_memory(analysis->diag);
    for (size_t i = 0; i < n_modules; i++) training->checkpoint[i] = ID_NONE;
    for (size_t i = 0; i < analysis->params->n_params; i++)
        set_frozen(training, i, options->n_trainable > 0);
    for (size_t i = 0; i < options->n_trainable && status == CM_OK; i++)
        status = set_matching(training, options->trainable[i], false, matches);
    for (size_t i = 0; i < options->n_freeze && status == CM_OK; i++)
        status = set_matching(training, options->freeze[i], true, matches);
    for (size_t i = 0; i < options->n_checkpoint && status == CM_OK; i++)
        status = checkpoint(training, options->checkpoint[i]);
    for (uint32_t id = 1; id < n_modules && status == CM_OK; id++) {
        const uint32_t outer = training->checkpoint[analysis->modules->parents[id]];
        if (outer != ID_NONE) training->checkpoint[id] = outer;
    }
    return status;
}

/* Adds gradient, states and update of a learned parameter. A sharded step updates a copy of 32
 * bits of a parameter of 16 bits. */
static void add_learned(struct training *training, const struct param *param, int64_t *alone) {
    struct training_table *table = training->table;
    struct value_info updated = training->analysis->infer->infos[param->value];
    if (training->analysis->options->shard_gpus > 0 && dtype_bits(updated.dtype) == 16) {
        updated.dtype = DTYPE_FLOAT;
        checked_add_known_to(&table->master_bytes, dtype_bytes(DTYPE_FLOAT, param->elements));
    }
    const struct optimizer_cost cost = optimizers_cost(table->optimizer, &updated);
    checked_add_known_to(&table->learned, param->elements);
    checked_add_known_to(&table->gradient_bytes, param->bytes);
    checked_add_known_to(&table->optimizer_bytes, cost.state_bytes);
    checked_add_known_to(&table->host_bytes, cost.host_bytes);
    checked_add_known_to(&table->step_flops, cost.flops);
    if (!cost.is_alone)
        checked_add_known_to(&table->update_bytes, cost.temporary_bytes);
    else if (cost.temporary_bytes > *alone)
        *alone = cost.temporary_bytes;
}

/* Sums the sizes of weights, gradients and optimizer states. */
static int add_params(struct training *training) {
    const struct analysis *analysis = training->analysis;
    struct training_table *table = training->table;
    int64_t alone = 0; /* most temporaries of a parameter that is updated alone */
    int64_t buffer_bytes = 0;
    for (size_t i = 0; i < analysis->params->n_params; i++) {
        const struct param *param = &analysis->params->params[i];
        const bool is_learned = param->kind == PARAM_LEARNED;
        checked_add_known_to(&table->weight_bytes, param->bytes);
        if (!is_learned) checked_add_known_to(&buffer_bytes, param->bytes);
        if (is_learned && training->frozen[i])
            checked_add_known_to(&table->frozen, param->elements);
        if (is_learned && !training->frozen[i]) add_learned(training, param, &alone);
    }
    if (is_known(table->update_bytes) && table->update_bytes < alone)
        table->update_bytes = alone;
    if (analysis->options->precision == CM_PRECISION_AMP)
        checked_add_to(&table->step_flops, checked_mul(UNSCALE, table->learned));
    return training_shard(training, buffer_bytes);
}

/* Returns the MACs of a node's backward, by the operator's own function if it has one.
 * Otherwise they are the forward MACs times the number of factors with a gradient, at most 2: a
 * product of more factors is a chain of products of two. */
static int64_t backward_macs(const struct training *training, const struct op_source *source,
                             uint32_t id) {
    const struct operation *operation = &training->operations[id];
    const struct node *node = operation->node;
    int64_t n = 0;
    if (!node || !operation->has_backward) return 0;
    if (bind_hides_gradient(operation->op)) return DIM_UNKNOWN;
    if (operation->op->backward.macs) {
        struct arena_mark mark = arena_save(source->arena);
        struct op_context context;
        if (training_context(training, source, id, &context) < 0) return DIM_OVERFLOW;
        context.gradients = training_gradients(training, operation);
        const int64_t macs = operation->op->backward.macs(&context);
        arena_restore(source->arena, mark);
        return checked_mul(macs, training_runs(training, node->graph));
    }
    for (size_t i = 0; i < node->n_inputs && n < 2; i++)
        n += i < (size_t)operation->op->backward.factors &&
             training_needs_gradient(training, operation, i);
    return n == 0 ? 0 : checked_mul(n, training->analysis->count->nodes[id].costs.macs);
}

/* Sums the operations of backward, of the recomputation, and of the whole iteration. */
static void count_nodes(struct training *training) {
    const struct analysis *analysis = training->analysis;
    const struct convention *convention = convention_find(analysis->options->convention);
    const struct op_source source = infer_source(analysis);
    const struct cm_costs *forward = &analysis->modules->modules[0].costs;
    struct training_table *table = training->table;
    for (uint32_t id = 0; id < training->model->n_nodes; id++) {
        const struct operation *operation = &training->operations[id];
        const struct cm_costs *costs = &analysis->count->nodes[id].costs;
        const int64_t macs = backward_macs(training, &source, id);
        const int64_t each = convention_per_mac(convention, operation->op);
        const int64_t flops = each == 0 ? 0 : checked_mul(each, macs);
        table->of_node[id].backward_macs = macs;
        checked_add_known_to(&table->backward_macs, macs);
        checked_add_known_to(&table->backward_flops, flops);
        if (!training_is_recomputed(training, operation)) continue;
        checked_add_known_to(&table->recompute_macs, costs->macs);
        checked_add_known_to(&table->recompute_flops, costs->flops);
        checked_add_known_to(&table->recompute_int_ops, costs->int_ops);
    }
    if (convention->backward > 0) /* a multiple of forward */
        table->backward_flops = checked_mul(convention->backward, forward->flops);
    table->iteration_flops = checked_add(forward->flops, table->recompute_flops);
    checked_add_to(&table->iteration_flops, table->backward_flops);
    checked_add_to(&table->iteration_flops, table->step_flops);
    table->iteration_int_ops = checked_add(forward->int_ops, table->recompute_int_ops);
}

static void add_step(struct cm_step *sum, const struct cm_step *step) {
    checked_add_known_to(&sum->backward_macs, step->backward_macs);
    checked_add_known_to(&sum->saved_bytes, step->saved_bytes);
}

/* Sums the nodes of each module, children included. Children follow their parents. */
static void sum_modules(struct training *training) {
    const struct modules_table *modules = training->analysis->modules;
    const struct training_table *table = training->table;
    for (uint32_t id = 0; id < training->model->n_nodes; id++)
        add_step(&table->of_module[modules->of_node[id]], &table->of_node[id]);
    for (size_t id = modules->n_modules; id-- > 1;)
        add_step(&table->of_module[modules->parents[id]], &table->of_module[id]);
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
        arena_array(analysis->arena, analysis->modules->n_modules, sizeof(*table->of_module));
    if (!table->of_node || !table->of_module) return diag_no_memory(analysis->diag);
    int status = choose(training);
    if (status == CM_OK) status = training_flow(training);
    if (status == CM_OK) status = add_params(training);
    if (status == CM_OK) status = training_steps(training);
    if (status < 0) return status;
    count_nodes(training);
    sum_modules(training);
    for (uint32_t id = 0; id < training->model->n_nodes; id++)
        if (training->operations[id].has_backward &&
            bind_hides_gradient(training->operations[id].op))
            table->of_node[id].saved_bytes = DIM_UNKNOWN;
    return CM_OK;
}
