/* SPDX-License-Identifier: Apache-2.0 */
/* Restoring norms: which layers have one, and what the copy of the model has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/print.h"
#include "model_harness.h"
#include "passes/infer/infer.h"
#include "passes/norms/restore_norms.h"
#include "passes/pipeline/pipeline.h"
#include "support/text.h"
#include "tests/ir/verify.h"

#define IMAGE "in x float[2,3,8,8]\n"
#define TORCH IMAGE "init fc.weight float[5,4]\ninit 21 float[4,3,3,3]\ninit 22 float[4]\n"
#define DYNAMO                                                                                 \
    IMAGE "params c.weight n.weight n.bias\ninit c.weight float[4,3,3,3]\nmark c.weight "      \
          "parameter\nfused :Net n:BatchNorm2d\n"

static const struct cm_options training = {.optimizer = "sgd", .convention = "deepspeed"};

/* Opens the model with its norms restored, and runs the passes again. */
static struct bench *open_restored(const char *lines, const struct cm_options *options) {
    struct bench *bench = bench_open_with(lines, options);
    const struct model *copy = NULL;
    if (bench->status != CM_OK) fail_msg("%s", bench_messages(bench));
    assert_int_equal(restore_norms(&bench->model, options, bench->arena, &copy), CM_OK);
    assert_int_equal(copy == &bench->model, copy->n_restored_norms == 0);
    verify_model(copy);
    for (size_t i = 0; i < copy->n_nodes; i++)
        assert_true(!copy->nodes[i].folds_norm || copy == &bench->model);
    bench->model = *copy;
    bench->analysis = (struct analysis){.model = &bench->model,
                                        .options = &bench->options,
                                        .arena = bench->arena,
                                        .diag = bench->diag};
    bench->status = pipeline_run_to(&bench->analysis, 0);
    if (bench->status != CM_OK) fail_msg("%s", bench_messages(bench));
    return bench;
}

