/* SPDX-License-Identifier: Apache-2.0 */
/* Pass estimate: measures or models each distinct primitive with the backend, except those in
 * the cache, and imports times. Also answers the queries of later passes (estimate.h). A
 * backend that cannot be used is a warning, not an error: the other figures need no backend. */
#include "timing/estimate.h"

#include <math.h>
#include <time.h>

#include "backends/backend_registry.h"
#include "backends/cache/cache.h"
#include "backends/plugin/reason.h"
#include "backends/plugin/settings.h"
#include "backends/primitive.h"
#include "backends/process/subprocess.h"
#include "backends/repeat.h"
#include "passes/cost/count.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/text.h"
#include "timing/kernels.h"
#include "timing/network.h"
#include "timing/primitives.h"
#include "timing/times_import.h"
#include "timing/timing.h"

/* A plan may compile a dozen engines one after the other. */
#define PLAN_TIMEOUT_S 120

bool estimate_has_time(const struct cm_measurement *measurement) {
    return measurement->state == CM_MEASURED || measurement->state == CM_MODELLED ||
           measurement->state == CM_PROXY || measurement->state == CM_INVENTED ||
           measurement->state == CM_IMPORTED || measurement->state == CM_SPLIT;
}

double estimate_rate(const struct timing *timing, const char *name) {
    const struct cm_device_facts *facts = &timing->estimate->facts;
    for (int32_t i = 0; i < facts->n_rates; i++)
        if (text_equal(facts->rates[i].name, name)) return facts->rates[i].flops_per_s;
    return 0;
}

double estimate_kernels_sum(const struct cm_how *how) {
    double sum = 0;
    if (how->n_kernels < 2 || how->n_kernels > CM_MAX_KERNELS) return 0;
    for (int32_t i = 0; i < how->n_kernels; i++) {
        const struct cm_kernel *kernel = &how->kernels[i];
        if (kernel->name[0] == '\0' || !(kernel->seconds > 0)) return 0;
        sum += kernel->seconds;
    }
    return isfinite(sum) ? sum : 0;
}

const char *estimate_tensor_cores_name(int32_t tensor_cores) {
    if (tensor_cores == CM_TENSOR_CORES_YES) return "yes";
    return tensor_cores == CM_TENSOR_CORES_NO ? "no" : "unknown";
}

/* Returns the primitive of the node's group if it was measured or planned; ID_NONE if not, or
 * if the node is in no group. */
static uint32_t group_primitive(const struct timing *timing, uint32_t node) {
    const struct primitives_table *primitives = timing->primitives;
    if (!primitives->group || primitives->group[node] == ID_NONE ||
        !timing->estimate->unfused_s)
        return ID_NONE;
    const uint32_t product = primitives->group[node];
    const uint32_t fused = primitives->fused[product];
    const struct cm_measurement *whole = &timing->estimate->items[fused];
    const bool is_measured =
        estimate_has_time(whole) && timing->estimate->unfused_s[product] > 0;
    return is_measured || whole->state == CM_PLANNED ? fused : ID_NONE;
}

uint32_t estimate_primitive(const struct timing *timing, uint32_t node) {
    const uint32_t fused = group_primitive(timing, node);
    return fused != ID_NONE ? fused : timing->primitives->of_node[node];
}

double estimate_share(const struct timing *timing, uint32_t node) {
    const struct primitives_table *primitives = timing->primitives;
    if (group_primitive(timing, node) == ID_NONE) return 1;
    const struct cm_measurement *own = &timing->estimate->items[primitives->of_node[node]];
    return own->cold.median / timing->estimate->unfused_s[primitives->group[node]];
}

bool estimate_runs(const struct timing *timing, uint32_t node) {
    return group_primitive(timing, node) == ID_NONE || timing->primitives->group[node] == node;
}

