/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a profile back: no value is lost, and every value of a file is checked. */
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "costmodel/costmodel.h"
#include "support/arena.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

/* Same as cm_result_free, which belongs to a higher layer. */
static void drop(struct cm_result *result) {
    arena_free(result->arena);
}

static struct cm_result *read_back(const char *text) {
    struct cm_diagnostics *diagnostics = cm_diagnostics_new();
    struct cm_result *result = NULL;
    int status = cm_result_read_json(text, strlen(text), "profile.json", diagnostics, &result);
    if (status != CM_OK) print_error("%s\n", cm_diagnostics_get(diagnostics, 0)->message);
    assert_int_equal(status, CM_OK);
    assert_int_equal(cm_diagnostics_count(diagnostics), 0);
    cm_diagnostics_free(diagnostics);
    return result;
}

static void expect_round_trip(const struct cm_result *original) {
    struct cm_text_options options;
    cm_text_options_init(&options);
    char *first = fixture_json(original);
    struct cm_result *result = read_back(first);
    char *second = fixture_json(result);
    assert_string_equal(first, second);
    free(first);
    free(second);
    drop(result);
}

static void write_read_write_gives_the_same_bytes(void **state) {
    (void)state;
    expect_round_trip(&fixture_pointnet);
    expect_round_trip(&fixture_hostile);
    struct cm_measure planned = *fixture_hostile.measure;
    struct cm_result result = fixture_hostile;
    planned.planned = true;
    result.measure = &planned;
    expect_round_trip(&result);
}

static void read_profile_gives_the_same_text_report(void **state) {
    (void)state;
    struct cm_text_options options;
    cm_text_options_init(&options);
    char *json = fixture_json(&fixture_pointnet);
    struct cm_result *result = read_back(json);
    char *text = fixture_text(result, &options);
    fixture_expect_golden("pointnet.txt", text);
    free(json);
    free(text);
    drop(result);
}

static void integers_and_unknowns_round_trip_exactly(void **state) {
    (void)state;
    char *json = fixture_json(&fixture_hostile);
    struct cm_result *result = read_back(json);
    assert_true(result->totals.params == INT64_MAX);
    assert_true(result->totals.activation_bytes == CM_UNKNOWN);
    assert_true(result->options.batch == CM_UNKNOWN);
    assert_true(result->modules[2].costs.macs == 9007199254740993);
    assert_true(result->modules[0].parent == CM_NO_INDEX);
    assert_true(result->nodes[0].module == 1);
    assert_string_equal(result->model.opsets[1].name, "");
    assert_null(result->diagnostics[0].node);
    free(json);
    drop(result);
}

static void partial_times_round_trip(void **state) {
    struct cm_result original = fixture_hostile;
    struct cm_operator operators[] = {original.operators[0]};
    (void)state;
    original.totals.partial = CM_COST_BIT(latency_ps);
    operators[0].costs.partial = CM_COST_BIT(latency_ps) | CM_COST_BIT(lower_bound_ps);
    original.n_operators = 1;
    original.operators = operators;
    char *json = fixture_json(&original);
    struct cm_result *result = read_back(json);
    assert_int_equal(result->totals.partial, original.totals.partial);
    assert_int_equal(result->modules[0].costs.partial, 0);
    assert_int_equal(result->operators[0].costs.partial, operators[0].costs.partial);
    free(json);
    drop(result);
}

static void types_round_trip(void **state) {
    (void)state;
    char *json = fixture_json(&fixture_hostile);
    struct cm_result *result = read_back(json);
    const struct cm_value *inputs = result->model.inputs;
    assert_int_equal(inputs[0].type.kind, CM_TYPE_TENSOR);
    assert_true(inputs[0].type.dims[0] == CM_UNKNOWN);
    assert_int_equal(inputs[1].type.rank, -1);
    assert_int_equal(inputs[2].type.rank, 0);
    assert_int_equal(inputs[3].type.kind, CM_TYPE_SEQUENCE);
    assert_string_equal(inputs[3].type.element->dtype, "float");
    assert_int_equal(inputs[4].type.element->kind, CM_TYPE_SEQUENCE);
    assert_string_equal(inputs[5].type.dtype, "int64");
    assert_int_equal(inputs[5].type.element->rank, 2);
    assert_int_equal(inputs[6].type.kind, CM_TYPE_SPARSE_TENSOR);
    assert_true(inputs[6].type.dims[1] == 9);
    assert_null(inputs[7].type.dtype);
    assert_int_equal(inputs[8].type.kind, CM_TYPE_UNKNOWN);
    free(json);
    drop(result);
}

