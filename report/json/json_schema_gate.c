/* SPDX-License-Identifier: Apache-2.0 */
/* Schema tables of `check`: budget, baseline, verdict (docs/gate.md). */
#include "costmodel/check.h"

#include "report/json/json_document.h"
#include "report/json/json_rows.h"
#include "support/arena.h"
#include "support/diag.h"

/* clang-format off */
static const struct json_record budget_record = CLOSED_RECORD(struct cm_budget, "budget", "Limits, and the batches and dims at which to check them (docs/gate.md)",
    OPTIONAL("convention", JSON_TEXT, struct cm_budget, convention, "FLOP counting convention, a value of `--convention`"),
    OPTIONAL_MANY("batches", JSON_INDICES, struct cm_budget, batches, n_batches, NULL, "batches at which each limit is checked"),
    OPTIONAL_MANY("dims", JSON_SIZES, struct cm_budget, dims, n_dims, NULL, "values of symbolic dims by name, as in `--dim`"),
    MANY("limits", JSON_TEXTS, struct cm_budget, limits, n_limits, "limits such as `macs <= 4.1G`"));

static const struct json_record times_record = RECORD(struct cm_baseline_times, "times", "Times, and the conditions under which they are comparable",
    VALUE("state", JSON_TEXT, struct cm_baseline_times, state, "`measured`, `modelled`, `imported` or `invented` (by a table, for tests)"),
    VALUE("device", JSON_TEXT, struct cm_baseline_times, device, "device name"),
    VALUE("layout", JSON_TEXT, struct cm_baseline_times, layout, "image layout"),
    VALUE("low_ps", JSON_COUNT, struct cm_baseline_times, low_ps, "sum of the first quartiles; equal to high_ps if modelled"),
    VALUE("high_ps", JSON_COUNT, struct cm_baseline_times, high_ps, "sum of the third quartiles"),
    OPTIONAL("untimed_nodes", JSON_COUNT, struct cm_baseline_times, untimed_nodes, "nodes without a time"),
    OPTIONAL("other_shape", JSON_NULLABLE, struct cm_baseline_times, other_shape, "why the times belong to other shapes than those of the model; missing if they do not"),
    OPTIONAL("doubt", JSON_TEXT, struct cm_baseline_times, doubt, "why the times may be inaccurate; empty: none"));

/* Reuses the records of a result; a baseline holds only these parts of it. */
static const struct json_record profile_record = RECORD(struct cm_baseline_profile, "baseline_profile", "A model at one batch",
    OBJECT("options", struct cm_baseline_profile, figures, json_options, "options, as in a profile"),
    OBJECT("totals", struct cm_baseline_profile, figures, json_totals, "figures of the whole model"),
    OPTIONAL("peak_in_place_bytes", JSON_COUNT, struct cm_baseline_profile, figures.memory.peak_in_place_bytes, "as in `memory` of a profile"),
    OPTIONAL("arena_in_place_bytes", JSON_COUNT, struct cm_baseline_profile, figures.memory.arena_in_place_bytes, "as in `memory` of a profile"),
    OPTIONAL("required_bytes", JSON_COUNT, struct cm_baseline_profile, figures.memory.required_bytes, "weights and arena, or with `--optimizer` bytes of device_memory"),
    OPTIONAL("memory_upper_bound", JSON_FLAG, struct cm_baseline_profile, figures.memory.upper_bound, "arena, required_bytes and peak_in_place_bytes are upper bounds"),
    OPTIONAL("peak_upper_bound", JSON_FLAG, struct cm_baseline_profile, figures.memory.peak_upper_bound, "peak_activation_bytes is an upper bound"),
    OPTIONAL_MANY("inputs", JSON_LIST, struct cm_baseline_profile, figures.model.inputs, figures.model.n_inputs, &json_value, "as in `model` of a profile"),
    VALUE("alignment", JSON_COUNT, struct cm_baseline_profile, figures.memory.alignment, "alignment of arena offsets, bytes"),
    OBJECT("coverage", struct cm_baseline_profile, figures.coverage, json_coverage, "operators and shapes that could not be analyzed"),
    PART("device_memory", struct cm_baseline_profile, figures.device_memory, json_device_memory, "with `--optimizer`"),
    PART("time_error", struct cm_baseline_profile, figures.time_error, json_time_error, "with `--device`"),
    PART("training", struct cm_baseline_profile, figures.training, json_training, "with `--optimizer`"),
    PART("times", struct cm_baseline_profile, times, times_record, "only with times from a backend"));

