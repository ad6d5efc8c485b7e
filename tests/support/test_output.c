/* SPDX-License-Identifier: Apache-2.0 */
/* Output files, which are written as a whole or not at all. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "costmodel/costmodel.h"
#include "support/file.h"
#include "tests/temporary.h"

/*
 * Simulates a file system without O_TMPFILE: the linker (--wrap) replaces open, which is named
 * open64 in glibc with 64-bit offsets.
 */
static bool refuses_unnamed;

int __real_open64(const char *path, int flags, ...); // NOLINT(bugprone-reserved-identifier)
int __wrap_open64(const char *path, int flags, ...); // NOLINT(bugprone-reserved-identifier)

int __wrap_open64(const char *path, int flags, ...) {
    const int unnamed = 020000000; /* O_TMPFILE without O_DIRECTORY */
    va_list args;
    va_start(args, flags);
    const mode_t mode = (flags & (O_CREAT | unnamed)) != 0 ? va_arg(args, mode_t) : 0;
    va_end(args);
    if (!refuses_unnamed || (flags & unnamed) == 0) return __real_open64(path, flags, mode);
    errno = EOPNOTSUPP;
    return -1;
}

struct fixture {
    char folder[TEMPORARY_PATH];
    char target[TEMPORARY_PATH + 32];
    char other[TEMPORARY_PATH + 32];
    struct cm_diagnostics *diag;
};

static int make(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    temporary_path(f->folder);
    if (mkdtemp(f->folder) == NULL) return 1;
    snprintf(f->target, sizeof f->target, "%s/target", f->folder);
    snprintf(f->other, sizeof f->other, "%s/other", f->folder);
    f->diag = cm_diagnostics_new();
    *state = f;
    return 0;
}

static int end(void **state) {
    struct fixture *f = *state;
    unlink(f->target);
    unlink(f->other);
    rmdir(f->folder);
    cm_diagnostics_free(f->diag);
    free(f);
    return 0;
}

static void put(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void assert_holds(const char *path, const char *text) {
    char have[64] = {0};
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    const size_t n = fread(have, 1, sizeof have - 1, file);
    fclose(file);
    assert_int_equal(n, strlen(text));
    assert_string_equal(have, text);
}

static size_t count_files(const char *folder) {
    DIR *entries = opendir(folder);
    size_t n = 0;
    for (const struct dirent *e = readdir(entries); e != NULL; e = readdir(entries)) {
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) n++;
    }
    closedir(entries);
    return n;
}

static struct output *open_output(const struct fixture *f, const char *path) {
    struct output *output = NULL;
    assert_int_equal(output_open(path, f->diag, &output), CM_OK);
    return output;
}

static void commits_the_whole_file(void **state) {
    const struct fixture *f = *state;
    struct output *output = open_output(f, f->target);
    fputs("new", output_stream(output));
    assert_int_equal(access(f->target, F_OK), -1); /* not before the commit */
    assert_int_equal(output_commit(output, f->diag), CM_OK);
    assert_holds(f->target, "new");
    assert_int_equal(count_files(f->folder), 1);
}

