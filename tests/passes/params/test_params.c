/* SPDX-License-Identifier: Apache-2.0 */
/* Parameter classification: each rule of docs/counting.md and near misses, on small models. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model_harness.h"
#include "passes/params/names.h"
#include "passes/params/params.h"

/* A model and the kinds of its values; a NULL name ends the list. */
struct param_case {
    const char *lines;
    struct {
        const char *value;
        enum param_kind kind;
    } expected[6];
};

static void check_cases(const struct param_case *rows, size_t n) {
    for (size_t i = 0; i < n; i++) {
        struct bench *bench = bench_open(rows[i].lines);
        assert_int_equal(bench->status, CM_OK);
        for (size_t k = 0; k < 6 && rows[i].expected[k].value; k++) {
            enum param_kind kind = bench_kind(bench, rows[i].expected[k].value);
            if (kind != rows[i].expected[k].kind)
                fail_msg("row %zu: %s is of kind %d", i, rows[i].expected[k].value, kind);
        }
        bench_close(bench);
    }
}

#define CHECK(rows) check_cases(rows, sizeof(rows) / sizeof *(rows))

static void test_layer_weights_are_learned(void **state) {
    static const struct param_case rows[] = {
        {"in x float[1,3,8]\ninit c.weight float[4,3,1]\ninit onnx::Conv_7 float[4]\n"
         "node /c/Conv Conv x c.weight onnx::Conv_7 -> y\nout y\n",
         {{"c.weight", PARAM_LEARNED}, {"onnx::Conv_7", PARAM_LEARNED}}},
        {"in x float[1,3]\nconst 17 float[3,4]\nnode - MatMul x 17 -> y\nout y\n",
         {{"17", PARAM_LEARNED}}},
        {"in x int64[1,5]\ninit wte.weight float[10,4]\n"
         "node /wte/Gather Gather wte.weight x -> y\nout y\n",
         {{"wte.weight", PARAM_LEARNED}}},
    };
    (void)state;
    CHECK(rows);
}

static void test_statistics_of_batchnorm_are_buffers(void **state) {
    static const struct param_case rows[] = {
        {"in x float[1,3,8]\ninit w float[3]\ninit b float[3]\ninit m float[3]\n"
         "init v float[3]\nnode /bn/BatchNormalization BatchNormalization x w b m v -> y\n"
         "out y\n",
         {{"w", PARAM_LEARNED},
          {"b", PARAM_LEARNED},
          {"m", PARAM_BUFFER},
          {"v", PARAM_BUFFER}}},
    };
    (void)state;
    CHECK(rows);
}

static void test_constant_nodes_are_learned_if_named(void **state) {
    static const struct param_case rows[] = {
        /* PointNet's identity matrix */
        {"in x float[1,3,3]\nconst onnx::Expand_131 float[3,3]\nconst s int64[3] =1\n"
         "node - Expand onnx::Expand_131 s -> e\nnode - Tile e s -> t\n"
         "node - Add x t -> y\nout y\n",
         {{"onnx::Expand_131", PARAM_NONE}, {"e", PARAM_NONE}}},
        /* a file with parameters in Constant nodes */
        {"in x float[1,3]\nconst ln.weight float[3]\nnode - Mul x ln.weight -> y\nout y\n",
         {{"ln.weight", PARAM_LEARNED}}},
        {"in x float[1,3]\nconst /ln/Constant_output_0 float[3]\n"
         "node - Mul x /ln/Constant_output_0 -> y\nout y\n",
         {{"/ln/Constant_output_0", PARAM_NONE}}},
        /* GroupNorm's ones and zeros */
        {"in x float[1,4,8]\nconst /n/Constant_1_output_0 float[4] =1\n"
         "const /n/Constant_2_output_0 float[4] =0\ninit onnx::Mul_5 float[4,1]\n"
         "node - InstanceNormalization x /n/Constant_1_output_0 /n/Constant_2_output_0 -> i\n"
         "node - Mul i onnx::Mul_5 -> y\nout y\n",
         {{"/n/Constant_1_output_0", PARAM_NONE},
          {"/n/Constant_2_output_0", PARAM_NONE},
          {"onnx::Mul_5", PARAM_LEARNED}}},
    };
    (void)state;
    CHECK(rows);
}

