/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators with bodies: see ops/onnx/control.c. In these tests a body is a C function from
 * infos of inputs to infos of outputs, so a row can check its inputs and the trip count that
 * the operator reports.
 */
#include "op_harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "ir/print.h"
#include "support/arena.h"
#include "support/text.h"

#define MAX_BODIES   2
#define MAX_OUTPUTS  4
#define NOT_REPORTED INT64_C(-7)
#define NO_RUNS      NOT_REPORTED

/* Sets the outputs of a body from its inputs. */
typedef void test_body(struct arena *arena, const struct value_info *inputs,
                       struct value_info *outputs);

struct control_case {
    const char *op;
    const char *attrs;
    const char *inputs;
    const char *outputs; /* "f32[2]; i64[]", or part of the message */
    size_t body_inputs, body_outputs, n_outputs;
    test_body *bodies[MAX_BODIES];
    int64_t runs[MAX_BODIES];
};

struct stage {
    const struct control_case *row;
    struct arena *arena;
    int64_t runs[MAX_BODIES];
    int walks;
};

static int walk(void *context, uint32_t graph, size_t n_inputs, const struct value_info *inputs,
                const struct value_info **ret_outputs) {
    struct stage *stage = context;
    struct value_info *outputs = arena_array(stage->arena, MAX_OUTPUTS, sizeof *outputs);
    assert_non_null(outputs);
    assert_int_equal(n_inputs, stage->row->body_inputs);
    stage->row->bodies[graph - 1](stage->arena, inputs, outputs);
    stage->walks++;
    *ret_outputs = outputs;
    return CM_OK;
}

static int runs(void *context, uint32_t graph, int64_t times, const char *assumption) {
    struct stage *stage = context;
    stage->runs[graph - 1] = times;
    if (!is_known(times)) assert_non_null(assumption);
    return CM_OK;
}

static struct value_info tensor(struct arena *arena, enum dtype dtype, int rank,
                                const int64_t *dims) {
    struct shape shape;
    assert_int_equal(shape_make(arena, rank, dims, &shape), CM_OK);
    return value_info_tensor(dtype, shape);
}

static struct value_info condition(struct arena *arena, int64_t value) {
    struct value_info info = tensor(arena, DTYPE_BOOL, 0, NULL);
    info.value = constant_splat(arena, DTYPE_BOOL, &info.shape, (struct number){.i = value});
    return info;
}

static void gives_2_3(struct arena *arena, const struct value_info *inputs,
                      struct value_info *outputs) {
    (void)inputs;
    outputs[0] = tensor(arena, DTYPE_FLOAT, 2, (const int64_t[]){2, 3});
}

static void gives_2_4(struct arena *arena, const struct value_info *inputs,
                      struct value_info *outputs) {
    (void)inputs;
    outputs[0] = tensor(arena, DTYPE_FLOAT, 2, (const int64_t[]){2, 4});
}

static void gives_int(struct arena *arena, const struct value_info *inputs,
                      struct value_info *outputs) {
    (void)inputs;
    outputs[0] = tensor(arena, DTYPE_INT64, 0, NULL);
}

/* (i, cond, x) -> (cond, x, x) */
static void loops_on(struct arena *arena, const struct value_info *inputs,
                     struct value_info *outputs) {
    (void)arena;
    assert_null(inputs[0].value);
    assert_null(inputs[2].value); /* it changes in each iteration */
    outputs[0] = inputs[1];
    outputs[1] = inputs[2];
    outputs[2] = inputs[2];
}

/* As loops_on, but the condition is unknown. */
static void loops_while(struct arena *arena, const struct value_info *inputs,
                        struct value_info *outputs) {
    loops_on(arena, inputs, outputs);
    outputs[0] = tensor(arena, DTYPE_BOOL, 0, NULL);
}

static void stops_at_once(struct arena *arena, const struct value_info *inputs,
                          struct value_info *outputs) {
    loops_on(arena, inputs, outputs);
    outputs[0] = condition(arena, 0);
}

