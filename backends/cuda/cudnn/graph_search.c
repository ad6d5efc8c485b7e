/* SPDX-License-Identifier: Apache-2.0 */
/* Tries the engine configurations that the heuristics list. */
#include "backends/cuda/cudnn/graph_search.h"

#include <stdlib.h>
#include <string.h>

/* Most engine configurations per heuristic mode; mode B lists up to about 90. */
#define MAX_ENGINES 128
#define MAX_NOTES   32
/* Room for all knob types: CUDNN_KNOB_TYPE_COUNTS of cuDNN 9.26 is 44. */
#define N_KNOB_TYPES 48

#define BIT(note) (UINT64_C(1) << (note))
/* Notes of engines that compute with less precision than the operands, as tf32 for fp32. */
#define LESS_PRECISE                                                                           \
    (BIT(CUDNN_NUMERICAL_NOTE_TENSOR_CORE) | BIT(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS) |   \
     BIT(CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION))

struct search {
    struct graph *graph;
    const struct cm_device *device;
    cudnnHandle_t handle; /* of the present device; NULL: plan for device->target */
    bool no_tensor_cores;
    int candidate;
    cudnnBackendDescriptor_t operations; /* the operation graph */
    struct graph_found found;
    int accepted;        /* candidates accepted so far */
    int n_imprecise;     /* engines skipped for their precision */
    int64_t least_bytes; /* least workspace of the rejected plans; 0 if none was rejected */
    char why[CM_REASON_SIZE]; /* error of the first engine that refused */
};

/* Keeps the error of the best-ranked engine that is not for other devices. Reads every error,
 * because cuDNN keeps errors until they are read. */
static void note_refusal(struct search *search, cudnnStatus_t status) {
    char why[CM_REASON_SIZE];
    api_cudnn_error(search->graph->cudnn, status, why, sizeof(why));
    if (search->why[0] == '\0' || strstr(search->why, "ARCH_MISMATCH") != NULL)
        memcpy(search->why, why, sizeof(why));
}

static cudnnStatus_t get(const struct search *search, cudnnBackendDescriptor_t descriptor,
                         cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                         void *ret) {
    int64_t n = 0;
    return search->graph->cudnn->cudnnBackendGetAttribute(descriptor, name, type, 1, &n, ret);
}

/* Fills `ret` with the engine configurations of the heuristics, at most MAX_ENGINES. Returns
 * their number; 0 after a failure. */
