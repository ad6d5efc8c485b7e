/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The latency part of the summary: the backend, the share of the model with times, and the sums
 * over all layers.
 */
#include "report/text/sections.h"

#include <inttypes.h>

#include "costmodel/costmodel.h"
#include "report/page.h"
#include "report/table/columns.h"
#include "report/text/labels.h"
#include "report/text/timed.h"
#include "report/times.h"
#include "support/checked.h"
#include "support/text.h"

#include "support/banned.h"

/* `measured 97 nodes (99.98% of MACs), proxy 3 (0.00%), view 12 (0.00%)` */
static void write_states(struct page *page, const struct cm_result *result) {
    const struct cm_measure *measure = result->measure;
    label_write(page, "times");
    page_list(page, ", ", page->label_width);
    for (size_t i = 0; i < measure->n_states; i++) {
        struct text *item = page_item(page);
        const struct cm_state_share *share = &measure->states[i];
        text_append_name(item, share->state);
        text_printf(item, " %" PRId64, share->nodes);
        if (i == 0) text_printf(item, " node%s", text_plural(share->nodes));
        text_append(item, " (");
        number_append_percent(item, share->macs, result->totals.macs);
        text_append(item, i == 0 ? " of MACs)" : ")");
        page_item_end(page, STYLE_PLAIN);
    }
    page_end_line(page);
}

/* `no time:  NonZero 360 nodes (0.00% of MACs): data-dependent shape` */
static void write_untimed(struct page *page, const struct cm_result *result) {
    const struct cm_measure *measure = result->measure;
    for (size_t i = 0; i < measure->n_untimed; i++) {
        const struct cm_untimed *untimed = &measure->untimed[i];
        label_write(page, i == 0 ? "no time" : "");
        page_list(page, " ", page->label_width + 2);
        struct text *item = page_item(page);
        text_append_name(item, untimed->op);
        text_printf(item, " %" PRId64 " node%s (", untimed->nodes, text_plural(untimed->nodes));
        number_append_percent(item, untimed->macs, result->totals.macs);
        text_append(item, " of MACs):");
        page_item_end(page, STYLE_PLAIN);
        page_words(page, STYLE_PLAIN, untimed->reason);
        page_end_line(page);
    }
}

/* `placed:  99.48% of the imported time, copy 3 layers (2.10%)` */
static void write_placed(struct page *page, const struct cm_result *result) {
    static const char *const states[] = {"copy", "opaque", "unplaced"};
    const struct cm_measure *measure = result->measure;
    label_write(page, "placed");
    page_list(page, ", ", page->label_width);
    struct text *item = page_item(page);
    number_append_percent(item, measure->placed_share, CM_RATIO_ONE);
    text_append(item, " of the imported time");
    page_item_end(page, STYLE_PLAIN);
    for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
        int64_t n = 0;
        int64_t sum = 0;
        for (size_t k = 0; k < measure->n_primitives; k++) {
            if (!text_equal(measure->primitives[k].state, states[i])) continue;
            n++;
            sum = checked_add_known(sum, measure->primitives[k].median_ps);
        }
        if (n == 0) continue;
        item = page_item(page);
        text_printf(item, "%s %" PRId64 " layer%s (", states[i], n, text_plural(n));
        number_append_percent(item, sum, result->totals.latency_ps);
        text_append(item, ")");
        page_item_end(page, STYLE_PLAIN);
    }
    page_end_line(page);
}

/* `cached:  12 of 14 primitives, since 2026-11-21T23:07:08Z` */
static void write_cached(struct page *page, const struct cm_measure *measure) {
    if (measure->n_cached == 0) return;
    label_write(page, "cached");
    page_list(page, " ", page->label_width);
    page_item_print(page, STYLE_PLAIN, "%" PRId64 " of %zu primitive%s, since",
                    measure->n_cached, measure->n_primitives,
                    text_plural((int64_t)measure->n_primitives));
    page_words(page, STYLE_PLAIN, measure->cached_since);
    page_end_line(page);
}

