/* SPDX-License-Identifier: Apache-2.0 */
/* What a training step keeps and costs, on models small enough to be reckoned by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model_harness.h"
#include "support/checked.h"

/* Every float tensor has ten elements unless it is said, 40 bytes. */
static const char *const everything[] = {"*"};
static const char *const inner[] = {"m"};
static const char *const first_weight[] = {"a.w"};

struct step {
    const char *what;
    const char *lines;
    int64_t kept;
    int64_t macs;
    int64_t peak; /* weights, gradients and states among it */
    struct cm_options options;
};

#define FREEZE(patterns)     .options = {.n_freeze = 1, .freeze = patterns}
#define CHECKPOINT(patterns) .options = {.n_checkpoint = 1, .checkpoint = patterns}

static const struct step steps[] = {
    /* Backward of Exp: x, z and the gradients of y and z; w and its two states beside them. */
    {"a factor keeps the other for its gradient, an exponential its output",
     "in x float[10]\ninit a.w float[10]\nnode a Mul x a.w -> y\nnode b Exp y -> z\nout z\n",
     80, 0, 160 + 120, .options = {0}},
    /* Backward of Mul: x and z, which the loop holds, y, and the gradients of z and w. */
    {"what is in front of all that learns keeps nothing",
     "in x float[10]\ninit a.w float[10]\nnode b Exp x -> y\nnode a Mul y a.w -> z\nout z\n",
     40, 0, 200 + 120, .options = {0}},
    {"where nothing learns nothing is kept, and forward is the peak",
     "in x float[10]\ninit a.w float[10]\nnode a Mul x a.w -> y\nnode b Exp y -> z\nout z\n", 0,
     0, 120 + 40, FREEZE(everything)},
    {"behind a frozen layer the gradient still passes, without its own",
     "in x float[10]\ninit c.w float[10]\ninit a.w float[10]\nnode c Mul x c.w -> y\n"
     "node a Mul y a.w -> z\nout z\n",
     40, 0, 160 + 160, FREEZE(first_weight)},
    /* x [2,3] W [3,5]: 30 MACs a gradient; the first layer has one, the second two. */
    {"the first layer needs no gradient of its input",
     "in x float[2,3]\ninit a.w float[3,5]\ninit b.w float[5,5]\nnode a MatMul x a.w -> y\n"
     "node b MatMul y b.w -> z\nout z\n",
     24 + 40, 30 + 2 * 50, 24 + 40 + 40 + 40 + 40 + 100 + 3 * 160, .options = {0}},
    {"a transposed tensor is its source under other strides",
     "in x float[2,5]\ninit a.w float[2,5]\ninit b.w float[2,2]\nnode a Add x a.w -> y\n"
     "node t Transpose y -> t\nnode b MatMul t b.w -> z\nout z\n",
     40, 2 * 20, 40 + 40 + 40 + 40 + 40 + 16 + 3 * 56, .options = {0}},
    {"another shape of it is a copy, which is then what stays",
     "in x float[2,5]\ninit a.w float[2,5]\ninit b.w float[10]\nconst s int64[1] =10\n"
     "node a Sigmoid x -> y\nnode c Mul y a.w -> u\nnode e Exp u -> v\nnode t Transpose v -> "
     "t\n"
     "node r Reshape t s -> r\nnode b Mul r b.w -> z\nout z\n",
     120, 0, 0, .options = {0}},
    {"margins of zeros keep nothing",
     "in x float[10]\ninit a.w float[10]\nconst p int64[2] =1,1\nnode a Add x a.w -> y\n"
     "node d Pad y p -> z\nout z\n",
     0, 0, 0, .options = {0}},
    {"margins that are read from the input keep it",
     "in x float[10]\ninit a.w float[10]\nconst p int64[2] =1,1\nnode a Add x a.w -> y\n"
     "node d Pad y p -> z mode=reflect\nout z\n",
     40, 0, 0, .options = {0}},
    {"with amp a double stays what it is",
     "in x double[10]\ninit a.w double[10]\nnode a Mul x a.w -> y\nout y\n", 80, 0,
     80 + 160 + 80 + 80 + 80 + 80, .options = {.amp = true}},
    {"dropout keeps a byte an element where it trains",
     "in x float[10]\ninit a.w float[10]\nnode a Add x a.w -> y\nnode d Dropout y -> z\nout "
     "z\n",
     10, 0, 0, .options = {.mode = CM_MODE_TRAINING}},
    {"and nothing where it does not",
     "in x float[10]\ninit a.w float[10]\nnode a Add x a.w -> y\nnode d Dropout y -> z\nout "
     "z\n",
     0, 0, 0, .options = {.mode = CM_MODE_INFERENCE}},
    {"no gradient passes through a comparison",
     "in x float[10]\ninit a.w float[10]\nnode a Exp a.w -> y\nnode c Less x y -> b\n"
     "node d Where b x x -> z\nout z\n",
     0, 0, 0, .options = {0}},
    {"what leads to no result keeps nothing",
     "in x float[10]\ninit a.w float[10]\nnode a Mul x a.w -> y\nnode b Exp x -> z\nout z\n", 0,
     0, 0, .options = {0}},
    {"a constant that is computed from weights is computed in every step",
     "in x float[10]\ninit a.w float[10]\nnode a Exp a.w -> e\nnode b Mul x e -> z\nout z\n",
     80, 0, 0, .options = {0}},
    /* 120 scores of 8 and 6 columns: of queries alone a gradient is wanted, so that the scores,
     * the gradient of the weights and that of the queries are computed. */
    {"a fused attention keeps its operands, its result and a sum a row",
     "opset 23\nin q float[2,4,3,8]\nin k float[2,4,5,8]\nin v float[2,4,5,6]\n"
     "init a.w float[8]\nnode a Add q a.w -> x\nnode t Attention x k v -> y\nout y\n",
     768 + 1280 + 960 + 576 + 24 * 4, 120 * (8 + 6 + 8), 0, .options = {0}},
    {"with amp a float has two bytes",
     "in x float[10]\ninit a.w float[10]\nnode a Mul x a.w -> y\nnode b Exp y -> z\nout z\n",
     40, 0, 80 + 20 + 40 + 80, .options = {.amp = true}},
    /* m keeps x alone. Its z is made again beside that which the loop holds; then as above. */
    {"a checkpointed module keeps what enters it",
     "in x float[10]\ninit a.w float[10]\nnode /m/a Mul x a.w -> y\nnode /m/b Exp y -> z\nout "
     "z\n",
     40, 0, 200 + 120, CHECKPOINT(inner)},
    {"a loop keeps the state of every round",
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

static void steps_keep_and_cost_what_their_operators_say(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct bench *bench = open_step(&steps[i]);
        const struct training_table *table = &bench->analysis.training;
        if (table->saved_bytes != steps[i].kept || table->backward_macs != steps[i].macs ||
            (steps[i].peak != 0 && table->peak_bytes != steps[i].peak))
            fail_msg("%s: %lld kept, %lld MACs, peak %lld", steps[i].what,
                     (long long)table->saved_bytes, (long long)table->backward_macs,
                     (long long)table->peak_bytes);
        bench_close(bench);
    }
}

static void the_peak_names_its_node_and_phase(void **state) {
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
        const struct training_table *table = &bench->analysis.training;
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
    return &bench->analysis.training.of_module[module - bench->analysis.modules.modules];
}

static void a_module_answers_for_what_its_nodes_made(void **state) {
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

static void integers_are_frozen(void **state) {
    const struct cm_options options = {.optimizer = "sgd"};
    struct bench *bench = bench_open_with(
        "in x float[2,3]\ninit f.weight int8[3,4]\ninit s float[]\ninit f.bias float[4]\n"
        "node - DequantizeLinear f.weight s -> w\nnode - Gemm x w f.bias -> y\nout y\n",
        &options);
    (void)state;
    assert_int_equal(bench->status, CM_OK);
    assert_int_equal(bench_module(bench, "")->costs.params, 16);
    assert_int_equal(bench->analysis.training.frozen, 12);
    assert_int_equal(bench->analysis.training.learned, 4);
    bench_close(bench);
}

static void a_pattern_names_parameters_or_modules(void **state) {
    static const struct {
        const char *pattern;
        int64_t frozen;
    } cases[] = {{"a.w", 15}, {"*.w", 40}, {"?.w", 40}, {"two", 25}, {"o*", 15}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct step step = {
            .what = cases[i].pattern, .lines = TWO_MODULES, FREEZE(&cases[i].pattern)};
        struct bench *bench = open_step(&step);
        assert_int_equal(bench->analysis.training.frozen, cases[i].frozen);
        assert_int_equal(bench->analysis.training.learned, 40 - cases[i].frozen);
        bench_close(bench);
    }
}

static void a_pattern_that_matches_nothing_is_refused(void **state) {
    static const char *const nowhere[] = {"three"};
    const struct cm_options frozen = {.optimizer = "sgd", .n_freeze = 1, .freeze = nowhere};
    const struct cm_options checkpointed = {
        .optimizer = "sgd", .n_checkpoint = 1, .checkpoint = nowhere};
    (void)state;
    struct bench *bench = bench_open_with("opset 13\n" TWO_MODULES, &frozen);
    assert_int_equal(bench->status, CM_USAGE);
    assert_string_equal(bench_messages(bench),
                        "error[usage]: no parameter or module matches 'three'; hint: "
                        "names are dotted, as in the file; * matches any text");
    bench_close(bench);
    bench = bench_open_with("opset 13\n" TWO_MODULES, &checkpointed);
    assert_int_equal(bench->status, CM_USAGE);
    assert_string_equal(bench_messages(bench),
                        "error[usage]: no module matches 'three'; hint: "
                        "names are dotted, as in the file; * matches any text");
    bench_close(bench);
}

static void an_optimizer_keeps_its_states_and_takes_its_flops(void **state) {
    static const struct {
        const char *optimizer;
        bool amp;
        int64_t weights, gradients, states, master, flops;
    } cases[] = {
        {"sgd", false, 160, 160, 0, 0, 2 * 40},
        {"momentum", false, 160, 160, 160, 0, 4 * 40},
        {"adam", false, 160, 160, 320, 0, 13 * 40},
        {"adamw", false, 160, 160, 320, 0, 14 * 40},
        {"sgd", true, 80, 80, 0, 160, 3 * 40},
        {"momentum", true, 80, 80, 160, 160, 5 * 40},
        {"adam", true, 80, 80, 320, 160, 14 * 40},
        {"adamw", true, 80, 80, 320, 160, 15 * 40},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct cm_options options = {.optimizer = cases[i].optimizer,
                                           .amp = cases[i].amp};
        struct bench *bench = bench_open_with("opset 13\n" TWO_MODULES, &options);
        const struct training_table *table = &bench->analysis.training;
        assert_int_equal(table->weight_bytes, cases[i].weights);
        assert_int_equal(table->gradient_bytes, cases[i].gradients);
        assert_int_equal(table->optimizer_bytes, cases[i].states);
        assert_int_equal(table->master_bytes, cases[i].master);
        assert_int_equal(table->step_flops, cases[i].flops);
        bench_close(bench);
    }
}

/* Forward 30 + 50 MACs, backward 30 + 100. */
static void each_convention_has_its_word_on_backward(void **state) {
    static const struct {
        const char *convention;
        int64_t backward;
    } cases[] = {{"deepspeed", 2 * 160}, {"torch", 2 * 130}, {"macs", 130}, {"fvcore", 130}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct cm_options options = {.optimizer = "sgd",
                                           .convention = cases[i].convention};
        struct bench *bench = bench_open_with("opset 13\n" TWO_MODULES, &options);
        const struct training_table *table = &bench->analysis.training;
        assert_int_equal(table->backward_flops, cases[i].backward);
        assert_int_equal(table->iteration_flops,
                         bench->analysis.modules.modules[0].costs.flops + cases[i].backward +
                             80);
        bench_close(bench);
    }
}

static void what_is_run_again_is_counted_again(void **state) {
    static const char *const one[] = {"one"};
    const struct step step = {.what = "recompute", .lines = TWO_MODULES, CHECKPOINT(one)};
    struct bench *bench = open_step(&step);
    const struct training_table *table = &bench->analysis.training;
    (void)state;
    assert_int_equal(table->recompute_macs, 30);
    assert_int_equal(table->recompute_flops, 60);
    assert_int_equal(table->backward_macs, 130);
    bench_close(bench);
}

/*
 * [2,5] x [5,3] and its indices [2,3]: 30 MACs, 6 sums of int64. No gradient passes through
 * these, but what keeps its inputs alone computes them again.
 */
static void integers_are_run_again_and_have_no_gradient(void **state) {
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
    const struct training_table *table = &bench->analysis.training;
    assert_int_equal(table->recompute_flops, 60);
    assert_int_equal(table->recompute_int_ops, 6);
    assert_int_equal(table->backward_flops, 60); /* of the weight alone */
    assert_int_equal(table->iteration_int_ops, 6 + 6);
    bench_close(bench);
}

/*
 * T 3, B 2, I 5, h 4: 24 cells. The MACs of GRU and RNN are torch.utils.flop_counter's. Kept
 * are x, and of every cell gates, memory (GRU: a share of the third gate) and, Y being left
 * out, the state.
 */
static void a_recurrence_goes_back_through_every_step(void **state) {
    static const struct {
        const char *lines;
        int64_t macs, kept;
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
        assert_int_equal(bench->analysis.training.backward_macs, cases[i].macs);
        assert_int_equal(bench->analysis.training.saved_bytes, cases[i].kept);
        bench_close(bench);
    }
}

/* What an exporter took apart keeps and costs what the whole does. */
static void a_composite_is_one_operation(void **state) {
    static const struct step whole = {
        .what = "LayerNormalization",
        .lines = "opset 17\nin x float[2,4]\ninit n.w float[4]\ninit n.b float[4]\ninit l.w "
                 "float[4,4]\n"
                 "node l MatMul x l.w -> h\nnode n LayerNormalization h n.w n.b -> y\nout y\n"};
    static const struct step parts = {
        .what = "its parts",
        .lines = "in x float[2,4]\ninit n.w float[4]\ninit n.b float[4]\ninit l.w float[4,4]\n"
                 "const 0 float[] =2\nconst 1 float[] =0.00001\n"
                 "node l MatMul x l.w -> h\nnode /n/ReduceMean ReduceMean h -> m axes=[-1]\n"
                 "node /n/Sub Sub h m -> d\nnode /n/Pow Pow d 0 -> p\n"
                 "node /n/ReduceMean_1 ReduceMean p -> v axes=[-1]\n"
                 "node /n/Add Add v 1 -> e\nnode /n/Sqrt Sqrt e -> s\n"
                 "node /n/Div Div d s -> q\nnode /n/Mul Mul q n.w -> t\n"
                 "node /n/Add_1 Add t n.b -> y\nout y\n"};
    struct bench *one = open_step(&whole);
    struct bench *many = open_step(&parts);
    const struct training_table *want = &one->analysis.training;
    const struct training_table *have = &many->analysis.training;
    (void)state;
    assert_int_equal(want->saved_bytes, 32 + 32 + 2 * 2 * 4); /* x, h, statistics */
    assert_int_equal(have->saved_bytes, want->saved_bytes);
    assert_int_equal(have->backward_macs, want->backward_macs);
    assert_int_equal(have->learned, want->learned);
    assert_int_equal(have->peak_bytes, want->peak_bytes);
    bench_close(one);
    bench_close(many);
}

static void what_an_unknown_operator_keeps_is_not_known(void **state) {
    const struct step step = {.what = "unknown",
                              .lines =
                                  "in x float[10]\ninit a.w float[10]\nnode a Mul x a.w -> y\n"
                                  "node u com.me::Odd y -> z\nout z\n"};
    struct bench *bench = open_step(&step);
    const struct cm_step *node = &bench->analysis.training.of_node[bench_node(bench, "u")];
    (void)state;
    assert_int_equal(node->saved_bytes, CM_UNKNOWN);
    assert_int_equal(node->backward_macs, CM_UNKNOWN);
    assert_int_equal(bench->analysis.training.saved_bytes, 40);
    bench_close(bench);
}

static void what_others_keep_of_an_unknown_operator_is_in_all_sums(void **state) {
    const struct step step = {.what = "unknown",
                              .lines =
                                  "in x float[10]\ninit a.w float[10]\nnode a Mul x a.w -> y\n"
                                  "node u com.me::Odd y -> o\ntype o float[10]\n"
                                  "node e Log o -> z\nout z\n"};
    struct bench *bench = open_step(&step);
    const struct training_table *table = &bench->analysis.training;
    (void)state;
    assert_int_equal(table->saved_bytes, 80);
    assert_int_equal(table->of_module[0].saved_bytes, 80);
    bench_close(bench);
}

static void without_an_optimizer_no_step_is_profiled(void **state) {
    struct bench *bench = bench_open("opset 13\n" TWO_MODULES);
    (void)state;
    assert_null(bench->analysis.training.optimizer);
    assert_null(bench->analysis.training.of_node);
    bench_close(bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_keep_and_cost_what_their_operators_say),
        cmocka_unit_test(the_peak_names_its_node_and_phase),
        cmocka_unit_test(a_module_answers_for_what_its_nodes_made),
        cmocka_unit_test(integers_are_frozen),
        cmocka_unit_test(a_pattern_names_parameters_or_modules),
        cmocka_unit_test(a_pattern_that_matches_nothing_is_refused),
        cmocka_unit_test(an_optimizer_keeps_its_states_and_takes_its_flops),
        cmocka_unit_test(each_convention_has_its_word_on_backward),
        cmocka_unit_test(what_is_run_again_is_counted_again),
        cmocka_unit_test(integers_are_run_again_and_have_no_gradient),
        cmocka_unit_test(a_recurrence_goes_back_through_every_step),
        cmocka_unit_test(a_composite_is_one_operation),
        cmocka_unit_test(what_an_unknown_operator_keeps_is_not_known),
        cmocka_unit_test(what_others_keep_of_an_unknown_operator_is_in_all_sums),
        cmocka_unit_test(without_an_optimizer_no_step_is_profiled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
