/* SPDX-License-Identifier: Apache-2.0 */
/* Pass count: computes MACs, FLOPs, integer operations and bytes of every node by the formulas
 * of its operator, and multiplies them by the runs of its graph. If the condition of an If is
 * not static, only the more expensive branch is counted. Parameters are counted by tensor, in
 * pass params. */
#include "passes/cost/count.h"

#include "ops/flops/conventions.h"
#include "passes/cost/dequantized.h"
#include "passes/costs.h"
#include "passes/fusion/fuse_patterns.h"
#include "passes/infer/infer.h"
#include "passes/memory/liveness.h"
#include "passes/pass.h"
#include "passes/precision/precision.h"
#include "passes/walk/bind.h"
#include "passes/walk/context.h"
#include "passes/walk/iterations.h"
#include "passes/walk/walk.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"

/* Figures that are not multiplied by runs: a graph writes the same buffers in each run. */
#define NOT_PER_RUN (COSTS_OF_PARAMS | CM_COST_BIT(activation_bytes))

/* Returns true if the node writes an activation at run time. */
static bool writes_anything(const struct analysis *analysis, const struct node *node) {
    for (size_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != ID_NONE &&
            analysis->liveness->storage[node->outputs[i]] == STORAGE_ACTIVATION)
            return true;
    return false;
}

bool count_traffic(const struct analysis *analysis, const struct op_context *context,
                   int64_t *ret_read, int64_t *ret_written) {
    *ret_read = *ret_written = 0;
    if (!writes_anything(analysis, context->node) || context->op->memory == MEMORY_CONTROL)
        return false;
    for (size_t i = 0; i < context->n_inputs; i++) {
        const struct value_info *info = context->inputs[i];
        if (!info || info->kind != CM_TYPE_TENSOR) continue;
        if (op_role(context->op, i) == 'i' && (info->value || info->is_data_missing))
            continue; /* only the host reads it: shapes, axes */
        const uint32_t value = context->node->inputs[i];
        const int64_t owned = value != ID_NONE ? liveness_owned(analysis, value) : 0;
        const bool is_owner = owned != 0 && info == &analysis->infer->upper->infos[value];
        const int64_t part = op_elements_of_part(context->op, context->node, i, &info->shape,
                                                 &context->outputs[0].shape);
        checked_add_to(ret_read, is_known(part) ? dtype_bytes(info->dtype, part)
                                 : is_owner     ? owned
                                                : liveness_bytes(info));
    }
    for (size_t i = 0; i < context->n_outputs; i++) {
        const uint32_t value = context->node->outputs[i];
        if (value != ID_NONE && analysis->liveness->storage[value] == STORAGE_ACTIVATION)
            checked_add_to(ret_written, liveness_bytes(&context->outputs[i]));
    }
    return true;
}

/* Computes the terms. A fused pattern is counted once, at its last node, and *context becomes
 * the context of the pattern, so that FLOPs depend on neither opset nor exporter. Conventions
 * with `sees_nodes` count the single nodes instead. */
static void find_terms(const struct analysis *analysis, const struct convention *convention,
                       const struct op_source *source, struct op_context *context,
                       struct count_terms *ret) {
    const struct fused_patterns_table *fused_patterns = analysis->fused_patterns;
    const uint32_t index = fused_patterns->of_node[context->node_id];
    ret->n = 0;
    if (index != ID_NONE && !convention->sees_nodes) {
        const struct fused_pattern *fused = &fused_patterns->items[index];
        if (fused->last != context->node_id || context_make_fused(source, fused, context) < 0)
            return;
    }
    const int64_t macs = product_macs(context);
    /* convention tables count neither shape arithmetic nor constants */
    const bool computed = macs != 0 || writes_anything(analysis, context->node);
    struct integers integers = dequantized_integers(analysis, context, macs);
    integers.rest = integers.rest && computed;
    if (computed || convention->table == FLOPS_DEEPSPEED)
        ret->n = convention_terms(convention, context, &integers, ret->terms);
}

/* Returns how often the run of a body happens in one run of the model. */
static int64_t iteration_runs(const struct model *model, const struct iteration *iteration,
                              const int64_t *runs) {
    int64_t product = iteration->runs;
    while (iteration->outer) {
        iteration = iteration->outer;
        product = checked_mul(product, iteration->runs);
    }
    return checked_mul(product, runs[model->graphs[iteration->graph].parent]);
}

