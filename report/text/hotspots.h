/* SPDX-License-Identifier: Apache-2.0 */
/* The modules that cause most of the costs, as rows of a pruned module tree: repeated siblings
 * of similar cost share a row ("layers.0-11"), the most expensive rows are expanded until the
 * limit of rows is reached, and the remaining modules are summed up. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "costmodel/result.h"

struct arena;
struct column;

struct hotspot {
    const char *label;     /* path below the row that contains it: "0-5.conv2" */
    const char *type;      /* class of all its modules; "" if unknown or not the same */
    size_t n;              /* number of modules; 0: a row of operators */
    const size_t *modules; /* indices into result->modules */
    struct cm_costs costs; /* sum over its modules or operators */
    int indent;            /* number of rows that contain it */
    bool is_expanded;      /* its children have rows or are part of hotspots.rest */
    bool is_final;         /* cannot be expanded */
    struct hotspot *next;  /* row below; NULL: last */
};

struct hotspots {
    const struct column *metric; /* the rows are ranked by it */
    struct hotspot *first;
    size_t n_rows;
    size_t n_rest;        /* modules without a row */
    struct cm_costs rest; /* sum of their costs */
};

/* Returns value / total; 0 if either is unknown or 0. */
double hotspots_share(const struct column *column, const struct cm_costs *costs,
                      const struct cm_costs *totals);

/* Finds at most max_rows rows (0: no limit) of modules down to a depth (-1: no limit). Returns
 * false if out of memory (sticky in the arena). */
bool hotspots_find(const struct cm_result *result, int depth, size_t max_rows,
                   struct arena *arena, struct hotspots *ret);
