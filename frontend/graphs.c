/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GraphProto as a graph of the IR: values by name, nodes in an order in which every operand
 * comes before its use. Files must be in such an order; one that is not, but could be, is
 * sorted.
 */
#include <string.h>

#include "frontend/importer.h"
#include "frontend/sort.h"
#include "support/arena.h"

#include "support/banned.h"

uint32_t scope_find(const struct scope *scope, const char *name) {
    for (; scope; scope = scope->outer) {
        uint32_t id = map_get(&scope->names, name);
        if (id != MAP_NONE) return id;
    }
    return ID_NONE;
}

int scope_define(struct importer *importer, struct scope *scope, const char *name,
                 uint32_t value) {
    uint32_t existing = MAP_NONE;
    if (map_add(&scope->names, name, value, &existing) < 0)
        return diag_no_memory(importer->diag);
    if (existing == MAP_NONE) return CM_OK;
    return diag_error(importer->diag, DIAG_GRAPH, "the name '%s' is defined twice", name);
}

static int add_value(struct importer *importer, struct scope *scope, const char *name,
                     struct value *value, uint32_t *ret_id) {
    uint32_t id = ID_NONE;
    value->graph = scope->graph;
    value->name = scope->prefix[0] ? arena_printf(importer->arena, "%s%s", scope->prefix, name)
                                   : import_text(importer, name);
    if (!value->name) return diag_no_memory(importer->diag);
    if (graph_add_value(importer->builder, value, &id) < 0)
        return diag_no_memory(importer->diag);
    *ret_id = id;
    return scope_define(importer, scope, value->name + strlen(scope->prefix), id);
}

static const char *name_of(const char *name) {
    return name ? name : "";
}

/* Of an input a negative dim would be analysed with; of a value in between it only means that
 * the exporter did not know. */
static int check_input_dims(struct importer *importer, const Onnx__TypeProto *type) {
    const Onnx__TensorShapeProto *shape =
        type && type->tensor_type ? type->tensor_type->shape : NULL;
    for (size_t i = 0; shape && i < shape->n_dim; i++)
        if (shape->dim[i]->has_dim_value && shape->dim[i]->dim_value < 0)
            return diag_error(importer->diag, DIAG_SHAPE, "dim %zu is %lld, at least 0 wanted",
                              i, (long long)shape->dim[i]->dim_value);
    return CM_OK;
}

static int add_input(struct importer *importer, struct scope *scope,
                     const Onnx__ValueInfoProto *proto, uint32_t *ret) {
    struct value value = {.origin = VALUE_INPUT, .node = ID_NONE};
    struct diag_frame frame = {.label = "in input", .what = name_of(proto->name)};
    diag_push(importer->diag, &frame);
    int status = import_type(importer, proto->type, 0, &value.type);
    if (status == CM_OK) status = check_input_dims(importer, proto->type);
    diag_pop(importer->diag, &frame);
    if (status < 0) return status;
    return add_value(importer, scope, name_of(proto->name), &value, ret);
}

static int add_inputs(struct importer *importer, struct scope *scope, struct messages protos) {
    size_t n = protos.n;
    uint32_t *inputs = arena_array(importer->arena, n, sizeof(*inputs));
    if (!inputs) return diag_no_memory(importer->diag);
    for (size_t i = 0; i < n; i++) {
        const Onnx__ValueInfoProto *proto = NULL;
        int status = messages_next(importer, &protos, &proto);
        if (status == CM_OK) status = add_input(importer, scope, proto, &inputs[i]);
        if (status < 0) return status;
    }
    graph_at(importer->builder, scope->graph)->inputs = inputs;
    graph_at(importer->builder, scope->graph)->n_inputs = n;
    return CM_OK;
}

/* An initializer, or the default of the input of that name. */
static int add_constant(struct importer *importer, struct scope *scope, const char *name,
                        const struct constant *constant) {
    uint32_t id = map_get(&scope->names, name);
    if (id != MAP_NONE) {
        struct value *input = graph_value_at(importer->builder, id);
        if (input->constant || input->origin != VALUE_INPUT)
            return diag_error(importer->diag, DIAG_GRAPH, "the name '%s' is defined twice",
                              name);
        input->constant = constant;
        return CM_OK;
    }
    struct value value = {
        .origin = VALUE_INITIALIZER,
        .node = ID_NONE,
        .constant = constant,
        .type = {.kind = CM_TYPE_TENSOR, .dtype = constant->dtype, .shape = constant->shape}};
    return add_value(importer, scope, name, &value, &id);
}

