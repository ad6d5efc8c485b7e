/* SPDX-License-Identifier: Apache-2.0 */
/* Pass kernels: the kernels of both runtimes and the bytes that each node moves in its kernel.
 * Bytes are counted by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "model_harness.h"
#include "support/checked.h"
#include "timed_harness.h"
#include "timing/kernels.h"
#include "timing/primitives.h"
#include "timing/times.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

struct request {
    enum cm_runtime runtime;
    enum cm_precision precision;
    enum cm_layout layout;
    const char *optimizer;
};

static const struct request compiled = {.runtime = CM_RUNTIME_TORCH_COMPILE};
static const struct request eager = {.runtime = CM_RUNTIME_TORCH_EAGER};
static const struct request eager_amp = {.runtime = CM_RUNTIME_TORCH_EAGER,
                                         .precision = CM_PRECISION_AMP};

static struct bench *ask(const char *lines, struct request request) {
    const struct cm_options options = {.memory_alignment = 1,
                                       .backend = "roofline:device=h200",
                                       .runtime = request.runtime,
                                       .precision = request.precision,
                                       .layout = request.layout,
                                       .optimizer = request.optimizer};
    struct bench *bench = timed_run(lines, &options);
    assert_int_equal(bench->status, CM_OK);
    return bench;
}

/* Expected launches and bytes of a node. */
struct row {
    const char *node;
    int launches; /* -1: the node does not run */
    int64_t read, written, compulsory;
};

static void expect_rows(const char *lines, struct request request, const struct row *rows,
                        size_t n) {
    struct bench *bench = ask(lines, request);
    const struct kernels_table *table = bench->timing->kernels;
    for (size_t i = 0; i < n; i++) {
        const uint32_t id = bench_node(bench, rows[i].node);
        const struct cm_fusion *fusion = &table->fusion[id];
        const int launches = fusion->in_graph ? !fusion->no_launch : -1;
        if (launches != rows[i].launches || table->read[id] != rows[i].read ||
            table->written[id] != rows[i].written ||
            fusion->compulsory_bytes != rows[i].compulsory)
            fail_msg("%s: got %d launches, %lld read, %lld written, %lld compulsory",
                     rows[i].node, launches, (long long)table->read[id],
                     (long long)table->written[id], (long long)fusion->compulsory_bytes);
    }
    bench_close(bench);
}

#define EXPECT(lines, request, rows) expect_rows(lines, request, rows, N(rows))

/* x is 8 KiB. */
static void elementwise_chain_is_one_kernel(void **state) {
    static const char lines[] = "in x float[2,1024]\nnode a Relu x -> p\nnode b Exp p -> q\n"
                                "node c Mul q p -> y\nout y\n";
    static const struct row fused[] = {
        {"a", 1, 8192, 0, 8192}, {"b", 0, 0, 0, 0}, {"c", 0, 0, 8192, 8192}};
    static const struct row alone[] = {
        {"a", 1, 8192, 8192, 8192}, {"b", 1, 8192, 8192, 0}, {"c", 1, 16384, 8192, 8192}};
    (void)state;
    EXPECT(lines, compiled, fused);
    EXPECT(lines, eager, alone);
}

/* The cache holds its size of what all nodes of the kernel move: 16 KiB, also in eager mode, in
 * which another compiler would have the chain as one kernel. */
static void nodes_of_a_kernel_share_the_cache(void **state) {
    static const char lines[] = "in x float[2,1024]\nnode a Relu x -> p\nnode b Exp p -> q\n"
                                "node c Mul q p -> y\nout y\n";
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct bench *bench = ask(lines, i == 0 ? compiled : eager);
        for (uint32_t id = 0; id < 3; id++)
            assert_int_equal(bench->timing->kernels->fusion[id].group_bytes, 8192 + 8192);
        bench_close(bench);
    }
}

