/* SPDX-License-Identifier: Apache-2.0 */
/* The layers of a sweep: which nodes share one, and its speed-ups, computed by hand. */
#include "api/sweep.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/arena.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))
#define NODES    6
#define NONE     CM_UNKNOWN

/* Two convolutions, a third one, a relu, a view and a matrix product. */
static const char *const ops[NODES] = {"Conv", "Conv", "Conv", "Relu", "Reshape", "MatMul"};

static const size_t alike[] = {0, 1};
static const size_t three[] = {0, 1, 2};
static const size_t third[] = {2};
static const size_t third_and_relu[] = {2, 3};
static const size_t relu[] = {3};
static const size_t view[] = {4};
static const size_t product[] = {5};

#define PRIMITIVE(text_, state_, nodes_)                                                       \
    {                                                                                          \
        .primitive = text_, .state = state_, .provider = "p", .algorithm = "a",                \
        .tensor_cores = "no", .n_nodes = N(nodes_), .nodes = nodes_                            \
    }

/* fp32: the three convolutions are one primitive. */
static const struct cm_timed fp32[] = {
    PRIMITIVE("conv f32", "modelled", three),
    PRIMITIVE("relu f32", "modelled", relu),
    PRIMITIVE("view", "view", view),
    PRIMITIVE("gemm f32", "modelled", product),
};

/* fp16: the third convolution is another one, fused with the relu. */
static const struct cm_timed fp16[] = {
    PRIMITIVE("conv f16", "modelled", alike),
    PRIMITIVE("conv f16 + relu", "modelled", third_and_relu),
    PRIMITIVE("view", "view", view),
    PRIMITIVE("gemm f16", "modelled", product),
};

/* The product has no time. */
static const struct cm_timed bf16[] = {
    PRIMITIVE("conv bf16", "modelled", alike),
    PRIMITIVE("conv bf16", "modelled", third),
    PRIMITIVE("relu bf16", "modelled", relu),
    PRIMITIVE("gemm bf16", "unsupported", product),
};

struct profile {
    const struct cm_timed *primitives;
    size_t n_primitives;
    int64_t batch;
    int64_t latency_ps[NODES];
    int64_t total_ps;
};

static const struct profile in_fp32 = {fp32, N(fp32), 1, {600, 600, 600, 100, 0, 2000}, 3900};
static const struct profile in_fp16 = {fp16, N(fp16), 1, {200, 200, 400, 25, 0, 800}, 1625};
static const struct profile in_bf16 = {bf16, N(bf16), 1, {200, 200, 300, 50, 0, NONE}, 750};
/* 8 samples take 4 times as long as one. */
static const struct profile by_8 = {fp32, N(fp32), 8, {2400, 2400, 2400, 400, 0, 8000}, 15600};

#define MAX_ROWS 3

struct fixture {
    struct arena *arena;
    struct arena *result_arena;
    struct cm_sweep_row rows[MAX_ROWS];
    struct cm_sweep sweep;
};

static void take(struct sweep_layers *layers, size_t row, const struct profile *profile) {
    static const struct cm_module root = {.path = "net"};
    struct cm_node nodes[NODES] = {0};
    const struct cm_measure measure = {.problem = "",
                                       .n_primitives = profile->n_primitives,
                                       .primitives = profile->primitives};
    const struct cm_result result = {.n_modules = 1,
                                     .modules = &root,
                                     .n_nodes = NODES,
                                     .nodes = nodes,
                                     .measure = &measure};
    for (size_t i = 0; i < NODES; i++) {
        nodes[i].op = ops[i];
        nodes[i].name = ops[i];
        nodes[i].costs.latency_ps = profile->latency_ps[i];
    }
    sweep_layers_add(layers, row, &result);
}

/* Fills f->sweep with the layers of the profiles; NULL is a row that failed. */
static void find(struct fixture *f, const struct profile *const *profiles, size_t n) {
    struct sweep_layers layers;
    *f = (struct fixture){.arena = arena_new("test", 0), .result_arena = arena_new("test", 0)};
    assert_non_null(f->arena);
    assert_non_null(f->result_arena);
    layers =
        (struct sweep_layers){.arena = f->arena, .result_arena = f->result_arena, .n_rows = n};
    for (size_t i = 0; i < n; i++) {
        f->rows[i] = (struct cm_sweep_row){.batch = profiles[i] ? profiles[i]->batch : NONE,
                                           .speedup = NONE};
        f->rows[i].costs.latency_ps = profiles[i] ? profiles[i]->total_ps : NONE;
        if (profiles[i] != NULL) take(&layers, i, profiles[i]);
    }
    f->sweep = (struct cm_sweep){.n_rows = n, .rows = f->rows};
    sweep_layers_finish(&layers, f->rows, &f->sweep);
    assert_false(arena_failed(f->arena) || arena_failed(f->result_arena));
}

