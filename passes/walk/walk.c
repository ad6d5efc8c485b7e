/* SPDX-License-Identifier: Apache-2.0 */
/* Infers types and folds shape arithmetic, exactly and as upper bounds: see walk.h. */
#include "passes/walk/walk.h"

#include "passes/walk/bind.h"
#include "passes/walk/context.h"
#include "passes/walk/iterations.h"
#include "support/arena.h"

#define MAX_BODY_DEPTH 64 /* each level is a C call */

/* Float constants with more elements are not folded: scales and sizes are small, and weights
 * must never be read. Other constants are folded up to CONSTANT_MAX_ELEMENTS. */
#define MAX_FOLDED_FLOATS 64

/* Budgets of one walk (struct op_budget), in elements. A model has a few long tables, and a few
 * elements of shape arithmetic per node; if every node folded a table, that would take
 * gigabytes. */
#define LONG_ELEMENTS           ((int64_t)1 << 21)
#define SHORT_ELEMENTS_PER_NODE 256

/* The bodies of nested Loops are walked again until their state is stable, or until MIN_WALKS +
 * WALKS_PER_NODE * (nodes of the model) nodes were walked. */
#define WALKS_PER_NODE 8
#define MIN_WALKS      4096

/* A Loop is executed iteration by iteration if its trip count, multiplied by the trip counts of
 * the executed Loops around it, is at most MAX_EXECUTED_TRIPS. All Loops of the model together
 * may use EXECUTION_WORK node walks and stored infos. */
#define MAX_EXECUTED_TRIPS 64
#define EXECUTION_WORK     ((int64_t)1 << 17)

/* Elements that folds inside executed Loops may produce. At least RUN_RESERVE must be left
 * after an iteration, or execution stops. */
#define RUN_ELEMENTS ((int64_t)1 << 20)
#define RUN_RESERVE  ((int64_t)1 << 14)

/* Larger upper bounds are dropped: no machine holds such a tensor, and sums would overflow. */
#define MAX_BOUND ((int64_t)1 << 48)

static bool is_worth_folding(const struct constant *constant) {
    const enum dtype_class class = dtype_class(constant->dtype);
    if (class == DTYPE_CLASS_FLOAT) return constant->n_elements <= MAX_FOLDED_FLOATS;
    return constant->n_elements <= CONSTANT_MAX_ELEMENTS &&
           (class == DTYPE_CLASS_INT || class == DTYPE_CLASS_BOOL ||
            class == DTYPE_CLASS_STRING);
}

static struct value_info value_info_of_constant(struct walk *walk,
                                                const struct constant *constant) {
    struct value_info info = value_info_tensor(constant->dtype, constant->shape);
    bool splat = constant->place == CONSTANT_SPLAT;
    info.value = splat || is_worth_folding(constant) ? constant : NULL;
    info.is_constant = true;
    info.is_weight = true;
    missing_data_drop(walk, &info);
    return info;
}

void walk_renew_search(struct walk *walk) {
    walk->walks_limit =
        walk->n_walked + MIN_WALKS + WALKS_PER_NODE * (int64_t)walk->model->n_nodes;
}

struct walk walk_make(const struct analysis *analysis, const char *pass, struct arena *arena,
                      const struct value_info *const *inputs, struct infer_table *table) {
    return (struct walk){.model = analysis->model,
                         .ops = analysis->bind->ops,
                         .inputs = inputs,
                         .trips = analysis->bind->trips,
                         .mode = analysis->options->mode,
                         .pass = pass,
                         .arena = arena,
                         .scratch = analysis->scratch,
                         .table = table};
}

