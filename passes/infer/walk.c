/* SPDX-License-Identifier: Apache-2.0 */
/* The walk of shape inference and folding: see walk.h. */
#include "passes/infer/walk.h"

#include "passes/infer/bind.h"
#include "passes/infer/context.h"
#include "passes/infer/upper_bounds.h"
#include "support/arena.h"

#include "support/banned.h"

/* Bodies inside bodies; deeper nesting is refused (each level is a C call). */
#define MAX_BODY_DEPTH 64

/*
 * Floats are folded only when there are few: scales and sizes are, weights are not, and a
 * weight must never be read. Integers and bools are shape arithmetic at any size a fold
 * accepts.
 */
#define MAX_FOLDED_FLOATS 64

/*
 * What the rules of a walk get. A model has a few tables, and shapes of a few elements at its
 * nodes; a file that folds a table at each of them would take gigabytes.
 */
#define LONG_ELEMENTS           ((int64_t)1 << 21)
#define SHORT_ELEMENTS_PER_NODE 256

/* Loops inside loops are walked again and again until their state holds: so often at most, on
 * average. */
#define WALKS_PER_NODE 8
#define FEWEST_WALKS   4096

static bool worth_folding(const struct constant *constant) {
    switch (dtype_class(constant->dtype)) {
    case DTYPE_CLASS_INT:
    case DTYPE_CLASS_BOOL:
    case DTYPE_CLASS_STRING:
        return constant->n_elements <= CONSTANT_MAX_ELEMENTS;
    case DTYPE_CLASS_FLOAT:
        return constant->n_elements <= MAX_FOLDED_FLOATS;
    default:
        return false;
    }
}

static struct value_info value_info_of_constant(const struct constant *constant) {
    struct value_info info = value_info_tensor(constant->dtype, constant->shape);
    bool splat = constant->place == CONSTANT_SPLAT;
    info.value = splat || worth_folding(constant) ? constant : NULL;
    info.is_constant = true;
    info.is_weight = true;
    return info;
}

static void start_value(struct walk *walk, uint32_t id) {
    const struct value *value = &walk->model->values[id];
    struct value_info *info = &walk->table->facts[id];
    if (walk->inputs[id])
        *info = *walk->inputs[id];
    else if (value->constant)
        *info = value_info_of_constant(value->constant);
    else
        *info = value_info_unknown();
}

void walk_renew_search(struct walk *walk) {
    walk->most_searched =
        walk->n_walked + FEWEST_WALKS + WALKS_PER_NODE * (int64_t)walk->model->n_nodes;
}

int walk_start(struct walk *walk) {
    const struct model *model = walk->model;
    struct infer_table *table = walk->table;
    table->facts = arena_array_raw(walk->arena, model->n_values, sizeof(*table->facts));
    table->runs = arena_array(walk->arena, model->n_graphs, sizeof(*table->runs));
    table->alternative = arena_array(walk->arena, model->n_graphs, sizeof(*table->alternative));
    walk->has_assumed = arena_array(walk->arena, model->n_nodes, sizeof(*walk->has_assumed));
    walk->trip_uses =
        arena_array(walk->arena, walk->trips ? model->n_nodes : 0, sizeof(*walk->trip_uses));
    if (!walk->trip_uses) return diag_no_memory(walk->diag);
    if (!table->facts || !table->runs || !table->alternative || !walk->has_assumed)
        return diag_no_memory(walk->diag);
    walk->n_walked = 0;
    walk_renew_search(walk);
    walk->budget = (struct op_budget){LONG_ELEMENTS,
                                      SHORT_ELEMENTS_PER_NODE * ((int64_t)model->n_nodes + 1)};
    for (uint32_t graph = 0; graph < model->n_graphs; graph++) table->runs[graph] = 1;
    for (uint32_t id = 0; id < model->n_values; id++) start_value(walk, id);
    return CM_OK;
}

