/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts that all pages share. A page is one file without references to others: style,
 * static report, data as JSON, d3 and its script (docs/report.md). Its Content-Security-Policy
 * allows exactly the embedded style and scripts. Names from a model are data: they are escaped
 * here and in json_document_embed.
 */
#ifndef REPORT_HTML_HTML_H
#define REPORT_HTML_HTML_H

#include <stdint.h>
#include <stdio.h>

#include "report/number.h"
#include "report/table/fields.h"
#include "support/text.h"

struct arena;
struct cm_diagnostics;
struct cm_table_options;
struct html_asset;
struct html_assets;
struct json_document;

#define HTML_DATA_SWEEP "costmodel-sweep" /* id of a data script */

struct html {
    FILE *out;
    struct arena *arena;
    struct text words;               /* text of the current element, not written yet */
    const struct html_asset *script; /* additional script of this kind of page; NULL: none */
};

/* Reports an error if the assets lack d3. CM_OK, CM_USAGE. */
int html_check_assets(const struct html_assets *assets, struct cm_diagnostics *diag)
    __attribute__((warn_unused_result));

typedef int html_page_writer(struct html *html, const void *context);

/* Writes a page by `write`, which calls html_begin first and html_end last. CM_OK, CM_USAGE,
 * CM_IO, CM_NO_MEMORY. */
int html_write(html_page_writer *write, const void *context, struct cm_diagnostics *diag,
               FILE *out) __attribute__((warn_unused_result));

/* Writes everything before the first section. `kind` is "profile", "diff", "check" or "sweep",
 * `script` the additional script of this kind or NULL. The title is html->words, which is
 * cleared. */
void html_begin(struct html *html, const char *kind, const struct html_asset *script);
/* Ends the static report; data follow. */
void html_end_report(struct html *html);
/* Writes the scripts and the end of the page. CM_OK, CM_IO. */
int html_end(struct html *html) __attribute__((warn_unused_result));

/* The tags of a data script; its content is written by json_document_embed. */
void html_begin_data(struct html *html, const char *id);
void html_end_data(struct html *html);
/* Writes a document as a data script. CM_OK, CM_IO, CM_NO_MEMORY. */
int html_data(struct html *html, const char *id, const struct json_document *document,
              const void *base) __attribute__((warn_unused_result));

/* Appends the last part of a path to the words. */
void html_append_file(struct html *html, const char *path);

void html_begin_section(struct html *html, const char *id, const char *heading);
void html_end_section(struct html *html);

/* A writer of a text report. */
typedef int html_text_writer(const void *context, FILE *out);

/* Writes a text report as a preformatted element. CM_OK, CM_NO_MEMORY. */
int html_text_report(struct html *html, html_text_writer *write, const void *context)
    __attribute__((warn_unused_result));
/* Writes a text report as the only section of the static report, and ends the static report. */
int html_text_overview(struct html *html, html_text_writer *write, const void *context)
    __attribute__((warn_unused_result));

#define HTML_MAX_ROWS 100 /* of a static table; the scripts show all */

/* Writes a section with a table of the first HTML_MAX_ROWS rows; of modules, only down to
 * `depth` (-1: all). Numbers are rounded, with the exact value in an attribute. CM_OK,
 * CM_USAGE, CM_NO_MEMORY. */
int html_table_section(struct html *html, const struct rows_of *of, const char *id,
                       const char *heading, int depth) __attribute__((warn_unused_result));

/* html_fact writes a row of a two-column table between html_begin_facts and html_end_facts; no
 * row if the value is unknown. */
void html_begin_facts(struct html *html);
void html_fact(struct html *html, const char *label, enum number_unit unit, int64_t value,
               enum number_bound bound);
void html_end_facts(struct html *html);

#endif
