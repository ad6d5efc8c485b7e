/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes JSON documents by their schema tables. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct arena;
struct cm_diagnostics;
struct json_document;
struct json_record;

/* Tags of a document that an HTML page embeds, and the id of a profile. */
#define JSON_PAGE_BEGIN   "<script type=\"application/json\" id=\""
#define JSON_PAGE_OPEN    "\">"
#define JSON_PAGE_END     "</script>"
#define JSON_PAGE_PROFILE "costmodel-profile"

/* Reads a document. `text` need not end in NUL; messages name it `name`. `ret` is the address
 * of a pointer, which is set on CM_OK to a new struct of the document's record; the caller
 * frees the arena of this struct. Returns CM_OK, CM_REFUSED or CM_NO_MEMORY. */
int json_document_read(const struct json_document *document, const char *text, size_t size,
                       const char *name, struct cm_diagnostics *diag, void *ret)
    __attribute__((warn_unused_result));

/* Writes a document. in_html: as the content of a script element, in which <, > and & are
 * escaped. Returns CM_OK, CM_IO or CM_NO_MEMORY. */
int json_document_write(const struct json_document *document, const void *base, bool in_html,
                        FILE *out) __attribute__((warn_unused_result));

/* Write and read one record as a line of JSON Lines. `ret` is a zeroed struct of the record,
 * whose texts and lists are put into `arena`. json_line_write returns CM_OK or CM_IO,
 * json_line_read CM_OK, CM_REFUSED or CM_NO_MEMORY. */
int json_line_write(const struct json_record *record, const void *base, FILE *out)
    __attribute__((warn_unused_result));
int json_line_read(const struct json_record *record, const char *text, size_t size,
                   struct arena *arena, struct cm_diagnostics *diag, void *ret)
    __attribute__((warn_unused_result));
