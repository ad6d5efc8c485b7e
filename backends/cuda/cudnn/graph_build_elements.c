/* SPDX-License-Identifier: Apache-2.0 */
/* Chains of elementwise functions as one graph. */
#include <string.h>

#include "backends/cuda/cudnn/graph_build.h"
#include "backends/cuda/cudnn/graph_chain.h"

#include "support/banned.h"

static bool read_shape(const struct cm_tensor *tensor, int rank, struct graph_shape *ret) {
    if (tensor->rank > rank || !graph_shape_of(tensor, ret)) return false;
    const struct cm_tensor wide = graph_shape_widen(tensor, rank);
    ret->rank = rank;
    memcpy(ret->dims, wide.dims, sizeof(ret->dims));
    memcpy(ret->strides, wide.strides, sizeof(ret->strides));
    return true;
}

static bool read_shapes(const struct cm_primitive *primitive, struct graph_chain *ret) {
    const int rank = primitive->outputs[0].rank;
    if (!read_shape(&primitive->outputs[0], rank, &ret->result)) return false;
    for (int i = 0; i < primitive->n_inputs; i++)
        if (!read_shape(&primitive->inputs[i], rank, &ret->operands[i])) return false;
    return true;
}

void graph_build_functions(struct graph *graph, const struct graph_job *job) {
    const struct graph_tail steps = {.steps = true};
    struct graph_chain chain = {.graph = graph, .primitive = job->primitive};
    if (!graph_chain_count(&chain, 0, steps)) return;
    if (!read_shapes(job->primitive, &chain)) {
        graph_fail(graph, CM_BACKEND_REFUSED, "data type not supported by cuDNN");
        return;
    }
    if (!graph_chain_coalesce(&chain)) return;
    chain.value = graph_chain_input(&chain, 0);
    graph_chain_tail(&chain, steps);
}
