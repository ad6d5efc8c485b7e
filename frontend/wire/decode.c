/* SPDX-License-Identifier: Apache-2.0 */
/* See decode.h. Each message is walked once. At the first element of a repeated field, its
 * elements are counted, so that the list is allocated once. Skim has checked every length
 * already; this file checks again only what would make it read or write out of bounds. */
#include "frontend/wire/decode.h"

#include <string.h>

#include "support/diag.h"

#define MAX_DEPTH 128 /* as in skim.c */

/* The types that onnx.proto uses: the wire type of an element, and its size in memory. */
static const struct element {
    enum wire wire;
    size_t size;
} elements[] = {
    [PROTOBUF_C_TYPE_INT32] = {WIRE_VARINT, sizeof(int32_t)},
    [PROTOBUF_C_TYPE_UINT32] = {WIRE_VARINT, sizeof(uint32_t)},
    [PROTOBUF_C_TYPE_INT64] = {WIRE_VARINT, sizeof(int64_t)},
    [PROTOBUF_C_TYPE_UINT64] = {WIRE_VARINT, sizeof(uint64_t)},
    [PROTOBUF_C_TYPE_FLOAT] = {WIRE_FIXED32, sizeof(float)},
    [PROTOBUF_C_TYPE_DOUBLE] = {WIRE_FIXED64, sizeof(double)},
    [PROTOBUF_C_TYPE_STRING] = {WIRE_BYTES, sizeof(char *)},
    [PROTOBUF_C_TYPE_BYTES] = {WIRE_BYTES, sizeof(ProtobufCBinaryData)},
    [PROTOBUF_C_TYPE_MESSAGE] = {WIRE_BYTES, sizeof(ProtobufCMessage *)},
};

/* ProtobufCBinaryData, read-only. */
struct borrowed {
    size_t len;
    const uint8_t *data;
};
_Static_assert(sizeof(struct borrowed) == sizeof(ProtobufCBinaryData), "same layout");

/* Returns the descriptor of field `number`; NULL if onnx.proto has none. Each range of the type
 * is a run of consecutive numbers; a sentinel range ends them. */
static const ProtobufCFieldDescriptor *find_field(const ProtobufCMessageDescriptor *type,
                                                  uint32_t number) {
    const ProtobufCIntRange *range = type->field_ranges;
    const ProtobufCIntRange *end = range + type->n_field_ranges;
    for (; range < end && number >= (uint32_t)range->start_value; range++) {
        uint32_t place = range->orig_index + number - (uint32_t)range->start_value;
        if (place < range[1].orig_index) return &type->fields[place];
    }
    return NULL;
}

static bool is_packed(const ProtobufCFieldDescriptor *field, enum wire wire) {
    return field->label == PROTOBUF_C_LABEL_REPEATED && wire == WIRE_BYTES &&
           elements[field->type].wire != WIRE_BYTES;
}

/* Returns how many elements of `field` the encoded field `from` holds; 0 if it is another. */
static size_t n_elements(const ProtobufCFieldDescriptor *field, const struct wire_field *from) {
    if (from->number != field->id) return 0;
    if (!is_packed(field, from->wire)) return 1;
    if (elements[field->type].wire != WIRE_VARINT)
        return span_size(from->bytes) / elements[field->type].size;
    size_t n = 0;
    for (const uint8_t *at = from->bytes.at; at < from->bytes.end; at++) n += *at < 128;
    return n;
}

static void *member(ProtobufCMessage *message, unsigned offset) {
    return (char *)message + offset;
}

/* Allocates the list of a repeated field at its `first` element; `rest` follows it. */
static bool begin_list(struct arena *arena, const ProtobufCFieldDescriptor *field,
                       ProtobufCMessage *message, const struct wire_field *first,
                       struct fields rest) {
    void *list = NULL;
    if (field->label != PROTOBUF_C_LABEL_REPEATED) return true;
    memcpy(&list, member(message, field->offset), sizeof(list));
    if (list) return true;
    size_t n = n_elements(field, first);
    for (const struct fields *piece = &rest; piece; piece = piece->next) {
        struct span span = {piece->data, piece->data + piece->size};
        for (struct wire_field next; wire_next(&span, &next);) n += n_elements(field, &next);
    }
    list = arena_array(arena, n, elements[field->type].size);
    memcpy(member(message, field->offset), &list, sizeof(list));
    return list != NULL;
}

