/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the layers of a sweep: a row per layer, with its time or the algorithm of its
 * plan in each setting. A setting is a row of the sweep: a batch or a precision. */
#include <inttypes.h>
#include <string.h>

#include "costmodel/costmodel.h"
#include "report/table/table.h"
#include "report/text/sections.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/text.h"

#define INDENT          4
#define LINES_OF_LAYERS 10 /* title, headings and the lines below the layers */

/* The table being written. */
struct grid {
    struct page *page;
    const struct cm_sweep *sweep;
    struct table table;
    const char **settings; /* by row of the sweep: "fp16" or "batch 8" */
    const char **headings;
    size_t *ranks;
    size_t n_columns;
    bool by_precision; /* settings are precisions; adds speed-ups */
    bool is_planned;   /* shows algorithms instead of times */
    bool has_proxies;
};

bool sweep_is_by_precision(const struct cm_sweep *sweep) {
    const char *first = sweep->n_rows > 0 ? sweep->rows[0].precision : NULL;
    for (size_t i = 1; first != NULL && i < sweep->n_rows; i++)
        if (sweep->rows[i].precision != NULL && !text_equal(sweep->rows[i].precision, first))
            return sweep->model[0] != '\0';
    return false;
}

/* Returns the heading of the column after the i-th time or algorithm; NULL: no such column. */
static const char *second_heading(const struct grid *grid, size_t i) {
    if (grid->is_planned) return "TC";
    return grid->by_precision && i > 0 ? "x" : NULL;
}

static void add_column(struct grid *grid, const char *heading, size_t rank) {
    grid->headings[grid->n_columns] = heading;
    grid->ranks[grid->n_columns++] = rank;
}

/* Adds the columns. If the page is narrow, "nodes" is omitted first, then the last settings.
 * Returns false if out of memory. */
static bool add_columns(struct grid *grid) {
    struct arena *arena = grid->page->arena;
    const size_t n_rows = grid->sweep->n_rows;
    grid->settings = arena_array(arena, n_rows, sizeof(*grid->settings));
    grid->headings = arena_array(arena, 2 * n_rows + 2, sizeof(*grid->headings));
    grid->ranks = arena_array(arena, 2 * n_rows + 2, sizeof(*grid->ranks));
    if (grid->settings == NULL || grid->headings == NULL || grid->ranks == NULL) return false;
    for (size_t i = 0; i < n_rows; i++) {
        const char *second = second_heading(grid, i);
        const struct cm_sweep_row *row = &grid->sweep->rows[i];
        struct text setting = {.arena = arena};
        if (grid->by_precision && row->precision != NULL)
            text_append_name(&setting, row->precision);
        else if (is_known(row->batch))
            text_printf(&setting, "batch %" PRId64, row->batch);
        grid->settings[i] = text_string(&setting);
        add_column(grid, grid->settings[i], 2 * i + 1);
        if (second != NULL) add_column(grid, second, 2 * i + 2);
    }
    add_column(grid, "nodes", 2 * n_rows + 1);
    add_column(grid, "layer", 0);
    return true;
}

/* Adds the cell of a time. */
static void add_time(struct grid *grid, int64_t ps, const char *state) {
    const bool is_proxy = text_equal(state, "proxy");
    table_print(&grid->table, "%s%s",
                is_known(ps)       ? page_time(grid->page, ps)
                : state[0] != '\0' ? state
                                   : "-",
                is_proxy ? " *" : "");
    grid->has_proxies |= is_proxy;
}

/* Adds the cell of a speed-up if setting i has such a column. */
static void add_speedup(struct grid *grid, size_t i, int64_t ratio) {
    if (second_heading(grid, i) == NULL) return;
    if (is_known(ratio))
        table_print(&grid->table, "%.2f", (double)ratio / CM_RATIO_ONE);
    else
        table_print(&grid->table, "-");
}

/* Adds the cells of a plan: "engine 45" of "engine 45, tile 5", and the use of tensor cores. */
static void add_plan(struct grid *grid, const struct cm_layer_time *time) {
    const bool is_planned = text_equal(time->state, "planned");
    const bool is_proxy = is_planned && time->plan != NULL && time->plan->reason[0] != '\0';
    const char *words =
        !is_planned || time->algorithm[0] == '\0' ? time->state : time->algorithm;
    const size_t length = strcspn(words, ",");
    struct text *text = page_item(grid->page);
    text_append_n(text, length > 0 ? words : "-", length > 0 ? length : 1);
    if (is_proxy) text_append(text, " *");
    grid->has_proxies |= is_proxy;
    table_end_cell(&grid->table);
    const bool has_cores = is_planned && !text_equal(time->tensor_cores, "unknown");
    table_print(&grid->table, "%s", has_cores ? time->tensor_cores : "-");
}

static bool has_algorithm(const struct cm_layer_time *time) {
    return time->provider[0] != '\0' || time->algorithm[0] != '\0' || time->plan != NULL;
}

