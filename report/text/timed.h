/* SPDX-License-Identifier: Apache-2.0 */
/* What of the work has a time: a latency leaves the rest out, and so must a rate. */
#ifndef REPORT_TEXT_TIMED_H
#define REPORT_TEXT_TIMED_H

#include <stdbool.h>
#include <stdint.h>

struct cm_result;
struct page;

/* How many nodes have work and no time. */
int64_t timed_lacks(const struct cm_result *result);

/* Whether some of them are of that operator. */
bool timed_lacks_operator(const struct cm_result *result, const char *op);

/*
 * By module: the operations, as the result's convention counts them, of those nodes inside that
 * have a time; CM_UNKNOWN where none that does something has one. As long as the page; NULL
 * where its memory is short.
 */
const int64_t *timed_operations(struct page *page, const struct cm_result *result);

#endif
