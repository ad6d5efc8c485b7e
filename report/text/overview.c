/* SPDX-License-Identifier: Apache-2.0 */
/* The main figures, a line each: parameters, MACs, FLOPs, memory, times and training step, and
 * the remarks that qualify them. DeepSpeed's listing and JSON have all other figures. */
#include <inttypes.h>

#include "costmodel/costmodel.h"
#include "report/text/labels.h"
#include "report/text/sections.h"
#include "report/text/timed.h"
#include "report/times.h"
#include "report/types.h"
#include "support/checked.h"
#include "support/text.h"

#define LABEL_COLUMNS  15
#define FIGURE_COLUMNS 10
#define MAX_NOTES      3

/* Starts a line: label, figure, exact figure. Remarks may follow. */
static void write_figure(struct page *page, const char *label, enum number_unit unit,
                         int64_t value, enum number_bound bound) {
    label_figure(page, label, unit, value);
    page_list(page, ", ", page->label_width + page->figure_width);
    page->first_item = !is_known(value);
    if (bound != NUMBER_NO_BOUND)
        page_item_print(page, STYLE_WARNING, "%s", number_bound_words(bound));
}

/* Writes `resnet50.onnx, batch 32, seq 128, opset 17, pytorch 2.1.0` */
static void write_title(struct page *page, const struct cm_result *result) {
    const int64_t micro_batches = cm_result_micro_batches(result);
    page_print(page, STYLE_TITLE, "%s",
               *result->model.path == '\0' ? "model" : result->model.path);
    page_list(page, ", ", 0);
    page->first_item = false;
    if (is_known(result->options.batch))
        page_add(page, "batch %" PRId64, result->options.batch);
    if (micro_batches > 1) page_add(page, "%" PRId64 " micro-batches", micro_batches);
    for (size_t i = 0; i < result->options.n_dims; i++) {
        const struct cm_named_size *dim = &result->options.dims[i];
        const bool is_batch = text_starts_with(dim->name, "batch");
        if (is_batch && dim->size == result->options.batch / micro_batches)
            continue; /* written above */
        page_add(page, "%s %" PRId64, *dim->name == '\0' ? "(nameless)" : dim->name, dim->size);
    }
    if (cm_result_converted(result)) page_add(page, "%s", result->options.precision);
    for (size_t i = 0; i < result->model.n_opsets; i++)
        if (*result->model.opsets[i].name == '\0')
            page_item_print(page, STYLE_SHARE, "opset %" PRId64, result->model.opsets[i].size);
    if (*result->model.producer != '\0')
        page_item_print(page, STYLE_SHARE, "%s", result->model.producer);
    page_end_line(page);
}

static void write_value(struct page *page, const struct cm_value *values, size_t n) {
    if (n == 0) return;
    page_item_print(page, STYLE_SHARE, "%s", values[0].name);
    type_append(page_item(page), &values[0].type);
    page_item_end(page, STYLE_SHARE);
    if (n > 1) page_item_print(page, STYLE_SHARE, "and %zu more", n - 1);
}

static enum number_bound bound_of(const struct cm_result *result, uint32_t bit) {
    return number_bound_of((result->totals.upper_bound & bit) != 0,
                           (result->totals.partial & bit) != 0);
}

static void write_work(struct page *page, const struct cm_result *result) {
    const struct cm_costs *totals = &result->totals;
    const struct cm_framework *framework = &result->framework;
    const int64_t batch = result->options.batch;
    write_figure(page, "params", NUMBER_PARAMS, totals->params, NUMBER_NO_BOUND);
    page_add(page, "%s %s%s", page_number(page, NUMBER_BYTES, totals->weight_bytes),
             cm_result_converted(result) ? "in " : "as stored",
             cm_result_converted(result) ? result->options.precision : "");
    if (framework->n_absent != 0 && framework->params != totals->params) {
        page_add(page, "in the framework %s",
                 is_known(framework->params) ? page_exact(page, framework->params) : "unknown");
        label_absent_params(page, framework);
    }
    page_end_line(page);
    write_figure(page, "MACs", NUMBER_FLOPS, totals->macs, bound_of(result, CM_COST_BIT(macs)));
    if (is_known(totals->int_macs) && totals->int_macs > 0)
        page_add(page, "%s of them of integers",
                 page_number(page, NUMBER_FLOPS, totals->int_macs));
    if (is_known(batch) && batch > 1 && is_known(totals->macs))
        page_add(page, "%s per sample", page_number(page, NUMBER_FLOPS, totals->macs / batch));
    page_end_line(page);
    write_figure(page, "FLOPs", NUMBER_FLOPS, totals->flops,
                 bound_of(result, CM_COST_BIT(flops)));
    page_add(page, "convention %s", result->options.convention);
    if (is_known(totals->int_ops) && totals->int_ops > 0)
        page_add(page, "%s integer operations",
                 page_number(page, NUMBER_FLOPS, totals->int_ops));
    page_end_line(page);
}

