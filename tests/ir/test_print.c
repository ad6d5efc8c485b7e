/* SPDX-License-Identifier: Apache-2.0 */
/* Text form of the IR. */
#include "ir/print.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ir/value_info.h"
#include "small_model.h"
#include "support/text.h"

static int make(void **state) {
    struct small_model *small = malloc(sizeof *small);
    if (small == NULL) return 1;
    small_model_with_body(small);
    *state = small;
    return 0;
}

static int end(void **state) {
    small_model_free(*state);
    free(*state);
    return 0;
}

static void assert_node(struct small_model *small, uint32_t node,
                        const struct value_info *infos, const char *want) {
    struct text text;
    text_init(&text, small->arena);
    print_node(&small->model, node, infos, &text);
    assert_string_equal(text_string(&text), want);
}

static void prints_a_node_as_one_line(void **state) {
    assert_node(*state, 0, NULL,
                "%y = Conv[group=1, pads=1](%x: f32[1,64,56,56], %w: f32[64,64,3,3], _)");
    assert_node(*state, 1, NULL, "%z = If[then_branch=<graph>](%c: b1[])");
    assert_node(*state, 2, NULL, "%sum = Add(%y: ?, %y: ?)");
}

static void prefers_inferred_to_declared_types(void **state) {
    struct small_model *small = *state;
    struct value_info infos[6];
    int64_t dims[] = {2, DIM_UNKNOWN};
    for (size_t i = 0; i < 6; i++) infos[i] = value_info_unknown();
    infos[3] = value_info_tensor(DTYPE_FLOAT16, (struct shape){2, dims});
    assert_node(small, 2, infos, "%sum = Add(%y: f16[2,?], %y: f16[2,?])");
    assert_node(small, 1, infos, "%z = If[then_branch=<graph>](%c: ?)");
}

static void escapes_names(void **state) {
    struct small_model *small = *state;
    small->model.values[3].name = "a\n%b";
    small->model.nodes[2].type = "Add\x1b[2J";
    small->model.nodes[2].domain = "com.\rx";
    small->model.nodes[2].n_outputs = 0;
    assert_node(small, 2, NULL, "com.\\x0dx.Add\\x1b[2J(%a\\x0a%b: ?, %a\\x0a%b: ?)");
}

