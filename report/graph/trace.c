/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layers as a timeline, in the Trace Event Format that chrome://tracing and Perfetto read
 * ("JSON Object Format";
 * docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU): slices are events
 * "X" with ts and dur in microseconds, tracks are threads named by events "M", a counter is
 * "C". Nothing ran like this: medians stand back to back in the order of the nodes.
 */
#include "costmodel/costmodel.h"

#include <inttypes.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "report/json/json_print.h"
#include "report/times.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/file.h"
#include "support/text.h"

#include "support/banned.h"

#define PROCESS      1
#define LAYERS       0  /* the track of the layers; modules of depth d are on the d + 1st */
#define MAX_TRACKS   64 /* deeper modules are left out: nobody looks at more */
#define PS_PER_MICRO 1000000

struct tracer {
    const struct cm_result *result;
    struct arena *arena;
    FILE *out;
    size_t *timed; /* by node: index into the primitives; CM_NO_INDEX */
    size_t n_tracks;
    size_t open[MAX_TRACKS]; /* by depth: the module whose slice is open; CM_NO_INDEX */
    int64_t since[MAX_TRACKS];
    int64_t now; /* picoseconds */
    bool any;    /* an event was written */
};

static void add(struct tracer *tracer, cJSON *object, const char *key, cJSON *item) {
    if (item != NULL && cJSON_AddItemToObjectCS(object, key, item)) return;
    cJSON_Delete(item);
    arena_set_failed(tracer->arena);
}

/* A name from a file; broken UTF-8 as the text report prints it. */
static void add_text(struct tracer *tracer, cJSON *object, const char *key, const char *text) {
    struct text safe;
    text_init(&safe, tracer->arena);
    if (text_is_utf8(text, strlen(text)))
        text_append(&safe, text);
    else
        text_append_name(&safe, text);
    add(tracer, object, key, cJSON_CreateString(text_string(&safe)));
}

static void add_integer(struct tracer *tracer, cJSON *object, const char *key, int64_t value) {
    char digits[32];
    (void)snprintf(digits, sizeof digits, "%" PRId64, value);
    add(tracer, object, key, is_known(value) ? cJSON_CreateRaw(digits) : cJSON_CreateNull());
}

/* Picoseconds as microseconds, exactly. */
static void add_time(struct tracer *tracer, cJSON *object, const char *key, int64_t ps) {
    char digits[40];
    (void)snprintf(digits, sizeof digits, "%" PRId64 ".%06" PRId64, ps / PS_PER_MICRO,
                   ps % PS_PER_MICRO);
    add(tracer, object, key, cJSON_CreateRaw(digits));
}

/* Prints the object and frees it. */
static void print(struct tracer *tracer, cJSON *object) {
    if (arena_failed(tracer->arena))
        cJSON_Delete(object);
    else if (!json_print(object, tracer->out))
        arena_set_failed(tracer->arena);
}

/* An event, on a line of its own. */
static void put(struct tracer *tracer, cJSON *event) {
    fputs(tracer->any ? ",\n  " : "\n  ", tracer->out);
    tracer->any = true;
    print(tracer, event);
}

static cJSON *new_event(struct tracer *tracer, const char *phase, size_t track,
                        const char *name) {
    cJSON *event = cJSON_CreateObject();
    add_text(tracer, event, "name", name);
    add(tracer, event, "ph", cJSON_CreateString(phase));
    add_integer(tracer, event, "pid", PROCESS);
    add_integer(tracer, event, "tid", (int64_t)track);
    return event;
}

static void name_track(struct tracer *tracer, const char *what, size_t track,
                       const char *name) {
    cJSON *event = new_event(tracer, "M", track, what);
    cJSON *args = cJSON_CreateObject();
    add_text(tracer, args, "name", name);
    add(tracer, event, "args", args);
    put(tracer, event);
}

static void name_tracks(struct tracer *tracer) {
    name_track(tracer, "process_name", LAYERS, tracer->result->model.path);
    name_track(tracer, "thread_name", LAYERS, "layers");
    for (size_t depth = 0; depth < tracer->n_tracks; depth++) {
        char name[48];
        (void)snprintf(name, sizeof name, "modules, depth %zu", depth);
        name_track(tracer, "thread_name", depth + 1, name);
    }
}

