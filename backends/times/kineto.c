/* SPDX-License-Identifier: Apache-2.0 */
/* Reads traces of PyTorch's profiler (torch.profiler, Kineto; export_chrome_trace): an object
 * whose traceEvents are in the Trace Event Format. Times are in microseconds with a fraction.
 * Example of an operator, the call that starts its kernel, and the kernel:
 *
 *     {"ph": "X", "cat": "cpu_op", "name": "aten::conv2d", "tid": 7, "ts": 10.5, "dur": 90.25,
 *      "args": {"External id": 3, "Input Dims": [[1, 3, 224, 224], [64, 3, 7, 7], [], ..]}}
 *     {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "tid": 7, "ts": 50,
 *      "dur": 4, "args": {"External id": 3, "correlation": 8}}
 *     {"ph": "X", "cat": "kernel", "name": "sm80_xmma_fprop", "tid": 20, "ts": 70, "dur": 61,
 *      "args": {"External id": 3, "correlation": 8, "stream": 20}}
 *
 * A layer is an outermost operator of ATen, as Python calls it: aten::conv2d, not the
 * aten::convolution inside it; or an outermost other operator without such ones inside.
 * Its time is that of its kernels and copies on the device if the trace has any, else its
 * duration. profiler.step() marks the runs (ProfilerStep#3); without it, a run is the shortest
 * sequence of operators of which the trace is a repetition.
 * (Categories: ActivityType.cpp of pytorch/kineto; keys: output_json.cpp there, and
 * torch/csrc/autograd/profiler_kineto.cpp of pytorch/pytorch.) */
#include "backends/times/times.h"

#include <math.h>
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

#define MAX_US 4e15 /* nanoseconds fit into int64_t */
#define NONE   UINT32_MAX

enum kind { OPERATOR, CALL, DEVICE, STEP };

static const struct {
    const char *category;
    enum kind kind;
} categories[] = {
    {"cpu_op", OPERATOR},   {"Operator", OPERATOR}, {"cuda_runtime", CALL}, {"Runtime", CALL},
    {"cuda_driver", CALL},  {"xpu_runtime", CALL},  {"kernel", DEVICE},     {"Kernel", DEVICE},
    {"gpu_memcpy", DEVICE}, {"Memcpy", DEVICE},     {"gpu_memset", DEVICE}, {"Memset", DEVICE},
};