static bool same_algorithm(const struct cm_layer_time *a, const struct cm_layer_time *b) {
    if ((a->plan == NULL) != (b->plan == NULL)) return false;
    if (a->plan != NULL &&
        (a->plan->workspace_bytes != b->plan->workspace_bytes ||
         !text_equal(a->plan->reason, b->plan->reason) || !text_equal(a->state, b->state)))
        return false;
    return text_equal(a->provider, b->provider) && text_equal(a->algorithm, b->algorithm);
}

/* Appends "cublaslt, 128x64 tile"; for a plan also "; workspace 131 B" and the reason. */
static void append_algorithm(struct text *text, const struct cm_layer_time *time) {
    const struct cm_layer_plan *plan = time->plan;
    const bool is_both = time->provider[0] != '\0' && time->algorithm[0] != '\0';
    text_printf(text, "%s%s%s", time->provider, is_both ? ", " : "", time->algorithm);
    if (plan == NULL) return;
    const bool is_planned = text_equal(time->state, "planned");
    if (time->provider[0] != '\0' || time->algorithm[0] != '\0') text_append(text, "; ");
    text_append(text, is_planned ? "workspace " : time->state);
    if (is_planned) number_append(text, NUMBERS_SI, NUMBER_BYTES, plan->workspace_bytes);
    if (plan->reason[0] != '\0')
        text_printf(text, "%s%s", is_planned ? "; substitute: " : ": ", plan->reason);
}

/* Returns how many settings layer->times covers; a file may have too few or too many. */
static size_t n_times(const struct grid *grid, const struct cm_sweep_layer *layer) {
    return layer->n_times < grid->sweep->n_rows ? layer->n_times : grid->sweep->n_rows;
}

/* Returns a time with the algorithm of the layer if the algorithm is the same in all settings
 * that state one; NULL if algorithms differ or none is stated. */
static const struct cm_layer_time *find_algorithm(const struct grid *grid,
                                                  const struct cm_sweep_layer *layer) {
    const struct cm_layer_time *found = NULL;
    for (size_t i = 0; i < n_times(grid, layer); i++) {
        const struct cm_layer_time *time = &layer->times[i];
        if (!has_algorithm(time)) continue;
        if (found != NULL && !same_algorithm(found, time)) return NULL;
        found = time;
    }
    return found;
}

/* Writes a line per algorithm below the layer: `batch 8, batch 32: cublaslt, 128x64 tile`. */
static void write_algorithms(const struct grid *grid, const struct cm_sweep_layer *layer) {
    const size_t n = n_times(grid, layer);
    for (size_t i = 0; i < n; i++) {
        bool is_listed = !has_algorithm(&layer->times[i]);
        for (size_t k = 0; k < i; k++)
            is_listed |= same_algorithm(&layer->times[k], &layer->times[i]);
        if (is_listed) continue;
        struct text line = {.arena = grid->page->arena};
        for (size_t k = i; k < n; k++)
            if (same_algorithm(&layer->times[k], &layer->times[i]))
                text_printf(&line, "%s%s", k > i ? ", " : "", grid->settings[k]);
        text_append(&line, ": ");
        append_algorithm(&line, &layer->times[i]);
        page_indent(grid->page, INDENT);
        page_list(grid->page, " ", 2 * INDENT);
        page_words(grid->page, STYLE_PLAIN, text_string(&line));
        page_end_line(grid->page);
    }
}

static void add_layer(struct grid *grid, const struct cm_sweep_layer *layer) {
    static const struct cm_layer_time missing = {
        .latency_ps = CM_UNKNOWN, .speedup = CM_UNKNOWN, .state = ""};
    const bool is_full = grid->page->options->layers;
    for (size_t i = 0; i < grid->sweep->n_rows; i++) {
        const struct cm_layer_time *time = i < layer->n_times ? &layer->times[i] : &missing;
        if (grid->is_planned) {
            add_plan(grid, time);
            continue;
        }
        add_time(grid, time->latency_ps, time->state);
        add_speedup(grid, i, time->speedup);
    }
    const struct cm_layer_time *algorithm =
        is_full && !grid->is_planned ? find_algorithm(grid, layer) : NULL;
    table_print(&grid->table, "%" PRId64, layer->nodes);
    struct text *label = page_item(grid->page);
    text_printf(label, "%s %s", layer->op, layer->path[0] != '\0' ? layer->path : layer->node);
    if (algorithm != NULL) {
        text_append(label, " [");
        append_algorithm(label, algorithm);
        text_append(label, "]");
    }
    table_end_cell(&grid->table);
}

/* Returns the sum of the layers from `first` on; CM_UNKNOWN if one of them has no time. */
static int64_t sum_layers(const struct cm_sweep *sweep, size_t row, size_t first) {
    int64_t sum = 0;
    for (size_t i = first; i < sweep->n_layers && is_known(sum); i++) {
        const struct cm_sweep_layer *layer = &sweep->layers[i];
        const int64_t ps = row < layer->n_times ? layer->times[row].latency_ps : CM_UNKNOWN;
        sum = is_known(ps) ? checked_add(sum, ps) : CM_UNKNOWN;
    }
    return sum;
}

