/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/hash.h"
#include "support/sort.h"

#define LONGEST 40
#define SEED    0x55d4c0ffee0

static void test_hash_depends_on_the_bytes_of_a_text_only(void **state) {
    char text[2 * LONGEST];
    (void)state;
    for (size_t length = 0; length <= LONGEST; length++) {
        memset(text, 'x', sizeof text);
        memset(text + 3, 'a', length);
        uint64_t hash = hash_text(text + 3, length, SEED);
        memset(text, 'y', sizeof text);
        memset(text + 8, 'a', length);
        assert_true(hash_text(text + 8, length, SEED) == hash);
    }
}

static void test_hash_depends_on_every_byte_and_the_length(void **state) {
    char text[LONGEST + 1];
    (void)state;
    memset(text, 'a', sizeof text);
    for (size_t length = 0; length <= LONGEST; length++) {
        uint64_t hash = hash_text(text, length, SEED);
        if (length < LONGEST) assert_true(hash_text(text, length + 1, SEED) != hash);
        for (size_t i = 0; i < length; i++) {
            text[i] = 'b';
            assert_true(hash_text(text, length, SEED) != hash);
            text[i] = 'a';
        }
    }
}

static int compare_words(const void *a, const void *b) {
    const uint64_t *left = a;
    const uint64_t *right = b;
    return (*left > *right) - (*left < *right);
}

/* Names in a file differ in a few digits. */
static void test_low_bits_of_similar_texts_differ(void **state) {
    enum { N = 1 << 12 };
    uint64_t *hashes = malloc(N * sizeof *hashes);
    size_t n_slots = 0;
    (void)state;
    assert_non_null(hashes);
    for (size_t i = 0; i < N; i++) {
        char name[] = "/block000/relu0";
        name[6] = (char)('0' + i / 512);
        name[7] = (char)('0' + i / 64 % 8);
        name[8] = (char)('0' + i / 8 % 8);
        name[14] = (char)('0' + i % 8);
        hashes[i] = hash_text(name, sizeof name - 1, SEED) % N;
    }
    sort_stable(hashes, N, sizeof *hashes, compare_words);
    for (size_t i = 0; i < N; i++) n_slots += i == 0 || hashes[i] != hashes[i - 1];
    free(hashes);
    assert_in_range(n_slots, N * 60 / 100, N * 66 / 100); /* random hashes: 1 - 1/e */
}

/* If differences could cancel out, a file could contain texts that collide for every seed. */
static void test_texts_do_not_collide_for_every_seed(void **state) {
    static const char a[] = "0123456789abcdef";
    char b[sizeof a];
    size_t n_equal = 0;
    (void)state;
    for (size_t bits = 1; bits < 256; bits++) {
        memcpy(b, a, sizeof a);
        b[7] = (char)(a[7] ^ 0x80);
        b[15] = (char)(a[15] ^ (int)bits);
        for (uint64_t seed = SEED; seed < SEED + 64; seed++)
            n_equal += hash_text(a, 16, seed) == hash_text(b, 16, seed);
    }
    assert_int_equal(n_equal, 0);
    assert_true(hash_text(a, 16, SEED) != hash_text(a, 16, SEED + 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hash_depends_on_the_bytes_of_a_text_only),
        cmocka_unit_test(test_hash_depends_on_every_byte_and_the_length),
        cmocka_unit_test(test_low_bits_of_similar_texts_differ),
        cmocka_unit_test(test_texts_do_not_collide_for_every_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
