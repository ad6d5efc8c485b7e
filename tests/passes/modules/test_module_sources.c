/* SPDX-License-Identifier: Apache-2.0 */
/* Module sources: names as each exporter writes them, precedence, and nodes that no source
 * locates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "model_harness.h"
#include "passes/modules/modules.h"
#include "passes/modules/path_table.h"
#include "support/arena.h"
#include "support/text.h"

struct source_case {
    const char *forced; /* NULL: all sources */
    const char *lines;
    const char *sources;
    const char *paths;
    const char *nodes; /* "node=module", separated by blanks */
};

/* "scopes 2, joined 1" */
static const char *sources_of(const struct bench *bench) {
    const struct modules_table *table = bench->analysis.modules;
    struct text text;
    text_init(&text, bench->arena);
    for (size_t i = 0; i < table->n_sources; i++)
        text_printf(&text, "%s%s %lld", i > 0 ? ", " : "", table->sources[i].name,
                    (long long)table->sources[i].count);
    return text_string(&text);
}

static void check_nodes(const struct bench *bench, const char *nodes) {
    while (*nodes) {
        size_t length = strcspn(nodes, " ");
        char *pair = arena_strndup(bench->arena, nodes, length);
        char *module = strrchr(pair, '=');
        *module++ = '\0';
        assert_string_equal(bench_node_module(bench, pair), module);
        nodes += length + (nodes[length] == ' ');
    }
}

static void check_sources(const struct source_case *rows, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const struct cm_options options = {.module_source = rows[i].forced};
        struct bench *bench = bench_open_with(rows[i].lines, &options);
        assert_int_equal(bench->status, CM_OK);
        assert_string_equal(sources_of(bench), rows[i].sources);
        assert_string_equal(bench_paths(bench), rows[i].paths);
        check_nodes(bench, rows[i].nodes);
        bench_close(bench);
    }
}

#define CHECK_SOURCES(rows) check_sources(rows, sizeof(rows) / sizeof *(rows))

static void metadata_gives_module_paths(void **state) {
    static const struct source_case rows[] = {
        {NULL,
         "in x float[1]\nat :Net a:Sequential a.0:Block\nnode n0 Relu x -> 1\n"
         "at :Net a:Sequential a.10:Block\nnode n1 Relu 1 -> 2\nat :Net\n"
         "node n2 Relu 2 -> y\nout y\n",
         "metadata 3", "() a a.0 a.10", "n0=a.0 n1=a.10 n2="},
        /* a number at the end is part of a name; modules that were never called are part of the
         * paths of their children */
        {NULL,
         "in x float[1]\nat :Net m.relu:ReLU\nnode n0 Relu x -> 1\n"
         "at :Net m.relu_1:ReLU\nnode n1 Relu 1 -> y\nout y\n",
         "metadata 2", "() m m.relu m.relu_1", "n0=m.relu n1=m.relu_1"},
        /* a slash is part of a name, too */
        {NULL, "in x float[1]\nat :Net a/b:Block\nnode n0 Relu x -> y\nout y\n", "metadata 1",
         "() a/b", "n0=a/b"},
        /* branches of torch.cond have no module paths: parameters have them */
        {NULL,
         "in x float[4,4]\nin c bool[]\ninit a.weight float[4,4]\ninit b.weight float[4,4]\n"
         "body then_branch\nnode t MatMul x a.weight -> u\nout u\nclose\n"
         "body else_branch\nnode e MatMul x b.weight -> v\nout v\nclose\n"
         "at :Net\nnode i If c -> y\nout y\n",
         "metadata 3", "() a b", "t=a e=b i="},
        /* metadata takes precedence over node names */
        {NULL, "in x float[1]\nat :Net a:Block\nnode /b/Relu Relu x -> y\nout y\n",
         "metadata 1", "() a", "/b/Relu=a"},
    };
    (void)state;
    CHECK_SOURCES(rows);
}

static void metadata_gives_classes(void **state) {
    struct bench *bench =
        bench_open("in x float[1,3]\ninit f.weight float[3,3]\ninit g.weight float[3,3]\n"
                   "at :Net f:MyLinear\nnode n0 MatMul x f.weight -> 1\n"
                   "at :Net g:Projection\nnode n1 MatMul 1 g.weight -> y\nout y\n");
    (void)state;
    assert_string_equal(bench_module(bench, "")->type, "Net");
    assert_true(bench_module(bench, "")->type_known);
    assert_string_equal(bench_module(bench, "f")->type, "MyLinear");
    assert_string_equal(bench_module(bench, "f")->arguments,
                        "in_features=3, out_features=3, bias=False");
    assert_string_equal(bench_module(bench, "g")->type, "Projection");
    assert_string_equal(bench_module(bench, "g")->arguments, ""); /* known for Linear only */
    bench_close(bench);
}

