/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages that a graph is made of, one after the other: those of a body, which were
 * decoded with the node that owns it, and those of the main graph, of which only one is decoded
 * at a time, so that no more than its bytes is ever in memory of the rest.
 */
#ifndef FRONTEND_MESSAGES_H
#define FRONTEND_MESSAGES_H

#include "frontend/decode.h"

struct importer;

struct messages {
    const ProtobufCMessageDescriptor *type; /* NULL: they are decoded */
    struct fields_walk walk;                /* what is left of the bytes */
    const void *list;                       /* what is left of pointers to decoded ones */
    size_t n;                               /* of these; of bytes: of all of them */
};

/* What a GraphProto holds. */
struct graph_parts {
    const char *name;
    struct messages inputs;
    struct messages initializers;
    struct messages sparse_initializers;
    struct messages nodes;
    struct messages outputs;
    struct messages value_infos;
};

struct messages messages_decoded(const void *list, size_t n);
struct graph_parts parts_of_body(const Onnx__GraphProto *proto);
/* The main graph's name lives in the importer's scratch. */
int parts_of_main(struct importer *importer, struct graph_parts *ret)
    __attribute__((warn_unused_result));

/* *ret: the next one, or NULL. One of the main graph lives until the next is asked for. */
int messages_next(struct importer *importer, struct messages *messages, void *ret)
    __attribute__((warn_unused_result));
/* All of them at once, in the importer's scratch. */
int messages_decode(struct importer *importer, struct messages *messages)
    __attribute__((warn_unused_result));

#endif
