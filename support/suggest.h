/* SPDX-License-Identifier: Apache-2.0 */
/* "did you mean": finds the known name most similar to a mistyped one. */
#pragma once

#include <stddef.h>

/* The most similar of the names offered so far. */
struct suggestion {
    const char *wanted; /* the mistyped name: `length` bytes, need not end in NUL */
    size_t length;
    const char *best; /* NULL if no name is similar */
    size_t distance;  /* edits between `wanted` and `best`; SIZE_MAX if no name is similar */
};

void suggest_init(struct suggestion *suggestion, const char *wanted, size_t length);
void suggest_offer(struct suggestion *suggestion, const char *name);
