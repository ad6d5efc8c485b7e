/* SPDX-License-Identifier: Apache-2.0 */
/* A chain of pointwise operations on one running value: an elementwise primitive, or what
 * follows a product in its graph (bias and post-ops). The last operation writes the result, the
 * others write virtual tensors. Functions that cuDNN lacks are composed of those it has. */
#pragma once

#include "backends/cuda/cudnn/graph.h"

/* Operations that follow a product in its graph: a bit set. */
enum graph_tail {
    GRAPH_NONE,
    GRAPH_BIAS = 1,  /* add inputs[2]: the bias or addend */
    GRAPH_STEPS = 2, /* apply the primitive's steps */
    GRAPH_BOTH = GRAPH_BIAS | GRAPH_STEPS
};

struct graph_chain {
    struct graph *graph;
    const struct cm_primitive *primitive;
    struct graph_shape operands[CM_MAX_INPUTS]; /* shapes; rank of the result */
    struct graph_shape result;
    cudnnBackendDescriptor_t inputs[CM_MAX_INPUTS]; /* tensors; made at their first use */
    cudnnBackendDescriptor_t value;                 /* running value */
    int left; /* operations left until the result is written */
};

/* Sets `left` to `before` plus the number of operations of the tail. If cuDNN lacks a function
 * or `left` is 0, makes the graph fail and returns false. */
bool graph_chain_count(struct graph_chain *chain, int before, enum graph_tail tail);

/* Coalesces the shapes to three row-major dims, as the engines of pointwise graphs require. If
 * this is impossible, makes the graph fail and returns false. */
bool graph_chain_coalesce(struct graph_chain *chain);

/* Returns the tensor of an operand of the primitive. */
cudnnBackendDescriptor_t graph_chain_input(struct graph_chain *chain, int which);
/* Returns the tensor that the next operation writes; decrements `left`. */
cudnnBackendDescriptor_t graph_chain_next(struct graph_chain *chain);

/* value = mode(value, other) */
void graph_chain_point(struct graph_chain *chain, cudnnPointwiseMode_t mode,
                       cudnnBackendDescriptor_t other);
/* Applies the tail to the value. */
void graph_chain_tail(struct graph_chain *chain, enum graph_tail tail);
/* Applies the tail to the result in place, as a graph of its own. */
void graph_chain_in_place(struct graph_chain *chain, enum graph_tail tail);