/* The state grows by a row in each iteration. */
static void grows(struct arena *arena, const struct value_info *inputs,
                  struct value_info *outputs) {
    loops_on(arena, inputs, outputs);
    if (inputs[2].shape.rank != 2) return;
    const int64_t dims[] = {checked_add(inputs[2].shape.dims[0], 1), inputs[2].shape.dims[1]};
    outputs[1] = tensor(arena, DTYPE_FLOAT, 2, dims);
    outputs[2] = outputs[1];
}

/* The state gains an axis in each iteration, so its rank is unknown. */
static void deepens(struct arena *arena, const struct value_info *inputs,
                    struct value_info *outputs) {
    loops_on(arena, inputs, outputs);
    int rank = inputs[2].shape.rank;
    outputs[1] = value_info_tensor(DTYPE_FLOAT, shape_unknown());
    if (rank != RANK_UNKNOWN) outputs[1] = tensor(arena, DTYPE_FLOAT, rank + 1, NULL);
    outputs[2] = outputs[1];
}

static void changes_type(struct arena *arena, const struct value_info *inputs,
                         struct value_info *outputs) {
    loops_on(arena, inputs, outputs);
    outputs[1] = tensor(arena, DTYPE_INT64, 0, NULL);
}

/* A body of Loop-16 that returns its state in an optional. */
static void wraps(struct arena *arena, const struct value_info *inputs,
                  struct value_info *outputs) {
    loops_on(arena, inputs, outputs);
    outputs[1] = value_info_unknown();
    outputs[1].kind = CM_TYPE_OPTIONAL;
}

/* (state, slice) -> (state, slice) */
static void scans(struct arena *arena, const struct value_info *inputs,
                  struct value_info *outputs) {
    (void)arena;
    outputs[0] = inputs[0];
    outputs[1] = inputs[1];
}

static struct attr graph_attr(const char *name, const uint32_t *id) {
    return (struct attr){.name = name, .kind = ATTR_GRAPH, .n = 1, .graphs = id};
}

static void add_bodies(struct op_bench *bench, const struct control_case *row) {
    static const uint32_t ids[] = {1, 2};
    struct graph *graphs = arena_array(bench->arena, 1 + MAX_BODIES, sizeof *graphs);
    struct attr *attrs = arena_array(bench->arena, 8, sizeof *attrs);
    size_t n = bench->node.n_attrs;
    graphs[0].parent = ID_NONE;
    for (size_t i = 1; i <= MAX_BODIES; i++) {
        graphs[i].n_inputs = row->body_inputs;
        graphs[i].n_outputs = row->body_outputs;
    }
    for (size_t i = 0; i < n; i++) attrs[i] = bench->node.attrs[i];
    attrs[n++] = graph_attr(row->bodies[1] ? "then_branch" : "body", &ids[0]);
    if (row->bodies[1]) attrs[n++] = graph_attr("else_branch", &ids[1]);
    bench->model.graphs = graphs;
    bench->model.n_graphs = 1 + MAX_BODIES;
    bench->node.attrs = attrs;
    bench->node.n_attrs = (uint32_t)n;
}

static void print_outputs(const struct op_context *context, struct text *out) {
    for (size_t i = 0; i < context->n_outputs; i++) {
        if (i) text_append(out, "; ");
        print_value_info(&context->outputs[i], out);
    }
}

static void check_row_with(const struct control_case *row, bool (*may_search)(void *),
                           int most_walks) {
    static const char *const words[] = {"", "?", "? ?", "? ? ?"};
    const struct op_case plain = {.op = row->op,
                                  .attrs = row->attrs,
                                  .inputs = row->inputs,
                                  .outputs = words[row->n_outputs]};
    struct op_bench *bench = op_bench_open(&plain);
    struct stage stage = {row, bench->arena, {NOT_REPORTED, NOT_REPORTED}, 0};
    const struct op_walker walker = {
        .walk = walk, .runs = runs, .context = &stage, .may_search = may_search};
    struct text text;
    add_bodies(bench, row);
    bench->context.walker = &walker;
    text_init(&text, bench->arena);
    if (bench->context.op->infer(&bench->context) < 0)
        text_append(&text, op_bench_message(bench));
    else
        print_outputs(&bench->context, &text);
    if (!strstr(text_string(&text), row->outputs))
        fail_msg("%s(%s): have %s, want %s", row->op, row->inputs, text_string(&text),
                 row->outputs);
    for (size_t i = 0; i < MAX_BODIES; i++)
        if (row->runs[i] && stage.runs[i] != (row->runs[i] == NO_RUNS ? 0 : row->runs[i]))
            fail_msg("%s(%s): body %zu runs %lld times", row->op, row->inputs, i,
                     (long long)stage.runs[i]);
    assert_true(stage.walks <= most_walks);
    op_bench_close(bench);
}