/* Operators of ATen, without "aten::" and the "_" of those that work in place. */
/* clang-format off */
static const struct times_operator operators[] = {
    {"conv1d conv2d conv3d", "Conv", TIMES_PRODUCT},
    {"convolution _convolution", "Conv ConvTranspose", TIMES_PRODUCT},
    {"conv_transpose1d conv_transpose2d conv_transpose3d", "ConvTranspose", TIMES_PRODUCT},
    {"linear addmm mm bmm baddbmm matmul", "MatMul Gemm", TIMES_PRODUCT},
    {"einsum bilinear", "MatMul Gemm Einsum", TIMES_PRODUCT | TIMES_MANY},
    {"scaled_dot_product_attention _native_multi_head_attention _transformer_encoder_layer_fwd",
     "MatMul Gemm Attention", TIMES_PRODUCT | TIMES_MANY},
    {"lstm", "LSTM", TIMES_PRODUCT | TIMES_MANY}, {"gru", "GRU", TIMES_PRODUCT | TIMES_MANY},
    {"rnn_tanh rnn_relu", "RNN", TIMES_PRODUCT | TIMES_MANY},
    {"batch_norm", "BatchNormalization", 0},
    {"instance_norm group_norm", "InstanceNormalization GroupNormalization", 0},
    {"layer_norm", "LayerNormalization ReduceMean", TIMES_MANY},
    {"rms_norm", "RMSNormalization ReduceMean", 0}, {"softmax", "Softmax", 0},
    {"log_softmax", "LogSoftmax", 0}, {"gelu", "Gelu Erf", 0}, {"silu", "Swish Sigmoid", 0},
    {"relu", "Relu", 0}, {"relu6 hardtanh clamp", "Clip", 0}, {"hardswish", "HardSwish", 0},
    {"hardsigmoid", "HardSigmoid", 0}, {"leaky_relu", "LeakyRelu", 0}, {"prelu", "PRelu", 0},
    {"elu", "Elu", 0}, {"sigmoid", "Sigmoid", 0}, {"tanh", "Tanh", 0}, {"erf", "Erf", 0},
    {"exp", "Exp", 0}, {"log", "Log", 0}, {"sin", "Sin", 0}, {"cos", "Cos", 0},
    {"neg", "Neg", 0}, {"abs", "Abs", 0}, {"sqrt", "Sqrt", 0},
    {"rsqrt", "Sqrt Reciprocal", TIMES_MANY}, {"reciprocal", "Reciprocal", 0},
    {"pow", "Pow", 0}, {"add", "Add", 0}, {"sub rsub", "Sub", 0}, {"mul", "Mul", 0},
    {"div", "Div Mul", 0}, {"where masked_fill", "Where", 0},
    {"max_pool1d max_pool2d max_pool3d", "MaxPool", 0},
    {"avg_pool1d avg_pool2d", "AveragePool", 0},
    {"adaptive_avg_pool1d adaptive_avg_pool2d",
     "GlobalAveragePool AveragePool ReduceMean", 0},
    {"mean", "ReduceMean GlobalAveragePool", 0}, {"sum", "ReduceSum", 0},
    {"max amax", "ReduceMax Max", 0}, {"argmax", "ArgMax", 0}, {"topk", "TopK", 0},
    {"cumsum", "CumSum", 0}, {"embedding index_select index", "Gather GatherND", 0},
    {"gather", "GatherElements", 0}, {"cat stack", "Concat", 0},
    {"pad constant_pad_nd", "Pad", 0},
    {"upsample_nearest2d upsample_bilinear2d", "Resize Upsample", 0},
    {"copy to _to_copy", "Cast", TIMES_COPY},
    {"clone contiguous transpose permute", "Transpose", TIMES_COPY},
    {"reshape", "Reshape", TIMES_COPY}, {"expand", "Expand", TIMES_COPY},
    {"slice", "Slice", TIMES_COPY}, {"split chunk", "Split", TIMES_COPY},
};
/* clang-format on */

struct event {
    enum kind kind;
    bool is_outside; /* backward or optimizer */
    bool has_aten;   /* contains an operator of ATen */
    int64_t thread;
    int64_t start, end; /* nanoseconds */
    int64_t correlation, external;
    const struct json_value *from;
    uint32_t parent; /* index of the event around it; NONE */
    uint32_t root;   /* index of the layer's event that it belongs to; NONE */
    double device;   /* of a layer's event: nanoseconds of its kernels */
    int64_t run;     /* of a layer's event; -1: none */
};

/* One run of a layer. */
struct instance {
    uint32_t event;
    uint32_t name; /* index of the first instance with equal name and dims */
    int64_t start;
    const char *key;  /* name and dims, "aten::linear [1, 3] [3, 4]" */
    const char *dims; /* the end of key; "" */
};

/* A time in which a layer runs, or the host runs an operator. */
struct interval {
    int64_t run, start, end;
    bool is_host;
};

struct id {
    int64_t id;
    uint32_t event;
};

struct reader {
    struct cm_times *times;
    struct cm_diagnostics *diag;
    struct arena *scratch;
    struct event *events;
    size_t n;
    bool has_device;
    struct event *steps;
    size_t n_steps;
    struct instance *instances; /* in the order of their start */
    size_t n_instances;
};

static const char *name_of(const struct event *event) {
    return json_string(json_get(event->from, "name"));
}

