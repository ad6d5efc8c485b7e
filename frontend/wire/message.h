/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A message read where it lies: an index says where the fields of each number begin and how
 * many there are, and a walk gives their bytes. GraphProto, NodeProto and the nodes of
 * FunctionProto are read so: nothing of a graph is ever decoded but what is looked at just now
 * (docs/decisions/nodes-in-place.md).
 */
#ifndef FRONTEND_WIRE_MESSAGE_H
#define FRONTEND_WIRE_MESSAGE_H

#include "frontend/wire/wire.h"

/* Whole fields of one message, one after another as they stand on the wire. */
struct fields {
    const uint8_t *data;
    size_t size;
    const struct fields *next; /* more of the same message, or NULL */
};

/* Those of one number: where the first begins, and how many there are. */
struct fields_of {
    const struct fields *piece;
    const uint8_t *at;
    size_t n;
};

/* Numbers of the fields that an index knows are below it. */
#define MESSAGE_FIELDS 16

/* Ours, see onnx.proto; no field of the standard has the number. */
#define FIELD_ORDINAL 60004

struct message {
    struct fields whole;                 /* of a message in one piece */
    struct fields_of of[MESSAGE_FIELDS]; /* texts and messages, by number */
    uint32_t ordinal;                    /* what FIELD_ORDINAL says, 0 where it is missing */
};

/* Those that we read, of GraphProto, */
enum {
    GRAPH_NODE = 1,
    GRAPH_NAME = 2,
    GRAPH_INITIALIZER = 5,
    GRAPH_INPUT = 11,
    GRAPH_OUTPUT = 12,
    GRAPH_VALUE_INFO = 13,
    GRAPH_SPARSE_INITIALIZER = 15,
};

/* of NodeProto, */
enum {
    NODE_INPUT = 1,
    NODE_OUTPUT = 2,
    NODE_NAME = 3,
    NODE_OP_TYPE = 4,
    NODE_ATTRIBUTE = 5,
    NODE_DOMAIN = 7,
    NODE_OVERLOAD = 8,
    NODE_METADATA_PROPS = 9,
};

/* of FunctionProto, */
enum {
    FUNCTION_NAME = 1,
    FUNCTION_INPUT = 4,
    FUNCTION_OUTPUT = 5,
    FUNCTION_NODE = 7,
    FUNCTION_DOMAIN = 10,
    FUNCTION_OVERLOAD = 13,
};

/* and of others, what is looked for without decoding them. */
enum {
    VALUE_INFO_NAME = 1,
    SPARSE_TENSOR_VALUES = 1,
    TENSOR_NAME = 8,
    ATTRIBUTE_GRAPH = 6,
    ATTRIBUTE_GRAPHS = 11,
    ENTRY_KEY = 1,
    ENTRY_VALUE = 2,
};

/* Of bytes that skim has looked through. What they lie in, and *ret itself, stay where they
 * are as long as it is used. */
void message_index(struct span bytes, struct message *ret);

/* The text of that number, the last where there are several; empty where there is none. */
struct span message_text(const struct message *message, uint32_t number);

/* Of StringStringEntryProto; false: it lacks the one or the other. */
struct entry {
    struct span key;
    struct span value;
};

bool message_entry(struct span bytes, struct entry *ret);

/* The fields of one number of a message, in order. */
struct fields_walk {
    struct fields_of left;
    uint32_t number;
};

struct fields_walk message_walk(const struct message *message, uint32_t number);
/* The bytes of the next one, borrowed; false: there is none. */
static inline bool fields_next(struct fields_walk *walk, struct span *ret);
/* The same where it may stand behind others, or in another piece. */
bool fields_search(struct fields_walk *walk, struct span *ret);

/* Mostly the next one stands right behind the last. */
static inline bool fields_next(struct fields_walk *walk, struct span *ret) {
    struct fields_of *left = &walk->left;
    struct wire_field field;
    if (left->n == 0) return false;
    struct span span = {left->at, left->piece->data + left->piece->size};
    if (!wire_next(&span, &field) || field.number != walk->number || field.wire != WIRE_BYTES)
        return fields_search(walk, ret);
    left->at = span.at;
    left->n--;
    *ret = field.bytes;
    return true;
}

#endif