/* `layers cold:  1.43 ms, 1.19 x the whole` */
static void write_sum(struct page *page, const char *label, int64_t sum, int64_t network_ps) {
    if (!is_known(sum) || network_ps <= 0) return;
    label_write(page, label);
    page_list(page, " ", page->label_width);
    struct text *item = page_item(page);
    times_append(item, page->units, sum);
    text_printf(item, ", %.2f x the whole", (double)sum / (double)network_ps);
    page_item_end(page, STYLE_PLAIN);
    page_end_line(page);
}

/* `whole network:  1.2 ms measured, 49 nodes (99.98% of MACs)` */
static void write_network(struct page *page, const struct cm_result *result) {
    const struct cm_end_to_end *end_to_end = result->measure->end_to_end;
    if (end_to_end == NULL) return;
    label_write(page, "whole network");
    page_list(page, " ", page->label_width);
    struct text *item = page_item(page);
    if (!is_known(end_to_end->median_ps)) {
        text_append_name(item, end_to_end->state);
        text_append(item, ":");
        page_item_end(page, STYLE_WARNING);
        page_words(page, STYLE_PLAIN, end_to_end->reason);
        page_end_line(page);
        return;
    }
    times_append(item, page->units, end_to_end->median_ps);
    text_append(item, " ");
    text_append_name(item, end_to_end->state);
    text_printf(item, ", %" PRId64 " node%s (", end_to_end->nodes,
                text_plural(end_to_end->nodes));
    number_append_percent(item, end_to_end->macs, result->totals.macs);
    text_append(item, " of MACs)");
    page_item_end(page, STYLE_PLAIN);
    page_end_line(page);
    write_sum(page, "layers cold", end_to_end->sum_cold_ps, end_to_end->median_ps);
    write_sum(page, "layers warm", end_to_end->sum_warm_ps, end_to_end->median_ps);
}

/* `fwd FLOPS:  3.9 TFLOPS, of what has a time`: the words after the comma only if nodes with
 * work have no time. */
static void write_flops_rate(struct page *page, const struct cm_result *result) {
    const bool is_part = timed_lacks(result) > 0;
    const int64_t *of_modules = is_part ? timed_operations(page, result) : NULL;
    if (is_part && of_modules == NULL) return;
    label_write(page, "fwd FLOPS");
    page_list(page, " ", page->label_width);
    struct text *item = page_item(page);
    times_append_rate(
        item, page->units,
        is_part ? of_modules[0]
                : column_operations(result, result->totals.flops, result->totals.int_ops),
        result->totals.latency_ps);
    if (is_part) text_append(item, ", of what has a time");
    page_item_end(page, STYLE_PLAIN);
    page_end_line(page);
}

/* Two decimals, as DeepSpeed prints. An upper bound if some nodes have no time. */
static void write_samples(struct page *page, const struct cm_result *result) {
    const double samples = timed_samples_per_second(result);
    const int64_t n_lacking = timed_lacks(result);
    if (samples < 0) return;
    label_write(page, "samples/second");
    page_print(page, STYLE_PLAIN, "%s%.2f", timed_is_partial(result) ? "at most " : "",
               samples);
    if (n_lacking > 0)
        page_print(page, STYLE_PLAIN, ": %" PRId64 " node%s without a time", n_lacking,
                   text_plural(n_lacking));
    page_end_line(page);
}

/* `bandwidth:  1.9 TB/s, 39.60% of the roofline` */
static void write_achieved(struct page *page, const struct cm_result *result) {
    const struct cm_achieved *achieved = result->modules[0].achieved;
    if (!achieved) return;
    label_write(page, "bandwidth");
    page_list(page, ", ", page->label_width);
    page_item_number(page, STYLE_PLAIN, NUMBER_TRAFFIC, achieved->bytes_per_s);
    if (!result->measure->modelled && is_known(achieved->roofline)) {
        struct text *share = page_item(page);
        times_append_ratio(share, achieved->roofline);
        text_append(share, " of the roofline");
        page_item_end(page, STYLE_PLAIN);
    }
    page_end_line(page);
}

