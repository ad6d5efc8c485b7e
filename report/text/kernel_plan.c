/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel plan of each distinct primitive, or the reason why it has none. Nothing was run,
 * so there are no times.
 */
#include "report/text/sections.h"

#include <inttypes.h>

#include "costmodel/costmodel.h"
#include "report/number.h"
#include "report/page.h"
#include "report/style.h"
#include "report/text/labels.h"
#include "support/text.h"

#include "support/banned.h"

#define INDENT    4
#define MAX_NODES 3 /* named; the rest is counted */

struct totals {
    size_t n; /* primitives listed */
    size_t n_planned;
    int64_t planned_nodes;
    int64_t planned_macs;
    int64_t max_workspace;
};

/* Returns false for the separate plan of a node whose fused group is planned too: such a
 * primitive has no nodes. */
static bool is_listed(const struct cm_timed *primitive) {
    return primitive->n_nodes > 0 || !text_equal(primitive->state, "planned");
}

static struct totals add_up(const struct cm_measure *measure) {
    struct totals ret = {0, 0, 0, 0, 0};
    for (size_t i = 0; i < measure->n_primitives; i++) {
        const struct cm_timed *primitive = &measure->primitives[i];
        if (!is_listed(primitive)) continue;
        ret.n++;
        if (!text_equal(primitive->state, "planned")) continue;
        ret.n_planned++;
        if (primitive->workspace_bytes > ret.max_workspace)
            ret.max_workspace = primitive->workspace_bytes;
    }
    for (size_t i = 0; i < measure->n_states; i++)
        if (text_equal(measure->states[i].state, "planned")) {
            ret.planned_nodes = measure->states[i].nodes;
            ret.planned_macs = measure->states[i].macs;
        }
    return ret;
}

static void begin_line(struct page *page, const char *label) {
    page_indent(page, INDENT);
    page_print(page, STYLE_PLAIN, "%s", label);
}

/* `    cudnn graph: engine 38, unfused biases` */
static void write_engine(struct page *page, const struct cm_timed *primitive) {
    if (primitive->provider[0] == '\0' && primitive->algorithm[0] == '\0') return;
    begin_line(page, "");
    page_name(page, STYLE_PLAIN, primitive->provider);
    page_print(page, STYLE_PLAIN, ": ");
    page_list(page, " ", 2 * INDENT);
    page_words(page, STYLE_PLAIN, primitive->algorithm);
    page_end_line(page);
}

/* Writes the reason why there is no plan; or a note on the plan, for example that it is a
 * substitute, or why it is not a single graph. */
static void write_reason(struct page *page, const struct cm_timed *primitive) {
    const bool planned = text_equal(primitive->state, "planned");
    if (primitive->reason[0] == '\0') return;
    begin_line(page, planned ? "note: " : "");
    if (!planned) page_print(page, STYLE_WARNING, "%s: ", primitive->state);
    page_list(page, " ", 2 * INDENT);
    page_words(page, STYLE_PLAIN, primitive->reason);
    page_end_line(page);
}

static void write_nodes(struct page *page, const struct cm_result *result,
                        const struct cm_timed *primitive) {
    begin_line(page, "");
    if (primitive->n_nodes == 0) {
        page_print(page, STYLE_PLAIN, "its nodes are planned one by one");
        page_end_line(page);
        return;
    }
    page_print(page, STYLE_PLAIN, "%zu node%s: ", primitive->n_nodes,
               text_plural((int64_t)primitive->n_nodes));
    page_list(page, ", ", 2 * INDENT);
    for (size_t i = 0; i < primitive->n_nodes && i < MAX_NODES; i++) {
        const size_t at = primitive->nodes[i]; /* unchecked if read from a file */
        const bool named = at < result->n_nodes && result->nodes[at].name[0] != '\0';
        struct text *item = page_item(page);
        if (named)
            text_append_name(item, result->nodes[at].name);
        else
            text_printf(item, "%zu", at);
        page_item_end(page, STYLE_NAME);
    }
    if (primitive->n_nodes > MAX_NODES)
        page_print(page, STYLE_PLAIN, " and %zu more", primitive->n_nodes - MAX_NODES);
    page_end_line(page);
}

static void write_primitive(struct page *page, const struct cm_result *result,
                            const struct cm_timed *primitive) {
    page_list(page, " ", INDENT);
    page_words(page, STYLE_NAME, primitive->primitive);
    page_end_line(page);
    if (text_equal(primitive->state, "planned")) {
        write_engine(page, primitive);
        begin_line(page, "workspace ");
        page_list(page, "", 2 * INDENT);
        page_item_number(page, STYLE_PLAIN, NUMBER_BYTES, primitive->workspace_bytes);
        page_print(page, STYLE_PLAIN, ", tensor cores %s", primitive->tensor_cores);
        if (primitive->plans_tried > 1)
            page_print(page, STYLE_PLAIN, ", candidate %" PRId64, primitive->plans_tried);
        page_end_line(page);
    }
    write_reason(page, primitive);
    write_nodes(page, result, primitive);
}

static void write_totals(struct page *page, const struct cm_result *result) {
    const struct cm_measure *measure = result->measure;
    const struct totals totals = add_up(measure);
    page_end_line(page);
    label_write(page, "planned");
    page_list(page, ", ", page->label_width);
    page_item_print(page, STYLE_PLAIN, "%zu of %zu distinct primitives", totals.n_planned,
                    totals.n);
    page_item_print(page, STYLE_PLAIN, "%" PRId64 " of %zu node%s", totals.planned_nodes,
                    result->n_nodes, text_plural((int64_t)result->n_nodes));
    page_item_percent(page, STYLE_PLAIN, totals.planned_macs, result->totals.macs, " of MACs");
    page_end_line(page);
    label_figure(page, "largest workspace", NUMBER_BYTES, totals.max_workspace);
    page_end_line(page);
}

void plan_write(struct page *page, const struct cm_result *result) {
    const struct cm_measure *measure = result->measure;
    if (!cm_result_planned(result)) return;
    page_rule(page, "Plans");
    page_paragraph(
        page, "The plan of each distinct primitive. Nothing was run, so there are no times.");
    label_write(page, "device");
    page_name(page, STYLE_PLAIN, measure->device);
    if (measure->architecture[0] != '\0')
        page_print(page, STYLE_PLAIN, ", %s", measure->architecture);
    page_end_line(page);
    label_write(page, "version");
    page_name(page, STYLE_PLAIN, measure->version);
    page_end_line(page);
    page_end_line(page);
    for (size_t i = 0; i < measure->n_primitives; i++)
        if (is_listed(&measure->primitives[i]))
            write_primitive(page, result, &measure->primitives[i]);
    write_totals(page, result);
    page_end_line(page);
}
