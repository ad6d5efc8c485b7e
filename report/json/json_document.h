/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes JSON documents by their schema tables. */
#ifndef REPORT_JSON_JSON_DOCUMENT_H
#define REPORT_JSON_JSON_DOCUMENT_H

#include <stddef.h>
#include <stdio.h>

struct cm_diagnostics;
struct json_document;

/* The text of a document. */
struct json_text {
    const char *text; /* need not end in NUL */
    size_t size;
    const char *name; /* the location in messages */
};

/* On CM_OK *ret is the struct of the document's record; the caller frees its arena. CM_REFUSED,
 * CM_NO_MEMORY. */
int json_document_read(const struct json_document *document, const struct json_text *text,
                       struct cm_diagnostics *diag, void **ret)
    __attribute__((warn_unused_result));

/* CM_OK, CM_IO, CM_NO_MEMORY. */
int json_document_write(const struct json_document *document, const void *base, FILE *out)
    __attribute__((warn_unused_result));

#endif
