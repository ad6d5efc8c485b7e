/* SPDX-License-Identifier: Apache-2.0 */
/* Pass gradient_kernels: the kernels of backward and of the optimizer. Bytes are counted by
 * hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "model_harness.h"
#include "passes/modules/modules.h"
#include "support/checked.h"
#include "timed_harness.h"
#include "timing/gradient_kernels.h"
#include "timing/times.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

static struct bench *ask(const char *lines, struct cm_options options) {
    options.memory_alignment = 1;
    options.backend = "roofline:device=h200";
    if (!options.optimizer) options.optimizer = "sgd";
    struct bench *bench = timed_run(lines, &options);
    assert_int_equal(bench->status, CM_OK);
    return bench;
}

/* A kernel in the order of backward. */
struct row {
    enum cm_primitive_kind kind;
    enum cm_gradient gradient;
    int64_t runs, read, written, extra;
    int32_t extra_kernels;
    int64_t compulsory;
};

static void expect_kernels(const char *lines, struct cm_options options, const struct row *rows,
                           size_t n) {
    struct bench *bench = ask(lines, options);
    const struct gradient_kernels_table *table = bench->timing->gradient_kernels;
    for (size_t i = 0; i < n && i < table->n; i++) {
        const struct cm_primitive *item = &table->items[i];
        const struct cm_fusion *fusion = &item->fusion;
        if (item->kind != (int32_t)rows[i].kind ||
            fusion->gradient != (int32_t)rows[i].gradient || table->runs[i] != rows[i].runs ||
            item->bytes_read != rows[i].read || item->bytes_written != rows[i].written ||
            fusion->extra_bytes != rows[i].extra ||
            fusion->extra_kernels != rows[i].extra_kernels ||
            fusion->compulsory_bytes != rows[i].compulsory)
            fail_msg(
                "kernel %zu: got kind %d, gradient %d, %lld runs, %lld read, %lld written, "
                "%lld extra in %d kernels, %lld compulsory",
                i, item->kind, fusion->gradient, (long long)table->runs[i],
                (long long)item->bytes_read, (long long)item->bytes_written,
                (long long)fusion->extra_bytes, fusion->extra_kernels,
                (long long)fusion->compulsory_bytes);
    }
    assert_int_equal(table->n, n);
    bench_close(bench);
}

#define EXPECT(lines, rows, ...)                                                               \
    expect_kernels(lines, (struct cm_options){__VA_ARGS__}, rows, N(rows))

#define EAGER .runtime = CM_RUNTIME_TORCH_EAGER

/* Bytes: x and y [4,16] 256, weights [16,16] 1024. Layer b has a kernel for each of its two
 * gradients; both read the gradient of y, which one fused kernel would read once. Layer a has
 * no gradient of x. SGD reads gradients and weights, 2048 bytes each, and writes weights. */
static void products_have_a_kernel_for_each_gradient(void **state) {
    static const char lines[] =
        "in x float[4,16]\ninit a.w float[16,16]\ninit b.w float[16,16]\n"
        "node a MatMul x a.w -> p\nnode b MatMul p b.w -> y\nout y\n";
    static const struct row rows[] = {
        {CM_GEMM, CM_GRADIENT_DATA, 1, 256 + 1024, 256, 0, 0, 256 + 1024 + 256},
        {CM_GEMM, CM_GRADIENT_WEIGHT, 1, 256 + 256, 1024, 0, 0, 256},
        {CM_GEMM, CM_GRADIENT_WEIGHT, 1, 256 + 256, 1024, 0, 0, 256 + 256},
        {CM_ELTWISE, CM_GRADIENT_NONE, 1, 2048 + 2048, 2048, 0, 0, 2048},
    };
    (void)state;
    EXPECT(lines, rows, EAGER);
}

/* Values of 256 bytes between two products. Any implementation reads the gradient of the last
 * and writes that of the first; norms also read their operand. An Add passes its gradient on.
 */
