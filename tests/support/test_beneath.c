/* SPDX-License-Identifier: Apache-2.0 */
/* Paths from untrusted files open only files in one folder, with and without openat2. */
#include "support/beneath.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/temporary.h"

static char folder[TEMPORARY_PATH];

static void path_in(const char *name, char *path, size_t size) {
    assert_true((size_t)snprintf(path, size, "%s/%s", folder, name) < size);
}

static void write_file(const char *name, const char *text) {
    char path[TEMPORARY_PATH + 32];
    path_in(name, path, sizeof path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    fclose(file);
}

static void make_link(const char *target, const char *name) {
    char path[TEMPORARY_PATH + 32];
    path_in(name, path, sizeof path);
    assert_int_equal(symlink(target, path), 0);
}

static void make_folder(const char *name) {
    char path[TEMPORARY_PATH + 32];
    path_in(name, path, sizeof path);
    assert_int_equal(mkdir(path, 0700), 0);
}

static const char *const made[] = {"in/here",   "in/sub/deep", "in/sub", "in/inner",
                                   "in/folder", "in/outer",    "in/up",  "in/fifo",
                                   "in",        "out"};

/* in/ is the permitted folder; `out` is outside of it. */
static int make(void **state) {
    char path[TEMPORARY_PATH + 32];
    (void)state;
    temporary_path(folder);
    assert_non_null(mkdtemp(folder));
    make_folder("in");
    make_folder("in/sub");
    write_file("in/here", "h");
    write_file("in/sub/deep", "d");
    write_file("out", "o");
    make_link("here", "in/inner");
    make_link("sub", "in/folder");
    make_link("../out", "in/outer");
    make_link("..", "in/up");
    path_in("in/fifo", path, sizeof path);
    return mkfifo(path, 0600);
}

static int end(void **state) {
    char path[TEMPORARY_PATH + 32];
    (void)state;
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
        path_in(made[i], path, sizeof path);
        remove(path);
    }
    return rmdir(folder);
}

static const struct {
    const char *path;
    char want;      /* first byte of the file; 0: not opened */
    char by_steps;  /* the same if no link is followed */
    bool is_inside; /* false: errno is EXDEV */
} cases[] = {
    {"here", 'h', 'h', true},
    {"./here", 'h', 'h', true},
    {"sub/deep", 'd', 'd', true},
    {"sub//deep", 'd', 'd', true},
    {"inner", 'h', 0, true},
    {"folder/deep", 'd', 0, true},
    {"gone", 0, 0, true},
    {"here/x", 0, 0, true},
    {"", 0, 0, true},
    {"outer", 0, 0, false},
    {"up/out", 0, 0, false},
    {"../out", 0, 0, false},
    {"sub/../here", 0, 0, false},
    {"sub/../../out", 0, 0, false},
    {"..", 0, 0, false},
    {"/etc/passwd", 0, 0, false},
};

/* Returns the first byte; 0 if the path cannot be opened. */
static char first_byte(int fd) {
    char byte = 0;
    if (fd < 0) return 0;
    assert_int_equal(read(fd, &byte, 1), 1);
    close(fd);
    return byte;
}

static void opens_only_files_in_the_folder(void **state) {
    char in[128];
    (void)state;
    path_in("in", in, sizeof in);
    const char linked = first_byte(beneath_open(in, "inner")); /* 0: no openat2 here */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char want = linked ? cases[i].want : cases[i].by_steps;
        errno = 0;
        const char have = first_byte(beneath_open(in, cases[i].path));
        if (have != want) fail_msg("%s: %d, not %d", cases[i].path, have, want);
        if (linked && have == 0) assert_int_equal(errno != EXDEV, cases[i].is_inside);
    }
}

static void follows_no_link_step_by_step(void **state) {
    char in[128];
    (void)state;
    path_in("in", in, sizeof in);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char have = first_byte(beneath_open_steps(in, cases[i].path));
        if (have != cases[i].by_steps)
            fail_msg("%s: %d, not %d", cases[i].path, have, cases[i].by_steps);
    }
}

static void does_not_wait_for_the_writer_of_a_fifo(void **state) {
    char in[128];
    struct stat status;
    (void)state;
    path_in("in", in, sizeof in);
    int (*const open_by[])(const char *, const char *) = {beneath_open, beneath_open_steps};
    for (size_t i = 0; i < 2; i++) {
        const int fd = open_by[i](in, "fifo");
        assert_true(fd >= 0);
        assert_int_equal(fstat(fd, &status), 0);
        assert_true(S_ISFIFO(status.st_mode));
        close(fd);
    }
}

static void refuses_names_longer_than_the_system_allows(void **state) {
    char in[128];
    char name[5000];
    (void)state;
    path_in("in", in, sizeof in);
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_int_equal(beneath_open(in, name), -1);
    assert_int_equal(beneath_open_steps(in, name), -1);
    assert_int_equal(errno, ENAMETOOLONG);
    assert_int_equal(beneath_open("/nonexistent", "here"), -1);
    assert_int_equal(beneath_open_steps("/nonexistent", "here"), -1);
    assert_int_equal(errno, ENOENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opens_only_files_in_the_folder),
        cmocka_unit_test(follows_no_link_step_by_step),
        cmocka_unit_test(does_not_wait_for_the_writer_of_a_fifo),
        cmocka_unit_test(refuses_names_longer_than_the_system_allows),
    };
    return cmocka_run_group_tests(tests, make, end);
}
