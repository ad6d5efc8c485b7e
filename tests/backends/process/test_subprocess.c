/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of a backend in its own process: a fault of that process loses at most one
 * primitive. */
#include "fixture.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "backends/process/subprocess.h"
#include "fake.h"
#include "support/arena.h"

/* A subprocess that runs the fake backend, with its table in a file. */
struct fixture {
    struct arena *arena;
    char table[FIXTURE_PATH];
    struct cm_setting setting;
    struct subprocess_setup setup;
    struct subprocess *subprocess;
    struct cm_reason reason;
};

static int prepare(struct fixture *f, const char *table) {
    memset(f, 0, sizeof(*f));
    f->arena = arena_new("test", 0);
    assert_non_null(f->arena);
    fixture_write(table, f->table);
    f->setting = (struct cm_setting){"table", f->table};
    subprocess_setup_init(&f->setup, &fake_backend);
    f->setup.settings.n = 1;
    f->setup.settings.items = &f->setting;
    f->setup.measure_timeout_s = 10;
    return subprocess_start(&f->setup, f->arena, &f->subprocess, &f->reason);
}

static void finish(struct fixture *f) {
    subprocess_stop(f->subprocess);
    unlink(f->table);
    arena_free(f->arena);
}

static struct cm_measurement measure(struct fixture *f, const struct cm_primitive *primitive) {
    struct cm_measurement measurement;
    subprocess_measure(f->subprocess, primitive, &measurement);
    return measurement;
}

static int count_files(void) {
    int n = 0;
    DIR *folder = opendir("/proc/self/fd");
    if (folder == NULL) return -1;
    while (readdir(folder) != NULL) n++;
    closedir(folder);
    return n;
}

static void expect_no_children(void) {
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static void returns_times_from_the_subprocess(void **state) {
    (void)state;
    struct fixture f;
    assert_int_equal(prepare(&f, "# a comment\n\nconv f32 1x3: 0.002 / 0.001\nconv: 5\n"),
                     CM_BACKEND_OK);
    const struct cm_primitive conv = fixture_conv();
    const struct cm_measurement got = measure(&f, &conv);
    assert_int_equal(got.state, CM_INVENTED);
    assert_true(got.cold.median == 0.002 && got.cold.q1 == 0.002 && got.cold.q3 == 0.002);
    assert_true(got.warm.median == 0.001);
    assert_int_equal(got.cold.n_samples, 11);
    assert_int_equal(got.how.workspace_bytes, 4096);
    assert_string_equal(got.how.kernels[0].name, "fake_conv f32 1x3");
    assert_string_equal(got.reason.text, "");
    assert_string_equal(subprocess_facts(f.subprocess)->name, "a table of 2 rows");
    assert_int_equal(subprocess_n_processes(f.subprocess), 1);
    finish(&f);
    expect_no_children();
}

/* Each fault has a state and a reason, and the next primitive is measured as usual. */
static void loses_one_primitive_per_crash(void **state) {
    (void)state;
    static const struct {
        const char *action;
        enum cm_measure_state state;
        const char *reason;
        int processes;
    } cases[] = {
        {"crash", CM_CRASHED, "the measuring process was killed by signal 9", 2},
        {"lost", CM_CRASHED, "the table loses the device", 2},
        {"hang", CM_TIMED_OUT, "no answer within 0.3 s", 2},
        {"refuse", CM_UNSUPPORTED, "the table refuses it", 1},
        {"memory", CM_OUT_OF_MEMORY, "the table has no memory for it", 1},
    };
    const struct cm_primitive conv = fixture_conv();
    const struct cm_primitive relu = fixture_relu(100);
    const int files = count_files();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fixture f;
        char table[128];
        snprintf(table, sizeof(table), "conv: %s\neltwise relu: 0.003\n", cases[i].action);
        assert_int_equal(prepare(&f, table), CM_BACKEND_OK);
        subprocess_stop(f.subprocess);
        f.setup.measure_timeout_s = cases[i].state == CM_TIMED_OUT ? 0.3 : 10;
        assert_int_equal(subprocess_start(&f.setup, f.arena, &f.subprocess, &f.reason),
                         CM_BACKEND_OK);
        const struct cm_measurement bad = measure(&f, &conv);
        assert_int_equal(bad.state, cases[i].state);
        assert_string_equal(bad.reason.text, cases[i].reason);
        assert_true(bad.cold.median == 0 && bad.cold.n_samples == 0);
        const struct cm_measurement good = measure(&f, &relu);
        assert_int_equal(good.state, CM_INVENTED);
        assert_true(good.cold.median == 0.003);
        assert_int_equal(subprocess_n_processes(f.subprocess), cases[i].processes);
        finish(&f);
        expect_no_children();
    }
    assert_int_equal(count_files(), files);
}

