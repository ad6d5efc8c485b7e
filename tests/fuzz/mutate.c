/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Structure-aware mutations of a model: drops, duplicates, moves and swaps fields among
 * messages of the same kind, exchanges strings (which changes edges of the graph), sets numbers
 * to overflow values, and inserts operators and attributes from the tables of the program.
 * Sometimes it mutates plain bytes with libFuzzer.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "ops/registry/registry.h"
#include "wire.h"

#define MAX_SMALL 4096 /* bytes of a generated field */

struct mutation {
    uint8_t *data;
    size_t size;
    size_t most;
    uint64_t random;
    struct wire *wire;        /* of data */
    const struct wire *other; /* source of fields: the same or a second input */
};

/* xorshift64*; libFuzzer provides only a seed. */
static uint32_t draw(struct mutation *mutation, uint32_t below) {
    uint64_t x = mutation->random;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    mutation->random = x;
    return (uint32_t)((x * 0x2545f4914f6cdd1dULL) >> 32) % below;
}

static bool apply(struct mutation *mutation, const struct wire_edit *edit) {
    const size_t size = wire_splice(mutation->wire, edit, mutation->data, mutation->most);
    if (size == 0) return false;
    mutation->size = size;
    return true;
}

static bool replace_field(struct mutation *mutation, uint32_t id, const uint8_t *bytes,
                          size_t size) {
    const struct wire_field *field = &mutation->wire->fields[id];
    return apply(mutation, &(struct wire_edit){.parent = field->parent,
                                               .from = field->start,
                                               .to = field->end,
                                               .bytes = bytes,
                                               .size = size});
}

/* Replaces the contents of a field. */
static bool refill(struct mutation *mutation, uint32_t id, const uint8_t *bytes, size_t size) {
    const struct wire_field *field = &mutation->wire->fields[id];
    uint8_t made[MAX_SMALL + 32];
    if (size > MAX_SMALL) return false;
    return replace_field(mutation, id, made,
                         wire_put_field(made, field->number, field->type, bytes, size));
}

/* Appends to a message; the options (fuzz.h) stay at the end of the model. */
static bool append(struct mutation *mutation, uint32_t parent, const uint8_t *bytes,
                   size_t size) {
    size_t end = mutation->size;
    if (parent != WIRE_ROOT)
        end = mutation->wire->fields[parent].end;
    else if (fuzz_option_bytes(mutation->data, end))
        end -= FUZZ_OPTION_FIELD;
    const struct wire_edit edit = {
        .parent = parent, .from = end, .to = end, .bytes = bytes, .size = size};
    return apply(mutation, &edit);
}

static uint32_t any_field(struct mutation *mutation) {
    return draw(mutation, mutation->wire->n);
}

typedef bool field_test(const struct wire *wire, uint32_t id, const void *context);

/* Returns a field that passes, searching from a random position; WIRE_ROOT: none. */
static uint32_t find_field(struct mutation *mutation, const struct wire *wire, field_test *test,
                           const void *context) {
    if (wire->n == 0) return WIRE_ROOT;
    const uint32_t start = draw(mutation, wire->n);
    for (uint32_t i = 0; i < wire->n; i++) {
        const uint32_t id = (start + i) % wire->n;
        if (test(wire, id, context)) return id;
    }
    return WIRE_ROOT;
}

static bool is_same_row(const struct wire *wire, uint32_t id, const void *context) {
    const struct wire_field *want = context;
    return wire->fields[id].row == want->row && wire->fields[id].type == want->type;
}

static bool holds_kind(const struct wire *wire, uint32_t id, const void *context) {
    return wire_kind(wire, id) == *(const enum message_kind *)context;
}

static bool is_text(const struct wire *wire, uint32_t id, const void *context) {
    const struct skim_field *row = wire->fields[id].row;
    (void)context;
    return row && row->kind == FIELD_TEXT && wire->fields[id].type == 2;
}

static bool is_number(const struct wire *wire, uint32_t id, const void *context) {
    const struct skim_field *row = wire->fields[id].row;
    (void)context;
    return row && row->kind == FIELD_NUMBER && wire->fields[id].type == 0;
}

