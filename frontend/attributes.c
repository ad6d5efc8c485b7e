/* SPDX-License-Identifier: Apache-2.0 */
/* AttributeProto as an attr; what a function body takes from its caller is resolved here. */
#include <string.h>

#include "frontend/importer.h"
#include "support/arena.h"

#include "support/banned.h"

/* AttributeProto.AttributeType, in the standard's numbers. */
static const enum attr_kind kinds[] = {
    [1] = ATTR_FLOAT,   [2] = ATTR_INT,     [3] = ATTR_STRING, [4] = ATTR_TENSOR,
    [5] = ATTR_GRAPH,   [6] = ATTR_FLOATS,  [7] = ATTR_INTS,   [8] = ATTR_STRINGS,
    [9] = ATTR_TENSORS, [10] = ATTR_GRAPHS, [11] = ATTR_OTHER, [12] = ATTR_OTHER,
    [13] = ATTR_OTHER,  [14] = ATTR_OTHER,
};

/* What the attribute holds, whatever it says of itself; ATTR_NONE: nothing. */
static enum attr_kind kind_held(const Onnx__AttributeProto *proto) {
    if (proto->has_f) return ATTR_FLOAT;
    if (proto->has_i) return ATTR_INT;
    if (proto->has_s) return ATTR_STRING;
    if (proto->t) return ATTR_TENSOR;
    if (proto->has_g) return ATTR_GRAPH;
    if (proto->n_floats) return ATTR_FLOATS;
    if (proto->n_ints) return ATTR_INTS;
    if (proto->n_strings) return ATTR_STRINGS;
    if (proto->n_tensors) return ATTR_TENSORS;
    if (proto->n_graphs) return ATTR_GRAPHS;
    if (proto->tp || proto->n_type_protos || proto->sparse_tensor || proto->n_sparse_tensors)
        return ATTR_OTHER;
    return ATTR_NONE;
}

/* Whether what it says it is stands in it. Writers that set every field are believed. */
static bool holds(const Onnx__AttributeProto *proto, enum attr_kind kind) {
    return (kind == ATTR_FLOATS && proto->n_floats) || (kind == ATTR_INTS && proto->n_ints) ||
           (kind == ATTR_STRINGS && proto->n_strings) || (kind == ATTR_INT && proto->has_i) ||
           (kind == ATTR_FLOAT && proto->has_f) || (kind == ATTR_STRING && proto->has_s) ||
           (kind == ATTR_TENSOR && proto->t) || (kind == ATTR_GRAPH && proto->has_g) ||
           (kind == ATTR_TENSORS && proto->n_tensors) ||
           (kind == ATTR_GRAPHS && proto->n_graphs);
}

static bool is_list(enum attr_kind kind) {
    return kind == ATTR_FLOATS || kind == ATTR_INTS || kind == ATTR_STRINGS ||
           kind == ATTR_TENSORS || kind == ATTR_GRAPHS;
}

/* Old files do not say the type; a scalar zero and an empty list hold nothing. */
static int kind_of(struct importer *importer, const Onnx__AttributeProto *proto,
                   enum attr_kind *ret) {
    size_t n_kinds = sizeof(kinds) / sizeof(*kinds);
    enum attr_kind said =
        proto->type > 0 && (size_t)proto->type < n_kinds ? kinds[proto->type] : ATTR_NONE;
    enum attr_kind held = holds(proto, said) ? said : kind_held(proto);
    *ret = said != ATTR_NONE ? said : held;
    bool agrees = held == said || said == ATTR_NONE || said == ATTR_OTHER;
    bool empty = held == ATTR_NONE && (is_list(said) || said == ATTR_INT ||
                                       said == ATTR_FLOAT || said == ATTR_STRING);
    if (*ret != ATTR_NONE && (agrees || empty)) return CM_OK;
    return diag_error(importer->diag, DIAG_ATTRIBUTE,
                      "attribute '%.*s' says that it is of kind %s, and holds %s",
                      (int)proto->name.len, (const char *)proto->name.data,
                      attr_kind_name(said), attr_kind_name(held));
}

