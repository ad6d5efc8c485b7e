/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of what the gate reads and writes: budget, baseline, verdict (docs/gate.md). */
#include "costmodel/check.h"

#include "report/json/json_check.h"
#include "report/json/json_document.h"
#include "report/json/json_rows.h"
#include "report/json/json_schema.h"
#include "support/arena.h"
#include "support/diag.h"

#include "support/banned.h"

static const struct json_field budget_fields[] = {
    OPTIONAL("convention", JSON_TEXT, struct cm_budget, convention,
             "whose rules count FLOPs: a name of `--convention`"),
    OPTIONAL_MANY("batches", JSON_INDICES, struct cm_budget, batches, n_batches, NULL,
                  "each limit is tried at each of them"),
    OPTIONAL_MANY("dims", JSON_SIZES, struct cm_budget, dims, n_dims, NULL,
                  "free dims by name, as `--dim`"),
    MANY("limits", JSON_TEXTS, struct cm_budget, limits, n_limits,
         "each as `macs <= 4.1G` (docs/gate.md)"),
};

static const struct json_record budget_record =
    CLOSED_RECORD(struct cm_budget, budget_fields, "budget", "Limits, and what to try them at");

static const struct json_field times_fields[] = {
    VALUE("state", JSON_TEXT, struct cm_baseline_times, state,
          "`measured`, `modelled` or `invented` (by a table, for tests)"),
    VALUE("device", JSON_TEXT, struct cm_baseline_times, device, "as it calls itself"),
    VALUE("precision", JSON_TEXT, struct cm_baseline_times, precision,
          "what fp32 was computed in"),
    VALUE("layout", JSON_TEXT, struct cm_baseline_times, layout, "of images"),
    VALUE("low_ps", JSON_COUNT, struct cm_baseline_times, low_ps,
          "the sum of what ran by first quartiles; equal to the next of what is modelled"),
    VALUE("high_ps", JSON_COUNT, struct cm_baseline_times, high_ps, "by third quartiles"),
    OPTIONAL("untimed_nodes", JSON_COUNT, struct cm_baseline_times, untimed_nodes,
             "nodes without a time"),
    OPTIONAL("doubt", JSON_TEXT, struct cm_baseline_times, doubt,
             "why they say little; empty: they do not"),
};

static const struct json_record times_record = RECORD(
    struct cm_baseline_times, times_fields, "times", "What is needed to compare times again");

#define FIGURES offsetof(struct cm_baseline_profile, figures)

/* The records of a whole result serve, as far as a baseline has what they name. */
static const struct json_field profile_fields[] = {
    {"options", JSON_OBJECT, false, FIGURES, 0, &json_options, NULL,
     "how it was taken, as in a profile"},
    {"totals", JSON_OBJECT, false, FIGURES, 0, &json_totals, NULL,
     "figures of the whole model"},
    OPTIONAL("peak_in_place_bytes", JSON_COUNT, struct cm_baseline_profile,
             figures.memory.peak_in_place_bytes, "as in `memory` of a profile"),
    OPTIONAL("arena_in_place_bytes", JSON_COUNT, struct cm_baseline_profile,
             figures.memory.arena_in_place_bytes, "as in `memory` of a profile"),
    OPTIONAL("required_bytes", JSON_COUNT, struct cm_baseline_profile,
             figures.memory.required_bytes,
             "weights and arena, or the peak of a training step"),
    OPTIONAL("memory_upper_bound", JSON_FLAG, struct cm_baseline_profile,
             figures.memory.upper_bound,
             "arena, required_bytes and peak_in_place_bytes are upper bounds"),
    OPTIONAL("peak_upper_bound", JSON_FLAG, struct cm_baseline_profile,
             figures.memory.peak_upper_bound, "peak_activation_bytes is an upper bound"),
    OPTIONAL_MANY("inputs", JSON_LIST, struct cm_baseline_profile, figures.model.inputs,
                  figures.model.n_inputs, &json_value, "as in `model` of a profile"),
    VALUE("alignment", JSON_COUNT, struct cm_baseline_profile, figures.memory.alignment,
          "of places in the arena, in bytes"),
    OBJECT("coverage", struct cm_baseline_profile, figures.coverage, json_coverage,
           "what was not understood"),
    PART("training", struct cm_baseline_profile, figures.training, json_training,
         "with `--optimizer`"),
    PART("times", struct cm_baseline_profile, times, times_record, "where a backend gave some"),
};

