/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a model: four growing arrays in the model's arena, then the list of uses per value. */
#include "ir/graph.h"

#include <string.h>

#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

#define FIRST_CAPACITY ((size_t)16)
#define MAX_ENTRIES    ((size_t)1 << 31)

const struct type type_undeclared = {.kind = CM_TYPE_UNKNOWN, .shape = {.rank = RANK_UNKNOWN}};

struct table {
    void *items;
    size_t n;
    size_t capacity;
};

struct graph_builder {
    struct arena *arena;
    struct table graphs;
    struct table values;
    struct table nodes;
    struct table calls;
};

/* Allocates room for `more` additional entries of `size` bytes. */
static int table_reserve(struct table *table, struct arena *arena, size_t size, size_t more) {
    if (more <= table->capacity - table->n) return CM_OK;
    size_t capacity =
        table->capacity == 0 ? FIRST_CAPACITY : table->capacity + table->capacity / 2;
    if (more > MAX_ENTRIES - table->n) return CM_REFUSED;
    if (capacity < table->n + more) capacity = table->n + more;
    void *items = arena_array_raw(arena, capacity, size);
    if (items == NULL) return CM_NO_MEMORY;
    if (table->n > 0) memcpy(items, table->items, table->n * size);
    table->items = items;
    table->capacity = capacity;
    return CM_OK;
}

/* Appends a copy of the entry at `from` and sets *ret_id to its index. */
static int table_add(struct table *table, struct arena *arena, const void *from, size_t size,
                     uint32_t *ret_id) {
    if (table->n >= MAX_ENTRIES) return CM_REFUSED;
    const int status = table_reserve(table, arena, size, 1);
    if (status != CM_OK) return status;
    memcpy((char *)table->items + table->n * size, from, size);
    *ret_id = (uint32_t)table->n++;
    return CM_OK;
}

struct graph_builder *graph_builder_new(struct arena *arena) {
    struct graph_builder *builder = arena_alloc(arena, sizeof *builder);
    if (builder != NULL) builder->arena = arena;
    return builder;
}

int graph_add_graph(struct graph_builder *builder, const struct graph *from, uint32_t *ret_id) {
    return table_add(&builder->graphs, builder->arena, from, sizeof *from, ret_id);
}

int graph_add_value(struct graph_builder *builder, const struct value *from, uint32_t *ret_id) {
    const int status = table_add(&builder->values, builder->arena, from, sizeof *from, ret_id);
    if (status == CM_OK && from->type == NULL)
        graph_value_at(builder, *ret_id)->type = &type_undeclared;
    return status;
}

int graph_add_node(struct graph_builder *builder, const struct node *from, uint32_t *ret_id) {
    return table_add(&builder->nodes, builder->arena, from, sizeof *from, ret_id);
}

int graph_add_call(struct graph_builder *builder, const struct call *from, uint32_t *ret_id) {
    return table_add(&builder->calls, builder->arena, from, sizeof *from, ret_id);
}

int graph_reserve(struct graph_builder *builder, size_t n_nodes, size_t n_values) {
    const int status =
        table_reserve(&builder->nodes, builder->arena, sizeof(struct node), n_nodes);
    if (status != CM_OK) return status;
    return table_reserve(&builder->values, builder->arena, sizeof(struct value), n_values);
}

uint32_t graph_n_nodes(const struct graph_builder *builder) {
    return (uint32_t)builder->nodes.n;
}

struct graph *graph_at(struct graph_builder *builder, uint32_t id) {
    BUG_ON(id >= builder->graphs.n);
    return (struct graph *)builder->graphs.items + id;
}

struct value *graph_value_at(struct graph_builder *builder, uint32_t id) {
    BUG_ON(id >= builder->values.n);
    return (struct value *)builder->values.items + id;
}

struct node *graph_node_at(struct graph_builder *builder, uint32_t id) {
    BUG_ON(id >= builder->nodes.n);
    return (struct node *)builder->nodes.items + id;
}

