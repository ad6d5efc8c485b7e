/* SPDX-License-Identifier: Apache-2.0 */
/* Custom operators at nodes: outputs, costs and errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model_harness.h"
#include "ops/custom/custom_op.h"
#include "passes/params/params.h"
#include "passes/training/training.h"
#include "passes/walk/bind.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"

#define MAX_LISTED 8

/* A short form of cm_op_description: lists end with NULL, NULL members are absent. */
struct spec {
    const char *like;
    const char *inputs[MAX_LISTED];
    int64_t required; /* 0: all of them */
    struct cm_named_size attributes[MAX_LISTED];
    const char *where[MAX_LISTED];
    struct cm_op_output outputs[MAX_LISTED];
    const char *macs;
    const char *other_flops;
};

static size_t count(const char *const *texts) {
    size_t n = 0;
    while (n < MAX_LISTED && texts[n]) n++;
    return n;
}

static const char *text_or_empty(const char *text) {
    return text ? text : "";
}

/* Returns the description of com.me::Op. */
static struct cm_op_description describe(const struct spec *spec) {
    struct cm_op_description is = {
        .domain = "com.me",
        .op = "Op",
        .since = CM_UNKNOWN,
        .like = text_or_empty(spec->like),
        .like_opset = CM_UNKNOWN,
        .attributes = spec->attributes,
        .n_inputs = count(spec->inputs),
        .inputs = spec->inputs,
        .required_inputs = spec->required ? spec->required : CM_UNKNOWN,
        .n_where = count(spec->where),
        .where = spec->where,
        .outputs = spec->outputs,
        .macs = text_or_empty(spec->macs),
        .other_flops = text_or_empty(spec->other_flops),
        .note = "",
    };
    while (is.n_attributes < MAX_LISTED && spec->attributes[is.n_attributes].name)
        is.n_attributes++;
    while (is.n_outputs < MAX_LISTED && spec->outputs[is.n_outputs].dims) is.n_outputs++;
    return is;
}

struct custom_op_bench {
    struct arena *arena;
    struct cm_diagnostics *diag;
    struct cm_op_costs costs;
    struct bench *bench;
};

static struct custom_op_bench open_custom(const struct spec *spec, const char *lines,
                                          struct cm_options options) {
    struct custom_op_bench ret = {arena_new("described", 0), cm_diagnostics_new(), {0}, NULL};
    const struct cm_op_description description = describe(spec);
    const struct cm_op_costs *const all[] = {&ret.costs};
    if (custom_op_read(&description, 1, ret.arena, ret.diag, &ret.costs) != CM_OK)
        fail_msg("%s", cm_diagnostics_get(ret.diag, 0)->message);
    options.n_op_costs = 1;
    options.op_costs = all;
    ret.bench = bench_open_with(lines, &options);
    return ret;
}

static void close_custom(struct custom_op_bench *custom) {
    bench_close(custom->bench);
    cm_diagnostics_free(custom->diag);
    arena_free(custom->arena);
}

/* A model with one node `n` of the operator, whose output is y. */
struct node_case {
    struct spec spec;
    const char *lines;
    const char *type; /* type of y */
    int64_t macs;
    int64_t flops;
};

static void check_nodes(const struct node_case *rows, size_t n) {
    for (size_t i = 0; i < n; i++) {
        struct custom_op_bench custom =
            open_custom(&rows[i].spec, rows[i].lines, (struct cm_options){0});
        const struct bench *bench = custom.bench;
        if (bench->status != CM_OK) fail_msg("row %zu: %s", i, bench_messages(bench));
        const struct cm_costs *costs = bench_costs(bench, "n");
        if (strcmp(bench_type(bench, "y"), rows[i].type) != 0)
            fail_msg("row %zu: %s", i, bench_type(bench, "y"));
        if (costs->macs != rows[i].macs || costs->flops != rows[i].flops)
            fail_msg("row %zu: %lld MACs, %lld FLOPs", i, (long long)costs->macs,
                     (long long)costs->flops);
        close_custom(&custom);
    }
}

#define CHECK_NODES(rows) check_nodes(rows, sizeof(rows) / sizeof *(rows))

/* x [2, 3, 8, 6] and w [4, 3, 2, 2] */
#define X   "in x float[2,3,8,6]\n"
#define XW  X "init w float[4,3,2,2]\n"
#define END "out y\n"