static const struct json_record profile_record = RECORD(
    struct cm_baseline_profile, profile_fields, "baseline_profile", "A model at one batch");

static const struct json_field spread_fields[] = {
    VALUE("low_ps", JSON_COUNT, struct cm_baseline_spread, low_ps,
          "the sum of what ran in it by first quartiles"),
    VALUE("high_ps", JSON_COUNT, struct cm_baseline_spread, high_ps, "by third quartiles"),
};

static const struct json_record spread_record =
    RECORD(struct cm_baseline_spread, spread_fields, "spread", "Between what a time lies");

static const char *const module_columns[] = {"params", "macs", "flops", NULL};

static const struct json_field module_fields[] = {
    VALUE("batch", JSON_COUNT, struct cm_baseline_module, batch,
          "of which profile; `null` where no axis of the inputs is a batch"),
    VALUE("path", JSON_TEXT, struct cm_baseline_module, module.path,
          "dotted; the root is empty and comes first of its batch"),
    VALUE("class", JSON_TEXT, struct cm_baseline_module, module.type,
          "as a framework prints it"),
    OPTIONAL("class_known", JSON_FLAG, struct cm_baseline_module, module.type_known,
             "`true` unless the class repeats the name"),
    OPTIONAL("arguments", JSON_TEXT, struct cm_baseline_module, module.arguments,
             "what stands in its brackets"),
    VALUE("calls", JSON_COUNT, struct cm_baseline_module, module.calls,
          "how often its scope was entered"),
    COSTS(JSON_FIRST, struct cm_baseline_module, module.costs, module_columns),
    COSTS(JSON_OTHERS, struct cm_baseline_module, module.costs, module_columns),
    OPTIONAL("peak_activation_bytes", JSON_COUNT, struct cm_baseline_module,
             module.peak_activation_bytes, "most alive at once of what is made inside"),
    OPTIONAL("upper_bound", JSON_BOUNDS, struct cm_baseline_module, module.costs.upper_bound,
             "keys of those of these figures that are upper bounds; the peak is one where "
             "activation_bytes is"),
    POINTER("training", struct cm_baseline_module, module.training, json_step,
            "share of a training step"),
    PART("times", struct cm_baseline_module, times, spread_record, "where a backend gave some"),
};

static const struct json_record module_record = RECORD(
    struct cm_baseline_module, module_fields, "baseline_module", "A module at one batch");

static const struct json_field change_fields[] = {
    VALUE("reason", JSON_TEXT, struct cm_baseline_change, reason, "as it was given"),
    VALUE("batch", JSON_COUNT, struct cm_baseline_change, batch,
          "of the changes: the first that was profiled"),
    MANY("change", JSON_SIZES, struct cm_baseline_change, changes, n_changes,
         "metric, and new less old"),
};

static const struct json_record change_record = RECORD(
    struct cm_baseline_change, change_fields, "change", "Why the baseline was written anew");

static const struct json_field baseline_fields[] = {
    VALUE("model", JSON_TEXT, struct cm_baseline, model,
          "name of the file, without its folder"),
    OPTIONAL_MANY("history", JSON_LIST, struct cm_baseline, history, n_history, &change_record,
                  "why it became what it is, the oldest first"),
    LIST("profiles", struct cm_baseline, profiles, n_profiles, profile_record,
         "one for each batch"),
    LIST("modules", struct cm_baseline, modules, n_modules, module_record,
         "a line each, those of the first batch first"),
};

static const struct json_record baseline_record = RECORD(
    struct cm_baseline, baseline_fields, "baseline", "What a model cost, to compare with");

