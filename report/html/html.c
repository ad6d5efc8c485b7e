/* SPDX-License-Identifier: Apache-2.0 */
/* The pages of profiles, sweeps, comparisons and verdicts. A page is one file without
 * references to others: style, static report, data as JSON, d3 and its script (docs/report.md).
 * Its Content-Security-Policy allows exactly the embedded style and scripts. Names from a model
 * are data: they are escaped here and in json_document_write. End tags that are optional in
 * HTML, for example </td>, are omitted. */
#include "report/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compare/baseline.h"
#include "costmodel/check.h"
#include "costmodel/compare.h"
#include "report/diff/diff_json.h"
#include "report/html/html_assets.h"
#include "report/json/json_document.h"
#include "report/json/json_schema.h"
#include "report/markup.h"
#include "report/table/listing.h"
#include "support/arena.h"
#include "support/arguments.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/file.h"
#include "support/system.h"

#define DATA_SWEEP "costmodel-sweep" /* id of a data script */
#define MAX_ROWS   100               /* of a static table; the scripts show all */

struct html {
    FILE *out;
    struct arena *arena;
    struct text words;               /* text of the current element, not written yet */
    const struct html_asset *script; /* additional script of this kind of page; NULL: none */
};

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

/* Opens a page, which end_page ends. Returns CM_OK, CM_USAGE or CM_NO_MEMORY. */
static int open_page(struct html *html, struct cm_diagnostics *diag, FILE *out) {
    *html = (struct html){.out = out};
    const int status = html_check_assets(&html_assets, diag);
    if (status < 0) return status;
    html->arena = arena_new("page", 0);
    text_init(&html->words, html->arena);
    return html->arena == NULL ? diag_no_memory(diag) : CM_OK;
}

/* Writes the words, escaped, and clears them. */
static void write_words(struct html *html) {
    markup_write(html->out, text_string(&html->words));
    text_clear(&html->words);
}

/* Appends the last part of a path to the words. */
static void append_file(struct html *html, const char *path) {
    text_append_name(&html->words, path + system_folder_length(path));
}

/* Writes everything before the first section. `kind` is "profile", "diff", "check" or "sweep",
 * `script` the additional script of this kind or NULL. The title is html->words, which is
 * cleared. */
static void begin_page(struct html *html, const char *kind, const struct html_asset *script) {
    FILE *out = html->out;
    html->script = script;
    fprintf(out, "<!doctype html>\n<html lang=\"en\" data-kind=\"%s\">\n<head>\n", kind);
    fputs("<meta charset=\"utf-8\">\n", out);
    fprintf(out,
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
            "script-src %s %s%s%s; style-src %s; base-uri 'none'; form-action 'none'\">\n",
            html_assets.d3.hash, html_assets.script.hash, script != NULL ? " " : "",
            script != NULL ? script->hash : "", html_assets.style.hash);
    fprintf(out,
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            "<meta name=\"color-scheme\" content=\"light dark\">\n"
            "<meta name=\"generator\" content=\"costmodel %s\">\n<title>",
            cm_version());
    markup_write(out, text_string(&html->words));
    fprintf(out, " - costmodel</title>\n<style>%s</style>\n</head>\n<body>\n",
            html_assets.style.text);
    fputs("<main id=\"report\">\n<h1>", out);
    write_words(html);
    fputs("</h1>\n", out);
}

/* Ends the static report; data follow. */
static void end_report(struct html *html) {
    fputs("</main>\n<div id=\"app\" hidden></div>\n", html->out);
}

/* Unless `status` is a failure, writes the scripts and the end of the page. Frees the arena.
 * Returns `status`, CM_IO or CM_NO_MEMORY. */
static int end_page(struct html *html, int status) {
    if (status == CM_OK) {
        fprintf(html->out,
                "<!--\n%s-->\n<script type=\"text/plain\" id=\"packed-d3\">%s</script>\n"
                "<script>%s</script>\n",
                html_assets.d3_license, html_assets.d3.text, html_assets.script.text);
        if (html->script != NULL)
            fprintf(html->out, "<script>%s</script>\n", html->script->text);
        fputs("</body>\n</html>\n", html->out);
        status = output_flush(html->out);
    }
    return arena_end(html->arena, status);
}

/* Returns `status` if it is a failure. Else writes a document as a data script and returns
 * CM_OK, CM_IO or CM_NO_MEMORY. */
