/* SPDX-License-Identifier: Apache-2.0 */
#include "wire.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH  64
#define MAX_HEADER 20 /* bytes of a tag and a length */

static bool take_varint(const uint8_t *data, size_t end, size_t *at, uint64_t *ret) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && *at < end; shift += 7) {
        const uint8_t byte = data[(*at)++];
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *ret = value;
            return true;
        }
    }
    return false;
}

/* Returns the end of the contents of a field of this type. */
static bool take_body(const uint8_t *data, size_t end, uint32_t type, size_t *at,
                      size_t *ret_body) {
    uint64_t length = 0;
    *ret_body = *at;
    if (type == 0) return take_varint(data, end, at, &length);
    if (type == 2 && !take_varint(data, end, at, &length)) return false;
    if (type == 1) length = 8;
    if (type == 5) length = 4;
    if (type > 5 || type == 3 || type == 4 || length > end - *at) return false;
    *ret_body = *at;
    *at += (size_t)length;
    return true;
}

static bool take_field(struct wire *wire, size_t end, size_t *at, struct wire_field *field) {
    uint64_t tag = 0;
    field->start = *at;
    if (!take_varint(wire->data, end, at, &tag) || tag >> 3 > UINT32_MAX) return false;
    field->number = (uint32_t)(tag >> 3);
    field->type = tag & 7;
    if (!take_body(wire->data, end, field->type, at, &field->body)) return false;
    field->end = *at;
    field->row = skim_find_field(&skim_messages[field->inside], field->number);
    return true;
}

static void parse_message(struct wire *wire, uint32_t parent, enum message_kind kind, size_t at,
                          size_t end, int depth) {
    while (at < end && wire->n < WIRE_MAX_FIELDS) {
        const uint32_t id = wire->n;
        struct wire_field *field = &wire->fields[id];
        *field = (struct wire_field){.parent = parent, .inside = kind};
        if (!take_field(wire, end, &at, field)) return;
        wire->n++;
        if (wire_kind(wire, id) != MESSAGE_NONE && depth < MAX_DEPTH)
            parse_message(wire, id, wire_kind(wire, id), field->body, field->end, depth + 1);
    }
}

void wire_parse(struct wire *wire, const uint8_t *data, size_t size) {
    wire->data = data;
    wire->size = size;
    wire->n = 0;
    parse_message(wire, WIRE_ROOT, MESSAGE_MODEL, 0, size, 0);
}

enum message_kind wire_kind(const struct wire *wire, uint32_t field) {
    if (field == WIRE_ROOT) return MESSAGE_MODEL;
    const struct skim_field *row = wire->fields[field].row;
    if (!row || row->kind != FIELD_MESSAGE || wire->fields[field].type != 2)
        return MESSAGE_NONE;
    return row->child;
}

size_t wire_put_varint(uint8_t *out, uint64_t value) {
    size_t n = 0;
    for (; value >= 0x80; value >>= 7) out[n++] = (uint8_t)(value | 0x80);
    out[n++] = (uint8_t)value;
    return n;
}

size_t wire_put_field(uint8_t *out, uint32_t number, uint32_t type, const uint8_t *bytes,
                      size_t size) {
    size_t n = wire_put_varint(out, (uint64_t)number << 3 | type);
    if (type == 2) n += wire_put_varint(out + n, size);
    if (size > 0) memmove(out + n, bytes, size);
    return n + size;
}

/* Writes the message of field `parent` with the edit applied to `out`. */
static size_t rebuild(const struct wire *wire, const struct wire_edit *edit, uint8_t *out) {
    const bool root = edit->parent == WIRE_ROOT;
    const struct wire_field *field = root ? NULL : &wire->fields[edit->parent];
    const size_t begin = root ? 0 : field->body;
    const size_t end = root ? wire->size : field->end;
    const size_t head = edit->from - begin;
    const size_t tail = end - edit->to;
    memcpy(out, wire->data + begin, head);
    if (edit->size > 0) memcpy(out + head, edit->bytes, edit->size);
    memcpy(out + head + edit->size, wire->data + edit->to, tail);
    return head + edit->size + tail;
}

/* Rebuilds messages from the innermost outwards: each is the edit of the enclosing message. */
static size_t splice_into(const struct wire *wire, struct wire_edit edit, uint8_t *contents,
                          uint8_t *field_bytes) {
    for (;;) {
        const size_t size = rebuild(wire, &edit, contents);
        if (edit.parent == WIRE_ROOT) return size;
        const struct wire_field *field = &wire->fields[edit.parent];
        edit.size = wire_put_field(field_bytes, field->number, 2, contents, size);
        edit.bytes = field_bytes;
        edit.from = field->start;
        edit.to = field->end;
        edit.parent = field->parent;
    }
}

size_t wire_splice(const struct wire *wire, const struct wire_edit *edit, uint8_t *out,
                   size_t most) {
    const size_t room = wire->size + edit->size + (size_t)MAX_HEADER * (MAX_DEPTH + 2);
    uint8_t *contents = malloc(room);
    uint8_t *field_bytes = malloc(room);
    size_t size = 0;
    if (contents && field_bytes) size = splice_into(wire, *edit, contents, field_bytes);
    if (size > most) size = 0;
    if (size > 0) memcpy(out, contents, size);
    free(contents);
    free(field_bytes);
    return size;
}