static const struct json_field finding_fields[] = {
    VALUE("path", JSON_TEXT, struct cm_check_finding, path,
          "of the module; empty: the whole model"),
    VALUE("state", JSON_TEXT, struct cm_check_finding, state, "as of the case"),
    VALUE("new", JSON_COUNT, struct cm_check_finding, value, "what it is; `null` not known"),
    VALUE("old", JSON_COUNT, struct cm_check_finding, old,
          "the baseline's; `null`: there is none"),
    OPTIONAL("new_upper_bound", JSON_FLAG, struct cm_check_finding, upper_bound,
             "`new` is an upper bound"),
    OPTIONAL("old_upper_bound", JSON_FLAG, struct cm_check_finding, old_upper_bound,
             "`old` is an upper bound"),
    VALUE("allowed", JSON_COUNT, struct cm_check_finding, bound,
          "the most that the limit allows; `null`: not known"),
    VALUE("over", JSON_COUNT, struct cm_check_finding, over,
          "how much more than that, of a regression"),
    VALUE("because", JSON_TEXT, struct cm_check_finding, because,
          "why it is ambiguous or not compared; empty"),
};

static const struct json_record finding_record =
    RECORD(struct cm_check_finding, finding_fields, "finding",
           "A module, or the whole model, held against one limit");

static const struct json_field blame_fields[] = {
    VALUE("path", JSON_TEXT, struct cm_check_blame, path, "of the module"),
    VALUE("was", JSON_TEXT, struct cm_check_blame, was,
          "its path in the baseline; empty: it is new"),
    VALUE("change", JSON_TEXT, struct cm_check_blame, change,
          "`changed`, `added`, `removed` or `renamed`"),
    VALUE("new", JSON_COUNT, struct cm_check_blame, value,
          "what it costs, its children included; 0 of one that was removed"),
    VALUE("old", JSON_COUNT, struct cm_check_blame, old,
          "what it cost; 0 of one that was added"),
    OPTIONAL("new_upper_bound", JSON_FLAG, struct cm_check_blame, upper_bound,
             "`new` is an upper bound"),
    OPTIONAL("old_upper_bound", JSON_FLAG, struct cm_check_blame, old_upper_bound,
             "`old` is an upper bound"),
    VALUE("by", JSON_COUNT, struct cm_check_blame, by,
          "its part of the change: what no module inside it accounts for"),
};

static const struct json_record blame_record = RECORD(
    struct cm_check_blame, blame_fields, "blame", "A module that a regression comes from");

static const struct json_field case_fields[] = {
    VALUE("limit", JSON_TEXT, struct cm_check_case, limit, "its text"),
    VALUE("source", JSON_TEXT, struct cm_check_case, source,
          "where it stands: a file, `--limit`, `default`"),
    VALUE("metric", JSON_TEXT, struct cm_check_case, metric, "key of the metric"),
    VALUE("unit", JSON_TEXT, struct cm_check_case, unit,
          "`elements`, `MACs`, `flops`, `bytes` or `ps`"),
    VALUE("batch", JSON_COUNT, struct cm_check_case, batch,
          "`null` where no axis of the inputs is one"),
    VALUE("state", JSON_TEXT, struct cm_check_case, state,
          "`pass`, `regression`, `ambiguous` or `not-compared`"),
    VALUE("compared", JSON_COUNT, struct cm_check_case, compared,
          "modules that the limit is on; 1 of the whole model"),
    LIST("findings", struct cm_check_case, findings, n_findings, finding_record,
         "what did not pass, the worst first; of the whole model always one"),
    VALUE("more_findings", JSON_COUNT, struct cm_check_case, more_findings,
          "how many are not listed"),
    LIST("blame", struct cm_check_case, blame, n_blame, blame_record,
         "of a regression of the whole model: the modules that account for it, the dearest "
         "first"),
    VALUE("more_blame", JSON_COUNT, struct cm_check_case, more_blame,
          "how many are not listed"),
};

static const struct json_record case_record =
    RECORD(struct cm_check_case, case_fields, "case", "One limit at one batch");