/* Returns true if shapes of operands or outputs differ between the iterations of a Loop. */
static bool varies(const struct analysis *analysis, const struct node *node) {
    const struct value_info *infos = analysis->infer->infos;
    if (!iterations_exist(analysis->infer, node->graph)) return false;
    for (size_t i = 0; i < node->n_inputs; i++)
        if (node->inputs[i] != ID_NONE && infos[node->inputs[i]].varies) return true;
    for (size_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != ID_NONE && infos[node->outputs[i]].varies) return true;
    return false;
}

static void add_terms(const struct count_terms *run, int64_t runs, struct count_terms *sum) {
    if (sum->n == 0)
        for (; sum->n < run->n; sum->n++) {
            sum->terms[sum->n] = run->terms[sum->n];
            sum->terms[sum->n].count = 0;
        }
    for (size_t i = 0; i < sum->n; i++) {
        const int64_t count = i < run->n ? run->terms[i].count : DIM_UNKNOWN;
        checked_add_to(&sum->terms[i].count, checked_mul(count, runs));
    }
}

/* Sums the terms over all runs: runs with 1, 2, 3 and 4 output elements give one term of 10. */
static void sum_terms(const struct analysis *analysis, const struct convention *convention,
                      uint32_t id, struct count_terms *ret) {
    const struct infer_table *infer = analysis->infer;
    const struct iterations *of_graph = &infer->iterations[analysis->model->nodes[id].graph];
    struct op_source source = infer_source(analysis);
    const struct arena_mark mark = arena_save(analysis->arena);
    int64_t macs = 0;
    source.infos = analysis->count->run_infos;
    *ret = (struct count_terms){.runs = 1};
    for (const struct iteration *at = of_graph->last; at; at = at->before) {
        const int64_t runs = iteration_runs(analysis->model, at, analysis->count->runs);
        struct op_context context;
        struct count_terms run;
        iterations_load(infer, at, analysis->count->run_infos);
        if (context_make_inferred(&source, id, &context) < 0) return;
        checked_add_to(&macs, checked_mul(product_macs(&context), runs));
        find_terms(analysis, convention, &source, &context, &run);
        add_terms(&run, runs, ret);
        arena_restore(analysis->arena, mark);
    }
    if (macs != 0) product_add(&ret->macs, "sum over the iterations", macs);
}

void count_terms(const struct analysis *analysis, const struct convention *convention,
                 uint32_t node, struct count_terms *ret) {
    if (varies(analysis, &analysis->model->nodes[node])) {
        sum_terms(analysis, convention, node, ret);
        return;
    }
    struct op_source source = infer_source(analysis);
    const struct arena_mark mark = arena_save(analysis->arena);
    const struct count_table *table = analysis->count;
    const uint32_t graph = analysis->model->nodes[node].graph;
    const bool is_most = table->nodes[node].costs.upper_bound != 0;
    struct op_context context;
    if (is_most) source.infos = analysis->infer->upper->infos;
    *ret =
        (struct count_terms){.runs = is_most ? table->upper_runs[graph] : table->runs[graph]};
    if (context_make_inferred(&source, node, &context) < 0) return;
    if (context.op->cost.macs) context.op->cost.macs(&context, &ret->macs);
    find_terms(analysis, convention, &source, &context, ret);
    arena_restore(analysis->arena, mark);
}

int64_t count_flops(const struct count_terms *terms) {
    return checked_mul(convention_sum(terms->terms, terms->n, false), terms->runs);
}

int64_t count_int_ops(const struct count_terms *terms) {
    return checked_mul(convention_sum(terms->terms, terms->n, true), terms->runs);
}

static void scale(struct cm_costs *costs, int64_t runs) {
    if (runs == 1) return;
    for (size_t i = 0; i < N_COSTS; i++) {
        int64_t *figure = costs_figure(costs, i);
        if (!costs_contain(NOT_PER_RUN, i)) *figure = checked_mul(*figure, runs);
    }
    if (runs != 0) return;
    costs->activation_bytes = 0;
    costs->upper_bound = 0;
}

/* Computes the runs of each graph in one step, over all micro-batches: a product over its
 * parents. */
static void total_runs(const struct analysis *analysis, const struct infer_table *infer,
                       int64_t *runs) {
    const struct model *model = analysis->model;
    for (uint32_t id = 0; id < model->n_graphs; id++) {
        const struct graph *graph = &model->graphs[id];
        /* a graph's parent is always added before it */
        int64_t outer =
            graph->parent == ID_NONE ? pass_micro_batches(analysis) : runs[graph->parent];
        runs[id] = iterations_exist(infer, id) ? 0 : checked_mul(outer, infer->runs[id]);
        if (!iterations_exist(infer, id)) continue;
        for (const struct iteration *at = infer->iterations[id].last; at; at = at->before)
            checked_add_to(&runs[id], iteration_runs(model, at, runs));
    }
}

