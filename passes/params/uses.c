/* SPDX-License-Identifier: Apache-2.0 */
/* Who uses which parameter: a walk from each parameter along what it is handed on to. */
#include "passes/params/uses.h"

#include <string.h>

#include "passes/pass.h"
#include "support/arena.h"
#include "support/diag.h"

#include "support/banned.h"

/*
 * Real models have a few uses a parameter. A made-up one, whose constants are all joined and
 * then used everywhere, would have parameters x operands of them.
 */
#define MAX_USES ((size_t)1 << 22)

struct pair {
    uint32_t node;
    uint32_t param;
};

struct walker {
    const struct use_walk *walk;
    const struct params_table *table;
    uint32_t *node_stamp;  /* by node: 1 + the parameter that was last seen there */
    uint32_t *value_stamp; /* by value */
    uint32_t *pending;     /* values whose users are still to be looked at */
    size_t n_pending;
    struct pair *pairs;
    size_t n_pairs;
    size_t capacity;
    size_t n_uses; /* that were looked at */
};

static int grow_pairs(struct walker *walker) {
    size_t capacity = walker->capacity ? walker->capacity * 2 : 256;
    struct pair *pairs = arena_array_raw(walker->walk->scratch, capacity, sizeof *pairs);
    if (!pairs) return diag_no_memory(walker->walk->diag);
    if (walker->n_pairs) memcpy(pairs, walker->pairs, walker->n_pairs * sizeof *pairs);
    walker->pairs = pairs;
    walker->capacity = capacity;
    return CM_OK;
}

static int add_pair(struct walker *walker, uint32_t node, uint32_t param) {
    if (walker->n_uses++ >= MAX_USES)
        return diag_error(walker->walk->diag, DIAG_LIMIT,
                          "parameters are used in more than %zu places", MAX_USES);
    if (walker->node_stamp[node] == param + 1) return CM_OK;
    if (walker->n_pairs == walker->capacity) {
        int status = grow_pairs(walker);
        if (status < 0) return status;
    }
    walker->node_stamp[node] = param + 1;
    walker->pairs[walker->n_pairs++] = (struct pair){node, param};
    return CM_OK;
}

/* A parameter of its own name is not the one that it was made from. */
static bool is_other_param(const struct walker *walker, uint32_t value, uint32_t param) {
    uint32_t of = walker->table->of_value[value];
    return of != ID_NONE && of != param;
}

static void follow(struct walker *walker, const struct node *node, uint32_t param) {
    for (size_t i = 0; i < node->n_outputs; i++) {
        uint32_t value = node->outputs[i];
        if (value == ID_NONE || !walker->walk->carries[value]) continue;
        if (walker->value_stamp[value] == param + 1 || is_other_param(walker, value, param))
            continue;
        walker->value_stamp[value] = param + 1;
        walker->pending[walker->n_pending++] = value;
    }
}

static int find_users(struct walker *walker, uint32_t param) {
    const struct model *model = walker->walk->model;
    walker->n_pending = 0;
    walker->pending[walker->n_pending++] = walker->table->params[param].value;
    while (walker->n_pending > 0) {
        const struct value *value = &model->values[walker->pending[--walker->n_pending]];
        for (uint32_t i = 0; i < value->n_uses; i++) {
            const struct use *use = &value->uses[i];
            int status = add_pair(walker, use->node, param);
            if (status < 0) return status;
            if (op_role(walker->walk->ops[use->node], use->slot) == 'p')
                follow(walker, &model->nodes[use->node], param);
        }
    }
    return CM_OK;
}

/* Sorts the pairs by node, keeping the order of parameters in each. */
static int gather(struct walker *walker, struct params_table *table) {
    const size_t n_nodes = walker->walk->model->n_nodes;
    struct arena *arena = walker->walk->arena;
    uint32_t *sorted = arena_array_raw(arena, walker->n_pairs, sizeof *sorted);
    table->n_used = arena_array(arena, n_nodes, sizeof *table->n_used);
    table->used = arena_array_raw(arena, n_nodes, sizeof *table->used);
    uint32_t **next = arena_array_raw(walker->walk->scratch, n_nodes, sizeof *next);
    if (!sorted || !next || !table->n_used || !table->used)
        return diag_no_memory(walker->walk->diag);
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

static int find_pairs(struct walker *walker) {
    const struct use_walk *walk = walker->walk;
    const struct model *model = walk->model;
    walker->node_stamp = arena_array(walk->scratch, model->n_nodes, sizeof *walker->node_stamp);
    walker->value_stamp =
        arena_array(walk->scratch, model->n_values, sizeof *walker->value_stamp);
    walker->pending = arena_array_raw(walk->scratch, model->n_values, sizeof *walker->pending);
    if (!walker->node_stamp || !walker->value_stamp || !walker->pending)
        return diag_no_memory(walk->diag);
    for (uint32_t param = 0; param < walker->table->n_params; param++) {
        int status = find_users(walker, param);
        if (status < 0) return status;
    }
    return CM_OK;
}

int uses_find(const struct use_walk *walk, struct params_table *table) {
    struct walker walker = {.walk = walk, .table = table};
    int status = table->n_params > 0 ? find_pairs(&walker) : CM_OK;
    return status < 0 ? status : gather(&walker, table);
}
