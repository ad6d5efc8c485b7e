/* SPDX-License-Identifier: Apache-2.0 */
/* The work of the nodes that have a time. Rates divide only this work by the latency. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct cm_result;
struct page;

/* Returns the number of nodes with work but without a time. */
int64_t timed_lacks(const struct cm_result *result);

/* Returns true if the total time omits nodes. */
bool timed_is_partial(const struct cm_result *result);

/* Returns the samples per second if a batch takes `ps` picoseconds; negative: unknown. An upper
 * bound if timed_is_partial(). */
double timed_samples_per_second(const struct cm_result *result, int64_t ps);

/* Returns, by module, the operations (in the result's convention) of the nodes inside that have
 * a time; CM_UNKNOWN if no node with work has one. Allocated in the page's arena; NULL if out
 * of memory. */
const int64_t *timed_operations(struct page *page, const struct cm_result *result);
