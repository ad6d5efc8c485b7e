/* SPDX-License-Identifier: Apache-2.0 */
/* The hash map from names to ids. */
#include "support/map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "costmodel/costmodel.h"
#include "support/arena.h"

static int make(void **state) {
    *state = arena_new("test", 0);
    return *state == NULL;
}

static int end(void **state) {
    arena_free(*state);
    return 0;
}

static void finds_nothing_in_an_empty_map(void **state) {
    struct map map;
    map_init(&map, *state);
    assert_int_equal(map_get(&map, ""), MAP_NONE);
    assert_int_equal(map_get(&map, "x"), MAP_NONE);
}

static void set_replaces_and_add_does_not(void **state) {
    struct map map;
    uint32_t existing = 5;
    map_init(&map, *state);
    assert_int_equal(map_set(&map, "a", 1), CM_OK);
    assert_int_equal(map_set(&map, "a", 2), CM_OK);
    assert_int_equal(map_get(&map, "a"), 2);
    assert_int_equal(map_add(&map, "a", 3, &existing), CM_OK);
    assert_int_equal(existing, 2);
    assert_int_equal(map_get(&map, "a"), 2);
    assert_int_equal(map_add(&map, "", 4, &existing), CM_OK);
    assert_int_equal(existing, MAP_NONE);
    assert_int_equal(map_get(&map, ""), 4);
    assert_int_equal(map.n_entries, 2);
}

static void compares_keys_by_bytes_and_length(void **state) {
    static const char bytes[] = "ab\0cd";
    struct map map;
    uint32_t existing = 5;
    map_init(&map, *state);
    for (uint32_t n = 0; n <= 5; n++) assert_int_equal(map_set_n(&map, bytes, n, n), CM_OK);
    for (uint32_t n = 0; n <= 5; n++) {
        char copy[5];
        memcpy(copy, bytes, n); /* no terminator */
        assert_int_equal(map_get_n(&map, copy, n), n);
    }
    assert_int_equal(map_get(&map, "ab"), 2);
    assert_ptr_equal(map_key_n(&map, "ab", 2), bytes);
    assert_ptr_equal(map_key_n(&map, bytes, 4), bytes);
    assert_null(map_key_n(&map, "ab\0ce", 5));
    assert_int_equal(map_add_n(&map, "abc", 2, 9, &existing), CM_OK);
    assert_int_equal(existing, 2);
    assert_int_equal(map.n_entries, 6);
}

static void finds_each_of_100000_names(void **state) {
    enum { N = 100000 };
    struct map map;
    map_init(&map, *state);
    for (uint32_t i = 0; i < N; i++) {
        const char *key = arena_printf(*state, "/layer%u/Conv_output_0", i);
        assert_int_equal(map_set(&map, key, i), CM_OK);
    }
    for (uint32_t i = 0; i < N; i++) {
        const struct arena_mark mark = arena_save(*state);
        const char *key = arena_printf(*state, "/layer%u/Conv_output_0", i);
        assert_int_equal(map_get(&map, key), i);
        arena_restore(*state, mark);
    }
    assert_int_equal(map_get(&map, "/layer100000/Conv_output_0"), MAP_NONE);
    assert_int_equal(map.n_entries, N);
    assert_true(map.n_entries < map.n_slots / 4 * 3);
}

static void repeated_reserve_takes_linear_memory(void **state) {
    enum { N = 10000 };
    struct map map;
    map_init(&map, *state);
    assert_int_equal(map_reserve(&map, 100), CM_OK);
    for (uint32_t i = 0; i < N; i++) {
        const char *key = arena_printf(*state, "%u", i);
        assert_int_equal(map_reserve(&map, map.n_entries + 1), CM_OK);
        assert_int_equal(map_set(&map, key, i), CM_OK);
    }
    for (uint32_t i = 0; i < N; i++) assert_int_equal(map_get(&map, map.entries[i].key), i);
    assert_in_range(arena_used(*state), 0, N * 200);
}

static void a_failed_allocation_leaves_the_map_unchanged(void **state) {
    (void)state;
    struct arena *arena = arena_new("small", 512);
    struct map map;
    char keys[64][4] = {{0}};
    uint32_t n = 0;
    map_init(&map, arena);
    for (uint32_t i = 0; i < 64; i++) {
        keys[i][0] = 'k';
        keys[i][1] = (char)('!' + i);
        if (map_set(&map, keys[i], i) != CM_OK) break;
        n++;
    }
    assert_in_range(n, 1, 63);
    assert_int_equal(map_set(&map, "more", 1), CM_NO_MEMORY);
    for (uint32_t i = 0; i < n; i++) assert_int_equal(map_get(&map, keys[i]), i);
    arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(finds_nothing_in_an_empty_map, make, end),
        cmocka_unit_test_setup_teardown(set_replaces_and_add_does_not, make, end),
        cmocka_unit_test_setup_teardown(compares_keys_by_bytes_and_length, make, end),
        cmocka_unit_test_setup_teardown(finds_each_of_100000_names, make, end),
        cmocka_unit_test_setup_teardown(repeated_reserve_takes_linear_memory, make, end),
        cmocka_unit_test(a_failed_allocation_leaves_the_map_unchanged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
