/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the public result from the tables of the passes. */
#pragma once

#include <stddef.h>

#include "passes/pass.h"

struct timing;

struct message_list {
    size_t n;
    struct cm_diagnostic *items;
};

/* Copies the messages from index `from` on into `arena`. CM_OK, CM_NO_MEMORY (also if an
 * allocation failure dropped a message earlier). */
int assemble_messages(struct cm_diagnostics *diagnostics, size_t from, struct arena *arena,
                      struct message_list *ret) CM_MUST_CHECK;

/* Warns of unknown operators and shapes; with options->strict, reports errors instead. CM_OK,
 * CM_REFUSED, CM_NO_MEMORY. */
int assemble_warnings(const struct analysis *analysis,
                      const struct cm_coverage *coverage) CM_MUST_CHECK;

/* Counts unknown operators and shapes, by "domain::Type" in order of first use. Strings and
 * lists are in the result's arena. CM_OK, CM_NO_MEMORY. */
int coverage_of(const struct analysis *analysis, struct cm_coverage *ret) CM_MUST_CHECK;

/* Finds whether the model fits in options->memory_limit, and the largest batch that does. With
 * options->fit_device, the limit is `device_bytes`, unless that is 0.
 * Profiles the model at other batches, without messages. *ret is allocated in the arena of the
 * completed analysis; it is unchanged if there is no limit. CM_OK, CM_NO_MEMORY. */
int fit_find(const struct analysis *analysis, int64_t device_bytes,
             const struct cm_fit **ret) CM_MUST_CHECK;

/* Parts of a result that no pass computes. */
struct assemble_extras {
    struct message_list loading;  /* messages of loading the model */
    struct message_list analysis; /* messages of the passes */
    struct cm_coverage coverage;
    const struct cm_fit *fit;    /* NULL: no memory limit */
    const struct timing *timing; /* NULL without the timing half */
};

/* Builds the result in the analysis's `result_arena`; on success the result owns the arena. */
int assemble_result(const struct analysis *analysis, const struct assemble_extras *extras,
                    struct cm_result **ret) CM_MUST_CHECK;
