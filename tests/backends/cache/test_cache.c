/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the cache of times: what it stores, which files it ignores, and concurrent
 * writers. */
#include "backends/cache/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake.h"
#include "fixture.h"
#include "support/arena.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

/* A temporary folder and a cache key. */
struct fixture {
    struct arena *arena;
    char root[FIXTURE_PATH];
    char folder[FIXTURE_PATH + 32];
    struct cm_device_facts facts;
    struct cm_settings settings;
    struct cache_key key;
    struct cm_reason note;
};

static int set_up(void **state) {
    struct fixture *f = calloc(1, sizeof(*f));
    assert_non_null(f);
    f->arena = arena_new("test", 0);
    temporary_path(f->root);
    assert_non_null(mkdtemp(f->root));
    snprintf(f->folder, sizeof(f->folder), "%s/a/cache", f->root);
    snprintf(f->facts.name, sizeof(f->facts.name), "a device");
    f->key = (struct cache_key){&fake_backend, NULL, &f->facts, &f->settings,
                                &timing_default_policy};
    *state = f;
    return 0;
}

static void remove_files(const char *folder) {
    DIR *stream = opendir(folder);
    if (stream == NULL) return;
    for (const struct dirent *file = readdir(stream); file != NULL; file = readdir(stream)) {
        char path[1024];
        snprintf(path, sizeof(path), "%s/%s", folder, file->d_name);
        (void)unlink(path);
    }
    closedir(stream);
    (void)rmdir(folder);
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    char above[2 * FIXTURE_PATH];
    (void)chmod(f->folder, 0700);
    remove_files(f->folder);
    snprintf(above, sizeof(above), "%s/a", f->root);
    remove_files(above);
    remove_files(f->root);
    arena_free(f->arena);
    free(f);
    return 0;
}

static struct cm_measurement measured(double seconds) {
    struct cm_measurement ret;
    memset(&ret, 0, sizeof(ret));
    ret.state = CM_MEASURED;
    ret.cold = (struct cm_timing){seconds, seconds, seconds, seconds, seconds, 11, 1};
    ret.warm = ret.cold;
    return ret;
}

static struct cache *open_cache(struct fixture *f) {
    struct cache *cache = NULL;
    memset(&f->note, 0, sizeof(f->note));
    assert_int_equal(cache_open(f->folder, &f->key, false, f->arena, &cache, &f->note),
                     CM_BACKEND_OK);
    return cache;
}

static void put(struct cache *cache, int64_t n, const struct cm_measurement *measurement) {
    const struct cm_primitive relu = fixture_relu(n);
    assert_int_equal(cache_put(cache, &relu, measurement, time(NULL) - n), CM_BACKEND_OK);
}

static double find(const struct cache *cache, int64_t n) {
    const struct cm_primitive relu = fixture_relu(n);
    const struct cache_entry *entry = cache_find(cache, &relu);
    return entry ? entry->measurement.cold.median : 0;
}

/* Saves one time of `seconds` for a ReLU over `n` elements. */
static void save_one(struct fixture *f, int64_t n, double seconds) {
    const struct cm_measurement measurement = measured(seconds);
    struct cache *cache = open_cache(f);
    put(cache, n, &measurement);
    assert_int_equal(cache_save(cache, &f->note), CM_BACKEND_OK);
    assert_string_equal(f->note.text, "");
}

static void the_file(const struct fixture *f, char *ret, size_t size) {
    DIR *stream = opendir(f->folder);
    assert_non_null(stream);
    ret[0] = '\0';
    for (const struct dirent *file = readdir(stream); file != NULL; file = readdir(stream))
        if (strstr(file->d_name, ".times") != NULL)
            snprintf(ret, size, "%s/%s", f->folder, file->d_name);
    closedir(stream);
    assert_true(ret[0] != '\0');
}

static int count_times(const struct fixture *f) {
    int n = 0;
    DIR *stream = opendir(f->folder);
    assert_non_null(stream);
    for (const struct dirent *file = readdir(stream); file != NULL; file = readdir(stream))
        n += strstr(file->d_name, ".times") != NULL;
    closedir(stream);
    return n;
}

