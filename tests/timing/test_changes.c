/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of a modelled run: each gain is the difference of the times of two runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model_harness.h"
#include "tests/temporary.h"
#include "timed_harness.h"

#include "timing/advice.h"
#include "timing/changes.h"
#include "timing/times.h"

/* Products that take most of the time, an elementwise chain and a Concat. */
static const char network[] =
    "in x float[8,64,56,56]\ninit a.weight float[64,64,3,3]\ninit b.weight float[64,128,1,1]\n"
    "node c Conv x a.weight -> p pads=[1,1,1,1]\nnode r Relu p -> q\n"
    "node k Concat q p -> s axis=1\nnode d Conv s b.weight -> t\nnode e Exp t -> y\nout y\n";
static const char small[] = "in x float[1,8]\nnode s Softmax x -> p\nnode e Exp p -> q\n"
                            "node l LogSoftmax q -> y\nout y\n";

static struct bench *run(const char *lines, const struct cm_options *options) {
    struct bench *bench = timed_run(lines, options);
    assert_int_equal(bench->status, CM_OK);
    assert_int_equal(changes_evaluate(bench->timing), CM_OK);
    return bench;
}

static int64_t time_with(const char *lines, const struct cm_options *options) {
    struct bench *bench = timed_run(lines, options);
    const int64_t time = bench->timing->times->of_module[0].latency_ps;
    bench_close(bench);
    return time;
}

static const struct cm_advice *find(const struct bench *bench, const char *name) {
    const struct advice_table *table = bench->timing->advice;
    for (size_t i = 0; i < table->n; i++)
        if (strcmp(table->items[i].name, name) == 0) return &table->items[i];
    return NULL;
}

static const struct cm_options base = {.memory_alignment = 1,
                                       .backend = "roofline:device=titan-rtx",
                                       .runtime = CM_RUNTIME_TORCH_EAGER};

static void assert_gain(const struct cm_advice *advice, int64_t before, int64_t after) {
    assert_non_null(advice);
    assert_true(llabs(advice->gain_ps - (before - after)) < 1000);
}

/* Each time is that of a run with the options of all changes so far. */
static void gains_are_differences_of_runs(void **state) {
    struct bench *bench = run(network, &base);
    const struct advice_table *table = bench->timing->advice;
    struct cm_options options = base;
    int64_t before = time_with(network, &options);
    int64_t sum = 0;
    (void)state;
    assert_string_equal(table->items[0].name, "half-precision");
    options.precision = CM_PRECISION_FP16;
    assert_gain(&table->items[0], before, time_with(network, &options));
    before = time_with(network, &options);
    options.runtime = CM_RUNTIME_TENSORRT;
    assert_gain(find(bench, "tensorrt"), before, time_with(network, &options));
    assert_non_null(strstr(find(bench, "tensorrt")->text, "(--runtime tensorrt)"));
    for (size_t i = 0; i < table->n; i++) sum += table->items[i].gain_ps;
    assert_true(sum < time_with(network, &base));
    bench_close(bench);
}

static void changes_that_do_not_apply_are_not_advised(void **state) {
    struct cm_options options = base;
    (void)state;
    options.precision = CM_PRECISION_FP16;
    options.runtime = CM_RUNTIME_TENSORRT;
    struct bench *bench = run(network, &options);
    assert_null(find(bench, "half-precision"));
    assert_null(find(bench, "tensorrt"));
    assert_null(find(bench, "torch-compile"));
    assert_null(find(bench, "channels-last"));
    bench_close(bench);
}

/* Runs the lines on a device with these members of its file. */
static struct bench *run_on(const char *device, const char *lines, struct cm_options options) {
    char path[TEMPORARY_PATH];
    char backend[TEMPORARY_PATH + 32];
    temporary_path(path);
    assert_non_null(mkdtemp(path));
    snprintf(backend, sizeof(backend), "roofline:device=%s/a.json", path);
    const char *name = strchr(backend, '/');
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    assert_true(fprintf(file, "{\"schema\": \"costmodel/device/1\", \"name\": \"a\", %s}",
                        device) >= 0);
    assert_int_equal(fclose(file), 0);
    options.backend = backend;
    struct bench *bench = run(lines, &options);
    assert_int_equal(remove(name), 0);
    assert_int_equal(remove(path), 0);
    return bench;
}

/* In fp16, eager mode turns images in NCHW to channels-last and back. A compiler avoids this
 * too, and nothing else here. */
