/* SPDX-License-Identifier: Apache-2.0 */
/* See encode.h. */
#include "encode.h"

#include <string.h>

#include "support/arena.h"
#include "support/diag.h"

struct bytes bytes_new(struct arena *arena) {
    return (struct bytes){.arena = arena};
}

void put_raw(struct bytes *out, const void *data, size_t size) {
    if (size > out->capacity - out->size) {
        const size_t capacity = 2 * (out->size + size);
        uint8_t *longer = arena_alloc(out->arena, capacity);
        BUG_ON(longer == NULL);
        if (out->size > 0) memcpy(longer, out->data, out->size);
        out->data = longer;
        out->capacity = capacity;
    }
    if (size > 0) memcpy(out->data + out->size, data, size);
    out->size += size;
}

void put_varint(struct bytes *out, uint64_t value) {
    for (; value > 127; value >>= 7) put_raw(out, &(uint8_t){(uint8_t)(value | 128)}, 1);
    put_raw(out, &(uint8_t){(uint8_t)value}, 1);
}

static void put_tag(struct bytes *out, uint32_t field, unsigned wire_type) {
    put_varint(out, (uint64_t)field << 3 | wire_type);
}

void put_number(struct bytes *out, uint32_t field, int64_t value) {
    put_tag(out, field, 0);
    put_varint(out, (uint64_t)value);
}

void put_float(struct bytes *out, uint32_t field, float value) {
    put_tag(out, field, 5);
    put_raw(out, &value, sizeof value);
}

void put_blob(struct bytes *out, uint32_t field, const void *data, size_t size) {
    put_tag(out, field, 2);
    put_varint(out, size);
    put_raw(out, data, size);
}

void put_text(struct bytes *out, uint32_t field, const char *text) {
    put_blob(out, field, text, strlen(text));
}

void put_message(struct bytes *out, uint32_t field, struct bytes message) {
    put_blob(out, field, message.data, message.size);
}

/* Calls `put` for each name of "a,b"; does nothing for "". */
static void for_each_name(const char *names, struct bytes *out, uint32_t field,
                          void (*put)(struct bytes *out, uint32_t field, const char *name)) {
    while (*names != '\0') {
        const size_t length = strcspn(names, ",");
        const char *name = arena_strndup(out->arena, names, length);
        BUG_ON(name == NULL);
        put(out, field, name);
        names += length;
        if (*names == ',') names++;
    }
}

static void put_value(struct bytes *out, uint32_t field, const char *name) {
    put_message(out, field, value_of(out->arena, name, 1, (const int64_t[]){1}));
}

struct bytes node_of(struct arena *arena, const char *type, const char *name,
                     const char *inputs, const char *outputs) {
    struct bytes node = bytes_new(arena);
    for_each_name(inputs, &node, 1, put_text);
    for_each_name(outputs, &node, 2, put_text);
    if (name[0] != '\0') put_text(&node, 3, name);
    put_text(&node, 4, type);
    return node;
}

struct bytes value_of(struct arena *arena, const char *name, size_t rank, const int64_t *dims) {
    struct bytes value = bytes_new(arena);
    struct bytes type = bytes_new(arena);
    struct bytes tensor = bytes_new(arena);
    struct bytes shape = bytes_new(arena);
    for (size_t i = 0; i < rank; i++) {
        struct bytes dim = bytes_new(arena);
        put_number(&dim, 1, dims[i]);
        put_message(&shape, 1, dim);
    }
    put_number(&tensor, 1, 1);
    put_message(&tensor, 2, shape);
    put_message(&type, 1, tensor);
    put_text(&value, 1, name);
    put_message(&value, 2, type);
    return value;
}

struct bytes int_attribute(struct arena *arena, const char *name, int64_t value) {
    struct bytes attribute = bytes_new(arena);
    put_text(&attribute, 1, name);
    put_number(&attribute, 3, value);
    put_number(&attribute, 20, 2);
    return attribute;
}

struct bytes graph_attribute(struct arena *arena, const char *name, struct bytes graph) {
    struct bytes attribute = bytes_new(arena);
    put_text(&attribute, 1, name);
    put_message(&attribute, 6, graph);
    put_number(&attribute, 20, 5);
    return attribute;
}

struct bytes tensor_of(struct arena *arena, const char *name, int dtype, size_t rank,
                       const int64_t *dims) {
    struct bytes tensor = bytes_new(arena);
    for (size_t i = 0; i < rank; i++) put_number(&tensor, 1, dims[i]);
    put_number(&tensor, 2, dtype);
    put_text(&tensor, 8, name);
    return tensor;
}

struct bytes graph_of(struct arena *arena, const char *inputs, const char *outputs) {
    struct bytes graph = bytes_new(arena);
    for_each_name(inputs, &graph, 11, put_value);
    for_each_name(outputs, &graph, 12, put_value);
    return graph;
}

void put_opset(struct bytes *out, uint32_t field, const char *domain, int64_t version) {
    struct bytes opset = bytes_new(out->arena);
    put_text(&opset, 1, domain);
    put_number(&opset, 2, version);
    put_message(out, field, opset);
}

struct bytes function_of(struct arena *arena, const char *name, const char *inputs,
                         const char *outputs) {
    struct bytes function = bytes_new(arena);
    put_text(&function, 1, name);
    for_each_name(inputs, &function, 4, put_text);
    for_each_name(outputs, &function, 5, put_text);
    put_opset(&function, 9, "", 13);
    put_opset(&function, 9, "local", 1);
    put_text(&function, 10, "local");
    return function;
}

struct bytes model_of(struct arena *arena, struct bytes graph) {
    struct bytes model = bytes_new(arena);
    put_number(&model, 1, 8);
    put_message(&model, 7, graph);
    put_opset(&model, 8, "", 13);
    return model;
}
