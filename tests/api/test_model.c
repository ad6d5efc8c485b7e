/* SPDX-License-Identifier: Apache-2.0 */
/* Public functions on models: options that the command line rejects earlier. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "costmodel/costmodel.h"

static void expect_refused(const struct cm_options *options, const char *message) {
    struct cm_diagnostics *diagnostics = cm_diagnostics_new();
    struct cm_model *model = NULL;
    struct cm_result *result = NULL;
    assert_int_equal(cm_model_load_file(TEST_SOURCE_DIR "/tests/cli/models/unknown_op.onnx",
                                        diagnostics, &model),
                     CM_OK);
    assert_int_equal(cm_model_profile(model, options, diagnostics, &result), CM_USAGE);
    assert_null(result);
    assert_string_equal(cm_diagnostics_get(diagnostics, 0)->message, message);
    cm_model_free(model);
    cm_diagnostics_free(diagnostics);
}

static void refuses_batches_below_1(void **state) {
    struct cm_options options;
    (void)state;
    cm_options_init(&options);
    options.batch = -1;
    expect_refused(&options, "cm_options.batch must be >= 0, got -1");
}

static void refuses_negative_memory_limits(void **state) {
    struct cm_options options;
    (void)state;
    cm_options_init(&options);
    options.memory_limit = -1;
    expect_refused(&options, "cm_options.memory_limit must be >= 0, got -1");
}

static void refuses_alignments_that_are_not_powers_of_two(void **state) {
    struct cm_options options;
    (void)state;
    cm_options_init(&options);
    options.memory_alignment = 48;
    expect_refused(&options, "alignment must be a power of two up to 2^30, got 48");
    options.memory_alignment = -64;
    expect_refused(&options, "alignment must be a power of two up to 2^30, got -64");
}

/* Six tokens choose among four experts of 8 x 16 floats: 6 x 512 bytes. */
static void notes_copies_of_weight_matrices(void **state) {
    struct cm_diagnostics *diagnostics = cm_diagnostics_new();
    struct cm_model *model = NULL;
    struct cm_result *result = NULL;
    struct cm_options options;
    (void)state;
    cm_options_init(&options);
    assert_int_equal(cm_model_load_file(TEST_SOURCE_DIR "/tests/cli/models/experts.onnx",
                                        diagnostics, &model),
                     CM_OK);
    assert_int_equal(cm_model_profile(model, &options, diagnostics, &result), CM_OK);
    assert_string_equal(
        cm_diagnostics_get(diagnostics, 0)->message,
        "1 node copies weight matrices for each row of the indices, as of the experts of each "
        "token, at most 0.00307 MB: activations and traffic include the copies, the lower "
        "bound "
        "of times does not");
    cm_result_free(result);
    cm_model_free(model);
    cm_diagnostics_free(diagnostics);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_batches_below_1),
        cmocka_unit_test(refuses_negative_memory_limits),
        cmocka_unit_test(refuses_alignments_that_are_not_powers_of_two),
        cmocka_unit_test(notes_copies_of_weight_matrices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