static bool is_payload(const struct wire *wire, uint32_t id, const void *context) {
    const struct skim_field *row = wire->fields[id].row;
    (void)context;
    return row && row->kind == FIELD_PAYLOAD && wire->fields[id].type == 2;
}

static bool drop(struct mutation *mutation) {
    return replace_field(mutation, any_field(mutation), NULL, 0);
}

static bool borrow_into(struct mutation *mutation, const struct wire_field *field,
                        const struct wire *from) {
    uint32_t parent = WIRE_ROOT;
    if (field->inside != MESSAGE_MODEL) {
        parent = find_field(mutation, mutation->wire, holds_kind, &field->inside);
        if (parent == WIRE_ROOT) return false;
    }
    return append(mutation, parent, from->data + field->start, field->end - field->start);
}

/* Copies a field of either input into a message of the same kind as its own. */
static bool move_in(struct mutation *mutation) {
    const struct wire *from = mutation->other;
    if (from->n == 0) return false;
    return borrow_into(mutation, &from->fields[draw(mutation, from->n)], from);
}

/* As above, but before a similar field instead of at the end, because nodes are ordered. */
static bool insert_beside(struct mutation *mutation) {
    const struct wire_field *at = &mutation->wire->fields[any_field(mutation)];
    const struct wire *from = mutation->other;
    const uint32_t id = find_field(mutation, from, is_same_row, at);
    if (id == WIRE_ROOT) return false;
    const struct wire_field *source = &from->fields[id];
    return apply(mutation, &(struct wire_edit){.parent = at->parent,
                                               .from = at->start,
                                               .to = at->start,
                                               .bytes = from->data + source->start,
                                               .size = source->end - source->start});
}

static bool replace_by_like(struct mutation *mutation) {
    const uint32_t at = any_field(mutation);
    const struct wire *from = mutation->other;
    const uint32_t id = find_field(mutation, from, is_same_row, &mutation->wire->fields[at]);
    if (id == WIRE_ROOT) return false;
    const struct wire_field *source = &from->fields[id];
    return replace_field(mutation, at, from->data + source->start, source->end - source->start);
}

static bool replace_text(struct mutation *mutation) {
    const uint32_t at = find_field(mutation, mutation->wire, is_text, NULL);
    const uint32_t id = find_field(mutation, mutation->other, is_text, NULL);
    if (at == WIRE_ROOT || id == WIRE_ROOT) return false;
    const struct wire_field *source = &mutation->other->fields[id];
    return refill(mutation, at, mutation->other->data + source->body,
                  source->end - source->body);
}

static uint64_t draw_number(struct mutation *mutation) {
    static const int64_t edges[] = {
        0,         1,         2,         -1,        3,         4,         7,          8,
        16,        64,        127,       128,       255,       256,       1024,       65535,
        65536,     65537,     1 << 20,   INT32_MAX, INT32_MIN, 1LL << 31, UINT32_MAX, 1LL << 32,
        1LL << 40, 1LL << 52, 1LL << 62, INT64_MAX, INT64_MIN, -2,        5,          6,
        9,         10,        11,        12,        13,        17,        21,         -3};
    const uint32_t n = sizeof(edges) / sizeof(edges[0]);
    if (draw(mutation, 4) == 0) return draw(mutation, 100);
    return (uint64_t)edges[draw(mutation, n)];
}

static bool replace_number(struct mutation *mutation) {
    uint8_t bytes[10];
    const uint32_t at = find_field(mutation, mutation->wire, is_number, NULL);
    if (at == WIRE_ROOT) return false;
    return refill(mutation, at, bytes, wire_put_varint(bytes, draw_number(mutation)));
}

/* Mutates the data of a tensor: one 8-byte element, or bytes by libFuzzer. */
static bool change_payload(struct mutation *mutation) {
    uint8_t bytes[MAX_SMALL];
    const uint32_t at = find_field(mutation, mutation->wire, is_payload, NULL);
    if (at == WIRE_ROOT) return false;
    const struct wire_field *field = &mutation->wire->fields[at];
    size_t size = field->end - field->body;
    if (size > sizeof(bytes)) return false;
    memcpy(bytes, mutation->data + field->body, size);
    if (size >= 8 && draw(mutation, 2) == 0) {
        const uint64_t number = draw_number(mutation);
        memcpy(bytes + 8 * draw(mutation, (uint32_t)(size / 8)), &number, 8);
    } else {
        size = LLVMFuzzerMutate(bytes, size, sizeof(bytes));
    }
    return refill(mutation, at, bytes, size);
}

