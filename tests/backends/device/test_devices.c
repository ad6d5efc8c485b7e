/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the built-in devices, and of errors in device files. */
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

#include <cmocka.h>

#include "backends/device/devices.h"
#include "support/arena.h"
#include "tests/temporary.h"

/* Changes to a temporary folder, so that messages name a device file "x.json". */
static int make(void **state) {
    char folder[TEMPORARY_PATH];
    temporary_path(folder);
    *state = arena_new("test", 0);
    return *state == NULL || mkdtemp(folder) == NULL || chdir(folder) != 0;
}

static int end(void **state) {
    char folder[4096];
    arena_free(*state);
    return getcwd(folder, sizeof(folder)) == NULL || rmdir(folder) != 0;
}

static struct device_model built_in(const char *name, struct arena *arena) {
    struct device_model model;
    struct cm_reason reason = {""};
    if (device_built_in(name, arena, &model, &reason) != CM_BACKEND_OK)
        fail_msg("%s: %s", name, reason.text);
    return model;
}

static void every_built_in_device_is_complete(void **state) {
    size_t n = 0;
    for (; device_name_at(n) != NULL; n++) {
        const char *name = device_name_at(n);
        const struct device_model device = built_in(name, *state);
        const bool processor = strncmp(device.architecture, "sm_", 3) != 0 &&
                               strncmp(device.architecture, "gfx", 3) != 0;
        assert_string_equal(device.name, name);
        assert_true(n == 0 || strcmp(device_name_at(n - 1), name) != 0);
        assert_true(strlen(device.title) > 0 && strlen(device.source) > 0);
        assert_true(strlen(device.source) < CM_NAME_SIZE); /* a report prints it whole */
        assert_true(device.rates[RATE_FP32] > (processor ? 1e10 : 1e11));
        assert_true(device.rates[RATE_FP32] < 1e15);
        assert_true(device.bandwidth > (processor ? 3e9 : 2e10) && device.bandwidth < 1e14);
        assert_true(processor || device.memory_bytes > 1000000000);
        /* Vendors do not publish a floor. */
        assert_true(device.floor == 0);
        assert_true(device.rates[RATE_NONE] == 0);
        assert_true(device_is_built_in(name));
    }
    assert_true(n >= 30);
}

static void refuses_unknown_device(void **state) {
    struct device_model model;
    struct cm_reason reason = {""};
    assert_false(device_is_built_in("h2000"));
    assert_int_equal(device_built_in("h2000", *state, &model, &reason), CM_BACKEND_REFUSED);
    assert_string_equal(reason.text, "unknown device 'h2000', did you mean 'h200'?");
}