static bool is_aten(const struct event *event) {
    return event->kind == OPERATOR && text_starts_with(name_of(event), "aten::");
}

/* Sets the kind of an event. Returns false if it is of no use. */
static bool classify(const char *category, const char *name, struct event *event) {
    const size_t n = sizeof(categories) / sizeof(*categories);
    size_t i = 0;
    if (category == NULL || text_equal(category, "gpu_user_annotation")) return false;
    while (i < n && !text_equal(categories[i].category, category)) i++;
    event->kind = i < n ? categories[i].kind : OPERATOR;
    if (name == NULL) return i < n;
    event->is_outside =
        text_starts_with(name, "autograd::") || text_starts_with(name, "Optimizer.");
    if (text_starts_with(name, "ProfilerStep#")) event->kind = STEP;
    return i < n || event->is_outside || event->kind == STEP;
}

/* Reads an event; leaves out those of other categories. */
static int read_event(struct reader *reader, const struct json_value *from, size_t index) {
    const char *name = json_string(json_get(from, "name"));
    const struct json_value *args = json_get(from, "args");
    struct event event = {.from = from, .parent = NONE, .root = NONE, .run = -1};
    double start = 0;
    double duration = 0;
    if (!text_equal(json_string(json_get(from, "ph")), "X") ||
        !classify(json_string(json_get(from, "cat")), name, &event))
        return CM_OK;
    if (name == NULL)
        return diag_error(reader->diag, DIAG_FORMAT, "event %zu must have a name", index);
    if (!json_to_double(json_get(from, "ts"), &start) ||
        !json_to_double(json_get(from, "dur"), &duration) || !(start >= 0 && start < MAX_US) ||
        !(duration >= 0 && duration < MAX_US))
        return diag_error(
            reader->diag, DIAG_FORMAT,
            "ts and dur of event %zu must be times in microseconds, got %s and %s", index,
            json_describe(json_get(from, "ts")), json_describe(json_get(from, "dur")));
    event.start = llround(start * 1e3);
    event.end = event.start + llround(duration * 1e3);
    event.correlation = event.external = -1;
    (void)json_to_int64(json_get(from, "tid"), &event.thread);
    (void)json_to_int64(json_get(args, "correlation"), &event.correlation);
    (void)json_to_int64(json_get(args, "External id"), &event.external);
    reader->has_device |= event.kind == DEVICE;
    if (event.kind == STEP)
        reader->steps[reader->n_steps++] = event;
    else
        reader->events[reader->n++] = event;
    return CM_OK;
}

#define COMPARE(a, b)                                                                          \
    if ((a) != (b)) return (a) < (b) ? -1 : 1

/* Orders events of the host by thread and time, an enclosing event before its nested ones;
 * then those of the device. Steps have no thread. */
static int compare_events(const void *left, const void *right) {
    const struct event *a = left;
    const struct event *b = right;
    COMPARE(a->kind == DEVICE, b->kind == DEVICE);
    if (a->kind < DEVICE) COMPARE(a->thread, b->thread);
    COMPARE(a->start, b->start);
    COMPARE(b->end, a->end);
    return 0;
}

static int compare_starts(const void *left, const void *right) {
    const struct instance *a = left;
    const struct instance *b = right;
    COMPARE(a->start, b->start);
    COMPARE(a->event, b->event);
    return 0;
}

static int compare_ids(const void *left, const void *right) {
    const struct id *a = left;
    const struct id *b = right;
    COMPARE(a->id, b->id);
    return 0;
}

static int compare_intervals(const void *left, const void *right) {
    const struct interval *a = left;
    const struct interval *b = right;
    COMPARE(a->run, b->run);
    COMPARE(a->start, b->start);
    return 0;
}