static void node_after_another_module_starts_a_second_call(void **state) {
    struct bench *bench =
        bench_open("in x float[1]\nat :Net b:Block b.relu:ReLU\nnode n0 Relu x -> 1\n"
                   "at :Net b:Block\nnode n1 Tanh 1 -> 2\n"
                   "at :Net b:Block b.relu:ReLU\nnode n2 Relu 2 -> 3\nnode n3 Relu 3 -> 4\n"
                   "at :Net b:Block b.act@1:ReLU\nnode n4 Relu 4 -> 5\n"
                   "at :Net c:Block\nnode n5 Relu 5 -> 6\n"
                   "at :Net b:Block b.relu:ReLU\nnode n6 Relu 6 -> y\nout y\n");
    (void)state;
    assert_string_equal(bench_paths(bench), "() b b.relu b.act c");
    assert_int_equal(bench_module(bench, "b")->calls, 2);
    assert_int_equal(bench_module(bench, "b.relu")->calls, 3);
    assert_int_equal(bench_module(bench, "b.act")->calls, 1);
    assert_int_equal(bench_module(bench, "c")->calls, 1);
    assert_string_equal(bench_outputs(bench, "b.relu"), "1");
    bench_close(bench);
}

static void fused_nodes_belong_to_the_module_of_their_params(void **state) {
    static const char folded[] =
        "in x float[1,3,8]\ninit t.conv1.weight float[4,3,1]\ninit t.conv1.bias float[4]\n"
        "%s :Net t:Tnet t.bn1:BatchNorm1d\n"
        "node n0 Conv x t.conv1.weight t.conv1.bias -> y\nout y\n";
    static const struct source_case rows[] = {
        /* a weight that is tied, or that the parent module uses, does not move the node */
        {NULL,
         "in x float[1,3]\ninit wte.weight float[3,3]\nat :Net head:Linear\n"
         "node n0 MatMul x wte.weight -> y\nout y\n",
         "metadata 1", "() head wte", "n0=head"},
        {NULL,
         "in x float[1,3]\ninit a.out.weight float[3,3]\nfused :Net a:Attention\n"
         "node n0 MatMul x a.out.weight -> y\nout y\n",
         "metadata 1", "() a a.out", "n0=a"},
    };
    struct text lines;
    struct bench *bench = bench_open("in x float[1]\nout x\n");
    struct arena *arena = bench->arena;
    text_init(&lines, arena);
    text_printf(&lines, folded, "fused");
    struct bench *fused = bench_open(text_string(&lines));
    (void)state;
    assert_string_equal(bench_paths(fused), "() t t.conv1");
    assert_string_equal(bench_node_module(fused, "n0"), "t.conv1");
    assert_string_equal(bench_module(fused, "t.conv1")->type, "Conv1d");
    assert_string_equal(bench_module(fused, "t")->type, "Tnet");
    bench_close(fused);
    bench_close(bench);
    CHECK_SOURCES(rows);
}

/* The padding of a Conv2dSame keeps its class if the convolution was fused with a BatchNorm. */
static void fused_modules_keep_the_class_of_their_other_nodes(void **state) {
    struct bench *bench = bench_open(
        "in x float[1,3,8]\nconst p int64[6] =0,0,0,0,0,1\ninit c.weight float[4,3,2]\n"
        "at :Net c:Conv1dSame\nnode n0 Pad x p -> 1\nfused :Net b:BatchNorm1d\n"
        "node n1 Conv 1 c.weight -> y\nout y\n");
    (void)state;
    assert_int_equal(bench->status, CM_OK);
    assert_string_equal(bench_paths(bench), "() c");
    assert_string_equal(bench_node_module(bench, "n1"), "c");
    assert_string_equal(bench_module(bench, "c")->type, "Conv1dSame");
    bench_close(bench);
}

