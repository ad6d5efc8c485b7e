/* SPDX-License-Identifier: Apache-2.0 */
/* Reads profiles of ONNX Runtime (SessionOptions.enable_profiling): a list of events in the
 * Trace Event Format. An event with category "Node" is one run of an operator; an event with
 * the name "model_run" ends one run of the model. Times are in microseconds, rounded down.
 * Example:
 *
 *     {"cat": "Node", "name": "/conv1/Conv_kernel_time", "ts": 5300, "dur": 120, "tid": 7,
 *      "args": {"op_name": "FusedConv", "input_type_shape": [{"float": [1, 3, 224, 224]}, ..],
 *               "output_type_shape": [{"float": [1, 64, 56, 56]}]}}
 *
 * The event of a node that runs on a GPU measures only the host, which does not wait. Builds
 * with --enable_cuda_profiling or --enable_rocm_profiling add an event for each kernel and copy
 * on the GPU, after the event of the node that started it:
 *
 *     {"cat": "Kernel", "name": "sgemm_128x64", "ts": 5410, "dur": 95, "tid": -1,
 *      "args": {"op_name": "FusedConv", "parent_name": "/conv1/Conv_kernel_time"}}
 *
 * ("GPU Profiling" in docs/performance/tune-performance/profiling-tools.md of
 * microsoft/onnxruntime, and GPUProfilerBase::MergeEvents in core/common/gpu_profiler_common.h;
 * old versions have no parent_name.) */
#include "backends/times/times.h"

#include <stdlib.h>
#include <string.h>

#include "backends/times/times_names.h"
#include "backends/times/times_samples.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/json/json_value.h"
#include "support/map.h"
#include "support/sort.h"
#include "support/text.h"

#define SECONDS(us) ((double)(us)*1e-6)
#define MAX_US      ((int64_t)1 << 52)

/* One run of a node, or of a kernel on a GPU. */
struct event {
    bool is_kernel;
    int64_t thread;
    int64_t start;    /* microseconds */
    int64_t duration; /* microseconds */
    int64_t own;      /* duration minus the events nested in it (Loop, If and Scan bodies) */
    int64_t run;      /* index of the run of the model */
    uint32_t layer;   /* index into times->layers */
};

struct reader {
    struct cm_times *times;
    struct cm_diagnostics *diag;
    struct arena *scratch;
    struct map layers;     /* by name and operator */
    bool *on_device;       /* by layer: runs on a GPU */
    bool has_kernels;      /* the profile has events of kernels */
    const char *last_node; /* name of the latest event of a node */
    struct map read_in;    /* by shape: the latest run in which a layer reads it */
    int64_t latest;        /* run of the latest event of a node */
    struct event *events;
    size_t n;
};

/* Removes a suffix. Returns false if the name does not have it or consists only of it. */
static bool drop_suffix(char *name, const char *suffix) {
    if (!text_ends_with(name, suffix) || strlen(name) == strlen(suffix)) return false;
    name[strlen(name) - strlen(suffix)] = '\0';
    return true;
}

/* Removes a suffix like "_token_12", which ONNX Runtime adds to make a name unique. */
static bool drop_token(char *name) {
    static const char token[] = "_token_";
    size_t end = strlen(name);
    while (end > 0 && text_is_digit(name[end - 1])) end--;
    if (name[end] == '\0' || end < strlen(token)) return false;
    name[end] = '\0';
    return drop_suffix(name, token);
}

/* Removes a suffix like "/MatMulScaleFusion/": the name of the optimizer that fused nodes. */
static bool drop_fusion(char *name) {
    if (!text_ends_with(name, "Fusion/") && !text_ends_with(name, "Fusion")) return false;
    size_t at = strlen(name) - 1; /* skips the last '/' */
    while (at > 0 && name[at - 1] != '/') at--;
    if (at < 2) return false;
    name[at - 1] = '\0';
    return true;
}

