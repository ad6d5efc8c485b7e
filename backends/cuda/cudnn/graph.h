/* SPDX-License-Identifier: Apache-2.0 */
/* An operation graph of cuDNN's backend API. The graph owns its descriptors and destroys them
 * in reverse order of creation. After the first failing call the graph has failed and later
 * calls do nothing, so builders need not check each call. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <cudnn.h>

#include "costmodel/backend.h"

struct cuda_cudnn;

#define GRAPH_MAX_OPERATIONS 20
#define GRAPH_MAX_OPERANDS   12

/* Role of a tensor. */
enum graph_role {
    GRAPH_INPUT,   /* operand of the primitive */
    GRAPH_OUTPUT,  /* result */
    GRAPH_VALUE,   /* one number in host memory */
    GRAPH_VIRTUAL, /* internal to the graph, needs no memory */
};

/* A tensor that needs an address at execution. */
struct graph_operand {
    int64_t id; /* unique in the graph */
    enum graph_role role;
    int index; /* index into the inputs or outputs of the primitive */
    /* The number of a GRAPH_VALUE; cuDNN reads it here at execution. */
    union {
        float real;
        int32_t count;
    } value;
};

struct graph {
    const struct cuda_cudnn *cudnn;
    size_t n;
    size_t capacity;
    cudnnBackendDescriptor_t *all; /* all descriptors in order of creation */
    int n_operations;
    cudnnBackendDescriptor_t operations[GRAPH_MAX_OPERATIONS];
    int n_operands;
    struct graph_operand operands[GRAPH_MAX_OPERANDS];
    int64_t next_id;
    int status;              /* CM_BACKEND_OK until a call fails */
    struct cm_reason reason; /* reason of the first failure */
};

/* Dims are in order N C S..; only the strides (in elements) define the layout. */
struct graph_shape {
    cudnnDataType_t type;
    int rank;
    int64_t dims[CM_MAX_RANK];
    int64_t strides[CM_MAX_RANK];
};

void graph_begin(struct graph *graph, const struct cuda_cudnn *cudnn);
void graph_end(struct graph *graph);

/* Makes the graph fail with this reason unless it has already failed. */
void graph_fail(struct graph *graph, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* `n` values of an attribute; a row with n = 0 is skipped. The last row of an array is {0}. */
struct graph_attribute {
    cudnnBackendAttributeName_t name;
    cudnnBackendAttributeType_t type;
    int64_t n;
    const void *values;
};
/* A row for a descriptor; skipped if the descriptor is NULL. */
#define GRAPH_DESCRIPTOR(name, value)                                                          \
    { name, CUDNN_TYPE_BACKEND_DESCRIPTOR, (value) != NULL, &(value) }

/* graph_make returns an empty descriptor, graph_fill one with attributes, graph_describe a
 * finalized one. The graph owns them. If the graph has failed, the result may be NULL, which
 * all functions accept. `what` names the descriptor in the reason: "the convolution". */
cudnnBackendDescriptor_t graph_make(struct graph *graph, cudnnBackendDescriptorType_t type);
cudnnBackendDescriptor_t graph_fill(struct graph *graph, cudnnBackendDescriptorType_t type,
                                    const struct graph_attribute *attributes);
cudnnBackendDescriptor_t graph_describe(struct graph *graph, cudnnBackendDescriptorType_t type,
                                        const char *what,
                                        const struct graph_attribute *attributes);
/* Adds an operation to the graph. */
void graph_add(struct graph *graph, cudnnBackendDescriptorType_t type, const char *what,
               const struct graph_attribute *attributes);

/* Returns a finalized tensor. `index`: as in graph_operand; ignored if virtual. */
cudnnBackendDescriptor_t graph_tensor(struct graph *graph, const struct graph_shape *shape,
                                      enum graph_role role, int index);
/* Return a finalized tensor with one number in host memory and `rank` dims of 1. */
cudnnBackendDescriptor_t graph_value(struct graph *graph, int rank, float value);
cudnnBackendDescriptor_t graph_count(struct graph *graph, int rank, int32_t value);

/* Operations: each function adds one to the graph. */

/* Convolution of x with w; `backward`: a transposed convolution. */
struct graph_convolution {
    bool backward;
    cudnnDataType_t compute;
    const struct cm_window *window;
    cudnnBackendDescriptor_t x, w, y;
};
void graph_convolve(struct graph *graph, const struct graph_convolution *convolution);

/* y = mode(x, b); a selection: y = t ? x : b. b and t may be NULL. Limits, `alpha` and `axis`
 * apply only to the modes that use them. */
struct graph_pointwise {
    cudnnPointwiseMode_t mode;
    cudnnDataType_t compute; /* the default 0 is CUDNN_DATA_FLOAT */
    cudnnBackendDescriptor_t x, b, t, y;
    bool has_limits; /* relu: slope below `low`, clipped at `high` */
    double low, high, slope;
    double alpha; /* elu, swish */
    int64_t axis; /* axis of CUDNN_POINTWISE_GEN_INDEX */
};
void graph_point(struct graph *graph, const struct graph_pointwise *pointwise);

/* y [B, M, N] = a [B, M, K] * b [B, K, N]; graph_reduce reduces the dims that are 1 in y. */
void graph_multiply(struct graph *graph, cudnnBackendDescriptor_t a, cudnnBackendDescriptor_t b,
                    cudnnBackendDescriptor_t y, cudnnDataType_t compute);

void graph_reduce(struct graph *graph, cudnnReduceTensorOp_t kind, cudnnBackendDescriptor_t x,
                  cudnnBackendDescriptor_t y);

/* Sets *ret to cuDNN's data type of an element type; returns false if cuDNN lacks it. */
bool graph_type(int32_t element, cudnnDataType_t *ret);
/* Returns the accumulator type of products of this element type. */
cudnnDataType_t graph_compute_type(int32_t element);
