/* SPDX-License-Identifier: Apache-2.0 */
/* MACs of dequantized operands count as integer MACs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model_harness.h"
#include "passes/fusion/fuse_patterns.h"
#include "support/checked.h"

/* A MatMul n [2,3] x [3,4] of 24 MACs, and the nodes around it. */
struct dequantized_case {
    const char *lines;
    int64_t macs; /* integer MACs */
    int64_t flops;
    int64_t int_ops;
};

#define SCALE    "init s float[]\n"
#define ACTIVE   SCALE "in x float[2,3]\nnode q QuantizeLinear x s -> i\n"
#define INPUT    ACTIVE "node d DequantizeLinear i s -> a\n"
#define WEIGHT   "init w int8[3,4]\nnode e DequantizeLinear w s -> b\n"
#define PRODUCT  "node n MatMul a b -> y\nout y\n"
#define INTEGERS 24, 0, 48
#define FLOATS   0, 48, 0

static void check_row(const struct dequantized_case *row, size_t i) {
    const struct cm_options options = {.convention = "exact"};
    struct bench *bench = bench_open_with(row->lines, &options);
    if (bench->status != CM_OK) fail_msg("row %zu: %s", i, bench_messages(bench));
    const struct cm_costs *costs = bench_costs(bench, "n");
    if (costs->macs != 24 || costs->int_macs != row->macs || costs->flops != row->flops ||
        costs->int_ops != row->int_ops)
        fail_msg("row %zu: %lld MACs, %lld integer MACs, %lld FLOPs, %lld integer operations",
                 i, (long long)costs->macs, (long long)costs->int_macs, (long long)costs->flops,
                 (long long)costs->int_ops);
    bench_close(bench);
}

#define CHECK(rows)                                                                            \
    for (size_t i = 0; i < sizeof(rows) / sizeof *(rows); i++) check_row(&(rows)[i], i)

static void counts_integers_if_every_factor_is_dequantized(void **state) {
    static const struct dequantized_case rows[] = {
        {INPUT WEIGHT PRODUCT, INTEGERS},
        /* only the weight, as in language models, or only the activation */
        {SCALE "in a float[2,3]\n" WEIGHT PRODUCT, FLOATS},
        {INPUT "init b float[3,4]\n" PRODUCT, FLOATS},
        /* fake quantization: the weight is stored in floats */
        {INPUT "init v float[3,4]\nnode r QuantizeLinear v s -> w\n"
               "node e DequantizeLinear w s -> b\n" PRODUCT,
         INTEGERS},
        /* float8 is not an integer */
        {SCALE "in i float8e4m3fn[2,3]\nnode d DequantizeLinear i s -> a\n" WEIGHT PRODUCT,
         FLOATS},
        /* quantized without dequantizing */
        {INPUT "init w int8[3,4]\nnode e Cast w -> b to=1\n" PRODUCT, FLOATS},
    };
    (void)state;
    CHECK(rows);
}

static void data_movement_keeps_operands_dequantized(void **state) {
    static const struct dequantized_case rows[] = {
        {INPUT "init w int8[4,3]\nnode e DequantizeLinear w s -> t\n"
               "node f Transpose t -> b\n" PRODUCT,
         INTEGERS},
        {ACTIVE "const h int64[2] =2,3\nnode d DequantizeLinear i s -> f\n"
                "node g Reshape f h -> a\n" WEIGHT PRODUCT,
         INTEGERS},
        {SCALE
         "in k int8[1,3]\nin l int8[1,3]\nnode d DequantizeLinear k s -> f\n"
         "node g DequantizeLinear l s -> h\nnode c Concat f h -> a axis=0\n" WEIGHT PRODUCT,
         INTEGERS},
        /* one part of the Concat was never quantized */
        {SCALE "in k int8[1,3]\nin h float[1,3]\nnode d DequantizeLinear k s -> f\n"
               "node c Concat f h -> a axis=0\n" WEIGHT PRODUCT,
         FLOATS},
        /* Relu is not data movement */
        {ACTIVE "node d DequantizeLinear i s -> f\nnode r Relu f -> a\n" WEIGHT PRODUCT,
         FLOATS},
    };
    (void)state;
    CHECK(rows);
}