int walk_start(struct walk *walk) {
    const struct model *model = walk->model;
    struct infer_table *table = walk->table;
    table->infos = arena_array_raw(walk->arena, model->n_values, sizeof(*table->infos));
    table->runs = arena_array(walk->arena, model->n_graphs, sizeof(*table->runs));
    table->alternative = arena_array(walk->arena, model->n_graphs, sizeof(*table->alternative));
    table->assumed = arena_array(walk->arena, model->n_graphs, sizeof(*table->assumed));
    walk->has_assumed = arena_array(walk->arena, model->n_nodes, sizeof(*walk->has_assumed));
    walk->assumed = arena_array(walk->arena, model->n_graphs - 1,
                                sizeof(*walk->assumed)); /* one per body */
    walk->trip_outcomes = arena_array(walk->arena, walk->trips ? model->n_nodes : 0,
                                      sizeof(*walk->trip_outcomes));
    if (!table->infos || !table->runs || !table->alternative || !table->assumed ||
        !walk->has_assumed || !walk->assumed || !walk->trip_outcomes)
        return diag_no_memory(walk->diag);
    table->iterations = NULL;
    walk->n_assumed = 0;
    walk->nested_trips = 1;
    walk->work_left = EXECUTION_WORK;
    walk->run_budget = (struct op_budget){RUN_ELEMENTS, RUN_ELEMENTS};
    walk->n_walked = 0;
    walk_renew_search(walk);
    walk->budget = (struct op_budget){LONG_ELEMENTS,
                                      SHORT_ELEMENTS_PER_NODE * ((int64_t)model->n_nodes + 1)};
    for (uint32_t graph = 0; graph < model->n_graphs; graph++) table->runs[graph] = 1;
    for (uint32_t id = 0; id < model->n_values; id++) {
        const struct constant *constant = model->values[id].constant;
        table->infos[id] = walk->inputs[id] ? *walk->inputs[id]
                           : constant       ? value_info_of_constant(walk, constant)
                                            : value_info_unknown();
    }
    return CM_OK;
}

/* --- Functions for operators with bodies (struct op_walker). --- */

/* Sets *ret to `exact` with unknown dims replaced by those of `bounds`; false if none is. */
static bool bound_shape(struct arena *arena, const struct shape *exact,
                        const struct shape *bounds, struct shape *ret) {
    bool is_bounded = false;
    if (!shape_has_rank(exact) || exact->rank != bounds->rank) return false;
    if (shape_make(arena, exact->rank, exact->dims, ret) < 0) return false;
    for (int axis = 0; axis < ret->rank; axis++) {
        const int64_t bound = bounds->dims[axis];
        if (is_known(ret->dims[axis]) || !is_known(bound) || bound > MAX_BOUND) continue;
        ret->dims[axis] = bound;
        is_bounded = true;
    }
    return is_bounded;
}

/* Returns the exact info of the value, with its unknown dims replaced by those of `info`. */
static struct value_info upper_bound_of_value(const struct walk *walk, uint32_t value,
                                              const struct value_info *info) {
    struct value_info upper = walk->exact->infos[value];
    struct shape bounded;
    if (value_info_is_static(&upper) || upper.kind != info->kind) return upper;
    if (upper.kind == CM_TYPE_SEQUENCE || upper.kind == CM_TYPE_OPTIONAL) {
        upper = *info; /* bounds the elements of the sequence, too */
        upper.is_upper_bound = true;
        return upper;
    }
    if (upper.kind != CM_TYPE_TENSOR ||
        !bound_shape(walk->arena, &upper.shape, &info->shape, &bounded))
        return upper;
    const int64_t elements = shape_elements(&bounded);
    if (elements != DIM_UNKNOWN && !(is_known(elements) && elements <= MAX_BOUND)) return upper;
    upper.shape = bounded;
    upper.is_upper_bound = true;
    return upper;
}

/* Walks the body once. Inside an executed Loop, stores the walk as a run of the body: one of
 * several iterations if `is_iteration`, else the only run inside walk->run. */
