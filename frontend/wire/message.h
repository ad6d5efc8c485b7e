/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a message in place. An index holds, by field number, the position of the first field
 * and the number of fields; a walk returns the bytes of each. GraphProto, NodeProto and the
 * nodes of FunctionProto are read this way, so that no graph is ever decoded as a whole
 * (docs/decisions/nodes-in-place.md). */
#pragma once

#include "frontend/wire/wire.h"

/* A run of whole fields of one message, in wire format. */
struct fields {
    const uint8_t *data;
    size_t size;
    const struct fields *next; /* more fields of the same message, or NULL */
};

/* The fields of one number. */
struct fields_of {
    const struct fields *piece; /* with the first field */
    const uint8_t *at;          /* start of the first field */
    size_t n;                   /* number of fields */
};

/* Limit of indexed field numbers: fields with smaller numbers are indexed. */
#define MESSAGE_FIELDS 17

/* A private field, see onnx.proto; the standard does not use the number. */
#define FIELD_ORDINAL 60004

struct message {
    struct fields whole;                 /* if the message is in one piece */
    struct fields_of of[MESSAGE_FIELDS]; /* strings and messages, by number */
    uint32_t ordinal;                    /* value of FIELD_ORDINAL, 0 if missing */
};

/* Field numbers that are read in place. */
enum {
    GRAPH_NODE = 1,
    GRAPH_NAME = 2,
    GRAPH_INITIALIZER = 5,
    GRAPH_INPUT = 11,
    GRAPH_OUTPUT = 12,
    GRAPH_VALUE_INFO = 13,
    GRAPH_SPARSE_INITIALIZER = 15,
    GRAPH_METADATA_PROPS = 16,

    NODE_INPUT = 1,
    NODE_OUTPUT = 2,
    NODE_NAME = 3,
    NODE_OP_TYPE = 4,
    NODE_ATTRIBUTE = 5,
    NODE_DOMAIN = 7,
    NODE_OVERLOAD = 8,
    NODE_METADATA_PROPS = 9,

    FUNCTION_NAME = 1,
    FUNCTION_INPUT = 4,
    FUNCTION_OUTPUT = 5,
    FUNCTION_NODE = 7,
    FUNCTION_DOMAIN = 10,
    FUNCTION_OVERLOAD = 13,

    VALUE_INFO_NAME = 1,
    SPARSE_TENSOR_VALUES = 1,
    TENSOR_NAME = 8,
    ATTRIBUTE_GRAPH = 6,
    ATTRIBUTE_GRAPHS = 11,
    ENTRY_KEY = 1,
    ENTRY_VALUE = 2,
};

/* Indexes bytes that skim has checked; they and *ret must not move while it is used. */
void message_index(struct span bytes, struct message *ret);

/* Returns the last string field of that number; empty if there is none. */
struct span message_text(const struct message *message, uint32_t number);

/* A StringStringEntryProto. */
struct entry {
    struct span key;
    struct span value;
};

/* Sets *ret to the entry in `bytes`. Returns false if the key or the value is missing. */
bool message_entry(struct span bytes, struct entry *ret);

/* The fields of one number of a message, in order. */
struct fields_walk {
    struct fields_of left;
    uint32_t number;
};

/* Returns a walk over the fields of one number. */
struct fields_walk message_walk(const struct message *message, uint32_t number);
/* Returns the bytes of the next field, borrowed; false at the end. */
static inline bool fields_next(struct fields_walk *walk, struct span *ret);
/* Like fields_next, but also finds a field after other fields or in another piece. */
bool fields_search(struct fields_walk *walk, struct span *ret);

/* Usually the next field of a number directly follows the previous one. */
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