/* MACs, FLOPs, integer operations and bytes written; a later one decides if all before are
 * equal. */
struct branch_cost {
    int64_t figures[4];
};

static bool is_more_expensive(const struct branch_cost *a, const struct branch_cost *b) {
    for (size_t i = 0; i < sizeof a->figures / sizeof *a->figures; i++)
        if (a->figures[i] != b->figures[i]) return a->figures[i] > b->figures[i];
    return false;
}

/* Sums the costs of each graph, nested graphs included; unknown figures count as 0. */
static void graph_costs(const struct analysis *analysis, const struct count_table *table,
                        struct branch_cost *costs) {
    const struct model *model = analysis->model;
    for (uint32_t id = (uint32_t)model->n_graphs; id-- > 0;) {
        const struct graph *graph = &model->graphs[id];
        int64_t *sums = costs[id].figures;
        for (size_t i = 0; i < graph->n_nodes; i++) {
            const struct cm_costs *node = &table->nodes[graph->nodes[i]].costs;
            const int64_t own[] = {node->macs, node->flops, node->int_ops, node->bytes_written};
            for (size_t k = 0; k < sizeof own / sizeof *own; k++)
                if (is_known(own[k])) checked_add_to(&sums[k], own[k]);
        }
        if (graph->parent == ID_NONE) continue;
        int64_t *outer = costs[graph->parent].figures;
        for (size_t k = 0; k < sizeof costs->figures / sizeof *sums; k++)
            checked_add_to(&outer[k], sums[k]);
    }
}

/* Sets dropped[graph] for all branches of a node except the most expensive one, and for the
 * graphs nested in them. */
static void drop_cheaper_branches(const struct analysis *analysis, struct count_table *table,
                                  bool *dropped) {
    const struct model *model = analysis->model;
    if (model->n_graphs == 1) return;
    struct branch_cost *costs = arena_array(analysis->scratch, model->n_graphs, sizeof(*costs));
    uint32_t *best = arena_array(analysis->scratch, model->n_nodes, sizeof(*best));
    if (!costs || !best) return;
    graph_costs(analysis, table, costs);
    for (uint32_t id = 0; id < model->n_nodes; id++) best[id] = ID_NONE;
    for (uint32_t id = 0; id < model->n_graphs; id++) {
        uint32_t owner = model->graphs[id].owner;
        if (!analysis->infer->alternative[id]) continue;
        if (best[owner] == ID_NONE || is_more_expensive(&costs[id], &costs[best[owner]]))
            best[owner] = id;
    }
    for (uint32_t id = 0; id < model->n_graphs; id++) {
        const struct graph *graph = &model->graphs[id];
        bool outer = graph->parent != ID_NONE && dropped[graph->parent];
        bool worse = analysis->infer->alternative[id] && best[graph->owner] != id;
        dropped[id] = outer || worse;
    }
}

/* Computes the costs of one run of the node. */
static void count_node(const struct analysis *analysis, const struct convention *convention,
                       const struct op_source *source, uint32_t id, struct cm_costs *ret) {
    struct count_terms terms;
    struct op_context context;
    if (context_make_inferred(source, id, &context) < 0) return;
    ret->macs = product_macs(&context);
    ret->int_macs = dequantized_integers(analysis, &context, ret->macs).macs;
    struct op_context cast = context;
    if (precision_apply(analysis, &cast) < 0) return;
    (void)count_traffic(analysis, &cast, &ret->bytes_read, &ret->bytes_written);
    ret->activation_bytes = ret->bytes_written;
    find_terms(analysis, convention, source, &context, &terms);
    ret->flops = convention_sum(terms.terms, terms.n, false);
    ret->int_ops = convention_sum(terms.terms, terms.n, true);
}

/* Returns true if an operand, an output or the number of runs is an upper bound. */
static bool is_bounded(const struct analysis *analysis, uint32_t id) {
    const struct node *node = &analysis->model->nodes[id];
    const struct infer_table *upper = analysis->infer->upper;
    if (upper == analysis->infer) return false;
    for (size_t i = 0; i < node->n_inputs; i++)
        if (node->inputs[i] != ID_NONE && upper->infos[node->inputs[i]].is_upper_bound)
            return true;
    for (size_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != ID_NONE && upper->infos[node->outputs[i]].is_upper_bound)
            return true;
    return analysis->count->runs[node->graph] != analysis->count->upper_runs[node->graph];
}

/* Replaces data-dependent figures by their upper bounds, except bounds so large that a sum over
 * all nodes could overflow. */