/* Writes `memory:  411 MB  (410,721,952), weights 102 MB, peak activations 308 MB` */
static void write_memory(struct page *page, const struct cm_result *result) {
    const struct cm_memory *memory = &result->memory;
    const bool is_partial = (result->totals.partial & CM_COST_BIT(activation_bytes)) != 0;
    write_figure(page, "memory", NUMBER_BYTES, memory->required_bytes,
                 number_bound_of(memory->upper_bound, is_partial));
    if (result->device_memory.present)
        page_add(page, "%s to %s in 9 of 10 processes that train",
                 page_number(page, NUMBER_BYTES, result->device_memory.low_bytes),
                 page_number(page, NUMBER_BYTES, result->device_memory.high_bytes));
    page_add(page, "weights %s", page_number(page, NUMBER_BYTES, result->totals.weight_bytes));
    const enum number_bound of_peak = number_bound_of(memory->peak_upper_bound, is_partial);
    page_add(page, "peak activations %s%s%s", number_bound_words(of_peak),
             of_peak == NUMBER_NO_BOUND ? "" : " ",
             page_number(page, NUMBER_BYTES, memory->peak_activation_bytes));
    page_end_line(page);
    memory_write_schedule(page, result);
}

/* Writes `training:  3.09 G  (3,089,981,824), FLOPs of a step with adam, ...` */
static void write_training(struct page *page, const struct cm_training *training) {
    if (!training->present) return;
    write_figure(page, "training", NUMBER_FLOPS, training->iteration_flops, NUMBER_NO_BOUND);
    page_add(page, "FLOPs of a step with %s", training->optimizer);
    if (training->shard_gpus > 0)
        page_add(page, "on one of %" PRId64 " GPUs (ZeRO %" PRId64 ")", training->shard_gpus,
                 training->zero_stage);
    page_add(page, "%s backward MACs",
             page_number(page, NUMBER_FLOPS, training->backward_macs));
    page_add(page, "saved activations %s",
             page_number(page, NUMBER_BYTES, training->saved_bytes));
    page_add(page, "gradients %s", page_number(page, NUMBER_BYTES, training->gradient_bytes));
    page_add(page, "optimizer states %s",
             page_number(page, NUMBER_BYTES, training->optimizer_bytes));
    if (training->frozen > 0)
        page_add(page, "%s params frozen", page_number(page, NUMBER_PARAMS, training->frozen));
    if (training->restored_norms > 0)
        page_add(page, "%s restored (not with --as-exported)",
                 page_count(page, training->restored_norms, "folded norm"));
    page_end_line(page);
}

/* Writes `device:  NVIDIA H200 SXM, times modelled, nothing was run, fp16, compiled,
 * calibrated` */
static void write_device(struct page *page, const struct cm_result *result) {
    const struct cm_measure *measure = result->measure;
    label_list(page, "device", ", ", 0);
    page_add(page, "%s", measure->device);
    page_add(page, "%s",
             measure->invented   ? "times invented for tests"
             : measure->modelled ? "times modelled, nothing was run"
                                 : "times measured");
    if (result->options.precision) page_add(page, "%s", result->options.precision);
    if (!text_equal(measure->layout, "auto")) page_add(page, "%s", measure->layout);
    if (measure->runtime != NULL) page_add(page, "%s", measure->runtime);
    if (measure->modelled && measure->runtime != NULL)
        page_item_print(page, measure->calibration ? STYLE_PLAIN : STYLE_WARNING,
                        measure->calibration ? "calibrated with %s" : "not calibrated",
                        result->time_error.calibration);
    page_end_line(page);
    label_sentence(page, "warning", measure->warning);
}

