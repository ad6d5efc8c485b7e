/* SPDX-License-Identifier: Apache-2.0 */
/* The module tree: nodes, parameters, outputs and classes of modules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model_harness.h"

#include "passes/modules/modules.h"

struct tree_case {
    const char *lines;
    const char *paths;
    const char *node; /* NULL: not compared */
    const char *module;
};

static void check_trees(const struct tree_case *rows, size_t n) {
    for (size_t i = 0; i < n; i++) {
        struct bench *bench = bench_open(rows[i].lines);
        assert_int_equal(bench->status, CM_OK);
        assert_string_equal(bench_paths(bench), rows[i].paths);
        if (rows[i].node)
            assert_string_equal(bench_node_module(bench, rows[i].node), rows[i].module);
        bench_close(bench);
    }
}

#define CHECK_TREES(rows) check_trees(rows, sizeof(rows) / sizeof *(rows))

static void test_scopes_of_node_names_are_modules(void **state) {
    static const struct tree_case rows[] = {
        {"in x float[1]\nnode /Relu Relu x -> y\nout y\n", "()", "/Relu", ""},
        {"in x float[1]\nnode /layer1/layer1.0/conv1/Relu Relu x -> y\nout y\n",
         "() layer1 layer1.0 layer1.0.conv1", "/layer1/layer1.0/conv1/Relu", "layer1.0.conv1"},
        {"in x float[1]\nnode /features/features.0/features.0.0/Relu Relu x -> y\nout y\n",
         "() features features.0 features.0.0", NULL, NULL},
        /* a ModuleList is never called: its name prefixes those of its children */
        {"in x float[1]\nnode /h.0/ln_1/Relu Relu x -> y\nnode /h.1/ln_1/Relu Relu y -> z\n"
         "out z\n",
         "() h h.0 h.0.ln_1 h.1 h.1.ln_1", NULL, NULL},
        {"in x float[1]\nnode /block/block.2/fc1/Relu Relu x -> y\n"
         "node /block/blocks/Relu Relu y -> z\nout z\n",
         "() block block.2 block.2.fc1 block.blocks", NULL, NULL},
        {"in x float[1]\nnode model/dense/Relu Relu x -> y\nout y\n", "() model model.dense",
         NULL, NULL},
        {"in x float[1]\nnode //a//Relu Relu x -> y\nout y\n", "() a", NULL, NULL},
    };
    (void)state;
    CHECK_TREES(rows);
}

static void test_children_follow_their_parent_in_order_of_first_use(void **state) {
    static const struct tree_case rows[] = {
        {"in x float[1]\nnode /b/z/Relu Relu x -> 1\nnode /a/Relu Relu 1 -> 2\n"
         "node /b/y/Relu Relu 2 -> 3\nout 3\n",
         "() b b.z b.y a", NULL, NULL},
    };
    (void)state;
    CHECK_TREES(rows);
}

static void test_unnamed_nodes_take_the_scope_of_their_outputs(void **state) {
    static const struct tree_case rows[] = {
        {"in x float[1]\nnode - Relu x -> /a/b/Relu_output_0\n"
         "node r Relu /a/b/Relu_output_0 -> y\nout y\n",
         "() a a.b", "r", ""},
    };
    (void)state;
    CHECK_TREES(rows);
}

static void test_parameters_give_modules_without_scopes(void **state) {
    static const struct tree_case rows[] = {
        {"in x float[1,3]\ninit enc.fc.weight float[3,3]\ninit enc.fc.bias float[3]\n"
         "init out.weight float[3,3]\nnode g Gemm x enc.fc.weight enc.fc.bias -> 1\n"
         "node r Relu 1 -> 2\nnode m MatMul 2 out.weight -> 3\nout 3\n",
         "() enc enc.fc out", "g", "enc.fc"},
        /* a node that uses parameters of several modules is in the module around them */
        {"in x float[1,3]\ninit rnn.a.weight float[3,3]\ninit rnn.ab.weight float[3]\n"
         "node g Gemm x rnn.a.weight rnn.ab.weight -> 1\nout 1\n",
         "() rnn rnn.a rnn.ab", "g", "rnn"},
    };
    (void)state;
    CHECK_TREES(rows);
}

