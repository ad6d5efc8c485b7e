/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the performance counters of OpenVINO's benchmark_app -report_type detailed_counters or
 * average_counters, as CSV or (-json_stats) as JSON; tools/benchmark/utils/statistics_report.py
 * of the Python package writes them. A block of layers for each inference request, in the order
 * of execution:
 *
 *     layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms)
 *     /conv1/Conv;Status.EXECUTED;Convolution;brgconv_avx512_f32;1.372;1.372
 *     /relu/Relu;Status.NOT_RUN;Relu;undef;0.000;0.000
 *     Total;;;;73.414;73.414
 *
 * A layer that did not run and has no kernel ("undef") is fused into the layer before it. */
#include "backends/times/times.h"

#include <string.h>

#include "backends/times/times_names.h"
#include "backends/times/times_samples.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/json/json_value.h"
#include "support/map.h"
#include "support/text.h"

static const struct times_operator operators[] = {
    {"Convolution GroupConvolution", "Conv", TIMES_PRODUCT},
    {"Deconvolution", "ConvTranspose", TIMES_PRODUCT},
    {"FullyConnected MatMul", "MatMul Gemm", TIMES_PRODUCT},
    {"ScaledDotProductAttention", "MatMul Attention", TIMES_PRODUCT | TIMES_MANY},
    {"RNNSeq", "LSTM GRU RNN", TIMES_PRODUCT | TIMES_MANY},
    {"Subgraph", "MatMul", TIMES_MANY},
    {"MVN", "LayerNormalization InstanceNormalization GroupNormalization", 0},
    {"Pooling", "MaxPool AveragePool GlobalAveragePool GlobalMaxPool", 0},
    {"AvgPool", "AveragePool GlobalAveragePool ReduceMean", 0},
    {"Reduce", "ReduceMean ReduceSum ReduceMax GlobalAveragePool", 0},
    {"Reorder", "", TIMES_COPY},
    {"Convert", "Cast", TIMES_COPY},
    {"Reshape", "Reshape", TIMES_COPY},
};

struct row {
    const char *name, *status, *type, *kernel, *time;
};

struct reader {
    struct cm_times *times;
    struct cm_diagnostics *diag;
    struct map layers; /* by name */
    struct times_sample *samples;
    struct times_refs *refs; /* by layer */
    size_t n_samples;
    uint32_t latest; /* the latest layer that ran; MAP_NONE */
};

/* Adds a row of a request. `where`: its location in the file, "line 3". */
static int add_row(struct reader *reader, const struct row *row, const char *where) {
    struct cm_times *times = reader->times;
    double ms = 0;
    uint32_t at = 0;
    if (row->name == NULL || row->name[0] == '\0' || !row->status || !row->type)
        return diag_error(reader->diag, DIAG_FORMAT, "%s must have a name, a status and a type",
                          where);
    if (row->time == NULL || !text_to_real(row->time, &ms) || !(ms >= 0 && ms < 1e12))
        return diag_error(reader->diag, DIAG_FORMAT,
                          "%s: the real time must be a time in milliseconds, got '%s'", where,
                          row->time ? row->time : "");
    if (text_ends_with(row->status, "NOT_RUN") && ms <= 0) {
        if (reader->latest != MAP_NONE && text_equal(row->kernel, "undef"))
            times_refs_add(&reader->refs[reader->latest], row->name, strlen(row->name),
                           TIMES_RUNS);
        return CM_OK;
    }
    if (map_add(&reader->layers, row->name, (uint32_t)times->n, &at) != CM_OK)
        return diag_no_memory(reader->diag);
    if (at == MAP_NONE) {
        at = (uint32_t)times->n++;
        times->layers[at] =
            (struct times_layer){.name = row->name, .op = row->type, .rank = -1};
        if (!times_set_operator(&times->layers[at], operators,
                                sizeof(operators) / sizeof(*operators), row->type,
                                strlen(row->type)))
            times->layers[at].types = row->type;
        reader->refs[at].arena = times->arena;
        times_refs_add(&reader->refs[at], row->name, strlen(row->name), times->layers[at].role);
    }
    reader->latest = at;
    reader->samples[reader->n_samples++] = (struct times_sample){at, times->runs, ms * 1e-3};
    return CM_OK;
}

