/* SPDX-License-Identifier: Apache-2.0 */
/* The module tree as boxes and arrows, down to a depth, for Graphviz and Mermaid. Parents
 * precede their children in a result, so one pass over the modules suffices. */
#include "report/report.h"

#include <string.h>

#include "report/table/listing.h"
#include "support/arena.h"
#include "support/file.h"
#include "support/text.h"

/* The syntax of a diagram language. */
struct diagram_language {
    const char *begin;
    const char *label; /* text between the name of a box and its label */
    const char *label_end;
    const char *arrow; /* text between two boxes */
    const char *arrow_end;
    const char *end;
    const char *line_end; /* line break within a label */
    /* Appends text without control characters, escaped for a label. */
    void (*append)(struct text *label, const char *words);
};

static const char usual_columns[] = "name,type,params,macs,macs_share";

/* Appends text as a line of a label: safe for a terminal, cut, and escaped for the language. */
static void append_line(struct text *label, const struct diagram_language *language,
                        const char *words) {
    if (label->length > 0) text_append(label, language->line_end);
    language->append(label, text_label(label->arena, words));
}

/* Appends `MACs 14.1 GMACs`, or a text without its heading; nothing for an empty cell. */
static void append_cell(struct text *label, const struct diagram_language *language,
                        const struct field *field, const struct cell *cell,
                        enum number_style style) {
    struct text figure = {.arena = label->arena};
    if (cell->kind == CELL_NONE) return;
    if (cell->kind == CELL_TEXT) {
        if (*text_string(cell->words) != '\0')
            append_line(label, language, text_string(cell->words));
        return;
    }
    text_printf(&figure, "%s ", field->heading);
    cell_append_shown(&figure, cell, style, false);
    append_line(label, language, text_string(&figure));
}

/* Writes a box and the arrow from its parent. */
static void put_module(struct listing *listing, const struct diagram_language *language,
                       size_t row, enum number_style style, size_t n_below, FILE *out) {
    const size_t index = listing->rows[row];
    const struct cm_module *module = &listing->of.result->modules[index];
    struct text label = {.arena = listing->arena};
    for (size_t i = 0; i < listing->n_fields; i++) {
        struct cell cell;
        listing_cell(listing, row, i, &cell);
        append_cell(&label, language, &listing->fields[i], &cell, style);
    }
    if (n_below > 0) {
        struct text words = {.arena = listing->arena};
        text_printf(&words, "%zu modules below", n_below);
        append_line(&label, language, text_string(&words));
    }
    fprintf(out, "  m%zu%s%s%s", index, language->label, text_string(&label),
            language->label_end);
    if (module->parent == CM_NO_INDEX) return;
    fprintf(out, "  m%zu%sm%zu%s", module->parent, language->arrow, index, language->arrow_end);
}

static int write_diagram(const struct diagram_language *language, const struct report *report) {
    const struct cm_result *result = report->result;
    struct cm_table_options tree = *report->table;
    struct listing listing;
    FILE *out = report->out;
    tree.rows = CM_ROWS_MODULES;
    tree.sort = NULL;
    tree.n_filters = 0;
    tree.top = 0;
    const int status = listing_open(&tree, (struct rows_of){ROWS_MODULES, result, NULL},
                                    usual_columns, report->diag, &listing);
    if (status != CM_OK) return status;
    size_t *below = arena_array(listing.arena, result->n_modules,
                                sizeof(*below)); /* number of descendants */
    if (below == NULL) return listing_close(&listing, CM_NO_MEMORY);
    for (size_t i = result->n_modules; i-- > 1;) {
        const size_t parent = result->modules[i].parent;
        if (parent < i) below[parent] += below[i] + 1;
    }
    fputs(language->begin, out);
    for (size_t row = 0; row < listing.n_rows; row++) {
        const size_t index = listing.rows[row];
        const bool is_cut = result->modules[index].depth == tree.depth;
        put_module(&listing, language, row, number_style_of(tree.units, NUMBERS_SI),
                   is_cut ? below[index] : 0, out);
    }
    fputs(language->end, out);
    return listing_close(&listing, output_flush(out));
}

/* Graphviz: strings end at a quote; \ starts an escape and & an entity. */
static void append_dot(struct text *label, const char *words) {
    for (; *words != '\0'; words++) {
        if (*words == '"' || *words == '\\') text_append(label, "\\");
        if (*words == '&')
            text_append(label, "&amp;");
        else
            text_append_n(label, words, 1);
    }
}

static const struct diagram_language dot = {
    .begin = "digraph model {\n"
             "  rankdir=LR;\n"
             "  node [shape=box, fontname=\"sans-serif\"];\n",
    .label = " [label=\"",
    .label_end = "\"];\n",
    .arrow = " -> ",
    .arrow_end = ";\n",
    .end = "}\n",
    .line_end = "\\n",
    .append = append_dot,
};

int report_write_dot(const struct report *report) {
    return write_diagram(&dot, report);
}

/* Mermaid: labels are HTML; ASCII characters not in `plain` become entities such as #35;. */
static void append_mermaid(struct text *label, const char *words) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789 ._-,/";
    for (; *words != '\0'; words++) {
        if ((unsigned char)*words >= 0x80 || strchr(plain, *words) != NULL)
            text_append_n(label, words, 1);
        else
            text_printf(label, "#%d;", *words);
    }
}

static const struct diagram_language mermaid = {
    .begin = "flowchart LR\n",
    .label = "[\"",
    .label_end = "\"]\n",
    .arrow = " --> ",
    .arrow_end = "\n",
    .end = "",
    .line_end = "<br>",
    .append = append_mermaid,
};

int report_write_mermaid(const struct report *report) {
    return write_diagram(&mermaid, report);
}