enum cm_measure_state estimate_state(const struct timing *timing, uint32_t node) {
    const struct primitives_table *primitives = timing->primitives;
    const bool is_imported = timing->estimate->imported != NULL;
    if (primitives->lowered[node] == LOWERED_NOTHING && !is_imported) return CM_VIEW;
    if (primitives->lowered[node] == LOWERED_NOT && !is_imported) return CM_UNSUPPORTED;
    return (enum cm_measure_state)timing->estimate->items[estimate_primitive(timing, node)]
        .state;
}

const struct cm_measurement *estimate_of_node(const struct timing *timing, uint32_t node) {
    const uint32_t primitive = estimate_primitive(timing, node);
    if (primitive == ID_NONE) return NULL;
    const struct cm_measurement *measurement = &timing->estimate->items[primitive];
    return estimate_has_time(measurement) ? measurement : NULL;
}

/* One run of a backend. */
struct session {
    const struct timing *timing;
    struct subprocess *child;
    double drift;        /* allowed difference of two rounds, relative */
    struct cache *cache; /* NULL: none */
    int64_t when;        /* seconds since 1970 */
    bool failed;         /* out of memory */
    size_t *missing;     /* indices of the primitives that are not in the cache */
};

static void report_progress(const struct session *session, struct cm_progress at) {
    const struct cm_options *options = session->timing->core.options;
    if (options->progress != NULL) options->progress(options->progress_context, &at);
}

static void store_in_cache(struct session *session, const struct cm_primitive *primitive,
                           const struct cm_measurement *measurement) {
    if (session->cache == NULL || session->failed) return;
    /* After an interruption, missing times and times of a single round are not cached. */
    if (subprocess_is_stopped(session->child) &&
        (!estimate_has_time(measurement) || (measurement->flags & CM_FLAG_UNSTABLE) != 0))
        return;
    session->failed =
        cache_put(session->cache, primitive, measurement, session->when) != CM_BACKEND_OK;
}

static const struct cache_entry *find_in_cache(const struct session *session,
                                               const struct cm_primitive *primitive) {
    return session->cache ? cache_find(session->cache, primitive) : NULL;
}

static void measure_ceiling(void *context, const struct cm_primitive *primitive,
                            struct cm_measurement *ret) {
    struct session *session = context;
    const struct cache_entry *known = find_in_cache(session, primitive);
    if (known != NULL) {
        *ret = known->measurement;
        return;
    }
    report_progress(session, (struct cm_progress){.what = "device"});
    subprocess_measure(session->child, primitive, ret);
    store_in_cache(session, primitive, ret);
}

static void measure_missing(void *context, size_t index, struct cm_measurement *ret) {
    const struct session *session = context;
    subprocess_measure(session->child,
                       &session->timing->primitives->items[session->missing[index]], ret);
}

static void report_round(void *context, int round, size_t done, size_t total) {
    report_progress(context, (struct cm_progress){"layers", round, done, total});
}

/* Uses cached times and measures the other primitives. */
static void measure_layers(struct session *session, struct cm_measurement *found,
                           struct estimate_table *ret) {
    const struct primitives_table *primitives = session->timing->primitives;
    const struct repeat_job job = {measure_missing, report_round, session};
    size_t n = 0;
    for (size_t i = 0; i < primitives->n; i++) {
        const struct cache_entry *known = find_in_cache(session, &primitives->items[i]);
        if (known == NULL) {
            session->missing[n++] = i;
            continue;
        }
        ret->items[i] = known->measurement;
        ret->items[i].flags |= CM_FLAG_CACHED;
        if (ret->n_cached++ == 0 || known->when < ret->cached_since)
            ret->cached_since = known->when;
    }
    repeat_run(&job, n, session->drift, found);
    for (size_t i = 0; i < n; i++) {
        ret->items[session->missing[i]] = found[i];
        store_in_cache(session, &primitives->items[session->missing[i]], &found[i]);
    }
}

/* Notes an implausible end-to-end time: longer than the sum of the cold layer times or shorter
 * than the sum of the warm ones. */
