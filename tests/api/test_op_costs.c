/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptions of custom operators: error messages, and profiles with valid descriptions. */
#include "costmodel/op_costs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define CUSTOM TEST_SOURCE_DIR "/tests/cli/models/custom_ops.onnx"

static int load(const char *text, struct cm_diagnostics *diag, struct cm_op_costs **ret) {
    return cm_op_costs_load_memory(text, strlen(text), "mine.json", diag, ret);
}

/* Expects this message for an operator whose entry has `keys` after its name. */
static void check_refused(const char *keys, const char *message) {
    char text[4096];
    struct cm_diagnostics *diag = cm_diagnostics_new();
    struct cm_op_costs *costs = NULL;
    snprintf(text, sizeof(text),
             "{\"schema\": \"costmodel/op-costs/1\", \"operators\": "
             "[{\"domain\": \"com.acme\", \"operator\": \"Foo\", %s}]}",
             keys);
    if (load(text, diag, &costs) != CM_REFUSED) fail_msg("%s: is read", keys);
    assert_null(costs);
    const struct cm_diagnostic *first = cm_diagnostics_get(diag, 0);
    if (strcmp(first->message, message) != 0) fail_msg("%s: %s", keys, first->message);
    if (!strstr(first->place, "in mine.json")) fail_msg("%s: at %s", keys, first->place);
    cm_diagnostics_free(diag);
}

#define COSTS "\"macs\": \"0\", \"other_flops\": \"0\""
#define ANY   "\"outputs\": [{\"dims\": \"\"}], " COSTS

