/* SPDX-License-Identifier: Apache-2.0 */
/* The dims that a profile would ask for, without a profile. */
#include "costmodel/costmodel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* "h w": what is unbound of the model with these options. */
static void expect_unbound(const char *path, const struct cm_options *options,
                           const char *want) {
    struct cm_diagnostics *diag = cm_diagnostics_new();
    struct cm_model *model = NULL;
    struct cm_dim_names *names = NULL;
    char have[100] = "";
    assert_int_equal(cm_model_load_file(path, diag, &model), CM_OK);
    assert_int_equal(cm_model_unbound_dims(model, options, diag, &names), CM_OK);
    for (size_t i = 0; i < names->n; i++) {
        if (i > 0) strcat(have, " ");
        strcat(have, names->names[i]);
    }
    assert_string_equal(have, want);
    assert_int_equal(cm_diagnostics_count(diag), 0);
    cm_dim_names_free(names);
    cm_model_free(model);
    cm_diagnostics_free(diag);
}

static void what_nobody_bound_is_listed(void **state) {
    const struct cm_dim_option w = {"w", 64};
    const struct cm_dim_option none = {"no such dim", 1};
    struct cm_options options;
    (void)state;
    cm_options_init(&options);
    expect_unbound(TEST_MODELS_DIR "/unet.onnx", &options, "h w");
    expect_unbound(TEST_MODELS_DIR "/resnet50.onnx", &options, "");
    options.batch = 4;
    expect_unbound(TEST_MODELS_DIR "/transformer_encoder.onnx", &options, "seq");
    options.n_dims = 1;
    options.dims = &w;
    expect_unbound(TEST_MODELS_DIR "/unet.onnx", &options, "h");
    options.dims = &none; /* for a profile to tell: nothing is bound */
    expect_unbound(TEST_MODELS_DIR "/resnet50.onnx", &options, "batch");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_nobody_bound_is_listed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
