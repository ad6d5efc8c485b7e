/* SPDX-License-Identifier: Apache-2.0 */
/* The chart of --memory-curve: live bytes over nodes. A column shows the maximum over its
 * nodes, so that the peak is visible. The line below names the modules of the nodes. */
#include <stdlib.h>

#include "costmodel/costmodel.h"
#include "report/text/labels.h"
#include "report/text/sections.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/sort.h"
#include "support/text.h"

#define N_ROWS        10
#define LABEL_COLUMNS 12  /* "1234.56 MB |" */
#define DEFAULT_WIDTH 100 /* if lines are not folded */
#define LEAST_COLUMNS 20
#define LEAST_NAME    4 /* columns of a module's name, including its mark */
#define MAX_PEAKS     5 /* modules whose peaks are listed */

/* Fill levels in eighths of a row. */
static const char *const blocks[] = {" ",      "\u2581", "\u2582", "\u2583", "\u2584",
                                     "\u2585", "\u2586", "\u2587", "\u2588"};
static const char *const letters[] = {" ", ".", ".", ".", ":", ":", ":", ":", "#"};

struct chart {
    struct page *page;
    const struct cm_result *result;
    size_t n_columns;
    int64_t max;        /* bytes of the largest column */
    size_t peak_column; /* the first such column */
};

/* Returns the index of the first point of the curve that falls into the column. */
static size_t first_point(const struct chart *chart, size_t column) {
    return column * chart->result->memory.n_curve / chart->n_columns;
}

static int64_t column_bytes(const struct chart *chart, size_t column) {
    const struct cm_curve_point *curve = chart->result->memory.curve;
    const size_t first = first_point(chart, column);
    const size_t end = first_point(chart, column + 1);
    int64_t max = 0;
    for (size_t i = first; i < end || i == first; i++)
        if (is_known(curve[i].bytes) && curve[i].bytes > max) max = curve[i].bytes;
    return max;
}

/* Returns the height of a column in eighths of a row; at least 1 if it has any bytes. */
static int eighths(const struct chart *chart, size_t column) {
    double share = (double)column_bytes(chart, column) / (double)chart->max;
    int n = (int)(share * N_ROWS * 8 + 0.5);
    return n == 0 && share > 0 ? 1 : n;
}

/* Writes a line of the chart, which is as wide as the page and never folded. */
static void write_line(struct page *page, enum style style, const struct text *line) {
    size_t length = line->length;
    const char *string = text_string(line);
    while (length > 0 && string[length - 1] == ' ') length--;
    page_line(page, style, "%.*s", (int)length, string);
}

static void write_edge(struct page *page, const char *label, const char *edge) {
    page_print(page, STYLE_SHARE, "%s", label);
    page_indent(page, page->column < LABEL_COLUMNS ? LABEL_COLUMNS - page->column : 1);
    page_print(page, STYLE_SHARE, "%s", edge);
}

static void write_row(const struct chart *chart, int row) {
    struct page *page = chart->page;
    const char *const *glyphs = page->options->unicode ? blocks : letters;
    struct text line = {.arena = page->arena};
    for (size_t column = 0; column < chart->n_columns; column++) {
        const int filled = eighths(chart, column) - 8 * row;
        text_append(&line, glyphs[filled < 0 ? 0 : filled > 8 ? 8 : filled]);
    }
    write_edge(page,
               row == N_ROWS - 1       ? page_number(page, NUMBER_BYTES, chart->max)
               : row == N_ROWS / 2 - 1 ? page_number(page, NUMBER_BYTES, chart->max / 2)
                                       : "",
               "|");
    write_line(page, STYLE_PLAIN, &line);
}

/* Returns the module of depth 1 that contains the first node of the column, or the root. */
static size_t column_module(const struct chart *chart, size_t column) {
    const struct cm_result *result = chart->result;
    size_t node = result->memory.curve[first_point(chart, column)].node;
    size_t module = node < result->n_nodes ? result->nodes[node].module : 0;
    while (module < result->n_modules && result->modules[module].depth > 1)
        module = result->modules[module].parent;
    return module < result->n_modules ? module : 0;
}

/* Returns the end of the run of columns from `column` that belong to the same module; columns
 * of the root do not interrupt it. */
static size_t run_end(const struct chart *chart, size_t column) {
    size_t module = column_module(chart, column);
    size_t end = column + 1;
    for (size_t at = end; at < chart->n_columns; at++) {
        size_t next = column_module(chart, at);
        if (next == module) end = at + 1;
        if (next != module && (module == 0 || next != 0)) break;
    }
    return end;
}