struct call *graph_call_at(struct graph_builder *builder, uint32_t id) {
    BUG_ON(id >= builder->calls.n);
    return (struct call *)builder->calls.items + id;
}

/* Builds the use lists, which are ranges of one array, by counting sort: n_uses is first the
 * length of a range, then counts the entries while they are added. */
static int build_uses(struct model *model) {
    size_t n = 0;
    for (size_t v = 0; v < model->n_values; v++) model->values[v].n_uses = 0;
    for (size_t i = 0; i < model->n_nodes; i++) {
        const struct node *node = &model->nodes[i];
        for (size_t slot = 0; slot < node->n_inputs; slot++) {
            if (node->inputs[slot] == ID_NONE) continue;
            BUG_ON(node->inputs[slot] >= model->n_values);
            model->values[node->inputs[slot]].n_uses++;
            n++;
        }
    }
    struct use *uses = arena_array(model->arena, n, sizeof *uses);
    if (uses == NULL) return CM_NO_MEMORY;
    n = 0;
    for (size_t v = 0; v < model->n_values; v++) {
        struct value *value = &model->values[v];
        value->uses = uses + n;
        n += value->n_uses;
        value->n_uses = 0;
    }
    for (size_t i = 0; i < model->n_nodes; i++) {
        const struct node *node = &model->nodes[i];
        for (size_t slot = 0; slot < node->n_inputs; slot++) {
            if (node->inputs[slot] == ID_NONE) continue;
            struct value *value = &model->values[node->inputs[slot]];
            uses[(size_t)(value->uses - uses) + value->n_uses++] =
                (struct use){(uint32_t)i, (uint32_t)slot};
        }
    }
    return CM_OK;
}

int graph_finish(struct graph_builder *builder, struct model *model) {
    model->arena = builder->arena;
    model->graphs = builder->graphs.items;
    model->n_graphs = builder->graphs.n;
    model->values = builder->values.items;
    model->n_values = builder->values.n;
    model->nodes = builder->nodes.items;
    model->n_nodes = builder->nodes.n;
    model->calls = builder->calls.items;
    model->n_calls = builder->calls.n;
    for (size_t g = 0; g < model->n_graphs; g++) {
        const struct graph *graph = &model->graphs[g];
        for (size_t i = 0; i < graph->n_outputs; i++) {
            if (graph->outputs[i] == ID_NONE) continue;
            BUG_ON(graph->outputs[i] >= model->n_values);
            model->values[graph->outputs[i]].is_graph_output = true;
        }
    }
    return build_uses(model);
}

static const char *const kind_names[] = {
    [ATTR_NONE] = "nothing",    [ATTR_INT] = "int",       [ATTR_FLOAT] = "float",
    [ATTR_STRING] = "string",   [ATTR_INTS] = "ints",     [ATTR_FLOATS] = "floats",
    [ATTR_STRINGS] = "strings", [ATTR_TENSOR] = "tensor", [ATTR_TENSORS] = "tensors",
    [ATTR_GRAPH] = "graph",     [ATTR_GRAPHS] = "graphs", [ATTR_OTHER] = "other",
};

const char *attr_kind_name(enum attr_kind kind) {
    const size_t n = sizeof kind_names / sizeof kind_names[0];
    return (size_t)kind < n ? kind_names[kind] : kind_names[ATTR_OTHER];
}

const struct attr *node_attr(const struct node *node, const char *name) {
    for (size_t i = 0; i < node->n_attrs; i++) {
        if (text_equal(node->attrs[i].name, name)) return &node->attrs[i];
    }
    return NULL;
}

const char *value_name(const struct model *model, uint32_t value) {
    BUG_ON(value != ID_NONE && value >= model->n_values);
    return value == ID_NONE ? "" : model->values[value].name;
}

bool value_is_constant(const struct model *model, uint32_t value) {
    BUG_ON(value != ID_NONE && value >= model->n_values);
    return value != ID_NONE && model->values[value].constant != NULL;
}
