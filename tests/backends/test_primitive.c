/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of primitives: different ones have different texts, and malformed ones are refused. */
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backends/primitive.h"
#include "support/checked.h"
#include "support/option_names.h"

static void expect_text(const struct cm_primitive *primitive, const char *want) {
    char *text = fixture_print(primitive);
    assert_string_equal(text, want);
    free(text);
}

static void prints_non_default_attributes(void **state) {
    (void)state;
    struct cm_primitive conv = fixture_conv();
    expect_text(&conv, "conv f32 1x3x224x224 64x3x7x7 64 -> 1x64x112x112 kernel 7x7 stride 2x2 "
                       "pad 3x3+3x3");
    conv.groups = 3;
    conv.window.dilations[1] = 2;
    conv.inputs[0].strides[1] = 1;
    conv.inputs[0].strides[2] = 672;
    conv.inputs[0].strides[3] = 3;
    expect_text(&conv, "conv f32 1x3x224x224:nhwc 64x3x7x7 64 -> 1x64x112x112 "
                       "kernel 7x7 stride 2x2 dilation 1x2 pad 3x3+3x3 groups 3");
}

static void prints_functions_and_mixed_elements(void **state) {
    (void)state;
    struct cm_primitive relu = fixture_relu(100);
    relu.outputs[0].element = CM_F16;
    relu.steps[0] = (struct cm_eltwise){.function = CM_CLIP, .alpha = 0, .beta = 6};
    relu.steps[1] = (struct cm_eltwise){.function = CM_CAST};
    relu.n_steps = 2;
    expect_text(&relu, "eltwise clip(0,6) cast f32 100 -> f16 100");
}

static void prints_attributes_of_kind(void **state) {
    (void)state;
    struct cm_primitive attention;
    memset(&attention, 0, sizeof(attention));
    attention.kind = CM_ATTENTION;
    attention.n_inputs = 3;
    attention.n_outputs = 1;
    for (int i = 0; i < 3; i++)
        attention.inputs[i] = fixture_tensor(CM_BF16, 4, (const int64_t[]){1, 8, 128, 64});
    attention.outputs[0] = attention.inputs[0];
    attention.causal = CM_CAUSAL_FIRST;
    expect_text(&attention,
                "attention bf16 1x8x128x64 1x8x128x64 1x8x128x64 -> 1x8x128x64 causal");
    attention.causal = CM_CAUSAL_LAST;
    expect_text(&attention,
                "attention bf16 1x8x128x64 1x8x128x64 1x8x128x64 -> 1x8x128x64 causal-last");
    attention.kind = CM_RNN;
    attention.algorithm = CM_RNN_LSTM;
    attention.causal = 0;
    attention.hidden = 64;
    attention.directions = 2;
    attention.axis = 1;
    expect_text(&attention, "rnn lstm bf16 1x8x128x64 1x8x128x64 1x8x128x64 -> 1x8x128x64 "
                            "axis 1 hidden 64 both directions");
}

static void put_channels_last(struct cm_tensor *tensor) {
    const int64_t *d = tensor->dims;
    const int64_t strides[] = {d[1] * d[2] * d[3], 1, d[3] * d[1], d[1]};
    memcpy(tensor->strides, strides, sizeof(strides));
}

static void names_channels_last(void **state) {
    (void)state;
    struct cm_primitive conv = fixture_conv();
    put_channels_last(&conv.inputs[0]);
    put_channels_last(&conv.inputs[1]);
    put_channels_last(&conv.outputs[0]);
    expect_text(&conv, "conv f32 1x3x224x224:nhwc 64x3x7x7:nhwc 64 -> 1x64x112x112:nhwc "
                       "kernel 7x7 stride 2x2 pad 3x3+3x3");
    /* part of a larger image: prints the strides, not the layout */
    conv.inputs[0].dims[1] = 2;
    conv.inputs[1].dims[2] = 1; /* one element: any stride is right */
    conv.inputs[1].dims[3] = 1;
    expect_text(&conv, "conv f32 1x2x224x224/150528x1x672x3 64x3x1x1/147x1x21x3 64 -> "
                       "1x64x112x112:nhwc kernel 7x7 stride 2x2 pad 3x3+3x3");
    struct cm_primitive relu = fixture_relu(1);
    relu.inputs[0] = fixture_tensor(CM_F32, 3, (const int64_t[]){2, 3, 5});
    relu.inputs[0].strides[1] = 1;
    relu.inputs[0].strides[2] = 3;
    relu.outputs[0] = fixture_tensor(CM_F32, 2, (const int64_t[]){2, 3});
    expect_text(&relu, "eltwise relu f32 2x3x5:nwc -> 2x3");
}

static void prints_scalars_without_dims(void **state) {
    (void)state;
    struct cm_primitive relu = fixture_relu(1);
    relu.inputs[0] = fixture_tensor(CM_F32, 0, (const int64_t[]){0});
    relu.outputs[0] = relu.inputs[0];
    expect_text(&relu, "eltwise relu f32 scalar -> scalar");
    assert_int_equal(primitive_elements(&relu.inputs[0]), 1);
}

static void compares_primitives_by_their_work(void **state) {
    (void)state;
    const struct cm_primitive a = fixture_conv();
    struct cm_primitive b = fixture_conv();
    assert_true(primitive_equal(&a, &b));
    b.window.pads_end[1] = 2;
    assert_false(primitive_equal(&a, &b));
    b = a;
    b.epsilon = 1e-5;
    assert_false(primitive_equal(&a, &b));
}

