/* SPDX-License-Identifier: Apache-2.0 */
/* Imported times: assignment of layers to nodes and modules, and refused combinations. */
#include "costmodel/times.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define POINTNET  TEST_MODELS_DIR "/pointnet.onnx"
#define MAX_FILES 2

static struct cm_times *load(const char *text, const char *name) {
    struct cm_times *times = NULL;
    assert_int_equal(cm_times_load_memory(text, strlen(text), name, NULL, &times), CM_OK);
    return times;
}

/* Profiles PointNet with the times of these texts (NULL: none). */
static int profile(const char *const texts[MAX_FILES], const char *backend,
                   struct cm_diagnostics *diag, struct cm_result **ret) {
    struct cm_model *model = NULL;
    struct cm_times *times[MAX_FILES] = {NULL, NULL};
    struct cm_options options;
    cm_options_init(&options);
    for (size_t i = 0; i < MAX_FILES && texts[i] != NULL; i++)
        times[options.n_times++] = load(texts[i], i == 0 ? "first" : "second");
    options.times = (const struct cm_times *const *)times;
    options.backend = backend;
    assert_int_equal(cm_model_load_file(POINTNET, NULL, &model), CM_OK);
    const int status = cm_model_profile(model, &options, diag, ret);
    cm_model_free(model);
    for (size_t i = 0; i < MAX_FILES; i++) cm_times_free(times[i]);
    return status;
}

static struct cm_result *profile_well(const char *first, const char *second) {
    const char *const texts[] = {first, second};
    struct cm_result *result = NULL;
    assert_int_equal(profile(texts, NULL, NULL, &result), CM_OK);
    return result;
}

static const struct cm_node *node_of(const struct cm_result *result, const char *name) {
    for (size_t i = 0; i < result->n_nodes; i++)
        if (strcmp(result->nodes[i].name, name) == 0) return &result->nodes[i];
    fail_msg("no node %s", name);
    return NULL;
}

static const struct cm_module *module_of(const struct cm_result *result, const char *path) {
    for (size_t i = 0; i < result->n_modules; i++)
        if (strcmp(result->modules[i].path, path) == 0) return &result->modules[i];
    fail_msg("no module %s", path);
    return NULL;
}

#define STN "/transform/input_transform"

static void splits_a_fused_layer_by_expected_time(void **state) {
    struct cm_result *result = profile_well("node,time_us\n" STN "/conv1/Conv + " STN
                                            "/bn1/BatchNormalization + " STN "/Relu,9\n",
                                            NULL);
    const int64_t conv = node_of(result, STN "/conv1/Conv")->costs.latency_ps;
    const int64_t norm = node_of(result, STN "/bn1/BatchNormalization")->costs.latency_ps;
    const int64_t relu = node_of(result, STN "/Relu")->costs.latency_ps;
    (void)state;
    assert_true(conv > 0 && norm > 0 && relu > 0);
    assert_int_equal(conv + norm + relu, 9000000);
    /* bytes: conv 12288 + 768 + 256 in, 262144 out; norm reads and writes 262144, and four
     * vectors of 64; relu reads and writes 262144 */
    assert_true(conv * (262144 * 2) / relu == 275456 || conv * (262144 * 2) / relu == 275455);
    assert_int_equal(result->totals.latency_ps, 9000000);
    assert_int_equal(module_of(result, "transform.input_transform.conv1")->costs.latency_ps,
                     conv);
    assert_true(result->measure->imported);
    assert_int_equal(result->measure->placed_share, CM_RATIO_ONE);
    assert_string_equal(result->measure->primitives[0].state, "split");
    assert_int_equal(result->measure->primitives[0].n_nodes, 3);
    cm_result_free(result);
}

