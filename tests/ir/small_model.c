/* SPDX-License-Identifier: Apache-2.0 */
/* Models of a few nodes, for the tests of ir. Every failure aborts. */
#include "small_model.h"

#include <string.h>

#include "support/arena.h"
#include "support/diag.h"

void small_model_begin(struct small_model *small) {
    memset(small, 0, sizeof *small);
    small->arena = arena_new("test", 0);
    small->builder = graph_builder_new(small->arena);
    BUG_ON(small->builder == NULL);
}

void small_model_free(struct small_model *small) {
    arena_free(small->arena);
}

static struct shape small_shape(struct small_model *small, int rank, const int64_t *dims) {
    struct shape shape = shape_unknown();
    BUG_ON(shape_make(small->arena, rank, dims, &shape) != 0);
    return shape;
}

/* Returns the id of a new graph; `owner` is ID_NONE for the main graph. */
static uint32_t small_graph(struct small_model *small, const char *name, uint32_t owner) {
    struct graph graph = {.name = name, .parent = ID_NONE, .owner = owner};
    uint32_t id = ID_NONE;
    if (owner != ID_NONE) graph.parent = graph_node_at(small->builder, owner)->graph;
    BUG_ON(graph_add_graph(small->builder, &graph, &id) != 0);
    return id;
}

static uint32_t append(struct small_model *small, const uint32_t **list, size_t *n,
                       uint32_t id) {
    uint32_t *longer = arena_array(small->arena, *n + 1, sizeof *longer);
    for (size_t i = 0; i < *n; i++) longer[i] = (*list)[i];
    longer[(*n)++] = id;
    *list = longer;
    return id;
}

static const void *small_copy(struct small_model *small, const void *from, size_t size) {
    const void *copy = arena_copy(small->arena, from, size);
    BUG_ON(copy == NULL);
    return copy;
}

static uint32_t small_input(struct small_model *small, uint32_t graph, const char *name,
                            enum dtype dtype, int rank, const int64_t *dims) {
    const struct type type = {
        .kind = CM_TYPE_TENSOR, .dtype = dtype, .shape = small_shape(small, rank, dims)};
    const struct value value = {.name = name,
                                .origin = VALUE_INPUT,
                                .graph = graph,
                                .node = ID_NONE,
                                .type = small_copy(small, &type, sizeof type)};
    uint32_t id = ID_NONE;
    BUG_ON(graph_add_value(small->builder, &value, &id) != 0);
    struct graph *g = graph_at(small->builder, graph);
    return append(small, &g->inputs, &g->n_inputs, id);
}

static uint32_t small_weight(struct small_model *small, uint32_t graph, const char *name,
                             int rank, const int64_t *dims) {
    const struct shape shape = small_shape(small, rank, dims);
    const struct type type = {.kind = CM_TYPE_TENSOR, .dtype = DTYPE_FLOAT, .shape = shape};
    const struct value value = {.name = name,
                                .origin = VALUE_INITIALIZER,
                                .graph = graph,
                                .node = ID_NONE,
                                .type = small_copy(small, &type, sizeof type),
                                .constant =
                                    constant_splat(small->arena, DTYPE_FLOAT, &shape,
                                                   (struct number){.real = true, .r = 0.5})};
    uint32_t id = ID_NONE;
    BUG_ON(graph_add_value(small->builder, &value, &id) != 0);
    return id;
}

/* Returns the id of a new node with one output of that name. */
static uint32_t small_node(struct small_model *small, uint32_t graph, const char *type,
                           const uint32_t *inputs, uint32_t n_inputs, const char *output) {
    uint32_t id = ID_NONE;
    uint32_t *result = arena_array(small->arena, 1, sizeof *result);
    struct node node = {.name = "",
                        .domain = "",
                        .type = type,
                        .graph = graph,
                        .call = ID_NONE,
                        .n_inputs = n_inputs,
                        .inputs = arena_copy(small->arena, inputs, n_inputs * sizeof *inputs),
                        .n_outputs = 1,
                        .outputs = result};
    BUG_ON(graph_add_node(small->builder, &node, &id) != 0);
    const struct value value = {
        .name = output, .origin = VALUE_OUTPUT, .graph = graph, .node = id};
    BUG_ON(graph_add_value(small->builder, &value, result) != 0);
    struct graph *g = graph_at(small->builder, graph);
    return append(small, &g->nodes, &g->n_nodes, id);
}

static uint32_t small_output_of(struct small_model *small, uint32_t node) {
    return graph_node_at(small->builder, node)->outputs[0];
}

/* Adds an output to the graph. */
static void small_graph_end(struct small_model *small, uint32_t graph, uint32_t output) {
    struct graph *g = graph_at(small->builder, graph);
    append(small, &g->outputs, &g->n_outputs, output);
}

static void small_attrs(struct small_model *small, uint32_t node, const struct attr *attrs,
                        size_t n) {
    struct node *to = graph_node_at(small->builder, node);
    to->attrs = arena_copy(small->arena, attrs, n * sizeof *attrs);
    to->n_attrs = (uint32_t)n;
}

void small_model_with_body(struct small_model *small) {
    static const int64_t image[] = {1, 64, 56, 56};
    static const int64_t kernel[] = {64, 64, 3, 3};
    static const int64_t pads[] = {1, 1, 1, 1};
    small_model_begin(small);
    const uint32_t main_graph = small_graph(small, "main", ID_NONE);
    const uint32_t x = small_input(small, main_graph, "x", DTYPE_FLOAT, 4, image);
    const uint32_t c = small_input(small, main_graph, "c", DTYPE_BOOL, 0, NULL);
    const uint32_t w = small_weight(small, main_graph, "w", 4, kernel);
    const uint32_t conv =
        small_node(small, main_graph, "Conv", (const uint32_t[]){x, w, ID_NONE}, 3, "y");
    const uint32_t y = small_output_of(small, conv);
    small_attrs(
        small, conv,
        (const struct attr[]){{.name = "group", .kind = ATTR_INT, .n = 1, .i = 1},
                              {.name = "pads", .kind = ATTR_INTS, .n = 4, .ints = pads}},
        2);
    const uint32_t branch = small_node(small, main_graph, "If", (const uint32_t[]){c}, 1, "z");
    const uint32_t body = small_graph(small, "body", branch);
    const uint32_t add = small_node(small, body, "Add", (const uint32_t[]){y, y}, 2, "sum");
    small_graph_end(small, body, small_output_of(small, add));
    const uint32_t *graphs = arena_copy(small->arena, &body, sizeof body);
    const struct attr then = {
        .name = "then_branch", .kind = ATTR_GRAPH, .n = 1, .graphs = graphs};
    small_attrs(small, branch, &then, 1);
    small_graph_end(small, main_graph, small_output_of(small, branch));
    BUG_ON(graph_finish(small->builder, &small->model) != 0);
}
