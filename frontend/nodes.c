/* SPDX-License-Identifier: Apache-2.0 */
/* Imports nodes in topological order. */
#include <string.h>

#include "frontend/importer.h"
#include "ir/print.h"
#include "support/arena.h"

struct node_walk nodes_of(const struct message *message, uint32_t number) {
    return (struct node_walk){.left = message_walk(message, number),
                              .ordinal = message->ordinal};
}

bool nodes_next(struct node_walk *walk, struct node_bytes *ret, struct message *ret_parts) {
    if (!fields_next(&walk->left, &ret->bytes)) return false;
    ret->index = walk->index++;
    ret->ordinal = walk->ordinal;
    message_index(ret->bytes, ret_parts);
    walk->ordinal += 1 + ret_parts->ordinal;
    return true;
}

/* The opsets that the nodes of one list are written in. */
struct opset_context {
    Onnx__OperatorSetIdProto *const *imports;
    size_t n;
    int64_t standard; /* of ai.onnx */
};

/* Sets *ret to the node without the parts that need its id: the attributes, and the ids of the
 * outputs, which the caller writes to *ret_outputs. */
static int describe_node(struct importer *importer, const struct file_node *from,
                         const struct opset_context *context, const struct scope *scope,
                         struct node *ret, uint32_t **ret_outputs) {
    size_t n_inputs = from->parts.of[NODE_INPUT].n;
    size_t n_outputs = from->parts.of[NODE_OUTPUT].n;
    uint32_t *ids = arena_array_raw(importer->arena, n_inputs + n_outputs, sizeof(*ids));
    const char *domain = "";
    if (from->parts.of[NODE_DOMAIN].n > 0) {
        const struct span name = message_text(&from->parts, NODE_DOMAIN);
        if (!span_equal(name, "ai.onnx")) domain = import_shared(importer, name);
    }
    *ret = (struct node){.name = from->full_name,
                         .domain = domain,
                         .type = from->type,
                         .graph = scope->graph,
                         .call = scope->call,
                         .ordinal = from->ordinal,
                         .n_inputs = (uint32_t)n_inputs, /* fits: a message is < 2 GiB */
                         .inputs = ids,
                         .n_outputs = (uint32_t)n_outputs};
    if (!ids || !ret->domain) return diag_no_memory(importer->diag);
    ret->outputs = *ret_outputs = ids + n_inputs;
    ret->opset = ret->domain[0] == '\0'
                     ? context->standard
                     : import_opset(context->imports, context->n, ret->domain);
    if (ret->opset <= 0)
        return diag_error(importer->diag, DIAG_OPSET, "no opset import for domain '%s'",
                          ret->domain[0] ? ret->domain : "ai.onnx");
    struct fields_walk names = message_walk(&from->parts, NODE_INPUT);
    struct span name;
    for (size_t i = 0; fields_next(&names, &name); i++) {
        ids[i] = name.at == name.end ? ID_OMITTED : scope_find(scope, name);
        if (ids[i] == ID_NONE) return import_undefined(importer, "input", name);
        if (ids[i] == ID_OMITTED) ids[i] = ID_NONE;
    }
    int status = import_metadata(importer, from, ret);
    if (!ret->module_stack) ret->module_stack = scope->module_stack;
    return status;
}

