/* SPDX-License-Identifier: Apache-2.0 */
/* Annotated copies of models: entries in metadata_props. */
#include "frontend/annotate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "loading.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/file.h"
#include "tests/temporary.h"

#define WEIGHTS 5000 /* bytes; skim does not keep that many */

struct annotated {
    uint8_t *data; /* allocated by open_memstream */
    size_t size;
    int status;
};

static int make(void **state) {
    *state = arena_new("test", 0);
    return *state == NULL;
}

static int end(void **state) {
    arena_free(*state);
    return 0;
}

/* With note "#", node 3 gets the entry costmodel.n = "#3", the model "model"; with "" none. */
struct noting {
    const char *note;
};

static void annotate(void *context, uint32_t ordinal, struct annotation *annotation) {
    char value[16] = "model";
    const struct noting *noting = context;
    if (noting->note[0] == '\0') return;
    if (ordinal != ANNOTATE_MODEL)
        snprintf(value, sizeof(value), "%s%u", noting->note, ordinal);
    annotation_add(annotation, "costmodel.n", value);
}

static struct annotated annotate_with_diag(const void *data, size_t size, const char *note,
                                           uint32_t n_nodes, struct cm_diagnostics *diag) {
    struct noting noting = {note};
    const struct annotator annotator = {"costmodel.", n_nodes, annotate, &noting};
    struct annotated ret = {NULL, 0, CM_OK};
    struct source *source = NULL;
    char *text = NULL;
    FILE *out = open_memstream(&text, &ret.size);
    assert_non_null(out);
    assert_int_equal(source_open_memory(data, size, "test", diag, &source), CM_OK);
    ret.status = annotate_write(source, &annotator, diag, out);
    fclose(out);
    source_close(source);
    ret.data = (uint8_t *)text;
    return ret;
}

static struct annotated annotate_bytes(const void *data, size_t size, const char *note,
                                       uint32_t n_nodes) {
    return annotate_with_diag(data, size, note, n_nodes, NULL);
}

static struct bytes entry_of(struct arena *arena, const char *key, const char *value) {
    struct bytes entry = bytes_new(arena);
    put_text(&entry, 1, key);
    put_text(&entry, 2, value);
    return entry;
}

static struct bytes tensor_with_weights(struct arena *arena) {
    static const int64_t dims[] = {WEIGHTS / 4};
    char raw[WEIGHTS];
    struct bytes tensor = tensor_of(arena, "w", 1, 1, dims);
    for (size_t i = 0; i < sizeof(raw); i++) raw[i] = (char)(i * 7);
    put_blob(&tensor, 9, raw, sizeof(raw));
    return tensor;
}

/*
 * Nodes by ordinal: 0 If with 1 and 2 in its branches, 3 a call, 4 in the function. Node n has
 * the entry costmodel.n = "<note>n", the model "model"; no entries if `note` is "".
 */
static struct bytes model_with(struct arena *arena, const char *note) {
    struct bytes nodes[5];
    struct bytes then_graph = graph_of(arena, "", "t");
    struct bytes else_graph = graph_of(arena, "", "e");
    struct bytes graph = graph_of(arena, "c,x", "y");
    struct bytes function = function_of(arena, "twice", "a", "b");
    nodes[0] = node_of(arena, "If", "if", "c", "z");
    nodes[1] = node_of(arena, "Relu", "then", "x", "t");
    nodes[2] = node_of(arena, "Neg", "else", "x", "e");
    nodes[3] = node_of(arena, "twice", "call", "z", "y");
    nodes[4] = node_of(arena, "Abs", "body", "a", "b");
    put_text(&nodes[3], 7, "local");
    put_message(&nodes[1], 9, entry_of(arena, "other", "kept"));
    for (int i = 1; i < 5 && note[0]; i++) {
        char value[16];
        snprintf(value, sizeof(value), "%s%d", note, i);
        put_message(&nodes[i], 9, entry_of(arena, "costmodel.n", value));
    }
    put_message(&then_graph, 1, nodes[1]);
    put_message(&else_graph, 1, nodes[2]);
    put_message(&nodes[0], 5, graph_attribute(arena, "then_branch", then_graph));
    put_message(&nodes[0], 5, graph_attribute(arena, "else_branch", else_graph));
    if (note[0]) {
        char value[16];
        snprintf(value, sizeof(value), "%s0", note);
        put_message(&nodes[0], 9, entry_of(arena, "costmodel.n", value));
    }
    put_message(&graph, 1, nodes[0]);
    put_message(&graph, 5, tensor_with_weights(arena));
    put_message(&graph, 1, nodes[3]);
    put_message(&function, 7, nodes[4]);
    struct bytes model = model_of(arena, graph);
    put_opset(&model, 8, "local", 1);
    put_message(&model, 25, function);
    if (note[0]) put_message(&model, 14, entry_of(arena, "costmodel.n", "model"));
    return model;
}

static void assert_same(const struct annotated *have, struct bytes want) {
    assert_int_equal(have->status, CM_OK);
    assert_int_equal(have->size, want.size);
    assert_memory_equal(have->data, want.data, want.size);
}

/* The annotated model equals, byte for byte, the model encoded with the entries. */
static void appends_entries_to_every_node(void **state) {
    struct bytes plain = model_with(*state, "");
    struct annotated annotated = annotate_bytes(plain.data, plain.size, "#", 5);
    assert_same(&annotated, model_with(*state, "#"));
    free(annotated.data);
}

static void replaces_old_entries(void **state) {
    struct bytes old = model_with(*state, "a longer");
    struct annotated annotated = annotate_bytes(old.data, old.size, "#", 5);
    assert_same(&annotated, model_with(*state, "#"));
    free(annotated.data);
}

