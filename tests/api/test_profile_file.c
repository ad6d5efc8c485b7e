/* SPDX-License-Identifier: Apache-2.0 */
/* A path leads to a model or to a profile; the first bytes of the file decide which. */
#include "costmodel/costmodel.h"
#include "tests/temporary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define MODEL TEST_MODELS_DIR "/pointnet.onnx"

struct fixture {
    struct cm_diagnostics *diag;
    struct cm_model *model;
    struct cm_result *result;
};

static void set_up(struct fixture *f) {
    *f = (struct fixture){.diag = cm_diagnostics_new()};
    assert_non_null(f->diag);
}

static void tear_down(struct fixture *f) {
    cm_result_free(f->result);
    cm_model_free(f->model);
    cm_diagnostics_free(f->diag);
}

static void write_file(char *path, const char *text) {
    const int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), (ssize_t)strlen(text));
    close(file);
}

static void recognizes_a_model(void **state) {
    struct fixture f;
    (void)state;
    set_up(&f);
    assert_int_equal(cm_load_file(MODEL, f.diag, &f.model, &f.result), CM_OK);
    assert_non_null(f.model);
    assert_null(f.result);
    tear_down(&f);
}

/* The profile follows blanks that are longer than one read. */
static void reads_a_profile_back(void **state) {
    char path[TEMPORARY_PATH];
    temporary_path(path);
    struct cm_options options;
    struct fixture f;
    struct cm_model *none = NULL;
    struct cm_result *back = NULL;
    (void)state;
    set_up(&f);
    cm_options_init(&options);
    write_file(path, "\n \t\r\n");
    assert_int_equal(cm_model_load_file(MODEL, f.diag, &f.model), CM_OK);
    assert_int_equal(cm_model_profile(f.model, &options, f.diag, &f.result), CM_OK);
    FILE *out = fopen(path, "a");
    assert_non_null(out);
    assert_int_equal(cm_result_write(f.result, "json", NULL, NULL, out), CM_OK);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(cm_load_file(path, f.diag, &none, &back), CM_OK);
    assert_null(none);
    assert_int_equal(back->totals.macs, f.result->totals.macs);
    assert_int_equal(back->n_modules, f.result->n_modules);
    cm_result_free(back);
    unlink(path);
    tear_down(&f);
}

static void reports_files_that_are_neither_model_nor_profile(void **state) {
    static const struct {
        const char *text;
        int status;
    } cases[] = {
        {"{", CM_REFUSED},   {"  {}", CM_REFUSED}, {"[]", CM_REFUSED},
        {"   ", CM_REFUSED}, {"", CM_REFUSED},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char path[TEMPORARY_PATH];
        temporary_path(path);
        struct fixture f;
        set_up(&f);
        write_file(path, cases[i].text);
        assert_int_equal(cm_load_file(path, f.diag, &f.model, &f.result), cases[i].status);
        assert_null(f.model);
        assert_null(f.result);
        assert_true(cm_diagnostics_count(f.diag) > 0);
        unlink(path);
        tear_down(&f);
    }
}

/* HTML pages begin with '<', too, but are read as profiles. */
static void reports_xml_as_a_model_of_openvino(void **state) {
    static const char *const texts[] = {"<?xml version=\"1.0\"?>\n<net name=\"m\">\n</net>\n",
                                        "<net name=\"m\" version=\"11\">\n</net>\n"};
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        char path[TEMPORARY_PATH];
        temporary_path(path);
        struct fixture f;
        set_up(&f);
        write_file(path, texts[i]);
        assert_int_equal(cm_load_file(path, f.diag, &f.model, &f.result), CM_REFUSED);
        assert_string_equal(cm_diagnostics_get(f.diag, 0)->message,
                            "not an ONNX model, the file looks like an OpenVINO model");
        unlink(path);
        tear_down(&f);
    }
}

static void reports_a_missing_file_as_io_error(void **state) {
    struct fixture f;
    (void)state;
    set_up(&f);
    assert_int_equal(cm_load_file("/nonexistent", f.diag, &f.model, &f.result), CM_IO);
    assert_int_equal(cm_load_file("/tmp", f.diag, &f.model, &f.result), CM_IO);
    tear_down(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recognizes_a_model),
        cmocka_unit_test(reads_a_profile_back),
        cmocka_unit_test(reports_files_that_are_neither_model_nor_profile),
        cmocka_unit_test(reports_xml_as_a_model_of_openvino),
        cmocka_unit_test(reports_a_missing_file_as_io_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
