/* SPDX-License-Identifier: Apache-2.0 */
/* Diagnostics: codes, locations, the cap on messages, and failed allocations. */
#include "costmodel/costmodel.h"
#include "support/diag.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/arena.h"
#include "support/text.h"

static int make(void **state) {
    *state = cm_diagnostics_new();
    return *state == NULL;
}

static int end(void **state) {
    cm_diagnostics_free(*state);
    return 0;
}

static void keeps_code_and_status_of_an_error(void **state) {
    assert_int_equal(diag_error(*state, DIAG_SHAPE, "have %d, want %d", 3, 4), CM_REFUSED);
    assert_int_equal(cm_diagnostics_count(*state), 1);
    const struct cm_diagnostic *item = cm_diagnostics_get(*state, 0);
    assert_int_equal(item->severity, CM_ERROR);
    assert_string_equal(item->code, "shape");
    assert_string_equal(item->message, "have 3, want 4");
    assert_string_equal(item->place, "");
    assert_null(item->node);
    assert_null(item->hint);
    assert_null(cm_diagnostics_get(*state, 1));
}

static const struct {
    enum diag_code code;
    const char *name;
    int status;
} codes[] = {
    {DIAG_IO, "io", CM_IO},
    {DIAG_FORMAT, "format", CM_REFUSED},
    {DIAG_VALUE, "value", CM_REFUSED},
    {DIAG_UNBOUND, "unbound", CM_USAGE},
    {DIAG_USAGE, "usage", CM_USAGE},
    {DIAG_BATCH, "batch", CM_REFUSED},
    {DIAG_UNKNOWN_OP, "unknown-op", CM_REFUSED},
    {DIAG_MEMORY, "memory", CM_NO_MEMORY},
};

static void names_each_code_and_its_status(void **state) {
    (void)state;
    for (int code = 0; code < DIAG_N_CODES; code++) {
        assert_true(diag_code_name((enum diag_code)code)[0] != '\0');
        assert_true(diag_status((enum diag_code)code) < 0);
    }
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        assert_string_equal(diag_code_name(codes[i].code), codes[i].name);
        assert_int_equal(diag_status(codes[i].code), codes[i].status);
    }
    for (int status = CM_IO; status <= CM_OK; status++) {
        assert_string_not_equal(cm_status_message(status), cm_status_message(17));
    }
}

static void print_two_lines(const struct diag_frame *frame, struct text *out) {
    const char *const *lines = frame->context;
    text_printf(out, "%s\n%s", lines[0], lines[1]);
}

static void prints_locations_from_outer_to_inner(void **state) {
    const char *const lines[] = {"17 \"conv\"", "%y = Conv(%x)"};
    struct diag_frame file = {.label = "in file", .what = "model.onnx"};
    struct diag_frame node = {
        .label = "at node", .print = print_two_lines, .node = "conv", .context = lines};
    struct diag_frame operand = {.what = "operand 2"};
    diag_push(*state, &file);
    diag_push(*state, &node);
    diag_push(*state, &operand);
    diag_warn(*state, DIAG_ARITY, "too many");
    diag_pop(*state, &operand);
    diag_pop(*state, &node);
    diag_note(*state, DIAG_ASSUMPTION, "one thing");
    diag_pop(*state, &file);

    const struct cm_diagnostic *item = cm_diagnostics_get(*state, 0);
    assert_int_equal(item->severity, CM_WARNING);
    assert_string_equal(item->place,
                        "in file model.onnx\nat node 17 \"conv\"\n%y = Conv(%x)\noperand 2");
    assert_string_equal(item->node, "conv");
    item = cm_diagnostics_get(*state, 1);
    assert_int_equal(item->severity, CM_NOTE);
    assert_string_equal(item->place, "in file model.onnx");
    assert_null(item->node);
}

static void adds_hints_to_the_newest_message(void **state) {
    diag_hint(*state, "to nothing");
    diag_error(*state, DIAG_UNBOUND, "first");
    diag_error(*state, DIAG_UNBOUND, "second");
    diag_hint(*state, "give --dim %s=N", "seq");
    assert_null(cm_diagnostics_get(*state, 0)->hint);
    assert_string_equal(cm_diagnostics_get(*state, 1)->hint, "give --dim seq=N");
}

static void escapes_line_breaks_of_names(void **state) {
    struct diag_frame file = {.label = "in", .what = "a\nb"};
    diag_push(*state, &file);
    diag_error(*state, DIAG_GRAPH, "no input \"%s\"", "x\nerror: \x1b[31m");
    diag_hint(*state, "%s", "\r");
    diag_pop(*state, &file);
    const struct cm_diagnostic *item = cm_diagnostics_get(*state, 0);
    assert_string_equal(item->message, "no input \"x\\x0aerror: \\x1b[31m\"");
    assert_string_equal(item->place, "in a\\x0ab");
    assert_string_equal(item->hint, "\\x0d");
}

