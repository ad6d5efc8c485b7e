/* SPDX-License-Identifier: Apache-2.0 */
/* Section 3 of DeepSpeed's listing: the module tree as PyTorch prints a model, with the costs
 * of each module before its arguments. The walk uses an explicit stack, because the file
 * controls the depth of the tree. */
#include "report/text/sections.h"

#include <inttypes.h>
#include <string.h>

#include "costmodel/costmodel.h"
#include "report/names.h"
#include "report/page.h"
#include "report/text/timed.h"
#include "report/times.h"
#include "support/arena.h"
#include "support/checked.h"

/* Columns; deeper modules are not indented further. */
#define MAX_INDENT 60

/* A container whose children are being written. */
struct open_module {
    const struct cm_module *module;
    size_t next_child;
};

struct tree {
    struct page *page;
    const struct cm_result *result;
    const int64_t *operations; /* by module: operations of the nodes that have a time */
};

static size_t indent_of(const struct cm_module *module) {
    return module->depth >= MAX_INDENT / 2 ? MAX_INDENT : 2 * (size_t)module->depth;
}

static void write_share(struct page *page, enum number_unit unit, int64_t value, int64_t total,
                        bool upper_bound, const char *of_what) {
    struct text *figure = page_item(page);
    if (upper_bound) text_append(figure, "<= ");
    number_append(figure, page->units, unit, value);
    page_item_end(page, STYLE_PLAIN);
    number_append_percent(page_item(page), value, total);
    text_append(figure, of_what);
    page_item_end(page, STYLE_SHARE);
}

/* Writes `76.67 us, 37.93% latency, 15.86 TFLOPS`, then, if a node of the module has a time,
 * `, 4.1 TB/s, 85.42% roofline, memory bound`. Modelled times have no roofline share. */
static void write_times(const struct tree *tree, const struct cm_module *module) {
    struct page *page = tree->page;
    const struct cm_result *result = tree->result;
    const struct cm_achieved *achieved = module->achieved;
    const char *kind = times_kind(result);
    struct text *item = page_item(page);
    times_append_sum(item, page->units, &module->costs, false);
    if (*kind != '\0') text_printf(item, " %s", kind);
    page_item_end(page, STYLE_PLAIN);
    number_append_percent(page_item(page), module->costs.latency_ps, result->totals.latency_ps);
    text_append(item, " latency");
    page_item_end(page, STYLE_SHARE);
    times_append_rate(page_item(page), page->units, result,
                      tree->operations[module - result->modules], module->costs.latency_ps);
    page_item_end(page, STYLE_PLAIN);
    if (!achieved) return;
    page_item_number(page, STYLE_PLAIN, NUMBER_TRAFFIC, achieved->bytes_per_s);
    if (!result->measure->modelled && is_known(achieved->roofline)) {
        number_append_percent(page_item(page), achieved->roofline, CM_RATIO_ONE);
        text_append(item, " roofline");
        page_item_end(page, STYLE_SHARE);
    }
    if (!text_equal(achieved->limited_by, "unknown"))
        page_add(page, "%s bound", achieved->limited_by);
}

/* Writes `3.46 M, 100.00% Params, 14.07 GMACs, 100.00% MACs, 3, 64, kernel_size=(1,)` */
static void write_figures(const struct tree *tree, const struct cm_module *module) {
    struct page *page = tree->page;
    const struct cm_costs *totals = &tree->result->totals;
    page_list(page, ", ", indent_of(module) + 4);
    write_share(page, NUMBER_PARAMS, module->costs.params, totals->params, false, " Params");
    write_share(page, NUMBER_MACS, module->costs.macs, totals->macs,
                (module->costs.upper_bound & CM_COST_BIT(macs)) != 0, " MACs");
    if (cm_result_timed(tree->result)) write_times(tree, module);
    if (module->calls > 1) page_add(page, "%" PRId64 " calls", module->calls);
    for (const char *argument = module->arguments; *argument != '\0';) {
        const size_t length = names_argument_length(argument);
        text_append_n(page_item(page), argument, length);
        page_item_end(page, STYLE_PLAIN);
        argument += length;
        if (*argument != '\0') argument += strlen(", ");
    }
}

/* Writes `(conv1): Conv1d(`; for the root without a name. */
static void write_opening(struct page *page, const struct cm_module *module) {
    page_indent(page, indent_of(module));
    if (module->depth > 0) {
        page_print(page, STYLE_PLAIN, "(");
        page_print(page, STYLE_NAME, "%s", module->name);
        page_print(page, STYLE_PLAIN, "): ");
    }
    page_print(page, STYLE_PLAIN, "%s(", module->type);
}

static void write_tree(struct page *page, const struct cm_result *result) {
    int deepest = 0;
    for (size_t i = 0; i < result->n_modules; i++)
        if (result->modules[i].depth > deepest) deepest = result->modules[i].depth;
    struct open_module *open = arena_array(page->arena, (size_t)deepest + 2, sizeof(*open));
    const struct tree tree = {page, result, timed_operations(page, result)};
    if (open == NULL || tree.operations == NULL) return;
    const struct cm_module *module = &result->modules[0];
    size_t n_open = 0;
    for (;;) {
        write_opening(page, module);
        if (module->n_children == 0) {
            write_figures(&tree, module);
            page_line(page, STYLE_PLAIN, ")");
        } else {
            page_end_line(page);
            page_indent(page, indent_of(module) + 2);
            write_figures(&tree, module);
            page_end_line(page);
            open[n_open++] = (struct open_module){module, 0};
        }
        while (n_open > 0 &&
               open[n_open - 1].next_child == open[n_open - 1].module->n_children) {
            page_indent(page, indent_of(open[--n_open].module));
            page_line(page, STYLE_PLAIN, ")");
        }
        if (n_open == 0) return;
        struct open_module *parent = &open[n_open - 1];
        module = &result->modules[parent->module->children[parent->next_child++]];
    }
}

static const char order[] =
    "Each module is listed with its figures in this order: params, percentage of total params, "
    "MACs, percentage of total MACs, then the module's own arguments.";
static const char timed_order[] =
    "Each module is listed with its figures in this order: params, percentage of total params, "
    "MACs, percentage of total MACs, fwd latency, percentage of total fwd latency, fwd FLOPS, "
    "bandwidth, share of the roofline, limiting resource, then the module's own arguments.";

static const char *const notes[] = {
    "Note: 1. A module's figures include its children and the operators outside any child.",
    ("2. A parameter that several modules use counts once in each of them and once in the "
     "total: percentages may add up to more than 100."),
    "3. The MACs of a module with several calls (\"2 calls\") are the sum of all calls.",
};

void detailed_write(struct page *page, const struct cm_result *result) {
    page_end_line(page);
    page_rule(page, "Detailed Profile");
    page_paragraph(page, cm_result_timed(result) ? timed_order : order);
    page_paragraph(page, "");
    for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
        page_paragraph(page, notes[i]);
    page_end_line(page);
    write_tree(page, result);
}