/* Sets the parent and the root of each event of the host. */
static void nest(struct reader *reader) {
    struct event *events = reader->events;
    uint32_t around = NONE;
    for (uint32_t i = 0; i < reader->n && events[i].kind != DEVICE; i++) {
        while (around != NONE && (events[around].thread != events[i].thread ||
                                  events[i].start >= events[around].end))
            around = events[around].parent;
        events[i].parent = around;
        around = i;
    }
    for (size_t i = reader->n; i-- > 0;)
        if (events[i].parent != NONE && (is_aten(&events[i]) || events[i].has_aten))
            events[events[i].parent].has_aten = true;
    for (uint32_t i = 0; i < reader->n && events[i].kind != DEVICE; i++) {
        struct event *event = &events[i];
        if (event->parent != NONE) event->root = events[event->parent].root;
        if (event->root == NONE && event->kind == OPERATOR &&
            (is_aten(event) || event->is_outside || !event->has_aten))
            event->root = i;
    }
}

/* Returns the root of the event with this id; NONE if there is none. */
static uint32_t root_of(const struct reader *reader, const struct id *ids, size_t n,
                        int64_t id) {
    const struct id key = {id, 0};
    const struct id *found =
        id >= 0 && n > 0 ? bsearch(&key, ids, n, sizeof(key), compare_ids) : NULL;
    return found ? reader->events[found->event].root : NONE;
}

/* Adds the time of each kernel and copy to the operator that started it. */
static int link_device(struct reader *reader) {
    struct id *calls = arena_array(reader->scratch, reader->n, sizeof(*calls));
    struct id *ops = arena_array(reader->scratch, reader->n, sizeof(*ops));
    size_t n_calls = 0;
    size_t n_ops = 0;
    if (!calls || !ops) return diag_no_memory(reader->diag);
    for (uint32_t i = 0; i < reader->n; i++) {
        const struct event *event = &reader->events[i];
        if (event->kind == CALL) calls[n_calls++] = (struct id){event->correlation, i};
        if (event->kind == OPERATOR) ops[n_ops++] = (struct id){event->external, i};
    }
    if (n_calls > 0) sort_stable(calls, n_calls, sizeof(*calls), compare_ids);
    if (n_ops > 0) sort_stable(ops, n_ops, sizeof(*ops), compare_ids);
    for (uint32_t i = 0; i < reader->n; i++) {
        struct event *event = &reader->events[i];
        if (event->kind != DEVICE) continue;
        event->root = root_of(reader, calls, n_calls, event->correlation);
        if (event->root == NONE) event->root = root_of(reader, ops, n_ops, event->external);
        if (event->root == NONE) event->root = i;
        reader->events[event->root].device += (double)(event->end - event->start);
    }
    return CM_OK;
}

/* Appends the dims of the first three operands that have any, "[1, 3, 224, 224] [64, 3, 7, 7]",
 * and sets the sizes of these and of further ones. */
static void print_dims(const struct json_value *list, struct text *text, int64_t *sizes,
                       size_t *n) {
    json_each(operand, list) {
        const struct json_value *first = json_first(operand);
        if (json_is_array(first)) print_dims(operand, text, sizes, n); /* a list of tensors */
        if (first == NULL || json_is_array(first) || *n == TIMES_MAX_SIZES) continue;
        double size = 1;
        if (*n < 3) text_append(text, text->length > 0 ? " [" : "[");
        json_each(dim, operand) {
            int64_t value = 0;
            (void)json_to_int64(dim, &value);
            size *= (double)value;
            if (*n < 3) text_printf(text, "%s%lld", dim == first ? "" : ", ", (long long)value);
        }
        if (*n < 3) text_append(text, "]");
        sizes[(*n)++] = size > 0 && size < 9e15 ? (int64_t)size : 0;
    }
}

