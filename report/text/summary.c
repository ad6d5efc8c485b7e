/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Section 1, the summary: model and options, totals with exact values, and the remarks that
 * qualify them: unknown operators and shapes, bound dims, re-batched constants, diagnostics.
 */
#include "report/text/sections.h"

#include <inttypes.h>

#include "costmodel/costmodel.h"
#include "ops/flops/names/convention_names.h"
#include "report/page.h"
#include "report/table/columns.h"
#include "report/text/labels.h"
#include "report/times.h"
#include "report/types.h"
#include "support/checked.h"

#include "support/banned.h"

#define MAX_LINES 5 /* of inputs, outputs, re-batched places: the rest is in the JSON */

/* `name = 3, other = 4` */
static void write_sizes(struct page *page, const struct cm_named_size *sizes, size_t n,
                        const char *nameless, const char *relation) {
    page_list(page, ", ", page->label_width);
    for (size_t i = 0; i < n; i++) {
        struct text *item = page_item(page);
        text_append_name(item, *sizes[i].name == '\0' ? nameless : sizes[i].name);
        text_append(item, relation);
        if (is_known(sizes[i].size))
            text_printf(item, "%" PRId64, sizes[i].size);
        else
            text_append(item, "?");
        page_item_end(page, STYLE_PLAIN);
    }
    page_end_line(page);
}

static void write_values(struct page *page, const char *label, const struct cm_value *values,
                         size_t n) {
    for (size_t i = 0; i < n && i < MAX_LINES; i++) {
        label_write(page, i == 0 ? label : "");
        page_list(page, " ", page->label_width + 2);
        page_item_name(page, STYLE_PLAIN, values[i].name);
        type_append(page_item(page), &values[i].type);
        page_item_end(page, STYLE_PLAIN);
        page_end_line(page);
    }
    label_rest(page, n, MAX_LINES);
}

struct tally {
    const char *name;
    size_t n;
};

/* A stored report may contain any number of names. */
#define MAX_TALLIES 32

/* Counts fused patterns by name, in order of first occurrence; at most MAX_TALLIES names. */
static size_t tally_fused_patterns(const struct cm_result *result, bool foldable,
                                   struct tally *tallies) {
    size_t n = 0;
    for (size_t i = 0; i < result->n_fused_patterns; i++) {
        const struct cm_fused_pattern *fused_pattern = &result->fused_patterns[i];
        size_t k = 0;
        if (fused_pattern->foldable != foldable) continue;
        while (k < n && !text_equal(tallies[k].name, fused_pattern->name)) k++;
        if (k == MAX_TALLIES) continue;
        if (k == n) tallies[n++] = (struct tally){fused_pattern->name, 0};
        tallies[k].n++;
    }
    return n;
}

/* `fused patterns:     LayerNorm 25, GELU 12, Attention 12` */
static void write_fused_patterns(struct page *page, const struct cm_result *result,
                                 const char *label, bool foldable) {
    struct tally tallies[MAX_TALLIES];
    const size_t n = tally_fused_patterns(result, foldable, tallies);
    if (n == 0) return;
    label_write(page, label);
    page_list(page, ", ", page->label_width);
    for (size_t i = 0; i < n; i++) {
        struct text *item = page_item(page);
        text_append_name(item, tallies[i].name);
        text_printf(item, " %zu", tallies[i].n);
        page_item_end(page, STYLE_PLAIN);
    }
    page_end_line(page);
}

/* `modules from:       scopes 88 nodes, joined 2` */
static void write_module_sources(struct page *page, const struct cm_result *result) {
    if (result->n_module_sources == 0) return;
    label_write(page, "modules from");
    page_list(page, ", ", page->label_width);
    for (size_t i = 0; i < result->n_module_sources; i++) {
        struct text *item = page_item(page);
        text_append_name(item, result->module_sources[i].name);
        text_printf(item, " %" PRId64, result->module_sources[i].count);
        if (i == 0) text_printf(item, " node%s", text_plural(result->module_sources[i].count));
        page_item_end(page, STYLE_PLAIN);
    }
    page_end_line(page);
}

