/* SPDX-License-Identifier: Apache-2.0 */
/* Pass primitives: the dtypes, strides and work of the primitives that a backend runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "backends/primitive.h"
#include "frontend/load.h"
#include "model_harness.h"
#include "passes/cost/count.h"
#include "passes/fusion/fuse_patterns.h"
#include "passes/pipeline/pipeline.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/file.h"
#include "support/text.h"
#include "timed_harness.h"
#include "timing/pipeline.h"
#include "timing/primitives.h"

/* A backend without fusion; test_kernels.c tests the fused kernels of modelled devices. */
#define ALONE "fake"

struct request {
    enum cm_precision precision;
    enum cm_layout layout;
};

static struct bench *ask(const char *lines, struct request request) {
    const struct cm_options options = {.memory_alignment = 1,
                                       .backend = ALONE,
                                       .precision = request.precision,
                                       .layout = request.layout};
    struct bench *bench = timed_run(lines, &options);
    assert_int_equal(bench->status, CM_OK);
    return bench;
}

static const struct cm_primitive *primitive_of(const struct bench *bench, const char *node) {
    const struct primitives_table *table = bench->timing->primitives;
    const uint32_t id = bench_node(bench, node);
    if (table->lowered[id] != LOWERED_PRIMITIVE) fail_msg("%s has no primitive", node);
    return &table->items[table->of_node[id]];
}

static void expect_text(const struct bench *bench, const char *node, const char *want) {
    struct text text;
    text_init(&text, bench->arena);
    primitive_print(primitive_of(bench, node), &text);
    if (!text_equal(text_string(&text), want))
        fail_msg("%s: got \"%s\", expected \"%s\"", node, text_string(&text), want);
}

/* A node and the text of its primitive. */
struct expected_text {
    const char *node;
    const char *text;
};

static void expect_all(const char *lines, struct request request,
                       const struct expected_text *rows, size_t n) {
    struct bench *bench = ask(lines, request);
    for (size_t i = 0; i < n; i++) expect_text(bench, rows[i].node, rows[i].text);
    bench_close(bench);
}

#define EXPECT(lines, request, rows)                                                           \
    expect_all(lines, request, rows, sizeof(rows) / sizeof((rows)[0]))

static const char small_net[] =
    "in x float[2,4,8,8]\nin i int64[3]\n"
    "init c.weight float[6,4,3,3]\ninit c.bias float[6]\ninit f.weight float[384,10]\n"
    "node c Conv x c.weight c.bias -> p pads=[1,1,1,1]\nnode r Relu p -> q\n"
    "node v Flatten q -> s\nnode g MatMul s f.weight -> t\nnode k Gather t i -> u axis=1\n"
    "out u\n";

static void fp16_and_bf16_apply_to_all_operands(void **state) {
    static const struct expected_text rows[] = {
        {"c", "conv f16 2x4x8x8 6x4x3x3 6 -> 2x6x8x8 kernel 3x3 pad 1x1+1x1"},
        {"r", "eltwise relu f16 2x6x8x8 -> 2x6x8x8"},
        {"g", "gemm f16 2x384 384x10 -> 2x10"},
        {"k", "gather f16 2x10 i64 3 -> f16 2x3 axis 1"},
    };
    static const struct expected_text bf16[] = {{"g", "gemm bf16 2x384 384x10 -> 2x10"}};
    (void)state;
    EXPECT(small_net, ((struct request){.precision = CM_PRECISION_FP16}), rows);
    EXPECT(small_net, ((struct request){.precision = CM_PRECISION_BF16}), bf16);
}

/* --precision changes bytes, also of the rows that a Gather reads, but not operations. */
static void bytes_follow_the_dtype(void **state) {
    struct bench *bench = ask(small_net, (struct request){.precision = CM_PRECISION_FP16});
    const struct cm_primitive *conv = primitive_of(bench, "c");
    const struct cm_primitive *gather = primitive_of(bench, "k");
    (void)state;
    assert_int_equal(conv->bytes_read, 2 * (2 * 4 * 64 + 6 * 4 * 9 + 6));
    assert_int_equal(conv->bytes_written, 2 * 2 * 6 * 64);
    assert_int_equal(conv->flops, 2 * 2 * 6 * 64 * 36 + 2 * 6 * 64);
    assert_int_equal(gather->bytes_read, 2 * 2 * 3 + 3 * 8);
    assert_int_equal(gather->bytes_written, 2 * 2 * 3);
    assert_int_equal(bench_costs(bench, "c")->bytes_read, conv->bytes_read);
    assert_int_equal(bench_costs(bench, "c")->bytes_written, conv->bytes_written);
    bench_close(bench);
}

