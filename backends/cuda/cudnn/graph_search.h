/* SPDX-License-Identifier: Apache-2.0 */
/* From a graph of operations to a plan that cuDNN can execute: its heuristics name engines,
 * the best first, and the first that accepts the graph within the limits is taken. */
#ifndef BACKENDS_CUDA_CUDNN_GRAPH_SEARCH_H
#define BACKENDS_CUDA_CUDNN_GRAPH_SEARCH_H

#include "backends/cuda/cudnn/graph.h"

struct graph_wanted {
    cudnnHandle_t handle;            /* of the device at hand, or NULL and */
    cudnnBackendDescriptor_t target; /* the properties of one that need not be here */
    bool no_tensor_cores;            /* nor less precise numbers */
    bool slow_heuristics;            /* mode B: more engines of convolutions */
    int64_t workspace_bytes;         /* the most that a plan may take */
    int candidate;                   /* 0: the first that is accepted, 1: the second, ... */
};

struct graph_found {
    cudnnBackendDescriptor_t plan; /* one of the graph's descriptors */
    int64_t engine;
    int64_t workspace_bytes;
    int accepted;             /* plans within the limits until this one, or in vain */
    int tried;                /* configurations of engines that were asked, this one included */
    uint64_t numerical_notes; /* bits by cudnnBackendNumericalNote_t */
    uint64_t behavior_notes;  /* bits by cudnnBackendBehaviorNote_t */
};

/* CM_BACKEND_OK, or a status whose reason stands in the graph. */
int graph_search(struct graph *graph, const struct graph_wanted *wanted,
                 struct graph_found *ret) __attribute__((warn_unused_result));

#endif
