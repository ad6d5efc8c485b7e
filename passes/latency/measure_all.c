/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One measuring of a device: first what it reaches at its best (an idle device raises its clock
 * meanwhile), then the layers in rounds, as far as they are not known.
 */
#include "passes/latency/measure_all.h"

#include "backends/cache/cache.h"
#include "backends/plugin/reason.h"
#include "backends/process/subprocess.h"
#include "backends/repeat.h"
#include "passes/latency/estimate.h"
#include "passes/latency/network.h"
#include "passes/pass.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"

#include "support/banned.h"

/* The primitives of a model that the cache has not. */
struct missing {
    struct survey *survey;
    size_t n;
    size_t *indices;
    struct cm_measurement *found;
};

static void tell_progress(const struct survey *survey, const struct cm_progress *at) {
    const struct cm_options *options = survey->analysis->options;
    if (options->progress != NULL) options->progress(options->progress_context, at);
}

static void keep(struct survey *survey, const struct cm_primitive *primitive,
                 const struct cm_measurement *measurement) {
    if (survey->cache == NULL || survey->failed) return;
    survey->failed =
        cache_put(survey->cache, primitive, measurement, survey->when) != CM_BACKEND_OK;
}

static const struct cache_entry *recall(const struct survey *survey,
                                        const struct cm_primitive *primitive) {
    return survey->cache ? cache_find(survey->cache, primitive) : NULL;
}

static void measure_ceiling(void *context, const struct cm_primitive *primitive,
                            struct cm_measurement *ret) {
    struct survey *survey = context;
    const struct cm_progress at = {.what = "device"};
    const struct cache_entry *known = recall(survey, primitive);
    if (known != NULL) {
        *ret = known->measurement;
        return;
    }
    tell_progress(survey, &at);
    subprocess_measure(survey->child, primitive, ret);
    keep(survey, primitive, ret);
}

static void find_ceilings(struct survey *survey, struct estimate_table *ret) {
    const struct primitives_table *primitives = &survey->analysis->primitives;
    const struct ceilings_job job = {measure_ceiling, survey};
    bool wanted[CM_N_ELEMENTS];
    if (ret->facts.modelled || primitives->n == 0) return;
    if (survey->analysis->options->plan_only) return;
    ceilings_wanted(primitives->items, primitives->n, wanted);
    ceilings_measure(&job, &ret->facts, wanted, &ret->ceilings);
    ret->has_ceilings = ceilings_any(&ret->ceilings);
}

/* Takes what the cache has, and lists the rest. */
static void take_known(const struct survey *survey, struct missing *missing,
                       struct estimate_table *ret) {
    const struct primitives_table *primitives = &survey->analysis->primitives;
    for (size_t i = 0; i < primitives->n; i++) {
        const struct cache_entry *known = recall(survey, &primitives->items[i]);
        if (known == NULL) {
            missing->indices[missing->n++] = i;
            continue;
        }
        ret->items[i] = known->measurement;
        ret->items[i].flags |= CM_FLAG_CACHED;
        if (ret->n_cached++ == 0 || known->when < ret->cached_since)
            ret->cached_since = known->when;
    }
}

static void measure_missing(void *context, size_t index, struct cm_measurement *ret) {
    const struct missing *missing = context;
    const struct survey *survey = missing->survey;
    subprocess_measure(survey->child,
                       &survey->analysis->primitives.items[missing->indices[index]], ret);
}

static void tell_round(void *context, int round, size_t done, size_t total) {
    const struct missing *missing = context;
    const struct cm_progress at = {"layers", round, done, total};
    tell_progress(missing->survey, &at);
}

static void measure_layers(struct missing *missing, struct estimate_table *ret) {
    struct survey *survey = missing->survey;
    const struct repeat_job job = {measure_missing, tell_round, missing};
    take_known(survey, missing, ret);
    repeat_run(&job, missing->n, survey->drift, missing->found);
    for (size_t i = 0; i < missing->n; i++) {
        const size_t index = missing->indices[i];
        ret->items[index] = missing->found[i];
        keep(survey, &survey->analysis->primitives.items[index], &ret->items[index]);
    }
}

static void add_up(const struct survey *survey, const struct cm_measurement *items,
                   struct network_time *ret) {
    const struct primitives_table *primitives = &survey->analysis->primitives;
    for (uint32_t id = 0; id < survey->analysis->model->n_nodes; id++) {
        if (!ret->in_it[id]) continue;
        const struct cm_measurement *item = &items[primitives->of_node[id]];
        ret->sum_cold_ps = checked_add(ret->sum_cold_ps, estimate_ps(item->cold.median));
        ret->sum_warm_ps = checked_add(ret->sum_warm_ps, estimate_ps(item->warm.median));
    }
}

/* The whole cannot take longer than all of its parts from memory, nor less than all of them
 * warm, unless something is not as it seems. */
static void doubt_network(const struct survey *survey, const struct network_time *time) {
    struct cm_diagnostics *diag = survey->analysis->diag;
    const int64_t whole = estimate_ps(time->measurement.warm.median);
    if (!estimate_has_time(&time->measurement)) return;
    if (whole > time->sum_cold_ps)
        diag_note(diag, DIAG_BACKEND,
                  "the whole network takes %.2f times as long as its layers one by one, cold: "
                  "something between them is not measured",
                  (double)whole / (double)time->sum_cold_ps);
    else if (whole < time->sum_warm_ps)
        diag_note(diag, DIAG_BACKEND,
                  "the whole network takes %.2f times as long as its layers one by one, warm: "
                  "they overlap, or a layer was measured another way",
                  (double)whole / (double)time->sum_warm_ps);
}

static int run_network(const struct survey *survey, struct estimate_table *ret) {
    const struct cm_progress at = {.what = "network"};
    struct network network;
    if (!survey->analysis->options->e2e) return CM_OK;
    const int status = network_build(survey->analysis, ret, &network);
    if (status != CM_OK) return status;
    ret->network.in_it = network.in_it;
    if (network.why_not != NULL) {
        (void)reason_fail(&ret->network.measurement.reason, 0, "%s", network.why_not);
        return CM_OK;
    }
    tell_progress(survey, &at);
    subprocess_measure_network(survey->child, &network.network, &ret->network.measurement);
    add_up(survey, ret->items, &ret->network);
    doubt_network(survey, &ret->network);
    return CM_OK;
}

int measure_all_run(struct survey *survey, struct estimate_table *ret) {
    const struct analysis *analysis = survey->analysis;
    const size_t n = analysis->primitives.n;
    struct missing missing = {.survey = survey};
    ret->items = arena_array(analysis->arena, n, sizeof(*ret->items));
    missing.indices = arena_array(analysis->arena, n, sizeof(*missing.indices));
    missing.found = arena_array(analysis->arena, n, sizeof(*missing.found));
    if (!ret->items || !missing.indices || !missing.found)
        return diag_no_memory(analysis->diag);
    find_ceilings(survey, ret);
    measure_layers(&missing, ret);
    return survey->failed ? diag_no_memory(analysis->diag) : run_network(survey, ret);
}
