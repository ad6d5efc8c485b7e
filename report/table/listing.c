/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the options into columns and filters, then selects the rows. */
#include "report/table/listing.h"

#include <stdlib.h>
#include <string.h>

#include "costmodel/costmodel.h"
#include "report/table/columns.h"
#include "support/arena.h"
#include "support/arguments.h"
#include "support/diag.h"
#include "support/sort.h"

/* Adds the metrics of a sweep that a word of the usual columns stands for (fields_usual). */
static int add_metrics(struct listing *listing, const char *word, enum rows rows,
                       struct cm_diagnostics *diag) {
    const bool timed = text_starts_with(word, "@times");
    const bool parts = text_starts_with(word, "@all");
    int status = CM_OK;
    for (size_t i = 0; i < n_columns && status == CM_OK; i++) {
        const struct column *column = &columns[i];
        if (!column->of_batch || column->timed != timed || (column->part && !parts)) continue;
        status = filter_find_field(column->key, strlen(column->key), rows, listing->arena, diag,
                                   &listing->fields[listing->n_fields++]);
    }
    return status;
}

/* Reads keys separated by commas, or "all": all columns but shares, which other columns
 * determine. `is_usual`: the keys were not given by the user. */
static int read_columns(struct listing *listing, const char *keys, bool is_usual,
                        enum rows rows, struct cm_diagnostics *diag) {
    struct arena *arena = listing->arena;
    struct field field;
    size_t capacity = 1;
    if (text_equal(keys, "all")) {
        while (field_at(rows, capacity, arena, &field)) capacity++;
        listing->fields = arena_array(arena, capacity, sizeof(*listing->fields));
        for (size_t i = 0; !arena_failed(arena) && field_at(rows, i, arena, &field); i++)
            if (!text_ends_with(field.key, "_share"))
                listing->fields[listing->n_fields++] = field;
        return arena_failed(arena) ? diag_no_memory(diag) : CM_OK;
    }
    for (const char *at = keys; *at != '\0'; at++)
        capacity += *at == ',' ? 1 : *at == '@' ? n_columns : 0;
    listing->fields = arena_array(arena, capacity, sizeof(*listing->fields));
    if (listing->fields == NULL) return diag_no_memory(diag);
    for (const char *at = keys; at != NULL;) {
        const size_t length = strcspn(at, ",");
        const int status = is_usual && *at == '@'
                               ? add_metrics(listing, at, rows, diag)
                               : filter_find_field(at, length, rows, arena, diag,
                                                   &listing->fields[listing->n_fields++]);
        if (status != CM_OK) return status;
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    return CM_OK;
}

/* Reads "macs" or "macs:asc". By default, figures descend and texts ascend. */
static int read_sort(struct listing *listing, const char *text, enum rows rows,
                     struct cm_diagnostics *diag) {
    if (text == NULL) return CM_OK;
    const size_t length = strcspn(text, ":");
    const char *order = text[length] == ':' ? text + length + 1 : NULL;
    const int status =
        filter_find_field(text, length, rows, listing->arena, diag, &listing->sort);
    if (status != CM_OK) return status;
    if (order && !text_equal(order, "asc") && !text_equal(order, "desc"))
        return diag_error(diag, DIAG_USAGE,
                          "sort must be COLUMN, COLUMN:asc or COLUMN:desc, got '%s'", text);
    listing->is_sorted = true;
    listing->is_ascending = order ? text_equal(order, "asc") : listing->sort.is_text;
    return CM_OK;
}

/* Reads the filters, and --depth N as the filter depth<=N. */
static int read_filters(struct listing *listing, const struct cm_table_options *options,
                        enum rows rows, struct cm_diagnostics *diag) {
    struct arena *arena = listing->arena;
    listing->filters = arena_array(arena, options->n_filters + 1, sizeof(*listing->filters));
    if (listing->filters == NULL) return diag_no_memory(diag);
    for (size_t i = 0; i < options->n_filters; i++) {
        const int status = filter_parse(options->filters[i], rows, arena, diag,
                                        &listing->filters[listing->n_filters++]);
        if (status != CM_OK) return status;
    }
    if (options->depth < 0) return CM_OK;
    if (rows == ROWS_OPERATORS || rows == ROWS_BATCHES || rows == ROWS_LAYERS)
        return diag_error(diag, DIAG_USAGE, "%s have no depth", rows_names[rows]);
    const char *depth = arena_printf(arena, "depth<=%d", options->depth);
    if (depth == NULL) return diag_no_memory(diag);
    return filter_parse(depth, rows, arena, diag, &listing->filters[listing->n_filters++]);
}

/* Parses the options into columns, sort key and filters. `usual`: keys of the default columns.
 * Returns CM_OK, CM_USAGE or CM_NO_MEMORY. */
static int read_options(const struct cm_table_options *options, enum rows rows,
                        const char *usual, struct arena *arena, struct cm_diagnostics *diag,
                        struct listing *ret) {
    *ret = (struct listing){.arena = arena, .words = {.arena = arena}};
    const bool is_usual = options->columns == NULL;
    int status = read_columns(ret, is_usual ? usual : options->columns, is_usual, rows, diag);
    if (status == CM_OK) status = read_sort(ret, options->sort, rows, diag);
    return status == CM_OK ? read_filters(ret, options, rows, diag) : status;
}

static bool is_there(const struct field *field, const struct rows_of *of) {
    return field->needs == NULL || field->needs->is_met(of);
}

static int check_there(const struct field *field, const struct rows_of *of,
                       struct cm_diagnostics *diag) {
    if (is_there(field, of)) return CM_OK;
    return diag_error(diag, DIAG_USAGE, "column '%s' requires %s", field->key,
                      field->needs->words);
}

/* Rejects columns that the user named if the profile does not have them; omits default columns
 * that it does not have. */
static int check_fields(struct listing *listing, const struct rows_of *of, bool is_named,
                        struct cm_diagnostics *diag) {
    size_t n = 0;
    int status = CM_OK;
    for (size_t i = 0; i < listing->n_fields && status == CM_OK; i++) {
        if (is_named) status = check_there(&listing->fields[i], of, diag);
        if (is_there(&listing->fields[i], of)) listing->fields[n++] = listing->fields[i];
    }
    listing->n_fields = n;
    if (status == CM_OK && listing->is_sorted) status = check_there(&listing->sort, of, diag);
    for (size_t i = 0; i < listing->n_filters && status == CM_OK; i++)
        status = check_there(&listing->filters[i].field, of, diag);
    return status;
}

static bool is_chosen(struct listing *listing, size_t row) {
    for (size_t i = 0; i < listing->n_filters; i++) {
        struct cell cell;
        field_get(&listing->filters[i].field, &listing->of, row, &listing->words, &cell);
        if (!filter_holds(&listing->filters[i], &cell)) return false;
    }
    return true;
}

/* The sort key of a row; `order` is 1 for ascending, -1 for descending. */
struct sort_key {
    size_t row;
    int order;
    bool is_known;
    bool is_integer;
    int64_t integer;
    double real;
    const char *text;
};

/* Unknown figures come last. The sort is stable. */
static int compare_keys(const void *left, const void *right) {
    const struct sort_key *a = left;
    const struct sort_key *b = right;
    int order = 0;
    if (a->is_known != b->is_known) return a->is_known ? -1 : 1;
    if (a->is_known && a->text && b->text)
        order = strcmp(a->text, b->text);
    else if (a->is_known && a->is_integer && b->is_integer)
        order = (a->integer > b->integer) - (a->integer < b->integer);
    else if (a->is_known)
        order = (a->real > b->real) - (a->real < b->real);
    return order != 0 ? a->order * order : (a->row > b->row) - (a->row < b->row);
}

static bool sort_rows(struct listing *listing) {
    struct sort_key *keys = arena_array(listing->arena, listing->n_rows, sizeof(*keys));
    if (keys == NULL) return false;
    for (size_t i = 0; i < listing->n_rows; i++) {
        struct cell cell;
        field_get(&listing->sort, &listing->of, listing->rows[i], &listing->words, &cell);
        keys[i] = (struct sort_key){
            .row = listing->rows[i],
            .order = listing->is_ascending ? 1 : -1,
            .is_known = cell_is_known(&cell),
            .is_integer = cell.kind == CELL_COUNT || cell.kind == CELL_FIGURE,
            .integer = cell.value,
        };
        if (cell.kind == CELL_TEXT)
            keys[i].text = arena_strdup(listing->arena, text_string(&listing->words));
        else if (keys[i].is_known)
            keys[i].real = cell_real(&cell);
        if (cell.kind == CELL_TEXT && keys[i].text == NULL) return false;
    }
    if (listing->n_rows > 0) sort_stable(keys, listing->n_rows, sizeof(*keys), compare_keys);
    for (size_t i = 0; i < listing->n_rows; i++) listing->rows[i] = keys[i].row;
    return true;
}

static int make(const struct cm_table_options *options, const struct rows_of *of,
                const char *usual, struct arena *arena, struct cm_diagnostics *diag,
                struct listing *ret) {
    int status = read_options(options, of->rows, usual, arena, diag, ret);
    if (status != CM_OK) return status;
    const bool is_named = options->columns && !text_equal(options->columns, "all");
    status = check_fields(ret, of, is_named, diag);
    if (status != CM_OK) return status;
    ret->of = *of;
    ret->rows = arena_array(arena, rows_count(of), sizeof(*ret->rows));
    if (ret->rows == NULL) return diag_no_memory(diag);
    for (size_t row = 0; row < rows_count(of); row++)
        if (is_chosen(ret, row)) ret->rows[ret->n_rows++] = row;
    if (ret->is_sorted && !sort_rows(ret)) return diag_no_memory(diag);
    if (options->top > 0 && ret->n_rows > options->top) {
        ret->n_left_out = ret->n_rows - options->top;
        ret->n_rows = options->top;
    }
    return ret->words.failed ? diag_no_memory(diag) : CM_OK;
}

int listing_open(const struct cm_table_options *options, struct rows_of of, const char *usual,
                 struct cm_diagnostics *diag, struct listing *ret) {
    if (of.rows == ROWS_LAYERS && of.sweep == NULL)
        return diag_error(diag, DIAG_USAGE, "rows of layers require a sweep");
    struct arena *arena = arena_new("listing", 0);
    if (arena == NULL) return CM_NO_MEMORY;
    const int status =
        make(options, &of, usual ? usual : fields_usual(of.rows), arena, diag, ret);
    return status == CM_OK ? CM_OK : arena_end(arena, status);
}

int listing_close(struct listing *listing, int status) {
    return arena_end(listing->arena, status);
}

static const enum rows rows_of_option[] = {
    [CM_ROWS_MODULES] = ROWS_MODULES,
    [CM_ROWS_NODES] = ROWS_NODES,
    [CM_ROWS_OPERATORS] = ROWS_OPERATORS,
    [CM_ROWS_LAYERS] = ROWS_LAYERS,
};

struct rows_of listing_rows(const struct report *report) {
    const enum cm_rows rows = report->table->rows;
    const bool of_batches = report->sweep != NULL && rows != CM_ROWS_LAYERS;
    return (struct rows_of){of_batches ? ROWS_BATCHES : rows_of_option[rows], report->result,
                            report->sweep};
}

int cm_table_options_check(const struct cm_table_options *options, bool of_sweep,
                           struct cm_diagnostics *diagnostics) {
    options = ARGUMENTS_TAKE(cm_table_options, options, true, diagnostics);
    if (options == NULL) return CM_USAGE;
    const bool of_batches = of_sweep && options->rows != CM_ROWS_LAYERS;
    const enum rows rows = of_batches ? ROWS_BATCHES : rows_of_option[options->rows];
    const struct column *metric = NULL;
    struct listing listing;
    int status = columns_find_sum(options->metric, diagnostics, &metric);
    if (status != CM_OK) return status;
    struct arena *arena = arena_new("options", 0);
    if (arena == NULL) return diag_no_memory(diagnostics);
    status = read_options(options, rows, fields_usual(rows), arena, diagnostics, &listing);
    status = arena_end(arena, status);
    return diag_finish(diagnostics, status);
}

void listing_cell(struct listing *listing, size_t row, size_t column, struct cell *ret) {
    field_get(&listing->fields[column], &listing->of, listing->rows[row], &listing->words, ret);
}

const size_t *listing_ranks(const struct listing *listing) {
    size_t *ranks = arena_array(listing->arena, listing->n_fields, sizeof(*ranks));
    for (size_t i = 0; ranks != NULL && i < listing->n_fields; i++)
        ranks[i] = fields_rank(&listing->fields[i]);
    return ranks;
}