static void check_network_time(const struct session *session, const struct network_time *time) {
    struct cm_diagnostics *diag = session->timing->core.diag;
    const int64_t network_ps = estimate_ps(time->measurement.warm.median);
    if (!estimate_has_time(&time->measurement)) return;
    if (network_ps > time->sum_cold_ps)
        diag_note(diag, DIAG_BACKEND,
                  "the whole network takes %.2f times the sum of its cold layer times: "
                  "work between the layers is not measured",
                  (double)network_ps / (double)time->sum_cold_ps);
    else if (network_ps < time->sum_warm_ps)
        diag_note(diag, DIAG_BACKEND,
                  "the whole network takes %.2f times the sum of its warm layer times: "
                  "layers overlap, or a layer was measured differently",
                  (double)network_ps / (double)time->sum_warm_ps);
}

static int run_network(const struct session *session, struct estimate_table *ret) {
    const struct timing *timing = session->timing;
    struct network_time *time = &ret->network;
    struct network network;
    if (!timing->core.options->end_to_end) return CM_OK;
    const int status = network_build(timing, ret, &network);
    if (status != CM_OK) return status;
    time->included = network.included;
    if (network.why_not != NULL) {
        (void)reason_fail(&time->measurement.reason, 0, "%s", network.why_not);
        return CM_OK;
    }
    report_progress(session, (struct cm_progress){.what = "network"});
    subprocess_measure_network(session->child, &network.network, &time->measurement);
    for (uint32_t id = 0; id < timing->core.model->n_nodes; id++) {
        if (!time->included[id]) continue;
        const struct cm_measurement *item = &ret->items[timing->primitives->of_node[id]];
        checked_add_to(&time->sum_cold_ps, estimate_ps(item->cold.median));
        checked_add_to(&time->sum_warm_ps, estimate_ps(item->warm.median));
    }
    check_network_time(session, time);
    return CM_OK;
}

/* Sums the separate times of the members of each group; -INFINITY if a member has no time. */
static int sum_groups(const struct timing *timing, struct estimate_table *ret) {
    const struct primitives_table *primitives = timing->primitives;
    const size_t n_nodes = timing->core.model->n_nodes;
    if (!primitives->group) return CM_OK;
    ret->unfused_s = arena_array(timing->core.arena, n_nodes, sizeof(*ret->unfused_s));
    if (!ret->unfused_s) return diag_no_memory(timing->core.diag);
    for (uint32_t id = 0; id < n_nodes; id++) {
        if (primitives->group[id] == ID_NONE) continue;
        const struct cm_measurement *own = &ret->items[primitives->of_node[id]];
        ret->unfused_s[primitives->group[id]] +=
            estimate_has_time(own) ? own->cold.median : -INFINITY;
    }
    return CM_OK;
}

/* Notes the groups whose nodes run one by one. */
static void report_unfused(const struct timing *timing) {
    const struct primitives_table *primitives = timing->primitives;
    const char *why = NULL;
    size_t n_groups = 0;
    size_t n_unfused = 0;
    for (uint32_t id = 0; primitives->group && id < timing->core.model->n_nodes; id++) {
        if (primitives->group[id] != id) continue;
        n_groups++;
        if (group_primitive(timing, id) != ID_NONE) continue;
        const char *text = timing->estimate->items[primitives->fused[id]].reason.text;
        if (n_unfused++ == 0) why = text[0] != '\0' ? text : "a node of it has no time";
    }
    if (n_unfused > 0)
        diag_note(
            timing->core.diag, DIAG_BACKEND,
            "%zu of %zu groups of fused nodes run as single nodes; reason of the first: %s",
            n_unfused, n_groups, why);
}

/* Measures the ceilings (meanwhile an idle device raises its clock), then the layers in rounds,
 * then the network end to end. */
