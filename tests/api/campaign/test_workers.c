/* SPDX-License-Identifier: Apache-2.0 */
/* Worker processes that answer items, or die. */
#include "api/campaign/workers.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "costmodel/costmodel.h"

#define N_ITEMS 20

/* letters: 'a' to 't' for an answered item, '!' for a lost one; how: how its process ended. */
struct answers {
    char letters[N_ITEMS + 1];
    char how[N_ITEMS][64];
    size_t n_tasks;
};

static size_t five_items(void *context, size_t first) {
    (void)context;
    return first + 5 <= N_ITEMS ? 5 : N_ITEMS - first;
}

/* Items 7, 8 and 13 end their process in different ways. */
static int answer(void *context, size_t first, size_t n, FILE *out) {
    (void)context;
    for (size_t i = first; i < first + n; i++) {
        fflush(out);
        if (i == 7) raise(SIGKILL);
        if (i == 8) _exit(9);
        if (i == 13) return CM_NO_MEMORY;
        fprintf(out, "%c\n", (char)('a' + (int)i));
    }
    return CM_OK;
}

static int take(void *context, size_t first, size_t n, char *lines, size_t size) {
    struct answers *answers = context;
    assert_int_equal(size, 2 * n);
    for (size_t i = 0; i < n; i++) answers->letters[first + i] = lines[2 * i];
    answers->n_tasks++;
    return CM_OK;
}

static int lose(void *context, size_t item, const char *how, bool is_crash) {
    struct answers *answers = context;
    answers->letters[item] = is_crash ? '!' : '?';
    snprintf(answers->how[item], sizeof(answers->how[item]), "%s", how);
    return CM_OK;
}

static void loses_only_the_item_whose_process_dies(void **state) {
    (void)state;
    for (size_t jobs = 1; jobs <= 3; jobs++) {
        struct answers answers = {.n_tasks = 0};
        const struct workers_job job = {.n = N_ITEMS,
                                        .task = five_items,
                                        .run = answer,
                                        .done = take,
                                        .lost = lose,
                                        .context = &answers};
        assert_int_equal(workers_run(&job, jobs, NULL), CM_OK);
        assert_string_equal(answers.letters, "abcdefg?!jklm?opqrst");
        assert_string_equal(answers.how[7], "the process was killed by signal 9");
        assert_string_equal(answers.how[8], "the process exited with status 9");
        assert_string_equal(answers.how[13], "out of memory");
    }
}

static int refuse(void *context, size_t first, size_t n, char *lines, size_t size) {
    (void)context;
    (void)first;
    (void)n;
    (void)lines;
    (void)size;
    return CM_IO;
}

static void ends_when_an_answer_cannot_be_stored(void **state) {
    (void)state;
    const struct workers_job job = {
        .n = N_ITEMS, .task = five_items, .run = answer, .done = refuse, .lost = lose};
    assert_int_equal(workers_run(&job, 4, NULL), CM_IO);
}

/* The linker (--wrap) replaces read: it fails after `n_reads` calls; 0: never. */
static int n_reads;

ssize_t __real_read(int fd, void *data, size_t size); // NOLINT(bugprone-reserved-identifier)
ssize_t __wrap_read(int fd, void *data, size_t size); // NOLINT(bugprone-reserved-identifier)

ssize_t __wrap_read(int fd, void *data, size_t size) {
    if (n_reads == 0 || --n_reads > 0) return __real_read(fd, data, size);
    errno = EIO;
    return -1;
}

/* A fault of the system is not one of an item: none is lost, so that a later run of the
 * campaign answers it. */
static void ends_when_a_pipe_cannot_be_read(void **state) {
    (void)state;
    for (int fails = 1; fails <= 3; fails++) {
        struct answers answers = {.n_tasks = 0};
        struct cm_diagnostics *diag = cm_diagnostics_new();
        const struct workers_job job = {.n = 5,
                                        .task = five_items,
                                        .run = answer,
                                        .done = take,
                                        .lost = lose,
                                        .context = &answers};
        n_reads = fails == 3 ? 0 : fails;
        assert_int_equal(workers_run(&job, 1, diag), fails == 3 ? CM_OK : CM_IO);
        if (fails < 3)
            assert_string_equal(cm_diagnostics_get(diag, 0)->message,
                                "cannot read \"results of a process\": Input/output error");
        assert_string_equal(answers.letters, fails == 3 ? "abcde" : "");
        cm_diagnostics_free(diag);
    }
}

static void counts_at_least_one_core(void **state) {
    (void)state;
    assert_true(workers_cores() >= 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loses_only_the_item_whose_process_dies),
        cmocka_unit_test(ends_when_an_answer_cannot_be_stored),
        cmocka_unit_test(ends_when_a_pipe_cannot_be_read),
        cmocka_unit_test(counts_at_least_one_core),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
