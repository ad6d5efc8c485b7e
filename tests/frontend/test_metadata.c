/* SPDX-License-Identifier: Apache-2.0 */
/* Module scopes in metadata_props, valid and malformed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frontend/wire/skim.h"
#include "loading.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/file.h"
#include "support/text.h"

#define SCOPES    "pkg.torch.onnx.name_scopes"
#define CLASSES   "pkg.torch.onnx.class_hierarchy"
#define NAMESPACE "namespace"
#define RULES     "pkg.onnxscript.rewriter.rule_name"

static int make(void **state) {
    *state = arena_new("test", 0);
    return *state == NULL;
}

static int end(void **state) {
    arena_free(*state);
    return 0;
}

static void put_property(struct bytes *node, const char *key, const char *value) {
    struct bytes entry = bytes_new(node->arena);
    put_text(&entry, 1, key);
    put_text(&entry, 2, value);
    put_message(node, 9, entry);
}

static struct bytes relu_model(struct arena *arena, struct bytes node) {
    struct bytes graph = graph_of(arena, "x", "y");
    put_message(&graph, 1, node);
    return model_of(arena, graph);
}

/* Returns ":Net layer1:Block"; "-" if no module is recorded. */
static const char *stack_text(struct arena *arena, const struct module_stack *stack) {
    struct text text;
    text_init(&text, arena);
    for (size_t i = 0; stack && i < stack->n; i++)
        text_printf(&text, "%s%s:%s", i > 0 ? " " : "", stack->entries[i].path,
                    stack->entries[i].class);
    return stack ? text_string(&text) : "-";
}

