/* SPDX-License-Identifier: Apache-2.0 */
/* Imports GraphProto as a graph of the IR: values by name, then the nodes. */
#include "frontend/importer.h"
#include "support/arena.h"

static int add_inputs(struct importer *importer, struct scope *scope,
                      const struct message *parts) {
    size_t n = parts->of[GRAPH_INPUT].n;
    struct decode_walk protos =
        decode_each(parts, GRAPH_INPUT, &onnx__value_info_proto__descriptor, importer->decoding,
                    importer->diag);
    uint32_t *inputs = arena_array(importer->arena, n, sizeof(*inputs));
    if (!inputs) return diag_no_memory(importer->diag);
    for (size_t i = 0;; i++) {
        const Onnx__ValueInfoProto *proto = NULL;
        int status = decode_next(&protos, &proto);
        if (status == CM_OK && !proto) break;
        if (status < 0) return status;
        struct value value = {.origin = VALUE_INPUT, .node = ID_NONE};
        struct span name = import_span_of_bytes(&proto->name);
        struct diag_frame frame = {
            .label = "in input",
            .what = arena_strndup(importer->decoding, (const char *)name.at, span_size(name))};
        if (!frame.what) return diag_no_memory(importer->diag);
        diag_push(importer->diag, &frame);
        status = import_declared(importer, proto->type, &value.type);
        diag_pop(importer->diag, &frame);
        if (status == CM_OK) status = import_mark(importer, proto, ID_NONE, &value);
        if (status == CM_OK)
            status = scope_add_value(importer, scope, name, &value, &inputs[i]);
        if (status < 0) return status;
    }
    graph_at(importer->builder, scope->graph)->inputs = inputs;
    graph_at(importer->builder, scope->graph)->n_inputs = n;
    return CM_OK;
}

/* Adds an initializer; if an input has its name, makes it the default of the input. */
static int add_constant(struct importer *importer, struct scope *scope,
                        const ProtobufCBinaryData *bytes, const struct constant *constant) {
    struct span name = import_span_of_bytes(bytes);
    uint32_t id = scope_get(scope, name);
    if (id != MAP_NONE) {
        struct value *input = graph_value_at(importer->builder, id);
        if (input->constant || input->origin != VALUE_INPUT)
            return scope_define(importer, scope, name, id);
        input->constant = constant;
        return CM_OK;
    }
    struct type *type = arena_alloc(importer->arena, sizeof(*type));
    if (!type) return diag_no_memory(importer->diag);
    type->kind = CM_TYPE_TENSOR;
    type->dtype = constant->dtype;
    type->shape = constant->shape;
    struct value value = {.origin = VALUE_INITIALIZER,
                          .node = ID_NONE,
                          .constant = constant,
                          .type = type,
                          .mark = (uint8_t)import_named_mark(importer, name)};
    return scope_add_value(importer, scope, name, &value, &id);
}

static int add_initializers(struct importer *importer, struct scope *scope,
                            const struct message *parts) {
    struct decode_walk protos =
        decode_each(parts, GRAPH_INITIALIZER, &onnx__tensor_proto__descriptor,
                    importer->decoding, importer->diag);
    for (;;) {
        const struct constant *constant = NULL;
        const Onnx__TensorProto *proto = NULL;
        int status = decode_next(&protos, &proto);
        if (status < 0 || !proto) return status;
        status = import_tensor(importer, proto, &constant);
        if (status == CM_OK) status = add_constant(importer, scope, &proto->name, constant);
        if (status < 0) return status;
    }
}

static int add_sparse_initializers(struct importer *importer, struct scope *scope,
                                   const struct message *parts) {
    struct decode_walk protos =
        decode_each(parts, GRAPH_SPARSE_INITIALIZER, &onnx__sparse_tensor_proto__descriptor,
                    importer->decoding, importer->diag);
    for (;;) {
        const struct constant *constant = NULL;
        const Onnx__SparseTensorProto *proto = NULL;
        int status = decode_next(&protos, &proto);
        if (status < 0 || !proto) return status;
        status = import_sparse(importer, proto, &constant);
        if (status == CM_OK)
            status = add_constant(importer, scope, &proto->values->name, constant);
        if (status < 0) return status;
    }
}