/* Returns the JSON of a result with one part changed; the caller frees it. */
static char *changed_in(const struct cm_result *result, const char *from, const char *to) {
    char *json = fixture_json(result);
    char *at = strstr(json, from);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(at);
    assert_non_null(out);
    fprintf(out, "%.*s%s%s", (int)(at - json), json, to, at + strlen(from));
    fclose(out);
    free(json);
    return text;
}

static char *changed(const char *from, const char *to) {
    return changed_in(&fixture_pointnet, from, to);
}

static void expect_refusal(const char *text, size_t size, const char *message) {
    struct cm_diagnostics *diagnostics = cm_diagnostics_new();
    struct cm_result *result = NULL;
    int status = cm_result_read_json(text, size, "profile.json", diagnostics, &result);
    assert_int_equal(status, CM_REFUSED);
    assert_null(result);
    assert_int_equal(cm_diagnostics_count(diagnostics), 1);
    assert_string_equal(cm_diagnostics_get(diagnostics, 0)->message, message);
    assert_string_equal(cm_diagnostics_get(diagnostics, 0)->code, "format");
    assert_string_equal(cm_diagnostics_get(diagnostics, 0)->place, "in profile.json");
    cm_diagnostics_free(diagnostics);
}

static const struct {
    const char *from;
    const char *to;
    const char *message;
} changes[] = {
    {"costmodel/profile/2", "costmodel/profile/9",
     "schema is \"costmodel/profile/9\", this program reads \"costmodel/profile/2\""},
    {"\"schema\"", "\"scheme\"", "schema must be \"costmodel/profile/2\", got none"},
    {"\"macs\":14068146176,", "", "totals.macs: expected a value, got none"},
    {"\"macs\":14068146176", "\"macs\":\"14068146176\"",
     "totals.macs: expected an integer, got a string"},
    {"\"macs\":14068146176", "\"macs\":1.5",
     "totals.macs: expected an integer below 2^63, got 1.5"},
    {"\"macs\":14068146176", "\"macs\":1e9",
     "totals.macs: expected an integer below 2^63, got 1e9"},
    {"\"macs\":14068146176", "\"macs\":9223372036854775808",
     "totals.macs: expected an integer below 2^63, got 9223372036854775808"},
    {"\"macs\":14068146176", "\"macs\":-9223372036854775808",
     "totals.macs: expected an integer below 2^63, got -9223372036854775808"},
    {"\"macs\":14068146176", "\"macs\":1,\"macs\":2",
     "totals.macs: expected one value, got two"},
    {"\"macs\":14068146176", "\"macs\":-7", "totals: macs is negative, -7"},
    {"\"macs\":14068146176", "\"macs\":[1]", "totals.macs: expected an integer, got an array"},
    {"\"macs\":14068146176", "\"macs\":true",
     "totals.macs: expected an integer, got true or false"},
    {"\"macs\":14068146176", "\"macs\":007", "not JSON: invalid number in line 6"},
    {"\"macs\":14068146176", "\"macs\":-", "not JSON: invalid number in line 6"},
    {"\"macs\":14068146176", "\"macs\":1.", "not JSON: invalid number in line 6"},
    {"\"macs\":14068146176", "\"macs\":1e+", "not JSON: invalid number in line 6"},
    {"\"macs\":14068146176", "\"macs\":1,7 :2", "not JSON: invalid number in line 6"},
    {"\"macs\":14068146176", "\"macs\":1 2", "not JSON: syntax error in line 6"},
    {"\"macs\":14068146176", "\"macs\"", "not JSON: syntax error in line 6"},
    {"\"producer\":\"pytorch", "\"producer\":\"\t", "not JSON: invalid string in line 4"},
    {"\"producer\":\"pytorch", "\"producer\":\"a\\u0000b",
     "not JSON: invalid string in line 4"},
    {"\"producer\":\"pytorch", "\"producer\":\"\\ud800", "not JSON: syntax error in line 4"},
    {"\"producer\":\"pytorch", "\"producer\":\"\xff", "not UTF-8 text"},
    {"\"producer\":\"pytorch 1.13.0\"", "\"producer\":12",
     "model.producer: expected a string, got 12"},
    {"\"producer\":\"pytorch 1.13.0\"", "\"producer\":null",
     "model.producer: expected a string, got null"},
    {"\"shape\":[32,3,1024]", "\"shape\":[32,\"3\",1024]",
     "model.inputs[0].shape[1]: expected an integer, got a string"},
    {"\"shape\":[32,3,1024]", "\"shape\":{}",
     "model.inputs[0].shape: expected an array or null, got an object"},
    {"\"dtype\":\"float\"", "\"dtype\":{\"sequence\":{\"dtype\":null,\"shape\":null}}",
     "model.inputs[0].shape: expected null beside such a dtype, got an array"},
    {"\"dtype\":\"float\"", "\"dtype\":{\"sequence\":{\"dtype\":7,\"shape\":null}}",
     "model.inputs[0].dtype.sequence.dtype: expected a string, got 7"},
    {"\"dtype\":\"float\"", "\"dtype\":{\"list\":{}}",
     "model.inputs[0].dtype: expected one of sequence, optional, map, sparse_tensor, got an "
     "object without it"},
    {"\"dtype\":\"float\"", "\"dtype\":{}",
     "model.inputs[0].dtype: expected one of sequence, optional, map, sparse_tensor, got an "
     "object without it"},
    {"\"framework_unknown\":[]}",
     "\"framework_unknown\":[],\"upper_bound\":[\"macs\",\"speed\"]}",
     "totals.upper_bound[1]: expected the key of a figure, got another value"},
    {"\"framework_unknown\":[]}", "\"framework_unknown\":[],\"upper_bound\":true}",
     "totals.upper_bound: expected an array, got true or false"},
    {"\"shape\":[32,3,1024]", "\"shape\":[32,null,1024],\"shape_upper_bound\":[32,3]",
     "model.inputs[0].shape_upper_bound: expected as many dims as the shape has, got another "
     "number"},
    {"\"depth\":2", "\"depth\":-1", "modules[2].depth: expected a depth, got -1"},
    {"\"depth\":2", "\"depth\":3", "modules[2].depth: expected 2, got 3"},
    {"\"depth\":0", "\"depth\":1", "modules[0]: the root has a parent"},
    {"\"children\":[1,4,5]", "\"children\":[1,4,6]",
     "modules[0].children[2]: expected an index from 1 to 5, got 6"},
    {"\"children\":[1,4,5]", "\"children\":[0,4,5]",
     "modules[0].children[0]: expected an index from 1 to 5, got 0"},
    {"\"children\":[1,4,5]", "\"children\":[1,4,4]", "modules[4]: has several parents"},
    {"\"children\":[1,4,5]", "\"children\":[1,4]", "modules[5]: no module has it as a child"},
    {"\"children\":[1,4,5]", "\"children\":[1,-4]",
     "modules[0].children[1]: expected an index, got -4"},
    {"\"children\":[1,4,5]", "\"children\":[1,null]",
     "modules[0].children[1]: expected an integer, got null"},
    {"\"children\":[1,4,5]", "\"children\":7", "modules[0].children: expected an array, got 7"},
    {"\"class_known\":true", "\"class_known\":1",
     "modules[0].class_known: expected true or false, got 1"},
    {"\"module\":\"fc1\"", "\"module\":\"fc2\"",
     "nodes[1].module: expected a module's path, got fc2"},
    {"\"module\":\"fc1\"", "\"module\":4", "nodes[1].module: expected a string, got 4"},
    {"\"inputs\":[\"input\",", "\"inputs\":[[],",
     "nodes[0].inputs[0]: expected a string, got an array"},
    {"\"dims\":{\"batch_size\":32}", "\"dims\":[]",
     "options.dims: expected an object, got an array"},
    {"\"dims\":{\"batch_size\":32}", "\"dims\":{\"batch_size\":{}}",
     "options.dims.batch_size: expected an integer, got an object"},
    {"\"coverage\":{\"nodes\"", "\"coverage\":7,\"x\":{\"nodes\"",
     "coverage: expected an object, got 7"},
    {"\"diagnostics\":[]",
     "\"diagnostics\":[{\"severity\":\"fatal\",\"code\":\"x\",\"message\":\"\",\"node\":null,"
     "\"hint\":null}]",
     "diagnostics[0].severity: expected \"note\", \"warning\" or \"error\", got a string"},
};

