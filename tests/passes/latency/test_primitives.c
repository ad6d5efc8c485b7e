/* SPDX-License-Identifier: Apache-2.0 */
/* What of a model a backend is asked to run: in which elements and strides, with what work. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "backends/primitive.h"
#include "frontend/load.h"
#include "model_harness.h"
#include "passes/pipeline.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/file.h"
#include "support/text.h"

#define ROOFLINE "roofline:device=h200"

struct asked {
    enum cm_precision precision;
    enum cm_layout layout;
};

static struct bench *ask(const char *lines, struct asked asked) {
    const struct cm_options options = {.memory_alignment = 1,
                                       .backend = ROOFLINE,
                                       .precision = asked.precision,
                                       .layout = asked.layout};
    struct bench *bench = bench_open_with(lines, &options);
    assert_int_equal(bench->status, CM_OK);
    return bench;
}

static const struct cm_primitive *primitive_of(const struct bench *bench, const char *node) {
    const struct primitives_table *table = &bench->analysis.primitives;
    const uint32_t id = bench_node(bench, node);
    if (table->lowered[id] != LOWERED_PRIMITIVE) fail_msg("%s has no primitive", node);
    return &table->items[table->of_node[id]];
}

static void expect_text(const struct bench *bench, const char *node, const char *want) {
    struct text text;
    text_init(&text, bench->arena);
    primitive_print(primitive_of(bench, node), &text);
    if (!text_equal(text_string(&text), want))
        fail_msg("%s: have \"%s\", want \"%s\"", node, text_string(&text), want);
}

/* "node: text" a line. */
struct wanted {
    const char *node;
    const char *text;
};

static void expect_all(const char *lines, struct asked asked, const struct wanted *rows,
                       size_t n) {
    struct bench *bench = ask(lines, asked);
    for (size_t i = 0; i < n; i++) expect_text(bench, rows[i].node, rows[i].text);
    bench_close(bench);
}

#define EXPECT(lines, asked, rows)                                                             \
    expect_all(lines, asked, rows, sizeof(rows) / sizeof((rows)[0]))

static const char small_net[] =
    "in x float[2,4,8,8]\nin i int64[3]\n"
    "init c.weight float[6,4,3,3]\ninit c.bias float[6]\ninit f.weight float[384,10]\n"
    "node c Conv x c.weight c.bias -> p pads=[1,1,1,1]\nnode r Relu p -> q\n"
    "node v Flatten q -> s\nnode g MatMul s f.weight -> t\nnode k Gather t i -> u axis=1\n"
    "out u\n";

static void halves_are_halves_throughout(void **state) {
    static const struct wanted rows[] = {
        {"c", "conv f16 2x4x8x8 6x4x3x3 6 -> 2x6x8x8 kernel 3x3 pad 1x1+1x1"},
        {"r", "eltwise relu f16 2x6x8x8 -> 2x6x8x8"},
        {"g", "gemm f16 2x384 384x10 -> 2x10"},
        {"k", "gather f16 2x10 i64 3 -> f16 2x3 axis 1"},
    };
    static const struct wanted brain[] = {{"g", "gemm bf16 2x384 384x10 -> 2x10"}};
    (void)state;
    EXPECT(small_net, ((struct asked){.precision = CM_PRECISION_FP16}), rows);
    EXPECT(small_net, ((struct asked){.precision = CM_PRECISION_BF16}), brain);
}

/* Bytes are those of the elements, of a part those of the part; operations are the same. */
static void bytes_follow_the_elements(void **state) {
    struct bench *bench = ask(small_net, (struct asked){.precision = CM_PRECISION_FP16});
    const struct cm_primitive *conv = primitive_of(bench, "c");
    const struct cm_primitive *gather = primitive_of(bench, "k");
    (void)state;
    assert_int_equal(conv->bytes_read, 2 * (2 * 4 * 64 + 6 * 4 * 9 + 6));
    assert_int_equal(conv->bytes_written, 2 * 2 * 6 * 64);
    assert_int_equal(conv->flops, 2 * 2 * 6 * 64 * 36 + 2 * 6 * 64);
    assert_int_equal(gather->bytes_read, 2 * 2 * 3 + 3 * 8);
    assert_int_equal(gather->bytes_written, 2 * 2 * 3);
    /* of the model, --precision changes nothing */
    assert_int_equal(bench_costs(bench, "c")->bytes_written, 4 * 2 * 6 * 64);
    bench_close(bench);
}

