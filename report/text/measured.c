/* SPDX-License-Identifier: Apache-2.0 */
/* The latency part of the summary: backend, share of the model with times, sums of layers. */
#include "report/text/sections.h"

#include <inttypes.h>

#include "costmodel/costmodel.h"
#include "report/table/columns.h"
#include "report/text/labels.h"
#include "report/text/timed.h"
#include "report/times.h"
#include "support/checked.h"
#include "support/text.h"

#define MAX_REGIONS 10

/* Writes `measured 97 nodes (99.98% of MACs), proxy 3 (0.00%), view 12 (0.00%)`. A node without
 * a kernel of its own has MACs if the kernel of another node computes them: fused attention. */
static void write_states(struct page *page, const struct cm_result *result) {
    label_list(page, "times", ", ", 0);
    for (size_t i = 0; i < result->measure->n_states; i++) {
        const struct cm_state_share *share = &result->measure->states[i];
        const bool is_inside = text_equal(share->state, "view") && share->macs > 0;
        page_add(
            page, "%s %s (%s%s)", is_inside ? "in kernels of other nodes" : share->state,
            i == 0 ? page_count(page, share->nodes, "node") : page_digits(page, share->nodes),
            page_percent(page, share->macs, result->totals.macs), i == 0 ? " of MACs" : "");
    }
    page_end_line(page);
}

/* Writes `no time:  NonZero 360 nodes (0.00% of MACs): data-dependent shape` */
static void write_untimed(struct page *page, const struct cm_result *result) {
    for (size_t i = 0; i < result->measure->n_untimed; i++) {
        const struct cm_untimed *untimed = &result->measure->untimed[i];
        label_list(page, i == 0 ? "no time" : "", " ", 2);
        page_add(page, "%s %s (%s of MACs):", untimed->op,
                 page_count(page, untimed->nodes, "node"),
                 page_percent(page, untimed->macs, result->totals.macs));
        page_words(page, STYLE_PLAIN, untimed->reason);
        page_end_line(page);
    }
}

/* Writes `layers cold:  1.43 ms, 1.19 x the whole` */
static void write_sum(struct page *page, const char *label, int64_t sum, int64_t network_ps) {
    if (!is_known(sum) || network_ps <= 0) return;
    label_line(page, label, "%s, %.2f x the whole", page_time(page, sum),
               (double)sum / (double)network_ps);
}

/* Writes `whole network:  1.2 ms measured, 49 nodes (99.98% of MACs)` */
static void write_network(struct page *page, const struct cm_result *result) {
    const struct cm_end_to_end *end_to_end = result->measure->end_to_end;
    if (end_to_end == NULL) return;
    label_list(page, "whole network", " ", 0);
    if (!is_known(end_to_end->median_ps)) {
        page_item_print(page, STYLE_WARNING, "%s:", end_to_end->state);
        page_words(page, STYLE_PLAIN, end_to_end->reason);
        page_end_line(page);
        return;
    }
    page_add(page, "%s %s, %s (%s of MACs)", page_time(page, end_to_end->median_ps),
             end_to_end->state, page_count(page, end_to_end->nodes, "node"),
             page_percent(page, end_to_end->macs, result->totals.macs));
    page_end_line(page);
    write_sum(page, "layers cold", end_to_end->sum_cold_ps, end_to_end->median_ps);
    write_sum(page, "layers warm", end_to_end->sum_warm_ps, end_to_end->median_ps);
}

/* Writes `fwd FLOPS:  3.9 TFLOPS`, followed by `, of what has a time` if nodes with work have
 * no time; `samples/second:  25427.46`, an upper bound if nodes have no time; and
 * `bandwidth:  1.9 TB/s, 39.60% of the roofline`. */
static void write_rates(struct page *page, const struct cm_result *result) {
    const struct cm_costs *totals = &result->totals;
    const struct cm_achieved *achieved = result->modules[0].achieved;
    const double samples = timed_samples_per_second(result, totals->latency_ps);
    const int64_t n_lacking = timed_lacks(result);
    const int64_t *of_modules = n_lacking > 0 ? timed_operations(page, result) : NULL;
    if ((n_lacking > 0 && of_modules == NULL) || !times_have_rates(result)) return;
    label_list(page, "fwd FLOPS", " ", 0);
    struct text *item = page_item(page);
    times_append_rate(item, page->units, result,
                      of_modules ? of_modules[0]
                                 : column_operations(result, totals->flops, totals->int_ops),
                      totals->latency_ps);
    if (n_lacking > 0) text_append(item, ", of what has a time");
    page_item_end(page, STYLE_PLAIN);
    page_end_line(page);
    if (samples >= 0) {
        label_write(page, result->training.present ? "fwd samples/s" : "samples/second");
        page_print(page, STYLE_PLAIN, "%s%.2f", timed_is_partial(result) ? "at most " : "",
                   samples);
        if (n_lacking > 0)
            page_print(page, STYLE_PLAIN, ": %s without a time",
                       page_count(page, n_lacking, "node"));
        page_end_line(page);
    }
    if (!achieved) return;
    label_list(page, "bandwidth", ", ", 0);
    page_item_number(page, STYLE_PLAIN, NUMBER_TRAFFIC, achieved->bytes_per_s);
    if (!result->measure->modelled && is_known(achieved->roofline))
        page_add(page, "%s of the roofline",
                 page_percent(page, achieved->roofline, CM_RATIO_ONE));
    page_end_line(page);
}

