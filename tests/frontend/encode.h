/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encodes models in protobuf's wire format by hand, so that tests can write models that no
 * exporter writes. Field numbers are those of frontend/wire/onnx.proto. Aborts if an allocation
 * fails.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct arena;

struct bytes {
    struct arena *arena;
    uint8_t *data;
    size_t size;
    size_t capacity;
};

struct bytes bytes_new(struct arena *arena);

void put_varint(struct bytes *out, uint64_t value);
void put_raw(struct bytes *out, const void *data, size_t size);
/* Append a whole field: key and value. */
void put_number(struct bytes *out, uint32_t field, int64_t value);
void put_float(struct bytes *out, uint32_t field, float value);
void put_text(struct bytes *out, uint32_t field, const char *text);
void put_blob(struct bytes *out, uint32_t field, const void *data, size_t size);
void put_message(struct bytes *out, uint32_t field, struct bytes message);

/* NodeProto. `inputs` and `outputs` are names separated by commas; in "x,,w" the second is
 * omitted. */
struct bytes node_of(struct arena *arena, const char *type, const char *name,
                     const char *inputs, const char *outputs);
/* ValueInfoProto of floats; negative dims are written unchanged. */
struct bytes value_of(struct arena *arena, const char *name, size_t rank, const int64_t *dims);
/* AttributeProto of type int / of a graph. */
struct bytes int_attribute(struct arena *arena, const char *name, int64_t value);
struct bytes graph_attribute(struct arena *arena, const char *name, struct bytes graph);
/* TensorProto without its contents. */
struct bytes tensor_of(struct arena *arena, const char *name, int dtype, size_t rank,
                       const int64_t *dims);
/* GraphProto with inputs and outputs of shape [1]; `inputs` and `outputs` as in node_of. */
struct bytes graph_of(struct arena *arena, const char *inputs, const char *outputs);
/* FunctionProto of domain "local" that imports opset 13 and domain "local". */
struct bytes function_of(struct arena *arena, const char *name, const char *inputs,
                         const char *outputs);
/* ModelProto of IR version 8 with this graph and opset 13; the caller may append fields. */
struct bytes model_of(struct arena *arena, struct bytes graph);
/* Appends an opset import. */
void put_opset(struct bytes *out, uint32_t field, const char *domain, int64_t version);
