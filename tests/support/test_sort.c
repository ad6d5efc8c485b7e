/* SPDX-License-Identifier: Apache-2.0 */
#include "support/sort.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MOST 700

struct item {
    uint8_t key;
    uint16_t place; /* before sorting */
    char more[3];   /* items of an odd size */
};

static int by_key(const void *a, const void *b) {
    const struct item *left = a;
    const struct item *right = b;
    return (left->key > right->key) - (left->key < right->key);
}

/* Every size up to MOST, with few and with many equal keys. */
static void keeps_the_order_of_equal_items(void **state) {
    static struct item items[MOST];
    uint32_t random = 1;
    (void)state;
    for (size_t n = 0; n <= MOST; n++) {
        const uint32_t n_keys = n % 3 == 0 ? 2 : n % 3 == 1 ? 16 : 256;
        for (size_t i = 0; i < n; i++) {
            random = random * 1664525 + 1013904223;
            items[i] = (struct item){.key = (uint8_t)((random >> 16) % n_keys),
                                     .place = (uint16_t)i,
                                     .more = {(char)i, 0, (char)(i >> 8)}};
        }
        sort_stable(items, n, sizeof *items, by_key);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(items[i].more[0], (char)items[i].place);
            if (i == 0) continue;
            assert_true(items[i - 1].key <= items[i].key);
            if (items[i - 1].key == items[i].key)
                assert_true(items[i - 1].place < items[i].place);
        }
    }
    sort_stable(NULL, 0, sizeof *items, by_key);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(keeps_the_order_of_equal_items)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
