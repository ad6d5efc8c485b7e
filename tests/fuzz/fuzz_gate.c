/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readers of the check command and its verdict. An input is a profile, a baseline and a budget,
 * separated by zero bytes; without a profile, nothing is compared.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "costmodel/check.h"
#include "costmodel/costmodel.h"
#include "fuzz.h"

#define MAX_LIMITS 64

struct part {
    const char *text;
    size_t size;
};

struct check {
    struct cm_diagnostics *diagnostics;
    struct cm_result *result;
    struct cm_baseline *baseline;
    struct cm_budget *budget;
};

static struct part take_part(struct part *rest) {
    const char *end = memchr(rest->text, '\0', rest->size);
    const struct part part = {rest->text, end ? (size_t)(end - rest->text) : rest->size};
    const size_t taken = end ? part.size + 1 : part.size;
    rest->text += taken;
    rest->size -= taken;
    return part;
}

static char *write_baseline(const struct cm_baseline *baseline, size_t *ret_size) {
    char *text = NULL;
    FILE *out = open_memstream(&text, ret_size);
    FUZZ_REQUIRE(out != NULL);
    FUZZ_REQUIRE(cm_baseline_write_json(baseline, out) == CM_OK && fclose(out) == 0);
    return text;
}

static void require_baseline(const struct cm_baseline *baseline,
                             struct cm_diagnostics *diagnostics) {
    struct cm_baseline *back = NULL;
    size_t size = 0;
    size_t size_again = 0;
    char *text = write_baseline(baseline, &size);
    FUZZ_REQUIRE(cm_baseline_read_json(text, size, "again", diagnostics, &back) == CM_OK);
    char *again = write_baseline(back, &size_again);
    FUZZ_REQUIRE(size == size_again && memcmp(text, again, size) == 0);
    cm_baseline_free(back);
    free(text);
    free(again);
}

static void write_verdict(const struct cm_verdict *verdict) {
    struct cm_text_options options;
    FILE *out = fopen("/dev/null", "w");
    cm_text_options_init(&options);
    FUZZ_REQUIRE(out != NULL);
    FUZZ_REQUIRE(cm_verdict_write_text(verdict, &options, out) == CM_OK);
    FUZZ_REQUIRE(cm_verdict_write_json(verdict, out) == CM_OK);
    FUZZ_REQUIRE(cm_verdict_write_markdown(verdict, out) == CM_OK);
    FUZZ_REQUIRE(cm_verdict_write_junit(verdict, out) == CM_OK);
    FUZZ_REQUIRE(cm_verdict_write_sarif(verdict, out) == CM_OK);
    FUZZ_REQUIRE(cm_verdict_write_github(verdict, out) == CM_OK);
    fclose(out);
}

static void require_verdict(const struct cm_verdict *verdict) {
    int64_t n = 0;
    for (size_t i = 0; i < verdict->n_cases; i++) {
        const struct cm_check_case *one = &verdict->cases[i];
        n++;
        for (size_t k = 0; k < one->n_findings; k++) {
            const struct cm_check_finding *finding = &one->findings[k];
            if (strcmp(finding->state, "pass") == 0)
                FUZZ_REQUIRE(finding->value != CM_UNKNOWN &&
                             finding->value <= finding->allowed);
            if (strcmp(finding->state, "regression") != 0) continue;
            FUZZ_REQUIRE(finding->value > finding->allowed);
            FUZZ_REQUIRE(finding->over == CM_UNKNOWN ||
                         finding->over == finding->value - finding->allowed);
        }
    }
    FUZZ_REQUIRE(n == verdict->passed + verdict->regressions + verdict->ambiguous +
                          verdict->not_compared);
}

static void check(const struct check *state) {
    const struct cm_result *results[] = {state->result};
    struct cm_check_limit limits[MAX_LIMITS];
    struct cm_check_options options = {.size = sizeof options,
                                       .baseline = state->baseline,
                                       .no_baseline = "none was given",
                                       .limits = limits,
                                       .top = 3,
                                       .accept = ""};
    struct cm_verdict *verdict = NULL;
    const size_t n = state->budget ? state->budget->n_limits : 0;
    for (; options.n_limits < n && options.n_limits < MAX_LIMITS; options.n_limits++)
        limits[options.n_limits] =
            (struct cm_check_limit){state->budget->limits[options.n_limits], "budget"};
    const int status = cm_check(results, 1, &options, state->diagnostics, &verdict);
    fuzz_require_status(status, state->diagnostics);
    if (status != CM_OK) return;
    require_verdict(verdict);
    write_verdict(verdict);
    cm_verdict_free(verdict);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct part rest = {(const char *)data, size};
    const double since = fuzz_now();
    const struct part profile = take_part(&rest);
    const struct part baseline = take_part(&rest);
    const struct part budget = take_part(&rest);
    struct check state = {.diagnostics = cm_diagnostics_new()};
    FUZZ_REQUIRE(state.diagnostics != NULL);
    int status = cm_budget_read_json(budget.text, budget.size, "budget", state.diagnostics,
                                     &state.budget);
    fuzz_require_status(status, state.diagnostics);
    status = cm_baseline_read_json(baseline.text, baseline.size, "baseline", state.diagnostics,
                                   &state.baseline);
    fuzz_require_status(status, state.diagnostics);
    if (status == CM_OK) require_baseline(state.baseline, state.diagnostics);
    status = cm_result_read_json(profile.text, profile.size, "profile", state.diagnostics,
                                 &state.result);
    fuzz_require_status(status, state.diagnostics);
    if (status == CM_OK) check(&state);
    cm_result_free(state.result);
    cm_baseline_free(state.baseline);
    cm_budget_free(state.budget);
    cm_diagnostics_free(state.diagnostics);
    fuzz_require_fast(since);
    return 0;
}