static const struct json_field verdict_fields[] = {
    VALUE("model", JSON_TEXT, struct cm_verdict, model, "path"),
    VALUE("convention", JSON_TEXT, struct cm_verdict, convention, "whose rules count FLOPs"),
    VALUE("baseline", JSON_TEXT, struct cm_verdict, baseline,
          "name of the model that the baseline is of; empty: none"),
    VALUE("times", JSON_TEXT, struct cm_verdict, times,
          "what they are and of which device; empty: none"),
    VALUE("state", JSON_TEXT, struct cm_verdict, state,
          "the worst of the cases; a regression stands over what was not compared"),
    VALUE("passed", JSON_COUNT, struct cm_verdict, passed, "cases"),
    VALUE("regressions", JSON_COUNT, struct cm_verdict, regressions, "cases"),
    VALUE("ambiguous", JSON_COUNT, struct cm_verdict, ambiguous, "cases"),
    VALUE("not_compared", JSON_COUNT, struct cm_verdict, not_compared, "cases"),
    VALUE("fail_ambiguous", JSON_FLAG, struct cm_verdict, fail_ambiguous,
          "an ambiguous case counts as a regression"),
    VALUE("accept", JSON_TEXT, struct cm_verdict, accept,
          "the command that accepts what changed; empty"),
    OPTIONAL_MANY("unchecked", JSON_INDICES, struct cm_verdict, unchecked, n_unchecked, NULL,
                  "batches of the baseline that nothing was compared with"),
    LIST("cases", struct cm_verdict, cases, n_cases, case_record,
         "batch by batch, limits in their order; behind them those of limits whose batch was "
         "not profiled"),
};

static const struct json_record verdict_record =
    RECORD(struct cm_verdict, verdict_fields, "check", "What `costmodel check` found");

const struct json_document json_budget = {"costmodel/budget/1", NULL, "budget", &budget_record,
                                          offsetof(struct cm_budget, arena)};
const struct json_document json_baseline = {"costmodel/baseline/2", "costmodel/baseline/1",
                                            "baseline", &baseline_record,
                                            offsetof(struct cm_baseline, arena)};
const struct json_document json_verdict = {"costmodel/check/2", NULL, "check", &verdict_record,
                                           offsetof(struct cm_verdict, arena)};

int cm_budget_read_json(const char *text, size_t size, const char *name,
                        struct cm_diagnostics *diagnostics, struct cm_budget **ret_budget) {
    const struct json_text from = {text, size, name};
    void *budget = NULL;
    const int status = json_document_read(&json_budget, &from, diagnostics, &budget);
    if (status == CM_OK) *ret_budget = budget;
    return status;
}

void cm_budget_free(struct cm_budget *budget) {
    if (budget != NULL) arena_free(budget->arena);
}

int cm_baseline_read_json(const char *text, size_t size, const char *name,
                          struct cm_diagnostics *diagnostics,
                          struct cm_baseline **ret_baseline) {
    const struct json_text from = {text, size, name};
    void *read = NULL;
    int status = json_document_read(&json_baseline, &from, diagnostics, &read);
    if (status != CM_OK) return status;
    struct cm_baseline *baseline = read;
    struct diag_frame frame = {.label = "in", .what = name};
    diag_push(diagnostics, &frame);
    status = json_check_baseline(baseline, baseline->arena, diagnostics);
    diag_pop(diagnostics, &frame);
    if (status != CM_OK) {
        cm_baseline_free(baseline);
        return status;
    }
    *ret_baseline = baseline;
    return CM_OK;
}

int cm_baseline_write_json(const struct cm_baseline *baseline, FILE *out) {
    return json_document_write(&json_baseline, baseline, out);
}

void cm_baseline_free(struct cm_baseline *baseline) {
    if (baseline != NULL) arena_free(baseline->arena);
}

int cm_verdict_write_json(const struct cm_verdict *verdict, FILE *out) {
    return json_document_write(&json_verdict, verdict, out);
}

void cm_verdict_free(struct cm_verdict *verdict) {
    if (verdict != NULL) arena_free(verdict->arena);
}
