/* SPDX-License-Identifier: Apache-2.0 */
/* Checks guarantees of result.h that involve several keys: the modules are a tree, and figures
 * can be compared. */
#ifndef REPORT_JSON_JSON_CHECK_H
#define REPORT_JSON_JSON_CHECK_H

struct arena;
struct cm_baseline;
struct cm_diagnostics;
struct cm_result;

/* CM_OK, CM_REFUSED, CM_NO_MEMORY. */
int json_check(const struct cm_result *result, struct arena *arena, struct cm_diagnostics *diag)
    __attribute__((warn_unused_result));

/* Rejects negative totals and equal batches. CM_OK, CM_REFUSED, CM_NO_MEMORY. */
int json_check_baseline(const struct cm_baseline *baseline, struct arena *arena,
                        struct cm_diagnostics *diag) __attribute__((warn_unused_result));

#endif