static void attributes_a_block_to_the_smallest_module_that_contains_it(void **state) {
    struct cm_result *result =
        profile_well("[{\"count\": 1}, {\"name\": \"{ForeignNode[" STN "/conv1/Conv..." STN
                     "/bn2/BatchNormalization]}\", \"averageMs\": 0.004}, {\"name\": \"" STN
                     "/conv3/Conv\", \"averageMs\": 0.002}]",
                     NULL);
    const struct cm_timed *block = &result->measure->primitives[0];
    (void)state;
    assert_int_equal(module_of(result, "transform.input_transform")->costs.latency_ps, 6000000);
    assert_int_equal(module_of(result, "transform.input_transform.conv1")->costs.latency_ps,
                     CM_UNKNOWN);
    assert_int_equal(node_of(result, STN "/conv1/Conv")->costs.latency_ps, CM_UNKNOWN);
    assert_int_equal(result->totals.latency_ps, 6000000);
    assert_string_equal(block->state, "opaque");
    assert_int_equal(block->n_nodes, 0);
    assert_int_equal(block->import.n_inside, 5);
    assert_string_equal(result->modules[block->import.module].path,
                        "transform.input_transform");
    cm_result_free(result);
}

static bool is_partial(const struct cm_result *result, const char *path) {
    return (module_of(result, path)->costs.partial & CM_COST_BIT(latency_ps)) != 0;
}

static void marks_times_that_omit_nodes(void **state) {
    struct cm_result *result = profile_well("node,time_us\n" STN "/conv1/Conv,9\n", NULL);
    (void)state;
    assert_true(result->totals.partial == CM_COST_BIT(latency_ps));
    assert_true(is_partial(result, "transform.input_transform"));
    assert_false(is_partial(result, "transform.input_transform.conv1"));
    assert_int_equal(module_of(result, "fc1")->costs.latency_ps, CM_UNKNOWN);
    assert_true(is_partial(result, "fc1"));
    for (size_t i = 0; i < result->n_operators; i++) {
        const struct cm_costs *costs = &result->operators[i].costs;
        const bool is_conv = strcmp(result->operators[i].op, "Conv") == 0;
        if (is_conv) assert_int_equal(costs->latency_ps, 9000000);
        if (is_conv) assert_int_equal(costs->partial, CM_COST_BIT(latency_ps)); /* 1 of 9 */
    }
    cm_result_free(result);
}

/* Only conv1 has its whole time; the times of its parents omit the nodes inside the block. */
static void only_the_module_of_a_block_has_its_whole_time(void **state) {
    struct cm_result *result = profile_well(
        "[{\"count\": 1}, {\"name\": \"{ForeignNode[" STN
        "/bn1/BatchNormalization.../logsoftmax/LogSoftmax]}\", \"averageMs\": 0.004}, "
        "{\"name\": \"" STN "/conv1/Conv\", \"averageMs\": 0.002}]",
        NULL);
    (void)state;
    assert_int_equal(result->totals.latency_ps, 6000000);
    assert_int_equal(result->totals.partial, 0);
    assert_int_equal(module_of(result, "transform")->costs.latency_ps, 2000000);
    assert_true(is_partial(result, "transform"));
    assert_true(is_partial(result, "transform.input_transform"));
    assert_false(is_partial(result, "transform.input_transform.conv1"));
    cm_result_free(result);
}

static void lists_copies_and_unknown_layers_as_rows_of_their_own(void **state) {
    struct cm_result *result = profile_well(
        "[{\"count\": 1}, {\"name\": \"Reformatting CopyNode for Input Tensor 0 to " STN
        "/conv1/Conv\", \"averageMs\": 0.001}, {\"name\": \"__myl_7\", \"averageMs\": 0.001}, "
        "{\"name\": \"" STN "/conv1/Conv\", \"averageMs\": 0.002}]",
        NULL);
    const struct cm_timed *layers = result->measure->primitives;
    (void)state;
    assert_int_equal(result->measure->n_primitives, 3);
    assert_string_equal(layers[0].state, "copy");
    assert_string_equal(result->modules[layers[0].import.module].path,
                        "transform.input_transform.conv1");
    assert_string_equal(layers[1].state, "unplaced");
    assert_int_equal(layers[1].import.module, 0);
    assert_string_equal(layers[2].state, "imported");
    assert_int_equal(result->totals.latency_ps, 4000000);
    assert_int_equal(result->measure->placed_share, CM_RATIO_ONE * 3 / 4);
    assert_int_equal(module_of(result, "transform.input_transform.conv1")->costs.latency_ps,
                     3000000);
    cm_result_free(result);
}

