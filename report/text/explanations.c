/* SPDX-License-Identifier: Apache-2.0 */
/* The report of --explain: the MACs of each node as a product, its FLOPs and integer operations
 * as sums, then the result of each convention. */
#include <inttypes.h>

#include "ops/flops/names/convention_names.h"
#include "report/page.h"
#include "report/report.h"
#include "report/types.h"
#include "support/arena.h"
#include "support/checked.h"

#define LABEL_WIDTH      11
#define CONVENTION_WIDTH 13
#define UNIT_WIDTH       6
#define FIGURE_WIDTH     25 /* 2^63 with its commas */

static void write_label(struct page *page, const char *label) {
    page_print(page, STYLE_PLAIN, "  %s:", label);
    page_indent(page, LABEL_WIDTH - page->column);
    page_list(page, " ", LABEL_WIDTH + 2);
}

/* Writes ` in 7 runs`; nothing for one run. */
static void write_runs(struct page *page, int64_t runs) {
    if (runs != 1) page_add(page, "in %s runs", page_exact(page, runs));
}

/* Writes ` in 7 runs = 6,291,456` */
static void write_sum(struct page *page, int64_t runs, int64_t sum) {
    write_runs(page, runs);
    page_item_print(page, STYLE_TITLE, "= %s", page_exact(page, sum));
    page_end_line(page);
}

/* Writes `2 x 6,291,456 MACs + 2,097,152 biases`: the terms with this `of_integers`. */
static void write_terms(struct page *page, const struct cm_term *terms, size_t n,
                        bool of_integers) {
    const char *plus = "";
    for (size_t i = 0; i < n; i++) {
        if (terms[i].of_integers != of_integers) continue;
        const char *count = page_exact(page, terms[i].count);
        if (terms[i].factor != 1)
            page_add(page, "%s%" PRId64 " x %s %s", plus, terms[i].factor, count, terms[i].of);
        else
            page_add(page, "%s%s %s", plus, count, terms[i].of);
        plus = "+ ";
    }
}

/* Returns the fused pattern that the node is part of; NULL if it is counted by itself. */
static const struct cm_fused_pattern *fused_pattern_of(const struct cm_result *result,
                                                       size_t node) {
    for (size_t i = 0; i < result->n_fused_patterns; i++) {
        const struct cm_fused_pattern *fused_pattern = &result->fused_patterns[i];
        for (size_t k = 0; k < fused_pattern->n_nodes && !fused_pattern->foldable; k++)
            if (fused_pattern->nodes[k] == node) return fused_pattern;
    }
    return NULL;
}

static bool has_terms(const struct cm_term *terms, size_t n, bool of_integers) {
    size_t i = 0;
    while (i < n && terms[i].of_integers != of_integers) i++;
    return i < n;
}

static void write_operations(struct page *page, const char *label,
                             const struct cm_explained_node *node, bool of_integers,
                             int64_t sum) {
    if (!has_terms(node->terms, node->n_terms, of_integers)) return;
    write_label(page, label);
    write_terms(page, node->terms, node->n_terms, of_integers);
    write_sum(page, node->runs, sum);
}

/* Writes `12,845,056 read + 12,845,056 written = 25,690,112` */
static void write_bytes(struct page *page, const struct cm_costs *costs) {
    write_label(page, "bytes");
    page_add(page, "%s read", page_exact(page, costs->bytes_read));
    page_add(page, "+ %s written", page_exact(page, costs->bytes_written));
    page_item_print(page, STYLE_TITLE, "= %s",
                    page_exact(page, checked_add(costs->bytes_read, costs->bytes_written)));
    page_end_line(page);
}

/* Writes how the device runs the node once. */
static void write_time(struct page *page, const struct cm_explained_time *time) {
    write_label(page, "kernel");
    if (time->launches == 0) page_add(page, "part of the kernel of another node,");
    if (is_known(time->tile_m))
        page_add(page, "%s of %" PRId64 " x %" PRId64 " in %s,",
                 page_count(page, time->tiles, "tile"), time->tile_m, time->tile_n,
                 page_count(page, time->waves, "wave"));
    if (is_known(time->splits) && time->splits > 1)
        page_add(page, "%" PRId64 " parts of the sum,", time->splits);
    page_add(page, "%s from memory at %s of the bandwidth,",
             page_number(page, NUMBER_BYTES, time->memory_bytes),
             page_percent(page, time->bandwidth_share, CM_RATIO_ONE));
    page_add(page, "%s from the cache", page_number(page, NUMBER_BYTES, time->cache_bytes));
    page_end_line(page);
    write_label(page, "time");
    if (time->rate[0] != '\0')
        page_add(page, "arithmetic %s at %s of %s,", page_time(page, time->compute_ps),
                 page_percent(page, time->rate_share, CM_RATIO_ONE), time->rate);
    page_add(page, "memory %s,", page_time(page, time->memory_ps));
    if (time->extra_ps != 0)
        page_add(page, "kernels around it %s,", page_time(page, time->extra_ps));
    if (time->launches != 0)
        page_add(page, "launch of %s %s (by the host %s)",
                 page_count(page, time->launches, "kernel"), page_time(page, time->launch_ps),
                 page_time(page, time->host_ps));
    page_item_print(page, STYLE_TITLE, "= %s", page_time(page, time->latency_ps));
    page_end_line(page);
    write_label(page, "limit");
    page_add(page, "%s; without it %s, limited by %s", time->limited_by,
             page_time(page, time->without_ps), time->next);
    page_end_line(page);
}