/* Scales of a [2,3] x b [3,4] factor out of the sum if there is one per row of a or per column
 * of b, but not if they vary along the summed axis. */
#define ROWS_OF_A "in i int8[2,3]\ninit r float[2]\nnode d DequantizeLinear i r -> a axis=0\n"
#define COLUMNS_OF_A                                                                           \
    "in i int8[2,3]\ninit r float[3]\nnode d DequantizeLinear i r -> a axis=1\n"
#define WEIGHT_BY(n, axis)                                                                     \
    "init w int8[3,4]\ninit t float[" n "]\nnode e DequantizeLinear w t -> b axis=" axis "\n"

static void scale_must_be_constant_along_summed_axes(void **state) {
    static const struct dequantized_case rows[] = {
        {INPUT WEIGHT_BY("4", "1") PRODUCT, INTEGERS},
        {INPUT WEIGHT_BY("4", "-1") PRODUCT, INTEGERS},
        {INPUT WEIGHT_BY("3", "0") PRODUCT, FLOATS},
        {SCALE ROWS_OF_A WEIGHT PRODUCT, INTEGERS},
        {SCALE COLUMNS_OF_A WEIGHT PRODUCT, FLOATS},
        {ROWS_OF_A WEIGHT_BY("4", "1") PRODUCT, INTEGERS},
        /* a scale tensor with one element is constant along every axis */
        {INPUT WEIGHT_BY("1", "0") PRODUCT, INTEGERS},
        /* one block of 3 covers the summed axis, blocks of 1 do not */
        {INPUT "init w int8[3,4]\ninit t float[1,4]\n"
               "node e DequantizeLinear w t -> b axis=0 block_size=3\n" PRODUCT,
         INTEGERS},
        {INPUT "init w int8[3,4]\ninit t float[3,4]\n"
               "node e DequantizeLinear w t -> b axis=0 block_size=1\n" PRODUCT,
         FLOATS},
        /* transposed by transB */
        {INPUT "init w int8[4,3]\ninit t float[4]\nnode e DequantizeLinear w t -> b axis=0\n"
               "node n Gemm a b -> y transB=1\nout y\n",
         INTEGERS},
        {INPUT "init w int8[4,3]\ninit t float[3]\nnode e DequantizeLinear w t -> b axis=1\n"
               "node n Gemm a b -> y transB=1\nout y\n",
         FLOATS},
        {SCALE
         "in i int8[3,2]\ninit r float[2]\nnode d DequantizeLinear i r -> a axis=1\n" WEIGHT
         "node n Gemm a b -> y transA=1\nout y\n",
         INTEGERS},
        /* axis defaults to 1 */
        {INPUT "init w int8[3,4]\ninit t float[4]\n"
               "node e com.microsoft::DequantizeLinear w t -> b\n" PRODUCT,
         INTEGERS},
        {INPUT WEIGHT_BY("4", "1") "node n Einsum a b -> y equation=ij,jk->ik\nout y\n",
         INTEGERS},
        {INPUT WEIGHT_BY("3", "0") "node n Einsum a b -> y equation=ij,jk->ik\nout y\n",
         FLOATS},
        {INPUT "init w int8[4,3]\ninit t float[4]\nnode e DequantizeLinear w t -> b axis=0\n"
               "node n com.microsoft::FusedMatMul a b -> y transB=1\nout y\n",
         INTEGERS},
        {INPUT "init w int8[4,3]\ninit t float[3]\nnode e DequantizeLinear w t -> b axis=1\n"
               "node n com.microsoft::FusedMatMul a b -> y transB=1\nout y\n",
         FLOATS},
    };
    (void)state;
    CHECK(rows);
}

#define PIXELS SCALE "in i int8[1,3,2]\nnode d DequantizeLinear i s -> a\n"
#define CHANNELS                                                                               \
    "in i int8[1,3,8]\ninit r float[3]\nnode d DequantizeLinear i r -> a axis=1\n"             \
    "init w int8[3,1,1]\nnode e DequantizeLinear w r -> b axis=0\n"

#define BIAS "init v int8[3]\nnode f DequantizeLinear v r -> c axis=0\n"