static const int64_t nine[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
static const int64_t ones[] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
static const char *const words[] = {"a", "b\"\n"};

static void shortens_attributes(void **state) {
    struct small_model *small = *state;
    const double reals[] = {0.5, 1e-5, (double)NAN};
    const double equal[] = {2, 2};
    const double none[] = {(double)NAN, 1};
    const char *text = "0123456789012345678901234567890123456789012345678901234567890123456789";
    const char *cut =
        "012345678901234567890123456789012345678901234567890123456789012\xc3\xa4z";
    const struct {
        struct attr attr;
        const char *want;
    } rows[] = {
        {{.name = "a", .kind = ATTR_INTS, .n = 9, .ints = nine}, "a=[1,2,3,4,5,6,7,8,...]"},
        {{.name = "a", .kind = ATTR_INTS, .n = 8, .ints = nine}, "a=[1,2,3,4,5,6,7,8]"},
        {{.name = "a", .kind = ATTR_INTS, .n = 9, .ints = ones}, "a=1"},
        {{.name = "a", .kind = ATTR_INTS, .n = 0, .ints = ones}, "a=[]"},
        {{.name = "a", .kind = ATTR_INT, .n = 1, .i = INT64_MIN}, "a=-9223372036854775808"},
        {{.name = "a", .kind = ATTR_FLOAT, .n = 1, .f = 1e-5}, "a=1e-05"},
        {{.name = "a", .kind = ATTR_FLOATS, .n = 3, .floats = reals}, "a=[0.5,1e-05,nan]"},
        {{.name = "a", .kind = ATTR_FLOATS, .n = 2, .floats = equal}, "a=2"},
        {{.name = "a", .kind = ATTR_FLOATS, .n = 2, .floats = none}, "a=[nan,1]"},
        {{.name = "a", .kind = ATTR_STRING, .n = 1, .s = "same\t"}, "a=\"same\\x09\""},
        {{.name = "a", .kind = ATTR_STRING, .n = 1, .s = text},
         "a=\"0123456789012345678901234567890123456789012345678901234567890123...\""},
        {{.name = "a", .kind = ATTR_STRING, .n = 1, .s = cut},
         "a=\"012345678901234567890123456789012345678901234567890123456789012...\""},
        {{.name = "a", .kind = ATTR_STRINGS, .n = 2, .strings = words},
         "a=[\"a\",\"b\"\\x0a\"]"},
        {{.name = "a\n", .kind = ATTR_TENSOR, .n = 1}, "a\\x0a=<tensor>"},
        {{.name = "a", .kind = ATTR_TENSORS, .n = 2}, "a=[<tensor>,<tensor>]"},
        {{.name = "a", .kind = ATTR_OTHER, .n = 1}, "a=<other>"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct text want;
        text_init(&want, small->arena);
        text_printf(&want, "%%sum = Add[%s](%%y: ?, %%y: ?)", rows[i].want);
        small->model.nodes[2].attrs = &rows[i].attr;
        small->model.nodes[2].n_attrs = 1;
        assert_node(small, 2, NULL, text_string(&want));
    }
}

static void truncates_long_operand_lists(void **state) {
    struct small_model *small = *state;
    uint32_t many[40];
    struct text text;
    for (size_t i = 0; i < 40; i++) many[i] = ID_NONE;
    small->model.nodes[2].inputs = many;
    small->model.nodes[2].n_inputs = 40;
    text_init(&text, small->arena);
    print_node(&small->model, 2, NULL, &text);
    assert_true(text_ends_with(text_string(&text), "_, _, ...)"));
    assert_in_range(text.length, 32 * 3, 33 * 3 + 20);
}

static void prints_container_types(void **state) {
    const struct small_model *small = *state;
    int64_t dims[] = {3, 3};
    const struct value_info tensor = value_info_tensor(DTYPE_INT64, (struct shape){2, dims});
    const struct value_info rankless = value_info_tensor(DTYPE_UNDEFINED, shape_unknown());
    struct value_info sparse = value_info_tensor(DTYPE_FLOAT, (struct shape){2, dims});
    sparse.kind = CM_TYPE_SPARSE_TENSOR;
    struct value_info sequence = value_info_unknown();
    sequence.kind = CM_TYPE_SEQUENCE;
    sequence.element = &tensor;
    struct value_info optional = value_info_unknown();
    optional.kind = CM_TYPE_OPTIONAL;
    optional.element = &sequence;
    struct value_info map = value_info_unknown();
    map.kind = CM_TYPE_MAP;
    map.dtype = DTYPE_STRING;
    struct value_info endless = value_info_unknown();
    endless.kind = CM_TYPE_SEQUENCE;
    endless.element = &endless;
    const struct value_info unknown = value_info_unknown();
    const struct {
        const struct value_info *info;
        const char *want;
    } rows[] = {
        {&tensor, "i64[3,3]"},
        {&rankless, "?[?...]"},
        {&sparse, "sparse(f32[3,3])"},
        {&sequence, "seq(i64[3,3])"},
        {&optional, "opt(seq(i64[3,3]))"},
        {&map, "map(str, ?)"},
        {&unknown, "?"},
        {&endless, "seq(seq(seq(seq(seq(seq(seq(seq(seq(seq(seq(seq(seq(seq(seq(seq("
                   "?))))))))))))))))"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct text text;
        text_init(&text, small->arena);
        print_value_info(rows[i].info, &text);
        assert_string_equal(text_string(&text), rows[i].want);
    }
}

static void prints_bodies_under_their_node(void **state) {
    const struct small_model *small = *state;
    struct text text;
    text_init(&text, small->arena);
    print_model(&small->model, NULL, &text);
    assert_string_equal(
        text_string(&text),
        "graph main(%x: f32[1,64,56,56], %c: b1[]) -> (%z: ?) {\n"
        "    %y = Conv[group=1, pads=1](%x: f32[1,64,56,56], %w: f32[64,64,3,3], _)\n"
        "    %z = If[then_branch=<graph>](%c: b1[])\n"
        "    then_branch body() -> (%sum: ?) {\n"
        "        %sum = Add(%y: ?, %y: ?)\n"
        "    }\n"
        "}\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(prints_a_node_as_one_line, make, end),
        cmocka_unit_test_setup_teardown(prefers_inferred_to_declared_types, make, end),
        cmocka_unit_test_setup_teardown(escapes_names, make, end),
        cmocka_unit_test_setup_teardown(shortens_attributes, make, end),
        cmocka_unit_test_setup_teardown(truncates_long_operand_lists, make, end),
        cmocka_unit_test_setup_teardown(prints_container_types, make, end),
        cmocka_unit_test_setup_teardown(prints_bodies_under_their_node, make, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