static int add_initializers(struct importer *importer, struct scope *scope,
                            struct messages protos) {
    for (;;) {
        const struct constant *constant = NULL;
        const Onnx__TensorProto *proto = NULL;
        int status = messages_next(importer, &protos, &proto);
        if (status < 0 || !proto) return status;
        status = import_tensor(importer, proto, &constant);
        if (status == CM_OK)
            status = add_constant(importer, scope, name_of(proto->name), constant);
        if (status < 0) return status;
    }
}

static int add_sparse_initializers(struct importer *importer, struct scope *scope,
                                   struct messages protos) {
    for (;;) {
        const struct constant *constant = NULL;
        const Onnx__SparseTensorProto *proto = NULL;
        int status = messages_next(importer, &protos, &proto);
        if (status < 0 || !proto) return status;
        status = import_sparse(importer, proto, &constant);
        if (status == CM_OK)
            status = add_constant(importer, scope, name_of(proto->values->name), constant);
        if (status < 0) return status;
    }
}

struct node_context {
    Onnx__OperatorSetIdProto *const *opsets;
    size_t n_opsets;
};

static const char *node_name(struct importer *importer, const struct scope *scope,
                             const char *name) {
    if (!name || !name[0] || !scope->prefix[0]) return import_text(importer, name);
    return arena_printf(importer->arena, "%s%s", scope->prefix, name);
}

int import_undefined(struct importer *importer, const char *what, const char *name) {
    importer->out_of_order = importer->takes_order;
    if (importer->out_of_order) return CM_REFUSED; /* unsaid: a second attempt is made */
    return diag_error(importer->diag, DIAG_GRAPH, "nothing defines %s '%s'", what, name);
}

static int resolve_inputs(struct importer *importer, const Onnx__NodeProto *proto,
                          const struct scope *scope, struct node *node) {
    uint32_t *inputs = arena_array(importer->arena, proto->n_input, sizeof(*inputs));
    if (!inputs) return diag_no_memory(importer->diag);
    for (size_t i = 0; i < proto->n_input; i++) {
        inputs[i] = ID_NONE;
        if (!proto->input[i][0]) continue;
        inputs[i] = scope_find(scope, proto->input[i]);
        if (inputs[i] == ID_NONE)
            return import_undefined(importer, "its input", proto->input[i]);
        if (inputs[i] == ID_OMITTED) inputs[i] = ID_NONE;
    }
    node->inputs = inputs;
    node->n_inputs = proto->n_input;
    return CM_OK;
}

static int define_outputs(struct importer *importer, const Onnx__NodeProto *proto,
                          struct scope *scope, uint32_t node_id) {
    uint32_t *outputs = arena_array(importer->arena, proto->n_output, sizeof(*outputs));
    if (!outputs) return diag_no_memory(importer->diag);
    for (size_t i = 0; i < proto->n_output; i++) {
        struct value value = {.origin = VALUE_OUTPUT, .node = node_id, .slot = (uint32_t)i};
        outputs[i] = ID_NONE;
        if (!proto->output[i][0]) continue;
        int status = add_value(importer, scope, proto->output[i], &value, &outputs[i]);
        if (status < 0) return status;
    }
    graph_node_at(importer->builder, node_id)->outputs = outputs;
    graph_node_at(importer->builder, node_id)->n_outputs = proto->n_output;
    return CM_OK;
}

static int opset_for(struct importer *importer, const struct node_context *context,
                     const char *domain, int64_t *ret) {
    *ret = import_opset(context->opsets, context->n_opsets, domain);
    if (*ret > 0) return CM_OK;
    return diag_error(importer->diag, DIAG_OPSET,
                      "the file does not say which opset of '%s' it uses",
                      domain[0] ? domain : "ai.onnx");
}

