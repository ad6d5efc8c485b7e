/* SPDX-License-Identifier: Apache-2.0 */
/* Skimming: kept and dropped fields, and malformed bytes. */
#include "frontend/wire/skim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "loading.h"
#include "support/arena.h"
#include "support/file.h"
#include "tests/temporary.h"

static int make(void **state) {
    *state = arena_new("test", 0);
    return *state == NULL;
}

static int end(void **state) {
    arena_free(*state);
    return 0;
}

#define BYTES(text) text, sizeof(text) - 1

static const struct {
    const char *bytes;
    size_t size;
    const char *message;
    const char *hint;
} hostile[] = {
    {BYTES(""), "format: the file is empty", ""},
    {BYTES("\x08"), "format: at byte 1: a number runs past the end of its model", ""},
    {BYTES("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
     "format: at byte 11: a number longer than 64 bits", ""},
    {BYTES("\x00\x01"), "format: at byte 0: 0x0 is not a valid field key (inside a model)", ""},
    {BYTES("\x3b\x3c"), "format: at byte 0: 0x3b is not a valid field key (inside a model)",
     ""},
    {BYTES("\x3c"), "format: at byte 0: 0x3c is not a valid field key (inside a model)", ""},
    {BYTES("\x3e"), "format: at byte 0: 0x3e is not a valid field key (inside a model)", ""},
    {BYTES("\x3f"), "format: at byte 0: 0x3f is not a valid field key (inside a model)", ""},
    {BYTES("\xf8\xff\xff\xff\x1f\x01"),
     "format: at byte 0: 0x1fffffff8 is not a valid field key (inside a model)", ""},
    {BYTES("\x38\x01"), "format: at byte 0: model.graph is written with wire type 0", ""},
    {BYTES("\x3a\x02\x0a\x00"), "format: at byte 4: graph.node is empty", ""},
    {BYTES("\x0a\x01\x81"),
     "format: at byte 2: model.ir_version of 1 bytes ends inside a number", ""},
    {BYTES("\x08\x08\x3a\x88\x27\x0a"),
     "format: at byte 3: model.graph claims 5000 bytes, 1 are left", ""},
    {BYTES("\x3a\x04\x0a\x7f\x0a\x00"),
     "format: at byte 3: graph.node claims 127 bytes, 2 are left", ""},
    {BYTES("\x9a\x06\x05\x01"),
     "format: at byte 2: model.(unknown field) claims 5 bytes, 1 are left", ""},
    {BYTES("\x9d\x06\x05\x01"), "format: the file ends at byte 2, inside a model", ""},
    {BYTES("\x3a\x02\x0a\xff"), "format: at byte 4: a number runs past the end of its graph",
     ""},
    {BYTES("\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00"),
     "format: at byte 1: model.graph claims 18446744073709551615 bytes, 1 are left", ""},
    {BYTES("hello, this is not a model now"),
     "format: not an ONNX model, the file looks like text", "give the ONNX file"},
    {BYTES("PK\x03\x04\x14\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00\x00"),
     "format: not an ONNX model, the file looks like a zip archive, such as a PyTorch "
     "checkpoint or TorchScript",
     "export it in Python: torch.onnx.export(model, example_inputs, \"model.onnx\")"},
    {BYTES("\x80\x02}q\x00(X\x05\x00\x00\x00model"),
     "format: not an ONNX model, the file looks like a Python pickle, such as a PyTorch "
     "checkpoint",
     "export it in Python: torch.onnx.export(model, example_inputs, \"model.onnx\")"},
    {BYTES("\x80\x05\x95\x0b\x00\x00\x00\x00\x00\x00\x00}\x94\x8c\x01w"),
     "format: not an ONNX model, the file looks like a Python pickle, such as a PyTorch "
     "checkpoint",
     "export it in Python: torch.onnx.export(model, example_inputs, \"model.onnx\")"},
    {BYTES("\x08\x04\x12\x20\x0a\x0e\x0a\x05image\x1a\x05\x22\x03\x08\x01\x10"),
     "format: not an ONNX model, the file looks like a Core ML model",
     "export the original model to ONNX; a Core ML file cannot be converted back"},
    {BYTES("\x1c\0\0\0TFL3\x14\0\x20\0\x1c\0\x18\0"),
     "format: not an ONNX model, the file looks like a TensorFlow Lite model",
     "python -m tf2onnx.convert --tflite model.tflite --output model.onnx"},
    {BYTES("\x89HDF\r\n\x1a\n\0\0\0\0\0\x08\x08\0"),
     "format: not an ONNX model, the file looks like HDF5, such as a Keras model",
     "python -m tf2onnx.convert --keras model.h5 --output model.onnx"},
    {BYTES("\x58\x01\0\0\0\0\0\0{\"__metadata__\":{}}"),
     "format: not an ONNX model, the file looks like safetensors",
     "it has weights but no graph; export the model it belongs to: optimum-cli export onnx "
     "--model NAME_OR_FOLDER FOLDER"},
    {BYTES("GGUF\x03\0\0\0\x23\x01\0\0\0\0\0\0"),
     "format: not an ONNX model, the file looks like GGUF",
     "it has weights but no graph; export the model it belongs to: optimum-cli export onnx "
     "--model NAME_OR_FOLDER FOLDER"},
    {BYTES("ftrt\0\0\0\0\x01\0\0\0\0\0\0\0"),
     "format: not an ONNX model, the file looks like a TensorRT engine",
     "give the ONNX file that it was built from (trtexec --onnx=model.onnx)"},
    {BYTES("<?xml version=\"1.0\"?>\n<net name=\"m\" version=\"11\">"),
     "format: not an ONNX model, the file looks like an OpenVINO model",
     "give the ONNX file that it was made from (ovc model.onnx), or export the original model "
     "to ONNX"},
    {BYTES("\x0a\x10\x0a\x05input\x12\x0bPlaceholder"),
     "format: not an ONNX model, the file looks like a TensorFlow graph",
     "python -m tf2onnx.convert --graphdef model.pb --inputs NAME:0 --outputs NAME:0 --output "
     "model.onnx"},
    /* Version 1, MetaGraphDef, MetaInfoDef, OpList, OpDef, name. */
    {BYTES("\x08\x01\x12\x80\x01\x0a\x7e\x12\x7c\x0a\x7a\x0a\x78PlaceholderPlaceholderPlacehold"
           "erPlaceholderPlaceholderPlaceholderPlaceholderPlaceholderPlaceholderPlaceholder0123"
           "456789"),
     "format: not an ONNX model, the file looks like a TensorFlow SavedModel",
     "python -m tf2onnx.convert --saved-model FOLDER --output model.onnx"},
    {BYTES("\x08\x01\x12\x0fmy own exporter"),
     "format: not an ONNX model: the file has no graph", ""},
    {BYTES("\n\nnot a graph but lines of a text\n"),
     "format: not an ONNX model, the file looks like text", "give the ONNX file"},
    {BYTES("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00"),
     "format: not an ONNX model, the file looks like gzip", "decompress it first"},
    {BYTES("<!DOCTYPE html><html></html>"),
     "format: not an ONNX model, the file looks like a web page",
     "the download probably failed"},
    {BYTES("version https://git-lfs.github.com/spec/v1\n"),
     "format: not an ONNX model, the file looks like a Git LFS pointer",
     "run 'git lfs pull' first"},
    {BYTES("{\"nodes\": [], \"edges\": []}"),
     "format: not an ONNX model, the file looks like JSON", "give the ONNX file"},
    {BYTES("\x1c\0\0\0ORTM\0\0\0\0\0\0\0\0"),
     "format: not an ONNX model, the file looks like ONNX Runtime's own format",
     "give the ONNX file that it was made from"},
};

static void refuses_malformed_bytes_with_their_position(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
        struct loading loading = load_memory(hostile[i].bytes, hostile[i].size);
        assert_string_equal(loading_message(&loading), hostile[i].message);
        assert_string_equal(loading_hint(&loading), hostile[i].hint);
        assert_int_equal(loading.status, CM_REFUSED);
        loading_free(&loading);
    }
}