static void test_binds_dims_and_evaluates_expressions(void **state) {
    static const struct node_case rows[] = {
        /* a convolution: 2 * 4 * 4 * 3 outputs, 3 * 2 * 2 MACs each */
        {{.inputs = {"N, C, H, W", "K, C, R, S"},
          .attributes = {{"stride", 2}},
          .where = {"P = (H - R) / stride + 1", "Q = (W - S) / stride + 1"},
          .outputs = {{"", "N, K, P, Q"}},
          .macs = "N * K * P * Q * C * R * S",
          .other_flops = "out0"},
         XW "node n com.me::Op x w -> y\n" END,
         "f32[2,4,4,3]",
         96 * 12,
         2 * 96 * 12 + 96},
        /* the value of an attribute, and an element of a list attribute */
        {{.inputs = {"N, C, H, W"},
          .attributes = {{"by", CM_UNKNOWN}, {"pads[1]", 0}},
          .outputs = {{"float16", "N, C, H / by, W + pads[1]"}},
          .macs = "0",
          .other_flops = "in0"},
         X "node n com.me::Op x -> y by=4 pads=[9,1]\n" END,
         "f16[2,3,2,7]",
         0,
         288},
        /* "..." is any number of leading dims, equal in both inputs */
        {{.inputs = {"..., M, K", "..., K, N"},
          .outputs = {{"input 1", "..., M, N"}},
          .macs = "out0 * K",
          .other_flops = "0"},
         "in a float[5,2,3,4]\nin b float[5,2,4,6]\nnode n com.me::Op a b -> y\n" END,
         "f32[5,2,3,6]",
         180 * 4,
         2 * 180 * 4},
        /* a scalar has no leading dims */
        {{.inputs = {"..., 3", ""},
          .outputs = {{"", "..., 1"}},
          .macs = "in0",
          .other_flops = "in1"},
         "in a float[3]\nin s float[]\nnode n com.me::Op a s -> y\n" END,
         "f32[1]",
         3,
         7},
        /* an omitted optional input has 0 elements */
        {{.inputs = {"N", "N"},
          .required = 1,
          .outputs = {{"", "N"}},
          .macs = "in1",
          .other_flops = "max(in0, in1)"},
         "in a float[5]\nnode n com.me::Op a -> y\n" END,
         "f32[5]",
         0,
         5},
        /* any number of inputs of any shape; an omitted output has 0 elements */
        {{.outputs = {{"", "in0 + in1"}, {"int64", "2"}}, .macs = "out1", .other_flops = "in2"},
         "in a float[5]\nin b float[2,2]\nnode n com.me::Op a b -> y\n" END,
         "f32[9]",
         0,
         0},
        /* an empty tensor */
        {{.inputs = {"N, C"},
          .outputs = {{"", "C, N"}},
          .macs = "N * C",
          .other_flops = "out0"},
         "in a float[0,4]\nnode n com.me::Op a -> y\n" END,
         "f32[4,0]",
         0,
         0},
    };
    (void)state;
    CHECK_NODES(rows);
}

static void test_unknown_sizes_make_costs_unknown(void **state) {
    static const struct node_case rows[] = {
        {{.inputs = {"N, C"}, .outputs = {{"", "N, ?"}}, .macs = "C", .other_flops = "out0"},
         "in a float[3,4]\nnode n com.me::Op a -> y\n" END,
         "f32[3,?]",
         4,
         DIM_UNKNOWN},
        /* an input of unknown rank has unknown dims; another input may determine them */
        {{.inputs = {"N, C", "N, K"},
          .outputs = {{"", "N, C, K"}},
          .macs = "N * K",
          .other_flops = "0"},
         "in b float[3,4]\nnode u com.us::U b -> a\nnode n com.me::Op a b -> y\n" END,
         "?[3,?,4]",
         12,
         24},
        {{.inputs = {"..., C"}, .outputs = {{"", "..., 1"}}, .macs = "C", .other_flops = "0"},
         "in b float[3,4]\nnode u com.us::U b -> a\nnode n com.me::Op a -> y\n" END,
         "?[?...]",
         DIM_UNKNOWN,
         DIM_UNKNOWN},
        /* 9 - N falls as N grows: N's upper bound does not bound it */
        {{.inputs = {"2, N"}, .outputs = {{"", "9 - N"}}, .macs = "9 - N", .other_flops = "0"},
         "in b float[3,2]\nnode z NonZero b -> a\nnode n com.me::Op a -> y\n" END,
         "i64[?]",
         DIM_UNKNOWN,
         DIM_UNKNOWN},
    };
    (void)state;
    CHECK_NODES(rows);
}