/* Writes `no time:  3 nodes (0.02% of MACs), the largest: NonZero data-dependent shape` */
static void write_untimed(struct page *page, const struct cm_result *result) {
    const struct cm_measure *measure = result->measure;
    const int64_t nodes = timed_lacks(result);
    int64_t macs = 0;
    if (nodes == 0) return;
    for (size_t i = 0; i < measure->n_untimed; i++)
        checked_add_to(&macs, measure->untimed[i].macs);
    label_list(page, "no time", " ", 0);
    page_item_print(page, STYLE_WARNING,
                    "%s (%s of MACs), the largest:", page_count(page, nodes, "node"),
                    page_percent(page, macs, result->totals.macs));
    page_add(page, "%s", measure->untimed[0].op);
    page_words(page, STYLE_PLAIN, measure->untimed[0].reason);
    page_end_line(page);
}

static void write_network(struct page *page, const struct cm_end_to_end *end_to_end) {
    if (end_to_end == NULL) return;
    label_list(page, "network", " ", 0);
    if (is_known(end_to_end->median_ps))
        page_item_print(page, STYLE_TITLE, "%s for the whole network",
                        page_time(page, end_to_end->median_ps));
    else
        page_item_print(page, STYLE_WARNING, "%s:", end_to_end->state);
    page_words(page, STYLE_PLAIN, end_to_end->reason);
    page_end_line(page);
}

/* Writes `advice:  tensorrt (gain 37.42% of the time), channels` */
static void write_advice(struct page *page, const struct cm_result *result) {
    if (result->n_advice == 0) return;
    label_list(page, "advice", ", ", 0);
    for (size_t i = 0; i < result->n_advice; i++) {
        const struct cm_advice *advice = &result->advice[i];
        if (is_known(advice->gain_ps))
            page_add(page, "%s (gain %s%s of the time)", advice->name,
                     cm_result_modelled(result) ? "" : "at most ",
                     page_percent(page, advice->gain_ps, result->totals.latency_ps));
        else
            page_add(page, "%s", advice->name);
    }
    page_end_line(page);
}

/* Writes `1.1 to 1.5 ms in 8 of 10 networks`. */
static void write_interval(struct page *page, int64_t low, int64_t high,
                           const struct cm_time_error *error) {
    if (error->present && is_known(low) && is_known(high))
        page_add(page, "%s to %s in 8 of 10 networks", page_number(page, NUMBER_TIME, low),
                 page_number(page, NUMBER_TIME, high));
}

/* Writes `time:  1.26 ms   expected, 1.1 to 1.5 ms in 8 of 10 networks, lower bound 276 us,
 * 25427.46 samples/s`; samples/s are an upper bound if some nodes have no time. For a training
 * step also writes `step time:  3.9 ms expected for forward, backward and update, lower bound 1
 * ms, 8205.13 samples/s`. */
static void write_times(struct page *page, const struct cm_result *result) {
    const struct cm_training *training = &result->training;
    const double samples = timed_samples_per_second(result, result->totals.latency_ps);
    label_write(page, "time");
    page_list(page, "", 0);
    times_append_sum(page_item(page), page->units, &result->totals, page->options->unicode);
    page_item_end(page, STYLE_TITLE);
    label_pad(page);
    page_list(page, ", ", page->label_width + page->figure_width);
    if (result->measure->modelled) page_add(page, "expected");
    write_interval(page, result->time_error.latency_low_ps, result->time_error.latency_high_ps,
                   &result->time_error);
    if (!times_have_rates(result)) page_add(page, "of other shapes");
    if (cm_result_modelled(result) && is_known(result->totals.lower_bound_ps))
        page_add(page, "lower bound %s",
                 page_number(page, NUMBER_TIME, result->totals.lower_bound_ps));
    if (samples >= 0) {
        struct text *item = page_item(page);
        text_append(item, timed_is_partial(result) ? "at most " : "");
        number_append_real(item, samples, 2);
        text_append(item, training->present ? " samples/s of forward alone" : " samples/s");
        page_item_end(page, STYLE_TITLE);
    }
    page_end_line(page);
    if (!training->present || !is_known(training->iteration_ps)) return;
    label_write(page, "step time");
    page_list(page, "", 0);
    page_item_number(page, STYLE_TITLE, NUMBER_TIME, training->iteration_ps);
    label_pad(page);
    page_list(page, ", ", page->label_width + page->figure_width);
    page_add(page, "expected for forward, backward and update");
    write_interval(page, result->time_error.iteration_low_ps,
                   result->time_error.iteration_high_ps, &result->time_error);
    page_add(page, "lower bound %s",
             page_number(page, NUMBER_TIME, training->iteration_lower_bound_ps));
    const double trained = timed_samples_per_second(result, training->iteration_ps);
    if (trained >= 0) {
        struct text *item = page_item(page);
        number_append_real(item, trained, 2);
        text_append(item, " samples/s");
        page_item_end(page, STYLE_TITLE);
    }
    page_end_line(page);
}

