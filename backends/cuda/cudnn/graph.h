/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A graph of operations in the words of cuDNN's backend interface: descriptors that are filled,
 * finalized and put into others. All of one graph stand in one list and are destroyed together,
 * last first, whatever became of them. The first call that fails ends the building: what is
 * called after it does nothing, so that no builder asks after every line.
 */
#ifndef BACKENDS_CUDA_CUDNN_GRAPH_H
#define BACKENDS_CUDA_CUDNN_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include <cudnn.h>

#include "costmodel/backend.h"

struct cuda_cudnn;

#define GRAPH_MAX_OPERATIONS 12
#define GRAPH_MAX_OPERANDS   12

/* What a tensor of the graph is for the one who runs it. */
enum graph_role {
    GRAPH_INPUT,   /* an operand of the primitive */
    GRAPH_OUTPUT,  /* a result */
    GRAPH_VALUE,   /* one float of the host's */
    GRAPH_VIRTUAL, /* made and used inside: it needs no memory */
};

/* A tensor that wants an address at each execution. */
struct graph_operand {
    int64_t id;
    enum graph_role role;
    int index;   /* of the operand or result */
    float value; /* of GRAPH_VALUE: cuDNN takes its address when it executes */
};

struct graph {
    const struct cuda_cudnn *cudnn;
    size_t n;
    size_t capacity;
    cudnnBackendDescriptor_t *all;
    int n_operations;
    cudnnBackendDescriptor_t operations[GRAPH_MAX_OPERATIONS];
    int n_operands;
    struct graph_operand operands[GRAPH_MAX_OPERANDS];
    int64_t next_id;
    int status;              /* CM_BACKEND_OK until something failed */
    struct cm_reason reason; /* of the first that did */
};

/* Dims are N C S.. in this order; the layout stands in the strides alone, in elements. */
struct graph_shape {
    cudnnDataType_t type;
    int rank;
    int64_t dims[CM_MAX_RANK];
    int64_t strides[CM_MAX_RANK];
};

void graph_begin(struct graph *graph, const struct cuda_cudnn *cudnn);
void graph_end(struct graph *graph);

/* Ends the building with a reason of one's own; an earlier one stays. */
void graph_fail(struct graph *graph, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* NULL once the building has ended; all functions take that. */
cudnnBackendDescriptor_t graph_make(struct graph *graph, cudnnBackendDescriptorType_t type);
void graph_set(struct graph *graph, cudnnBackendDescriptor_t descriptor,
               cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t n,
               const void *values);
void graph_set_descriptor(struct graph *graph, cudnnBackendDescriptor_t descriptor,
                          cudnnBackendAttributeName_t name, cudnnBackendDescriptor_t value);
/* `what` is refused where it fails: "the convolution". */
void graph_finalize(struct graph *graph, cudnnBackendDescriptor_t descriptor, const char *what);
/* The same, and it is one of the graph's operations from now on. */
void graph_add(struct graph *graph, cudnnBackendDescriptor_t operation, const char *what);

/* A finalized tensor; `index` and `value` say which where the role has some. */
cudnnBackendDescriptor_t graph_tensor(struct graph *graph, const struct graph_shape *shape,
                                      enum graph_role role, int index);
cudnnBackendDescriptor_t graph_value(struct graph *graph, int rank, float value);

/* cuDNN's own words for what failed last, in one line; never empty. */
void graph_last_error(const struct cuda_cudnn *cudnn, cudnnStatus_t status, char *ret,
                      size_t size);

/* Finds cuDNN's data type of an element type; false if it has none. */
bool graph_type(int32_t element, cudnnDataType_t *ret);
/* Returns the accumulator type of products of this element type. */
cudnnDataType_t graph_compute_type(int32_t element);
/* Returns the type of a virtual tensor between operations: at least as precise. */
cudnnDataType_t graph_virtual_type(cudnnDataType_t compute);

#endif