static void test_parameter_modules_exist_without_nodes(void **state) {
    static const struct tree_case rows[] = {
        {"in x float[1,3]\ninit attn.out_proj.weight float[3,3]\n"
         "node /attn/MatMul MatMul x attn.out_proj.weight -> y\nout y\n",
         "() attn attn.out_proj", "/attn/MatMul", "attn"},
    };
    (void)state;
    CHECK_TREES(rows);
}

static void test_parameter_names_restore_lost_containers(void **state) {
    static const char lines[] =
        "in x float[1,3]\ninit h.0.mlp.c_fc.weight float[3,3]\n"
        "init h.0.mlp.c_proj.weight float[3,3]\ninit h.0.ln.weight float[3]\n"
        "node /h.0/ln/Mul Mul x h.0.ln.weight -> 0\n"
        "node /h.0/drop/Relu Relu 0 -> 1\n"
        "node /h.0/c_fc/MatMul MatMul 1 h.0.mlp.c_fc.weight -> 2\n"
        "node /h.0/act/Relu Relu 2 -> 3\n"
        "node /h.0/c_proj/MatMul MatMul 3 h.0.mlp.c_proj.weight -> 4\n"
        "node /h.0/end/Relu Relu 4 -> 5\nout 5\n";
    static const struct tree_case rows[] = {
        {lines,
         "() h h.0 h.0.ln h.0.drop h.0.mlp h.0.mlp.c_fc h.0.mlp.act h.0.mlp.c_proj h.0.end",
         "/h.0/act/Relu", "h.0.mlp.act"},
        /* contradicting names are ignored */
        {"in x float[1,3]\ninit b.a.weight float[3,3]\ninit c.a.weight float[3]\n"
         "node /a/Gemm Gemm x b.a.weight c.a.weight -> y\nout y\n",
         "() a b b.a c c.a", "/a/Gemm", "a"},
        /* a tied weight has the name of another module */
        {"in x float[1,3]\ninit wte.weight float[3,3]\n"
         "node /head/MatMul MatMul x wte.weight -> y\nout y\n",
         "() head wte", "/head/MatMul", "head"},
    };
    (void)state;
    CHECK_TREES(rows);
}

static void test_numbered_scopes_are_second_calls(void **state) {
    struct bench *bench = bench_open(
        "in x float[1,3]\ninit conv_1.weight float[3,3]\n"
        "node /relu/Relu Relu x -> 1\nnode /relu_1/Relu Relu 1 -> 2\n"
        "node /conv/Relu Relu 2 -> 3\nnode /conv_1/MatMul MatMul 3 conv_1.weight -> 4\n"
        "node /branch_2/Relu Relu 4 -> 5\nout 5\n");
    (void)state;
    assert_string_equal(bench_paths(bench), "() relu conv conv_1 branch_2");
    assert_int_equal(bench_module(bench, "relu")->calls, 2);
    assert_int_equal(bench_module(bench, "conv")->calls, 1);
    assert_int_equal(bench_module(bench, "")->calls, 1);
    assert_string_equal(bench_outputs(bench, "relu"), "1");
    bench_close(bench);
}

static void test_sequential_is_called_as_often_as_its_children(void **state) {
    struct bench *bench = bench_open(
        "in x float[1,3]\nin y float[1,3]\ninit net.0.weight float[3,3]\n"
        "node /net/net.0/MatMul MatMul x net.0.weight -> 1\nnode /net/net.1/Relu Relu 1 -> 2\n"
        "node /net/net.0_1/MatMul MatMul y net.0.weight -> 3\n"
        "node /net/net.1_1/Relu Relu 3 -> 4\nnode /Sub Sub 2 4 -> 5\nout 5\n");
    const struct cm_module *net = bench_module(bench, "net");
    (void)state;
    assert_string_equal(bench_paths(bench), "() net net.0 net.1");
    assert_int_equal(net->calls, 2);
    assert_int_equal(bench_module(bench, "net.0")->calls, 2);
    assert_string_equal(bench_outputs(bench, "net"), "2");
    assert_string_equal(bench_outputs(bench, "net.0"), "1");
    assert_string_equal(bench_outputs(bench, ""), "5");
    assert_string_equal(net->type, "Sequential");
    assert_int_equal(net->costs.params, 9);
    assert_int_equal(net->costs.macs, 18);
    bench_close(bench);
}

