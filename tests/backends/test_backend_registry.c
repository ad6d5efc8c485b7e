/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of finding and listing modules, and of the reasons why a module cannot be used. */
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "backends/backend_registry.h"
#include "backends/plugin/loader.h"
#include "backends/process/subprocess.h"
#include "support/arena.h"
#include "support/text.h"

#define MODULES TEST_BINARY_DIR "/modules"

static int make(void **state) {
    *state = arena_new("test", 0);
    return *state == NULL;
}

static int end(void **state) {
    arena_free(*state);
    return 0;
}

static struct places places_of(struct arena *arena, const char *path) {
    struct places places;
    assert_int_equal(loader_places_in(path, arena, &places), 0);
    return places;
}

/* Invalid modules and their messages. */
static const char *const faulty[][2] = {
    {"newer", "the module has interface version 999, this program has 6"},
    {"larger", "the module's struct has 4096 bytes, this program's has 120"},
    {"nameless", "the module has no symbol 'costmodel_backend'"},
    {"silent", "the module does not support interface version 6"},
    {"half", "the module does not define 'plan'"},
    {"text", "the module cannot be loaded: "},
};

#define N_FAULTY (sizeof(faulty) / sizeof(faulty[0]))

static void expect_reason(const char *have, const char *want) {
    if (strncmp(have, want, strlen(want)) != 0)
        fail_msg("have \"%s\", want \"%s\"", have, want);
}

static void finds_module_by_name(void **state) {
    const struct places places = places_of(*state, MODULES);
    const struct cm_backend *backend = NULL;
    struct cm_reason reason = {""};
    assert_int_equal(backends_find(&places, "good", *state, &backend, &reason), CM_BACKEND_OK);
    assert_string_equal(backend->name, "good");
    assert_int_equal(backends_find(&places, "roofline", *state, &backend, &reason),
                     CM_BACKEND_OK);
    assert_ptr_equal(backend, &roofline_backend);
}

static void runs_module_in_subprocess(void **state) {
    const struct places places = places_of(*state, MODULES);
    const struct cm_primitive relu = fixture_relu(500);
    const struct cm_backend *backend = NULL;
    struct cm_measurement got;
    struct subprocess_setup setup;
    struct subprocess *subprocess = NULL;
    struct cm_reason reason = {""};
    assert_int_equal(backends_find(&places, "good", *state, &backend, &reason), CM_BACKEND_OK);
    subprocess_setup_init(&setup, backend);
    assert_int_equal(subprocess_start(&setup, *state, &subprocess, &reason), CM_BACKEND_OK);
    assert_string_equal(subprocess_facts(subprocess)->name, "a device in a module");
    subprocess_measure(subprocess, &relu, &got);
    subprocess_stop(subprocess);
    assert_int_equal(got.state, CM_MODELLED);
    assert_true(got.cold.median == 500 * 1e-9);
}

static void reports_missing_device_on_open(void **state) {
    const struct places places = places_of(*state, MODULES);
    const struct cm_backend *backend = NULL;
    struct subprocess_setup setup;
    struct subprocess *subprocess = NULL;
    struct cm_reason reason = {""};
    assert_int_equal(backends_find(&places, "absent", *state, &backend, &reason),
                     CM_BACKEND_OK);
    subprocess_setup_init(&setup, backend);
    assert_int_equal(subprocess_start(&setup, *state, &subprocess, &reason),
                     CM_BACKEND_REFUSED);
    assert_string_equal(reason.text, "there is no such device here");
}

static void reports_the_reason_for_each_faulty_module(void **state) {
    const struct places places = places_of(*state, MODULES);
    for (size_t i = 0; i < N_FAULTY; i++) {
        const struct cm_backend *backend = NULL;
        struct cm_reason reason = {""};
        assert_int_equal(backends_find(&places, faulty[i][0], *state, &backend, &reason),
                         CM_BACKEND_REFUSED);
        assert_null(backend);
        expect_reason(reason.text, faulty[i][1]);
    }
}

static void rejects_invalid_name(void **state) {
    static const char *const cases[][2] = {
        {"cuda2",
         "costmodel-cuda2.so not found in the search path of modules; docs/backends.md "
         "describes how to build it"},
        {"../x", "'../x' is not the name of a backend: a name has at most 64 lower-case "
                 "letters, digits and -"},
        {"", "'' is not the name of a backend: a name has at most 64 lower-case letters, "
             "digits and -"},
        {"CUDA", "'CUDA' is not the name of a backend: a name has at most 64 lower-case "
                 "letters, digits and -"},
    };
    const struct places places = places_of(*state, MODULES);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct cm_backend *backend = NULL;
        struct cm_reason reason = {""};
        assert_int_equal(backends_find(&places, cases[i][0], *state, &backend, &reason),
                         CM_BACKEND_REFUSED);
        assert_string_equal(reason.text, cases[i][1]);
    }
}

static const struct backends_entry *find(const struct backends_list *list, const char *name,
                                         size_t nth) {
    for (size_t i = 0; i < list->n; i++)
        if (text_equal(list->items[i].name, name) && nth-- == 0) return &list->items[i];
    fail_msg("no %s", name);
    return NULL;
}

