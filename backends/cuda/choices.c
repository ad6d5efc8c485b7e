/* SPDX-License-Identifier: Apache-2.0 */
/* Table of the chosen algorithms. */
#include "backends/cuda/choices.h"

#include <stdlib.h>
#include <string.h>

/* Unused members of primitives are zero, so equal bytes are the same work. */
struct choice *choices_find(const struct choices *choices,
                            const struct cm_primitive *primitive) {
    for (size_t i = 0; i < choices->n; i++)
        if (memcmp(&choices->items[i].primitive, primitive, sizeof(*primitive)) == 0)
            return &choices->items[i];
    return NULL;
}

void choices_set(struct choices *choices, const struct choice *choice) {
    struct choice *former = choices_find(choices, &choice->primitive);
    if (former != NULL) {
        *former = *choice;
        return;
    }
    if (choices->n == choices->capacity) {
        const size_t capacity = choices->capacity > 0 ? 2 * choices->capacity : 64;
        struct choice *items = realloc(choices->items, capacity * sizeof(*items));
        if (items == NULL) return;
        choices->items = items;
        choices->capacity = capacity;
    }
    choices->items[choices->n++] = *choice;
}

void choices_drop(struct choices *choices) {
    free(choices->items);
    *choices = (struct choices){.n = 0};
}