static void test_containers_are_never_called(void **state) {
    struct bench *bench = bench_open("in x float[1]\nnode /h.0/a/Relu Relu x -> y\nout y\n");
    (void)state;
    assert_int_equal(bench_module(bench, "h")->calls, 0);
    assert_int_equal(bench_module(bench, "h")->n_outputs, 0);
    assert_string_equal(bench_module(bench, "h")->type, "ModuleList");
    assert_int_equal(bench_module(bench, "h.0")->calls, 1);
    assert_false(bench_module(bench, "h.0")->type_known);
    bench_close(bench);
}

static void test_inlined_nodes_belong_to_the_module_of_the_call(void **state) {
    struct bench *bench = bench_open("in x float[1,3]\ninit a.fc.weight float[4,3]\n"
                                     "init a.fc.bias float[4]\n"
                                     "call /a/fc/Linear Linear x a.fc.weight a.fc.bias\n"
                                     "node Gemm_0 Gemm x a.fc.weight a.fc.bias -> y transB=1\n"
                                     "end\nout y\n");
    (void)state;
    assert_string_equal(bench_paths(bench), "() a a.fc");
    assert_string_equal(bench_node_module(bench, "Gemm_0"), "a.fc");
    assert_string_equal(bench_module(bench, "a.fc")->type, "Linear");
    assert_string_equal(bench_module(bench, "a.fc")->arguments,
                        "in_features=3, out_features=4, bias=True");
    bench_close(bench);
}

static void test_parameters_locate_calls_without_scope(void **state) {
    struct bench *bench = bench_open(
        "in x float[1,3]\ninit t.a.weight float[3,3]\ninit t.b.weight float[3,3]\n"
        "init head.weight float[3,3]\n"
        "call /logsoftmax/Model Model x t.a.weight t.b.weight head.weight\n"
        "call Tnet.1_1 Tnet.1 x t.a.weight t.b.weight\n"
        "call Linear_2 Linear x t.a.weight\nnode m1 MatMul x t.a.weight -> 1\nend\n"
        "node r Relu 1 -> 2\n"
        "call Linear_3 Linear.2 2 t.b.weight\nnode m2 MatMul 2 t.b.weight -> 3\nend\n"
        "end\n"
        "call LogSoftmax_4 LogSoftmax 3\nnode s Relu 3 -> 4\nend\n"
        "node m3 MatMul 4 head.weight -> 5\nend\nout 5\n");
    (void)state;
    assert_string_equal(bench_paths(bench), "() t t.a t.b logsoftmax head");
    assert_string_equal(bench_node_module(bench, "m1"), "t.a");
    assert_string_equal(bench_node_module(bench, "r"), "t");
    assert_string_equal(bench_node_module(bench, "s"), "logsoftmax");
    assert_string_equal(bench_node_module(bench, "m3"), "");
    assert_string_equal(bench_module(bench, "")->type, "Model");
    assert_true(bench_module(bench, "")->type_known);
    assert_string_equal(bench_module(bench, "t")->type, "Tnet");
    assert_string_equal(bench_module(bench, "t.b")->type, "Linear");
    bench_close(bench);
}

static void test_calls_with_equal_parameters_are_two_calls(void **state) {
    struct bench *bench = bench_open(
        "in x float[1,3]\ninit f.weight float[3,3]\n"
        "call Linear_0 Linear x f.weight\nnode m1 MatMul x f.weight -> 1\nend\n"
        "call Linear_1 Linear 1 f.weight\nnode m2 MatMul 1 f.weight -> 2\nend\nout 2\n");
    (void)state;
    assert_string_equal(bench_paths(bench), "() f");
    assert_int_equal(bench_module(bench, "f")->calls, 2);
    assert_string_equal(bench_outputs(bench, "f"), "1");
    bench_close(bench);
}