/* Appends `|layer1`, cut to the columns [from, to); blanks for the root, or if the columns are
 * too few. */
static void append_run(const struct chart *chart, size_t from, size_t to, struct text *line) {
    size_t module = column_module(chart, from);
    size_t used = 0;
    if (chart->result->modules[module].depth == 1 && to - from >= LEAST_NAME) {
        const char *name = chart->result->modules[module].name;
        const char *shown =
            arena_strndup(chart->page->arena, name, text_cut_length(name, to - from - 1));
        if (shown == NULL) return;
        size_t before = line->length;
        text_append(line, "|");
        text_append_name(line, shown);
        used = line->length - before;
    }
    for (; used < to - from; used++) text_append(line, " ");
}

static int compare_peaks(const void *a, const void *b) {
    const struct cm_module *left = *(const struct cm_module *const *)a;
    const struct cm_module *right = *(const struct cm_module *const *)b;
    if (left->peak_activation_bytes != right->peak_activation_bytes)
        return left->peak_activation_bytes > right->peak_activation_bytes ? -1 : 1;
    return left < right ? -1 : left > right;
}

/* Writes `module peaks:       layer1 9.63 MB, layer2 8.03 MB` */
static void write_peaks(struct page *page, const struct cm_result *result) {
    const struct cm_module **modules =
        arena_array(page->arena, result->n_modules, sizeof(const struct cm_module *));
    size_t n = 0;
    for (size_t i = 0; modules && i < result->n_modules; i++)
        if (result->modules[i].depth == 1 && is_known(result->modules[i].peak_activation_bytes))
            modules[n++] = &result->modules[i];
    if (n == 0) return;
    sort_stable(modules, n, sizeof(const struct cm_module *), compare_peaks);
    label_list(page, "module peaks", ", ", 0);
    for (size_t i = 0; i < n && i < MAX_PEAKS; i++)
        page_add(page, "%s %s", modules[i]->name,
                 page_number(page, NUMBER_BYTES, modules[i]->peak_activation_bytes));
    page_end_line(page);
    label_rest(page, n, MAX_PEAKS);
}

static void write_caption(struct page *page, const struct cm_result *result) {
    const struct cm_memory *memory = &result->memory;
    page_list(page, " ", 0);
    page_words(page, STYLE_PLAIN, "Live bytes of activations and inputs during each of the");
    page_add(page, "%zu", memory->n_curve);
    page_words(page, STYLE_PLAIN, "nodes; a column shows the maximum of its nodes.");
    if (memory->peak_node < result->n_nodes) {
        const struct cm_node *node = &result->nodes[memory->peak_node];
        page_words(page, STYLE_PLAIN, "The peak is above ^, at node");
        page_add(page, "%zu,", memory->peak_node);
        page_add(page, "%s", *node->name == '\0' ? node->op : node->name);
    }
    page_end_line(page);
    page_end_line(page);
}

void curve_write(struct page *page, const struct cm_result *result) {
    size_t width = page->options->width > 0 ? (size_t)page->options->width : DEFAULT_WIDTH;
    struct chart chart = {.page = page, .result = result, .n_columns = LEAST_COLUMNS};
    if (result->memory.n_curve == 0 || result->n_modules == 0) return;
    if (width > LEAST_COLUMNS + LABEL_COLUMNS + 1) chart.n_columns = width - LABEL_COLUMNS - 1;
    for (size_t column = 0; column < chart.n_columns; column++) {
        int64_t bytes = column_bytes(&chart, column);
        if (bytes <= chart.max) continue;
        chart.max = bytes;
        chart.peak_column = column;
    }
    if (chart.max == 0) return;
    page_end_line(page);
    page_rule(page, "Memory Curve");
    write_caption(page, result);
    for (int row = N_ROWS; row-- > 0;) write_row(&chart, row);
    struct text line = {.arena = page->arena};
    for (size_t column = 0; column < chart.n_columns; column++)
        text_append(&line, column == chart.peak_column ? "^" : "-");
    write_edge(page, "0 B", "+");
    write_line(page, STYLE_SHARE, &line);
    text_clear(&line);
    for (size_t from = 0; from < chart.n_columns;) {
        const size_t to = run_end(&chart, from);
        append_run(&chart, from, to, &line);
        from = to;
    }
    page_indent(page, LABEL_COLUMNS + 1);
    write_line(page, STYLE_NAME, &line);
    write_peaks(page, result);
}
