/* SPDX-License-Identifier: Apache-2.0 */
/* Pass batch: binds symbolic dims, and re-batches models exported with a fixed batch. */
#pragma once

#include "passes/pass.h"
#include "passes/walk/context.h"

/* Tables that pass batch reads. */
#define BATCH_READS TABLE_BIND

struct symbol {
    const char *name;
    int64_t size;   /* DIM_UNKNOWN until batch binds it */
    uint32_t input; /* the first input that has this symbol */
    int axis;       /* the axis of that input */
};

/* A constant that contained the batch size of the file, and was changed by re-batching. */
struct rebatched {
    uint32_t node;    /* the node that uses it */
    uint32_t slot;    /* operand of that node */
    const char *what; /* its role: "target" (of a Reshape, Expand) or "dims" (its own shape) */
    int64_t axis;     /* index of the changed element, or axis of the tensor */
    int64_t from;
    int64_t to;
};

struct batch_table {
    int64_t batch; /* DIM_UNKNOWN if the model has no batch axis */
    size_t n_symbols;
    struct symbol *symbols;
    const struct value_info **inputs;  /* by value; NULL if the value is not a graph input */
    const struct override **overrides; /* by node: a list or NULL; NULL if no node has any */
    size_t n_rebatched;
    struct rebatched *rebatched;
};

pass_run pass_batch;