static void int8_and_fp8_apply_to_operands_of_products(void **state) {
    static const struct expected_text integers[] = {
        {"c", "conv i8 2x4x8x8 6x4x3x3 f32 6 -> i8 2x6x8x8 kernel 3x3 pad 1x1+1x1"},
        {"r", "eltwise relu f16 2x6x8x8 -> 2x6x8x8"},
        {"g", "gemm i8 2x384 384x10 -> i32 2x10"},
        {"k", "gather f16 2x10 i64 3 -> f16 2x3 axis 1"},
    };
    static const struct expected_text floats[] = {
        {"c", "conv f8e4m3 2x4x8x8 6x4x3x3 f16 6 -> 2x6x8x8 kernel 3x3 pad 1x1+1x1"},
        {"g", "gemm f8e4m3 2x384 384x10 -> f16 2x10"},
    };
    (void)state;
    EXPECT(small_net, ((struct request){.precision = CM_PRECISION_INT8}), integers);
    EXPECT(small_net, ((struct request){.precision = CM_PRECISION_FP8}), floats);
    struct bench *bench = ask(small_net, (struct request){.precision = CM_PRECISION_INT8});
    const struct cm_primitive *gemm = primitive_of(bench, "g");
    assert_int_equal(gemm->bytes_read, 2 * 384 + 384 * 10);
    assert_int_equal(gemm->bytes_written, 4 * 2 * 10);
    bench_close(bench);
}

/* --precision replaces floats of 32 and 16 bits. */
static void doubles_and_integers_are_unchanged(void **state) {
    static const char lines[] =
        "in x float16[2,4]\ninit f.weight float16[4,6]\nnode g MatMul x f.weight -> y\n"
        "in a uint8[2,4]\ninit b int8[4,6]\nnode m MatMulInteger a b -> n\n"
        "in d double[4]\nnode e Exp d -> z\nout y\nout n\nout z\n";
    static const struct expected_text rows[] = {
        {"g", "gemm bf16 2x4 4x6 -> 2x6"},
        {"m", "gemm u8 2x4 i8 4x6 -> i32 2x6"},
        {"e", "eltwise exp f64 4 -> 4"},
    };
    (void)state;
    EXPECT(lines, ((struct request){.precision = CM_PRECISION_BF16}), rows);
}

static void tf32_keeps_the_stored_dtype(void **state) {
    static const struct expected_text rows[] = {{"g", "gemm f32 2x384 384x10 -> 2x10"}};
    (void)state;
    EXPECT(small_net, ((struct request){.precision = CM_PRECISION_TF32}), rows);
}

/* The layout propagates forward from the convolution, and backward through the operand that is
 * added to its result. */
static void channels_last_propagates_through_image_operators(void **state) {
    static const char lines[] =
        "in x float[2,4,8,8]\nin w float[2,6,8,8]\n"
        "init c.weight float[6,4,3,3]\ninit b float[6]\ninit k float[1,6,1,1]\n"
        "node c Conv x c.weight -> p pads=[1,1,1,1]\nnode n BatchNormalization p b b b b -> q\n"
        "node s Sigmoid w -> w1\nnode a Add q w1 -> r\nnode m Mul r k -> r1\n"
        "node j Concat r1 q -> t axis=1\nnode l MaxPool t -> u kernel_shape=[2,2] "
        "strides=[2,2]\n"
        "const lo int64[1] =0\nconst hi int64[1] =4\nconst ax int64[1] =1\n"
        "node i Slice u lo hi ax -> u1\nnode z ReduceMean u1 -> u2 axes=[2,3] keepdims=0\n"
        "out u2\n";
    static const struct expected_text rows[] = {
        {"c", "conv f32 2x4x8x8:nhwc 6x4x3x3:nhwc -> 2x6x8x8:nhwc kernel 3x3 pad 1x1+1x1"},
        {"n", "norm batch f32 2x6x8x8:nhwc 6 6 6 6 -> 2x6x8x8:nhwc"},
        {"s", "eltwise sigmoid f32 2x6x8x8:nhwc -> 2x6x8x8:nhwc"},
        {"a", "eltwise add f32 2x6x8x8:nhwc 2x6x8x8:nhwc -> 2x6x8x8:nhwc"},
        {"m", "eltwise multiply f32 2x6x8x8:nhwc 1x6x1x1 -> 2x6x8x8:nhwc"},
        {"j", "copy f32 2x6x8x8:nhwc 2x6x8x8:nhwc -> 2x12x8x8:nhwc axis 1"},
        {"l", "pool max f32 2x12x8x8:nhwc -> 2x12x4x4:nhwc kernel 2x2 stride 2x2"},
        /* 4 channels of 12: the strides are those of the whole image */
        {"i", "copy f32 2x4x4x4/192x1x48x12 -> 2x4x4x4:nhwc"},
        {"z", "reduce mean f32 2x4x4x4:nhwc -> 2x4x1x1"},
    };
    (void)state;
    EXPECT(lines, ((struct request){.layout = CM_LAYOUT_NHWC}), rows);
}

