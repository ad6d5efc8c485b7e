/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of --operators, --layers, --kernels: costs by operator, primitive and kernel. */
#include "report/text/sections.h"

#include <inttypes.h>
#include <stdlib.h>

#include "costmodel/costmodel.h"
#include "report/table/columns.h"
#include "report/table/table.h"
#include "report/times.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/sort.h"

static void add_number(struct table *table, enum number_unit unit, int64_t value,
                       bool upper_bound) {
    table_print(table, "%s%s",
                number_bound_prefix(
                    upper_bound && is_known(value) ? NUMBER_AT_MOST : NUMBER_NO_BOUND, false),
                value == CM_UNKNOWN ? "-" : page_number(table->page, unit, value));
}

static void add_time(struct table *table, int64_t ps) {
    table_print(table, "%s", is_known(ps) ? page_time(table->page, ps) : "-");
}

static void add_count(struct table *table, int64_t value) {
    table_print(table, "%s", page_digits(table->page, value));
}

static void add_percent(struct table *table, int64_t part, int64_t whole) {
    table_print(table, "%s", is_known(part) ? page_percent(table->page, part, whole) : "-");
}

/* Writes "Every time is modelled." unless the times are measured. */
static void write_kind(struct page *page, const struct cm_result *result) {
    const char *kind = times_kind(result);
    if (*kind == '\0') return;
    page_line(page, STYLE_WARNING, "Every time is %s.", kind);
}

static void add_operator(struct table *table, const struct cm_result *result,
                         const struct cm_operator *row) {
    const struct cm_costs *costs = &row->costs;
    const uint32_t traffic = CM_COST_BIT(bytes_read) | CM_COST_BIT(bytes_written);
    if (cm_result_timed(result)) {
        if (is_known(costs->latency_ps))
            times_append_sum(page_item(table->page), table->page->units, costs, false);
        else
            text_append(page_item(table->page), "-");
        table_end_cell(table);
        add_percent(table, costs->latency_ps, result->totals.latency_ps);
        int64_t operations = /* in this latency; unknown if some of the nodes have no time */
            costs->latency_ps > 0 ? column_operations(result, costs->flops, costs->int_ops) : 0;
        for (size_t i = 0; i < result->measure->n_untimed; i++)
            if (text_equal(result->measure->untimed[i].op, row->op)) operations = CM_UNKNOWN;
        times_append_rate(page_item(table->page), table->page->units, result, operations,
                          costs->latency_ps);
        table_end_cell(table);
    }
    add_count(table, row->nodes);
    add_number(table, NUMBER_MACS, costs->macs, (costs->upper_bound & CM_COST_BIT(macs)) != 0);
    add_percent(table, costs->macs, result->totals.macs);
    add_number(table, NUMBER_FLOPS, costs->flops,
               (costs->upper_bound & CM_COST_BIT(flops)) != 0);
    add_number(table, NUMBER_BYTES, checked_add(costs->bytes_read, costs->bytes_written),
               (costs->upper_bound & traffic) != 0);
    if (cm_result_timed(result)) { /* `measured 10, view 3` */
        struct text *cell = page_item(table->page);
        for (size_t i = 0; i < row->n_states; i++)
            text_printf(cell, "%s%s %" PRId64, i > 0 ? ", " : "", row->states[i].state,
                        row->states[i].nodes);
        table_end_cell(table);
    }
    table_print(table, "%s", row->op);
}

void breakdown_write_operators(struct page *page, const struct cm_result *result) {
    static const char *const plain[] = {"nodes", "MACs", "share", "flops", "bytes", "operator"};
    static const size_t plain_ranks[] = {2, 1, 3, 5, 4, 0};
    static const char *const timed[] = {"latency", "share", "FLOPS", "nodes",  "MACs",
                                        "share",   "flops", "bytes", "states", "operator"};
    static const size_t timed_ranks[] = {1, 2, 6, 3, 4, 7, 9, 8, 5, 0};
    const bool has_times = cm_result_timed(result);
    struct table table;
    page_end_line(page);
    page_rule(page, "Operators");
    write_kind(page, result);
    if (!table_init(&table, page, has_times ? timed : plain,
                    has_times ? sizeof timed / sizeof *timed : sizeof plain / sizeof *plain,
                    result->n_operators))
        return;
    table_fit(&table, has_times ? timed_ranks : plain_ranks, page->options->width);
    for (size_t i = 0; i < result->n_operators; i++)
        add_operator(&table, result, &result->operators[i]);
    table_write(&table);
}