static int add_node(struct importer *importer, const struct file_node *from,
                    const struct opset_context *context, struct scope *scope) {
    struct node node;
    uint32_t id = ID_NONE;
    uint32_t *outputs = NULL;
    int status = describe_node(importer, from, context, scope, &node, &outputs);
    if (status < 0) return status;
    if (graph_add_node(importer->builder, &node, &id) < 0)
        return diag_no_memory(importer->diag);
    if (from->parts.of[NODE_ATTRIBUTE].n > 0) {
        const struct attr *attrs = NULL;
        size_t n_attrs = 0;
        status = import_attributes(importer, from, scope, id, &attrs, &n_attrs);
        if (status < 0) return status;
        graph_node_at(importer->builder, id)->attrs = attrs;
        graph_node_at(importer->builder, id)->n_attrs = (uint32_t)n_attrs;
    }
    struct fields_walk names = message_walk(&from->parts, NODE_OUTPUT);
    struct span name;
    for (uint32_t i = 0; fields_next(&names, &name) && status == CM_OK; i++) {
        struct value value = {.origin = VALUE_OUTPUT, .node = id, .slot = i};
        outputs[i] = ID_NONE;
        if (name.at < name.end)
            status = scope_add_value(importer, scope, name, &value, &outputs[i]);
    }
    return status;
}

static void print_place(const struct diag_frame *frame, struct text *out) {
    const struct file_node *node = frame->context;
    print_node_label(node->index, node->name, node->type, out);
}

static int import_node(struct importer *importer, struct file_node *node,
                       const struct opset_context *context, struct scope *scope) {
    const struct function *function = NULL;
    const struct span name = message_text(&node->parts, NODE_NAME);
    const bool is_named = name.at < name.end;
    node->full_name = is_named ? scope_full_name(importer, scope, name) : "";
    node->type = import_shared(importer, message_text(&node->parts, NODE_OP_TYPE));
    if (!node->full_name || !node->type) return diag_no_memory(importer->diag);
    node->name = node->full_name + (is_named ? strlen(scope->prefix) : 0);
    struct diag_frame frame = {.label = "at node",
                               .print = print_place,
                               .node = node->name,
                               .node_index = node->index,
                               .context = node};
    diag_push(importer->diag, &frame);
    int status = CM_OK;
    const bool is_inlined = scope->call != ID_NONE;
    if (!node->type[0])
        status = diag_error(importer->diag, DIAG_GRAPH, "the node has no operator type");
    else if (is_inlined && importer->n_nodes++ >= importer->node_limit)
        status = diag_error(importer->diag, DIAG_LIMIT,
                            "inlining functions makes more than %llu nodes",
                            (unsigned long long)importer->node_limit);
    else if (is_inlined)
        status = import_check_inlined_size(importer);
    if (status == CM_OK) status = import_find_function(importer, node, &function);
    if (status == CM_OK)
        status = function ? import_inline_call(importer, node, function, scope)
                          : add_node(importer, node, context, scope);
    diag_pop(importer->diag, &frame);
    return status;
}

int import_nodes(struct importer *importer, struct node_walk nodes, struct scope *scope) {
    const Onnx__FunctionProto *function =
        scope->function ? scope->function->function->proto : NULL;
    struct opset_context context = {
        .imports = function ? function->opset_import : importer->proto->opset_import,
        .n = function ? function->n_opset_import : importer->proto->n_opset_import};
    context.standard = import_opset(context.imports, context.n, "");
    if (nodes.left.left.n >= ID_OMITTED)
        return diag_error(importer->diag, DIAG_LIMIT, "too many nodes");
    struct file_node node;
    struct node_bytes at;
    int status = CM_OK;
    /* The first attempt imports the main graph in file order; all other nodes are sorted. */
    if (!scope->outer && !scope->function && importer->keeps_order) {
        while (status == CM_OK && nodes_next(&nodes, &at, &node.parts)) {
            node.index = at.index;
            node.ordinal = at.ordinal;
            status = import_node(importer, &node, &context, scope);
        }
        return status;
    }
    const struct node_bytes *sorted = NULL;
    size_t n = 0;
    status = sort_nodes(importer, nodes, &sorted, &n);
    for (size_t i = 0; status == CM_OK && i < n; i++) {
        node = (struct file_node){.index = sorted[i].index, .ordinal = sorted[i].ordinal};
        message_index(sorted[i].bytes, &node.parts);
        status = import_node(importer, &node, &context, scope);
    }
    return status;
}