/* Collects the runs of layers in the order of their start, and names them. */
static int list_instances(struct reader *reader) {
    struct map names;
    map_init(&names, reader->scratch);
    reader->instances = arena_array(reader->scratch, reader->n, sizeof(*reader->instances));
    if (reader->instances == NULL) return diag_no_memory(reader->diag);
    for (uint32_t i = 0; i < reader->n; i++) {
        const struct event *event = &reader->events[i];
        if (event->root == i && !(reader->has_device && event->device <= 0))
            reader->instances[reader->n_instances++] =
                (struct instance){.event = i, .start = event->start};
    }
    if (reader->n_instances > 0)
        sort_stable(reader->instances, reader->n_instances, sizeof(*reader->instances),
                    compare_starts);
    for (size_t i = 0; i < reader->n_instances; i++) {
        struct instance *instance = &reader->instances[i];
        const struct event *event = &reader->events[instance->event];
        struct text dims = {.arena = reader->scratch};
        int64_t sizes[TIMES_MAX_SIZES];
        size_t n = 0;
        uint32_t known = 0;
        print_dims(json_get(json_get(event->from, "args"), "Input Dims"), &dims, sizes, &n);
        instance->key = arena_printf(reader->scratch, "%s%s%s", name_of(event),
                                     dims.length > 0 ? " " : "", text_string(&dims));
        if (dims.failed || !instance->key ||
            map_add(&names, instance->key, (uint32_t)i, &known) != CM_OK)
            return diag_no_memory(reader->diag);
        instance->dims = instance->key + strlen(instance->key) - dims.length;
        instance->name = known == MAP_NONE ? (uint32_t)i : known;
    }
    return CM_OK;
}

/* Sets the run of each instance: its step, or its place in the shortest repeated sequence. */
static int find_runs(struct reader *reader) {
    const size_t n = reader->n_instances;
    const struct instance *items = reader->instances;
    size_t period = n;
    reader->times->runs = reader->n_steps > 0 ? (int64_t)reader->n_steps : 1;
    if (reader->n_steps == 0 && n > 0) {
        /* border[i]: length of the longest proper prefix of items[0..i] that is also its end */
        size_t *border = arena_array(reader->scratch, n, sizeof(*border));
        if (border == NULL) return diag_no_memory(reader->diag);
        for (size_t i = 1; i < n; i++) {
            size_t length = border[i - 1];
            while (length > 0 && items[i].name != items[length].name)
                length = border[length - 1];
            border[i] = length + (items[i].name == items[length].name);
        }
        if (n % (n - border[n - 1]) == 0) period = n - border[n - 1];
        reader->times->runs = (int64_t)(n / period);
    }
    for (size_t i = 0, step = 0; i < n; i++) {
        struct event *event = &reader->events[items[i].event];
        while (step < reader->n_steps && reader->steps[step].end <= event->start) step++;
        if (reader->n_steps == 0)
            event->run = (int64_t)(i / period);
        else if (step < reader->n_steps && reader->steps[step].start <= event->start)
            event->run = (int64_t)step;
    }
    return CM_OK;
}

/* Counts the runs in which an operand with these dims is read: "[1, 3] [3, 4]". */
static void count_reads(struct reader *reader, struct map *read_in, const char *dims,
                        int64_t run) {
    for (; dims[0] == '['; dims += strspn(dims, " ")) {
        const size_t length = strcspn(dims, "]") + 1;
        const char *shape = arena_strndup(reader->scratch, dims, length);
        if (shape != NULL) times_count_read(reader->times, read_in, shape, run);
        dims += length;
    }
}

/* Adds the layer of an instance. */
static void add_layer(struct reader *reader, const struct event *event, const char *name) {
    struct cm_times *times = reader->times;
    struct times_layer *layer = &times->layers[times->n++];
    struct text dims = {.arena = reader->scratch};
    size_t n = 0;
    *layer = (struct times_layer){.name = name, .rank = -1};
    layer->op = arena_strdup(times->arena, name_of(event));
    if (event->kind == DEVICE && text_starts_with(name, "Mem")) layer->role = TIMES_COPIES;
    if (event->kind == DEVICE || event->is_outside) return;
    print_dims(json_get(json_get(event->from, "args"), "Input Dims"), &dims, layer->sizes, &n);
    const char *stem = is_aten(event) ? name_of(event) + strlen("aten::") : "";
    const size_t length = strlen(stem);
    const bool is_in_place = length > 1 && stem[length - 1] == '_';
    (void)times_set_operator(layer, operators, sizeof(operators) / sizeof(*operators), stem,
                             length - is_in_place);
}