/* Returns where the next element is stored, and counts it or marks the field as present. */
static void *next_place(const ProtobufCFieldDescriptor *field, ProtobufCMessage *message) {
    const protobuf_c_boolean yes = 1;
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        size_t *n = member(message, field->quantifier_offset);
        char **list = member(message, field->offset);
        return *list + (*n)++ * elements[field->type].size;
    }
    if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) /* the last one counts */
        memcpy(member(message, field->quantifier_offset), &field->id, sizeof(field->id));
    else if (field->quantifier_offset)
        memcpy(member(message, field->quantifier_offset), &yes, sizeof(yes));
    return member(message, field->offset);
}

static void store_number(const ProtobufCFieldDescriptor *field, ProtobufCMessage *message,
                         uint64_t number) {
    const uint32_t low = (uint32_t)number;
    void *place = next_place(field, message);
    if (elements[field->type].size == sizeof(low))
        memcpy(place, &low, sizeof(low));
    else
        memcpy(place, &number, sizeof(number));
}

static ProtobufCMessage *decode_message(struct arena *arena,
                                        const ProtobufCMessageDescriptor *type,
                                        const struct fields *pieces, int depth);

static bool store_bytes(struct arena *arena, const ProtobufCFieldDescriptor *field,
                        ProtobufCMessage *message, struct span bytes, int depth) {
    const struct borrowed borrowed = {span_size(bytes), bytes.at};
    const struct fields whole = {bytes.at, borrowed.len, NULL};
    const void *pointer = NULL;
    if (field->type == PROTOBUF_C_TYPE_BYTES) {
        memcpy(next_place(field, message), &borrowed, sizeof(borrowed));
        return true;
    }
    if (field->type == PROTOBUF_C_TYPE_MESSAGE)
        pointer = decode_message(arena, field->descriptor, &whole, depth + 1);
    else
        pointer = arena_strndup(arena, (const char *)bytes.at, borrowed.len);
    if (!pointer) return false;
    memcpy(next_place(field, message), &pointer, sizeof(pointer));
    return true;
}

static bool store(struct arena *arena, const ProtobufCFieldDescriptor *field,
                  ProtobufCMessage *message, const struct wire_field *from, int depth) {
    enum wire wire = elements[field->type].wire;
    if (from->wire == wire && wire == WIRE_BYTES)
        return store_bytes(arena, field, message, from->bytes, depth);
    if (from->wire == wire) {
        store_number(field, message, from->value);
        return true;
    }
    if (!is_packed(field, from->wire)) return false;
    for (struct span bytes = from->bytes; bytes.at < bytes.end;) {
        uint64_t number = 0;
        if (!wire_number(&bytes, wire, &number)) return false;
        store_number(field, message, number);
    }
    return true;
}

/* Returns NULL if the bytes are invalid or memory ran out. */
static ProtobufCMessage *decode_message(struct arena *arena,
                                        const ProtobufCMessageDescriptor *type,
                                        const struct fields *pieces, int depth) {
    struct wire_field from = {0};
    if (depth > MAX_DEPTH) return NULL;
    ProtobufCMessage *message = arena_alloc(arena, type->sizeof_message);
    if (!message) return NULL;
    message->descriptor = type; /* no field of onnx.proto has a default: the rest is zero */
    for (; pieces; pieces = pieces->next) {
        struct span span = {pieces->data, pieces->data + pieces->size};
        while (span.at < span.end) {
            if (!wire_next(&span, &from)) return NULL;
            const ProtobufCFieldDescriptor *field = find_field(type, from.number);
            struct fields rest = {span.at, span_size(span), pieces->next};
            if (field && !(begin_list(arena, field, message, &from, rest) &&
                           store(arena, field, message, &from, depth)))
                return NULL;
        }
    }
    return message;
}

int decode(const ProtobufCMessageDescriptor *type, const struct fields *fields,
           struct arena *arena, struct cm_diagnostics *diag, void *ret) {
    ProtobufCMessage *message = decode_message(arena, type, fields, 0);
    if (!message && arena_failed(arena)) return diag_no_memory(diag);
    if (!message) return diag_error(diag, DIAG_FORMAT, "not a valid ONNX model");
    memcpy(ret, &message, sizeof(message)); /* *ret is a pointer to the message's own type */
    return CM_OK;
}

struct decode_walk decode_each(const struct message *message, uint32_t number,
                               const ProtobufCMessageDescriptor *type, struct arena *arena,
                               struct cm_diagnostics *diag) {
    return (struct decode_walk){type, message_walk(message, number), arena, arena_save(arena),
                                diag};
}

int decode_next(struct decode_walk *walk, void *ret) {
    const void *none = NULL;
    struct span one;
    arena_restore(walk->arena, walk->mark);
    if (!fields_next(&walk->fields, &one)) {
        memcpy(ret, &none, sizeof(none));
        return CM_OK;
    }
    const struct fields whole = {one.at, span_size(one), NULL};
    return decode(walk->type, &whole, walk->arena, walk->diag, ret);
}
