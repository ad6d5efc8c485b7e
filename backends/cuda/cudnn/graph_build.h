/* SPDX-License-Identifier: Apache-2.0 */
/* Builders: from a primitive to graphs of cuDNN operations. */
#ifndef BACKENDS_CUDA_CUDNN_GRAPH_BUILD_H
#define BACKENDS_CUDA_CUDNN_GRAPH_BUILD_H

#include "backends/cuda/cudnn/graph.h"
#include "backends/cuda/cudnn/graph_shape.h"

struct graph_job {
    const struct cm_primitive *primitive;
    bool prefer_last; /* treat row-major images as channels-last */
};

/* Adds operations to the graph, or makes it fail with a reason. */
typedef void graph_builder(struct graph *graph, const struct graph_job *job);

#define GRAPH_MAX_PARTS 2

/* Bits of the primitives that an alternative applies to. The addend of a product counts as its
 * bias. */
enum graph_applies {
    GRAPH_PLAIN = 1, /* neither bias nor post-ops */
    GRAPH_BIAS = 2,  /* bias only */
    GRAPH_STEPS = 4, /* post-ops only */
    GRAPH_BOTH = 8,  /* bias and post-ops */
    GRAPH_ANY = GRAPH_PLAIN | GRAPH_BIAS | GRAPH_STEPS | GRAPH_BOTH
};

/* One way to compute a primitive: its parts are graphs that run one after the other. The first
 * alternative with a plan for every part is used. */
struct graph_alternative {
    graph_builder *parts[GRAPH_MAX_PARTS];
    unsigned applies_to; /* bits of enum graph_applies */
    const char *remark;  /* description in the report, for example "as a 1x1 convolution"; NULL
                            if none */
};

/* Builders. */
graph_builder graph_build_convolution;         /* with bias and post-ops; int8: requantized */
graph_builder graph_build_convolution_biased;  /* with bias */
graph_builder graph_build_convolution_alone;   /* without bias and post-ops */
graph_builder graph_build_convolution_tail;    /* only bias and post-ops, in place */
graph_builder graph_build_convolution_steps;   /* only post-ops, in place */
graph_builder graph_build_product;             /* with addend and post-ops */
graph_builder graph_build_product_alone;       /* without addend and post-ops */
graph_builder graph_build_product_convolution; /* the same, as a 1x1 convolution */
graph_builder graph_build_addend;              /* only the addend, in place */
graph_builder graph_build_functions;
graph_builder graph_build_pool;
graph_builder graph_build_norm;
graph_builder graph_build_reduction;
graph_builder graph_build_softmax;
graph_builder graph_build_attention;       /* as one operation if cuDNN has it */
graph_builder graph_build_attention_parts; /* as the graph of its parts */

/* Returns true if an int8 convolution has int8 results. */
static inline bool graph_requantizes(const struct cm_primitive *primitive) {
    return (primitive->kind == CM_CONV || primitive->kind == CM_DECONV) &&
           primitive->inputs[0].element == CM_I8 && primitive->outputs[0].element == CM_I8;
}

#endif
