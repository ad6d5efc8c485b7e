/* SPDX-License-Identifier: Apache-2.0 */
/* The page of a language model: positions computed by hand, escaped names, models that do not
 * fit. */
#include "costmodel/llm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *page_of(const struct cm_llm *llm) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(cm_llm_write_html(llm, out), CM_OK);
    assert_int_equal(fclose(out), 0);
    return text;
}

static const struct cm_llm_point curve[] = {
    {1024, 1000, 2000000, 3000000, 4000000, 5000000},
    {2048, 100000, 4000000, 6000000, 20000000, CM_UNKNOWN},
};

static struct cm_llm usual(void) {
    return (struct cm_llm){.path = "folder/a\"<b>\033",
                           .weight_dtype = "f16",
                           .kv_dtype = "f16",
                           .prompt = 10,
                           .new_tokens = 5,
                           .request_bytes = 10,
                           .request_sequences = 4,
                           .stored_bytes = 30,
                           .arena_bytes = 10,
                           .memory_limit = 100,
                           .reserve = 100000, /* 10 % */
                           .max_context = CM_UNKNOWN,
                           .longest_context = CM_UNKNOWN,
                           .memory_bound_context = CM_UNKNOWN,
                           .price_per_million_tokens = CM_UNKNOWN,
                           .joules_per_token = CM_UNKNOWN,
                           .tp = 1,
                           .pp = 1,
                           .ep = 1,
                           .curve_batch = 8,
                           .n_curve = 2,
                           .curve = curve};
}

static void expect(const char *page, const char *const *wanted, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (strstr(page, wanted[i]) == NULL) fail_msg("no %s", wanted[i]);
}

#define EXPECT(page, ...)                                                                      \
    expect(page, (const char *const[]){__VA_ARGS__},                                           \
           sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void draws_curves_on_logarithmic_axes(void **state) {
    const struct cm_llm llm = usual();
    (void)state;
    char *page = page_of(&llm);
    EXPECT(page, "<title>a&quot;&lt;b&gt;\\x1b - costmodel</title>",
           /* from 1 kB to 100 kB: 10 kB is in the middle of 34 .. 286 */
           "y1=\"286.0\" y2=\"286.0\"/><text x=\"66\" y=\"290.0\" text-anchor=\"end\">1.00 kB<",
           "y1=\"160.0\" y2=\"160.0\"/><text x=\"66\" y=\"164.0\" text-anchor=\"end\">10.0 kB<",
           "y1=\"34.0\" y2=\"34.0\"/><text x=\"66\" y=\"38.0\" text-anchor=\"end\">100 kB<",
           "d=\"M74.0 286.0 L726.0 34.0\"",
           "<text x=\"726.0\" y=\"304\" text-anchor=\"middle\">2,048<",
           "<title>KV and state of one sequence, context 2,048: 100 kB<",
           /* from 2 us to 20 us */
           "<circle cx=\"74.0\" cy=\"286.0\" r=\"3.5\" stroke=\"none\"><title>batch 1, bound, "
           "context 1,024: 2.00 us<",
           "<circle cx=\"726.0\" cy=\"34.0\" r=\"3.5\" stroke=\"none\"><title>batch 8, bound, "
           "context 2,048: 20.0 us<",
           "batch 8, expected, context 1,024");
    assert_null(strstr(page, "batch 8, expected, context 2,048"));
    assert_null(strstr(page, "<b>"));
    assert_null(strstr(page, "<script"));
    free(page);
}

static void draws_the_memory_to_scale(void **state) {
    struct cm_llm llm = usual();
    (void)state;
    char *page = page_of(&llm);
    /* 758 units are 100 bytes */
    EXPECT(page, "x=\"1.0\" y=\"6\" width=\"227.4\"", "x=\"304.2\" y=\"6\" width=\"303.2\"",
           "KV of 4 sequences, 40 B", "free, 10 B", "reserved, 10 B",
           "Of 100 B; sequences of 15 tokens<");
    free(page);
    llm.ep = 2; /* both GPUs have all layers of attention */
    page = page_of(&llm);
    EXPECT(page, "KV of 2 sequences, 20 B");
    free(page);
}

static void says_if_the_model_does_not_fit(void **state) {
    struct cm_llm llm = usual();
    (void)state;
    llm.stored_bytes = 120;
    llm.request_sequences = 0;
    llm.n_curve = 0;
    char *page = page_of(&llm);
    EXPECT(page, "free, 0 B", "tokens; the model does not fit<",
           "<p>No context of 1,024 tokens fits.</p>");
    assert_null(strstr(page, "Cache of one sequence"));
    free(page);
    llm.memory_limit = CM_UNKNOWN;
    page = page_of(&llm);
    assert_null(strstr(page, "Memory of one GPU"));
    free(page);
}

static void lists_only_powers_of_ten_on_long_axes(void **state) {
    static const struct cm_llm_point points[] = {
        {1024, 1000, CM_UNKNOWN, CM_UNKNOWN, CM_UNKNOWN, CM_UNKNOWN},
        {2048, 3000000, CM_UNKNOWN, CM_UNKNOWN, CM_UNKNOWN, CM_UNKNOWN},
    };
    struct cm_llm llm = usual();
    (void)state;
    llm.curve = points;
    char *page = page_of(&llm);
    EXPECT(page, ">1.00 MB<", ">1.00 kB<");
    assert_null(strstr(page, ">2.00 kB<"));
    assert_null(strstr(page, "Time of a step"));
    free(page);
    llm.n_curve = 1; /* one point: all values are equal */
    page = page_of(&llm);
    EXPECT(page, "cx=\"400.0\" cy=\"286.0\"", ">1.00 kB<", ">2.00 kB<");
    free(page);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_curves_on_logarithmic_axes),
        cmocka_unit_test(draws_the_memory_to_scale),
        cmocka_unit_test(says_if_the_model_does_not_fit),
        cmocka_unit_test(lists_only_powers_of_ten_on_long_axes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