static void write_options(struct page *page, const struct cm_result *result) {
    const struct cm_convention *convention = conventions_find(result->options.convention);
    label_write(page, "batch");
    if (is_known(result->options.batch))
        page_print(page, STYLE_PLAIN, "%" PRId64, result->options.batch);
    else
        page_print(page, STYLE_PLAIN, "none: no input axis is the batch");
    page_end_line(page);
    label_write(page, "convention");
    page_name(page, STYLE_PLAIN, result->options.convention);
    if (convention) page_print(page, STYLE_PLAIN, ": %s", convention->meaning);
    page_end_line(page);
    label_name(page, "mode", result->options.mode);
    write_module_sources(page, result);
    write_fused_patterns(page, result, "fused patterns", false);
    write_fused_patterns(page, result, "foldable", true);
    label_name(page, "group", result->options.group);
}

/* "106 tensors folded or merged, norm1.weight is shared by 25 modules" */
static void write_folded(struct page *page, const struct cm_framework *framework) {
    page_print(page, STYLE_PLAIN, ",");
    page_list(page, " ", page->label_width + 2);
    page_item_print(page, STYLE_PLAIN, " %" PRId64 " tensor%s folded or merged%s",
                    framework->n_absent, text_plural(framework->n_absent),
                    framework->n_sharing > 0 ? "," : "");
    if (framework->n_sharing == 0) return;
    page_item_name(page, STYLE_PLAIN, framework->shared);
    page_item_print(page, STYLE_PLAIN, "is shared by %" PRId64 " modules",
                    framework->n_sharing);
}

/* "unknown: the size of cls_token and 2 others is not in the file" */
static void write_undetermined(struct page *page, const struct cm_framework *framework) {
    page_list(page, " ", page->label_width + 2);
    page_words(page, STYLE_PLAIN, "unknown: the size of");
    page_item_name(page, STYLE_PLAIN, framework->unknown);
    if (framework->n_unknown > 1)
        page_item_print(page, STYLE_PLAIN, "and %" PRId64 " other%s", framework->n_unknown - 1,
                        text_plural(framework->n_unknown - 1));
    page_words(page, STYLE_PLAIN, "is not in the file");
}

/* Writes the parameter count of the framework if it differs, and why. */
static void write_framework(struct page *page, const struct cm_result *result) {
    static const char label[] = "framework params";
    const struct cm_framework *framework = &result->framework;
    if (framework->n_absent == 0 || framework->params == result->totals.params) return;
    if (is_known(framework->params)) {
        label_figure(page, label, NUMBER_PARAMS, framework->params);
        write_folded(page, framework);
    } else {
        label_write(page, label);
        write_undetermined(page, framework);
    }
    page_end_line(page);
}

static void write_totals(struct page *page, const struct cm_result *result) {
    for (size_t i = 0; i < n_columns; i++) {
        if (!column_is_there(&columns[i], result)) continue;
        if (!column_is_printed(&columns[i], &result->totals)) continue;
        label_figure(page, columns[i].heading, columns[i].unit,
                     column_get(&columns[i], &result->totals));
        if (column_is_upper_bound(&columns[i], &result->totals))
            page_print(page, STYLE_PLAIN, ", at most");
        if (columns[i].timed) {
            const char *kind = times_kind(result);
            page_print(page, STYLE_PLAIN, " ps%s%s%s", *kind == '\0' ? "" : ", ", kind,
                       cm_result_modelled(result) && !columns[i].modelled ? " expected time"
                                                                          : "");
            if (column_bound(&columns[i], &result->totals) == NUMBER_AT_LEAST)
                page_print(page, STYLE_PLAIN, ", at least");
        }
        page_end_line(page);
        if (text_equal(columns[i].key, "params")) write_framework(page, result);
    }
}

static void write_unknown_ops(struct page *page, const struct cm_coverage *coverage) {
    int64_t n_nodes = 0;
    if (coverage->n_unknown_ops == 0) return;
    label_operators(page, "unknown operators", STYLE_WARNING, coverage->unknown_ops,
                    coverage->n_unknown_ops);
    for (size_t i = 0; i < coverage->n_unknown_ops; i++)
        n_nodes = checked_add(n_nodes, coverage->unknown_ops[i].count);
    label_write(page, "");
    page_list(page, " ", page->label_width);
    struct text *share = page_item(page);
    text_printf(share, "%" PRId64 " of %" PRId64 " node%s (", n_nodes, coverage->nodes,
                text_plural(coverage->nodes));
    number_append_percent(share, n_nodes, coverage->nodes);
    text_append(share, "):");
    page_item_end(page, STYLE_PLAIN);
    page_words(page, STYLE_PLAIN, "their costs are not included");
    page_end_line(page);
}