static int floats(struct importer *importer, const Onnx__AttributeProto *proto,
                  struct attr *ret) {
    double *list = arena_array(importer->arena, proto->n_floats, sizeof(*list));
    if (!list) return diag_no_memory(importer->diag);
    for (size_t i = 0; i < proto->n_floats; i++) list[i] = (double)proto->floats[i];
    ret->floats = list;
    ret->n = proto->n_floats;
    return CM_OK;
}

static int ints(struct importer *importer, const Onnx__AttributeProto *proto,
                struct attr *ret) {
    ret->n = proto->n_ints;
    ret->ints = arena_copy(importer->arena, proto->ints, proto->n_ints * sizeof(*proto->ints));
    return ret->ints ? CM_OK : diag_no_memory(importer->diag);
}

static int strings(struct importer *importer, const Onnx__AttributeProto *proto,
                   struct attr *ret) {
    const char **list = arena_array(importer->arena, proto->n_strings, sizeof(*list));
    if (!list) return diag_no_memory(importer->diag);
    for (size_t i = 0; i < proto->n_strings; i++) {
        list[i] = import_bytes(importer, &proto->strings[i]);
        if (!list[i]) return diag_no_memory(importer->diag);
    }
    ret->strings = list;
    ret->n = proto->n_strings;
    return CM_OK;
}

static int tensors(struct importer *importer, Onnx__TensorProto *const *protos, size_t n,
                   struct attr *ret) {
    const struct constant **list = arena_array(importer->arena, n, sizeof(*list));
    if (!list) return diag_no_memory(importer->diag);
    for (size_t i = 0; i < n; i++) {
        int status = import_tensor(importer, protos[i], &list[i]);
        if (status < 0) return status;
    }
    ret->tensors = list;
    ret->n = n;
    return CM_OK;
}

static int graphs(struct importer *importer, const ProtobufCBinaryData *bodies, size_t n,
                  const struct scope *scope, uint32_t node_id, struct attr *ret) {
    uint32_t *list = arena_array(importer->arena, n, sizeof(*list));
    if (!list) return diag_no_memory(importer->diag);
    for (size_t i = 0; i < n; i++) {
        struct message body;
        message_index(span_of_bytes(&bodies[i]), &body);
        int status = import_graph(importer, &body, scope, node_id, &list[i]);
        if (status < 0) return status;
    }
    ret->graphs = list;
    ret->n = n;
    return CM_OK;
}

static int value_of(struct importer *importer, const Onnx__AttributeProto *proto,
                    const struct scope *scope, uint32_t node_id, struct attr *ret) {
    switch (ret->kind) {
    case ATTR_INT:
        ret->i = proto->i;
        return CM_OK;
    case ATTR_FLOAT:
        ret->f = (double)proto->f;
        return CM_OK;
    case ATTR_STRING:
        ret->s = import_bytes(importer, &proto->s);
        return ret->s ? CM_OK : diag_no_memory(importer->diag);
    case ATTR_INTS:
        return ints(importer, proto, ret);
    case ATTR_FLOATS:
        return floats(importer, proto, ret);
    case ATTR_STRINGS:
        return strings(importer, proto, ret);
    case ATTR_TENSOR:
        return tensors(importer, &proto->t, 1, ret);
    case ATTR_TENSORS:
        return tensors(importer, proto->tensors, proto->n_tensors, ret);
    case ATTR_GRAPH:
        return graphs(importer, &proto->g, 1, scope, node_id, ret);
    case ATTR_GRAPHS:
        return graphs(importer, proto->graphs, proto->n_graphs, scope, node_id, ret);
    default:
        return CM_OK;
    }
}

int import_attribute(struct importer *importer, const Onnx__AttributeProto *proto,
                     const struct scope *scope, uint32_t node_id, struct attr *ret) {
    *ret = (struct attr){.n = 1};
    ret->name = import_shared(importer, span_of_bytes(&proto->name));
    if (!ret->name) return diag_no_memory(importer->diag);
    int status = kind_of(importer, proto, &ret->kind);
    /* A call has no node that could own a body: the attribute is kept by name only. */
    if (node_id == ID_NONE && (ret->kind == ATTR_GRAPH || ret->kind == ATTR_GRAPHS))
        ret->kind = ATTR_OTHER;
    return status < 0 ? status : value_of(importer, proto, scope, node_id, ret);
}

