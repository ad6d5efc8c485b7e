/* SPDX-License-Identifier: Apache-2.0 */
/* Topological sort of nodes: a depth-first walk in file order that places a node after its
 * producers, so that a sorted file keeps its order. The stack is explicit, since a chain may be
 * as long as the file. */
#include "frontend/importer.h"
#include "support/arena.h"

enum mark { UNSEEN, OPEN, DONE };

/* The producers that each node depends on, as ranges of one list. */
struct needs {
    uint32_t *first; /* by node: start of its range in `list`; one more entry for the end */
    uint32_t *list;
    size_t n;
    size_t capacity;
};

struct sorter {
    struct importer *importer;
    struct node_bytes *nodes; /* in file order */
    uint32_t n;
    struct map producers; /* name -> index of the node that produces it */
    struct needs needs;
    struct node_bytes *sorted;
    uint32_t n_sorted;
    uint8_t *marks;
    uint32_t *stack;
    uint32_t *next; /* by node: number of its dependencies that have been visited */
};

/* Names that a body defines; they shadow outer names. */
struct body {
    const struct body *outer;
    struct map names;
    int depth;
};

static int add_name(struct map *names, struct span name, uint32_t value) {
    if (name.at == name.end) return CM_OK;
    return map_set_n(names, (const char *)name.at, span_size(name), value);
}

/* Adds the string field `name` of each message in field `number`. */
static int names_of_messages(struct body *body, const struct message *graph, uint32_t number,
                             uint32_t name) {
    struct fields_walk walk = message_walk(graph, number);
    int status = CM_OK;
    for (struct span one; status == CM_OK && fields_next(&walk, &one);) {
        struct message message;
        message_index(one, &message);
        status = add_name(&body->names, message_text(&message, name), 0);
    }
    return status;
}

static int names_of_outputs(struct map *names, const struct message *node, uint32_t value) {
    struct fields_walk walk = message_walk(node, NODE_OUTPUT);
    int status = CM_OK;
    for (struct span name; status == CM_OK && fields_next(&walk, &name);)
        status = add_name(names, name, value);
    return status;
}

static int names_of_body(struct body *body, const struct message *graph) {
    struct fields_walk sparse = message_walk(graph, GRAPH_SPARSE_INITIALIZER);
    struct node_walk nodes = nodes_of(graph, GRAPH_NODE);
    struct node_bytes at;
    struct message message;
    int status = names_of_messages(body, graph, GRAPH_INPUT, VALUE_INFO_NAME);
    if (status == CM_OK)
        status = names_of_messages(body, graph, GRAPH_INITIALIZER, TENSOR_NAME);
    for (struct span one; status == CM_OK && fields_next(&sparse, &one);) {
        message_index(one, &message);
        status = names_of_messages(body, &message, SPARSE_TENSOR_VALUES, TENSOR_NAME);
    }
    while (status == CM_OK && nodes_next(&nodes, &at, &message))
        status = names_of_outputs(&body->names, &message, 0);
    return status;
}

/* Adds the producer of a name to the dependencies, unless `body` or a body around it defines
 * the name. `body` is NULL for the operands of the sorted node itself. */
static int need_name(struct sorter *sorter, const struct body *body, struct span name) {
    for (; body; body = body->outer)
        if (map_get_n(&body->names, (const char *)name.at, span_size(name)) != MAP_NONE)
            return CM_OK;
    struct needs *needs = &sorter->needs;
    uint32_t producer = map_get_n(&sorter->producers, (const char *)name.at, span_size(name));
    if (producer == MAP_NONE) return CM_OK;
    return needs->n + 1 < UINT32_MAX &&
                   arena_push(sorter->importer->scopes, &needs->list, &needs->n,
                              &needs->capacity, &producer, sizeof producer)
               ? CM_OK
               : diag_no_memory(sorter->importer->diag);
}

static int needs_of_node(struct sorter *sorter, const struct message *node,
                         const struct body *body);

/* Adds the dependencies of a body: the names that it uses and does not define. */
static int needs_of_graph(struct sorter *sorter, struct span bytes, const struct body *outer) {
    struct body body = {.outer = outer, .depth = outer ? outer->depth + 1 : 1};
    struct message graph;
    if (body.depth > MAX_GRAPH_DEPTH) return CM_OK;
    message_index(bytes, &graph);
    map_init(&body.names, sorter->importer->scopes);
    if (names_of_body(&body, &graph) < 0) return diag_no_memory(sorter->importer->diag);
    struct node_walk nodes = nodes_of(&graph, GRAPH_NODE);
    struct node_bytes at;
    struct message node;
    int status = CM_OK;
    while (status == CM_OK && nodes_next(&nodes, &at, &node))
        status = needs_of_node(sorter, &node, &body);
    struct fields_walk outputs = message_walk(&graph, GRAPH_OUTPUT);
    for (struct span output; status == CM_OK && fields_next(&outputs, &output);) {
        struct message info;
        message_index(output, &info);
        status = need_name(sorter, &body, message_text(&info, VALUE_INFO_NAME));
    }
    return status;
}

static int needs_of_bodies(struct sorter *sorter, const struct message *attribute,
                           uint32_t number, const struct body *body) {
    struct fields_walk walk = message_walk(attribute, number);
    int status = CM_OK;
    for (struct span graph; status == CM_OK && fields_next(&walk, &graph);)
        status = needs_of_graph(sorter, graph, body);
    return status;
}

