/* SPDX-License-Identifier: Apache-2.0 */
/* Imports the times of other tools: joins the files, assigns layers to nodes (times_match), and
 * splits the time of a fused layer over its nodes. */
#include "timing/times_import.h"

#include <math.h>
#include <string.h>

#include "backends/plugin/reason.h"
#include "backends/times/times.h"
#include "passes/cost/count.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/map.h"
#include "support/text.h"
#include "timing/estimate.h"
#include "timing/primitives.h"

/* Arithmetic intensity, in FLOP/byte, at which the assumed roofline changes from memory-bound
 * to compute-bound. Splits times without a device; typical of CPUs and GPU vector units. */
#define NOMINAL_RIDGE 10.0

/* Adds the layers of one file. Layers with equal name and operator are merged; their times are
 * added. */
static int join_file(const struct timing *timing, const struct cm_times *times,
                     const struct cm_times **of_layer, struct map *index,
                     struct imported *ret) {
    for (size_t i = 0; i < times->n; i++) {
        const struct times_layer *from = &times->layers[i];
        uint32_t at = MAP_NONE;
        const char *key = arena_printf(timing->core.scratch, "%s\n%s", from->name, from->op);
        if (key == NULL || map_add(index, key, (uint32_t)ret->n, &at) != CM_OK)
            return diag_no_memory(timing->core.diag);
        if (at != MAP_NONE && of_layer[at] != times)
            return diag_error(timing->core.diag, DIAG_USAGE,
                              "layer '%s' must have times in one file, got '%s' and '%s'",
                              from->name, of_layer[at]->path, times->path);
        if (at == MAP_NONE) {
            at = (uint32_t)ret->n++;
            of_layer[at] = times;
            ret->layers[at].from = from;
            ret->layers[at].timing.n_samples = from->timing.n_samples;
        }
        struct cm_timing *sum = &ret->layers[at].timing;
        ret->layers[at].mean += from->mean;
        sum->median += from->timing.median;
        sum->q1 += from->timing.q1;
        sum->q3 += from->timing.q3;
        sum->min += from->timing.min;
        sum->max += from->timing.max;
    }
    return CM_OK;
}

static int join_files(const struct timing *timing, struct imported *ret) {
    const struct cm_options *options = timing->core.options;
    struct text tools = {.arena = timing->core.arena};
    struct text version = {.arena = timing->core.arena};
    struct map index;
    size_t n = 0;
    map_init(&index, timing->core.scratch);
    for (size_t i = 0; i < options->n_times; i++) n += options->times[i]->n;
    ret->layers = arena_array(timing->core.arena, n, sizeof(*ret->layers));
    const struct cm_times **of_layer = arena_array(timing->core.scratch, n, sizeof(*of_layer));
    if (ret->layers == NULL || of_layer == NULL) return diag_no_memory(timing->core.diag);
    for (size_t i = 0; i < options->n_times; i++) {
        const struct cm_times *times = options->times[i];
        if (!times->has_times) continue;
        const int status = join_file(timing, times, of_layer, &index, ret);
        if (status < 0) return status;
        ret->run += times->run;
        ret->gap += times->gap;
        ret->host += times->host;
        if (strstr(text_string(&tools), times->tool) == NULL)
            text_printf(&tools, "%s%s", tools.length > 0 ? ", " : "", times->tool);
        text_printf(&version, "%s%s: %lld run%s", version.length > 0 ? "; " : "", times->path,
                    (long long)times->runs, text_plural(times->runs));
        if (times->provider[0] != '\0') text_printf(&version, ", %s", times->provider);
    }
    if (tools.failed || version.failed) return diag_no_memory(timing->core.diag);
    ret->tools = text_string(&tools);
    ret->version = text_string(&version);
    int64_t sum = 0;
    for (size_t i = 0; i < ret->n; i++) {
        ret->layers[i].latency_ps = estimate_ps(ret->layers[i].timing.median);
        checked_add_to(&sum, ret->layers[i].latency_ps);
    }
    if (!is_overflow(sum)) return CM_OK;
    return diag_error(timing->core.diag, DIAG_OVERFLOW,
                      "the sum of the imported times must be below 2^63 ps, 106 days");
}

