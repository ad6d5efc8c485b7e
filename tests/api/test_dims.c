/* SPDX-License-Identifier: Apache-2.0 */
/* cm_model_dims: symbolic dims and the sizes that options bind them to, without a profile. */
#include "costmodel/costmodel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/* `want` lists dims and sizes: "h=-1 w=64"; -1 is an unbound dim. */
static void expect_dims(const char *path, const struct cm_options *options, const char *want) {
    struct cm_diagnostics *diag = cm_diagnostics_new();
    struct cm_model *model = NULL;
    struct cm_dims *dims = NULL;
    char have[100] = "";
    size_t n = 0;
    assert_int_equal(cm_model_load_file(path, diag, &model), CM_OK);
    assert_int_equal(cm_model_dims(model, options, diag, &dims), CM_OK);
    for (size_t i = 0; i < dims->n; i++) {
        const bool known = dims->dims[i].size != CM_UNKNOWN;
        n += (size_t)snprintf(have + n, sizeof(have) - n, "%s%s=%d", i > 0 ? " " : "",
                              dims->dims[i].name, known ? (int)dims->dims[i].size : -1);
    }
    assert_string_equal(have, want);
    assert_int_equal(cm_diagnostics_count(diag), 0);
    cm_dims_free(dims);
    cm_model_free(model);
    cm_diagnostics_free(diag);
}

static void reports_the_size_that_each_dim_is_bound_to(void **state) {
    const struct cm_dim_option w = {"w", 64};
    struct cm_options options;
    (void)state;
    cm_options_init(&options);
    expect_dims(TEST_MODELS_DIR "/unet.onnx", &options, "batch=1 h=-1 w=-1");
    expect_dims(TEST_MODELS_DIR "/resnet50.onnx", &options, "batch=1");
    options.batch = 4;
    expect_dims(TEST_MODELS_DIR "/transformer_encoder.onnx", &options, "batch=4 seq=-1");
    options.n_dims = 1;
    options.dims = &w;
    expect_dims(TEST_MODELS_DIR "/unet.onnx", &options, "batch=4 h=-1 w=64");
}

/* Only a profile refuses a size for a dim that does not exist. */
static void accepts_a_size_for_a_missing_dim(void **state) {
    const struct cm_dim_option none = {"no such dim", 1};
    struct cm_options options;
    (void)state;
    cm_options_init(&options);
    options.n_dims = 1;
    options.dims = &none;
    expect_dims(TEST_MODELS_DIR "/resnet50.onnx", &options, "batch=-1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_the_size_that_each_dim_is_bound_to),
        cmocka_unit_test(accepts_a_size_for_a_missing_dim),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
