/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes JSON documents by their schema tables. */
#ifndef REPORT_JSON_JSON_DOCUMENT_H
#define REPORT_JSON_JSON_DOCUMENT_H

#include <stddef.h>
#include <stdio.h>

struct arena;
struct cm_diagnostics;
struct json_document;
struct json_record;

/* `text` need not end in NUL; `name` is its location in messages. `ret` is the address of a
 * pointer to the struct of the document's record, set on CM_OK; the caller frees its arena.
 * CM_REFUSED, CM_NO_MEMORY. */
int json_document_read(const struct json_document *document, const char *text, size_t size,
                       const char *name, struct cm_diagnostics *diag, void *ret)
    __attribute__((warn_unused_result));

/* Writes a document. CM_OK, CM_IO, CM_NO_MEMORY. */
typedef int json_document_writer(const struct json_document *document, const void *base,
                                 FILE *out);

int json_document_write(const struct json_document *document, const void *base, FILE *out)
    __attribute__((warn_unused_result));
/* The same as the content of a script element of a page: <, > and & are escaped. */
int json_document_embed(const struct json_document *document, const void *base, FILE *out)
    __attribute__((warn_unused_result));

/*
 * Write and read one record as a line of JSON Lines. `ret` is a zeroed struct of the record,
 * whose texts and lists are put into `arena`. json_line_write: CM_OK, CM_IO. json_line_read:
 * CM_OK, CM_REFUSED, CM_NO_MEMORY.
 */
int json_line_write(const struct json_record *record, const void *base, FILE *out)
    __attribute__((warn_unused_result));
int json_line_read(const struct json_record *record, const char *text, size_t size,
                   struct arena *arena, struct cm_diagnostics *diag, void *ret)
    __attribute__((warn_unused_result));

#endif
