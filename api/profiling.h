/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles a model in two steps: first the passes before pass count, whose rows a result takes
 * over, then the others and the result. The second step may be repeated with another source of
 * times. */
#pragma once

#include <stddef.h>

#include "passes/pass.h"
#include "passes/work.h"
#include "support/arena.h"

struct profiling {
    struct cm_model *model;
    struct arena *result_arena;    /* lifetime of the result */
    struct arena *arena;           /* of the analysis */
    struct arena_mark result_mark; /* at the end of profiling_begin */
    struct arena_mark arena_mark;
    struct cm_options options; /* of the caller, with the mode that an optimizer implies */
    bool of_sweep;             /* its result needs no advice */
    struct work work;
    struct analysis analysis;
};

/* Runs the passes before pass count. Returns CM_OK, or an error status with a
 * message; the caller must call profiling_end in both cases. */
int profiling_begin(struct profiling *profiling, struct cm_model *model,
                    const struct cm_options *options,
                    struct cm_diagnostics *diagnostics) CM_MUST_CHECK;

/* Runs the other passes and makes the result, with the messages from index `from` on. `options`
 * may differ from those of profiling_begin only in the backend. The result is
 * valid until the next call or profiling_end, unless the caller takes `result_arena` over. */
int profiling_finish(struct profiling *profiling, const struct cm_options *options,
                     struct cm_diagnostics *diagnostics, size_t from,
                     struct cm_result **ret) CM_MUST_CHECK;

void profiling_end(struct profiling *profiling);
