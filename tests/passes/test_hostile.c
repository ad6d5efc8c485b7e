/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hostile models: time and memory of the passes stay in proportion to the file (tables folded
 * at every node, nested loops, nested types, many candidate batch axes). Also models that no
 * exporter writes but that are valid.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "frontend/load.h"
#include "model_harness.h"
#include "passes/memory/arena_planner.h"
#include "passes/params/params.h"
#include "passes/pipeline/pipeline.h"
#include "passes/walk/walk.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/file.h"
#include "support/text.h"

/* Limit on the memory of the passes for a model of some thousand nodes, in bytes. */
#define ENOUGH ((size_t)64 << 20)

static int make(void **state) {
    *state = arena_new("test", 0);
    return *state == NULL;
}

static int end(void **state) {
    arena_free(*state);
    return 0;
}

static void assert_enough(const struct bench *bench) {
    if (arena_used(bench->arena) > ENOUGH)
        fail_msg("the passes used %zu bytes", arena_used(bench->arena));
}

static void folds_shapes_always_and_tables_within_the_budget(void **state) {
    struct text lines;
    text_init(&lines, *state);
    text_append(&lines, "in x float[?n,6]\ninit first int64[] =0\ninit end int64[] =65536\n"
                        "init one int64[] =1\nconst t int64[2] =2,-1\n"
                        "node - Range first end one -> table\n");
    for (int i = 0; i < 500; i++)
        text_printf(&lines, "node - Add table table -> a%d\nnode - NonZero a%d -> n%d\n", i, i,
                    i);
    text_append(&lines, "node - Reshape x t -> y\nout y\n");
    const struct cm_options options = {.batch = 4};
    struct bench *bench = bench_open_with(text_string(&lines), &options);
    assert_int_equal(bench->status, CM_OK);
    assert_string_equal(bench_type(bench, "n0"), "i64[1,65535]");
    assert_string_equal(bench_type(bench, "n499"), "i64[1,?]");
    assert_string_equal(bench_type(bench, "y"), "f32[2,12]");
    assert_enough(bench);
    bench_close(bench);
}

static void counts_distinct_elements_of_a_table(void **state) {
    struct bench *bench = bench_open(
        "in x float[2]\ninit first int64[] =0\ninit end int64[] =5000\ninit one int64[] =1\n"
        "init seven int64[] =7\nnode - Range first end one -> r\nnode - Mod r seven -> m\n"
        "node - Unique r -> u\nnode - Unique m -> v\nnode - Relu x -> y\nout y\n");
    (void)state;
    assert_int_equal(bench->status, CM_OK);
    assert_string_equal(bench_type(bench, "u"), "i64[5000]");
    assert_string_equal(bench_type(bench, "v"), "i64[7]");
    bench_close(bench);
}

/* Nested loops of 6 states. s0 grows, and each iteration passes the change to the next state,
 * so types change in 6 iterations. The innermost body has `n` nodes. */
static void nest_loops(struct text *lines, int depth, int n) {
    for (int d = 0; d < depth; d++) {
        text_printf(lines, "body body\nin i%d int64[]\nin c%d bool[]\n", d, d);
        for (int s = 0; s < 6; s++) text_printf(lines, "in s%d_%d float\n", d, s);
    }
    for (int i = 0; i < n; i++) text_printf(lines, "node - Relu x -> r%d\n", i);
    for (int d = depth; d-- > 0;) {
        text_printf(lines, "node - Concat s%d_0 x -> o%d_0 axis=0\n", d, d);
        for (int s = 1; s < 6; s++)
            text_printf(lines, "node - Identity s%d_%d -> o%d_%d\n", d, s - 1, d, s);
        text_printf(lines, "node - Identity c%d -> d%d\nout d%d\n", d, d, d);
        for (int s = 0; s < 6; s++) text_printf(lines, "out o%d_%d\n", d, s);
        text_printf(lines, "close\nnode - Loop trips - x x x x x x -> l%d\n", d);
    }
}

