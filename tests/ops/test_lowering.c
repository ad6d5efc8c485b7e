/* SPDX-License-Identifier: Apache-2.0 */
/* What a backend is asked to run for a node, as the line of text that tells primitives apart.
 */
#include "ops/lowering.h"

#include "rule_harness.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "backends/primitive.h"
#include "ops/registry.h"
#include "support/text.h"

struct lowering_case {
    struct rule_case node;
    const char *text; /* of the primitive; NULL: there is none */
};

#define LOWERS(op_, attrs_, inputs_, outputs_, text_)                                          \
    { GIVES(op_, attrs_, inputs_, outputs_), text_ }

static void expect(const struct lowering_case *row) {
    struct rule_bench *bench = rule_bench_open(&row->node);
    struct cm_primitive primitive;
    struct cm_reason reason = {""};
    const char *why = NULL;
    struct text text;
    text_init(&text, bench->arena);
    assert_int_equal(bench->status, CM_OK);
    if (lowering_apply(&bench->rule, &primitive, &why)) {
        if (primitive_check(&primitive, &reason) != CM_BACKEND_OK)
            fail_msg("%s: %s", row->node.op, reason.text);
        primitive_print(&primitive, &text);
    }
    const char *have = text.length > 0 ? text_string(&text) : NULL;
    if (!text_equal(have, row->text))
        fail_msg("%s(%s) %s: have \"%s\", want \"%s\"", row->node.op, row->node.inputs,
                 row->node.attrs ? row->node.attrs : "", have ? have : "(none)",
                 row->text ? row->text : "(none)");
    rule_bench_close(bench);
}

#define RUN(rows)                                                                              \
    for (size_t i = 0; i < sizeof(rows) / sizeof((rows)[0]); i++) expect(&(rows)[i])

static void convolutions(void **state) {
    static const struct lowering_case rows[] = {
        LOWERS("Conv-11", "strides=[2,2] pads=[3,3,3,3]",
               "float[1,3,224,224] float[64,3,7,7]! float[64]!", "float[1,64,112,112]",
               "conv f32 1x3x224x224 64x3x7x7 64 -> 1x64x112x112 kernel 7x7 stride 2x2 pad "
               "3x3+3x3"),
        LOWERS("Conv-11", "group=8 dilations=[2]", "float16[2,8,20] float16[8,1,3]!",
               "float16[2,8,16]",
               "conv f16 2x8x20 8x1x3 -> 2x8x16 kernel 3 dilation 2 groups 8"),
        /* SAME: 5 of 3 in steps of 2 stand over 10 with one element to spare, at the end */
        LOWERS("Conv-11", "auto_pad=SAME_UPPER strides=[2]", "float[1,1,10] float[1,1,3]!",
               "float[1,1,5]", "conv f32 1x1x10 1x1x3 -> 1x1x5 kernel 3 stride 2 pad 0+1"),
        /* 1x1 in steps of 2: what is left over at the end is no pad */
        LOWERS("Conv-11", "strides=[2,2]", "float[1,4,6,6] float[8,4,1,1]!", "float[1,8,3,3]",
               "conv f32 1x4x6x6 8x4x1x1 -> 1x8x3x3 kernel 1x1 stride 2x2"),
        LOWERS("ConvTranspose-11", "strides=[2] output_padding=[1] pads=[1,1]",
               "float[1,8,5] float[8,4,3]!", "float[1,4,10]",
               "deconv f32 1x8x5 8x4x3 -> 1x4x10 kernel 3 stride 2 pad 1+1"),
        LOWERS("Conv-11", NULL, "float[1,1,4,4,4,4] float[1,1,2,2,2,2]!", "float[1,1,3,3,3,3]",
               NULL),
        LOWERS("Conv-11", NULL, "float[?,3,8,8] float[4,3,3,3]!", "float[?,4,6,6]", NULL),
    };
    (void)state;
    RUN(rows);
}