/* Prepends the tag and length of a field whose contents are all bytes from `at`; returns its
 * start. */
static uint8_t *put_before(uint8_t *at, const uint8_t *buffer_end, uint8_t tag) {
    uint8_t digits[10];
    size_t n = 0;
    for (size_t length = (size_t)(buffer_end - at); length > 0 || n == 0; length >>= 7) {
        digits[n++] = (uint8_t)(length > 127 ? length | 128 : length);
    }
    at -= n;
    memcpy(at, digits, n);
    *--at = tag;
    return at;
}

static void limits_nesting_without_stack_overflow(void **state) {
    static const uint8_t tags[] = {6 << 3 | 2, 5 << 3 | 2, 1 << 3 | 2}; /* g, attribute, node */
    const size_t size = 50000;
    uint8_t *buffer = arena_alloc(*state, size);
    uint8_t *at = buffer + size;
    for (int i = 0; i < 9999; i++) at = put_before(at, buffer + size, tags[i % 3]);
    at = put_before(at, buffer + size, 7 << 3 | 2);
    struct loading loading = load_memory(at, (size_t)(buffer + size - at));
    assert_int_equal(loading.status, CM_REFUSED);
    assert_string_equal(loading_message(&loading),
                        "limit: at byte 512: messages are nested deeper than 128");
    loading_free(&loading);
}

