/* SPDX-License-Identifier: Apache-2.0 */
/* Inlining of model-local functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

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

static struct bytes call_of(struct arena *arena, const char *function, const char *name,
                            const char *inputs, const char *outputs) {
    struct bytes node = node_of(arena, function, name, inputs, outputs);
    put_text(&node, 7, "local");
    return node;
}

/* x -> call -> m -> Relu -> y */
static struct bytes model_calling(struct arena *arena, struct bytes call,
                                  struct bytes function) {
    struct bytes graph = graph_of(arena, "x", "y");
    put_message(&graph, 1, call);
    put_message(&graph, 1, node_of(arena, "Relu", "last", "m", "y"));
    struct bytes model = model_of(arena, graph);
    put_message(&model, 25, function);
    return model;
}

static void inlines_a_call_with_prefixed_names(void **state) {
    struct bytes inner = function_of(*state, "Inner", "a", "b");
    struct bytes outer = function_of(*state, "Outer", "p", "q");
    put_message(&inner, 7, node_of(*state, "Neg", "neg", "a", "t"));
    put_message(&inner, 7, node_of(*state, "Abs", "", "t", "b"));
    put_message(&outer, 7, call_of(*state, "Inner", "in", "p", "q"));
    struct bytes model =
        model_calling(*state, call_of(*state, "Outer", "out", "x", "m"), outer);
    put_message(&model, 25, inner);
    struct loading loading = load_bytes(model);
    assert_int_equal(loading.status, CM_OK);
    const struct model *have = loading.model;
    assert_int_equal(have->n_nodes, 3);
    assert_int_equal(have->n_calls, 2);
    assert_string_equal(have->nodes[0].name, "out/in/neg");
    assert_string_equal(have->nodes[1].name, "");
    assert_string_equal(have->values[have->nodes[0].outputs[0]].name, "out/in/t");
    assert_int_equal(have->nodes[0].call, 1);
    assert_int_equal(have->nodes[2].call, ID_NONE);
    assert_int_equal(have->calls[1].outer, 0);
    assert_string_equal(have->calls[0].function, "Outer");
    assert_string_equal(have->calls[0].domain, "local");
    assert_int_equal(have->calls[0].inputs[0], have->nodes[0].inputs[0]);
    assert_int_equal(have->calls[0].outputs[0], have->nodes[2].inputs[0]);
    loading_free(&loading);
}

/* Returns a function of one node of that type. */
static struct bytes named_function(struct arena *arena, const char *domain, struct bytes name,
                                   const char *type) {
    struct bytes function = bytes_new(arena);
    put_message(&function, 1, name);
    put_text(&function, 4, "a");
    put_text(&function, 5, "b");
    put_message(&function, 7, node_of(arena, type, "", "a", "b"));
    put_opset(&function, 9, "", 13);
    put_text(&function, 10, domain);
    return function;
}

static struct bytes text_of(struct arena *arena, const char *text, size_t size) {
    struct bytes name = bytes_new(arena);
    put_raw(&name, text, size);
    return name;
}

static const struct {
    const char *domain;
    const char *name;
    size_t name_size;
    const char *other_domain;
    const char *other_name;
    size_t other_size;
    bool is_same;
} function_names[] = {
    {"a::b", "c", 1, "a", "b::c", 4, false}, {"a", "f\0z", 3, "a", "f", 1, false},
    {"a", "f\0z", 3, "a", "f\0y", 3, false}, {"", "bc", 2, "b", "c", 1, false},
    {"ai.onnx", "F", 1, "", "F", 1, true},   {"", "F", 1, "ai.onnx", "F", 1, true},
};

/* The model defines only the other function. */
static void identifies_functions_by_domain_and_name(void **state) {
    for (size_t i = 0; i < sizeof function_names / sizeof function_names[0]; i++) {
        struct bytes call = bytes_new(*state);
        put_text(&call, 1, "x");
        put_text(&call, 2, "m");
        put_message(&call, 4,
                    text_of(*state, function_names[i].name, function_names[i].name_size));
        put_text(&call, 7, function_names[i].domain);
        struct bytes other = named_function(
            *state, function_names[i].other_domain,
            text_of(*state, function_names[i].other_name, function_names[i].other_size), "Neg");
        struct loading loading = load_bytes(model_calling(*state, call, other));
        assert_int_equal(loading.status, CM_OK);
        assert_int_equal(loading.model->n_calls, function_names[i].is_same ? 1 : 0);
        loading_free(&loading);
    }
}

