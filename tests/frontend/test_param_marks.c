/* SPDX-License-Identifier: Apache-2.0 */
/* The exporter's records of parameters, valid and malformed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "loading.h"
#include "support/arena.h"

#define KIND      "pkg.torch.export.graph_signature.InputSpec.kind"
#define FOLDED    "pkg.onnxscript.optimizer.folded_from"
#define SIGNATURE "pkg.torch.export.ExportedProgram.graph_signature"

static int make(void **state) {
    *state = arena_new("test", 0);
    return *state == NULL;
}

static int end(void **state) {
    arena_free(*state);
    return 0;
}

static void put_property(struct bytes *out, uint32_t field, const char *key,
                         const char *value) {
    struct bytes entry = bytes_new(out->arena);
    put_text(&entry, 1, key);
    put_text(&entry, 2, value);
    put_message(out, field, entry);
}

static const int64_t dims[] = {2};

/* A graph with an initializer w and the signature, or none if NULL. */
static struct bytes graph_with(struct arena *arena, const char *signature) {
    struct bytes graph = graph_of(arena, "x", "y");
    put_message(&graph, 1, node_of(arena, "Add", "a", "x,w", "y"));
    put_message(&graph, 5, tensor_of(arena, "w", 1, 1, dims));
    if (signature) put_property(&graph, 16, SIGNATURE, signature);
    return graph;
}

static void expect_mark(struct bytes graph, enum param_mark mark, size_t row) {
    struct loading loading = load_bytes(model_of(graph.arena, graph));
    assert_int_equal(loading.status, CM_OK);
    if (value_named(&loading, "w")->mark != mark)
        fail_msg("row %zu: mark %d", row, value_named(&loading, "w")->mark);
    loading_free(&loading);
}