static void write_unknown_shapes(struct page *page, const struct cm_coverage *coverage) {
    if (coverage->unknown_shapes == 0) return;
    label_write(page, "unknown shapes");
    page_print(page, STYLE_WARNING, "%" PRId64 " node output%s", coverage->unknown_shapes,
               text_plural(coverage->unknown_shapes));
    if (is_known(coverage->bounded_shapes) && coverage->bounded_shapes > 0) {
        page_line(page, STYLE_PLAIN, ", %" PRId64 " with an upper bound, at which costs",
                  coverage->bounded_shapes);
        label_write(page, "");
        page_print(page, STYLE_PLAIN, "are computed");
    }
    if (coverage->bounded_shapes != coverage->unknown_shapes)
        page_print(page, STYLE_PLAIN, "%s costs that depend on %s are not included",
                   coverage->bounded_shapes > 0 ? ";" : ":",
                   coverage->bounded_shapes > 0    ? "the others"
                   : coverage->unknown_shapes == 1 ? "it"
                                                   : "them");
    page_end_line(page);
}

static void write_rebatched(struct page *page, const struct cm_result *result) {
    if (result->n_rebatched == 0) return;
    label_write(page, "re-batched");
    page_line(page, STYLE_PLAIN, "%zu constant%s that contained the batch size of the file",
              result->n_rebatched, text_plural((int64_t)result->n_rebatched));
    for (size_t i = 0; i < result->n_rebatched && i < MAX_LINES; i++) {
        label_write(page, "");
        page_list(page, " ", page->label_width + 2);
        page_item_name(page, STYLE_PLAIN, result->rebatched[i].node_name);
        struct text *item = page_item(page);
        text_append(item, "(");
        text_append_name(item, result->rebatched[i].op);
        text_append(item, ", ");
        text_append_name(item, result->rebatched[i].what);
        text_printf(item, "[%" PRId64 "] of \"", result->rebatched[i].axis);
        text_append_name(item, result->rebatched[i].input);
        text_append(item, "\"):");
        page_item_end(page, STYLE_PLAIN);
        page_item_print(page, STYLE_PLAIN, "%" PRId64 " -> %" PRId64, result->rebatched[i].from,
                        result->rebatched[i].to);
        page_end_line(page);
    }
    label_rest(page, result->n_rebatched, MAX_LINES);
}

static void write_remarks(struct page *page, const struct cm_result *result) {
    if (!(result->coverage.n_unknown_ops > 0 || result->coverage.n_custom_ops > 0 ||
          result->coverage.unknown_shapes != 0 || result->options.n_dims > 0 ||
          result->n_rebatched > 0 || result->n_diagnostics > 0))
        return;
    page_end_line(page);
    label_operators(page, LABEL_DESCRIBED, STYLE_PLAIN, result->coverage.custom_ops,
                    result->coverage.n_custom_ops);
    write_unknown_ops(page, &result->coverage);
    write_unknown_shapes(page, &result->coverage);
    if (result->options.n_dims > 0) {
        label_write(page, "bound dims");
        write_sizes(page, result->options.dims, result->options.n_dims, "(nameless)", " = ");
    }
    write_rebatched(page, result);
    for (size_t i = 0; i < result->n_diagnostics; i++)
        label_diagnostic(page, &result->diagnostics[i]);
}

void summary_write(struct page *page, const struct cm_result *result) {
    page_rule(page, "costmodel Profile");
    page_line(page, STYLE_TITLE, "Profile Summary");
    page_end_line(page);
    label_name(page, "model", result->model.path);
    label_name(page, "producer", result->model.producer);
    label_write(page, "opset");
    write_sizes(page, result->model.opsets, result->model.n_opsets, "ai.onnx", " ");
    write_values(page, "inputs", result->model.inputs, result->model.n_inputs);
    write_values(page, "outputs", result->model.outputs, result->model.n_outputs);
    write_options(page, result);
    page_end_line(page);
    write_totals(page, result);
    memory_write(page, result);
    training_write(page, result);
    measured_write(page, result);
    write_remarks(page, result);
}