/* An operator with `like` has the outputs and costs of the operator that it names. */
static void test_like_inherits_all_facets_of_the_operator(void **state) {
    static const struct {
        struct spec spec;
        const char *lines, *twin;
    } rows[] = {
        {{.like = "Conv"},
         XW "init b float[4]\nnode n com.me::Op x w b -> y pads=[1,1,1,1] strides=[2,1]\n" END,
         XW "init b float[4]\nnode n Conv x w b -> y pads=[1,1,1,1] strides=[2,1]\n" END},
        {{.like = "ai.onnx::Gelu"},
         X "node n com.me::Op x -> y\n" END,
         X "opset 20\nnode n Gelu x -> y\n" END},
        {{.like = "com.microsoft::FastGelu"},
         X "node n com.me::Op x -> y\n" END,
         X "node n com.microsoft::FastGelu x -> y\n" END},
        /* its own costs, which equal those of Conv */
        {{.like = "Conv",
          .inputs = {"N, C, H, W", "K, C, R, S"},
          .macs = "out0 * C * R * S",
          .other_flops = "0"},
         XW "node n com.me::Op x w -> y\n" END,
         XW "node n Conv x w -> y\n" END},
        {{.like = "Conv", .macs = "out0 * in1 / 4", .other_flops = "0"},
         XW "node n com.me::Op x w -> y\n" END,
         XW "node n Conv x w -> y\n" END},
        /* a rule that looks up the operator's type */
        {{.like = "com.microsoft.nchwc::ReorderInput", .macs = "0", .other_flops = "0"},
         "in a float[1,16,4,4]\nnode n com.me::Op a -> y\n" END,
         "in a float[1,16,4,4]\nnode n com.microsoft.nchwc::ReorderInput a -> y\n" END},
        {{.inputs = {"N, K", "K, M"},
          .outputs = {{"", "N, M"}},
          .macs = "N * K * M",
          .other_flops = "0"},
         "in a float[5,3]\ninit w float[3,4]\nnode n com.me::Op a w -> y\n" END,
         "in a float[5,3]\ninit w float[3,4]\nnode n MatMul a w -> y\n" END},
    };
    static const char *const conventions[] = {"deepspeed", "exact", "macs", "torch"};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t k = 0; k < sizeof conventions / sizeof *conventions; k++) {
            const struct cm_options options = {.convention = conventions[k]};
            struct custom_op_bench custom = open_custom(&rows[i].spec, rows[i].lines, options);
            struct bench *twin = bench_open_with(rows[i].twin, &options);
            if (custom.bench->status != CM_OK || twin->status != CM_OK)
                fail_msg("row %zu: %s", i, bench_messages(custom.bench));
            assert_string_equal(bench_type(custom.bench, "y"), bench_type(twin, "y"));
            assert_memory_equal(bench_costs(custom.bench, "n"), bench_costs(twin, "n"),
                                sizeof(struct cm_costs));
            const size_t n_params = twin->analysis.params->n_params;
            assert_int_equal(custom.bench->analysis.params->n_params, n_params);
            bench_close(twin);
            close_custom(&custom);
        }
}