static int walk_run(struct walk *walk, uint32_t graph_id, bool is_iteration, size_t n_inputs,
                    const struct value_info *inputs, const struct value_info **ret_outputs) {
    const struct graph *graph = &walk->model->graphs[graph_id];
    struct infer_table *table = walk->table;
    struct iteration *outer = walk->run;
    struct iteration *run = NULL;
    if (n_inputs != graph->n_inputs)
        return diag_error(walk->diag, DIAG_ARITY, "the body must have %zu inputs, got %zu",
                          n_inputs, graph->n_inputs);
    if (walk->depth >= MAX_BODY_DEPTH)
        return diag_error(walk->diag, DIAG_LIMIT, "bodies must be nested at most %d deep",
                          MAX_BODY_DEPTH);
    struct value_info *outputs = arena_array(walk->arena, graph->n_outputs, sizeof(*outputs));
    if (!is_iteration) iterations_drop(walk, graph_id);
    if (is_iteration || outer) {
        run = iterations_add(walk, graph_id);
        if (!run) return diag_no_memory(walk->diag);
        run->is_iteration = is_iteration;
    }
    if (!outputs) return diag_no_memory(walk->diag);
    for (size_t i = 0; i < graph->n_inputs; i++)
        table->infos[graph->inputs[i]] =
            walk->exact ? upper_bound_of_value(walk, graph->inputs[i], &inputs[i]) : inputs[i];
    walk->depth++;
    walk->run = run;
    int status = walk_graph(walk, graph_id);
    walk->run = outer;
    walk->depth--;
    if (run) {
        walk->work_left -= (int64_t)(graph->n_nodes + table->iterations[graph_id].n_values);
        if (iterations_store(walk, run) < 0) return diag_no_memory(walk->diag);
    }
    if (status < 0) return status;
    for (size_t i = 0; i < graph->n_outputs; i++) outputs[i] = table->infos[graph->outputs[i]];
    *ret_outputs = outputs;
    return CM_OK;
}

static int walk_body(void *context, uint32_t graph, size_t n_inputs,
                     const struct value_info *inputs, const struct value_info **ret_outputs) {
    return walk_run(context, graph, false, n_inputs, inputs, ret_outputs);
}

/* --- Loops that are executed iteration by iteration. --- */

/* The state of the messages before a node with a body was walked. */
struct walk_mark {
    struct cm_diagnostics diag;
    size_t n_assumed;
    bool is_open;
};

/* Removes the messages since the mark. */
static void remove_messages(struct walk *walk) {
    if (walk->diag) *walk->diag = walk->mark->diag;
    while (walk->n_assumed > walk->mark->n_assumed)
        walk->has_assumed[walk->assumed[--walk->n_assumed]] = false;
}

static bool begin_iterations(void *context, uint32_t graph, int64_t trips, bool needed) {
    struct walk *walk = context;
    if (walk->exact || walk->work_left <= 0 || !(needed || walk->table->is_open)) return false;
    if (walk->executed && !iterations_last(walk->executed, graph)) return false;
    if (trips > MAX_EXECUTED_TRIPS / walk->nested_trips) return false;
    walk->nested_trips *= trips;
    walk->table->is_open = false;
    remove_messages(walk);
    iterations_drop(walk, graph);
    return true;
}

static int walk_iteration(void *context, uint32_t graph, size_t n_inputs,
                          const struct value_info *inputs,
                          const struct value_info **ret_outputs) {
    struct walk *walk = context;
    const int status = walk_run(walk, graph, true, n_inputs, inputs, ret_outputs);
    const struct op_budget *left = &walk->run_budget;
    if (walk->work_left <= 0 || left->short_left < RUN_RESERVE || left->long_left < RUN_RESERVE)
        *ret_outputs = NULL;
    return status;
}

static void end_iterations(void *context, uint32_t graph, int64_t trips, bool is_done) {
    struct walk *walk = context;
    walk->nested_trips /= trips;
    if (is_done) return;
    remove_messages(walk);
    iterations_drop(walk, graph);
}

