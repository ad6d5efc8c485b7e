/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Imports bytes into the IR: skim, decode, import. The same bytes from memory and from a pipe,
 * which cannot seek, must give the same graph, and every graph must satisfy the invariants of
 * the passes.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "costmodel/costmodel.h"
#include "frontend/load.h"
#include "fuzz.h"
#include "ir/print.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/file.h"
#include "support/text.h"
#include "tests/ir/verify.h"

#define MAX_PIPED ((size_t)32 << 10) /* capacity of a pipe without a reader */

struct imported {
    struct arena *arena;
    struct cm_diagnostics *diag;
    struct model *model;
    int status;
};

static struct imported import_from(struct source *source) {
    struct imported imported = {.arena = arena_new("model", 0), .diag = cm_diagnostics_new()};
    FUZZ_REQUIRE(imported.arena != NULL && imported.diag != NULL);
    imported.status = load_model(source, imported.arena, imported.diag, &imported.model);
    fuzz_require_status(imported.status, imported.diag);
    return imported;
}

static void free_imported(struct imported *imported) {
    arena_free(imported->arena);
    cm_diagnostics_free(imported->diag);
}

static const char *printed(const struct imported *imported) {
    struct text text;
    text_init(&text, imported->arena);
    verify_model(imported->model);
    print_model(imported->model, NULL, &text);
    return text_string(&text);
}

/* Returns the path of the read end of a pipe that holds the bytes. */
static int fill_pipe(const uint8_t *data, size_t size, char *path, size_t room) {
    int ends[2];
    FUZZ_REQUIRE(pipe(ends) == 0);
    FUZZ_REQUIRE(write(ends[1], data, size) == (ssize_t)size);
    close(ends[1]);
    snprintf(path, room, "/dev/fd/%d", ends[0]);
    return ends[0];
}

static void compare_with_pipe(const struct imported *imported, const uint8_t *data,
                              size_t size) {
    char path[32];
    struct source *source = NULL;
    struct cm_diagnostics *diag = cm_diagnostics_new();
    FUZZ_REQUIRE(diag != NULL);
    const int end = fill_pipe(data, size, path, sizeof(path));
    FUZZ_REQUIRE(source_open(path, diag, &source) == CM_OK);
    struct imported again = import_from(source);
    FUZZ_REQUIRE(again.status == imported->status);
    if (again.status == CM_OK) FUZZ_REQUIRE(strcmp(printed(imported), printed(&again)) == 0);
    free_imported(&again);
    source_close(source);
    cm_diagnostics_free(diag);
    close(end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct source *source = NULL;
    struct cm_diagnostics *diag = cm_diagnostics_new();
    const double since = fuzz_now();
    FUZZ_REQUIRE(diag != NULL);
    FUZZ_REQUIRE(source_open_memory(data, size, "fuzz.onnx", diag, &source) == CM_OK);
    struct imported imported = import_from(source);
    if (imported.status == CM_OK) (void)printed(&imported);
    if (size <= MAX_PIPED) compare_with_pipe(&imported, data, size);
    free_imported(&imported);
    source_close(source);
    cm_diagnostics_free(diag);
    fuzz_require_fast(since);
    return 0;
}
