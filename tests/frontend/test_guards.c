/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of the decoder and the import that no file reaches, because skim refuses it first.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "costmodel/costmodel.h"
#include "frontend/importer.h"
#include "frontend/wire/decode.h"
#include "frontend/wire/skim.h"
#include "support/arena.h"

struct bench {
    struct arena *arena;
    struct cm_diagnostics *diag;
};

static int make(void **state) {
    struct arena *arena = arena_new("test", 0);
    struct bench *bench = arena == NULL ? NULL : arena_alloc(arena, sizeof *bench);
    if (bench == NULL) return 1;
    *bench = (struct bench){arena, cm_diagnostics_new()};
    *state = bench;
    return bench->diag == NULL;
}

static int end(void **state) {
    struct bench *bench = *state;
    cm_diagnostics_free(bench->diag);
    arena_free(bench->arena);
    return 0;
}

static void assert_said(const struct bench *bench, const char *message) {
    assert_int_equal(cm_diagnostics_count(bench->diag), 1);
    assert_string_equal(cm_diagnostics_get(bench->diag, 0)->message, message);
}

static void refuses_bytes_that_protobuf_refuses(void **state) {
    /* TensorProto: length beyond the end, truncated varint, varint too long, group, two wrong
     * wire types, two truncated packed fields, truncated fixed32 */
    static const struct {
        uint8_t bytes[16];
        size_t size;
    } rows[] = {{{0x42, 0x7f}, 2},
                {{0x08, 0x80}, 2},
                {{0x10, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01}, 12},
                {{0x0b, 0x0c}, 2},
                {{0x40, 0x01}, 2},
                {{0x15, 1, 2, 3, 4}, 5},
                {{0x0a, 0x01, 0x80}, 3},
                {{0x22, 0x03, 1, 2, 3}, 5},
                {{0x0d, 1, 2, 3}, 4}};
    struct bench *bench = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct fields fields = {rows[i].bytes, rows[i].size, NULL};
        struct cm_diagnostics *diag = cm_diagnostics_new();
        Onnx__TensorProto *tensor = NULL;
        assert_int_equal(
            decode(&onnx__tensor_proto__descriptor, &fields, bench->arena, diag, &tensor),
            CM_REFUSED);
        assert_null(tensor);
        assert_string_equal(cm_diagnostics_get(diag, 0)->message, "not a valid ONNX model");
        cm_diagnostics_free(diag);
    }
}

/* protobuf-c itself wrote the bytes. */
static void decodes_messages_that_protobuf_c_wrote(void **state) {
    struct bench *bench = *state;
    int64_t dims[] = {3, -1, INT64_MAX};
    float floats[] = {1.5f, -0.0f};
    double doubles[] = {1e300};
    uint8_t text[] = "a\0b";
    uint8_t entry[] = "entry";
    uint8_t name[] = "w";
    ProtobufCBinaryData texts[] = {{3, text}, {0, NULL}};
    ProtobufCBinaryData entries[] = {{2, entry}, {5, entry}};
    Onnx__TensorProto from = ONNX__TENSOR_PROTO__INIT;
    uint8_t bytes[256];
    from.n_dims = 3, from.dims = dims;
    from.has_data_type = 1, from.data_type = -5;
    from.n_float_data = 2, from.float_data = floats;
    from.n_double_data = 1, from.double_data = doubles;
    from.n_string_data = 2, from.string_data = texts;
    from.n_external_data = 2, from.external_data = entries;
    from.has_skipped_field = 1, from.skipped_field = UINT32_MAX;
    from.has_name = 1, from.name = (ProtobufCBinaryData){1, name};
    size_t size = onnx__tensor_proto__pack(&from, bytes);
    /* in two pieces, cut between two fields: repeated fields continue in the second */
    struct fields second = {bytes + 2, size - 2, NULL};
    const struct fields pieces = {bytes, 2, &second};
    Onnx__TensorProto *to = NULL;
    assert_int_equal(
        decode(&onnx__tensor_proto__descriptor, &pieces, bench->arena, bench->diag, &to),
        CM_OK);
    assert_int_equal(to->n_dims, 3);
    assert_memory_equal(to->dims, dims, sizeof dims);
    assert_true(to->has_data_type && to->data_type == -5);
    assert_memory_equal(to->float_data, floats, sizeof floats);
    assert_memory_equal(to->double_data, doubles, sizeof doubles);
    assert_int_equal(to->n_string_data, 2);
    assert_int_equal(to->string_data[0].len, 3);
    assert_memory_equal(to->string_data[0].data, "a\0b", 3);
    assert_int_equal(to->string_data[1].len, 0);
    assert_int_equal(to->n_external_data, 2);
    assert_int_equal(to->external_data[1].len, 5);
    assert_memory_equal(to->external_data[1].data, entry, 5);
    assert_true(to->has_skipped_field && to->skipped_field == UINT32_MAX);
    assert_false(to->has_raw_data || to->has_data_location);
    assert_true(to->name.len == 1 && to->name.data[0] == 'w');
}

/* TypeProto.sequence_type.elem_type.sequence_type … */
static int decode_nested(struct bench *bench, size_t depth) {
    uint8_t bytes[3 * 256];
    uint8_t *at = bytes + sizeof bytes;
    Onnx__TypeProto *type = NULL;
    for (size_t i = 0; i < depth; i++) {
        size_t size = (size_t)(bytes + sizeof bytes - at);
        at -= 3;
        at[0] = i % 2 == depth % 2 ? 0x0a : 0x22;
        at[1] = (uint8_t)(size & 127) | 128;
        at[2] = (uint8_t)(size >> 7);
    }
    const struct fields fields = {at, (size_t)(bytes + sizeof bytes - at), NULL};
    return decode(&onnx__type_proto__descriptor, &fields, bench->arena, bench->diag, &type);
}

static void limits_the_nesting_of_messages(void **state) {
    struct bench *bench = *state;
    assert_int_equal(decode_nested(bench, 128), CM_OK);
    assert_int_equal(decode_nested(bench, 129), CM_REFUSED);
    assert_said(bench, "not a valid ONNX model");
}

static void limits_the_number_of_nodes(void **state) {
    struct bench *bench = *state;
    const Onnx__ModelProto model = ONNX__MODEL_PROTO__INIT;
    struct importer importer = {.diag = bench->diag, .proto = &model};
    struct scope scope = {.prefix = ""};
    const struct node_walk nodes = {.left = {.left = {.n = ID_OMITTED}}};
    assert_int_equal(import_nodes(&importer, nodes, &scope), CM_REFUSED);
    assert_said(bench, "too many nodes");
}

static void limits_the_rank_of_declared_shapes(void **state) {
    struct bench *bench = *state;
    struct importer importer = {.diag = bench->diag, .arena = bench->arena};
    Onnx__TensorShapeProto shape = ONNX__TENSOR_SHAPE_PROTO__INIT;
    Onnx__TypeProto__Tensor tensor = ONNX__TYPE_PROTO__TENSOR__INIT;
    Onnx__TypeProto proto = ONNX__TYPE_PROTO__INIT;
    struct type type;
    shape.n_dim = 65;
    tensor.shape = &shape;
    proto.value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    proto.tensor_type = &tensor;
    assert_int_equal(import_type(&importer, &proto, 0, &type), CM_REFUSED);
    assert_said(bench, "a declared shape must have at most 64 dims, got 65");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(refuses_bytes_that_protobuf_refuses), TEST(decodes_messages_that_protobuf_c_wrote),
        TEST(limits_the_nesting_of_messages),      TEST(limits_the_number_of_nodes),
        TEST(limits_the_rank_of_declared_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
