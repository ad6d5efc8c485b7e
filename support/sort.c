/* SPDX-License-Identifier: Apache-2.0 */
/* Merges sorted halves; inserts in short ranges. */
#include "support/sort.h"

#include <stdlib.h>
#include <string.h>

#define SHORT_RANGE 8 /* items */

typedef int comparison(const void *a, const void *b);

/* Moves the item at `from` down to `to`. */
static void move_down(char *from, char *to, size_t size) {
    for (; from > to; from -= size)
        for (size_t i = 0; i < size; i++) {
            const char byte = from[i];
            *(from + i) = *(from + i - size);
            *(from + i - size) = byte;
        }
}

static void insert(char *items, size_t n, size_t size, comparison *compare) {
    for (size_t i = 1; i < n; i++) {
        char *to = items + i * size;
        while (to > items && compare(to - size, items + i * size) > 0) to -= size;
        move_down(items + i * size, to, size);
    }
}

/* `copy` holds n items. */
static void merge(char *items, size_t n, size_t size, comparison *compare, char *copy) {
    if (n <= SHORT_RANGE) {
        insert(items, n, size, compare);
        return;
    }
    const char *end = items + n * size;
    char *to = items;
    merge(items, n / 2, size, compare, copy);
    merge(items + n / 2 * size, n - n / 2, size, compare, copy);
    memcpy(copy, items, n / 2 * size);
    const char *left = copy;
    const char *right = items + n / 2 * size;
    const char *left_end = copy + n / 2 * size;
    while (left < left_end) {
        const char **next = right == end || compare(left, right) <= 0 ? &left : &right;
        memcpy(to, *next, size);
        *next += size;
        to += size;
    }
}

void sort_stable(void *items, size_t n, size_t size, comparison *compare) {
    if (n < 2) return;
    char *copy = n > SHORT_RANGE ? calloc(n, size) : NULL;
    if (copy != NULL)
        merge(items, n, size, compare, copy);
    else
        insert(items, n, size, compare);
    free(copy);
}
