/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a subset of TOML 1.0: comments, bare and quoted keys, strings of one line, integers,
 * booleans, local dates, arrays, inline tables, [table] and [[array of tables]]. The rest of
 * TOML is refused with a message that names it: dotted keys, strings of several lines, escapes
 * of code points, floats, integers in another base, times. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "costmodel/status.h"

struct arena;
struct cm_diagnostics;

#define TOML_MAX_BYTES  ((size_t)1 << 20)
#define TOML_MAX_VALUES 10000
#define TOML_MAX_DEPTH  16 /* arrays and inline tables in each other */

enum toml_kind {
    TOML_STRING,
    TOML_INTEGER,
    TOML_BOOL,
    TOML_DATE,
    TOML_ARRAY,
    TOML_TABLE,
    TOML_TABLES, /* of [[name]]: an array of tables */
};

struct toml_value {
    enum toml_kind kind;
    const char *key;  /* NULL: an element of an array, or the root */
    const char *at;   /* "FILE:LINE:COLUMN" of the key, or of the value if it has none */
    const char *text; /* of a scalar: the string, or the decimal digits, "true", "2026-12-31" */
    int64_t integer;
    bool flag;
    struct toml_value *first; /* elements or members, in the order of the file */
    struct toml_value *next;
};

#define toml_each(item, parent)                                                                \
    for (const struct toml_value *item = (parent)->first; (item) != NULL; (item) = (item)->next)

/* Parses `text`, which ends in NUL after `size` bytes; `name` is the file in messages. *ret is
 * the root table, in the arena. CM_OK, CM_REFUSED, CM_NO_MEMORY. */
int toml_parse(const char *text, size_t size, const char *name, struct arena *arena,
               struct cm_diagnostics *diag, const struct toml_value **ret) CM_MUST_CHECK;

/* Returns the member with this key; NULL: none. */
struct toml_value *toml_get(const struct toml_value *table, const char *key);
