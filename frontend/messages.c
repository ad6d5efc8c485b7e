/* SPDX-License-Identifier: Apache-2.0 */
/* Messages, decoded or to be decoded: see messages.h. */
#include "frontend/messages.h"

#include <string.h>

#include "frontend/importer.h"
#include "support/arena.h"

#include "support/banned.h"

/* Of GraphProto. */
enum {
    FIELD_NODE = 1,
    FIELD_NAME = 2,
    FIELD_INITIALIZER = 5,
    FIELD_INPUT = 11,
    FIELD_OUTPUT = 12,
    FIELD_VALUE_INFO = 13,
    FIELD_SPARSE = 15,
};

struct messages messages_decoded(const void *list, size_t n) {
    return (struct messages){.list = list, .n = n};
}

static struct messages encoded(const struct importer *importer, uint32_t number,
                               const ProtobufCMessageDescriptor *type) {
    const struct fields_walk walk = {importer->bytes.graph[number], number};
    return (struct messages){.type = type, .walk = walk, .n = walk.left.n};
}

struct graph_parts parts_of_body(const Onnx__GraphProto *proto) {
    return (struct graph_parts){
        .name = proto->name,
        .inputs = messages_decoded(proto->input, proto->n_input),
        .initializers = messages_decoded(proto->initializer, proto->n_initializer),
        .sparse_initializers =
            messages_decoded(proto->sparse_initializer, proto->n_sparse_initializer),
        .nodes = messages_decoded(proto->node, proto->n_node),
        .outputs = messages_decoded(proto->output, proto->n_output),
        .value_infos = messages_decoded(proto->value_info, proto->n_value_info),
    };
}

int parts_of_main(struct importer *importer, struct graph_parts *ret) {
    struct fields_walk names = {importer->bytes.graph[FIELD_NAME], FIELD_NAME};
    struct fields name = {0};
    while (fields_next(&names, &name)) continue; /* the last one counts */
    const ProtobufCMessageDescriptor *value_info = &onnx__value_info_proto__descriptor;
    *ret = (struct graph_parts){
        .name = arena_strndup(importer->scratch, (const char *)name.data, name.size),
        .inputs = encoded(importer, FIELD_INPUT, value_info),
        .initializers = encoded(importer, FIELD_INITIALIZER, &onnx__tensor_proto__descriptor),
        .sparse_initializers =
            encoded(importer, FIELD_SPARSE, &onnx__sparse_tensor_proto__descriptor),
        .nodes = encoded(importer, FIELD_NODE, &onnx__node_proto__descriptor),
        .outputs = encoded(importer, FIELD_OUTPUT, value_info),
        .value_infos = encoded(importer, FIELD_VALUE_INFO, value_info),
    };
    return ret->name ? CM_OK : diag_no_memory(importer->diag);
}

int messages_next(struct importer *importer, struct messages *messages, void *ret) {
    const void *none = NULL;
    struct fields one;
    if (messages->type && fields_next(&messages->walk, &one)) {
        arena_restore(importer->decoding, importer->nothing_decoded);
        return decode(messages->type, &one, importer->decoding, importer->diag, ret);
    }
    bool more = !messages->type && messages->n > 0;
    memcpy(ret, more ? messages->list : &none, sizeof(none));
    if (!more) return CM_OK;
    messages->list = (const char *)messages->list + sizeof(none);
    messages->n--;
    return CM_OK;
}

int messages_decode(struct importer *importer, struct messages *messages) {
    void **list = arena_array(importer->scratch, messages->n, sizeof(*list));
    struct fields one;
    int status = list ? CM_OK : diag_no_memory(importer->diag);
    if (!messages->type) return CM_OK;
    for (size_t i = 0; status == CM_OK && fields_next(&messages->walk, &one); i++)
        status = decode(messages->type, &one, importer->scratch, importer->diag, &list[i]);
    if (status == CM_OK) *messages = messages_decoded(list, messages->n);
    return status;
}
