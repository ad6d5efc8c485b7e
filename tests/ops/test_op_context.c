/* SPDX-License-Identifier: Apache-2.0 */
/* Operands, attributes and outputs of an operator: see ops/op_context.h. */
#include "op_harness.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct op_case partly_known = {
    .op = "Sum-13", .attrs = "", .inputs = "float[2,?] - ?", .outputs = "float[2,?]"};

static void an_omitted_operand_reads_as_unknown(void **state) {
    struct op_bench *bench = op_bench_open(&partly_known);
    const struct op_context *context = &bench->context;
    (void)state;
    assert_true(op_has_input(context, 0));
    assert_false(op_has_input(context, 1));
    assert_false(op_has_input(context, 9));
    assert_int_equal(op_rank(context, 1), RANK_UNKNOWN);
    assert_int_equal(op_dim(context, 9, 3), DIM_UNKNOWN);
    assert_int_equal(op_elements(context, 0), DIM_UNKNOWN);
    assert_int_equal(op_dtype(context, 2), DTYPE_UNDEFINED);
    assert_int_equal(op_output_elements(context, 5), DIM_UNKNOWN);
    op_bench_close(bench);
}

static void an_absent_attribute_has_the_default_of_its_row(void **state) {
    static const struct op_case row = {.op = "Gemm-11",
                                       .attrs = "transB=1",
                                       .inputs = "float[2,3] float[4,3]",
                                       .outputs = "float[2,4]"};
    struct op_bench *bench = op_bench_open(&row);
    const struct op_context *context = &bench->context;
    size_t n = 7;
    (void)state;
    assert_int_equal(op_attr_int(context, "transB"), 1);
    assert_int_equal(op_attr_int(context, "transA"), 0);
    assert_true(op_attr_float(context, "alpha") == 1);
    assert_string_equal(op_attr_string(context, "nothing"), "");
    assert_null(op_attr_ints(context, "nothing", &n));
    assert_int_equal(n, 0);
    assert_null(op_attr_tensor(context, "nothing"));
    assert_int_equal(op_attr_graph(context, "nothing"), ID_NONE);
    op_bench_close(bench);
}

static void a_list_may_be_absent_unknown_or_known(void **state) {
    static const struct op_case row = {.op = "Sum-13",
                                       .inputs =
                                           "int64[2]={3,4} int64[3] float[1]={2} int64[] -",
                                       .outputs = "-"};
    struct op_bench *bench = op_bench_open(&row);
    struct int_list list;
    (void)state;
    assert_int_equal(op_int_list(&bench->context, 0, &list), CM_OK);
    assert_true(list.given && list.known && list.n == 2 && list.values[1] == 4);
    assert_int_equal(op_int_list(&bench->context, 1, &list), CM_OK);
    assert_true(list.given && !list.known && list.n == 3 && !list.values);
    assert_int_equal(op_int_list(&bench->context, 2, &list), CM_OK);
    assert_true(list.known && list.values[0] == 2);
    assert_int_equal(op_int_list(&bench->context, 3, &list), CM_OK);
    assert_true(!list.known && list.n == 1);
    assert_int_equal(op_int_list(&bench->context, 4, &list), CM_OK);
    assert_true(!list.given && list.n == 0);
    op_bench_close(bench);
}

static void refuses_operands_that_are_not_integer_lists(void **state) {
    static const struct op_case row = {
        .op = "Sum-13", .inputs = "float[1]={2.5} int64[1,2] string[2]", .outputs = "-"};
    static const char *const messages[] = {
        "input 0 must hold integers, got a fraction",
        "input 1 must be a list, got shape [1,2]",
        "input 2 must hold integers, got type string",
    };
    struct op_bench *bench = op_bench_open(&row);
    struct int_list list;
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        assert_true(op_int_list(&bench->context, i, &list) < 0);
        assert_string_equal(op_bench_message(bench), messages[i]);
    }
    op_bench_close(bench);
}

static void refuses_invalid_output_shapes(void **state) {
    static const int64_t past[] = {2, DIM_OVERFLOW};
    static const int64_t negative[] = {2, -3};
    struct op_bench *bench = op_bench_open(&partly_known);
    struct op_context *context = &bench->context;
    (void)state;
    assert_true(op_output_dims(context, 0, DTYPE_FLOAT, 2, past) < 0);
    assert_string_equal(op_bench_message(bench), "dim 1 of output 0 is past 2^63");
    assert_true(op_output_dims(context, 0, DTYPE_FLOAT, 2, negative) < 0);
    assert_string_equal(op_bench_message(bench), "output 0 would have the shape [2,-3]");
    assert_true(op_output_dims(context, 0, DTYPE_FLOAT, 65, NULL) < 0);
    assert_string_equal(op_bench_message(bench),
                        "output 0 would have 65 dims, at most 64 are read");
    assert_int_equal(op_output_dims(context, 3, DTYPE_FLOAT, 2, past), CM_OK); /* no output 3 */
    op_bench_close(bench);
}

static void contents_must_have_the_inferred_type(void **state) {
    struct op_bench *bench = op_bench_open(&partly_known);
    struct op_context *context = &bench->context;
    struct shape shape;
    static const int64_t dims[] = {2, 3};
    (void)state;
    assert_int_equal(shape_make(bench->arena, 2, dims, &shape), CM_OK);
    const struct constant *value =
        constant_splat(bench->arena, DTYPE_INT64, &shape, (struct number){.i = 1});
    assert_true(op_set_value(context, 0, value) < 0);
    assert_string_equal(op_bench_message(bench),
                        "contents int64 [2,3] do not fit the inferred float [?...]");
    assert_int_equal(op_output(context, 0, DTYPE_INT64, &shape), CM_OK);
    assert_int_equal(op_set_value(context, 0, value), CM_OK);
    assert_ptr_equal(context->outputs[0].value, value);
    assert_int_equal(op_set_value(context, 0, NULL), CM_NO_MEMORY);
    op_bench_close(bench);
}

static void loads_values_within_the_budget(void **state) {
    static const struct op_case row = {
        .op = "Add-14", .inputs = "int64[200]=*1 int64[3]={1,2,3}", .outputs = "int64[*]"};
    struct op_budget budget = {.long_left = 450, .short_left = 5};
    struct op_bench *bench = op_bench_open(&row);
    struct op_context *context = &bench->context;
    const struct constant *value = NULL;
    struct int_list list;
    (void)state;
    context->budget = &budget;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(op_value(context, 0, &value), CM_OK);
        assert_int_equal(value != NULL, i < 2);
    }
    assert_int_equal(budget.long_left, 50);
    assert_int_equal(op_int_list(context, 1, &list), CM_OK); /* has a budget of its own */
    assert_true(list.known);
    assert_int_equal(op_int_list(context, 1, &list), CM_OK);
    assert_false(list.known);
    assert_int_equal(list.n, 3);
    context->budget = NULL;
    assert_int_equal(op_value(context, 0, &value), CM_OK);
    assert_non_null(value);
    op_bench_close(bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_omitted_operand_reads_as_unknown),
        cmocka_unit_test(an_absent_attribute_has_the_default_of_its_row),
        cmocka_unit_test(a_list_may_be_absent_unknown_or_known),
        cmocka_unit_test(refuses_operands_that_are_not_integer_lists),
        cmocka_unit_test(refuses_invalid_output_shapes),
        cmocka_unit_test(contents_must_have_the_inferred_type),
        cmocka_unit_test(loads_values_within_the_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