static void uses_the_opset_of_the_function_in_its_body(void **state) {
    struct bytes own = bytes_new(*state);
    put_text(&own, 1, "F");
    put_text(&own, 4, "a");
    put_text(&own, 5, "b");
    put_opset(&own, 9, "", 17);
    put_text(&own, 10, "local");
    put_message(&own, 7, node_of(*state, "Neg", "neg", "a", "b"));
    struct loading loading =
        load_bytes(model_calling(*state, call_of(*state, "F", "c", "x", "m"), own));
    assert_int_equal(loading.status, CM_OK);
    assert_int_equal(loading.model->nodes[0].opset, 17);
    assert_int_equal(loading.model->nodes[1].opset, 13);
    loading_free(&loading);
}

static struct bytes reference(struct arena *arena, const char *name, const char *to) {
    struct bytes attribute = bytes_new(arena);
    put_text(&attribute, 1, name);
    put_number(&attribute, 20, 2);
    put_text(&attribute, 21, to);
    return attribute;
}

static void resolves_attribute_references_and_defaults(void **state) {
    struct bytes function = function_of(*state, "F", "a", "b");
    struct bytes node = node_of(*state, "Odd", "odd", "a", "b");
    put_message(&node, 5, reference(*state, "one", "given"));
    put_message(&node, 5, reference(*state, "two", "preset"));
    put_message(&node, 5, reference(*state, "three", "nowhere"));
    put_text(&function, 6, "given");
    put_text(&function, 6, "nowhere");
    put_message(&function, 11, int_attribute(*state, "given", 8));
    put_message(&function, 11, int_attribute(*state, "preset", 9));
    put_message(&function, 7, node);
    struct bytes call = call_of(*state, "F", "c", "x", "m");
    put_message(&call, 5, int_attribute(*state, "given", 7));
    struct loading loading = load_bytes(model_calling(*state, call, function));
    assert_int_equal(loading.status, CM_OK);
    const struct node *have = &loading.model->nodes[0];
    assert_int_equal(have->n_attrs, 2);
    assert_int_equal(node_attr(have, "one")->i, 7);
    assert_int_equal(node_attr(have, "two")->i, 9);
    assert_null(node_attr(have, "three"));
    loading_free(&loading);
}

static void passes_inputs_through_as_the_same_value(void **state) {
    struct loading loading = load_bytes(model_calling(
        *state, call_of(*state, "F", "c", "x", "m"), function_of(*state, "F", "a", "a")));
    assert_int_equal(loading.status, CM_OK);
    assert_int_equal(loading.model->n_nodes, 1);
    assert_int_equal(loading.model->nodes[0].inputs[0], loading.model->graphs[0].inputs[0]);
    loading_free(&loading);
}

static void treats_omitted_inputs_as_absent_in_the_body(void **state) {
    struct bytes function = function_of(*state, "F", "a,lo,hi", "b");
    put_message(&function, 7, node_of(*state, "Clip", "clip", "a,lo,hi", "b"));
    struct loading loading =
        load_bytes(model_calling(*state, call_of(*state, "F", "c", "x", "m"), function));
    assert_int_equal(loading.status, CM_OK);
    assert_int_equal(loading.model->nodes[0].inputs[1], ID_NONE);
    assert_int_equal(loading.model->nodes[0].inputs[2], ID_NONE);
    assert_int_equal(loading.model->calls[0].n_inputs, 3);
    assert_int_equal(loading.model->calls[0].inputs[2], ID_NONE);
    loading_free(&loading);
}

static void inlines_calls_inside_bodies(void **state) {
    struct bytes body = graph_of(*state, "", "t");
    struct bytes function = function_of(*state, "F", "a", "b");
    struct bytes node = node_of(*state, "If", "if", "x", "m");
    put_message(&function, 7, node_of(*state, "Neg", "neg", "a", "b"));
    put_message(&body, 1, call_of(*state, "F", "c", "x", "t"));
    put_message(&node, 5, graph_attribute(*state, "then_branch", body));
    struct loading loading = load_bytes(model_calling(*state, node, function));
    assert_int_equal(loading.status, CM_OK);
    const struct graph *have = &loading.model->graphs[1];
    assert_int_equal(have->n_nodes, 1);
    assert_string_equal(loading.model->nodes[have->nodes[0]].name, "c/neg");
    loading_free(&loading);
}

static const struct {
    const char *call_inputs;
    const char *call_outputs;
    const char *body_type; /* "F": the function itself */
    const char *body_output;
    const char *message;
} broken_calls[] = {
    {"x", "m", "F", "b", "graph: function 'F' calls itself"},
    {"x,x", "m", "Neg", "b", "arity: function 'F' takes at most 1 inputs, got 2"},
    {"x", "m,n", "Neg", "b", "arity: function 'F' has 1 outputs, got 2"},
    {"gone", "m", "Neg", "b", "graph: input 'gone' is not defined"},
    {"x", "m", "Neg", "z", "graph: output 'b' of function 'F' is not defined"},
};

