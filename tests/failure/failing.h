/* SPDX-License-Identifier: Apache-2.0 */
/* An allocator with injected failures. Linked into a program, it replaces malloc, calloc and
 * realloc for the program and all its libraries. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Makes the `nth` allocation from now on (from 1) fail, and with `always` all later ones. */
void failing_start(size_t nth, bool always);
/* Stops failures; returns the number of allocations since the start. */
size_t failing_stop(void);