static void convolution_sums_over_group_channels_and_kernel(void **state) {
    static const struct dequantized_case rows[] = {
        {PIXELS "init w int8[4,3,1]\ninit t float[4]\nnode e DequantizeLinear w t -> b axis=0\n"
                "node n Conv a b -> y\nout y\n",
         INTEGERS},
        {PIXELS "init w int8[4,3,1]\ninit t float[3]\nnode e DequantizeLinear w t -> b axis=1\n"
                "node n Conv a b -> y\nout y\n",
         FLOATS},
        {CHANNELS "node n Conv a b -> y group=3\nout y\n", INTEGERS},
        {CHANNELS "node n ConvTranspose a b -> y group=3\nout y\n", INTEGERS},
        {"in i int8[1,3,2]\ninit r float[3]\nnode d DequantizeLinear i r -> a axis=1\n" SCALE
         "init w int8[4,3,1]\nnode e DequantizeLinear w s -> b\nnode n Conv a b -> y\nout y\n",
         FLOATS},
        {PIXELS "init w int8[3,4,1]\ninit t float[4]\nnode e DequantizeLinear w t -> b axis=1\n"
                "node n ConvTranspose a b -> y\nout y\n",
         INTEGERS},
        {PIXELS "init w int8[3,4,1]\ninit t float[3]\nnode e DequantizeLinear w t -> b axis=0\n"
                "node n ConvTranspose a b -> y\nout y\n",
         FLOATS},
        /* products are on integers, fused activations are not */
        {PIXELS "init w int8[4,3,1]\nnode e DequantizeLinear w s -> b\n"
                "node n com.microsoft::FusedConv a b -> y activation=Relu\nout y\n",
         24, 8, 48},
        {"opset 27\n" CHANNELS "node n CausalConvWithState a b -> y z activation=none\nout y\n",
         INTEGERS},
        /* a dequantized bias is added in integers, unless an activation follows in floats */
        {"opset 27\n" CHANNELS BIAS "node n CausalConvWithState a b c -> y z\nout y\n", 24, 0,
         72},
        {"opset 27\n" CHANNELS BIAS
         "node n CausalConvWithState a b c -> y z activation=silu\nout y\n",
         24, 24 + 5 * 24, 48},
        {"opset 27\n" CHANNELS
         "in p float[1,3,0]\nnode n CausalConvWithState a b - p -> y z\nout y\n",
         FLOATS},
    };
    (void)state;
    CHECK(rows);
}

#define GIVEN          SCALE WEIGHT
#define INPUT_AS(name) ACTIVE "node d DequantizeLinear i s -> " name "\n"

static void scales_follow_data_movement(void **state) {
    static const struct dequantized_case rows[] = {
        {INPUT "init w int8[4,3]\ninit t float[4]\nnode e DequantizeLinear w t -> f axis=0\n"
               "node f Transpose f -> b\n" PRODUCT,
         INTEGERS},
        {INPUT "init w int8[4,3]\ninit t float[3]\nnode e DequantizeLinear w t -> f axis=1\n"
               "node f Transpose f -> b perm=[1,0]\n" PRODUCT,
         FLOATS},
        {INPUT "init w int8[3,2,2]\ninit t float[2]\nconst h int64[2] =3,4\n"
               "node e DequantizeLinear w t -> f axis=2\nnode f Reshape f h -> b\n" PRODUCT,
         INTEGERS},
        {INPUT "init w int8[1,3,4]\ninit t float[4]\nconst h int64[2] =3,4\n"
               "node e DequantizeLinear w t -> f axis=2\nnode f Reshape f h -> b\n" PRODUCT,
         INTEGERS},
        /* one scale per row of a table */
        {SCALE WEIGHT
         "init k int8[9,3]\ninit t float[9]\nin h int64[2]\n"
         "node d DequantizeLinear k t -> f axis=0\nnode g Gather f h -> a\n" PRODUCT,
         INTEGERS},
        {SCALE WEIGHT
         "init k int8[2,9]\ninit t float[9]\nin h int64[3]\n"
         "node d DequantizeLinear k t -> f axis=1\nnode g Gather f h -> a axis=1\n" PRODUCT,
         FLOATS},
    };
    (void)state;
    CHECK(rows);
}

