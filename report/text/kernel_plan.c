/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel plan of each distinct primitive, or the reason why it has none. Nothing was run,
 * so there are no times. */
#include "report/text/sections.h"

#include <inttypes.h>

#include "costmodel/costmodel.h"
#include "report/text/labels.h"
#include "support/text.h"

#define INDENT    4
#define MAX_NODES 3 /* named; the rest is counted */

/* Returns false for the separate plan of a node whose fused group is planned too: such a
 * primitive has no nodes. */
static bool is_listed(const struct cm_timed *primitive) {
    return primitive->n_nodes > 0 || !text_equal(primitive->state, "planned");
}

static void begin_line(struct page *page, const char *label) {
    page_indent(page, INDENT);
    page_print(page, STYLE_PLAIN, "%s", label);
    page_list(page, " ", 2 * INDENT);
}

static void write_nodes(struct page *page, const struct cm_result *result,
                        const struct cm_timed *primitive) {
    begin_line(page, "");
    if (primitive->n_nodes == 0) {
        page_line(page, STYLE_PLAIN, "its nodes are planned one by one");
        return;
    }
    page_print(page, STYLE_PLAIN,
               "%s: ", page_count(page, (int64_t)primitive->n_nodes, "node"));
    page_list(page, ", ", 2 * INDENT);
    for (size_t i = 0; i < primitive->n_nodes && i < MAX_NODES; i++) {
        const size_t at = primitive->nodes[i]; /* unchecked if read from a file */
        if (at < result->n_nodes && result->nodes[at].name[0] != '\0')
            page_item_print(page, STYLE_NAME, "%s", result->nodes[at].name);
        else
            page_item_print(page, STYLE_NAME, "%zu", at);
    }
    if (primitive->n_nodes > MAX_NODES)
        page_print(page, STYLE_PLAIN, " and %zu more", primitive->n_nodes - MAX_NODES);
    page_end_line(page);
}

/* Writes `    cudnn graph: engine 38, unfused biases` and the workspace; then the reason why
 * there is no plan, or a note on the plan, for example that it is a substitute. */
static void write_primitive(struct page *page, const struct cm_result *result,
                            const struct cm_timed *primitive) {
    const bool planned = text_equal(primitive->state, "planned");
    page_list(page, " ", INDENT);
    page_words(page, STYLE_NAME, primitive->primitive);
    page_end_line(page);
    if (planned && (primitive->provider[0] != '\0' || primitive->algorithm[0] != '\0')) {
        begin_line(page, "");
        page_print(page, STYLE_PLAIN, "%s: ", primitive->provider);
        page_words(page, STYLE_PLAIN, primitive->algorithm);
        page_end_line(page);
    }
    if (planned) {
        begin_line(page, "workspace ");
        page_item_number(page, STYLE_PLAIN, NUMBER_BYTES, primitive->workspace_bytes);
        page_print(page, STYLE_PLAIN, ", tensor cores %s", primitive->tensor_cores);
        if (primitive->plans_tried > 1)
            page_print(page, STYLE_PLAIN, ", candidate %" PRId64, primitive->plans_tried);
        page_end_line(page);
    }
    if (primitive->reason[0] != '\0') {
        begin_line(page, planned ? "note: " : "");
        if (!planned) page_print(page, STYLE_WARNING, "%s: ", primitive->state);
        page_words(page, STYLE_PLAIN, primitive->reason);
        page_end_line(page);
    }
    write_nodes(page, result, primitive);
}

static void write_totals(struct page *page, const struct cm_result *result) {
    const struct cm_measure *measure = result->measure;
    size_t n = 0;
    size_t n_planned = 0;
    int64_t max_workspace = 0;
    struct cm_state_share planned = {.nodes = 0};
    for (size_t i = 0; i < measure->n_primitives; i++) {
        const struct cm_timed *primitive = &measure->primitives[i];
        n += is_listed(primitive);
        if (!is_listed(primitive) || !text_equal(primitive->state, "planned")) continue;
        n_planned++;
        if (primitive->workspace_bytes > max_workspace)
            max_workspace = primitive->workspace_bytes;
    }
    for (size_t i = 0; i < measure->n_states; i++)
        if (text_equal(measure->states[i].state, "planned")) planned = measure->states[i];
    page_end_line(page);
    label_list(page, "planned", ", ", 0);
    page_add(page, "%zu of %zu distinct primitives", n_planned, n);
    page_add(page, "%" PRId64 " of %s", planned.nodes,
             page_count(page, (int64_t)result->n_nodes, "node"));
    page_add(page, "%s of MACs", page_percent(page, planned.macs, result->totals.macs));
    page_end_line(page);
    label_figure(page, "largest workspace", NUMBER_BYTES, max_workspace);
    page_end_line(page);
}

void plan_write(struct page *page, const struct cm_result *result) {
    const struct cm_measure *measure = result->measure;
    if (!cm_result_planned(result)) return;
    page_rule(page, "Plans");
    page_paragraph(
        page, "The plan of each distinct primitive. Nothing was run, so there are no times.");
    label_line(page, "device", "%s%s%s", measure->device,
               measure->architecture[0] == '\0' ? "" : ", ", measure->architecture);
    label_line(page, "version", "%s", measure->version);
    page_end_line(page);
    for (size_t i = 0; i < measure->n_primitives; i++)
        if (is_listed(&measure->primitives[i]))
            write_primitive(page, result, &measure->primitives[i]);
    write_totals(page, result);
    page_end_line(page);
}
