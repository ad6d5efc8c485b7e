/* SPDX-License-Identifier: Apache-2.0 */
/* The messages and fields of onnx.proto for skim: which to enter, keep or skip. */
#pragma once

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
    MESSAGE_METADATA, /* of a graph, node or value; kept only if is_metadata_read */
    MESSAGE_OPSET,
    MESSAGE_N
};

enum field_kind {
    FIELD_NUMBER,  /* a varint, or packed varints */
    FIELD_FLOAT,   /* 4 bytes each, or packed */
    FIELD_TEXT,    /* a string or bytes, kept */
    FIELD_MESSAGE, /* entered */
    FIELD_PAYLOAD, /* contents of a tensor: kept if small, else skipped */
};

#define SKIM_MAX_NAME ((uint32_t)64 << 10) /* bytes of a name, of a domain */
#define SKIM_MAX_FIELD                                                                         \
    ((uint32_t)256 << 20) /* bytes of the contents of an attribute, of metadata */

struct skim_field {
    const char *name; /* NULL if the field is not read */
    enum field_kind kind;
    enum message_kind child; /* if FIELD_MESSAGE */
    bool once;               /* may occur at most once, if FIELD_MESSAGE */
    uint8_t element;         /* wire type of an element that may be packed, else WIRE_BYTES */
    uint8_t wires;           /* bit w: wire type w is valid */
    uint32_t max_bytes;      /* a longer field is refused; for numbers, floats and texts */
};

struct skim_message {
    const char *name;
    const struct skim_field *fields; /* by number */
    uint32_t n_fields;
    bool not_empty; /* empty messages are refused: 2 bytes in the file take many decoded */
    uint32_t max_children; /* largest number of messages inside it; 0: no limit */
};

extern const struct skim_message skim_messages[MESSAGE_N];

/* Returns NULL if the field is not read. */
static inline const struct skim_field *skim_find_field(const struct skim_message *message,
                                                       uint64_t number) {
    if (number >= message->n_fields || !message->fields[number].name) return NULL;
    return &message->fields[number];
}
