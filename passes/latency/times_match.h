/* SPDX-License-Identifier: Apache-2.0 */
/* Assigns the layers of imported times to nodes. */
#ifndef PASSES_LATENCY_TIMES_MATCH_H
#define PASSES_LATENCY_TIMES_MATCH_H

#include "passes/pass.h"

struct cm_times;

/*
 * Sets nodes, places, inside and state of each layer, whose `from` is set, in the arena of the
 * analysis. Files without times name the nodes of layers in other files. Returns CM_OK or
 * CM_NO_MEMORY (reported).
 */
int times_match(const struct analysis *analysis, const struct cm_times *const *files,
                size_t n_files, struct imported *imported) CM_MUST_CHECK;

#endif
