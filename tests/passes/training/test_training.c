/* SPDX-License-Identifier: Apache-2.0 */
/* Saved activations, costs and peak of a training step; values are computed by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model_harness.h"
#include "passes/modules/modules.h"
#include "passes/training/training.h"
#include "support/checked.h"

/* Float tensors have ten elements, 40 bytes, unless noted. */
static const char *const everything[] = {"*"};
static const char *const inner[] = {"m"};
static const char *const first_weight[] = {"a.w"};

struct step {
    const char *what;
    const char *lines;
    int64_t saved;
    int64_t macs;
    int64_t peak; /* with weights, gradients and optimizer states; 0: not compared */
    struct cm_options options;
};

#define FREEZE(patterns)     .options = {.n_freeze = 1, .freeze = patterns}
#define PRECISION(name)      .options = {.precision = CM_PRECISION_##name}
#define CHECKPOINT(patterns) .options = {.n_checkpoint = 1, .checkpoint = patterns}

static const struct step steps[] = {
    /* Peak in backward of Exp: x, z, gradients of y and z; w and its two states. */
    {"Mul saves the other factor, Exp its output",
     "in x float[10]\ninit a.w float[10]\nnode a Mul x a.w -> y\nnode b Exp y -> z\nout z\n",
     80, 0, 160 + 120, .options = {0}},
    /* Peak in backward of Mul: x and z, which the training loop holds, y, gradients of z and w.
     */
    {"operators before all learned parameters save nothing",
     "in x float[10]\ninit a.w float[10]\nnode b Exp x -> y\nnode a Mul y a.w -> z\nout z\n",
     40, 0, 200 + 120, .options = {0}},
    {"without learned parameters nothing is saved, and the peak is in forward",
     "in x float[10]\ninit a.w float[10]\nnode a Mul x a.w -> y\nnode b Exp y -> z\nout z\n", 0,
     0, 120 + 40, FREEZE(everything)},
    {"a frozen layer passes the gradient on, but has none of its own",
     "in x float[10]\ninit c.w float[10]\ninit a.w float[10]\nnode c Mul x c.w -> y\n"
     "node a Mul y a.w -> z\nout z\n",
     40, 0, 160 + 160, FREEZE(first_weight)},
    /* x [2,3] W [3,5]: 30 MACs per gradient; the first layer has one, the second two. */
    {"the first layer needs no gradient of its input",
     "in x float[2,3]\ninit a.w float[3,5]\ninit b.w float[5,5]\nnode a MatMul x a.w -> y\n"
     "node b MatMul y b.w -> z\nout z\n",
     24 + 40, 30 + 2 * 50, 24 + 40 + 40 + 40 + 40 + 100 + 3 * 160, .options = {0}},
    /* Backward of b: x, y, z and the gradients of z and y; all gradients of parameters, and
     * that of b.w which is added. */
    {"the second micro-batch adds its gradients to those of the first",
     "in x float[2,3]\ninit a.w float[3,5]\ninit b.w float[5,5]\nnode a MatMul x a.w -> y\n"
     "node b MatMul y b.w -> z\nout z\n",
     24 + 40, 2 * (30 + 2 * 50), 24 + 40 + 40 + 40 + 40 + 160 + 100 + 3 * 160,
     .options = {.micro_batches = 2}},
    {"an Einsum saves a factor for the gradient of the other",
     "in x float[3,4]\nin z float[3,5]\ninit a.w float[4,5]\nnode a MatMul x a.w -> g\n"
     "node b Einsum z g -> y equation=bi,ci->bc\nout y\n",
     48 + 60, 60 + 45, 0, .options = {0}},
    /* [2,3] [3,4] [4,5]: products of 24 and 40 MACs. The first has one gradient and needs x,
     * the second has two and needs the first product, [2,4]. */
    {"an Einsum of three operands has the gradients of two products",
     "in x float[2,3]\ninit a.w float[3,4]\ninit b.w float[4,5]\n"
     "node a Einsum x a.w b.w -> y equation=bi,ij,jk->bk\nout y\n",
     24 + 32, 24 + 2 * 40, 0, .options = {0}},
    {"an Einsum whose last operand alone learns saves only the product of the others",
     "in x float[2,3]\nin z float[3,4]\ninit b.w float[4,5]\n"
     "node a Einsum x z b.w -> y equation=bi,ij,jk->bk\nout y\n",
     32, 40, 0, .options = {0}},
    /* (x z) (v b.w): 540, 300 and 54 MACs; the gradient of b.w needs v and x z, [9,2]. */
    {"an Einsum of four operands is multiplied in the cheapest order",
     "in x float[9,30]\nin z float[30,2]\nin v float[2,50]\ninit b.w float[50,3]\n"
     "node a Einsum x z v b.w -> y equation=bi,ij,jk,kl->bl\nout y\n",
     400 + 72, 300 + 54, 0, .options = {0}},
    {"a Transpose is a view in a framework: its source is saved",
     "in x float[2,5]\ninit a.w float[2,5]\ninit b.w float[2,2]\nnode a Add x a.w -> y\n"
     "node t Transpose y -> t\nnode b MatMul t b.w -> z\nout z\n",
     40, 2 * 20, 40 + 40 + 40 + 40 + 40 + 16 + 3 * 56, .options = {0}},
    {"a Reshape of a transposed view is a copy, and the copy is saved",
     "in x float[2,5]\ninit a.w float[2,5]\ninit b.w float[10]\nconst s int64[1] =10\n"
     "node a Sigmoid x -> y\nnode c Mul y a.w -> u\nnode e Exp u -> v\nnode t Transpose v -> "
     "t\n"
     "node r Reshape t s -> r\nnode b Mul r b.w -> z\nout z\n",
     120, 0, 0, .options = {0}},
    {"a Reshape of a transposed view that adds an axis of size 1 is a view",
     "in x float[2,5]\ninit a.w float[2,5]\ninit b.w float[5,1,2]\nconst s int64[3] =5,1,2\n"
     "node a Sigmoid x -> y\nnode c Mul y a.w -> u\nnode e Exp u -> v\nnode t Transpose v -> "
     "t\n"
     "node r Reshape t s -> r\nnode b Mul r b.w -> z\nout z\n",
     80, 0, 0, .options = {0}},
    {"a Reshape that undoes another around a Transpose is the Transpose of its source",
     "in x float[2,3,4,5]\ninit a.w float[2,3,4,5]\ninit b.w float[2,4,5,3]\n"
     "const s int64[3] =8,3,5\nconst k int64[4] =2,4,5,3\nnode a Sigmoid x -> y\n"
     "node c Mul y a.w -> u\nnode e Exp u -> v\nnode h Transpose v -> h perm=[0,2,1,3]\n"
     "node r Reshape h s -> r\nnode t Transpose r -> t perm=[0,2,1]\n"
     "node q Reshape t k -> q\nnode b Mul q b.w -> z\nout z\n",
     960, 0, 0, .options = {0}},
    {"a Pad with zeros saves nothing",
     "in x float[10]\ninit a.w float[10]\nconst p int64[2] =1,1\nnode a Add x a.w -> y\n"
     "node d Pad y p -> z\nout z\n",
     0, 0, 0, .options = {0}},
    {"a reflecting Pad saves its input",
     "in x float[10]\ninit a.w float[10]\nconst p int64[2] =1,1\nnode a Add x a.w -> y\n"
     "node d Pad y p -> z mode=reflect\nout z\n",
     40, 0, 0, .options = {0}},
    {"amp does not change doubles",
     "in x double[10]\ninit a.w double[10]\nnode a Mul x a.w -> y\nout y\n", 80, 0,
     80 + 160 + 80 + 80 + 80 + 80, PRECISION(AMP)},
    {"Dropout in training mode saves a mask of one byte per element",
     "in x float[10]\ninit a.w float[10]\nnode a Add x a.w -> y\nnode d Dropout y -> z\nout "
     "z\n",
     10, 0, 0, .options = {.mode = CM_MODE_TRAINING}},
    {"Dropout in inference mode saves nothing",
     "in x float[10]\ninit a.w float[10]\nnode a Add x a.w -> y\nnode d Dropout y -> z\nout "
     "z\n",
     0, 0, 0, .options = {.mode = CM_MODE_INFERENCE}},
    {"no gradient passes through a comparison",
     "in x float[10]\ninit a.w float[10]\nnode a Exp a.w -> y\nnode c Less x y -> b\n"
     "node d Where b x x -> z\nout z\n",
     0, 0, 0, .options = {0}},
    {"an operator whose result is not used saves nothing",
     "in x float[10]\ninit a.w float[10]\nnode a Mul x a.w -> y\nnode b Exp x -> z\nout z\n", 0,
     0, 0, .options = {0}},
    {"a value computed from weights is an activation: weights change in every step",
     "in x float[10]\ninit a.w float[10]\nnode a Exp a.w -> e\nnode b Mul x e -> z\nout z\n",
     80, 0, 0, .options = {0}},
    /* 120 scores, 8 and 6 columns. Only the queries have a gradient: backward recomputes the
     * scores, and computes the gradients of the attention weights and of the queries. */
    {"a fused attention saves its operands, its result and one sum per row",
     "opset 23\nin q float[2,4,3,8]\nin k float[2,4,5,8]\nin v float[2,4,5,6]\n"
     "init a.w float[8]\nnode a Add q a.w -> x\nnode t Attention x k v -> y\nout y\n",
     768 + 1280 + 960 + 576 + 24 * 4, 120 * (8 + 6 + 8), 0, .options = {0}},
    {"with fp16 all floats take two bytes",
     "in x float[10]\ninit a.w float[10]\nnode a Mul x a.w -> y\nnode b Exp y -> z\nout z\n",
     40, 0, 80 + 60, PRECISION(FP16)},
    {"with amp a matrix product saves 16-bit copies of fp32 operands, and of no others",
     "in x float[2,3]\ninit a.w float[3,5]\ninit b.w float[5,5]\nnode a MatMul x a.w -> y\n"
     "node b MatMul y b.w -> z\nout z\n",
     12 + 20 + 50, 30 + 2 * 50, 0, PRECISION(AMP)},
    {"with amp each reader casts an activation, but a weight is cast once",
     "in x float[2,5]\ninit a.w float[5,5]\ninit b.w float[5]\nnode m Mul x b.w -> u\n"
     "node a MatMul u a.w -> y\nnode b MatMul u a.w -> z\nout y\nout z\n",
     40 + 20 + 20 + 50, 4 * 50, 0, PRECISION(AMP)},
    {"with amp the sum of an fp32 and a 16-bit value is fp32, also if scaled by a number",
     "in x float[2,5]\ninit a.w float[5,5]\ninit b.w float[5]\nconst two float[] =2.0\n"
     "node a MatMul x a.w -> y\nnode n Mul y two -> h\nnode r Add x h -> s\n"
     "node m Mul s b.w -> z\nout z\n",
     20 + 20 + 40, 50, 0, PRECISION(AMP)},
    {"with amp the bias of a linear layer keeps its result in 16 bits",
     "in x float[2,5]\ninit a.w float[5,5]\ninit b.b float[5]\nnode a MatMul x a.w -> y\n"
     "node b Add y b.b -> s\nnode m Sigmoid s -> z\nout z\n",
     20 + 20, 50, 0, PRECISION(AMP)},
    {"with amp a norm saves an fp32 copy of a 16-bit operand, a softmax its fp32 result",
     "opset 17\nin x float[2,5]\ninit a.w float[5,5]\ninit n.w float[5]\nnode a MatMul x a.w "
     "-> y\n"
     "node n LayerNormalization y n.w -> h\nnode s Softmax h -> p\nout p\n",
     20 + 40 + 2 * 2 * 4 + 40, 50, 0, PRECISION(AMP)},
    /* Without the mask: the operands, the result and one sum per row, as Attention above. */
    {"an exported scaled_dot_product_attention does not save its weights",
     "opset 13\nin q float[2,4,3,8]\nin k float[2,4,8,5]\nin v float[2,4,5,6]\n"
     "init a.w float[8]\nconst f float[] =0.6\nconst g float[] =0.6\nnode a Add q a.w -> x\n"
     "node s Mul x f -> xs\nnode t Mul k g -> ks\nnode m MatMul xs ks -> w\n"
     "node o Softmax w -> p\nnode r MatMul p v -> y\nout y\n",
     768 + 1280 + 960 + 576 + 24 * 4, 120 * (8 + 6 + 8), 0, .options = {0}},
    /* The operands before and after scaling, the values, the weights, the mask of Dropout. */
    {"an exported attention that drops weights saves them",
     "opset 13\nin q float[1,1,3,8]\nin k float[1,1,8,5]\nin v float[1,1,5,6]\ninit a.w "
     "float[8]\n"
     "const f float[] =0.6\nconst g float[] =0.6\nnode a Add q a.w -> x\nnode s Mul x f -> xs\n"
     "node t Mul k g -> ks\nnode m MatMul xs ks -> w\nnode o Softmax w -> p\n"
     "node d Dropout p -> e\nnode r MatMul e v -> y\nout y\n",
     2 * (96 + 160) + 120 + 60 + 15, 2 * 15 * 8 + 15 * 6, 0,
     .options = {.mode = CM_MODE_TRAINING}},
    {"Dropout that drops nothing saves no mask",
     "opset 13\nin x float[10]\ninit a.w float[10]\nconst r float[] =0.0\nnode a Add x a.w -> "
     "y\n"
     "node d Dropout y r -> z\nout z\n",
     0, 0, 0, .options = {.mode = CM_MODE_TRAINING}},
    /* m saves only x. Backward recomputes z while the training loop still holds the first z. */
    {"a checkpointed module saves its inputs",
     "in x float[10]\ninit a.w float[10]\nnode /m/a Mul x a.w -> y\nnode /m/b Exp y -> z\nout "
     "z\n",
     40, 0, 200 + 120, CHECKPOINT(inner)},
    {"a Loop saves the state of every iteration",
     "in x float[10]\ninit a.w float[10]\nconst n int64[] =3\nconst go bool[] =1\n"
     "body body\nin i int64[]\nin c bool[]\nin s float[10]\nnode a Mul s a.w -> r\n"
     "node k Identity c -> k\nout k\nout r\nclose\nnode l Loop n go x -> z\nout z\n",
     3 * 40 + 40, 0, 0, .options = {0}},
};

