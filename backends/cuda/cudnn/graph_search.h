/* SPDX-License-Identifier: Apache-2.0 */
/* Searches for an execution plan. cuDNN's heuristics list engine configurations, best first;
 * the first one that accepts the graph within the limits is used. */
#pragma once

#include "backends/cuda/cudnn/graph.h"
#include "backends/cuda/device.h"

/* A knob of an engine: cudnnBackendKnobType_t and its value. */
struct graph_knob {
    int32_t type;
    int64_t value;
};

#define GRAPH_MAX_KNOBS 16

struct graph_found {
    cudnnBackendDescriptor_t plan; /* owned by the graph */
    int64_t engine;                /* cuDNN's number; -1 if unknown */
    int64_t workspace_bytes;
    int accepted;             /* plans accepted, including this one if one was found */
    int tried;                /* engine configurations tried, including this one */
    uint64_t numerical_notes; /* bit set of cudnnBackendNumericalNote_t */
    uint64_t behavior_notes;  /* bit set of cudnnBackendBehaviorNote_t */
    int n_knobs;
    struct graph_knob knobs[GRAPH_MAX_KNOBS]; /* sorted by type */
};

/* Sets *ret to a plan. `candidate`: 0: the first accepted plan, 1: the second, ... With
 * no_tensor_cores, engines that round to less precision are excluded too. Returns
 * CM_BACKEND_OK, or another status with the reason in the graph. */
int graph_search(struct graph *graph, const struct cm_device *device, bool no_tensor_cores,
                 int candidate, struct graph_found *ret) __attribute__((warn_unused_result));