static int add_node(struct importer *importer, const Onnx__NodeProto *proto,
                    const struct node_context *context, struct scope *scope,
                    uint32_t file_index) {
    uint32_t id = ID_NONE;
    const char *domain = name_of(proto->domain);
    struct node node = {.graph = scope->graph, .call = scope->call, .file_index = file_index};
    node.ordinal = proto->ordinal;
    if (text_equal(domain, "ai.onnx")) domain = "";
    node.name = node_name(importer, scope, proto->name);
    node.domain = import_shared(importer, domain);
    node.type = import_shared(importer, proto->op_type);
    if (!node.name || !node.domain || !node.type) return diag_no_memory(importer->diag);
    int status = opset_for(importer, context, domain, &node.opset);
    if (status == CM_OK) status = resolve_inputs(importer, proto, scope, &node);
    if (status == CM_OK) status = import_metadata(importer, proto, &node.place, &node.fused);
    if (status < 0) return status;
    if (!node.place) node.place = scope->place;
    if (graph_add_node(importer->builder, &node, &id) < 0)
        return diag_no_memory(importer->diag);
    const struct attr *attrs = NULL;
    size_t n_attrs = 0;
    status = import_attributes(importer, proto, scope, id, &attrs, &n_attrs);
    if (status < 0) return status;
    graph_node_at(importer->builder, id)->attrs = attrs;
    graph_node_at(importer->builder, id)->n_attrs = n_attrs;
    return define_outputs(importer, proto, scope, id);
}

/* `17 "layer1.0/conv1", Conv` */
struct proto_place {
    struct diag_frame frame;
    const Onnx__NodeProto *proto;
    uint32_t index;
};

static void print_proto(const struct diag_frame *frame, struct text *out) {
    const struct proto_place *place = frame->context;
    text_printf(out, "%u", place->index);
    if (place->proto->name && place->proto->name[0]) {
        text_append(out, " \"");
        text_append_label(out, place->proto->name);
        text_append(out, "\"");
    }
    text_append(out, ", ");
    text_append_label(out, name_of(place->proto->op_type));
}

/* Whether there is still room for it: only calls can make more nodes than the file has. */
static int check_node(struct importer *importer, const Onnx__NodeProto *proto,
                      const struct scope *scope) {
    if (!name_of(proto->op_type)[0])
        return diag_error(importer->diag, DIAG_GRAPH, "the node has no operator type");
    if (scope->call == ID_NONE) return CM_OK;
    if (importer->n_nodes++ >= importer->node_limit)
        return diag_error(importer->diag, DIAG_LIMIT,
                          "functions unfold into more than %llu nodes",
                          (unsigned long long)importer->node_limit);
    size_t used = arena_used(importer->arena) + arena_used(importer->scratch);
    if (used <= importer->byte_limit) return CM_OK;
    return diag_error(importer->diag, DIAG_LIMIT, "functions unfold into more than %zu MiB",
                      importer->byte_limit >> 20);
}

static int import_node(struct importer *importer, const Onnx__NodeProto *proto,
                       const struct node_context *context, struct scope *scope,
                       uint32_t index) {
    const Onnx__FunctionProto *function = NULL;
    struct proto_place place = {.proto = proto, .index = index};
    place.frame = (struct diag_frame){.label = "at node",
                                      .print = print_proto,
                                      .node = name_of(proto->name),
                                      .node_index = index,
                                      .context = &place};
    diag_push(importer->diag, &place.frame);
    int status = check_node(importer, proto, scope);
    if (status == CM_OK) status = find_function(importer, proto, &function);
    if (status == CM_OK)
        status = function ? inline_call(importer, proto, function, scope)
                          : add_node(importer, proto, context, scope, index);
    diag_pop(importer->diag, &place.frame);
    return status;
}

/* As they stand in the file, each decoded when its turn has come. */
static int take_nodes(struct importer *importer, struct messages nodes,
                      const struct node_context *context, struct scope *scope) {
    for (uint32_t i = 0;; i++) {
        const Onnx__NodeProto *proto = NULL;
        int status = messages_next(importer, &nodes, &proto);
        if (status < 0 || !proto) return status;
        if (i >= ID_OMITTED) return diag_error(importer->diag, DIAG_LIMIT, "too many nodes");
        status = import_node(importer, proto, context, scope, i);
        if (status < 0) return status;
    }
}