static void finds_layers_whose_norm_was_folded(void **state) {
    static const struct {
        const char *lines;
        size_t n;
    } rows[] = {
        {TORCH "node n Conv x 21 22 -> y\nout y\n", 1},
        /* the exporter writes equal tensors once */
        {TORCH "node i Identity 22 -> 32\nnode n Conv x 21 22 -> y\nnode m Conv x 21 32 -> z\n"
               "out y\nout z\n",
         2},
        /* parameters of the framework; the layer's own bias; no bias */
        {IMAGE "init c.weight float[4,3,3,3]\ninit c.bias float[4]\n"
               "node n Conv x c.weight c.bias -> y\nout y\n",
         0},
        {IMAGE "init 21 float[4,3,3,3]\ninit c.bias float[4]\n"
               "node n Conv x 21 c.bias -> y\nout y\n",
         0},
        {TORCH "node n Conv x 21 -> y\nout y\n", 0},
        /* BatchNormalization-1 requires an attribute */
        {"opset 1\n" TORCH "node n Conv x 21 22 -> y\nout y\n", 1},
        /* all names are generated, so they tell nothing */
        {IMAGE "init 21 float[4,3,3,3]\ninit 22 float[4]\nnode n Conv x 21 22 -> y\nout y\n",
         0},
        /* linear layers have generated names because they are transposed */
        {"in x float[2,3]\ninit a.weight float[3]\ninit 21 float[3,4]\ninit 22 float[4]\n"
         "node n Gemm x 21 22 -> y\nout y\n",
         0},
        /* the exporter's record excludes the rule of names */
        {TORCH "params fc.weight\nnode n Conv x 21 22 -> y\nout y\n", 0},
        {DYNAMO "node n Conv x c.weight -> y\nout y\n", 1},
        {DYNAMO "node n Conv x c.weight -> y\nat\nnode m Conv x c.weight -> z\nout y\nout z\n",
         1},
        /* fused from other nodes */
        {DYNAMO "node n Relu x -> y\nout y\n", 0},
        {"in x int32[2,3,8,8]\nparams c.weight\ninit c.weight int32[4,3,3,3]\n"
         "fused :Net n:BatchNorm2d\nnode n Conv x c.weight -> y\nout y\n",
         0},
        {IMAGE "in w float[4,3,3,3]\nfused :Net n:BatchNorm2d\nnode n Conv x w -> y\nout y\n",
         0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench *bench = open_restored(rows[i].lines, &training);
        if (bench->model.n_restored_norms != rows[i].n)
            fail_msg("row %zu: %zu", i, bench->model.n_restored_norms);
        bench_close(bench);
    }
}

static void restores_nothing_unless_asked(void **state) {
    const char *lines = DYNAMO "node n Conv x c.weight -> y\nout y\n";
    const struct cm_options forward = {.convention = "deepspeed"};
    struct cm_options as_exported = training;
    (void)state;
    as_exported.as_exported = true;
    struct bench *bench = open_restored(lines, &forward);
    assert_int_equal(bench->model.n_restored_norms, 0);
    bench_close(bench);
    bench = open_restored(lines, &as_exported);
    assert_int_equal(bench->model.n_restored_norms, 0);
    bench_close(bench);
}

static void check_graph(const char *lines, const char *expected) {
    struct bench *bench = open_restored(lines, &training);
    struct text text = {.arena = bench->arena};
    for (uint32_t id = 0; id < bench->model.n_nodes; id++) {
        print_node(&bench->model, id, bench->analysis.infer->infos, &text);
        text_append(&text, "\n");
    }
    assert_string_equal(text_string(&text), expected);
    bench_close(bench);
}

static void puts_the_norm_between_layer_and_readers(void **state) {
    (void)state;
    check_graph(DYNAMO "init b float[4]\nnode n Conv x c.weight b -> y\nat\n"
                       "node r Relu y -> z\nout y\nout z\n",
                "%y_without_norm = Conv(%x: f32[2,3,8,8], %c.weight: f32[4,3,3,3])\n"
                "%y = BatchNormalization(%y_without_norm: f32[2,4,6,6], %n.weight: f32[4], "
                "%n.bias: f32[4], "
                "%n.running_mean: f32[4], %n.running_var: f32[4])\n"
                "%z = Relu(%y: f32[2,4,6,6])\n");
    /* a layer with a bias of its own, of zeros, which the exporter dropped */
    check_graph(
        DYNAMO "params c.bias\nnode n Conv x c.weight -> y\nout y\n",
        "%y_without_norm = Conv(%x: f32[2,3,8,8], %c.weight: f32[4,3,3,3], %c.bias: f32[4])\n"
        "%y = BatchNormalization(%y_without_norm: f32[2,4,6,6], %n.weight: f32[4], %n.bias: "
        "f32[4], "
        "%n.running_mean: f32[4], %n.running_var: f32[4])\n");
    check_graph(TORCH "node /c/Conv Conv x 21 22 -> y\nout y\n",
                "%y_without_norm = Conv(%x: f32[2,3,8,8], %21: f32[4,3,3,3])\n"
                "%y = BatchNormalization(%y_without_norm: f32[2,4,6,6], %21::norm.weight: "
                "f32[4], %21::norm.bias: f32[4], "
                "%21::norm.running_mean: f32[4], %21::norm.running_var: f32[4])\n");
}

/* The norm of a linear layer and of a transposed convolution; a norm that does not learn. */
static void sizes_the_norm_by_the_layer(void **state) {
    (void)state;
    check_graph("in x float[2,3]\nparams f.weight n.weight n.bias\ninit f.weight float[5,3]\n"
                "fused :Net n:BatchNorm1d\nnode n Gemm x f.weight -> y transB=1\nout y\n",
                "%y_without_norm = Gemm[transB=1](%x: f32[2,3], %f.weight: f32[5,3])\n"
                "%y = BatchNormalization(%y_without_norm: f32[2,5], %n.weight: f32[5], "
                "%n.bias: f32[5], "
                "%n.running_mean: f32[5], %n.running_var: f32[5])\n");
    check_graph(
        IMAGE "params d.weight\ninit d.weight float[3,5,2,2]\n"
              "fused :Net n:BatchNorm2d\nnode n ConvTranspose x d.weight -> y group=3\n"
              "out y\n",
        "%y_without_norm = ConvTranspose[group=3](%x: f32[2,3,8,8], %d.weight: f32[3,5,2,2])\n"
        "%y = BatchNormalization(%y_without_norm: f32[2,15,9,9], %d.weight::norm.weight: "
        "f32[15], %d.weight::norm.bias: "
        "f32[15], "
        "%n.running_mean: f32[15], %n.running_var: f32[15])\n");
}

/* A file may have other tensors of the names, and modules of other classes may hold the norm.
 */
static void ignores_names_that_do_not_fit(void **state) {
    (void)state;
    check_graph(DYNAMO "init n.weight float[4,1]\ninit n.bias float[3]\n"
                       "node n Conv x c.weight -> y\nat\nnode r Relu n.weight -> z\n"
                       "node s Relu n.bias -> t\nout y\nout z\nout t\n",
                "%y_without_norm = Conv(%x: f32[2,3,8,8], %c.weight: f32[4,3,3,3])\n"
                "%y = BatchNormalization(%y_without_norm: f32[2,4,6,6], %n.weight: f32[4], "
                "%n.bias: f32[4], "
                "%n.running_mean: f32[4], %n.running_var: f32[4])\n"
                "%z = Relu(%n.weight: f32[4,1])\n%t = Relu(%n.bias: f32[3])\n");
    check_graph(IMAGE "params c.weight\ninit c.weight float[4,3,3,3]\nfused :Net c:Block\n"
                      "node n Conv x c.weight -> y\nout y\n",
                "%y_without_norm = Conv(%x: f32[2,3,8,8], %c.weight: f32[4,3,3,3])\n"
                "%y = BatchNormalization(%y_without_norm: f32[2,4,6,6], "
                "%c.weight::norm.weight: f32[4], %c.weight::norm.bias: f32[4], "
                "%c.weight::norm.running_mean: f32[4], %c.weight::norm.running_var: f32[4])\n");
}

static void norms_without_parameters_have_statistics_alone(void **state) {
    (void)state;
    struct bench *bench = open_restored(
        IMAGE "params c.weight\ninit c.weight float[4,3,3,3]\nmark c.weight parameter\n"
              "fused :Net n:BatchNorm2d\nnode n Conv x c.weight -> y\nout y\n",
        &training);
    assert_int_equal(bench_kind(bench, "c.weight::norm.weight"), PARAM_NONE);
    assert_string_equal(bench_used(bench, "n_norm"), "n.running_mean n.running_var");
    bench_close(bench);
}

static void shares_parameters_by_name(void **state) {
    (void)state;
    struct bench *bench = open_restored(
        IMAGE "params c.weight d.weight n.weight n.bias\ninit c.weight float[4,3,1,1]\n"
              "init d.weight float[4,3,1,1]\nfused :Net n:BatchNorm2d\n"
              "node n Conv x c.weight -> y\nnode m Conv x d.weight -> z\nout y\nout z\n",
        &training);
    assert_int_equal(bench->model.n_restored_norms, 2);
    assert_int_equal(bench->analysis.params->framework.elements, 12 + 12 + 4 + 4);
    assert_int_equal(bench->analysis.params->framework.n_absent, 0);
    bench_close(bench);
}

static void moves_the_owners_of_bodies(void **state) {
    (void)state;
    struct bench *bench = open_restored(
        IMAGE "in c bool[]\nparams c.weight n.weight n.bias\ninit c.weight float[4,3,3,3]\n"
              "fused :Net n:BatchNorm2d\nnode n Conv x c.weight -> y\nat\n"
              "body then_branch\ninit n.weight float[4]\nfused :Net n:BatchNorm2d\nnode m Conv "
              "x c.weight -> t\nout t\n"
              "close\nbody else_branch\nat\nnode e Relu y -> u\nout u\nclose\n"
              "node i If c -> z\nout z\n",
        &training);
    assert_int_equal(bench->model.n_restored_norms, 2);
    assert_string_equal(bench_type(bench, "z"), "f32[2,4,6,6]");
    bench_close(bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_layers_whose_norm_was_folded),
        cmocka_unit_test(restores_nothing_unless_asked),
        cmocka_unit_test(puts_the_norm_between_layer_and_readers),
        cmocka_unit_test(sizes_the_norm_by_the_layer),
        cmocka_unit_test(ignores_names_that_do_not_fit),
        cmocka_unit_test(norms_without_parameters_have_statistics_alone),
        cmocka_unit_test(shares_parameters_by_name),
        cmocka_unit_test(moves_the_owners_of_bodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
