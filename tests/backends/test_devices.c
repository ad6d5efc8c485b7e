/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in devices are whole, and a file says exactly what is wrong with it. */
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

#include "backends/devices.h"
#include "support/arena.h"

/* The files have a name that messages can be compared with. */
static int make(void **state) {
    char folder[] = "/tmp/test_devices_XXXXXX";
    *state = arena_new("test", 0);
    return *state == NULL || mkdtemp(folder) == NULL || chdir(folder) != 0;
}

static int end(void **state) {
    char folder[4096];
    arena_free(*state);
    return getcwd(folder, sizeof(folder)) == NULL || rmdir(folder) != 0;
}

static void every_built_in_device_is_whole(void **state) {
    (void)state;
    size_t n = 0;
    for (; device_at(n) != NULL; n++) {
        const struct device_model *device = device_at(n);
        assert_ptr_equal(device_find(device->name), device); /* no name twice */
        assert_true(strlen(device->title) > 0 && strlen(device->source) > 0);
        assert_true(device->rates[RATE_FP32] > 1e12 && device->rates[RATE_FP32] < 1e15);
        assert_true(device->bandwidth > 1e11 && device->bandwidth < 1e14);
        assert_true(device->memory_bytes > 1000000000);
        /* Vendors publish none. */
        assert_true(device->floor == 0);
        assert_true(device->rates[RATE_NONE] == 0);
    }
    assert_true(n >= 18);
    assert_null(device_find("h2000"));
}

/* Figures worked out beside the table: dense TFLOP/s of fp16 products, and GB/s. */
static void some_figures_are_those_of_the_documents(void **state) {
    (void)state;
    static const struct {
        const char *name;
        double tera, giga;
    } cases[] = {
        {"v100", 125, 900},        {"t4", 65, 320},           {"a100-40gb", 312, 1555},
        {"rtx-4090", 165.2, 1008}, {"h100-sxm", 989.5, 3350}, {"h200", 989.5, 4800},
        {"mi300x", 1307.4, 5300},  {"b200", 2250, 8000},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct device_model *device = device_find(cases[i].name);
        assert_non_null(device);
        assert_true(device->rates[RATE_MATRIX_FP16] == cases[i].tera * 1e12);
        assert_true(device->bandwidth == cases[i].giga * 1e9);
    }
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

static void a_file_gives_a_device(void **state) {
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

#define HEAD "{\"schema\": \"costmodel/device/1\", \"name\": \"a\", "

static void a_file_that_is_wrong_says_where(void **state) {
    static const char *const cases[][2] = {
        {"[]", "device file 'x.json': is no JSON object"},
        {"{\"name\": 1", "device file 'x.json': is no JSON object"},
        {"{\"name\": \"a\"}", "device file 'x.json': want the schema \"costmodel/device/1\""},
        {"{\"schema\": \"costmodel/device/2\"}",
         "device file 'x.json': want the schema \"costmodel/device/1\""},
        {"{\"schema\": 1}", "device file 'x.json': want the schema \"costmodel/device/1\""},
        {"{\"schema\": \"costmodel/device/1\", \"bandwidth\": 1e9, \"rates\": {\"fp32\": 1}}",
         "device file 'x.json': has no 'name'"},
        {"{\"schema\": \"costmodel/device/1\", \"name\": 5}",
         "device file 'x.json': 'name' is no text"},
        {HEAD "\"rates\": {\"fp32\": 1}}", "device file 'x.json': has no 'bandwidth'"},
        {HEAD "\"bandwidth\": 1e9}", "device file 'x.json': has no rate"},
        {HEAD "\"bandwidth\": -1}", "device file 'x.json': 'bandwidth' is no number above 0"},
        {HEAD "\"bandwidth\": 1e999}",
         "device file 'x.json': 'bandwidth' is no number above 0"},
        {HEAD "\"bandwidth\": \"1e9\"}",
         "device file 'x.json': 'bandwidth' is no number above 0"},
        {HEAD "\"rates\": 5}", "device file 'x.json': 'rates' is no object"},
        {HEAD "\"rates\": {\"fp33\": 1}}", "device file 'x.json': 'fp33' is no known key"},
        {HEAD "\"rates\": {\"none\": 1}}", "device file 'x.json': 'none' is no known key"},
        {HEAD "\"bandwith\": 1e9}", "device file 'x.json': 'bandwith' is no known key"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct device_model model = {.name = "untouched"};
        struct cm_reason reason = {""};
        assert_int_equal(read_text(cases[i][0], *state, &model, &reason), CM_BACKEND_REFUSED);
        assert_string_equal(reason.text, cases[i][1]);
        assert_string_equal(model.name, "untouched");
    }
}

static void a_file_that_cannot_be_read_says_why(void **state) {
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
    assert_string_equal(reason.text,
                        "device file 'x.json': is larger than a description can be");
    free(large);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_built_in_device_is_whole),
        cmocka_unit_test(some_figures_are_those_of_the_documents),
        cmocka_unit_test(a_file_gives_a_device),
        cmocka_unit_test(a_file_that_is_wrong_says_where),
        cmocka_unit_test(a_file_that_cannot_be_read_says_why),
    };
    return cmocka_run_group_tests(tests, make, end);
}