static void removes_old_entries_without_new_ones(void **state) {
    struct bytes old = model_with(*state, "#");
    struct annotated annotated = annotate_bytes(old.data, old.size, "", 5);
    assert_same(&annotated, model_with(*state, ""));
    free(annotated.data);
}

/* A varint of a length may be padded; messages without nodes keep the padding. */
static void copies_messages_without_nodes_unchanged(void **state) {
    static const uint8_t padded[] = {0x12, 0x83, 0x80, 0x00, 'a', 'b', 'c'};
    struct bytes plain = model_with(*state, "");
    put_raw(&plain, padded, sizeof(padded));
    struct annotated annotated = annotate_bytes(plain.data, plain.size, "", 5);
    assert_same(&annotated, plain);
    free(annotated.data);
}

static void annotates_each_node_by_its_ordinal(void **state) {
    static const struct {
        const char *name;
        uint32_t ordinal;
    } nodes[] = {{"if", 0}, {"then", 1}, {"else", 2}, {"call/body", 4}};
    struct loading loading = load_bytes(model_with(*state, ""));
    assert_int_equal(loading.status, CM_OK);
    assert_int_equal(loading.model->n_nodes, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct node *node = &loading.model->nodes[i];
        assert_string_equal(node->name, nodes[i].name);
        assert_int_equal(node->ordinal, nodes[i].ordinal);
    }
    assert_int_equal(loading.model->calls[0].ordinal, 3);
    loading_free(&loading);
}

static void refuses_a_file_that_has_changed(void **state) {
    struct bytes plain = model_with(*state, "");
    for (size_t size = 0; size < plain.size; size += 1 + size / 50) {
        struct annotated annotated = annotate_bytes(plain.data, size, "#", 5);
        assert_int_equal(annotated.status, CM_REFUSED);
        free(annotated.data);
    }
}

static void refuses_a_file_with_fewer_nodes(void **state) {
    struct bytes plain = model_with(*state, "");
    struct cm_diagnostics *diag = cm_diagnostics_new();
    struct annotated annotated = annotate_with_diag(plain.data, plain.size, "#", 6, diag);
    assert_int_equal(annotated.status, CM_REFUSED);
    assert_int_equal(annotated.size, 0);
    assert_string_equal(cm_diagnostics_get(diag, 0)->message,
                        "the file has changed since it was read (at byte 5319)");
    free(annotated.data);
    cm_diagnostics_free(diag);
}

/* Expects that a file of `begin`, a hole of `hole` bytes and `rest` is refused. */
static void refuse_large(struct bytes begin, uint64_t hole, struct bytes rest,
                         const char *message) {
    const struct annotator annotator = {"costmodel.", 1, annotate, &(struct noting){"#"}};
    char path[TEMPORARY_PATH];
    temporary_path(path);
    char *text = NULL;
    size_t size = 0;
    struct source *source = NULL;
    struct cm_diagnostics *diag = cm_diagnostics_new();
    FILE *out = open_memstream(&text, &size);
    const int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, begin.data, begin.size), (ssize_t)begin.size);
    assert_int_equal(pwrite(file, rest.data, rest.size, (off_t)(begin.size + hole)),
                     (ssize_t)rest.size);
    close(file);
    assert_int_equal(source_open(path, diag, &source), CM_OK);
    assert_int_equal(annotate_write(source, &annotator, diag, out), CM_REFUSED);
    assert_string_equal(cm_diagnostics_get(diag, 0)->message, message);
    fclose(out);
    assert_int_equal(size, 0);
    free(text);
    source_close(source);
    cm_diagnostics_free(diag);
    unlink(path);
}

/* The model, then the graph, is 10 bytes below the limit; the node gets 19, the model 22. */
static void refuses_results_larger_than_protobuf_allows(void **state) {
    const uint64_t most = INT32_MAX - 10;
    struct bytes graph = graph_of(*state, "x", "y");
    struct bytes inside = bytes_new(*state);
    struct bytes model = bytes_new(*state);
    put_message(&graph, 1, node_of(*state, "Relu", "n", "x", "y"));
    struct bytes rest = model_of(*state, graph);
    const uint64_t beside = most - rest.size - 6;
    put_varint(&model, 6 << 3 | 2);
    put_varint(&model, beside);
    refuse_large(
        model, beside, rest,
        "the annotated model would take 2147483678 bytes, protobuf allows at most 2147483647");
    put_varint(&inside, 7 << 3 | 2);
    put_varint(&inside, most);
    put_raw(&inside, graph.data, graph.size);
    put_varint(&inside, 10 << 3 | 2);
    put_varint(&inside, most - graph.size - 6);
    refuse_large(inside, most - graph.size - 6, model_of(*state, graph_of(*state, "", "")),
                 "annotated, a graph would take more than 2 GiB");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(appends_entries_to_every_node, make, end),
        cmocka_unit_test_setup_teardown(replaces_old_entries, make, end),
        cmocka_unit_test_setup_teardown(removes_old_entries_without_new_ones, make, end),
        cmocka_unit_test_setup_teardown(copies_messages_without_nodes_unchanged, make, end),
        cmocka_unit_test_setup_teardown(annotates_each_node_by_its_ordinal, make, end),
        cmocka_unit_test_setup_teardown(refuses_a_file_that_has_changed, make, end),
        cmocka_unit_test_setup_teardown(refuses_a_file_with_fewer_nodes, make, end),
        cmocka_unit_test_setup_teardown(refuses_results_larger_than_protobuf_allows, make, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