static void count_upper_bounds(const struct analysis *analysis,
                               const struct convention *convention, uint32_t id,
                               struct cm_costs *costs) {
    if (!is_bounded(analysis, id)) return;
    struct op_source source = infer_source(analysis);
    struct cm_costs upper = {0};
    source.infos = analysis->infer->upper->infos;
    count_node(analysis, convention, &source, id, &upper);
    scale(&upper, analysis->count->upper_runs[analysis->model->nodes[id].graph]);
    const int64_t limit = INT64_MAX / 4 / (int64_t)(analysis->model->n_nodes + 1);
    for (size_t i = 0; i < N_COSTS; i++) {
        const int64_t bound = *costs_figure(&upper, i);
        int64_t *figure = costs_figure(costs, i);
        if (costs_contain(COSTS_OF_PARAMS, i) || !is_known(bound) || bound > limit ||
            bound == *figure)
            continue;
        *figure = bound;
        costs->upper_bound |= UINT32_C(1) << i;
    }
}

static void count_nodes(const struct analysis *analysis, struct count_table *table) {
    const struct model *model = analysis->model;
    const struct convention *convention = convention_find(analysis->options->convention);
    struct op_source source = infer_source(analysis);
    struct op_room room;
    source.room = &room;
    BUG_ON(!convention); /* names are checked before the passes run */
    const struct arena_mark mark = arena_save(analysis->arena);
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        if (iterations_exist(analysis->infer, model->nodes[id].graph)) continue;
        struct cm_costs *costs = &table->nodes[id].costs;
        count_node(analysis, convention, &source, id, costs);
        scale(costs, table->runs[model->nodes[id].graph]);
        count_upper_bounds(analysis, convention, id, costs);
        arena_restore(analysis->arena, mark);
    }
}

/* Adds the costs of `runs` runs, which all use the same buffers. */
static void add_runs(struct cm_costs *sum, const struct cm_costs *costs, int64_t runs) {
    struct cm_costs addend = *costs;
    const int64_t activations = addend.activation_bytes;
    scale(&addend, runs);
    addend.activation_bytes = 0;
    for (size_t i = 0; i < N_COSTS; i++) {
        int64_t *figure = costs_figure(sum, i);
        checked_add_to(figure, *costs_figure(&addend, i));
    }
    if (runs != 0 && (activations > sum->activation_bytes || !is_known(activations)) &&
        is_known(sum->activation_bytes))
        sum->activation_bytes = activations;
}

/* Replaces unknown figures by upper bounds; all figures if the number of runs was assumed. */
static void bound_unknown(const struct analysis *analysis, const struct convention *convention,
                          uint32_t id, bool is_assumed, struct cm_costs *costs) {
    struct cm_costs bounded = *costs;
    count_upper_bounds(analysis, convention, id, &bounded);
    const bool is_mixed = count_is_mixed(analysis, analysis->model->nodes[id].graph);
    for (size_t i = 0; i < N_COSTS; i++) {
        int64_t *figure = costs_figure(costs, i);
        if (is_mixed && *figure != 0) costs->upper_bound |= UINT32_C(1) << i;
        if (!is_assumed && *figure != DIM_UNKNOWN) continue;
        *figure = *costs_figure(&bounded, i);
        costs->upper_bound |= bounded.upper_bound & UINT32_C(1) << i;
    }
}

/* Counts the nodes of a body inside an executed Loop, each run with the shapes of this run. */
static void count_iterations(const struct analysis *analysis, struct count_table *table,
                             uint32_t graph_id) {
    const struct graph *graph = &analysis->model->graphs[graph_id];
    const struct convention *convention = convention_find(analysis->options->convention);
    struct op_source source = infer_source(analysis);
    struct op_room room;
    bool is_assumed = false;
    source.room = &room;
    source.infos = table->run_infos;
    const struct arena_mark mark = arena_save(analysis->arena);
    for (const struct iteration *at = analysis->infer->iterations[graph_id].last; at;
         at = at->before) {
        const int64_t runs = iteration_runs(analysis->model, at, table->runs);
        iterations_load(analysis->infer, at, table->run_infos);
        is_assumed = is_assumed || at->is_assumed;
        for (size_t i = 0; i < graph->n_nodes; i++) {
            struct cm_costs costs = {0};
            count_node(analysis, convention, &source, graph->nodes[i], &costs);
            add_runs(&table->nodes[graph->nodes[i]].costs, &costs, runs);
            arena_restore(analysis->arena, mark);
        }
    }
    for (size_t i = 0; i < graph->n_nodes; i++)
        bound_unknown(analysis, convention, graph->nodes[i], is_assumed,
                      &table->nodes[graph->nodes[i]].costs);
}

