/* SPDX-License-Identifier: Apache-2.0 */
/* The arena allocator; the same tests pass in both of its builds. */
#include "support/arena.h"

#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "costmodel/costmodel.h"

static int make(void **state) {
    *state = arena_new("test", 0);
    return *state == NULL;
}

static int end(void **state) {
    arena_free(*state);
    return 0;
}

/* Sizes below, at and above a block, and of objects that get a block of their own. */
static const size_t sizes[] = {0, 1, 15, 16, 17, 1000, 4096, 5000, 70000, 1 << 20, 3 << 20};

static void allocates_zeroed_aligned_disjoint_objects(void **state) {
    unsigned char *objects[sizeof sizes / sizeof sizes[0]];
    const size_t n = sizeof sizes / sizeof sizes[0];
    for (size_t i = 0; i < n; i++) {
        objects[i] = arena_alloc(*state, sizes[i]);
        assert_non_null(objects[i]);
        const size_t multiple = sizes[i] & -sizes[i]; /* largest power of 2 that divides */
        const size_t most = alignof(max_align_t);
        if (multiple > 0)
            assert_int_equal((uintptr_t)objects[i] % (multiple < most ? multiple : most), 0);
        for (size_t k = 0; k < sizes[i]; k++) assert_int_equal(objects[i][k], 0);
        memset(objects[i], (int)i + 1, sizes[i]);
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < sizes[i]; k++) assert_int_equal(objects[i][k], i + 1);
    }
}

static void gives_empty_objects_distinct_addresses(void **state) {
    const void *a = arena_alloc(*state, 0);
    const void *b = arena_alloc(*state, 0);
    assert_non_null(a);
    assert_non_null(b);
    assert_ptr_not_equal(a, b);
}

static void zeroes_reused_memory(void **state) {
    const struct arena_mark mark = arena_save(*state);
    memset(arena_alloc(*state, 64), 0xFF, 64);
    arena_restore(*state, mark);
    const unsigned char *again = arena_alloc(*state, 64);
    for (size_t i = 0; i < 64; i++) assert_int_equal(again[i], 0);
}

static void allocates_disjoint_raw_arrays(void **state) {
    for (size_t round = 0; round < 3; round++) {
        const struct arena_mark mark = arena_save(*state);
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            unsigned char *raw = arena_array_raw(*state, sizes[i], 1);
            const unsigned char *zeroed = arena_alloc(*state, 64);
            assert_non_null(raw);
            memset(raw, 0xFF, sizes[i]);
            for (size_t k = 0; k < 64; k++) assert_int_equal(zeroed[k], 0);
        }
        arena_restore(*state, mark);
    }
}

static void a_growing_array_keeps_its_items(void **state) {
    size_t capacity = 0;
    uint32_t *items = NULL;
    for (uint32_t n = 0; n < 100; n++) {
        items = arena_grow(*state, items, n, &capacity, sizeof *items);
        assert_non_null(items);
        assert_true(capacity > n);
        items[n] = n;
        for (uint32_t i = 0; i <= n; i++) assert_int_equal(items[i], i);
    }
    assert_null(arena_grow(*state, items, 100, &(size_t){100}, SIZE_MAX / 100));
}

static void restore_keeps_objects_before_the_mark(void **state) {
    char *before = arena_strdup(*state, "before");
    for (size_t round = 0; round < 3; round++) {
        const struct arena_mark mark = arena_save(*state);
        const size_t used = arena_used(*state);
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            assert_non_null(arena_alloc(*state, sizes[i]));
        }
        const struct arena_mark inner = arena_save(*state);
        assert_non_null(arena_alloc(*state, 100000));
        arena_restore(*state, inner);
        assert_true(arena_used(*state) > used);
        arena_restore(*state, mark);
        assert_int_equal(arena_used(*state), used);
        assert_string_equal(before, "before");
    }
}

