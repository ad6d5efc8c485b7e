/* SPDX-License-Identifier: Apache-2.0 */
/* From a primitive to graphs of cuDNN's operations. */
#ifndef BACKENDS_CUDA_CUDNN_GRAPH_BUILD_H
#define BACKENDS_CUDA_CUDNN_GRAPH_BUILD_H

#include "backends/cuda/cudnn/graph.h"
#include "backends/cuda/cudnn/graph_shape.h"

struct graph_job {
    const struct cm_primitive *primitive;
    bool prefer_last; /* images are planned with their channels last */
};

/* Adds operations to the graph, or fails it with a reason. */
typedef void graph_builder(struct graph *graph, const struct graph_job *job);

#define GRAPH_MAX_PARTS 2

/* Of which primitives it is a way: of all, of those with a bias (an addend), without one. */
enum graph_applies { GRAPH_ANY, GRAPH_WITH_BIAS, GRAPH_WITHOUT_BIAS };

/*
 * One way to do it: graphs that are executed one after the other. A primitive is done in the
 * first way of which every part has a plan.
 */
struct graph_alternative {
    graph_builder *parts[GRAPH_MAX_PARTS];
    enum graph_applies applies_to;
    const char *remark; /* for people: "as a 1x1 convolution"; NULL: nothing to say */
};

/* The builders, by family. */
graph_builder graph_build_convolution;       /* with the biases */
graph_builder graph_build_convolution_alone; /* without */
graph_builder
    graph_build_channel_biases;    /* added to the result where it stands: there are some */
graph_builder graph_build_product; /* with the addend */
graph_builder graph_build_product_alone;       /* without */
graph_builder graph_build_product_convolution; /* the same, as a convolution */
graph_builder graph_build_addend;              /* the same: there is one */
graph_builder graph_build_functions;
graph_builder graph_build_pool;
graph_builder graph_build_norm;
graph_builder graph_build_reduction;
graph_builder graph_build_softmax;
graph_builder graph_build_attention;

static inline bool graph_has_bias(const struct cm_primitive *primitive) {
    return primitive->n_inputs > 2;
}

#endif