static void refuses_a_second_singular_message(void **state) {
    struct bytes model = model_of(*state, graph_of(*state, "x", "x"));
    put_message(&model, 7, graph_of(*state, "x", "x"));
    assert_refused(model, "format: at byte 45: a second model.graph");
}

static void limits_the_messages_in_a_message(void **state) {
    struct bytes shape = graph_of(*state, "", "x");
    const int64_t dims[65] = {0};
    struct bytes node = node_of(*state, "Relu", "r", "x", "x");
    struct bytes crowded = graph_of(*state, "x", "x");
    put_message(&shape, 11, value_of(*state, "x", 65, dims));
    assert_refused(model_of(*state, shape),
                   "limit: at byte 297: a shape holds more than 64 messages");
    for (int i = 0; i < 4097; i++) put_message(&node, 5, int_attribute(*state, "a", i));
    put_message(&crowded, 1, node);
    assert_refused(model_of(*state, crowded),
                   "limit: at byte 44989: a node holds more than 4096 messages");
}

/* A name of 65536 bytes is allowed; the error is then the end of the file. */
static void refuses_a_long_name_from_its_header(void **state) {
    static const char name[] = "\x12\x81\x80\x04";    /* producer_name of 65537 bytes */
    static const char allowed[] = "\x12\x80\x80\x04"; /* of 65536 bytes */
    static const char value[] = "\x72\x87\x80\x80\x80\x01\x12\x81\x80\x80\x80\x01";
    static const struct {
        const char *bytes;
        size_t size;
        const char *message;
    } rows[] = {
        {BYTES(name),
         "limit: at byte 4: model.producer_name must have at most 65536 bytes, has "
         "65537"},
        {BYTES(allowed),
         "format: the file ends at byte 4, inside a field that claims 65536 more bytes"},
        {BYTES(value),
         "limit: at byte 12: entry.value must have at most 268435456 bytes, has 268435457"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct loading loading = load_pipe(rows[i].bytes, rows[i].size);
        assert_int_equal(loading.status, CM_REFUSED);
        assert_string_equal(loading_message(&loading), rows[i].message);
        loading_free(&loading);
    }
}

static void refuses_an_empty_pipe(void **state) {
    (void)state;
    struct loading loading = load_pipe("", 0);
    assert_int_equal(loading.status, CM_REFUSED);
    assert_string_equal(loading_message(&loading), "format: the file is empty");
    loading_free(&loading);
}

static void reports_where_a_pipe_ends(void **state) {
    static const char cut[] = "\x08\x08\x3a\x88\x27\x12\x10graph";
    (void)state;
    struct loading loading = load_pipe(cut, sizeof cut - 1);
    assert_int_equal(loading.status, CM_REFUSED);
    assert_string_equal(loading_message(&loading),
                        "format: the file ends at byte 12, inside a field that claims 11 more "
                        "bytes");
    loading_free(&loading);
}

/* A model whose initializer "w" has n bytes of raw_data; sets *ret_offset to their position. */
static struct bytes model_with_raw(struct arena *arena, size_t n, uint64_t *ret_offset) {
    static const uint8_t marker[] = {0xAB, 0xCD, 0xEF, 0x01, 0x23, 0x45, 0x67, 0x89};
    struct bytes raw = bytes_new(arena);
    struct bytes graph = graph_of(arena, "x", "x");
    struct bytes tensor = tensor_of(arena, "w", 2, 1, (const int64_t[]){(int64_t)n});
    put_raw(&raw, marker, sizeof marker);
    while (raw.size < n) put_raw(&raw, "", 1);
    put_message(&tensor, 9, raw);
    put_message(&graph, 5, tensor);
    struct bytes model = model_of(arena, graph);
    for (size_t i = 0; i + sizeof marker <= model.size; i++) {
        if (memcmp(model.data + i, marker, sizeof marker) == 0) *ret_offset = i;
    }
    return model;
}

static void keeps_small_payloads_and_locates_large_ones(void **state) {
    static const struct {
        size_t size;
        enum constant_place place;
    } cases[] = {
        {8, CONSTANT_RAW},
        {1024, CONSTANT_RAW},
        {1025, CONSTANT_IN_FILE},
        {100000, CONSTANT_IN_FILE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t offset = 0;
        struct bytes model = model_with_raw(*state, cases[i].size, &offset);
        struct loading loading = load_bytes(model);
        assert_int_equal(loading.status, CM_OK);
        const struct constant *constant = value_named(&loading, "w")->constant;
        assert_int_equal(constant->place, cases[i].place);
        assert_int_equal(constant->length, cases[i].size);
        if (constant->place == CONSTANT_IN_FILE) assert_int_equal(constant->offset, offset);
        loading_free(&loading);
    }
}

static void drops_private_fields_of_the_file(void **state) {
    struct bytes graph = graph_of(*state, "x", "x");
    struct bytes tensor = tensor_of(*state, "w", 1, 1, (const int64_t[]){1});
    put_number(&tensor, 60001, 0);
    put_number(&tensor, 60002, 4);
    put_number(&tensor, 60003, 9);
    put_message(&graph, 5, tensor);
    struct loading loading = load_bytes(model_of(*state, graph));
    assert_int_equal(loading.status, CM_OK);
    assert_int_equal(value_named(&loading, "w")->constant->place, CONSTANT_ABSENT);
    loading_free(&loading);
}

static void limits_unpacked_elements(void **state) {
    static const struct {
        size_t n;
        enum constant_place place;
    } cases[] = {{3, CONSTANT_RAW}, {65536, CONSTANT_RAW}, {65537, CONSTANT_ABSENT}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bytes graph = graph_of(*state, "x", "x");
        struct bytes tensor =
            tensor_of(*state, "w", 7, 1, (const int64_t[]){(int64_t)cases[i].n});
        for (size_t k = 0; k < cases[i].n; k++) put_number(&tensor, 7, (int64_t)k % 100);
        put_message(&graph, 5, tensor);
        struct loading loading = load_bytes(model_of(*state, graph));
        assert_int_equal(loading.status, CM_OK);
        assert_int_equal(value_named(&loading, "w")->constant->place, cases[i].place);
        loading_free(&loading);
    }
}

static void does_not_load_constants_that_a_pipe_has_passed(void **state) {
    uint64_t offset = 0;
    struct bytes model = model_with_raw(*state, 2000, &offset);
    for (int is_pipe = 0; is_pipe < 2; is_pipe++) {
        struct loading loading =
            is_pipe ? load_pipe(model.data, model.size) : load_bytes(model);
        const struct constant *loaded = NULL;
        assert_int_equal(loading.status, CM_OK);
        const int status =
            constant_load(value_named(&loading, "w")->constant, &loading.model->reader,
                          loading.arena, loading.diag, &loaded);
        assert_int_equal(status, CM_OK);
        if (!is_pipe) assert_int_equal(constant_int_at(loaded, 0), 0xAB);
        if (is_pipe) assert_null(loaded);
        loading_free(&loading);
    }
}

static void does_not_read_large_weights(void **state) {
    char path[TEMPORARY_PATH];
    temporary_path(path);
    struct bytes graph = graph_of(*state, "x", "x");
    struct bytes tensor = tensor_of(*state, "w", 2, 1, (const int64_t[]){1 << 30});
    put_varint(&tensor, 9 << 3 | 2);
    put_varint(&tensor, (uint64_t)1 << 30);
    put_varint(&graph, 5 << 3 | 2);
    put_varint(&graph, tensor.size + ((uint64_t)1 << 30));
    put_raw(&graph, tensor.data, tensor.size);
    struct bytes head = bytes_new(*state);
    put_number(&head, 1, 8);
    put_varint(&head, 7 << 3 | 2);
    put_varint(&head, graph.size + ((uint64_t)1 << 30));
    put_raw(&head, graph.data, graph.size);
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, head.data, head.size), head.size);
    assert_int_equal(ftruncate(fd, (off_t)head.size + (1 << 30)), 0);
    close(fd);
    struct loading loading = load_path(path);
    unlink(path);
    assert_int_equal(loading.status, CM_OK);
    assert_true(source_bytes_read(loading.source) <= 8192);
    assert_true(arena_used(loading.arena) < 65536);
    loading_free(&loading);
}

