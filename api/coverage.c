/* SPDX-License-Identifier: Apache-2.0 */
/* Coverage: unknown operators, unknown shapes and unknown gradients. Nodes of a branch that is
 * never taken are not counted. */
#include "api/assemble.h"

#include <string.h>

#include "costmodel/backend.h"
#include "ops/custom/custom_op.h"
#include "ops/signatures.gen.h"
#include "passes/cost/count.h"
#include "passes/fusion/fuse_patterns.h"
#include "passes/memory/liveness.h"
#include "passes/params/names.h"
#include "passes/training/training.h"
#include "passes/walk/bind.h"
#include "passes/walk/walk.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/map.h"

static bool is_run(const struct analysis *analysis, uint32_t graph) {
    for (; graph != ID_NONE; graph = analysis->model->graphs[graph].parent)
        if (analysis->infer->runs[graph] == 0) return false;
    return true;
}

static bool is_unknown_shape(const struct value_info *info) {
    if (info->varies) return false; /* known in each iteration */
    return info->kind == CM_TYPE_UNKNOWN ||
           (info->kind == CM_TYPE_TENSOR && !shape_is_known(&info->shape));
}

/* Returns the number of outputs of the node whose shape is unknown in `table`. */
static int64_t unknown_outputs(const struct infer_table *table, const struct node *node) {
    int64_t n = 0;
    for (size_t i = 0; i < node->n_outputs; i++)
        n += node->outputs[i] != ID_NONE && is_unknown_shape(&table->infos[node->outputs[i]]);
    return n;
}

/* Operators and the number of their nodes. */
struct tally {
    struct arena *arena;
    struct map index;
    struct cm_name_count *items;
    const struct op **ops; /* of the first node of each item */
    size_t n;
    size_t capacity;
};

/* Counts the operator of a node. Frees the key if it exists: names may be long and frequent. */
static int tally_add(struct tally *tally, const struct node *node, const struct op *op) {
    struct arena *scratch = tally->index.arena;
    const struct arena_mark mark = arena_save(scratch);
    /* The key starts with the length of the domain: domain and type may contain colons. */
    const char *key =
        arena_printf(scratch, "%zu:%s%s", strlen(node->domain), node->domain, node->type);
    if (!key) return CM_NO_MEMORY;
    const uint32_t existing = map_get(&tally->index, key);
    if (existing != MAP_NONE) {
        arena_restore(scratch, mark);
        tally->items[existing].count++;
        return CM_OK;
    }
    size_t capacity = tally->capacity;
    const struct op **ops =
        arena_grow(scratch, tally->ops, tally->n, &capacity, sizeof(struct op *));
    struct cm_name_count *items =
        arena_grow(tally->arena, tally->items, tally->n, &tally->capacity, sizeof(*items));
    const char *name = arena_printf(tally->arena, "%s::%s",
                                    node->domain[0] ? node->domain : "ai.onnx", node->type);
    if (!ops || !items || !name) return CM_NO_MEMORY;
    tally->ops = ops;
    tally->items = items;
    tally->ops[tally->n] = op;
    tally->items[tally->n] = (struct cm_name_count){.name = name, .count = 1};
    return map_set(&tally->index, key, (uint32_t)tally->n++);
}

/* Unknown operators, custom operators, and operators without a known gradient. */
struct tallies {
    struct tally unknown;
    struct tally custom;
    struct tally gradients;
};

/* Copies the descriptions: the result may outlive them. */
static int list_descriptions(const struct tally *custom, struct cm_coverage *ret) {
    struct cm_description *list = arena_array(custom->arena, custom->n, sizeof(*list));
    if (!list) return CM_NO_MEMORY;
    for (size_t i = 0; i < custom->n; i++) {
        const struct custom *of = custom_op_of_op(custom->ops[i]);
        list[i] = (struct cm_description){.op = custom->items[i].name,
                                          .digest = arena_strdup(custom->arena, of->digest),
                                          .replaces = of->replaces};
        if (!list[i].digest) return CM_NO_MEMORY;
    }
    ret->n_descriptions = custom->n;
    ret->descriptions = list;
    return CM_OK;
}

/* Returns the nodes whose costs sums leave out, by reason; NULL if none, or out of memory. */
static const struct cm_incomplete *find_incomplete(const struct analysis *analysis,
                                                   const struct tallies *tallies) {
    struct cm_incomplete found = {0};
    for (size_t i = 0; i < tallies->gradients.n; i++)
        found.unknown_gradients += tallies->gradients.items[i].count;
    for (uint32_t id = 0; id < analysis->model->n_nodes; id++) {
        const uint32_t graph = analysis->model->nodes[id].graph;
        if (!is_run(analysis, graph)) continue;
        if (bind_is_unknown(analysis->bind->ops[id]))
            found.unknown_operators++;
        else if (analysis->count->nodes[id].costs.partial == 0)
            continue;
        else if (count_is_assumed(analysis, graph))
            found.unknown_trip_counts++;
        else
            found.unknown_shapes++;
    }
    const bool is_any = found.unknown_operators + found.unknown_shapes +
                            found.unknown_trip_counts + found.unknown_gradients >
                        0;
    return is_any ? arena_copy(analysis->result_arena, &found, sizeof(found)) : NULL;
}

