/* SPDX-License-Identifier: Apache-2.0 */
/* An allocator that fails when it is told to: linked into a program, it takes the place of
 * malloc, calloc and realloc for the program and all its libraries. */
#ifndef TESTS_FAILURE_FAILING_H
#define TESTS_FAILURE_FAILING_H

#include <stdbool.h>
#include <stddef.h>

/* From now on the `nth` allocation (from 1) fails, and with `always` all that follow. */
void failing_start(size_t nth, bool always);
/* No more failures; how many allocations there were since the start. */
size_t failing_stop(void);

#endif
