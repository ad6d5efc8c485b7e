/* SPDX-License-Identifier: Apache-2.0 */
/* Does the model fit into so much memory, and how large a batch does? */
#ifndef API_FIT_H
#define API_FIT_H

#include "passes/pass.h"

struct cm_fit;

/*
 * Answers for options->memory_limit, in the arena of the analysis, which is done. Profiles the
 * model at other batches for it, without a word. CM_OK or CM_NO_MEMORY.
 */
int fit_find(const struct analysis *analysis, const struct cm_fit **ret) CM_MUST_CHECK;

#endif