static int walk_body(void *context, uint32_t graph_id, size_t n_inputs,
                     const struct value_info *inputs, const struct value_info **ret_outputs) {
    struct walk *walk = context;
    const struct graph *graph = &walk->model->graphs[graph_id];
    if (n_inputs != graph->n_inputs)
        return diag_error(walk->diag, DIAG_ARITY, "the body has %zu inputs, %zu are fed to it",
                          graph->n_inputs, n_inputs);
    if (walk->depth >= MAX_BODY_DEPTH)
        return diag_error(walk->diag, DIAG_LIMIT, "bodies are nested deeper than %d",
                          MAX_BODY_DEPTH);
    struct value_info *outputs = arena_array(walk->arena, graph->n_outputs, sizeof(*outputs));
    if (!outputs) return diag_no_memory(walk->diag);
    for (size_t i = 0; i < n_inputs; i++)
        walk->table->facts[graph->inputs[i]] =
            walk->exact ? most_of_value(walk, graph->inputs[i], &inputs[i]) : inputs[i];
    walk->depth++;
    int status = walk_graph(walk, graph_id);
    walk->depth--;
    if (status < 0) return status;
    for (size_t i = 0; i < graph->n_outputs; i++)
        outputs[i] = walk->table->facts[graph->outputs[i]];
    *ret_outputs = outputs;
    return CM_OK;
}

static int body_runs(void *context, uint32_t graph, int64_t times, const char *assumption) {
    struct walk *walk = context;
    bool known = is_known(times);
    walk->table->is_open = walk->table->is_open || !known;
    walk->table->runs[graph] = known ? times : 1;
    walk->table->alternative[graph] = known && assumption;
    uint32_t owner = walk->model->graphs[graph].owner;
    if (!assumption || walk->has_assumed[owner])
        return CM_OK; /* bodies are walked repeatedly */
    walk->has_assumed[owner] = true;
    diag_note(walk->diag, DIAG_ASSUMPTION, "%s", assumption);
    return CM_OK;
}

static int64_t asked_trips(void *context, uint32_t node, int64_t rounds, int64_t most) {
    const struct walk *walk = context;
    if (!walk->trips || !is_known(walk->trips[node])) return rounds;
    const bool too_many = is_known(most) && walk->trips[node] > most;
    walk->trip_uses[node] = is_known(rounds) ? TRIPS_KNOWN
                            : too_many       ? TRIPS_TOO_MANY
                                             : TRIPS_TAKEN;
    return is_known(rounds) ? rounds : walk->trips[node];
}

static const struct value_info *value_info_of(void *context, uint32_t value) {
    const struct walk *walk = context;
    return &walk->table->facts[value];
}

static bool may_search(void *context) {
    const struct walk *walk = context;
    return walk->n_walked < walk->most_searched;
}

static bool inputs_are_constant(const struct op_context *context) {
    for (size_t i = 0; i < context->n_inputs; i++)
        if (context->inputs[i] && !context->inputs[i]->is_constant) return false;
    return true;
}

static bool inputs_are_valued(const struct op_context *context) {
    for (size_t i = 0; i < context->n_inputs; i++)
        if (context->inputs[i] && !context->inputs[i]->value) return false;
    return true;
}

/* What the fold would write; a Constant's contents stand in the file as they are. */
static bool affords_outputs(const struct op_context *context) {
    int64_t elements = 0;
    for (size_t i = 0; i < context->n_outputs; i++)
        elements = checked_add(elements, op_output_elements(context, i));
    bool is_folded = is_known(elements) && elements <= CONSTANT_MAX_ELEMENTS;
    return context->n_inputs == 0 || !is_folded || op_affords(context, elements);
}

int walk_fold(struct walk *walk, struct op_context *context) {
    context->budget = &walk->budget;
    if (!context->op->fold) return CM_OK;
    if (!context->op->fold_partial && !inputs_are_valued(context)) return CM_OK;
    return affords_outputs(context) ? context->op->fold(context) : CM_OK;
}

/* A node without operands whose value stands in its attributes: Constant. */
static bool is_file_constant(const struct op_context *context) {
    return context->n_inputs == 0 && context->op->fold && context->op->memory != MEMORY_CONTROL;
}

/* Only a row that could fold, or that has operands, gives the same contents each time. */
static void mark_constant(const struct op_context *context, struct value_info *output) {
    bool deterministic = context->n_inputs > 0 || context->op->fold;
    bool computed = deterministic && context->op->memory != MEMORY_CONTROL &&
                    !bind_is_unknown(context->op) && inputs_are_constant(context);
    output->is_constant = output->is_constant || computed || output->value;
    output->is_weight = is_file_constant(context);
    if (output->is_weight && output->value && output->value->place != CONSTANT_SPLAT &&
        !worth_folding(output->value))
        output->value = NULL;
}