static void locates_errors(void **state) {
    (void)state;
    for (size_t i = 0; i < N(changes); i++) {
        char *text = changed(changes[i].from, changes[i].to);
        expect_refusal(text, strlen(text), changes[i].message);
        free(text);
    }
}

/* Changes of times, which only fixture_hostile has. */
static const struct {
    const char *from;
    const char *to;
    const char *message;
} timed_changes[] = {
    {"\"drift\":0.031", "\"drift\":0.0310001",
     "measure.primitives[0].drift: expected a decimal of at most six places, got 0.0310001"},
    {"\"drift\":0.031", "\"drift\":3e-7",
     "measure.primitives[0].drift: expected a decimal of at most six places, got 3e-7"},
    {"\"drift\":0.031", "\"drift\":3e100",
     "measure.primitives[0].drift: expected a decimal of at most six places, got 3e100"},
    {"\"drift\":0.031", "\"drift\":99999999999999.5",
     "measure.primitives[0].drift: expected a decimal of at most six places, got "
     "99999999999999.5"},
    {"\"drift\":0.031", "\"drift\":\"0.5\"",
     "measure.primitives[0].drift: expected a decimal of at most six places, got a string"},
    {"\"block\":[128,1,1]", "\"block\":[128,1]",
     "measure.primitives[0].kernels[0].block: expected an array of three, got an array"},
    {"\"block\":[128,1,1]", "\"block\":[128,1,1.5]",
     "measure.primitives[0].kernels[0].block[2]: expected an integer below 2^63, got 1.5"},
};