/* x [4,16], weights 16 x 16: 256, 1024 and 256 bytes. */
static void product_ends_a_kernel(void **state) {
    static const char lines[] =
        "in x float[4,16]\ninit w.weight float[16,16]\nnode a Relu x -> p\n"
        "node g MatMul p w.weight -> q\nnode b Exp q -> y\nout y\n";
    static const struct row rows[] = {{"a", 1, 256, 256, 256 + 256},
                                      {"g", 1, 256 + 1024, 256, 256 + 1024 + 256},
                                      {"b", 1, 256, 256, 256 + 256}};
    (void)state;
    EXPECT(lines, compiled, rows);
    EXPECT(lines, eager, rows);
}

/* Add reads q, the product, and p, the residual. It is not fused with a, which runs before the
 * product. */
static void residual_addition_does_not_span_the_product(void **state) {
    static const char lines[] =
        "in x float[4,16]\ninit w.weight float[16,16]\nnode a Relu x -> p\n"
        "node g MatMul p w.weight -> q\nnode s Add q p -> t\nnode r Relu t -> y\nout y\n";
    static const struct row rows[] = {
        {"a", 1, 256, 256, 256 + 256}, {"s", 1, 512, 0, 512}, {"r", 0, 0, 256, 256}};
    (void)state;
    EXPECT(lines, compiled, rows);
}

static void bias_addition_is_part_of_the_product(void **state) {
    static const char lines[] =
        "in x float[4,16]\ninit w.weight float[16,16]\ninit w.bias float[16]\n"
        "node g MatMul x w.weight -> q\nnode b Add q w.bias -> t\nnode r Relu t -> y\nout y\n";
    static const char shared[] =
        "in x float[4,16]\ninit w.weight float[16,16]\ninit w.bias float[16]\n"
        "node g MatMul x w.weight -> q\nnode b Add q w.bias -> t\nnode r Relu q -> y\n"
        "out t\nout y\n";
    static const struct row rows[] = {{"b", -1, 0, 0, 0}, {"r", 1, 256, 256, 256 + 256}};
    static const struct row alone[] = {{"b", 1, 256 + 64, 256, 256 + 256}};
    (void)state;
    EXPECT(lines, compiled, rows);
    EXPECT(lines, eager, rows);
    EXPECT(shared, compiled, alone); /* q has a second reader */
}

/* The ReLU reads half of x through the slice, and nothing else runs. */
static void views_move_nothing(void **state) {
    static const char lines[] =
        "in x float[4,16]\nconst b int64[1] =0\nconst e int64[1] =2\nconst s int64[2] =-1,8\n"
        "node t Transpose x -> p perm=[1,0]\nnode u Transpose p -> q perm=[1,0]\n"
        "node c Slice q b e -> h\nnode v Reshape h s -> r\nnode a Relu r -> y\nout y\n";
    static const struct row rows[] = {{"t", -1, 0, 0, 0},
                                      {"c", -1, 0, 0, 0},
                                      {"v", -1, 0, 0, 0},
                                      {"a", 1, 128, 128, 128 + 128}};
    (void)state;
    EXPECT(lines, compiled, rows);
    EXPECT(lines, eager, rows);
}

/* Concat appends 1 row to 3 rows of 16 bytes. A runtime that keeps the cache in place writes 16
 * bytes; if the past is computed, 64 are written and 48 are read. */
static void cache_can_be_extended_in_place(void **state) {
    static const char cache[] = "in past float[3,4]\nin x float[1,4]\n"
                                "node c Concat past x -> y axis=0\nout y\n";
    static const char other[] = "in past float[3,4]\nin x float[1,4]\nnode r Relu past -> p\n"
                                "node c Concat p x -> y axis=0\nout y\n";
    static const char attention[] =
        "in q float[1,1,16]\nin k float[1,1,16]\n"
        "in v float[1,1,16]\nin pk float[1,2,3,8]\nin pv float[1,2,3,8]\n"
        "in s int32[1]\nconst t int32[] =4\n"
        "node a com.microsoft::GroupQueryAttention q k v pk pv s t -> y nk nv num_heads=2 "
        "kv_num_heads=2\nout y\nout nk\nout nv\n";
    static const struct row in_place[] = {{"c", 1, 16, 16, 16 + 16}};
    static const struct row written[] = {{"c", 0, 16, 64, 16 + 64}};
    /* q, k, v and y are 64 bytes each, the past 2 x 192, s 4, t 4; the new rows 2 x 64 */
    static const struct row present[] = {
        {"a", 1, 192 + 384 + 8, 64 + 128, 192 + 384 + 8 + 64 + 128}};
    (void)state;
    EXPECT(cache, compiled, in_place);
    EXPECT(other, compiled, written);
    EXPECT(attention, compiled, present);
}