int coverage_of(const struct analysis *analysis, struct cm_coverage *ret) {
    const struct model *model = analysis->model;
    struct tallies tallies;
    struct tally none = {.arena = analysis->result_arena};
    int64_t unknown_shapes = 0;
    int64_t unbounded = 0;
    map_init(&none.index, analysis->arena);
    tallies = (struct tallies){none, none, none};
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        const struct node *node = &model->nodes[id];
        if (!is_run(analysis, node->graph)) continue;
        const int64_t unknown = unknown_outputs(analysis->infer, node);
        unknown_shapes += unknown;
        /* Outputs without an upper bound are unknown in the table of upper bounds too. */
        if (unknown > 0) unbounded += unknown_outputs(analysis->infer->upper, node);
        const struct op *op = analysis->bind->ops[id];
        const bool has_no_gradient = analysis->training->optimizer && bind_hides_gradient(op) &&
                                     analysis->training->of_node[id].saved_bytes == DIM_UNKNOWN;
        int status = CM_OK;
        if (bind_is_unknown(op))
            status = tally_add(&tallies.unknown, node, op);
        else if (has_no_gradient)
            status = tally_add(&tallies.gradients, node, op);
        if (status == CM_OK && !bind_is_unknown(op) && custom_op_is(op))
            status = tally_add(&tallies.custom, node, op);
        if (status < 0) return status;
    }
    *ret = (struct cm_coverage){
        .nodes = (int64_t)model->n_nodes,
        .n_unknown_ops = tallies.unknown.n,
        .unknown_ops = tallies.unknown.items,
        .n_custom_ops = tallies.custom.n,
        .custom_ops = tallies.custom.items,
        .n_unknown_gradients = tallies.gradients.n,
        .unknown_gradients = tallies.gradients.items,
        .unknown_shapes = unknown_shapes,
        .bounded_shapes = unknown_shapes - unbounded,
        .incomplete = find_incomplete(analysis, &tallies),
    };
    return list_descriptions(&tallies.custom, ret);
}

/* Warns, or fails with options->strict. `text` NULL: out of memory. */
static int warn(const struct analysis *analysis, enum diag_code code, const char *text) {
    if (!text) return diag_no_memory(analysis->diag);
    if (analysis->options->strict) return diag_error(analysis->diag, code, "%s", text);
    diag_warn(analysis->diag, code, "%s", text);
    return CM_OK;
}

static const char *shapes_text(struct arena *arena, const struct cm_coverage *coverage) {
    static const char open[] = "an unknown shape";
    const int64_t n = coverage->unknown_shapes;
    const int64_t bounded = coverage->bounded_shapes;
    const char *have = n == 1 ? "output has" : "outputs have";
    const char *them = n == 1 ? "it" : "them";
    if (bounded == 0)
        return arena_printf(arena, "%lld node %s %s: costs that depend on %s are not included",
                            (long long)n, have, open, them);
    if (bounded == n)
        return arena_printf(arena, "%lld node %s %s: costs that depend on %s are upper bounds",
                            (long long)n, have, open, them);
    return arena_printf(arena,
                        "%lld node %s %s: costs that depend on %lld of them are upper bounds, "
                        "those of the rest are not included",
                        (long long)n, have, open, (long long)bounded);
}

/* Returns the bytes of the copies of weights that the node looks up: matrices of a constant, as
 * of one expert per token. 0 for other nodes. */
static int64_t gathered_bytes(const struct analysis *analysis, uint32_t id) {
    const struct node *node = &analysis->model->nodes[id];
    const struct op *op = analysis->bind->ops[id];
    const struct value_info *infos = analysis->infer->infos;
    if (!op_looks_up(op) || node->n_outputs == 0 || node->inputs[0] == ID_NONE ||
        node->outputs[0] == ID_NONE)
        return 0;
    const struct shape *table = &infos[node->inputs[0]].shape;
    const struct shape *rows = &infos[node->outputs[0]].shape;
    if (!infos[node->inputs[0]].is_constant || table->rank < 3 || rows->rank < 3 ||
        table->dims[table->rank - 1] != rows->dims[rows->rank - 1] ||
        table->dims[table->rank - 2] != rows->dims[rows->rank - 2] ||
        analysis->liveness->storage[node->outputs[0]] != STORAGE_ACTIVATION)
        return 0;
    const int64_t bytes = liveness_bytes(&infos[node->outputs[0]]);
    return is_known(bytes) ? bytes : 0;
}