static void channels_last_applies_to_1d_and_3d_images(void **state) {
    static const char lines[] =
        "in x float[2,4,8]\ninit a float[6,4,3]\nnode c Conv x a -> p\nout p\n"
        "in y float[2,4,8,8,8]\ninit b float[6,4,1,1,1]\nnode d Conv y b -> q\nout q\n";
    static const struct expected_text rows[] = {
        {"c", "conv f32 2x4x8:nwc 6x4x3:nwc -> 2x6x6:nwc kernel 3"},
        {"d", "conv f32 2x4x8x8x8:ndhwc 6x4x1x1x1 -> 2x6x8x8x8:ndhwc kernel 1x1x1"},
    };
    (void)state;
    EXPECT(lines, ((struct request){.layout = CM_LAYOUT_NHWC}), rows);
}

/* Attention scores have four dims but are not images; neither is a Transpose's output. */
static void channels_last_stops_at_transposes_and_products(void **state) {
    static const char lines[] =
        "in x float[2,4,8,8]\nin h float[2,4,8,8]\ninit c.weight float[4,4,1,1]\n"
        "init half float[1,1,1,1]\n"
        "node c Conv x c.weight -> p\nnode m Mul p half -> p1\n"
        "node t Transpose p1 -> q perm=[0,2,3,1]\nnode r Relu q -> s\n"
        "node g MatMul p1 h -> u\nnode n Mul u half -> u1\nnode f Softmax u1 -> u2\n"
        "out s\nout u2\n";
    static const struct expected_text rows[] = {
        {"c", "conv f32 2x4x8x8:nhwc 4x4x1x1 -> 2x4x8x8:nhwc kernel 1x1"},
        {"m", "eltwise multiply f32 2x4x8x8:nhwc 1x1x1x1 -> 2x4x8x8:nhwc"},
        {"t", "copy f32 2x8x8x4/256x8x1x64 -> 2x8x8x4"},
        {"r", "eltwise relu f32 2x8x8x4 -> 2x8x8x4"},
        {"g", "gemm f32 2x4x8x8 2x4x8x8 -> 2x4x8x8"},
        /* the constant that scales both does not propagate the layout */
        {"n", "eltwise multiply f32 2x4x8x8 1x1x1x1 -> 2x4x8x8"},
        {"f", "softmax plain f32 2x4x8x8 -> 2x4x8x8 axis 3"},
    };
    (void)state;
    EXPECT(lines, ((struct request){.layout = CM_LAYOUT_NHWC}), rows);
}

static void other_layouts_are_row_major(void **state) {
    static const struct expected_text rows[] = {
        {"c", "conv f32 2x4x8x8 6x4x3x3 6 -> 2x6x8x8 kernel 3x3 pad 1x1+1x1"}};
    (void)state;
    EXPECT(small_net, ((struct request){.layout = CM_LAYOUT_NCHW}), rows);
    EXPECT(small_net, ((struct request){.layout = CM_LAYOUT_AUTO}), rows);
}

