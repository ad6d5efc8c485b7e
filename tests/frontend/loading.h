/* SPDX-License-Identifier: Apache-2.0 */
/* Loading bytes in a test, and what came of it. */
#ifndef TESTS_FRONTEND_LOADING_H
#define TESTS_FRONTEND_LOADING_H

#include "costmodel/costmodel.h"
#include "encode.h"
#include "ir/graph.h"

struct source;

struct loading {
    struct arena *arena;
    struct cm_diagnostics *diag;
    struct source *source; /* NULL when it could not be opened */
    const struct model *model;
    int status;
};

/* From memory, from a pipe (at most 64 KiB, which it holds without a reader), from a file. A
 * model that loads has passed verify_model. */
struct loading load_memory(const void *data, size_t size);
struct loading load_bytes(struct bytes bytes);
struct loading load_pipe(const void *data, size_t size);
struct loading load_path(const char *path);
void loading_free(struct loading *loading);

/* The first message, "format: the file is empty"; "" when there is none. */
const char *loading_message(const struct loading *loading);
const char *loading_place(const struct loading *loading);
const char *loading_hint(const struct loading *loading);

/* Refused with exactly this first message. */
void assert_refused(struct bytes model, const char *message);
/* The value of that name; its absence is a failure of the test. */
const struct value *value_named(const struct loading *loading, const char *name);

#endif