int import_nodes(struct importer *importer, struct messages nodes,
                 Onnx__OperatorSetIdProto *const *opsets, size_t n_opsets,
                 struct scope *scope) {
    const struct node_context context = {opsets, n_opsets};
    const uint32_t *order = NULL;
    if (nodes.type) return take_nodes(importer, nodes, &context, scope);
    const Onnx__NodeProto *const *protos = nodes.list;
    int status = sort_nodes(importer, protos, nodes.n, &order);
    for (size_t i = 0; status == CM_OK && i < nodes.n; i++)
        status = import_node(importer, protos[order[i]], &context, scope, order[i]);
    return status;
}

static int resolve_outputs(struct importer *importer, struct scope *scope,
                           struct messages protos) {
    size_t n = protos.n;
    uint32_t *outputs = arena_array(importer->arena, n, sizeof(*outputs));
    if (!outputs) return diag_no_memory(importer->diag);
    for (size_t i = 0; i < n; i++) {
        const Onnx__ValueInfoProto *proto = NULL;
        int status = messages_next(importer, &protos, &proto);
        if (status < 0) return status;
        outputs[i] = scope_find(scope, name_of(proto->name));
        if (outputs[i] == ID_NONE || outputs[i] == ID_OMITTED)
            return import_undefined(importer, "the output", name_of(proto->name));
    }
    graph_at(importer->builder, scope->graph)->outputs = outputs;
    graph_at(importer->builder, scope->graph)->n_outputs = n;
    return CM_OK;
}

/* Declared types of values that nodes make, and of outputs. */
static int declare(struct importer *importer, const struct scope *scope,
                   struct messages infos) {
    for (;;) {
        const Onnx__ValueInfoProto *info = NULL;
        int status = messages_next(importer, &infos, &info);
        if (status < 0 || !info) return status;
        uint32_t id = map_get(&scope->names, name_of(info->name));
        if (id == MAP_NONE || id == ID_OMITTED) continue;
        struct type type;
        status = import_type(importer, info->type, 0, &type);
        if (status < 0) return status;
        struct value *value = graph_value_at(importer->builder, id);
        if (value->type.kind == CM_TYPE_UNKNOWN) value->type = type;
    }
}

/* The graph's own nodes: those that were added to it, in order. */
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

static int fill_graph(struct importer *importer, const struct graph_parts *parts,
                      struct scope *scope) {
    uint32_t first = graph_n_nodes(importer->builder);
    const struct frame *function = scope->function;
    int status = add_inputs(importer, scope, parts->inputs);
    if (status == CM_OK) status = add_initializers(importer, scope, parts->initializers);
    if (status == CM_OK)
        status = add_sparse_initializers(importer, scope, parts->sparse_initializers);
    if (status == CM_OK)
        status = import_nodes(
            importer, parts->nodes,
            function ? function->proto->opset_import : importer->proto->opset_import,
            function ? function->proto->n_opset_import : importer->proto->n_opset_import,
            scope);
    if (status == CM_OK) status = resolve_outputs(importer, scope, parts->outputs);
    if (status == CM_OK) status = declare(importer, scope, parts->value_infos);
    if (status == CM_OK) status = declare(importer, scope, parts->outputs);
    return status < 0 ? status : list_nodes(importer, scope->graph, first);
}

int import_graph(struct importer *importer, struct graph_parts parts, const struct scope *outer,
                 uint32_t owner, uint32_t *ret_id) {
    struct graph graph = {.parent = outer ? outer->graph : ID_NONE, .owner = owner};
    struct scope scope = {.outer = outer,
                          .call = outer ? outer->call : ID_NONE,
                          .prefix = outer ? outer->prefix : "",
                          .function = outer ? outer->function : NULL,
                          .place = outer ? outer->place : NULL,
                          .depth = outer ? outer->depth + 1 : 0};
    if (scope.depth > MAX_GRAPH_DEPTH)
        return diag_error(importer->diag, DIAG_LIMIT, "graphs are nested deeper than %d",
                          MAX_GRAPH_DEPTH);
    graph.name = import_text(importer, parts.name);
    if (!graph.name || graph_add_graph(importer->builder, &graph, &scope.graph) < 0)
        return diag_no_memory(importer->diag);
    map_init(&scope.names, importer->scratch);
    *ret_id = scope.graph;
    return fill_graph(importer, &parts, &scope);
}