static void concatenated_parts_keep_their_scales(void **state) {
    static const struct dequantized_case rows[] = {
        /* different scales along the summed axis; the same scale; different scales along
         * another axis */
        {SCALE "in k int8[2,1]\nin l int8[2,2]\ninit r float[]\n"
               "node d DequantizeLinear k s -> f\nnode g DequantizeLinear l r -> h\n"
               "node c Concat f h -> a axis=1\n" WEIGHT PRODUCT,
         FLOATS},
        {SCALE "in k int8[2,1]\nin l int8[2,2]\n"
               "node d DequantizeLinear k s -> f\nnode g DequantizeLinear l s -> h\n"
               "node c Concat f h -> a axis=1\n" WEIGHT PRODUCT,
         INTEGERS},
        {SCALE "in k int8[1,3]\nin l int8[1,3]\ninit r float[]\n"
               "node d DequantizeLinear k s -> f\nnode g DequantizeLinear l r -> h\n"
               "node c Concat f h -> a axis=0\n" WEIGHT PRODUCT,
         INTEGERS},
        /* the parts share a scale tensor: along the summed axis; along two axes; along a kept
         * axis */
        {"in k int8[1,3]\nin l int8[1,3]\ninit r float[3]\n" SCALE
         "node d DequantizeLinear k r -> f axis=1\nnode g DequantizeLinear l r -> h axis=1\n"
         "node c Concat f h -> a axis=0\n" WEIGHT PRODUCT,
         FLOATS},
        {INPUT "init w int8[3,1]\ninit v int8[3,3]\ninit t float[3]\n"
               "node e DequantizeLinear w t -> f axis=0\n"
               "node f DequantizeLinear v t -> g axis=1\n"
               "node g Concat f g -> b axis=1\n" PRODUCT,
         FLOATS},
        {INPUT "init w int8[1,4]\ninit v int8[2,4]\ninit t float[4]\n"
               "node e DequantizeLinear w t -> f axis=1\n"
               "node f DequantizeLinear v t -> g axis=1\n"
               "node g Concat f g -> b axis=0\n" PRODUCT,
         INTEGERS},
    };
    (void)state;
    CHECK(rows);
}

static void scales_follow_merged_split_and_gathered_axes(void **state) {
    static const struct dequantized_case rows[] = {
        /* Reshape merges or splits axes: allowed if the scales vary along a kept axis only */
        {GIVEN "init k int8[2,1,3]\ninit t float[2]\nconst h int64[2] =2,3\n"
               "node d DequantizeLinear k t -> f axis=0\nnode r Reshape f h -> a\n" PRODUCT,
         INTEGERS},
        {GIVEN "init k int8[2,3]\ninit t float[2]\nconst h int64[3] =1,2,3\n"
               "node d DequantizeLinear k t -> f axis=0\nnode r Reshape f h -> a\n" PRODUCT,
         INTEGERS},
        {GIVEN "init k int8[6]\ninit t float[6]\nconst h int64[2] =2,3\n"
               "node d DequantizeLinear k t -> f axis=0\nnode r Reshape f h -> a\n" PRODUCT,
         FLOATS},
        {GIVEN "init k int8[9,3]\ninit t float[9]\nin h int64[1,2]\n"
               "node d DequantizeLinear k t -> f axis=0\nnode g Gather f h -> a\n" PRODUCT,
         INTEGERS},
        {GIVEN "init k int8[9,2,3]\ninit t float[9]\nconst h int64[] =1\n"
               "node d DequantizeLinear k t -> f axis=0\nnode g Gather f h -> a\n" PRODUCT,
         INTEGERS},
    };
    (void)state;
    CHECK(rows);
}