static void names_with_slashes_are_scopes(void **state) {
    static const struct source_case rows[] = {
        /* the number identifies a layer in TensorFlow, a call in PyTorch */
        {NULL,
         "in x float[1]\nnode model/re_lu/Relu Relu x -> 1\n"
         "node model/re_lu_1/Relu Relu 1 -> y\nout y\n",
         "scopes 2", "() model model.re_lu model.re_lu_1", "model/re_lu_1/Relu=model.re_lu_1"},
        {NULL,
         "in x float[1]\nnode /model/relu/Relu Relu x -> 1\n"
         "node /model/relu_1/Relu Relu 1 -> y\nout y\n",
         "scopes 2", "() model model.relu", "/model/relu_1/Relu=model.relu"},
        {NULL,
         "in x float[1]\nnode StatefulPartitionedCall/model/conv/Relu Relu x -> 1\n"
         "node PartitionedCall_1/model/fc/Relu Relu 1 -> 2\n"
         "node jit(main)/jit(relu)/Dense_0/max Relu 2 -> 3\nnode jit(main)/neg Neg 3 -> y\n"
         "out y\n",
         "scopes 4", "() model model.conv model.fc Dense_0",
         "jit(main)/jit(relu)/Dense_0/max=Dense_0 jit(main)/neg="},
        {NULL,
         "in x float[1]\nnode a_scope_of_more_letters/fc/Relu Relu x -> 1\n"
         "node PartitionedCalls/fc/Relu Relu 1 -> y\nout y\n",
         "scopes 2",
         "() a_scope_of_more_letters a_scope_of_more_letters.fc PartitionedCalls "
         "PartitionedCalls.fc",
         "PartitionedCalls/fc/Relu=PartitionedCalls.fc"},
    };
    (void)state;
    CHECK_SOURCES(rows);
}

static void fused_names_contain_the_names_of_their_parts(void **state) {
    static const struct source_case rows[] = {
        {NULL,
         "in x float[1]\nnode /a/conv/Relu Relu x -> 1\n"
         "node /a/fc/MatMul/MatMulAddFusion Relu 1 -> 2\n"
         "node /a/at/MatMul/MatMulScaleFusion/ Relu 2 -> 3\nout 3\n",
         "scopes 1, fused 2", "() a a.conv a.fc a.at",
         "/a/fc/MatMul/MatMulAddFusion=a.fc /a/at/MatMul/MatMulScaleFusion/=a.at"},
        {"fused",
         "in x float[1]\nnode fused~/a/conv/Conv Relu x -> 1\n"
         "node /b/conv/Conv/GeluFusion/FastGeluFusion Relu 1 -> 2\nout 2\n",
         "fused 2", "() a a.conv b b.conv", "/b/conv/Conv/GeluFusion/FastGeluFusion=b.conv"},
        /* parts without a scope are ignored */
        {NULL, "in x float[1]\nnode node_7/MatMulAddFusion Relu x -> y\nout y\n", "types 1",
         "() Relu", "node_7/MatMulAddFusion=Relu"},
    };
    (void)state;
    CHECK_SOURCES(rows);
}