static int64_t ask_heuristics(struct search *search, cudnnBackendHeurMode_t mode,
                              cudnnBackendDescriptor_t *ret) {
    struct graph *graph = search->graph;
    const struct cuda_cudnn *cudnn = graph->cudnn;
    const struct graph_attribute attributes[] = {
        GRAPH_DESCRIPTOR(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, search->operations),
        {CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode},
        {CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, CUDNN_TYPE_BACKEND_DESCRIPTOR,
         search->handle == NULL, &search->device->target.descriptor},
        {0},
    };
    int64_t n = 0;
    cudnnBackendDescriptor_t heuristics =
        graph_fill(graph, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, attributes);
    if (graph->status != CM_BACKEND_OK) return 0;
    cudnnStatus_t status = cudnn->cudnnBackendFinalize(heuristics);
    if (status == CUDNN_STATUS_SUCCESS)
        status = cudnn->cudnnBackendGetAttribute(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                                 CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &n, NULL);
    if (status == CUDNN_STATUS_SUCCESS && n > 0) {
        if (n > MAX_ENGINES) n = MAX_ENGINES;
        for (int64_t i = 0; i < n; i++)
            ret[i] = graph_make(graph, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
        if (graph->status != CM_BACKEND_OK) return 0;
        status = cudnn->cudnnBackendGetAttribute(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                                 CUDNN_TYPE_BACKEND_DESCRIPTOR, n, &n, ret);
    }
    if (status == CUDNN_STATUS_SUCCESS) return n;
    note_refusal(search, status);
    return 0;
}

/* Returns the bit set of the notes of an engine. */
static uint64_t read_notes(const struct cuda_cudnn *cudnn, cudnnBackendDescriptor_t engine,
                           cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type) {
    /* Both note types are 32-bit enums. */
    int32_t notes[MAX_NOTES] = {0};
    int64_t n = 0;
    uint64_t bits = 0;
    if (cudnn->cudnnBackendGetAttribute(engine, name, type, MAX_NOTES, &n, notes) !=
        CUDNN_STATUS_SUCCESS)
        return 0;
    for (int64_t i = 0; i < n && i < MAX_NOTES; i++)
        if (notes[i] >= 0 && notes[i] < 64) bits |= BIT(notes[i]);
    return bits;
}

_Static_assert(sizeof(cudnnBackendNumericalNote_t) == sizeof(int32_t), "read as int32_t");
_Static_assert(sizeof(cudnnBackendBehaviorNote_t) == sizeof(int32_t), "read as int32_t");
_Static_assert(sizeof(cudnnBackendKnobType_t) == sizeof(int32_t), "read as int32_t");

static void read_engine(struct search *search, cudnnBackendDescriptor_t configuration,
                        struct graph_found *ret) {
    const struct cuda_cudnn *cudnn = search->graph->cudnn;
    cudnnBackendDescriptor_t engine =
        graph_make(search->graph, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    ret->engine = -1;
    if (engine == NULL || get(search, configuration, CUDNN_ATTR_ENGINECFG_ENGINE,
                              CUDNN_TYPE_BACKEND_DESCRIPTOR, &engine) != CUDNN_STATUS_SUCCESS)
        return;
    (void)get(search, engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, &ret->engine);
    ret->numerical_notes =
        read_notes(cudnn, engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE);
    ret->behavior_notes =
        read_notes(cudnn, engine, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE);
}

/* Reads at most GRAPH_MAX_KNOBS knobs of a configuration and sorts them by type. Their number
 * is not known in advance: cuDNN fills the first `n` of N_KNOB_TYPES descriptors. */
static void read_knobs(struct search *search, cudnnBackendDescriptor_t configuration,
                       struct graph_found *ret) {
    struct graph *graph = search->graph;
    cudnnBackendDescriptor_t choices[N_KNOB_TYPES];
    int64_t n = 0;
    for (int i = 0; i < N_KNOB_TYPES; i++)
        choices[i] = graph_make(graph, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
    if (graph->status != CM_BACKEND_OK ||
        graph->cudnn->cudnnBackendGetAttribute(configuration, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                                               CUDNN_TYPE_BACKEND_DESCRIPTOR, N_KNOB_TYPES, &n,
                                               choices) != CUDNN_STATUS_SUCCESS)
        return;
    for (int64_t i = 0; i < n && i < N_KNOB_TYPES && ret->n_knobs < GRAPH_MAX_KNOBS; i++) {
        struct graph_knob knob = {0, 0};
        int at = ret->n_knobs;
        if (get(search, choices[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE,
                &knob.type) != CUDNN_STATUS_SUCCESS ||
            get(search, choices[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64,
                &knob.value) != CUDNN_STATUS_SUCCESS)
            continue;
        for (; at > 0 && ret->knobs[at - 1].type > knob.type; at--)
            ret->knobs[at] = ret->knobs[at - 1];
        ret->knobs[at] = knob;
        ret->n_knobs++;
    }
}

/* Returns true if this configuration yields a plan within the limits. */
static bool try_configuration(struct search *search, cudnnBackendDescriptor_t configuration) {
    struct graph *graph = search->graph;
    struct graph_found *found = &search->found;
    *found = (struct graph_found){.tried = found->tried + 1};
    read_engine(search, configuration, found);
    if (search->no_tensor_cores && (found->numerical_notes & LESS_PRECISE) != 0) {
        search->n_imprecise++;
        return false;
    }
    const struct graph_attribute attributes[] = {
        GRAPH_DESCRIPTOR(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration),
        {CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, search->handle != NULL,
         &search->handle},
        {CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, CUDNN_TYPE_BACKEND_DESCRIPTOR,
         search->handle == NULL, &search->device->target.descriptor},
        {0},
    };
    found->plan = graph_fill(graph, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, attributes);
    if (graph->status != CM_BACKEND_OK) return false;
    cudnnStatus_t status = graph->cudnn->cudnnBackendFinalize(found->plan);
    if (status == CUDNN_STATUS_SUCCESS) {
        read_knobs(search, configuration, found);
        status = get(search, found->plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                     CUDNN_TYPE_INT64, &found->workspace_bytes);
    }
    if (status != CUDNN_STATUS_SUCCESS) {
        note_refusal(search, status);
        return false;
    }
    if (found->workspace_bytes <= search->device->options.workspace_bytes) return true;
    if (search->least_bytes == 0 || found->workspace_bytes < search->least_bytes)
        search->least_bytes = found->workspace_bytes;
    return false;
}

/* Returns true if a configuration of this heuristic mode yields the candidate. */
static bool try_mode(struct search *search, cudnnBackendHeurMode_t mode) {
    cudnnBackendDescriptor_t *configurations = calloc(MAX_ENGINES, sizeof(*configurations));
    bool found = false;
    if (configurations == NULL) {
        graph_fail(search->graph, CM_BACKEND_NO_MEMORY, "out of memory");
        return false;
    }
    const int64_t n = ask_heuristics(search, mode, configurations);
    for (int64_t i = 0; i < n && !found && search->graph->status == CM_BACKEND_OK; i++)
        found = try_configuration(search, configurations[i]) &&
                search->accepted++ == search->candidate;
    free(configurations);
    return found;
}

static void refuse(struct search *search) {
    struct graph *graph = search->graph;
    if (search->accepted > 0)
        graph_fail(graph, CM_BACKEND_REFUSED, "only %d plans", search->accepted);
    else if (search->least_bytes > 0)
        graph_fail(graph, CM_BACKEND_REFUSED,
                   "workspace must be <= %lld bytes, every plan needs at least %lld",
                   (long long)search->device->options.workspace_bytes,
                   (long long)search->least_bytes);
    else if (search->n_imprecise > 0)
        graph_fail(
            graph, CM_BACKEND_REFUSED,
            "no engine without tensor cores supports it, and fp32 must not be rounded to tf32");
    else if (search->why[0] != '\0')
        graph_fail(graph, CM_BACKEND_REFUSED, "no engine supports it: %s", search->why);
    else
        graph_fail(graph, CM_BACKEND_REFUSED, "no engine supports it");
}

int graph_search(struct graph *graph, const struct cm_device *device, bool no_tensor_cores,
                 int candidate, struct graph_found *ret) {
    const bool has_target = device->target.descriptor != NULL;
    const bool slow = device->options.slow_heuristics;
    struct search search = {
        .graph = graph,
        .device = device,
        .handle = has_target ? NULL : device->cudnn_handle,
        .no_tensor_cores = no_tensor_cores,
        .candidate = candidate,
    };
    const struct graph_attribute attributes[] = {
        {CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, graph->n_operations,
         graph->operations},
        {CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, search.handle != NULL,
         &search.handle},
        {0},
    };
    search.operations = graph_describe(graph, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR,
                                       "the operations together", attributes);
    const bool found = graph->status == CM_BACKEND_OK &&
                       (try_mode(&search, slow ? CUDNN_HEUR_MODE_B : CUDNN_HEUR_MODE_A) ||
                        try_mode(&search, CUDNN_HEUR_MODE_FALLBACK));
    *ret = search.found;
    ret->accepted = search.accepted;
    if (!found) refuse(&search);
    return graph->status;
}