static void test_scalars_are_learned_if_named(void **state) {
    static const struct param_case rows[] = {
        {"in x float[2]\ninit onnx::Mul_3 float[]\nnode - Mul x onnx::Mul_3 -> y\nout y\n",
         {{"onnx::Mul_3", PARAM_NONE}}},
        {"in x float[2]\ninit logit_scale float[]\nnode - Mul x logit_scale -> y\nout y\n",
         {{"logit_scale", PARAM_LEARNED}}},
    };
    (void)state;
    CHECK(rows);
}

/* Constants that PyTorch's dynamo exporter computed: a causal mask, rotary angles, an added
 * matrix; a norm folded into scale and shift, rows of a position table, a folded weight. */
static void test_tables_computed_at_export_are_not_learned(void **state) {
    static const struct param_case rows[] = {
        {"in x float[2,4,8,8]\ninit val_21 float[2,1,8,8]\nnode - Add x val_21 -> y\nout y\n",
         {{"val_21", PARAM_NONE}}},
        {"in x float[2,4,8,8]\ninit unsqueeze_14 float[1,1,8,8]\n"
         "node - Mul x unsqueeze_14 -> y\nout y\n",
         {{"unsqueeze_14", PARAM_NONE}}},
        {"in x float[2,4,8,8]\ninit mul_3 float[4,1,1]\ninit sub float[1,4,1,1]\n"
         "node - Mul x mul_3 -> a\nnode - Add a sub -> y\nout y\n",
         {{"mul_3", PARAM_LEARNED}, {"sub", PARAM_LEARNED}}},
        {"in x float[2,16,8]\ninit embedding_1 float[1,16,8]\ninit val_3 float[8,8]\n"
         "node - Add x embedding_1 -> a\nnode - MatMul a val_3 -> y\nout y\n",
         {{"embedding_1", PARAM_LEARNED}, {"val_3", PARAM_LEARNED}}},
        {"in x float[2,16,8]\ninit table.weight float[16,8]\n"
         "node - Add x table.weight -> y\nout y\n",
         {{"table.weight", PARAM_LEARNED}}},
    };
    (void)state;
    CHECK(rows);
}

static void test_masks_and_indices_are_buffers_when_named(void **state) {
    static const struct param_case rows[] = {
        /* GPT's causal mask, sliced to the length of the input */
        {"in x float[?n]\ninit attn.mask float[8,8]\nconst 0 int64[1] =0\n"
         "const 1 float[] =0\nnode - Shape x -> n\n"
         "node - Slice attn.mask 0 n -> m\nnode - Equal m 1 -> c\n"
         "node - Where c 1 x -> y\nout c\n",
         {{"attn.mask", PARAM_BUFFER}, {"1", PARAM_NONE}}},
        {"in x float[4,2]\ninit a.index int64[3]\nnode - Gather x a.index -> y\nout y\n",
         {{"a.index", PARAM_BUFFER}}},
        {"in x float[4,2]\ninit shape int64[1]\nnode - Gather x shape -> y\nout y\n",
         {{"shape", PARAM_NONE}}},
    };
    (void)state;
    CHECK(rows);
}

static void test_index_integers_are_never_learned(void **state) {
    static const struct param_case rows[] = {
        {"in x int64[2,3]\ninit f.weight int64[3,4]\nnode - MatMul x f.weight -> y\nout y\n",
         {{"f.weight", PARAM_BUFFER}}},
        {"in x int64[5]\ninit places int64[9]\nnode - Gather places x -> y\nout y\n",
         {{"places", PARAM_NONE}}},
        {"in x int8[5]\nconst offset int8[] =1\nnode - Add x offset -> y\nout y\n",
         {{"offset", PARAM_NONE}}},
    };
    (void)state;
    CHECK(rows);
}