/* Returns the time of all nodes of a primitive, ps, or CM_UNKNOWN. Skips invalid indices, which
 * a JSON file may contain. */
static int64_t total_of(const struct cm_result *result, const struct cm_timed *timed) {
    int64_t total = timed->n_nodes > 0 ? 0 : CM_UNKNOWN;
    for (size_t i = 0; i < timed->n_nodes; i++)
        if (timed->nodes[i] < result->n_nodes)
            checked_add_to(&total, result->nodes[timed->nodes[i]].costs.latency_ps);
    return is_known(total) ? total : CM_UNKNOWN;
}

/* Adds the rates, the share of the roofline, the limiting resource and the state. */
static void add_achieved(struct table *table, const struct cm_timed *timed) {
    static const struct cm_achieved unknown = {CM_UNKNOWN, CM_UNKNOWN, CM_UNKNOWN, "-"};
    const struct cm_achieved *achieved = timed->achieved ? timed->achieved : &unknown;
    add_number(table, NUMBER_RATE, achieved->flops_per_s, false);
    add_number(table, NUMBER_TRAFFIC, achieved->bytes_per_s, false);
    add_percent(table, achieved->roofline, CM_RATIO_ONE);
    table_print(table, "%s", achieved->limited_by);
    table_print(table, "%s", timed->state);
}

static void add_layer(struct table *table, const struct cm_result *result,
                      const struct rank *layer) {
    const struct cm_timed *timed = &result->measure->primitives[layer->index];
    const bool is_bare = timed->provider[0] == '\0' && timed->algorithm[0] == '\0';
    const bool is_both = timed->provider[0] != '\0' && timed->algorithm[0] != '\0';
    add_time(table, layer->value);
    add_percent(table, layer->value, result->totals.latency_ps);
    add_count(table, (int64_t)timed->n_nodes);
    add_time(table, timed->median_ps);
    add_time(table, timed->warm_ps);
    add_achieved(table, timed);
    table_print(table, is_bare ? "%s" : "%s [%s%s%s]", timed->primitive, timed->provider,
                is_both ? ", " : "", timed->algorithm);
}

/* Adds a layer of another tool with its time and its expected time. */
static void add_imported(struct table *table, const struct cm_result *result,
                         const struct rank *layer) {
    const struct cm_timed *timed = &result->measure->primitives[layer->index];
    const int64_t expected = timed->import.expected_ps;
    add_time(table, timed->median_ps);
    add_percent(table, timed->median_ps, result->totals.latency_ps);
    add_time(table, expected);
    if (is_known(expected) && expected > 0 && times_have_rates(result))
        table_print(table, "%.2f", (double)timed->median_ps / (double)expected);
    else
        table_print(table, "-");
    add_count(table, (int64_t)timed->n_nodes);
    add_achieved(table, timed);
    struct text *name = page_item(table->page);
    text_append(name, timed->primitive);
    if (timed->algorithm[0] != '\0') text_printf(name, " [%s]", timed->algorithm);
    if (timed->import.module < result->n_modules) {
        const struct cm_module *module = &result->modules[timed->import.module];
        text_printf(name, " in %s", module->path[0] != '\0' ? module->path : module->name);
    }
    table_end_cell(table);
}

void breakdown_write_layers(struct page *page, const struct cm_result *result) {
    static const char *const plain[] = {"total",      "share", "nodes",     "each",
                                        "warm",       "FLOPS", "bandwidth", "roofline",
                                        "limited by", "state", "layer"};
    static const size_t plain_ranks[] = {1, 2, 3, 9, 10, 7, 8, 4, 5, 6, 0};
    static const char *const imported[] = {"time",       "share", "expected",  "ratio",
                                           "nodes",      "FLOPS", "bandwidth", "roofline",
                                           "limited by", "state", "layer"};
    static const size_t imported_ranks[] = {1, 3, 4, 2, 5, 9, 10, 7, 8, 6, 0};
    const struct cm_measure *measure = result->measure;
    const size_t n = measure->n_primitives;
    struct table table;
    struct rank *layers = arena_array(page->arena, n, sizeof *layers);
    page_end_line(page);
    page_rule(page, "Layers");
    write_kind(page, result);
    if (layers == NULL || !table_init(&table, page, measure->imported ? imported : plain,
                                      sizeof plain / sizeof *plain, n))
        return;
    table.keeps_start = true;
    table_fit(&table, measure->imported ? imported_ranks : plain_ranks, page->options->width);
    for (size_t i = 0; i < n; i++) {
        const struct cm_timed *timed = &measure->primitives[i];
        layers[i].value = measure->imported ? timed->median_ps : total_of(result, timed);
        layers[i].index = i;
    }
    if (n > 0) sort_stable(layers, n, sizeof *layers, rank_compare);
    for (size_t i = 0; i < n; i++) {
        if (measure->imported)
            add_imported(&table, result, &layers[i]);
        else
            add_layer(&table, result, &layers[i]);
    }
    table_write(&table);
}