static void reads_the_kind_of_a_value(void **state) {
    static const struct {
        const char *kind;
        enum param_mark mark;
    } rows[] = {
        {"PARAMETER", MARK_PARAMETER},      {"BUFFER", MARK_CONSTANT},
        {"CONSTANT_TENSOR", MARK_CONSTANT}, {"USER_INPUT", MARK_NONE},
        {"PARAMETERS", MARK_NONE},          {"", MARK_NONE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bytes graph = graph_with(*state, NULL);
        struct bytes info = value_of(*state, "w", 1, dims);
        put_property(&info, 4, "other", "BUFFER");
        put_property(&info, 4, KIND, rows[i].kind);
        put_property(&info, 4, KIND, "TOKEN");
        put_message(&graph, 13, info);
        expect_mark(graph, rows[i].mark, i);
    }
}

static void reads_the_kind_of_an_input_with_a_default(void **state) {
    struct bytes graph = graph_with(*state, NULL);
    struct bytes info = value_of(*state, "w", 1, dims);
    put_property(&info, 4, KIND, "PARAMETER");
    put_message(&graph, 11, info);
    expect_mark(graph, MARK_PARAMETER, 0);
}

/* An optimizer that replaces an initializer keeps its name, but not its metadata. */
static void reads_the_signature_of_the_graph(void **state) {
    static const struct {
        const char *signature;
        enum param_mark mark;
    } rows[] = {
        {"\n# inputs\np_w: PARAMETER target='w'\nx: USER_INPUT\n\n# outputs\ny: USER_OUTPUT\n",
         MARK_PARAMETER},
        {"b_w: BUFFER target='w' persistent=True", MARK_CONSTANT},
        {"c_w: CONSTANT_TENSOR target='w'\nb_w: PARAMETER target='w'", MARK_CONSTANT},
        {"p_v: PARAMETER target='v'", MARK_NONE},
        {"w: BUFFER_MUTATION target='w'", MARK_NONE},
        {"p_w: PARAMETER target='w", MARK_NONE},
        {"p_w: PARAMETER target=w", MARK_NONE},
        {"p_w: PARAMETER", MARK_NONE},
        {"p_w:", MARK_NONE},
        {" ", MARK_NONE},
        {"", MARK_NONE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect_mark(graph_with(*state, rows[i].signature), rows[i].mark, i);
}

static void follows_folded_values_to_their_sources(void **state) {
    static const char signature[] = "p: PARAMETER target='fc.weight'\n"
                                    "b: BUFFER target='fc.running_var' persistent=True\n";
    static const struct {
        const char *signature;
        const char *folded_from;
        enum param_mark mark;
    } rows[] = {
        {signature, "['fc.weight']", MARK_DERIVED},
        {signature, "['fc.running_var', \"fc.weight\", 'val_3']", MARK_DERIVED},
        {signature, "['fc.running_var', 'val_3']", MARK_CONSTANT},
        {signature, "[]", MARK_CONSTANT},
        {signature, "['fc.weight'", MARK_NONE},
        {signature, "['fc.weight", MARK_NONE},
        {signature, "[fc.weight]", MARK_NONE},
        {signature, "fc.weight", MARK_NONE},
        {signature, "[", MARK_NONE},
        {signature, "", MARK_NONE},
        /* without a signature, names do not classify constants */
        {NULL, "['fc.weight']", MARK_NONE},
        {"no signature", "['fc.weight']", MARK_NONE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bytes graph = graph_with(*state, rows[i].signature);
        struct bytes info = value_of(*state, "w", 1, dims);
        put_property(&info, 4, FOLDED, rows[i].folded_from);
        put_message(&graph, 13, info);
        expect_mark(graph, rows[i].mark, i);
    }
}

static void reads_that_a_parameter_was_repeated(void **state) {
    static const struct {
        const char *folded_from;
        bool is_repeated;
    } rows[] = {
        {"['q', 'repeat', 'val_3']", true},
        {"['q', 'expand_12']", true},
        {"['q', 'tile']", true},
        {"['q', 'repeats']", false},
        {"['q', '12']", false},
        {"['q', 'unsqueeze']", false},
        {"['repeat']", false}, /* not a parameter */
        {"['q', 'repeat'", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bytes graph = graph_with(*state, "p_q: PARAMETER target='q'");
        struct bytes info = value_of(*state, "w", 1, dims);
        put_property(&info, 4, FOLDED, rows[i].folded_from);
        put_message(&graph, 13, info);
        struct loading loading = load_bytes(model_of(graph.arena, graph));
        assert_int_equal(loading.status, CM_OK);
        if (value_named(&loading, "w")->is_repeated != rows[i].is_repeated)
            fail_msg("row %zu", i);
        loading_free(&loading);
    }
}

static void a_recorded_kind_takes_precedence_over_sources(void **state) {
    struct bytes graph = graph_with(*state, "p: PARAMETER target='v'\nw: BUFFER target='w'");
    struct bytes info = value_of(*state, "w", 1, dims);
    put_property(&info, 4, FOLDED, "['v']");
    put_property(&info, 4, KIND, "PARAMETER");
    put_message(&graph, 13, info);
    expect_mark(graph, MARK_PARAMETER, 0);
}

static void lists_the_parameters_of_the_framework(void **state) {
    static const char signature[] = "p_v: PARAMETER target='v'\n"
                                    "b_m: BUFFER target='m' persistent=True\n"
                                    "p_u: PARAMETER target='u'\np_v: PARAMETER target='v'\n";
    static const struct {
        const char *folded_from;
        size_t n_derived;
    } rows[] = {{"['u']", 1},
                {"['u', 'v']", 0},
                {"['u', 'val_3']", 0},
                {"['m']", 0},
                /* repeated, and nothing else */
                {"['val_3', 'expand_2', 'u', 'val_4']", 1},
                {"['expand', 'u', 'slice_1', 'val_4']", 0},
                {"['expand', 'u', 'v']", 0},
                {"['expand', 'm', 'u']", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bytes graph = graph_with(*state, signature);
        struct bytes info = value_of(*state, "w", 1, dims);
        put_property(&info, 4, FOLDED, rows[i].folded_from);
        put_message(&graph, 13, info);
        struct loading loading = load_bytes(model_of(*state, graph));
        const struct model *model = loading.model;
        assert_int_equal(model->n_framework_params, 2);
        assert_string_equal(model->framework_params[0], "v");
        assert_string_equal(model->framework_params[1], "u");
        assert_int_equal(model->n_derived_params, rows[i].n_derived);
        if (rows[i].n_derived > 0) {
            assert_int_equal(model->derived_params[0].param, 1);
            assert_string_equal(model->values[model->derived_params[0].value].name, "w");
        }
        loading_free(&loading);
    }
}

static void reads_recorded_sizes(void **state) {
    static const struct {
        const char *tail;
        int64_t elements;
    } rows[] = {
        {" numel=12", 12},           {" numel=0", 0},
        {"", DIM_UNKNOWN},           {" ", DIM_UNKNOWN},
        {" numel=", DIM_UNKNOWN},    {" numel=-3", DIM_UNKNOWN},
        {" numel=12x", DIM_UNKNOWN}, {" numel=99999999999999999999", DIM_OVERFLOW},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char signature[100];
        snprintf(signature, sizeof signature,
                 "p_v: PARAMETER target='v' numel=7\np_u: PARAMETER target='u'%s\n",
                 rows[i].tail);
        struct loading loading = load_bytes(model_of(*state, graph_with(*state, signature)));
        assert_int_equal(loading.status, CM_OK);
        assert_int_equal(loading.model->framework_elements[0], 7);
        if (loading.model->framework_elements[1] != rows[i].elements) fail_msg("row %zu", i);
        loading_free(&loading);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_the_kind_of_a_value, make, end),
        cmocka_unit_test_setup_teardown(reads_the_kind_of_an_input_with_a_default, make, end),
        cmocka_unit_test_setup_teardown(reads_the_signature_of_the_graph, make, end),
        cmocka_unit_test_setup_teardown(follows_folded_values_to_their_sources, make, end),
        cmocka_unit_test_setup_teardown(reads_that_a_parameter_was_repeated, make, end),
        cmocka_unit_test_setup_teardown(a_recorded_kind_takes_precedence_over_sources, make,
                                        end),
        cmocka_unit_test_setup_teardown(lists_the_parameters_of_the_framework, make, end),
        cmocka_unit_test_setup_teardown(reads_recorded_sizes, make, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