static void check_row(const struct control_case *row) {
    check_row_with(row, NULL, 4);
}

#define CHECK_ROWS(rows)                                                                       \
    for (size_t row_ = 0; row_ < sizeof rows / sizeof *rows; row_++) check_row(&rows[row_])

/* `runs` in a row: 0 is not compared, NO_RUNS expects no run. */
#define IF_ROW(inputs_, outputs_, left, right, runs_left, runs_right)                          \
    {                                                                                          \
        "If-13", NULL, inputs_, outputs_, 0, 1, 1, {left, right}, {                            \
            runs_left, runs_right                                                              \
        }                                                                                      \
    }

static void if_infers_the_static_branch_or_joins_both(void **state) {
    static const struct control_case rows[] = {
        IF_ROW("bool[]={1}", "f32[2,3]", gives_2_3, gives_2_4, 1, NO_RUNS),
        IF_ROW("bool[1]={0}", "f32[2,4]", gives_2_3, gives_2_4, NO_RUNS, 1),
        IF_ROW("bool[]={1}", "f32[2,3]", gives_2_3, gives_int, 1, NO_RUNS),
        IF_ROW("bool[]", "f32[2,?]", gives_2_3, gives_2_4, 1, 1),
        IF_ROW("bool[]", "the same value is float and int64", gives_2_3, gives_int, 0, 0),
        IF_ROW("bool[2]={1,0}", "the condition has 2 elements, expected 1", gives_2_3,
               gives_2_4, 0, 0),
        {"If-13",
         NULL,
         "bool[]",
         "the body has 0 outputs, expected at least 1",
         0,
         0,
         1,
         {gives_2_3, gives_2_4},
         {0, 0}},
    };
    (void)state;
    CHECK_ROWS(rows);
}

#define LOOP_ROW(inputs_, outputs_, body, runs_)                                               \
    {                                                                                          \
        "Loop-13", NULL, inputs_, outputs_, 3, 3, 2, {body, NULL}, {                           \
            runs_, 0                                                                           \
        }                                                                                      \
    }

static void loop_reports_its_trip_count(void **state) {
    static const struct control_case rows[] = {
        LOOP_ROW("int64[]={5} bool[]={1} float[2,3]", "f32[2,3]; f32[5,2,3]", loops_on, 5),
        LOOP_ROW("int64[1]={5} - float[2,3]", "f32[2,3]; f32[5,2,3]", loops_on, 5),
        LOOP_ROW("int64[]={5} - float[2]={1,2}", "f32[2]; f32[5,2]", loops_on, 5),
        LOOP_ROW("int64[] bool[]={1} float[2,3]", "f32[2,3]; f32[?,2,3]", loops_on,
                 DIM_UNKNOWN),
        LOOP_ROW("int64[]={5} bool[] float[2,3]", "f32[2,3]; f32[?,2,3]", loops_on,
                 DIM_UNKNOWN),
        LOOP_ROW("int64[]={5} bool[]={1} float[2,3]", "f32[2,3]; f32[?,2,3]", loops_while,
                 DIM_UNKNOWN),
        LOOP_ROW("int64[]={9223372036854775807} - float[2]", "f32[2]; f32[?,2]", loops_on,
                 DIM_UNKNOWN),
        LOOP_ROW("- - float[2]", "f32[2]; f32[?,2]", loops_while, DIM_UNKNOWN),
        LOOP_ROW("- bool[]={1} float[2]", "f32[2]; f32[1,2]", stops_at_once, 1),
        LOOP_ROW("int64[]={5} - float[2]", "f32[2]; f32[1,2]", stops_at_once, 1),
        LOOP_ROW("int64[]={0} - float[2]", "f32[2]; f32[0,2]", loops_on, NO_RUNS),
        LOOP_ROW("int64[]={-3} - float[2]", "f32[2]; f32[0,2]", loops_on, NO_RUNS),
        LOOP_ROW("int64[] bool[]={0} float[2,3]", "f32[2,3]; f32[0,?,3]", grows, NO_RUNS),
    };
    (void)state;
    CHECK_ROWS(rows);
}

