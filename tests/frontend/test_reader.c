/* SPDX-License-Identifier: Apache-2.0 */
/* External data: named by the model, never opened at load, and never outside its folder. */
#include "frontend/reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "loading.h"
#include "support/arena.h"
#include "tests/temporary.h"

struct fixture {
    struct arena *arena;
    char folder[TEMPORARY_PATH]; /* holds inside/ (the model's) and outside.bin */
    char model[TEMPORARY_PATH + 32];
};

static void path_in(const struct fixture *f, const char *name, char *path, size_t size) {
    assert_true((size_t)snprintf(path, size, "%s/%s", f->folder, name) < size);
}

static void write_file(const char *path, const void *data, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    fclose(file);
}

static int make(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    char path[TEMPORARY_PATH + 32];
    if (f == NULL) return 1;
    f->arena = arena_new("test", 0);
    temporary_path(f->folder);
    if (f->arena == NULL || mkdtemp(f->folder) == NULL) return 1;
    path_in(f, "inside", path, sizeof path);
    if (mkdir(path, 0700) != 0) return 1;
    path_in(f, "outside.bin", path, sizeof path);
    write_file(path, "\x09\x00\x00\x00", 4);
    path_in(f, "inside/weights.bin", path, sizeof path);
    write_file(path, "\x01\x00\x00\x00\x02\x00\x00\x00", 8);
    path_in(f, "inside/link.bin", path, sizeof path);
    if (symlink("../outside.bin", path) != 0) return 1;
    path_in(f, "inside/pipe.bin", path, sizeof path);
    if (mkfifo(path, 0600) != 0) return 1;
    path_in(f, "inside/model.onnx", f->model, sizeof f->model);
    *state = f;
    return 0;
}

static int end(void **state) {
    static const char *const names[] = {"inside/model.onnx", "inside/link.bin",
                                        "inside/pipe.bin", "inside/weights.bin", "outside.bin"};
    struct fixture *f = *state;
    char path[TEMPORARY_PATH + 32];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        path_in(f, names[i], path, sizeof path);
        unlink(path);
    }
    path_in(f, "inside", path, sizeof path);
    rmdir(path);
    rmdir(f->folder);
    arena_free(f->arena);
    free(f);
    return 0;
}

static void put_entry(struct bytes *tensor, const char *key, const char *value) {
    struct bytes entry = bytes_new(tensor->arena);
    if (value == NULL) return;
    put_text(&entry, 1, key);
    put_text(&entry, 2, value);
    put_message(tensor, 13, entry);
}

/* A model whose initializer "w" is one int32 of another file. */
static struct bytes external_model(struct arena *arena, const char *location,
                                   const char *offset, const char *length) {
    struct bytes graph = graph_of(arena, "x", "x");
    struct bytes tensor = tensor_of(arena, "w", 6, 1, (const int64_t[]){1});
    put_entry(&tensor, "location", location);
    put_entry(&tensor, "offset", offset);
    put_entry(&tensor, "length", length);
    put_number(&tensor, 14, 1);
    put_message(&graph, 5, tensor);
    return model_of(arena, graph);
}

static const struct {
    const char *location;
    const char *offset;
    int status;
    int64_t want;
    const char *message; /* after the folder's name where there is a %s */
} external[] = {
    {"weights.bin", NULL, CM_OK, 1, NULL},
    {"weights.bin", "4", CM_OK, 2, NULL},
    {"./weights.bin", "0", CM_OK, 1, NULL},
    {"weights.bin", "5", CM_REFUSED, 0,
     "format: cannot read 4 bytes at offset 5 of \"%s/inside/weights.bin\": its size is 8"},
    {"weights.bin", "9223372036854775807", CM_REFUSED, 0,
     "format: cannot read 4 bytes at offset 9223372036854775807 of \"%s/inside/weights.bin\": "
     "its "
     "size is 8"},
    {"gone.bin", NULL, CM_IO, 0,
     "io: cannot open \"%s/inside/gone.bin\": No such file or directory"},
    {"../outside.bin", NULL, CM_REFUSED, 0,
     "value: external data '../outside.bin' must be inside the model's folder"},
    {"a/../../outside.bin", NULL, CM_REFUSED, 0,
     "value: external data 'a/../../outside.bin' must be inside the model's folder"},
    {"/etc/hostname", NULL, CM_REFUSED, 0,
     "value: external data '/etc/hostname' must be inside the model's folder"},
    {"link.bin", NULL, CM_REFUSED, 0,
     "value: external data 'link.bin' must not link outside the model's folder"},
    {"pipe.bin", NULL, CM_REFUSED, 0, "value: external data 'pipe.bin' must be a regular file"},
};

static void reads_external_data_only_in_the_models_folder(void **state) {
    const struct fixture *f = *state;
    for (size_t i = 0; i < sizeof external / sizeof external[0]; i++) {
        const struct bytes model =
            external_model(f->arena, external[i].location, external[i].offset, "4");
        const struct constant *loaded = NULL;
        char want[512] = "";
        write_file(f->model, model.data, model.size);
        struct loading loading = load_path(f->model);
        assert_int_equal(loading.status, CM_OK); /* nothing was opened yet */
        const int status =
            constant_load(value_named(&loading, "w")->constant, &loading.model->reader,
                          loading.arena, loading.diag, &loaded);
        assert_int_equal(status, external[i].status);
        if (status == CM_OK) assert_int_equal(constant_int_at(loaded, 0), external[i].want);
        if (external[i].message != NULL) {
            const char *mark = strstr(external[i].message, "%s");
            const size_t before = mark == NULL ? strlen(external[i].message)
                                               : (size_t)(mark - external[i].message);
            snprintf(want, sizeof want, "%.*s%s%s", (int)before, external[i].message,
                     mark == NULL ? "" : f->folder, mark == NULL ? "" : mark + 2);
        }
        assert_string_equal(loading_message(&loading), want);
        loading_free(&loading);
    }
}

static void refuses_malformed_external_data_at_load(void **state) {
    static const struct {
        const char *location;
        const char *offset;
        const char *length;
        const char *message;
    } cases[] = {
        {NULL, "0", "4", "value: external data of tensor 'w' has no location"},
        {"w.bin", "-1", "4",
         "value: external data of tensor 'w': offset must be a number, got '-1'"},
        {"w.bin", "0x10", "4",
         "value: external data of tensor 'w': offset must be a number, got '0x10'"},
        {"w.bin", "0", "99999999999999999999",
         "value: external data of tensor 'w': length must be a number, got "
         "'99999999999999999999'"},
    };
    const struct fixture *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_refused(
            external_model(f->arena, cases[i].location, cases[i].offset, cases[i].length),
            cases[i].message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_external_data_only_in_the_models_folder),
        cmocka_unit_test(refuses_malformed_external_data_at_load),
    };
    return cmocka_run_group_tests(tests, make, end);
}
