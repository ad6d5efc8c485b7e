/* SPDX-License-Identifier: Apache-2.0 */
/* A stable sort. The order that qsort gives to equal items differs between systems;
 * support/banned.h therefore forbids it. */
#pragma once

#include <stddef.h>

/* Sorts n items of `size` bytes; equal ones keep their order. Needs no memory: if there is none
 * for a copy, takes time n * n. `items` may be NULL if n is 0. */
void sort_stable(void *items, size_t n, size_t size,
                 int (*compare)(const void *a, const void *b));
