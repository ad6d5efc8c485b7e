/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of formats, computed by hand: elements, then scales and zero points of each block. */
#include "llm/formats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void sizes_of_matrices(void **state) {
    static const struct {
        const char *name;
        int64_t n, inner, columns, bytes;
    } rows[] = {
        {"bf16", 1, 256, 10, 256 * 10 * 2},
        {"fp8", 1, 256, 10, 256 * 10 + 10 * 4},
        {"int8", 2, 256, 10, 2 * (256 * 10 + 10 * 4)},
        {"int4:g128", 1, 256, 10, 256 * 10 / 2 + 10 * 2 * 20 / 8},
        {"int4:g32", 1, 256, 10, 256 * 10 / 2 + 10 * 8 * 20 / 8},
        /* the last block is whole */
        {"int4:g128", 1, 130, 10, 256 * 10 / 2 + 10 * 2 * 20 / 8},
        {"int4:sym", 1, 256, 10, 256 * 10 / 2 + 10 * 2 * 2},
        {"fp8:b128", 1, 256, 200, 256 * 200 + 2 * 2 * 4},
        {"int8:t", 1, 256, 10, 256 * 10 + 4},
        {"nvfp4", 3, 256, 10, 3 * (256 * 10 / 2 + 10 * 16 + 4)},
        {"mxfp4", 1, 256, 10, 10 * (256 / 32) * 17},
        /* bytes of a block by ggml-common.h */
        {"q8_0", 1, 256, 10, 10 * (256 / 32) * 34},
        {"q5_1", 1, 256, 10, 10 * (256 / 32) * 24},
        {"q5_0", 1, 256, 10, 10 * (256 / 32) * 22},
        {"q4_1", 1, 256, 10, 10 * (256 / 32) * 20},
        {"q4_0", 1, 256, 10, 10 * (256 / 32) * 18},
        {"q6_k", 1, 512, 10, 10 * 2 * 210},
        {"q5_k", 1, 512, 10, 10 * 2 * 176},
        {"q4_k", 1, 512, 10, 10 * 2 * 144},
        {"q3_k", 1, 512, 10, 10 * 2 * 110},
        {"q2_k", 1, 512, 10, 10 * 2 * 84},
        {"iq4_xs", 1, 512, 10, 10 * 2 * 136},
        {"iq3_s", 1, 512, 10, 10 * 2 * 110},
        {"iq3_xxs", 1, 512, 10, 10 * 2 * 98},
        {"iq2_s", 1, 512, 10, 10 * 2 * 82},
        {"iq2_xs", 1, 512, 10, 10 * 2 * 74},
        {"iq2_xxs", 1, 512, 10, 10 * 2 * 66},
        {"iq1_m", 1, 512, 10, 10 * 2 * 56},
        {"iq1_s", 1, 512, 10, 10 * 2 * 50},
        {"fp32", INT64_MAX / 2, INT64_MAX / 2, 4, INT64_MAX},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct llm_format format;
        if (!llm_format_find(rows[i].name, &format)) fail_msg("no format %s", rows[i].name);
        const int64_t got =
            llm_format_bytes(&format, rows[i].n, rows[i].inner, rows[i].columns, 16);
        if (got != rows[i].bytes)
            fail_msg("%s: %lld bytes, expected %lld", rows[i].name, (long long)got,
                     (long long)rows[i].bytes);
    }
}

/* In a cache, blocks have their scales, and one of all keys does not count. */
static void bits_of_elements(void **state) {
    static const struct {
        const char *name;
        double bits;
    } rows[] = {{"fp8", 8}, {"q8_0", 8.5}, {"q4_0", 4.5}, {"mxfp4", 4.25}, {"int4:g32", 4.625}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct llm_format format;
        assert_true(llm_format_find(rows[i].name, &format));
        assert_true(llm_format_bits(&format, 16) == rows[i].bits);
    }
}

static void unknown_names(void **state) {
    static const char *const names[] = {"int5",     "int4:", "int4:g0", "int4:128",  "int4:g1x",
                                        "bf16:g32", "",      "int",     "int4:g-32", "INT4"};
    struct llm_format format;
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (llm_format_find(names[i], &format)) fail_msg("'%s' is a format", names[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_of_matrices),
        cmocka_unit_test(bits_of_elements),
        cmocka_unit_test(unknown_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
