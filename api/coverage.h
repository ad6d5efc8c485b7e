/* SPDX-License-Identifier: Apache-2.0 */
/* Unknown operators and shapes of an analysis. */
#ifndef API_COVERAGE_H
#define API_COVERAGE_H

#include "passes/pass.h"

/* Counts by "domain::Type" in order of first use; strings and lists are in the result's arena.
 */
int coverage_of(const struct analysis *analysis, struct cm_coverage *ret) CM_MUST_CHECK;

#endif