static void chains_between_products_move_their_gradients(void **state) {
    static const struct {
        const char *chain;
        int64_t compulsory;
    } cases[] = {
        {"node r Relu p -> q\n", 256 + 256},
        {"node r Relu p -> s\nnode e Sigmoid s -> q\n", 256 + 256},
        {"node r Softmax p -> q\n", 256 + 256 + 256},
        {"node r Add p x -> s\nnode e Relu s -> q\n", 256},
        {"node r Add p x -> q\n", 0},
    };
    (void)state;
    for (size_t i = 0; i < 2 * N(cases); i++) {
        char lines[512];
        int64_t sum = 0;
        (void)snprintf(lines, sizeof(lines),
                       "in x float[4,16]\ninit a.w float[16,16]\ninit b.w float[16,16]\n"
                       "node a MatMul x a.w -> p\n%snode b MatMul q b.w -> y\nout y\n",
                       cases[i / 2].chain);
        struct bench *bench =
            ask(lines, (struct cm_options){.runtime = i % 2 ? CM_RUNTIME_TORCH_EAGER
                                                            : CM_RUNTIME_TORCH_COMPILE});
        const struct gradient_kernels_table *table = bench->timing->gradient_kernels;
        for (size_t k = 0; k + 1 < table->n; k++) /* the last one is the optimizer */
            if (table->items[k].kind != CM_GEMM) sum += table->items[k].fusion.compulsory_bytes;
        assert_int_equal(sum, cases[i / 2].compulsory);
        bench_close(bench);
    }
}

static void frozen_weights_have_no_gradient(void **state) {
    static const char *const frozen[] = {"b.w"};
    static const char lines[] =
        "in x float[4,16]\ninit a.w float[16,16]\ninit b.w float[16,16]\n"
        "node a MatMul x a.w -> p\nnode b MatMul p b.w -> y\nout y\n";
    static const struct row rows[] = {
        {CM_GEMM, CM_GRADIENT_DATA, 1, 256 + 1024, 256, 0, 0, 256 + 1024 + 256},
        {CM_GEMM, CM_GRADIENT_WEIGHT, 1, 256 + 256, 1024, 0, 0, 256 + 256},
        {CM_ELTWISE, CM_GRADIENT_NONE, 1, 1024 + 1024, 1024, 0, 0, 1024},
    };
    (void)state;
    EXPECT(lines, rows, EAGER, .n_freeze = 1, .freeze = frozen);
}

/* Adam reads gradients, weights and two states, 256 bytes each; it writes all but gradients. */
static void optimizer_moves_gradients_states_and_weights(void **state) {
    static const char lines[] =
        "in x float[64]\ninit a.w float[64]\nnode a Add x a.w -> y\nout y\n";
    static const struct row rows[] = {
        {CM_ELTWISE, CM_GRADIENT_NONE, 1, 4 * 256, 3 * 256, 0, 0, 256 + 4 * 256},
    };
    (void)state;
    EXPECT(lines, rows, EAGER, .optimizer = "adam");
}

/* Gradients, weights and momenta have the precision of the report: 2 bytes each. */
static void optimizer_moves_elements_of_the_precision(void **state) {
    static const char lines[] =
        "in x float[64]\ninit a.w float[64]\nnode a Add x a.w -> y\nout y\n";
    static const struct row rows[] = {
        {CM_ELTWISE, CM_GRADIENT_NONE, 1, 3 * 128, 2 * 128, 0, 0, 3 * 128},
    };
    (void)state;
    EXPECT(lines, rows, EAGER, .optimizer = "momentum", .precision = CM_PRECISION_BF16);
}

/* Tensors of 8 KiB. Backward of Exp and of Relu each read their saved output and the incoming
 * gradient, and write a gradient. Compiled: one kernel reads y and its gradient, and recomputes
 * p. The Add passes its gradient on without a kernel. */