static void resolves_abbreviated_device_names(void **state) {
    static const char *const cases[][2] = {
        {"h200", "h200"},
        {"H200", "h200"},
        {"RTX4090", "rtx-4090"},
        {"rtx_4090", "rtx-4090"},
        {"RTX 4090", "rtx-4090"},
        {"gtx-1080", "gtx-1080"},
        {"quadro", "quadro-rtx-5000"},
        {"A100-40GB", "a100-40gb"},
        {"mine.json", "mine.json"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cm_reason reason = {""};
        const char *name = NULL;
        assert_int_equal(device_resolve(cases[i][0], &name, &reason), CM_BACKEND_OK);
        assert_string_equal(name, cases[i][1]);
    }
}

static void refuses_ambiguous_and_unknown_names(void **state) {
    static const char *const cases[][2] = {
        {"a100", "device 'a100' is ambiguous: a100-40gb or a100-80gb?"},
        {"H100", "device 'H100' is ambiguous: h100-pcie or h100-sxm?"},
        {"h20", "unknown device 'h20', did you mean 'h200'?"},
        {"rtx", "device 'rtx' is ambiguous: rtx-3090, rtx-4070, rtx-4080, rtx-4090, ...?"},
        {"",
         "unknown device '': want one of `costmodel backends` or a file that ends in .json"},
        {"abacus", "unknown device 'abacus': want one of `costmodel backends` or a file that "
                   "ends in .json"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cm_reason reason = {""};
        const char *name = NULL;
        assert_int_equal(device_resolve(cases[i][0], &name, &reason), CM_BACKEND_REFUSED);
        assert_string_equal(reason.text, cases[i][1]);
    }
}

/* Figures computed independently of the device files: dense TFLOP/s of fp16 products, and
 * GB/s. */
static void figures_equal_published_data_sheets(void **state) {
    static const struct {
        const char *name;
        double tera, giga;
    } cases[] = {
        {"v100", 125, 900},        {"t4", 65, 320},           {"a100-40gb", 312, 1555},
        {"rtx-4090", 165.2, 1008}, {"h100-sxm", 989.4, 3350}, {"h200", 989.5, 4800},
        {"mi300x", 1307.4, 5300},  {"b200", 2250, 7700},      {"gb200", 2500, 8000},
        {"b300", 2250, 8000},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct device_model device = built_in(cases[i].name, *state);
        assert_true(device.rates[RATE_MATRIX_FP16] == cases[i].tera * 1e12);
        assert_true(device.bandwidth == cases[i].giga * 1e9);
    }
}

static void reads_facts_of_the_chip(void **state) {
    const struct device_model device = built_in("a100-80gb", *state);
    assert_string_equal(device.architecture, "sm_80");
    assert_int_equal(device.n_units, 108);
    assert_int_equal(device.threads_a_unit, 2048);
    assert_int_equal(device.cache_bytes, 40 << 20);
    assert_true(device.clock_headroom == 0);
    assert_true(built_in("gtx-1080-ti", *state).clock_headroom == 1911.0 / 1582);
    assert_string_equal(device.source,
                        "NVIDIA Ampere Architecture In-Depth, table of P100, V100 and A100; "
                        "NVIDIA A100 Tensor Core GPU data sheet; ...");
}

static int read_text(const char *text, struct arena *arena, struct device_model *ret,
                     struct cm_reason *reason) {
    char path[FIXTURE_PATH];
    fixture_write(text, path);
    assert_int_equal(rename(path, "x.json"), 0);
    const int status = device_read("x.json", arena, ret, reason);
    unlink("x.json");
    return status;
}

static void reads_a_device_from_a_file(void **state) {
    struct device_model model;
    struct cm_reason reason = {""};
    assert_int_equal(read_text("{\"schema\": \"costmodel/device/1\", \"name\": \"mine\","
                               " \"source\": \"page 3\", \"rates\": {\"fp32\": 1e12,"
                               " \"matrix_fp16\": 8.5e12}, \"bandwidth\": 1e11,"
                               " \"memory_bytes\": 4e9, \"floor\": 2e-6}",
                               *state, &model, &reason),
                     CM_BACKEND_OK);
    assert_string_equal(model.title, "mine");
    assert_string_equal(model.source, "page 3");
    assert_true(model.rates[RATE_FP32] == 1e12);
    assert_true(model.rates[RATE_MATRIX_FP16] == 8.5e12);
    assert_true(model.rates[RATE_FP64] == 0);
    assert_true(model.bandwidth == 1e11);
    assert_int_equal(model.memory_bytes, 4000000000);
    assert_true(model.floor == 2e-6);
}

#define FIGURES(rates)                                                                         \
    "{\"schema\": \"costmodel/device/1\", \"name\": \"a\", \"sources\": {\"m\": {"             \
    "\"document\": \"the manual\", \"url\": \"https://example.org\"}, \"copy\": {"             \
    "\"document\": \"a copy\"}}, \"rates\": {" rates "}, \"bandwidth\": 1e11}"

static void accepts_figure_with_source(void **state) {
    struct device_model model;
    struct cm_reason reason = {""};
    assert_int_equal(
        read_text(
            FIGURES("\"fp32\": {\"value\": 2e12, \"source\": \"m\", \"where\": \"page 3\","
                    " \"derivation\": \"2 x 1e12\", \"checked\": \"copy\"}"),
            *state, &model, &reason),
        CM_BACKEND_OK);
    assert_true(model.rates[RATE_FP32] == 2e12);
    assert_string_equal(model.source, "the manual");
}

static void reports_invalid_figure(void **state) {
    static const char *const cases[][2] = {
        {FIGURES("\"fp32\": {\"source\": \"m\"}"),
         "device file 'x.json': 'fp32' has no 'value'"},
        {FIGURES("\"fp32\": {\"value\": 1}"), "device file 'x.json': 'fp32' has no 'source'"},
        {FIGURES("\"fp32\": {\"value\": \"1\", \"source\": \"m\"}"),
         "device file 'x.json': 'value' must be a number above 0"},
        {FIGURES("\"fp32\": {\"value\": 1, \"source\": \"n\"}"),
         "device file 'x.json': 'n' is not listed in 'sources'"},
        {FIGURES("\"fp32\": {\"value\": 1, \"source\": \"m\", \"checked\": \"n\"}"),
         "device file 'x.json': 'n' is not listed in 'sources'"},
        {FIGURES("\"fp32\": {\"value\": 1, \"source\": \"m\", \"where\": 3}"),
         "device file 'x.json': 'where' must be a non-empty string"},
        {FIGURES("\"fp32\": {\"value\": 1, \"source\": \"m\", \"unit\": \"T\"}"),
         "device file 'x.json': 'unit' is not a known key"},
        {FIGURES("\"fp32\": {\"value\": 1, \"source\": \"m\", \"value\": 2}"),
         "device file 'x.json': 'value' is given twice"},
        {FIGURES("\"fp32\": [1]"), "device file 'x.json': 'fp32' must be a number above 0"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct device_model model;
        struct cm_reason reason = {""};
        assert_int_equal(read_text(cases[i][0], *state, &model, &reason), CM_BACKEND_REFUSED);
        assert_string_equal(reason.text, cases[i][1]);
    }
}

#define HEAD "{\"schema\": \"costmodel/device/1\", \"name\": \"a\", "

static void reports_errors_of_invalid_file(void **state) {
    static const char *const cases[][2] = {
        {"[]", "device file 'x.json': is not a JSON object"},
        {"{\"name\": 1", "device file 'x.json': is not a JSON object"},
        {"{\"name\": \"a\"}", "device file 'x.json': schema must be \"costmodel/device/1\""},
        {"{\"schema\": \"costmodel/device/2\"}",
         "device file 'x.json': schema must be \"costmodel/device/1\""},
        {"{\"schema\": 1}", "device file 'x.json': schema must be \"costmodel/device/1\""},
        {"{\"schema\": \"costmodel/device/1\", \"bandwidth\": 1e9, \"rates\": {\"fp32\": 1}}",
         "device file 'x.json': has no 'name'"},
        {"{\"schema\": \"costmodel/device/1\", \"name\": 5}",
         "device file 'x.json': 'name' must be a non-empty string"},
        {HEAD "\"rates\": {\"fp32\": 1}}", "device file 'x.json': has no 'bandwidth'"},
        {HEAD "\"bandwidth\": 1e9}", "device file 'x.json': has no rate"},
        {HEAD "\"bandwidth\": -1}",
         "device file 'x.json': 'bandwidth' must be a number above 0"},
        {HEAD "\"bandwidth\": 1e999}",
         "device file 'x.json': 'bandwidth' must be a number above 0"},
        {HEAD "\"bandwidth\": \"1e9\"}",
         "device file 'x.json': 'bandwidth' must be a number above 0"},
        {HEAD "\"rates\": 5}", "device file 'x.json': 'rates' must be an object"},
        {HEAD "\"rates\": {\"fp33\": 1}}", "device file 'x.json': 'fp33' is not a known key"},
        {HEAD "\"rates\": {\"none\": 1}}", "device file 'x.json': 'none' is not a known key"},
        {HEAD "\"rates\": {\"fp32\": 1, \"fp32\": 2}}",
         "device file 'x.json': 'fp32' is given twice"},
        {HEAD "\"bandwidth\": 1, \"bandwidth\": 1e9}",
         "device file 'x.json': 'bandwidth' is given twice"},
        {HEAD "\"bandwith\": 1e9}", "device file 'x.json': 'bandwith' is not a known key"},
        {HEAD "\"sources\": []}", "device file 'x.json': 'sources' must be an object"},
        {HEAD "\"sources\": {\"m\": 1}}", "device file 'x.json': 'm' must be an object"},
        {HEAD "\"sources\": {\"m\": {}}}", "device file 'x.json': 'm' has no 'document'"},
        {HEAD "\"sources\": {\"m\": {\"document\": 1}}}",
         "device file 'x.json': 'document' must be a non-empty string"},
        {HEAD "\"sources\": {\"m\": {\"document\": \"a\", \"page\": \"3\"}}}",
         "device file 'x.json': 'page' is not a known key"},
        {HEAD "\"units\": 2e6}", "device file 'x.json': 'units' must be <= 1000000"},
        {HEAD "\"calibration\": 1}", "device file 'x.json': 'calibration' must be an object"},
        {HEAD "\"calibration\": {\"compiled\": {}}}",
         "device file 'x.json': 'calibration' has no 'basis'"},
        {HEAD "\"calibration\": {\"basis\": \"a\", \"basis\": \"b\"}}",
         "device file 'x.json': 'basis' is given twice"},
        {HEAD "\"calibration\": {\"basis\": \"a\", \"train\": {}}}",
         "device file 'x.json': 'train' is not a known key"},
        {HEAD "\"calibration\": {\"basis\": \"a\", \"eager\": 1}}",
         "device file 'x.json': 'eager' must be an object"},
        {HEAD "\"calibration\": {\"basis\": \"a\", \"eager\": {\"speed\": 1}}}",
         "device file 'x.json': 'speed' is not a known key"},
        {HEAD "\"calibration\": {\"basis\": \"a\", \"eager\": {\"launch\": 0}}}",
         "device file 'x.json': 'launch' must be a number above 0"},
        {HEAD "\"calibration\": {\"basis\": \"a\", \"eager\": {\"pool\": 1, \"pool\": 1}}}",
         "device file 'x.json': 'pool' is given twice"},
        {HEAD "\"calibration\": {\"basis\": \"a\", \"eager\": {}, \"torch-eager\": {}}}",
         "device file 'x.json': 'torch-eager' is given twice"},
        {HEAD "\"calibration\": {\"basis\": \"a\", \"auto\": {}}}",
         "device file 'x.json': 'auto' is not a known key"},
        {HEAD "\"calibration\": {\"basis\": \"a\", \"eager fp7\": {}}}",
         "device file 'x.json': 'eager fp7' is not a known key"},
        {HEAD
         "\"calibration\": {\"basis\": \"a\", \"eager\": {\"intervals\": {\"x\": [1, 2]}}}}",
         "device file 'x.json': 'x' is not a known key"},
        {HEAD "\"calibration\": {\"basis\": \"a\", \"eager\": {\"intervals\": {\"other\": [2, "
              "1]}}}}",
         "device file 'x.json': 'other' must be [low, high], two numbers above 0"},
        {HEAD "\"link\": 1}", "device file 'x.json': 'link' must be an object"},
        {HEAD "\"link\": {\"bytes_per_s\": 1}}", "device file 'x.json': 'link' has no 'name'"},
        {HEAD "\"network\": {\"name\": \"a\"}}",
         "device file 'x.json': 'network' has no 'bytes_per_s'"},
        {HEAD "\"link\": {\"name\": 1}}",
         "device file 'x.json': 'name' must be a non-empty string"},
        {HEAD "\"link\": {\"basis\": 1}}",
         "device file 'x.json': 'basis' must be a non-empty string"},
        {HEAD "\"link\": {\"share\": 0}}",
         "device file 'x.json': 'share' must be a number above 0"},
        {HEAD "\"link\": {\"contention\": 101}}",
         "device file 'x.json': 'contention' must be <= 100"},
        {HEAD "\"link\": {\"speed\": 1}}", "device file 'x.json': 'speed' is not a known key"},
        {HEAD "\"link\": {\"step\": 1, \"step\": 1}}",
         "device file 'x.json': 'step' is given twice"},
        {HEAD "\"note\": 1}", "device file 'x.json': 'note' must be a non-empty string"},
        {HEAD "\"architecture\": \"\"}",
         "device file 'x.json': 'architecture' must be a non-empty string"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct device_model model = {.name = "untouched"};
        struct cm_reason reason = {""};
        assert_int_equal(read_text(cases[i][0], *state, &model, &reason), CM_BACKEND_REFUSED);
        assert_string_equal(reason.text, cases[i][1]);
        assert_string_equal(model.name, "untouched");
    }
}

static void reports_unreadable_file(void **state) {
    struct device_model model;
    struct cm_reason reason = {""};
    assert_int_equal(device_read("/nonexistent/a.json", *state, &model, &reason),
                     CM_BACKEND_REFUSED);
    assert_string_equal(reason.text, "device file: cannot open \"/nonexistent/a.json\": "
                                     "No such file or directory");
    char *large = malloc(70000);
    assert_non_null(large);
    memset(large, ' ', 70000);
    large[69999] = '\0';
    assert_int_equal(read_text(large, *state, &model, &reason), CM_BACKEND_REFUSED);
    assert_string_equal(reason.text, "device file 'x.json': is larger than 64 KiB");
    free(large);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_built_in_device_is_complete),
        cmocka_unit_test(refuses_unknown_device),
        cmocka_unit_test(resolves_abbreviated_device_names),
        cmocka_unit_test(refuses_ambiguous_and_unknown_names),
        cmocka_unit_test(figures_equal_published_data_sheets),
        cmocka_unit_test(reads_facts_of_the_chip),
        cmocka_unit_test(reads_a_device_from_a_file),
        cmocka_unit_test(accepts_figure_with_source),
        cmocka_unit_test(reports_invalid_figure),
        cmocka_unit_test(reports_errors_of_invalid_file),
        cmocka_unit_test(reports_unreadable_file),
    };
    return cmocka_run_group_tests(tests, make, end);
}
