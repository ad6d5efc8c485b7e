/* SPDX-License-Identifier: Apache-2.0 */
/* Files of TensorRT's trtexec (NVIDIA/TensorRT, samples/common/sampleReporting.cpp, and the
 * engine inspector):
 *     --exportProfile    [{"count": 100}, {"name": "conv1 + relu1", "averageMs": 0.02}, ..]
 *     --exportLayerInfo  {"Layers": [{"Name": "...", "Metadata": "[ONNX Layer: conv1]...",
 *                         "Outputs": [{"Name": "relu1_out", "Dimensions": [8, 64, 56,
 *                         56]}]}]} */
#include "backends/times/times.h"

#include <string.h>

#include "backends/times/times_names.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/json/json_value.h"
#include "support/text.h"

static int make_layers(struct cm_times *ret, size_t n, struct cm_diagnostics *diag) {
    ret->tool = "tensorrt";
    ret->provider = "";
    ret->layers = arena_array(ret->arena, n, sizeof(*ret->layers));
    return ret->layers ? CM_OK : diag_no_memory(diag);
}

/* Reads means and medians over all runs; old profiles have no medians, none has single runs. */
int times_read_trtexec_profile(const struct json_value *rows, struct cm_diagnostics *diag,
                               struct cm_times *ret) {
    const struct json_value *first = json_first(rows);
    size_t index = 0;
    int status = make_layers(ret, json_count(rows), diag);
    if (status < 0) return status;
    if (!json_to_int64(json_get(first, "count"), &ret->runs) || ret->runs < 1)
        return diag_error(diag, DIAG_FORMAT, "count must be an integer >= 1, got %s",
                          json_describe(json_get(first, "count")));
    ret->has_times = true;
    for (const struct json_value *row = json_next(first); row; row = json_next(row)) {
        const char *name = json_string(json_get(row, "name"));
        const struct json_value *mean = json_get(row, "averageMs");
        struct times_refs refs = {.arena = ret->arena};
        double ms = 0;
        index++;
        if (name == NULL)
            return diag_error(diag, DIAG_FORMAT, "layer %zu must have a name", index);
        if (!json_to_double(mean, &ms) || !(ms >= 0 && ms < 1e12))
            return diag_error(diag, DIAG_FORMAT,
                              "averageMs of layer %zu must be a time, got %s", index,
                              json_describe(mean));
        struct times_layer *layer = times_add_layer(ret, name, &refs);
        if (layer == NULL) return diag_no_memory(diag);
        layer->mean = ms * 1e-3;
        double median = 0;
        if (json_to_double(json_get(row, "medianMs"), &median) && median >= 0 && median < 1e12)
            ms = median;
        const double s = ms * 1e-3;
        layer->timing = (struct cm_timing){s, s, s, s, s, 1, 1};
    }
    return CM_OK;
}

/* Returns the first `what` in [at, end), or `end`. */
static const char *find(const char *at, const char *end, const char *what) {
    const size_t n = strlen(what);
    while (at < end && ((size_t)(end - at) < n || memcmp(at, what, n) != 0)) at++;
    return at;
}

/* Adds each node of "[ONNX Layer: /conv1/Conv | ...]\x1f[ONNX Layer: /relu/Relu]". */
static void add_metadata(struct times_refs *refs, const char *metadata) {
    static const char start[] = "[ONNX Layer: ";
    if (metadata == NULL) return;
    const char *stop = metadata + strlen(metadata);
    for (const char *at = find(metadata, stop, start); at < stop;) {
        at += strlen(start);
        const char *next = find(at, stop, start);
        const char *end = find(at, next, " | ");
        if (end == next)
            while (end > at && *--end != ']') {}
        times_refs_add(refs, at, (size_t)(end - at), TIMES_RUNS);
        at = next;
    }
}

int times_read_trtexec_layers(const struct json_value *layers, struct cm_diagnostics *diag,
                              struct cm_times *ret) {
    size_t index = 0;
    int status = make_layers(ret, json_count(layers), diag);
    if (status < 0) return status;
    json_each(layer, layers) {
        struct times_refs refs = {.arena = ret->arena};
        struct times_refs listed = {.arena = ret->arena};
        const char *name = json_string(layer);
        if (name == NULL) name = json_string(json_get(layer, "Name"));
        if (name == NULL)
            return diag_error(diag, DIAG_FORMAT, "layer %zu must have a Name", index);
        /* Metadata lists nodes but does not show that a layer is a block or a copy; names do.
         */
        if (times_names_split(name, &refs) == TIMES_RUNS) {
            add_metadata(&listed, json_string(json_get(layer, "Metadata")));
            if (listed.n > 0) refs = listed;
        }
        struct times_layer *added = times_add_layer(ret, name, &refs);
        const struct json_value *output = json_first(json_get(layer, "Outputs"));
        const char *value = json_string(json_get(output, "Name"));
        if (added != NULL && value != NULL) added->output = arena_strdup(ret->arena, value);
        if (added == NULL || arena_failed(ret->arena)) return diag_no_memory(diag);
        times_read_dims(json_get(output, "Dimensions"), added);
        index++;
    }
    return CM_OK;
}
