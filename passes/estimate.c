/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pass estimate: asks the backend for the time of each distinct primitive. A backend that
 * cannot be used is a warning, not an error: all that the file says is known without it.
 */
#include "passes/estimate.h"

#include <math.h>

#include "backends/backends.h"
#include "backends/child.h"
#include "backends/rounds.h"
#include "backends/settings.h"
#include "passes/pass.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/text.h"

#include "support/banned.h"

#define PS_PER_SECOND 1e12

bool estimate_has_time(const struct cm_measurement *measurement) {
    return measurement->state == CM_MEASURED || measurement->state == CM_MODELLED ||
           measurement->state == CM_PROXY || measurement->state == CM_INVENTED;
}

int64_t estimate_ps(double seconds) {
    const double ps = round(seconds * PS_PER_SECOND);
    return ps >= 0 && ps < 9.2e18 ? (int64_t)ps : DIM_OVERFLOW;
}

int64_t estimate_latency(const struct analysis *analysis, uint32_t node) {
    const struct primitives_table *primitives = &analysis->primitives;
    if (!analysis->estimate.done) return DIM_UNKNOWN;
    if (primitives->lowered[node] == LOWERED_NOTHING) return 0;
    if (primitives->lowered[node] == LOWERED_NOT) return DIM_UNKNOWN;
    const struct cm_measurement *measurement =
        &analysis->estimate.items[primitives->of_node[node]];
    if (measurement->state == CM_VIEW) return 0;
    return estimate_has_time(measurement) ? estimate_ps(measurement->cold.median) : DIM_UNKNOWN;
}

struct survey {
    const struct analysis *analysis;
    struct child *child;
};

static void measure_one(void *context, size_t index, struct cm_measurement *ret) {
    const struct survey *survey = context;
    child_measure(survey->child, &survey->analysis->primitives.items[index], ret);
}

static void tell_progress(void *context, size_t done, size_t total) {
    const struct survey *survey = context;
    const struct cm_options *options = survey->analysis->options;
    if (options->progress != NULL) options->progress(options->progress_context, done, total);
}

static void measure_primitive(void *context, const struct cm_primitive *primitive,
                              struct cm_measurement *ret) {
    const struct survey *survey = context;
    child_measure(survey->child, primitive, ret);
}

/* Before the layers: a device that was idle raises its clock meanwhile. */
static void find_ceilings(struct survey *survey, struct estimate_table *ret) {
    const struct primitives_table *primitives = &survey->analysis->primitives;
    const struct ceilings_job job = {measure_primitive, survey};
    bool wanted[CM_N_ELEMENTS];
    if (ret->facts.modelled || primitives->n == 0) return;
    ceilings_wanted(primitives->items, primitives->n, wanted);
    ceilings_measure(&job, &ret->facts, wanted, &ret->ceilings);
    ret->has_ceilings = ceilings_any(&ret->ceilings);
}

static int measure_all(const struct analysis *analysis, struct child *child, double drift,
                       struct estimate_table *ret) {
    struct survey survey = {analysis, child};
    const struct rounds_job job = {measure_one, tell_progress, &survey};
    const size_t n = analysis->primitives.n;
    ret->items = arena_array(analysis->arena, n, sizeof(*ret->items));
    if (!ret->items) return diag_no_memory(analysis->diag);
    ret->facts = *child_facts(child);
    find_ceilings(&survey, ret);
    rounds_run(&job, n, drift, ret->items);
    ret->done = true;
    return CM_OK;
}

static int tell_problem(const struct analysis *analysis, const char *name,
                        const struct cm_reason *reason, struct estimate_table *ret) {
    ret->problem = arena_strdup(analysis->arena, reason->text);
    if (!ret->problem) return diag_no_memory(analysis->diag);
    diag_warn(analysis->diag, DIAG_BACKEND, "backend %s cannot be used: %s", name,
              reason->text);
    diag_hint(analysis->diag, "costmodel backends lists what there is");
    return CM_OK;
}

static int ask(const struct analysis *analysis, const char *name,
               const struct cm_settings *settings, struct estimate_table *ret) {
    struct places places;
    struct child_setup setup;
    struct child *child = NULL;
    struct cm_reason reason = {""};
    const struct cm_backend *backend = NULL;
    if (places_find(analysis->arena, &places) != CM_OK) return diag_no_memory(analysis->diag);
    if (backends_find(&places, name, analysis->arena, &backend, &reason) != CM_BACKEND_OK)
        return tell_problem(analysis, name, &reason, ret);
    child_setup_init(&setup, backend);
    setup.settings = *settings;
    if (child_start(&setup, analysis->arena, &child, &reason) != CM_BACKEND_OK)
        return tell_problem(analysis, name, &reason, ret);
    int status = measure_all(analysis, child, setup.policy.drift, ret);
    child_stop(child);
    return status;
}

static int run(const struct analysis *analysis, void *own) {
    const char *asked = analysis->options->backend;
    const char *name = NULL;
    struct cm_settings settings;
    struct cm_reason reason = {""};
    if (asked == NULL) return CM_OK;
    int status = settings_parse(asked, analysis->arena, &name, &settings, &reason);
    if (status == CM_BACKEND_NO_MEMORY) return diag_no_memory(analysis->diag);
    if (status != CM_BACKEND_OK)
        return diag_error(analysis->diag, DIAG_USAGE, "backend '%s': %s", asked, reason.text);
    settings.precision = (int32_t)analysis->options->precision;
    return ask(analysis, name, &settings, own);
}

const struct pass pass_estimate = {
    .name = "estimate",
    .summary = "ask a backend how long each distinct piece of work takes",
    .needs = HAS_PRIMITIVES,
    .gives = HAS_TIMES,
    .run = run,
    .own = offsetof(struct analysis, estimate),
};