static void layout_is_evaluated(void **state) {
    static const char device[] =
        "\"rates\": {\"matrix_fp16\": 1e14, \"fp32\": 1e13}, \"bandwidth\": 1e12,"
        " \"calibration\": {\"basis\": \"a test\", \"torch-eager\": {\"convolution\": 1,"
        " \"bandwidth\": 1, \"launch\": 1e-6, \"host\": 1e-6}}";
    static const char conv[] = "in x float[8,64,56,56]\ninit w float[64,64,3,3]\n"
                               "node c Conv x w -> y pads=[1,1,1,1]\nout y\n";
    struct cm_options options = base;
    (void)state;
    options.precision = CM_PRECISION_FP16;
    options.layout = CM_LAYOUT_NCHW;
    struct bench *bench = run_on(device, conv, options);
    const struct cm_advice *advice = find(bench, "channels-last");
    assert_non_null(advice);
    assert_non_null(strstr(advice->text, "Take --layout nhwc"));
    bench_close(bench);
}

/* The concatenation writes 51 MB; the nodes of the advice are those that become faster. */
static void copies_are_left_out(void **state) {
    struct bench *bench = run(network, &base);
    const struct cm_advice *advice = find(bench, "copies");
    (void)state;
    assert_non_null(advice);
    assert_non_null(strstr(advice->text, "Look for layouts that avoid transposes"));
    assert_int_equal(advice->n_nodes, 1);
    assert_int_equal(advice->nodes[0], bench_node(bench, "k"));
    bench_close(bench);
}

/* The host takes longer to launch a kernel than the device to run it. Its 10 us for each run
 * stay. */
static void a_graph_saves_the_time_of_the_host(void **state) {
    static const char device[] =
        "\"architecture\": \"sm_90\", \"rates\": {\"fp32\": 1e13}, \"bandwidth\": 1e12,"
        " \"calibration\": {\"basis\": \"a test\", \"tensorrt\": {\"host\": 1e-4}}";
    struct cm_options options = base;
    (void)state;
    options.runtime = CM_RUNTIME_TENSORRT;
    struct bench *bench = run_on(device, small, options);
    const struct cm_advice *advice = find(bench, "graph");
    assert_non_null(advice);
    assert_non_null(strstr(advice->text, "Replay the kernels as one CUDA graph"));
    assert_int_equal(advice->gain_ps, bench->timing->times->host_ps - 10000000);
    assert_int_equal(advice->n_nodes, 0);
    bench_close(bench);
}

/* It comes last, and counts the time of half of the work. */
static void batch_is_doubled_last(void **state) {
    struct bench *bench = run(small, &base);
    const struct advice_table *table = bench->timing->advice;
    (void)state;
    assert_string_equal(table->items[table->n - 1].name, "batch");
    assert_string_equal(table->items[table->n - 1].text,
                        "Take twice the batch. The gain is that of each sample.");
    assert_true(table->items[table->n - 1].gain_ps <
                bench->timing->times->of_module[0].latency_ps / 2);
    bench_close(bench);
}

/* Twice the batch does not fit in the memory of the device. */
static void batch_that_does_not_fit_has_no_gain(void **state) {
    struct bench *bench = run_on("\"rates\": {\"fp32\": 1e13}, \"bandwidth\": 1e12,"
                                 " \"memory_bytes\": 100",
                                 small, base);
    const struct cm_advice *advice = find(bench, "batch");
    (void)state;
    assert_non_null(advice);
    assert_int_equal(advice->gain_ps, CM_UNKNOWN);
    assert_int_equal(advice->n_nodes, 0);
    bench_close(bench);
}

/* A run without kernels takes no time. */
static void a_model_of_views_gets_no_advice(void **state) {
    struct bench *bench = run("in x float[1,4,8]\nnode f Flatten x -> y\nout y\n", &base);
    (void)state;
    assert_int_equal(bench->timing->times->of_module[0].latency_ps, 0);
    assert_int_equal(bench->timing->advice->n, 0);
    bench_close(bench);
}

static void a_device_without_matrix_units_gets_no_half_precision(void **state) {
    struct cm_options options = base;
    (void)state;
    options.backend = "roofline:device=gtx-1080";
    struct bench *bench = run(network, &options);
    assert_null(find(bench, "half-precision"));
    assert_non_null(strstr(find(bench, "tensorrt")->text,
                           "No times of this runtime on the device are known."));
    bench_close(bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gains_are_differences_of_runs),
        cmocka_unit_test(changes_that_do_not_apply_are_not_advised),
        cmocka_unit_test(layout_is_evaluated),
        cmocka_unit_test(copies_are_left_out),
        cmocka_unit_test(a_graph_saves_the_time_of_the_host),
        cmocka_unit_test(batch_is_doubled_last),
        cmocka_unit_test(a_model_of_views_gets_no_advice),
        cmocka_unit_test(batch_that_does_not_fit_has_no_gain),
        cmocka_unit_test(a_device_without_matrix_units_gets_no_half_precision),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
