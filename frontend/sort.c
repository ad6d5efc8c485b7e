/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts nodes: a depth-first walk in file order that puts what a node needs before it, so that
 * a file in order stays as it is. The stack is explicit, since a chain may be as long as the
 * file.
 */
#include "frontend/sort.h"

#include "support/arena.h"

#include "support/banned.h"

enum mark { UNSEEN, OPEN, DONE };

/* What each node needs, as ranges of one list. */
struct needs {
    uint32_t *first; /* n + 1 */
    uint32_t *list;
    size_t n;
    size_t capacity;
};

struct sorter {
    struct importer *importer;
    const Onnx__NodeProto *const *nodes;
    uint32_t n;
    struct map makers; /* name -> index of the node that makes it */
    struct needs needs;
    uint32_t *order;
    uint32_t n_ordered;
    uint8_t *marks;
    uint32_t *stack;
    uint32_t *next; /* by node: which of its needs comes next */
};

static int add_need(struct sorter *sorter, const char *name) {
    struct needs *needs = &sorter->needs;
    uint32_t maker = map_get(&sorter->makers, name);
    if (maker == MAP_NONE) return CM_OK;
    if (needs->n == needs->capacity) {
        size_t capacity = needs->capacity ? 2 * needs->capacity : 64;
        uint32_t *list = arena_array(sorter->importer->scratch, capacity, sizeof(*list));
        if (!list || capacity >= UINT32_MAX) return diag_no_memory(sorter->importer->diag);
        for (size_t i = 0; i < needs->n; i++) list[i] = needs->list[i];
        needs->list = list;
        needs->capacity = capacity;
    }
    needs->list[needs->n++] = maker;
    return CM_OK;
}

/* Names that a body defines: they hide those around it. */
struct body {
    const struct body *outer;
    struct map names;
    int depth;
};

static int add_name(struct body *body, const char *name) {
    return name && name[0] ? map_set(&body->names, name, 0) : CM_OK;
}

static int names_of_body(struct body *body, const Onnx__GraphProto *graph) {
    int status = CM_OK;
    for (size_t i = 0; status == CM_OK && i < graph->n_input; i++)
        status = add_name(body, graph->input[i]->name);
    for (size_t i = 0; status == CM_OK && i < graph->n_initializer; i++)
        status = add_name(body, graph->initializer[i]->name);
    for (size_t i = 0; status == CM_OK && i < graph->n_sparse_initializer; i++)
        if (graph->sparse_initializer[i]->values)
            status = add_name(body, graph->sparse_initializer[i]->values->name);
    for (size_t i = 0; status == CM_OK && i < graph->n_node; i++)
        for (size_t k = 0; status == CM_OK && k < graph->node[i]->n_output; k++)
            status = add_name(body, graph->node[i]->output[k]);
    return status;
}

/* Of a name used inside bodies, or (body NULL) by the node itself. */
static int need_name(struct sorter *sorter, const struct body *body, const char *name) {
    for (; body; body = body->outer)
        if (map_get(&body->names, name) != MAP_NONE) return CM_OK;
    return add_need(sorter, name);
}

static int needs_of_node(struct sorter *sorter, const Onnx__NodeProto *node,
                         const struct body *body);

/* A body needs what it names and does not define. */
static int needs_of_graph(struct sorter *sorter, const Onnx__GraphProto *graph,
                          const struct body *outer) {
    struct body body = {.outer = outer, .depth = outer ? outer->depth + 1 : 1};
    if (!graph || body.depth > MAX_GRAPH_DEPTH) return CM_OK;
    map_init(&body.names, sorter->importer->scratch);
    if (names_of_body(&body, graph) < 0) return diag_no_memory(sorter->importer->diag);
    for (size_t i = 0; i < graph->n_node; i++) {
        int status = needs_of_node(sorter, graph->node[i], &body);
        if (status < 0) return status;
    }
    for (size_t i = 0; i < graph->n_output; i++) {
        const char *name = graph->output[i]->name;
        int status = name ? need_name(sorter, &body, name) : CM_OK;
        if (status < 0) return status;
    }
    return CM_OK;
}

static int needs_of_node(struct sorter *sorter, const Onnx__NodeProto *node,
                         const struct body *body) {
    for (size_t i = 0; i < node->n_input; i++) {
        int status = need_name(sorter, body, node->input[i]);
        if (status < 0) return status;
    }
    for (size_t i = 0; i < node->n_attribute; i++) {
        const Onnx__AttributeProto *attr = node->attribute[i];
        int status = needs_of_graph(sorter, attr->g, body);
        for (size_t k = 0; status == CM_OK && k < attr->n_graphs; k++)
            status = needs_of_graph(sorter, attr->graphs[k], body);
        if (status < 0) return status;
    }
    return CM_OK;
}