static void fused_names_may_join_several_names(void **state) {
    static const struct {
        const char *name; /* node name in a line */
        const char *module;
    } rows[] = {
        {"fused~/a/conv/Conv", "a.conv"},
        {"/a/conv/Conv~+~/a/relu/Relu", "a"},
        {"/a/conv/Conv~+~/a/conv/Relu~+~n7", "a.conv"},
        {"fused~fused~/a/conv/Conv", "a.conv"},
        {"/a/x/Conv~+~/b/x/Relu", ""},
        {"~+~", ""},
        {"fused~", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char lines[128];
        snprintf(lines, sizeof lines,
                 "in x float[1]\nnode %s Relu x -> 1\nnode /c/Relu Relu 1 -> y\nout y\n",
                 rows[i].name);
        struct bench *bench = bench_open(lines);
        const struct modules_table *modules = bench->analysis.modules;
        assert_string_equal(modules->modules[modules->of_node[0]].path, rows[i].module);
        bench_close(bench);
    }
}

static void naming_convention_applies_to_the_whole_file(void **state) {
    static const struct source_case rows[] = {
        {NULL,
         "in x float[1,3,8,8]\ninit conv2d_0.w_0 float[4,3,1,1]\ninit conv2d_0.b_0 float[4]\n"
         "init conv2d_1.w_0 float[4,4,1,1]\n"
         "node Conv_0 Conv x conv2d_0.w_0 conv2d_0.b_0 -> conv2d_0.tmp_1\n"
         "node Relu_1 Relu conv2d_0.tmp_1 -> relu_0.tmp_0\n"
         "node Conv_2 Conv relu_0.tmp_0 conv2d_1.w_0 -> conv2d_1.tmp_0\n"
         "node Add_3 Add conv2d_1.tmp_0 relu_0.tmp_0 -> tmp_2\nout tmp_2\n",
         "paddle 3, none 1", "() conv2d_0 relu_0 conv2d_1",
         "Conv_0=conv2d_0 Relu_1=relu_0 Conv_2=conv2d_1 Add_3="},
        {NULL,
         "in x float[1,3,8,8]\ninit resnetv10_stage1_conv0_weight float[3,3,1,1]\n"
         "node resnetv10_stage1_conv0_fwd Conv x resnetv10_stage1_conv0_weight -> 1\n"
         "node resnetv10_stage1_relu0_fwd Relu 1 -> 2\n"
         "node resnetv10_stage1__plus0 Add 2 x -> 3\nnode _mul0 Mul 3 3 -> 4\n"
         "node resnetv10_max_pool0 Relu 4 -> y\nout y\n",
         "mxnet 4, joined 1",
         "() resnetv10 resnetv10.stage1 resnetv10.stage1.conv0 resnetv10.stage1.relu0 "
         "resnetv10.max_pool0",
         "resnetv10_stage1__plus0=resnetv10.stage1 _mul0=resnetv10"},
        /* one such name among others is not a convention */
        {NULL,
         "in x float[1,3]\ninit fc_weight float[3,3]\ninit a.b.weight float[3,3]\n"
         "init a.c.weight float[3,3]\nnode n0 MatMul x fc_weight -> 1\n"
         "node n1 MatMul 1 a.b.weight -> 2\nnode n2 MatMul 2 a.c.weight -> y\nout y\n",
         "parameters 2, none 1", "() a a.b a.c", "n0= n1=a.b n2=a.c"},
        /* not used if another source knows a node */
        {NULL,
         "in x float[1,3]\ninit conv2d_0.w_0 float[3,3]\nnode n0 MatMul x conv2d_0.w_0 -> 1\n"
         "node /a/Relu Relu 1 -> y\nout y\n",
         "scopes 1, none 1", "() a conv2d_0", "n0="},
    };
    (void)state;
    CHECK_SOURCES(rows);
}

static void falls_back_to_operator_types(void **state) {
    static const struct source_case rows[] = {
        {NULL,
         "in x float[1]\nnode n0 Relu x -> 1\nnode n1 Tanh 1 -> 2\nnode n2 Relu 2 -> y\n"
         "out y\n",
         "types 3", "() Relu Tanh", "n0=Relu n1=Tanh n2=Relu"},
        /* also for a file with module names, if forced */
        {"types",
         "in x float[1,3]\ninit a.fc.weight float[3,3]\n"
         "node /a/fc/MatMul MatMul x a.fc.weight -> y\nout y\n",
         "types 1", "() MatMul", "/a/fc/MatMul=MatMul"},
        {"metadata",
         "in x float[1,3]\ninit a.fc.weight float[3,3]\n"
         "node /a/fc/MatMul MatMul x a.fc.weight -> y\nout y\n",
         "none 1", "()", "/a/fc/MatMul="},
        {"parameters",
         "in x float[1,3]\ninit a.fc.weight float[3,3]\n"
         "node /b/fc/MatMul MatMul x a.fc.weight -> y\nout y\n",
         "parameters 1", "() a a.fc", "/b/fc/MatMul=a.fc"},
    };
    (void)state;
    CHECK_SOURCES(rows);
}

static void nodes_without_scope_join_their_neighbours(void **state) {
    static const struct source_case rows[] = {
        /* between nodes of one module: that module */
        {NULL,
         "in x float[1]\nnode /a/b/Relu Relu x -> 1\nnode n0 Neg 1 -> 2\nnode n1 Neg 2 -> 3\n"
         "node /a/b/Tanh Tanh 3 -> y\nout y\n",
         "scopes 2, joined 2", "() a a.b", "n0=a.b n1=a.b"},
        /* between two modules: the module that contains both */
        {NULL,
         "in x float[1]\nnode /a/b/Relu Relu x -> 1\nnode n0 Neg 1 -> 2\n"
         "node /a/c/Relu Relu 2 -> 3\nnode n1 Neg 3 -> 4\nnode /d/Relu Relu 4 -> y\nout y\n",
         "scopes 3, joined 1, none 1", "() a a.b a.c d", "n0=a n1="},
        /* next to inputs and outputs of the model: none */
        {NULL,
         "in x float[1]\nnode n0 Neg x -> 1\nnode /a/Relu Relu 1 -> 2\nnode n1 Neg 2 -> y\n"
         "out y\n",
         "scopes 1, none 2", "() a", "n0= n1="},
        /* users in two modules: the module that contains both */
        {NULL,
         "in x float[1]\nnode /a/b/Relu Relu x -> 1\nnode n0 Neg 1 -> 2\n"
         "node /a/b/Tanh Tanh 2 -> 3\nnode /a/Add Add 2 3 -> y\nout y\n",
         "scopes 3, joined 1", "() a a.b", "n0=a"},
        /* constants belong to their consumer, unused nodes to their producer */
        {NULL,
         "in x float[3]\ninit w float[3]\nnode n0 Neg w -> v\nnode /a/Mul Mul x v -> 1\n"
         "node n1 Neg 1 -> dead\nnode /b/Relu Relu 1 -> y\nout y\n",
         "scopes 2, joined 2", "() a b", "n0=a n1=a"},
        /* also between nodes with metadata */
        {NULL,
         "in x float[1]\nat :Net h.0:Block h.0.fc:Linear\nnode n0 Relu x -> 1\nat\n"
         "node n1 Neg 1 -> 2\nat :Net h.0:Block\nnode n2 Relu 2 -> y\nout y\n",
         "metadata 2, joined 1", "() h h.0 h.0.fc", "n1=h.0"},
        /* a body belongs to the module of its node */
        {NULL,
         "in x float[1]\nin c bool[] =1\nnode /a/Relu Relu x -> 1\nbody then_branch\n"
         "node n0 Neg 1 -> t\nout t\nclose\nbody else_branch\nnode n1 Tanh 1 -> e\nout e\n"
         "close\nnode /a/If If c -> 2\nnode /b/Relu Relu 2 -> y\nout y\n",
         "scopes 3, joined 2", "() a b", "n0=a n1=a"},
    };
    (void)state;
    CHECK_SOURCES(rows);
}

static void identity_of_a_parameter_belongs_to_the_module_that_reads_it(void **state) {
    struct bench *bench = bench_open(
        "in x float[1,3]\ninit a.weight float[3]\nnode /a/Mul Mul x a.weight -> 1\n"
        "node n0 Identity a.weight -> b.weight\nnode /b/Mul Mul 1 b.weight -> y\nout y\n");
    (void)state;
    assert_string_equal(bench_node_module(bench, "n0"), "b");
    assert_int_equal(bench_module(bench, "a")->costs.params, 3);
    assert_int_equal(bench_module(bench, "b")->costs.params, 3);
    assert_int_equal(bench_module(bench, "")->costs.params, 6);
    bench_close(bench);
}

static void notes_a_source_that_locates_no_node(void **state) {
    const struct cm_options options = {.module_source = "functions"};
    struct bench *bench =
        bench_open_with("in x float[1]\nnode /a/Relu Relu x -> y\nout y\n", &options);
    (void)state;
    assert_string_equal(
        bench_messages(bench),
        "note[assumption]: module source 'functions' locates no node: all belong to "
        "the root module");
    bench_close(bench);
}

static void metadata_depth_is_limited(void **state) {
    struct text lines;
    struct arena *arena = arena_new("test", 0);
    (void)state;
    text_init(&lines, arena);
    text_append(&lines, "in x float[1]\nat");
    for (int i = 0; i < 90; i++) text_printf(&lines, " m%d:M", i);
    text_append(&lines, "\nnode n0 Relu x -> 1\nat");
    for (int i = 0; i < 40; i++) text_printf(&lines, " a.b.c%d:M", i);
    text_append(&lines, "\nnode n1 Relu 1 -> y\nout y\n");
    struct bench *bench = bench_open(text_string(&lines));
    assert_int_equal(bench->status, CM_OK);
    assert_string_equal(bench_node_module(bench, "n0"), "m63");
    assert_string_equal(bench_node_module(bench, "n1"), "a.b.c39");
    bench_close(bench);
    arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metadata_gives_module_paths),
        cmocka_unit_test(metadata_gives_classes),
        cmocka_unit_test(node_after_another_module_starts_a_second_call),
        cmocka_unit_test(fused_nodes_belong_to_the_module_of_their_params),
        cmocka_unit_test(fused_modules_keep_the_class_of_their_other_nodes),
        cmocka_unit_test(names_with_slashes_are_scopes),
        cmocka_unit_test(fused_names_contain_the_names_of_their_parts),
        cmocka_unit_test(fused_names_may_join_several_names),
        cmocka_unit_test(naming_convention_applies_to_the_whole_file),
        cmocka_unit_test(falls_back_to_operator_types),
        cmocka_unit_test(nodes_without_scope_join_their_neighbours),
        cmocka_unit_test(identity_of_a_parameter_belongs_to_the_module_that_reads_it),
        cmocka_unit_test(notes_a_source_that_locates_no_node),
        cmocka_unit_test(metadata_depth_is_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