static void eight_bits_are_for_the_factors_of_products(void **state) {
    static const struct wanted integers[] = {
        {"c", "conv i8 2x4x8x8 6x4x3x3 f32 6 -> 2x6x8x8 kernel 3x3 pad 1x1+1x1"},
        {"r", "eltwise relu f16 2x6x8x8 -> 2x6x8x8"},
        {"g", "gemm i8 2x384 384x10 -> i32 2x10"},
        {"k", "gather f16 2x10 i64 3 -> f16 2x3 axis 1"},
    };
    static const struct wanted floats[] = {
        {"c", "conv f8e4m3 2x4x8x8 6x4x3x3 f16 6 -> 2x6x8x8 kernel 3x3 pad 1x1+1x1"},
        {"g", "gemm f8e4m3 2x384 384x10 -> f16 2x10"},
    };
    (void)state;
    EXPECT(small_net, ((struct asked){.precision = CM_PRECISION_INT8}), integers);
    EXPECT(small_net, ((struct asked){.precision = CM_PRECISION_FP8}), floats);
    struct bench *bench = ask(small_net, (struct asked){.precision = CM_PRECISION_INT8});
    const struct cm_primitive *gemm = primitive_of(bench, "g");
    assert_int_equal(gemm->bytes_read, 2 * 384 + 384 * 10);
    assert_int_equal(gemm->bytes_written, 4 * 2 * 10);
    bench_close(bench);
}

/* A file that says which elements it wants has them. */
static void what_is_not_fp32_stays(void **state) {
    static const char lines[] =
        "in x float16[2,4]\ninit f.weight float16[4,6]\nnode g MatMul x f.weight -> y\n"
        "in a uint8[2,4]\ninit b int8[4,6]\nnode m MatMulInteger a b -> n\n"
        "in d double[4]\nnode e Exp d -> z\nout y\nout n\nout z\n";
    static const struct wanted rows[] = {
        {"g", "gemm f16 2x4 4x6 -> 2x6"},
        {"m", "gemm u8 2x4 i8 4x6 -> i32 2x6"},
        {"e", "eltwise exp f64 4 -> 4"},
    };
    (void)state;
    EXPECT(lines, ((struct asked){.precision = CM_PRECISION_INT8}), rows);
    EXPECT(lines, ((struct asked){.precision = CM_PRECISION_BF16}), rows);
}

static void tf32_changes_no_element(void **state) {
    static const struct wanted rows[] = {{"g", "gemm f32 2x384 384x10 -> 2x10"}};
    (void)state;
    EXPECT(small_net, ((struct asked){.precision = CM_PRECISION_TF32}), rows);
}

/* From the convolution on, and back to what is added to its result. */
static void channels_last_spreads_from_where_images_are(void **state) {
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
    static const struct wanted rows[] = {
        {"c", "conv f32 2x4x8x8:nhwc 6x4x3x3:nhwc -> 2x6x8x8:nhwc kernel 3x3 pad 1x1+1x1"},
        {"n", "norm batch f32 2x6x8x8:nhwc 6 6 6 6 -> 2x6x8x8:nhwc"},
        {"s", "eltwise sigmoid f32 2x6x8x8:nhwc -> 2x6x8x8:nhwc"},
        {"a", "eltwise add f32 2x6x8x8:nhwc 2x6x8x8:nhwc -> 2x6x8x8:nhwc"},
        {"m", "eltwise multiply f32 2x6x8x8:nhwc 1x6x1x1 -> 2x6x8x8:nhwc"},
        {"j", "copy f32 2x6x8x8:nhwc 2x6x8x8:nhwc -> 2x12x8x8:nhwc axis 1"},
        {"l", "pool max f32 2x12x8x8:nhwc -> 2x12x4x4:nhwc kernel 2x2 stride 2x2"},
        /* 4 channels of 12: a part, where it stands */
        {"i", "copy f32 2x4x4x4/192x1x48x12 -> 2x4x4x4:nhwc"},
        {"z", "reduce mean f32 2x4x4x4:nhwc -> 2x4x1x1"},
    };
    (void)state;
    EXPECT(lines, ((struct asked){.layout = CM_LAYOUT_NHWC}), rows);
}

static void lines_and_volumes_are_images_too(void **state) {
    static const char lines[] =
        "in x float[2,4,8]\ninit a float[6,4,3]\nnode c Conv x a -> p\nout p\n"
        "in y float[2,4,8,8,8]\ninit b float[6,4,1,1,1]\nnode d Conv y b -> q\nout q\n";
    static const struct wanted rows[] = {
        {"c", "conv f32 2x4x8:nwc 6x4x3:nwc -> 2x6x6:nwc kernel 3"},
        {"d", "conv f32 2x4x8x8x8:ndhwc 6x4x1x1x1 -> 2x6x8x8x8:ndhwc kernel 1x1x1"},
    };
    (void)state;
    EXPECT(lines, ((struct asked){.layout = CM_LAYOUT_NHWC}), rows);
}