static int measure_all(struct session *session, struct estimate_table *ret) {
    const struct timing *timing = session->timing;
    const size_t n = timing->primitives->n;
    ret->items = arena_array(timing->core.arena, n, sizeof(*ret->items));
    session->missing = arena_array(timing->core.arena, n, sizeof(*session->missing));
    struct cm_measurement *found = arena_array(timing->core.arena, n, sizeof(*found));
    if (!ret->items || !session->missing || !found) return diag_no_memory(timing->core.diag);
    if (!ret->facts.modelled && n > 0 && !timing->core.options->plan_only) {
        const struct ceilings_job job = {measure_ceiling, session};
        bool wanted[CM_N_ELEMENTS];
        ceilings_wanted(timing->primitives->items, n, wanted);
        ceilings_measure(&job, &ret->facts, wanted, &ret->ceilings);
        ret->has_ceilings = ceilings_any(&ret->ceilings);
    }
    measure_layers(session, found, ret);
    const bool is_stopped = subprocess_is_stopped(session->child);
    if (is_stopped) {
        size_t n_timed = 0;
        for (size_t i = 0; i < n; i++) n_timed += estimate_has_time(&ret->items[i]);
        diag_warn(timing->core.diag, DIAG_INTERRUPTED,
                  "interrupted: %zu of %zu distinct layers have a time, sums of times are "
                  "partial",
                  n_timed, n);
    }
    if (session->failed) return diag_no_memory(timing->core.diag);
    const int status = sum_groups(timing, ret);
    if (status < 0) return status;
    if (!is_stopped) report_unfused(timing);
    return run_network(session, ret);
}

static int report_problem(const struct timing *timing, const char *name,
                          const struct cm_reason *reason, struct estimate_table *ret) {
    ret->problem = arena_strdup(timing->core.arena, reason->text);
    if (!ret->problem) return diag_no_memory(timing->core.diag);
    diag_warn(timing->core.diag, DIAG_BACKEND, "backend %s cannot be used: %s", name,
              reason->text);
    diag_hint(timing->core.diag,
              "costmodel backends lists the backends; for a device that is not "
              "here, see 'costmodel guide another-gpu'");
    return CM_OK;
}

/* The requested backend. */
struct request {
    const char *name;
    const struct cm_backend *backend;
    const char *module; /* path of the plug-in; NULL: built in */
    struct subprocess_setup setup;
};

static void report_cache(const struct timing *timing, const struct cm_reason *reason) {
    if (reason->text[0] == '\0') return;
    diag_note(timing->core.diag, DIAG_BACKEND, "measurement cache '%s' is not used: %s",
              timing->core.options->cache, reason->text);
}

/* Measures everything with a started backend. Opens the cache if one is requested, times are
 * measured, and the device reports no warning; for the fake backend of the tests only with its
 * setting cache=invented. */
static int run_session(const struct timing *timing, const struct request *request,
                       struct subprocess *child, struct estimate_table *ret) {
    const struct cm_settings *settings = &request->setup.settings;
    const char *path = timing->core.options->cache;
    const bool is_fake = text_equal(request->backend->name, "fake");
    struct cm_reason reason = {""};
    struct session session = {.timing = timing,
                              .child = child,
                              .drift = request->setup.policy.drift,
                              .when = (int64_t)time(NULL)};
    ret->facts = *subprocess_facts(child);
    if (path != NULL && !ret->facts.modelled && ret->facts.warning[0] == '\0' &&
        !settings->plan_only &&
        (!is_fake || text_equal(settings_get(settings, "cache"), "invented"))) {
        const struct cache_key key = {request->backend, request->module, &ret->facts, settings,
                                      &request->setup.policy};
        if (cache_open(path, &key, is_fake, timing->core.arena, &session.cache, &reason) !=
            CM_BACKEND_OK)
            return diag_no_memory(timing->core.diag);
        report_cache(timing, &reason);
    }
    const int status = measure_all(&session, ret);
    if (status != CM_OK) return status;
    if (session.cache && cache_save(session.cache, &reason) != CM_BACKEND_OK)
        report_cache(timing, &reason);
    ret->done = true;
    return CM_OK;
}

