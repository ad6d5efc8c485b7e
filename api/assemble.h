/* SPDX-License-Identifier: Apache-2.0 */
/* From the tables of the passes to the public result, which points into neither. */
#ifndef API_ASSEMBLE_H
#define API_ASSEMBLE_H

#include <stddef.h>

#include "passes/pass.h"

struct message_list {
    size_t n;
    struct cm_diagnostic *items;
};

/* A copy of the notes and warnings from index `from` on. CM_OK, CM_NO_MEMORY (also where memory
 * was short for one of them). */
int assemble_messages(struct cm_diagnostics *diagnostics, size_t from, struct arena *arena,
                      struct message_list *ret) CM_MUST_CHECK;

/*
 * Warns of what a complete analysis would not have: unknown operators, unknown shapes. With
 * options->strict they are errors, and CM_REFUSED.
 */
int assemble_warnings(const struct analysis *analysis,
                      const struct cm_coverage *coverage) CM_MUST_CHECK;

/* What is beside the tables of the passes. */
struct assemble_extras {
    struct message_list loading; /* messages, those of loading before those of the analysis */
    struct message_list analysis;
    struct cm_coverage coverage;
    const struct cm_fit *fit; /* NULL: not asked */
};

/* The result, in the arena `kept` of the analysis, which it takes over where it succeeds. */
int assemble_result(const struct analysis *analysis, const struct assemble_extras *extras,
                    struct cm_result **ret) CM_MUST_CHECK;

#endif