static void lists_all_backends(void **state) {
    struct places places = places_of(*state, MODULES);
    struct backends_list list;
    assert_int_equal(backends_list(&places, *state, &list), 0);
    assert_string_equal(list.items[0].name, "roofline");
    assert_null(list.items[0].path);
    assert_string_equal(find(&list, "good", 0)->path, MODULES "/costmodel-good.so");
    assert_non_null(find(&list, "good", 0)->backend);
    for (size_t i = 0; i < N_FAULTY; i++) {
        const struct backends_entry *entry = find(&list, faulty[i][0], 0);
        assert_null(entry->backend);
        expect_reason(entry->reason.text, faulty[i][1]);
    }
    for (size_t i = 2; i < list.n; i++)
        assert_true(strcmp(list.items[i - 1].name, list.items[i].name) < 0);
}

static void uses_the_first_of_two_modules(void **state) {
    struct places places = places_of(*state, MODULES "/second:" MODULES);
    struct backends_list list;
    const struct cm_backend *backend = NULL;
    struct cm_reason reason = {""};
    assert_int_equal(backends_list(&places, *state, &list), 0);
    assert_string_equal(find(&list, "good", 0)->path, MODULES "/second/costmodel-good.so");
    assert_null(find(&list, "good", 1)->backend);
    assert_string_equal(find(&list, "good", 1)->reason.text,
                        MODULES "/second/costmodel-good.so comes first");
    assert_string_equal(find(&list, "roofline", 1)->reason.text,
                        "the built-in one comes first");
    assert_int_equal(backends_find(&places, "good", *state, &backend, &reason), CM_BACKEND_OK);
}

static void reports_why_folders_are_not_searched(void **state) {
    struct places places = places_of(*state, ":modules:/nonexistent:.:" MODULES ":");
    struct backends_list list;
    assert_int_equal(places.n, 4);
    assert_int_equal(backends_list(&places, *state, &list), 0);
    assert_string_equal(places.items[0].reason.text, "is not absolute: not searched");
    assert_string_equal(places.items[1].reason.text, "No such file or directory");
    assert_string_equal(places.items[2].reason.text, "is not absolute: not searched");
    assert_string_equal(places.items[3].reason.text, "");
    assert_non_null(find(&list, "good", 0)->backend);
}

/* A file in the working directory must not be loaded as a module. */
static void never_searches_the_working_directory(void **state) {
    char before[4096];
    struct cm_reason reason = {""};
    const struct cm_backend *backend = NULL;
    struct places places = places_of(*state, "");
    assert_non_null(getcwd(before, sizeof(before)));
    assert_int_equal(chdir(MODULES), 0);
    assert_int_equal(places.n, 0);
    assert_int_equal(backends_find(&places, "good", *state, &backend, &reason),
                     CM_BACKEND_REFUSED);
    places = places_of(*state, ".:::");
    assert_int_equal(backends_find(&places, "good", *state, &backend, &reason),
                     CM_BACKEND_REFUSED);
    assert_int_equal(loader_load("costmodel-good.so", true, &backend, &reason),
                     CM_BACKEND_REFUSED);
    assert_string_equal(reason.text, "the path 'costmodel-good.so' is not absolute");
    assert_int_equal(unsetenv("COSTMODEL_BACKEND_PATH"), 0);
    assert_int_equal(loader_places(*state, &places), 0);
    assert_true(places.n > 0);
    for (size_t i = 0; i < places.n; i++) assert_int_equal(places.items[i].path[0], '/');
    assert_int_equal(chdir(before), 0);
}

static void searches_the_folders_of_the_environment(void **state) {
    struct places places;
    assert_int_equal(setenv("COSTMODEL_BACKEND_PATH", "/a:/b", 1), 0);
    assert_int_equal(loader_places(*state, &places), 0);
    assert_int_equal(unsetenv("COSTMODEL_BACKEND_PATH"), 0);
    assert_int_equal(places.n, 2);
    assert_string_equal(places.items[1].path, "/b");
}

enum refusal { LOADED, WRITABLE, OWNED, STICKY };

static void expect_loading(struct arena *arena, const char *module, bool any_owner,
                           enum refusal want, const char *path) {
    const struct cm_backend *backend = NULL;
    struct cm_reason reason = {""};
    const int status = loader_load(module, any_owner, &backend, &reason);
    const char *text = "";
    if (want == WRITABLE)
        text = arena_printf(arena, "'%s' must not be writable by its group or everyone", path);
    if (want == OWNED)
        text = arena_printf(arena,
                            "'%s' must belong to root or to you, not to user 12345, unless "
                            "COSTMODEL_BACKEND_PATH names its folder",
                            path);
    if (want == STICKY)
        text = arena_printf(arena,
                            "its path in '%s', which others may write, must belong to root or "
                            "to you, not to user 12345",
                            path);
    assert_string_equal(reason.text, text);
    assert_int_equal(status, want == LOADED ? CM_BACKEND_OK : CM_BACKEND_REFUSED);
    assert_int_equal(backend == NULL, want != LOADED);
}

