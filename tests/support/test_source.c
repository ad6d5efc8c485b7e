/* SPDX-License-Identifier: Apache-2.0 */
/* Sources: file, pipe and memory behave alike, and skipped bytes are not read. */
#include "support/file.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "costmodel/costmodel.h"
#include "support/arena.h"
#include "tests/temporary.h"

#define N_BYTES ((size_t)100000)

struct fixture {
    char folder[TEMPORARY_PATH];
    char file[TEMPORARY_PATH + 32];
    char fifo[TEMPORARY_PATH + 32];
    uint8_t *bytes;
    struct cm_diagnostics *diag;
};

static uint8_t byte_at(size_t i) {
    return (uint8_t)(i * 7 + i / 251);
}

static int make(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    temporary_path(f->folder);
    if (mkdtemp(f->folder) == NULL) return 1;
    snprintf(f->file, sizeof f->file, "%s/file", f->folder);
    snprintf(f->fifo, sizeof f->fifo, "%s/fifo", f->folder);
    f->bytes = malloc(N_BYTES);
    for (size_t i = 0; i < N_BYTES; i++) f->bytes[i] = byte_at(i);
    FILE *file = fopen(f->file, "wb");
    if (file == NULL || fwrite(f->bytes, 1, N_BYTES, file) != N_BYTES) return 1;
    fclose(file);
    f->diag = cm_diagnostics_new();
    *state = f;
    return mkfifo(f->fifo, 0600) != 0;
}

static int end(void **state) {
    struct fixture *f = *state;
    unlink(f->file);
    unlink(f->fifo);
    rmdir(f->folder);
    cm_diagnostics_free(f->diag);
    free(f->bytes);
    free(f);
    return 0;
}

enum kind { KIND_FILE, KIND_MEMORY, KIND_PIPE, N_KINDS };

/* Forks a child that fills the FIFO in pieces of odd sizes. */
static pid_t feed(const struct fixture *f) {
    const pid_t child = fork();
    if (child != 0) return child;
    const int fd = open(f->fifo, O_WRONLY);
    for (size_t at = 0, step = 1; at < N_BYTES; step = step * 3 % 9973) {
        const size_t n = step < N_BYTES - at ? step : N_BYTES - at;
        const ssize_t done = write(fd, f->bytes + at, n);
        if (done <= 0) break;
        at += (size_t)done;
    }
    _exit(0);
}

static struct source *open_kind(const struct fixture *f, enum kind kind) {
    struct source *source = NULL;
    int status = CM_OK;
    if (kind == KIND_FILE) status = source_open(f->file, f->diag, &source);
    if (kind == KIND_MEMORY) {
        status = source_open_memory(f->bytes, N_BYTES, "memory", f->diag, &source);
    }
    if (kind == KIND_PIPE) {
        assert_true(feed(f) > 0);
        status = source_open(f->fifo, f->diag, &source);
    }
    assert_int_equal(status, CM_OK);
    return source;
}

static void close_kind(struct source *source, enum kind kind) {
    source_close(source);
    if (kind == KIND_PIPE) wait(NULL);
}

static void take(struct source *source, size_t size, size_t want, struct cm_diagnostics *diag) {
    const size_t at = (size_t)source_position(source);
    uint8_t *buffer = malloc(size + 1);
    size_t got = 0;
    assert_int_equal(source_read(source, buffer, size, &got, diag), CM_OK);
    assert_int_equal(got, want);
    for (size_t i = 0; i < got; i++) assert_int_equal(buffer[i], byte_at(at + i));
    assert_int_equal(source_position(source), at + got);
    free(buffer);
}

static void step_over(struct source *source, uint64_t size, uint64_t want,
                      struct cm_diagnostics *diag) {
    const uint64_t at = source_position(source);
    uint64_t got = 0;
    assert_int_equal(source_skip(source, size, &got, diag), CM_OK);
    assert_int_equal(got, want);
    assert_int_equal(source_position(source), at + got);
}

static void every_source_reads_and_skips_alike(void **state) {
    const struct fixture *f = *state;
    for (enum kind kind = KIND_FILE; kind < N_KINDS; kind++) {
        struct source *source = open_kind(f, kind);
        assert_int_equal(source_byte(source, f->diag), byte_at(0));
        take(source, 0, 0, f->diag);
        take(source, 10, 10, f->diag);
        take(source, 5000, 5000, f->diag);
        step_over(source, 3, 3, f->diag);
        assert_int_equal(source_byte(source, f->diag), byte_at(5014));
        step_over(source, 20000, 20000, f->diag);
        take(source, 30000, 30000, f->diag);
        assert_int_equal(source_byte(source, f->diag), byte_at(55015));
        step_over(source, 0, 0, f->diag);
        step_over(source, UINT64_MAX, N_BYTES - 55016, f->diag);
        assert_int_equal(source_byte(source, f->diag), -1);
        take(source, 10, 0, f->diag);
        take(source, 10000, 0, f->diag);
        assert_int_equal(source_size(source), N_BYTES);
        close_kind(source, kind);
    }
    assert_int_equal(cm_diagnostics_count(f->diag), 0);
}

