/* SPDX-License-Identifier: Apache-2.0 */
/* The layers as a timeline, in the Trace Event Format that chrome://tracing and Perfetto read
 * ("JSON Object Format";
 * docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU): slices are events
 * "X" with ts and dur in microseconds, tracks are threads named by events "M", a counter is
 * "C". The timeline is not a recording: it puts the median times of the nodes one after
 * another. */
#include "report/report.h"

#include "report/times.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/file.h"
#include "support/json/json_writer.h"

#define PROCESS    1
#define LAYERS     0  /* the track of the layers; modules of depth d are on track d + 1 */
#define MAX_TRACKS 64 /* deeper modules are omitted: more tracks are unreadable */

struct tracer {
    const struct cm_result *result;
    struct arena *arena;
    struct json_writer json;
    size_t *timed; /* by node: index into the primitives; CM_NO_INDEX: none */
    size_t n_tracks;
    size_t open[MAX_TRACKS];   /* by depth: module whose slice is open; CM_NO_INDEX: none */
    int64_t since[MAX_TRACKS]; /* by depth: start of the open slice, picoseconds */
    int64_t now;               /* picoseconds */
};

/* Writes picoseconds as microseconds, exactly. */
static void write_time(struct json_writer *json, const char *key, int64_t ps) {
    json_write_key(json, key);
    json_write_decimal(json, ps, 6);
}

/* Starts an event on a line of its own; end_event closes it and its args. */
static void begin_event(struct tracer *tracer, const char *phase, size_t track,
                        const char *name) {
    struct json_writer *json = &tracer->json;
    json_break_line(json, 2, false);
    json_begin(json, '{');
    json_key_string(json, "name", name);
    json_key_string(json, "ph", phase);
    json_key_integer(json, "pid", PROCESS);
    json_key_integer(json, "tid", (int64_t)track);
}

static void end_event(struct json_writer *json) {
    json_end(json, '}');
    json_end(json, '}');
}

static void name_track(struct tracer *tracer, const char *what, size_t track,
                       const char *name) {
    begin_event(tracer, "M", track, what);
    json_open(&tracer->json, "args", '{');
    json_key_string(&tracer->json, "name", name);
    end_event(&tracer->json);
}

static void close_module(struct tracer *tracer, size_t depth) {
    const size_t index = tracer->open[depth];
    tracer->open[depth] = CM_NO_INDEX;
    if (index == CM_NO_INDEX || tracer->now == tracer->since[depth]) return;
    const struct cm_module *module = &tracer->result->modules[index];
    struct json_writer *json = &tracer->json;
    begin_event(tracer, "X", depth + 1, module->name);
    write_time(json, "ts", tracer->since[depth]);
    write_time(json, "dur", tracer->now - tracer->since[depth]);
    json_open(json, "args", '{');
    json_key_string(json, "path", module->path);
    json_key_string(json, "class", module->type);
    json_key_integer(json, "macs", module->costs.macs);
    if (module->achieved) json_key_string(json, "limited_by", module->achieved->limited_by);
    end_event(json);
}

/* `module` is the module of the next node. Closes the open slices of modules that do not
 * contain this node, innermost first, and opens slices for the modules that do. */
static void enter(struct tracer *tracer, size_t module) {
    size_t chain[MAX_TRACKS];
    size_t same = 0;
    for (size_t depth = 0; depth < MAX_TRACKS; depth++) chain[depth] = CM_NO_INDEX;
    while (module < tracer->result->n_modules) {
        const struct cm_module *at = &tracer->result->modules[module];
        if (at->depth < MAX_TRACKS) chain[at->depth] = module;
        module = at->parent;
    }
    while (same < tracer->n_tracks && tracer->open[same] == chain[same]) same++;
    for (size_t depth = tracer->n_tracks; depth-- > same;) close_module(tracer, depth);
    for (size_t depth = same; depth < tracer->n_tracks; depth++) {
        tracer->open[depth] = chain[depth];
        tracer->since[depth] = tracer->now;
    }
}

/* Writes a slice for a layer with a time, an instant if the time is unknown, nothing if the
 * time is 0. */
