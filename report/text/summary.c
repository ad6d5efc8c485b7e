/* SPDX-License-Identifier: Apache-2.0 */
/* Section 1 of DeepSpeed's listing, the summary: model and options, totals with exact values,
 * the training step, and remarks: unknown operators and shapes, bound dims, re-batched
 * constants, diagnostics. */
#include "report/text/sections.h"

#include <inttypes.h>

#include "costmodel/costmodel.h"
#include "costmodel/llm.h"
#include "ops/flops/names/convention_names.h"
#include "report/table/columns.h"
#include "report/text/labels.h"
#include "report/text/timed.h"
#include "report/times.h"
#include "report/types.h"
#include "support/checked.h"

#define MAX_LINES 5 /* of inputs, outputs, re-batched constants; JSON lists all */

/* Writes `name = 3, other = 4`. */
static void write_sizes(struct page *page, const char *label, const struct cm_named_size *sizes,
                        size_t n, const char *nameless, const char *relation) {
    label_list(page, label, ", ", 0);
    for (size_t i = 0; i < n; i++) {
        const char *name = *sizes[i].name == '\0' ? nameless : sizes[i].name;
        page_add(page, "%s%s%s", name, relation, page_digits(page, sizes[i].size));
    }
    page_end_line(page);
}

static void write_values(struct page *page, const char *label, const struct cm_value *values,
                         size_t n) {
    for (size_t i = 0; i < n && i < MAX_LINES; i++) {
        label_list(page, i == 0 ? label : "", " ", 2);
        page_add(page, "%s", values[i].name);
        type_append(page_item(page), &values[i].type);
        page_item_end(page, STYLE_PLAIN);
        page_end_line(page);
    }
    label_rest(page, n, MAX_LINES);
}

/* Distinct names of fused patterns to list; a stored report may contain any number. */
#define MAX_NAMES 32

/* Writes `fused patterns:     LayerNorm 25, GELU 12, Attention 12`: the patterns by name, in
 * order of first occurrence. */
static void write_fused_patterns(struct page *page, const struct cm_result *result,
                                 const char *label, bool foldable) {
    struct {
        const char *name;
        size_t n;
    } names[MAX_NAMES];
    size_t n = 0;
    for (size_t i = 0; i < result->n_fused_patterns; i++) {
        size_t k = 0;
        if (result->fused_patterns[i].foldable != foldable) continue;
        while (k < n && !text_equal(names[k].name, result->fused_patterns[i].name)) k++;
        if (k == MAX_NAMES) continue;
        if (k == n) {
            names[n].name = result->fused_patterns[i].name;
            names[n++].n = 0;
        }
        names[k].n++;
    }
    if (n == 0) return;
    label_list(page, label, ", ", 0);
    for (size_t i = 0; i < n; i++) page_add(page, "%s %zu", names[i].name, names[i].n);
    page_end_line(page);
}

static void write_options(struct page *page, const struct cm_result *result) {
    const struct cm_convention *convention = conventions_find(result->options.convention);
    if (is_known(result->options.batch))
        label_line(page, "batch", "%" PRId64, result->options.batch);
    else
        label_line(page, "batch", "none: no input axis is the batch");
    label_line(page, "convention", "%s%s%s", result->options.convention, convention ? ": " : "",
               convention ? convention->meaning : "");
    label_name(page, "mode", result->options.mode);
    if (result->n_module_sources > 0) label_list(page, "modules from", ", ", 0);
    for (size_t i = 0; i < result->n_module_sources; i++) {
        const struct cm_name_count *source = &result->module_sources[i];
        page_add(page, "%s %s", source->name,
                 i == 0 ? page_count(page, source->count, "node")
                        : page_digits(page, source->count));
    }
    if (result->n_module_sources > 0) page_end_line(page);
    write_fused_patterns(page, result, "fused patterns", false);
    write_fused_patterns(page, result, "foldable", true);
    label_name(page, "group", result->options.group);
    if (cm_result_converted(result))
        label_line(page, "precision", "%s, the file has %s", result->options.precision,
                   result->options.file_precision);
}

/* Writes the parameter count of the framework if it differs, and why: "106 tensors folded or
 * merged, norm1.weight is shared by 25 modules". */
