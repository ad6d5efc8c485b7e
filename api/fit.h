/* SPDX-License-Identifier: Apache-2.0 */
/* --memory-limit: does the model fit, and which is the largest batch that does? */
#ifndef API_FIT_H
#define API_FIT_H

#include "passes/pass.h"

struct cm_fit;

/*
 * Answers for options->memory_limit, in the arena of the completed analysis. Profiles the model
 * at other batches without messages. Returns CM_OK or CM_NO_MEMORY.
 */
int fit_find(const struct analysis *analysis, const struct cm_fit **ret) CM_MUST_CHECK;

#endif
