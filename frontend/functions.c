/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Model-local functions are inlined as the graph is built: a call becomes the function's body,
 * with the caller's values under the body's names. What remains of a call is its record, from
 * which the module tree tells where its nodes came from.
 */
#include "frontend/importer.h"
#include "support/arena.h"

#include "support/banned.h"

static const char *function_key(const struct importer *importer, const char *domain,
                                const char *name, const char *overload) {
    return arena_printf(importer->scratch, "%s::%s::%s", domain ? domain : "", name ? name : "",
                        overload ? overload : "");
}

int import_functions(struct importer *importer) {
    map_init(&importer->functions, importer->scratch);
    for (size_t i = 0; i < importer->proto->n_functions; i++) {
        const Onnx__FunctionProto *proto = importer->proto->functions[i];
        uint32_t existing = MAP_NONE;
        const char *key = function_key(importer, proto->domain, proto->name, proto->overload);
        if (!key || map_add(&importer->functions, key, (uint32_t)i, &existing) < 0)
            return diag_no_memory(importer->diag);
        if (proto->n_attribute_proto > MAX_ATTRIBUTES || proto->n_opset_import > MAX_OPSETS)
            return diag_error(importer->diag, DIAG_LIMIT,
                              "function '%s' has more than %d attributes or opset imports",
                              proto->name ? proto->name : "", MAX_OPSETS);
        if (existing != MAP_NONE)
            return diag_error(
                importer->diag, DIAG_GRAPH, "function '%s' of domain '%s' is defined twice",
                proto->name ? proto->name : "", proto->domain ? proto->domain : "");
    }
    return CM_OK;
}

int find_function(struct importer *importer, const Onnx__NodeProto *node,
                  const Onnx__FunctionProto **ret) {
    *ret = NULL;
    if (importer->proto->n_functions == 0) return CM_OK;
    struct arena_mark mark = arena_save(importer->scratch);
    const char *key = function_key(importer, node->domain, node->op_type, node->overload);
    if (!key) return diag_no_memory(importer->diag);
    uint32_t index = map_get(&importer->functions, key);
    arena_restore(importer->scratch, mark);
    if (index != MAP_NONE) *ret = importer->proto->functions[index];
    return CM_OK;
}

static int check_cycle(struct importer *importer, const struct frame *frame,
                       const Onnx__FunctionProto *function) {
    int depth = 0;
    for (; frame; frame = frame->outer, depth++)
        if (frame->proto == function)
            return diag_error(importer->diag, DIAG_GRAPH, "function '%s' calls itself",
                              function->name ? function->name : "");
    if (depth <= MAX_GRAPH_DEPTH) return CM_OK;
    return diag_error(importer->diag, DIAG_LIMIT, "functions call each other deeper than %d",
                      MAX_GRAPH_DEPTH);
}

static uint32_t outer_value(const struct scope *scope, const char *name) {
    uint32_t id = name[0] ? scope_find(scope, name) : ID_OMITTED;
    return id;
}

/* The formal inputs stand for the caller's values; those that are left out for nothing. */
static int pass_inputs(struct importer *importer, const Onnx__NodeProto *node,
                       const Onnx__FunctionProto *function, const struct scope *outer,
                       struct scope *scope, struct call *call) {
    uint32_t *inputs = arena_array(importer->arena, function->n_input, sizeof(*inputs));
    if (!inputs) return diag_no_memory(importer->diag);
    if (node->n_input > function->n_input)
        return diag_error(importer->diag, DIAG_ARITY, "%zu inputs, function '%s' takes %zu",
                          node->n_input, function->name ? function->name : "",
                          function->n_input);
    for (size_t i = 0; i < function->n_input; i++) {
        uint32_t id = i < node->n_input ? outer_value(outer, node->input[i]) : ID_OMITTED;
        if (id == ID_NONE) return import_undefined(importer, "its input", node->input[i]);
        inputs[i] = id == ID_OMITTED ? ID_NONE : id;
        int status = scope_define(importer, scope, function->input[i], id);
        if (status < 0) return status;
    }
    call->inputs = inputs;
    call->n_inputs = function->n_input;
    return CM_OK;
}

/*
 * A value that the body made is known to everyone outside by the caller's name for it. One that
 * was there before, an input passed straight through, keeps its own.
 */
static int rename_output(struct importer *importer, const struct scope *outer, const char *name,
                         uint32_t id, uint32_t first) {
    if (id == ID_OMITTED) return CM_OK;
    const struct value *value = graph_value_at(importer->builder, id);
    if (value->origin != VALUE_OUTPUT || value->node < first) return CM_OK;
    const char *full = arena_printf(importer->arena, "%s%s", outer->prefix, name);
    if (!full) return diag_no_memory(importer->diag);
    graph_value_at(importer->builder, id)->name = full;
    return CM_OK;
}