static void finds_saved_times(void **state) {
    struct fixture *f = *state;
    save_one(f, 8, 2e-6);
    const struct cache *cache = open_cache(f);
    assert_true(find(cache, 8) == 2e-6);
    assert_true(find(cache, 9) == 0);
}

static void writes_no_file_without_new_times(void **state) {
    struct fixture *f = *state;
    struct cache *cache = open_cache(f);
    assert_int_equal(cache_save(cache, &f->note), CM_BACKEND_OK);
    assert_int_equal(access(f->folder, F_OK), -1);
}

static void separates_times_by_key(void **state) {
    struct fixture *f = *state;
    const struct cm_setting threads = {"threads", "2"};
    save_one(f, 8, 2e-6);
    snprintf(f->facts.version, sizeof(f->facts.version), "2");
    assert_true(find(open_cache(f), 8) == 0);
    f->facts.version[0] = '\0';
    f->settings.precision = CM_PRECISION_TF32;
    assert_true(find(open_cache(f), 8) == 0);
    f->settings.precision = 0;
    f->settings.n = 1;
    f->settings.items = &threads;
    assert_true(find(open_cache(f), 8) == 0);
    f->settings.n = 0;
    snprintf(f->facts.address, sizeof(f->facts.address), "MIG-1234");
    assert_true(find(open_cache(f), 8) == 0);
    snprintf(f->facts.address, sizeof(f->facts.address), "0000:1b:00.0");
    assert_true(find(open_cache(f), 8) == 2e-6);
    assert_string_equal(f->note.text, "");
}

static void does_not_cache_unstable_times(void **state) {
    struct fixture *f = *state;
    struct cache *cache = open_cache(f);
    static const int32_t states[] = {CM_UNSUPPORTED, CM_MODELLED,  CM_VIEW,    CM_OUT_OF_MEMORY,
                                     CM_CRASHED,     CM_TIMED_OUT, CM_PLANNED, CM_INVENTED};
    static const uint32_t flags[] = {CM_FLAG_UNSTABLE, CM_FLAG_THROTTLED};
    for (size_t i = 0; i < N(states); i++) {
        struct cm_measurement measurement = measured(1);
        measurement.state = states[i];
        put(cache, 1, &measurement);
    }
    for (size_t i = 0; i < N(flags); i++) {
        struct cm_measurement measurement = measured(1);
        measurement.flags = flags[i];
        put(cache, 1, &measurement);
    }
    assert_true(find(cache, 1) == 0);
    struct cm_measurement slow = measured(1);
    slow.flags = CM_FLAG_FEW_SAMPLES;
    slow.state = CM_PROXY;
    put(cache, 1, &slow);
    assert_true(find(cache, 1) == 1);
}

/* Changes one byte of the file: the cache ignores the file and notes the expected reason. */
static void ignores_modified_file(void **state) {
    struct fixture *f = *state;
    static const struct {
        long at; /* < 0: from the end */
        const char *why;
    } changes[] = {
        {0, "it is not a cache file"},
        {8, "another version wrote it"},
        {12, "another version wrote it"},
        {16, "it was written for another device or other settings"},
        {22, "it has too many entries"},
        {20, "it is incomplete"},
        {24, "its checksum is wrong"},
        {40, "its checksum is wrong"},
        {-1, "its checksum is wrong"},
    };
    for (size_t i = 0; i < N(changes); i++) {
        char path[1024];
        save_one(f, 8, 2e-6);
        the_file(f, path, sizeof(path));
        FILE *file = fopen(path, "r+");
        assert_non_null(file);
        assert_int_equal(fseek(file, changes[i].at, changes[i].at < 0 ? SEEK_END : SEEK_SET),
                         0);
        const int byte = fgetc(file);
        assert_int_equal(fseek(file, -1, SEEK_CUR), 0);
        (void)fputc(byte ^ 1, file);
        fclose(file);
        assert_true(find(open_cache(f), 8) == 0);
        assert_string_equal(f->note.text, changes[i].why);
        unlink(path);
    }
}

