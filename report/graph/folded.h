/* SPDX-License-Identifier: Apache-2.0 */
/* What folded stacks may be of. */
#ifndef REPORT_GRAPH_FOLDED_H
#define REPORT_GRAPH_FOLDED_H

struct cm_diagnostics;
struct column;

/* The metric of that key; NULL: MACs. One that does not sum over nodes is refused: stacks add
 * up to the total. CM_OK, CM_USAGE with a message. */
int folded_find_metric(const char *key, struct cm_diagnostics *diag, const struct column **ret)
    __attribute__((warn_unused_result));

#endif
