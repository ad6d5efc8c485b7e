/* SPDX-License-Identifier: Apache-2.0 */
/* Import into the IR: names, order, types, constants, attributes, bodies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "loading.h"
#include "support/arena.h"

static int make(void **state) {
    *state = arena_new("test", 0);
    return *state == NULL;
}

static int end(void **state) {
    arena_free(*state);
    return 0;
}

static const struct {
    const char *nodes[4][4]; /* type, name, inputs, outputs */
    const char *message;
    const char *place;
    const char *node;
} broken_graphs[] = {
    {{{"Relu", "r", "gone", "y"}},
     "graph: input 'gone' is not defined",
     "at node 0 \"r\", Relu",
     "r"},
    {{{"Relu", "r", "x", "other"}}, "graph: output 'y' is not defined", "", NULL},
    {{{"", "r", "x", "y"}}, "graph: the node has no operator type", "at node 0 \"r\", ", "r"},
    {{{"Relu", "", "gone", "y"}},
     "graph: input 'gone' is not defined",
     "at node 0, Relu",
     "#0"},
    {{{"Relu", "a", "x", "y"}, {"Relu", "b", "x", "y"}},
     "graph: the name 'y' is defined twice",
     "at node 1 \"b\", Relu",
     "b"},
    {{{"Relu", "a", "x", "x"}, {"Relu", "b", "x", "y"}},
     "graph: the name 'x' is defined twice",
     "at node 0 \"a\", Relu",
     "a"},
    {{{"Add", "a", "x,q", "p"}, {"Relu", "b", "p", "q"}, {"Relu", "c", "q", "y"}},
     "graph: node 0 'a' (Add) depends on its own output: the graph has a cycle",
     "",
     NULL},
    {{{"Relu", "a", "y", "y"}},
     "graph: node 0 'a' (Relu) depends on its own output: the graph has a cycle",
     "",
     NULL},
};

static void refuses_undefined_and_duplicate_names_at_their_node(void **state) {
    for (size_t i = 0; i < sizeof broken_graphs / sizeof broken_graphs[0]; i++) {
        struct bytes graph = graph_of(*state, "x", "y");
        for (size_t k = 0; k < 4 && broken_graphs[i].nodes[k][0] != NULL; k++) {
            const char *const *node = broken_graphs[i].nodes[k];
            put_message(&graph, 1, node_of(*state, node[0], node[1], node[2], node[3]));
        }
        struct loading loading = load_bytes(model_of(*state, graph));
        assert_int_equal(loading.status, CM_REFUSED);
        assert_string_equal(loading_message(&loading), broken_graphs[i].message);
        assert_string_equal(loading_place(&loading), broken_graphs[i].place);
        const struct cm_diagnostic *first = cm_diagnostics_get(loading.diag, 0);
        if (broken_graphs[i].node != NULL) {
            assert_string_equal(first->node, broken_graphs[i].node);
        }
        loading_free(&loading);
    }
}

static void sorts_nodes_with_a_note(void **state) {
    struct bytes graph = graph_of(*state, "x", "y");
    put_message(&graph, 1, node_of(*state, "Relu", "last", "q", "y"));
    put_message(&graph, 1, node_of(*state, "Relu", "middle", "p", "q"));
    put_message(&graph, 1, node_of(*state, "Relu", "first", "x", "p"));
    put_message(&graph, 1,
                node_of(*state, "Relu", "side", "p", "z")); /* no other depends on it */
    struct loading loading = load_bytes(model_of(*state, graph));
    static const char *const want[] = {"first", "middle", "last", "side"};
    assert_int_equal(loading.status, CM_OK);
    for (size_t i = 0; i < 4; i++) {
        const uint32_t node = loading.model->graphs[0].nodes[i];
        assert_string_equal(loading.model->nodes[node].name, want[i]);
    }
    assert_string_equal(loading_message(&loading),
                        "graph: the nodes were not in topological order and have been sorted");
    assert_int_equal(cm_diagnostics_get(loading.diag, 0)->severity, CM_NOTE);
    loading_free(&loading);
}

static void accepts_missing_and_equal_node_names(void **state) {
    struct bytes graph = graph_of(*state, "x", "y");
    put_message(&graph, 1, node_of(*state, "Relu", "", "x", "p"));
    put_message(&graph, 1, node_of(*state, "Relu", "same", "p", "q"));
    put_message(&graph, 1, node_of(*state, "Relu", "same", "q", "y"));
    struct loading loading = load_bytes(model_of(*state, graph));
    assert_int_equal(loading.status, CM_OK);
    assert_string_equal(loading.model->nodes[0].name, "");
    assert_string_equal(loading.model->nodes[2].name, "same");
    loading_free(&loading);
}