static void close_module(struct tracer *tracer, size_t depth) {
    const size_t index = tracer->open[depth];
    tracer->open[depth] = CM_NO_INDEX;
    if (index == CM_NO_INDEX || tracer->now == tracer->since[depth]) return;
    const struct cm_module *module = &tracer->result->modules[index];
    cJSON *event = new_event(tracer, "X", depth + 1, module->name);
    cJSON *args = cJSON_CreateObject();
    add_time(tracer, event, "ts", tracer->since[depth]);
    add_time(tracer, event, "dur", tracer->now - tracer->since[depth]);
    add_text(tracer, args, "path", module->path);
    add_text(tracer, args, "class", module->type);
    add_integer(tracer, args, "macs", module->costs.macs);
    if (module->achieved) add_text(tracer, args, "limited_by", module->achieved->limited_by);
    add(tracer, event, "args", args);
    put(tracer, event);
}

/* The modules around a node, by depth; what is not there is CM_NO_INDEX. */
static void find_chain(const struct tracer *tracer, size_t module, size_t *chain) {
    for (size_t depth = 0; depth < MAX_TRACKS; depth++) chain[depth] = CM_NO_INDEX;
    while (module < tracer->result->n_modules) {
        const struct cm_module *at = &tracer->result->modules[module];
        if (at->depth < MAX_TRACKS) chain[at->depth] = module;
        module = at->parent;
    }
}

/* Closes what the node is not in, from the inside, and opens what it is in. */
static void enter(struct tracer *tracer, size_t module) {
    size_t chain[MAX_TRACKS];
    size_t same = 0;
    find_chain(tracer, module, chain);
    while (same < tracer->n_tracks && tracer->open[same] == chain[same]) same++;
    for (size_t depth = tracer->n_tracks; depth-- > same;) close_module(tracer, depth);
    for (size_t depth = same; depth < tracer->n_tracks; depth++) {
        tracer->open[depth] = chain[depth];
        tracer->since[depth] = tracer->now;
    }
}

static const struct cm_timed *timed_of(const struct tracer *tracer, size_t node) {
    const size_t index = tracer->timed[node];
    return index == CM_NO_INDEX ? NULL : &tracer->result->measure->primitives[index];
}

/* A slice; without a time an instant; nothing for what does nothing. */
static void write_layer(struct tracer *tracer, const struct cm_node *node, size_t index) {
    const struct cm_timed *timed = timed_of(tracer, index);
    const bool has_time = node->costs.latency_ps > 0;
    if (node->costs.latency_ps == 0) return;
    cJSON *event = new_event(tracer, has_time ? "X" : "i", LAYERS,
                             node->name[0] == '\0' ? node->op : node->name);
    cJSON *args = cJSON_CreateObject();
    add_text(tracer, event, "cat", node->op);
    add_time(tracer, event, "ts", tracer->now);
    if (has_time)
        add_time(tracer, event, "dur", node->costs.latency_ps);
    else
        add(tracer, event, "s", cJSON_CreateString("t"));
    add_text(tracer, args, "op", node->op);
    add_text(tracer, args, "state", timed ? timed->state : "unsupported");
    if (timed) add_text(tracer, args, "primitive", timed->primitive);
    if (timed && timed->achieved)
        add_text(tracer, args, "limited_by", timed->achieved->limited_by);
    add_integer(tracer, args, "macs", node->costs.macs);
    add_integer(tracer, args, "node", (int64_t)index);
    add(tracer, event, "args", args);
    put(tracer, event);
}

static void write_alive(struct tracer *tracer, int64_t bytes) {
    if (!is_known(bytes)) return;
    cJSON *event = new_event(tracer, "C", LAYERS, "alive activations");
    cJSON *args = cJSON_CreateObject();
    add_time(tracer, event, "ts", tracer->now);
    add_integer(tracer, args, "bytes", bytes);
    add(tracer, event, "args", args);
    put(tracer, event);
}