/* A quantized weight is learned; its scale is not. */
static void test_quantized_weights_are_learned(void **state) {
    static const struct param_case rows[] = {
        {"in x uint8[1,3,8]\ninit s float[]\ninit z uint8[]\ninit c.weight_quantized "
         "int8[4,3,1]\n"
         "init t float[4]\ninit u int8[4]\ninit c.bias_quantized int32[4]\n"
         "node - QLinearConv x s z c.weight_quantized t u s z c.bias_quantized -> y\nout y\n",
         {{"c.weight_quantized", PARAM_LEARNED},
          {"c.bias_quantized", PARAM_LEARNED},
          {"t", PARAM_BUFFER},
          {"u", PARAM_BUFFER},
          {"z", PARAM_BUFFER}}},
        {"in x float[2,3]\ninit s float[]\ninit w_quantized int8[4,3]\ninit b_quantized "
         "int32[4]\n"
         "node - DequantizeLinear w_quantized s -> d\nnode - Transpose d -> t\n"
         "node - MatMul x t -> p\nnode - DequantizeLinear b_quantized s -> b\n"
         "node - Add p b -> y\nout y\n",
         {{"w_quantized", PARAM_LEARNED}, {"b_quantized", PARAM_LEARNED}, {"d", PARAM_NONE}}},
        {"in x uint8[2,3]\ninit s float[]\ninit z uint8[]\ninit u int8[]\ninit w_quantized "
         "int8[3,4]\n"
         "init b_quantized int32[4]\n"
         "node - com.microsoft::QGemm x s z w_quantized s u b_quantized s z -> y\nout y\n",
         {{"w_quantized", PARAM_LEARNED}, {"b_quantized", PARAM_LEARNED}}},
        /* a quantized scalar factor */
        {"in x float[2,3]\ninit s float[]\ninit val_7_quantized int8[1]\n"
         "node - DequantizeLinear val_7_quantized s -> d\nnode - Mul x d -> y\nout y\n",
         {{"val_7_quantized", PARAM_BUFFER}}},
        /* dynamic quantization: the product of both scales multiplies the integer product */
        {"in x float[2,3]\ninit f.weight_quantized int8[3,4]\ninit f.weight_scale float[]\n"
         "node - DynamicQuantizeLinear x -> q sx zx\n"
         "node - MatMulInteger q f.weight_quantized zx -> p\nnode - Cast p -> r to=1\n"
         "node - Mul sx f.weight_scale -> s\nnode - Mul r s -> y\nout y\n",
         {{"f.weight_quantized", PARAM_LEARNED}, {"f.weight_scale", PARAM_BUFFER}}},
        {"in x int64[2]\ninit wte_quantized int8[9,4]\ninit s float[]\n"
         "node - Gather wte_quantized x -> g\nnode - DequantizeLinear g s -> y\nout y\n",
         {{"wte_quantized", PARAM_LEARNED}, {"s", PARAM_BUFFER}}},
    };
    (void)state;
    CHECK(rows);
}

/* Each byte of B packs two 4-bit numbers; an 8-bit weight has one per byte. */
static void test_counts_packed_numbers(void **state) {
    struct bench *bench =
        bench_open("in x float[2,64]\ninit f.weight uint8[8,2,16]\ninit f.scales float[16]\n"
                   "node - com.microsoft::MatMulNBits x f.weight f.scales -> y K=64 N=8 bits=4 "
                   "block_size=32\nout y\n");
    (void)state;
    assert_int_equal(bench->status, CM_OK);
    const struct cm_costs *root = &bench_module(bench, "")->costs;
    assert_int_equal(bench_kind(bench, "f.weight"), PARAM_LEARNED);
    assert_int_equal(bench_kind(bench, "f.scales"), PARAM_BUFFER);
    assert_int_equal(root->params, 64 * 8);
    assert_int_equal(root->buffers, 16);
    assert_int_equal(root->weight_bytes, 8 * 2 * 16 + 16 * 4);
    bench_close(bench);
}

static void test_finds_weights_behind_views_casts_and_quantization(void **state) {
    static const struct param_case rows[] = {
        {"in x float[1,3]\ninit f.weight float16[4,3]\nnode - Cast f.weight -> c to=1\n"
         "node - Transpose c -> t\nnode - MatMul x t -> y\nout y\n",
         {{"f.weight", PARAM_LEARNED}, {"t", PARAM_NONE}}},
        {"in x float[1,3,8,8]\ninit c.weight float[4,3,1,1]\nconst 0 float[] =0.1\n"
         "const 1 int8[] =0\nnode - QuantizeLinear c.weight 0 1 -> q\n"
         "node - DequantizeLinear q 0 1 -> d\nnode - Conv x d -> y\nout y\n",
         {{"c.weight", PARAM_LEARNED}, {"0", PARAM_NONE}, {"d", PARAM_NONE}}},
    };
    (void)state;
    CHECK(rows);
}