/* Scores of heads have four dims, and are no images; nor is what a transpose makes. */
static void channels_last_stops_where_no_images_are(void **state) {
    static const char lines[] =
        "in x float[2,4,8,8]\nin h float[2,4,8,8]\ninit c.weight float[4,4,1,1]\n"
        "init half float[1,1,1,1]\n"
        "node c Conv x c.weight -> p\nnode m Mul p half -> p1\n"
        "node t Transpose p1 -> q perm=[0,2,3,1]\nnode r Relu q -> s\n"
        "node g MatMul p1 h -> u\nnode n Mul u half -> u1\nnode f Softmax u1 -> u2\n"
        "out s\nout u2\n";
    static const struct wanted rows[] = {
        {"c", "conv f32 2x4x8x8:nhwc 4x4x1x1 -> 2x4x8x8:nhwc kernel 1x1"},
        {"m", "eltwise multiply f32 2x4x8x8:nhwc 1x1x1x1 -> 2x4x8x8:nhwc"},
        {"t", "copy f32 2x8x8x4/256x8x1x64 -> 2x8x8x4"},
        {"r", "eltwise relu f32 2x8x8x4 -> 2x8x8x4"},
        {"g", "gemm f32 2x4x8x8 2x4x8x8 -> 2x4x8x8"},
        /* one constant scales both: it connects nothing */
        {"n", "eltwise multiply f32 2x4x8x8 1x1x1x1 -> 2x4x8x8"},
        {"f", "softmax plain f32 2x4x8x8 -> 2x4x8x8 axis 3"},
    };
    (void)state;
    EXPECT(lines, ((struct asked){.layout = CM_LAYOUT_NHWC}), rows);
}

static void row_major_is_what_the_other_layouts_are(void **state) {
    static const struct wanted rows[] = {
        {"c", "conv f32 2x4x8x8 6x4x3x3 6 -> 2x6x8x8 kernel 3x3 pad 1x1+1x1"}};
    (void)state;
    EXPECT(small_net, ((struct asked){.layout = CM_LAYOUT_NCHW}), rows);
    EXPECT(small_net, ((struct asked){.layout = CM_LAYOUT_AUTO}), rows);
}

static void an_image_without_elements_stays_as_it_is(void **state) {
    struct bench *bench = ask("in x float[0,4,8,8]\ninit c.weight float[6,4,1,1]\n"
                              "node c Conv x c.weight -> p\nnode r Relu p -> q\nout q\n",
                              (struct asked){.layout = CM_LAYOUT_NHWC});
    (void)state;
    expect_text(bench, "r", "eltwise relu f32 0x6x8x8:nhwc -> 0x6x8x8:nhwc");
    bench_close(bench);
}

static int64_t runs_of(const struct bench *bench, const char *node) {
    const struct node *at = &bench->model.nodes[bench_node(bench, node)];
    return bench->analysis.count.runs[at->graph];
}

/* A loop in a branch, a scan: work counts as often as its graph runs, 0 of what never does. */
static void nodes_of_bodies_have_primitives_that_count_as_often_as_they_run(void **state) {
    struct bench *bench =
        ask("in x float[6,4]\nin h float[4]\nconst n int64[] =5\nconst c bool[] =1\n"
            "body body\nin s float[4]\nin e float[4]\nnode a Add s e -> s1\n"
            "body body\nin i int64[]\nin k bool[]\nin g float[4]\nnode r Relu g -> g1\n"
            "node - Identity k -> k1\nout k1\nout g1\nclose\nnode l Loop n c s1 -> s2\nout s2\n"
            "close\nnode w Scan h x -> y num_scan_inputs=1\nout y\n"
            "in q bool[]\nbody then_branch\nnode t Exp h -> t1\nout t1\nclose\n"
            "body else_branch\nnode f1 Exp h -> f2\nnode f3 Log f2 -> f4\nout f4\nclose\n"
            "node b If q -> z\nout z\n",
            (struct asked){.precision = CM_PRECISION_AS_STORED});
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
    const struct primitives_table *table = &bench->analysis.primitives;
    assert_int_equal(table->lowered[bench_node(bench, "l")], LOWERED_NOTHING);
    assert_string_equal(table->why_not[bench_node(bench, "l")], "its bodies are measured");
    bench_close(bench);
}