static void gives_omitted_operands_no_value(void **state) {
    struct bytes graph = graph_of(*state, "x", "y");
    put_message(&graph, 1, node_of(*state, "Clip", "clip", "x,,x", "y"));
    struct loading loading = load_bytes(model_of(*state, graph));
    assert_int_equal(loading.status, CM_OK);
    assert_int_equal(loading.model->nodes[0].n_inputs, 3);
    assert_int_equal(loading.model->nodes[0].inputs[1], ID_NONE);
    assert_int_equal(value_named(&loading, "x")->n_uses, 2);
    loading_free(&loading);
}

static struct bytes relu_graph(struct arena *arena) {
    struct bytes graph = graph_of(arena, "x", "y");
    put_message(&graph, 1, node_of(arena, "Relu", "r", "x", "y"));
    return graph;
}

static void refuses_models_without_graph_opset_or_ir_version(void **state) {
    struct bytes model = bytes_new(*state);
    put_number(&model, 1, 8);
    assert_refused(model, "format: not an ONNX model: the file has no graph");
    put_message(&model, 7, relu_graph(*state));
    assert_refused(model, "opset: no opset import for domain 'ai.onnx'");
    model = bytes_new(*state);
    put_message(&model, 7, relu_graph(*state));
    assert_refused(model, "format: not an ONNX model: ir_version is missing or < 1");
}

static void warns_about_a_newer_ir_version(void **state) {
    struct bytes model = bytes_new(*state);
    put_number(&model, 1, 15);
    put_message(&model, 7, relu_graph(*state));
    put_opset(&model, 8, "ai.onnx", 13);
    struct loading loading = load_bytes(model);
    assert_int_equal(loading.status, CM_OK);
    assert_string_equal(loading_message(&loading),
                        "format: IR version 15 is newer than 14, the newest supported version");
    assert_int_equal(cm_diagnostics_get(loading.diag, 0)->severity, CM_WARNING);
    assert_int_equal(loading.model->nodes[0].opset, 13);
    assert_string_equal(loading.model->opsets[0].domain, "");
    loading_free(&loading);
}

static void assumes_opset_1_for_domains_without_import(void **state) {
    struct bytes graph = graph_of(*state, "x", "y");
    struct bytes node = node_of(*state, "Odd", "o", "x", "y");
    put_text(&node, 7, "com.example");
    put_message(&graph, 1, node);
    struct loading loading = load_bytes(model_of(*state, graph));
    assert_int_equal(loading.status, CM_OK);
    assert_string_equal(loading.model->nodes[0].domain, "com.example");
    assert_int_equal(loading.model->nodes[0].opset, 1);
    loading_free(&loading);
}

static void keeps_producer(void **state) {
    struct bytes graph = graph_of(*state, "x", "y");
    struct bytes node = node_of(*state, "Relu", "r", "x", "y");
    put_message(&graph, 1, node);
    struct bytes model = model_of(*state, graph);
    put_text(&model, 2, "pytorch");
    put_text(&model, 3, "1.13");
    struct loading loading = load_bytes(model);
    assert_int_equal(loading.status, CM_OK);
    assert_string_equal(loading.model->producer, "pytorch 1.13");
    loading_free(&loading);
}

/* relu_graph with one more initializer. */
static struct bytes model_with(struct arena *arena, struct bytes tensor) {
    struct bytes graph = relu_graph(arena);
    put_message(&graph, 5, tensor);
    return model_of(arena, graph);
}

static void treats_an_initializer_as_the_default_of_an_input(void **state) {
    struct bytes graph = graph_of(*state, "x,w", "y");
    put_message(&graph, 1, node_of(*state, "Add", "a", "x,w", "y"));
    put_message(&graph, 5, tensor_of(*state, "w", 1, 1, (const int64_t[]){1}));
    struct loading loading = load_bytes(model_of(*state, graph));
    assert_int_equal(loading.status, CM_OK);
    assert_int_equal(value_named(&loading, "w")->origin, VALUE_INPUT);
    assert_non_null(value_named(&loading, "w")->constant);
    assert_int_equal(loading.model->graphs[0].n_inputs, 2);
    loading_free(&loading);
}

