/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One walk over a message. Where the first element of a list comes, those that follow are
 * counted, so that the list is made at once. Skim has checked every length already; what is
 * checked here again is what this file would otherwise read or write past.
 */
#include "frontend/wire/decode.h"

#include <string.h>

#include "support/arena.h"
#include "support/diag.h"

#include "support/banned.h"

/* Skim lets none be nested deeper. */
#define MAX_DEPTH 128

struct decoder {
    struct arena *arena;
    bool no_memory;
};

/* How elements of a type come, and what one takes in memory. */
struct element {
    enum wire wire;
    size_t size;
};

/* Of the types that onnx.proto has. */
static const struct element elements[] = {
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

static enum wire wire_of(ProtobufCType type) {
    return elements[type].wire;
}

static size_t size_of(ProtobufCType type) {
    return elements[type].size;
}

/* NULL: not one of ours. A range is of numbers without a gap, and one more range ends them. */
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
           wire_of(field->type) != WIRE_BYTES;
}

static size_t count_packed(const ProtobufCFieldDescriptor *field, struct span bytes) {
    enum wire wire = wire_of(field->type);
    size_t n = 0;
    if (wire != WIRE_VARINT) return (size_t)(bytes.end - bytes.at) / size_of(field->type);
    for (; bytes.at < bytes.end; bytes.at++) n += *bytes.at < 128;
    return n;
}

static void *member(ProtobufCMessage *message, unsigned offset) {
    return (char *)message + offset;
}

static size_t n_elements(const ProtobufCFieldDescriptor *field, const struct wire_field *from) {
    if (from->number != field->id) return 0;
    return is_packed(field, from->wire) ? count_packed(field, from->bytes) : 1;
}

/* A list that has no place yet is given one, for its `first` element, which was read already,
 * and all in `rest`, which is left of its message. */
static bool begin_list(struct decoder *decoder, const ProtobufCFieldDescriptor *field,
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
    list = arena_array(decoder->arena, n, size_of(field->type));
    memcpy(member(message, field->offset), &list, sizeof(list));
    if (!list) decoder->no_memory = true;
    return list != NULL;
}

/* Where the next element goes. */
static void *next_place(const ProtobufCFieldDescriptor *field, ProtobufCMessage *message) {
    const protobuf_c_boolean yes = 1;
    if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) { /* the last of them counts */
        memcpy(member(message, field->quantifier_offset), &field->id, sizeof(field->id));
        return member(message, field->offset);
    }
    if (field->label != PROTOBUF_C_LABEL_REPEATED) {
        if (field->quantifier_offset)
            memcpy(member(message, field->quantifier_offset), &yes, sizeof(yes));
        return member(message, field->offset);
    }
    size_t *n = member(message, field->quantifier_offset);
    char **list = member(message, field->offset);
    return *list + (*n)++ * size_of(field->type);
}

static void store_number(const ProtobufCFieldDescriptor *field, ProtobufCMessage *message,
                         uint64_t number) {
    const uint32_t low = (uint32_t)number;
    void *place = next_place(field, message);
    if (size_of(field->type) == sizeof(low))
        memcpy(place, &low, sizeof(low));
    else
        memcpy(place, &number, sizeof(number));
}

static ProtobufCMessage *decode_message(struct decoder *decoder,
                                        const ProtobufCMessageDescriptor *type,
                                        const struct fields *pieces, int depth);

/* As protobuf-c has it, but that these are not to be written to. */
struct borrowed {
    size_t len;
    const uint8_t *data;
};
_Static_assert(sizeof(struct borrowed) == sizeof(ProtobufCBinaryData), "one takes the other");

static bool store_pointer(const ProtobufCFieldDescriptor *field, ProtobufCMessage *message,
                          const void *pointer) {
    if (!pointer) return false;
    memcpy(next_place(field, message), &pointer, sizeof(pointer));
    return true;
}

static bool store_bytes(struct decoder *decoder, const ProtobufCFieldDescriptor *field,
                        ProtobufCMessage *message, struct span bytes, int depth) {
    const struct borrowed borrowed = {span_size(bytes), bytes.at};
    const struct fields whole = {bytes.at, borrowed.len, NULL};
    if (field->type == PROTOBUF_C_TYPE_MESSAGE)
        return store_pointer(field, message,
                             decode_message(decoder, field->descriptor, &whole, depth + 1));
    if (field->type == PROTOBUF_C_TYPE_BYTES) {
        memcpy(next_place(field, message), &borrowed, sizeof(borrowed));
        return true;
    }
    const char *text = arena_strndup(decoder->arena, (const char *)bytes.at, borrowed.len);
    if (!text) decoder->no_memory = true;
    return store_pointer(field, message, text);
}

static bool store(struct decoder *decoder, const ProtobufCFieldDescriptor *field,
                  ProtobufCMessage *message, const struct wire_field *from, int depth) {
    enum wire wire = wire_of(field->type);
    struct span bytes = from->bytes;
    uint64_t number = 0;
    if (from->wire == wire && wire == WIRE_BYTES)
        return store_bytes(decoder, field, message, bytes, depth);
    if (from->wire == wire) {
        store_number(field, message, from->value);
        return true;
    }
    if (!is_packed(field, from->wire)) return false;
    while (bytes.at < bytes.end) {
        if (!wire_number(&bytes, wire, &number)) return false;
        store_number(field, message, number);
    }
    return true;
}

static bool store_all(struct decoder *decoder, const struct fields *pieces,
                      ProtobufCMessage *message, int depth) {
    struct wire_field field = {0};
    for (; pieces; pieces = pieces->next) {
        struct span span = {pieces->data, pieces->data + pieces->size};
        while (span.at < span.end) {
            if (!wire_next(&span, &field)) return false;
            const ProtobufCFieldDescriptor *found =
                find_field(message->descriptor, field.number);
            struct fields rest = {span.at, span_size(span), pieces->next};
            if (found && !(begin_list(decoder, found, message, &field, rest) &&
                           store(decoder, found, message, &field, depth)))
                return false;
        }
    }
    return true;
}

static ProtobufCMessage *decode_message(struct decoder *decoder,
                                        const ProtobufCMessageDescriptor *type,
                                        const struct fields *pieces, int depth) {
    if (depth > MAX_DEPTH) return NULL;
    ProtobufCMessage *message = arena_alloc(decoder->arena, type->sizeof_message);
    if (!message) decoder->no_memory = true;
    if (!message) return NULL;
    message->descriptor = type; /* no field of onnx.proto has a default: the rest is zero */
    return store_all(decoder, pieces, message, depth) ? message : NULL;
}

int decode(const ProtobufCMessageDescriptor *type, const struct fields *fields,
           struct arena *arena, struct cm_diagnostics *diag, void *ret) {
    struct decoder decoder = {.arena = arena};
    ProtobufCMessage *message = decode_message(&decoder, type, fields, 0);
    if (decoder.no_memory) return diag_no_memory(diag);
    if (!message) return diag_error(diag, DIAG_FORMAT, "the bytes are no ONNX model");
    memcpy(ret, &message, sizeof(message)); /* *ret is a pointer to whatever message it is */
    return CM_OK;
}
