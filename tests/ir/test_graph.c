/* SPDX-License-Identifier: Apache-2.0 */
/* Graph builder and use lists. */
#include "ir/graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "costmodel/costmodel.h"
#include "small_model.h"
#include "support/arena.h"

static void keeps_entries_while_tables_grow(void **state) {
    (void)state;
    struct small_model small;
    small_model_begin(&small);
    for (uint32_t i = 0; i < 1000; i++) {
        const struct value value = {.name = "v", .node = i, .slot = i * 3};
        const struct call call = {.outer = i};
        uint32_t id = ID_NONE;
        assert_int_equal(graph_add_value(small.builder, &value, &id), CM_OK);
        assert_int_equal(id, i);
        assert_int_equal(graph_add_call(small.builder, &call, &id), CM_OK);
        assert_int_equal(id, i);
    }
    for (uint32_t i = 0; i < 1000; i++) {
        assert_int_equal(graph_value_at(small.builder, i)->slot, i * 3);
        assert_int_equal(graph_call_at(small.builder, i)->outer, i);
    }
    small_model_free(&small);
}

static void lists_each_use_once_in_order(void **state) {
    (void)state;
    struct small_model small;
    small_model_with_body(&small);
    const struct model *model = &small.model;
    assert_int_equal(model->n_graphs, 2);
    assert_int_equal(model->n_nodes, 3);
    assert_int_equal(model->n_values, 6);
    static const uint32_t want[] = {1, 1, 1, 2, 0, 0}; /* x c w y z sum */
    for (size_t v = 0; v < model->n_values; v++) {
        assert_int_equal(model->values[v].n_uses, want[v]);
    }
    const struct value *y = &model->values[model->nodes[0].outputs[0]];
    assert_int_equal(y->uses[0].node, 2);
    assert_int_equal(y->uses[0].slot, 0);
    assert_int_equal(y->uses[1].node, 2);
    assert_int_equal(y->uses[1].slot, 1);
    small_model_free(&small);
}

static void marks_graph_outputs(void **state) {
    (void)state;
    struct small_model small;
    small_model_with_body(&small);
    static const bool want[] = {false, false, false, false, true, true};
    for (size_t v = 0; v < small.model.n_values; v++) {
        assert_int_equal(small.model.values[v].is_graph_output, want[v]);
    }
    small_model_free(&small);
}

static void finishes_an_empty_model(void **state) {
    (void)state;
    struct small_model small;
    small_model_begin(&small);
    assert_int_equal(graph_finish(small.builder, &small.model), CM_OK);
    assert_int_equal(small.model.n_nodes + small.model.n_values + small.model.n_graphs, 0);
    small_model_free(&small);
}

static void finds_attributes_and_names(void **state) {
    (void)state;
    struct small_model small;
    small_model_with_body(&small);
    const struct model *model = &small.model;
    assert_int_equal(node_attr(&model->nodes[0], "pads")->n, 4);
    assert_null(node_attr(&model->nodes[0], "pad"));
    assert_string_equal(value_name(model, 0), "x");
    assert_string_equal(value_name(model, ID_NONE), "");
    assert_false(value_is_constant(model, 0));
    assert_true(value_is_constant(model, 2));
    assert_false(value_is_constant(model, ID_NONE));
    small_model_free(&small);
}

static void keeps_tables_when_memory_runs_out(void **state) {
    (void)state;
    struct arena *arena = arena_new("small", 8192);
    struct graph_builder *builder = graph_builder_new(arena);
    const struct node node = {.name = "n"};
    uint32_t id = ID_NONE;
    uint32_t n = 0;
    while (n < 1000 && graph_add_node(builder, &node, &id) == CM_OK) n++;
    assert_in_range(n, 1, 999);
    assert_int_equal(id, n - 1);
    assert_int_equal(graph_add_node(builder, &node, &id), CM_NO_MEMORY);
    assert_string_equal(graph_node_at(builder, n - 1)->name, "n");
    arena_free(arena);
}

static void names_every_attribute_kind(void **state) {
    (void)state;
    assert_string_equal(attr_kind_name(ATTR_INT), "int");
    assert_string_equal(attr_kind_name(ATTR_FLOATS), "floats");
    assert_string_equal(attr_kind_name(ATTR_GRAPHS), "graphs");
    for (int kind = ATTR_NONE; kind <= ATTR_OTHER; kind++) {
        assert_non_null(attr_kind_name((enum attr_kind)kind));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_every_attribute_kind),
        cmocka_unit_test(keeps_entries_while_tables_grow),
        cmocka_unit_test(lists_each_use_once_in_order),
        cmocka_unit_test(marks_graph_outputs),
        cmocka_unit_test(finishes_an_empty_model),
        cmocka_unit_test(finds_attributes_and_names),
        cmocka_unit_test(keeps_tables_when_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