static void refuses_invalid_dims_of_initializers(void **state) {
    static const struct {
        size_t rank;
        int64_t dims[3];
        int dtype;
        const char *message;
    } cases[] = {
        {2, {2, -1}, 1, "value: dim 1 of tensor 'w' must be >= 0, got -1"},
        {1,
         {INT64_MIN},
         1,
         "value: dim 0 of tensor 'w' must be >= 0, got -9223372036854775808"},
        {2,
         {(int64_t)1 << 62, 4},
         1,
         "overflow: the number of elements of tensor 'w' exceeds 2^63"},
        {1, {1}, 0, "type: tensor 'w' has data type 0, which does not exist"},
        {1, {1}, 99, "type: tensor 'w' has data type 99, which does not exist"},
        {1, {1}, -1, "type: tensor 'w' has data type -1, which does not exist"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_refused(model_with(*state, tensor_of(*state, "w", cases[i].dtype, cases[i].rank,
                                                    cases[i].dims)),
                       cases[i].message);
    }
    int64_t many[65] = {0};
    assert_refused(model_with(*state, tensor_of(*state, "w", 1, 65, many)),
                   "limit: tensor 'w' must have at most 64 dims, got 65");
}

static void accepts_huge_dims_and_empty_tensors(void **state) {
    static const int64_t dims[][3] = {{(int64_t)1 << 62, 1, 1}, {0, (int64_t)1 << 62, 4}};
    for (size_t i = 0; i < 2; i++) {
        struct loading loading =
            load_bytes(model_with(*state, tensor_of(*state, "w", 1, 3, dims[i])));
        assert_int_equal(loading.status, CM_OK);
        assert_int_equal(value_named(&loading, "w")->constant->n_elements,
                         i == 0 ? (int64_t)1 << 62 : 0);
        loading_free(&loading);
    }
}

static void refuses_an_initializer_defined_twice(void **state) {
    struct bytes graph = relu_graph(*state);
    put_message(&graph, 5, tensor_of(*state, "w", 1, 1, (const int64_t[]){1}));
    put_message(&graph, 5, tensor_of(*state, "w", 1, 1, (const int64_t[]){1}));
    assert_refused(model_of(*state, graph), "graph: the name 'w' is defined twice");
}

static void imports_sparse_initializers_without_contents(void **state) {
    struct bytes graph = relu_graph(*state);
    struct bytes sparse = bytes_new(*state);
    put_message(&sparse, 1, tensor_of(*state, "w", 1, 1, (const int64_t[]){2}));
    put_number(&sparse, 3, 1000);
    put_number(&sparse, 3, 1000);
    put_message(&graph, 15, sparse);
    struct loading loading = load_bytes(model_of(*state, graph));
    assert_int_equal(loading.status, CM_OK);
    const struct constant *constant = value_named(&loading, "w")->constant;
    assert_int_equal(constant->place, CONSTANT_ABSENT);
    assert_int_equal(constant->n_elements, 1000000);
    loading_free(&loading);
}

/* A dtype, the field of TensorProto that holds its elements, and the expected contents. */
static const struct {
    int dtype;
    uint32_t field;
    int64_t bits;
    double want;
} elements[] = {
    {6, 5, -7, -7},       {3, 5, -7, -7},       {2, 5, 200, 200}, {4, 5, 65535, 65535},
    {5, 5, -2, -2},       {9, 5, 1, 1},         {7, 7, -9, -9},   {12, 11, 4000000000, 4e9},
    {10, 5, 0x3C00, 1.0}, {16, 5, 0x4000, 2.0}, {17, 5, 0x38, 1}, {13, 11, 5, 5},
    {22, 5, 0x0F, -1},    {21, 5, 0x0F, 15},
};

static void reads_typed_elements_in_their_dtype(void **state) {
    for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++) {
        struct bytes tensor =
            tensor_of(*state, "w", elements[i].dtype, 1, (const int64_t[]){1});
        put_number(&tensor, elements[i].field, elements[i].bits);
        struct loading loading = load_bytes(model_with(*state, tensor));
        const struct constant *loaded = NULL;
        assert_int_equal(loading.status, CM_OK);
        assert_int_equal(constant_load(value_named(&loading, "w")->constant,
                                       &loading.model->reader, loading.arena, loading.diag,
                                       &loaded),
                         CM_OK);
        assert_non_null(loaded);
        assert_true(value_named(&loading, "w")->constant->is_typed);
        const double have = constant_has_ints(loaded) ? (double)constant_int_at(loaded, 0)
                                                      : constant_real_at(loaded, 0);
        assert_true(have == elements[i].want);
        loading_free(&loading);
    }
}