static void packs_in_row_major_order_and_clears_unused_dims(void **state) {
    (void)state;
    struct cm_tensor tensor = {.element = CM_F32, .rank = 3, .dims = {2, 3, 4, 9, 9}};
    tensor.strides[7] = 5;
    primitive_pack(&tensor);
    assert_int_equal(tensor.strides[0], 12);
    assert_int_equal(tensor.strides[1], 4);
    assert_int_equal(tensor.strides[2], 1);
    assert_int_equal(tensor.strides[7], 0);
    assert_int_equal(tensor.dims[3], 0);
    assert_true(primitive_is_packed(&tensor));
    tensor.strides[1] = 5;
    assert_false(primitive_is_packed(&tensor));
    tensor.dims[1] = 1; /* the stride of an axis of size 1 has no effect */
    tensor.strides[0] = 4;
    assert_true(primitive_is_packed(&tensor));
}

static void names_and_sizes_element_types(void **state) {
    (void)state;
    for (int32_t i = CM_ELEMENT_NONE + 1; i < CM_N_ELEMENTS; i++) {
        for (int32_t k = CM_ELEMENT_NONE; k < i; k++)
            assert_string_not_equal(primitive_element_name(i), primitive_element_name(k));
        assert_true(primitive_element_size(i) > 0);
    }
    assert_string_equal(primitive_element_name(CM_N_ELEMENTS), "?");
    assert_int_equal(primitive_element_size(CM_N_ELEMENTS), 0);
    assert_int_equal(primitive_element_size(-1), 0);
}

/* A missing row in a table of names would be a null pointer. */
static void names_every_enum_value(void **state) {
    (void)state;
    for (int32_t i = 0; i < CM_N_PRIMITIVES; i++) assert_non_null(primitive_kind_name(i));
    for (int32_t i = 0; i < CM_N_ALGORITHMS; i++) assert_non_null(primitive_algorithm_name(i));
    for (int32_t i = 0; i < CM_N_FUNCTIONS; i++) assert_non_null(primitive_function_name(i));
    for (int32_t i = 0; i < CM_N_MEASURE_STATES; i++) assert_non_null(primitive_state_name(i));
    for (int32_t i = 0; i < CM_N_PRECISIONS; i++) assert_non_null(option_precision_name(i));
    for (int32_t i = 0; i < CM_N_LAYOUTS; i++) assert_non_null(option_layout_name(i));
    assert_string_equal(primitive_kind_name(CM_N_PRIMITIVES), "?");
    assert_string_equal(primitive_kind_name(-1), "?");
}

struct bad {
    void (*spoil)(struct cm_primitive *primitive);
    const char *reason;
};

static void no_kind(struct cm_primitive *p) {
    p->kind = CM_N_PRIMITIVES;
}
static void no_result(struct cm_primitive *p) {
    p->n_outputs = 0;
}
static void too_many_operands(struct cm_primitive *p) {
    p->n_inputs = 4;
}
static void no_such_algorithm(struct cm_primitive *p) {
    p->algorithm = -1;
}
static void window_too_wide(struct cm_primitive *p) {
    p->window.n_spatial = 4;
}
static void step_without_function(struct cm_primitive *p) {
    p->n_steps = 1;
}
static void no_element(struct cm_primitive *p) {
    p->inputs[1].element = 0;
}
static void rank_too_large(struct cm_primitive *p) {
    p->inputs[0].rank = 9;
}
static void unknown_dim(struct cm_primitive *p) {
    p->outputs[0].dims[2] = DIM_UNKNOWN;
}
static void too_many_elements(struct cm_primitive *p) {
    p->inputs[0].dims[0] = INT64_C(1) << 46;
}

static void refuses_malformed_primitive(void **state) {
    (void)state;
    static const struct bad cases[] = {
        {no_kind, "unknown primitive kind 15"},
        {no_result, "conv with 3 operands and 0 results"},
        {too_many_operands, "conv with 4 operands and 1 results"},
        {no_such_algorithm, "an attribute of conv is out of range"},
        {window_too_wide, "an attribute of conv is out of range"},
        {step_without_function, "an attribute of conv is out of range"},
        {no_element, "an operand has no element type"},
        {rank_too_large, "an operand has rank 9, at most 8"},
        {unknown_dim, "an operand has an unknown dim"},
        {too_many_elements, "an operand has more than 2^60 elements"},
    };
    struct cm_reason reason = {""};
    const struct cm_primitive good = fixture_conv();
    assert_int_equal(primitive_check(&good, &reason), CM_BACKEND_OK);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cm_primitive bad = good;
        cases[i].spoil(&bad);
        assert_int_equal(primitive_check(&bad, &reason), CM_BACKEND_REFUSED);
        assert_string_equal(reason.text, cases[i].reason);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints_non_default_attributes),
        cmocka_unit_test(prints_functions_and_mixed_elements),
        cmocka_unit_test(prints_attributes_of_kind),
        cmocka_unit_test(names_channels_last),
        cmocka_unit_test(prints_scalars_without_dims),
        cmocka_unit_test(compares_primitives_by_their_work),
        cmocka_unit_test(packs_in_row_major_order_and_clears_unused_dims),
        cmocka_unit_test(names_and_sizes_element_types),
        cmocka_unit_test(names_every_enum_value),
        cmocka_unit_test(refuses_malformed_primitive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