static void elementwise_gradients_read_what_is_saved(void **state) {
    static const char lines[] = "in x float[2,1024]\ninit a.w float[2,1024]\n"
                                "node a Add x a.w -> o\nnode r Relu o -> p\nnode e Exp p -> y\n"
                                "out y\n";
    static const struct row alone[] = {
        {CM_ELTWISE, CM_GRADIENT_DATA, 1, 16384, 8192, 0, 0, 0},
        {CM_ELTWISE, CM_GRADIENT_DATA, 1, 16384, 8192, 0, 0, 0},
        {CM_ELTWISE, CM_GRADIENT_NONE, 1, 16384, 8192, 0, 0, 8192},
    };
    static const struct row fused[] = {
        {CM_ELTWISE, CM_GRADIENT_DATA, 1, 16384, 0, 0, 0, 0},
        {CM_ELTWISE, CM_GRADIENT_NONE, 1, 16384, 8192, 0, 0, 8192},
    };
    (void)state;
    EXPECT(lines, alone, EAGER);
    EXPECT(lines, fused, .runtime = CM_RUNTIME_TORCH_COMPILE);
}

/* p has two uses: a kernel reads both gradients and writes their sum. */
static void gradients_of_several_uses_are_added(void **state) {
    static const char lines[] = "in x float[2,1024]\ninit a.w float[2,1024]\n"
                                "node a Add x a.w -> o\nnode r Relu o -> p\nnode e Exp p -> q\n"
                                "node s Add p q -> y\nout y\n";
    static const struct row rows[] = {
        {CM_ELTWISE, CM_GRADIENT_DATA, 1, 16384, 8192, 3 * 8192, 1, 0},
        {CM_ELTWISE, CM_GRADIENT_DATA, 1, 16384, 8192, 0, 0, 0},
        {CM_ELTWISE, CM_GRADIENT_NONE, 1, 16384, 8192, 0, 0, 8192},
    };
    (void)state;
    EXPECT(lines, rows, EAGER);
}

/* Backward of Mul by a vector [1024]. The gradient of p reads the gradient of y and the vector.
 * The gradient of the vector reads p and the gradient of y; eager mode writes their product of
 * 8 KiB before it sums it. */
static void gradient_of_a_broadcast_operand_is_a_sum(void **state) {
    static const char lines[] = "in x float[2,1024]\ninit a.w float[2,1024]\n"
                                "init c.w float[1024]\nnode a Add x a.w -> p\n"
                                "node m Mul p c.w -> y\nout y\n";
    static const struct row rows[] = {
        {CM_ELTWISE, CM_GRADIENT_DATA, 1, 8192 + 8192 + 8192, 8192, 2 * 8192, 2, 0},
        {CM_ELTWISE, CM_GRADIENT_NONE, 1, 8192 + 4096 + 8192 + 4096, 8192 + 4096, 0, 0,
         8192 + 4096},
    };
    (void)state;
    EXPECT(lines, rows, EAGER);
}

/* Backward reads the operand and the gradient twice: for the sums, then for the result. */
static void norms_read_their_operands_twice_in_backward(void **state) {
    static const char lines[] = "opset 17\nin x float[2,1024]\ninit a.w float[2,1024]\n"
                                "init n.w float[1024]\nnode a Add x a.w -> p\n"
                                "node n LayerNormalization p n.w -> y\nout y\n";
    static const struct row rows[] = {
        {CM_NORM, CM_GRADIENT_DATA, 1, 2 * 16384, 8192, 0, 0, 0},
        {CM_ELTWISE, CM_GRADIENT_NONE, 1, 2 * (8192 + 4096), 8192 + 4096, 0, 0, 8192 + 4096},
    };
    (void)state;
    EXPECT(lines, rows, EAGER);
}