static void loop_keeps_infos_that_hold_in_every_iteration(void **state) {
    static const struct control_case rows[] = {
        LOOP_ROW("int64[]={5} - float[2,3]", "f32[?,3]; f32[5,?,3]", grows, 5),
        LOOP_ROW("int64[]={5} - float[2,3]", "f32[?...]; f32[?...]", deepens, 5),
        LOOP_ROW("int64[]={5} - float[2,3]", "is float and int64", changes_type, 0),
        LOOP_ROW("int64[] - float[2,3]", "?; ?", wraps, DIM_UNKNOWN),
        LOOP_ROW("int64[]={5}", "the body has 3 inputs, expected 2", loops_on, 0),
        LOOP_ROW("int64[2]={5,5} - float[]", "f32[]; f32[?]", loops_on, DIM_UNKNOWN),
    };
    (void)state;
    CHECK_ROWS(rows);
}

#define SCAN_ROW(op_, attrs_, inputs_, outputs_, runs_)                                        \
    {                                                                                          \
        op_, attrs_, inputs_, outputs_, 2, 2, 2, {scans, NULL}, {                              \
            runs_, 0                                                                           \
        }                                                                                      \
    }

static bool never(void *context) {
    (void)context;
    return false;
}

/* The body is walked once, with dtypes only: shapes may change between iterations. */
static void loop_keeps_only_types_if_the_search_limit_is_reached(void **state) {
    static const struct control_case row =
        LOOP_ROW("int64[]={5} - float[2,3]", "f32[?...]; f32[?...]", grows, 5);
    (void)state;
    check_row_with(&row, never, 1);
}

static void scan_runs_along_an_axis(void **state) {
    static const struct control_case rows[] = {
        SCAN_ROW("Scan-9", "num_scan_inputs=1", "float[4] float[7,2,3]", "f32[4]; f32[7,2,3]",
                 7),
        SCAN_ROW("Scan-11", "num_scan_inputs=1 scan_input_axes=[1] scan_output_axes=[-1]",
                 "float[4] float[7,2,3]", "f32[4]; f32[7,3,2]", 2),
        SCAN_ROW("Scan-9", "num_scan_inputs=1", "float[4] float[?,2]", "f32[4]; f32[?,2]",
                 DIM_UNKNOWN),
        SCAN_ROW("Scan-9", "num_scan_inputs=1", "float[4] float[*]", "f32[4]; f32[?...]",
                 DIM_UNKNOWN),
        SCAN_ROW("Scan-8", "num_scan_inputs=1", "- float[5,4] float[5,7,2]",
                 "f32[5,4]; f32[5,7,2]", 35),
        SCAN_ROW("Scan-8", "num_scan_inputs=1", "- float[5,4] float[6,7,2]",
                 "operands have batch 5 and 6", 0),
        SCAN_ROW(
            "Scan-8", "num_scan_inputs=1",
            "- float[4611686018427387904,0] float[4611686018427387904,2,0]",
            "the body runs 2 times for each of 4611686018427387904 of the batch, past 2^63", 0),
        SCAN_ROW("Scan-9", "num_scan_inputs=2", "float[4,2] float[3,2]",
                 "operands have length 4 and 3", 0),
        SCAN_ROW("Scan-9", "num_scan_inputs=3", "float[4] float[3]",
                 "num_scan_inputs is 3 of 2 operands", 0),
        SCAN_ROW("Scan-9", "num_scan_inputs=1", "float[4] float[]", "out of range", 0),
    };
    (void)state;
    CHECK_ROWS(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(if_infers_the_static_branch_or_joins_both),
        cmocka_unit_test(loop_reports_its_trip_count),
        cmocka_unit_test(loop_keeps_infos_that_hold_in_every_iteration),
        cmocka_unit_test(loop_keeps_only_types_if_the_search_limit_is_reached),
        cmocka_unit_test(scan_runs_along_an_axis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