static int collect(struct sorter *sorter, bool *ret_in_order) {
    struct importer *importer = sorter->importer;
    map_init(&sorter->makers, importer->scratch);
    for (uint32_t i = 0; i < sorter->n; i++)
        for (size_t k = 0; k < sorter->nodes[i]->n_output; k++)
            if (sorter->nodes[i]->output[k][0] &&
                map_set(&sorter->makers, sorter->nodes[i]->output[k], i) < 0)
                return diag_no_memory(importer->diag);
    *ret_in_order = true;
    for (uint32_t i = 0; i < sorter->n; i++) {
        sorter->needs.first[i] = (uint32_t)sorter->needs.n;
        int status = needs_of_node(sorter, sorter->nodes[i], NULL);
        if (status < 0) return status;
        for (size_t k = sorter->needs.first[i]; k < sorter->needs.n; k++)
            if (sorter->needs.list[k] >= i) *ret_in_order = false;
    }
    sorter->needs.first[sorter->n] = (uint32_t)sorter->needs.n;
    return CM_OK;
}

static int cycle(const struct sorter *sorter, uint32_t node) {
    const Onnx__NodeProto *proto = sorter->nodes[node];
    struct diag_frame frame = {.node = proto->name ? proto->name : "", .node_index = node};
    diag_push(sorter->importer->diag, &frame);
    int status =
        diag_error(sorter->importer->diag, DIAG_GRAPH,
                   "node %u '%s' (%s) needs its own output: the graph has a cycle", node,
                   proto->name ? proto->name : "", proto->op_type ? proto->op_type : "");
    diag_pop(sorter->importer->diag, &frame);
    return status;
}

/* Orders `root` after all that it needs. */
static int visit(struct sorter *sorter, uint32_t root) {
    uint32_t depth = 0;
    sorter->stack[depth++] = root;
    sorter->marks[root] = OPEN;
    while (depth > 0) {
        uint32_t node = sorter->stack[depth - 1];
        uint32_t at = sorter->needs.first[node] + sorter->next[node];
        if (at == sorter->needs.first[node + 1]) {
            sorter->marks[node] = DONE;
            sorter->order[sorter->n_ordered++] = node;
            depth--;
            continue;
        }
        uint32_t need = sorter->needs.list[at];
        sorter->next[node]++;
        if (sorter->marks[need] == OPEN) return cycle(sorter, need);
        if (sorter->marks[need] == DONE) continue;
        sorter->marks[need] = OPEN;
        sorter->stack[depth++] = need;
    }
    return CM_OK;
}

static int sort_all(struct sorter *sorter) {
    struct arena *arena = sorter->importer->scratch;
    sorter->marks = arena_array(arena, sorter->n, sizeof(*sorter->marks));
    sorter->stack = arena_array(arena, sorter->n, sizeof(*sorter->stack));
    sorter->next = arena_array(arena, sorter->n, sizeof(*sorter->next));
    if (!sorter->marks || !sorter->stack || !sorter->next)
        return diag_no_memory(sorter->importer->diag);
    for (uint32_t i = 0; i < sorter->n; i++) {
        int status = sorter->marks[i] == UNSEEN ? visit(sorter, i) : CM_OK;
        if (status < 0) return status;
    }
    return CM_OK;
}

int sort_nodes(struct importer *importer, const Onnx__NodeProto *const *nodes, size_t n,
               const uint32_t **ret) {
    struct sorter sorter = {.importer = importer, .nodes = nodes, .n = (uint32_t)n};
    bool in_order = false;
    if (n >= ID_OMITTED) return diag_error(importer->diag, DIAG_LIMIT, "too many nodes");
    sorter.order = arena_array(importer->scratch, n, sizeof(*sorter.order));
    sorter.needs.first = arena_array(importer->scratch, n + 1, sizeof(*sorter.needs.first));
    if (!sorter.order || !sorter.needs.first) return diag_no_memory(importer->diag);
    int status = collect(&sorter, &in_order);
    if (status < 0) return status;
    for (uint32_t i = 0; i < sorter.n; i++) sorter.order[i] = i;
    *ret = sorter.order;
    if (in_order) return CM_OK;
    importer->sorted = true;
    return sort_all(&sorter);
}