static void gives_a_new_file_the_mode_of_the_umask(void **state) {
    const struct fixture *f = *state;
    struct stat status;
    const mode_t mask = umask(027);
    assert_int_equal(output_commit(open_output(f, f->target), f->diag), CM_OK);
    umask(mask);
    assert_int_equal(stat(f->target, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
}

static void keeps_the_mode_of_a_replaced_file(void **state) {
    const struct fixture *f = *state;
    struct stat status;
    put(f->target, "old");
    assert_int_equal(chmod(f->target, 0600), 0);
    struct output *output = open_output(f, f->target);
    fputs("new", output_stream(output));
    assert_int_equal(output_commit(output, f->diag), CM_OK);
    assert_holds(f->target, "new");
    assert_int_equal(stat(f->target, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
}

static void keeps_the_old_file_if_abandoned(void **state) {
    const struct fixture *f = *state;
    put(f->target, "old");
    struct output *output = open_output(f, f->target);
    fputs("half", output_stream(output));
    output_abandon(output);
    assert_holds(f->target, "old");
    assert_int_equal(count_files(f->folder), 1);
    output_abandon(NULL);
}

static void gives_an_incomplete_file_no_name(void **state) {
    const struct fixture *f = *state;
    struct output *output = open_output(f, f->target);
    fputs("half", output_stream(output));
    fflush(output_stream(output));
    assert_int_equal(count_files(f->folder), 0);
    output_abandon(output);
}

static int make_without_unnamed_files(void **state) {
    refuses_unnamed = true;
    return make(state);
}

static int end_without_unnamed_files(void **state) {
    refuses_unnamed = false;
    return end(state);
}

/* The output is larger than the buffer of the copy. */
static void without_unnamed_files_the_content_is_copied(void **state) {
    const struct fixture *f = *state;
    struct stat status;
    struct output *output = open_output(f, f->target);
    for (int i = 0; i < 10000; i++) fputs("0123456789", output_stream(output));
    assert_int_equal(output_commit(output, f->diag), CM_OK);
    assert_int_equal(stat(f->target, &status), 0);
    assert_int_equal(status.st_size, 100000);
    put(f->target, "old");
}

static void of_two_writers_the_last_commit_wins(void **state) {
    const struct fixture *f = *state;
    struct output *a = open_output(f, f->target);
    struct output *b = open_output(f, f->target);
    fputs("a", output_stream(a));
    fputs("b", output_stream(b));
    assert_int_equal(output_commit(b, f->diag), CM_OK);
    assert_holds(f->target, "b");
    assert_int_equal(output_commit(a, f->diag), CM_OK);
    assert_holds(f->target, "a");
    assert_int_equal(count_files(f->folder), 1);
}

static void keeps_a_symbolic_link(void **state) {
    const struct fixture *f = *state;
    struct stat status;
    for (int round = 0; round < 2; round++) { /* a dangling link, then a valid one */
        if (round == 0) assert_int_equal(symlink("other", f->target), 0);
        struct output *output = open_output(f, f->target);
        fputs("through", output_stream(output));
        assert_int_equal(output_commit(output, f->diag), CM_OK);
        assert_int_equal(lstat(f->target, &status), 0);
        assert_true(S_ISLNK(status.st_mode));
        assert_holds(f->other, "through");
        assert_int_equal(count_files(f->folder), 2);
    }
}

static void refuses_a_cycle_of_links(void **state) {
    const struct fixture *f = *state;
    struct output *output = NULL;
    assert_int_equal(symlink("other", f->target), 0);
    assert_int_equal(symlink(f->target, f->other), 0);
    assert_int_equal(output_open(f->target, f->diag, &output), CM_IO);
    assert_null(output);
}

static void writes_devices_directly(void **state) {
    const struct fixture *f = *state;
    struct output *output = open_output(f, "/dev/null");
    fputs("gone", output_stream(output));
    assert_int_equal(output_commit(output, f->diag), CM_OK);
    struct stat status;
    assert_int_equal(stat("/dev/null", &status), 0);
    assert_true(S_ISCHR(status.st_mode));
}

static void writes_pipes_directly(void **state) {
    const struct fixture *f = *state;
    int status = 1;
    assert_int_equal(mkfifo(f->target, 0600), 0);
    const pid_t child = fork();
    if (child == 0) {
        char have[8] = {0};
        FILE *file = fopen(f->target, "r");
        const size_t n = file == NULL ? 0 : fread(have, 1, sizeof have - 1, file);
        _exit(n == 5 && strcmp(have, "piped") == 0 ? 0 : 1);
    }
    struct output *output = open_output(f, f->target);
    fputs("piped", output_stream(output));
    assert_int_equal(output_commit(output, f->diag), CM_OK);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void reports_a_failed_write(void **state) {
    const struct fixture *f = *state;
    if (access("/dev/full", W_OK) != 0) skip();
    struct output *output = open_output(f, "/dev/full");
    for (int i = 0; i < 10000; i++) fputs("more than a buffer ", output_stream(output));
    assert_int_equal(output_commit(output, f->diag), CM_IO);
    assert_non_null(
        strstr(cm_diagnostics_get(f->diag, 0)->message, "cannot write \"/dev/full\": "));
    output = open_output(f, "/dev/full");
    fputs("less", output_stream(output));
    assert_int_equal(output_commit(output, f->diag), CM_IO);
    assert_non_null(strstr(cm_diagnostics_get(f->diag, 1)->message, "No space left on device"));
}

static void refuses_impossible_targets(void **state) {
    const struct fixture *f = *state;
    struct output *output = NULL;
    char path[5000];
    snprintf(path, sizeof path, "%s/no/such/folder", f->folder);
    assert_int_equal(output_open(path, f->diag, &output), CM_IO);
    assert_int_equal(output_open(f->folder, f->diag, &output), CM_IO);
    assert_int_equal(output_open("", f->diag, &output), CM_IO);
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    assert_int_equal(output_open(path, f->diag, &output), CM_IO);
    assert_null(output);
    assert_int_equal(cm_diagnostics_count(f->diag), 4);
    assert_int_equal(count_files(f->folder), 0);
}

static void leaves_no_file_if_the_target_becomes_a_folder(void **state) {
    const struct fixture *f = *state;
    struct output *output = open_output(f, f->target);
    fputs("new", output_stream(output));
    assert_int_equal(mkdir(f->target, 0700), 0);
    assert_int_equal(output_commit(output, f->diag), CM_IO);
    assert_int_equal(count_files(f->folder), 1);
    rmdir(f->target);
}

static void commits_several_files_or_none(void **state) {
    const struct fixture *f = *state;
    for (int is_blocked = 0; is_blocked < 2; is_blocked++) {
        struct output *outputs[2];
        put(f->target, "old");
        outputs[0] = open_output(f, f->target);
        outputs[1] = open_output(f, f->other);
        for (int i = 0; i < 2; i++) fputs("new", output_stream(outputs[i]));
        if (is_blocked) assert_int_equal(mkdir(f->other, 0700), 0);
        assert_int_equal(output_commit_all(outputs, 2, f->diag), is_blocked ? CM_IO : CM_OK);
        assert_holds(f->target, is_blocked ? "old" : "new");
        assert_int_equal(count_files(f->folder), 2);
        if (is_blocked) rmdir(f->other);
        if (!is_blocked) assert_holds(f->other, "new");
        unlink(f->other);
    }
}

#define WITHOUT_UNNAMED_FILES(test)                                                            \
    {                                                                                          \
        "without_unnamed_files_" #test, test, make_without_unnamed_files,                      \
            end_without_unnamed_files, NULL                                                    \
    }

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(commits_the_whole_file, make, end),
        cmocka_unit_test_setup_teardown(gives_a_new_file_the_mode_of_the_umask, make, end),
        cmocka_unit_test_setup_teardown(keeps_the_mode_of_a_replaced_file, make, end),
        cmocka_unit_test_setup_teardown(keeps_the_old_file_if_abandoned, make, end),
        cmocka_unit_test_setup_teardown(gives_an_incomplete_file_no_name, make, end),
        cmocka_unit_test_setup_teardown(of_two_writers_the_last_commit_wins, make, end),
        cmocka_unit_test_setup_teardown(keeps_a_symbolic_link, make, end),
        cmocka_unit_test_setup_teardown(refuses_a_cycle_of_links, make, end),
        cmocka_unit_test_setup_teardown(writes_devices_directly, make, end),
        cmocka_unit_test_setup_teardown(writes_pipes_directly, make, end),
        cmocka_unit_test_setup_teardown(reports_a_failed_write, make, end),
        cmocka_unit_test_setup_teardown(commits_several_files_or_none, make, end),
        cmocka_unit_test_setup_teardown(refuses_impossible_targets, make, end),
        cmocka_unit_test_setup_teardown(leaves_no_file_if_the_target_becomes_a_folder, make,
                                        end),
        WITHOUT_UNNAMED_FILES(commits_the_whole_file),
        WITHOUT_UNNAMED_FILES(gives_a_new_file_the_mode_of_the_umask),
        WITHOUT_UNNAMED_FILES(keeps_the_mode_of_a_replaced_file),
        WITHOUT_UNNAMED_FILES(keeps_the_old_file_if_abandoned),
        WITHOUT_UNNAMED_FILES(gives_an_incomplete_file_no_name),
        WITHOUT_UNNAMED_FILES(of_two_writers_the_last_commit_wins),
        WITHOUT_UNNAMED_FILES(keeps_a_symbolic_link),
        WITHOUT_UNNAMED_FILES(refuses_impossible_targets),
        WITHOUT_UNNAMED_FILES(leaves_no_file_if_the_target_becomes_a_folder),
        WITHOUT_UNNAMED_FILES(without_unnamed_files_the_content_is_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