/* A compiler reads repeated rows with stride 0; eager PyTorch copies them. */
static void repeated_rows_are_read_once(void **state) {
    static const char lines[] =
        "in x float[1,4,8]\nin q float[2,1,4]\nconst n int64[3] =2,1,1\n"
        "node t Tile x n -> r\nnode g MatMul q r -> y\nout y\n";
    static const struct row once[] = {{"t", -1, 0, 0, 0},
                                      {"g", 1, 32 + 128, 64, 32 + 128 + 64}};
    static const struct row copied[] = {{"t", 1, 128, 256, 128},
                                        {"g", 1, 32 + 256, 64, 32 + 256 + 64}};
    (void)state;
    EXPECT(lines, compiled, once);
    EXPECT(lines, eager, copied);
}

/* 6 tokens gather one of 2 experts of 16 x 16 each, 1024 bytes: a grouped product reads the 2
 * experts once. */
static void gathered_weights_count_once_in_the_bound(void **state) {
    static const char lines[] =
        "in x float[6,1,16]\nin e int64[6]\ninit w float[2,16,16]\n"
        "node s Gather w e -> c axis=0\nnode g MatMul x c -> y\nout y\n";
    static const struct row rows[] = {{"s", 1, 2 * 1024 + 48, 6 * 1024, 48},
                                      {"g", 1, 384 + 6 * 1024, 384, 384 + 2 * 1024 + 384}};
    (void)state;
    EXPECT(lines, compiled, rows);
}

/* r is fused with a; the product reads p from memory, so p is written once. */
static void value_that_another_kernel_reads_is_written(void **state) {
    static const char lines[] =
        "in x float[4,16]\ninit w.weight float[16,16]\nnode a Exp x -> p\n"
        "node r Relu p -> y\nnode g MatMul p w.weight -> z\nout y\nout z\n";
    static const struct row rows[] = {{"a", 1, 256, 256, 256 + 256}, {"r", 0, 0, 256, 256}};
    (void)state;
    EXPECT(lines, compiled, rows);
}

static void output_of_the_graph_is_written(void **state) {
    static const char lines[] = "in x float[4,16]\nnode a Exp x -> y\nnode r Relu y -> z\n"
                                "out y\nout z\n";
    static const struct row rows[] = {{"a", 1, 256, 256, 512}, {"r", 0, 0, 256, 256}};
    (void)state;
    EXPECT(lines, compiled, rows);
}

/* q, k, v are 2 x 4 x 16 x 8 floats: 4096 bytes each. The scores are not written. */
static void attention_is_one_kernel(void **state) {
    static const char lines[] =
        "in q float[2,4,16,8]\nin k float[2,4,16,8]\nin v float[2,4,16,8]\n"
        "init f float[] =1\nnode t Transpose k -> kt perm=[0,1,3,2]\nnode a MatMul q kt -> s\n"
        "node d Mul s f -> m\nnode n Softmax m -> p axis=-1\nnode o MatMul p v -> y\nout y\n";
    static const struct row rows[] = {{"a", -1, 0, 0, 0},
                                      {"d", -1, 0, 0, 0},
                                      {"n", -1, 0, 0, 0},
                                      {"o", 1, 3 * 4096, 4096, 4 * 4096}};
    (void)state;
    EXPECT(lines, compiled, rows);
    EXPECT(lines, eager, rows);
}

/* Device models time what no backend can run (packed weights, experts, rotation) as a matrix
 * product with as many MACs. Weights are read as stored: 8 rows of 64 4-bit numbers, 16 scales.
 */