static void test_class_tokens_are_learned(void **state) {
    static const struct param_case rows[] = {
        {"in x float[1,5,4]\ninit class_token float[1,1,4]\nconst 0 int64[3] =1\n"
         "node - Expand class_token 0 -> e\nnode - Tile e 0 -> t\n"
         "node - Concat x t -> y axis=1\nout y\n",
         {{"class_token", PARAM_LEARNED}}},
    };
    (void)state;
    CHECK(rows);
}

static void test_named_identity_is_the_parameter(void **state) {
    static const struct param_case rows[] = {
        {"in x float[1,3]\ninit a.weight float[3]\nnode Identity_0 Identity a.weight -> "
         "b.weight\n"
         "node /a/Mul Mul x a.weight -> y\nnode /b/Mul Mul y b.weight -> z\nout z\n",
         {{"a.weight", PARAM_LEARNED}, {"b.weight", PARAM_LEARNED}}},
        /* a tensor that an Identity renames counts once */
        {"in x float[1,3]\ninit shared float[3]\nnode Identity_0 Identity shared -> b.weight\n"
         "node /b/Mul Mul x b.weight -> z\nout z\n",
         {{"shared", PARAM_NONE}, {"b.weight", PARAM_LEARNED}}},
        {"in x float[1,3]\ninit a.weight float[3]\nnode - Identity a.weight -> 12\n"
         "node /b/Mul Mul x 12 -> z\nout z\n",
         {{"a.weight", PARAM_LEARNED}, {"12", PARAM_NONE}}},
    };
    (void)state;
    CHECK(rows);
}

static void test_weights_may_be_inputs(void **state) {
    static const struct param_case rows[] = {
        {"in x float[1,3,8]\nin onnx::Conv_2 float[4,3,1]\nin bn.weight float[4]\n"
         "in bn.running_mean float[4]\nin skip float[1,4,8]\n"
         "node /c/Conv Conv x onnx::Conv_2 -> c\n"
         "node /bn/BatchNormalization BatchNormalization c bn.weight bn.weight bn.running_mean "
         "bn.running_mean -> b\nnode /Add Add b skip -> y\nout y\n",
         {{"onnx::Conv_2", PARAM_LEARNED},
          {"bn.weight", PARAM_LEARNED},
          {"bn.running_mean", PARAM_BUFFER},
          {"skip", PARAM_NONE},
          {"x", PARAM_NONE}}},
        /* the framework lists its parameters: this input is a state */
        {"params fc.weight\nin x float[1,8]\nin past_state.0 float[2,8]\n"
         "init fc.weight float[8,8]\ninit zero int64[] =0\n"
         "node - Gather past_state.0 zero -> s\nnode - MatMul x fc.weight -> m\n"
         "node - Add m s -> y\nout y\n",
         {{"past_state.0", PARAM_NONE}, {"fc.weight", PARAM_LEARNED}}},
        /* the file stores weights: this input is a cache */
        {"in x float[1,2,8]\nin past_key_values.0.key float[1,6,8]\ninit fc.weight float[8,8]\n"
         "node - MatMul x fc.weight -> k\n"
         "node - Concat past_key_values.0.key k -> y axis=1\nout y\n",
         {{"past_key_values.0.key", PARAM_NONE}, {"fc.weight", PARAM_LEARNED}}},
    };
    (void)state;
    CHECK(rows);
}

static void test_constant_of_shape_may_be_a_weight(void **state) {
    static const struct param_case rows[] = {
        {"in x float[1,3]\ninit w__SHAPE int64[2] =3\n"
         "node - ConstantOfShape w__SHAPE -> w_0\nnode - MatMul x w_0 -> y\nout y\n",
         {{"w_0", PARAM_LEARNED}, {"w__SHAPE", PARAM_NONE}}},
    };
    (void)state;
    CHECK(rows);
}

static void test_nodes_use_params_through_views(void **state) {
    struct bench *bench = bench_open(
        "in x float[1,3]\ninit f.weight float[4,3]\ninit f.bias float[4]\n"
        "node t Transpose f.weight -> 1\nnode m MatMul x 1 -> 2\nnode a Add f.bias 2 -> 3\n"
        "node r Relu 3 -> y\nout y\n");
    (void)state;
    assert_int_equal(bench->status, CM_OK);
    assert_string_equal(bench_used(bench, "t"), "f.weight");
    assert_string_equal(bench_used(bench, "m"), "f.weight");
    assert_string_equal(bench_used(bench, "a"), "f.bias");
    assert_string_equal(bench_used(bench, "r"), "");
    bench_close(bench);
}

