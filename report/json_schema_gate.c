/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of what the gate reads and writes: budget, baseline, verdict (docs/gate.md). */
#include "costmodel/check.h"

#include "report/json_document.h"
#include "report/json_rows.h"
#include "report/json_schema.h"
#include "support/arena.h"

#include "support/banned.h"

static const struct json_field budget_fields[] = {
    OPTIONAL("convention", JSON_TEXT, struct cm_budget, convention),
    OPTIONAL_MANY("batches", JSON_INDICES, struct cm_budget, batches, n_batches, NULL),
    OPTIONAL_MANY("dims", JSON_SIZES, struct cm_budget, dims, n_dims, NULL),
    MANY("limits", JSON_TEXTS, struct cm_budget, limits, n_limits),
};

static const struct json_record budget_record = CLOSED_RECORD(struct cm_budget, budget_fields);

static const struct json_field times_fields[] = {
    VALUE("state", JSON_TEXT, struct cm_baseline_times, state),
    VALUE("device", JSON_TEXT, struct cm_baseline_times, device),
    VALUE("precision", JSON_TEXT, struct cm_baseline_times, precision),
    VALUE("layout", JSON_TEXT, struct cm_baseline_times, layout),
    VALUE("low_ps", JSON_COUNT, struct cm_baseline_times, low_ps),
    VALUE("high_ps", JSON_COUNT, struct cm_baseline_times, high_ps),
    OPTIONAL("untimed_nodes", JSON_COUNT, struct cm_baseline_times, untimed_nodes),
    OPTIONAL("doubt", JSON_TEXT, struct cm_baseline_times, doubt),
};

static const struct json_record times_record = RECORD(struct cm_baseline_times, times_fields);

#define FIGURES offsetof(struct cm_baseline_profile, figures)

/* The records of a whole result serve, as far as a baseline has what they name. */
static const struct json_field profile_fields[] = {
    {"options", JSON_OBJECT, false, FIGURES, 0, &json_options, NULL},
    {"totals", JSON_OBJECT, false, FIGURES, 0, &json_totals, NULL},
    OPTIONAL("peak_in_place_bytes", JSON_COUNT, struct cm_baseline_profile,
             figures.memory.peak_in_place_bytes),
    OPTIONAL("arena_in_place_bytes", JSON_COUNT, struct cm_baseline_profile,
             figures.memory.arena_in_place_bytes),
    OPTIONAL("required_bytes", JSON_COUNT, struct cm_baseline_profile,
             figures.memory.required_bytes),
    VALUE("alignment", JSON_COUNT, struct cm_baseline_profile, figures.memory.alignment),
    OBJECT("coverage", struct cm_baseline_profile, figures.coverage, json_coverage),
    PART("training", struct cm_baseline_profile, figures.training, json_training),
    PART("times", struct cm_baseline_profile, times, times_record),
};

static const struct json_record profile_record =
    RECORD(struct cm_baseline_profile, profile_fields);

static const char *const module_columns[] = {"params", "macs", "flops", NULL};

static const struct json_field module_fields[] = {
    VALUE("batch", JSON_COUNT, struct cm_baseline_module, batch),
    VALUE("path", JSON_TEXT, struct cm_baseline_module, module.path),
    VALUE("class", JSON_TEXT, struct cm_baseline_module, module.type),
    OPTIONAL("class_known", JSON_FLAG, struct cm_baseline_module, module.type_known),
    OPTIONAL("arguments", JSON_TEXT, struct cm_baseline_module, module.arguments),
    VALUE("calls", JSON_COUNT, struct cm_baseline_module, module.calls),
    COSTS(JSON_FIRST, struct cm_baseline_module, module.costs, module_columns),
    COSTS(JSON_OTHERS, struct cm_baseline_module, module.costs, module_columns),
    OPTIONAL("peak_activation_bytes", JSON_COUNT, struct cm_baseline_module,
             module.peak_activation_bytes),
    PART("training", struct cm_baseline_module, module.training, json_step),
};

static const struct json_record module_record =
    RECORD(struct cm_baseline_module, module_fields);

static const struct json_field change_fields[] = {
    VALUE("reason", JSON_TEXT, struct cm_baseline_change, reason),
    VALUE("batch", JSON_COUNT, struct cm_baseline_change, batch),
    MANY("change", JSON_SIZES, struct cm_baseline_change, changes, n_changes),
};

static const struct json_record change_record =
    RECORD(struct cm_baseline_change, change_fields);

static const struct json_field baseline_fields[] = {
    VALUE("model", JSON_TEXT, struct cm_baseline, model),
    OPTIONAL_MANY("history", JSON_LIST, struct cm_baseline, history, n_history, &change_record),
    LIST("profiles", struct cm_baseline, profiles, n_profiles, profile_record),
    LIST("modules", struct cm_baseline, modules, n_modules, module_record),
};