/* A module that others can replace would run their code. Loads a copy of a module from
 * folder/inner with different rights and owners. */
static void refuses_modules_that_others_can_replace(void **state) {
    char folder[TEMPORARY_PATH];
    temporary_path(folder);
    assert_non_null(mkdtemp(folder));
    const char *inner = arena_printf(*state, "%s/inner", folder);
    const char *module = arena_printf(*state, "%s/costmodel-good.so", inner);
    const struct {
        const char *path; /* whose rights or owner differ */
        mode_t mode;
        uid_t owner;
        bool any_owner;
        enum refusal refusal;
    } rows[] = {
        {module, 0755, 0, false, LOADED},
        {module, 0775, 0, true,
         geteuid() == 0 ? WRITABLE : LOADED}, /* else of their own group */
        {inner, 0775, 0, false, geteuid() == 0 ? WRITABLE : LOADED},
        {module, 0757, 0, true, WRITABLE},
        {module, 01757, 0, true, WRITABLE},
        {inner, 0777, 0, true, WRITABLE},
        {inner, 01777, 0, false, LOADED},
        {inner, 01777, 12345, true, LOADED}, /* named, and the module in it is ours */
        {folder, 0777, 0, false, WRITABLE},
        {module, 0755, 12345, false, OWNED},
        {inner, 0755, 12345, false, OWNED},
        {folder, 0755, 12345, false, OWNED},
        {inner, 0755, 12345, true, LOADED},
    };
    assert_int_equal(mkdir(inner, 0755), 0);
    const char *copy =
        arena_printf(*state, "cp " MODULES "/costmodel-good.so %s && chmod 755 %s %s", inner,
                     module, folder);
    assert_int_equal(system(copy), 0); // NOLINT(cert-env33-c)
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const bool other = rows[i].owner != 0;
        if (other && chown(rows[i].path, rows[i].owner, (gid_t)-1) != 0)
            continue; /* not root */
        assert_int_equal(chmod(rows[i].path, rows[i].mode), 0);
        expect_loading(*state, module, rows[i].any_owner, rows[i].refusal, rows[i].path);
        assert_int_equal(chmod(rows[i].path, 0755), 0);
        if (other) assert_int_equal(chown(rows[i].path, 0, (gid_t)-1), 0);
    }
    /* Anyone may put a module into a folder such as /tmp. */
    assert_int_equal(chmod(inner, 01777), 0);
    expect_loading(*state, module, true, LOADED, inner);
    if (chown(module, 12345, (gid_t)-1) == 0)
        expect_loading(*state, module, true, STICKY, inner);
    assert_int_equal(unlink(module), 0);
    assert_int_equal(rmdir(inner), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void checks_the_folder_of_a_link_and_its_target(void **state) {
    char folder[TEMPORARY_PATH];
    temporary_path(folder);
    assert_non_null(mkdtemp(folder));
    const char *link = arena_printf(*state, "%s/costmodel-good.so", folder);
    assert_int_equal(symlink(MODULES "/costmodel-good.so", link), 0);
    expect_loading(*state, link, true, LOADED, folder);
    assert_int_equal(chmod(folder, 0777), 0);
    expect_loading(*state, link, true, WRITABLE, folder);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void accepts_any_owner_only_in_folders_of_the_environment(void **state) {
    struct places places = places_of(*state, "/a");
    assert_true(places.items[0].any_owner);
    assert_int_equal(unsetenv("COSTMODEL_BACKEND_PATH"), 0);
    assert_int_equal(loader_places(*state, &places), 0);
    for (size_t i = 0; i < places.n; i++) assert_false(places.items[i].any_owner);
}

static void does_not_load_non_files(void **state) {
    (void)state;
    const struct cm_backend *backend = NULL;
    struct cm_reason reason = {""};
    assert_int_equal(loader_load("/nonexistent/a.so", true, &backend, &reason),
                     CM_BACKEND_REFUSED);
    assert_string_equal(reason.text, "file '/nonexistent/a.so' not found");
    assert_int_equal(loader_load("/tmp", true, &backend, &reason), CM_BACKEND_REFUSED);
    assert_string_equal(reason.text, "'/tmp' is not a file");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_module_by_name),
        cmocka_unit_test(runs_module_in_subprocess),
        cmocka_unit_test(reports_missing_device_on_open),
        cmocka_unit_test(reports_the_reason_for_each_faulty_module),
        cmocka_unit_test(rejects_invalid_name),
        cmocka_unit_test(lists_all_backends),
        cmocka_unit_test(uses_the_first_of_two_modules),
        cmocka_unit_test(reports_why_folders_are_not_searched),
        cmocka_unit_test(never_searches_the_working_directory),
        cmocka_unit_test(searches_the_folders_of_the_environment),
        cmocka_unit_test(does_not_load_non_files),
        cmocka_unit_test(refuses_modules_that_others_can_replace),
        cmocka_unit_test(checks_the_folder_of_a_link_and_its_target),
        cmocka_unit_test(accepts_any_owner_only_in_folders_of_the_environment),
    };
    return cmocka_run_group_tests(tests, make, end);
}
