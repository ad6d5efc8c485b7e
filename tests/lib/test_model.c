/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions on models: what the program's own options do not let through. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "costmodel/costmodel.h"

static void a_batch_below_1_is_refused(void **state) {
    struct cm_diagnostics *diagnostics = cm_diagnostics_new();
    struct cm_options options;
    struct cm_model *model = NULL;
    struct cm_result *result = NULL;
    (void)state;
    assert_int_equal(cm_model_load_file(TEST_SOURCE_DIR "/tests/cli/models/unknown_op.onnx",
                                        diagnostics, &model),
                     CM_OK);
    cm_options_init(&options);
    options.batch = -1;
    assert_int_equal(cm_model_profile(model, &options, diagnostics, &result), CM_USAGE);
    assert_null(result);
    assert_string_equal(cm_diagnostics_get(diagnostics, 0)->message,
                        "the batch is -1, at least 1 wanted");
    cm_model_free(model);
    cm_diagnostics_free(diagnostics);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_batch_below_1_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