/* Returns ": why" if limited_by names no resource, else "". */
static const char *why_limited(const struct cm_measure *measure, const char *limited_by) {
    if (text_equal(limited_by, "occupancy")) return ": fewer blocks than multiprocessors";
    if (text_equal(limited_by, "kernel")) return ": far below the rates of the device";
    if (!text_equal(limited_by, "unknown")) return "";
    return *measure->device ? ": no rate of these products is known"
                            : ": no --device gives rates";
}

/* Writes `limited by:  memory 81.20% of latency (40 nodes), kernel 18.80% (9: far below ...)`
 */
static void write_limiters(struct page *page, const struct cm_result *result) {
    const struct cm_limiter_share *limiters = result->measure->limiters;
    const size_t n = result->measure->n_limiters;
    if (n == 0) return;
    label_list(page, "limited by", ", ", 0);
    for (size_t i = 0; i < n; i++) {
        const struct cm_limiter_share *share = &limiters[i];
        page_add(page, "%s %s%s (%s%s)", share->limited_by,
                 page_percent(page, share->latency_ps, result->totals.latency_ps),
                 i == 0 ? " of latency" : "",
                 i == 0 ? page_count(page, share->nodes, "node")
                        : page_digits(page, share->nodes),
                 why_limited(result->measure, share->limited_by));
    }
    page_end_line(page);
}

/* Writes `whole run:  5.31 ms, the layers 5.2 ms`; `rates:  unknown: layer 'conv' has ..` if
 * the times belong to other shapes; and `placed:  99.48% of the imported time, copy 3 layers
 * (2.10%)` */
void measured_write_import(struct page *page, const struct cm_result *result) {
    static const char *const states[] = {"copy", "opaque", "unplaced"};
    const struct cm_measure *measure = result->measure;
    label_sentence(page, "expected on", measure->device);
    label_sentence(page, "times from", measure->version);
    if (is_known(measure->run_ps))
        label_line(page, "whole run", "%s, the layers %s", page_time(page, measure->run_ps),
                   page_time(page, result->totals.latency_ps));
    if (is_known(measure->gap_ps))
        label_line(page, "gaps", "%s without a layer%s%s", page_time(page, measure->gap_ps),
                   is_known(measure->gap_host_ps) ? ", of which the host runs operators " : "",
                   is_known(measure->gap_host_ps) ? page_time(page, measure->gap_host_ps) : "");
    if (!times_have_rates(result)) {
        label_list(page, "rates", " ", 0);
        page_item_print(page, STYLE_WARNING, "unknown:");
        page_words(page, STYLE_PLAIN, measure->other_shape);
        page_end_line(page);
    }
    label_list(page, "placed", ", ", 0);
    page_add(page, "%s of the imported time",
             page_percent(page, measure->placed_share, CM_RATIO_ONE));
    for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
        int64_t n = 0;
        int64_t sum = 0;
        for (size_t k = 0; k < measure->n_primitives; k++) {
            if (!text_equal(measure->primitives[k].state, states[i])) continue;
            n++;
            checked_add_known_to(&sum, measure->primitives[k].median_ps);
        }
        if (n > 0)
            page_add(page, "%s %s (%s)", states[i], page_count(page, n, "layer"),
                     page_percent(page, sum, result->totals.latency_ps));
    }
    page_end_line(page);
}

/* Writes `error:  median 9%, 90th percentile 23%, on 282 times of other families`, and
 * `host:  1.2 ms of waiting`. */
static void write_error(struct page *page, const struct cm_time_error *error) {
    if (!error->present) return;
    if (is_known(error->n_times)) {
        label_list(page, "error", ", ", 0);
        page_add(page, "median %s", page_percent(page, error->median_error, CM_RATIO_ONE));
        page_add(page, "90th percentile %s",
                 page_percent(page, error->p90_error, CM_RATIO_ONE));
        page_add(page, "on %s of families that the fit did not see",
                 page_count(page, error->n_times, "time"));
        page_end_line(page);
    }
    if (error->host_ps > 0)
        label_line(page, "host", "%s of the time the device waits for it",
                   page_number(page, NUMBER_TIME, error->host_ps));
}