static void reports_too_few_elements_when_loaded(void **state) {
    struct bytes tensor = tensor_of(*state, "w", 7, 1, (const int64_t[]){2});
    put_number(&tensor, 7, 1);
    struct loading loading = load_bytes(model_with(*state, tensor));
    const struct constant *loaded = NULL;
    assert_int_equal(loading.status, CM_OK);
    assert_int_equal(constant_load(value_named(&loading, "w")->constant, &loading.model->reader,
                                   loading.arena, loading.diag, &loaded),
                     CM_REFUSED);
    assert_string_equal(loading_message(&loading),
                        "value: tensor of 2 elements of int64 must have 16 bytes, got 8");
    loading_free(&loading);
}

static void imports_static_symbolic_and_unknown_dims(void **state) {
    struct bytes shape = bytes_new(*state);
    struct bytes tensor = bytes_new(*state);
    struct bytes type = bytes_new(*state);
    struct bytes value = bytes_new(*state);
    struct bytes dim = bytes_new(*state);
    put_text(&dim, 2, "batch");
    put_message(&shape, 1, dim);
    dim = bytes_new(*state);
    put_number(&dim, 1, 3);
    put_message(&shape, 1, dim);
    put_message(&shape, 1, bytes_new(*state));
    put_number(&tensor, 1, 10);
    put_message(&tensor, 2, shape);
    put_message(&type, 1, tensor);
    put_text(&value, 1, "x");
    put_message(&value, 2, type);
    struct bytes graph = graph_of(*state, "", "x");
    put_message(&graph, 11, value);
    struct loading loading = load_bytes(model_of(*state, graph));
    assert_int_equal(loading.status, CM_OK);
    const struct type *have = value_named(&loading, "x")->type;
    assert_int_equal(have->kind, CM_TYPE_TENSOR);
    assert_int_equal(have->dtype, DTYPE_FLOAT16);
    assert_int_equal(have->shape.rank, 3);
    assert_string_equal(have->symbols[0], "batch");
    assert_int_equal(have->shape.dims[0], DIM_UNKNOWN);
    assert_int_equal(have->shape.dims[1], 3);
    assert_int_equal(have->shape.dims[2], DIM_UNKNOWN);
    loading_free(&loading);
}

static struct bytes nested(struct arena *arena, uint32_t field, struct bytes inner) {
    struct bytes outer = bytes_new(arena);
    put_message(&outer, field, inner);
    return outer;
}

/* The value or name of a dim, and the kind of a type, are oneofs; onnx.load reads the same. */
static void uses_the_last_field_of_a_oneof(void **state) {
    for (int value_last = 0; value_last < 2; value_last++) {
        struct bytes dim = bytes_new(*state);
        if (!value_last) put_number(&dim, 1, 7);
        put_text(&dim, 2, "batch");
        if (value_last) put_number(&dim, 1, 7);
        const struct bytes tensor = nested(*state, 2, nested(*state, 1, dim));
        for (int tensor_last = 0; tensor_last < 2; tensor_last++) {
            struct bytes type = bytes_new(*state);
            if (tensor_last) put_message(&type, 4, bytes_new(*state));
            put_message(&type, 1, tensor);
            if (!tensor_last) put_message(&type, 4, bytes_new(*state));
            struct bytes value = nested(*state, 2, type);
            put_text(&value, 1, "x");
            struct bytes graph = graph_of(*state, "", "x");
            put_message(&graph, 11, value);
            struct loading loading = load_bytes(model_of(*state, graph));
            assert_int_equal(loading.status, CM_OK);
            const struct type *have = value_named(&loading, "x")->type;
            assert_int_equal(have->kind, tensor_last ? CM_TYPE_TENSOR : CM_TYPE_SEQUENCE);
            if (tensor_last) {
                assert_int_equal(have->shape.dims[0], value_last ? 7 : DIM_UNKNOWN);
                assert_int_equal(have->symbols[0] != NULL, !value_last);
            }
            loading_free(&loading);
        }
    }
}