/* Autocast: operands of 2 bytes; the fp16 gradient of the weight is converted to fp32. */
static void autocast_converts_gradients_of_weights(void **state) {
    static const char lines[] = "in x float[4,16]\ninit a.w float[16,16]\n"
                                "node a MatMul x a.w -> y\nout y\n";
    static const struct row rows[] = {
        {CM_GEMM, CM_GRADIENT_WEIGHT, 1, 128 + 128, 512, 6 * 256, 1, 128 + 128},
        {CM_ELTWISE, CM_GRADIENT_NONE, 1, 1024 + 1024, 1024, 0, 0, 1024},
    };
    (void)state;
    EXPECT(lines, rows, EAGER, .precision = CM_PRECISION_AMP);
}

/* The recomputed module runs forward a second time, during backward. */
static void recomputed_modules_run_forward_again(void **state) {
    static const char *const module[] = {"m"};
    static const char lines[] = "in x float[64]\ninit a.w float[64]\nnode a Mul x a.w -> p\n"
                                "node m/e Exp p -> q\nnode b Relu q -> y\nout y\n";
    struct bench *without = ask(lines, (struct cm_options){EAGER});
    struct bench *with =
        ask(lines, (struct cm_options){EAGER, .n_checkpoint = 1, .checkpoint = module});
    const struct node_time *e = timed_node(with, "m/e");
    (void)state;
    assert_true(e->latency_ps > 0);
    assert_int_equal(with->timing->gradient_kernels->backward_ps,
                     without->timing->gradient_kernels->backward_ps + e->latency_ps);
    bench_close(with);
    bench_close(without);
}

static void iteration_is_not_shorter_than_its_phases(void **state) {
    static const char lines[] = "in x float[4,16]\ninit a.w float[16,16]\n"
                                "node a MatMul x a.w -> p\nnode r Relu p -> y\nout y\n";
    struct bench *bench = ask(lines, (struct cm_options){EAGER});
    const struct gradient_kernels_table *table = bench->timing->gradient_kernels;
    const struct node_time *forward = &bench->timing->times->of_module[0];
    (void)state;
    assert_true(table->backward_ps > 0 && table->update_ps > 0);
    const int64_t kernels_ps = forward->latency_ps - bench->timing->times->host_ps;
    assert_true(bench->timing->times->host_ps > 0);
    assert_true(table->iteration_ps >= kernels_ps + table->backward_ps + table->update_ps);
    assert_true(table->iteration_ps <= forward->latency_ps + table->backward_ps +
                                           table->update_ps +
                                           bench->timing->times->host_ps * 4);
    assert_true(table->iteration_lower_bound_ps >= forward->lower_bound_ps);
    assert_true(table->iteration_lower_bound_ps <= table->iteration_ps);
    bench_close(bench);
}

static void without_a_modelled_device_there_are_no_times(void **state) {
    static const char lines[] =
        "in x float[64]\ninit a.w float[64]\nnode a Mul x a.w -> y\nout y\n";
    const struct cm_options options = {.memory_alignment = 1, .optimizer = "sgd"};
    struct bench *bench = timed_run(lines, &options);
    (void)state;
    assert_int_equal(bench->timing->gradient_kernels->n, 0);
    assert_int_equal(bench->timing->gradient_kernels->iteration_ps, DIM_UNKNOWN);
    bench_close(bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_have_a_kernel_for_each_gradient),
        cmocka_unit_test(chains_between_products_move_their_gradients),
        cmocka_unit_test(frozen_weights_have_no_gradient),
        cmocka_unit_test(optimizer_moves_gradients_states_and_weights),
        cmocka_unit_test(optimizer_moves_elements_of_the_precision),
        cmocka_unit_test(elementwise_gradients_read_what_is_saved),
        cmocka_unit_test(gradients_of_several_uses_are_added),
        cmocka_unit_test(gradient_of_a_broadcast_operand_is_a_sum),
        cmocka_unit_test(norms_read_their_operands_twice_in_backward),
        cmocka_unit_test(autocast_converts_gradients_of_weights),
        cmocka_unit_test(recomputed_modules_run_forward_again),
        cmocka_unit_test(iteration_is_not_shorter_than_its_phases),
        cmocka_unit_test(without_a_modelled_device_there_are_no_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
