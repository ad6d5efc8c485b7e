/* SPDX-License-Identifier: Apache-2.0 */
/* Inlines model-local functions while the graph is built: a call is replaced by the function's
 * body, with the caller's values under the body's names. A struct call records each call, so
 * that the module tree can find the call that a node comes from. */
#include <string.h>

#include "frontend/importer.h"
#include "support/arena.h"

/* Identifies a function: its domain, name and overload, which may hold any bytes. */
struct function_key {
    char *text; /* lengths of domain and name, then all three; NULL if memory ran out */
    size_t size;
};

static char *put_bytes(char *out, const void *bytes, size_t size) {
    if (size > 0) memcpy(out, bytes, size);
    return out + size;
}

/* Returns the key of a function; "ai.onnx" is another name of the domain "". */
static struct function_key key_of(const struct importer *importer, struct span domain,
                                  struct span name, struct span overload) {
    if (span_equal(domain, "ai.onnx")) domain.at = domain.end;
    const size_t sizes[] = {span_size(domain), span_size(name)};
    struct function_key key = {.size =
                                   sizeof(sizes) + sizes[0] + sizes[1] + span_size(overload)};
    key.text = arena_array_raw(importer->scratch, key.size, 1);
    if (!key.text) return key;
    char *out = put_bytes(key.text, sizes, sizeof(sizes));
    out = put_bytes(out, domain.at, sizes[0]);
    out = put_bytes(out, name.at, sizes[1]);
    put_bytes(out, overload.at, span_size(overload));
    return key;
}

static const char *name_of(const struct function *function) {
    return function->proto->name ? function->proto->name : "";
}

int import_functions(struct importer *importer) {
    size_t n = importer->proto->n_functions;
    int status = CM_OK;
    map_init(&importer->functions, importer->scratch);
    importer->function_list =
        arena_array(importer->scratch, n, sizeof(*importer->function_list));
    if (!importer->function_list) return diag_no_memory(importer->diag);
    importer->n_functions = n;
    for (uint32_t i = 0; i < n; i++) {
        const ProtobufCBinaryData *bytes = &importer->proto->functions[i];
        const struct fields whole = {bytes->data, bytes->len, NULL};
        struct function *function = &importer->function_list[i];
        struct message *parts = &function->parts;
        Onnx__FunctionProto *proto = NULL;
        uint32_t existing = MAP_NONE;
        status = decode(&onnx__function_proto__descriptor, &whole, importer->scratch,
                        importer->diag, &proto);
        if (status < 0) return status;
        function->proto = proto;
        message_index(import_span_of_bytes(bytes), parts);
        if (proto->n_attribute_proto > MAX_ATTRIBUTES || proto->n_opset_import > MAX_OPSETS)
            return diag_error(importer->diag, DIAG_LIMIT,
                              "function '%s' has more than %d attributes or opset imports",
                              name_of(function), MAX_OPSETS);
        const struct function_key key =
            key_of(importer, message_text(parts, FUNCTION_DOMAIN),
                   message_text(parts, FUNCTION_NAME), message_text(parts, FUNCTION_OVERLOAD));
        if (!key.text || map_add_n(&importer->functions, key.text, key.size, i, &existing) < 0)
            return diag_no_memory(importer->diag);
        if (existing != MAP_NONE)
            return diag_error(importer->diag, DIAG_GRAPH,
                              "function '%s' of domain '%s' is defined twice",
                              name_of(function), proto->domain ? proto->domain : "");
    }
    return CM_OK;
}

int import_find_function(struct importer *importer, const struct file_node *node,
                         const struct function **ret) {
    *ret = NULL;
    if (importer->n_functions == 0) return CM_OK;
    struct arena_mark mark = arena_save(importer->scratch);
    struct function_key key = key_of(importer, message_text(&node->parts, NODE_DOMAIN),
                                     message_text(&node->parts, NODE_OP_TYPE),
                                     message_text(&node->parts, NODE_OVERLOAD));
    if (!key.text) return diag_no_memory(importer->diag);
    uint32_t index = map_get_n(&importer->functions, key.text, key.size);
    arena_restore(importer->scratch, mark);
    if (index != MAP_NONE) *ret = &importer->function_list[index];
    return CM_OK;
}