/* Adds the layers, and their times in the runs that count. The k-th instance with a name in a
 * run is a layer of its own. */
static int add_layers(struct reader *reader) {
    const size_t n = reader->n_instances;
    struct cm_times *times = reader->times;
    const int64_t first = times->runs - times_n_counted(times);
    struct times_sample *samples = arena_array(reader->scratch, n, sizeof(*samples));
    double *scratch = arena_array(reader->scratch, n + 1, sizeof(*scratch));
    uint32_t *n_equal = arena_array(reader->scratch, n, sizeof(*n_equal)); /* by name */
    int64_t *latest = arena_array(reader->scratch, n, sizeof(*latest));    /* run, by name */
    struct map layers;
    struct map read_in;
    size_t n_samples = 0;
    map_init(&layers, reader->scratch);
    map_init(&read_in, reader->scratch);
    times->layers = arena_array(times->arena, n, sizeof(*times->layers));
    if (arena_failed(reader->scratch) || !times->layers) return diag_no_memory(reader->diag);
    for (size_t i = 0; i < n; i++) {
        const struct instance *instance = &reader->instances[i];
        const struct event *event = &reader->events[instance->event];
        uint32_t at = 0;
        if (event->run < first) continue;
        if (latest[instance->name] != event->run) n_equal[instance->name] = 0;
        latest[instance->name] = event->run;
        count_reads(reader, &read_in, instance->dims, event->run);
        const uint32_t k = ++n_equal[instance->name];
        const char *key = k > 1 ? arena_printf(times->arena, "%s #%u", instance->key, k)
                                : arena_strdup(times->arena, instance->key);
        if (!key || map_add(&layers, key, (uint32_t)times->n, &at) != CM_OK)
            return diag_no_memory(reader->diag);
        if (at == MAP_NONE) {
            at = (uint32_t)times->n;
            add_layer(reader, event, key);
        }
        const double time =
            reader->has_device ? event->device : (double)(event->end - event->start);
        samples[n_samples++] = (struct times_sample){at, event->run, time * 1e-9};
    }
    times_sum_samples(times, samples, n_samples, first, scratch);
    return CM_OK;
}

enum { WHOLE, GAP, HOST, N_SPANS };

/* Sets the seconds of a run, of the time in which no layer runs, and of that part of it in
 * which the host runs operators. Without `step`, the run lasts from its first layer to its
 * last. The n intervals are in the order of their start. */
static void measure_run(const struct interval *items, size_t n, const struct event *step,
                        double *ret) {
    int64_t from = step ? step->start : INT64_MAX;
    int64_t until = step ? step->end : INT64_MIN;
    for (size_t i = 0; i < n && !step; i++) {
        if (items[i].is_host) continue;
        if (items[i].start < from) from = items[i].start;
        if (items[i].end > until) until = items[i].end;
    }
    int64_t covered[2] = {0, 0}; /* by layers; by layers and operators of the host */
    int64_t at[2] = {from, from};
    for (size_t i = 0; i < n; i++)
        for (int k = items[i].is_host; k < 2; k++) {
            const int64_t start = items[i].start > at[k] ? items[i].start : at[k];
            const int64_t stop = items[i].end < until ? items[i].end : until;
            if (stop > start) covered[k] += stop - start;
            if (stop > at[k]) at[k] = stop;
        }
    ret[WHOLE] = (double)(until - from) * 1e-9;
    ret[GAP] = (double)(until - from - covered[0]) * 1e-9;
    ret[HOST] = (double)(covered[1] - covered[0]) * 1e-9;
}