static int start(struct reader *reader, size_t n_rows) {
    struct cm_times *times = reader->times;
    map_init(&reader->layers, times->arena);
    times->tool = "openvino";
    times->provider = "";
    times->has_times = true;
    times->layers = arena_array(times->arena, n_rows, sizeof(*times->layers));
    reader->samples = arena_array(times->arena, n_rows, sizeof(*reader->samples));
    reader->refs = arena_array(times->arena, n_rows, sizeof(*reader->refs));
    return arena_failed(times->arena) ? diag_no_memory(reader->diag) : CM_OK;
}

static int finish(struct reader *reader) {
    struct cm_times *times = reader->times;
    double *scratch = arena_array(times->arena, reader->n_samples, sizeof(*scratch));
    if (times->runs == 0) times->runs = 1;
    if (scratch == NULL || arena_failed(times->arena)) return diag_no_memory(reader->diag);
    /* benchmark_app warms up before it counts. */
    times_sum_samples(times, reader->samples, reader->n_samples, 0, scratch);
    for (size_t i = 0; i < times->n; i++) {
        times->layers[i].n_refs = reader->refs[i].n;
        times->layers[i].refs = reader->refs[i].items;
    }
    return CM_OK;
}

int times_read_openvino_json(const struct json_value *requests, struct cm_diagnostics *diag,
                             struct cm_times *ret) {
    struct reader reader = {.times = ret, .diag = diag, .latest = MAP_NONE};
    size_t n = 0;
    size_t index = 0;
    json_each(request, requests) n += json_count(json_get(request, "nodes"));
    int status = start(&reader, n);
    if (status < 0) return status;
    json_each(request, requests) {
        reader.latest = MAP_NONE;
        json_each(node, json_get(request, "nodes")) {
            static const char *const keys[] = {"name", "status", "node_type", "exec_type",
                                               "real_time"};
            const char *texts[5];
            for (size_t i = 0; i < 5; i++) {
                const char *text = json_string(json_get(node, keys[i]));
                texts[i] = text ? arena_strdup(ret->arena, text) : NULL;
            }
            const struct row row = {texts[0], texts[1], texts[2], texts[3], texts[4]};
            const char *where = arena_printf(ret->arena, "layer %zu", index++);
            if (where == NULL || arena_failed(ret->arena)) return diag_no_memory(diag);
            status = add_row(&reader, &row, where);
            if (status < 0) return status;
        }
        ret->runs += json_count(json_get(request, "nodes")) > 0;
    }
    return finish(&reader);
}

int times_read_openvino_csv(const char *text, size_t size, struct cm_diagnostics *diag,
                            struct cm_times *ret) {
    struct reader reader = {.times = ret, .diag = diag, .latest = MAP_NONE};
    const char *end = text + size;
    size_t n_lines = 1;
    if (!text_is_utf8(text, size)) return diag_error(diag, DIAG_FORMAT, "not UTF-8 text");
    for (size_t i = 0; i < size; i++) n_lines += text[i] == '\n';
    int status = start(&reader, n_lines);
    for (size_t line = 1; status == CM_OK && text < end; line++) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        if (stop == NULL) stop = end;
        char *copy = arena_strndup(ret->arena, text, (size_t)(stop - text));
        const char *where = arena_printf(ret->arena, "line %zu", line);
        if (!copy || !where) return diag_no_memory(diag);
        text = stop + 1;
        if (copy[0] == '\0' || copy[0] == '\r' || text_starts_with(copy, "layerName;"))
            continue;
        if (text_starts_with(copy, "Total;")) {
            ret->runs++;
            reader.latest = MAP_NONE;
            continue;
        }
        /* The name of a layer may contain the separator. */
        const char *fields[6] = {copy, NULL, NULL, NULL, NULL, NULL};
        for (size_t i = 6; i-- > 1;) {
            char *last = strrchr(copy, ';');
            if (last == NULL) break;
            *last = '\0';
            fields[i] = last + 1;
        }
        if (fields[1] == NULL)
            return diag_error(diag, DIAG_FORMAT,
                              "%s must have six fields separated by semicolons", where);
        const struct row row = {fields[0], fields[1], fields[2], fields[3], fields[4]};
        status = add_row(&reader, &row, where);
    }
    return status == CM_OK ? finish(&reader) : status;
}
