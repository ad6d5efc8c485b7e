/* SPDX-License-Identifier: Apache-2.0 */
/* Parts that all pages share: head, sections, tables, embedded data and scripts. End tags that
 * are optional in HTML, for example </td>, are omitted. */
#include "report/html/html.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "costmodel/costmodel.h"
#include "report/html/html_assets.h"
#include "report/json/json_document.h"
#include "report/json/json_page.h"
#include "report/markup.h"
#include "report/table/listing.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/file.h"

#include "support/banned.h"

int html_check_assets(const struct html_assets *assets, struct cm_diagnostics *diag) {
    if (assets->d3.text != NULL) return CM_OK;
    const int status =
        diag_error(diag, DIAG_USAGE, "format html requires a build with d3, this one has none");
    diag_hint(diag, "install d3 5 (Debian and Ubuntu: node-d3), or give cmake "
                    "-DCOSTMODEL_D3=d3.min.js, and build again");
    return status;
}

int cm_html_check(struct cm_diagnostics *diagnostics) {
    return html_check_assets(&html_assets, diagnostics);
}

int html_write(html_page_writer *write, const void *context, struct cm_diagnostics *diag,
               FILE *out) {
    struct html html = {.out = out};
    int status = html_check_assets(&html_assets, diag);
    if (status < 0) return status;
    html.arena = arena_new("page", 0);
    if (html.arena == NULL) return diag_no_memory(diag);
    text_init(&html.words, html.arena);
    status = write(&html, context);
    return arena_end(html.arena, status);
}

/* Writes the words, escaped, and clears them. */
static void write_words(struct html *html) {
    markup_write(html->out, text_string(&html->words));
    text_clear(&html->words);
}

void html_append_file(struct html *html, const char *path) {
    const char *slash = strrchr(path, '/');
    text_append_name(&html->words, slash == NULL ? path : slash + 1);
}

void html_begin(struct html *html, const char *kind, const struct html_asset *script) {
    FILE *out = html->out;
    const char *title = text_string(&html->words);
    html->script = script;
    fprintf(out, "<!doctype html>\n<html lang=\"en\" data-kind=\"%s\">\n<head>\n", kind);
    fputs("<meta charset=\"utf-8\">\n", out);
    fprintf(out,
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
            "script-src %s %s%s%s; style-src %s; base-uri 'none'; form-action 'none'\">\n",
            html_assets.d3.hash, html_assets.script.hash, script != NULL ? " " : "",
            script != NULL ? script->hash : "", html_assets.style.hash);
    fputs("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n"
          "<meta name=\"generator\" content=\"costmodel " CM_VERSION_STRING "\">\n<title>",
          out);
    markup_write(out, title);
    fprintf(out, " - costmodel</title>\n<style>%s</style>\n</head>\n<body>\n",
            html_assets.style.text);
    fputs("<main id=\"report\">\n<h1>", out);
    write_words(html);
    fputs("</h1>\n", out);
}

void html_end_report(struct html *html) {
    fputs("</main>\n<div id=\"app\" hidden></div>\n", html->out);
}

static void put_script(struct html *html, const struct html_asset *script) {
    fprintf(html->out, "<script>%s</script>\n", script->text);
}

int html_end(struct html *html) {
    fprintf(html->out, "<!--\n%s-->\n", html_assets.d3_license);
    put_script(html, &html_assets.d3);
    put_script(html, &html_assets.script);
    if (html->script != NULL) put_script(html, html->script);
    fputs("</body>\n</html>\n", html->out);
    return output_flush(html->out);
}

void html_begin_data(struct html *html, const char *id) {
    fprintf(html->out, JSON_PAGE_BEGIN "%s" JSON_PAGE_OPEN, id);
}

void html_end_data(struct html *html) {
    fputs(JSON_PAGE_END "\n", html->out);
}

int html_data(struct html *html, const char *id, const struct json_document *document,
              const void *base) {
    html_begin_data(html, id);
    const int status = json_document_embed(document, base, html->out);
    html_end_data(html);
    return status;
}

void html_begin_section(struct html *html, const char *id, const char *heading) {
    fprintf(html->out, "<section id=\"%s\">\n<h2>%s</h2>\n", id, heading);
}

