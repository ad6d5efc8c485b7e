/* SPDX-License-Identifier: Apache-2.0 */
/* Starts with the children of the root as rows. Then repeatedly replaces the largest row by its
 * children if these fit. */
#include "compare/blame_roll_up.h"

#include <stdbool.h>
#include <stdlib.h>

#include "support/arena.h"
#include "support/checked.h"

#include "support/banned.h"

/* Increase of a module of the diff. */
struct increase {
    int64_t own;   /* without its children */
    int64_t sum;   /* with its children */
    bool is_final; /* its row is not expanded any more */
};

struct roll_up {
    const struct cm_diff *diff;
    struct increase *increases;
    struct cm_blame *rows;
    size_t n;
};

static void find_increases(const struct roll_up *roll_up, size_t n) {
    struct increase *increases = roll_up->increases;
    for (size_t i = 0; i < n; i++) {
        const struct cm_blame *blame = &roll_up->rows[i];
        if (!is_known(blame->difference) || blame->difference <= 0) continue;
        increases[blame->module].own = blame->difference;
    }
    /* Parents precede children. */
    for (size_t i = roll_up->diff->n_modules; i-- > 0;) {
        increases[i].sum = checked_add(increases[i].sum, increases[i].own);
        if (i == 0 || increases[i].sum == 0) continue;
        struct increase *parent = &increases[roll_up->diff->modules[i].parent];
        parent->sum = checked_add(parent->sum, increases[i].sum);
    }
}

/* Returns the number of rows that replace a module: the module itself if its own nodes
 * increased, and each child that increased. Writes them to `ret` unless it is NULL. */
static size_t expand(const struct roll_up *roll_up, size_t module, struct cm_blame *ret) {
    const struct increase *increases = roll_up->increases;
    size_t n = 0;
    if (increases[module].own > 0) {
        if (ret != NULL)
            ret[n] = (struct cm_blame){.module = module, .difference = increases[module].own};
        n++;
    }
    for (size_t i = module + 1; i < roll_up->diff->n_modules; i++) {
        if (roll_up->diff->modules[i].parent != module || increases[i].sum <= 0) continue;
        if (ret != NULL)
            ret[n] = (struct cm_blame){.module = i, .difference = increases[i].sum};
        n++;
    }
    return n;
}

/* Returns the index of the largest row that may be expanded; roll_up->n: none. */
static size_t find_largest(const struct roll_up *roll_up) {
    size_t best = roll_up->n;
    for (size_t i = 0; i < roll_up->n; i++) {
        if (roll_up->increases[roll_up->rows[i].module].is_final) continue;
        if (best == roll_up->n || roll_up->rows[i].difference > roll_up->rows[best].difference)
            best = i;
    }
    return best;
}

static int compare_rows(const void *a, const void *b) {
    const struct cm_blame *x = a;
    const struct cm_blame *y = b;
    if (x->difference != y->difference) return x->difference > y->difference ? -1 : 1;
    return x->module < y->module ? -1 : x->module > y->module;
}

size_t blame_roll_up(const struct cm_diff *diff, size_t n, size_t top, struct arena *arena,
                     struct cm_blame *rows) {
    struct roll_up roll_up = {diff, NULL, rows, 0};
    roll_up.increases = arena_array(arena, diff->n_modules, sizeof(*roll_up.increases));
    if (roll_up.increases == NULL) return 0;
    find_increases(&roll_up, n);
    roll_up.n = expand(&roll_up, 0, rows);
    roll_up.increases[0].is_final = true;
    for (size_t at = find_largest(&roll_up); at < roll_up.n; at = find_largest(&roll_up)) {
        const size_t module = rows[at].module;
        const size_t n_children = expand(&roll_up, module, NULL);
        roll_up.increases[module].is_final = true;
        if (n_children == 0 || roll_up.n - 1 + n_children > top) continue;
        rows[at] = rows[--roll_up.n];
        roll_up.n += expand(&roll_up, module, &rows[roll_up.n]);
    }
    qsort(rows, roll_up.n, sizeof(*rows), compare_rows);
    return roll_up.n;
}