static void takes_nodes_from_layer_information(void **state) {
    struct cm_result *result =
        profile_well("[{\"count\": 1}, {\"name\": \"__myl_7\", \"averageMs\": 0.001}]",
                     "{\"Layers\": [{\"Name\": \"__myl_7\", \"Metadata\": \"[ONNX Layer: " STN
                     "/Relu]\"}]}");
    (void)state;
    assert_int_equal(node_of(result, STN "/Relu")->costs.latency_ps, 1000000);
    assert_int_equal(result->measure->placed_share, CM_RATIO_ONE);
    cm_result_free(result);
}

/* Reading takes linear time; quadratic time would exceed the limit of a test. */
static void reads_metadata_of_a_million_nodes(void **state) {
    static const char start[] = "[ONNX Layer: ";
    static const char *const ends[] = {"{\"Layers\": [{\"Name\": \"__myl_7\", \"Metadata\": \"",
                                       STN "/Relu]\"}]}"};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    (void)state;
    assert_non_null(out);
    fputs(ends[0], out);
    for (size_t i = 0; i < 1000000; i++) fputs(start, out);
    fputs(ends[1], out);
    assert_int_equal(fclose(out), 0);
    struct cm_result *result =
        profile_well("[{\"count\": 1}, {\"name\": \"__myl_7\", \"averageMs\": 0.001}]", text);
    assert_int_equal(node_of(result, STN "/Relu")->costs.latency_ps, 1000000);
    cm_result_free(result);
    free(text);
}

#define EVENT(name, op, ts, dur)                                                               \
    "{\"cat\": \"Node\", \"name\": \"" name "_kernel_time\", \"ts\": " #ts ", \"dur\": " #dur  \
    ", \"args\": {\"op_name\": \"" op "\", \"output_type_shape\": [{\"float\": [1, 64, "       \
    "1024]}]}},"
#define RUN  "{\"cat\": \"Session\", \"name\": \"model_run\"},"
#define LAST "{\"cat\": \"Session\", \"name\": \"model_run\"}]"

/* Layer information is of TensorRT, whose layers have different names. */
static void ignores_layer_information_of_layers_with_operators(void **state) {
    static const char *const nodes[] = {"/conv1/Conv", "/conv2/Conv", "/conv3/Conv",
                                        "/Relu",       "/Relu_1",     "/Relu_2"};
    char *texts[2] = {NULL, NULL};
    size_t size = 0;
    FILE *out = open_memstream(&texts[0], &size);
    (void)state;
    assert_non_null(out);
    fputs("[", out);
    for (int i = 0; i < 1000; i++)
        fprintf(out,
                "{\"cat\": \"Node\", \"name\": \"x\", \"ts\": %d, \"dur\": 1, "
                "\"args\": {\"op_name\": \"Op%d\"}},",
                i, i);
    fputs(LAST, out);
    assert_int_equal(fclose(out), 0);
    out = open_memstream(&texts[1], &size);
    assert_non_null(out);
    fputs("{\"Layers\": [{\"Name\": \"x\", \"Metadata\": \"", out);
    for (size_t i = 0; i < 6; i++) fprintf(out, "[ONNX Layer: " STN "%s]", nodes[i]);
    fputs("\"}]}", out);
    assert_int_equal(fclose(out), 0);
    struct cm_result *result = profile_well(texts[0], texts[1]);
    size_t n = 0;
    for (size_t i = 0; i < 1000; i++) n += result->measure->primitives[i].n_nodes;
    assert_in_range(n, 1, result->n_nodes);
    cm_result_free(result);
    free(texts[0]);
    free(texts[1]);
}

