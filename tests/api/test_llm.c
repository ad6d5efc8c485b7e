/* SPDX-License-Identifier: Apache-2.0 */
/* cm_model_llm: what the library checks beyond the command line, and figures computed by hand
 * for a decoder with 2 layers, 2 of 4 heads of 8 columns with keys, 16 columns and fp16. */
#include "costmodel/llm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
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

/* The result outlives the options, whose texts it must not keep. */
static void copies_names_of_formats(void **state) {
    char cache[] = "q8_0", weights[] = "int4:g32";
    const char *const formats[] = {weights};
    struct cm_options options;
    struct cm_llm_options llm;
    (void)state;
    cm_options_init(&options);
    cm_llm_options_init(&llm);
    llm.kv_dtype = cache;
    llm.quantize = formats;
    llm.n_quantize = 1;
    struct cm_llm *got = ask(&options, &llm, NULL);
    cache[0] = weights[0] = '?';
    assert_string_equal(got->kv_dtype, "q8_0");
    assert_string_equal(got->weight_dtype, "int4:g32");
    cm_llm_free(got);
}

/* Two GPUs halve the products; both have the table of embeddings and the norms. */
static void divides_the_parameters(void **state) {
    struct cm_options options;
    struct cm_llm_options llm;
    (void)state;
    cm_options_init(&options);
    cm_llm_options_init(&llm);
    llm.tp = 2;
    struct cm_llm *got = ask(&options, &llm, NULL);
    assert_int_equal(got->params_per_gpu, (6800 - 800 - 5 * 16) / 2 + 800 + 5 * 16);
    cm_llm_free(got);
    llm.tp = 1;
    llm.pp = 2; /* of 6,800 parameters */
    got = ask(&options, &llm, NULL);
    assert_int_equal(got->params_per_gpu, 3400);
    cm_llm_free(got);
}

/* A token takes 128 bytes: 7,696 tokens fit besides the weights, and 3 sequences of 2,048. */
static void lists_contexts_that_fit(void **state) {
    static const int64_t batches[] = {3, 1};
    struct cm_options options;
    struct cm_llm_options llm;
    (void)state;
    cm_options_init(&options);
    cm_llm_options_init(&llm);
    llm.memory_limit = 1000000;
    llm.reserve = 0;
    llm.arena = 0;
    llm.batches = batches;
    llm.n_batches = 2;
    options.backend = "roofline:device=h100-sxm";
    struct cm_llm *got = ask(&options, &llm, NULL);
    assert_int_equal(got->curve_batch, 3);
    assert_int_equal(got->n_curve, 3);
    assert_int_equal(got->curve[2].context, 4096);
    assert_int_equal(got->curve[2].request_bytes, 4096 * 128);
    assert_true(got->curve[1].lower_bound_ps > 0);
    assert_true(got->curve[1].latency_ps > got->curve[1].lower_bound_ps);
    assert_true(got->curve[1].batch_lower_bound_ps > got->curve[1].lower_bound_ps);
    assert_true(got->curve[2].latency_ps > 0);
    assert_int_equal(got->curve[2].batch_lower_bound_ps, CM_UNKNOWN);
    assert_int_equal(got->curve[2].batch_latency_ps, CM_UNKNOWN);
    cm_llm_free(got);
}

/* Returns what a writer of the sweep wrote. */
static char *written(const struct cm_llm_sweep *sweep, bool as_csv) {
    struct cm_text_options options;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    cm_text_options_init(&options);
    assert_int_equal(as_csv ? cm_llm_sweep_write_csv(sweep, out)
                            : cm_llm_sweep_write_text(sweep, &options, out),
                     CM_OK);
    fclose(out);
    return text;
}

static void lists_a_row_for_each_batch(void **state) {
    const struct cm_llm_phase phases[] = {
        {.name = "prefill", .batch = 1, .lower_bound_ps = 5, .latency_ps = 6},
        {.name = "decode", .batch = 1, .lower_bound_ps = 3, .latency_ps = CM_UNKNOWN},
        {.name = "decode", .batch = 8, .lower_bound_ps = 3000000000, .latency_ps = 4000000000},
        {.name = "generate", .batch = 1},
    };
    const struct cm_llm one = {.path = "=a,\"b\"\033",
                               .device = "GPU",
                               .tp = 2,
                               .pp = 1,
                               .ep = 1,
                               .prompt = 10,
                               .new_tokens = 5,
                               .request_bytes = 70,
                               .stored_bytes = 80,
                               .request_sequences = CM_UNKNOWN,
                               .n_phases = 4,
                               .phases = phases};
    const struct cm_llm *const llms[] = {&one, &one};
    struct cm_llm_sweep *sweep = NULL;
    (void)state;
    assert_int_equal(cm_llm_sweep_make(llms, 2, NULL, &sweep), CM_OK);
    assert_int_equal(sweep->n_rows, 4);
    const struct cm_llm_row *row = &sweep->rows[3];
    assert_int_equal(row->batch, 8);
    assert_int_equal(row->context, 15);
    assert_int_equal(row->prefill_lower_bound_ps, 5);
    assert_int_equal(row->decode_ps, 4000000000);
    assert_int_equal(row->tokens_per_s, 2666); /* 8 in 3 ms */
    assert_int_equal(row->expected_tokens_per_s, 2000);
    assert_int_equal(sweep->rows[0].expected_tokens_per_s, CM_UNKNOWN);
    char *csv = written(sweep, true);
    assert_non_null(strstr(csv, "\r\n\"'=a,\"\"b\"\"\\x1b\",GPU,2,1,1,10,1,15,70,80,,5,6,3,,"
                                "333333333333,\r\n"));
    char *text = written(sweep, false);
    assert_non_null(strstr(text, "=a,\"b\"\\x1b, device GPU, tp 2, pp 1, ep 1, prompt 10, "
                                 "context 15, KV/sequence 70 B, weights/GPU 80 B"));
    assert_non_null(strstr(text, "3.00 ms  4.00 ms            2,666     2,000\n"));
    free(csv);
    free(text);
    cm_llm_sweep_free(sweep);
    assert_int_equal(cm_llm_sweep_make(llms, 0, NULL, &sweep), CM_OK);
    text = written(sweep, false);
    assert_string_equal(text, "");
    free(text);
    cm_llm_sweep_free(sweep);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_invalid_options), cmocka_unit_test(computes_phases),
        cmocka_unit_test(copies_names_of_formats), cmocka_unit_test(divides_the_parameters),
        cmocka_unit_test(lists_contexts_that_fit), cmocka_unit_test(lists_a_row_for_each_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
