/* SPDX-License-Identifier: Apache-2.0 */
/* Loads bytes in a test. */
#pragma once

#include "costmodel/costmodel.h"
#include "encode.h"
#include "ir/graph.h"

struct source;

struct loading {
    struct arena *arena;
    struct cm_diagnostics *diag;
    struct source *source; /* NULL if it could not be opened */
    const struct model *model;
    int status;
};

/* Load from memory, from a pipe (at most 64 KiB, its capacity without a reader) or from a file.
 * A model that loads has passed verify_model. */
struct loading load_memory(const void *data, size_t size);
struct loading load_bytes(struct bytes bytes);
struct loading load_pipe(const void *data, size_t size);
struct loading load_path(const char *path);
void loading_free(struct loading *loading);

/* Returns the first message, "format: the file is empty"; "" if there is none. */
const char *loading_message(const struct loading *loading);
const char *loading_place(const struct loading *loading);
const char *loading_hint(const struct loading *loading);

/* Expects a refusal with exactly this first message. */
void assert_refused(struct bytes model, const char *message);
/* Returns the value of that name; the test fails if there is none. */
const struct value *value_named(const struct loading *loading, const char *name);