/* Writes the device, the layout unless auto, and `runtime:  compiled,
 * calibrated on ...`. */
static void write_setting(struct page *page, const struct cm_result *result) {
    const struct cm_measure *measure = result->measure;
    if (measure->imported) {
        measured_write_import(page, result);
    } else {
        label_sentence(page, "device", measure->device);
        label_sentence(page, measure->modelled ? "figures from" : "version", measure->version);
    }
    label_sentence(page, "warning", measure->warning);
    if (!text_equal(measure->layout, "auto")) label_line(page, "layout", "%s", measure->layout);
    if (measure->runtime == NULL) return;
    label_list(page, "runtime", ", ", 0);
    page_add(page, "%s", measure->runtime);
    if (measure->modelled)
        page_add(page, "%s%s", measure->calibration ? "calibrated on " : "not calibrated",
                 measure->calibration ? measure->calibration : "");
    page_end_line(page);
    write_error(page, &result->time_error);
}

/* Writes `primitives:  14 distinct`, and `cached:  12 of 14 primitives, since
 * 2026-11-21T23:07:08Z` */
static void write_primitives(struct page *page, const struct cm_measure *measure) {
    size_t n_unstable = 0;
    for (size_t i = 0; i < measure->n_primitives; i++)
        n_unstable += measure->primitives[i].unstable;
    label_write(page, measure->imported ? "layers" : "primitives");
    page_print(page, STYLE_PLAIN, measure->imported ? "%zu" : "%zu distinct",
               measure->n_primitives);
    if (n_unstable > 0) page_print(page, STYLE_WARNING, ", %zu of them unstable", n_unstable);
    page_end_line(page);
    if (measure->n_cached == 0) return;
    label_list(page, "cached", " ", 0);
    page_add(page, "%" PRId64 " of %s, since", measure->n_cached,
             page_count(page, (int64_t)measure->n_primitives, "primitive"));
    page_words(page, STYLE_PLAIN, measure->cached_since);
    page_end_line(page);
}

static void write_node(struct page *page, const struct cm_result *result, size_t node) {
    if (node < result->n_nodes && *result->nodes[node].name != '\0')
        page_item_print(page, STYLE_NAME, "%s", result->nodes[node].name);
    else
        page_add(page, "node %zu", node);
}

/* Writes `int8:  int8 will not help here: ..`, `conversions:  1.2 MB, 70.9 us`, and the longest
 * regions: `regions:  float 9.2 us (fp16: 9.7 us) from /a to /b because ..`. */
static void write_quantization(struct page *page, const struct cm_result *result) {
    const struct cm_quantization *from = result->measure->quantization;
    if (!from) return;
    label_sentence(page, "int8", from->verdict);
    if (from->conversion_bytes > 0)
        label_line(page, "conversions", "%s, %s",
                   page_number(page, NUMBER_BYTES, from->conversion_bytes),
                   page_time(page, from->conversion_ps));
    for (size_t i = 0; i < from->n_regions && i < MAX_REGIONS; i++) {
        const struct cm_quantized_region *region = &from->regions[i];
        label_list(page, i == 0 ? "regions" : "", " ", 2);
        page_add(page, "%s %s (%s: %s)", region->state, page_time(page, region->latency_ps),
                 from->float_precision, page_time(page, region->float_latency_ps));
        page_add(page, "from");
        write_node(page, result, region->first);
        page_add(page, "to");
        write_node(page, result, region->last);
        if (*region->reason != '\0') page_add(page, "because");
        page_words(page, STYLE_PLAIN, region->reason);
        page_end_line(page);
    }
    label_rest(page, from->n_regions, MAX_REGIONS);
}

void measured_write(struct page *page, const struct cm_result *result) {
    const struct cm_measure *measure = result->measure;
    if (measure == NULL) return;
    page_end_line(page);
    label_sentence(page, "backend", measure->backend);
    label_sentence(page, measure->planned ? "no plans" : "no times", measure->problem);
    if (!cm_result_timed(result)) return;
    write_setting(page, result);
    write_states(page, result);
    write_untimed(page, result);
    write_primitives(page, measure);
    write_network(page, result);
    write_rates(page, result);
    write_limiters(page, result);
    write_quantization(page, result);
    if (measure->invented)
        label_sentence(page, "note",
                       "every latency is invented, taken from a table for tests: it stands for "
                       "nothing. Nothing was run.");
    if (measure->modelled)
        label_sentence(
            page, "note",
            "every time is modelled: the latency is the time expected of a good runtime; "
            "nothing with its kernels is faster than the lower bound. Nothing was run.");
}
