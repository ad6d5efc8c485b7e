/* SPDX-License-Identifier: Apache-2.0 */
/* The messages and fields of onnx.proto as skim sees them: which to enter, keep, or step over.
 */
#ifndef FRONTEND_WIRE_SKIM_SCHEMA_H
#define FRONTEND_WIRE_SKIM_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum message_kind {
    MESSAGE_NONE,
    MESSAGE_MODEL,
    MESSAGE_GRAPH,
    MESSAGE_NODE,
    MESSAGE_ATTRIBUTE,
    MESSAGE_TENSOR,
    MESSAGE_SPARSE,
    MESSAGE_FUNCTION,
    MESSAGE_VALUE_INFO,
    MESSAGE_TYPE,
    MESSAGE_TENSOR_TYPE,
    MESSAGE_SEQUENCE_TYPE,
    MESSAGE_MAP_TYPE,
    MESSAGE_SHAPE,
    MESSAGE_DIMENSION,
    MESSAGE_ENTRY,
    MESSAGE_NOTE, /* an entry that is dropped again if its key is not one that is read */
    MESSAGE_OPSET,
    MESSAGE_N
};

enum field_kind {
    FIELD_NUMBER,  /* a varint, or packed varints */
    FIELD_FLOAT,   /* 4 bytes each, or packed */
    FIELD_TEXT,    /* bytes that are kept whole */
    FIELD_MESSAGE, /* entered */
    FIELD_PAYLOAD, /* contents of a tensor: kept when small, else noted and stepped over */
};

struct skim_field {
    const char *name; /* NULL: we do not read it */
    enum field_kind kind;
    enum message_kind child; /* of FIELD_MESSAGE */
    bool once;               /* of FIELD_MESSAGE: protobuf would merge a second */
    uint8_t element; /* wire type of one element of what may be packed; else WIRE_BYTES */
    uint8_t wires;   /* bit w: it may come with wire type w */
};

struct skim_message {
    const char *name;
    const struct skim_field *fields; /* by number */
    uint32_t n_fields;
    bool not_empty; /* an empty one means nothing, and costs a hundred times its bytes */
    uint32_t most_children; /* messages inside it; 0: no limit */
};

extern const struct skim_message skim_messages[MESSAGE_N];

/* NULL: not one that we read. */
static inline const struct skim_field *skim_find_field(const struct skim_message *message,
                                                       uint64_t number) {
    if (number >= message->n_fields || !message->fields[number].name) return NULL;
    return &message->fields[number];
}

#endif