/* The body's outputs get the caller's names for them; `first`: its first node. */
static int return_outputs(struct importer *importer, const Onnx__NodeProto *node,
                          const Onnx__FunctionProto *function, struct scope *outer,
                          const struct scope *scope, uint32_t call_id, uint32_t first) {
    uint32_t *outputs = arena_array(importer->arena, node->n_output, sizeof(*outputs));
    if (!outputs) return diag_no_memory(importer->diag);
    if (node->n_output > function->n_output)
        return diag_error(importer->diag, DIAG_ARITY, "%zu outputs, function '%s' gives %zu",
                          node->n_output, function->name ? function->name : "",
                          function->n_output);
    for (size_t i = 0; i < node->n_output; i++) {
        outputs[i] = ID_NONE;
        if (!node->output[i][0]) continue;
        uint32_t id = map_get(&scope->names, function->output[i]);
        if (id == MAP_NONE)
            return diag_error(importer->diag, DIAG_GRAPH,
                              "nothing in function '%s' defines its output '%s'",
                              function->name ? function->name : "", function->output[i]);
        outputs[i] = id == ID_OMITTED ? ID_NONE : id;
        const char *name = arena_strdup(importer->scratch, node->output[i]);
        int status =
            name ? scope_define(importer, outer, name, id) : diag_no_memory(importer->diag);
        if (status == CM_OK)
            status = rename_output(importer, outer, node->output[i], id, first);
        if (status < 0) return status;
    }
    graph_call_at(importer->builder, call_id)->outputs = outputs;
    graph_call_at(importer->builder, call_id)->n_outputs = node->n_output;
    return CM_OK;
}

static const char *call_prefix(struct importer *importer, const struct scope *outer,
                               const Onnx__NodeProto *node, uint32_t call_id) {
    if (node->name && node->name[0])
        return arena_printf(importer->arena, "%s%s/", outer->prefix, node->name);
    return arena_printf(importer->arena, "%s%s#%u/", outer->prefix,
                        node->op_type ? node->op_type : "", call_id);
}

static int add_call(struct importer *importer, const Onnx__NodeProto *node,
                    const Onnx__FunctionProto *function, struct call *call, uint32_t *ret_id) {
    call->name = import_text(importer, node->name);
    call->domain = import_text(importer, function->domain);
    call->function = import_text(importer, function->name);
    if (!call->name || !call->domain || !call->function ||
        graph_add_call(importer->builder, call, ret_id) < 0)
        return diag_no_memory(importer->diag);
    return CM_OK;
}

int inline_call(struct importer *importer, const Onnx__NodeProto *node,
                const Onnx__FunctionProto *function, struct scope *outer) {
    struct call call = {.outer = outer->call, .ordinal = node->ordinal};
    struct scope scope = {.graph = outer->graph, .depth = outer->depth};
    bool fused;
    struct frame frame = {.outer = outer->function, .proto = function};
    uint32_t call_id = ID_NONE;
    uint32_t first = graph_n_nodes(importer->builder);
    int status = check_cycle(importer, outer->function, function);
    if (status < 0) return status;
    map_init(&scope.names, importer->scratch);
    status = pass_inputs(importer, node, function, outer, &scope, &call);
    if (status == CM_OK)
        status = import_attributes(importer, node, outer, ID_NONE, &call.attrs, &call.n_attrs);
    if (status == CM_OK) status = import_metadata(importer, node, &call.place, &fused);
    if (status < 0) return status;
    if (!call.place) call.place = outer->place;
    status = add_call(importer, node, function, &call, &call_id);
    if (status < 0) return status;
    scope.place = call.place;
    frame.attrs = call.attrs;
    frame.n_attrs = call.n_attrs;
    scope.call = call_id;
    scope.function = &frame;
    scope.prefix = call_prefix(importer, outer, node, call_id);
    if (!scope.prefix) return diag_no_memory(importer->diag);
    struct diag_frame place = {.label = "in function",
                               .what = function->name ? function->name : ""};
    diag_push(importer->diag, &place);
    status = import_nodes(importer, messages_decoded(function->node, function->n_node),
                          function->opset_import, function->n_opset_import, &scope);
    diag_pop(importer->diag, &place);
    if (status < 0) return status;
    return return_outputs(importer, node, function, outer, &scope, call_id, first);
}