/* Suffixes that ONNX Runtime's optimizers append to the name of an original node or value. */
static const struct {
    const char *suffix;
    enum times_role role;
} suffixes[] = {
    {"_nchwc", TIMES_RUNS},      /* NchwcTransformer: name of the output value */
    {"/duplicated", TIMES_RUNS}, /* EnsureUniqueDQForNodeUnit */
    {"_bias_dq", TIMES_COPIES},  /* WeightBiasQuantization: name of the node with the bias */
    {"_q", TIMES_COPIES},        /* PropagateQDQ: name of the value */
    {"_dq", TIMES_COPIES},       /* PropagateQDQ: name of the value */
};

/* Adds the original names from which an optimizer may have derived `name`, longest first.
 * Example: "fused relu_out_nchwc" adds "relu_out_nchwc", then "relu_out". */
static void add_refs(struct times_refs *refs, char *name, const char *op) {
    enum times_role role = TIMES_RUNS;
    for (bool changed = true; changed;) {
        changed = drop_token(name) || drop_fusion(name);
        if (text_starts_with(name, "fused ")) {
            name += strlen("fused ");
            changed = true;
        }
        for (size_t i = 0; !changed && i < sizeof(suffixes) / sizeof(*suffixes); i++) {
            changed = drop_suffix(name, suffixes[i].suffix);
            if (changed && role == TIMES_RUNS) role = suffixes[i].role;
        }
        /* Skip "BiasGelu_token_3" of operator BiasGelu: it names no original node. */
        if (changed && !text_equal(name, op)) times_refs_add(refs, name, strlen(name), role);
    }
}

/* Counts the runs in which a layer reads each of the shapes. The first of several runs is left
 * out, as it is from the times. If out of memory, the arena of the reader has failed. */
static void count_reads(struct reader *reader, const struct json_value *args) {
    struct map *reads = &reader->times->reads;
    const int64_t run = reader->times->runs;
    if (run == 1 && reader->latest == 0) map_init(reads, reader->times->arena);
    if (run == 1 && reader->latest == 0) map_init(&reader->read_in, reader->scratch);
    reader->latest = run;
    json_each(input, json_get(args, "input_type_shape")) {
        struct text text = {.arena = reader->scratch};
        text_append(&text, "[");
        json_each(dim, json_first(input)) {
            int64_t size = -1;
            (void)json_to_int64(dim, &size);
            text_printf(&text, "%s%lld", text.length > 1 ? ", " : "", (long long)size);
        }
        text_append(&text, "]");
        if (!text.failed)
            times_count_read(reader->times, &reader->read_in, text_string(&text), run);
    }
}

/* Operators that optimizers insert to move tensors between devices and layouts. */
static const char copies[] = "ReorderInput ReorderOutput MemcpyFromHost MemcpyToHost Transpose "
                             "Squeeze Unsqueeze Reshape "
                             "Gather Slice Cast Identity";

/* Execution providers that start work on a device and do not wait for it. */
static const char asynchronous[] =
    "CUDAExecutionProvider ROCMExecutionProvider TensorrtExecutionProvider "
    "MIGraphXExecutionProvider DmlExecutionProvider WebGpuExecutionProvider";

static bool is_one_of(const char *name, const char *words) {
    return name && times_has_word(words, name, strlen(name));
}

/* Sets *ret to the layer with this name and operator; adds the layer if it is new. Records the
 * first two distinct execution providers, as in "CUDAExecutionProvider,
 * CPUExecutionProvider". */
