/* SPDX-License-Identifier: Apache-2.0 */
/* What the analysis did not understand: unknown operators and shapes. */
#ifndef API_COVERAGE_H
#define API_COVERAGE_H

#include "passes/pass.h"

/* Counts, by "domain::Type" in order of first use; strings and lists in the result's memory. */
int coverage_of(const struct analysis *analysis, struct cm_coverage *ret) CM_MUST_CHECK;

#endif