static bool change_text(struct mutation *mutation) {
    uint8_t bytes[MAX_SMALL];
    const uint32_t at = find_field(mutation, mutation->wire, is_text, NULL);
    if (at == WIRE_ROOT) return false;
    const struct wire_field *field = &mutation->wire->fields[at];
    const size_t size = field->end - field->body;
    if (size > sizeof(bytes) / 2) return false;
    memcpy(bytes, mutation->data + field->body, size);
    return refill(mutation, at, bytes, LLVMFuzzerMutate(bytes, size, sizeof(bytes)));
}

static const struct op *draw_operator(struct mutation *mutation) {
    const struct op_family *family =
        registry_family(draw(mutation, (uint32_t)registry_n_families()));
    return &family->rows[draw(mutation, (uint32_t)family->n_rows)];
}

static const uint32_t node_type = 4;
static const uint32_t node_domain = 7;

static bool is_node_text(const struct wire *wire, uint32_t id, const void *context) {
    const uint32_t *want = context;
    const struct wire_field *field = &wire->fields[id];
    return field->inside == MESSAGE_NODE && field->number == *want && field->type == 2;
}

static bool change_operator(struct mutation *mutation) {
    const struct op *op = draw_operator(mutation);
    const uint32_t at = find_field(mutation, mutation->wire, is_node_text, &node_type);
    if (at == WIRE_ROOT) return false;
    return refill(mutation, at, (const uint8_t *)op->type, strlen(op->type));
}

static bool change_domain(struct mutation *mutation) {
    const struct op *op = draw_operator(mutation);
    const uint32_t at = find_field(mutation, mutation->wire, is_node_text, &node_domain);
    if (at == WIRE_ROOT) return false;
    return refill(mutation, at, (const uint8_t *)op->domain, strlen(op->domain));
}

/* Makes an attribute of this kind; of integers if the kind is nested. */
static size_t make_attribute(struct mutation *mutation, const struct op_attr *row,
                             uint8_t *out) {
    uint8_t body[256];
    uint8_t number[10] = {0};
    const bool is_text = row->kind == ATTR_STRING;
    const bool is_float = row->kind == ATTR_FLOAT;
    const bool many = !is_text && !is_float && row->kind != ATTR_INT;
    const uint32_t field = is_text ? 4 : is_float ? 2 : many ? 8 : 3;
    const uint32_t wire = is_text ? 2 : is_float ? 5 : 0;
    const uint32_t count = many ? draw(mutation, 9) : 1;
    const size_t length = strlen(row->name) < 100 ? strlen(row->name) : 100;
    size_t n = wire_put_field(body, 1, 2, (const uint8_t *)row->name, length);
    for (uint32_t i = 0; i < count; i++) {
        size_t size = wire_put_varint(number, draw_number(mutation));
        if (is_text || is_float) size = 4;
        n += wire_put_field(body + n, field, wire, number, size);
    }
    const uint64_t type = is_text ? 3 : is_float ? 1 : many ? 7 : 2; /* of onnx.proto */
    n += wire_put_field(body + n, 20, 0, number, wire_put_varint(number, type));
    return wire_put_field(out, 5, 2, body, n);
}

static bool add_attribute(struct mutation *mutation) {
    const enum message_kind kind = MESSAGE_NODE;
    uint8_t bytes[300];
    const struct op *op = draw_operator(mutation);
    const uint32_t node = find_field(mutation, mutation->wire, holds_kind, &kind);
    uint32_t n = 0;
    while (op->attrs && op->attrs[n].name) n++;
    if (node == WIRE_ROOT || n == 0) return false;
    const struct op_attr *row = &op->attrs[draw(mutation, n)];
    return append(mutation, node, bytes, make_attribute(mutation, row, bytes));
}