static void kernels_of_a_layer_have_their_own_times(void **state) {
    (void)state;
    struct fixture f;
    assert_int_equal(prepare(&f, "conv: 0.003 | 0.001\n"), CM_BACKEND_REFUSED);
    finish(&f);
    assert_int_equal(prepare(&f, "conv: 0.003 | 0.001 0.004\n"), CM_BACKEND_OK);
    const struct cm_primitive conv = fixture_conv();
    const struct cm_measurement got = measure(&f, &conv);
    assert_true(got.cold.median == 0.003);
    assert_int_equal(got.how.n_kernels, 2);
    assert_true(got.how.kernels[0].seconds == 0.001 && got.how.kernels[1].seconds == 0.004);
    assert_string_equal(got.how.kernels[1].name, "fake_conv kernel 2");
    finish(&f);
}

/* The layer keeps its time, and the next one runs in a new process. */
static void device_lost_by_the_kernels_costs_only_their_times(void **state) {
    (void)state;
    struct fixture f;
    assert_int_equal(prepare(&f, "conv: 0.003 | lost 0.001 0.004\neltwise: 0.002\n"),
                     CM_BACKEND_OK);
    const struct cm_primitive conv = fixture_conv();
    const struct cm_primitive relu = fixture_relu(100);
    for (int i = 0; i < 2; i++) {
        const struct cm_measurement got = measure(&f, &conv);
        assert_int_equal(got.state, CM_INVENTED);
        assert_int_equal(got.flags, 0);
        assert_true(got.cold.median == 0.003);
        assert_true(got.how.kernels[0].seconds == 0 && got.how.kernels[1].seconds == 0);
    }
    assert_int_equal(measure(&f, &relu).state, CM_INVENTED);
    assert_int_equal(subprocess_n_processes(f.subprocess), 3);
    finish(&f);
    expect_no_children();
}

static void marks_proxies_and_views(void **state) {
    (void)state;
    struct fixture f;
    const struct cm_primitive conv = fixture_conv();
    const struct cm_primitive relu = fixture_relu(100);
    assert_int_equal(prepare(&f, "conv: proxy 0.004\neltwise: view\n"), CM_BACKEND_OK);
    const struct cm_measurement proxy = measure(&f, &conv);
    assert_int_equal(proxy.state, CM_PROXY);
    assert_true(proxy.cold.median == 0.004);
    assert_string_equal(proxy.reason.text, "a row of the table instead");
    const struct cm_measurement view = measure(&f, &relu);
    assert_int_equal(view.state, CM_VIEW);
    assert_true(view.cold.median == 0 && view.cold.n_samples == 0);
    finish(&f);
}

static void flags_differing_samples(void **state) {
    (void)state;
    struct fixture f;
    const struct cm_primitive conv = fixture_conv();
    assert_int_equal(prepare(&f, "conv: 0.002 0.003\n"), CM_BACKEND_OK);
    const struct cm_measurement got = measure(&f, &conv);
    assert_int_equal(got.state, CM_INVENTED);
    assert_int_equal(got.flags, CM_FLAG_UNSTABLE);
    assert_true(got.cold.n_samples > 11);
    finish(&f);
}

