/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of module paths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ir/graph.h"
#include "passes/modules/path_table.h"
#include "support/arena.h"

struct fixture {
    struct arena *arena;
    struct paths paths;
};

static int setup(void **state) {
    static struct fixture f;
    f.arena = arena_new("test", 0);
    *state = &f;
    return paths_init(&f.paths, f.arena, '/');
}

static int teardown(void **state) {
    const struct fixture *f = *state;
    arena_free(f->arena);
    return 0;
}

static uint32_t enter(struct fixture *f, const char *text) {
    return paths_enter(&f->paths, text, strlen(text));
}

static void assert_text(const struct fixture *f, uint32_t entry, const char *wanted) {
    assert_string_equal(paths_text(&f->paths, entry, f->arena), wanted);
}

static void test_prefixes_are_entries_in_order_of_first_use(void **state) {
    static const char *const wanted[] = {"", "a", "a/b", "a/c", "d", "d/b", "a/b/e"};
    struct fixture *f = *state;
    enter(f, "a/b");
    enter(f, "a/c");
    enter(f, "d/b");
    enter(f, "a/b/e");
    assert_int_equal(f->paths.n, sizeof wanted / sizeof *wanted);
    for (uint32_t i = 0; i < f->paths.n; i++) {
        assert_text(f, i, wanted[i]);
        assert_true(i == 0 || f->paths.items[i].parent < i);
    }
}

static void test_a_text_has_one_entry_after_any_other_text(void **state) {
    static const char *const texts[] = {"a/b/c", "a/b/c", "a/b",  "a/b/cc", "a/bb/c", "a/b/c",
                                        "b",     "",      "b/c/", "b/c",    "/b//c",  "a//b/c",
                                        "b/c/d", "b/c/e", "bc",   "b/",     "a/b/c"};
    static const char *const wanted[] = {"a/b/c", "a/b/c", "a/b", "a/b/cc", "a/bb/c", "a/b/c",
                                         "b",     "",      "b/c", "b/c",    "b/c",    "a/b/c",
                                         "b/c/d", "b/c/e", "bc",  "b",      "a/b/c"};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
            assert_text(f, enter(f, texts[i]), wanted[i]);
            assert_text(f, enter(f, texts[k]), wanted[k]);
        }
    assert_int_equal(f->paths.n, 12); /* the root, a, b and bc, and eight below */
}

static void test_deeper_parts_belong_to_the_last_allowed_entry(void **state) {
    char text[4 * PATHS_MAX_DEPTH + 1];
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof text - 1; i += 2) memcpy(text + i, "a/", 2);
    text[sizeof text - 1] = '\0';
    uint32_t deepest = enter(f, text);
    assert_int_equal(f->paths.items[deepest].depth, PATHS_MAX_DEPTH);
    assert_int_equal(enter(f, text), deepest);
    assert_int_equal(paths_enter_below(&f->paths, deepest, "b", 1), deepest);
    assert_int_equal(f->paths.n, PATHS_MAX_DEPTH + 1);
    assert_int_equal(paths_find_below(&f->paths, deepest, "b", 1), ID_NONE);
}

static void test_finds_parts_below_an_entry(void **state) {
    struct fixture *f = *state;
    uint32_t a = enter(f, "a");
    uint32_t entry = paths_enter_below(&f->paths, a, "b//c/", 5);
    assert_text(f, entry, "a/b/c");
    assert_int_equal(paths_find_below(&f->paths, a, "b/c", 3), entry);
    assert_int_equal(paths_find_below(&f->paths, a, "", 0), a);
    assert_int_equal(paths_find_below(&f->paths, a, "b/d/c", 5), ID_NONE);
    assert_int_equal(paths_find_below(&f->paths, 0, "b", 1), ID_NONE);
    assert_int_equal(paths_find_below(&f->paths, ID_NONE, "b", 1), ID_NONE);
    assert_int_equal(f->paths.n, 4);
}

static void test_finds_an_entry_of_another_tree(void **state) {
    struct fixture *f = *state;
    struct paths other;
    uint32_t entry = enter(f, "a/b/c");
    assert_int_equal(paths_init(&other, f->arena, '.'), CM_OK);
    assert_int_equal(paths_find_like(&other, &f->paths, entry), ID_NONE);
    uint32_t like = paths_enter_like(&other, &f->paths, entry);
    assert_string_equal(paths_text(&other, like, f->arena), "a.b.c");
    assert_int_equal(paths_find_like(&other, &f->paths, entry), like);
    assert_int_equal(paths_find_like(&other, &f->paths, 0), 0);
}

static void test_distinguishes_many_siblings(void **state) {
    enum { N = 5000 };
    struct fixture *f = *state;
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < N; i++) {
            const char *text = arena_printf(f->arena, "block%d/relu%d", i / 10, i % 10);
            assert_int_equal(enter(f, text), i + i / 10 + 2);
        }
    assert_int_equal(f->paths.n, 1 + N / 10 + N);
    assert_text(f, 0, "");
    assert_text(f, (uint32_t)f->paths.n - 1, "block499/relu9");
}

static void test_finds_the_nearest_common_ancestor(void **state) {
    struct fixture *f = *state;
    uint32_t c = enter(f, "a/b/c");
    uint32_t d = enter(f, "a/d");
    assert_int_equal(paths_common(&f->paths, c, d), enter(f, "a"));
    assert_int_equal(paths_common(&f->paths, c, enter(f, "a/b")), enter(f, "a/b"));
    assert_int_equal(paths_common(&f->paths, d, enter(f, "e")), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_prefixes_are_entries_in_order_of_first_use),
        TEST(test_a_text_has_one_entry_after_any_other_text),
        TEST(test_deeper_parts_belong_to_the_last_allowed_entry),
        TEST(test_finds_parts_below_an_entry),
        TEST(test_finds_an_entry_of_another_tree),
        TEST(test_distinguishes_many_siblings),
        TEST(test_finds_the_nearest_common_ancestor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