/* Adds a row with the sums of the layers from `first` on. */
static void add_rest(struct grid *grid, size_t first) {
    const struct cm_sweep *sweep = grid->sweep;
    int64_t nodes = 0;
    for (size_t row = 0; row < sweep->n_rows; row++) {
        add_time(grid, sum_layers(sweep, row, first), "");
        add_speedup(grid, row, CM_UNKNOWN);
    }
    for (size_t i = first; i < sweep->n_layers; i++)
        checked_add_known_to(&nodes, sweep->layers[i].nodes);
    table_print(&grid->table, "%" PRId64, nodes);
    table_print(&grid->table, "%zu other layers (--layers lists all)", sweep->n_layers - first);
}

/* Returns the time of a run in which no layer runs, such as that of the host; 0 if unknown. */
static int64_t time_besides(const struct cm_sweep *sweep, size_t row) {
    const int64_t sum = sum_layers(sweep, row, 0);
    const int64_t total = sweep->rows[row].costs.latency_ps;
    return is_known(sum) && is_known(total) && total > sum ? total - sum : 0;
}

/* Adds a row with these times if one of them is more than a hundredth of the total. */
static void add_besides(struct grid *grid) {
    const struct cm_sweep *sweep = grid->sweep;
    bool is_visible = false;
    for (size_t row = 0; row < sweep->n_rows; row++)
        is_visible |= time_besides(sweep, row) > sweep->rows[row].costs.latency_ps / 100;
    for (size_t row = 0; row < sweep->n_rows && is_visible; row++) {
        add_time(grid, time_besides(sweep, row), "");
        add_speedup(grid, row, CM_UNKNOWN);
    }
    if (!is_visible) return;
    table_print(&grid->table, "-");
    table_print(&grid->table, "time of a run besides its kernels");
}

static void add_total(struct grid *grid) {
    const struct cm_sweep *sweep = grid->sweep;
    int64_t nodes = 0;
    for (size_t row = 0; row < sweep->n_rows; row++) {
        add_time(grid, sweep->rows[row].costs.latency_ps, "");
        add_speedup(grid, row, sweep->rows[row].speedup);
    }
    for (size_t i = 0; i < sweep->n_layers; i++)
        checked_add_known_to(&nodes, sweep->layers[i].nodes);
    table_print(&grid->table, "%" PRId64, nodes);
    table_print(&grid->table, "total");
}

/* Returns the number of layers to list: all, or as many as options or the screen allow. */
static size_t count_shown(const struct page *page, size_t n_layers) {
    const struct cm_text_options *options = page->options;
    size_t n = n_layers;
    if (options->rows > 0 || (!options->layers && options->height > 0))
        n = page_rows_left(page, LINES_OF_LAYERS);
    return n_layers <= n + 1 ? n_layers : n;
}

static void write_heading(const struct grid *grid) {
    struct page *page = grid->page;
    const char *times = grid->sweep->times;
    page_end_line(page);
    page_rule(page, grid->by_precision ? "Layers by precision" : "Layers by batch");
    if (grid->is_planned) {
        page_paragraph(page, "The plan of each layer. Nothing was run, so there are no times. "
                             "TC: use of tensor cores.");
        return;
    }
    if (times[0] != '\0' && !text_equal(times, "measured")) {
        page_print(page, STYLE_WARNING, "Every time is ");
        page_print(page, STYLE_WARNING, "%s", times);
        page_line(page, STYLE_WARNING, ".");
    }
    if (grid->by_precision)
        page_line(page, STYLE_PLAIN, "x: speed-up against %s.", grid->settings[0]);
}

void sweep_layers_write(struct page *page, const struct cm_sweep *sweep) {
    struct grid grid = {.page = page,
                        .sweep = sweep,
                        .by_precision = sweep_is_by_precision(sweep),
                        .is_planned = text_equal(sweep->times, "planned")};
    if (sweep->n_layers == 0 || !add_columns(&grid)) return;
    const size_t n = count_shown(page, sweep->n_layers);
    if (!table_init(&grid.table, page, grid.headings, grid.n_columns, n + 3)) return;
    grid.table.keeps_start = true;
    table_fit(&grid.table, grid.ranks, page->options->width);
    write_heading(&grid);
    for (size_t i = 0; i < n; i++) add_layer(&grid, &sweep->layers[i]);
    if (n < sweep->n_layers) add_rest(&grid, n);
    if (!grid.is_planned) {
        add_besides(&grid);
        add_total(&grid);
    }
    if (!table_begin(&grid.table)) return;
    for (size_t row = 0; (row + 1) * grid.table.n_columns <= grid.table.n_cells; row++) {
        table_write_row(&grid.table, row);
        if (!page->options->layers || row >= n) continue;
        const struct cm_sweep_layer *layer = &sweep->layers[row];
        if (grid.is_planned || find_algorithm(&grid, layer) == NULL)
            write_algorithms(&grid, layer);
    }
    table_end(&grid.table);
    if (grid.has_proxies)
        page_line(page, STYLE_PLAIN,
                  grid.is_planned ? "*: a proxy of the same size is planned instead"
                                  : "*: a proxy of the same size ran instead");
}
