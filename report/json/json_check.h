/* SPDX-License-Identifier: Apache-2.0 */
/* What result.h promises and no single key can show: that the modules are a tree, and that
 * figures can be compared. */
#ifndef REPORT_JSON_JSON_CHECK_H
#define REPORT_JSON_JSON_CHECK_H

struct arena;
struct cm_baseline;
struct cm_diagnostics;
struct cm_result;

/* CM_OK, CM_REFUSED, CM_NO_MEMORY. */
int json_check(const struct cm_result *result, struct arena *arena, struct cm_diagnostics *diag)
    __attribute__((warn_unused_result));

/* That of each batch there is one profile. CM_OK, CM_REFUSED, CM_NO_MEMORY. */
int json_check_baseline(const struct cm_baseline *baseline, struct arena *arena,
                        struct cm_diagnostics *diag) __attribute__((warn_unused_result));

#endif