/* Refuses recursive calls and calls nested too deeply; `frame` is the innermost call. */
static int check_cycle(struct importer *importer, const struct frame *frame,
                       const struct function *function) {
    int depth = 0;
    for (; frame; frame = frame->outer, depth++)
        if (frame->function == function)
            return diag_error(importer->diag, DIAG_GRAPH, "function '%s' calls itself",
                              name_of(function));
    if (depth <= MAX_GRAPH_DEPTH) return CM_OK;
    return diag_error(importer->diag, DIAG_LIMIT, "functions call each other deeper than %d",
                      MAX_GRAPH_DEPTH);
}

/* Defines the formal inputs as the caller's values, or as omitted. */
static int pass_inputs(struct importer *importer, const struct file_node *node,
                       const struct function *function, const struct scope *outer,
                       struct scope *scope, struct call *call) {
    struct fields_walk formals = message_walk(&function->parts, FUNCTION_INPUT);
    struct fields_walk actuals = message_walk(&node->parts, NODE_INPUT);
    size_t n = formals.left.n;
    uint32_t *inputs = arena_array(importer->arena, n, sizeof(*inputs));
    struct span formal;
    struct span actual;
    if (!inputs) return diag_no_memory(importer->diag);
    if (actuals.left.n > n)
        return diag_error(importer->diag, DIAG_ARITY,
                          "function '%s' takes at most %zu inputs, got %zu", name_of(function),
                          n, actuals.left.n);
    for (size_t i = 0; fields_next(&formals, &formal); i++) {
        const bool is_given = fields_next(&actuals, &actual) && actual.at < actual.end;
        const uint32_t id = is_given ? scope_find(outer, actual) : ID_OMITTED;
        if (id == ID_NONE) return import_undefined(importer, "input", actual);
        inputs[i] = id == ID_OMITTED ? ID_NONE : id;
        int status = scope_define(importer, scope, formal, id);
        if (status < 0) return status;
    }
    call->inputs = inputs;
    call->n_inputs = n;
    return CM_OK;
}

/* Defines the outputs of the call: the body's values under the caller's names. A value that a
 * node of the body (id >= `first`) computes takes the caller's name; an input that the body
 * passes through keeps its name. */
static int return_outputs(struct importer *importer, const struct file_node *node,
                          const struct function *function, struct scope *outer,
                          const struct scope *scope, uint32_t call_id, uint32_t first) {
    struct fields_walk formals = message_walk(&function->parts, FUNCTION_OUTPUT);
    struct fields_walk actuals = message_walk(&node->parts, NODE_OUTPUT);
    size_t n = actuals.left.n;
    uint32_t *outputs = arena_array(importer->arena, n, sizeof(*outputs));
    struct span formal;
    struct span actual;
    if (!outputs) return diag_no_memory(importer->diag);
    if (n > formals.left.n)
        return diag_error(importer->diag, DIAG_ARITY, "function '%s' has %zu outputs, got %zu",
                          name_of(function), formals.left.n, n);
    for (size_t i = 0; fields_next(&actuals, &actual) && fields_next(&formals, &formal); i++) {
        outputs[i] = ID_NONE;
        if (actual.at == actual.end) continue;
        const uint32_t id = scope_get(scope, formal);
        if (id == MAP_NONE)
            return diag_error(
                importer->diag, DIAG_GRAPH, "output '%.*s' of function '%s' is not defined",
                (int)span_size(formal), (const char *)formal.at, name_of(function));
        int status = scope_define(importer, outer, actual, id);
        if (status < 0) return status;
        if (id == ID_OMITTED) continue;
        outputs[i] = id;
        const struct value *value = graph_value_at(importer->builder, id);
        if (value->origin != VALUE_OUTPUT || value->node < first) continue;
        const char *full = scope_full_name(importer, outer, actual);
        if (!full) return diag_no_memory(importer->diag);
        graph_value_at(importer->builder, id)->name = full;
    }
    graph_call_at(importer->builder, call_id)->outputs = outputs;
    graph_call_at(importer->builder, call_id)->n_outputs = n;
    return CM_OK;
}