static void every_source_reports_its_end_alike(void **state) {
    const struct fixture *f = *state;
    for (enum kind kind = KIND_FILE; kind < N_KINDS; kind++) {
        struct source *source = open_kind(f, kind);
        take(source, N_BYTES + 1, N_BYTES, f->diag);
        assert_int_equal(source_byte(source, f->diag), -1);
        close_kind(source, kind);
    }
}

static void reads_every_byte_through_the_window(void **state) {
    const struct fixture *f = *state;
    struct source *source = open_kind(f, KIND_FILE);
    for (size_t i = 0; i < N_BYTES; i++) {
        if (source_byte(source, f->diag) != byte_at(i)) fail_msg("byte %zu", i);
    }
    assert_int_equal(source_byte(source, f->diag), -1);
    assert_int_equal(source_bytes_read(source), N_BYTES);
    source_close(source);
}

static void does_not_read_skipped_bytes(void **state) {
    const struct fixture *f = *state;
    struct source *source = open_kind(f, KIND_FILE);
    assert_int_equal(source_byte(source, f->diag), byte_at(0));
    step_over(source, 90000, 90000, f->diag);
    assert_int_equal(source_byte(source, f->diag), byte_at(90001));
    assert_true(source_bytes_read(source) <= 2 * 4096);
    source_close(source);
}

static void rereads_positions_of_seekable_sources(void **state) {
    const struct fixture *f = *state;
    for (enum kind kind = KIND_FILE; kind <= KIND_MEMORY; kind++) {
        struct source *source = open_kind(f, kind);
        uint8_t buffer[300];
        assert_true(source_can_seek(source));
        take(source, 1000, 1000, f->diag);
        assert_int_equal(source_read_at(source, 200, buffer, sizeof buffer, f->diag), CM_OK);
        assert_memory_equal(buffer, f->bytes + 200, sizeof buffer);
        assert_int_equal(source_read_at(source, N_BYTES - 300, buffer, sizeof buffer, f->diag),
                         CM_OK);
        assert_memory_equal(buffer, f->bytes + N_BYTES - 300, sizeof buffer);
        assert_int_equal(source_read_at(source, N_BYTES, buffer, 0, f->diag), CM_OK);
        take(source, 1000, 1000, f->diag); /* the position has not changed */
        assert_int_equal(cm_diagnostics_count(f->diag), 0);
        source_close(source);
    }
}

static void refuses_positions_after_the_end(void **state) {
    const struct fixture *f = *state;
    static const uint64_t offsets[] = {N_BYTES - 9, N_BYTES, N_BYTES + 1, UINT64_MAX - 5};
    for (enum kind kind = KIND_FILE; kind <= KIND_MEMORY; kind++) {
        struct source *source = open_kind(f, kind);
        uint8_t buffer[10];
        for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
            assert_int_equal(source_read_at(source, offsets[i], buffer, sizeof buffer, f->diag),
                             CM_REFUSED);
        }
        source_close(source);
    }
    assert_string_equal(cm_diagnostics_get(f->diag, 0)->code, "format");
}

static void reports_positions_that_a_pipe_has_passed(void **state) {
    const struct fixture *f = *state;
    struct source *source = open_kind(f, KIND_PIPE);
    uint8_t buffer[10];
    assert_false(source_can_seek(source));
    assert_true(source_size(source) == SOURCE_SIZE_UNKNOWN);
    take(source, 100, 100, f->diag);
    assert_int_equal(source_read_at(source, 5, buffer, sizeof buffer, f->diag), CM_REFUSED);
    assert_string_equal(cm_diagnostics_get(f->diag, 0)->code, "value");
    assert_string_equal(cm_diagnostics_get(f->diag, 0)->message,
                        "cannot read 10 bytes at offset 5: already past it in a pipe");
    step_over(source, N_BYTES, N_BYTES - 100, f->diag);
    assert_int_equal(source_size(source), N_BYTES);
    close_kind(source, KIND_PIPE);
}

static void standard_input_may_be_a_partly_read_file(void **state) {
    const struct fixture *f = *state;
    struct source *source = NULL;
    uint8_t buffer[10];
    const int saved = dup(STDIN_FILENO);
    const int fd = open(f->file, O_RDONLY);
    assert_int_equal(lseek(fd, 1000, SEEK_SET), 1000);
    dup2(fd, STDIN_FILENO);
    close(fd);

    assert_int_equal(source_open("-", f->diag, &source), CM_OK);
    assert_string_equal(source_name(source), "<stdin>");
    assert_true(source_can_seek(source));
    assert_int_equal(source_size(source), N_BYTES - 1000);
    assert_int_equal(source_byte(source, f->diag), byte_at(1000));
    assert_int_equal(source_read_at(source, 10, buffer, sizeof buffer, f->diag), CM_OK);
    assert_memory_equal(buffer, f->bytes + 1010, sizeof buffer);
    source_close(source);
    assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0); /* still open */
    dup2(saved, STDIN_FILENO);
    close(saved);
}

