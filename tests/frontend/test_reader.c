/* SPDX-License-Identifier: Apache-2.0 */
/* External data: located by the model, not opened by load, and never outside the model's
 * folder. */
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
#include "support/beneath.h"
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
    path_in(f, "inside/sub", path, sizeof path);
    if (mkdir(path, 0700) != 0) return 1;
    path_in(f, "inside/sub/deep.bin", path, sizeof path);
    write_file(path, "\x03\x00\x00\x00", 4);
    path_in(f, "inside/inner.bin", path, sizeof path);
    if (symlink("sub/../weights.bin", path) != 0) return 1;
    path_in(f, "inside/up", path, sizeof path);
    if (symlink("..", path) != 0) return 1;
    path_in(f, "inside/loop.bin", path, sizeof path);
    if (symlink("loop.bin", path) != 0) return 1;
    path_in(f, "inside/model.onnx", f->model, sizeof f->model);
    *state = f;
    return 0;
}

static int end(void **state) {
    static const char *const names[] = {
        "inside/model.onnx",  "inside/link.bin",     "inside/pipe.bin",
        "inside/weights.bin", "inside/sub/deep.bin", "inside/inner.bin",
        "inside/up",          "inside/loop.bin",     "outside.bin"};
    struct fixture *f = *state;
    char path[TEMPORARY_PATH + 32];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        path_in(f, names[i], path, sizeof path);
        unlink(path);
    }
    path_in(f, "inside/sub", path, sizeof path);
    rmdir(path);
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

struct external_case {
    const char *location;
    const char *offset;
    int64_t want;
    const char *reason;  /* why the data are unreadable; NULL: readable */
    const char *message; /* error of loading; NULL: loaded */
};

static void check_external(const struct fixture *f, const struct external_case *row) {
    const struct bytes model = external_model(f->arena, row->location, row->offset, "4");
    const struct constant *loaded = NULL;
    write_file(f->model, model.data, model.size);
    struct loading loading = load_path(f->model);
    assert_int_equal(loading.status, CM_OK); /* no data file was opened yet */
    const struct constant *constant = value_named(&loading, "w")->constant;
    const char *reason = constant_unreadable(constant, &loading.model->reader);
    const int status =
        constant_load(constant, &loading.model->reader, loading.arena, loading.diag, &loaded);
    if (strcmp(reason ? reason : "", row->reason ? row->reason : "") != 0)
        fail_msg("%s: %s", row->location, reason ? reason : "in reach");
    assert_int_equal(status, row->message ? CM_REFUSED : CM_OK);
    assert_string_equal(loading_message(&loading), row->message ? row->message : "");
    if (row->reason) assert_null(loaded);
    if (row->want) assert_int_equal(constant_int_at(loaded, 0), row->want);
    loading_free(&loading);
}

static void reads_external_data_only_in_the_models_folder(void **state) {
    static const struct external_case rows[] = {
        {"weights.bin", NULL, 1, NULL, NULL},
        {"weights.bin", "4", 2, NULL, NULL},
        {"./weights.bin", "0", 1, NULL, NULL},
        {"sub//deep.bin", "0", 3, NULL, NULL},
        {"weights.bin", "5", 0, NULL,
         "format: cannot read 4 bytes at offset 5 of \"weights.bin\": its size is 8"},
        {"weights.bin", "9223372036854775807", 0, NULL,
         "format: cannot read 4 bytes at offset 9223372036854775807 of \"weights.bin\": its "
         "size is 8"},
        {"gone.bin", NULL, 0, "was not found", NULL},
        {"weights.bin/x", NULL, 0, "was not found", NULL},
        {"../outside.bin", NULL, 0, "leads outside the model's folder", NULL},
        {"a/../../outside.bin", NULL, 0, "leads outside the model's folder", NULL},
        {"/etc/hostname", NULL, 0, "leads outside the model's folder", NULL},
        {"loop.bin", NULL, 0, "is a symbolic link that is not followed", NULL},
        {"pipe.bin", NULL, 0, "is not a regular file", NULL},
        {"sub", NULL, 0, "is not a regular file", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) check_external(*state, &rows[i]);
}

/* With openat2; without it no link is followed (tests/support/test_beneath.c). */
static void follows_links_only_in_the_models_folder(void **state) {
    static const struct external_case rows[] = {
        {"inner.bin", "4", 2, NULL, NULL},
        {"link.bin", NULL, 0, "leads outside the model's folder", NULL},
        {"up/outside.bin", NULL, 0, "leads outside the model's folder", NULL},
    };
    char folder[128];
    path_in(*state, "inside", folder, sizeof folder);
    const int linked = beneath_open(folder, "inner.bin");
    if (linked < 0) skip();
    close(linked);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) check_external(*state, &rows[i]);
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

static void refuses_a_location_with_a_nul_byte(void **state) {
    const struct fixture *f = *state;
    struct bytes graph = graph_of(f->arena, "x", "x");
    struct bytes tensor = tensor_of(f->arena, "w", 6, 1, (const int64_t[]){1});
    struct bytes entry = bytes_new(f->arena);
    put_text(&entry, 1, "location");
    put_varint(&entry, 2 << 3 | 2);
    put_varint(&entry, 13);
    put_raw(&entry, "weights.bin\0x", 13);
    put_message(&tensor, 13, entry);
    put_number(&tensor, 14, 1);
    put_message(&graph, 5, tensor);
    assert_refused(model_of(f->arena, graph),
                   "value: external data of tensor 'w': location must not contain a NUL byte");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_external_data_only_in_the_models_folder),
        cmocka_unit_test(follows_links_only_in_the_models_folder),
        cmocka_unit_test(refuses_malformed_external_data_at_load),
        cmocka_unit_test(refuses_a_location_with_a_nul_byte),
    };
    return cmocka_run_group_tests(tests, make, end);
}