/* Discards the result with a warning if no layer has a time: the sum would read as 0. */
static int discard_if_untimed(const struct timing *timing, const char *name,
                              struct estimate_table *ret) {
    const size_t n = timing->primitives->n;
    struct cm_reason reason = {""};
    size_t first = n;
    for (size_t i = 0; i < n; i++) {
        const bool is_view = ret->items[i].state == CM_VIEW;
        if (estimate_has_time(&ret->items[i])) return CM_OK;
        if (!is_view && first == n) first = i;
    }
    if (first == n) return CM_OK;
    (void)reason_fail(&reason, 0, "no layer could be timed; the first one because %s",
                      ret->items[first].reason.text);
    ret->done = false;
    return report_problem(timing, name, &reason, ret);
}

static int run_backend(const struct timing *timing, struct request *request,
                       const struct cm_settings *settings, struct estimate_table *ret) {
    struct places places;
    struct subprocess *child = NULL;
    struct cm_reason reason = {""};
    if (loader_places(timing->core.arena, &places) != CM_OK)
        return diag_no_memory(timing->core.diag);
    if (backends_find(&places, request->name, timing->core.arena, &request->backend, &reason) !=
        CM_BACKEND_OK)
        return report_problem(timing, request->name, &reason, ret);
    request->module = backends_module(&places, request->name, timing->core.arena);
    subprocess_setup_init(&request->setup, request->backend);
    request->setup.settings = *settings;
    if (timing->core.options->stop != NULL) request->setup.stop = *timing->core.options->stop;
    if (settings->plan_only) request->setup.measure_timeout_s = PLAN_TIMEOUT_S;
    /* Each algorithm is built and run separately. */
    if (settings->autotune > 1) request->setup.measure_timeout_s *= settings->autotune;
    const int started = subprocess_start(&request->setup, timing->core.arena, &child, &reason);
    /* A modelled device uses host memory only. */
    if (started == CM_BACKEND_NO_MEMORY && request->backend == &roofline_backend)
        return diag_no_memory(timing->core.diag);
    if (started != CM_BACKEND_OK) return report_problem(timing, request->name, &reason, ret);
    int status = run_session(timing, request, child, ret);
    subprocess_stop(child);
    if (status == CM_OK && !settings->plan_only)
        status = discard_if_untimed(timing, request->name, ret);
    return status;
}

/* Reads the name and the settings of the requested backend. */
static int find_settings(const struct timing *timing, const char **ret_name,
                         struct cm_settings *ret) {
    const char *text = timing->core.options->backend;
    struct cm_reason reason = {""};
    const int status = settings_parse(text, timing->core.arena, ret_name, ret, &reason);
    if (status == CM_BACKEND_NO_MEMORY) return diag_no_memory(timing->core.diag);
    if (status != CM_BACKEND_OK)
        return diag_error(timing->core.diag, DIAG_USAGE, "backend '%s': %s", text, reason.text);
    ret->precision = (int32_t)timing->core.options->precision;
    if (ret->precision == CM_PRECISION_FP32) ret->precision = CM_PRECISION_AS_STORED;
    ret->plan_only = timing->core.options->plan_only;
    ret->layout = (int32_t)timing->core.options->layout;
    ret->runtime = (int32_t)timing->core.options->runtime;
    ret->autotune = timing->core.options->autotune;
    ret->element =
        (int32_t)primitive_main_element(timing->primitives->items, timing->primitives->n);
    return CM_OK;
}

