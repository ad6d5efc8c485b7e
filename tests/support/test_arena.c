/* SPDX-License-Identifier: Apache-2.0 */
/* Memory by lifetime: the same promises in both builds of the arena. */
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

/* Below, at and beyond a block, and objects that get a block of their own. */
static const size_t sizes[] = {0, 1, 15, 16, 17, 1000, 4096, 5000, 70000, 1 << 20, 3 << 20};

static void objects_are_zeroed_aligned_and_apart(void **state) {
    unsigned char *objects[sizeof sizes / sizeof sizes[0]];
    const size_t n = sizeof sizes / sizeof sizes[0];
    for (size_t i = 0; i < n; i++) {
        objects[i] = arena_alloc(*state, sizes[i]);
        assert_non_null(objects[i]);
        const size_t multiple = sizes[i] & -sizes[i]; /* of any type of that size */
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

static void objects_of_no_size_have_addresses_of_their_own(void **state) {
    const void *a = arena_alloc(*state, 0);
    const void *b = arena_alloc(*state, 0);
    assert_non_null(a);
    assert_non_null(b);
    assert_ptr_not_equal(a, b);
}

static void memory_used_again_is_zeroed_again(void **state) {
    const struct arena_mark mark = arena_save(*state);
    memset(arena_alloc(*state, 64), 0xFF, 64);
    arena_restore(*state, mark);
    const unsigned char *again = arena_alloc(*state, 64);
    for (size_t i = 0; i < 64; i++) assert_int_equal(again[i], 0);
}

static void raw_arrays_are_apart_and_leave_others_zeroed(void **state) {
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

static void going_back_keeps_what_was_there_and_frees_the_rest(void **state) {
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

static void going_back_to_an_empty_arena_empties_it(void **state) {
    const struct arena_mark mark = arena_save(*state);
    assert_non_null(arena_alloc(*state, 10));
    assert_non_null(arena_alloc(*state, 1 << 21));
    arena_restore(*state, mark);
    assert_int_equal(arena_used(*state), 0);
    assert_non_null(arena_alloc(*state, 10));
}

static void the_cap_counts_what_was_handed_out(void **state) {
    (void)state;
    struct arena *arena = arena_new("capped", 1024);
    assert_non_null(arena_alloc(arena, 1000));
    assert_null(arena_alloc(arena, 1000));
    assert_non_null(arena_alloc(arena, 16));
    assert_null(arena_alloc(arena, 9));
    assert_true(arena_used(arena) <= 1024);
    arena_free(arena);
}

static void sizes_that_wrap_around_are_refused(void **state) {
    assert_null(arena_alloc(*state, SIZE_MAX));
    assert_null(arena_alloc(*state, SIZE_MAX - 20));
    assert_null(arena_array(*state, SIZE_MAX / 2, 3));
    assert_null(arena_array(*state, (size_t)1 << 33, (size_t)1 << 33));
    assert_null(arena_array_raw(*state, (size_t)1 << 33, (size_t)1 << 33));
    assert_null(arena_strndup(*state, "", SIZE_MAX));
    assert_non_null(arena_array(*state, 0, 8));
}

static void what_could_not_be_had_is_remembered(void **state) {
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

static void others_may_say_that_memory_ended(void **state) {
    struct arena *arena = arena_new("whole", 0);
    (void)state;
    assert_int_equal(arena_end(arena, CM_USAGE), CM_USAGE);
    arena = arena_new("failed", 0);
    arena_set_failed(arena);
    assert_int_equal(arena_end(arena, CM_OK), CM_NO_MEMORY);
}

static void texts_are_copied_and_ended(void **state) {
    const char bytes[] = {'a', 'b', 'c'};
    assert_string_equal(arena_strdup(*state, ""), "");
    assert_string_equal(arena_strndup(*state, bytes, 3), "abc");
    assert_string_equal(arena_strndup(*state, NULL, 0), "");
    assert_string_equal(arena_printf(*state, "%d and %s", 7, "eight"), "7 and eight");
    assert_memory_equal(arena_copy(*state, bytes, 3), bytes, 3);
    assert_non_null(arena_copy(*state, NULL, 0));
}

static void freeing_nothing_is_allowed(void **state) {
    (void)state;
    arena_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(objects_are_zeroed_aligned_and_apart, make, end),
        cmocka_unit_test_setup_teardown(objects_of_no_size_have_addresses_of_their_own, make,
                                        end),
        cmocka_unit_test_setup_teardown(memory_used_again_is_zeroed_again, make, end),
        cmocka_unit_test_setup_teardown(raw_arrays_are_apart_and_leave_others_zeroed, make,
                                        end),
        cmocka_unit_test_setup_teardown(going_back_keeps_what_was_there_and_frees_the_rest,
                                        make, end),
        cmocka_unit_test_setup_teardown(going_back_to_an_empty_arena_empties_it, make, end),
        cmocka_unit_test(the_cap_counts_what_was_handed_out),
        cmocka_unit_test_setup_teardown(sizes_that_wrap_around_are_refused, make, end),
        cmocka_unit_test_setup_teardown(what_could_not_be_had_is_remembered, make, end),
        cmocka_unit_test(others_may_say_that_memory_ended),
        cmocka_unit_test_setup_teardown(texts_are_copied_and_ended, make, end),
        cmocka_unit_test(freeing_nothing_is_allowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