static void refuses_calls_that_do_not_match_the_function(void **state) {
    for (size_t i = 0; i < sizeof broken_calls / sizeof broken_calls[0]; i++) {
        struct bytes function = function_of(*state, "F", "a", "b");
        struct bytes node =
            node_of(*state, broken_calls[i].body_type, "n", "a", broken_calls[i].body_output);
        if (broken_calls[i].body_type[0] == 'F') put_text(&node, 7, "local");
        put_message(&function, 7, node);
        assert_refused(model_calling(*state,
                                     call_of(*state, "F", "c", broken_calls[i].call_inputs,
                                             broken_calls[i].call_outputs),
                                     function),
                       broken_calls[i].message);
    }
}

static void reports_errors_with_the_enclosing_calls(void **state) {
    struct bytes function = function_of(*state, "F", "a", "b");
    put_message(&function, 7, node_of(*state, "Neg", "neg", "gone", "b"));
    struct loading loading =
        load_bytes(model_calling(*state, call_of(*state, "F", "c", "x", "m"), function));
    assert_int_equal(loading.status, CM_REFUSED);
    assert_string_equal(loading_place(&loading),
                        "at node 0 \"c\", F\nin function F\nat node 0 \"neg\", Neg");
    loading_free(&loading);
}

static void refuses_a_function_defined_twice(void **state) {
    struct bytes function = function_of(*state, "F", "a", "a");
    struct bytes model = model_calling(*state, call_of(*state, "F", "c", "x", "m"), function);
    put_message(&model, 25, function);
    assert_refused(model, "graph: function 'F' of domain 'local' is defined twice");
}

static void limits_the_depth_of_calls(void **state) {
    struct bytes model = model_calling(*state, call_of(*state, "F0", "c", "x", "m"),
                                       function_of(*state, "other", "a", "a"));
    for (int i = 0; i < 100; i++) {
        char own[16], next[16];
        snprintf(own, sizeof own, "F%d", i);
        snprintf(next, sizeof next, "F%d", i + 1);
        struct bytes function = function_of(*state, own, "a", "b");
        put_message(&function, 7, call_of(*state, next, "", "a", "b"));
        put_message(&model, 25, function);
    }
    assert_refused(model, "limit: functions call each other deeper than 64");
}

static void names_call_outputs_as_the_caller_does(void **state) {
    struct bytes function = function_of(*state, "F", "a", "b");
    put_message(&function, 7, node_of(*state, "Neg", "neg", "a", "b"));
    struct loading loading =
        load_bytes(model_calling(*state, call_of(*state, "F", "c", "x", "m"), function));
    assert_int_equal(loading.status, CM_OK);
    assert_int_equal(value_named(&loading, "m")->node, 0);
    loading_free(&loading);
}

static void refuses_references_to_graph_attributes_of_a_call(void **state) {
    struct bytes body = graph_of(*state, "", "t");
    put_message(&body, 1, node_of(*state, "Relu", "in", "x", "t"));
    for (int used = 0; used < 2; used++) {
        struct bytes function = function_of(*state, "F", "a", "b");
        struct bytes node = node_of(*state, "If", "if", "a", "b");
        struct bytes to = bytes_new(*state);
        struct bytes call = call_of(*state, "F", "c", "x", "m");
        put_text(&to, 1, "then_branch");
        put_number(&to, 20, 5);
        put_text(&to, 21, "body");
        if (used) put_message(&node, 5, to);
        put_message(&function, 7, node);
        put_message(&call, 5, graph_attribute(*state, "body", body));
        struct loading loading = load_bytes(model_calling(*state, call, function));
        assert_int_equal(loading.status, used ? CM_REFUSED : CM_OK);
        assert_string_equal(
            loading_message(&loading),
            used ? "attribute: attribute 'body' of a function must not be a graph" : "");
        loading_free(&loading);
    }
}

static void refuses_attribute_references_of_another_kind(void **state) {
    struct bytes function = function_of(*state, "F", "a", "b");
    struct bytes node = node_of(*state, "Odd", "odd", "a", "b");
    struct bytes call = call_of(*state, "F", "c", "x", "m");
    struct bytes given = bytes_new(*state);
    put_message(&node, 5, reference(*state, "one", "given"));
    put_message(&function, 7, node);
    put_text(&given, 1, "given");
    put_float(&given, 2, 1.5F);
    put_number(&given, 20, 1);
    put_message(&call, 5, given);
    assert_refused(model_calling(*state, call, function),
                   "attribute: attribute 'given' of the call must be of kind int, got float");
}

