/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a sweep, and its layers. A layer is a set of nodes that share a primitive in every
 * row; it has a time per row. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "costmodel/result.h"

struct arena;
struct cm_diagnostics;

/* Returns a row without figures, in state "done". `batch`: 0 for the file's batch. */
struct cm_sweep_row sweep_empty_row(int64_t batch);

/* Returns the state of a row with this status and messages: "done", "usage", "refused",
 * "failed", "transient". */
const char *sweep_state(int status, const struct cm_diagnostics *diag);

/* Returns the first error, else the first warning, else "". */
const char *sweep_first_message(const struct cm_diagnostics *diag);

/* Figures of a sweep: `primitive_of` and `latency_of` at index node * n_rows + row. The caller
 * sets the first three members. Allocation failures are sticky in the arenas. */
struct sweep_layers {
    struct arena *arena;        /* until sweep_layers_finish */
    struct arena *result_arena; /* of the sweep */
    size_t n_rows;
    size_t n_nodes;               /* 0: no row had times */
    uint32_t *primitive_of;       /* ID_NONE: the node has none in this row */
    int64_t *latency_of;          /* picoseconds; CM_UNKNOWN */
    struct cm_layer_time **times; /* by row and primitive; latency_ps and speedup are not set */
    struct cm_sweep_layer *labels; /* by node: op, path and node */
};

/* Adds the times or plans of a result as row `row`; does nothing if the result has none. */
void sweep_layers_add(struct sweep_layers *layers, size_t row, const struct cm_result *result);

/* Groups the nodes into the layers of *ret, and computes the speed-ups of layers and rows. */
void sweep_layers_finish(struct sweep_layers *layers, struct cm_sweep_row *rows,
                         struct cm_sweep *ret);
