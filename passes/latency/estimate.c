/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pass estimate: asks the backend for the time of each distinct primitive. A backend that
 * cannot be used is a warning, not an error: all that the file says is known without it.
 */
#include "passes/latency/estimate.h"

#include <math.h>
#include <time.h>

#include "backends/backend_registry.h"
#include "backends/cache/cache.h"
#include "backends/plugin/reason.h"
#include "backends/plugin/settings.h"
#include "backends/process/subprocess.h"
#include "passes/latency/measure_all.h"
#include "passes/pass.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/text.h"

#include "support/banned.h"

#define PS_PER_SECOND 1e12

/* A plan may be a dozen engines that are compiled one after the other. */
#define PLAN_TIMEOUT_S 120

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

enum cm_measure_state estimate_state(const struct analysis *analysis, uint32_t node) {
    const struct primitives_table *primitives = &analysis->primitives;
    if (primitives->lowered[node] == LOWERED_NOTHING) return CM_VIEW;
    if (primitives->lowered[node] == LOWERED_NOT) return CM_UNSUPPORTED;
    return (enum cm_measure_state)analysis->estimate.items[primitives->of_node[node]].state;
}

const struct cm_measurement *estimate_of_node(const struct analysis *analysis, uint32_t node) {
    const uint32_t primitive = analysis->primitives.of_node[node];
    if (primitive == ID_NONE) return NULL;
    const struct cm_measurement *measurement = &analysis->estimate.items[primitive];
    return estimate_has_time(measurement) ? measurement : NULL;
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

/* The backend that is asked, and how. */
struct asked {
    const char *name;
    const struct cm_backend *backend;
    const char *module; /* its file; NULL: built in */
    struct subprocess_setup setup;
};

static void tell_cache(const struct analysis *analysis, const struct cm_reason *reason) {
    if (reason->text[0] == '\0') return;
    diag_note(analysis->diag, DIAG_BACKEND, "the cache of times '%s' is not used: %s",
              analysis->options->cache, reason->text);
}

/*
 * Of a device that says itself that its times are doubtful nothing is kept, nor read; nor of a
 * table, unless that is what is tested.
 */
static bool may_keep(const struct analysis *analysis, const struct asked *asked,
                     const struct cm_device_facts *facts) {
    const struct cm_settings *settings = &asked->setup.settings;
    const char *kept = settings_get(settings, "cache");
    if (asked->backend == &fake_backend && !text_equal(kept, "invented")) return false;
    return analysis->options->cache != NULL && !facts->modelled && facts->warning[0] == '\0' &&
           !settings->plan_only;
}

static int open_cache(const struct analysis *analysis, const struct asked *asked,
                      const struct cm_device_facts *facts, struct cache **ret) {
    const struct cache_key key = {asked->backend, asked->module, facts, &asked->setup.settings,
                                  &asked->setup.policy};
    struct cm_reason note = {""};
    if (!may_keep(analysis, asked, facts)) return CM_OK;
    const int status = cache_open(analysis->options->cache, &key,
                                  asked->backend == &fake_backend, analysis->arena, ret, &note);
    if (status != CM_BACKEND_OK) return diag_no_memory(analysis->diag);
    tell_cache(analysis, &note);
    return CM_OK;
}

static int measure_all(const struct analysis *analysis, const struct asked *asked,
                       struct subprocess *child, struct estimate_table *ret) {
    struct cm_reason reason = {""};
    struct survey survey = {.analysis = analysis,
                            .child = child,
                            .drift = asked->setup.policy.drift,
                            .when = (int64_t)time(NULL)};
    ret->facts = *subprocess_facts(child);
    int status = open_cache(analysis, asked, &ret->facts, &survey.cache);
    if (status == CM_OK) status = measure_all_run(&survey, ret);
    if (status != CM_OK) return status;
    if (survey.cache && cache_save(survey.cache, &reason) != CM_BACKEND_OK)
        tell_cache(analysis, &reason);
    ret->done = true;
    return CM_OK;
}

/* A sum of views alone would read as a model that takes no time. */
static int refuse_nothing(const struct analysis *analysis, const char *name,
                          struct estimate_table *ret) {
    const size_t n = analysis->primitives.n;
    struct cm_reason reason = {""};
    size_t first = n;
    for (size_t i = 0; i < n; i++) {
        const bool is_view = ret->items[i].state == CM_VIEW;
        if (estimate_has_time(&ret->items[i])) return CM_OK;
        if (!is_view && first == n) first = i;
    }
    if (first == n) return CM_OK;
    (void)reason_fail(&reason, 0, "it has no time for any layer, for the first one because %s",
                      ret->items[first].reason.text);
    ret->done = false;
    return tell_problem(analysis, name, &reason, ret);
}

static int ask(const struct analysis *analysis, struct asked *asked,
               const struct cm_settings *settings, struct estimate_table *ret) {
    struct places places;
    struct subprocess *child = NULL;
    struct cm_reason reason = {""};
    if (places_find(analysis->arena, &places) != CM_OK) return diag_no_memory(analysis->diag);
    if (backends_find(&places, asked->name, analysis->arena, &asked->backend, &reason) !=
        CM_BACKEND_OK)
        return tell_problem(analysis, asked->name, &reason, ret);
    asked->module = backends_module(&places, asked->name, analysis->arena);
    subprocess_setup_init(&asked->setup, asked->backend);
    asked->setup.settings = *settings;
    if (settings->plan_only) asked->setup.measure_timeout_s = PLAN_TIMEOUT_S;
    /* Each algorithm that is tried is built and run anew. */
    if (settings->autotune > 1) asked->setup.measure_timeout_s *= settings->autotune;
    if (subprocess_start(&asked->setup, analysis->arena, &child, &reason) != CM_BACKEND_OK)
        return tell_problem(analysis, asked->name, &reason, ret);
    int status = measure_all(analysis, asked, child, ret);
    subprocess_stop(child);
    if (status == CM_OK && !settings->plan_only)
        status = refuse_nothing(analysis, asked->name, ret);
    return status;
}

int pass_estimate(const struct analysis *analysis, void *own) {
    const char *text = analysis->options->backend;
    struct asked asked = {.name = NULL};
    struct cm_settings settings;
    struct cm_reason reason = {""};
    if (text == NULL) return CM_OK;
    int status = settings_parse(text, analysis->arena, &asked.name, &settings, &reason);
    if (status == CM_BACKEND_NO_MEMORY) return diag_no_memory(analysis->diag);
    if (status != CM_BACKEND_OK)
        return diag_error(analysis->diag, DIAG_USAGE, "backend '%s': %s", text, reason.text);
    settings.precision = (int32_t)analysis->options->precision;
    settings.plan_only = analysis->options->plan_only;
    settings.layout = (int32_t)analysis->options->layout;
    settings.autotune = analysis->options->autotune;
    return ask(analysis, &asked, &settings, own);
}