/* Names grow with every enclosing call. */
static void limits_nodes_and_memory_of_nested_functions(void **state) {
    struct bytes model = model_calling(*state, call_of(*state, "F0", "c", "x", "m"),
                                       function_of(*state, "F40", "a", "a"));
    for (int i = 0; i < 40; i++) {
        char own[16], next[16];
        snprintf(own, sizeof own, "F%d", i);
        snprintf(next, sizeof next, "F%d", i + 1);
        struct bytes function = function_of(*state, own, "a", "b");
        put_message(&function, 7, call_of(*state, next, "name", "a", "t"));
        put_message(&function, 7, call_of(*state, next, "another", "t", "b"));
        put_message(&model, 25, function);
    }
    assert_refused(model, "limit: inlined functions take more than 64 MiB");
}

static void limits_nodes_of_repeated_calls(void **state) {
    struct bytes function = function_of(*state, "F", "a", "b");
    struct bytes graph = graph_of(*state, "x", "x");
    for (int i = 0; i < 1000; i++)
        put_message(&function, 7, node_of(*state, "Neg", "", "a", ""));
    for (int i = 0; i < 101; i++) put_message(&graph, 1, call_of(*state, "F", "", "x", ""));
    struct bytes model = model_of(*state, graph);
    put_message(&model, 25, function);
    assert_refused(model, "limit: inlining functions makes more than 100000 nodes");
}

/* The function has no nodes, but each call reads its list of 5000 inputs. */
static void limits_bytes_read_by_repeated_calls(void **state) {
    struct bytes function = function_of(*state, "F", "", "");
    struct bytes graph = graph_of(*state, "x", "x");
    for (int i = 0; i < 5000; i++) {
        char formal[16];
        snprintf(formal, sizeof formal, "%x", i);
        put_text(&function, 4, formal);
    }
    for (int i = 0; i < 5000; i++) put_message(&graph, 1, call_of(*state, "F", "", "", ""));
    struct bytes model = model_of(*state, graph);
    put_message(&model, 25, function);
    assert_refused(model, "limit: function calls read more than 64 MiB of function bodies");
}

/* Each function has a body in a body, which calls the next function. */
static void limits_the_depth_of_bodies_in_functions(void **state) {
    struct bytes model = model_calling(*state, call_of(*state, "F0", "c", "x", "m"),
                                       function_of(*state, "other", "a", "a"));
    for (int i = 0; i < 40; i++) {
        char own[16], next[16];
        struct bytes inner = graph_of(*state, "", "t");
        struct bytes middle = graph_of(*state, "", "s");
        struct bytes node = node_of(*state, "If", "", "a", "s");
        snprintf(own, sizeof own, "F%d", i);
        snprintf(next, sizeof next, "F%d", i + 1);
        put_message(&inner, 1, call_of(*state, next, "", "a", "t"));
        put_message(&node, 5, graph_attribute(*state, "then_branch", inner));
        put_message(&middle, 1, node);
        node = node_of(*state, "If", "", "a", "b");
        put_message(&node, 5, graph_attribute(*state, "then_branch", middle));
        struct bytes function = function_of(*state, own, "a", "b");
        put_message(&function, 7, node);
        put_message(&model, 25, function);
    }
    assert_refused(model, "limit: graphs are nested deeper than 64");
}

static void limits_the_lists_of_a_function(void **state) {
    struct bytes function = function_of(*state, "F", "a", "a");
    for (int i = 0; i < 1024; i++) put_opset(&function, 9, "local", i);
    assert_refused(model_calling(*state, call_of(*state, "F", "c", "x", "m"), function),
                   "limit: function 'F' has more than 1024 attributes or opset imports");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inlines_a_call_with_prefixed_names),
        cmocka_unit_test(identifies_functions_by_domain_and_name),
        cmocka_unit_test(uses_the_opset_of_the_function_in_its_body),
        cmocka_unit_test(resolves_attribute_references_and_defaults),
        cmocka_unit_test(passes_inputs_through_as_the_same_value),
        cmocka_unit_test(treats_omitted_inputs_as_absent_in_the_body),
        cmocka_unit_test(inlines_calls_inside_bodies),
        cmocka_unit_test(refuses_calls_that_do_not_match_the_function),
        cmocka_unit_test(reports_errors_with_the_enclosing_calls),
        cmocka_unit_test(refuses_a_function_defined_twice),
        cmocka_unit_test(limits_the_depth_of_calls),
        cmocka_unit_test(names_call_outputs_as_the_caller_does),
        cmocka_unit_test(refuses_references_to_graph_attributes_of_a_call),
        cmocka_unit_test(refuses_attribute_references_of_another_kind),
        cmocka_unit_test(limits_nodes_and_memory_of_nested_functions),
        cmocka_unit_test(limits_nodes_of_repeated_calls),
        cmocka_unit_test(limits_bytes_read_by_repeated_calls),
        cmocka_unit_test(limits_the_depth_of_bodies_in_functions),
        cmocka_unit_test(limits_the_lists_of_a_function),
    };
    return cmocka_run_group_tests(tests, make, end);
}