static void walks_nested_loops_in_bounded_time(void **state) {
    struct text lines;
    text_init(&lines, *state);
    text_append(&lines, "in x float[2]\nin trips int64[]\n");
    nest_loops(&lines, 4, 6000);
    text_append(&lines, "node - Relu x -> y\nout y\n");
    struct bench *bench = bench_open(text_string(&lines));
    assert_int_equal(bench->status, CM_OK);
    assert_enough(bench);
    bench_close(bench);
}

/* At a batch of 1 every Reshape has two possible batch axes; no choice fits the last node. */
static void rebatching_budget_includes_bodies(void **state) {
    struct text lines;
    text_init(&lines, *state);
    text_append(&lines, "in x float[1,16,32]\nconst flat int64[2] =16,32\ninit n int64[] =3\n"
                        "const all int64[1] =512\ninit k float[512]\n"
                        "node - Transpose x -> r0 perm=[1,0,2]\n");
    for (int i = 0; i < 40; i++)
        text_printf(&lines, "node - Reshape r%d flat -> r%d\n", i, i + 1);
    text_append(&lines, "body body\nin i int64[]\nin c bool[]\nin s float\n");
    for (int i = 0; i < 2000; i++) text_printf(&lines, "node - Relu x -> b%d\n", i);
    text_append(&lines, "node - Identity c -> d\nnode - Relu s -> t\nout d\nout t\nclose\n"
                        "node - Loop n - x -> l\nnode - Reshape r40 all -> q\n"
                        "node - Add q k -> y\nout y\n");
    const struct cm_options options = {.batch = 4};
    struct bench *bench = bench_open_with(text_string(&lines), &options);
    assert_int_equal(bench->status, CM_REFUSED);
    assert_enough(bench);
    bench_close(bench);
}

/* 3000 blocks have 4.5 million pairs, too many for the planner by size. */
static void plans_many_live_blocks_without_all_pairs(void **state) {
    enum { N = 3000 };
    struct arena_layout plan;
    struct block *blocks = arena_array(*state, N, sizeof(*blocks));
    assert_non_null(blocks);
    for (uint32_t i = 0; i < N; i++) blocks[i] = (struct block){1 + i % 7, i, N + i / 2};
    assert_int_equal(arena_layout(*state, blocks, N, true, NULL, &plan), CM_OK);
    assert_true(plan.by[PLANNER_BY_SIZE] == DIM_UNKNOWN);
    assert_true(plan.by[PLANNER_TWO_ENDS] >= plan.bound);
}

static void refuses_too_many_uses_of_parameters(void **state) {
    struct text lines;
    text_init(&lines, *state);
    text_append(&lines, "in x float[1]\ninit p.0 float[1]\nnode - Concat p.0 -> c0 axis=0\n");
    for (int i = 1; i < 3000; i++)
        text_printf(&lines, "init p.%d float[1]\nnode - Concat c%d p.%d -> c%d axis=0\n", i,
                    i - 1, i, i);
    for (int i = 0; i < 200; i++) {
        text_append(&lines, "node - Sum");
        for (int k = 0; k < 20; k++) text_append(&lines, " c2999");
        text_printf(&lines, " -> y%d\n", i);
    }
    text_append(&lines, "out y0\n");
    struct bench *bench = bench_open(text_string(&lines));
    assert_int_equal(bench->status, CM_REFUSED);
    assert_non_null(strstr(bench_messages(bench), "parameters must have at most"));
    bench_close(bench);
}

static void limits_the_depth_of_nested_sequences(void **state) {
    struct text lines;
    text_init(&lines, *state);
    text_append(&lines, "opset 17\nin s0 float[2]\n");
    for (int i = 0; i < 2000; i++)
        text_printf(&lines, "node - SequenceConstruct s%d -> s%d\n", i, i + 1);
    text_append(&lines, "out s2000\n");
    struct bench *bench = bench_open(text_string(&lines));
    assert_int_equal(bench->status, CM_OK);
    const struct value_info *info = &bench->analysis.infer->infos[bench_value(bench, "s2000")];
    int depth = 0;
    for (; info->element; info = info->element) depth++;
    assert_in_range(depth, 1, 8);
    bench_close(bench);
}

