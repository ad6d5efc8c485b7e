/* SPDX-License-Identifier: Apache-2.0 */
/* See wire.h. No function reads past the end of a span, even if the bytes are malformed. */
#include "frontend/wire/wire.h"

#include <string.h>

bool span_equal(struct span span, const char *text) {
    size_t size = strlen(text);
    return span_size(span) == size && memcmp(span.at, text, size) == 0;
}

bool wire_long_varint(struct span *from, uint64_t *ret) {
    uint64_t value = 0;
    for (int i = 0; i < WIRE_LONGEST_VARINT && from->at < from->end; i++) {
        uint8_t byte = *from->at++;
        value |= (uint64_t)(byte & 127) << (7 * i);
        if (byte > 127) continue;
        *ret = value;
        return true;
    }
    return false;
}

bool wire_number(struct span *from, enum wire wire, uint64_t *ret) {
    uint64_t value = 0;
    size_t width = wire == WIRE_FIXED64 ? 8 : 4;
    if (wire == WIRE_VARINT) return wire_varint(from, ret);
    if (span_size(*from) < width) return false;
    for (size_t i = 0; i < width; i++) value |= (uint64_t)from->at[i] << (8 * i);
    from->at += width;
    *ret = value;
    return true;
}

bool wire_any_field(struct span *from, struct wire_field *ret) {
    uint64_t key = 0;
    uint64_t length = 0;
    if (!wire_varint(from, &key)) return false;
    ret->number = (uint32_t)(key >> 3);
    ret->wire = (enum wire)(key & 7);
    switch (ret->wire) {
    case WIRE_BYTES:
        if (!wire_varint(from, &length) || length > span_size(*from)) return false;
        ret->bytes = (struct span){from->at, from->at + length};
        from->at += length;
        return true;
    case WIRE_VARINT:
    case WIRE_FIXED64:
    case WIRE_FIXED32:
        return wire_number(from, ret->wire, &ret->value);
    default:
        return false;
    }
}

bool wire_is_packed(uint32_t wire, struct span bytes) {
    int run = 0;
    if (wire == WIRE_FIXED32) return span_size(bytes) % 4 == 0;
    if (wire == WIRE_FIXED64) return span_size(bytes) % 8 == 0;
    for (; bytes.at < bytes.end; bytes.at++) {
        run = *bytes.at > 127 ? run + 1 : 0;
        if (run == WIRE_LONGEST_VARINT) return false;
    }
    return run == 0;
}

size_t wire_varint_size(uint64_t value) {
    size_t n = 1;
    for (; value > 127; value >>= 7) n++;
    return n;
}

size_t wire_encode(uint64_t value, uint8_t *to) {
    size_t n = wire_varint_size(value);
    wire_encode_padded(value, n, to);
    return n;
}

void wire_encode_padded(uint64_t value, size_t size, uint8_t *to) {
    for (size_t i = 0; i < size; i++, value >>= 7)
        to[i] = (uint8_t)((value & 127) | (i + 1 < size ? 128 : 0));
}