static void padding_must_be_integers(void **state) {
    static const struct dequantized_case rows[] = {
        /* padded by zeros, which are integers, and by other values */
        {GIVEN "in i int8[2,2]\nnode d DequantizeLinear i s -> f\n"
               "const p int64[4] =0,0,0,1\nnode c Pad f p -> a\n" PRODUCT,
         INTEGERS},
        {GIVEN "in i int8[2,2]\nnode d DequantizeLinear i s -> f\nin v float[]\n"
               "const p int64[4] =0,0,0,1\nnode c Pad f p v -> a\n" PRODUCT,
         FLOATS},
        {GIVEN "in i int8[2,2]\nnode d DequantizeLinear i s -> f\nin v float[]\n"
               "const p int64[4] =0,0,0,1\nnode c Pad f p v -> a mode=reflect\n" PRODUCT,
         INTEGERS},
        {GIVEN "in i int8[2,2]\nnode d DequantizeLinear i s -> f\ninit v float[0]\n"
               "const p int64[4] =0,0,0,1\nnode c Pad f p v -> a\n" PRODUCT,
         FLOATS},
        /* contents that are not loaded yet */
        {GIVEN "in i int8[2,2]\nnode d DequantizeLinear i s -> f\ninit v float[1] =0,\n"
               "const p int64[4] =0,0,0,1\nnode c Pad f p v -> a\n" PRODUCT,
         INTEGERS},
        {GIVEN "in i int8[2,2]\nnode d DequantizeLinear i s -> f\ninit v float[1] =1,\n"
               "const p int64[4] =0,0,0,1\nnode c Pad f p v -> a\n" PRODUCT,
         FLOATS},
    };
    (void)state;
    CHECK(rows);
}

static void propagates_only_through_data_operands(void **state) {
    static const struct dequantized_case rows[] = {
        /* a mask is not data, and an unused output changes nothing */
        {INPUT_AS("f") "node o Dropout f -> g m\nnode c Cast m -> a to=1\n" WEIGHT PRODUCT,
         FLOATS},
        {INPUT_AS("f") "node o Dropout f -> a m\n" WEIGHT PRODUCT, INTEGERS},
        {GIVEN "in i int8[4,3]\nnode d DequantizeLinear i s -> f\n"
               "node c Split f -> - a axis=0\n" PRODUCT,
         INTEGERS},
        /* 16-bit floats represent int8 values exactly, 8-bit floats do not */
        {ACTIVE "node d DequantizeLinear i s -> f\nnode c Cast f -> g to=10\n"
                "node k Cast g -> a to=1\n" WEIGHT PRODUCT,
         INTEGERS},
        {ACTIVE "node d DequantizeLinear i s -> f\nnode c Cast f -> g to=17\n"
                "node k Cast g -> a to=1\n" WEIGHT PRODUCT,
         FLOATS},
    };
    (void)state;
    CHECK(rows);
}

static void bias_keeps_its_type(void **state) {
    static const struct dequantized_case rows[] = {
        {INPUT WEIGHT "init c float[4]\nnode n Gemm a b c -> y\nout y\n", 24, 8, 48},
        {INPUT WEIGHT "init k int32[4]\nnode f DequantizeLinear k s -> c\n"
                      "node n Gemm a b c -> y\nout y\n",
         24, 0, 48 + 8},
        {INPUT WEIGHT "node n Gemm a b -> y\nout y\n", INTEGERS},
        {INPUT WEIGHT "node n Einsum a b -> y equation=ij,jk->ik\nout y\n", INTEGERS},
    };
    (void)state;
    CHECK(rows);
}

static void loops_and_sums_count_integers(void **state) {
    const struct cm_options options = {.convention = "exact"};
    struct bench *bench = bench_open_with(
        SCALE WEIGHT "in i int8[2,3]\nconst t int64[] =5\nconst c bool[] =1\n"
                     "body body\nin j int64[]\nin k bool[]\n"
                     "node d DequantizeLinear i s -> a\nnode n MatMul a b -> y\n"
                     "node - Identity k -> k1\nout k1\nout y\nclose\n"
                     "node l Loop t c -> z\nout z\n",
        &options);
    (void)state;
    if (bench->status != CM_OK) fail_msg("%s", bench_messages(bench));
    const struct cm_costs *root = &bench_module(bench, "")->costs;
    assert_int_equal(bench_costs(bench, "n")->int_macs, 5 * 24);
    assert_int_equal(bench_costs(bench, "n")->int_ops, 5 * 48);
    assert_int_equal(root->macs, 5 * 24);
    assert_int_equal(root->int_macs, 5 * 24);
    assert_int_equal(root->int_ops, 5 * 48);
    assert_int_equal(root->flops, 5 * 2 * 6); /* the 6 elements that are dequantized */
    bench_close(bench);
}