/* Returns how often the graph of a node runs; 1 if that is unknown or it is not counted. */
static double runs_of(const struct timing *timing, uint32_t node) {
    const int64_t runs = timing->core.count->runs[timing->core.model->nodes[node].graph];
    return is_known(runs) && runs > 0 ? (double)runs : 1;
}

/* Returns the modelled seconds of one run of the node; 0: unknown. Without a device, returns a
 * number that is proportional to its time on the assumed roofline. */
static double expected(const struct timing *timing, const struct estimate_table *table,
                       uint32_t node) {
    const uint32_t at = timing->primitives->of_node[node];
    const struct cm_measurement *item = &table->items[at];
    const struct cm_primitive *primitive = &timing->primitives->items[at];
    if (timing->core.options->backend != NULL)
        return item->state == CM_MODELLED ? item->cold.median : 0;
    return fmax((double)primitive->flops / NOMINAL_RIDGE,
                (double)primitive->bytes_read + (double)primitive->bytes_written);
}

/* Splits the time of a layer over its nodes in proportion to their expected times; evenly if
 * none is known. The shares sum up to the time of the layer exactly. Sets
 * layer->state to CM_SPLIT, and `shares` by node, if several nodes have a share. */
static void split(const struct timing *timing, const struct estimate_table *table,
                  const double *weights, bool *shares, struct imported *imported,
                  struct imported_layer *layer) {
    double total = 0;
    double before = 0;
    int64_t spent = 0;
    size_t n_known = 0;
    const bool has_device = timing->core.options->backend != NULL;
    for (size_t i = 0; i < layer->n_nodes; i++) {
        const double weight = weights[layer->nodes[i]];
        total += weight;
        n_known += weight > 0;
        const struct cm_measurement *item =
            &table->items[timing->primitives->of_node[layer->nodes[i]]];
        if (!has_device) continue;
        layer->expected_s += weight * runs_of(timing, layer->nodes[i]);
        if (item->state == CM_MODELLED)
            layer->lower_bound_s += item->lower_bound * runs_of(timing, layer->nodes[i]);
    }
    const size_t n_shares = n_known > 0 ? n_known : layer->n_nodes;
    layer->state = n_shares > 1 ? CM_SPLIT : CM_IMPORTED;
    for (size_t i = 0; i < layer->n_nodes; i++) {
        const uint32_t node = layer->nodes[i];
        before += total > 0 ? weights[node] : 1;
        const double share = before / (total > 0 ? total : (double)layer->n_nodes);
        int64_t until = (int64_t)llround((double)layer->latency_ps * share);
        if (i + 1 == layer->n_nodes || until > layer->latency_ps) until = layer->latency_ps;
        int64_t *ps = &imported->node_ps[node];
        *ps = checked_add(is_known(*ps) ? *ps : 0, until - spent);
        spent = until;
        if (n_shares > 1 && (n_known == 0 || weights[node] > 0)) shares[node] = true;
    }
}

static void report_unplaced(const struct timing *timing, const struct imported *imported) {
    const char *first = NULL;
    int64_t n = 0;
    for (size_t i = 0; i < imported->n; i++) {
        if (imported->layers[i].state != CM_UNPLACED || imported->layers[i].latency_ps == 0)
            continue;
        if (n++ == 0) first = imported->layers[i].from->name;
    }
    if (n == 0) return;
    diag_warn(
        timing->core.diag, DIAG_BACKEND,
        "%lld layer%s with %.2f%% of the imported time match%s no node, the first is '%s'",
        (long long)n, text_plural(n), 100 * (1 - imported->placed_share), n == 1 ? "es" : "",
        first);
    if (strstr(imported->tools, "tensorrt") != NULL)
        diag_hint(timing->core.diag,
                  "trtexec --profilingVerbosity=detailed --exportLayerInfo=FILE "
                  "states the nodes of each layer; give FILE to --times, too");
}

static void report_files(const struct timing *timing) {
    for (size_t i = 0; i < timing->core.options->n_times; i++) {
        const struct cm_times *times = timing->core.options->times[i];
        if (!times->without_kernels) continue;
        diag_warn(timing->core.diag, DIAG_BACKEND,
                  "'%s' has no times of GPU kernels: those of %s are of the host, which does "
                  "not wait for the device",
                  times->path, times->provider);
        diag_hint(timing->core.diag, "profile with a build of ONNX Runtime that has "
                                     "--enable_cuda_profiling or --enable_rocm_profiling");
    }
}

