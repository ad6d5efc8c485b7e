/* SPDX-License-Identifier: Apache-2.0 */
/* cm_model_llm: what the library checks beyond the command line, and figures computed by hand
 * for a decoder with 2 layers, 2 of 4 heads of 8 columns with keys, 16 columns and fp16. */
#include "costmodel/llm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define MODEL TEST_SOURCE_DIR "/tests/cli/models/cache.onnx"

static struct cm_llm *ask(const struct cm_options *options, const struct cm_llm_options *llm,
                          const char *message) {
    struct cm_diagnostics *diag = cm_diagnostics_new();
    struct cm_model *model = NULL;
    struct cm_llm *ret = NULL;
    assert_int_equal(cm_model_load_file(MODEL, diag, &model), CM_OK);
    const int status = cm_model_llm(model, options, llm, diag, &ret);
    if (message) {
        assert_int_equal(status, CM_USAGE);
        assert_int_equal(cm_diagnostics_count(diag), 1);
        assert_string_equal(cm_diagnostics_get(diag, 0)->message, message);
    } else {
        assert_int_equal(status, CM_OK);
    }
    cm_model_free(model);
    cm_diagnostics_free(diag);
    return ret;
}

static void refuses_invalid_options(void **state) {
    struct cm_options options;
    struct cm_llm_options llm;
    (void)state;
    cm_options_init(&options);
    cm_llm_options_init(&llm);
    llm.reserve = 2;
    (void)ask(&options, &llm, "the reserved share must be at least 0 and below 1");
    llm.reserve = 0;
    options.backend = "roofline";
    (void)ask(&options, &llm, "llm requires --device");
    options.backend = NULL;
    llm.prompt = 0;
    (void)ask(&options, &llm, "the prompt must be from 1 to 4294967296, got 0");
}

static void computes_phases(void **state) {
    /* per layer: q 16x32, k and v 16x16, o 32x16, up and down 16x32; head 16x50 */
    enum { PRODUCTS = 2 * (512 + 2 * 256 + 512 + 2 * 512) + 800, NORMS = 5 * 16 };
    struct cm_options options;
    struct cm_llm_options llm;
    (void)state;
    cm_options_init(&options);
    cm_llm_options_init(&llm);
    llm.prompt = 10;
    llm.new_tokens = 3;
    llm.memory_limit = 100000;
    llm.reserve = 0;
    llm.arena = 0;
    struct cm_llm *got = ask(&options, &llm, NULL);
    assert_int_equal(got->kv_bytes_per_token, 2 * 2 * (8 + 8) * 2);
    assert_int_equal(got->params, PRODUCTS + NORMS + 800);
    assert_int_equal(got->active_without_input_embedding, PRODUCTS + NORMS);
    assert_int_equal(got->stored_bytes, 2 * (PRODUCTS + NORMS + 800));
    assert_int_equal(got->n_phases, 4);
    const struct cm_llm_phase *phases = got->phases;
    /* 4 heads x (8 + 8) columns x 2 layers for each query and key */
    assert_int_equal(phases[0].macs, 10 * PRODUCTS + 10 * 10 * 128);
    assert_int_equal(phases[1].past, 11);
    assert_int_equal(phases[1].macs, PRODUCTS + 12 * 128);
    assert_int_equal(phases[1].weight_bytes, 2 * PRODUCTS + 2 * 16);
    assert_int_equal(phases[1].kv_bytes, 12 * 128); /* 11 read, 1 written */
    assert_int_equal(phases[2].macs, 32 * (PRODUCTS + 12 * 128));
    /* prefill, then the second and third token see 11 and 12 keys */
    assert_int_equal(phases[3].macs, phases[0].macs + 2 * PRODUCTS + (11 + 12) * 128);
    assert_int_equal(phases[3].kv_bytes, phases[0].kv_bytes + (11 + 12) * 128);
    assert_int_equal(phases[0].lower_bound_ps, CM_UNKNOWN);
    /* a block has 16 tokens: 13 tokens take 16 x 128 bytes */
    assert_int_equal(got->capacity[0].sequences, (100000 - got->stored_bytes) / (16 * 128));
    cm_llm_free(got);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_invalid_options),
        cmocka_unit_test(computes_phases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
