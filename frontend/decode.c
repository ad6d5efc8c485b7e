/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two walks over a message: the first counts what is repeated, the second stores. Skim has
 * checked every length already; what is checked here again is what this file would otherwise
 * read or write past.
 */
#include "frontend/decode.h"

#include <string.h>

#include "support/arena.h"
#include "support/diag.h"

#include "support/banned.h"

/* Of the messages of onnx.proto none has more fields; skim lets none be nested deeper. */
#define MAX_FIELDS 32
#define MAX_DEPTH  128

#define VARINT_BITS 64

enum wire { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

struct cursor {
    const uint8_t *at;
    const uint8_t *end;
};

/* A field as it stands on the wire: `number` of one element, or the bytes of several. */
struct wire_field {
    uint32_t id;
    enum wire wire;
    uint64_t number;
    struct cursor bytes;
};

struct decoder {
    struct arena *arena;
    bool no_memory;
};

static bool take_varint(struct cursor *cursor, uint64_t *ret) {
    uint64_t value = 0;
    for (int shift = 0; shift < VARINT_BITS && cursor->at < cursor->end; shift += 7) {
        uint8_t byte = *cursor->at++;
        value |= (uint64_t)(byte & 127) << shift;
        if (byte > 127) continue;
        *ret = value;
        return true;
    }
    return false;
}

/* Little-endian, whatever this machine is. */
static bool take_fixed(struct cursor *cursor, size_t width, uint64_t *ret) {
    uint64_t value = 0;
    if ((size_t)(cursor->end - cursor->at) < width) return false;
    for (size_t i = 0; i < width; i++) value |= (uint64_t)cursor->at[i] << (8 * i);
    cursor->at += width;
    *ret = value;
    return true;
}

static bool take_number(struct cursor *cursor, enum wire wire, uint64_t *ret) {
    if (wire == WIRE_VARINT) return take_varint(cursor, ret);
    return take_fixed(cursor, wire == WIRE_FIXED64 ? 8 : 4, ret);
}

static bool take_field(struct cursor *cursor, struct wire_field *ret) {
    uint64_t key = 0;
    uint64_t length = 0;
    if (!take_varint(cursor, &key)) return false;
    ret->id = (uint32_t)(key >> 3);
    ret->wire = (enum wire)(key & 7);
    if (ret->wire == WIRE_VARINT || ret->wire == WIRE_FIXED64 || ret->wire == WIRE_FIXED32)
        return take_number(cursor, ret->wire, &ret->number);
    if (ret->wire != WIRE_BYTES || !take_varint(cursor, &length)) return false;
    if (length > (uint64_t)(cursor->end - cursor->at)) return false;
    ret->bytes = (struct cursor){cursor->at, cursor->at + length};
    cursor->at += length;
    return true;
}

static enum wire wire_of(ProtobufCType type) {
    switch (type) {
    case PROTOBUF_C_TYPE_FLOAT:
        return WIRE_FIXED32;
    case PROTOBUF_C_TYPE_DOUBLE:
        return WIRE_FIXED64;
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE:
        return WIRE_BYTES;
    default:
        return WIRE_VARINT;
    }
}

static size_t size_of(ProtobufCType type) {
    switch (type) {
    case PROTOBUF_C_TYPE_FLOAT:
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_UINT32:
        return 4;
    case PROTOBUF_C_TYPE_BYTES:
        return sizeof(ProtobufCBinaryData);
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_MESSAGE:
        return sizeof(void *);
    default:
        return 8;
    }
}

/* Writers put fields in order: the search goes on from where it ended. NULL: not one of ours.
 */
static const ProtobufCFieldDescriptor *find_field(const ProtobufCMessageDescriptor *type,
                                                  uint32_t id, unsigned *from) {
    for (unsigned tried = 0; tried < type->n_fields; tried++) {
        if (type->fields[*from].id == id) return &type->fields[*from];
        *from = *from + 1 == type->n_fields ? 0 : *from + 1;
    }
    return NULL;
}

static bool is_packed(const ProtobufCFieldDescriptor *field, enum wire wire) {
    return field->label == PROTOBUF_C_LABEL_REPEATED && wire == WIRE_BYTES &&
           wire_of(field->type) != WIRE_BYTES;
}

static size_t count_packed(const ProtobufCFieldDescriptor *field, struct cursor bytes) {
    enum wire wire = wire_of(field->type);
    size_t n = 0;
    if (wire != WIRE_VARINT) return (size_t)(bytes.end - bytes.at) / size_of(field->type);
    for (; bytes.at < bytes.end; bytes.at++) n += *bytes.at < 128;
    return n;
}

static void *member(ProtobufCMessage *message, unsigned offset) {
    return (char *)message + offset;
}

/* Where the next element goes: of what is repeated, into the list that has been set aside. */
static void *next_place(const ProtobufCFieldDescriptor *field, ProtobufCMessage *message) {
    const protobuf_c_boolean yes = 1;
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

/* A text, bytes or a message. */
static bool store_bytes(struct decoder *decoder, const ProtobufCFieldDescriptor *field,
                        ProtobufCMessage *message, struct cursor bytes, int depth) {
    const size_t size = (size_t)(bytes.end - bytes.at);
    const struct fields whole = {bytes.at, size, NULL};
    ProtobufCBinaryData data = {.len = size};
    void *made = field->type == PROTOBUF_C_TYPE_MESSAGE
                     ? (void *)decode_message(decoder, field->descriptor, &whole, depth + 1)
                     : arena_strndup(decoder->arena, (const char *)bytes.at, size);
    if (!made && field->type != PROTOBUF_C_TYPE_MESSAGE) decoder->no_memory = true;
    if (!made) return false;
    void *place = next_place(field, message);
    data.data = made;
    if (field->type == PROTOBUF_C_TYPE_BYTES)
        memcpy(place, &data, sizeof(data));
    else
        memcpy(place, &made, sizeof(made));
    return true;
}

static bool store(struct decoder *decoder, const ProtobufCFieldDescriptor *field,
                  ProtobufCMessage *message, const struct wire_field *from, int depth) {
    enum wire wire = wire_of(field->type);
    struct cursor bytes = from->bytes;
    uint64_t number = 0;
    if (from->wire == wire && wire == WIRE_BYTES)
        return store_bytes(decoder, field, message, bytes, depth);
    if (from->wire == wire) {
        store_number(field, message, from->number);
        return true;
    }
    if (!is_packed(field, from->wire)) return false;
    while (bytes.at < bytes.end) {
        if (!take_number(&bytes, wire, &number)) return false;
        store_number(field, message, number);
    }
    return true;
}

/* How many elements each field has that is repeated; false: these are no fields. */
static bool count_all(const ProtobufCMessageDescriptor *type, const struct fields *pieces,
                      size_t *counts) {
    unsigned from = 0;
    struct wire_field field = {0};
    for (; pieces; pieces = pieces->next) {
        struct cursor cursor = {pieces->data, pieces->data + pieces->size};
        while (cursor.at < cursor.end) {
            if (!take_field(&cursor, &field)) return false;
            const ProtobufCFieldDescriptor *found = find_field(type, field.id, &from);
            if (found)
                counts[from] +=
                    is_packed(found, field.wire) ? count_packed(found, field.bytes) : 1;
        }
    }
    return true;
}

static bool reserve_lists(struct decoder *decoder, const ProtobufCMessageDescriptor *type,
                          const size_t *counts, ProtobufCMessage *message) {
    for (unsigned i = 0; i < type->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &type->fields[i];
        if (field->label != PROTOBUF_C_LABEL_REPEATED || counts[i] == 0) continue;
        void *list = arena_array(decoder->arena, counts[i], size_of(field->type));
        if (!list) decoder->no_memory = true;
        if (!list) return false;
        memcpy(member(message, field->offset), &list, sizeof(list));
    }
    return true;
}

static bool store_all(struct decoder *decoder, const struct fields *pieces,
                      ProtobufCMessage *message, int depth) {
    unsigned from = 0;
    struct wire_field field = {0};
    for (; pieces; pieces = pieces->next) {
        struct cursor cursor = {pieces->data, pieces->data + pieces->size};
        while (cursor.at < cursor.end) {
            const ProtobufCFieldDescriptor *found =
                take_field(&cursor, &field) ? find_field(message->descriptor, field.id, &from)
                                            : NULL;
            if (found && !store(decoder, found, message, &field, depth)) return false;
        }
    }
    return true;
}

static ProtobufCMessage *decode_message(struct decoder *decoder,
                                        const ProtobufCMessageDescriptor *type,
                                        const struct fields *pieces, int depth) {
    size_t counts[MAX_FIELDS] = {0};
    BUG_ON(type->n_fields > MAX_FIELDS);
    if (depth > MAX_DEPTH || !count_all(type, pieces, counts)) return NULL;
    ProtobufCMessage *message = arena_alloc(decoder->arena, type->sizeof_message);
    if (!message) decoder->no_memory = true;
    if (!message) return NULL;
    message->descriptor = type; /* no field of onnx.proto has a default: the rest is zero */
    if (!reserve_lists(decoder, type, counts, message)) return NULL;
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

bool fields_next(struct fields_walk *walk, struct fields *ret) {
    struct fields_of *left = &walk->left;
    if (left->n == 0) return false;
    for (; left->piece; left->piece = left->piece->next, left->at = 0) {
        const uint8_t *data = left->piece->data;
        struct cursor cursor = {data + left->at, data + left->piece->size};
        struct wire_field field = {0};
        while (cursor.at < cursor.end && take_field(&cursor, &field)) {
            if (field.id != walk->number || field.wire != WIRE_BYTES) continue;
            left->at = (size_t)(cursor.at - data);
            left->n--;
            *ret = (struct fields){field.bytes.at, (size_t)(field.bytes.end - field.bytes.at),
                                   NULL};
            return true;
        }
    }
    return false;
}
