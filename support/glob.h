/* SPDX-License-Identifier: Apache-2.0 */
/* Glob patterns: '*' matches any text, '?' one character, others match themselves. */
#pragma once

#include <stdbool.h>

/* Returns true if `pattern` matches the whole of `text`. The time is at most proportional to
 * the product of both lengths. */
bool glob_matches(const char *pattern, const char *text);