static int put_data(struct html *html, int status, const char *id,
                    const struct json_document *document, const void *base) {
    if (status != CM_OK) return status;
    fprintf(html->out, JSON_PAGE_BEGIN "%s" JSON_PAGE_OPEN, id);
    status = json_document_write(document, base, true, html->out);
    fputs(JSON_PAGE_END "\n", html->out);
    return status;
}

static void begin_section(struct html *html, const char *id, const char *heading) {
    fprintf(html->out, "<section id=\"%s\">\n<h2>%s</h2>\n", id, heading);
}

static void end_section(struct html *html) {
    fputs("</section>\n", html->out);
}

/* Starts a text report in memory, which becomes a preformatted element. Returns CM_OK or
 * CM_NO_MEMORY. */
static int begin_text(struct memory_stream *report) {
    return memory_stream_open(report) ? CM_OK : CM_NO_MEMORY;
}

/* Writes the report that the caller wrote with `status` as an element. Returns `status`, or
 * CM_NO_MEMORY if the report did not fit into memory. */
static int end_text(struct html *html, struct memory_stream *report, const char *attributes,
                    int status) {
    if (!memory_stream_close(report)) status = CM_NO_MEMORY;
    if (status == CM_OK) {
        fprintf(html->out, "<pre%s>\n", attributes);
        markup_write(html->out, report->text);
        fputs("</pre>\n", html->out);
    }
    free(report->text);
    return status;
}

/* Begins the first section, which end_overview ends with a text report. Returns CM_OK or
 * CM_NO_MEMORY. */
static int begin_overview(struct html *html, struct memory_stream *report) {
    begin_section(html, "overview", "Overview");
    return begin_text(report);
}

