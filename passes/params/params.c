/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pass params: classifies constants as learned parameters, buffers or neither, and lists the
 * nodes that use each.
 *
 * PyTorch's exporter records what was learned (frontend/param_marks.c). For other files the
 * pass decides by the use of a constant (the `param_roles` of operator rows), through views,
 * slices and casts, and if the use alone is ambiguous, by whether a person named it:
 * docs/counting.md has the rules.
 */

#include "ops/packed.h"
#include "passes/infer/context.h"
#include "passes/memory/liveness.h"
#include "passes/params/framework_params.h"
#include "passes/params/names.h"
#include "passes/params/param_uses.h"
#include "passes/pass.h"
#include "support/arena.h"
#include "support/diag.h"

#include "support/banned.h"

/*
 * Real models have a few uses per parameter. A hostile model could concatenate all constants
 * and use the result as each operand, which makes parameters * operands uses.
 */
#define MAX_USES ((size_t)1 << 22)

/* Returns true if several dims differ from 1, as those of a mask or a table of angles. A
 * learned operand of an elementwise node is usually a vector along channels. */
static bool is_table(const struct shape *shape) {
    int n = 0;
    for (int axis = 0; axis < shape->rank; axis++) n += shape->dims[axis] != 1;
    return n > 1;
}

static bool is_narrow(enum dtype dtype) {
    return dtype_is_integer(dtype) && dtype_bits(dtype) <= 8;
}

/* Returns true if integers may be a quantized weight. Most integers are shapes and indices, of
 * 64 bits; a single one that is used elementwise is a zero point. */
static bool may_be_quantized(const struct param_study *study, uint32_t value) {
    const struct value_info *info = &study->analysis->infer.infos[value];
    const unsigned purposes = study->purposes[value];
    if (!dtype_is_integer(info->dtype)) return false;
    if (purposes & FOR_WEIGHT) return true;
    if ((purposes & FOR_REAL) == 0 && !is_narrow(info->dtype)) return false;
    return (purposes & (FOR_FACTOR | FOR_TABLE)) || shape_elements(&info->shape) != 1;
}

/*
 * The exporter's record takes precedence, except for integers recorded as constants, which may
 * be quantized weights. An input may be an activation: it is learned only if it is used as a
 * weight or has a parameter's name.
 */
static bool is_learned(const struct param_study *study, uint32_t value) {
    const unsigned purposes = study->purposes[value];
    const char *name = value_name(study->model, value);
    const struct value_info *info = &study->analysis->infer.infos[value];
    const bool is_float = dtype_is_float(info->dtype);
    const enum param_mark mark = study->model->values[value].mark;
    if (mark == MARK_PARAMETER)
        return study->model->values[value].n_uses > 0 ||
               study->model->values[value].is_graph_output;
    if (!is_float && !may_be_quantized(study, value)) return false;
    if (mark == MARK_DERIVED) return purposes != 0;
    if (mark == MARK_CONSTANT && is_float) return false;
    /* the framework's parameters are initializers */
    if (study->sources[value] == SOURCE_NODE && study->model->n_framework_params > 0)
        return false;
    if (purposes & FOR_WEIGHT) return study->sources[value] != SOURCE_NONE;
    switch ((enum param_source)study->sources[value]) {
    case SOURCE_INITIALIZER:
    case SOURCE_RENAMED:
        if (purposes & (FOR_FACTOR | FOR_TABLE)) return true;
        if (purposes & FOR_ELEMENT)
            return !(names_traced(name) && is_table(&info->shape)) &&
                   (!names_generated(name) || shape_elements(&info->shape) != 1);
        return (purposes & FOR_DATA) && names_parameter(name);
    case SOURCE_NODE:
        if (purposes & FOR_FACTOR) return true;
        return (purposes & (FOR_TABLE | FOR_ELEMENT)) && !names_generated(name);
    case SOURCE_INPUT:
        return (purposes & (FOR_FACTOR | FOR_TABLE | FOR_ELEMENT)) && names_parameter(name);
    default:
        return false;
    }
}

/* Returns true for statistics, and for masks and index tables that a person named; false for
 * constants of shape arithmetic. */
