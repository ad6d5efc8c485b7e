/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guards that no file gets as far as, because the skim refuses it first. They are there for
 * whoever calls the parts without it, and so are these tests.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "frontend/decode.h"
#include "frontend/importer.h"
#include "frontend/skim.h"
#include "frontend/sort.h"
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

static void bytes_that_protobuf_does_not_read_are_refused(void **state) {
    static const uint8_t bytes[] = {0x3a, 0x7f};
    const struct skimmed skimmed = {bytes, sizeof bytes};
    struct bench *bench = *state;
    Onnx__ModelProto *model = NULL;
    assert_int_equal(decode(&skimmed, bench->arena, bench->diag, &model), CM_REFUSED);
    assert_null(model);
    assert_said(bench, "the bytes are no ONNX model");
}

static void more_nodes_than_have_ids_are_refused(void **state) {
    struct bench *bench = *state;
    struct importer importer = {.diag = bench->diag};
    const uint32_t *order = NULL;
    assert_int_equal(sort_nodes(&importer, NULL, ID_OMITTED, &order), CM_REFUSED);
    assert_null(order);
    assert_said(bench, "too many nodes");
}

static void a_declared_shape_of_too_many_dims_is_refused(void **state) {
    struct bench *bench = *state;
    struct importer importer = {.diag = bench->diag, .arena = bench->arena};
    Onnx__TensorShapeProto shape = ONNX__TENSOR_SHAPE_PROTO__INIT;
    Onnx__TypeProto__Tensor tensor = ONNX__TYPE_PROTO__TENSOR__INIT;
    Onnx__TypeProto proto = ONNX__TYPE_PROTO__INIT;
    struct type type;
    shape.n_dim = 65;
    tensor.shape = &shape;
    proto.tensor_type = &tensor;
    assert_int_equal(import_type(&importer, &proto, 0, &type), CM_REFUSED);
    assert_said(bench, "a declared shape has 65 dims, at most 64 wanted");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(bytes_that_protobuf_does_not_read_are_refused),
        TEST(more_nodes_than_have_ids_are_refused),
        TEST(a_declared_shape_of_too_many_dims_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
