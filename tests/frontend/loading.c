/* SPDX-License-Identifier: Apache-2.0 */
/* See loading.h. */
#include "loading.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "frontend/load.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/file.h"
#include "tests/ir/verify.h"

#define PIPE_HOLDS 65536

static struct loading begin(void) {
    struct loading loading = {.arena = arena_new("model", 0), .diag = cm_diagnostics_new()};
    BUG_ON(loading.arena == NULL || loading.diag == NULL);
    return loading;
}

static void finish(struct loading *loading) {
    struct model *model = NULL;
    if (loading->status != CM_OK) return;
    loading->status = load_model(loading->source, loading->arena, loading->diag, &model);
    loading->model = model;
    if (loading->status == CM_OK) verify_model(model);
}

struct loading load_memory(const void *data, size_t size) {
    struct loading loading = begin();
    loading.status = source_open_memory(data, size, "test.onnx", loading.diag, &loading.source);
    finish(&loading);
    return loading;
}

struct loading load_bytes(struct bytes bytes) {
    return load_memory(bytes.data, bytes.size);
}

struct loading load_path(const char *path) {
    struct loading loading = begin();
    loading.status = source_open(path, loading.diag, &loading.source);
    finish(&loading);
    return loading;
}

struct loading load_pipe(const void *data, size_t size) {
    char path[32];
    int ends[2];
    assert_true(size <= PIPE_HOLDS);
    assert_int_equal(pipe(ends), 0);
    if (size > 0) assert_int_equal(write(ends[1], data, size), size);
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    struct loading loading = load_path(path);
    close(ends[0]);
    return loading;
}

void loading_free(struct loading *loading) {
    source_close(loading->source);
    arena_free(loading->arena);
    cm_diagnostics_free(loading->diag);
}

const char *loading_message(const struct loading *loading) {
    const struct cm_diagnostic *first = cm_diagnostics_get(loading->diag, 0);
    if (first == NULL) return "";
    const char *text =
        arena_printf(loading->diag->arena, "%s: %s", first->code, first->message);
    BUG_ON(text == NULL);
    return text;
}

const char *loading_place(const struct loading *loading) {
    const struct cm_diagnostic *first = cm_diagnostics_get(loading->diag, 0);
    return first == NULL ? "" : first->place;
}

const char *loading_hint(const struct loading *loading) {
    const struct cm_diagnostic *first = cm_diagnostics_get(loading->diag, 0);
    return first == NULL || first->hint == NULL ? "" : first->hint;
}

void assert_refused(struct bytes model, const char *message) {
    struct loading loading = load_bytes(model);
    assert_string_equal(loading_message(&loading), message);
    assert_int_equal(loading.status, CM_REFUSED);
    assert_null(loading.model);
    loading_free(&loading);
}

const struct value *value_named(const struct loading *loading, const char *name) {
    for (size_t i = 0; i < loading->model->n_values; i++) {
        const struct value *value = &loading->model->values[i];
        if (strcmp(value->name, name) == 0) return value;
    }
    fail_msg("no value '%s'", name);
    return NULL;
}