static int find_layer(struct reader *reader, const char *name, size_t length,
                      const struct json_value *args, uint32_t *ret) {
    struct cm_times *times = reader->times;
    struct times_refs refs = {.arena = times->arena};
    const char *op = json_string(json_get(args, "op_name"));
    if (op == NULL) op = "";
    const char *key = arena_printf(reader->scratch, "%.*s\n%s", (int)length, name, op);
    if (key == NULL || map_add(&reader->layers, key, (uint32_t)times->n, ret) != CM_OK)
        return diag_no_memory(reader->diag);
    if (*ret != MAP_NONE) return CM_OK;
    *ret = (uint32_t)times->n;
    struct times_layer *layer = &times->layers[times->n++];
    char *stem = arena_strndup(reader->scratch, name, length);
    layer->name = arena_strndup(times->arena, name, length);
    layer->op = arena_strdup(times->arena, op);
    layer->alternatives = true;
    layer->rank = -1;
    layer->role = is_one_of(op, copies) ? TIMES_COPIES : TIMES_RUNS;
    const char *provider = json_string(json_get(args, "provider"));
    if (provider != NULL && strchr(times->provider, ',') == NULL &&
        !text_equal(times->provider, provider))
        times->provider = arena_printf(times->arena, "%s%s%s", times->provider,
                                       times->provider[0] == '\0' ? "" : ", ", provider);
    if (stem != NULL) add_refs(&refs, stem, op);
    if (arena_failed(reader->scratch) || arena_failed(times->arena))
        return diag_no_memory(reader->diag);
    layer->n_refs = refs.n;
    layer->refs = refs.items;
    return CM_OK;
}

/* Returns the length of the node's name in the name of an event: "/conv1/Conv" in
 * "/conv1/Conv_kernel_time". */
static size_t node_length(const char *name) {
    static const char *const suffixes_of_events[] = {"_kernel_time", "_fence_before",
                                                     "_fence_after"};
    for (size_t i = 0; i < sizeof(suffixes_of_events) / sizeof(*suffixes_of_events); i++)
        if (text_ends_with(name, suffixes_of_events[i]))
            return strlen(name) - strlen(suffixes_of_events[i]);
    return strlen(name);
}

static int read_event(struct reader *reader, const struct json_value *from, size_t index,
                      bool is_kernel) {
    struct event *event = &reader->events[reader->n];
    const char *name = json_string(json_get(from, "name"));
    const struct json_value *args = json_get(from, "args");
    if (name == NULL)
        return diag_error(reader->diag, DIAG_FORMAT, "event %zu must have a name", index);
    if (!is_kernel) reader->last_node = name;
    if (!is_kernel &&
        (text_ends_with(name, "_fence_before") || text_ends_with(name, "_fence_after")))
        return CM_OK;
    *event = (struct event){.is_kernel = is_kernel, .run = reader->times->runs};
    (void)json_to_int64(json_get(from, "tid"), &event->thread);
    if (!json_to_int64(json_get(from, "ts"), &event->start) ||
        !json_to_int64(json_get(from, "dur"), &event->duration) || event->start < 0 ||
        event->duration < 0 || event->start > MAX_US || event->duration > MAX_US)
        return diag_error(
            reader->diag, DIAG_FORMAT,
            "ts and dur of event %zu must be times in microseconds, got %s and %s", index,
            json_describe(json_get(from, "ts")), json_describe(json_get(from, "dur")));
    /* The name of the event of the node that started a kernel; NULL if it is unknown. */
    const char *parent = is_kernel ? json_string(json_get(args, "parent_name")) : name;
    if (parent == NULL && json_get(args, "op_name") != NULL) parent = reader->last_node;
    const size_t length = parent ? node_length(parent) : strlen(name);
    const int status = find_layer(reader, parent ? parent : name, length, args, &event->layer);
    if (status < 0) return status;
    struct times_layer *layer = &reader->times->layers[event->layer];
    if (!is_kernel && (event->run == 1 || layer->rank < 0))
        times_read_dims(json_first(json_first(json_get(args, "output_type_shape"))), layer);
    if (!is_kernel) count_reads(reader, args);
    if (is_kernel || is_one_of(json_string(json_get(args, "provider")), asynchronous))
        reader->on_device[event->layer] = true;
    reader->has_kernels |= is_kernel;
    reader->n++;
    return CM_OK;
}

/* Orders events by thread and start time; an enclosing event precedes its nested events. */
static int compare_time(const void *left, const void *right) {
    const struct event *a = left;
    const struct event *b = right;
    if (a->thread != b->thread) return a->thread < b->thread ? -1 : 1;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    return a->duration != b->duration ? (a->duration > b->duration ? -1 : 1) : 0;
}