int import_check_inlined_size(struct importer *importer) {
    size_t used = arena_used(importer->arena) + arena_used(importer->scratch) +
                  arena_used(importer->scopes);
    if (used <= importer->byte_limit) return CM_OK;
    return diag_error(importer->diag, DIAG_LIMIT, "inlined functions take more than %zu MiB",
                      importer->byte_limit >> 20);
}

/* Adds the nodes of the body to the graph and defines the outputs of the call in `outer`. The
 * caller frees the allocations in importer->scopes. */
static int inline_body(struct importer *importer, const struct file_node *node,
                       const struct function *function, struct scope *outer) {
    struct call call = {.outer = outer->call, .ordinal = node->ordinal};
    struct scope scope = {.graph = outer->graph, .depth = outer->depth};
    struct node recorded = {0};
    struct frame frame = {.outer = outer->function, .function = function};
    uint32_t call_id = ID_NONE;
    uint32_t first = graph_n_nodes(importer->builder);
    map_init(&scope.names, importer->scopes);
    int status = pass_inputs(importer, node, function, outer, &scope, &call);
    if (status == CM_OK)
        status = import_attributes(importer, node, outer, ID_NONE, &call.attrs, &call.n_attrs);
    if (status == CM_OK) status = import_metadata(importer, node, &recorded);
    if (status < 0) return status;
    call.module_stack = recorded.module_stack ? recorded.module_stack : outer->module_stack;
    call.name = node->name;
    call.domain = import_text(importer, function->proto->domain);
    call.function = import_text(importer, function->proto->name);
    if (!call.domain || !call.function ||
        graph_add_call(importer->builder, &call, &call_id) < 0)
        return diag_no_memory(importer->diag);
    scope.module_stack = call.module_stack;
    frame.attrs = call.attrs;
    frame.n_attrs = call.n_attrs;
    scope.call = call_id;
    scope.function = &frame;
    /* Names in the body begin with "CALL/", or with "TYPE#ID/" if the call has no name. */
    scope.prefix = node->name[0] ? arena_printf(importer->arena, "%s/", node->full_name)
                                 : arena_printf(importer->arena, "%s%s#%u/", outer->prefix,
                                                node->type, call_id);
    if (!scope.prefix) return diag_no_memory(importer->diag);
    struct diag_frame place = {.label = "in function", .what = name_of(function)};
    diag_push(importer->diag, &place);
    status = import_nodes(importer, nodes_of(&function->parts, FUNCTION_NODE), &scope);
    diag_pop(importer->diag, &place);
    if (status < 0) return status;
    return return_outputs(importer, node, function, outer, &scope, call_id, first);
}

int import_inline_call(struct importer *importer, const struct file_node *node,
                       const struct function *function, struct scope *outer) {
    int status = check_cycle(importer, outer->function, function);
    if (status < 0) return status;
    importer->n_bytes_read += function->parts.whole.size; /* the body is read at each call */
    if (importer->n_bytes_read > importer->byte_limit)
        return diag_error(importer->diag, DIAG_LIMIT,
                          "function calls read more than %zu MiB of function bodies",
                          importer->byte_limit >> 20);
    status = import_check_inlined_size(importer);
    if (status < 0) return status;
    /* Reserve space for the names of the outputs, which outlive the names of the body. */
    if (map_reserve(&outer->names, outer->names.n_entries + node->parts.of[NODE_OUTPUT].n) < 0)
        return diag_no_memory(importer->diag);
    struct arena_mark mark = arena_save(importer->scopes);
    status = inline_body(importer, node, function, outer);
    arena_restore(importer->scopes, mark);
    return status;
}