static bool is_buffer(const struct param_study *study, uint32_t value) {
    unsigned purposes = study->purposes[value];
    const char *name = value_name(study->model, value);
    bool stored =
        study->sources[value] == SOURCE_INITIALIZER || study->sources[value] == SOURCE_RENAMED;
    const enum dtype dtype = study->analysis->infer.infos[value].dtype;
    bool is_float = dtype_is_float(dtype);
    if (purposes == 0) return false;
    if (purposes & FOR_STAT) return is_float;
    return stored && (names_parameter(name) ||
                      ((is_float || is_narrow(dtype)) && !names_generated(name)));
}

/* Counts the numbers of a tensor: an operator may unpack several from each element. */
static int count_numbers(const struct param_study *study, uint32_t id, int64_t *ret) {
    const struct op_source source = context_source(study->analysis);
    const struct value *value = &study->model->values[id];
    const struct value_info *info = &study->analysis->infer.infos[id];
    *ret = shape_elements(&info->shape);
    if (!is_narrow(info->dtype)) return CM_OK;
    for (size_t i = 0; i < value->n_uses; i++) {
        const struct arena_mark mark = arena_save(study->analysis->arena);
        const struct use *use = &value->uses[i];
        struct op_context context;
        const int64_t before = *ret;
        const int status = context_make_inferred(&source, use->node, &context);
        if (status < 0) return status;
        *ret = packed_numbers(&context, use->slot);
        arena_restore(study->analysis->arena, mark);
        if (*ret != before) break;
    }
    return CM_OK;
}

static int list_params(const struct param_study *study, struct params_table *table) {
    const struct analysis *analysis = study->analysis;
    size_t n_values = study->model->n_values;
    uint8_t *kinds = arena_array_raw(analysis->scratch, n_values, sizeof *kinds);
    size_t n = 0;
    if (!kinds) return diag_no_memory(analysis->diag);
    for (uint32_t value = 0; value < n_values; value++) {
        kinds[value] = PARAM_NONE;
        if (study->sources[value] == SOURCE_NONE) continue;
        if (is_learned(study, value))
            kinds[value] = PARAM_LEARNED;
        else if (is_buffer(study, value))
            kinds[value] = PARAM_BUFFER;
        n += kinds[value] != PARAM_NONE;
    }
    table->of_value = arena_array_raw(analysis->arena, n_values, sizeof *table->of_value);
    table->params = arena_array_raw(analysis->arena, n, sizeof *table->params);
    if (!table->of_value || !table->params) return diag_no_memory(analysis->diag);
    for (uint32_t value = 0; value < n_values; value++) {
        table->of_value[value] = ID_NONE;
        if (kinds[value] == PARAM_NONE) continue;
        int64_t numbers = 0;
        const int status = count_numbers(study, value, &numbers);
        if (status < 0) return status;
        table->of_value[value] = (uint32_t)table->n_params;
        table->params[table->n_params++] = (struct param){
            .value = value,
            .kind = (enum param_kind)kinds[value],
            .name = value_name(study->model, value),
            .elements = numbers,
            .bytes = liveness_bytes(&analysis->infer.infos[value]),
        };
    }
    return CM_OK;
}

/* --- Users: a walk from each parameter through views, slices and casts to the nodes. --- */

struct pair {
    uint32_t node;
    uint32_t param;
};

struct walker {
    const struct param_study *study;
    const struct analysis *analysis;
    struct params_table *table;
    uint32_t *node_stamp;  /* by node: 1 + the last parameter that it uses */
    uint32_t *value_stamp; /* by value: 1 + the last parameter of which it is a view or cast */
    uint32_t *pending;     /* values whose users are still to be visited */
    size_t n_pending;
    struct pair *pairs;
    size_t n_pairs;
    size_t capacity;
    size_t n_uses; /* visited */
};

static int add_pair(struct walker *walker, uint32_t node, uint32_t param) {
    if (walker->n_uses++ >= MAX_USES)
        return diag_error(walker->analysis->diag, DIAG_LIMIT,
                          "parameters must have at most %zu uses", MAX_USES);
    if (walker->node_stamp[node] == param + 1) return CM_OK;
    struct pair *pairs = arena_grow(walker->analysis->scratch, walker->pairs, walker->n_pairs,
                                    &walker->capacity, sizeof *pairs);
    if (!pairs) return diag_no_memory(walker->analysis->diag);
    walker->pairs = pairs;
    walker->node_stamp[node] = param + 1;
    walker->pairs[walker->n_pairs++] = (struct pair){node, param};
    return CM_OK;
}