static void ignores_truncated_file(void **state) {
    struct fixture *f = *state;
    char path[1024];
    save_one(f, 8, 2e-6);
    the_file(f, path, sizeof(path));
    for (long size = 200; size > 0; size -= 13) {
        assert_int_equal(truncate(path, size), 0);
        assert_true(find(open_cache(f), 8) == 0);
        assert_string_equal(f->note.text, "it is incomplete");
    }
}

/* The checksum is right, so that only the checks of the fields can reject the entry. */
static void skips_entry_out_of_range(void **state) {
    struct fixture *f = *state;
    const struct cm_measurement good = measured(1);
    for (int fault = 0; fault < 7; fault++) {
        struct cm_measurement bad = measured(1);
        struct cm_primitive relu = fixture_relu(7);
        int64_t when = time(NULL);
        if (fault == 0) memset(bad.reason.text, 'x', sizeof(bad.reason.text));
        if (fault == 1) bad.how.n_kernels = -1;
        if (fault == 2) memset(bad.how.kernels[3].name, 'x', sizeof(bad.how.kernels[3].name));
        if (fault == 3) relu.inputs[0].rank = 99;
        if (fault == 4) when += 1000000;
        if (fault == 5) bad.how.kernels[1].seconds = -1;
        if (fault == 6) bad.how.kernels[1].seconds = NAN;
        struct cache *cache = open_cache(f);
        assert_int_equal(cache_put(cache, &relu, &bad, when), CM_BACKEND_OK);
        put(cache, 8, &good);
        assert_int_equal(cache_save(cache, &f->note), CM_BACKEND_OK);
        cache = open_cache(f);
        assert_true(find(cache, 7) == 0);
        assert_true(find(cache, 8) == 1);
        remove_files(f->folder);
    }
}

static void ignores_files_writable_by_others(void **state) {
    struct fixture *f = *state;
    char path[1024];
    save_one(f, 8, 2e-6);
    the_file(f, path, sizeof(path));
    assert_int_equal(chmod(path, geteuid() == 0 ? 0620 : 0602),
                     0); /* or the user's own group */
    assert_true(find(open_cache(f), 8) == 0);
    assert_string_equal(f->note.text, "others may write it");
    assert_int_equal(chmod(path, 0600), 0);
    if (chown(path, 12345, (gid_t)-1) == 0) {
        assert_true(find(open_cache(f), 8) == 0);
        assert_string_equal(f->note.text, "it belongs to another user");
    }
    assert_int_equal(chmod(f->folder, 0777), 0);
    struct cache *cache = open_cache(f);
    assert_true(find(cache, 8) == 0);
    assert_string_equal(f->note.text, "others may write it");
    const struct cm_measurement measurement = measured(1);
    put(cache, 9, &measurement);
    assert_int_equal(cache_save(cache, &f->note), CM_BACKEND_REFUSED);
    assert_string_equal(f->note.text, "others may write it");
}

static void does_not_follow_symlinks(void **state) {
    struct fixture *f = *state;
    char path[1024], other[1100];
    save_one(f, 8, 2e-6);
    the_file(f, path, sizeof(path));
    snprintf(other, sizeof(other), "%s.moved", path);
    assert_int_equal(rename(path, other), 0);
    assert_int_equal(symlink(other, path), 0);
    assert_true(find(open_cache(f), 8) == 0);
    assert_string_equal(f->note.text, "Too many levels of symbolic links");
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    (void)find(open_cache(f), 8); /* does not wait for a writer */
    assert_string_equal(f->note.text, "it is not a regular file");
}

static void reports_unusable_folder(void **state) {
    struct fixture *f = *state;
    const struct cm_measurement measurement = measured(1);
    snprintf(f->folder, sizeof(f->folder), "not/absolute");
    (void)open_cache(f);
    assert_string_equal(f->note.text, "the path is not absolute");
    snprintf(f->folder, sizeof(f->folder), "/dev/null");
    (void)open_cache(f);
    assert_string_equal(f->note.text, "not a directory");
    snprintf(f->folder, sizeof(f->folder), "/dev/null/below");
    struct cache *cache = open_cache(f);
    assert_string_equal(f->note.text, "Not a directory");
    put(cache, 8, &measurement);
    assert_int_equal(cache_save(cache, &f->note), CM_BACKEND_REFUSED);
    assert_string_equal(f->note.text, "Not a directory");
}