static void write_node(struct page *page, const struct cm_result *result,
                       const struct cm_explained_node *explained) {
    if (explained->node >= result->n_nodes) {
        page_line(page, STYLE_PLAIN, "node %zu is not in this report", explained->node);
        return;
    }
    const struct cm_node *node = &result->nodes[explained->node];
    page_print(page, STYLE_PLAIN, "node %zu ", node->index);
    if (node->name[0] != '\0') {
        page_print(page, STYLE_NAME, "%s", node->name);
        page_print(page, STYLE_PLAIN, ", ");
    }
    page_line(page, STYLE_PLAIN, "%s", node->op);
    write_label(page, "output");
    for (size_t i = 0; i < node->n_outputs; i++) {
        page_add(page, "%s", node->outputs[i].name);
        type_append(page_item(page), &node->outputs[i].type);
        page_item_end(page, STYLE_PLAIN);
    }
    page_end_line(page);
    if (explained->n_factors > 0) { /* `2,097,152 output elements x 3 input channels = ...` */
        write_label(page, "MACs");
        for (size_t i = 0; i < explained->n_factors; i++)
            page_add(page, "%s%s %s", i > 0 ? "x " : "",
                     page_exact(page, explained->factors[i].size), explained->factors[i].name);
        write_sum(page, explained->runs, node->costs.macs);
    }
    const struct cm_fused_pattern *fused_pattern = fused_pattern_of(result, explained->node);
    if (fused_pattern != NULL) {
        write_label(page, "part of");
        page_add(page, "%s, nodes %zu to %zu,", fused_pattern->name, fused_pattern->nodes[0],
                 fused_pattern->nodes[fused_pattern->n_nodes - 1]);
        page_add(page, "counted as one at node %zu", fused_pattern->last);
        page_end_line(page);
    }
    if (!has_terms(explained->terms, explained->n_terms, false)) {
        write_label(page, "FLOPs");
        page_add(page, "none by this convention");
        page_end_line(page);
    }
    write_operations(page, "FLOPs", explained, false, node->costs.flops);
    write_operations(page, "int ops", explained, true, node->costs.int_ops);
    write_bytes(page, &node->costs);
    if (explained->time != NULL) {
        write_time(page, explained->time);
    } else if (cm_result_modelled(result) && node->costs.latency_ps == 0) {
        write_label(page, "kernel");
        page_add(page, "none: a view, or part of the kernel of another node");
        page_end_line(page);
    }
}

static void write_padded(struct page *page, const char *name, size_t width) {
    const size_t end = page->column + width;
    page_print(page, STYLE_PLAIN, "%s", name);
    page_indent(page, page->column < end ? end - page->column + 1 : 1);
}

/* Writes the result of a convention, then its terms: `57,600 biases and on integers
 * 2 x 1,016,064 MACs`. Integer operations are included only if the convention counts them
 * separately. */
static void write_by(struct page *page, const struct cm_explanation *explanation,
                     const struct cm_explained_by *by) {
    const bool separates = conventions_separate_integers(by->convention);
    const bool floats = has_terms(by->terms, by->n_terms, false);
    write_padded(page, by->convention, CONVENTION_WIDTH);
    write_padded(page, by->unit, UNIT_WIDTH);
    page_print(
        page, STYLE_TITLE, "%*s", FIGURE_WIDTH,
        page_exact(page, separates ? checked_add_known(by->flops, by->int_ops) : by->flops));
    if (floats || (separates && by->n_terms > 0)) {
        page_print(page, STYLE_PLAIN, "  ");
        page_list(page, " ", page->column + 2);
        write_terms(page, by->terms, by->n_terms, false);
        if (separates && has_terms(by->terms, by->n_terms, true)) {
            page_add(page, floats ? "and on integers" : "on integers");
            write_terms(page, by->terms, by->n_terms, true);
        }
        if (explanation->n_nodes > 0) write_runs(page, explanation->nodes[0].runs);
    }
    page_end_line(page);
}

static void write_explanation(struct page *page, const struct cm_result *result,
                              const struct cm_explanation *explanation) {
    page_rule(page, "Explanation");
    if (explanation->module < result->n_modules) { /* may be out of range in a file */
        const struct cm_module *module = &result->modules[explanation->module];
        /* `transform.conv1: Conv1d(3, 64, kernel_size=(1,))` */
        page_print(page, STYLE_NAME, "%s",
                   module->path[0] == '\0' ? module->name : module->path);
        if (module->type_known) page_print(page, STYLE_PLAIN, ": %s", module->type);
        if (module->arguments[0] != '\0')
            page_print(page, STYLE_PLAIN, "(%s)", module->arguments);
        page_end_line(page);
    } else {
        page_print(page, STYLE_TITLE, "%s", explanation->name);
    }
    page_end_line(page);
    for (size_t i = 0; i < explanation->n_nodes; i++)
        write_node(page, result, &explanation->nodes[i]);
    if (explanation->n_free > 0)
        page_line(page, STYLE_PLAIN, "and %s without MACs or FLOPs by this convention",
                  page_count(page, explanation->n_free, "node"));
    page_end_line(page);
    page_line(page, STYLE_PLAIN, "by convention (the figures above: %s)",
              result->options.convention);
    for (size_t i = 0; i < explanation->n_by; i++)
        write_by(page, explanation, &explanation->by[i]);
}

int report_write_explanations(const struct report *report) {
    const struct cm_result *result = report->result;
    struct arena *arena = arena_new("report", 0);
    if (arena == NULL) return CM_NO_MEMORY;
    struct page page;
    page_init(&page, report->text, arena, report->out);
    for (size_t i = 0; i < result->n_explanations; i++)
        write_explanation(&page, result, &result->explanations[i]);
    page_rule(&page, NULL);
    return arena_end(arena, page_finish(&page));
}
