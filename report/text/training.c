/* SPDX-License-Identifier: Apache-2.0 */
/* The training part of the summary: costs and memory of a training step. */
#include "costmodel/costmodel.h"
#include "report/page.h"
#include "report/text/labels.h"
#include "report/text/sections.h"

#include "support/banned.h"

static void write_line(struct page *page, const char *label, enum number_unit unit,
                       int64_t value) {
    label_figure(page, label, unit, value);
    page_end_line(page);
}

/* `at node 17, layer1.0/conv1, backward` */
static void write_training_peak(struct page *page, const struct cm_result *result) {
    const struct cm_training *training = &result->training;
    label_write(page, "");
    if (training->peak_node < result->n_nodes) {
        const struct cm_node *node = &result->nodes[training->peak_node];
        page_print(page, STYLE_SHARE, "at node %zu, ", training->peak_node);
        page_name(page, STYLE_SHARE, *node->name == '\0' ? node->op : node->name);
        page_print(page, STYLE_SHARE, ", ");
    }
    page_name(page, STYLE_SHARE, training->peak_phase);
    page_end_line(page);
}

/* Writes nothing for 0, or if unknown, as in reports of earlier versions. */
static void write_int_ops(struct page *page, const char *label, int64_t int_ops) {
    if (int_ops != 0 && int_ops != CM_UNKNOWN) write_line(page, label, NUMBER_FLOPS, int_ops);
}

static void write_time(struct page *page, const char *label, int64_t ps, const char *kind) {
    label_figure(page, label, NUMBER_TIME, ps);
    page_print(page, STYLE_PLAIN, " ps, modelled%s", kind);
    page_end_line(page);
}

/* Writes nothing without a modelled device. */
static void write_times(struct page *page, const struct cm_training *training) {
    if (training->iteration_ps == CM_UNKNOWN) return;
    write_time(page, "bwd latency", training->backward_ps, " expected time");
    write_time(page, "update latency", training->update_ps, " expected time");
    write_time(page, "iter latency", training->iteration_ps, " expected time");
    write_time(page, "iter lower bound", training->iteration_lower_bound_ps, "");
}

void training_write(struct page *page, const struct cm_result *result) {
    const struct cm_training *training = &result->training;
    if (!training->present) return;
    page_end_line(page);
    label_write(page, "training");
    page_name(page, STYLE_PLAIN, training->optimizer);
    if (training->amp) page_print(page, STYLE_PLAIN, ", mixed precision");
    page_end_line(page);
    write_line(page, "learned params", NUMBER_PARAMS, training->learned);
    if (training->frozen != 0)
        write_line(page, "frozen params", NUMBER_PARAMS, training->frozen);
    write_line(page, "bwd MACs", NUMBER_MACS, training->backward_macs);
    if (training->recompute_macs != 0 || training->recompute_flops != 0) {
        write_line(page, "recompute MACs", NUMBER_MACS, training->recompute_macs);
        write_line(page, "recompute flops", NUMBER_FLOPS, training->recompute_flops);
    }
    write_int_ops(page, "recompute int ops", training->recompute_int_ops);
    write_line(page, "bwd flops", NUMBER_FLOPS, training->backward_flops);
    write_line(page, "step flops", NUMBER_FLOPS, training->step_flops);
    write_line(page, "iter flops", NUMBER_FLOPS, training->iteration_flops);
    write_int_ops(page, "iter int ops", training->iteration_int_ops);
    write_times(page, training);
    write_line(page, "weights held", NUMBER_BYTES, training->weight_bytes);
    if (training->amp) write_line(page, "master weights", NUMBER_BYTES, training->master_bytes);
    write_line(page, "gradients", NUMBER_BYTES, training->gradient_bytes);
    write_line(page, "optimizer states", NUMBER_BYTES, training->optimizer_bytes);
    write_line(page, "saved activations", NUMBER_BYTES, training->saved_bytes);
    write_line(page, "peak of a step", NUMBER_BYTES, training->peak_bytes);
    write_training_peak(page, result);
}
