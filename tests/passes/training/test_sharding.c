/* SPDX-License-Identifier: Apache-2.0 */
/* Steps that are divided over GPUs: published figures of DeepSpeed's estimators, and values
 * computed by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model_harness.h"
#include "passes/training/training.h"
#include "support/checked.h"

/* A model as a chain of products: layer i multiplies by a matrix of widths[i % 2] rows and
 * widths[(i + 1) % 2] columns, from a first layer and to vectors of the first width. */
struct chain {
    int first_rows; /* 0: no first layer */
    int widths[2];
    int n_layers;
    int last_columns; /* of a last product; 0: none */
    int n_vectors;
};

/* 2851e6 parameters, 32e6 in the largest layer. */
static const struct chain of_paper = {0, {4000, 8000}, 89, 375, 0};
/* t5-3b: 2,851,598,336, and 32,899,072 in the embedding. */
static const struct chain t5 = {32128, {1024, 16384}, 168, 0, 124};

static struct bench *open_chain(const struct chain *chain, const struct cm_options *options) {
    static const size_t capacity = 64 << 10;
    char *text = malloc(capacity);
    assert_non_null(text);
    FILE *out = fmemopen(text, capacity, "w");
    int n = 0;
    assert_non_null(out);
    (void)fprintf(out, "opset 13\nin v0 float[1,%d]\n",
                  chain->first_rows ? chain->first_rows : chain->widths[0]);
    if (chain->first_rows > 0) {
        (void)fprintf(out, "init e.w float[%d,%d]\nnode /e/m MatMul v0 e.w -> v1\n",
                      chain->first_rows, chain->widths[0]);
        n++;
    }
    for (int i = 0; i < chain->n_layers; i++, n++)
        (void)fprintf(out, "init l%d.w float[%d,%d]\nnode /l%d/m MatMul v%d l%d.w -> v%d\n", i,
                      chain->widths[i % 2], chain->widths[(i + 1) % 2], i, n, i, n + 1);
    if (chain->last_columns > 0) {
        (void)fprintf(out, "init z.w float[%d,%d]\nnode /z/m MatMul v%d z.w -> v%d\n",
                      chain->widths[chain->n_layers % 2], chain->last_columns, n, n + 1);
        n++;
    }
    for (int i = 0; i < chain->n_vectors; i++, n++)
        (void)fprintf(out, "init n%d.w float[%d]\nnode /n%d/m Mul v%d n%d.w -> v%d\n", i,
                      chain->widths[0], i, n, i, n + 1);
    (void)fprintf(out, "out v%d\n", n);
    assert_int_equal(fclose(out), 0);
    struct bench *bench = bench_open_with(text, options);
    free(text);
    if (bench->status != CM_OK) fail_msg("%s", bench_messages(bench));
    return bench;
}