/* Writes `price:  0.0123 for 1000 samples, at least 0.0101`, and the same of energy. */
static void write_price(struct page *page, const struct cm_price *price) {
    const struct {
        const char *label, *unit;
        int64_t value, least;
    } rows[] = {{"price", "", price->price, price->least_price},
                {"energy", " J", price->joules, price->least_joules}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!price->present || !is_known(rows[i].value)) continue;
        label_list(page, rows[i].label, ", ", 0);
        struct text *item = page_item(page);
        number_append_real(item, (double)rows[i].value / 1e6, 6);
        text_printf(item, "%s for 1000 samples", rows[i].unit);
        page_item_end(page, STYLE_PLAIN);
        if (is_known(rows[i].least)) {
            item = page_item(page);
            text_append(item, "at least ");
            number_append_real(item, (double)rows[i].least / 1e6, 6);
            page_item_end(page, STYLE_PLAIN);
        }
        page_end_line(page);
    }
}

static void write_measure(struct page *page, const struct cm_result *result) {
    const struct cm_measure *measure = result->measure;
    if (measure == NULL) return;
    label_sentence(page, measure->planned ? "no plans" : "no times", measure->problem);
    if (!cm_result_timed(result)) return;
    write_times(page, result);
    write_price(page, &result->price);
    write_network(page, measure->end_to_end);
    if (measure->imported)
        measured_write_import(page, result);
    else
        write_device(page, result);
    write_untimed(page, result);
    if (measure->quantization) label_sentence(page, "int8", measure->quantization->verdict);
    write_advice(page, result);
}

/* Writes the first diagnostics, including warnings: a report stored in a file needs them. */
static void write_notes(struct page *page, const struct cm_result *result) {
    size_t n = 0;
    for (size_t i = 0; i < result->n_diagnostics; i++) {
        if (text_equal(result->diagnostics[i].code, "backend"))
            continue; /* see write_measure */
        if (n++ < MAX_NOTES) label_diagnostic(page, &result->diagnostics[i]);
    }
    label_rest(page, n, MAX_NOTES);
    if (result->n_rebatched == 0) return;
    label_line(page, "re-batched", "%s that contained the batch size of the file",
               page_count(page, (int64_t)result->n_rebatched, "constant"));
}

void overview_write(struct page *page, const struct cm_result *result) {
    const size_t label_width = page->label_width;
    const size_t figure_width = page->figure_width;
    page->label_width = LABEL_COLUMNS;
    page->figure_width = FIGURE_COLUMNS;
    write_title(page, result);
    page_list(page, " ", 2); /* `input float[32, 3, 224, 224] -> output float[32, 1000]` */
    write_value(page, result->model.inputs, result->model.n_inputs);
    page_item_print(page, STYLE_SHARE, "%s", page->options->unicode ? "→" : "->");
    write_value(page, result->model.outputs, result->model.n_outputs);
    page_end_line(page);
    page_end_line(page);
    write_work(page, result);
    write_memory(page, result);
    memory_write_fit(page, result);
    write_training(page, &result->training);
    write_measure(page, result);
    label_operators(page, LABEL_DESCRIBED, STYLE_PLAIN, result->coverage.custom_ops,
                    result->coverage.n_custom_ops);
    write_notes(page, result);
    page->label_width = label_width;
    page->figure_width = figure_width;
}