static int needs_of_node(struct sorter *sorter, const struct message *node,
                         const struct body *body) {
    struct fields_walk inputs = message_walk(node, NODE_INPUT);
    struct fields_walk attributes = message_walk(node, NODE_ATTRIBUTE);
    struct span one;
    int status = CM_OK;
    while (status == CM_OK && fields_next(&inputs, &one)) status = need_name(sorter, body, one);
    while (status == CM_OK && fields_next(&attributes, &one)) {
        struct message attribute;
        message_index(one, &attribute);
        status = needs_of_bodies(sorter, &attribute, ATTRIBUTE_GRAPH, body);
        if (status == CM_OK)
            status = needs_of_bodies(sorter, &attribute, ATTRIBUTE_GRAPHS, body);
    }
    return status;
}

/* Lists the nodes, and the producer of each name. */
static int find_producers(struct sorter *sorter, struct node_walk walk) {
    struct importer *importer = sorter->importer;
    size_t n = walk.left.left.n;
    struct message node;
    sorter->nodes = arena_array(importer->scopes, n, sizeof(*sorter->nodes));
    map_init(&sorter->producers, importer->scopes);
    if (!sorter->nodes || map_reserve(&sorter->producers, n) < 0)
        return diag_no_memory(importer->diag);
    for (; nodes_next(&walk, &sorter->nodes[sorter->n], &node); sorter->n++)
        if (names_of_outputs(&sorter->producers, &node, sorter->n) < 0)
            return diag_no_memory(importer->diag);
    return CM_OK;
}

/* Lists the producers that each node depends on; *ret_in_order: all are before their node. */
static int find_needs(struct sorter *sorter, bool *ret_in_order) {
    struct needs *needs = &sorter->needs;
    struct message node;
    needs->first =
        arena_array(sorter->importer->scopes, (size_t)sorter->n + 1, sizeof(*needs->first));
    if (!needs->first) return diag_no_memory(sorter->importer->diag);
    *ret_in_order = true;
    for (uint32_t i = 0; i < sorter->n; i++) {
        needs->first[i] = (uint32_t)needs->n;
        message_index(sorter->nodes[i].bytes, &node);
        int status = needs_of_node(sorter, &node, NULL);
        if (status < 0) return status;
        for (size_t k = needs->first[i]; k < needs->n; k++)
            if (needs->list[k] >= i) *ret_in_order = false;
    }
    needs->first[sorter->n] = (uint32_t)needs->n;
    return CM_OK;
}

static const char *text_of(const struct sorter *sorter, struct span text) {
    const char *copy =
        arena_strndup(sorter->importer->scopes, (const char *)text.at, span_size(text));
    return copy ? copy : "";
}

static int refuse_cycle(const struct sorter *sorter, uint32_t index) {
    struct message node;
    message_index(sorter->nodes[index].bytes, &node);
    const char *name = text_of(sorter, message_text(&node, NODE_NAME));
    struct diag_frame frame = {.node = name, .node_index = index};
    diag_push(sorter->importer->diag, &frame);
    int status =
        diag_error(sorter->importer->diag, DIAG_GRAPH,
                   "node %u '%s' (%s) depends on its own output: the graph has a cycle", index,
                   name, text_of(sorter, message_text(&node, NODE_OP_TYPE)));
    diag_pop(sorter->importer->diag, &frame);
    return status;
}

/* Places `root` after all its dependencies. */
static int visit(struct sorter *sorter, uint32_t root) {
    uint32_t depth = 0;
    sorter->stack[depth++] = root;
    sorter->marks[root] = OPEN;
    while (depth > 0) {
        uint32_t node = sorter->stack[depth - 1];
        uint32_t at = sorter->needs.first[node] + sorter->next[node]; /* index into `list` */
        if (at == sorter->needs.first[node + 1]) {
            sorter->marks[node] = DONE;
            sorter->sorted[sorter->n_sorted++] = sorter->nodes[node];
            depth--;
            continue;
        }
        uint32_t need = sorter->needs.list[at];
        sorter->next[node]++;
        if (sorter->marks[need] == OPEN) return refuse_cycle(sorter, need);
        if (sorter->marks[need] == DONE) continue;
        sorter->marks[need] = OPEN;
        sorter->stack[depth++] = need;
    }
    return CM_OK;
}

int sort_nodes(struct importer *importer, struct node_walk nodes, const struct node_bytes **ret,
               size_t *ret_n) {
    struct sorter sorter = {.importer = importer};
    struct arena *arena = importer->scopes;
    bool in_order = false;
    int status = find_producers(&sorter, nodes);
    if (status == CM_OK) status = find_needs(&sorter, &in_order);
    if (status < 0) return status;
    *ret = sorter.nodes;
    *ret_n = sorter.n;
    if (in_order) return CM_OK;
    importer->sorted = true;
    sorter.marks = arena_array(arena, sorter.n, sizeof(*sorter.marks));
    sorter.stack = arena_array(arena, sorter.n, sizeof(*sorter.stack));
    sorter.next = arena_array(arena, sorter.n, sizeof(*sorter.next));
    sorter.sorted = arena_array(arena, sorter.n, sizeof(*sorter.sorted));
    if (!sorter.marks || !sorter.stack || !sorter.next || !sorter.sorted)
        return diag_no_memory(importer->diag);
    for (uint32_t i = 0; i < sorter.n && status == CM_OK; i++)
        if (sorter.marks[i] == UNSEEN) status = visit(&sorter, i);
    *ret = sorter.sorted;
    return status;
}
