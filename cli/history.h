/* SPDX-License-Identifier: Apache-2.0 */
/* The history of checks: a line of JSON for each model and batch of a run (docs/history.md). */
#pragma once

#include "costmodel/check.h"

struct invocation;
struct text;

/* Appends the lines of a check to `ret`. `verdict` names model, state and commit. CM_OK,
 * CM_NO_MEMORY. */
int history_add_lines(const struct invocation *call, const struct cm_verdict *verdict,
                      const struct cm_result *const *results, size_t n,
                      struct text *ret) CM_MUST_CHECK;

/* Appends lines to a file, which is created if it is missing. CM_OK, CM_IO, CM_NO_MEMORY. */
int history_append(const struct invocation *call, const char *path,
                   const struct text *lines) CM_MUST_CHECK;