static void test_refuses_nodes_that_violate_the_description(void **state) {
    static const struct spec square = {.inputs = {"N, N", "N"},
                                       .required = 1,
                                       .attributes = {{"k", CM_UNKNOWN}, {"by[1]", 2}},
                                       .outputs = {{"", "N - k"}},
                                       .macs = "N / (k - 1)",
                                       .other_flops = "by[1] - k"};
    static const struct spec rest = {.inputs = {"..., 2", "...", "C, C * 2"},
                                     .outputs = {{"", "..."}},
                                     .macs = "0",
                                     .other_flops = "0"};
    /* the arity must suit both: Equal has 2 inputs, Conv 2 to 3, the descriptions name 2 */
    static const struct spec equal = {.like = "Equal", .inputs = {"...", "..."}, .required = 1};
    static const struct spec conv = {.like = "Conv", .inputs = {"?, ?, ?, ?", "?, ?, ?, ?"}};
    static const struct {
        const struct spec *spec;
        const char *lines;
        const char *message;
    } rows[] = {
        {&equal, "in a float[3]\nnode n com.me::Op a -> y\n" END,
         "error[arity] at n: number of inputs must be >= 2, got 1"},
        {&conv, XW "init b float[4]\nnode n com.me::Op x w b -> y\n" END,
         "error[arity] at n: number of inputs must be <= 2, got 3"},
        {&square, "in a float[3,3,3]\nnode n com.me::Op a -> y k=2\n" END,
         "error[shape] at n: input 0 must have the dims 'N, N' of its description, got "
         "[3,3,3]"},
        {&square, "in a float[3,4]\nnode n com.me::Op a -> y k=2\n" END,
         "error[shape] at n: input 0 must have the dims 'N, N' of its description, got [3,4]"},
        {&square, "in a float[3,3]\nin b float[4]\nnode n com.me::Op a b -> y k=2\n" END,
         "error[shape] at n: input 1 must have the dims 'N' of its description, got [4]"},
        {&square, "in a float[3,3]\nnode n com.me::Op a -> y\n" END,
         "error[attribute] at n: attribute 'k' is missing"},
        {&square, "in a float[3,3]\nnode n com.me::Op a -> y k=0.5\n" END,
         "error[attribute] at n: attribute 'k' must be of kind int, got float"},
        {&square, "in a float[3,3]\nnode n com.me::Op a -> y k=2 by=2\n" END,
         "error[attribute] at n: attribute 'by' must be of kind ints, got int"},
        {&square, "in a float[3,3]\nnode n com.me::Op a -> y k=4\n" END,
         "error[shape] at n: output 0 would have the shape [-1]"},
        {&square, "in a float[3,3]\nnode n com.me::Op a -> y k=1\n" END,
         "error[value] at n: 'N / (k - 1)' divides by 0"},
        {&square, "in a float[3,3]\nnode n com.me::Op a -> y k=3\n" END,
         "error[value] at n: 'by[1] - k' must be >= 0, got -1"},
        {&square, "in a float[3,3]\nnode n com.me::Op a -> y k=-9223372036854775807\n" END,
         "error[overflow] at n: dim 0 of output 0 is past 2^63"},
        {&square, "in a float[3,3]\nnode n com.me::Op -> y k=2\n" END,
         "error[arity] at n: number of inputs must be >= 1, got 0"},
        {&square, "in a float[3,3]\nnode n com.me::Op a - a -> y k=2\n" END,
         "error[arity] at n: number of inputs must be <= 2, got 3"},
        {&square, "in a float[3,3]\nnode n com.me::Op a -> y z k=2\n" END,
         "error[arity] at n: number of outputs must be <= 1, got 2"},
        {&rest, "in a float[5,2]\nin b float[4]\nnode n com.me::Op a b b -> y\n" END,
         "error[shape] at n: input 1 must have the dims '...' of its description, got [4]"},
        {&rest, "in a float[]\nin b float[4]\nnode n com.me::Op a b b -> y\n" END,
         "error[shape] at n: input 0 must have the dims '..., 2' of its description, got []"},
        {&rest,
         "in a float[5,2]\nin b float[5]\nin c float[3,5]\nnode n com.me::Op a b c -> y\n" END,
         "error[shape] at n: input 2 must have the dims 'C, C * 2' of its description, got "
         "[3,5]"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct custom_op_bench custom =
            open_custom(rows[i].spec, rows[i].lines, (struct cm_options){0});
        if (custom.bench->status != CM_REFUSED ||
            strcmp(bench_messages(custom.bench), rows[i].message) != 0)
            fail_msg("row %zu: %s", i, bench_messages(custom.bench));
        close_custom(&custom);
    }
}

static void test_reports_costs_that_overflow(void **state) {
    static const struct spec spec = {.inputs = {"N"},
                                     .outputs = {{"", "N"}},
                                     .macs = "4294967296 * 4294967296 * N",
                                     .other_flops = "0"};
    struct custom_op_bench custom = open_custom(
        &spec, "in a float[3]\nnode n com.me::Op a -> y\n" END, (struct cm_options){0});
    (void)state;
    assert_int_equal(custom.bench->status, CM_REFUSED);
    assert_string_equal(bench_messages(custom.bench),
                        "error[overflow] at n: the cost of the node must be below 2^63");
    close_custom(&custom);
}

/* Without `like` the costs of a training step are unknown. */
static void test_like_inherits_the_gradient(void **state) {
    static const struct spec alone = {.inputs = {"N, C, H, W", "?, ?, ?, ?"},
                                      .outputs = {{"", "N, C, H, W"}},
                                      .macs = "in0",
                                      .other_flops = "0"};
    static const struct spec like = {.like = "Conv"};
    const struct cm_options options = {.optimizer = "sgd"};
    (void)state;
    struct custom_op_bench custom =
        open_custom(&alone, XW "node n com.me::Op x w -> y\n" END, options);
    assert_int_equal(custom.bench->analysis.training->of_node[0].backward_macs, DIM_UNKNOWN);
    close_custom(&custom);
    custom = open_custom(&like, XW "node n com.me::Op x w -> y\n" END, options);
    assert_int_equal(custom.bench->analysis.training->of_node[0].backward_macs,
                     bench_costs(custom.bench, "n")->macs);
    close_custom(&custom);
}

/* An opset uses the description with the largest `since` that does not exceed it. */
static void test_descriptions_apply_from_their_opset(void **state) {
    struct arena *arena = arena_new("described", 0);
    struct cm_diagnostics *diag = cm_diagnostics_new();
    struct cm_op_costs costs;
    struct cm_op_description items[3];
    const struct cm_op_costs *const all[] = {&costs};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        items[i] = describe(&(struct spec){.like = "Conv"});
        items[i].since = (int64_t[]){7, 3, CM_UNKNOWN}[i];
    }
    assert_int_equal(custom_op_read(items, 2, arena, diag, &costs), CM_OK);
    assert_null(custom_op_find(all, 1, "com.me", "Op", 2));
    assert_ptr_equal(custom_op_find(all, 1, "com.me", "Op", 3), &costs.items[1].op);
    assert_ptr_equal(custom_op_find(all, 1, "com.me", "Op", 6), &costs.items[1].op);
    assert_ptr_equal(custom_op_find(all, 1, "com.me", "Op", 7), &costs.items[0].op);
    assert_null(custom_op_find(all, 1, "com.us", "Op", 7));
    assert_int_equal(custom_op_read(items, 3, arena, diag, &costs), CM_OK);
    assert_ptr_equal(custom_op_find(all, 1, "com.me", "Op", 2), &costs.items[2].op);
    cm_diagnostics_free(diag);
    arena_free(arena);
}