/* `limited by:  memory 81.20% of latency (40 nodes), launch 18.80% (9)` */
static void write_limiters(struct page *page, const struct cm_result *result) {
    const struct cm_measure *measure = result->measure;
    const bool nothing =
        measure->n_limiters == 1 && text_equal(measure->limiters[0].limited_by, "unknown");
    if (measure->n_limiters == 0 || nothing) return;
    label_write(page, "limited by");
    page_list(page, ", ", page->label_width);
    for (size_t i = 0; i < measure->n_limiters; i++) {
        struct text *item = page_item(page);
        text_append_name(item, measure->limiters[i].limited_by);
        text_append(item, " ");
        number_append_percent(item, measure->limiters[i].latency_ps, result->totals.latency_ps);
        text_printf(item, "%s (%" PRId64, i == 0 ? " of latency" : "",
                    measure->limiters[i].nodes);
        if (i == 0) text_printf(item, " node%s", text_plural(measure->limiters[i].nodes));
        text_append(item, ")");
        page_item_end(page, STYLE_PLAIN);
    }
    page_end_line(page);
}

/* Writes nothing if precision and layout are the defaults (fp32, auto). */
static void write_precision(struct page *page, const struct cm_measure *measure) {
    const bool laid_out = !text_equal(measure->layout, "auto");
    if (text_equal(measure->precision, "fp32") && !laid_out) return;
    label_write(page, "precision");
    page_print(page, STYLE_PLAIN, "%s", measure->precision);
    if (laid_out) page_print(page, STYLE_PLAIN, ", layout %s", measure->layout);
    page_end_line(page);
}

/* `runtime:  compiled, calibrated on ...` */
static void write_runtime(struct page *page, const struct cm_measure *measure) {
    if (measure->runtime == NULL) return;
    label_write(page, "runtime");
    page_list(page, ", ", page->label_width);
    page_item_print(page, STYLE_PLAIN, "%s", measure->runtime);
    if (measure->modelled) {
        struct text *item = page_item(page);
        text_append(item, measure->calibration ? "calibrated on " : "not calibrated");
        if (measure->calibration) text_append_name(item, measure->calibration);
        page_item_end(page, STYLE_PLAIN);
    }
    page_end_line(page);
}

void measured_write_import(struct page *page, const struct cm_result *result) {
    const struct cm_measure *measure = result->measure;
    label_sentence(page, "expected on", measure->device);
    label_sentence(page, "times from", measure->version);
    write_placed(page, result);
}

void measured_write(struct page *page, const struct cm_result *result) {
    const struct cm_measure *measure = result->measure;
    if (measure == NULL) return;
    page_end_line(page);
    label_sentence(page, "backend", measure->backend);
    label_sentence(page, measure->planned ? "no plans" : "no times", measure->problem);
    if (!cm_result_timed(result)) return;
    if (measure->imported) measured_write_import(page, result);
    if (!measure->imported) {
        label_sentence(page, "device", measure->device);
        label_sentence(page, measure->modelled ? "figures from" : "version", measure->version);
    }
    label_sentence(page, "warning", measure->warning);
    write_precision(page, measure);
    write_runtime(page, measure);
    write_states(page, result);
    write_untimed(page, result);
    size_t n_unstable = 0;
    for (size_t i = 0; i < measure->n_primitives; i++)
        n_unstable += measure->primitives[i].unstable;
    label_write(page, measure->imported ? "layers" : "primitives");
    page_print(page, STYLE_PLAIN, measure->imported ? "%zu" : "%zu distinct",
               measure->n_primitives);
    if (n_unstable > 0) page_print(page, STYLE_WARNING, ", %zu of them unstable", n_unstable);
    page_end_line(page);
    write_cached(page, measure);
    write_network(page, result);
    write_flops_rate(page, result);
    write_samples(page, result);
    write_achieved(page, result);
    write_limiters(page, result);
    if (measure->invented)
        label_sentence(page, "note",
                       "every latency is invented, taken from a table for tests: it stands for "
                       "nothing. Nothing was run.");
    if (measure->modelled)
        label_sentence(
            page, "note",
            "every time is modelled: the latency is the time expected of a good runtime; no "
            "implementation is faster than the lower bound. Nothing was run.");
}