static void counts_messages_above_the_cap(void **state) {
    const struct cm_diagnostics *sink = *state;
    for (int i = 0; i < DIAG_MAX_MESSAGES + 5; i++) {
        diag_error(*state, DIAG_SHAPE, "message %d", i);
        diag_hint(*state, "hint %d", i);
    }
    assert_int_equal(cm_diagnostics_count(sink), DIAG_MAX_MESSAGES);
    assert_int_equal(sink->n_dropped, 5);
    assert_int_equal(sink->n_errors, DIAG_MAX_MESSAGES + 5);
    assert_string_equal(cm_diagnostics_get(sink, DIAG_MAX_MESSAGES - 1)->hint, "hint 31");
}

static void keeps_an_error_after_any_number_of_notes(void **state) {
    for (int i = 0; i < DIAG_MAX_MESSAGES + 5; i++) {
        diag_note(*state, DIAG_ASSUMPTION, "note %d", i);
    }
    diag_error(*state, DIAG_SHAPE, "the fault");
    diag_hint(*state, "the way out");
    const size_t n = cm_diagnostics_count(*state);
    assert_int_equal(n, DIAG_MAX_MESSAGES);
    assert_string_equal(cm_diagnostics_get(*state, n - 1)->message, "the fault");
    assert_string_equal(cm_diagnostics_get(*state, n - 1)->hint, "the way out");
    assert_string_equal(cm_diagnostics_get(*state, n - 2)->message, "note 30");
}

static void returns_the_status_without_a_sink(void **state) {
    (void)state;
    struct diag_frame frame = {.what = "nowhere"};
    diag_push(NULL, &frame);
    assert_int_equal(diag_error(NULL, DIAG_UNBOUND, "swallowed"), CM_USAGE);
    diag_warn(NULL, DIAG_SHAPE, "swallowed");
    diag_hint(NULL, "swallowed");
    diag_pop(NULL, &frame);
    assert_int_equal(diag_no_memory(NULL), CM_NO_MEMORY);
    cm_diagnostics_free(NULL);
}

static void copies_messages_of_another_sink_once(void **state) {
    struct cm_diagnostics *other = cm_diagnostics_new();
    struct diag_frame frame = {.label = "in", .what = "a place", .node = "a node"};
    diag_push(other, &frame);
    diag_note(other, DIAG_ASSUMPTION, "granted");
    diag_hint(other, "a hint");
    diag_pop(other, &frame);
    diag_error(other, DIAG_SHAPE, "wrong");
    for (int time = 0; time < 2; time++)
        for (size_t i = 0; i < 2; i++) diag_repeat(*state, cm_diagnostics_get(other, i));
    cm_diagnostics_free(other);
    assert_int_equal(cm_diagnostics_count(*state), 2);
    const struct cm_diagnostic *note = cm_diagnostics_get(*state, 0);
    assert_int_equal(note->severity, CM_NOTE);
    assert_string_equal(note->code, "assumption");
    assert_string_equal(note->message, "granted");
    assert_string_equal(note->place, "in a place");
    assert_string_equal(note->node, "a node");
    assert_string_equal(note->hint, "a hint");
    assert_string_equal(cm_diagnostics_get(*state, 1)->message, "wrong");
    assert_false(diag_starved(*state));
    diag_repeat(NULL, note);
    assert_false(diag_starved(NULL));
}

static void reports_out_of_memory_if_a_message_cannot_be_stored(void **state) {
    struct cm_diagnostics sink = {.arena = arena_new("none", 1)};
    (void)state;
    assert_int_equal(diag_error(&sink, DIAG_USAGE, "lost"), CM_NO_MEMORY);
    assert_string_equal(cm_diagnostics_get(&sink, 0)->message, "out of memory");
    assert_int_equal(diag_finish(&sink, CM_NO_MEMORY), CM_NO_MEMORY);
    assert_int_equal(diag_finish(&sink, CM_USAGE), CM_USAGE);
    assert_int_equal(cm_diagnostics_count(&sink), 1);
    arena_free(sink.arena);
}

static void reports_out_of_memory_if_an_error_cannot_be_repeated(void **state) {
    struct cm_diagnostics sink = {.arena = arena_new("none", 1)};
    diag_error(*state, DIAG_SHAPE, "wrong");
    diag_repeat(&sink, cm_diagnostics_get(*state, 0));
    assert_int_equal(cm_diagnostics_count(&sink), 1);
    assert_string_equal(cm_diagnostics_get(&sink, 0)->message, "out of memory");
    arena_free(sink.arena);
}

static void reports_out_of_memory_once(void **state) {
    assert_int_equal(diag_no_memory(*state), CM_NO_MEMORY);
    assert_int_equal(diag_no_memory(*state), CM_NO_MEMORY);
    assert_int_equal(cm_diagnostics_count(*state), 1);
    assert_string_equal(cm_diagnostics_get(*state, 0)->message, "out of memory");
}