/* A real file through all passes, counted by the convention that primitives are. */
struct real {
    const char *name;
    struct cm_dim_option dims[2];
    size_t n_dims;
    struct arena *arena;
    struct cm_diagnostics *diag;
    struct source *source;
    struct model *model;
    struct cm_options options;
    struct analysis analysis;
};

static void real_open(struct real *real) {
    char path[1024];
    (void)snprintf(path, sizeof(path), "%s/%s", TEST_MODELS_DIR, real->name);
    real->arena = arena_new("test", 0);
    real->diag = cm_diagnostics_new();
    assert_int_equal(source_open(path, real->diag, &real->source), CM_OK);
    assert_int_equal(load_model(real->source, real->arena, real->diag, &real->model), CM_OK);
    real->options = (struct cm_options){.memory_alignment = 1,
                                        .backend = ROOFLINE,
                                        .convention = "exact",
                                        .n_dims = real->n_dims,
                                        .dims = real->dims};
    real->analysis = (struct analysis){.model = real->model,
                                       .options = &real->options,
                                       .arena = real->arena,
                                       .diag = real->diag};
    if (pipeline_run(&real->analysis) != CM_OK) fail_msg("%s is refused", real->name);
}

static void real_close(struct real *real) {
    cm_diagnostics_free(real->diag);
    source_close(real->source);
    arena_free(real->arena);
}

/* Of a part that is taken the count has the whole. */
static bool takes_part(const struct cm_primitive *primitive) {
    return primitive->kind == CM_GATHER || primitive->kind == CM_COPY;
}

/* The work of its nodes, and of their primitives as often as they run. */
struct sums {
    int64_t node_flops, primitive_flops;
    int64_t macs, macs_without;
};

static void add_node(const struct real *real, uint32_t id, struct sums *sums) {
    const struct analysis *analysis = &real->analysis;
    const struct primitives_table *table = &analysis->primitives;
    const struct cm_costs *costs = &analysis->count.nodes[id].costs;
    const int64_t runs = analysis->count.runs[real->model->nodes[id].graph];
    const int64_t macs = is_known(costs->macs) ? costs->macs : 0;
    sums->macs += macs;
    if (table->lowered[id] == LOWERED_NOT) sums->macs_without += macs;
    if (table->lowered[id] != LOWERED_PRIMITIVE) return;
    const struct cm_primitive *primitive = &table->items[table->of_node[id]];
    if (costs->bytes_written != runs * primitive->bytes_written)
        fail_msg("%s: node %u writes otherwise than its primitive", real->name, id);
    if (!takes_part(primitive) && costs->bytes_read != runs * primitive->bytes_read)
        fail_msg("%s: node %u reads otherwise than its primitive", real->name, id);
    if (costs->bytes_read < runs * primitive->bytes_read)
        fail_msg("%s: node %u reads less than its primitive", real->name, id);
    if (analysis->fused_patterns.of_node[id] != ID_NONE) return;
    if (costs->flops + costs->int_ops != runs * primitive->flops)
        fail_msg("%s: node %u computes otherwise than its primitive", real->name, id);
    sums->node_flops += costs->flops + costs->int_ops;
    sums->primitive_flops += runs * primitive->flops;
}

/* And at least 99.9 % of the MACs have a primitive. */
static void primitives_do_the_work_of_the_nodes_of_real_files(void **state) {
    struct real files[] = {
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
        real_open(&files[i]);
        for (uint32_t id = 0; id < files[i].model->n_nodes; id++)
            add_node(&files[i], id, &sums);
        assert_int_equal(sums.node_flops, sums.primitive_flops);
        assert_true(sums.macs > 0);
        if (sums.macs_without > sums.macs / 1000)
            fail_msg("%s: %lld of %lld MACs have no primitive", files[i].name,
                     (long long)sums.macs_without, (long long)sums.macs);
        real_close(&files[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves_are_halves_throughout),
        cmocka_unit_test(bytes_follow_the_elements),
        cmocka_unit_test(eight_bits_are_for_the_factors_of_products),
        cmocka_unit_test(what_is_not_fp32_stays),
        cmocka_unit_test(tf32_changes_no_element),
        cmocka_unit_test(channels_last_spreads_from_where_images_are),
        cmocka_unit_test(lines_and_volumes_are_images_too),
        cmocka_unit_test(channels_last_stops_where_no_images_are),
        cmocka_unit_test(row_major_is_what_the_other_layouts_are),
        cmocka_unit_test(an_image_without_elements_stays_as_it_is),
        cmocka_unit_test(nodes_of_bodies_have_primitives_that_count_as_often_as_they_run),
        cmocka_unit_test(primitives_do_the_work_of_the_nodes_of_real_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
