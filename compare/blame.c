/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes the change of a metric to modules: each gets the part not due to its children. */
#include "compare/blame.h"

#include <stdbool.h>
#include <stdlib.h>

#include "support/arena.h"
#include "support/checked.h"
#include "support/sort.h"

/* Returns is - was; 0 if both are unknown. */
static int64_t difference_of(int64_t was, int64_t is) {
    return !is_known(was) && !is_known(is) ? 0 : checked_sub(is, was);
}

static bool is_reported_by_parent(const struct cm_diff_module *row, int depth) {
    return row->is_part || (depth >= 0 && row->depth > depth);
}

/* Returns the value of a module minus the values of its children; 0 for CM_NO_INDEX and for an
 * absent metric. If a child moves from one parent to another, this value of each parent stays
 * the same. */
static int64_t own_of(const struct cm_result *result, size_t module, size_t metric) {
    struct cm_figure all;
    if (module == CM_NO_INDEX || !cm_metric_of_module(metric, result, module, &all)) return 0;
    int64_t own = all.value;
    for (size_t i = 0; i < result->modules[module].n_children; i++) {
        struct cm_figure child = {.value = 0};
        (void)cm_metric_of_module(metric, result, result->modules[module].children[i], &child);
        own = checked_sub(own, child.value);
    }
    return own;
}

/* For metrics that are sums: adds the own values of each row to its reporter ret[row].module,
 * which is the row itself or the reporter of its parent. Parents precede children. */
static void attribute_sums(const struct cm_diff *diff, size_t metric, int depth,
                           struct cm_blame *ret) {
    for (size_t i = 0; i < diff->n_modules; i++) {
        const struct cm_diff_module *row = &diff->modules[i];
        const int64_t was = own_of(diff->old_result, row->old_module, metric);
        const int64_t is = own_of(diff->new_result, row->new_module, metric);
        const bool by_parent = i > 0 && is_reported_by_parent(row, depth);
        const size_t reporter = by_parent ? ret[row->parent].module : i;
        ret[i] = (struct cm_blame){.module = reporter};
        ret[reporter].old_value = checked_add(ret[reporter].old_value, was);
        ret[reporter].new_value = checked_add(ret[reporter].new_value, is);
    }
    for (size_t i = diff->n_modules; i-- > 0;) {
        ret[i].difference = difference_of(ret[i].old_value, ret[i].new_value);
        if (i > 0 && ret[i].module == i && (ret[i].difference != 0 || ret[i].is_rest))
            ret[ret[diff->modules[i].parent].module].is_rest = true;
    }
}

/* For metrics that are not sums: only the deepest modules that changed keep a difference. */
static void keep_deepest(const struct cm_diff *diff, size_t metric, int depth,
                         struct cm_blame *ret) {
    for (size_t i = diff->n_modules; i-- > 0;) {
        const struct cm_change change = cm_diff_of_module(diff, i, metric);
        ret[i] = (struct cm_blame){
            .module = i,
            .old_value = change.old_value,
            .new_value = change.new_value,
            .difference = difference_of(change.old_value, change.new_value),
        };
    }
    for (size_t i = diff->n_modules; i-- > 0;) {
        const struct cm_diff_module *row = &diff->modules[i];
        const bool changed = ret[i].is_rest || ret[i].difference != 0;
        if (ret[i].is_rest) ret[i].difference = 0; /* reported by a child */
        if (i == 0) continue;
        if (is_reported_by_parent(row, depth))
            ret[i].difference = 0;
        else if (changed)
            ret[row->parent].is_rest = true;
    }
    for (size_t i = 0; i < diff->n_modules; i++) ret[i].is_rest = false;
}

static uint64_t magnitude(int64_t value) {
    return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

/* Unknown differences sort first. */
static int compare_blames(const void *a, const void *b) {
    const struct cm_blame *x = a;
    const struct cm_blame *y = b;
    const uint64_t sizes[] = {magnitude(x->difference), magnitude(y->difference)};
    if (sizes[0] != sizes[1]) return sizes[0] > sizes[1] ? -1 : 1;
    return x->module < y->module ? -1 : x->module > y->module;
}

size_t cm_diff_blame(const struct cm_diff *diff, size_t metric, int depth,
                     struct cm_blame *ret) {
    if (diff == NULL || ret == NULL) return 0;
    struct cm_metric row;
    size_t n = 0;
    if (!cm_metric_at(metric, &row) || !row.of_modules) return 0;
    if (row.is_sum)
        attribute_sums(diff, metric, depth, ret);
    else
        keep_deepest(diff, metric, depth, ret);
    for (size_t i = 0; i < diff->n_modules; i++) {
        if (ret[i].difference == 0) continue;
        struct cm_blame *listed = &ret[n++];
        *listed = ret[i];
        if (!is_known(listed->old_value)) listed->old_value = CM_UNKNOWN; /* also overflow */
        if (!is_known(listed->new_value)) listed->new_value = CM_UNKNOWN;
        if (!is_known(listed->difference)) listed->difference = CM_UNKNOWN;
    }
    if (n > 0) sort_stable(ret, n, sizeof(*ret), compare_blames);
    return n;
}

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

/* Starts with the children of the root. Replaces the largest row by its children while at most
 * `top` rows remain. */
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
    sort_stable(rows, roll_up.n, sizeof(*rows), compare_blames);
    return roll_up.n;
}