static void products(void **state) {
    static const struct lowering_case rows[] = {
        LOWERS("Gemm-13", "transB=1", "float[32,1024] float[512,1024]! float[512]!",
               "float[32,512]", "gemm f32 32x1024 1024x512/1x1024 512 -> 32x512"),
        LOWERS("Gemm-13", "transA=1", "float[4,2] float[4,3]!", "float[2,3]",
               "gemm f32 2x4/1x2 4x3 -> 2x3"),
        /* one matrix for the whole batch: all rows in one product */
        LOWERS("MatMul-13", NULL, "float[8,197,768] float[768,3072]!", "float[8,197,3072]",
               "gemm f32 1576x768 768x3072 -> 1576x3072"),
        LOWERS("MatMul-13", NULL, "float[2,12,197,64] float[2,12,64,197]",
               "float[2,12,197,197]", "gemm f32 2x12x197x64 2x12x64x197 -> 2x12x197x197"),
        LOWERS("MatMul-13", NULL, "float[5] float[5,3]", "float[3]", "gemm f32 1x5 5x3 -> 1x3"),
        LOWERS("MatMul-13", NULL, "float[2,4,5] float[5]", "float[2,4]",
               "gemm f32 8x5 5x1 -> 8x1"),
        LOWERS("MatMul-13", NULL, "float[5] float[2,5,3]", "float[2,3]",
               "gemm f32 1x5 2x5x3 -> 2x1x3"),
        LOWERS("LSTM-14", "hidden_size=16", "float[7,2,8] float[1,64,8]! float[1,64,16]!",
               "float[7,1,2,16] float[1,2,16] float[1,2,16]",
               "rnn lstm f32 7x2x8 1x64x8 1x64x16 -> 7x1x2x16 hidden 16"),
    };
    (void)state;
    RUN(rows);
}

static void layers(void **state) {
    static const struct lowering_case rows[] = {
        LOWERS("MaxPool-12", "kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1]",
               "float[1,64,112,112]", "float[1,64,56,56]",
               "pool max f32 1x64x112x112 -> 1x64x56x56 kernel 3x3 stride 2x2 pad 1x1+1x1"),
        LOWERS("MaxPool-12", "kernel_shape=[2] strides=[2] ceil_mode=1", "float[1,1,5]",
               "float[1,1,3]", "pool max f32 1x1x5 -> 1x1x3 kernel 2 stride 2 pad 0+1"),
        LOWERS("AveragePool-11", "kernel_shape=[2]", "float[1,1,4]", "float[1,1,3]",
               "pool average f32 1x1x4 -> 1x1x3 kernel 2"),
        LOWERS("AveragePool-11", "kernel_shape=[2] count_include_pad=1", "float[1,1,4]",
               "float[1,1,3]", "pool average-padding f32 1x1x4 -> 1x1x3 kernel 2"),
        LOWERS("GlobalAveragePool-1", NULL, "float[1,2048,7,7]", "float[1,2048,1,1]",
               "pool average f32 1x2048x7x7 -> 1x2048x1x1 kernel 7x7"),
        LOWERS("BatchNormalization-15", NULL,
               "float[1,8,4,4] float[8]! float[8]! float[8]! float[8]!", "float[1,8,4,4]",
               "norm batch f32 1x8x4x4 8 8 8 8 -> 1x8x4x4"),
        LOWERS("LayerNormalization-17", "axis=-2", "float[2,3,4] float[3,4]! float[3,4]!",
               "float[2,3,4]", "norm layer f32 2x3x4 3x4 3x4 -> 2x3x4 axis 1"),
        LOWERS("Softmax-13", NULL, "float[2,3,10]", "float[2,3,10]",
               "softmax plain f32 2x3x10 -> 2x3x10 axis 2"),
        LOWERS("Softmax-1", NULL, "float[2,3,10]", "float[2,3,10]",
               "softmax plain f32 2x30 -> 2x30 axis 1"),
        LOWERS("LogSoftmax-13", "axis=0", "float[2,3]", "float[2,3]",
               "softmax log f32 2x3 -> 2x3"),
        LOWERS("ReduceMean-13", "axes=[2,3] keepdims=0", "float[1,8,7,7]", "float[1,8]",
               "reduce mean f32 1x8x7x7 -> 1x8x1x1"),
        LOWERS("ReduceMax-18", NULL, "float[4,5] int64[1]={-1}", "float[4,1]",
               "reduce max f32 4x5 -> 4x1"),
        LOWERS("ReduceSum-13", NULL, "float[4,5]", "float[1,1]", "reduce sum f32 4x5 -> 1x1"),
        LOWERS("ReduceSum-13", "noop_with_empty_axes=1", "float[4,5]", "float[4,5]",
               "reduce sum f32 4x5 -> 4x5"),
    };
    (void)state;
    RUN(rows);
}

