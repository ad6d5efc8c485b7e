/* SPDX-License-Identifier: Apache-2.0 */
/* A model as a tree of protobuf fields, as far as it can be parsed, and edits of it that keep
 * the lengths around them right. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "frontend/wire/skim_schema.h"

#define WIRE_MAX_FIELDS 16384
#define WIRE_ROOT       UINT32_MAX /* the parent of top-level fields */

struct wire_field {
    uint32_t parent;          /* index of the field whose message contains it, or WIRE_ROOT */
    enum message_kind inside; /* kind of that message */
    const struct skim_field *row; /* NULL: not in the schema */
    uint32_t number;
    uint32_t type; /* wire type */
    size_t start;  /* offset of its tag */
    size_t body;   /* offset of its contents */
    size_t end;
};

struct wire {
    const uint8_t *data;
    size_t size;
    uint32_t n;
    struct wire_field fields[WIRE_MAX_FIELDS];
};

/* Parses up to the first invalid field, or until there are too many. */
void wire_parse(struct wire *wire, const uint8_t *data, size_t size);

/* Returns the kind of message that a field holds, or MESSAGE_NONE; the model for WIRE_ROOT. */
enum message_kind wire_kind(const struct wire *wire, uint32_t field);

size_t wire_put_varint(uint8_t *out, uint64_t value);
/* Writes a tag, for type 2 the length, and `size` bytes. Returns the bytes written, at most
 * size + 20. */
size_t wire_put_field(uint8_t *out, uint32_t number, uint32_t type, const uint8_t *bytes,
                      size_t size);

/* An edit: bytes [from, to) of the message of field `parent` become `bytes`. */
struct wire_edit {
    uint32_t parent;
    size_t from;
    size_t to;
    const uint8_t *bytes;
    size_t size;
};

/*
 * Writes the edited model to `out`, which may be the model itself. Returns its size; 0 if it
 * exceeds `most` or an allocation fails.
 */
size_t wire_splice(const struct wire *wire, const struct wire_edit *edit, uint8_t *out,
                   size_t most);