static void products_without_a_primitive_are_modelled(void **state) {
    static const struct {
        const char *lines;
        int64_t rows, inner, columns, read;
    } cases[] = {
        {"in x float16[3,64]\ninit w uint8[8,2,16]\ninit s float16[16]\n"
         "node n com.microsoft::MatMulNBits x w s -> y K=64 N=8 bits=4 block_size=32\nout y\n",
         3, 64, 8, 3 * 64 * 2 + 8 * 32 + 16 * 2},
        {"in x float[1,4]\nin r float[1,8]\ninit f float[8,16,4]\ninit g float[8,4,16]\n"
         "node n com.microsoft::MoE x r f - g -> y k=2\nout y\n",
         1, 4, 64, 16 + 32 + 2 * 2 * 64 * 4},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bench *bench = ask(cases[i].lines, compiled);
        const struct cm_primitive *product = &bench->timing->primitives->items[0];
        assert_int_equal(bench->timing->primitives->n, 1);
        assert_int_equal(product->kind, CM_GEMM);
        assert_int_equal(product->inputs[0].dims[0], cases[i].rows);
        assert_int_equal(product->inputs[1].dims[0], cases[i].inner);
        assert_int_equal(product->inputs[1].dims[1], cases[i].columns);
        assert_int_equal(product->bytes_read, cases[i].read);
        assert_true(timed_node(bench, "n")->latency_ps > 0);
        bench_close(bench);
    }
}

/* As PyTorch's MultiheadAttention is exported: batch and heads in one dim. */
static void attention_of_rank_3_has_one_head_per_matrix(void **state) {
    static const char lines[] =
        "in q float[8,16,4]\nin k float[8,16,4]\nin v float[8,16,4]\ninit f float[] =1\n"
        "node t Transpose k -> kt perm=[0,2,1]\nnode a MatMul q kt -> s\n"
        "node d Mul s f -> m\nnode n Softmax m -> p axis=-1\nnode o MatMul p v -> y\nout y\n";
    struct bench *bench = ask(lines, compiled);
    const struct primitives_table *table = bench->timing->primitives;
    const uint32_t id = bench_node(bench, "o");
    (void)state;
    assert_int_equal(table->lowered[id], LOWERED_PRIMITIVE);
    assert_int_equal(table->items[table->of_node[id]].kind, CM_ATTENTION);
    assert_int_equal(table->items[table->of_node[id]].outputs[0].dims[1], 1);
    bench_close(bench);
}

/* Under autocast products are fp16 and softmax is fp32. A product reads the softmax output:
 * eager mode casts it in an extra kernel, compiled code writes it as fp16. */
static void autocast_widens_softmax_and_casts_for_products(void **state) {
    static const char lines[] =
        "in x float[4,16]\ninit w.weight float[16,16]\ninit u.weight float[16,16]\n"
        "node g MatMul x w.weight -> q\nnode n Softmax q -> p\n"
        "node h MatMul p u.weight -> y\nout y\n";
    static const struct row fused[] = {{"g", 1, 128 + 512, 128, 128 + 512 + 128},
                                       {"n", 1, 128, 128, 128 + 128},
                                       {"h", 1, 128 + 512, 128, 128 + 512 + 128}};
    static const struct row alone[] = {{"n", 1, 128, 256, 128 + 128}};
    /* Add reads the softmax output in fp32. */
    static const char residual[] =
        "in x float[4,16]\ninit w.weight float[16,16]\ninit u.weight float[16,16]\n"
        "node g MatMul x w.weight -> q\nnode n Softmax q -> p\n"
        "node h MatMul p u.weight -> r\nnode s Add p r -> y\nout y\n";
    static const struct row wide[] = {{"n", 1, 128, 256 + 128, 128 + 256},
                                      {"s", 1, 256 + 128, 256, 256 + 128 + 256}};
    struct request compiled_amp = eager_amp;
    (void)state;
    compiled_amp.runtime = CM_RUNTIME_TORCH_COMPILE;
    EXPECT(lines, compiled_amp, fused);
    EXPECT(residual, compiled_amp, wide);
    EXPECT(lines, eager_amp, alone);
    struct bench *bench = ask(lines, eager_amp);
    const struct cm_fusion *fusion = &bench->timing->kernels->fusion[bench_node(bench, "n")];
    assert_int_equal(fusion->extra_kernels, 1);
    assert_int_equal(fusion->extra_bytes, 256 + 128);
    bench_close(bench);
}