bool count_is_mixed(const struct analysis *analysis, uint32_t graph) {
    if (!iterations_exist(analysis->infer, graph)) return false;
    while (graph != ID_NONE && !analysis->infer->iterations[graph].is_mixed)
        graph = analysis->model->graphs[graph].parent;
    return graph != ID_NONE;
}

bool count_is_assumed(const struct analysis *analysis, uint32_t graph) {
    for (; graph != ID_NONE; graph = analysis->model->graphs[graph].parent) {
        bool is_assumed = !iterations_exist(analysis->infer, graph);
        const struct iteration *at =
            is_assumed ? NULL : analysis->infer->iterations[graph].last;
        for (; at && !is_assumed; at = at->before) is_assumed = at->is_assumed;
        if (is_assumed && analysis->infer->upper->assumed[graph]) return true;
    }
    return false;
}

static int fail_overflow(const struct analysis *analysis, uint32_t id) {
    struct node_frame place = {.model = analysis->model,
                               .op = analysis->bind->ops[id],
                               .infos = analysis->infer->infos,
                               .pass = "count",
                               .node = id};
    node_frame_push(&place, analysis->diag);
    int status =
        diag_error(analysis->diag, DIAG_OVERFLOW, "the cost of the node must be below 2^63");
    node_frame_pop(&place, analysis->diag);
    return status;
}

/* Fails if a figure of the node overflowed. Marks figures that sums leave out in part or as a
 * whole as partial: unknown figures, and those of one iteration if the trip count is. */
static int check_figures(const struct analysis *analysis, const struct count_table *table,
                         uint32_t id) {
    struct cm_costs *costs = &table->nodes[id].costs;
    const uint32_t graph = analysis->model->nodes[id].graph;
    const bool is_assumed = table->runs[graph] != 0 && count_is_assumed(analysis, graph);
    int64_t any = 0; /* negative if a figure is not known */
    for (size_t i = 0; i < N_COSTS; i++)
        any |= costs_contain(COSTS_OF_PARAMS, i) ? 0 : costs_value(costs, i);
    for (size_t i = 0; i < N_COSTS && (any < 0 || is_assumed); i++) {
        const int64_t figure = costs_value(costs, i);
        const bool is_bounded = !costs_contain(COSTS_OF_PARAMS, i);
        if (is_bounded && is_overflow(figure)) return fail_overflow(analysis, id);
        if ((is_bounded && !is_known(figure)) ||
            (is_assumed && figure != 0 && is_known(figure) && !costs_contain(NOT_PER_RUN, i)))
            costs->partial |= UINT32_C(1) << i;
    }
    return CM_OK;
}

int pass_count(const struct analysis *analysis, void *own) {
    struct count_table *table = own;
    const struct model *model = analysis->model;
    bool *dropped = arena_array(analysis->scratch, model->n_graphs, sizeof(*dropped));
    table->nodes = arena_array(analysis->result_arena, model->n_nodes, sizeof(*table->nodes));
    table->runs = arena_array(analysis->arena, model->n_graphs, sizeof(*table->runs));
    table->upper_runs =
        arena_array(analysis->arena, model->n_graphs, sizeof(*table->upper_runs));
    if (!table->runs || !table->upper_runs || !dropped || !table->nodes)
        return diag_no_memory(analysis->diag);
    table->dequantized = dequantized_find(analysis);
    total_runs(analysis, analysis->infer, table->runs);
    total_runs(analysis, analysis->infer->upper, table->upper_runs);
    count_nodes(analysis, table);
    if (analysis->infer->iterations) {
        table->run_infos = arena_copy(analysis->arena, analysis->infer->infos,
                                      model->n_values * sizeof *table->run_infos);
        if (!table->run_infos) return diag_no_memory(analysis->diag);
    }
    for (uint32_t id = 0; id < model->n_graphs; id++)
        if (iterations_exist(analysis->infer, id)) count_iterations(analysis, table, id);
    drop_cheaper_branches(analysis, table, dropped);
    if (arena_failed(analysis->arena)) return diag_no_memory(analysis->diag);
    for (uint32_t id = 0; id < model->n_graphs; id++)
        if (dropped[id]) table->runs[id] = 0;
    int status = CM_OK;
    for (uint32_t id = 0; id < model->n_nodes && status == CM_OK; id++) {
        if (dropped[model->nodes[id].graph]) scale(&table->nodes[id].costs, 0);
        status = check_figures(analysis, table, id);
    }
    return status;
}