/* A decomposed attention is one operation; its softmax is on floats. */
static void fused_patterns_count_as_floating_point(void **state) {
    const struct cm_options options = {.convention = "exact"};
    struct bench *bench = bench_open_with(
        SCALE "in i int8[2,4,8]\nin j int8[2,8,4]\nin v float[2,4,8]\n"
              "node - DequantizeLinear i s -> a\nnode - DequantizeLinear j s -> b\n"
              "node m MatMul a b -> p\nnode - Softmax p -> w axis=-1\n"
              "node n MatMul w v -> y\nout y\n",
        &options);
    (void)state;
    if (bench->status != CM_OK) fail_msg("%s", bench_messages(bench));
    assert_int_equal(bench->analysis.fused_patterns->n, 1);
    assert_int_equal(bench_costs(bench, "m")->macs, 2 * 4 * 4 * 8);
    assert_int_equal(bench_costs(bench, "m")->int_macs, 0);
    assert_int_equal(bench_module(bench, "")->costs.int_ops, 0);
    bench_close(bench);
}

/* Equal MACs and 0 FLOPs: the branch with 16 integer additions counts, not the one with 8. */
static void branch_with_more_integer_ops_is_counted(void **state) {
    const struct cm_options options = {.convention = "exact"};
    struct bench *bench = bench_open_with(
        "in i int64[2,4]\nin c bool[]\nbody then_branch\nnode n Add i i -> a\nout a\nclose\n"
        "body else_branch\nnode m Add i i -> d\nnode l Add d i -> b\nout b\nclose\n"
        "node - If c -> y\nout y\n",
        &options);
    (void)state;
    if (bench->status != CM_OK) fail_msg("%s", bench_messages(bench));
    assert_int_equal(bench_costs(bench, "n")->int_ops, 0);
    assert_int_equal(bench_costs(bench, "m")->int_ops, 8);
    assert_int_equal(bench_module(bench, "")->costs.int_ops, 16);
    bench_close(bench);
}

static void shape_arithmetic_has_no_integer_ops(void **state) {
    struct bench *bench =
        bench_open("in x float[2,4]\nnode - Shape x -> s\n"
                   "node n Add s s -> t\nnode - ConstantOfShape t -> y\nout y\n");
    (void)state;
    if (bench->status != CM_OK) fail_msg("%s", bench_messages(bench));
    assert_int_equal(bench_costs(bench, "n")->int_ops, 0);
    bench_close(bench);
}

static void unknown_macs_give_unknown_integer_macs(void **state) {
    struct bench *bench = bench_open("in x float[2,4]\nnode n com.me::Odd x -> y\nout y\n");
    (void)state;
    const struct cm_costs *costs = bench_costs(bench, "n");
    assert_int_equal(costs->int_macs, CM_UNKNOWN);
    assert_int_equal(costs->flops, CM_UNKNOWN);
    assert_int_equal(costs->int_ops, CM_UNKNOWN);
    bench_close(bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_integers_if_every_factor_is_dequantized),
        cmocka_unit_test(data_movement_keeps_operands_dequantized),
        cmocka_unit_test(scale_must_be_constant_along_summed_axes),
        cmocka_unit_test(convolution_sums_over_group_channels_and_kernel),
        cmocka_unit_test(scales_follow_data_movement),
        cmocka_unit_test(concatenated_parts_keep_their_scales),
        cmocka_unit_test(scales_follow_merged_split_and_gathered_axes),
        cmocka_unit_test(padding_must_be_integers),
        cmocka_unit_test(propagates_only_through_data_operands),
        cmocka_unit_test(bias_keeps_its_type),
        cmocka_unit_test(loops_and_sums_count_integers),
        cmocka_unit_test(fused_patterns_count_as_floating_point),
        cmocka_unit_test(branch_with_more_integer_ops_is_counted),
        cmocka_unit_test(shape_arithmetic_has_no_integer_ops),
        cmocka_unit_test(unknown_macs_give_unknown_integer_macs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