static const struct json_record baseline_record = RECORD(struct cm_baseline, baseline_fields);

static const struct json_field finding_fields[] = {
    VALUE("path", JSON_TEXT, struct cm_check_finding, path),
    VALUE("state", JSON_TEXT, struct cm_check_finding, state),
    VALUE("new", JSON_COUNT, struct cm_check_finding, value),
    VALUE("old", JSON_COUNT, struct cm_check_finding, old),
    VALUE("bound", JSON_COUNT, struct cm_check_finding, bound),
    VALUE("over", JSON_COUNT, struct cm_check_finding, over),
    VALUE("because", JSON_TEXT, struct cm_check_finding, because),
};

static const struct json_record finding_record =
    RECORD(struct cm_check_finding, finding_fields);

static const struct json_field blame_fields[] = {
    VALUE("path", JSON_TEXT, struct cm_check_blame, path),
    VALUE("was", JSON_TEXT, struct cm_check_blame, was),
    VALUE("change", JSON_TEXT, struct cm_check_blame, change),
    VALUE("new", JSON_COUNT, struct cm_check_blame, value),
    VALUE("old", JSON_COUNT, struct cm_check_blame, old),
    VALUE("by", JSON_COUNT, struct cm_check_blame, by),
};

static const struct json_record blame_record = RECORD(struct cm_check_blame, blame_fields);

static const struct json_field case_fields[] = {
    VALUE("limit", JSON_TEXT, struct cm_check_case, limit),
    VALUE("source", JSON_TEXT, struct cm_check_case, source),
    VALUE("metric", JSON_TEXT, struct cm_check_case, metric),
    VALUE("unit", JSON_TEXT, struct cm_check_case, unit),
    VALUE("batch", JSON_COUNT, struct cm_check_case, batch),
    VALUE("state", JSON_TEXT, struct cm_check_case, state),
    VALUE("compared", JSON_COUNT, struct cm_check_case, compared),
    LIST("findings", struct cm_check_case, findings, n_findings, finding_record),
    VALUE("more_findings", JSON_COUNT, struct cm_check_case, more_findings),
    LIST("blame", struct cm_check_case, blame, n_blame, blame_record),
    VALUE("more_blame", JSON_COUNT, struct cm_check_case, more_blame),
};

static const struct json_record case_record = RECORD(struct cm_check_case, case_fields);

static const struct json_field verdict_fields[] = {
    VALUE("model", JSON_TEXT, struct cm_verdict, model),
    VALUE("convention", JSON_TEXT, struct cm_verdict, convention),
    VALUE("baseline", JSON_TEXT, struct cm_verdict, baseline),
    VALUE("times", JSON_TEXT, struct cm_verdict, times),
    VALUE("state", JSON_TEXT, struct cm_verdict, state),
    VALUE("passed", JSON_COUNT, struct cm_verdict, passed),
    VALUE("regressions", JSON_COUNT, struct cm_verdict, regressions),
    VALUE("ambiguous", JSON_COUNT, struct cm_verdict, ambiguous),
    VALUE("not_compared", JSON_COUNT, struct cm_verdict, not_compared),
    VALUE("fail_ambiguous", JSON_FLAG, struct cm_verdict, fail_ambiguous),
    VALUE("accept", JSON_TEXT, struct cm_verdict, accept),
    LIST("cases", struct cm_verdict, cases, n_cases, case_record),
};

static const struct json_record verdict_record = RECORD(struct cm_verdict, verdict_fields);

const struct json_document json_budget = {"costmodel/budget/1", "budget", &budget_record};
const struct json_document json_baseline = {"costmodel/baseline/1", "baseline",
                                            &baseline_record};
const struct json_document json_verdict = {"costmodel/check/1", "verdict", &verdict_record};

int cm_budget_read_json(const char *text, size_t size, const char *name,
                        struct cm_diagnostics *diagnostics, struct cm_budget **ret_budget) {
    const struct json_text from = {text, size, name};
    struct arena *arena = NULL;
    void *budget = NULL;
    const int status = json_document_read(&json_budget, &from, diagnostics, &arena, &budget);
    if (status != CM_OK) return status;
    *ret_budget = budget;
    (*ret_budget)->arena = arena;
    return CM_OK;
}

void cm_budget_free(struct cm_budget *budget) {
    if (budget != NULL) arena_free(budget->arena);
}

int cm_baseline_read_json(const char *text, size_t size, const char *name,
                          struct cm_diagnostics *diagnostics,
                          struct cm_baseline **ret_baseline) {
    const struct json_text from = {text, size, name};
    struct arena *arena = NULL;
    void *baseline = NULL;
    const int status =
        json_document_read(&json_baseline, &from, diagnostics, &arena, &baseline);
    if (status != CM_OK) return status;
    *ret_baseline = baseline;
    (*ret_baseline)->arena = arena;
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