static void reports_read_errors_as_io_errors(void **state) {
    const struct fixture *f = *state;
    struct source *source = NULL;
    char missing[TEMPORARY_PATH + 32];
    snprintf(missing, sizeof missing, "%s/missing", f->folder);
    assert_int_equal(source_open(missing, f->diag, &source), CM_IO);
    assert_int_equal(source_open(f->folder, f->diag, &source), CM_IO);
    assert_int_equal(source_open("", f->diag, &source), CM_IO);
    assert_null(source);
    const char *message = cm_diagnostics_get(f->diag, 0)->message;
    assert_non_null(strstr(message, "cannot open \""));
    assert_non_null(strstr(message, "/missing\": No such file or directory"));
    assert_non_null(strstr(cm_diagnostics_get(f->diag, 1)->message, "Is a directory"));
}

static void reports_unreadable_files_as_io_errors(void **state) {
    const struct fixture *f = *state;
    struct source *source = NULL;
    if (geteuid() == 0) skip(); /* root may read every file */
    assert_int_equal(chmod(f->file, 0), 0);
    assert_int_equal(source_open(f->file, f->diag, &source), CM_IO);
    assert_non_null(strstr(cm_diagnostics_get(f->diag, 0)->message, "Permission denied"));
}

static void reads_all_up_to_the_limit(void **state) {
    struct fixture *f = *state;
    const size_t most[] = {N_BYTES, N_BYTES + 1, N_BYTES - 1};
    for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
        struct arena *arena = arena_new("all", 0);
        struct source *source = NULL;
        char *text = NULL;
        size_t size = 0;
        assert_int_equal(source_open(f->file, f->diag, &source), CM_OK);
        const int status = source_read_all(source, most[i], arena, f->diag, &text, &size);
        assert_int_equal(status, most[i] < N_BYTES ? CM_REFUSED : CM_OK);
        assert_int_equal(size, status == CM_OK ? N_BYTES : 0);
        if (status == CM_OK) assert_memory_equal(text, f->bytes, N_BYTES);
        source_close(source);
        arena_free(arena);
    }
}

static void empty_source_ends_at_once(void **state) {
    const struct fixture *f = *state;
    struct source *source = NULL;
    assert_int_equal(truncate(f->file, 0), 0);
    assert_int_equal(source_open(f->file, f->diag, &source), CM_OK);
    assert_int_equal(source_byte(source, f->diag), -1);
    source_close(source);
    assert_int_equal(source_open_memory(NULL, 0, "none", f->diag, &source), CM_OK);
    assert_int_equal(source_byte(source, f->diag), -1);
    step_over(source, 10, 0, f->diag);
    take(source, 10, 0, f->diag);
    source_close(source);
    source_close(NULL);
}

static void ends_early_if_a_file_is_truncated_while_read(void **state) {
    const struct fixture *f = *state;
    uint8_t buffer[10];
    struct source *source = open_kind(f, KIND_FILE);
    assert_int_equal(source_byte(source, f->diag), byte_at(0));
    assert_int_equal(truncate(f->file, 5000), 0);
    assert_int_equal(source_read_at(source, 90000, buffer, sizeof buffer, f->diag), CM_REFUSED);
    step_over(source, 4899, 4899, f->diag);
    take(source, 10000, 100, f->diag);
    assert_int_equal(source_byte(source, f->diag), -1);
    source_close(source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_source_reads_and_skips_alike, make, end),
        cmocka_unit_test_setup_teardown(every_source_reports_its_end_alike, make, end),
        cmocka_unit_test_setup_teardown(reads_every_byte_through_the_window, make, end),
        cmocka_unit_test_setup_teardown(does_not_read_skipped_bytes, make, end),
        cmocka_unit_test_setup_teardown(rereads_positions_of_seekable_sources, make, end),
        cmocka_unit_test_setup_teardown(refuses_positions_after_the_end, make, end),
        cmocka_unit_test_setup_teardown(reports_positions_that_a_pipe_has_passed, make, end),
        cmocka_unit_test_setup_teardown(standard_input_may_be_a_partly_read_file, make, end),
        cmocka_unit_test_setup_teardown(reports_read_errors_as_io_errors, make, end),
        cmocka_unit_test_setup_teardown(reports_unreadable_files_as_io_errors, make, end),
        cmocka_unit_test_setup_teardown(reads_all_up_to_the_limit, make, end),
        cmocka_unit_test_setup_teardown(empty_source_ends_at_once, make, end),
        cmocka_unit_test_setup_teardown(ends_early_if_a_file_is_truncated_while_read, make,
                                        end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