static void empty_image_gets_channels_last_strides(void **state) {
    struct bench *bench = ask("in x float[0,4,8,8]\ninit c.weight float[6,4,1,1]\n"
                              "node c Conv x c.weight -> p\nnode r Relu p -> q\nout q\n",
                              (struct request){.layout = CM_LAYOUT_NHWC});
    (void)state;
    expect_text(bench, "r", "eltwise relu f32 0x6x8x8:nhwc -> 0x6x8x8:nhwc");
    bench_close(bench);
}

static int64_t runs_of(const struct bench *bench, const char *node) {
    const struct node *at = &bench->model.nodes[bench_node(bench, node)];
    return bench->analysis.count->runs[at->graph];
}

/* Work is multiplied by the runs of its graph; 0 for a branch that does not count. */
static void primitives_of_bodies_count_once_per_run(void **state) {
    struct bench *bench =
        ask("in x float[6,4]\nin h float[4]\nconst n int64[] =5\nconst c bool[] =1\n"
            "body body\nin s float[4]\nin e float[4]\nnode a Add s e -> s1\n"
            "body body\nin i int64[]\nin k bool[]\nin g float[4]\nnode r Relu g -> g1\n"
            "node - Identity k -> k1\nout k1\nout g1\nclose\nnode l Loop n c s1 -> s2\nout s2\n"
            "close\nnode w Scan h x -> y num_scan_inputs=1\nout y\n"
            "in q bool[]\nbody then_branch\nnode t Exp h -> t1\nout t1\nclose\n"
            "body else_branch\nnode f1 Exp h -> f2\nnode f3 Log f2 -> f4\nout f4\nclose\n"
            "node b If q -> z\nout z\n",
            (struct request){.precision = CM_PRECISION_AS_STORED});
    static const struct {
        const char *node;
        int64_t runs;
    } rows[] = {{"a", 6}, {"r", 30}, {"t", 0}, {"f1", 1}, {"f3", 1}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct cm_primitive *primitive = primitive_of(bench, rows[i].node);
        assert_int_equal(runs_of(bench, rows[i].node), rows[i].runs);
        assert_int_equal(bench_costs(bench, rows[i].node)->bytes_written,
                         rows[i].runs * primitive->bytes_written);
    }
    const struct primitives_table *table = bench->timing->primitives;
    assert_int_equal(table->lowered[bench_node(bench, "l")], LOWERED_NOTHING);
    assert_string_equal(table->why_not[bench_node(bench, "l")], "its bodies are measured");
    bench_close(bench);
}

/* A model file after all passes with convention exact. */
struct model_file {
    const char *name;
    struct cm_dim_option dims[2];
    size_t n_dims;
    struct arena *arena;
    struct cm_diagnostics *diag;
    struct source *source;
    struct model *model;
    struct cm_options options;
    struct analysis analysis;
    struct timing timing;
};

static void model_file_open(struct model_file *model_file) {
    char path[1024];
    (void)snprintf(path, sizeof(path), "%s/%s", TEST_MODELS_DIR, model_file->name);
    model_file->arena = arena_new("test", 0);
    model_file->diag = cm_diagnostics_new();
    assert_int_equal(source_open(path, model_file->diag, &model_file->source), CM_OK);
    assert_int_equal(
        load_model(model_file->source, model_file->arena, model_file->diag, &model_file->model),
        CM_OK);
    model_file->options = (struct cm_options){.memory_alignment = 1,
                                              .backend = ALONE,
                                              .convention = "exact",
                                              .n_dims = model_file->n_dims,
                                              .dims = model_file->dims};
    model_file->analysis = (struct analysis){.model = model_file->model,
                                             .options = &model_file->options,
                                             .arena = model_file->arena,
                                             .diag = model_file->diag};
    if (pipeline_run_to(&model_file->analysis, 0) != CM_OK ||
        timing_passes_run(&model_file->analysis, 0, &model_file->timing) != CM_OK)
        fail_msg("%s is rejected", model_file->name);
}

static void model_file_close(struct model_file *model_file) {
    cm_diagnostics_free(model_file->diag);
    source_close(model_file->source);
    arena_free(model_file->arena);
}

/* Returns true if the node's costs include the whole operand, but the primitive reads a part.
 */
static bool reads_a_part(const struct cm_primitive *primitive) {
    return primitive->kind == CM_GATHER || primitive->kind == CM_COPY;
}