static void test_modules_own_each_tensor_once(void **state) {
    struct bench *bench =
        bench_open("in x int64[1,2]\ninit wte.weight float[8,3]\ninit f.weight float[3,3]\n"
                   "init f.out_proj.weight float[3,3]\ninit g.mask float[2]\n"
                   "node /wte/Gather Gather wte.weight x -> 1\n"
                   "node /f/MatMul MatMul 1 f.weight -> 2\n"
                   "node /f/MatMul_1 MatMul 2 f.out_proj.weight -> 3\n"
                   "node /head/Transpose Transpose wte.weight -> t\n"
                   "node /head/MatMul MatMul 3 t -> 4\n"
                   "node /g/Equal Equal g.mask g.mask -> 5\nout 4\nout 5\n");
    const struct cm_costs *root = &bench_module(bench, "")->costs;
    (void)state;
    assert_int_equal(root->params, 24 + 9 + 9);
    assert_int_equal(root->buffers, 2);
    assert_int_equal(root->weight_bytes, 4 * (24 + 9 + 9 + 2));
    assert_int_equal(bench_module(bench, "wte")->costs.params, 24);
    assert_int_equal(bench_module(bench, "head")->costs.params, 24);
    assert_int_equal(bench_module(bench, "f")->costs.params, 18);
    assert_int_equal(bench_module(bench, "f.out_proj")->costs.params, 9);
    assert_int_equal(bench_module(bench, "f.out_proj")->calls, 0);
    assert_int_equal(bench_module(bench, "g")->costs.buffers, 2);
    bench_close(bench);
}

static void test_sums_include_children(void **state) {
    struct bench *bench =
        bench_open("in x float[2,3]\ninit a.b.weight float[3,5]\ninit a.c.weight float[5,7]\n"
                   "node /a/b/MatMul MatMul x a.b.weight -> 1\n"
                   "node /a/c/MatMul MatMul 1 a.c.weight -> 2\nout 2\n");
    (void)state;
    assert_int_equal(bench_module(bench, "a.b")->costs.macs, 30);
    assert_int_equal(bench_module(bench, "a")->costs.macs, 30 + 70);
    assert_int_equal(bench_module(bench, "")->costs.macs, 30 + 70);
    assert_int_equal(bench_module(bench, "a")->costs.activation_bytes, 4 * (10 + 14));
    bench_close(bench);
}

static void test_outputs_are_values_used_outside(void **state) {
    struct bench *bench =
        bench_open("in x float[1,3]\nnode /a/b/Relu Relu x -> 1\nnode /a/Tanh Tanh 1 -> 2\n"
                   "node /a/Shape Shape 1 -> n\nnode /Reshape Reshape 2 n -> 3\n"
                   "node /Add Add 1 3 -> 4\nout 4\nout 2\n");
    (void)state;
    assert_string_equal(bench_outputs(bench, "a.b"), "1");
    assert_string_equal(bench_outputs(bench, "a"), "1 2");
    assert_string_equal(bench_outputs(bench, ""), "2 4");
    bench_close(bench);
}

struct type_case {
    const char *lines;
    const char *path;
    const char *type;
    const char *arguments;
    bool known;
};

static const struct type_case type_rows[] = {
    {"in x float[1,3,8]\ninit c.weight float[4,3,1]\n"
     "node /c/Conv Conv x c.weight -> y kernel_shape=[1]\nout y\n",
     "c", "Conv1d", "3, 4, kernel_size=(1,), stride=(1,), bias=False", true},
    {"in x float[2,4]\ninit b.weight float[4]\n"
     "node /b/BatchNormalization BatchNormalization x b.weight b.weight b.weight b.weight -> "
     "y\n"
     "out y\n",
     "b", "BatchNorm1d", "4, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True",
     true},
    {"in x float[1,2,3]\ninit f.weight float[3,4]\ninit f.bias float[4]\n"
     "node /f/MatMul MatMul x f.weight -> 1\nnode /f/Add Add f.bias 1 -> y\nout y\n",
     "f", "Linear", "in_features=3, out_features=4, bias=True", true},
    {"in x float[1,2,3]\ninit f.weight float[3,4]\nnode /f/MatMul MatMul x f.weight -> y\n"
     "out y\n",
     "f", "Linear", "in_features=3, out_features=4, bias=False", true},
    /* an Add of a value that is not a parameter is not a bias */
    {"in x float[1,2,4]\ninit f.weight float[4,4]\n"
     "node /f/MatMul MatMul x f.weight -> 1\nnode /f/Add Add x 1 -> y\nout y\n",
     "f", "f", "", false},
    {"in x float[1,2,3]\nnode /f/Relu Relu x -> 1\nnode /f/Tanh Tanh 1 -> y\nout y\n", "f", "f",
     "", false},
    {"in x float[1,4]\nconst 0 float[] =1.4142135\nconst 1 float[] =1\nconst 2 float[] =0.5\n"
     "node /act/Div Div x 0 -> a\nnode /act/Erf Erf a -> b\nnode /act/Add Add b 1 -> c\n"
     "node /act/Mul Mul x c -> d\nnode /act/Mul_1 Mul d 2 -> y\nout y\n",
     "act", "GELU", "approximate='none'", true},
    {"in x float[2,4]\nconst 0 float[] =2\nconst 1 float[] =0.00001\n"
     "init n.weight float[4]\ninit n.bias float[4]\n"
     "node /n/ReduceMean ReduceMean x -> m axes=[-1]\nnode /n/Sub Sub x m -> s\n"
     "node /n/Pow Pow s 0 -> p\nnode /n/ReduceMean_1 ReduceMean p -> v axes=[-1]\n"
     "node /n/Add Add v 1 -> e\nnode /n/Sqrt Sqrt e -> q\nnode /n/Div Div s q -> d\n"
     "node /n/Mul Mul d n.weight -> w\nnode /n/Add_1 Add w n.bias -> y\nout y\n",
     "n", "LayerNorm", "(4,), eps=1e-05, elementwise_affine=True", true},
    {"in x float[1,4]\nnode /act/Sigmoid Sigmoid x -> 1\nnode /act/Mul Mul x 1 -> y\nout y\n",
     "act", "SiLU", "", true},
    {"in x float[1,4]\nconst 0 float[] =0\nconst 1 float[] =6\n"
     "node /act/Clip Clip x 0 1 -> y\nout y\n",
     "act", "ReLU6", "", true},
    {"in x float[1,4]\nconst 0 float[] =0\nconst 1 float[] =1\n"
     "node /act/Clip Clip x 0 1 -> y\nout y\n",
     "act", "act", "", false},
};