/* As written by PaddlePaddle's exporter. */
static void treats_negative_dims_as_anonymous_symbolic_dims(void **state) {
    struct bytes graph = graph_of(*state, "", "y");
    put_message(&graph, 11, value_of(*state, "x", 2, (const int64_t[]){1, -1}));
    put_message(&graph, 1, node_of(*state, "Relu", "r", "x", "y"));
    struct loading loading = load_bytes(model_of(*state, graph));
    assert_int_equal(loading.status, CM_OK);
    const struct type *have = value_named(&loading, "x")->type;
    assert_int_equal(have->shape.dims[0], 1);
    assert_int_equal(have->shape.dims[1], DIM_UNKNOWN);
    assert_null(have->symbols[1]);
    loading_free(&loading);
}

/* Two '?' are different dims. */
static void treats_question_mark_as_an_anonymous_symbolic_dim(void **state) {
    struct bytes dim = bytes_new(*state);
    put_text(&dim, 2, "?");
    const struct bytes shape = nested(*state, 2, nested(*state, 1, dim));
    struct bytes value = nested(*state, 2, nested(*state, 1, shape));
    put_text(&value, 1, "x");
    struct bytes graph = graph_of(*state, "", "x");
    put_message(&graph, 11, value);
    struct loading loading = load_bytes(model_of(*state, graph));
    assert_int_equal(loading.status, CM_OK);
    const struct type *have = value_named(&loading, "x")->type;
    assert_int_equal(have->shape.rank, 1);
    assert_int_equal(have->shape.dims[0], DIM_UNKNOWN);
    assert_null(have->symbols[0]);
    loading_free(&loading);
}

static void keeps_the_element_type_of_sequences_and_optionals(void **state) {
    static const struct {
        uint32_t field;
        enum cm_type_kind kind;
    } cases[] = {{4, CM_TYPE_SEQUENCE}, {9, CM_TYPE_OPTIONAL}};
    for (size_t i = 0; i < 2; i++) {
        struct bytes tensor = bytes_new(*state);
        struct bytes element = bytes_new(*state);
        struct bytes wrapper = bytes_new(*state);
        struct bytes type = bytes_new(*state);
        struct bytes value = bytes_new(*state);
        put_number(&tensor, 1, 7);
        put_message(&element, 1, tensor);
        put_message(&wrapper, 1, element);
        put_message(&type, cases[i].field, wrapper);
        put_text(&value, 1, "x");
        put_message(&value, 2, type);
        struct bytes graph = graph_of(*state, "", "x");
        put_message(&graph, 11, value);
        struct loading loading = load_bytes(model_of(*state, graph));
        assert_int_equal(loading.status, CM_OK);
        const struct type *have = value_named(&loading, "x")->type;
        assert_int_equal(have->kind, cases[i].kind);
        assert_int_equal(have->element->kind, CM_TYPE_TENSOR);
        assert_int_equal(have->element->dtype, DTYPE_INT64);
        assert_int_equal(have->element->shape.rank, RANK_UNKNOWN);
        loading_free(&loading);
    }
}

static struct bytes model_with_attribute(struct arena *arena, struct bytes attribute) {
    struct bytes graph = graph_of(arena, "x", "y");
    struct bytes node = node_of(arena, "Relu", "r", "x", "y");
    put_message(&node, 5, attribute);
    put_message(&graph, 1, node);
    return model_of(arena, graph);
}

static void refuses_attributes_that_contradict_their_kind(void **state) {
    struct bytes attribute = bytes_new(*state);
    put_text(&attribute, 1, "axis");
    put_float(&attribute, 7, 1.5F);
    put_number(&attribute, 20, 2);
    assert_refused(model_with_attribute(*state, attribute),
                   "attribute: attribute 'axis' must hold int as declared, got floats");
    attribute = bytes_new(*state);
    put_text(&attribute, 1, "value");
    put_number(&attribute, 20, 4);
    assert_refused(model_with_attribute(*state, attribute),
                   "attribute: attribute 'value' must hold tensor as declared, got nothing");
}

static void derives_the_attribute_kind_from_its_contents_in_old_files(void **state) {
    struct bytes attribute = bytes_new(*state);
    put_text(&attribute, 1, "axes");
    put_number(&attribute, 8, 2);
    put_number(&attribute, 8, -1);
    struct loading loading = load_bytes(model_with_attribute(*state, attribute));
    assert_int_equal(loading.status, CM_OK);
    const struct attr *have = node_attr(&loading.model->nodes[0], "axes");
    assert_int_equal(have->kind, ATTR_INTS);
    assert_int_equal(have->n, 2);
    assert_int_equal(have->ints[1], -1);
    loading_free(&loading);
}

