/* SPDX-License-Identifier: Apache-2.0 */
/* Names like a pattern: '*' stands for any text, '?' for one character, all else for itself. */
#ifndef SUPPORT_GLOB_H
#define SUPPORT_GLOB_H

#include <stdbool.h>

/* Whether the whole of `text` is like `pattern`. Takes length times length at most. */
bool glob_matches(const char *pattern, const char *text);

#endif