static void elements(void **state) {
    static const struct lowering_case rows[] = {
        LOWERS("Relu-14", NULL, "float[2,3]", "float[2,3]", "eltwise relu f32 2x3 -> 2x3"),
        LOWERS("LeakyRelu-6", "alpha=0.25", "float[2]", "float[2]",
               "eltwise leaky-relu(0.25,0) f32 2 -> 2"),
        LOWERS("Clip-13", NULL, "float[2] float[]={0} float[]={6}", "float[2]",
               "eltwise clip(0,1) f32 2 -> 2"),
        LOWERS("Gelu-20", "approximate=tanh", "float[2]", "float[2]",
               "eltwise gelu-tanh f32 2 -> 2"),
        LOWERS("Add-14", NULL, "float[2,3,4] float[3,1]", "float[2,3,4]",
               "eltwise add f32 2x3x4 3x1 -> 2x3x4"),
        LOWERS("Sum-13", NULL, "float[2] float[2] float[2]", "float[2]", NULL),
        LOWERS("Equal-13", NULL, "int64[4] int64[]", "bool[4]",
               "eltwise compare i64 4 scalar -> bool 4"),
        LOWERS("Where-16", NULL, "bool[4] float[4] float[]", "float[4]",
               "eltwise select bool 4 f32 4 scalar -> 4"),
        LOWERS("Cast-13", "to=10", "float[4]", "float16[4]", "eltwise cast f32 4 -> f16 4"),
        LOWERS("Transpose-13", "perm=[0,2,3,1]", "float[1,64,56,56]", "float[1,56,56,64]",
               "copy f32 1x56x56x64/200704x56x1x3136 -> 1x56x56x64"),
        LOWERS("Transpose-13", NULL, "float[2,3]", "float[3,2]", "copy f32 3x2/1x3 -> 3x2"),
        LOWERS("Concat-13", "axis=-1", "float[2,3] float[2,4]", "float[2,7]",
               "copy f32 2x3 2x4 -> 2x7 axis 1"),
        LOWERS("Expand-13", NULL, "float[3,1] int64[3]={2,3,4}", "float[2,3,4]",
               "copy f32 2x3x4/0x1x0 -> 2x3x4"),
        LOWERS("Slice-13", NULL, "float[4,8] int64[1]={2} int64[1]={6} int64[1]={1}",
               "float[4,4]", "copy f32 4x4/8x1 -> 4x4"),
        LOWERS("Split-13", NULL, "float[4,8] int64[2]={1,3}", "float[1,8] float[3,8]",
               "copy f32 4x8 -> 4x8"),
        LOWERS("Gather-13", "axis=-1", "float[5,7] int64[2]", "float[5,2]",
               "gather f32 5x7 i64 2 -> f32 5x2 axis 1"),
        LOWERS("Pad-13", NULL, "float[3] int64[2]={1,1}", "float[5]", "gather f32 3 -> 5"),
    };
    (void)state;
    RUN(rows);
}

static void what_has_no_row_says_so(void **state) {
    static const struct rule_case cases[] = {
        GIVES("NonZero-13", NULL, "float[4]", "int64[1,?]"),
        GIVES("Conv-11", NULL, "float[?,3,8,8] float[4,3,3,3]!", "float[?,4,6,6]"),
    };
    static const char *const reasons[] = {"the operator has no primitive",
                                          "its operands have no primitive"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct rule_bench *bench = rule_bench_open(&cases[i]);
        struct cm_primitive primitive;
        const char *why = NULL;
        assert_false(lowering_apply(&bench->rule, &primitive, &why));
        assert_string_equal(why, reasons[i]);
        rule_bench_close(bench);
    }
    assert_null(lowering_find("com.microsoft", "Conv"));
}

static bool is_known_operator(const char *type) {
    for (size_t i = 0; i < registry_n_families(); i++)
        for (size_t row = 0; row < registry_family(i)->n_rows; row++)
            if (text_equal(registry_family(i)->rows[row].type, type)) return true;
    return false;
}

static void every_row_is_of_an_operator_that_there_is(void **state) {
    const struct lowering_row *const tables[] = {lowering_products, lowering_layers,
                                                 lowering_elements};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        for (const struct lowering_row *row = tables[i]; row->op != NULL; row++) {
            if (!is_known_operator(row->op)) fail_msg("there is no operator %s", row->op);
            assert_ptr_equal(lowering_find("", row->op), row); /* none twice */
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolutions),
        cmocka_unit_test(products),
        cmocka_unit_test(layers),
        cmocka_unit_test(elements),
        cmocka_unit_test(what_has_no_row_says_so),
        cmocka_unit_test(every_row_is_of_an_operator_that_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
