/* SPDX-License-Identifier: Apache-2.0 */
/* Checks profiles and baselines that were read from JSON. Reports walk the module tree without
 * cycle detection, so this file rejects cycles and modules with several parents. It also
 * rejects negative totals, because `check` compares with totals. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "report/json/json_schema.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/map.h"
#include "support/sort.h"

/* Checks that each module but the root is a child of exactly one module, its parent, with a
 * larger index and a depth larger by 1. */
static int check_tree(const struct cm_result *result, struct arena *arena,
                      struct cm_diagnostics *diag) {
    const struct cm_module *modules = result->modules;
    bool *listed = arena_array(arena, result->n_modules, sizeof(*listed));
    if (listed == NULL) return diag_no_memory(diag);
    for (size_t i = 0; i < result->n_modules; i++) {
        if (i > 0 && !listed[i])
            return diag_error(diag, DIAG_FORMAT, "modules[%zu]: no module has it as a child",
                              i);
        for (size_t k = 0; k < modules[i].n_children; k++) {
            const size_t child = modules[i].children[k];
            if (child <= i || child >= result->n_modules)
                return diag_error(diag, DIAG_FORMAT,
                                  "modules[%zu].children[%zu]: expected an index from %zu to "
                                  "%zu, got %zu",
                                  i, k, i + 1, result->n_modules - 1, child);
            if (modules[child].parent != i || listed[child])
                return diag_error(diag, DIAG_FORMAT, "modules[%zu]: has several parents",
                                  child);
            if (modules[child].depth != modules[i].depth + 1)
                return diag_error(diag, DIAG_FORMAT, "modules[%zu].depth: expected %d, got %d",
                                  child, modules[i].depth + 1, modules[child].depth);
            listed[child] = true;
        }
    }
    return CM_OK;
}

/* Rejects negative totals: limits relative to them are meaningless. */
static int check_totals(const struct cm_costs *totals, struct cm_diagnostics *diag) {
    for (size_t i = 0; i < n_columns; i++) {
        const int64_t value = column_get(&columns[i], totals);
        if (is_known(value) && value < 0)
            return diag_error(diag, DIAG_FORMAT, "totals: %s is negative, %" PRId64,
                              columns[i].key, value);
    }
    return CM_OK;
}

/* Rejects duplicate operators: a comparison matches them by name. */
static int check_operators(const struct cm_result *result, struct arena *arena,
                           struct cm_diagnostics *diag) {
    struct map names;
    map_init(&names, arena);
    for (size_t i = 0; i < result->n_operators; i++) {
        uint32_t before = MAP_NONE;
        if (map_add(&names, result->operators[i].op, (uint32_t)i, &before) != CM_OK)
            return diag_no_memory(diag);
        if (before != MAP_NONE)
            return diag_error(diag, DIAG_FORMAT,
                              "operators[%zu]: the same as operators[%" PRIu32 "]", i, before);
    }
    return CM_OK;
}

/* Requires lists of equal length, as cm_step_tensors promises. */
static int check_step(const struct cm_step_curve *curve, struct cm_diagnostics *diag) {
    for (size_t i = 0; curve && i < curve->n_tensors; i++) {
        const struct cm_step_tensors *tensors = &curve->tensors[i];
        const size_t n = tensors->n_nodes;
        if (tensors->n_from != n || tensors->n_to != n || tensors->n_bytes != n)
            return diag_error(diag, DIAG_FORMAT,
                              "training.curve.tensors[%zu]: lists differ in length", i);
    }
    return CM_OK;
}

static int by_batch(const void *a, const void *b) {
    const int64_t left = *(const int64_t *)a;
    const int64_t right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

int json_check_baseline(const struct cm_baseline *baseline, struct arena *arena,
                        struct cm_diagnostics *diag) {
    const size_t n = baseline->n_profiles;
    int64_t *batches = arena_array(arena, n + 1, sizeof(*batches));
    if (batches == NULL) return diag_no_memory(diag);
    for (size_t i = 0; i < n; i++) {
        const struct cm_result *figures = &baseline->profiles[i].figures;
        const int status = check_totals(&figures->totals, diag);
        if (status != CM_OK) return status;
        batches[i] = figures->options.batch;
    }
    sort_stable(batches, n, sizeof(*batches), by_batch);
    for (size_t i = 0; i < n; i++) {
        const bool is_twice = i > 0 && batches[i] == batches[i - 1];
        if (is_known(batches[i]) && batches[i] < 1)
            return diag_error(diag, DIAG_FORMAT, "profiles: a batch is %" PRId64, batches[i]);
        /* may come from a manual merge; only one of them would be compared */
        if (is_twice && is_known(batches[i]))
            return diag_error(diag, DIAG_FORMAT, "profiles: batch %" PRId64 " is there twice",
                              batches[i]);
        if (is_twice) return diag_error(diag, DIAG_FORMAT, "profiles: two have no batch");
    }
    return CM_OK;
}

int json_check(const struct cm_result *result, struct arena *arena,
               struct cm_diagnostics *diag) {
    if (result->n_modules == 0)
        return diag_error(diag, DIAG_FORMAT, "modules: the root is missing");
    if (result->modules[0].parent != CM_NO_INDEX || result->modules[0].depth != 0)
        return diag_error(diag, DIAG_FORMAT, "modules[0]: the root has a parent");
    int status = check_totals(&result->totals, diag);
    if (status == CM_OK) status = check_tree(result, arena, diag);
    if (status == CM_OK) status = check_operators(result, arena, diag);
    if (status == CM_OK) status = check_step(result->training.curve, diag);
    return status;
}