static void locates_errors_in_times(void **state) {
    (void)state;
    for (size_t i = 0; i < N(timed_changes); i++) {
        char *text = changed_in(&fixture_hostile, timed_changes[i].from, timed_changes[i].to);
        expect_refusal(text, strlen(text), timed_changes[i].message);
        free(text);
    }
}

static void lists_of_a_step_must_have_equal_lengths(void **state) {
    static const size_t numbers[] = {0, 1};
    static const struct cm_step_tensors tensors[] = {
        {"saved", 2, numbers, 2, numbers, 2, numbers, 2, numbers},
        {"gradients", 2, numbers, 2, numbers, 1, numbers, 2, numbers}};
    struct cm_step_curve curve = {1, 7, 2, numbers, 1, tensors};
    struct cm_result original = fixture_pointnet;
    (void)state;
    original.training = (struct cm_training){
        .present = true, .optimizer = "sgd", .peak_phase = "step", .curve = &curve};
    char *json = fixture_json(&original);
    struct cm_result *result = read_back(json);
    assert_int_equal(result->training.curve->held_bytes, 7);
    assert_int_equal(result->training.curve->tensors[0].to[1], 1);
    drop(result);
    free(json);
    curve.n_tensors = 2;
    json = fixture_json(&original);
    expect_refusal(json, strlen(json), "training.curve.tensors[1]: lists differ in length");
    free(json);
}

static void ratios_round_trip_exactly(void **state) {
    (void)state;
    char *json = fixture_json(&fixture_hostile);
    struct cm_result *result = read_back(json);
    const struct cm_timed *timed = &result->measure->primitives[0];
    assert_true(timed->drift == 31000);
    assert_true(timed->achieved->roofline == 1500000);
    assert_true(timed->kernels[0].occupancy == INT64_MAX);
    assert_true(timed->kernels[0].blocks_per_unit == 500001);
    assert_true(timed->kernels[0].time_ps == CM_UNKNOWN);
    assert_true(timed->kernels[0].share == CM_UNKNOWN);
    assert_true(result->measure->measured_macs_share == CM_UNKNOWN);
    assert_true(timed->kernels[0].grid[2] == INT64_MAX);
    assert_null(result->measure->primitives[1].achieved);
    free(json);
    drop(result);
}