static void write_framework(struct page *page, const struct cm_result *result) {
    static const char label[] = "framework params";
    const struct cm_framework *framework = &result->framework;
    if (framework->n_absent == 0 || framework->params == result->totals.params) return;
    if (is_known(framework->params)) {
        label_figure(page, label, NUMBER_PARAMS, framework->params);
        page_print(page, STYLE_PLAIN, ", ");
        page_list(page, ", ", page->label_width + 2);
    } else {
        label_list(page, label, ", ", 2);
        page_add(page, "unknown");
    }
    label_absent_params(page, framework);
    if (framework->n_sharing > 0)
        page_add(page, "%s is shared by %" PRId64 " modules", framework->shared,
                 framework->n_sharing);
    page_end_line(page);
}

/* Writes the lines that DeepSpeed prints of its engine, in its layout, if the model or the step
 * is divided. Experts are not apart. */
static void write_world(struct page *page, const struct cm_result *result) {
    const struct cm_training *training = &result->training;
    const struct cm_llm *llm = page->options->llm;
    const bool is_sharded = training->present && training->shard_gpus > 0;
    if (llm == NULL && !is_sharded) return;
    const int64_t mp = llm ? checked_mul(llm->tp, llm->pp) : 1;
    const int64_t dp = is_sharded ? training->shard_gpus : 1;
    const int64_t params = llm ? llm->params_per_gpu : result->totals.params;
    const int64_t batch = result->options.batch;
    const struct {
        const char *label, *value;
    } lines[] = {
        {"world size: ", page_digits(page, checked_mul(mp, dp))},
        {"data parallel size: ", page_digits(page, dp)},
        {"model parallel size: ", page_digits(page, mp)},
        {"batch size per GPU: ",
         page_digits(page, is_known(batch) ? batch / cm_result_micro_batches(result) : batch)},
        {"params per GPU: ", page_number(page, NUMBER_PARAMS, params)},
        {"params of model = params per GPU * mp_size: ",
         page_number(page, NUMBER_PARAMS, checked_mul(params, mp))},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        page_line(page, STYLE_PLAIN, "%-70s  %-8s", lines[i].label, lines[i].value);
    page_end_line(page);
}

static void write_totals(struct page *page, const struct cm_result *result) {
    const char *kind = times_kind(result);
    for (size_t i = 0; i < n_columns; i++) {
        const struct column *column = &columns[i];
        if (!column_is_there(column, result)) continue;
        if (!column_is_printed(column, &result->totals)) continue;
        label_figure(page, column->heading, column->unit, column_get(column, &result->totals));
        const enum number_bound bound = column_bound(column, &result->totals);
        if (column->timed)
            page_print(page, STYLE_PLAIN, " ps%s%s%s", *kind == '\0' ? "" : ", ", kind,
                       cm_result_modelled(result) && !column->modelled ? " expected time" : "");
        if (bound != NUMBER_NO_BOUND)
            page_print(page, STYLE_PLAIN, ", %s", number_bound_words(bound));
        page_end_line(page);
        if (text_equal(column->key, "params")) write_framework(page, result);
    }
}

static void write_line(struct page *page, const char *label, enum number_unit unit,
                       int64_t value) {
    label_figure(page, label, unit, value);
    page_end_line(page);
}

/* Writes nothing for 0, or if unknown, as in results of earlier versions. */
static void write_int_ops(struct page *page, const char *label, int64_t int_ops) {
    if (int_ops != 0 && int_ops != CM_UNKNOWN) write_line(page, label, NUMBER_FLOPS, int_ops);
}

static void write_time(struct page *page, const char *label, int64_t ps, const char *kind) {
    label_figure(page, label, NUMBER_TIME, ps);
    page_line(page, STYLE_PLAIN, " ps, modelled%s", kind);
}

/* Writes nothing for 0, or if unknown, as in results of earlier versions. */
static void write_some(struct page *page, const char *label, int64_t bytes) {
    if (is_known(bytes) && bytes > 0) write_line(page, label, NUMBER_BYTES, bytes);
}

static void write_training(struct page *page, const struct cm_result *result) {
    const struct cm_training *training = &result->training;
    if (!training->present) return;
    page_end_line(page);
    label_line(page, "training", "%s", training->optimizer);
    if (training->restored_norms > 0)
        label_line(page, "norms restored",
                   "%" PRId64 " that the exporter had folded (not with --as-exported)",
                   training->restored_norms);
    if (training->shard_gpus > 0)
        label_line(page, "sharded", "ZeRO %" PRId64 ", figures of one of %" PRId64 " GPUs%s%s",
                   training->zero_stage, training->shard_gpus,
                   *training->offload ? ", offloaded: " : "", training->offload);
    if (cm_result_micro_batches(result) > 1)
        label_line(page, "micro-batches", "%" PRId64, training->micro_batches);
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
    if (training->iteration_ps != CM_UNKNOWN) { /* with a modelled device */
        write_time(page, "bwd latency", training->backward_ps, " expected time");
        write_time(page, "update latency", training->update_ps, " expected time");
        write_time(page, "iter latency", training->iteration_ps, " expected time");
        write_time(page, "iter lower bound", training->iteration_lower_bound_ps, "");
        const double samples = timed_samples_per_second(result, training->iteration_ps);
        if (samples >= 0) label_line(page, "iter samples/s", "%.2f", samples);
    }
    write_line(page, "weights held", NUMBER_BYTES, training->weight_bytes);
    write_line(page, "gradients", NUMBER_BYTES, training->gradient_bytes);
    write_line(page, "optimizer states", NUMBER_BYTES, training->optimizer_bytes);
    write_some(page, "fp32 weights", training->master_bytes);
    write_some(page, "gathered", training->gather_bytes);
    if (training->shard_gpus > 0)
        write_line(page, "model states", NUMBER_BYTES, training->model_state_bytes);
    write_some(page, "held by the host", training->host_bytes);
    write_line(page, "saved activations", NUMBER_BYTES, training->saved_bytes);
    write_some(page, "of them weight copies", training->weight_copy_bytes);
    write_line(page, "peak of a step", NUMBER_BYTES, training->peak_bytes);
    label_write(page, "");
    if (training->peak_node < result->n_nodes) {
        const struct cm_node *node = &result->nodes[training->peak_node];
        page_print(page, STYLE_SHARE, "at node %zu, ", training->peak_node);
        page_print(page, STYLE_SHARE, "%s", *node->name == '\0' ? node->op : node->name);
        page_print(page, STYLE_SHARE, ", ");
    }
    page_line(page, STYLE_SHARE, "%s", training->peak_phase);
    memory_write_device(page, result);
}

static void write_unknown_ops(struct page *page, const struct cm_coverage *coverage) {
    int64_t n_nodes = 0;
    if (coverage->n_unknown_ops == 0) return;
    label_operators(page, "unknown operators", STYLE_WARNING, coverage->unknown_ops,
                    coverage->n_unknown_ops);
    for (size_t i = 0; i < coverage->n_unknown_ops; i++)
        checked_add_to(&n_nodes, coverage->unknown_ops[i].count);
    label_list(page, "", " ", 0);
    page_add(page, "%" PRId64 " of %s (%s):", n_nodes,
             page_count(page, coverage->nodes, "node"),
             page_percent(page, n_nodes, coverage->nodes));
    page_words(page, STYLE_PLAIN, "their costs are not included");
    page_end_line(page);
}

static void write_unknown_shapes(struct page *page, const struct cm_coverage *coverage) {
    if (coverage->unknown_shapes == 0) return;
    label_write(page, "unknown shapes");
    page_print(page, STYLE_WARNING, "%s",
               page_count(page, coverage->unknown_shapes, "node output"));
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
    label_line(page, "re-batched", "%s that contained the batch size of the file",
               page_count(page, (int64_t)result->n_rebatched, "constant"));
    for (size_t i = 0; i < result->n_rebatched && i < MAX_LINES; i++) {
        const struct cm_rebatched *constant = &result->rebatched[i];
        label_list(page, "", " ", 2);
        page_add(page, "%s", constant->node_name);
        page_add(page, "(%s, %s[%" PRId64 "] of \"%s\"):", constant->op, constant->what,
                 constant->axis, constant->input);
        page_add(page, "%" PRId64 " -> %" PRId64, constant->from, constant->to);
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
    if (result->options.n_dims > 0)
        write_sizes(page, "bound dims", result->options.dims, result->options.n_dims,
                    "(nameless)", " = ");
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
    write_sizes(page, "opset", result->model.opsets, result->model.n_opsets, "ai.onnx", " ");
    write_values(page, "inputs", result->model.inputs, result->model.n_inputs);
    write_values(page, "outputs", result->model.outputs, result->model.n_outputs);
    write_options(page, result);
    page_end_line(page);
    write_world(page, result);
    write_totals(page, result);
    memory_write(page, result);
    write_training(page, result);
    measured_write(page, result);
    write_remarks(page, result);
}
