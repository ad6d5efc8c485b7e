/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the options into columns and filters, then selects the rows. */
#include "report/table/listing.h"

#include <stdlib.h>
#include <string.h>

#include "costmodel/costmodel.h"
#include "report/graph/folded.h"
#include "support/arena.h"
#include "support/diag.h"

#include "support/banned.h"

/* Adds all columns except shares, which other columns determine. */
static int add_all(struct listing *listing, enum rows rows, struct arena *arena,
                   struct cm_diagnostics *diag) {
    struct field field;
    for (size_t i = 0; field_at(rows, i, arena, &field); i++)
        if (!text_ends_with(field.key, "_share")) listing->fields[listing->n_fields++] = field;
    return field.key == NULL ? diag_no_memory(diag) : CM_OK;
}

static size_t count_fields(enum rows rows, struct arena *arena) {
    struct field field;
    size_t n = 0;
    while (field_at(rows, n, arena, &field)) n++;
    return n;
}

static size_t count_commas(const char *text) {
    size_t n = 0;
    for (; *text != '\0'; text++) n += *text == ',';
    return n;
}

static int add_named(struct listing *listing, const char *keys, enum rows rows,
                     struct cm_diagnostics *diag) {
    for (const char *at = keys; at != NULL;) {
        const size_t length = strcspn(at, ",");
        struct field *field = &listing->fields[listing->n_fields];
        const int status = filter_find_field(at, length, rows, listing->arena, diag, field);
        if (status != CM_OK) return status;
        listing->n_fields++;
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    return CM_OK;
}

static int read_columns(struct listing *listing, const char *keys, enum rows rows,
                        struct cm_diagnostics *diag) {
    const bool is_all = text_equal(keys, "all");
    const size_t capacity =
        is_all ? count_fields(rows, listing->arena) : count_commas(keys) + 1;
    listing->fields = arena_array(listing->arena, capacity, sizeof(*listing->fields));
    if (arena_failed(listing->arena)) return diag_no_memory(diag); /* or count_fields failed */
    return is_all ? add_all(listing, rows, listing->arena, diag)
                  : add_named(listing, keys, rows, diag);
}

/* "macs", "macs:asc". By default figures descend and texts ascend. */
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

/* --depth N is read as the filter depth<=N. */
static int read_filters(struct listing *listing, const struct cm_table_options *options,
                        enum rows rows, struct cm_diagnostics *diag) {
    struct arena *arena = listing->arena;
    const char *depth = NULL;
    int status = CM_OK;
    listing->filters = arena_array(arena, options->n_filters + 1, sizeof(*listing->filters));
    if (listing->filters == NULL) return diag_no_memory(diag);
    for (size_t i = 0; i < options->n_filters && status == CM_OK; i++)
        status = filter_parse(options->filters[i], rows, arena, diag,
                              &listing->filters[listing->n_filters++]);
    if (status != CM_OK || options->depth < 0) return status;
    if (rows == ROWS_OPERATORS || rows == ROWS_BATCHES || rows == ROWS_LAYERS)
        return diag_error(diag, DIAG_USAGE, "%s have no depth", rows_names[rows]);
    depth = arena_printf(arena, "depth<=%d", options->depth);
    if (depth == NULL) return diag_no_memory(diag);
    return filter_parse(depth, rows, arena, diag, &listing->filters[listing->n_filters++]);
}

/*
 * Parses the options into columns, sort key and filters. `usual`: keys of the default columns.
 * CM_OK, CM_USAGE, CM_NO_MEMORY.
 */
static int read_options(const struct cm_table_options *options, enum rows rows,
                        const char *usual, struct arena *arena, struct cm_diagnostics *diag,
                        struct listing *ret) {
    struct listing listing = {.arena = arena};
    text_init(&listing.words, arena);
    const char *keys = options->columns ? options->columns : usual;
    int status = read_columns(&listing, keys, rows, diag);
    if (status == CM_OK) status = read_sort(&listing, options->sort, rows, diag);
    if (status == CM_OK) status = read_filters(&listing, options, rows, diag);
    if (status == CM_OK) *ret = listing;
    return status;
}

static bool is_there(const struct field *field, const struct rows_of *of) {
    return field->is_there == NULL || field->is_there(of);
}

static int check_there(const struct field *field, const struct rows_of *of,
                       struct cm_diagnostics *diag) {
    if (is_there(field, of)) return CM_OK;
    return diag_error(diag, DIAG_USAGE, "column '%s' requires %s", field->key, field->needs);
}

/* Rejects columns that the user named and the profile lacks; omits default columns that it
 * lacks. */
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
        field_get(&listing->filters[i].field, listing->of, row, &listing->words, &cell);
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

static int compare_values(const struct sort_key *a, const struct sort_key *b) {
    if (a->text && b->text) return strcmp(a->text, b->text);
    if (a->is_integer && b->is_integer)
        return (a->integer > b->integer) - (a->integer < b->integer);
    return (a->real > b->real) - (a->real < b->real);
}

/* Unknown figures come last. The sort is stable. */
static int compare_keys(const void *left, const void *right) {
    const struct sort_key *a = left;
    const struct sort_key *b = right;
    if (a->is_known != b->is_known) return a->is_known ? -1 : 1;
    const int order = a->is_known ? a->order * compare_values(a, b) : 0;
    if (order != 0) return order;
    return (a->row > b->row) - (a->row < b->row);
}

static bool make_key(struct listing *listing, size_t row, struct sort_key *ret) {
    struct cell cell;
    field_get(&listing->sort, listing->of, row, &listing->words, &cell);
    *ret = (struct sort_key){
        .row = row,
        .order = listing->is_ascending ? 1 : -1,
        .is_known = cell_is_known(&cell),
        .is_integer = cell.kind == CELL_COUNT || cell.kind == CELL_FIGURE,
        .integer = cell.value,
    };
    if (cell.kind == CELL_TEXT)
        ret->text = arena_strdup(listing->arena, text_string(&listing->words));
    else if (ret->is_known)
        ret->real = cell_real(&cell);
    return cell.kind != CELL_TEXT || ret->text != NULL;
}

static bool sort_rows(struct listing *listing) {
    struct sort_key *keys = arena_array(listing->arena, listing->n_rows, sizeof(*keys));
    if (keys == NULL) return false;
    for (size_t i = 0; i < listing->n_rows; i++)
        if (!make_key(listing, listing->rows[i], &keys[i])) return false;
    if (listing->n_rows > 0) qsort(keys, listing->n_rows, sizeof(*keys), compare_keys);
    for (size_t i = 0; i < listing->n_rows; i++) listing->rows[i] = keys[i].row;
    return true;
}

int listing_make(const struct cm_table_options *options, const struct rows_of *of,
                 const char *usual, struct arena *arena, struct cm_diagnostics *diag,
                 struct listing *ret) {
    struct listing listing;
    if (of->rows == ROWS_LAYERS && of->sweep == NULL)
        return diag_error(diag, DIAG_USAGE, "rows of layers require a sweep");
    int status = read_options(options, of->rows, usual, arena, diag, &listing);
    if (status != CM_OK) return status;
    const bool is_named = options->columns && !text_equal(options->columns, "all");
    status = check_fields(&listing, of, is_named, diag);
    if (status != CM_OK) return status;
    listing.of = of;
    listing.rows = arena_array(arena, rows_count(of), sizeof(*listing.rows));
    if (listing.rows == NULL) return diag_no_memory(diag);
    for (size_t row = 0; row < rows_count(of); row++)
        if (is_chosen(&listing, row)) listing.rows[listing.n_rows++] = row;
    if (listing.is_sorted && !sort_rows(&listing)) return diag_no_memory(diag);
    if (options->top > 0 && listing.n_rows > options->top) {
        listing.n_left_out = listing.n_rows - options->top;
        listing.n_rows = options->top;
    }
    if (listing.words.failed) return diag_no_memory(diag);
    *ret = listing;
    return CM_OK;
}

static const enum rows rows_of_option[] = {
    [CM_ROWS_MODULES] = ROWS_MODULES,
    [CM_ROWS_NODES] = ROWS_NODES,
    [CM_ROWS_OPERATORS] = ROWS_OPERATORS,
    [CM_ROWS_LAYERS] = ROWS_LAYERS,
};

struct rows_of listing_rows(const struct cm_result *result,
                            const struct cm_table_options *options) {
    return (struct rows_of){rows_of_option[options->rows], result, NULL};
}

struct rows_of listing_sweep_rows(const struct cm_sweep *sweep,
                                  const struct cm_table_options *options) {
    const bool is_layers = options->rows == CM_ROWS_LAYERS;
    return (struct rows_of){is_layers ? ROWS_LAYERS : ROWS_BATCHES, NULL, sweep};
}

enum number_style listing_style(const struct cm_table_options *options,
                                enum number_style automatic) {
    static const enum number_style styles[] = {
        [CM_UNITS_EXACT] = NUMBERS_EXACT,
        [CM_UNITS_SI] = NUMBERS_SI,
        [CM_UNITS_BINARY] = NUMBERS_BINARY,
    };
    return options->units == CM_UNITS_AUTO ? automatic : styles[options->units];
}

void cm_table_options_init(struct cm_table_options *options) {
    if (options == NULL) return;
    *options = (struct cm_table_options){.rows = CM_ROWS_MODULES, .depth = -1};
}

int cm_table_options_check(const struct cm_table_options *options, bool of_sweep,
                           struct cm_diagnostics *diagnostics) {
    if (options == NULL) return diag_null(diagnostics);
    const bool of_batches = of_sweep && options->rows != CM_ROWS_LAYERS;
    const enum rows rows = of_batches ? ROWS_BATCHES : rows_of_option[options->rows];
    const struct column *metric = NULL;
    struct listing listing;
    int status = folded_find_metric(options->metric, diagnostics, &metric);
    if (status != CM_OK) return status;
    struct arena *arena = arena_new("options", 0);
    if (arena == NULL) return diag_no_memory(diagnostics);
    status = read_options(options, rows, fields_usual(rows), arena, diagnostics, &listing);
    status = arena_end(arena, status);
    return diag_finish(diagnostics, status);
}

void listing_cell(struct listing *listing, size_t row, size_t column, struct cell *ret) {
    field_get(&listing->fields[column], listing->of, listing->rows[row], &listing->words, ret);
}

const size_t *listing_ranks(const struct listing *listing) {
    size_t *ranks = arena_array(listing->arena, listing->n_fields, sizeof(*ranks));
    for (size_t i = 0; ranks != NULL && i < listing->n_fields; i++)
        ranks[i] = fields_rank(&listing->fields[i]);
    return ranks;
}