/* As other programs write 0.031 and 67 millionths. */
static void ratios_may_have_exponents(void **state) {
    static const struct {
        const char *text;
        int64_t millionths;
    } rows[] = {{"\"drift\":3.1e-2", 31000},
                {"\"drift\":6.7e-05", 67},
                {"\"drift\":-3E+1", -30000000},
                {"\"drift\":1.50e1", 15000000}};
    (void)state;
    for (size_t i = 0; i < N(rows); i++) {
        char *json = changed_in(&fixture_hostile, "\"drift\":0.031", rows[i].text);
        struct cm_result *result = read_back(json);
        assert_true(result->measure->primitives[0].drift == rows[i].millionths);
        drop(result);
        free(json);
    }
}

static void kernel_rows_round_trip(void **state) {
    (void)state;
    struct cm_kernel_row row = fixture_hostile.measure->kernels[0];
    struct cm_timed timed = fixture_hostile.measure->primitives[0];
    struct cm_kernel_run run = timed.kernels[0];
    struct cm_measure measure = *fixture_hostile.measure;
    struct cm_result hostile = fixture_hostile;
    row.theoretical_occupancy = 750000;
    row.unit_efficiency = 250000;
    run.time_ps = INT64_MAX;
    run.share = 999999;
    timed.n_kernels = 1;
    timed.kernels = &run;
    measure.n_primitives = 1;
    measure.primitives = &timed;
    measure.n_kernels = 1;
    measure.kernels = &row;
    hostile.measure = &measure;
    expect_round_trip(&hostile);
    char *json = fixture_json(&hostile);
    struct cm_result *result = read_back(json);
    assert_true(result->measure->kernels[0].theoretical_occupancy == 750000);
    assert_true(result->measure->kernels[0].unit_efficiency == 250000);
    assert_true(result->measure->primitives[0].kernels[0].time_ps == INT64_MAX);
    assert_true(result->measure->primitives[0].kernels[0].share == 999999);
    free(json);
    drop(result);
}

static const struct {
    const char *text;
    const char *message;
} no_profiles[] = {
    {"", "not JSON: syntax error in line 1"},
    {"{", "not JSON: syntax error in line 1"},
    {"{}", "schema must be \"costmodel/profile/2\", got none"},
    {"[]", "schema must be \"costmodel/profile/2\", got none"},
    {"7", "schema must be \"costmodel/profile/2\", got none"},
    {"{\"schema\":7}", "schema must be \"costmodel/profile/2\", got none"},
    {"{\"schema\":\"costmodel/profile/2\"}", "model: expected a value, got none"},
    {"\"open", "not JSON: invalid string in line 1"},
    {"{}\n\n{}", "not JSON: syntax error in line 3"},
};

static void refuses_documents_that_are_not_profiles(void **state) {
    (void)state;
    for (size_t i = 0; i < N(no_profiles); i++)
        expect_refusal(no_profiles[i].text, strlen(no_profiles[i].text),
                       no_profiles[i].message);
}

static void refuses_a_profile_without_modules(void **state) {
    (void)state;
    struct cm_result none = fixture_pointnet;
    none.n_modules = 0;
    none.n_nodes = 0;
    char *json = fixture_json(&none);
    expect_refusal(json, strlen(json), "modules: the root is missing");
    free(json);
}

/* Refused by its length alone: the text is shorter than that. */
static void refuses_a_long_string_before_reading_it(void **state) {
    (void)state;
    struct cm_diagnostics *diagnostics = cm_diagnostics_new();
    struct cm_result *result = NULL;
    assert_int_equal(cm_result_read_json("{}", 134217729, "p", diagnostics, &result),
                     CM_REFUSED);
    assert_string_equal(cm_diagnostics_get(diagnostics, 0)->message,
                        "134217729 bytes of JSON, at most 134217728 are read");
    cm_diagnostics_free(diagnostics);
}

static void refuses_nul_bytes(void **state) {
    (void)state;
    expect_refusal("{}\0{}", 5, "not UTF-8 text");
}

static void refuses_deep_nesting(void **state) {
    (void)state;
    char brackets[20000];
    memset(brackets, '[', sizeof(brackets));
    expect_refusal(brackets, sizeof(brackets), "not JSON: syntax error in line 1");
}