static int resolve_outputs(struct importer *importer, struct scope *scope,
                           const struct message *parts) {
    size_t n = parts->of[GRAPH_OUTPUT].n;
    struct fields_walk outputs_left = message_walk(parts, GRAPH_OUTPUT);
    uint32_t *outputs = arena_array(importer->arena, n, sizeof(*outputs));
    if (!outputs) return diag_no_memory(importer->diag);
    struct span output;
    for (size_t i = 0; fields_next(&outputs_left, &output); i++) {
        struct message info;
        message_index(output, &info);
        struct span name = message_text(&info, VALUE_INFO_NAME);
        outputs[i] = scope_find(scope, name);
        if (outputs[i] == ID_NONE || outputs[i] == ID_OMITTED)
            return import_undefined(importer, "output", name);
    }
    graph_at(importer->builder, scope->graph)->outputs = outputs;
    graph_at(importer->builder, scope->graph)->n_outputs = n;
    return CM_OK;
}

/* Sets the declared types of node outputs and graph outputs, and the marks of constants. */
static int declare(struct importer *importer, const struct scope *scope,
                   const struct message *parts, uint32_t number) {
    struct decode_walk infos = decode_each(parts, number, &onnx__value_info_proto__descriptor,
                                           importer->decoding, importer->diag);
    for (;;) {
        const Onnx__ValueInfoProto *info = NULL;
        int status = decode_next(&infos, &info);
        if (status < 0 || !info) return status;
        uint32_t id = scope_get(scope, import_span_of_bytes(&info->name));
        if (id == MAP_NONE || id == ID_OMITTED) continue;
        struct value *value = graph_value_at(importer->builder, id);
        if (value->constant)
            status = import_mark(importer, info, id, value);
        else if (value->type->kind == CM_TYPE_UNKNOWN)
            status = import_declared(importer, info->type, &value->type);
        if (status < 0) return status;
    }
}

/* Lists the nodes that were added to the graph, in order. */
static int list_nodes(struct importer *importer, uint32_t graph, uint32_t first) {
    uint32_t n_all = graph_n_nodes(importer->builder);
    uint32_t *nodes = arena_array(importer->arena, n_all - first, sizeof(*nodes));
    size_t n = 0;
    if (!nodes) return diag_no_memory(importer->diag);
    for (uint32_t id = first; id < n_all; id++)
        if (graph_node_at(importer->builder, id)->graph == graph) nodes[n++] = id;
    graph_at(importer->builder, graph)->nodes = nodes;
    graph_at(importer->builder, graph)->n_nodes = n;
    return CM_OK;
}

int import_graph(struct importer *importer, const struct message *parts,
                 const struct scope *outer, uint32_t owner, uint32_t *ret_id) {
    struct graph graph = {.parent = outer ? outer->graph : ID_NONE, .owner = owner};
    struct scope scope = {.outer = outer,
                          .call = outer ? outer->call : ID_NONE,
                          .prefix = outer ? outer->prefix : "",
                          .function = outer ? outer->function : NULL,
                          .module_stack = outer ? outer->module_stack : NULL,
                          .depth = outer ? outer->depth + 1 : 0};
    if (scope.depth > MAX_GRAPH_DEPTH)
        return diag_error(importer->diag, DIAG_LIMIT, "graphs are nested deeper than %d",
                          MAX_GRAPH_DEPTH);
    graph.name = import_span(importer, message_text(parts, GRAPH_NAME));
    if (!graph.name || graph_add_graph(importer->builder, &graph, &scope.graph) < 0)
        return diag_no_memory(importer->diag);
    *ret_id = scope.graph;
    /* The names of inputs, of constants, and of one output per node. */
    const size_t n_names = parts->of[GRAPH_INPUT].n + parts->of[GRAPH_INITIALIZER].n +
                           parts->of[GRAPH_SPARSE_INITIALIZER].n + parts->of[GRAPH_NODE].n;
    const uint32_t first = graph_n_nodes(importer->builder);
    map_init(&scope.names, importer->scopes);
    if (map_reserve(&scope.names, n_names) < 0) return diag_no_memory(importer->diag);
    int status = add_inputs(importer, &scope, parts);
    if (status == CM_OK) status = add_initializers(importer, &scope, parts);
    if (status == CM_OK) status = add_sparse_initializers(importer, &scope, parts);
    if (status == CM_OK) status = import_nodes(importer, nodes_of(parts, GRAPH_NODE), &scope);
    if (status == CM_OK) status = resolve_outputs(importer, &scope, parts);
    if (status == CM_OK) status = declare(importer, &scope, parts, GRAPH_VALUE_INFO);
    if (status == CM_OK) status = declare(importer, &scope, parts, GRAPH_OUTPUT);
    return status < 0 ? status : list_nodes(importer, scope.graph, first);
}