static void reads_module_scopes(void **state) {
    static const struct {
        const char *scopes;    /* NULL: no such entry */
        const char *classes;   /* or NULL */
        const char *namespace; /* or NULL */
        const char *modules;
    } rows[] = {
        {"['', 'layer1', 'layer1.0', 'conv2d']",
         "['net.Net', 'torch.nn.modules.container.Sequential', '__main__.f.<locals>.Block', "
         "'aten.conv2d.default']",
         NULL, ":Net layer1:Sequential layer1.0:Block"},
        {"['', 'fc', 'linear']", NULL, NULL, ": fc:"},
        {"['', 'fc', 'linear']", "['Net', 'Linear']", NULL, ": fc:"},
        {"['', 'add']", "['Net', 'aten.add.Tensor']", NULL, ":Net"},
        {"['add']", "['aten.add.Tensor']", NULL, "-"},
        {"[\"it's\",'b\\'c\\\\' , 'op']", NULL, NULL, "it's: b'c\\:"},
        {NULL, NULL, ": net.Net/a: torch.nn.Linear/relu: aten.relu.default", ":Net a:Linear"},
        {NULL, "['net.Net', 'op']", ": net.Net/relu: aten.relu.default", ":Net"},
        {"['_empty_nn_module_stack_from_metadata_hook', 'sym_size_int_1']", NULL, NULL, "-"},
        /* a malformed entry is ignored, and the next source is read */
        {"['', 'fc', 'linear'", NULL, ": net.Net/relu: aten.relu.default", ":Net"},
        {"['', 'fc', 'linear']x", NULL, NULL, "-"},
        {"['', 'fc, 'linear']", NULL, NULL, "-"},
        {"['', 'fc' 'linear']", NULL, NULL, "-"},
        {"['', fc, 'linear']", NULL, NULL, "-"},
        {"['', 'fc', 'linear\\", NULL, NULL, "-"},
        {"['', 'fc', ]", NULL, NULL, "-"},
        {"[]", NULL, NULL, "-"},
        {"[", NULL, NULL, "-"},
        {"", NULL, NULL, "-"},
        {"('', 'fc', 'linear')", NULL, NULL, "-"},
        {NULL, NULL, "net.Net", "-"},
        {NULL, NULL, "a/b: c", "-"},
        {NULL, NULL, "", "-"},
        {NULL, NULL, ": Net//relu: op", "-"},
        /* a path may begin as a list does */
        {NULL, NULL, "[a: Net/relu: op", "[a:Net"},
        {NULL, NULL, "['a': Net/relu: op", "['a':Net"},
        {NULL, NULL, NULL, "-"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bytes node = node_of(*state, "Relu", "r", "x", "y");
        put_property(&node, "other", "['not', 'read']");
        if (rows[i].namespace) put_property(&node, NAMESPACE, rows[i].namespace);
        if (rows[i].classes) put_property(&node, CLASSES, rows[i].classes);
        if (rows[i].scopes) put_property(&node, SCOPES, rows[i].scopes);
        struct loading loading = load_bytes(relu_model(*state, node));
        assert_int_equal(loading.status, CM_OK);
        assert_string_equal(stack_text(*state, loading.model->nodes[0].module_stack),
                            rows[i].modules);
        loading_free(&loading);
    }
}

static void marks_nodes_of_fusion_rules(void **state) {
    static const struct {
        const char *rules;
        bool fused;
        bool folds_norm;
    } rows[] = {
        {"FuseBatchNormIntoConv", true, true},
        {"RemoveOptionalBiasFromConv, FuseBatchNormIntoConv", true, true},
        {"RemoveOptionalBiasFromConv, FuseConvPad", true, false},
        {"MaterializeReshapeShape", false, false},
        {"", false, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bytes node = node_of(*state, "Relu", "r", "x", "y");
        put_property(&node, RULES, rows[i].rules);
        struct loading loading = load_bytes(relu_model(*state, node));
        assert_int_equal(loading.model->nodes[0].fused, rows[i].fused);
        assert_int_equal(loading.model->nodes[0].folds_norm, rows[i].folds_norm);
        loading_free(&loading);
    }
}

static void shares_the_place_of_a_module(void **state) {
    struct bytes graph = graph_of(*state, "x", "y");
    struct bytes first = node_of(*state, "Relu", "r", "x", "1");
    struct bytes second = node_of(*state, "Relu", "s", "1", "2");
    struct bytes third = node_of(*state, "Relu", "t", "2", "y");
    put_property(&first, SCOPES, "['', 'a', 'relu']");
    put_property(&second, SCOPES, "['', 'a', 'relu_1']");
    put_property(&third, SCOPES, "['', 'b', 'relu_2']");
    put_message(&graph, 1, first);
    put_message(&graph, 1, second);
    put_message(&graph, 1, third);
    struct loading loading = load_bytes(model_of(*state, graph));
    const struct node *nodes = loading.model->nodes;
    assert_ptr_equal(nodes[0].module_stack, nodes[1].module_stack);
    assert_string_equal(stack_text(*state, nodes[2].module_stack), ": b:");
    loading_free(&loading);
}

static void inherits_the_place_of_the_call(void **state) {
    struct bytes graph = graph_of(*state, "x", "y");
    struct bytes call = node_of(*state, "F", "f", "x", "y");
    struct bytes function = function_of(*state, "F", "a", "b");
    struct bytes own = node_of(*state, "Relu", "s", "t", "b");
    put_text(&call, 7, "local");
    put_property(&call, SCOPES, "['', 'outer', 'f']");
    put_property(&own, SCOPES, "['', 'inner', 'relu']");
    put_message(&function, 7, node_of(*state, "Relu", "r", "a", "t"));
    put_message(&function, 7, own);
    put_message(&graph, 1, call);
    struct bytes model = model_of(*state, graph);
    put_opset(&model, 8, "local", 1);
    put_message(&model, 25, function);
    struct loading loading = load_bytes(model);
    assert_int_equal(loading.status, CM_OK);
    assert_string_equal(stack_text(*state, loading.model->nodes[0].module_stack), ": outer:");
    assert_string_equal(stack_text(*state, loading.model->nodes[1].module_stack), ": inner:");
    assert_string_equal(stack_text(*state, loading.model->calls[0].module_stack), ": outer:");
    loading_free(&loading);
}

/* Returns a list of n empty names. */
static const char *list_of(struct arena *arena, size_t n) {
    char *list = arena_alloc(arena, 3 * n + 3);
    list[0] = '[';
    for (size_t i = 0; i < n; i++) memcpy(list + 1 + 3 * i, "'',", 3);
    memcpy(list + 3 * n, "]", 2);
    return list;
}

static void ignores_malformed_scopes(void **state) {
    static const struct {
        size_t n;
        size_t parts; /* 0: none recorded */
    } rows[] = {{3, 2}, {65, 64}, {2000, 64}, {1000000, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bytes node = node_of(*state, "Relu", "r", "x", "y");
        put_property(&node, SCOPES, list_of(*state, rows[i].n));
        struct loading loading = load_bytes(relu_model(*state, node));
        assert_int_equal(loading.status, CM_OK);
        const struct module_stack *stack = loading.model->nodes[0].module_stack;
        assert_int_equal(stack ? stack->n : 0, rows[i].parts);
        loading_free(&loading);
    }
}

/* Returns how many bytes skim keeps of a model with one node that has the entry. */
static size_t retained_of(struct arena *arena, const char *key, const char *value) {
    struct bytes node = node_of(arena, "Relu", "r", "x", "y");
    struct cm_diagnostics *diag = cm_diagnostics_new();
    struct source *source = NULL;
    struct skimmed skimmed = {0};
    if (key) put_property(&node, key, value);
    struct bytes model = relu_model(arena, node);
    assert_int_equal(source_open_memory(model.data, model.size, "model", diag, &source), CM_OK);
    assert_int_equal(skim(source, arena, diag, &skimmed), CM_OK);
    source_close(source);
    cm_diagnostics_free(diag);
    return skimmed.size;
}

static void drops_unread_metadata(void **state) {
    size_t bare = retained_of(*state, NULL, NULL);
    size_t most = bare + 2; /* the length of the node may take more bytes */
    assert_true(retained_of(*state, "pkg.torch.onnx.stack_trace", list_of(*state, 1000)) <=
                most);
    assert_true(retained_of(*state, SCOPES, list_of(*state, 100000)) <= most);
    assert_true(retained_of(*state, SCOPES, list_of(*state, 1000)) > bare + 3000);
    assert_true(retained_of(*state, RULES, "") > bare);
}

/* Protobuf does not require the key to come first. */
static void accepts_value_before_key(void **state) {
    struct bytes node = node_of(*state, "Relu", "r", "x", "y");
    struct bytes entry = bytes_new(*state);
    put_text(&entry, 2, "['', 'fc', 'linear']");
    put_text(&entry, 1, SCOPES);
    put_message(&node, 9, entry);
    struct loading loading = load_bytes(relu_model(*state, node));
    assert_string_equal(stack_text(*state, loading.model->nodes[0].module_stack), ": fc:");
    loading_free(&loading);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_module_scopes, make, end),
        cmocka_unit_test_setup_teardown(marks_nodes_of_fusion_rules, make, end),
        cmocka_unit_test_setup_teardown(shares_the_place_of_a_module, make, end),
        cmocka_unit_test_setup_teardown(inherits_the_place_of_the_call, make, end),
        cmocka_unit_test_setup_teardown(ignores_malformed_scopes, make, end),
        cmocka_unit_test_setup_teardown(drops_unread_metadata, make, end),
        cmocka_unit_test_setup_teardown(accepts_value_before_key, make, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
