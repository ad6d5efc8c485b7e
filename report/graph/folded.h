/* SPDX-License-Identifier: Apache-2.0 */
/* The metric of folded stacks. */
#ifndef REPORT_GRAPH_FOLDED_H
#define REPORT_GRAPH_FOLDED_H

struct cm_diagnostics;
struct column;

/* Finds a metric by its key (NULL: MACs). Refuses metrics that are not sums over nodes. Returns
 * CM_OK, or CM_USAGE with a message. */
int folded_find_metric(const char *key, struct cm_diagnostics *diag, const struct column **ret)
    __attribute__((warn_unused_result));

#endif
