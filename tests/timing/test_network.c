/* SPDX-License-Identifier: Apache-2.0 */
/* --end-to-end: the layers of the network, their order, and the places of their operands. */
#include "timing/network.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "backends/primitive.h"
#include "model_harness.h"
#include "support/diag.h"
#include "timed_harness.h"

static struct bench *open_with(const char *lines, const char *table) {
    const struct cm_options options = {.memory_alignment = 1, .end_to_end = true};
    return timed_open_with(lines, table, &options);
}

static struct network build(const struct bench *bench) {
    struct network network;
    assert_int_equal(network_build(bench->timing, bench->timing->estimate, &network), CM_OK);
    return network;
}

static bool same(struct cm_place a, struct cm_place b) {
    return a.block == b.block && a.offset == b.offset;
}

/* x -> a -> relu -> (flatten) -> fc -> fc again, with the same weight. */
static const char chain[] =
    "in x float[1,4,3,3]\ninit a.weight float[4,4,1,1]\ninit w float[36,36]\n"
    "node a Conv x a.weight -> p\nnode r Relu p -> q\nnode f Flatten q -> g\n"
    "node m MatMul g w -> s\nnode n MatMul s w -> t\nout t\n";

static void each_layer_reads_the_output_of_its_producer(void **state) {
    struct bench *bench = open_with(chain, "conv: 1\neltwise: 1\ngemm: 1\nnetwork: 3\n");
    const struct network built = build(bench);
    const struct cm_network_step *steps = built.network.steps;
    (void)state;
    assert_null(built.why_not);
    assert_int_equal(built.network.n_steps, 4);
    assert_int_equal(built.network.n_primitives, 3); /* both products are the same primitive */
    assert_true(same(steps[0].outputs[0], steps[1].inputs[0]));
    assert_true(same(steps[1].outputs[0], steps[2].inputs[0])); /* through a view */
    assert_true(same(steps[2].outputs[0], steps[3].inputs[0]));
    assert_true(same(steps[2].inputs[1], steps[3].inputs[1])); /* one copy of the weight */
    assert_false(same(steps[1].inputs[0], steps[1].outputs[0]));
    assert_int_equal(steps[0].inputs[1].block, CM_BLOCK_WEIGHTS);
    assert_int_equal(steps[0].inputs[0].block, CM_BLOCK_ARENA);
    assert_int_equal(built.network.weight_bytes, 256 + 5376); /* 64 and 5184, aligned */
    assert_int_equal(built.network.arena_bytes, 2 * 256);     /* two of 144 bytes, aligned */
    bench_close(bench);
}

static void every_operand_is_inside_its_block(void **state) {
    struct bench *bench = open_with(chain, "conv: 1\neltwise: 1\ngemm: 1\nnetwork: 3\n");
    const struct cm_network network = build(bench).network;
    (void)state;
    for (uint32_t i = 0; i < network.n_steps; i++) {
        const struct cm_primitive *primitive = &network.primitives[network.steps[i].primitive];
        for (int32_t k = 0; k < primitive->n_inputs; k++)
            assert_true(
                primitive_fits(&primitive->inputs[k], network.steps[i].inputs[k], &network));
        assert_true(
            primitive_fits(&primitive->outputs[0], network.steps[i].outputs[0], &network));
    }
    bench_close(bench);
}

static void layers_without_a_time_are_not_in_the_network(void **state) {
    struct bench *bench =
        open_with(chain, "conv: crash\neltwise: 1 / 0.5\ngemm: 2\nnetwork: 3\n");
    const struct network_time *time = &bench->timing->estimate->network;
    const struct cm_network network = build(bench).network;
    (void)state;
    assert_int_equal(network.n_steps, 3);
    assert_int_equal(network.n_primitives, 2);
    assert_int_equal(network.primitives[network.steps[0].primitive].kind, CM_ELTWISE);
    assert_int_equal(network.primitives[network.steps[1].primitive].kind, CM_GEMM);
    assert_int_equal(network.primitives[network.steps[2].primitive].kind, CM_GEMM);
    assert_false(time->included[0]);
    assert_true(time->included[1]);
    assert_int_equal(time->sum_cold_ps, 5000000000000);
    assert_int_equal(time->sum_warm_ps, 4500000000000);
    assert_true(time->measurement.warm.median == 3);
    bench_close(bench);
}

/* p is alive until the last step, together with two other values. */
static void long_lived_value_keeps_its_place(void **state) {
    struct bench *bench = open_with("in x float[64]\nnode a Relu x -> p\nnode b Relu p -> q\n"
                                    "node c Relu q -> r\nnode d Add p r -> s\nout s\n",
                                    "eltwise: 1\nnetwork: 3\n");
    const struct network built = build(bench);
    const struct cm_network_step *steps = built.network.steps;
    (void)state;
    assert_int_equal(built.network.arena_bytes, 3 * 256);
    assert_true(same(steps[0].outputs[0], steps[3].inputs[0]));
    for (int i = 1; i < 3; i++) assert_false(same(steps[0].outputs[0], steps[i].outputs[0]));
    bench_close(bench);
}

static void networks_with_control_flow_are_not_run(void **state) {
    struct bench *bench =
        open_with("in x float[4]\nconst n int64[] =5\nconst c bool[] =1\n"
                  "body body\nin i int64[]\nin k bool[]\nin h float[4]\n"
                  "node r Relu h -> g\nnode - Identity k -> k2\nout k2\nout g\nclose\n"
                  "node l Loop n c x -> y\nout y\n",
                  "eltwise: 0.001\nnetwork: 1\n");
    (void)state;
    assert_string_equal(bench->timing->estimate->network.measurement.reason.text,
                        "the model has control flow, whose trip counts are data-dependent");
    bench_close(bench);
}

static void network_requires_at_least_one_measured_layer(void **state) {
    struct bench *bench = open_with(chain, "network: 1\n");
    (void)state;
    assert_string_equal(bench->timing->estimate->network.measurement.reason.text,
                        "no layer was run");
    bench_close(bench);
}

static void notes_a_network_time_outside_the_sums_of_its_layers(void **state) {
    static const struct {
        const char *table;
        const char *messages;
    } cases[] = {
        {"eltwise: 1 / 0.5\nnetwork: 4\n",
         "note[backend]: the whole network takes 2.00 times the sum of its cold layer "
         "times: work between the layers is not measured"},
        {"eltwise: 1 / 0.5\nnetwork: 0.25\n",
         "note[backend]: the whole network takes 0.25 times the sum of its warm layer "
         "times: layers overlap, or a layer was measured differently"},
        {"eltwise: 1 / 0.5\nnetwork: 1.5\n", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench *bench = open_with("in x float[4]\nnode a Relu x -> p\n"
                                        "node b Abs p -> q\nout q\n",
                                        cases[i].table);
        assert_string_equal(bench_messages(bench), cases[i].messages);
        bench_close(bench);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_layer_reads_the_output_of_its_producer),
        cmocka_unit_test(every_operand_is_inside_its_block),
        cmocka_unit_test(layers_without_a_time_are_not_in_the_network),
        cmocka_unit_test(long_lived_value_keeps_its_place),
        cmocka_unit_test(networks_with_control_flow_are_not_run),
        cmocka_unit_test(network_requires_at_least_one_measured_layer),
        cmocka_unit_test(notes_a_network_time_outside_the_sums_of_its_layers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
