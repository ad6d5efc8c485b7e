/* SPDX-License-Identifier: Apache-2.0 */
/* Queries about the operator rows that pass bind assigns to nodes, and about --trip-count. */
#pragma once

#include "ops/op.h"
#include "passes/pass.h"

/* Pass bind reads no table. */
#define BIND_READS 0

/* Outcome of a --trip-count request, in order of increasing success. */
enum trip_outcome { TRIPS_NO_LOOP, TRIPS_KNOWN, TRIPS_TOO_MANY, TRIPS_APPLIED };

struct bind_table {
    const struct op **ops; /* by node; the row of unknown operators if none matches, not NULL */
    /* One kind per distinct domain, type and opset; several kinds may have the same row. */
    size_t n_kinds;
    const struct op **kinds; /* by kind: its row */
    uint32_t *kind_of;       /* by node: index into kinds */
    const int64_t *trips; /* by node: --trip-count, or DIM_UNKNOWN; NULL without that option */
    const uint32_t *trip_options; /* by node: index of this --trip-count, or MAP_NONE */
    size_t n_unknown;             /* nodes of unknown operators */
};

pass_run pass_bind;

/* Returns true for the row of unknown operators. */
bool bind_is_unknown(const struct op *op);

/* Returns true if the operator's saved tensors and gradient cost are unknown. This holds for
 * unknown operators and for custom operators without a description of their backward pass. */
bool bind_hides_gradient(const struct op *op);

/* Checks the outcomes (by node) of --trip-count after the walk: refuses nodes that are not
 * Loops or have a static count, and emits a note for each assumed count. */
int bind_check_trips(const struct analysis *analysis,
                     const enum trip_outcome *uses) CM_MUST_CHECK;