/* Appends a view or cast of the parameter, unless it is a parameter under another name. */
static void follow(struct walker *walker, uint32_t value, uint32_t param) {
    if (value == ID_NONE || !walker->study->is_from_source[value]) return;
    const uint32_t other = walker->table->of_value[value];
    if (walker->value_stamp[value] == param + 1 || (other != ID_NONE && other != param)) return;
    walker->value_stamp[value] = param + 1;
    walker->pending[walker->n_pending++] = value;
}

/* Appends the outputs (or, for a Loop, also the body's inputs) that are views or casts of the
 * parameter. */
static void follow_use(struct walker *walker, const struct use *use, uint32_t param) {
    const struct node *node = &walker->analysis->model->nodes[use->node];
    const char role = op_role(walker->analysis->bind.ops[use->node], use->slot);
    struct loop_state state;
    for (size_t i = 0; role == 'p' && i < node->n_outputs; i++)
        follow(walker, node->outputs[i], param);
    if (role == 'c' && loop_state_find(walker->analysis, use->node, use->slot, &state)) {
        follow(walker, state.inside, param);
        follow(walker, state.after, param);
    }
}

static int find_users(struct walker *walker, uint32_t param) {
    const struct model *model = walker->analysis->model;
    walker->n_pending = 0;
    walker->pending[walker->n_pending++] = walker->table->params[param].value;
    while (walker->n_pending > 0) {
        const struct value *value = &model->values[walker->pending[--walker->n_pending]];
        for (uint32_t i = 0; i < value->n_uses; i++) {
            const struct use *use = &value->uses[i];
            int status = add_pair(walker, use->node, param);
            if (status < 0) return status;
            follow_use(walker, use, param);
        }
    }
    return CM_OK;
}

/* Sorts the pairs by node, in the order of parameters. */
static int sort_pairs(const struct walker *walker, struct params_table *table) {
    const size_t n_nodes = walker->analysis->model->n_nodes;
    struct arena *arena = walker->analysis->arena;
    uint32_t *sorted = arena_array_raw(arena, walker->n_pairs, sizeof *sorted);
    table->n_used = arena_array(arena, n_nodes, sizeof *table->n_used);
    table->used = arena_array_raw(arena, n_nodes, sizeof *table->used);
    uint32_t **next = arena_array_raw(walker->analysis->scratch, n_nodes, sizeof *next);
    if (!sorted || !next || !table->n_used || !table->used)
        return diag_no_memory(walker->analysis->diag);
    for (size_t i = 0; i < walker->n_pairs; i++) table->n_used[walker->pairs[i].node]++;
    uint32_t *end = sorted;
    for (size_t node = 0; node < n_nodes; node++) {
        table->used[node] = next[node] = end;
        end += table->n_used[node];
    }
    for (size_t i = 0; i < walker->n_pairs; i++)
        *next[walker->pairs[i].node]++ = walker->pairs[i].param;
    return CM_OK;
}

static int list_users(const struct param_study *study, struct params_table *table) {
    const struct analysis *analysis = study->analysis;
    const struct model *model = analysis->model;
    struct arena *scratch = analysis->scratch;
    struct walker walker = {.study = study, .analysis = analysis, .table = table};
    if (table->n_params == 0) return sort_pairs(&walker, table);
    walker.node_stamp = arena_array(scratch, model->n_nodes, sizeof *walker.node_stamp);
    walker.value_stamp = arena_array(scratch, model->n_values, sizeof *walker.value_stamp);
    walker.pending = arena_array_raw(scratch, model->n_values, sizeof *walker.pending);
    if (!walker.node_stamp || !walker.value_stamp || !walker.pending)
        return diag_no_memory(analysis->diag);
    for (uint32_t param = 0; param < table->n_params; param++) {
        int status = find_users(&walker, param);
        if (status < 0) return status;
    }
    return sort_pairs(&walker, table);
}

int pass_params(const struct analysis *analysis, void *own) {
    struct param_study study = {0};
    int status = param_uses_find(analysis, &study);
    struct params_table *table = own;
    if (status == CM_OK) status = list_params(&study, own);
    if (status == CM_OK) status = framework_params_find(analysis, &table->framework);
    return status < 0 ? status : list_users(&study, own);
}