static void treats_scalars_omitted_by_proto3_as_zero(void **state) {
    struct bytes attribute = bytes_new(*state);
    put_text(&attribute, 1, "axis");
    put_number(&attribute, 20, 2);
    struct loading loading = load_bytes(model_with_attribute(*state, attribute));
    assert_int_equal(loading.status, CM_OK);
    assert_int_equal(node_attr(&loading.model->nodes[0], "axis")->kind, ATTR_INT);
    assert_int_equal(node_attr(&loading.model->nodes[0], "axis")->i, 0);
    loading_free(&loading);
}

static void resolves_outer_values_in_bodies(void **state) {
    struct bytes body = graph_of(*state, "", "t");
    struct bytes graph = graph_of(*state, "c,x", "y");
    struct bytes node = node_of(*state, "If", "if", "c", "y");
    put_message(&body, 1, node_of(*state, "Relu", "in", "p", "t"));
    put_message(&node, 5, graph_attribute(*state, "then_branch", body));
    put_message(&node, 5, graph_attribute(*state, "else_branch", body));
    put_message(&graph, 1, node_of(*state, "Neg", "before", "x", "p"));
    put_message(&graph, 1, node);
    struct loading loading = load_bytes(model_of(*state, graph));
    assert_int_equal(loading.status, CM_OK);
    const struct model *model = loading.model;
    assert_int_equal(model->n_graphs, 3);
    assert_int_equal(model->graphs[1].parent, 0);
    assert_int_equal(model->graphs[1].owner, 1);
    const struct node *inner = &model->nodes[model->graphs[2].nodes[0]];
    assert_string_equal(model->values[inner->inputs[0]].name, "p");
    assert_int_equal(model->values[inner->inputs[0]].graph, 0);
    assert_int_equal(value_named(&loading, "p")->n_uses, 2);
    loading_free(&loading);
}

static void sorts_nodes_after_outer_values_of_their_bodies(void **state) {
    struct bytes body = graph_of(*state, "", "t");
    struct bytes graph = graph_of(*state, "c,x", "y");
    struct bytes node = node_of(*state, "If", "if", "c", "y");
    put_message(&body, 1, node_of(*state, "Relu", "in", "p", "t"));
    put_message(&node, 5, graph_attribute(*state, "then_branch", body));
    put_message(&graph, 1, node);
    put_message(&graph, 1, node_of(*state, "Neg", "after", "x", "p"));
    struct loading loading = load_bytes(model_of(*state, graph));
    assert_int_equal(loading.status, CM_OK);
    assert_string_equal(loading.model->nodes[loading.model->graphs[0].nodes[0]].name, "after");
    loading_free(&loading);
}

static void allows_bodies_to_shadow_outer_names(void **state) {
    static const char *const names[] = {"y",
                                        "later"}; /* the node's own output, a later output */
    for (size_t i = 0; i < 2; i++) {
        struct bytes body = graph_of(*state, "", names[i]);
        struct bytes graph = graph_of(*state, "c,x", "y");
        struct bytes node = node_of(*state, "If", "if", "c", i == 0 ? "y" : "m");
        put_message(&body, 1, node_of(*state, "Relu", "in", "x", names[i]));
        put_message(&node, 5, graph_attribute(*state, "then_branch", body));
        put_message(&graph, 1, node);
        if (i == 1) put_message(&graph, 1, node_of(*state, "Neg", "n", "m", "later"));
        if (i == 1) put_message(&graph, 1, node_of(*state, "Abs", "a", "later", "y"));
        struct loading loading = load_bytes(model_of(*state, graph));
        assert_int_equal(loading.status, CM_OK);
        assert_int_equal(cm_diagnostics_count(loading.diag), 0);
        loading_free(&loading);
    }
}

static void accepts_negative_dims_of_intermediate_values(void **state) {
    struct bytes graph = relu_graph(*state);
    put_message(&graph, 13, value_of(*state, "y", 1, (const int64_t[]){-1}));
    struct loading loading = load_bytes(model_of(*state, graph));
    assert_int_equal(loading.status, CM_OK);
    assert_int_equal(value_named(&loading, "y")->type->shape.dims[0], DIM_UNKNOWN);
    loading_free(&loading);
}

static void refuses_elements_in_the_field_of_another_type(void **state) {
    struct bytes tensor = tensor_of(*state, "w", 1, 1, (const int64_t[]){1});
    put_number(&tensor, 5, 7);
    assert_refused(
        model_with(*state, tensor),
        "value: tensor 'w' of type float stores its data in the field of another type");
}