/* Work of all nodes, and of their primitives multiplied by the runs. */
struct sums {
    int64_t node_flops, primitive_flops;
    int64_t macs, macs_without_primitive;
};

static void add_node(const struct model_file *model_file, uint32_t id, struct sums *sums) {
    const struct analysis *analysis = &model_file->analysis;
    const struct primitives_table *table = model_file->timing.primitives;
    const struct cm_costs *costs = &analysis->count->nodes[id].costs;
    const int64_t runs = analysis->count->runs[model_file->model->nodes[id].graph];
    const int64_t macs = is_known(costs->macs) ? costs->macs : 0;
    sums->macs += macs;
    if (table->lowered[id] == LOWERED_NOT) sums->macs_without_primitive += macs;
    if (table->lowered[id] != LOWERED_PRIMITIVE) return;
    const struct cm_primitive *primitive = &table->items[table->of_node[id]];
    if (costs->bytes_written != runs * primitive->bytes_written)
        fail_msg("%s: node %u writes other bytes than its primitive", model_file->name, id);
    if (!reads_a_part(primitive) && costs->bytes_read != runs * primitive->bytes_read)
        fail_msg("%s: node %u reads other bytes than its primitive", model_file->name, id);
    if (costs->bytes_read < runs * primitive->bytes_read)
        fail_msg("%s: node %u reads less than its primitive", model_file->name, id);
    if (analysis->fused_patterns->of_node[id] != ID_NONE) return;
    if (costs->flops + costs->int_ops != runs * primitive->flops)
        fail_msg("%s: node %u has other FLOPs than its primitive", model_file->name, id);
    sums->node_flops += costs->flops + costs->int_ops;
    sums->primitive_flops += runs * primitive->flops;
}

/* Also checks that at least 99.9 % of the MACs have a primitive. */
static void primitives_have_the_work_of_the_nodes_of_model_files(void **state) {
    struct model_file files[] = {
        {.name = "bert_mini.onnx", .dims = {{"seq", 64}}, .n_dims = 1},
        {.name = "gpt_mini_tied.onnx", .dims = {{"seq", 64}}, .n_dims = 1},
        {.name = "loop_if.onnx"},
        {.name = "lstm.onnx", .dims = {{"seq", 64}}, .n_dims = 1},
        {.name = "odd_conv.onnx"},
        {.name = "pointnet.onnx"},
        {.name = "pointnet_functions.onnx"},
        {.name = "qdq.onnx"},
        {.name = "resnet50.onnx"},
        {.name = "siamese.onnx"},
        {.name = "train_mobilenet_v2.onnx"},
        {.name = "transformer_encoder.onnx", .dims = {{"seq", 64}}, .n_dims = 1},
        {.name = "unet.onnx", .dims = {{"h", 64}, {"w", 64}}, .n_dims = 2},
        {.name = "torch/vit_b_16_dynamo.onnx"},
        {.name = "torch/gpt_onnxruntime.onnx"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        struct sums sums = {0, 0, 0, 0};
        model_file_open(&files[i]);
        for (uint32_t id = 0; id < files[i].model->n_nodes; id++)
            add_node(&files[i], id, &sums);
        assert_int_equal(sums.node_flops, sums.primitive_flops);
        assert_true(sums.macs > 0);
        if (sums.macs_without_primitive > sums.macs / 1000)
            fail_msg("%s: %lld of %lld MACs have no primitive", files[i].name,
                     (long long)sums.macs_without_primitive, (long long)sums.macs);
        model_file_close(&files[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fp16_and_bf16_apply_to_all_operands),
        cmocka_unit_test(bytes_follow_the_dtype),
        cmocka_unit_test(int8_and_fp8_apply_to_operands_of_products),
        cmocka_unit_test(doubles_and_integers_are_unchanged),
        cmocka_unit_test(tf32_keeps_the_stored_dtype),
        cmocka_unit_test(channels_last_propagates_through_image_operators),
        cmocka_unit_test(channels_last_applies_to_1d_and_3d_images),
        cmocka_unit_test(channels_last_stops_at_transposes_and_products),
        cmocka_unit_test(other_layouts_are_row_major),
        cmocka_unit_test(empty_image_gets_channels_last_strides),
        cmocka_unit_test(primitives_of_bodies_count_once_per_run),
        cmocka_unit_test(primitives_have_the_work_of_the_nodes_of_model_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
