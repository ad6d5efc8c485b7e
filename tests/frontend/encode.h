/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encodes models in protobuf's wire format by hand, so that a test can also write what no
 * exporter would. Field numbers are those of frontend/wire/onnx.proto. Aborts if memory runs
 * out.
 */
#ifndef TESTS_FRONTEND_ENCODE_H
#define TESTS_FRONTEND_ENCODE_H

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
/* A whole field: key and value. */
void put_number(struct bytes *out, uint32_t field, int64_t value);
void put_float(struct bytes *out, uint32_t field, float value);
void put_text(struct bytes *out, uint32_t field, const char *text);
void put_blob(struct bytes *out, uint32_t field, const void *data, size_t size);
void put_message(struct bytes *out, uint32_t field, struct bytes message);

/* NodeProto. `inputs` and `outputs`: names with commas between them ("x,,w": the second is
 * omitted). */
struct bytes node_of(struct arena *arena, const char *type, const char *name,
                     const char *inputs, const char *outputs);
/* ValueInfoProto of floats; dims below 0 are written as they are. */
struct bytes value_of(struct arena *arena, const char *name, size_t rank, const int64_t *dims);
/* AttributeProto of type int / of a graph. */
struct bytes int_attribute(struct arena *arena, const char *name, int64_t value);
struct bytes graph_attribute(struct arena *arena, const char *name, struct bytes graph);
/* TensorProto without its contents. */
struct bytes tensor_of(struct arena *arena, const char *name, int dtype, size_t rank,
                       const int64_t *dims);
/* GraphProto with inputs and outputs of shape [1]. `inputs` and `outputs` as of node_of. */
struct bytes graph_of(struct arena *arena, const char *inputs, const char *outputs);
/* FunctionProto of domain "local" with opset 13 and itself. */
struct bytes function_of(struct arena *arena, const char *name, const char *inputs,
                         const char *outputs);
/* ModelProto of IR version 8 with this graph and opset 13; a caller may append. */
struct bytes model_of(struct arena *arena, struct bytes graph);
/* Appends an opset import. */
void put_opset(struct bytes *out, uint32_t field, const char *domain, int64_t version);

#endif