static void test_operators_give_classes(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof type_rows / sizeof *type_rows; i++) {
        struct bench *bench = bench_open(type_rows[i].lines);
        const struct cm_module *module = bench_module(bench, type_rows[i].path);
        assert_int_equal(bench->status, CM_OK);
        assert_non_null(module);
        assert_string_equal(module->type, type_rows[i].type);
        assert_string_equal(module->arguments, type_rows[i].arguments);
        assert_int_equal(module->type_known, type_rows[i].known);
        bench_close(bench);
    }
}

static void test_the_root_is_named_after_its_file(void **state) {
    struct bench *bench = bench_open("in x float[1]\nnode /Relu Relu x -> y\nout y\n");
    const struct cm_module *root = bench_module(bench, "");
    (void)state;
    assert_string_equal(root->name, "small");
    assert_string_equal(root->type, "small");
    assert_false(root->type_known);
    assert_int_equal(root->parent, CM_NO_INDEX);
    bench_close(bench);
}

static void test_scope_depth_is_limited(void **state) {
    char lines[2048] = "in x float[1]\nnode ";
    struct bench *bench;
    size_t n = strlen(lines);
    (void)state;
    for (int i = 0; i < 200; i++) {
        lines[n++] = '/';
        lines[n++] = 'a';
    }
    memcpy(lines + n, "/Relu Relu x -> y\nout y\n", sizeof "/Relu Relu x -> y\nout y\n");
    bench = bench_open(lines);
    assert_int_equal(bench->status, CM_OK);
    assert_int_equal(bench->analysis.modules->n_modules, 65);
    bench_close(bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scopes_of_node_names_are_modules),
        cmocka_unit_test(test_children_follow_their_parent_in_order_of_first_use),
        cmocka_unit_test(test_unnamed_nodes_take_the_scope_of_their_outputs),
        cmocka_unit_test(test_parameters_give_modules_without_scopes),
        cmocka_unit_test(test_parameter_modules_exist_without_nodes),
        cmocka_unit_test(test_parameter_names_restore_lost_containers),
        cmocka_unit_test(test_numbered_scopes_are_second_calls),
        cmocka_unit_test(test_sequential_is_called_as_often_as_its_children),
        cmocka_unit_test(test_containers_are_never_called),
        cmocka_unit_test(test_inlined_nodes_belong_to_the_module_of_the_call),
        cmocka_unit_test(test_parameters_locate_calls_without_scope),
        cmocka_unit_test(test_calls_with_equal_parameters_are_two_calls),
        cmocka_unit_test(test_modules_own_each_tensor_once),
        cmocka_unit_test(test_sums_include_children),
        cmocka_unit_test(test_outputs_are_values_used_outside),
        cmocka_unit_test(test_operators_give_classes),
        cmocka_unit_test(test_the_root_is_named_after_its_file),
        cmocka_unit_test(test_scope_depth_is_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