static void refuses_an_object_with_many_keys(void **state) {
    (void)state;
    char *keys = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&keys, &size);
    assert_non_null(out);
    for (int i = 0; i < 1000; i++) fprintf(out, "\"key%d\":0,", i);
    fputs("\"macs\":14068146176", out);
    fclose(out);
    char *text = changed("\"macs\":14068146176", keys);
    expect_refusal(text, strlen(text), "totals: expected few keys, got more than 64");
    free(text);
    free(keys);
}

static void refuses_deeply_nested_types(void **state) {
    (void)state;
    char *type = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&type, &size);
    struct cm_diagnostics *diagnostics = cm_diagnostics_new();
    struct cm_result *result = NULL;
    assert_non_null(out);
    fputs("\"dtype\":", out);
    for (int i = 0; i < 65; i++) fputs("{\"sequence\":{\"dtype\":", out);
    fputs("null", out);
    for (int i = 0; i < 65; i++) fputs(",\"shape\":null}}", out);
    fclose(out);
    char *text = changed("\"dtype\":\"float\"", type);
    assert_int_equal(cm_result_read_json(text, strlen(text), "p", diagnostics, &result),
                     CM_REFUSED);
    assert_non_null(strstr(cm_diagnostics_get(diagnostics, 0)->message,
                           "expected a type of few levels, got a deeper one"));
    cm_diagnostics_free(diagnostics);
    free(text);
    free(type);
}

/*
 * The time of the next two tests is quadratic in the length of a document. Therefore each reads
 * the hostile result in parts, which together have every key, and each list once.
 */
#define N_PARTS 3

static const struct cm_module only_root = {
    .path = "", .name = "", .type = "graph", .arguments = "", .parent = CM_NO_INDEX};

/* Returns a result with only the root module and the required fields. */
static struct cm_result bare(void) {
    return (struct cm_result){
        .model = {"m", "", 8, 0, NULL, 0, NULL, 0, NULL},
        .options = {1, 0, NULL, "exact", "model", "", "", "file", NULL, 0, NULL, NULL, NULL,
                    CM_UNKNOWN},
        .n_modules = 1,
        .modules = &only_root,
    };
}

static void make_parts(struct cm_node *node, struct cm_result *parts) {
    const struct cm_result *whole = &fixture_hostile;
    for (size_t i = 0; i < N_PARTS; i++) parts[i] = bare();
    *node = whole->nodes[0];
    node->n_outputs = 1; /* the inputs of the model have every type */
    parts[0].model = whole->model;
    parts[0].options = whole->options;
    parts[0].totals = whole->totals;
    parts[0].n_modules = whole->n_modules;
    parts[0].modules = whole->modules;
    parts[0].n_nodes = 1;
    parts[0].nodes = node;
    parts[1] = *whole;
    parts[1].model = bare().model;
    parts[1].options = bare().options;
    parts[1].n_modules = 1;
    parts[1].modules = &only_root;
    parts[1].n_nodes = 0;
    parts[1].n_rebatched = 1;
    parts[1].measure = NULL;
    parts[2].measure = whole->measure;
}

/* Cuts before every byte up to the last "}", which only a newline follows. */
static void cut_anywhere(const struct cm_result *whole) {
    char *json = fixture_json(whole);
    const size_t size = strlen(json) - 2;
    for (size_t cut = 0; cut <= size; cut++) {
        struct cm_result *result = NULL;
        char *part = malloc(cut + 1); /* no spare byte, for ASan */
        assert_non_null(part);
        memcpy(part, json, cut);
        assert_int_equal(cm_result_read_json(part, cut, "p", NULL, &result), CM_REFUSED);
        free(part);
    }
    free(json);
}

static void refuses_a_file_truncated_at_any_byte(void **state) {
    struct cm_result parts[N_PARTS];
    struct cm_node node;
    (void)state;
    make_parts(&node, parts);
    for (size_t i = 0; i < N_PARTS; i++) cut_anywhere(&parts[i]);
}