static void add_ratio(struct table *table, int64_t ratio) {
    add_percent(table, ratio > 0 ? ratio : CM_UNKNOWN, CM_RATIO_ONE);
}

/* Adds a kernel, or a layer whose kernels have no times: `gemm f32 …: kernels unknown` or
 * `gemm f32 …: together a, b, and 3 more`. */
static void add_kernel(struct table *table, const struct cm_result *result,
                       const struct cm_kernel_row *row, bool grids) {
    const struct cm_measure *measure = result->measure;
    add_time(table, row->total_ps);
    add_percent(table, row->total_ps, result->totals.latency_ps);
    add_count(table, row->calls);
    add_time(table, row->mean_ps);
    add_time(table, row->min_ps);
    add_time(table, row->max_ps);
    if (grids) {
        if (row->blocks_per_unit > 0)
            table_print(table, "%.2f", (double)row->blocks_per_unit / CM_RATIO_ONE);
        else
            table_print(table, "-");
        add_ratio(table, row->unit_efficiency);
        add_ratio(table, row->occupancy);
        add_ratio(table, row->theoretical_occupancy);
    }
    table_print(table, row->rule[0] == '\0' ? "%s" : "%s (%s)", row->tensor_cores, row->rule);
    struct text *name = page_item(table->page);
    text_append(name, row->name);
    if (row->primitive < measure->n_primitives) {
        const struct cm_timed *timed = &measure->primitives[row->primitive];
        text_append(name, timed->n_kernels == 0 ? ": kernels unknown" : ": together");
        for (size_t i = 0; i < timed->n_kernels; i++)
            text_printf(name, "%s%s", i == 0 ? " " : ", ", timed->kernels[i].name);
        if (timed->more_kernels > 0)
            text_printf(name, ", and %" PRId64 " more", timed->more_kernels);
    }
    table_end_cell(table);
}

void breakdown_write_kernels(struct page *page, const struct cm_result *result) {
    static const char *const plain[] = {"total", "share", "calls",        "mean",
                                        "min",   "max",   "tensor cores", "kernel"};
    static const size_t plain_ranks[] = {1, 2, 3, 5, 6, 7, 4, 0};
    static const char *const with_grids[] = {
        "total",       "share",         "calls",     "mean",        "min",          "max",
        "blocks/unit", "SM efficiency", "occupancy", "theoretical", "tensor cores", "kernel"};
    static const size_t grid_ranks[] = {1, 2, 3, 6, 9, 11, 8, 5, 7, 10, 4, 0};
    const struct cm_measure *measure = result->measure;
    bool grids = false; /* whether any grid is known; kernels of CPUs have none */
    for (size_t i = 0; i < measure->n_kernels; i++)
        grids |= measure->kernels[i].blocks_per_unit > 0;
    struct table table;
    page_end_line(page);
    page_rule(page, "Kernels");
    write_kind(page, result);
    if (measure->n_kernels == 0) {
        page_paragraph(page, "No kernel is known.");
        return;
    }
    page_paragraph(page,
                   "The time of a layer with one kernel is that kernel's. The time of a "
                   "layer with several is split in proportion to the times between events "
                   "around them; if these are unknown, the row is the layer.");
    if (!table_init(&table, page, grids ? with_grids : plain,
                    grids ? sizeof with_grids / sizeof *with_grids
                          : sizeof plain / sizeof *plain,
                    measure->n_kernels))
        return;
    table.keeps_start = true;
    table_fit(&table, grids ? grid_ranks : plain_ranks, page->options->width);
    for (size_t i = 0; i < measure->n_kernels; i++)
        add_kernel(&table, result, &measure->kernels[i], grids);
    table_write(&table);
}