static void params_ignore_a_node_without_outputs(void **state) {
    struct bench *bench = bench_open(
        "in x float[1,4,2,2]\ninit s float[4]\ninit b float[4]\ninit m float[4]\n"
        "init v float[4]\ninit k float[4,1,1]\nnode - BatchNormalization x s b m v -> n\n"
        "node - com.me::Sink n k ->\nnode - Relu x -> y\nout y\n");
    (void)state;
    assert_int_equal(bench->status, CM_OK);
    assert_int_equal(bench_kind(bench, "s"), PARAM_LEARNED);
    bench_close(bench);
}

/*
 * Two inputs, x sparse_tensor(float)[2,n_m] and y float[2,n_m], and an Identity of y: the model
 * in protobuf's wire format, field by field.
 */
static const char sparse_model[] =
    "\x08\x08"                                   /* ir_version 8 */
    "\x42\x04\x0a\x00\x10\x11"                   /* opset_import: "", 17 */
    "\x3a\x47"                                   /* graph */
    "\x0a\x10\x0a\x01y\x12\x01z\x22\x08Identity" /* node */
    "\x5a\x16\x0a\x01x\x12\x11\x42\x0f\x08\x01\x12\x0b\x0a\x02\x08\x02\x0a\x05\x12\x03n_m"
    "\x5a\x16\x0a\x01y\x12\x11\x0a\x0f\x08\x01\x12\x0b\x0a\x02\x08\x02\x0a\x05\x12\x03n_m"
    "\x62\x03\x0a\x01z"; /* output */

static int run_sparse(struct arena *arena, struct cm_diagnostics *diag,
                      const struct cm_options *options) {
    struct source *source = NULL;
    struct model *model = NULL;
    struct analysis analysis = {.options = options, .arena = arena, .diag = diag};
    assert_int_equal(
        source_open_memory(sparse_model, sizeof sparse_model - 1, "sparse", diag, &source),
        CM_OK);
    int status = load_model(source, arena, diag, &model);
    if (status < 0) fail_msg("%s", cm_diagnostics_get(diag, 0)->message);
    analysis.model = model;
    status = pipeline_run_to(&analysis, 0);
    source_close(source);
    return status;
}

static void sparse_inputs_need_no_shape(void **state) {
    const struct cm_dim_option dim = {"n_m", 5};
    const struct cm_options options = {.n_dims = 1, .dims = &dim, .convention = "deepspeed"};
    struct cm_diagnostics *diag = cm_diagnostics_new();
    assert_int_equal(run_sparse(*state, diag, &options), CM_OK);
    cm_diagnostics_free(diag);
}

static void asks_once_for_a_dim_of_a_sparse_input(void **state) {
    const struct cm_options options = {.convention = "deepspeed"};
    struct cm_diagnostics *diag = cm_diagnostics_new();
    assert_int_equal(run_sparse(*state, diag, &options), CM_USAGE);
    assert_int_equal(cm_diagnostics_count(diag), 1);
    assert_string_equal(cm_diagnostics_get(diag, 0)->message,
                        "symbolic dim 'n_m' (input 'y', axis 1) must be bound");
    cm_diagnostics_free(diag);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folds_shapes_always_and_tables_within_the_budget),
        cmocka_unit_test(counts_distinct_elements_of_a_table),
        cmocka_unit_test(walks_nested_loops_in_bounded_time),
        cmocka_unit_test(rebatching_budget_includes_bodies),
        cmocka_unit_test(plans_many_live_blocks_without_all_pairs),
        cmocka_unit_test(refuses_too_many_uses_of_parameters),
        cmocka_unit_test(limits_the_depth_of_nested_sequences),
        cmocka_unit_test(params_ignore_a_node_without_outputs),
        cmocka_unit_test(sparse_inputs_need_no_shape),
        cmocka_unit_test(asks_once_for_a_dim_of_a_sparse_input),
    };
    return cmocka_run_group_tests(tests, make, end);
}