/* Returns a model with an If and a node after it; a node in the If's body has a name of
 * `letters` letters. */
static struct bytes model_with_body(struct arena *arena, size_t letters) {
    char *name = arena_alloc(arena, letters + 1);
    memset(name, 'n', letters);
    struct bytes body = graph_of(arena, "", "t");
    struct bytes graph = graph_of(arena, "c,x", "z");
    struct bytes node = node_of(arena, "If", "if", "c", "y");
    put_message(&body, 1, node_of(arena, "Relu", name, "x", "t"));
    put_message(&node, 5, graph_attribute(arena, "then_branch", body));
    put_message(&graph, 1, node);
    put_message(&graph, 1, node_of(arena, "Relu", "last", "y", "z"));
    return model_of(arena, graph);
}

/* skim adds a field to a node with a body, so the messages around it are longer than in the
 * file. A length that passes 127 or 16383 takes one byte more, too. */
static void rewrites_lengths_around_a_body(void **state) {
    static const struct {
        size_t first;
        size_t last;
    } ranges[] = {{1, 130}, {16270, 16390}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        for (size_t letters = ranges[i].first; letters <= ranges[i].last; letters++) {
            struct loading loading = load_bytes(model_with_body(*state, letters));
            assert_int_equal(loading.status, CM_OK);
            const struct node *nodes = loading.model->nodes;
            assert_int_equal(loading.model->n_nodes, 3);
            assert_string_equal(nodes[0].name, "if");
            assert_int_equal(strlen(nodes[1].name), letters);
            assert_string_equal(nodes[2].name, "last");
            for (uint32_t k = 0; k < 3; k++) assert_int_equal(nodes[k].ordinal, k);
            loading_free(&loading);
        }
}

/* The graph takes more than one piece and many windows of the file. */
static void reads_a_long_graph_from_a_file(void **state) {
    enum { N = 4000 };
    char path[TEMPORARY_PATH];
    temporary_path(path);
    struct bytes graph = graph_of(*state, "v0", "v4000");
    for (int i = 0; i < N; i++)
        put_message(&graph, 1,
                    node_of(*state, "Relu", arena_printf(*state, "/layer%d/Relu", i),
                            arena_printf(*state, "v%d", i),
                            arena_printf(*state, "v%d", i + 1)));
    struct bytes model = model_of(*state, graph);
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, model.data, model.size), model.size);
    close(fd);
    for (int from_file = 0; from_file < 2; from_file++) {
        struct loading loading = from_file ? load_path(path) : load_bytes(model);
        assert_int_equal(loading.status, CM_OK);
        assert_int_equal(loading.model->n_nodes, N);
        for (uint32_t i = 0; i < N; i++) {
            const struct node *node = &loading.model->nodes[i];
            assert_string_equal(node->name, arena_printf(*state, "/layer%u/Relu", i));
            assert_string_equal(value_name(loading.model, node->inputs[0]),
                                arena_printf(*state, "v%u", i));
        }
        loading_free(&loading);
    }
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_malformed_bytes_with_their_position),
        cmocka_unit_test(limits_nesting_without_stack_overflow),
        cmocka_unit_test(refuses_a_second_singular_message),
        cmocka_unit_test(limits_the_messages_in_a_message),
        cmocka_unit_test(refuses_a_long_name_from_its_header),
        cmocka_unit_test(refuses_an_empty_pipe),
        cmocka_unit_test(reports_where_a_pipe_ends),
        cmocka_unit_test(keeps_small_payloads_and_locates_large_ones),
        cmocka_unit_test(drops_private_fields_of_the_file),
        cmocka_unit_test(limits_unpacked_elements),
        cmocka_unit_test(does_not_load_constants_that_a_pipe_has_passed),
        cmocka_unit_test(does_not_read_large_weights),
        cmocka_unit_test(rewrites_lengths_around_a_body),
        cmocka_unit_test(reads_a_long_graph_from_a_file),
    };
    return cmocka_run_group_tests(tests, make, end);
}