static void restore_to_an_empty_arena_frees_all(void **state) {
    const struct arena_mark mark = arena_save(*state);
    assert_non_null(arena_alloc(*state, 10));
    assert_non_null(arena_alloc(*state, 1 << 21));
    arena_restore(*state, mark);
    assert_int_equal(arena_used(*state), 0);
    assert_non_null(arena_alloc(*state, 10));
}

static void cap_counts_allocated_bytes(void **state) {
    (void)state;
    struct arena *arena = arena_new("capped", 1024);
    assert_non_null(arena_alloc(arena, 1000));
    assert_null(arena_alloc(arena, 1000));
    assert_non_null(arena_alloc(arena, 16));
    assert_null(arena_alloc(arena, 9));
    assert_true(arena_used(arena) <= 1024);
    arena_free(arena);
}

static void refuses_sizes_that_overflow(void **state) {
    assert_null(arena_alloc(*state, SIZE_MAX));
    assert_null(arena_alloc(*state, SIZE_MAX - 20));
    assert_null(arena_array(*state, SIZE_MAX / 2, 3));
    assert_null(arena_array(*state, (size_t)1 << 33, (size_t)1 << 33));
    assert_null(arena_array_raw(*state, (size_t)1 << 33, (size_t)1 << 33));
    assert_null(arena_strndup(*state, "", SIZE_MAX));
    assert_non_null(arena_array(*state, 0, 8));
}

static void records_a_failed_allocation(void **state) {
    struct arena *arena = arena_new("capped", 16);
    const struct arena_mark mark = arena_save(arena);
    assert_non_null(arena_alloc(arena, 16));
    assert_false(arena_failed(arena));
    assert_null(arena_alloc(arena, 1));
    assert_true(arena_failed(arena));
    arena_restore(arena, mark);
    assert_non_null(arena_alloc(arena, 1));
    assert_int_equal(arena_end(arena, CM_USAGE), CM_NO_MEMORY);
    assert_null(arena_strndup(*state, "", SIZE_MAX));
    assert_true(arena_failed(*state));
}

static void lets_callers_record_a_failed_allocation(void **state) {
    struct arena *arena = arena_new("whole", 0);
    (void)state;
    assert_int_equal(arena_end(arena, CM_USAGE), CM_USAGE);
    arena = arena_new("failed", 0);
    arena_set_failed(arena);
    assert_int_equal(arena_end(arena, CM_OK), CM_NO_MEMORY);
}

static void copies_strings_with_terminator(void **state) {
    const char bytes[] = {'a', 'b', 'c'};
    assert_string_equal(arena_strdup(*state, ""), "");
    assert_string_equal(arena_strndup(*state, bytes, 3), "abc");
    assert_string_equal(arena_strndup(*state, NULL, 0), "");
    assert_string_equal(arena_printf(*state, "%d and %s", 7, "eight"), "7 and eight");
    assert_memory_equal(arena_copy(*state, bytes, 3), bytes, 3);
    assert_non_null(arena_copy(*state, NULL, 0));
}

static void accepts_null_on_free(void **state) {
    (void)state;
    arena_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(allocates_zeroed_aligned_disjoint_objects, make, end),
        cmocka_unit_test_setup_teardown(gives_empty_objects_distinct_addresses, make, end),
        cmocka_unit_test_setup_teardown(zeroes_reused_memory, make, end),
        cmocka_unit_test_setup_teardown(allocates_disjoint_raw_arrays, make, end),
        cmocka_unit_test_setup_teardown(a_growing_array_keeps_its_items, make, end),
        cmocka_unit_test_setup_teardown(restore_keeps_objects_before_the_mark, make, end),
        cmocka_unit_test_setup_teardown(restore_to_an_empty_arena_frees_all, make, end),
        cmocka_unit_test(cap_counts_allocated_bytes),
        cmocka_unit_test_setup_teardown(refuses_sizes_that_overflow, make, end),
        cmocka_unit_test_setup_teardown(records_a_failed_allocation, make, end),
        cmocka_unit_test(lets_callers_record_a_failed_allocation),
        cmocka_unit_test_setup_teardown(copies_strings_with_terminator, make, end),
        cmocka_unit_test(accepts_null_on_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