/* docs/code-docs/source/memory.rst of DeepSpeed: bytes of a GPU without activations, GiB. */
static void model_states_are_those_of_deepspeed(void **state) {
    static const struct {
        const struct chain *chain;
        int64_t stage;
        enum cm_offload offload;
        const char *published;
        int64_t host; /* 16 bytes per parameter, or 18 with the weights, on each of 8 GPUs */
    } cases[] = {
        {&of_paper, 2, CM_OFFLOAD_NONE, "15.93", 0},
        {&of_paper, 2, CM_OFFLOAD_OPTIMIZER, "5.31", INT64_C(2) * 2851000000},
        {&of_paper, 3, CM_OFFLOAD_NONE, "6.09", 0},
        {&of_paper, 3, CM_OFFLOAD_OPTIMIZER, "0.78", INT64_C(2) * 2851000000},
        {&of_paper, 3, CM_OFFLOAD_ALL, "0.12", INT64_C(18) * 2851000000 / 8},
        {&t5, 3, CM_OFFLOAD_NONE, "6.10", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct cm_options options = {.optimizer = "adam",
                                           .precision = CM_PRECISION_FP16,
                                           .shard_gpus = 8,
                                           .zero_stage = cases[i].stage,
                                           .offload = cases[i].offload};
        struct bench *bench = open_chain(cases[i].chain, &options);
        const struct training_table *table = bench->analysis.training;
        char gib[32];
        (void)snprintf(gib, sizeof gib, "%.2f",
                       (double)(table->held_bytes + table->whole_gradient_bytes) / (1 << 30));
        assert_int_equal(table->learned,
                         cases[i].chain == &t5 ? INT64_C(2851598336) : INT64_C(2851000000));
        assert_string_equal(gib, cases[i].published);
        assert_int_equal(table->host_bytes, cases[i].host);
        bench_close(bench);
    }
}

/* Parameters of 15 elements in module one, of 25 in module two. */
#define TWO_MODULES                                                                            \
    "opset 13\nin x float[2,3]\ninit a.w float[3,5]\ninit b.w float[5,5]\n"                    \
    "node /one/a MatMul x a.w -> y\nnode /two/b MatMul y b.w -> z\nout z\n"

static void each_stage_divides_more(void **state) {
    static const char *const first[] = {"a.w"};
    static const struct {
        const char *what;
        struct cm_options options;
        int64_t weights, gradients, states, master, gather, host, flops;
        int64_t peak; /* 0: not compared */
    } cases[] = {
        /* clang-format off */
        /* x, y, z, gradients of z, y and b.w in backward of b */
        {"one GPU", {.shard_gpus = 0}, 160, 160, 320, 0, 0, 0, 520, 480 + 24 + 160 + 100},
        {"stage 1", {.shard_gpus = 3, .zero_stage = 1},
         160, 160, 107, 0, 0, 0, 174, 267 + 24 + 160 + 100},
        {"stage 2 keeps gradients whole until they are reduced", {.shard_gpus = 3, .zero_stage = 2},
         160, 160, 107, 0, 0, 0, 174, 267 + 24 + 160 + 100},
        {"stage 3 gathers the largest module with its gradient", {.shard_gpus = 3, .zero_stage = 3},
         54, 54, 107, 0, 200, 0, 174, 54 + 54 + 107 + 200 + 24 + 160},
        {"a frozen module is gathered without gradients", {.shard_gpus = 3, .zero_stage = 3, .n_trainable = 1, .trainable = first},
         54, 20, 40, 0, 120, 0, 65, 0},
        {"16 bits: weights and gradients of the optimizer have 32", {.shard_gpus = 2, .zero_stage = 1, .precision = CM_PRECISION_BF16},
         80, 80 + 80, 160, 80, 0, 0, 260, 0},
        {"stage 1 keeps its gradients when the optimizer is on the host", {.shard_gpus = 2, .zero_stage = 1, .offload = CM_OFFLOAD_OPTIMIZER},
         160, 160, 0, 0, 0, 160, 260, 0},
        {"stage 2 does not", {.shard_gpus = 2, .zero_stage = 2, .offload = CM_OFFLOAD_OPTIMIZER},
         160, 0, 0, 0, 0, 160, 260, 160 + 24 + 160},
        {"stage 3 with everything on the host", {.shard_gpus = 2, .zero_stage = 3, .offload = CM_OFFLOAD_ALL},
         0, 0, 0, 0, 200, 160 + 80 + 80, 260, 200 + 24 + 160},
        /* clang-format on */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cm_options options = cases[i].options;
        options.optimizer = "adam";
        struct bench *bench = bench_open_with(TWO_MODULES, &options);
        if (bench->status != CM_OK) fail_msg("%s: %s", cases[i].what, bench_messages(bench));
        const struct training_table *table = bench->analysis.training;
        if (table->weight_bytes != cases[i].weights ||
            table->gradient_bytes != cases[i].gradients ||
            table->optimizer_bytes != cases[i].states ||
            table->master_bytes != cases[i].master || table->gather_bytes != cases[i].gather ||
            table->host_bytes != cases[i].host || table->step_flops != cases[i].flops ||
            (cases[i].peak != 0 && table->peak_bytes != cases[i].peak))
            fail_msg("%s: weights %lld, gradients %lld, states %lld, fp32 %lld, gathered %lld, "
                     "host %lld, FLOPs %lld, peak %lld",
                     cases[i].what, (long long)table->weight_bytes,
                     (long long)table->gradient_bytes, (long long)table->optimizer_bytes,
                     (long long)table->master_bytes, (long long)table->gather_bytes,
                     (long long)table->host_bytes, (long long)table->step_flops,
                     (long long)table->peak_bytes);
        bench_close(bench);
    }
}

/* a.w of 9 elements and its gradient; b.w and c.w, which are in no module, 6 and 4. */
static void a_parameter_of_several_nodes_is_gathered_once(void **state) {
    const struct cm_options options = {.optimizer = "sgd", .shard_gpus = 2, .zero_stage = 3};
    struct bench *bench = bench_open_with(
        "opset 13\nin x float[2,3]\ninit a.w float[3,3]\ninit b.w float[3,2]\n"
        "init c.w float[2,2]\nnode /one/a MatMul x a.w -> y\nnode /one/b MatMul y a.w -> z\n"
        "node - MatMul z b.w -> u\nnode - MatMul u c.w -> v\nout v\n",
        &options);
    (void)state;
    assert_int_equal(bench->status, CM_OK);
    assert_int_equal(bench->analysis.training->gather_bytes, 2 * 36);
    bench_close(bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(model_states_are_those_of_deepspeed),
        cmocka_unit_test(each_stage_divides_more),
        cmocka_unit_test(a_parameter_of_several_nodes_is_gathered_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