/* 8-bit operands of products: the ReLU writes its output quantized. The graph input and, if
 * compiled, the result of a product are quantized by an extra kernel. */
static void products_of_8_bits_quantize_their_operand(void **state) {
    static const char lines[] =
        "in x float[4,16]\ninit w.weight float[16,16]\nnode g MatMul x w.weight -> p\n"
        "node h MatMul p w.weight -> q\nnode r Relu q -> s\nnode k MatMul s w.weight -> y\n"
        "out y\n";
    static const struct {
        const char *node;
        int quantizes;
    } rows[] = {{"g", 1}, {"h", 1}, {"r", 0}, {"k", 0}};
    const struct request fp8 = {.precision = CM_PRECISION_FP8};
    struct bench *bench = ask(lines, fp8);
    (void)state;
    for (size_t i = 0; i < N(rows); i++) {
        const struct cm_fusion *fusion =
            &bench->timing->kernels->fusion[bench_node(bench, rows[i].node)];
        assert_int_equal(fusion->quantizes, rows[i].quantizes);
        assert_int_equal(fusion->extra_kernels, rows[i].quantizes);
    }
    bench_close(bench);
}

/* A runtime multiplies the integers of a QDQ graph: its kernels read 1 byte per element, scale,
 * and quantize what they write. A framework computes what is written. x has 64 elements, w 256.
 */
static void kernels_of_a_qdq_graph_multiply_integers(void **state) {
    static const char lines[] =
        "in x float[4,16]\ninit s float[1]\ninit w int8[16,16]\n"
        "node q QuantizeLinear x s -> i\nnode d DequantizeLinear i s -> f\n"
        "node e DequantizeLinear w s -> g\nnode m MatMul f g -> p\nnode r Relu p -> t\n"
        "node k QuantizeLinear t s -> u\nnode l DequantizeLinear u s -> v\n"
        "node n QuantizeLinear v s -> a\nnode o DequantizeLinear a s -> b\n"
        "node h Softmax b -> y\nout y\n";
    static const struct request tensorrt = {.runtime = CM_RUNTIME_TENSORRT};
    static const struct row integers[] = {
        {"q", 1, 256 + 4, 64, 256}, {"d", -1, 0, 0, 0},
        {"e", -1, 0, 0, 0},         {"m", 1, 64 + 256 + 4, 64, 64 + 256 + 256},
        {"k", -1, 0, 0, 0},         {"n", -1, 0, 0, 0}, /* what is quantized already */
        {"h", 1, 64, 256, 256}};
    static const struct row floats[] = {{"d", 1, 64 + 4, 256, 256},
                                        {"m", 1, 256 + 1024, 256, 256 + 1024 + 256}};
    (void)state;
    EXPECT(lines, tensorrt, integers);
    EXPECT(lines, eager, floats);
    struct bench *bench = ask(lines, tensorrt);
    const struct primitives_table *primitives = bench->timing->primitives;
    const uint32_t index = primitives->of_node[bench_node(bench, "m")];
    assert_int_equal(primitives->items[index].inputs[0].element, CM_I8);
    bench_close(bench);
}

static const char folded[] =
    "in x float[1,4,8,8]\ninit c.weight float[4,4,1,1]\nfused :Net conv:Conv2d\n"
    "node c Conv x c.weight -> p\nat\nnode r Relu p -> y\nout y\n";

