/* SPDX-License-Identifier: Apache-2.0 */
/* Protobuf's wire format in memory: a field is a varint key, (number << 3 | wire type), and a
 * value. https://protobuf.dev/programming-guides/encoding */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wire { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

/* Bytes of the longest varint, which holds 64 bits. */
#define WIRE_LONGEST_VARINT 10

/* Bytes in memory, borrowed; reading advances `at`. */
struct span {
    const uint8_t *at;
    const uint8_t *end;
};

/* An encoded field: one element, or the bytes of a string, a message or packed elements. */
struct wire_field {
    uint32_t number; /* of the field */
    enum wire wire;
    uint64_t value;    /* if WIRE_VARINT, WIRE_FIXED64 or WIRE_FIXED32 */
    struct span bytes; /* if WIRE_BYTES */
};

static inline size_t span_size(struct span span) {
    return (size_t)(span.end - span.at);
}

bool span_equal(struct span span, const char *text);

/* The wire_ functions advance `from` past the bytes that they read, and return false if the
 * bytes are malformed or too few. */
bool wire_long_varint(struct span *from, uint64_t *ret);
/* Reads one element of that wire type, which is not WIRE_BYTES. */
bool wire_number(struct span *from, enum wire wire, uint64_t *ret);
/* wire_next for fields of every kind and size. */
bool wire_any_field(struct span *from, struct wire_field *ret);

/* Most varints are one byte. The copies let the caller's variables stay in registers. */
static inline bool wire_varint(struct span *from, uint64_t *ret) {
    if (from->at == from->end || *from->at > 127) {
        struct span rest = *from;
        uint64_t value = 0;
        bool found = wire_long_varint(&rest, &value);
        *from = rest;
        *ret = value;
        return found;
    }
    *ret = *from->at++;
    return true;
}

/* Reads a whole field; returns false for groups, which ONNX does not use. The inline code is
 * for short strings, the most frequent fields. */
static inline bool wire_next(struct span *from, struct wire_field *ret) {
    const uint8_t *at = from->at;
    if (span_size(*from) < 2 || (at[0] | at[1]) > 127 || (at[0] & 7) != WIRE_BYTES ||
        at[1] > span_size(*from) - 2) {
        struct span rest = *from;
        bool found = wire_any_field(&rest, ret);
        *from = rest;
        return found;
    }
    ret->number = at[0] >> 3;
    ret->wire = WIRE_BYTES;
    ret->bytes.at = at + 2;
    from->at = ret->bytes.end = at + 2 + at[1];
    return true;
}

/* Returns true if the bytes are whole packed elements; no varint is longer than 64 bits. */
bool wire_is_packed(uint32_t wire, struct span bytes);

size_t wire_varint_size(uint64_t value);
/* Writes a varint to a buffer of at least WIRE_LONGEST_VARINT bytes; returns its size. */
size_t wire_encode(uint64_t value, uint8_t *to);
/* Writes a varint of exactly `size` bytes, at least wire_varint_size(value). */
void wire_encode_padded(uint64_t value, size_t size, uint8_t *to);