static void refuses_missing_row_and_malformed_primitive(void **state) {
    (void)state;
    struct fixture f;
    const struct cm_primitive relu = fixture_relu(100);
    struct cm_primitive bad = fixture_conv();
    bad.n_inputs = 1;
    assert_int_equal(prepare(&f, "conv: 1\n"), CM_BACKEND_OK);
    const struct cm_measurement none = measure(&f, &relu);
    assert_int_equal(none.state, CM_UNSUPPORTED);
    assert_string_equal(none.reason.text,
                        "the table has no row for eltwise relu f32 100 -> 100");
    const struct cm_measurement malformed = measure(&f, &bad);
    assert_int_equal(malformed.state, CM_UNSUPPORTED);
    assert_string_equal(malformed.reason.text, "conv with 1 operands and 1 results");
    assert_int_equal(subprocess_n_processes(f.subprocess), 1);
    finish(&f);
}

static void reports_why_device_does_not_open(void **state) {
    (void)state;
    static const struct {
        const char *table;
        const char *reason;
    } cases[] = {
        {"open: refuse\n", "the table refuses it"},
        {"open: crash\n", "the measuring process was killed by signal 9"},
        {"conv 0.1\n", "line 1 of the table: expected 'primitive: seconds...'"},
        {"\nconv: 0.1\nconv:\n", "line 3 of the table: expected 'primitive: seconds...'"},
        {"conv: -1\n", "line 1 of the table: expected 'primitive: seconds...'"},
        {"conv: hang 5\n", "line 1 of the table: expected 'primitive: seconds...'"},
        {"conv: 1 /\n", "line 1 of the table: expected 'primitive: seconds...'"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fixture f;
        assert_int_equal(prepare(&f, cases[i].table), CM_BACKEND_REFUSED);
        assert_string_equal(f.reason.text, cases[i].reason);
        assert_null(f.subprocess);
        finish(&f);
        expect_no_children();
    }
}

static void times_out_if_open_hangs(void **state) {
    (void)state;
    struct fixture f;
    (void)prepare(&f, "conv: 1\n");
    subprocess_stop(f.subprocess);
    f.subprocess = NULL;
    unlink(f.table);
    fixture_write("open: hang\n", f.table);
    f.setup.open_timeout_s = 0.2;
    assert_int_equal(subprocess_start(&f.setup, f.arena, &f.subprocess, &f.reason),
                     CM_BACKEND_REFUSED);
    assert_string_equal(f.reason.text, "no answer within 0.2 s");
    finish(&f);
    expect_no_children();
}

static void checks_settings(void **state) {
    (void)state;
    struct fixture f;
    const struct cm_setting missing = {"table", "/nonexistent"};
    (void)prepare(&f, "conv: 1\n");
    subprocess_stop(f.subprocess);
    f.subprocess = NULL;
    f.setup.settings.items = &missing;
    assert_int_equal(subprocess_start(&f.setup, f.arena, &f.subprocess, &f.reason),
                     CM_BACKEND_REFUSED);
    assert_string_equal(f.reason.text, "the table '/nonexistent' cannot be read");
    f.setup.settings.n = 0;
    assert_int_equal(subprocess_start(&f.setup, f.arena, &f.subprocess, &f.reason),
                     CM_BACKEND_REFUSED);
    assert_string_equal(f.reason.text, "a table is required: fake:table=FILE");
    finish(&f);
}

static void stops_asking_lost_device(void **state) {
    (void)state;
    struct fixture f;
    const struct cm_primitive conv = fixture_conv();
    assert_int_equal(prepare(&f, "conv: crash\n"), CM_BACKEND_OK);
    assert_int_equal(measure(&f, &conv).state, CM_CRASHED);
    unlink(f.table);
    for (int i = 0; i < 3; i++) {
        const struct cm_measurement got = measure(&f, &conv);
        assert_int_equal(got.state, CM_UNSUPPORTED);
        assert_non_null(strstr(got.reason.text, "the device could not be opened again: "));
        assert_non_null(strstr(got.reason.text, "cannot be read"));
    }
    assert_int_equal(subprocess_n_processes(f.subprocess), 2);
    finish(&f);
    expect_no_children();
}

/* A program that ignores SIGCHLD has no children to wait for, and must not wait for ever. */
static void works_with_sigchld_ignored(void **state) {
    (void)state;
    struct fixture f;
    const struct cm_primitive conv = fixture_conv();
    struct sigaction before;
    struct sigaction ignore;
    memset(&ignore, 0, sizeof(ignore));
    ignore.sa_handler = SIG_IGN;
    assert_int_equal(sigaction(SIGCHLD, &ignore, &before), 0);
    assert_int_equal(prepare(&f, "conv: crash\n"), CM_BACKEND_OK);
    const struct cm_measurement got = measure(&f, &conv);
    assert_int_equal(got.state, CM_CRASHED);
    assert_string_equal(got.reason.text, "the measuring process exited with status 0");
    finish(&f);
    assert_int_equal(sigaction(SIGCHLD, &before, NULL), 0);
}

/* Writes noise to the socket of the program, as a faulty backend could do. */
static int open_and_scribble(const struct cm_settings *settings, struct cm_device **ret,
                             struct cm_reason *reason) {
    (void)settings;
    (void)ret;
    (void)reason;
    for (int file = 3; file < 64; file++) {
        struct stat status;
        char noise[64];
        memset(noise, 'x', sizeof(noise));
        if (fstat(file, &status) == 0 && S_ISSOCK(status.st_mode))
            (void)!write(file, noise, sizeof(noise));
    }
    return CM_BACKEND_REFUSED;
}

static void rejects_invalid_result(void **state) {
    (void)state;
    struct cm_backend scribbler = fake_backend;
    struct arena *arena = arena_new("test", 0);
    struct subprocess_setup setup;
    struct subprocess *subprocess = NULL;
    struct cm_reason reason = {""};
    scribbler.open = open_and_scribble;
    subprocess_setup_init(&setup, &scribbler);
    assert_int_equal(subprocess_start(&setup, arena, &subprocess, &reason), CM_BACKEND_REFUSED);
    assert_string_equal(reason.text, "the measuring process sent an invalid message");
    arena_free(arena);
    expect_no_children();
}

/* Measures a network that applies a ReLU of 64 elements twice, from offset 0 to 256 and
 * back. */
static struct cm_measurement measure_twice(struct fixture *f, uint32_t n_steps) {
    const struct cm_primitive relu = fixture_relu(64);
    const struct cm_network_step steps[] = {
        {.outputs = {{.offset = 256}}},
        {.inputs = {{.offset = 256}}},
    };
    const struct cm_network network = {1, n_steps, &relu, steps, 512, 0};
    struct cm_measurement measurement;
    subprocess_measure_network(f->subprocess, &network, &measurement);
    return measurement;
}

static void times_network_warm(void **state) {
    (void)state;
    struct fixture f;
    assert_int_equal(prepare(&f, "network: 5 / 0.25\neltwise: 1\n"), CM_BACKEND_OK);
    struct cm_measurement got = measure_twice(&f, 2);
    assert_int_equal(got.state, CM_INVENTED);
    assert_true(got.warm.median == 0.25);
    assert_true(got.cold.median == 0 && got.warm.n_samples > 0);
    const struct cm_primitive relu = fixture_relu(8);
    assert_int_equal(measure(&f, &relu).state, CM_INVENTED); /* the process is still there */
    assert_int_equal(subprocess_n_processes(f.subprocess), 1);
    got = measure_twice(&f, SUBPROCESS_MAX_STEPS + 1);
    assert_int_equal(got.state, CM_UNSUPPORTED);
    assert_string_equal(got.reason.text, "the network has 16385 steps, the limit is 16384");
    finish(&f);
}

static void handles_network_failures(void **state) {
    static const struct {
        const char *table;
        int32_t state;
        const char *reason;
    } cases[] = {
        {"network: hang\n", CM_TIMED_OUT, "no answer within 0.3 s"},
        {"network: crash\n", CM_CRASHED, "the measuring process was killed by signal 9"},
        {"network: lost\n", CM_CRASHED, "the table loses the device"},
        {"network: memory\n", CM_OUT_OF_MEMORY, "the table has no memory for it"},
        {"conv: 1\n", CM_UNSUPPORTED, "the table has no row for a network"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fixture f;
        char table[64];
        snprintf(table, sizeof(table), "%seltwise: 1\n", cases[i].table);
        assert_int_equal(prepare(&f, table), CM_BACKEND_OK);
        subprocess_stop(f.subprocess);
        f.setup.network_timeout_s = 0.3;
        assert_int_equal(subprocess_start(&f.setup, f.arena, &f.subprocess, &f.reason),
                         CM_BACKEND_OK);
        const struct cm_measurement got = measure_twice(&f, 2);
        assert_int_equal(got.state, cases[i].state);
        assert_string_equal(got.reason.text, cases[i].reason);
        const struct cm_primitive relu = fixture_relu(8);
        assert_int_equal(measure(&f, &relu).state, CM_INVENTED); /* by another process */
        finish(&f);
        expect_no_children();
    }
}

static void reports_missing_network_slot(void **state) {
    (void)state;
    struct fixture f;
    assert_int_equal(prepare(&f, "network: 1\n"), CM_BACKEND_OK);
    subprocess_stop(f.subprocess);
    struct cm_backend without = fake_backend;
    without.network = NULL;
    f.setup.backend = &without;
    assert_int_equal(subprocess_start(&f.setup, f.arena, &f.subprocess, &f.reason),
                     CM_BACKEND_OK);
    assert_string_equal(measure_twice(&f, 2).reason.text,
                        "the backend does not run whole networks");
    finish(&f);
}

static void reports_missing_descriptors(void **state) {
    (void)state;
    struct arena *arena = arena_new("test", 0);
    struct rlimit before;
    struct subprocess_setup setup;
    struct subprocess *subprocess = NULL;
    struct cm_reason reason = {""};
    subprocess_setup_init(&setup, &fake_backend);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    const struct rlimit none = {3, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    assert_int_equal(subprocess_start(&setup, arena, &subprocess, &reason), CM_BACKEND_REFUSED);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_string_equal(reason.text, "cannot create a socket: Too many open files");
    arena_free(arena);
}

static void stop_accepts_null(void **state) {
    (void)state;
    subprocess_stop(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(returns_times_from_the_subprocess),
        cmocka_unit_test(loses_one_primitive_per_crash),
        cmocka_unit_test(kernels_of_a_layer_have_their_own_times),
        cmocka_unit_test(device_lost_by_the_kernels_costs_only_their_times),
        cmocka_unit_test(marks_proxies_and_views),
        cmocka_unit_test(flags_differing_samples),
        cmocka_unit_test(refuses_missing_row_and_malformed_primitive),
        cmocka_unit_test(reports_why_device_does_not_open),
        cmocka_unit_test(times_out_if_open_hangs),
        cmocka_unit_test(checks_settings),
        cmocka_unit_test(stops_asking_lost_device),
        cmocka_unit_test(works_with_sigchld_ignored),
        cmocka_unit_test(rejects_invalid_result),
        cmocka_unit_test(times_network_warm),
        cmocka_unit_test(handles_network_failures),
        cmocka_unit_test(reports_missing_network_slot),
        cmocka_unit_test(reports_missing_descriptors),
        cmocka_unit_test(stop_accepts_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