/* The folded norm reads and writes 4 x 8 x 8 floats. */
static void folded_norm_is_a_kernel_in_eager_mode(void **state) {
    (void)state;
    struct bench *bench = ask(folded, eager);
    const struct cm_fusion *fusion = &bench->timing->kernels->fusion[bench_node(bench, "c")];
    assert_int_equal(fusion->extra_kernels, 1);
    assert_int_equal(fusion->extra_bytes, 2 * 1024);
    bench_close(bench);
    bench = ask(folded, compiled); /* fused with the ReLU */
    fusion = &bench->timing->kernels->fusion[bench_node(bench, "c")];
    assert_int_equal(fusion->extra_kernels, 0);
    bench_close(bench);
    const struct request step = {.runtime = CM_RUNTIME_TORCH_EAGER, .optimizer = "sgd"};
    bench = ask(folded, step); /* restored, or with --as-exported not there */
    fusion = &bench->timing->kernels->fusion[bench_node(bench, "c")];
    assert_int_equal(fusion->extra_kernels, 0);
    bench_close(bench);
}

static void convolution_in_nchw_changes_the_layout(void **state) {
    static const char lines[] = "in x float[1,4,8,8]\ninit c.weight float[4,4,1,1]\n"
                                "node c Conv x c.weight -> y\nout y\n";
    struct request request = {.runtime = CM_RUNTIME_TORCH_EAGER,
                              .precision = CM_PRECISION_FP16,
                              .layout = CM_LAYOUT_NCHW};
    (void)state;
    struct bench *bench = ask(lines, request);
    assert_int_equal(bench->timing->kernels->fusion[bench_node(bench, "c")].extra_kernels, 2);
    bench_close(bench);
    request.layout = CM_LAYOUT_NHWC;
    bench = ask(lines, request);
    assert_int_equal(bench->timing->kernels->fusion[bench_node(bench, "c")].extra_kernels, 0);
    bench_close(bench);
}

/* A node of a body is not fused with a node outside the body. h has 16 floats. */
static void body_has_kernels_of_its_own(void **state) {
    static const char lines[] =
        "in x float[16]\nin q bool[]\nnode a Relu x -> h\n"
        "body then_branch\nnode t Exp h -> t1\nnode u Relu t1 -> t2\nout t2\nclose\n"
        "body else_branch\nnode f Exp h -> f1\nout f1\nclose\nnode b If q -> z\nout z\n";
    static const struct row rows[] = {{"a", 1, 64, 64, 64 + 64},
                                      {"t", 1, 64, 0, 64},
                                      {"u", 0, 0, 64, 64},
                                      {"f", 1, 64, 64, 64 + 64},
                                      {"b", -1, 0, 0, 0}};
    (void)state;
    EXPECT(lines, compiled, rows);
}

static void run_moves_weights_inputs_and_outputs_once(void **state) {
    static const struct {
        const char *lines;
        int64_t run_bytes;
    } cases[] = {
        {"in x float[1,16]\ninit w float[16,16]\nnode a MatMul x w -> p\n"
         "node b MatMul p w -> y\nout y\n",
         64 + 1024 + 64},
        /* tied weights: both products read one table */
        {"in x float[1,16]\ninit w float[16,16]\nnode t Transpose w -> v perm=[1,0]\n"
         "node a MatMul x w -> p\nnode b MatMul p v -> y\nout y\n",
         64 + 1024 + 64},
        /* weights of one byte */
        {"in x float[1,16]\ninit w int8[16,16]\ninit s float[]\n"
         "node d DequantizeLinear w s -> f\nnode a MatMul x f -> y\nout y\n",
         64 + 256 + 64},
        /* rows of a table, and their indices */
        {"in i int64[2]\ninit w float[100,16]\nnode g Gather w i -> y axis=0\nout y\n",
         16 + 2 * 64 + 2 * 64},
        /* a cache of 3 rows that is extended in place, and read by the product */
        {"in past float[3,4]\nin x float[1,4]\ninit w float[4,4]\n"
         "node c Concat past x -> y axis=0\nnode g MatMul y w -> z\nout y\nout z\n",
         48 + 16 + 64 + 16 + 64},
        /* a branch may not run */
        {"in x float[1,16]\nin q bool[]\ninit w float[16,16]\nbody then_branch\n"
         "node t MatMul x w -> t1\nout t1\nclose\nbody else_branch\nnode f Exp x -> f1\n"
         "out f1\nclose\nnode b If q -> z\nnode r Relu x -> y\nout y\nout z\n",
         64 + 64},
    };
    (void)state;
    for (size_t i = 0; i < N(cases); i++) {
        struct bench *bench = ask(cases[i].lines, compiled);
        assert_int_equal(bench->timing->kernels->run_bytes, cases[i].run_bytes);
        bench_close(bench);
    }
}