static struct bench *open_step(const struct step *step) {
    char text[2048];
    struct cm_options options = step->options;
    options.optimizer = "adam";
    (void)snprintf(text, sizeof text, "opset 13\n%s", step->lines);
    struct bench *bench = bench_open_with(text, &options);
    if (bench->status != CM_OK) fail_msg("%s: %s", step->what, bench_messages(bench));
    return bench;
}

static void saved_bytes_and_backward_macs_follow_the_operators(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct bench *bench = open_step(&steps[i]);
        const struct training_table *table = bench->analysis.training;
        if (table->saved_bytes != steps[i].saved || table->backward_macs != steps[i].macs ||
            (steps[i].peak != 0 && table->peak_bytes != steps[i].peak))
            fail_msg("%s: %lld saved, %lld MACs, peak %lld", steps[i].what,
                     (long long)table->saved_bytes, (long long)table->backward_macs,
                     (long long)table->peak_bytes);
        bench_close(bench);
    }
}

static void peak_has_a_node_and_a_phase(void **state) {
    static const struct {
        const char *lines;
        const char *node; /* "": none */
        enum training_phase phase;
        struct cm_options options;
    } cases[] = {
        {"in x float[10]\ninit a.w float[10]\nnode a Mul x a.w -> y\nnode b Exp y -> z\nout "
         "z\n",
         "b", PHASE_BACKWARD, .options = {0}},
        {"in x float[10]\ninit a.w float[10]\nnode a Mul x a.w -> y\nnode b Exp y -> z\nout "
         "z\n",
         "b", PHASE_FORWARD, FREEZE(everything)},
        {"in x float[10]\ninit a.w float[10]\nnode /m/a Mul x a.w -> y\n"
         "node /m/b Exp y -> z\nout z\n",
         "/m/b", PHASE_RECOMPUTE, CHECKPOINT(inner)},
        {"in x float[1]\ninit a.w float[1]\ninit b.w float[100]\nnode a Mul x a.w -> y\n"
         "node b ReduceMean b.w -> z\nout y\n",
         "", PHASE_STEP, .options = {0}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct step step = {
            .what = "", .lines = cases[i].lines, .options = cases[i].options};
        struct bench *bench = open_step(&step);
        const struct training_table *table = bench->analysis.training;
        const bool running = cases[i].node[0] != '\0';
        assert_int_equal(table->peak_node,
                         running ? bench_node(bench, cases[i].node) : ID_NONE);
        assert_int_equal(table->peak_phase, cases[i].phase);
        bench_close(bench);
    }
}

#define TWO_MODULES                                                                            \
    "in x float[2,3]\ninit a.w float[3,5]\ninit b.w float[5,5]\n"                              \
    "node /one/a MatMul x a.w -> y\nnode /two/b MatMul y b.w -> z\nout z\n"

static const struct cm_step *step_of(const struct bench *bench, const char *path) {
    const struct cm_module *module = bench_module(bench, path);
    assert_non_null(module);
    return &bench->analysis.training->of_module[module - bench->analysis.modules->modules];
}

static void modules_sum_their_own_nodes(void **state) {
    const struct step step = {.what = "modules", .lines = TWO_MODULES};
    struct bench *bench = open_step(&step);
    (void)state;
    assert_int_equal(step_of(bench, "one")->backward_macs, 30);
    assert_int_equal(step_of(bench, "one")->saved_bytes, 40);
    assert_int_equal(step_of(bench, "two")->backward_macs, 100);
    assert_int_equal(step_of(bench, "two")->saved_bytes, 0);
    assert_int_equal(step_of(bench, "")->backward_macs, 130);
    assert_int_equal(step_of(bench, "")->saved_bytes, 64);
    bench_close(bench);
}

static void integer_parameters_are_frozen(void **state) {
    const struct cm_options options = {
        .optimizer = "sgd", .n_trainable = 1, .trainable = everything};
    struct bench *bench = bench_open_with(
        "in x float[2,3]\ninit f.weight int8[3,4]\ninit s float[]\ninit f.bias float[4]\n"
        "node - DequantizeLinear f.weight s -> w\nnode - Gemm x w f.bias -> y\nout y\n",
        &options);
    (void)state;
    assert_int_equal(bench->status, CM_OK);
    assert_int_equal(bench_module(bench, "")->costs.params, 16);
    assert_int_equal(bench->analysis.training->frozen, 12);
    assert_int_equal(bench->analysis.training->learned, 4);
    bench_close(bench);
}

static void freeze_matches_parameters_and_modules(void **state) {
    static const struct {
        const char *pattern;
        int64_t frozen;
    } cases[] = {{"a.w", 15}, {"*.w", 40}, {"?.w", 40}, {"two", 25}, {"o*", 15}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct step step = {
            .what = cases[i].pattern, .lines = TWO_MODULES, FREEZE(&cases[i].pattern)};
        struct bench *bench = open_step(&step);
        assert_int_equal(bench->analysis.training->frozen, cases[i].frozen);
        assert_int_equal(bench->analysis.training->learned, 40 - cases[i].frozen);
        bench_close(bench);
    }
}

static void only_trainable_parameters_learn(void **state) {
    static const char *const none[] = {"one"};
    static const struct {
        const char *patterns[2];
        size_t n;
        size_t n_freeze;
        int64_t learned;
    } cases[] = {{{"a.w"}, 1, 0, 15}, {{"a.w", "two"}, 2, 0, 40}, {{"*.w"}, 1, 1, 25}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct step step = {.what = cases[i].patterns[0],
                                  .lines = TWO_MODULES,
                                  .options = {.n_trainable = cases[i].n,
                                              .trainable = cases[i].patterns,
                                              .n_freeze = cases[i].n_freeze,
                                              .freeze = none}};
        struct bench *bench = open_step(&step);
        assert_int_equal(bench->analysis.training->learned, cases[i].learned);
        assert_int_equal(bench->analysis.training->frozen, 40 - cases[i].learned);
        bench_close(bench);
    }
}

static void pattern_without_a_match_is_an_error(void **state) {
    static const char *const nowhere[] = {"three"};
    const struct cm_options frozen = {.optimizer = "sgd", .n_freeze = 1, .freeze = nowhere};
    const struct cm_options trained = {
        .optimizer = "sgd", .n_trainable = 1, .trainable = nowhere};
    const struct cm_options checkpointed = {
        .optimizer = "sgd", .n_checkpoint = 1, .checkpoint = nowhere};
    (void)state;
    struct bench *bench = bench_open_with("opset 13\n" TWO_MODULES, &frozen);
    assert_int_equal(bench->status, CM_USAGE);
    assert_string_equal(bench_messages(bench),
                        "error[usage]: no parameter or module matches 'three'; hint: "
                        "names are dotted, as in the file; * matches any text");
    bench_close(bench);
    bench = bench_open_with("opset 13\n" TWO_MODULES, &trained);
    assert_int_equal(bench->status, CM_USAGE);
    bench_close(bench);
    bench = bench_open_with("opset 13\n" TWO_MODULES, &checkpointed);
    assert_int_equal(bench->status, CM_USAGE);
    assert_string_equal(bench_messages(bench),
                        "error[usage]: no module matches 'three'; hint: "
                        "names are dotted, as in the file; * matches any text");
    bench_close(bench);
}

static void optimizer_has_states_and_flops_per_parameter(void **state) {
    static const struct {
        const char *optimizer;
        enum cm_precision precision;
        int64_t weights, gradients, states, update, flops;
    } cases[] = {
        {"sgd", CM_PRECISION_AS_STORED, 160, 160, 0, 0, 2 * 40},
        {"momentum", CM_PRECISION_AS_STORED, 160, 160, 160, 0, 4 * 40},
        {"adam", CM_PRECISION_TF32, 160, 160, 320, 160, 13 * 40},
        {"adamw", CM_PRECISION_FP32, 160, 160, 320, 160, 14 * 40},
        {"sgd", CM_PRECISION_AMP, 160, 160, 0, 0, 3 * 40},
        {"adam", CM_PRECISION_AMP, 160, 160, 320, 160, 14 * 40},
        {"momentum", CM_PRECISION_BF16, 80, 80, 80, 0, 4 * 40},
        {"adam", CM_PRECISION_FP16, 80, 80, 160, 80, 13 * 40},
        {"lion", CM_PRECISION_FP16, 80, 80, 160, 0, 10 * 40},
        {"adafactor", CM_PRECISION_FP32, 160, 160, 32 + 40, 100, 16 * 40}, /* one at a time */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct cm_options options = {.optimizer = cases[i].optimizer,
                                           .precision = cases[i].precision};
        struct bench *bench = bench_open_with("opset 13\n" TWO_MODULES, &options);
        const struct training_table *table = bench->analysis.training;
        assert_int_equal(table->weight_bytes, cases[i].weights);
        assert_int_equal(table->gradient_bytes, cases[i].gradients);
        assert_int_equal(table->optimizer_bytes, cases[i].states);
        assert_int_equal(table->update_bytes, cases[i].update);
        assert_int_equal(table->step_flops, cases[i].flops);
        bench_close(bench);
    }
}

/* Forward 30 + 50 MACs, backward 30 + 100. */
static void conventions_differ_in_backward_flops(void **state) {
    static const struct {
        const char *convention;
        int64_t backward;
    } cases[] = {{"deepspeed", 2 * 160}, {"torch", 2 * 130}, {"macs", 130}, {"fvcore", 130}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct cm_options options = {.optimizer = "sgd",
                                           .convention = cases[i].convention};
        struct bench *bench = bench_open_with("opset 13\n" TWO_MODULES, &options);
        const struct training_table *table = bench->analysis.training;
        assert_int_equal(table->backward_flops, cases[i].backward);
        assert_int_equal(table->iteration_flops,
                         bench->analysis.modules->modules[0].costs.flops + cases[i].backward +
                             80);
        bench_close(bench);
    }
}

static void recomputation_is_counted(void **state) {
    static const char *const one[] = {"one"};
    const struct step step = {.what = "recompute", .lines = TWO_MODULES, CHECKPOINT(one)};
    struct bench *bench = open_step(&step);
    const struct training_table *table = bench->analysis.training;
    (void)state;
    assert_int_equal(table->recompute_macs, 30);
    assert_int_equal(table->recompute_flops, 60);
    assert_int_equal(table->backward_macs, 130);
    bench_close(bench);
}

/*
 * [2,5] x [5,3] and its indices [2,3]: 30 MACs, 6 sums of int64. No gradient passes through
 * these sums, but a checkpointed module recomputes them.
 */
static void integer_operations_are_recomputed_without_gradient(void **state) {
    static const char *const all[] = {"*"};
    const struct cm_options options = {
        .optimizer = "sgd", .convention = "exact", .n_checkpoint = 1, .checkpoint = all};
    struct bench *bench = bench_open_with(
        "opset 13\nin x float[2,5]\nin i int64[2,3]\ninit one.weight float[5,3]\n"
        "at :Net one:Block\nnode - MatMul x one.weight -> a\nnode - Add i i -> j\n"
        "node - GatherElements a j -> y\nout y\n",
        &options);
    (void)state;
    if (bench->status != CM_OK) fail_msg("%s", bench_messages(bench));
    const struct training_table *table = bench->analysis.training;
    assert_int_equal(table->recompute_flops, 60);
    assert_int_equal(table->recompute_int_ops, 6);
    assert_int_equal(table->backward_flops, 60); /* the gradient of the weight */
    assert_int_equal(table->iteration_int_ops, 6 + 6);
    bench_close(bench);
}

/*
 * T 3, B 2, I 5, h 4: 24 cells. MACs of GRU and RNN are from torch.utils.flop_counter. Saved:
 * x and, per cell, the gates, the cell state (GRU: part of the third gate) and, since Y is
 * omitted, the hidden state.
 */
static void backward_of_a_recurrence_covers_every_time_step(void **state) {
    static const struct {
        const char *lines;
        int64_t macs, saved;
    } cases[] = {
        {"in x float[3,2,5]\ninit w float[1,16,5]\ninit r float[1,16,4]\n"
         "node l LSTM x w r -> - h hidden_size=4\nout h\n",
         4 * 280, 120 + 24 * 4 * (4 + 1 + 1)},
        {"in x float[3,2,5]\ninit w float[1,12,5]\ninit r float[1,12,4]\n"
         "node l GRU x w r -> - h hidden_size=4\nout h\n",
         840, 120 + 24 * 4 * (3 + 1 + 1)},
        {"in x float[3,2,5]\ninit w float[1,4,5]\ninit r float[1,4,4]\n"
         "node l RNN x w r -> - h hidden_size=4\nout h\n",
         280, 120 + 24 * 4},
        {"in v float[3,2,5]\ninit b float[5]\ninit w float[1,4,5]\ninit r float[1,4,4]\n"
         "node a Add v b -> x\nnode l RNN x w r -> - h hidden_size=4\nout h\n",
         400, 120 + 24 * 4},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct step step = {.what = "a recurrence", .lines = cases[i].lines};
        struct bench *bench = open_step(&step);
        assert_int_equal(bench->analysis.training->backward_macs, cases[i].macs);
        assert_int_equal(bench->analysis.training->saved_bytes, cases[i].saved);
        bench_close(bench);
    }
}

/* A decomposed LayerNorm is one operation with the costs of LayerNormalization. */
static void fused_pattern_is_one_operation(void **state) {
    static const struct step fused = {
        .what = "LayerNormalization",
        .lines = "opset 17\nin x float[2,4]\ninit n.w float[4]\ninit n.b float[4]\ninit l.w "
                 "float[4,4]\n"
                 "node l MatMul x l.w -> h\nnode n LayerNormalization h n.w n.b -> y\nout y\n"};
    static const struct step decomposed = {
        .what = "decomposed LayerNorm",
        .lines = "in x float[2,4]\ninit n.w float[4]\ninit n.b float[4]\ninit l.w float[4,4]\n"
                 "const 0 float[] =2\nconst 1 float[] =0.00001\n"
                 "node l MatMul x l.w -> h\nnode /n/ReduceMean ReduceMean h -> m axes=[-1]\n"
                 "node /n/Sub Sub h m -> d\nnode /n/Pow Pow d 0 -> p\n"
                 "node /n/ReduceMean_1 ReduceMean p -> v axes=[-1]\n"
                 "node /n/Add Add v 1 -> e\nnode /n/Sqrt Sqrt e -> s\n"
                 "node /n/Div Div d s -> q\nnode /n/Mul Mul q n.w -> t\n"
                 "node /n/Add_1 Add t n.b -> y\nout y\n"};
    struct bench *one = open_step(&fused);
    struct bench *many = open_step(&decomposed);
    const struct training_table *want = one->analysis.training;
    const struct training_table *have = many->analysis.training;
    (void)state;
    assert_int_equal(want->saved_bytes, 32 + 32 + 2 * 2 * 4); /* x, h, statistics */
    assert_int_equal(have->saved_bytes, want->saved_bytes);
    assert_int_equal(have->backward_macs, want->backward_macs);
    assert_int_equal(have->learned, want->learned);
    assert_int_equal(have->peak_bytes, want->peak_bytes);
    bench_close(one);
    bench_close(many);
}

static void saved_bytes_of_an_unknown_operator_are_unknown(void **state) {
    const struct step step = {.what = "unknown",
                              .lines =
                                  "in x float[10]\ninit a.w float[10]\nnode a Mul x a.w -> y\n"
                                  "node u com.me::Odd y -> z\nout z\n"};
    struct bench *bench = open_step(&step);
    const struct cm_step *node = &bench->analysis.training->of_node[bench_node(bench, "u")];
    (void)state;
    assert_int_equal(node->saved_bytes, CM_UNKNOWN);
    assert_int_equal(node->backward_macs, CM_UNKNOWN);
    assert_int_equal(bench->analysis.training->saved_bytes, 40);
    bench_close(bench);
}

static void saved_outputs_of_an_unknown_operator_are_in_all_sums(void **state) {
    const struct step step = {.what = "unknown",
                              .lines =
                                  "in x float[10]\ninit a.w float[10]\nnode a Mul x a.w -> y\n"
                                  "node u com.me::Odd y -> o\ntype o float[10]\n"
                                  "node e Log o -> z\nout z\n"};
    struct bench *bench = open_step(&step);
    const struct training_table *table = bench->analysis.training;
    (void)state;
    assert_int_equal(table->saved_bytes, 80);
    assert_int_equal(table->of_module[0].saved_bytes, 80);
    bench_close(bench);
}

static void no_training_step_without_an_optimizer(void **state) {
    struct bench *bench = bench_open("opset 13\n" TWO_MODULES);
    (void)state;
    assert_null(bench->analysis.training->optimizer);
    assert_null(bench->analysis.training->of_node);
    bench_close(bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saved_bytes_and_backward_macs_follow_the_operators),
        cmocka_unit_test(peak_has_a_node_and_a_phase),
        cmocka_unit_test(modules_sum_their_own_nodes),
        cmocka_unit_test(integer_parameters_are_frozen),
        cmocka_unit_test(freeze_matches_parameters_and_modules),
        cmocka_unit_test(only_trainable_parameters_learn),
        cmocka_unit_test(pattern_without_a_match_is_an_error),
        cmocka_unit_test(optimizer_has_states_and_flops_per_parameter),
        cmocka_unit_test(conventions_differ_in_backward_flops),
        cmocka_unit_test(recomputation_is_counted),
        cmocka_unit_test(integer_operations_are_recomputed_without_gradient),
        cmocka_unit_test(backward_of_a_recurrence_covers_every_time_step),
        cmocka_unit_test(fused_pattern_is_one_operation),
        cmocka_unit_test(saved_bytes_of_an_unknown_operator_are_unknown),
        cmocka_unit_test(saved_outputs_of_an_unknown_operator_are_in_all_sums),
        cmocka_unit_test(no_training_step_without_an_optimizer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