static void tear_down(struct fixture *f) {
    arena_free(f->arena);
    arena_free(f->result_arena);
}

static void expect_layer(const struct fixture *f, size_t i, const char *op, int64_t nodes,
                         int64_t first_ps, int64_t second_ps, int64_t speedup) {
    const struct cm_sweep_layer *layer = &f->sweep.layers[i];
    assert_string_equal(layer->op, op);
    assert_string_equal(layer->path, "net");
    assert_int_equal(layer->nodes, nodes);
    assert_int_equal(layer->n_times, f->sweep.n_rows);
    assert_int_equal(layer->times[0].latency_ps, first_ps);
    assert_int_equal(layer->times[1].latency_ps, second_ps);
    assert_int_equal(layer->times[1].speedup, speedup);
}

/* Speed-ups: 2000 / 800, (600 + 600) / (200 + 200), 600 / 400, 100 / 25. */
static void groups_nodes_that_share_a_primitive_in_every_row(void **state) {
    const struct profile *const profiles[] = {&in_fp32, &in_fp16};
    struct fixture f;
    (void)state;
    find(&f, profiles, 2);
    assert_int_equal(f.sweep.n_layers, 4);
    expect_layer(&f, 0, "MatMul", 1, 2000, 800, 2500000);
    expect_layer(&f, 1, "Conv", 2, 1200, 400, 3000000);
    expect_layer(&f, 2, "Conv", 1, 600, 400, 1500000);
    expect_layer(&f, 3, "Relu", 1, 100, 25, 4000000);
    assert_int_equal(f.sweep.layers[0].times[0].speedup, CM_RATIO_ONE);
    assert_string_equal(f.sweep.layers[2].times[1].primitive, "conv f16 + relu");
    assert_string_equal(f.sweep.layers[3].times[1].primitive, "conv f16 + relu");
    assert_int_equal(f.rows[0].speedup, CM_RATIO_ONE);
    assert_int_equal(f.rows[1].speedup, 2400000); /* 3900 / 1625 */
    tear_down(&f);
}

static void has_no_total_speedup_if_a_layer_has_a_time_in_one_row_only(void **state) {
    const struct profile *const profiles[] = {&in_fp32, &in_fp16, &in_bf16};
    struct fixture f;
    (void)state;
    find(&f, profiles, 3);
    const struct cm_layer_time *product_time = &f.sweep.layers[0].times[2];
    assert_string_equal(product_time->state, "unsupported");
    assert_int_equal(product_time->latency_ps, NONE);
    assert_int_equal(product_time->speedup, NONE);
    assert_int_equal(f.sweep.layers[1].times[2].speedup, 3000000); /* 1200 / 400 */
    assert_int_equal(f.rows[1].speedup, 2400000);
    assert_int_equal(f.rows[2].speedup, NONE);
    tear_down(&f);
}

/* 8 samples in 4 times the time of one: each takes half as long. */
static void speedup_between_batches_is_per_sample(void **state) {
    const struct profile *const profiles[] = {&in_fp32, &by_8};
    struct fixture f;
    (void)state;
    find(&f, profiles, 2);
    assert_int_equal(f.sweep.n_layers, 3);
    expect_layer(&f, 0, "MatMul", 1, 2000, 8000, 2000000);
    expect_layer(&f, 1, "Conv", 3, 1800, 7200, 2000000);
    assert_int_equal(f.rows[1].speedup, 2000000);
    tear_down(&f);
}

static void a_failed_row_has_no_times(void **state) {
    const struct profile *const profiles[] = {NULL, &in_fp16};
    struct fixture f;
    (void)state;
    find(&f, profiles, 2);
    assert_int_equal(f.sweep.n_layers, 3);
    expect_layer(&f, 0, "Conv", 2, NONE, 400, NONE);
    assert_string_equal(f.sweep.layers[0].times[0].state, "");
    assert_int_equal(f.rows[1].speedup, NONE);
    tear_down(&f);
}

static void lists_no_layers_if_all_rows_failed(void **state) {
    const struct profile *const profiles[] = {NULL, NULL};
    struct fixture f;
    (void)state;
    find(&f, profiles, 2);
    assert_int_equal(f.sweep.n_layers, 0);
    tear_down(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_nodes_that_share_a_primitive_in_every_row),
        cmocka_unit_test(has_no_total_speedup_if_a_layer_has_a_time_in_one_row_only),
        cmocka_unit_test(speedup_between_batches_is_per_sample),
        cmocka_unit_test(a_failed_row_has_no_times),
        cmocka_unit_test(lists_no_layers_if_all_rows_failed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
