/* SPDX-License-Identifier: Apache-2.0 */
/* Reads TOML from standard input and prints it as JSON, for test_toml: dates as {"date": TEXT},
 * integers as {"integer": TEXT}. Exit status 1 and the message on standard error if the text is
 * refused. */
#include <stdio.h>

#include "costmodel/costmodel.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/file.h"
#include "support/json/json_writer.h"
#include "support/toml.h"

static void write_value(struct json_writer *json, const struct toml_value *value) {
    const bool is_list = value->kind == TOML_ARRAY || value->kind == TOML_TABLES;
    if (value->kind == TOML_STRING) {
        json_write_string(json, value->text);
    } else if (value->kind == TOML_BOOL) {
        json_write_bool(json, value->flag);
    } else if (value->kind == TOML_DATE || value->kind == TOML_INTEGER) {
        json_begin(json, '{');
        json_key_string(json, value->kind == TOML_DATE ? "date" : "integer", value->text);
        json_end(json, '}');
    } else {
        json_begin(json, is_list ? '[' : '{');
        toml_each(item, value) {
            if (!is_list) json_write_key(json, item->key);
            write_value(json, item);
        }
        json_end(json, is_list ? ']' : '}');
    }
}

int main(void) {
    struct arena *arena = arena_new("toml", 0);
    struct cm_diagnostics *diag = cm_diagnostics_new();
    const struct toml_value *root = NULL;
    struct json_writer json = {.out = stdout};
    char *text = NULL;
    size_t size = 0;
    int status = source_read_file("-", TOML_MAX_BYTES, arena, diag, &text, &size);
    if (status == CM_OK) status = toml_parse(text, size, "file.toml", arena, diag, &root);
    if (status == CM_OK) write_value(&json, root);
    for (size_t i = 0; i < cm_diagnostics_count(diag); i++)
        fprintf(stderr, "%s\n", cm_diagnostics_get(diag, i)->message);
    cm_diagnostics_free(diag);
    arena_free(arena);
    return status == CM_OK ? 0 : 1;
}