/* conv1, then norm and relu as one operator, then conv2, which reads
 * the result, or, if that has no layer, conv3 */
static void assigns_an_unnamed_layer_by_dataflow_and_shape(void **state) {
    static const char *const profiles[] = {
        "[" EVENT(STN "/conv1/Conv", "Conv", 1, 5) EVENT("NormRelu_token_1", "NormRelu", 6, 3)
            EVENT(STN "/conv2/Conv", "Conv", 9, 4) LAST,
        "[" EVENT(STN "/conv1/Conv", "Conv", 1, 5) EVENT("NormAct_token_1", "NormAct", 6, 3)
            EVENT(STN "/conv3/Conv", "Conv", 9, 4) LAST,
    };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct cm_result *result = profile_well(profiles[i], NULL);
        const struct cm_timed *layer = &result->measure->primitives[1];
        assert_int_equal(layer->n_nodes, 2);
        assert_string_equal(result->nodes[layer->nodes[0]].name, STN "/Relu");
        assert_string_equal(result->nodes[layer->nodes[1]].name, STN "/bn1/BatchNormalization");
        assert_int_equal(node_of(result, STN "/conv1/Conv")->costs.latency_ps, 5000000);
        cm_result_free(result);
    }
}

static void check_fault(const char *first, const char *second, const char *backend,
                        int expected, const char *message) {
    const char *const texts[] = {first, second};
    struct cm_diagnostics *diag = cm_diagnostics_new();
    struct cm_result *result = NULL;
    assert_int_equal(profile(texts, backend, diag, &result), expected);
    bool is_found = false;
    for (size_t i = 0; i < cm_diagnostics_count(diag); i++)
        if (strstr(cm_diagnostics_get(diag, i)->message, message) != NULL) is_found = true;
    if (!is_found) fail_msg("%s: not among %zu messages", message, cm_diagnostics_count(diag));
    cm_result_free(result);
    cm_diagnostics_free(diag);
}

/* An event of a layer with these arguments. */
#define SHAPED(name, op, arguments)                                                            \
    "{\"cat\": \"Node\", \"name\": \"" STN "/" name                                            \
    "_kernel_time\", \"ts\": 1, \"dur\": 5, \"args\": {\"op_name\": \"" op "\", " arguments    \
    "}},"
#define OUTPUT(dims) "\"output_type_shape\": [{\"float\": [" dims "]}]"
#define INPUTS(dims) "\"input_type_shape\": [{\"float\": [" dims "]}, {\"float\": [64, 3, 1]}]"
#define TRT_PROFILE  "[{\"count\": 1}, {\"name\": \"" STN "/conv1/Conv\", \"averageMs\": 0.1}]"
#define TRT_LAYERS(dims)                                                                       \
    "{\"Layers\": [{\"Name\": \"" STN "/conv1/Conv\", \"Outputs\": [{\"Name\": \"" STN         \
    "/conv1/Conv_output_0\", \"Dimensions\": [" dims "]}]}]}"

#define CSV "node,time_us\n" STN "/Relu,2\n"

static void refuses_times_that_contradict(void **state) {
    (void)state;
    check_fault(CSV, CSV, NULL, CM_USAGE,
                "layer '" STN "/Relu' must have times in one file, got 'first' and 'second'");
    check_fault(CSV, NULL, "fake", CM_USAGE,
                "with imported times the backend must model a device, got 'fake'");
}

static void reports_files_that_match_no_node(void **state) {
    (void)state;
    check_fault("node,time_us\nother,2\n", NULL, NULL, CM_OK,
                "times cannot be imported: no layer of the imported times names a node");
    check_fault("node,time_us\n" STN "/Relu,0\n", NULL, NULL, CM_OK,
                "times cannot be imported: the imported times are all 0");
    check_fault("{\"Layers\": []}", NULL, NULL, CM_OK,
                "times cannot be imported: the imported files have no times");
}