static int run_body(void *context, uint32_t graph, int64_t times, const char *assumption) {
    struct walk *walk = context;
    walk->table->assumed[graph] = !is_known(times);
    if (walk->exact && iterations_exist(walk->exact, graph)) times = walk->exact->runs[graph];
    bool known = is_known(times);
    walk->table->is_open = walk->table->is_open || !known;
    walk->table->runs[graph] = known ? times : 1;
    walk->table->alternative[graph] = known && assumption;
    struct iteration *last = iterations_last(walk->table, graph);
    if (walk->run && last && last->outer == walk->run && !last->is_iteration) {
        last->runs = known ? times : 1;
        last->is_assumed = !known;
        last->is_alternative = known && assumption;
    }
    uint32_t owner = walk->model->graphs[graph].owner;
    if (!assumption || walk->has_assumed[owner]) return CM_OK;
    walk->has_assumed[owner] = true;
    walk->assumed[walk->n_assumed++] = owner;
    diag_note(walk->diag, DIAG_ASSUMPTION, "%s", assumption);
    return CM_OK;
}

static int64_t requested_trips(void *context, uint32_t node, int64_t exact, int64_t upper) {
    const struct walk *walk = context;
    if (!walk->trips || !is_known(walk->trips[node])) return exact;
    const bool too_many = is_known(upper) && walk->trips[node] > upper;
    walk->trip_outcomes[node] = is_known(exact) ? TRIPS_KNOWN
                                : too_many      ? TRIPS_TOO_MANY
                                                : TRIPS_APPLIED;
    return is_known(exact) ? exact : walk->trips[node];
}

static const struct value_info *value_info_of(void *context, uint32_t value) {
    const struct walk *walk = context;
    return &walk->table->infos[value];
}

static bool may_search(void *context) {
    const struct walk *walk = context;
    return walk->n_walked < walk->walks_limit;
}

/* --- The exact walk. --- */

static struct op_budget *budget_of(struct walk *walk) {
    return walk->run ? &walk->run_budget : &walk->budget;
}

/* Infers the types of the outputs. */
static int infer_types(struct walk *walk, struct op_context *context) {
    const struct op_walker walker = {.walk = walk_body,
                                     .runs = run_body,
                                     .context = walk,
                                     .may_search = may_search,
                                     .trips = requested_trips,
                                     .info = value_info_of,
                                     .begin = begin_iterations,
                                     .iterate = walk_iteration,
                                     .end = end_iterations};
    context->walker = &walker;
    context->budget = budget_of(walk);
    int status = context->op->infer(context);
    context->walker = NULL;
    return status;
}

/* Infers a node with bodies. During the call, walk->mark is the state before the node, and
 * walk->table->is_open refers to this node alone. */
static int infer_control(struct walk *walk, struct op_context *context) {
    const struct walk_mark *outer = walk->mark;
    struct walk_mark mark = {.n_assumed = walk->n_assumed, .is_open = walk->table->is_open};
    if (walk->diag) mark.diag = *walk->diag;
    walk->mark = &mark;
    walk->table->is_open = false;
    const int status = infer_types(walk, context);
    walk->table->is_open = walk->table->is_open || mark.is_open;
    walk->mark = outer;
    return status;
}

/* Folds the outputs if the budget suffices; a Constant without operands is free. */
static int fold_contents(struct walk *walk, struct op_context *context) {
    int64_t elements = 0;
    context->budget = budget_of(walk);
    if (!context->op->fold) return CM_OK;
    for (size_t i = 0; i < context->n_inputs && !context->op->fold_partial; i++)
        if (context->inputs[i] && !context->inputs[i]->value) return CM_OK;
    for (size_t i = 0; i < context->n_outputs; i++)
        checked_add_to(&elements, op_output_elements(context, i));
    const bool is_folded = is_known(elements) && elements <= CONSTANT_MAX_ELEMENTS;
    if (context->n_inputs > 0 && is_folded && !op_use_budget(context, elements)) return CM_OK;
    return context->op->fold(context);
}

/* Marks outputs that do not depend on the model's inputs. A node without operands is
 * deterministic only if its row has a fold function: Constant, not RandomNormal. */