/* Each process opens the cache before any of them saves it, so that only merging keeps the
 * times of the others. */
static void merges_times_of_other_writers(void **state) {
    struct fixture *f = *state;
    enum { N_WRITERS = 6 };
    pid_t pids[N_WRITERS];
    int gate[2];
    char go = 0;
    assert_int_equal(pipe(gate), 0);
    for (int i = 0; i < N_WRITERS; i++) {
        pids[i] = fork();
        if (pids[i] != 0) continue;
        const struct cm_measurement measurement = measured(i + 1);
        struct cache *cache = open_cache(f);
        put(cache, i + 1, &measurement);
        close(gate[1]);
        (void)!read(gate[0], &go, 1); /* the parent closes it when all have opened */
        _exit(cache_save(cache, &f->note) == CM_BACKEND_OK ? 0 : 1);
    }
    (void)nanosleep(&(struct timespec){0, 100000000}, NULL);
    close(gate[0]);
    close(gate[1]);
    for (int i = 0; i < N_WRITERS; i++) {
        int status = -1;
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(status, 0);
    }
    const struct cache *cache = open_cache(f);
    for (int i = 0; i < N_WRITERS; i++) assert_true(find(cache, i + 1) == i + 1);
    assert_int_equal(count_times(f), 1);
}

static void gives_up_on_held_lock(void **state) {
    struct fixture *f = *state;
    const struct cm_measurement measurement = measured(1);
    char path[1024];
    char held = 0;
    int ready[2];
    save_one(f, 8, 2e-6);
    snprintf(path, sizeof(path), "%s/lock", f->folder);
    assert_int_equal(pipe(ready), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        const struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        const int fd = open(path, O_RDWR);
        if (fcntl(fd, F_SETLK, &whole) == 0) (void)!write(ready[1], "x", 1);
        for (;;) (void)pause();
    }
    assert_int_equal(read(ready[0], &held, 1), 1);
    struct cache *cache = open_cache(f);
    put(cache, 9, &measurement);
    assert_int_equal(cache_save(cache, &f->note), CM_BACKEND_REFUSED);
    assert_string_equal(f->note.text, "another program holds its lock");
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    close(ready[0]);
    close(ready[1]);
    assert_true(find(open_cache(f), 8) == 2e-6);
    assert_true(find(open_cache(f), 9) == 0);
}

static void drops_oldest_times(void **state) {
    struct fixture *f = *state;
    const struct cm_measurement measurement = measured(1);
    struct cache *cache = open_cache(f);
    for (int64_t n = 1; n <= CACHE_MAX_ENTRIES + 2; n++) put(cache, n, &measurement);
    assert_int_equal(cache_save(cache, &f->note), CM_BACKEND_OK);
    cache = open_cache(f);
    assert_true(find(cache, 1) == 1); /* put() gives a larger n an earlier date */
    assert_true(find(cache, CACHE_MAX_ENTRIES) == 1);
    assert_true(find(cache, CACHE_MAX_ENTRIES + 1) == 0);
    assert_true(find(cache, CACHE_MAX_ENTRIES + 2) == 0);
}

static void removes_oldest_files(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < CACHE_MAX_FILES + 3; i++) {
        snprintf(f->facts.version, sizeof(f->facts.version), "%d", i);
        save_one(f, 8, 2e-6);
    }
    assert_int_equal(count_times(f), CACHE_MAX_FILES);
    assert_true(find(open_cache(f), 8) == 2e-6); /* the newest is still there */
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(finds_saved_times),
        CASE(writes_no_file_without_new_times),
        CASE(separates_times_by_key),
        CASE(does_not_cache_unstable_times),
        CASE(ignores_modified_file),
        CASE(ignores_truncated_file),
        CASE(skips_entry_out_of_range),
        CASE(ignores_files_writable_by_others),
        CASE(does_not_follow_symlinks),
        CASE(reports_unusable_folder),
        CASE(merges_times_of_other_writers),
        CASE(gives_up_on_held_lock),
        CASE(drops_oldest_times),
        CASE(removes_oldest_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
