/* SPDX-License-Identifier: Apache-2.0 */
/* See suggest.h. The distance of two names is the optimal string alignment distance: the number
 * of insertions, deletions, substitutions and swaps of neighbours. A known name is similar if
 * the distance is at most a third of its length, rounded up. */
#include "support/suggest.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define MAX_LENGTH 32 /* longer words are not typing errors of options */

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

static size_t distance(const char *a, size_t m, const char *b, size_t n) {
    size_t rows[3][MAX_LENGTH + 1] = {
        {0}}; /* the previous two rows of the table, and this one */
    for (size_t j = 0; j <= n; j++) rows[2][j] = j;
    for (size_t i = 1; i <= m; i++) {
        memcpy(rows[0], rows[1], sizeof rows[0]);
        memcpy(rows[1], rows[2], sizeof rows[0]);
        rows[2][0] = i;
        for (size_t j = 1; j <= n; j++) {
            const size_t changed = rows[1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            rows[2][j] = smaller(changed, smaller(rows[1][j], rows[2][j - 1]) + 1);
            if (swapped) rows[2][j] = smaller(rows[2][j], rows[0][j - 2] + 1);
        }
    }
    return rows[2][n];
}

void suggest_init(struct suggestion *suggestion, const char *wanted, size_t length) {
    *suggestion = (struct suggestion){wanted, length, NULL, SIZE_MAX};
}

void suggest_offer(struct suggestion *suggestion, const char *name) {
    const size_t length = strlen(name);
    if (suggestion->length > MAX_LENGTH || length > MAX_LENGTH) return;
    const size_t apart = distance(suggestion->wanted, suggestion->length, name, length);
    if (apart > (length + 2) / 3 || apart >= suggestion->distance) return;
    suggestion->best = name;
    suggestion->distance = apart;
}