void html_end_section(struct html *html) {
    fputs("</section>\n", html->out);
}

int html_text_report(struct html *html, html_text_writer *write, const void *context) {
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (memory == NULL) return CM_NO_MEMORY;
    int status = write(context, memory);
    const bool failed = ferror(memory) != 0;
    if (fclose(memory) != 0 || failed) status = CM_NO_MEMORY;
    if (status == CM_OK) {
        fputs("<pre>\n", html->out);
        markup_write(html->out, text);
        fputs("</pre>\n", html->out);
    }
    free(text);
    return status;
}

int html_text_overview(struct html *html, html_text_writer *write, const void *context) {
    html_begin_section(html, "overview", "Overview");
    const int status = html_text_report(html, write, context);
    html_end_section(html);
    html_end_report(html);
    return status;
}

/* Writes the exact value of a known figure, for example ` data-value="14068146176"`. */
static void put_exact(struct html *html, const struct cell *cell) {
    if (cell->kind != CELL_FIGURE || !cell_is_known(cell)) return;
    fputs(" data-value=\"", html->out);
    cell_append(&html->words, cell, NUMBERS_EXACT);
    write_words(html);
    fputs("\"", html->out);
}

static void put_cell(struct html *html, const struct field *field, const struct cell *cell) {
    put_exact(html, cell);
    fputs(">", html->out);
    if (cell->kind == CELL_TEXT) {
        const char *words = text_string(cell->words);
        text_append_name(&html->words, *words == '\0' && field->empty ? field->empty : words);
    } else if (cell->kind != CELL_NONE) {
        cell_append_shown(&html->words, cell, NUMBERS_SI, true);
    }
    write_words(html);
}

static void put_row(struct html *html, struct listing *listing, size_t row) {
    for (size_t i = 0; i < listing->n_fields; i++) {
        struct cell cell;
        listing_cell(listing, row, i, &cell);
        fputs(i == 0 ? "<tr><th scope=\"row\"" : "<td", html->out);
        put_cell(html, &listing->fields[i], &cell);
    }
    fputs("\n", html->out);
}

static int write_table(struct html *html, const struct rows_of *of,
                       const struct cm_table_options *options) {
    struct listing listing;
    const int status =
        listing_make(options, of, fields_usual(of->rows), html->arena, NULL, &listing);
    if (status != CM_OK || listing.n_rows == 0) return status;
    fputs("<table class=\"rows\">\n<thead><tr>", html->out);
    for (size_t i = 0; i < listing.n_fields; i++) {
        const struct field *field = &listing.fields[i];
        fprintf(html->out, "<th scope=\"col\"%s>", field->is_text ? " class=\"text\"" : "");
        text_append(&html->words, field->heading);
        write_words(html);
    }
    fputs("\n<tbody>\n", html->out);
    for (size_t row = 0; row < listing.n_rows; row++) put_row(html, &listing, row);
    fputs("</table>\n", html->out);
    if (listing.n_left_out > 0) fprintf(html->out, "<p>and %zu more\n", listing.n_left_out);
    return CM_OK;
}

int html_table_section(struct html *html, const struct rows_of *of, const char *id,
                       const char *heading, int depth) {
    struct cm_table_options options;
    cm_table_options_init(&options);
    options.depth = depth;
    options.top = HTML_MAX_ROWS;
    html_begin_section(html, id, heading);
    const int status = write_table(html, of, &options);
    html_end_section(html);
    return status;
}

void html_begin_facts(struct html *html) {
    fputs("<table class=\"facts\">\n", html->out);
}

void html_fact(struct html *html, const char *label, enum number_unit unit, int64_t value,
               enum number_bound bound) {
    const struct cell cell = {
        .kind = CELL_FIGURE, .unit = unit, .value = value, .bound = bound};
    if (!is_known(value)) return;
    fputs("<tr><th scope=\"row\">", html->out);
    text_append(&html->words, label);
    write_words(html);
    fputs("<td", html->out);
    put_exact(html, &cell);
    fputs(">", html->out);
    cell_append_shown(&html->words, &cell, NUMBERS_SI, true);
    write_words(html);
    fputs("\n", html->out);
}

void html_end_facts(struct html *html) {
    fputs("</table>\n", html->out);
}