static void warns_of_doubtful_times(void **state) {
    (void)state;
    check_fault(
        CSV "other,1\n", NULL, NULL, CM_OK,
        "1 layer with 33.33% of the imported time matches no node, the first is 'other'");
    check_fault("[" SHAPED("conv1/Conv", "Conv", OUTPUT("8, 64, 1024")) LAST, NULL, NULL, CM_OK,
                "the imported times belong to other shapes: layer '" STN
                "/conv1/Conv' has the output shape [8, 64, 1024] in the imported times, "
                "[1, 64, 1024] in the model");
}

/* Times of other shapes have no rates. One layer of five may have another shape, because
 * optimizers change some. */
static void finds_times_of_other_shapes(void **state) {
    static const char other[] = "layer '" STN "/conv1/Conv' has the output shape [8, 64, 1024] "
                                "in the imported times, [1, 64, 1024] in the model";
    static const char unread[] = "no layer of the imported times reads input 'input', which "
                                 "has the shape [1, 3, 1024] in the model";
    static const struct {
        const char *texts[MAX_FILES];
        const char *other_shape;
    } cases[] = {
        {{"[" SHAPED("conv1/Conv", "Conv", OUTPUT("1, 64, 1024")) LAST}, NULL},
        {{"[" SHAPED("conv1/Conv", "Conv", OUTPUT("1, 1024, 64")) LAST}, NULL}, /* layout */
        {{"[" SHAPED("conv1/Conv", "Conv", OUTPUT("64, 8")) LAST}, NULL},       /* rank */
        {{"[" SHAPED("conv1/Conv", "Conv", OUTPUT("8, 64, 1024")) LAST}, other},
        {{"[" SHAPED("conv1/Conv", "Conv", OUTPUT("8, 64, -1")) LAST}, NULL},
        {{"[" SHAPED("conv1/Conv", "FusedConv", OUTPUT("8, 64, 1024")) LAST}, NULL},
        {{"[" SHAPED("conv1/Conv", "Conv", OUTPUT("8, 64, 1024"))
              SHAPED("conv2/Conv", "Conv", OUTPUT("1, 128, 1024"))
                  SHAPED("conv3/Conv", "Conv", OUTPUT("1, 1024, 1024"))
                      SHAPED("Relu", "Relu", OUTPUT("1, 64, 1024"))
                          SHAPED("Relu_1", "Relu", OUTPUT("1, 128, 1024")) LAST},
         NULL},
        {{"[" SHAPED("conv1/Conv", "FusedConv", INPUTS("1, 3, 1024")) LAST}, NULL},
        {{"[" SHAPED("conv1/Conv", "FusedConv",
                     INPUTS("8, 3, 1024")) "{\"cat\": \"Session\"}]"},
         NULL}, /* ended before the first run did */
        {{"[" SHAPED("conv1/Conv", "FusedConv", INPUTS("8, 3, 1024")) LAST}, unread},
        {{"[" SHAPED("conv1/Conv", "Conv", INPUTS("8, 3, 1024") ", " OUTPUT("8, 64, 1024"))
              LAST},
         other},
        /* the first of several runs does not count, all others do */
        {{"[" SHAPED("conv1/Conv", "Conv", INPUTS("8, 3, 1024") ", " OUTPUT("8, 64, 1024"))
              RUN SHAPED("conv1/Conv", "Conv", INPUTS("1, 3, 1024") ", " OUTPUT("1, 64, 1024"))
                  LAST},
         NULL},
        {{"[" SHAPED("conv1/Conv", "FusedConv", INPUTS("1, 3, 1024"))
              RUN SHAPED("conv1/Conv", "FusedConv", INPUTS("8, 3, 1024")) LAST},
         unread},
        {{"[" SHAPED("conv1/Conv", "FusedConv", INPUTS("1, 3, 1024"))
              RUN SHAPED("conv1/Conv", "FusedConv", INPUTS("1, 3, 1024"))
                  RUN SHAPED("conv1/Conv", "FusedConv", INPUTS("8, 3, 1024")) LAST},
         unread},
        {{TRT_PROFILE, TRT_LAYERS("1, 64, 1024")}, NULL},
        {{TRT_PROFILE, TRT_LAYERS("-1, 64, 1024")}, NULL},
        {{TRT_PROFILE, TRT_LAYERS("8, 64, 1024")}, other},
        {{CSV}, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cm_result *result = profile_well(cases[i].texts[0], cases[i].texts[1]);
        const struct cm_measure *measure = result->measure;
        const char *got = measure->other_shape ? measure->other_shape : "";
        assert_string_equal(got, cases[i].other_shape ? cases[i].other_shape : "");
        const bool has_rates = cases[i].other_shape == NULL;
        assert_int_equal(result->modules[0].achieved != NULL, has_rates);
        assert_int_equal(measure->n_limiters > 0, has_rates);
        if (!has_rates) assert_null(measure->primitives[0].achieved);
        cm_result_free(result);
    }
}

static void compares_with_the_expected_times_of_a_device(void **state) {
    const char *const texts[] = {CSV, NULL};
    struct cm_result *result = NULL;
    (void)state;
    assert_int_equal(profile(texts, "roofline:device=h200", NULL, &result), CM_OK);
    const struct cm_timed *relu = &result->measure->primitives[0];
    assert_int_equal(result->totals.latency_ps, 2000000);
    assert_int_equal(relu->median_ps, 2000000);
    assert_true(relu->import.expected_ps > 0);
    assert_false(result->measure->modelled);
    assert_string_equal(result->measure->device, "NVIDIA H200 SXM");
    cm_result_free(result);
}

static void sweeps_of_several_batches_refuse_times(void **state) {
    struct cm_times *times = load(CSV, "first");
    const struct cm_times *const all[] = {times};
    const int64_t batches[] = {1, 2};
    struct cm_diagnostics *diag = cm_diagnostics_new();
    struct cm_model *model = NULL;
    struct cm_sweep *sweep = NULL;
    struct cm_options options;
    (void)state;
    cm_options_init(&options);
    options.n_times = 1;
    options.times = all;
    assert_int_equal(cm_model_load_file(POINTNET, NULL, &model), CM_OK);
    assert_int_equal(cm_model_sweep(model, &options, batches, 2, diag, &sweep), CM_USAGE);
    assert_string_equal(cm_diagnostics_get(diag, 0)->message,
                        "imported times require one batch, got 2");
    cm_model_free(model);
    cm_times_free(times);
    cm_diagnostics_free(diag);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_a_fused_layer_by_expected_time),
        cmocka_unit_test(attributes_a_block_to_the_smallest_module_that_contains_it),
        cmocka_unit_test(marks_times_that_omit_nodes),
        cmocka_unit_test(only_the_module_of_a_block_has_its_whole_time),
        cmocka_unit_test(lists_copies_and_unknown_layers_as_rows_of_their_own),
        cmocka_unit_test(takes_nodes_from_layer_information),
        cmocka_unit_test(ignores_layer_information_of_layers_with_operators),
        cmocka_unit_test(reads_metadata_of_a_million_nodes),
        cmocka_unit_test(assigns_an_unnamed_layer_by_dataflow_and_shape),
        cmocka_unit_test(refuses_times_that_contradict),
        cmocka_unit_test(reports_files_that_match_no_node),
        cmocka_unit_test(warns_of_doubtful_times),
        cmocka_unit_test(finds_times_of_other_shapes),
        cmocka_unit_test(compares_with_the_expected_times_of_a_device),
        cmocka_unit_test(sweeps_of_several_batches_refuse_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
