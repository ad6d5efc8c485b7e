/* SPDX-License-Identifier: Apache-2.0 */
/* Builders: from a primitive to graphs of cuDNN operations. */
#ifndef BACKENDS_CUDA_CUDNN_GRAPH_BUILD_H
#define BACKENDS_CUDA_CUDNN_GRAPH_BUILD_H

#include "backends/cuda/cudnn/graph.h"
#include "backends/cuda/cudnn/graph_shape.h"

struct graph_job {
    const struct cm_primitive *primitive;
    bool prefer_last; /* plan images channels-last */
};

/* Adds operations to the graph, or makes it fail with a reason. */
typedef void graph_builder(struct graph *graph, const struct graph_job *job);

#define GRAPH_MAX_PARTS 2

/*
 * Which primitives an alternative applies to: all, those with a bias (addend), those without.
 */
enum graph_applies { GRAPH_ANY, GRAPH_WITH_BIAS, GRAPH_WITHOUT_BIAS };

/* One alternative: graphs that run one after the other. The first alternative with a plan for
 * every part is used. */
struct graph_alternative {
    graph_builder *parts[GRAPH_MAX_PARTS];
    enum graph_applies applies_to;
    const char *remark; /* description in the report, for example "as a 1x1 convolution"; NULL
                           if none */
};

/* Builders. */
graph_builder graph_build_convolution;         /* with bias, requantized if int8 */
graph_builder graph_build_convolution_alone;   /* without bias */
graph_builder graph_build_channel_biases;      /* bias add in place; requires a bias */
graph_builder graph_build_product;             /* with addend */
graph_builder graph_build_product_alone;       /* without addend */
graph_builder graph_build_product_convolution; /* without addend, as a 1x1 convolution */
graph_builder graph_build_addend;              /* addend in place; requires one */
graph_builder graph_build_functions;
graph_builder graph_build_pool;
graph_builder graph_build_norm;
graph_builder graph_build_reduction;
graph_builder graph_build_softmax;
graph_builder graph_build_attention;

/* Returns true if an int8 convolution has int8 results. */
static inline bool graph_requantizes(const struct cm_primitive *primitive) {
    return (primitive->kind == CM_CONV || primitive->kind == CM_DECONV) &&
           primitive->inputs[0].element == CM_I8 && primitive->outputs[0].element == CM_I8;
}

static inline bool graph_has_bias(const struct cm_primitive *primitive) {
    return primitive->n_inputs > 2;
}

#endif
