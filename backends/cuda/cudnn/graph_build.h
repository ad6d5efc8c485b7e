/* SPDX-License-Identifier: Apache-2.0 */
/* Builders, which translate a primitive to graphs of cuDNN operations. */
#pragma once

#include "backends/cuda/cudnn/graph_chain.h"
#include "backends/cuda/cudnn/graph_shape.h"

struct graph_job {
    const struct cm_primitive *primitive;
    bool prefer_last;     /* treat row-major images as channels-last */
    enum graph_tail tail; /* convolution or product: bias and post-ops in its graph */
};

/* Adds operations to the graph, or makes it fail with a reason. */
typedef void graph_builder(struct graph *graph, const struct graph_job *job);

#define GRAPH_MAX_PARTS 2

/* One way to compute a primitive: its parts are graphs that run one after the other. The first
 * alternative with a plan for every part is used. */
struct graph_alternative {
    struct {
        graph_builder *build;
        enum graph_tail tail; /* computed if the primitive has it */
    } parts[GRAPH_MAX_PARTS];
    unsigned applies_to; /* to primitives with these tails: bits 1 << enum graph_tail */
    const char *remark;  /* description in the report, for example "as a 1x1 convolution"; NULL
                            if none */
};

/* Builders. */
graph_builder graph_build_convolution;         /* with tail; int8: requantized */
graph_builder graph_build_convolution_tail;    /* only the tail, in place */
graph_builder graph_build_product;             /* with tail */
graph_builder graph_build_product_convolution; /* without tail, as a 1x1 convolution */
graph_builder graph_build_product_tail;        /* only the tail, in place */
graph_builder graph_build_functions;
graph_builder graph_build_pool;
graph_builder graph_build_norm;
graph_builder graph_build_reduction;
graph_builder graph_build_softmax;
graph_builder graph_build_attention;       /* one operation; parts if masked or fp32 */
graph_builder graph_build_attention_parts; /* a graph of products, softmax and mask */

/* Returns true if an int8 convolution has int8 results. */
static inline bool graph_requantizes(const struct cm_primitive *primitive) {
    return (primitive->kind == CM_CONV || primitive->kind == CM_DECONV) &&
           primitive->inputs[0].element == CM_I8 && primitive->outputs[0].element == CM_I8;
}