static void locates_errors_of_costs_and_attributes(void **state) {
    static const char *const cases[][2] = {
        {"\"like\": \"Conv\", \"macs\": 3", "operators[0].macs: expected a string, got 3"},
        {"\"like\": \"Conv\", \"mac\": \"3\"",
         "operators[0].mac: expected a key of the schema, got another"},
        /* like, or outputs, and costs */
        {"\"note\": \"\"", "operators[0] must have either like or outputs, got neither"},
        {"\"like\": \"Conv\", " ANY, "operators[0] must have either like or outputs, got both"},
        {"\"like\": \"Convolve\"", "operators[0].like: no operator of that name is built in"},
        {"\"like\": \"Attention\", \"like_opset\": 22",
         "operators[0].like: no operator of that name is built in"},
        {"\"like\": \"Conv\", \"like_opset\": 0",
         "operators[0].like_opset must be an opset >= 1, got 0"},
        {"\"since\": -5, " ANY, "operators[0].since must be an opset >= 0, got -5"},
        {"\"like\": \"Loop\"",
         "operators[0].like must not be control flow: its cost is that of its bodies"},
        {"\"like\": \"Conv\", \"macs\": \"3\"",
         "operators[0]: macs and other_flops are both required, \"0\" if none"},
        {"\"outputs\": [{\"dims\": \"\"}]",
         "operators[0]: macs and other_flops are both required, \"0\" if none"},
        {"\"outputs\": [{\"dims\": \"\"}], \"macs\": \"1 2\", \"other_flops\": \"0\"",
         "operators[0].macs: column 3 of '1 2': expected the end of the text"},
        /* attributes */
        {"\"attributes\": {\"a-b\": 1}, " ANY,
         "operators[0].attributes: column 2 of 'a-b': expected the end of the text"},
        {"\"attributes\": {\"a[x]\": 1}, " ANY, "operators[0].attributes: column 1 of 'a[x]': "
                                                "expected a name such as stride or strides[0]"},
        {"\"attributes\": {\"2\": 1}, " ANY,
         "operators[0].attributes: column 1 of '2': expected a name"},
        {"\"attributes\": {\"in0\": 1}, " ANY,
         "operators[0].attributes: column 1 of 'in0': the name is reserved"},
        {"\"attributes\": {\"min\": 1}, " ANY,
         "operators[0].attributes: column 1 of 'min': the name is reserved"},
        {"\"attributes\": {\" stride\": 1}, " ANY,
         "operators[0].attributes: column 1 of ' stride': a name must not contain blanks"},
        {"\"attributes\": {\"stride \": 1}, " ANY,
         "operators[0].attributes: column 1 of 'stride ': a name must not contain blanks"},
        {"\"attributes\": {\"pads [0]\": 1}, " ANY,
         "operators[0].attributes: column 1 of 'pads [0]': a name must not contain blanks"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_refused(cases[i][0], cases[i][1]);
}

static void locates_errors_of_inputs_and_where(void **state) {
    static const char *const cases[][2] = {
        /* inputs */
        {"\"inputs\": [\"N, C + 1\"], " ANY,
         "operators[0].inputs[0]: column 4 of 'N, C + 1': undefined name 'C'"},
        {"\"inputs\": [\"2 N\"], " ANY,
         "operators[0].inputs[0]: column 3 of '2 N': expected ','"},
        {"\"inputs\": [\"N,\"], " ANY,
         "operators[0].inputs[0]: column 3 of 'N,': expected a dim after ','"},
        {"\"inputs\": [\"..., N, ...\"], " ANY,
         "operators[0].inputs[0]: column 12 of '..., N, ...': a second '...'"},
        {"\"inputs\": [\"1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1\"], " ANY,
         "operators[0].inputs[0]: column 33 of '...1,1,1,1,1,1,1,1,1,1,1,1,1': "
         "more than 16 dims"},
        {"\"inputs\": [\"N\"], \"required_inputs\": 2, " ANY,
         "operators[0].required_inputs must be 0 to 1, got 2"},
        {"\"inputs\": [\"N\", \"K\"], \"required_inputs\": 1, " ANY,
         "operators[0].inputs[1]: column 2 of 'K': an optional input must not be the "
         "first to name a dim"},
        {"\"like\": \"Equal\", \"inputs\": [\"...\"], \"required_inputs\": 0",
         "operators[0].inputs: at most 1, 'Equal' has at least 2"},
        {"\"like\": \"Relu\", \"inputs\": [\"N\", \"N\"]",
         "operators[0].inputs: at least 2, 'Relu' has at most 1"},
        /* where */
        {"\"where\": [\"P\"], " ANY,
         "operators[0].where[0]: column 2 of 'P': expected NAME = ..."},
        {"\"where\": [\"P = P + 1\"], " ANY,
         "operators[0].where[0]: column 5 of 'P = P + 1': undefined name 'P'"},
        {"\"where\": [\"P = 1\", \"P = 2\"], " ANY,
         "operators[0].where[1]: column 1 of 'P = 2': the name is defined twice"},
        {"\"where\": [\"P = out0\"], " ANY, "operators[0].where[0]: column 5 of 'P = out0': "
                                            "undefined name 'out0'"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_refused(cases[i][0], cases[i][1]);
}

static void locates_errors_of_outputs(void **state) {
    static const char *const cases[][2] = {
        /* outputs */
        {"\"outputs\": [{\"dims\": \"N\"}], " COSTS,
         "operators[0].outputs[0].dims: column 1 of 'N': undefined name 'N'"},
        {"\"outputs\": [{\"dims\": \"...\"}], " COSTS,
         "operators[0].outputs[0].dims: column 4 of '...': no input has a '...'"},
        {"\"outputs\": [{\"dims\": \"\", \"type\": \"float17\"}], " COSTS,
         "operators[0].outputs[0].type must be an element type such as float16, or that of an "
         "input, such as "
         "'input 0'"},
        {"\"outputs\": [{\"dims\": \"\", \"type\": \"input -1\"}], " COSTS,
         "operators[0].outputs[0].type must be an element type such as float16, or that of an "
         "input, such as "
         "'input 0'"},
        {"\"inputs\": [\"N\"], \"outputs\": [{\"dims\": \"N\", \"type\": \"input 1\"}], " COSTS,
         "operators[0].outputs[0].type must be an element type such as float16, or that of an "
         "input, such as "
         "'input 0'"},
        {"\"inputs\": [\"N\"], \"outputs\": [{\"dims\": \"N\"}], \"macs\": \"in0 + in1\", "
         "\"other_flops\": \"0\"",
         "operators[0].macs: column 7 of 'in0 + in1': undefined name 'in1'"},
        {"\"outputs\": [{\"dims\": \"\"}], \"macs\": \"out0 * out1\", \"other_flops\": \"0\"",
         "operators[0].macs: column 8 of 'out0 * out1': undefined name 'out1'"},
        {"\"like\": \"Relu\", \"macs\": \"in1\", \"other_flops\": \"0\"",
         "operators[0].macs: column 1 of 'in1': undefined name 'in1'"},
        {"\"like\": \"Relu\", \"macs\": \"0\", \"other_flops\": \"out1\"",
         "operators[0].other_flops: column 1 of 'out1': undefined name 'out1'"},
        {"\"outputs\": [{\"dims\": \"\"}], \"macs\": \"in64\", \"other_flops\": \"0\"",
         "operators[0].macs: column 1 of 'in64': undefined name 'in64'"},
        {"\"outputs\": [{\"dims\": \"\"}], \"macs\": \"in0 + in00\", \"other_flops\": \"0\"",
         "operators[0].macs: column 7 of 'in0 + in00': undefined name 'in00'"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_refused(cases[i][0], cases[i][1]);
}

#define REPLACE(type)                                                                          \
    "{\"schema\": \"costmodel/op-costs/1\", \"operators\": [{\"domain\": \"\", \"operator\": " \
    "\"" type "\", \"replace\": true, \"like\": \"Relu\"}]}"

static void refuses_files_that_are_not_descriptions(void **state) {
    static const char *const cases[][2] = {
        {"", "not JSON: syntax error in line 1"},
        {"{}", "schema must be \"costmodel/op-costs/1\", got none"},
        {"{\"schema\": \"costmodel/op-costs/2\"}",
         "schema is \"costmodel/op-costs/2\", this program reads \"costmodel/op-costs/1\""},
        {"{\"schema\": \"costmodel/op-costs/1\", \"operators\": "
         "[{\"domain\": \"d\", \"operator\": \"\", \"like\": \"Conv\"}]}",
         "operators[0].operator must not be empty"},
        {"{\"schema\": \"costmodel/op-costs/1\", \"operators\": "
         "[{\"domain\": \"ai.onnx\", \"operator\": \"Gelu\", \"like\": \"Erf\"}]}",
         "operators[0]: the operator is built in; \"replace\": true replaces it"},
        {REPLACE("If"),
         "operators[0] must not be control flow: its cost is that of its bodies"},
        {REPLACE("Loop"),
         "operators[0] must not be control flow: its cost is that of its bodies"},
        {REPLACE("Scan"),
         "operators[0] must not be control flow: its cost is that of its bodies"},
        {REPLACE("SequenceMap"),
         "operators[0] must not be control flow: its cost is that of its bodies"},
        {"{\"schema\": \"costmodel/op-costs/1\", \"operators\": "
         "[{\"domain\": \"d\", \"operator\": \"O\", \"like\": \"Conv\"},"
         " {\"domain\": \"d\", \"operator\": \"O\", \"like\": \"Conv\", \"since\": 2},"
         " {\"domain\": \"d\", \"operator\": \"O\", \"like\": \"Relu\", \"since\": 2}]}",
         "operators[2]: the same as operators[1]"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cm_diagnostics *diag = cm_diagnostics_new();
        struct cm_op_costs *costs = NULL;
        assert_int_equal(load(cases[i][0], diag, &costs), CM_REFUSED);
        assert_string_equal(cm_diagnostics_get(diag, 0)->message, cases[i][1]);
        cm_diagnostics_free(diag);
    }
}

/* Returns a description without `like`, with `n` inputs. */
static struct cm_op_description custom_op_by_data(size_t n, const char *const *inputs) {
    static const struct cm_op_output output = {"", ""};
    return (struct cm_op_description){
        .domain = "d",
        .op = "O",
        .since = CM_UNKNOWN,
        .like = "",
        .like_opset = CM_UNKNOWN,
        .n_inputs = n,
        .inputs = inputs,
        .required_inputs = CM_UNKNOWN,
        .n_outputs = 1,
        .outputs = &output,
        .macs = "0",
        .other_flops = "0",
        .note = "",
    };
}

static int make_wide(size_t n, struct cm_diagnostics *diag, struct cm_op_costs **ret) {
    const char *inputs[129];
    for (size_t i = 0; i < n; i++) inputs[i] = "?";
    struct cm_op_description description = custom_op_by_data(n, inputs);
    description.other_flops = "in0";
    return cm_op_costs_make(&description, 1, diag, ret);
}

static void limits_list_lengths(void **state) {
    struct cm_diagnostics *diag = cm_diagnostics_new();
    struct cm_op_costs *costs = NULL;
    static struct cm_op_description many[1025];
    (void)state;
    for (size_t i = 0; i < 1025; i++) many[i] = custom_op_by_data(0, NULL);
    assert_int_equal(make_wide(64, diag, &costs), CM_OK);
    cm_op_costs_free(costs);
    assert_int_equal(make_wide(65, diag, &costs), CM_REFUSED);
    assert_string_equal(cm_diagnostics_get(diag, 0)->message,
                        "operators[0].inputs must have at most 64 items, got 65");
    assert_int_equal(cm_op_costs_make(many, 1025, diag, &costs), CM_REFUSED);
    assert_string_equal(cm_diagnostics_get(diag, 1)->message,
                        "operators must have at most 1024 items, got 1025");
    cm_diagnostics_free(diag);
}

/* 64 names of dims, 64 of where, then one more. */
static void limits_name_lengths(void **state) {
    char dims[4][128] = {"", "", "", ""};
    char where[65][16];
    const char *inputs[4];
    const char *lines[65];
    struct cm_diagnostics *diag = cm_diagnostics_new();
    struct cm_op_costs *costs = NULL;
    struct cm_named_size attribute = {"a", 1};
    (void)state;
    for (size_t i = 0; i < 64; i++) {
        char *dim = dims[i / 16] + strlen(dims[i / 16]);
        snprintf(dim, 8, "%sd%zu", i % 16 ? "," : "", i);
        snprintf(where[i], sizeof(where[i]), "w%zu = 1", i);
        lines[i] = where[i];
        inputs[i / 16] = dims[i / 16];
    }
    struct cm_op_description description = custom_op_by_data(4, inputs);
    description.n_where = 64;
    description.where = lines;
    assert_int_equal(cm_op_costs_make(&description, 1, diag, &costs), CM_OK);
    cm_op_costs_free(costs);
    costs = NULL;
    description.n_attributes = 1;
    description.attributes = &attribute;
    assert_int_equal(cm_op_costs_make(&description, 1, diag, &costs), CM_REFUSED);
    assert_string_equal(cm_diagnostics_get(diag, 0)->message,
                        "operators[0].where[63]: column 1 of 'w63 = 1': more than 128 names");
    assert_null(costs);
    cm_diagnostics_free(diag);
}

static void refuses_files_that_are_too_large(void **state) {
    static char text[(1 << 20) + 1];
    struct cm_diagnostics *diag = cm_diagnostics_new();
    struct cm_op_costs *costs = NULL;
    (void)state;
    memset(text, ' ', sizeof(text));
    assert_int_equal(cm_op_costs_load_memory(text, sizeof(text), "mine.json", diag, &costs),
                     CM_REFUSED);
    assert_string_equal(cm_diagnostics_get(diag, 0)->message,
                        "'mine.json' must have at most 1048576 bytes");
    assert_int_equal(cm_op_costs_load_file(TEST_SOURCE_DIR "/none.json", diag, &costs), CM_IO);
    assert_null(costs);
    cm_diagnostics_free(diag);
}

/* Returns a profile of the custom model with these files; `optimizer` is NULL or that of a
 * training step. The caller frees it. */
static struct cm_result *profile_with(const struct cm_op_costs *const *costs, size_t n,
                                      const char *optimizer) {
    struct cm_diagnostics *diag = cm_diagnostics_new();
    struct cm_options options;
    struct cm_model *model = NULL;
    struct cm_result *result = NULL;
    cm_options_init(&options);
    options.n_op_costs = n;
    options.op_costs = costs;
    options.strict = optimizer == NULL;
    options.optimizer = optimizer;
    assert_int_equal(cm_model_load_file(CUSTOM, diag, &model), CM_OK);
    assert_int_equal(cm_model_profile(model, &options, diag, &result), CM_OK);
    cm_model_free(model);
    cm_diagnostics_free(diag);
    return result;
}

static void uses_the_last_description_of_an_operator(void **state) {
    static const char more[] =
        "{\"schema\": \"costmodel/op-costs/1\", \"operators\": [{\"domain\": \"com.acme\", "
        "\"operator\": \"Correlation\", \"inputs\": [\"...\", \"...\"], "
        "\"outputs\": [{\"dims\": \"...\"}], \"macs\": \"7\", \"other_flops\": \"0\"}]}";
    struct cm_diagnostics *diag = cm_diagnostics_new();
    struct cm_op_costs *files[2] = {NULL, NULL};
    (void)state;
    assert_int_equal(cm_op_costs_load_file(TEST_SOURCE_DIR "/examples/op-costs/formulas.json",
                                           diag, &files[0]),
                     CM_OK);
    assert_int_equal(load(more, diag, &files[1]), CM_OK);
    const struct cm_op_costs *const costs[] = {files[0], files[1], files[0]};
    struct cm_result *first = profile_with(costs, 2, NULL);
    struct cm_result *second = profile_with(costs + 1, 2, NULL);
    cm_op_costs_free(files[0]);
    cm_op_costs_free(files[1]);
    /* two convolutions of 32 * 16 * 16 outputs with 16 * 3 * 3 MACs each */
    assert_int_equal(first->totals.macs, 2 * 32 * 16 * 16 * 16 * 3 * 3 + 7);
    /* and 32 MACs for each of 25 * 16 * 16 elements */
    assert_int_equal(second->totals.macs, 2 * 32 * 16 * 16 * 16 * 3 * 3 + 25 * 16 * 16 * 32);
    assert_int_equal(second->coverage.n_custom_ops, 2);
    assert_string_equal(second->coverage.custom_ops[0].name, "com.acme::FancyConv");
    assert_int_equal(second->coverage.custom_ops[0].count, 2);
    cm_result_free(first);
    cm_result_free(second);
    cm_diagnostics_free(diag);
}

/* 8 sums of 128 names take 255 steps each, macs 7, other_flops 1, or 3 if n_more > 0. */
static int make_long(size_t n_more, struct cm_diagnostics *diag, struct cm_op_costs **ret) {
    char sum[900] = "in0";
    char first[8][1000];
    const char *where[8];
    for (size_t i = 1; i < 128; i++) memcpy(sum + strlen(sum), "+in0", 5);
    for (size_t i = 0; i < 8; i++) {
        snprintf(first[i], sizeof first[i], "P%zu = %s", i, sum);
        where[i] = first[i];
    }
    struct cm_op_description description = custom_op_by_data(1, (const char *[]){"?"});
    description.n_where = 8;
    description.where = where;
    description.macs = "1+1+1+1";
    description.other_flops = n_more ? "1+1" : "1";
    return cm_op_costs_make(&description, 1, diag, ret);
}

static void limits_evaluation_steps(void **state) {
    struct cm_diagnostics *diag = cm_diagnostics_new();
    struct cm_op_costs *costs = NULL;
    (void)state;
    assert_int_equal(make_long(0, diag, &costs), CM_OK); /* 8 x 255 + 7 + 1 */
    cm_op_costs_free(costs);
    assert_int_equal(make_long(2, diag, &costs), CM_REFUSED);
    assert_string_equal(cm_diagnostics_get(diag, 0)->message,
                        "operators[0].other_flops: column 4 of '1+1': more than 2048 steps in "
                        "one description");
    cm_diagnostics_free(diag);
}

static void marks_a_training_step_without_gradient_incomplete(void **state) {
    struct cm_diagnostics *diag = cm_diagnostics_new();
    struct cm_op_costs *costs = NULL;
    (void)state;
    assert_int_equal(
        cm_op_costs_load_file(TEST_SOURCE_DIR "/examples/op-costs/formulas.json", diag, &costs),
        CM_OK);
    const struct cm_op_costs *const list[] = {costs};
    struct cm_result *forward = profile_with(list, 1, NULL);
    struct cm_result *step = profile_with(list, 1, "sgd");
    assert_true(cm_result_complete(forward));
    assert_false(cm_result_complete(step));
    assert_int_equal(step->coverage.n_unknown_gradients, 2);
    assert_string_equal(step->coverage.unknown_gradients[0].name, "com.acme::FancyConv");
    assert_int_equal(step->coverage.unknown_gradients[0].count, 2);
    cm_result_free(forward);
    cm_result_free(step);
    cm_op_costs_free(costs);
    cm_diagnostics_free(diag);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(locates_errors_of_costs_and_attributes),
        cmocka_unit_test(locates_errors_of_inputs_and_where),
        cmocka_unit_test(locates_errors_of_outputs),
        cmocka_unit_test(refuses_files_that_are_not_descriptions),
        cmocka_unit_test(limits_list_lengths),
        cmocka_unit_test(limits_name_lengths),
        cmocka_unit_test(limits_evaluation_steps),
        cmocka_unit_test(refuses_files_that_are_too_large),
        cmocka_unit_test(uses_the_last_description_of_an_operator),
        cmocka_unit_test(marks_a_training_step_without_gradient_incomplete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