static int end_overview(struct html *html, struct memory_stream *report, int status) {
    status = end_text(html, report, "", status);
    end_section(html);
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

/* Writes a table of the first MAX_ROWS rows, without modules deeper than `depth` (-1: all).
 * Numbers are rounded, with the exact value in an attribute. Returns CM_OK, CM_USAGE or
 * CM_NO_MEMORY. */
static int put_table(struct html *html, const struct rows_of *of, int depth) {
    struct cm_table_options options;
    struct listing listing;
    cm_table_options_init(&options);
    options.depth = depth;
    options.top = MAX_ROWS;
    const int status = listing_open(&options, *of, NULL, NULL, &listing);
    if (status != CM_OK) return status;
    if (listing.n_rows == 0) return listing_close(&listing, CM_OK);
    fputs("<table class=\"rows\">\n<thead><tr>", html->out);
    for (size_t i = 0; i < listing.n_fields; i++) {
        const struct field *field = &listing.fields[i];
        fprintf(html->out, "<th scope=\"col\"%s>", field->is_text ? " class=\"text\"" : "");
        text_append(&html->words, field->heading);
        write_words(html);
    }
    fputs("\n<tbody>\n", html->out);
    for (size_t row = 0; row < listing.n_rows; row++) {
        for (size_t i = 0; i < listing.n_fields; i++) {
            struct cell cell;
            listing_cell(&listing, row, i, &cell);
            fputs(i == 0 ? "<tr><th scope=\"row\"" : "<td", html->out);
            put_exact(html, &cell);
            fputs(">", html->out);
            if (cell.kind == CELL_TEXT)
                text_append_name(&html->words, field_words(&listing.fields[i], &cell));
            else if (cell.kind != CELL_NONE)
                cell_append_shown(&html->words, &cell, NUMBERS_SI, true);
            write_words(html);
        }
        fputs("\n", html->out);
    }
    fputs("</table>\n", html->out);
    if (listing.n_left_out > 0) fprintf(html->out, "<p>and %zu more\n", listing.n_left_out);
    return listing_close(&listing, CM_OK);
}

/* Returns `status` if it is a failure, else writes a section with a table. */
static int put_table_section(struct html *html, int status, const struct rows_of *of,
                             const char *id, const char *heading, int depth) {
    if (status != CM_OK) return status;
    begin_section(html, id, heading);
    status = put_table(html, of, depth);
    end_section(html);
    return status;
}

/* Writes a row of a two-column table; nothing if the value is unknown. */
static void put_fact(struct html *html, const char *label, enum number_unit unit, int64_t value,
                     enum number_bound bound) {
    const struct cell cell = {
        .kind = CELL_FIGURE, .unit = unit, .value = value, .bound = bound};
    if (!is_known(value)) return;
    fputs("<tr><th scope=\"row\">", html->out);
    text_append_name(&html->words, label);
    write_words(html);
    fputs("<td", html->out);
    put_exact(html, &cell);
    fputs(">", html->out);
    cell_append_shown(&html->words, &cell, NUMBERS_SI, true);
    write_words(html);
    fputs("\n", html->out);
}

/* Writes the main figures and the text report without modules, which have a table of their
 * own. Returns CM_OK or CM_NO_MEMORY. */
static int put_overview(struct html *html, const struct cm_result *result) {
    const struct cm_memory *memory = &result->memory;
    const enum number_bound of_arena = memory->upper_bound ? NUMBER_AT_MOST : NUMBER_NO_BOUND;
    struct cm_text_options options;
    struct memory_stream text;
    if (begin_overview(html, &text) != CM_OK) return CM_NO_MEMORY;
    fputs("<table class=\"facts\">\n", html->out);
    for (size_t i = 0; i < n_columns; i++)
        if (column_is_there(&columns[i], result) &&
            column_is_printed(&columns[i], &result->totals))
            put_fact(html, columns[i].heading, columns[i].unit,
                     column_get(&columns[i], &result->totals),
                     column_bound(&columns[i], &result->totals));
    if (result->time_error.present) {
        put_fact(html, "low end of latency for 8 of 10 networks", NUMBER_TIME,
                 result->time_error.latency_low_ps, NUMBER_NO_BOUND);
        put_fact(html, "high end of latency for 8 of 10 networks", NUMBER_TIME,
                 result->time_error.latency_high_ps, NUMBER_NO_BOUND);
    }
    if (result->measure != NULL && result->measure->quantization != NULL) {
        put_fact(html, "latency of the float model", NUMBER_TIME,
                 result->measure->quantization->float_latency_ps, NUMBER_NO_BOUND);
        put_fact(html, "conversions to int8 and back", NUMBER_TIME,
                 result->measure->quantization->conversion_ps, NUMBER_NO_BOUND);
    }
    put_fact(html, "peak activations", NUMBER_BYTES, memory->peak_activation_bytes,
             memory->peak_upper_bound ? NUMBER_AT_MOST : NUMBER_NO_BOUND);
    put_fact(html, "arena", NUMBER_BYTES, memory->arena_bytes, of_arena);
    put_fact(html, "required memory", NUMBER_BYTES, memory->required_bytes, of_arena);
    if (result->measure != NULL)
        put_fact(html, "device memory", NUMBER_BYTES, result->measure->memory_bytes,
                 NUMBER_NO_BOUND);
    fputs("</table>\n", html->out);
    cm_text_options_init(&options);
    options.detailed = false;
    options.depth = 0;
    return end_overview(html, &text,
                        report_write_text(&(struct report){
                            .result = result, .text = &options, .out = text.out}));
}

/* Writes the estimate and the parts of the device memory, with their sources; nothing without
 * an estimate. */
static void put_device_memory(struct html *html, const struct cm_device_memory *memory) {
    if (!memory->present) return;
    begin_section(html, "device-memory", "Device memory of a training process");
    fputs("<table class=\"facts\">\n", html->out);
    put_fact(html, "estimate", NUMBER_BYTES, memory->bytes, NUMBER_NO_BOUND);
    put_fact(html, "low end for 9 of 10 processes", NUMBER_BYTES, memory->low_bytes,
             NUMBER_NO_BOUND);
    put_fact(html, "high end for 9 of 10 processes", NUMBER_BYTES, memory->high_bytes,
             NUMBER_NO_BOUND);
    for (size_t i = 0; i < memory->n_parts; i++) {
        if (!is_known(memory->parts[i].bytes)) continue;
        put_fact(html, memory->parts[i].name, NUMBER_BYTES, memory->parts[i].bytes,
                 NUMBER_NO_BOUND);
        fputs("<td>", html->out);
        text_append_name(&html->words, memory->parts[i].source);
        write_words(html);
        fputs("\n", html->out);
    }
    fputs("</table>\n", html->out);
    end_section(html);
}

static size_t modules_down_to(const struct cm_result *result, int depth) {
    size_t n = 0;
    for (size_t i = 0; i < result->n_modules; i++) n += result->modules[i].depth <= depth;
    return n;
}

/* Returns the largest depth down to which there are at most MAX_ROWS modules; at least 1. */
static int depth_of_rows(const struct cm_result *result) {
    int depth = 1;
    while (modules_down_to(result, depth) < result->n_modules &&
           modules_down_to(result, depth + 1) <= MAX_ROWS)
        depth++;
    return depth;
}

/* Writes the profiles of the rows after that of `first`, as data scripts with the index of the
 * row in their id: "costmodel-profile-3". */
static int put_variants(struct html *html, int status, const struct cm_sweep *sweep,
                        const struct cm_result *first) {
    char id[sizeof JSON_PAGE_PROFILE + 24];
    for (size_t i = 0; i < sweep->n_rows; i++) {
        if (sweep->results[i] == NULL || sweep->results[i] == first) continue;
        (void)snprintf(id, sizeof id, JSON_PAGE_PROFILE "-%zu", i);
        status = put_data(html, status, id, &json_profile, sweep->results[i]);
    }
    return status;
}

/* Writes the page of a profile; `sweep` adds a table of several variants, NULL none. */
static int write_profile(const struct cm_result *result, const struct cm_sweep *sweep,
                         struct cm_diagnostics *diag, FILE *out) {
    const struct rows_of modules = {ROWS_MODULES, result, NULL};
    const struct rows_of operators = {ROWS_OPERATORS, result, NULL};
    const struct rows_of batches = {ROWS_BATCHES, NULL, sweep};
    struct html html;
    int status = open_page(&html, diag, out);
    if (status < 0) return status;
    append_file(&html, result->model.path); /* title "resnet50.onnx, batch 32, NVIDIA H200" */
    if (sweep != NULL)
        text_printf(&html.words, ", %zu variants", sweep->n_rows);
    else if (is_known(result->options.batch))
        text_printf(&html.words, ", batch %" PRId64, result->options.batch);
    if (!sweep && cm_result_timed(result) && result->measure->device[0] != '\0') {
        text_append(&html.words, ", ");
        text_append_name(&html.words, result->measure->device);
    }
    begin_page(&html, "profile", sweep != NULL ? &html_assets.sweep_script : NULL);
    status = put_overview(&html, result);
    put_device_memory(&html, &result->device_memory);
    if (sweep != NULL)
        status = put_table_section(&html, status, &batches, "batches", "Variants", -1);
    status =
        put_table_section(&html, status, &modules, "modules", "Modules", depth_of_rows(result));
    status = put_table_section(&html, status, &operators, "operators", "Operators", -1);
    end_report(&html);
    status = put_data(&html, status, JSON_PAGE_PROFILE, &json_profile, result);
    if (sweep != NULL) status = put_data(&html, status, DATA_SWEEP, &json_sweep, sweep);
    if (sweep != NULL) status = put_variants(&html, status, sweep, result);
    return end_page(&html, status);
}

/* Writes the page of merged sweeps: a table of the first combinations, and all as data. */
static int write_sweep(const struct cm_sweep *sweep, struct cm_diagnostics *diag, FILE *out) {
    const struct rows_of rows = {ROWS_BATCHES, NULL, sweep};
    struct html html;
    int status = open_page(&html, diag, out);
    if (status < 0) return status;
    text_append(&html.words, "sweep");
    begin_page(&html, "sweep", &html_assets.sweep_script);
    status = put_table_section(&html, CM_OK, &rows, "combinations", "Combinations", -1);
    end_report(&html);
    status = put_data(&html, status, DATA_SWEEP, &json_sweep, sweep);
    return end_page(&html, status);
}

int report_write_html(const struct report *report) {
    const struct cm_sweep *sweep = report->sweep;
    for (size_t i = 0; report->result == NULL && sweep->results && i < sweep->n_rows; i++)
        if (sweep->results[i] != NULL)
            return write_profile(sweep->results[i], sweep, report->diag, report->out);
    if (report->result == NULL) return write_sweep(sweep, report->diag, report->out);
    return write_profile(report->result, NULL, report->diag, report->out);
}

/* Mark of a verdict in the title of its page, by cm_verdict_exit. */
static const char *const marks[] = {"✓ ", "✗ ", "", "? "};

/* Attributes of the element with the Markdown that a button of the page copies. */
#define MARKDOWN " id=\"costmodel-markdown\" hidden"

static int put_diff(struct html *html, const struct cm_diff *diff,
                    const struct cm_diff_options *options) {
    fputs(JSON_PAGE_BEGIN "costmodel-diff" JSON_PAGE_OPEN, html->out);
    const int status = diff_json_write(diff, options, true, html->out);
    fputs(JSON_PAGE_END "\n", html->out);
    return status;
}

/* Writes the figures of a baseline at the batch of the result, and their differences, as data;
 * nothing if there are none. */
static int put_baseline(struct html *html, const struct cm_baseline *baseline,
                        const struct cm_result *result, struct cm_diagnostics *diag) {
    const struct cm_baseline_profile *profile =
        baseline == NULL ? NULL : baseline_find(baseline, result->options.batch);
    struct cm_diff_options options;
    struct cm_result old;
    struct cm_diff *diff = NULL;
    if (profile == NULL) return CM_OK;
    cm_diff_options_init(&options);
    int status = baseline_result(baseline, profile, html->arena, diag, &old);
    status =
        status == CM_OK ? put_data(html, status, "costmodel-old", &json_profile, &old) : status;
    if (status == CM_OK) status = cm_diff_make(&old, result, diag, &diff);
    if (status == CM_OK) status = put_diff(html, diff, &options);
    cm_diff_free(diff);
    return status;
}

/* Writes the page of a regression gate: the text report, verdict, profile and baseline. */
int cm_verdict_write_html(const struct cm_verdict *verdict, const struct cm_result *result,
                          const struct cm_baseline *baseline,
                          struct cm_diagnostics *diagnostics, FILE *out) {
    struct cm_text_options options;
    struct memory_stream text;
    struct html html;
    if (verdict == NULL || out == NULL) return diag_null(diagnostics);
    if (verdict->n_models > 0)
        return diag_error(diagnostics, DIAG_USAGE, "a page shows one model, got %zu",
                          verdict->n_models);
    int status = open_page(&html, diagnostics, out);
    if (status < 0) return status;
    text_append(&html.words, marks[cm_verdict_exit(verdict)]);
    text_append(&html.words, "check of ");
    append_file(&html, verdict->model);
    begin_page(&html, "check", &html_assets.diff_script);
    cm_text_options_init(&options);
    status = begin_overview(&html, &text);
    if (status == CM_OK)
        status = end_overview(&html, &text, cm_verdict_write_text(verdict, &options, text.out));
    end_report(&html);
    if (status == CM_OK) status = begin_text(&text);
    if (status == CM_OK)
        status = end_text(&html, &text, MARKDOWN, cm_verdict_write_markdown(verdict, text.out));
    if (result != NULL) {
        status = put_data(&html, status, JSON_PAGE_PROFILE, &json_profile, result);
        if (status == CM_OK) status = put_baseline(&html, baseline, result, diagnostics);
    }
    status = put_data(&html, status, "costmodel-check", &json_verdict, verdict);
    return end_page(&html, status);
}

/* Writes the page of a comparison: the text report, both profiles and the differences. */
int cm_diff_write_html(const struct cm_diff *diff, const struct cm_diff_options *options,
                       struct cm_diagnostics *diagnostics, FILE *out) {
    struct memory_stream text;
    struct html html;
    options = ARGUMENTS_TAKE(cm_diff_options, options, diff && out, diagnostics);
    if (options == NULL) return CM_USAGE;
    int status = open_page(&html, diagnostics, out);
    if (status < 0) return status;
    append_file(&html, diff->old_result->model.path);
    text_append(&html.words, " and ");
    append_file(&html, diff->new_result->model.path);
    begin_page(&html, "diff", &html_assets.diff_script);
    struct cm_diff_options plain = *options;
    plain.color = false;
    status = begin_overview(&html, &text);
    if (status == CM_OK)
        status = end_overview(&html, &text, cm_diff_write_text(diff, &plain, text.out));
    end_report(&html);
    if (status == CM_OK) status = begin_text(&text);
    if (status == CM_OK)
        status =
            end_text(&html, &text, MARKDOWN, cm_diff_write_markdown(diff, options, text.out));
    status = put_data(&html, status, "costmodel-old", &json_profile, diff->old_result);
    status = put_data(&html, status, "costmodel-new", &json_profile, diff->new_result);
    if (status == CM_OK) status = put_diff(&html, diff, options);
    return end_page(&html, status);
}