/* Reads a changed document: it must not crash, and an accepted one must round-trip. */
static void read_flipped(const char *json, size_t size) {
    struct cm_text_options options;
    struct cm_result *result = NULL;
    cm_text_options_init(&options);
    if (cm_result_read_json(json, size, "p", NULL, &result) != CM_OK) return;
    char *text = fixture_text(result, &options);
    expect_round_trip(result);
    free(text);
    drop(result);
}

static void reads_or_refuses_a_file_with_changed_bytes(void **state) {
    struct cm_result parts[N_PARTS];
    struct cm_node node;
    (void)state;
    make_parts(&node, parts);
    for (size_t part = 0; part < N_PARTS; part++) {
        char *json = fixture_json(&parts[part]);
        const size_t size = strlen(json);
        for (size_t i = part % 2; i < size; i += 2) {
            const char original = json[i];
            json[i] = "0]}\"9,"[i / 2 % 6];
            read_flipped(json, size);
            json[i] = original;
        }
        free(json);
    }
}

static void ignores_unknown_keys(void **state) {
    (void)state;
    char *text = changed("\"totals\":{", "\"later\":[1.5e3,{}],\"totals\":{\"joules\":0.25,");
    struct cm_result *result = read_back(text);
    assert_true(result->totals.macs == 14068146176);
    free(text);
    drop(result);
}

static void accepts_missing_optional_keys(void **state) {
    (void)state;
    char *text = changed("\"arguments\":\"128, 1024, kernel_size=(1,), stride=(1,)\",", "");
    struct cm_result *result = read_back(text);
    assert_string_equal(result->modules[2].arguments, "");
    free(text);
    drop(result);
    text = changed(",\"buffers\":128,\"int_macs\"", ",\"int_macs\"");
    result = read_back(text);
    assert_true(result->modules[3].costs.buffers == CM_UNKNOWN);
    free(text);
    drop(result);
}

/* Files of earlier versions have no integer MACs and operations, and are rewritten without
 * them. */
static void integer_operations_may_be_missing(void **state) {
    (void)state;
    char *text = changed("\"int_macs\":0,\"flops\":29040607232,\"int_ops\":0,",
                         "\"flops\":29040607232,");
    struct cm_result *result = read_back(text);
    assert_true(result->totals.flops == 29040607232);
    assert_true(result->totals.int_macs == CM_UNKNOWN);
    assert_true(result->totals.int_ops == CM_UNKNOWN);
    char *again = fixture_json(result);
    assert_null(strstr(again, "int_"));
    free(again);
    free(text);
    drop(result);
}

static void leaves_the_result_unchanged_on_failure(void **state) {
    (void)state;
    struct cm_result untouched;
    struct cm_result *result = &untouched;
    assert_int_equal(cm_result_read_json("{}", 2, "p", NULL, &result), CM_REFUSED);
    assert_ptr_equal(result, &untouched);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(write_read_write_gives_the_same_bytes),
        cmocka_unit_test(read_profile_gives_the_same_text_report),
        cmocka_unit_test(integers_and_unknowns_round_trip_exactly),
        cmocka_unit_test(partial_times_round_trip),
        cmocka_unit_test(types_round_trip),
        cmocka_unit_test(locates_errors),
        cmocka_unit_test(locates_errors_in_times),
        cmocka_unit_test(lists_of_a_step_must_have_equal_lengths),
        cmocka_unit_test(ratios_round_trip_exactly),
        cmocka_unit_test(ratios_may_have_exponents),
        cmocka_unit_test(kernel_rows_round_trip),
        cmocka_unit_test(refuses_documents_that_are_not_profiles),
        cmocka_unit_test(refuses_a_profile_without_modules),
        cmocka_unit_test(refuses_a_long_string_before_reading_it),
        cmocka_unit_test(refuses_nul_bytes),
        cmocka_unit_test(refuses_deep_nesting),
        cmocka_unit_test(refuses_an_object_with_many_keys),
        cmocka_unit_test(refuses_deeply_nested_types),
        cmocka_unit_test(refuses_a_file_truncated_at_any_byte),
        cmocka_unit_test(reads_or_refuses_a_file_with_changed_bytes),
        cmocka_unit_test(ignores_unknown_keys),
        cmocka_unit_test(accepts_missing_optional_keys),
        cmocka_unit_test(integer_operations_may_be_missing),
        cmocka_unit_test(leaves_the_result_unchanged_on_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
