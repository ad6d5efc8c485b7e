/* SPDX-License-Identifier: Apache-2.0 */
/* "did you mean": the known name nearest to a mistyped one. */
#ifndef SUPPORT_SUGGEST_H
#define SUPPORT_SUGGEST_H

#include <stddef.h>

/* Keeps the best of the names that it was shown. */
struct suggestion {
    const char *wanted; /* its first `length` bytes are what was typed */
    size_t length;
    const char *best; /* NULL: nothing is near */
    size_t distance;
};

void suggest_init(struct suggestion *suggestion, const char *wanted, size_t length);
void suggest_offer(struct suggestion *suggestion, const char *name);

#endif