/* Adds a field of the schema, empty or with a number, to a message that may have it. */
static bool add_field(struct mutation *mutation) {
    uint8_t number[10];
    uint8_t bytes[32];
    const enum message_kind kind = (enum message_kind)draw(mutation, MESSAGE_N);
    const struct skim_message *message = &skim_messages[kind];
    const uint32_t drawn = message->n_fields > 0 ? draw(mutation, message->n_fields) : 0;
    const struct skim_field *row = skim_find_field(message, drawn);
    if (!row) return false;
    const uint32_t parent = find_field(mutation, mutation->wire, holds_kind, &kind);
    const uint32_t type = row->kind == FIELD_NUMBER ? 0 : 2;
    const size_t size =
        type == 0 ? wire_put_varint(number, draw_number(mutation)) : draw(mutation, 2);
    if (type == 2) number[0] = 'x';
    return append(mutation, parent, bytes, wire_put_field(bytes, drawn, type, number, size));
}

/* Mutates the options at the end of the input (fuzz.h). */
static bool change_asked(struct mutation *mutation) {
    uint8_t *data = mutation->data;
    if (!fuzz_option_bytes(data, mutation->size)) {
        if (mutation->size + FUZZ_OPTION_FIELD > mutation->most) return false;
        memcpy(data + mutation->size, fuzz_option_head, sizeof(fuzz_option_head));
        memset(data + mutation->size + sizeof(fuzz_option_head), 0, FUZZ_OPTION_BYTES);
        mutation->size += FUZZ_OPTION_FIELD;
    }
    const uint32_t at = draw(mutation, FUZZ_OPTION_BYTES);
    data[mutation->size - FUZZ_OPTION_BYTES + at] = (uint8_t)draw(mutation, 256);
    return true;
}

static bool change_bytes(struct mutation *mutation) {
    mutation->size = LLVMFuzzerMutate(mutation->data, mutation->size, mutation->most);
    return true;
}

typedef bool mutator(struct mutation *mutation);

/* A mutation listed twice is twice as likely. */
static mutator *const mutators[] = {
    drop,           move_in,       insert_beside,   replace_by_like, replace_by_like,
    replace_text,   replace_text,  replace_number,  replace_number,  change_payload,
    change_payload, change_text,   change_operator, change_operator, change_domain,
    add_attribute,  add_attribute, add_field,       change_asked,    change_asked,
    change_bytes,
};

static size_t mutate(struct mutation *mutation, int times) {
    const uint32_t n = sizeof(mutators) / sizeof(mutators[0]);
    bool changed = false;
    for (int tries = 0; tries < 20 && times > 0; tries++) {
        wire_parse(mutation->wire, mutation->data, mutation->size);
        mutator *one = mutators[draw(mutation, n)];
        if (mutation->wire->n == 0) one = change_bytes;
        if (!one(mutation)) continue;
        changed = true;
        times--;
    }
    if (!changed) change_bytes(mutation);
    return mutation->size;
}

static struct mutation begin(uint8_t *data, size_t size, size_t most, unsigned int seed) {
    struct mutation mutation = {.data = data, .size = size, .most = most};
    mutation.random = (uint64_t)seed * 0x9e3779b97f4a7c15ULL + 1;
    mutation.wire = malloc(sizeof(*mutation.wire));
    fuzz_require(mutation.wire != NULL, "memory for the mutator", __FILE__, __LINE__);
    mutation.other = mutation.wire;
    return mutation;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned int seed) {
    struct mutation mutation = begin(data, size, most, seed);
    size = mutate(&mutation, 1 + (int)draw(&mutation, 4));
    free(mutation.wire);
    return size;
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *data, size_t size, const uint8_t *other,
                                 size_t other_size, uint8_t *out, size_t most,
                                 unsigned int seed) {
    static mutator *const crossings[] = {move_in, insert_beside, replace_by_like, replace_text};
    size = size < most ? size : most;
    memcpy(out, data, size);
    struct mutation mutation = begin(out, size, most, seed);
    struct wire *second = malloc(sizeof(*second));
    fuzz_require(second != NULL, "memory for the mutator", __FILE__, __LINE__);
    wire_parse(second, other, other_size);
    mutation.other = second;
    for (int tries = 0; tries < 4; tries++) {
        wire_parse(mutation.wire, out, mutation.size);
        if (mutation.wire->n > 0) crossings[draw(&mutation, 4)](&mutation);
    }
    free(second);
    free(mutation.wire);
    return mutation.size;
}