static const struct json_record spread_record = RECORD(struct cm_baseline_spread, "spread", "Quartiles of a time",
    VALUE("low_ps", JSON_COUNT, struct cm_baseline_spread, low_ps, "sum of the first quartiles of its nodes"),
    VALUE("high_ps", JSON_COUNT, struct cm_baseline_spread, high_ps, "sum of the third quartiles"));

static const char *const module_columns[] = {"params", "macs", "flops", NULL};

static const struct json_record module_record = RECORD(struct cm_baseline_module, "baseline_module", "A module at one batch",
    VALUE("batch", JSON_COUNT, struct cm_baseline_module, batch, "batch of the profile; `null` if the inputs have no batch axis"),
    VALUE("path", JSON_TEXT, struct cm_baseline_module, module.path, "dotted path; the root is empty and precedes the other modules of its batch"),
    VALUE("class", JSON_TEXT, struct cm_baseline_module, module.type, "class as printed by the framework"),
    OPTIONAL("class_known", JSON_FLAG, struct cm_baseline_module, module.type_known, "`false` if class repeats the name"),
    OPTIONAL("arguments", JSON_TEXT, struct cm_baseline_module, module.arguments, "constructor arguments"),
    VALUE("calls", JSON_COUNT, struct cm_baseline_module, module.calls, "number of calls"),
    COSTS(JSON_FIRST, struct cm_baseline_module, module.costs, module_columns),
    COSTS(JSON_OTHERS, struct cm_baseline_module, module.costs, module_columns),
    OPTIONAL("peak_activation_bytes", JSON_COUNT, struct cm_baseline_module, module.peak_activation_bytes, "peak of live bytes of the outputs of its nodes"),
    OPTIONAL("upper_bound", JSON_BOUNDS, struct cm_baseline_module, module.costs.upper_bound, "keys of the figures above that are upper bounds; the peak is an upper bound if activation_bytes is"),
    POINTER("training", struct cm_baseline_module, module.training, json_step, "share of a training step"),
    PART("times", struct cm_baseline_module, times, spread_record, "only with times from a backend"));

static const struct json_record change_record = RECORD(struct cm_baseline_change, "change", "Why the baseline was updated",
    VALUE("reason", JSON_TEXT, struct cm_baseline_change, reason, "reason given by the user"),
    VALUE("batch", JSON_COUNT, struct cm_baseline_change, batch, "batch of the changes: the first profiled batch"),
    MANY("change", JSON_SIZES, struct cm_baseline_change, changes, n_changes, "new - old, by metric"));

static const struct json_record baseline_record = RECORD(struct cm_baseline, "baseline", "Costs of a model, for later comparison",
    VALUE("model", JSON_TEXT, struct cm_baseline, model, "file name without folder"),
    OPTIONAL("commit", JSON_NULLABLE, struct cm_baseline, commit, "commit of the model, if a CI job wrote the file"),
    OPTIONAL_MANY("history", JSON_LIST, struct cm_baseline, history, n_history, &change_record, "updates of the baseline, oldest first"),
    LIST("profiles", struct cm_baseline, profiles, n_profiles, profile_record, "one entry per batch"),
    LIST("modules", struct cm_baseline, modules, n_modules, module_record, "modules of all batches, one line each, in the order of the batches"));