/*
 * Where the rules leave something open, the file's own declaration closes it: the output of an
 * unknown operator, a dim that data decide but the exporter knew.
 */
static int close_gaps(const struct walk *walk, uint32_t value, struct value_info *info) {
    const struct type *type = walk->model->values[value].type;
    const struct shape *declared = &type->shape;
    if (!walk->declared || type->kind == CM_TYPE_UNKNOWN) return CM_OK;
    if (info->kind == CM_TYPE_UNKNOWN && value_info_of_type(walk->arena, type, info) < 0)
        return diag_no_memory(walk->diag);
    if (info->kind != CM_TYPE_TENSOR || type->kind != CM_TYPE_TENSOR) return CM_OK;
    if (!shape_has_rank(&info->shape)) info->shape = *declared;
    if (shape_is_known(&info->shape) || info->shape.rank != declared->rank) return CM_OK;
    struct shape closed;
    if (shape_make(walk->arena, declared->rank, info->shape.dims, &closed) < 0)
        return diag_no_memory(walk->diag);
    for (int axis = 0; axis < closed.rank; axis++)
        if (!is_known(closed.dims[axis])) closed.dims[axis] = declared->dims[axis];
    info->shape = closed;
    return CM_OK;
}

static int keep_outputs(struct walk *walk, const struct op_context *context) {
    const struct node *node = context->node;
    for (size_t i = 0; i < node->n_outputs; i++) {
        uint32_t value = node->outputs[i];
        if (value == ID_NONE) continue;
        struct value_info *info = &context->outputs[i];
        int status = close_gaps(walk, value, info);
        if (status < 0) return status;
        mark_constant(context, info);
        walk->table->is_open = walk->table->is_open || !value_info_is_settled(info);
        walk->table->facts[value] = *info;
    }
    return CM_OK;
}

static void forget_outputs(struct walk *walk, const struct node *node) {
    for (size_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != ID_NONE)
            walk->table->facts[node->outputs[i]] = value_info_unknown();
}

int walk_infer(struct walk *walk, struct op_context *context) {
    const struct op_walker walker = {.walk = walk_body,
                                     .runs = body_runs,
                                     .context = walk,
                                     .may_search = may_search,
                                     .trips = asked_trips,
                                     .info = value_info_of};
    context->walker = &walker;
    context->budget = &walk->budget;
    int status = context->op->infer(context);
    context->walker = NULL;
    return status;
}

int walk_node(struct walk *walk, uint32_t id) {
    struct op_room room;
    const struct op_source source = {
        .model = walk->model,
        .ops = walk->ops,
        .overrides = walk->overrides,
        .facts = walk->table->facts,
        .mode = walk->mode,
        .arena = walk->arena,
        .scratch = walk->scratch,
        .room = &room,
        .diag = walk->diag,
    };
    struct arena_mark mark = arena_save(walk->scratch);
    struct op_context context;
    struct node_place place = {.model = walk->model,
                               .op = walk->ops[id],
                               .facts = walk->table->facts,
                               .pass = walk->pass,
                               .node = id};
    int status = context_make(&source, id, &context);
    if (status < 0) return status;
    walk->n_walked++;
    if (walk->exact) {
        status = most_of_node(walk, &context);
        arena_restore(walk->scratch, mark);
        return status;
    }
    node_place_push(&place, walk->diag);
    status = walk_infer(walk, &context);
    if (status == CM_OK) status = walk_fold(walk, &context);
    node_place_pop(&place, walk->diag);
    if (status == CM_OK)
        status = keep_outputs(walk, &context);
    else
        forget_outputs(walk, context.node);
    arena_restore(walk->scratch, mark);
    return status;
}

int walk_graph(struct walk *walk, uint32_t graph_id) {
    const struct graph *graph = &walk->model->graphs[graph_id];
    int worst = CM_OK;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        int status = walk_node(walk, graph->nodes[i]);
        if (status == CM_NO_MEMORY) return status;
        if (status < 0) worst = status;
    }
    return worst;
}