/* Eight products with weights of 16 MiB each: less than the cache of 50 MiB, but a run can find
 * at most one cache full of all weights. */
static void weights_of_all_nodes_exceed_the_cache(void **state) {
    char lines[1024] = "in x0 float[1,2048]\n";
    size_t length = strlen(lines);
    (void)state;
    for (int i = 0; i < 8; i++) {
        snprintf(lines + length, sizeof(lines) - length,
                 "init w%d float[2048,2048]\nnode m%d MatMul x%d w%d -> x%d\n", i, i, i, i,
                 i + 1);
        length += strlen(lines + length);
    }
    snprintf(lines + length, sizeof(lines) - length, "out x8\n");
    struct bench *bench = ask(lines, compiled);
    const struct times_table *times = bench->timing->times;
    const double moved = 8.0 * 2048 * 2048 * 4 + 2 * 2048 * 4 - 52428800;
    const double bound = (double)times->of_module[0].lower_bound_ps;
    assert_true(fabs(bound - moved / 4.8e12 * 1e12) < 10);
    assert_true(fabs((double)timed_node(bench, "m3")->lower_bound_ps - bound / 8) < 10);
    bench_close(bench);
}

static void only_modelled_devices_have_kernels(void **state) {
    static const char lines[] = "in x float[4]\nnode a Relu x -> y\nout y\n";
    static const char *const backends[] = {NULL, "fake", "rooflines:device=h200"};
    (void)state;
    for (size_t i = 0; i < N(backends); i++) {
        const struct cm_options options = {.memory_alignment = 1, .backend = backends[i]};
        struct bench *bench = timed_run(lines, &options);
        assert_int_equal(bench->status, CM_OK);
        assert_null(bench->timing->kernels->fusion);
        if (backends[i] != NULL)
            assert_int_equal(bench->timing->primitives->items[0].fusion.in_graph, 0);
        bench_close(bench);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elementwise_chain_is_one_kernel),
        cmocka_unit_test(nodes_of_a_kernel_share_the_cache),
        cmocka_unit_test(product_ends_a_kernel),
        cmocka_unit_test(residual_addition_does_not_span_the_product),
        cmocka_unit_test(bias_addition_is_part_of_the_product),
        cmocka_unit_test(views_move_nothing),
        cmocka_unit_test(cache_can_be_extended_in_place),
        cmocka_unit_test(repeated_rows_are_read_once),
        cmocka_unit_test(gathered_weights_count_once_in_the_bound),
        cmocka_unit_test(value_that_another_kernel_reads_is_written),
        cmocka_unit_test(output_of_the_graph_is_written),
        cmocka_unit_test(attention_is_one_kernel),
        cmocka_unit_test(products_without_a_primitive_are_modelled),
        cmocka_unit_test(attention_of_rank_3_has_one_head_per_matrix),
        cmocka_unit_test(autocast_widens_softmax_and_casts_for_products),
        cmocka_unit_test(products_of_8_bits_quantize_their_operand),
        cmocka_unit_test(kernels_of_a_qdq_graph_multiply_integers),
        cmocka_unit_test(folded_norm_is_a_kernel_in_eager_mode),
        cmocka_unit_test(convolution_in_nchw_changes_the_layout),
        cmocka_unit_test(body_has_kernels_of_its_own),
        cmocka_unit_test(run_moves_weights_inputs_and_outputs_once),
        cmocka_unit_test(weights_of_all_nodes_exceed_the_cache),
        cmocka_unit_test(only_modelled_devices_have_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