static void report_shapes(const struct timing *timing, const struct imported *imported) {
    if (imported->other_shape == NULL) return;
    diag_warn(timing->core.diag, DIAG_BACKEND, "the imported times belong to other shapes: %s",
              imported->other_shape);
    diag_hint(timing->core.diag, "--batch, --dim and --input set the shapes of the inputs; see "
                                 "'costmodel guide from-onnxruntime-profile'");
}

/* Splits the layers over their nodes, and sets the measurement of every node and the share of
 * the time that is placed. */
static int fill(const struct timing *timing, struct imported *imported,
                struct estimate_table *ret) {
    const struct primitives_table *primitives = timing->primitives;
    const size_t n_nodes = timing->core.model->n_nodes;
    double placed = 0;
    double all = 0;
    double *weights = arena_array(timing->core.scratch, n_nodes, sizeof(*weights));
    bool *shares = arena_array(timing->core.scratch, n_nodes, sizeof(*shares));
    bool *inside = arena_array(timing->core.scratch, n_nodes, sizeof(*inside));
    imported->node_ps = arena_array(timing->core.arena, n_nodes, sizeof(*imported->node_ps));
    if (!weights || !shares || !inside || !imported->node_ps)
        return diag_no_memory(timing->core.diag);
    for (uint32_t node = 0; node < n_nodes; node++) {
        imported->node_ps[node] = DIM_UNKNOWN;
        weights[node] = expected(timing, ret, node);
    }
    for (size_t i = 0; i < imported->n; i++) {
        struct imported_layer *layer = &imported->layers[i];
        if (layer->n_nodes > 0) split(timing, ret, weights, shares, imported, layer);
        for (size_t k = 0; k < layer->n_inside; k++) inside[layer->inside[k]] = true;
        all += layer->timing.median;
        if (layer->state != CM_UNPLACED) placed += layer->timing.median;
    }
    imported->placed_share = all > 0 ? placed / all : -1;
    for (uint32_t node = 0; node < n_nodes; node++) {
        struct cm_measurement *item = &ret->items[primitives->of_node[node]];
        const int64_t ps = imported->node_ps[node];
        const double s = (double)ps * 1e-12 / runs_of(timing, node);
        if (is_known(ps)) {
            item->state = shares[node] ? CM_SPLIT : CM_IMPORTED;
            item->cold = (struct cm_timing){.median = s, .q1 = s, .q3 = s, .min = s, .max = s};
            continue;
        }
        *item = (struct cm_measurement){.state = CM_VIEW};
        if (primitives->lowered[node] == LOWERED_NOTHING) continue;
        item->state = inside[node] ? CM_OPAQUE : CM_UNSUPPORTED;
        (void)reason_fail(&item->reason, 0, "no layer of the imported times runs it");
    }
    return CM_OK;
}

int times_import(const struct timing *timing, struct estimate_table *ret) {
    const struct cm_options *options = timing->core.options;
    struct imported *imported = arena_alloc(timing->core.arena, sizeof(*imported));
    if (imported == NULL) return diag_no_memory(timing->core.diag);
    *imported = (struct imported){.n = 0};
    int status = join_files(timing, imported);
    if (status == CM_OK)
        status = times_match(timing, options->times, options->n_times, imported);
    if (status == CM_OK) status = fill(timing, imported, ret);
    if (status < 0) return status;
    ret->imported = imported;
    ret->facts.modelled = 0;
    ret->done = imported->placed_share > 0;
    if (!ret->done) {
        ret->problem = imported->n == 0 ? "the imported files have no times"
                       : imported->placed_share < 0
                           ? "the imported times are all 0"
                           : "no layer of the imported times names a node";
        diag_warn(timing->core.diag, DIAG_BACKEND, "times cannot be imported: %s",
                  ret->problem);
        return CM_OK;
    }
    report_unplaced(timing, imported);
    report_files(timing);
    report_shapes(timing, imported);
    return CM_OK;
}