/* Records of the exporter take precedence over all other rules. */
static void test_marked_parameters_are_learned(void **state) {
    static const struct param_case rows[] = {
        /* frequencies of rotary angles */
        {"in x float[2,3]\ninit inv_freq float[3,4]\nmark inv_freq constant\n"
         "node m MatMul x inv_freq -> y\nout y\n",
         {{"inv_freq", PARAM_BUFFER}}},
        {"in x float[2,3]\ninit val_3 float[3,4]\nmark val_3 constant\n"
         "node m MatMul x val_3 -> y\nout y\n",
         {{"val_3", PARAM_NONE}}},
        /* a bias of relative positions */
        {"in x float[2,4,8,8]\ninit val_21 float[1,4,8,8]\nmark val_21 derived\n"
         "node a Add x val_21 -> y\nout y\n",
         {{"val_21", PARAM_LEARNED}}},
        /* sizes of a tensor, derived from a parameter */
        {"in x float[2,4]\ninit val_5 int64[2] =2,4\nmark val_5 derived\n"
         "node a Reshape x val_5 -> y\nout y\n",
         {{"val_5", PARAM_NONE}}},
        {"in x float[2]\nin c bool[2]\ninit scale float[]\nmark scale parameter\n"
         "node a Where c scale x -> y\nout y\n",
         {{"scale", PARAM_LEARNED}}},
        {"in x float[2]\ninit query float[2]\nmark query parameter\n"
         "node a Relu x -> y\nout y\nout query\n",
         {{"query", PARAM_LEARNED}}},
        {"in x float[2]\ninit unused float[2]\nmark unused parameter\n"
         "node a Relu x -> y\nout y\n",
         {{"unused", PARAM_NONE}}},
        /* if the exporter lists the parameters, a Constant node is not one of them */
        {"in x float[1,3,8]\nparams c.weight\ninit c.weight float[4,3,1]\nconst b float[4]\n"
         "node a Conv x c.weight b -> y\nout y\n",
         {{"c.weight", PARAM_LEARNED}, {"b", PARAM_NONE}}},
        /* a renamed parameter is not a second parameter */
        {"in x float[1,3]\ninit a.weight float[3]\nmark a.weight parameter\n"
         "node i Identity a.weight -> b.weight\nnode m Mul x b.weight -> y\nout y\n",
         {{"a.weight", PARAM_LEARNED}, {"b.weight", PARAM_NONE}}},
        /* a quantized weight may be a buffer of the framework */
        {"in x float[2,3]\ninit s float[]\ninit w int8[3,4]\nmark w constant\n"
         "mark s constant\nnode d DequantizeLinear w s -> f\nnode m MatMul x f -> y\nout y\n",
         {{"w", PARAM_LEARNED}, {"s", PARAM_BUFFER}}},
    };
    (void)state;
    CHECK(rows);
}

#define LOOP_BEGIN                                                                             \
    "in x float[2,3]\ninit w float[3,3]\nconst n int64[] =5\nconst c bool[] =1\nbody body\n"   \
    "in i int64[]\nin k bool[]\nin h float[2,3]\nin v float[3,3]\nnode m MatMul h v -> g\n"
#define LOOP_END "close\nnode l Loop n c x w -> y z\nout y\n"

static void test_unchanging_loop_states_are_learned(void **state) {
    static const struct param_case rows[] = {
        {LOOP_BEGIN "out k\nout g\nout v\n" LOOP_END, {{"w", PARAM_LEARNED}}},
        {LOOP_BEGIN "node e Identity v -> u\nout k\nout g\nout u\n" LOOP_END,
         {{"w", PARAM_LEARNED}}},
        /* the next iteration reads another matrix */
        {LOOP_BEGIN "node e Relu v -> u\nout k\nout g\nout u\n" LOOP_END,
         {{"w", PARAM_BUFFER}}},
        /* used after the loop only */
        {"in x float[2,3]\ninit w float[3,3]\nconst n int64[] =5\nconst c bool[] =1\n"
         "body body\nin i int64[]\nin k bool[]\nin v float[3,3]\nout k\nout v\nclose\n"
         "node l Loop n c w -> z\nnode m MatMul x z -> y\nout y\n",
         {{"w", PARAM_LEARNED}}},
    };
    (void)state;
    CHECK(rows);
}