static const struct json_record finding_record = RECORD(struct cm_check_finding, "finding", "A module or the whole model, compared with one limit",
    VALUE("path", JSON_TEXT, struct cm_check_finding, path, "path of the module; empty: the whole model"),
    VALUE("state", JSON_TEXT, struct cm_check_finding, state, "as in the case"),
    VALUE("new", JSON_COUNT, struct cm_check_finding, value, "new value; `null` if unknown"),
    VALUE("old", JSON_COUNT, struct cm_check_finding, old, "baseline value; `null`: none"),
    OPTIONAL("new_upper_bound", JSON_FLAG, struct cm_check_finding, upper_bound, "`new` is an upper bound"),
    OPTIONAL("old_upper_bound", JSON_FLAG, struct cm_check_finding, old_upper_bound, "`old` is an upper bound"),
    VALUE("allowed", JSON_COUNT, struct cm_check_finding, allowed, "largest value that the limit allows; `null` if unknown"),
    VALUE("over", JSON_COUNT, struct cm_check_finding, over, "excess over `allowed`, for a regression, also a waived one"),
    VALUE("because", JSON_TEXT, struct cm_check_finding, because, "why it is ambiguous or not compared; the waiver of a regression, also if it has expired; empty otherwise"));

static const struct json_record blame_record = RECORD(struct cm_check_blame, "blame", "A module that contributes to a regression",
    VALUE("path", JSON_TEXT, struct cm_check_blame, path, "path of the module"),
    VALUE("was", JSON_TEXT, struct cm_check_blame, was, "path in the baseline; empty if added"),
    VALUE("change", JSON_TEXT, struct cm_check_blame, change, "`changed`, `added`, `removed` or `renamed`"),
    VALUE("new", JSON_COUNT, struct cm_check_blame, value, "new cost, children included; 0 if removed"),
    VALUE("old", JSON_COUNT, struct cm_check_blame, old, "baseline cost, children included; 0 if added"),
    OPTIONAL("new_upper_bound", JSON_FLAG, struct cm_check_blame, upper_bound, "`new` is an upper bound"),
    OPTIONAL("old_upper_bound", JSON_FLAG, struct cm_check_blame, old_upper_bound, "`old` is an upper bound"),
    VALUE("by", JSON_COUNT, struct cm_check_blame, by, "its own part of the change, without the parts of its children"));

static const struct json_record case_record = RECORD(struct cm_check_case, "case", "One limit at one batch",
    VALUE("limit", JSON_TEXT, struct cm_check_case, limit, "text of the limit"),
    VALUE("source", JSON_TEXT, struct cm_check_case, source, "source of the limit: a file, `--limit`, `default`"),
    VALUE("metric", JSON_TEXT, struct cm_check_case, metric, "key of the metric"),
    VALUE("unit", JSON_TEXT, struct cm_check_case, unit, "`elements`, `MACs`, `flops`, `bytes` or `ps`"),
    VALUE("batch", JSON_COUNT, struct cm_check_case, batch, "`null` if the inputs have no batch axis"),
    VALUE("state", JSON_TEXT, struct cm_check_case, state, "`pass`, `waived`, `regression`, `ambiguous` or `not-compared`"),
    VALUE("compared", JSON_COUNT, struct cm_check_case, compared, "number of modules to which the limit applies; 1 for the whole model"),
    LIST("findings", struct cm_check_case, findings, n_findings, finding_record, "modules that did not pass, worst first; for a limit on the whole model always one entry"),
    VALUE("more_findings", JSON_COUNT, struct cm_check_case, more_findings, "number of entries not listed"),
    LIST("blame", struct cm_check_case, blame, n_blame, blame_record, "for a regression of the whole model: the modules that cause it, largest increase first"),
    VALUE("more_blame", JSON_COUNT, struct cm_check_case, more_blame, "number of entries not listed"));