/* Notes that activations contain copies of weights, which a grouped product does not make. */
static void note_gathered_weights(const struct analysis *analysis) {
    int64_t most = 0;
    size_t n = 0;
    for (uint32_t id = 0; id < analysis->model->n_nodes; id++) {
        const int64_t bytes = gathered_bytes(analysis, id);
        n += bytes > 0;
        if (bytes > most) most = bytes;
    }
    if (n > 0)
        diag_note(analysis->diag, DIAG_ASSUMPTION,
                  "%zu %s weight matrices for each row of the indices, as of the experts of "
                  "each token, at most %.3g %s: activations and traffic include the copies, "
                  "the lower bound of times does not",
                  n, n == 1 ? "node copies" : "nodes copy",
                  (double)most / (most < 1000000000 ? 1e6 : 1e9),
                  most < 1000000000 ? "MB" : "GB");
}

/* Returns true if the node is a norm or belongs to a fused pattern that is one. */
static bool is_norm(const struct analysis *analysis, uint32_t id) {
    const uint32_t pattern = analysis->fused_patterns->of_node[id];
    const struct op *op = pattern == ID_NONE ? analysis->bind->ops[id]
                                             : analysis->fused_patterns->items[pattern].op;
    return op_primitive_kind(op) == CM_NORM;
}

/* Warns that the step may lack norms: convolutions have biases that are not parameters of the
 * framework by their names, no norm is left or restored, and the exporter recorded nothing. */
static void warn_folded(const struct analysis *analysis) {
    const struct model *model = analysis->model;
    size_t n_biases = 0;
    if (!analysis->options->optimizer || analysis->options->as_exported ||
        model->n_framework_params > 0)
        return;
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        const struct op *op = analysis->bind->ops[id];
        const struct node *node = &model->nodes[id];
        if (is_norm(analysis, id)) return;
        n_biases += op_primitive_kind(op) == CM_CONV && node->n_inputs > 2 &&
                    !names_parameter(value_name(model, node->inputs[2]));
    }
    if (n_biases == 0) return;
    diag_warn(analysis->diag, DIAG_FOLDED,
              "%zu %s, and the model has no norms: the exporter may have folded norms and "
              "omitted dropout, so saved activations may be a lower bound",
              n_biases, n_biases == 1 ? "convolution has a bias" : "convolutions have biases");
    diag_hint(analysis->diag, "export the model for training, or give --as-exported");
}

int assemble_warnings(const struct analysis *analysis, const struct cm_coverage *coverage) {
    const size_t n_nodes = analysis->model->n_nodes;
    const struct model *model = analysis->model;
    int worst = CM_OK;
    int64_t opset = 0; /* of ai.onnx */
    for (uint32_t id = 0; id < n_nodes; id++)
        if (model->nodes[id].domain[0] == '\0' && model->nodes[id].opset > opset)
            opset = model->nodes[id].opset;
    if (opset > ONNX_NEWEST_OPSET)
        worst = warn(analysis, DIAG_OPSET,
                     arena_printf(analysis->arena,
                                  "unknown opset %lld: operators are treated as in opset %d, "
                                  "the newest that is known",
                                  (long long)opset, ONNX_NEWEST_OPSET));
    for (size_t i = 0; i < coverage->n_unknown_gradients; i++) {
        const struct cm_name_count *op = &coverage->unknown_gradients[i];
        int status =
            warn(analysis, DIAG_UNKNOWN_OP,
                 arena_printf(analysis->arena,
                              "no gradient is known for operator %s (%lld of %zu nodes): its "
                              "saved activations and backward costs are not included",
                              op->name, (long long)op->count, n_nodes));
        if (status < 0) worst = status;
    }
    for (size_t i = 0; i < coverage->n_unknown_ops; i++) {
        const struct cm_name_count *op = &coverage->unknown_ops[i];
        int status = warn(analysis, DIAG_UNKNOWN_OP,
                          arena_printf(analysis->arena,
                                       "unknown operator %s (%lld of %zu nodes): its "
                                       "outputs and costs are not included",
                                       op->name, (long long)op->count, n_nodes));
        if (status < 0) worst = status;
    }
    note_gathered_weights(analysis);
    warn_folded(analysis);
    if (coverage->unknown_shapes == 0) return worst;
    const char *text = shapes_text(analysis->arena, coverage);
    if (!text) return diag_no_memory(analysis->diag);
    if (analysis->options->strict) return diag_error(analysis->diag, DIAG_SHAPE, "%s", text);
    diag_note(analysis->diag, DIAG_SHAPE, "%s", text);
    return worst;
}