/* Sets the medians over the runs of what measure_run measures. */
static int measure_gaps(struct reader *reader) {
    struct cm_times *times = reader->times;
    const size_t n_runs = (size_t)times->runs;
    const size_t n_counted = (size_t)times_n_counted(times);
    struct interval *items = arena_array(reader->scratch, reader->n + 1, sizeof(*items));
    double(*spans)[N_SPANS] = arena_array(reader->scratch, n_runs, sizeof(*spans));
    double *values = arena_array(reader->scratch, n_runs, sizeof(*values));
    double *const medians[N_SPANS] = {&times->run, &times->gap, &times->host};
    size_t n = 0;
    if (arena_failed(reader->scratch)) return diag_no_memory(reader->diag);
    for (uint32_t i = 0; i < reader->n; i++) {
        const struct event *event = &reader->events[i];
        const bool is_device = event->kind == DEVICE;
        const int64_t run = event->root == NONE ? -1 : reader->events[event->root].run;
        if (run >= 0 && (is_device || event->root == i))
            items[n++] = (struct interval){run, event->start, event->end,
                                           reader->has_device && !is_device};
    }
    if (n > 0) sort_stable(items, n, sizeof(*items), compare_intervals);
    for (size_t i = 0, end = 0; i < n; i = end) {
        const int64_t run = items[i].run;
        const bool has_step = !reader->has_device && reader->n_steps > 0;
        while (end < n && items[end].run == run) end++;
        measure_run(items + i, end - i, has_step ? &reader->steps[run] : NULL, spans[run]);
    }
    for (size_t k = 0; k < N_SPANS; k++) {
        for (size_t i = 0; i < n_counted; i++) values[i] = spans[n_runs - n_counted + i][k];
        *medians[k] = times_summarize(values, n_counted, n_counted).median;
    }
    return CM_OK;
}

static int read_all(struct reader *reader, const struct json_value *list) {
    const size_t n = json_count(list);
    size_t index = 0;
    reader->events = arena_array(reader->scratch, n, sizeof(*reader->events));
    reader->steps = arena_array(reader->scratch, n, sizeof(*reader->steps));
    if (arena_failed(reader->scratch)) return diag_no_memory(reader->diag);
    json_each(item, list) {
        const int status = read_event(reader, item, index++);
        if (status < 0) return status;
    }
    if (reader->n == 0)
        return diag_error(reader->diag, DIAG_FORMAT,
                          "the trace must have operators (events of the category cpu_op)");
    sort_stable(reader->events, reader->n, sizeof(*reader->events), compare_events);
    if (reader->n_steps > 0)
        sort_stable(reader->steps, reader->n_steps, sizeof(*reader->steps), compare_events);
    nest(reader);
    int status = link_device(reader);
    if (status == CM_OK) status = list_instances(reader);
    if (status == CM_OK) status = find_runs(reader);
    if (status == CM_OK) status = add_layers(reader);
    return status == CM_OK ? measure_gaps(reader) : status;
}

int times_read_kineto(const struct json_value *trace, struct cm_diagnostics *diag,
                      struct cm_times *ret) {
    struct reader reader = {.times = ret, .diag = diag, .scratch = arena_new("trace", 0)};
    if (reader.scratch == NULL) return diag_no_memory(diag);
    map_init(&ret->reads, ret->arena);
    ret->tool = "pytorch";
    ret->has_times = true;
    const char *device =
        json_string(json_get(json_first(json_get(trace, "deviceProperties")), "name"));
    int status = read_all(&reader, json_get(trace, "traceEvents"));
    ret->provider = arena_strdup(ret->arena, !reader.has_device ? "CPU" : device ? device : "");
    if (status == CM_OK && (arena_failed(reader.scratch) || arena_failed(ret->arena)))
        status = diag_no_memory(diag);
    arena_free(reader.scratch);
    return status;
}