/* A sparse tensor "w" of shape [2,3] with `n` values and these indices. */
static struct bytes sparse_model(void *arena, int64_t n, size_t rank, const int64_t *dims,
                                 const char *indices, size_t size, bool is_attribute) {
    struct bytes graph = graph_of(arena, "x", "x");
    struct bytes sparse = bytes_new(arena);
    struct bytes list = tensor_of(arena, "", 7, rank, dims);
    put_varint(&list, 7 << 3 | 2); /* packed int64_data */
    put_varint(&list, size);
    put_raw(&list, indices, size);
    put_message(&sparse, 1, tensor_of(arena, "w", 1, 1, &n));
    put_message(&sparse, 2, list);
    put_number(&sparse, 3, 2);
    put_number(&sparse, 3, 3);
    if (!is_attribute) {
        put_message(&graph, 15, sparse);
        return model_of(arena, graph);
    }
    struct bytes attribute = bytes_new(arena);
    struct bytes node = bytes_new(arena);
    put_text(&attribute, 1, "sparse_value");
    put_message(&attribute, 22, sparse);
    put_number(&attribute, 20, 11);
    put_text(&node, 2, "s");
    put_text(&node, 4, "Constant");
    put_message(&node, 5, attribute);
    put_message(&graph, 1, node);
    return model_of(arena, graph);
}

static void refuses_indices_of_sparse_tensors_that_are_out_of_range(void **state) {
    static const struct {
        int64_t n;
        size_t rank;
        int64_t dims[2];
        const char *indices;
        size_t size;
        const char *message; /* NULL: accepted */
    } cases[] = {
        {2, 1, {2}, "\x00\x05", 2, NULL},
        {2, 2, {2, 2}, "\x01\x00\x01\x02", 4, NULL},
        {2,
         1,
         {2},
         "\x00\x06",
         2,
         "value: indices of sparse tensor 'w' must be in [0, 6), got 6"},
        {2,
         2,
         {2, 2},
         "\x01\x00\x02\x02",
         4,
         "value: indices of sparse tensor 'w' must be in [0, 2), got 2"},
        {1,
         1,
         {1},
         "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
         10,
         "value: indices of sparse tensor 'w' must be in [0, 6), got -1"},
        {3, 1, {2}, "\x00\x05", 2, "shape: sparse tensor 'w' must have one index per value"},
        {2, 2, {2, 1}, "\x01\x00", 2, "shape: sparse tensor 'w' must have one index per value"},
    };
    for (size_t i = 0; i < 2 * (sizeof cases / sizeof cases[0]); i++) {
        const size_t k = i / 2;
        const struct bytes model =
            sparse_model(*state, cases[k].n, cases[k].rank, cases[k].dims, cases[k].indices,
                         cases[k].size, i % 2 == 1);
        if (cases[k].message) {
            assert_refused(model, cases[k].message);
            continue;
        }
        struct loading loading = load_bytes(model);
        assert_string_equal(loading_message(&loading), "");
        assert_int_equal(loading.status, CM_OK);
        loading_free(&loading);
    }
}

static void refuses_sparse_tensors_of_a_data_type_that_does_not_exist(void **state) {
    struct bytes graph = graph_of(*state, "x", "x");
    struct bytes sparse = bytes_new(*state);
    put_message(&sparse, 1, tensor_of(*state, "w", 99, 1, (const int64_t[]){1}));
    put_message(&sparse, 2, tensor_of(*state, "", 7, 1, (const int64_t[]){1}));
    put_number(&sparse, 3, 2);
    put_message(&graph, 15, sparse);
    assert_refused(model_of(*state, graph),
                   "type: tensor 'w' has data type 99, which does not exist");
}

static void refuses_indices_of_sparse_tensors_that_are_floats(void **state) {
    struct bytes graph = graph_of(*state, "x", "x");
    struct bytes sparse = bytes_new(*state);
    struct bytes list = tensor_of(*state, "", 1, 1, (const int64_t[]){1});
    put_varint(&list, 9 << 3 | 2);
    put_varint(&list, 4);
    put_raw(&list, "\0\0\0\0", 4);
    put_message(&sparse, 1, tensor_of(*state, "w", 1, 1, (const int64_t[]){1}));
    put_message(&sparse, 2, list);
    put_number(&sparse, 3, 4);
    put_message(&graph, 15, sparse);
    assert_refused(model_of(*state, graph),
                   "type: indices of sparse tensor 'w' must be integers, got float");
}