int estimate_modelled(const struct timing *timing, const struct cm_primitive *items, size_t n,
                      struct modelled_time *ret) {
    const char *name = NULL;
    struct cm_settings settings;
    struct cm_device *device = NULL;
    struct cm_reason reason = {""};
    const int status = find_settings(timing, &name, &settings);
    if (status < 0) return status;
    const int opened = roofline_backend.open(&settings, &device, &reason);
    if (opened == CM_BACKEND_NO_MEMORY) return diag_no_memory(timing->core.diag);
    for (size_t i = 0; i < n; i++) {
        struct cm_measurement time = {.state = CM_UNSUPPORTED};
        if (opened == CM_BACKEND_OK)
            (void)roofline_backend.estimate(device, &items[i], &time, &reason);
        const bool has_time = estimate_has_time(&time);
        ret[i] = (struct modelled_time){
            .expected_ps = has_time ? estimate_ps(time.cold.median) : DIM_UNKNOWN,
            .lower_bound_ps = has_time ? estimate_ps(time.lower_bound) : DIM_UNKNOWN,
            .limit = (enum cm_limit)time.limit};
        if (has_time) ret[i].kernel = roofline_kernel_time(device, &items[i]);
    }
    if (opened == CM_BACKEND_OK) roofline_backend.close(device);
    return CM_OK;
}

/* Returns the seconds in which a node could take longer than its lower bound before it moved
 * all its compulsory bytes through memory. */
static double slack_of(const struct timing *timing, const struct estimate_table *table,
                       uint32_t primitive) {
    const double bytes = (double)timing->primitives->items[primitive].fusion.compulsory_bytes;
    return fmax(0, bytes / table->facts.bandwidth - table->items[primitive].lower_bound);
}

/* Raises the lower bounds of nodes until their sum is that of the run: its weights, inputs and
 * outputs move through memory but for one cache full, which the run before may have left there.
 * Nodes whose operands fit in the cache have no such traffic of their own, because an earlier
 * node may fetch them in advance. */
static void raise_lower_bounds(const struct timing *timing, struct estimate_table *table) {
    const struct cm_device_facts *facts = &table->facts;
    const struct primitives_table *primitives = timing->primitives;
    const double bytes = (double)timing->kernels->run_bytes - (double)facts->cache_bytes;
    double missing = bytes / facts->bandwidth;
    double slack = 0;
    for (uint32_t id = 0; id < timing->core.model->n_nodes; id++) {
        const uint32_t at = primitives->of_node[id];
        const int64_t runs = timing->core.count->runs[timing->core.model->nodes[id].graph];
        if (at == ID_NONE || !is_known(runs) || !estimate_has_time(&table->items[at])) continue;
        missing -= (double)runs * table->items[at].lower_bound;
        slack += (double)runs * slack_of(timing, table, at);
    }
    if (!(missing > 0 && slack > 0)) return;
    for (uint32_t i = 0; i < primitives->n; i++) {
        struct cm_measurement *item = &table->items[i];
        if (!estimate_has_time(item)) continue;
        item->lower_bound += fmin(1, missing / slack) * slack_of(timing, table, i);
        if (item->cold.median >= item->lower_bound) continue;
        const double s = item->lower_bound;
        item->cold = (struct cm_timing){.median = s, .q1 = s, .q3 = s, .min = s, .max = s};
    }
}

/* If times are imported, the times of the modelled device become the expected times. */
int pass_estimate(const struct analysis *analysis, void *own) {
    const struct timing *timing = timing_of(analysis);
    struct estimate_table *table = own;
    struct request request = {.name = NULL};
    struct cm_settings settings;
    const bool is_imported = timing->core.options->n_times > 0;
    int status = CM_OK;
    if (timing->core.options->backend != NULL) {
        status = find_settings(timing, &request.name, &settings);
        if (status < 0) return status;
        if (is_imported && !text_equal(request.name, roofline_backend.name))
            return diag_error(timing->core.diag, DIAG_USAGE,
                              "with imported times the backend must model a device, got '%s'",
                              timing->core.options->backend);
        status = run_backend(timing, &request, &settings, table);
        if (table->done && timing->kernels->fusion) raise_lower_bounds(timing, table);
    }
    if (status < 0 || !is_imported || table->problem != NULL) return status;
    if (table->items == NULL)
        table->items =
            arena_array(timing->core.arena, timing->primitives->n, sizeof(*table->items));
    return table->items ? times_import(timing, table) : diag_no_memory(timing->core.diag);
}