static void reports_out_of_memory_without_allocating(void **state) {
    struct cm_diagnostics sink = {.arena = arena_new("none", 1)};
    (void)state;
    diag_note(&sink, DIAG_ASSUMPTION, "lost");
    assert_true(diag_starved(&sink));
    assert_false(diag_starved(&sink));
    assert_int_equal(diag_no_memory(&sink), CM_NO_MEMORY);
    assert_int_equal(diag_no_memory(&sink), CM_NO_MEMORY);
    assert_int_equal(cm_diagnostics_count(&sink), 1);
    assert_string_equal(cm_diagnostics_get(&sink, 0)->message, "out of memory");
    assert_int_equal(sink.n_dropped, 1);
    arena_free(sink.arena);
}

static void counts_messages_that_cannot_be_stored(void **state) {
    (void)state;
    for (size_t cap = 1; cap < 2048; cap += 16) {
        struct cm_diagnostics sink = {.arena = arena_new("small", cap)};
        struct diag_frame frame = {.label = "at", .what = "a place", .node = "node"};
        diag_push(&sink, &frame);
        for (int i = 0; i < 8; i++) {
            const int status = diag_error(&sink, DIAG_SHAPE, "message %d", i);
            assert_int_equal(status, diag_starved(&sink) ? CM_NO_MEMORY : CM_REFUSED);
            diag_hint(&sink, "hint");
        }
        assert_int_equal(diag_no_memory(&sink), CM_NO_MEMORY);
        diag_pop(&sink, &frame);
        assert_int_equal(sink.n_items + sink.n_dropped, sink.n_errors);
        for (size_t i = 0; i < cm_diagnostics_count(&sink); i++) {
            assert_non_null(cm_diagnostics_get(&sink, i)->message);
            assert_non_null(cm_diagnostics_get(&sink, i)->place);
        }
        arena_free(sink.arena);
    }
}

static void reports_system_errors_as_io_errors(void **state) {
    assert_int_equal(diag_system(*state, "open", "x.onnx", ENOENT), CM_IO);
    assert_string_equal(cm_diagnostics_get(*state, 0)->message,
                        "cannot open \"x.onnx\": No such file or directory");
}

static void aborts_with_the_location_of_a_bug(void **state) {
    (void)state;
    char said[256] = {0};
    int ends[2];
    int status = 0;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        dup2(ends[1], STDERR_FILENO);
        BUG_ON(1 + 1 == 2);
        _exit(0);
    }
    close(ends[1]);
    assert_true(read(ends[0], said, sizeof said - 1) > 0);
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_non_null(strstr(said, "test_diag.c"));
    assert_non_null(strstr(said, "1 + 1 == 2"));
}

static void truncates_a_line_at_its_limit(void **state) {
    static char name[100000];
    memset(name, 'a', sizeof name - 1);
    struct diag_frame frame = {.label = "in function", .what = name};
    diag_push(*state, &frame);
    (void)diag_error(*state, DIAG_GRAPH, "nothing defines '%s'", name);
    diag_hint(*state, "define %s", name);
    diag_pop(*state, &frame);
    const struct cm_diagnostic *item = cm_diagnostics_get(*state, 0);
    assert_in_range(strlen(item->message), 100, 5000);
    assert_true(text_starts_with(item->message, "nothing defines 'aaa"));
    assert_true(text_ends_with(item->message, "aaa..."));
    assert_in_range(strlen(item->hint), 100, 5000);
    assert_in_range(strlen(item->place), 100, 5000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(truncates_a_line_at_its_limit, make, end),
        cmocka_unit_test_setup_teardown(keeps_code_and_status_of_an_error, make, end),
        cmocka_unit_test(names_each_code_and_its_status),
        cmocka_unit_test_setup_teardown(prints_locations_from_outer_to_inner, make, end),
        cmocka_unit_test_setup_teardown(adds_hints_to_the_newest_message, make, end),
        cmocka_unit_test_setup_teardown(escapes_line_breaks_of_names, make, end),
        cmocka_unit_test_setup_teardown(counts_messages_above_the_cap, make, end),
        cmocka_unit_test_setup_teardown(keeps_an_error_after_any_number_of_notes, make, end),
        cmocka_unit_test(returns_the_status_without_a_sink),
        cmocka_unit_test_setup_teardown(copies_messages_of_another_sink_once, make, end),
        cmocka_unit_test(reports_out_of_memory_if_a_message_cannot_be_stored),
        cmocka_unit_test_setup_teardown(reports_out_of_memory_if_an_error_cannot_be_repeated,
                                        make, end),
        cmocka_unit_test_setup_teardown(reports_out_of_memory_once, make, end),
        cmocka_unit_test(reports_out_of_memory_without_allocating),
        cmocka_unit_test(counts_messages_that_cannot_be_stored),
        cmocka_unit_test_setup_teardown(reports_system_errors_as_io_errors, make, end),
        cmocka_unit_test(aborts_with_the_location_of_a_bug),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