static void mark_constant(struct walk *walk, const struct op_context *context,
                          struct value_info *output) {
    bool deterministic = context->n_inputs > 0 || context->op->fold;
    bool computed =
        deterministic && context->op->memory != MEMORY_CONTROL && !bind_is_unknown(context->op);
    for (size_t i = 0; i < context->n_inputs && computed; i++)
        computed = !context->inputs[i] || context->inputs[i]->is_constant;
    /* inside an executed Loop, contents may differ between iterations */
    output->is_constant = output->is_constant || computed || (output->value && !walk->run);
    output->is_weight = context->n_inputs == 0 && context->op->fold &&
                        context->op->memory != MEMORY_CONTROL; /* Constant */
    if (output->is_weight && output->value && output->value->place != CONSTANT_SPLAT &&
        !is_worth_folding(output->value))
        output->value = NULL;
    if (output->is_weight) missing_data_drop(walk, output);
    output->is_data_missing =
        output->is_data_missing || (!output->value && missing_data_prevents_fold(context));
}

/* Replaces unknown types and dims by those that the file declares. Examples: the type of the
 * output of an unknown operator, a data-dependent dim that the exporter knew. */
static int apply_declared_type(const struct walk *walk, uint32_t value,
                               struct value_info *info) {
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

static int store_outputs(struct walk *walk, const struct op_context *context) {
    const struct node *node = context->node;
    for (size_t i = 0; i < node->n_outputs; i++) {
        uint32_t value = node->outputs[i];
        if (value == ID_NONE) continue;
        struct value_info *info = &context->outputs[i];
        int status = apply_declared_type(walk, value, info);
        if (status < 0) return status;
        mark_constant(walk, context, info);
        walk->table->is_open = walk->table->is_open || !value_info_is_static(info);
        walk->table->infos[value] = *info;
    }
    return CM_OK;
}

/* --- Upper bounds. --- */

/* Returns true if the second walk may learn more about the node than the first. */
static bool may_improve(const struct walk *walk, const struct op_context *context) {
    if (context->op->memory == MEMORY_CONTROL) return true;
    for (size_t i = 0; i < context->n_inputs; i++) {
        const uint32_t value = context->node->inputs[i];
        if (value == ID_NONE) continue;
        const bool is_new = op_input(context, i)->value && !walk->exact->infos[value].value;
        if (is_new || op_has_bounds(context, i)) return true;
    }
    for (size_t i = 0; i < context->n_outputs; i++)
        if (op_has_output(context, i) &&
            !value_info_is_static(&walk->exact->infos[context->node->outputs[i]]))
            return true;
    return false;
}

/* Sets *ret to the operand at the bound. An operand in which the operator is not monotone stays
 * exact. If the operator is monotone only in the operand's dims, the contents become unknown;
 * if outputs fall as the operand rises, the contents are at the opposite bound. */
static int operand_at_bound(struct walk *walk, const struct op_context *context, size_t slot,
                            enum op_bound bound, struct value_info *ret) {
    const char letter = monotone_letter(context->op, slot);
    const struct value_info *exact = &walk->exact->infos[context->node->inputs[slot]];
    *ret = *context->inputs[slot];
    if (context->op->memory == MEMORY_CONTROL) return CM_OK;
    if (letter == MONOTONE_NOT) *ret = *exact;
    if (letter == MONOTONE_DIMS) ret->value = ret->lower_bound = NULL;
    const bool falls = letter == MONOTONE_FALLING;
    if (ret->lower_bound && (bound == OP_LOWER_BOUND) != falls) ret->value = ret->lower_bound;
    if (bound != OP_LOWER_BOUND || !ret->is_upper_bound || ret->kind != CM_TYPE_TENSOR)
        return CM_OK;
    /* the lower bound of unknown dims is 0 */
    if (shape_make(walk->arena, exact->shape.rank, exact->shape.dims, &ret->shape) < 0)
        return CM_NO_MEMORY;
    for (int axis = 0; axis < ret->shape.rank; axis++)
        if (!is_known(ret->shape.dims[axis])) ret->shape.dims[axis] = 0;
    return CM_OK;
}

/* Copies the context, with its operands at the bound and its outputs unknown. */
static int context_at_bound(struct walk *walk, const struct op_context *context,
                            enum op_bound bound, struct op_context *ret) {
    const struct value_info **inputs =
        arena_array(walk->arena, context->n_inputs, sizeof *inputs);
    struct value_info *outputs = arena_array(walk->arena, context->n_outputs, sizeof *outputs);
    if (!inputs || !outputs) return CM_NO_MEMORY;
    for (size_t i = 0; i < context->n_outputs; i++) outputs[i] = value_info_unknown();
    for (size_t i = 0; i < context->n_inputs; i++) {
        inputs[i] = context->inputs[i];
        if (!op_has_bounds(context, i)) continue;
        struct value_info *info = arena_array(walk->arena, 1, sizeof *info);
        if (!info || operand_at_bound(walk, context, i, bound, info) < 0) return CM_NO_MEMORY;
        inputs[i] = info;
    }
    *ret = *context;
    ret->inputs = inputs;
    ret->outputs = outputs;
    ret->bound = bound;
    return CM_OK;
}

static bool is_nonnegative(const struct constant *value) {
    const int64_t n = value->place == CONSTANT_SPLAT ? 1 : value->n_elements;
    if (!constant_has_numbers(value)) return false;
    for (int64_t i = 0; i < n; i++) {
        const struct number x = constant_number_at(value, i);
        if (x.real ? !(x.r >= 0) : x.i < 0) return false;
    }
    return true;
}

/* Returns false if the operator is monotone only for operands >= 0, and one may be negative. */
static bool is_monotone_here(const struct op_context *context) {
    if (monotone_letter(context->op, 0) != MONOTONE_POSITIVE) return true;
    for (size_t i = 0; i < context->n_inputs; i++) {
        const struct value_info *info = op_input(context, i);
        const struct constant *lower = info->lower_bound ? info->lower_bound : info->value;
        if (lower && !is_nonnegative(lower)) return false;
    }
    return true;
}

/* Folds the outputs, whose shapes are known, with the operands at the bound. */
static int fold_at_bound(struct walk *walk, const struct op_context *context,
                         enum op_bound bound, struct op_context *ret) {
    int status = context_at_bound(walk, context, bound, ret);
    for (size_t i = 0; i < context->n_outputs && status == CM_OK; i++) {
        if (!op_has_output(context, i)) continue;
        ret->outputs[i] = walk->exact->infos[context->node->outputs[i]];
        ret->outputs[i].value = NULL;
    }
    return status < 0 ? status : fold_contents(walk, ret);
}

/* Returns true if no element of `a` exceeds the same element of `b`. */
static bool is_at_most(const struct constant *a, const struct constant *b) {
    if (!constant_has_numbers(a) || !constant_has_numbers(b)) return false;
    for (int64_t i = 0; i < a->n_elements; i++) {
        const struct number x = constant_number_at(a, i), y = constant_number_at(b, i);
        if (x.real ? !(x.r <= y.r) : x.i > y.i) return false;
    }
    return true;
}

static int fold_upper_bounds(struct walk *walk, const struct op_context *context) {
    struct op_context lower, upper;
    if (!context->op->fold || context->op->memory == MEMORY_CONTROL) return CM_OK;
    for (size_t i = 0; i < context->n_outputs; i++)
        if (op_has_output(context, i) &&
            !value_info_is_complete(&walk->exact->infos[context->node->outputs[i]]))
            return CM_OK;
    if (!is_monotone_here(context)) return CM_OK;
    int status = fold_at_bound(walk, context, OP_UPPER_BOUND, &upper);
    if (status == CM_OK) status = fold_at_bound(walk, context, OP_LOWER_BOUND, &lower);
    if (status < 0) return status;
    for (size_t i = 0; i < context->n_outputs; i++) {
        if (!op_has_output(context, i)) continue;
        struct value_info *info = &walk->table->infos[context->node->outputs[i]];
        const struct constant *low = lower.outputs[i].value, *high = upper.outputs[i].value;
        if (info->value || !low || !high || high->n_elements > CONSTANT_MAX_ELEMENTS ||
            !is_at_most(low, high))
            continue;
        info->value = high;
        info->lower_bound = constant_equal(low, high) ? NULL : low;
    }
    return CM_OK;
}

static int upper_bound_of_node(struct walk *walk, const struct op_context *context) {
    const struct node *node = context->node;
    struct op_context upper;
    for (size_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != ID_NONE)
            walk->table->infos[node->outputs[i]] = walk->exact->infos[node->outputs[i]];
    if (!may_improve(walk, context)) return CM_OK;
    int status = context_at_bound(walk, context, OP_UPPER_BOUND, &upper);
    if (status == CM_OK) status = infer_types(walk, &upper);
    for (size_t i = 0; i < node->n_outputs && status == CM_OK; i++)
        if (node->outputs[i] != ID_NONE)
            walk->table->infos[node->outputs[i]] =
                upper_bound_of_value(walk, node->outputs[i], &upper.outputs[i]);
    if (status == CM_OK) status = fold_upper_bounds(walk, context);
    /* if the node is invalid at the upper bounds of its operands, its outputs stay unknown */
    return status == CM_NO_MEMORY ? status : CM_OK;
}

/* --- Nodes and graphs. --- */

int walk_node(struct walk *walk, uint32_t id) {
    const struct node *node = &walk->model->nodes[id];
    struct op_room room;
    const struct op_source source = {
        .model = walk->model,
        .ops = walk->ops,
        .overrides = walk->overrides,
        .infos = walk->table->infos,
        .mode = walk->mode,
        .arena = walk->arena,
        .scratch = walk->scratch,
        .room = &room,
        .diag = walk->diag,
    };
    struct arena_mark mark = arena_save(walk->scratch);
    struct op_context context;
    int status = context_make(&source, id, &context);
    if (status < 0) return status;
    walk->n_walked++;
    if (walk->run) walk->walks_limit++; /* work_left is the limit of executed Loops */
    if (walk->exact) {
        status = upper_bound_of_node(walk, &context);
        arena_restore(walk->scratch, mark);
        return status;
    }
    struct node_frame place = {.model = walk->model,
                               .op = walk->ops[id],
                               .infos = walk->table->infos,
                               .pass = walk->pass,
                               .node = id};
    node_frame_push(&place, walk->diag);
    status = context.op->memory == MEMORY_CONTROL ? infer_control(walk, &context)
                                                  : infer_types(walk, &context);
    if (status == CM_OK) status = fold_contents(walk, &context);
    if (status == CM_OK) status = store_outputs(walk, &context);
    if (status == CM_OK) status = missing_data_check(walk, &context);
    node_frame_pop(&place, walk->diag);
    if (status < 0)
        for (size_t i = 0; i < node->n_outputs; i++)
            if (node->outputs[i] != ID_NONE)
                walk->table->infos[node->outputs[i]] = value_info_unknown();
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

int walk_model(struct walk *walk) {
    const int status = walk_graph(walk, 0);
    if (status < 0) return status;
    return iterations_finish(walk) < 0 ? diag_no_memory(walk->diag) : CM_OK;
}

int walk_upper_bounds(const struct walk *exact, const struct infer_table **ret) {
    struct walk walk = *exact;
    *ret = exact->table;
    if (!exact->table->is_open) return CM_OK;
    walk.exact = exact->table;
    walk.table = arena_array(walk.arena, 1, sizeof *walk.table);
    walk.diag = NULL;
    if (!walk.table) return diag_no_memory(exact->diag);
    int status = walk_start(&walk);
    if (status == CM_OK) status = walk_graph(&walk, 0);
    if (status == CM_OK) status = iterations_finish_upper(&walk);
    *ret = walk.table;
    walk.table->upper = walk.table;
    return status < 0 ? diag_no_memory(exact->diag) : CM_OK;
}