/* A description of a built-in operator replaces it under every spelling of its domain. */
static void test_replaces_built_in_operators(void **state) {
    static const struct cm_op_output output = {"", "..."};
    static const char *const inputs[] = {"..."};
    struct arena *arena = arena_new("described", 0);
    struct cm_diagnostics *diag = cm_diagnostics_new();
    struct cm_op_costs costs;
    const struct cm_op_costs *const all[] = {&costs};
    struct cm_op_description relu = {
        .domain = "ai.onnx",
        .op = "Relu",
        .since = CM_UNKNOWN,
        .like = "",
        .like_opset = CM_UNKNOWN,
        .n_inputs = 1,
        .inputs = inputs,
        .required_inputs = CM_UNKNOWN,
        .n_outputs = 1,
        .outputs = &output,
        .macs = "in0",
        .other_flops = "0",
        .note = "",
        .replace = true,
    };
    const struct cm_options options = {.n_op_costs = 1, .op_costs = all, .convention = "exact"};
    (void)state;
    assert_int_equal(custom_op_read(&relu, 1, arena, diag, &costs), CM_OK);
    struct bench *bench =
        bench_open_with("in x float[4,2]\nnode n Relu x -> y\nout y\n", &options);
    assert_int_equal(bench->status, CM_OK);
    assert_string_equal(bench_type(bench, "y"), "f32[4,2]");
    assert_int_equal(bench_costs(bench, "n")->macs, 8);
    assert_int_equal(bench_costs(bench, "n")->flops, 16); /* FLOPs of Relu are not added */
    bench_close(bench);
    cm_diagnostics_free(diag);
    arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_binds_dims_and_evaluates_expressions),
        cmocka_unit_test(test_unknown_sizes_make_costs_unknown),
        cmocka_unit_test(test_like_inherits_all_facets_of_the_operator),
        cmocka_unit_test(test_refuses_nodes_that_violate_the_description),
        cmocka_unit_test(test_reports_costs_that_overflow),
        cmocka_unit_test(test_like_inherits_the_gradient),
        cmocka_unit_test(test_descriptions_apply_from_their_opset),
        cmocka_unit_test(test_replaces_built_in_operators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