static void write_layer(struct tracer *tracer, const struct cm_node *node, size_t index) {
    const size_t primitive = tracer->timed[index];
    const struct cm_timed *timed =
        primitive == CM_NO_INDEX ? NULL : &tracer->result->measure->primitives[primitive];
    const bool has_time = node->costs.latency_ps > 0;
    if (node->costs.latency_ps == 0) return;
    struct json_writer *json = &tracer->json;
    begin_event(tracer, has_time ? "X" : "i", LAYERS,
                node->name[0] == '\0' ? node->op : node->name);
    json_key_string(json, "cat", node->op);
    write_time(json, "ts", tracer->now);
    if (has_time)
        write_time(json, "dur", node->costs.latency_ps);
    else
        json_key_string(json, "s", "t");
    json_open(json, "args", '{');
    json_key_string(json, "op", node->op);
    json_key_string(json, "state", timed ? timed->state : "unsupported");
    if (timed) json_key_string(json, "primitive", timed->primitive);
    if (timed && timed->achieved)
        json_key_string(json, "limited_by", timed->achieved->limited_by);
    json_key_integer(json, "macs", node->costs.macs);
    json_key_integer(json, "node", (int64_t)index);
    end_event(json);
}

static void write_node(struct tracer *tracer, size_t index, int64_t alive) {
    if (index >= tracer->result->n_nodes) return;
    const struct cm_node *node = &tracer->result->nodes[index];
    const int64_t time = node->costs.latency_ps > 0 ? node->costs.latency_ps : 0;
    const int64_t end = checked_add(tracer->now, time);
    enter(tracer, node->module);
    if (is_known(alive)) {
        begin_event(tracer, "C", LAYERS, "alive activations");
        write_time(&tracer->json, "ts", tracer->now);
        json_open(&tracer->json, "args", '{');
        json_key_integer(&tracer->json, "bytes", alive);
        end_event(&tracer->json);
    }
    write_layer(tracer, node, index);
    if (is_known(end)) tracer->now = end;
}

/* Writes the nodes in the order of the memory curve, else of the schedule, else of the file. */
static void write_nodes(struct tracer *tracer) {
    const struct cm_memory *memory = &tracer->result->memory;
    const bool has_curve = memory->n_curve > 0;
    const bool has_schedule = memory->n_schedule > 0;
    const size_t n = has_curve      ? memory->n_curve
                     : has_schedule ? memory->n_schedule
                                    : tracer->result->n_nodes;
    for (size_t i = 0; i < n; i++)
        write_node(tracer,
                   has_curve      ? memory->curve[i].node
                   : has_schedule ? memory->schedule[i]
                                  : i,
                   has_curve ? memory->curve[i].bytes : CM_UNKNOWN);
    for (size_t depth = tracer->n_tracks; depth-- > 0;) close_module(tracer, depth);
}

static void write_head(struct tracer *tracer) {
    const struct cm_result *result = tracer->result;
    const char *kind = times_kind(result);
    struct json_writer *json = &tracer->json;
    json_begin(json, '{');
    json_key_string(json, "displayTimeUnit", "ns");
    json_break_line(json, 0, false);
    json_open(json, "otherData", '{');
    json_key_string(json, "tool", arena_printf(tracer->arena, "costmodel %s", cm_version()));
    json_key_string(json, "times", *kind == '\0' ? "measured" : kind);
    json_key_string(json, "what", "medians of single layers back to back: not a recorded run");
    json_key_string(json, "backend", result->measure->backend);
    json_key_string(json, "device", result->measure->device);
    json_key_string(json, "version", result->measure->version);
    json_key_integer(json, "batch", result->options.batch);
    json_end(json, '}');
    json_break_line(json, 0, false);
    json_open(json, "traceEvents", '[');
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

int report_write_trace(const struct report *report) {
    struct tracer tracer = {.result = report->result, .json = {.out = report->out}};
    if (!cm_result_timed(report->result)) return CM_USAGE;
    tracer.arena = arena_new("trace", 0);
    if (tracer.arena == NULL) return CM_NO_MEMORY;
    if (start(&tracer)) {
        write_head(&tracer);
        name_track(&tracer, "process_name", LAYERS, tracer.result->model.path);
        name_track(&tracer, "thread_name", LAYERS, "layers");
        for (size_t depth = 0; depth < tracer.n_tracks; depth++) {
            char name[48];
            (void)snprintf(name, sizeof name, "modules, depth %zu", depth);
            name_track(&tracer, "thread_name", depth + 1, name);
        }
        write_nodes(&tracer);
        json_break_line(&tracer.json, 0, true);
        json_end(&tracer.json, ']');
        json_end(&tracer.json, '}');
        fputc('\n', report->out);
    }
    return arena_end(tracer.arena, output_flush(report->out));
}