static void refuses_sparse_tensors_without_values(void **state) {
    struct bytes graph = graph_of(*state, "x", "x");
    struct bytes sparse = bytes_new(*state);
    put_number(&sparse, 3, 1000);
    put_message(&graph, 15, sparse);
    assert_refused(model_of(*state, graph), "format: a sparse tensor has no values");
}

/* Both lists are searched linearly. */
static void limits_attributes_and_opset_imports(void **state) {
    struct bytes graph = graph_of(*state, "x", "y");
    struct bytes node = node_of(*state, "Relu", "r", "x", "y");
    struct bytes model = model_of(*state, relu_graph(*state));
    for (int i = 0; i < 1025; i++) put_message(&node, 5, int_attribute(*state, "a", i));
    put_message(&graph, 1, node);
    assert_refused(model_of(*state, graph),
                   "limit: a node must have at most 1024 attributes, got 1025");
    for (int i = 0; i < 1024; i++) put_opset(&model, 8, "local", i);
    assert_refused(model, "limit: a model must have at most 1024 opset imports, got 1025");
}

static void prefers_the_declared_attribute_kind(void **state) {
    struct bytes attribute = bytes_new(*state);
    put_text(&attribute, 1, "axes");
    put_number(&attribute, 3, 0);
    put_number(&attribute, 8, 2);
    put_number(&attribute, 20, 7);
    struct loading loading = load_bytes(model_with_attribute(*state, attribute));
    assert_int_equal(loading.status, CM_OK);
    assert_int_equal(node_attr(&loading.model->nodes[0], "axes")->ints[0], 2);
    loading_free(&loading);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_undefined_and_duplicate_names_at_their_node),
        cmocka_unit_test(sorts_nodes_with_a_note),
        cmocka_unit_test(accepts_missing_and_equal_node_names),
        cmocka_unit_test(gives_omitted_operands_no_value),
        cmocka_unit_test(refuses_models_without_graph_opset_or_ir_version),
        cmocka_unit_test(warns_about_a_newer_ir_version),
        cmocka_unit_test(assumes_opset_1_for_domains_without_import),
        cmocka_unit_test(keeps_producer),
        cmocka_unit_test(treats_an_initializer_as_the_default_of_an_input),
        cmocka_unit_test(refuses_invalid_dims_of_initializers),
        cmocka_unit_test(accepts_huge_dims_and_empty_tensors),
        cmocka_unit_test(refuses_an_initializer_defined_twice),
        cmocka_unit_test(imports_sparse_initializers_without_contents),
        cmocka_unit_test(reads_typed_elements_in_their_dtype),
        cmocka_unit_test(reports_too_few_elements_when_loaded),
        cmocka_unit_test(imports_static_symbolic_and_unknown_dims),
        cmocka_unit_test(uses_the_last_field_of_a_oneof),
        cmocka_unit_test(treats_negative_dims_as_anonymous_symbolic_dims),
        cmocka_unit_test(treats_question_mark_as_an_anonymous_symbolic_dim),
        cmocka_unit_test(keeps_the_element_type_of_sequences_and_optionals),
        cmocka_unit_test(refuses_attributes_that_contradict_their_kind),
        cmocka_unit_test(derives_the_attribute_kind_from_its_contents_in_old_files),
        cmocka_unit_test(treats_scalars_omitted_by_proto3_as_zero),
        cmocka_unit_test(resolves_outer_values_in_bodies),
        cmocka_unit_test(sorts_nodes_after_outer_values_of_their_bodies),
        cmocka_unit_test(allows_bodies_to_shadow_outer_names),
        cmocka_unit_test(accepts_negative_dims_of_intermediate_values),
        cmocka_unit_test(refuses_elements_in_the_field_of_another_type),
        cmocka_unit_test(refuses_indices_of_sparse_tensors_that_are_out_of_range),
        cmocka_unit_test(refuses_sparse_tensors_of_a_data_type_that_does_not_exist),
        cmocka_unit_test(refuses_indices_of_sparse_tensors_that_are_floats),
        cmocka_unit_test(refuses_sparse_tensors_without_values),
        cmocka_unit_test(limits_attributes_and_opset_imports),
        cmocka_unit_test(prefers_the_declared_attribute_kind),
    };
    return cmocka_run_group_tests(tests, make, end);
}