static void write_node(struct tracer *tracer, size_t index, int64_t alive) {
    struct arena_mark mark = arena_save(tracer->arena);
    if (index < tracer->result->n_nodes) {
        const struct cm_node *node = &tracer->result->nodes[index];
        const int64_t time = node->costs.latency_ps > 0 ? node->costs.latency_ps : 0;
        const int64_t end = checked_add(tracer->now, time);
        enter(tracer, node->module);
        write_alive(tracer, alive);
        write_layer(tracer, node, index);
        if (is_known(end)) tracer->now = end;
    }
    arena_restore(tracer->arena, mark);
}

/* In the order in which they run, as far as the result knows it. */
static void write_nodes(struct tracer *tracer) {
    const struct cm_result *result = tracer->result;
    const struct cm_memory *memory = &result->memory;
    const bool has_schedule = memory->n_curve == 0 && memory->n_schedule > 0;
    for (size_t i = 0; i < memory->n_curve; i++)
        write_node(tracer, memory->curve[i].node, memory->curve[i].bytes);
    for (size_t i = 0; has_schedule && i < memory->n_schedule; i++)
        write_node(tracer, memory->schedule[i], CM_UNKNOWN);
    for (size_t i = 0; memory->n_curve == 0 && !has_schedule && i < result->n_nodes; i++)
        write_node(tracer, i, CM_UNKNOWN);
    for (size_t depth = tracer->n_tracks; depth-- > 0;) close_module(tracer, depth);
}

static void write_head(struct tracer *tracer) {
    const struct cm_result *result = tracer->result;
    const char *kind = times_kind(result);
    cJSON *head = cJSON_CreateObject();
    add_text(tracer, head, "tool", "costmodel " CM_VERSION_STRING);
    add_text(tracer, head, "times", *kind == '\0' ? "measured" : kind);
    add_text(tracer, head, "what", "medians of single layers back to back: not a recorded run");
    add_text(tracer, head, "backend", result->measure->backend);
    add_text(tracer, head, "device", result->measure->device);
    add_text(tracer, head, "version", result->measure->version);
    add_integer(tracer, head, "batch", result->options.batch);
    fputs("{\"displayTimeUnit\":\"ns\",\n\"otherData\":", tracer->out);
    print(tracer, head);
    fputs(",\n\"traceEvents\":[", tracer->out);
}

static bool start(struct tracer *tracer) {
    const struct cm_result *result = tracer->result;
    const struct cm_measure *measure = result->measure;
    tracer->timed = arena_array(tracer->arena, result->n_nodes, sizeof *tracer->timed);
    if (tracer->timed == NULL) return false;
    for (size_t i = 0; i < result->n_nodes; i++) tracer->timed[i] = CM_NO_INDEX;
    for (size_t i = 0; i < measure->n_primitives; i++)
        for (size_t k = 0; k < measure->primitives[i].n_nodes; k++)
            if (measure->primitives[i].nodes[k] < result->n_nodes)
                tracer->timed[measure->primitives[i].nodes[k]] = i;
    for (size_t i = 0; i < result->n_modules; i++)
        if ((size_t)result->modules[i].depth >= tracer->n_tracks)
            tracer->n_tracks = (size_t)result->modules[i].depth + 1;
    if (tracer->n_tracks > MAX_TRACKS) tracer->n_tracks = MAX_TRACKS;
    for (size_t i = 0; i < MAX_TRACKS; i++) tracer->open[i] = CM_NO_INDEX;
    return true;
}

int cm_result_write_trace(const struct cm_result *result, FILE *out) {
    struct tracer tracer = {.result = result, .out = out};
    if (!cm_result_timed(result)) return CM_USAGE;
    tracer.arena = arena_new("trace", 0);
    if (tracer.arena == NULL) return CM_NO_MEMORY;
    if (start(&tracer)) {
        write_head(&tracer);
        name_tracks(&tracer);
        write_nodes(&tracer);
        fputs("\n]}\n", out);
    }
    return arena_end(tracer.arena, output_flush(out));
}