/* The keys of a verdict, also of each model of several. */
#define VERDICT_ROWS(about_model) \
    VALUE("model", JSON_TEXT, struct cm_verdict, model, about_model), \
    VALUE("convention", JSON_TEXT, struct cm_verdict, convention, "FLOP counting convention"), \
    OPTIONAL("precision", JSON_TEXT, struct cm_verdict, precision, "precision; empty: as in the file"), \
    VALUE("baseline", JSON_TEXT, struct cm_verdict, baseline, "model name in the baseline; empty: no baseline"), \
    OPTIONAL("commit", JSON_NULLABLE, struct cm_verdict, commit, "commit that a CI job checks"), \
    OPTIONAL("baseline_commit", JSON_NULLABLE, struct cm_verdict, baseline_commit, "commit of the model of the baseline"), \
    VALUE("times", JSON_TEXT, struct cm_verdict, times, "source and device of the times; empty: none"), \
    VALUE("state", JSON_TEXT, struct cm_verdict, state, "worst state of the cases; `regression` takes precedence over `not-compared`"), \
    VALUE("passed", JSON_COUNT, struct cm_verdict, passed, "number of cases in state `pass`"), \
    OPTIONAL("waived", JSON_COUNT, struct cm_verdict, waived, "number of cases in state `waived`"), \
    VALUE("regressions", JSON_COUNT, struct cm_verdict, regressions, "number of cases in state `regression`"), \
    VALUE("ambiguous", JSON_COUNT, struct cm_verdict, ambiguous, "number of cases in state `ambiguous`"), \
    VALUE("not_compared", JSON_COUNT, struct cm_verdict, not_compared, "number of cases in state `not-compared`"), \
    VALUE("fail_ambiguous", JSON_FLAG, struct cm_verdict, fail_ambiguous, "`true` if an ambiguous case counts as a regression, `false` if it is undecided"), \
    VALUE("accept", JSON_TEXT, struct cm_verdict, accept, "command that accepts the changes; empty: none"), \
    OPTIONAL_MANY("unchecked", JSON_INDICES, struct cm_verdict, unchecked, n_unchecked, NULL, "batches of the baseline that were not compared"), \
    LIST("cases", struct cm_verdict, cases, n_cases, case_record, "one entry per limit and batch, grouped by batch; limits whose batch was not profiled come last")

static const struct json_record model_record = RECORD(struct cm_verdict, "model_check", "Check of one of several models",
    VERDICT_ROWS("path"));

static const struct json_record verdict_record = RECORD(struct cm_verdict, "check", "Result of `costmodel check` (docs/gate.md)",
    VERDICT_ROWS("path; empty if there are `models`"),
    OPTIONAL_MANY("models", JSON_LIST, struct cm_verdict, models, n_models, &model_record, "the checks of several models; then `cases` is empty, the counts are sums, and the other texts are empty"));

const struct json_document json_budget = {"costmodel/budget/1", NULL, "budget", &budget_record, offsetof(struct cm_budget, arena)};
const struct json_document json_baseline = {"costmodel/baseline/2", "costmodel/baseline/1", "baseline", &baseline_record, offsetof(struct cm_baseline, arena)};
const struct json_document json_verdict = {"costmodel/check/2", NULL, "check", &verdict_record, offsetof(struct cm_verdict, arena)};
/* clang-format on */

int cm_budget_read_json(const char *text, size_t size, const char *name,
                        struct cm_diagnostics *diagnostics, struct cm_budget **ret_budget) {
    return json_document_read(&json_budget, text, size, name, diagnostics, ret_budget);
}

void cm_budget_free(struct cm_budget *budget) {
    if (budget != NULL) arena_free(budget->arena);
}

int cm_baseline_read_json(const char *text, size_t size, const char *name,
                          struct cm_diagnostics *diagnostics,
                          struct cm_baseline **ret_baseline) {
    if (ret_baseline == NULL) return diag_null(diagnostics);
    struct cm_baseline *baseline = NULL;
    int status = json_document_read(&json_baseline, text, size, name, diagnostics, &baseline);
    if (status < 0) return status;
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
    return json_document_write(&json_baseline, baseline, false, out);
}

void cm_baseline_free(struct cm_baseline *baseline) {
    if (baseline != NULL) arena_free(baseline->arena);
}

int cm_verdict_write_json(const struct cm_verdict *verdict, FILE *out) {
    return json_document_write(&json_verdict, verdict, false, out);
}

void cm_verdict_free(struct cm_verdict *verdict) {
    if (verdict != NULL) arena_free(verdict->arena);
}