static void test_nodes_use_params_through_loop_states(void **state) {
    struct bench *bench = bench_open(LOOP_BEGIN "out k\nout g\nout v\n" LOOP_END);
    (void)state;
    assert_int_equal(bench->status, CM_OK);
    assert_string_equal(bench_used(bench, "l"), "w");
    assert_string_equal(bench_used(bench, "m"), "w");
    bench_close(bench);
}

static void test_recognizes_generated_names(void **state) {
    static const struct {
        const char *name;
        bool generated;
        size_t module_length;
    } rows[] = {
        {"", true, 0},
        {"17", true, 0},
        {"onnx::Conv_220", true, 0},
        {"/fc1/Constant_output_0", true, 0},
        {"/fc1/Constant_12_output_0", true, 0},
        {"Constant_3", true, 0},
        {"Constants", false, 0},
        {"val_12", true, 0},
        {"valve_12", false, 0},
        {"scalar_tensor_default", true, 0},
        {"scalar_tensor_default_1", true, 0},
        {"scalar_tensor", true, 0},
        {"unsqueeze", true, 0},
        {"unsqueeze_14", true, 0},
        {"slice_1", false, 0},
        {"mean", false, 0},
        {"zeros_like", true, 0},
        {"_to", false, 0},
        {"unsqueezed", false, 0},
        {"unsqueeze14", false, 0},
        {"embedding_1", false, 0},
        {"mul.weight", false, 3},
        {"x_output_", false, 0},
        {"pos", false, 0},
        {"fc1.weight", false, 3},
        {"layer1.0.bn1.weight", false, 12},
        {"/call/fc1.weight", false, 3},
        {"gru/sub/x:0", true, 0},
        {"Const:0", true, 0},
        {"gru/Const_1:0", true, 0},
        {"max:0", false, 0},
        {"Constant:0", false, 0},
        {".weight", false, 0},
        {"weight.", false, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(names_generated(rows[i].name), rows[i].generated);
        assert_int_equal(names_module_length(rows[i].name), rows[i].module_length);
    }
}

static void test_recognizes_repeated_names(void **state) {
    static const struct {
        const char *name;
        int repeat;
        size_t length;
    } rows[] = {
        {"relu_1", 1, 4},  {"net.0_12", 12, 5}, {"relu", 0, 0},
        {"relu_0", 0, 0},  {"_1", 0, 0},        {"relu1", 0, 0},
        {"relu_01", 0, 0}, {"", 0, 0},          {"a_99999999999999999999", 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t length = 0;
        assert_int_equal(names_repeat(rows[i].name, strlen(rows[i].name), &length),
                         rows[i].repeat);
        assert_int_equal(length, rows[i].length);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layer_weights_are_learned),
        cmocka_unit_test(test_statistics_of_batchnorm_are_buffers),
        cmocka_unit_test(test_constant_nodes_are_learned_if_named),
        cmocka_unit_test(test_scalars_are_learned_if_named),
        cmocka_unit_test(test_tables_computed_at_export_are_not_learned),
        cmocka_unit_test(test_masks_and_indices_are_buffers_when_named),
        cmocka_unit_test(test_index_integers_are_never_learned),
        cmocka_unit_test(test_quantized_weights_are_learned),
        cmocka_unit_test(test_counts_packed_numbers),
        cmocka_unit_test(test_finds_weights_behind_views_casts_and_quantization),
        cmocka_unit_test(test_class_tokens_are_learned),
        cmocka_unit_test(test_named_identity_is_the_parameter),
        cmocka_unit_test(test_weights_may_be_inputs),
        cmocka_unit_test(test_constant_of_shape_may_be_a_weight),
        cmocka_unit_test(test_nodes_use_params_through_views),
        cmocka_unit_test(test_marked_parameters_are_learned),
        cmocka_unit_test(test_unchanging_loop_states_are_learned),
        cmocka_unit_test(test_nodes_use_params_through_loop_states),
        cmocka_unit_test(test_recognizes_generated_names),
        cmocka_unit_test(test_recognizes_repeated_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