/* Sets `own` of each event. The duration of Loop, If and Scan includes their body nodes, which
 * also have events. Times are rounded down, so consecutive events never overlap. `open`:
 * scratch, indices of the events around the current one. */
static void subtract_bodies(struct reader *reader, size_t *open) {
    size_t depth = 0;
    if (reader->n > 0)
        sort_stable(reader->events, reader->n, sizeof(*reader->events), compare_time);
    for (size_t i = 0; i < reader->n; i++) {
        struct event *event = &reader->events[i];
        event->own = event->duration;
        if (event->is_kernel) continue;
        for (; depth > 0; depth--) {
            const struct event *around = &reader->events[open[depth - 1]];
            if (around->thread == event->thread &&
                event->start < around->start + around->duration)
                break;
        }
        if (depth > 0) reader->events[open[depth - 1]].own -= event->duration;
        open[depth++] = i;
    }
}

static int read_all(struct reader *reader, const struct json_value *list) {
    struct cm_times *times = reader->times;
    const size_t n = json_count(list);
    size_t index = 0;
    reader->events = arena_array(reader->scratch, n, sizeof(*reader->events));
    reader->on_device = arena_array(reader->scratch, n, sizeof(*reader->on_device));
    size_t *open = arena_array(reader->scratch, n, sizeof(*open));
    struct times_sample *samples = arena_array(reader->scratch, n, sizeof(*samples));
    double *runs = arena_array(reader->scratch, n, sizeof(*runs)); /* seconds */
    times->layers = arena_array(times->arena, n, sizeof(*times->layers));
    if (arena_failed(reader->scratch) || !times->layers) return diag_no_memory(reader->diag);
    json_each(item, list) {
        const char *category = json_string(json_get(item, "cat"));
        const bool is_kernel = text_equal(category, "Kernel");
        if (is_kernel || text_equal(category, "Node")) {
            const int status = read_event(reader, item, index, is_kernel);
            if (status < 0) return status;
        } else if (text_equal(category, "Session") &&
                   text_equal(json_string(json_get(item, "name")), "model_run")) {
            int64_t us = 0; /* stays 0 if unknown */
            (void)json_to_int64(json_get(item, "dur"), &us);
            runs[times->runs++] = us > 0 && us <= MAX_US ? SECONDS(us) : 0;
        }
        index++;
    }
    const size_t n_counted = (size_t)times_n_counted(times);
    if (n_counted > 0)
        times->run =
            times_summarize(runs + times->runs - n_counted, n_counted, n_counted).median;
    if (times->runs == 0) { /* the profile ended before the first run did */
        times->runs = 1;
        map_init(&times->reads, times->arena); /* incomplete */
    }
    subtract_bodies(reader, open);
    for (size_t i = 0; i < reader->n; i++) {
        struct event *event = &reader->events[i];
        if (reader->on_device[event->layer] && !event->is_kernel) {
            /* The time of the host does not count if there are times of kernels. */
            if (reader->has_kernels) event->own = 0;
            times->without_kernels = !reader->has_kernels;
        }
        samples[i] = (struct times_sample){event->layer, event->run,
                                           SECONDS(event->own > 0 ? event->own : 0)};
    }
    /* The first of several runs warms up caches, and the last may be cut off. */
    times_sum_samples(times, samples, reader->n, times->runs - times_n_counted(times), runs);
    return CM_OK;
}

int times_read_onnxruntime(const struct json_value *events, struct cm_diagnostics *diag,
                           struct cm_times *ret) {
    struct reader reader = {.times = ret, .diag = diag, .scratch = arena_new("profile", 0)};
    if (reader.scratch == NULL) return diag_no_memory(diag);
    map_init(&reader.layers, reader.scratch);
    map_init(&ret->reads, ret->arena);
    map_init(&reader.read_in, reader.scratch);
    ret->tool = "onnxruntime";
    ret->provider = "";
    ret->has_times = true;
    int status = read_all(&reader, events);
    if (status == CM_OK && (arena_failed(reader.scratch) || arena_failed(ret->arena)))
        status = diag_no_memory(diag);
    arena_free(reader.scratch);
    return status;
}
