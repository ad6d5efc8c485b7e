/* SPDX-License-Identifier: Apache-2.0 */
/* Imports AttributeProto as struct attr; resolves references to attributes of the caller. */

#include "frontend/importer.h"
#include "support/arena.h"

/* By AttributeProto.AttributeType. */
static const enum attr_kind kinds[] = {
    [1] = ATTR_FLOAT,   [2] = ATTR_INT,     [3] = ATTR_STRING, [4] = ATTR_TENSOR,
    [5] = ATTR_GRAPH,   [6] = ATTR_FLOATS,  [7] = ATTR_INTS,   [8] = ATTR_STRINGS,
    [9] = ATTR_TENSORS, [10] = ATTR_GRAPHS, [11] = ATTR_OTHER, [12] = ATTR_OTHER,
    [13] = ATTR_OTHER,  [14] = ATTR_OTHER,
};

/* Returns the kind that the attribute declares, ATTR_NONE if it declares none. */
static enum attr_kind declared_kind(const Onnx__AttributeProto *proto) {
    size_t n_kinds = sizeof(kinds) / sizeof(*kinds);
    return proto->type > 0 && (size_t)proto->type < n_kinds ? kinds[proto->type] : ATTR_NONE;
}

/* Sets *ret to the declared kind; in old files, which declare none, to that of the first
 * present field. A scalar zero or an empty list may have no field. */
static int kind_of(struct importer *importer, const Onnx__AttributeProto *proto,
                   enum attr_kind *ret) {
    enum attr_kind declared = declared_kind(proto);
    enum attr_kind held = ATTR_NONE;
    const bool is_present[] = {
        [ATTR_NONE] = false,
        [ATTR_FLOAT] = proto->has_f,
        [ATTR_INT] = proto->has_i,
        [ATTR_STRING] = proto->has_s,
        [ATTR_TENSOR] = proto->t,
        [ATTR_GRAPH] = proto->has_g,
        [ATTR_FLOATS] = proto->n_floats,
        [ATTR_INTS] = proto->n_ints,
        [ATTR_STRINGS] = proto->n_strings,
        [ATTR_TENSORS] = proto->n_tensors,
        [ATTR_GRAPHS] = proto->n_graphs,
        [ATTR_OTHER] = proto->tp || proto->n_type_protos || proto->sparse_tensor ||
                       proto->n_sparse_tensors,
    };
    if (declared != ATTR_OTHER && is_present[declared]) held = declared;
    for (size_t i = 1; held == ATTR_NONE && i < sizeof(kinds) / sizeof(*kinds); i++)
        if (is_present[kinds[i]]) held = kinds[i];
    *ret = declared != ATTR_NONE ? declared : held;
    bool agrees = held == declared || declared == ATTR_NONE || declared == ATTR_OTHER;
    bool empty = held == ATTR_NONE && declared != ATTR_TENSOR && declared != ATTR_GRAPH;
    if (*ret != ATTR_NONE && (agrees || empty)) return CM_OK;
    return diag_error(importer->diag, DIAG_ATTRIBUTE,
                      "attribute '%.*s' must hold %s as declared, got %s", (int)proto->name.len,
                      (const char *)proto->name.data, attr_kind_name(declared),
                      attr_kind_name(held));
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
        message_index(import_span_of_bytes(&bodies[i]), &body);
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
        ret->n = proto->n_ints;
        ret->ints =
            arena_copy(importer->arena, proto->ints, proto->n_ints * sizeof(*proto->ints));
        return ret->ints ? CM_OK : diag_no_memory(importer->diag);
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
    case ATTR_OTHER: { /* its contents are not kept */
        const struct constant *sparse = NULL;
        return proto->sparse_tensor ? import_sparse(importer, proto->sparse_tensor, &sparse)
                                    : CM_OK;
    }
    default:
        return CM_OK;
    }
}

/* Checks that the caller's attribute is of the kind that the body declares. A graph cannot be
 * passed: it would belong to two nodes. */
static int check_reference(struct importer *importer, const Onnx__AttributeProto *proto,
                           const struct attr *attr) {
    enum attr_kind declared = declared_kind(proto);
    if (declared == ATTR_GRAPH || declared == ATTR_GRAPHS)
        return diag_error(importer->diag, DIAG_ATTRIBUTE,
                          "attribute '%s' of a function must not be a graph",
                          proto->ref_attr_name);
    if (declared == ATTR_NONE || declared == attr->kind) return CM_OK;
    return diag_error(
        importer->diag, DIAG_ATTRIBUTE, "attribute '%s' of the call must be of kind %s, got %s",
        proto->ref_attr_name, attr_kind_name(declared), attr_kind_name(attr->kind));
}

/* Imports an attribute of a node. If it refers to an attribute of the function, takes the
 * caller's value, else the default; *ret_found is false if there is neither. */
static int one_attribute(struct importer *importer, const Onnx__AttributeProto *proto,
                         const struct scope *scope, uint32_t node_id, struct attr *ret,
                         bool *ret_found) {
    const char *refers_to =
        proto->ref_attr_name && proto->ref_attr_name[0] ? proto->ref_attr_name : NULL;
    const struct frame *frame = refers_to ? scope->function : NULL;
    const Onnx__AttributeProto *from = refers_to ? NULL : proto;
    *ret_found = true;
    *ret = (struct attr){.n = 1,
                         .name = import_shared(importer, import_span_of_bytes(&proto->name))};
    if (!ret->name) return diag_no_memory(importer->diag);
    /* The caller's value. */
    for (size_t i = 0; frame && i < frame->n_attrs; i++) {
        const char *name = ret->name;
        if (!text_equal(frame->attrs[i].name, refers_to)) continue;
        *ret = frame->attrs[i];
        ret->name = name;
        return check_reference(importer, proto, &frame->attrs[i]);
    }
    /* The default of the function. */
    const Onnx__FunctionProto *function = frame ? frame->function->proto : NULL;
    for (size_t i = 0; function && i < function->n_attribute_proto && !from; i++)
        if (span_equal(import_span_of_bytes(&function->attribute_proto[i]->name), refers_to))
            from = function->attribute_proto[i];
    *ret_found = from != NULL;
    if (!from) return CM_OK;
    int status = kind_of(importer, from, &ret->kind);
    /* A call has no node that could own a body: only the name of the attribute is kept. */
    if (node_id == ID_NONE && (ret->kind == ATTR_GRAPH || ret->kind == ATTR_GRAPHS))
        ret->kind = ATTR_OTHER;
    return status < 0 ? status : value_of(importer, from, scope, node_id, ret);
}

int import_attributes(struct importer *importer, const struct file_node *node,
                      const struct scope *scope, uint32_t node_id, const struct attr **ret,
                      size_t *ret_n) {
    size_t n = node->parts.of[NODE_ATTRIBUTE].n;
    if (n == 0) return CM_OK;
    if (n > MAX_ATTRIBUTES)
        return diag_error(importer->diag, DIAG_LIMIT,
                          "a node must have at most %d attributes, got %zu", MAX_ATTRIBUTES, n);
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