static const struct attr *given(const struct frame *frame, const char *name) {
    for (size_t i = 0; frame && i < frame->n_attrs; i++)
        if (text_equal(frame->attrs[i].name, name)) return &frame->attrs[i];
    return NULL;
}

static const Onnx__AttributeProto *preset(const struct frame *frame, const char *name) {
    const Onnx__FunctionProto *proto = frame ? frame->function->proto : NULL;
    for (size_t i = 0; proto && i < proto->n_attribute_proto; i++)
        if (span_equal(span_of_bytes(&proto->attribute_proto[i]->name), name))
            return proto->attribute_proto[i];
    return NULL;
}

/* The caller's attribute must be of the kind that the body declares. A graph cannot be handed
 * in: it would belong to two nodes. */
static int check_reference(struct importer *importer, const Onnx__AttributeProto *proto,
                           const struct attr *attr) {
    size_t n_kinds = sizeof(kinds) / sizeof(*kinds);
    enum attr_kind said =
        proto->type > 0 && (size_t)proto->type < n_kinds ? kinds[proto->type] : ATTR_NONE;
    if (said == ATTR_GRAPH || said == ATTR_GRAPHS)
        return diag_error(importer->diag, DIAG_ATTRIBUTE,
                          "attribute '%s' is a graph, which a function cannot be given",
                          proto->ref_attr_name);
    if (said == ATTR_NONE || said == attr->kind) return CM_OK;
    return diag_error(importer->diag, DIAG_ATTRIBUTE,
                      "the call gives attribute '%s' as %s, the function wants %s",
                      proto->ref_attr_name, attr_kind_name(attr->kind), attr_kind_name(said));
}

/* A reference: the caller's attribute under the body's name for it. *ret_found false: absent.
 */
static int referred(struct importer *importer, const Onnx__AttributeProto *proto,
                    const struct scope *scope, uint32_t node_id, struct attr *ret,
                    bool *ret_found) {
    const struct attr *attr = given(scope->function, proto->ref_attr_name);
    const Onnx__AttributeProto *fallback = preset(scope->function, proto->ref_attr_name);
    *ret_found = attr || fallback;
    if (!*ret_found) return CM_OK;
    int status = attr ? check_reference(importer, proto, attr) : CM_OK;
    if (status < 0) return status;
    if (attr) *ret = *attr;
    if (!attr) status = import_attribute(importer, fallback, scope, node_id, ret);
    if (status < 0) return status;
    ret->name = import_shared(importer, span_of_bytes(&proto->name));
    if (!ret->name) return diag_no_memory(importer->diag);
    return status;
}

/* *ret_found false: it refers to what the caller leaves out. */
static int one_attribute(struct importer *importer, const Onnx__AttributeProto *proto,
                         const struct scope *scope, uint32_t node_id, struct attr *ret,
                         bool *ret_found) {
    *ret_found = true;
    if (proto->ref_attr_name && proto->ref_attr_name[0])
        return referred(importer, proto, scope, node_id, ret, ret_found);
    return import_attribute(importer, proto, scope, node_id, ret);
}

int import_attributes(struct importer *importer, const struct file_node *node,
                      const struct scope *scope, uint32_t node_id, const struct attr **ret,
                      size_t *ret_n) {
    size_t n = node->parts.of[NODE_ATTRIBUTE].n;
    if (n == 0) return CM_OK;
    if (n > MAX_ATTRIBUTES)
        return diag_error(importer->diag, DIAG_LIMIT, "%zu attributes, at most %d wanted", n,
                          MAX_ATTRIBUTES);
    struct attr *attrs = arena_array(importer->arena, n, sizeof(*attrs));
    if (!attrs) return diag_no_memory(importer->diag);
    struct decode_walk protos =
        decode_each(&node->parts, NODE_ATTRIBUTE, &onnx__attribute_proto__descriptor,
                    importer->decoding, importer->diag);
    for (n = 0;;) {
        const Onnx__AttributeProto *proto = NULL;
        bool found = false;
        int status = decode_next(&protos, &proto);
        if (status == CM_OK && !proto) break;
        if (status == CM_OK)
            status = one_attribute(importer, proto, scope, node_id, &attrs[n], &found);
        if (status < 0) return status;
        n += found;
    }
    *ret = attrs;
    *ret_n = n;
    return CM_OK;
}
