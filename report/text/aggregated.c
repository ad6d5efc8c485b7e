/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Section 2 of DeepSpeed's listing: the most expensive classes at each depth. The costs of a
 * class are sums over its modules at that depth, so a weight that two of them share counts
 * twice.
 */
#include "report/text/sections.h"

#include <stdlib.h>

#include "costmodel/costmodel.h"
#include "report/page.h"
#include "report/table/columns.h"
#include "report/times.h"
#include "support/arena.h"
#include "support/map.h"

/* Modules ordered by depth: those of depth d are order[first[d] .. first[d + 1]). */
struct levels {
    size_t n_depths;
    size_t *first;
    size_t *order;
};

/* All modules of one class at one depth. */
struct group {
    const char *type;
    struct cm_costs costs;
};

/* Sorts the modules by depth with a stable, linear counting sort. Returns false if out of
 * memory. */
static bool levels_make(struct page *page, const struct cm_result *result,
                        struct levels *levels) {
    const struct cm_module *modules = result->modules;
    levels->n_depths = 0;
    for (size_t i = 0; i < result->n_modules; i++)
        if ((size_t)modules[i].depth >= levels->n_depths)
            levels->n_depths = (size_t)modules[i].depth + 1;
    levels->first = arena_array(page->arena, levels->n_depths + 2, sizeof(size_t));
    levels->order = arena_array(page->arena, result->n_modules, sizeof(size_t));
    if (levels->first == NULL || levels->order == NULL) return false;
    /* The fill moves first[d + 1] from the start of depth d to its end, the start of d + 1. */
    for (size_t i = 0; i < result->n_modules; i++) levels->first[modules[i].depth + 2]++;
    for (size_t d = 2; d <= levels->n_depths; d++) levels->first[d] += levels->first[d - 1];
    for (size_t i = 0; i < result->n_modules; i++)
        levels->order[levels->first[modules[i].depth + 1]++] = i;
    return true;
}

/* Returns the groups of a depth, in order of first occurrence; NULL if out of memory. */
static struct group *groups_make(struct page *page, const struct cm_result *result,
                                 const struct levels *levels, size_t depth, size_t *ret_n) {
    struct map by_type;
    const size_t first = levels->first[depth];
    const size_t end = levels->first[depth + 1];
    struct group *groups = arena_array(page->arena, end - first, sizeof(*groups));
    map_init(&by_type, page->arena);
    *ret_n = 0;
    for (size_t i = first; groups != NULL && i < end; i++) {
        const struct cm_module *module = &result->modules[levels->order[i]];
        uint32_t existing = MAP_NONE;
        if (map_add(&by_type, module->type, (uint32_t)*ret_n, &existing) != CM_OK) return NULL;
        if (existing == MAP_NONE)
            groups[(*ret_n)++] = (struct group){module->type, module->costs};
        else
            columns_add(&groups[existing].costs, &module->costs);
    }
    for (size_t i = 0; groups != NULL && i < *ret_n; i++)
        columns_limit_unions(&groups[i].costs, &result->totals);
    return groups;
}

/* Writes `    params      - {'Transform': '2.8 M', 'Linear': '660.87 k'}` */
static void write_ranking(struct page *page, const struct cm_result *result,
                          const struct column *column, const struct group *groups, size_t n,
                          struct rank *ranks) {
    const char *kind = column->timed ? times_kind(result) : "";
    const size_t top = page->options->top <= 0 ? n : (size_t)page->options->top;
    for (size_t i = 0; i < n; i++)
        ranks[i] = (struct rank){column_get(column, &groups[i].costs), i};
    qsort(ranks, n, sizeof(*ranks), rank_compare);
    page_print(page, STYLE_PLAIN, "    %-11s - {", column->ranking);
    page_list(page, ", ", page->column);
    for (size_t i = 0; i < n && i < top; i++) {
        const struct group *group = &groups[ranks[i].index];
        page_add(page, "'%s': '%s%s%s%s'", group->type,
                 number_bound_prefix(column_bound(column, &group->costs), false),
                 column->timed ? page_time(page, ranks[i].value)
                               : page_number(page, column->unit, ranks[i].value),
                 *kind == '\0' ? "" : " ", kind);
    }
    page_line(page, STYLE_PLAIN, "}");
}

void aggregated_write(struct page *page, const struct cm_result *result) {
    struct levels levels;
    struct rank *ranks = arena_array(page->arena, result->n_modules, sizeof(*ranks));
    if (ranks == NULL || !levels_make(page, result, &levels)) return;
    size_t n_depths = levels.n_depths;
    if (page->options->depth >= 0 && (size_t)page->options->depth < n_depths)
        n_depths = (size_t)page->options->depth + 1;
    page_end_line(page);
    page_rule(page, "Aggregated Profile");
    if (page->options->top <= 0)
        page_print(page, STYLE_PLAIN, "All modules");
    else
        page_print(page, STYLE_PLAIN, "Top %d modules", page->options->top);
    page_line(page, STYLE_PLAIN, " in terms of params, MACs%s at different model depths:",
              cm_result_timed(result) ? ", flops or fwd latency" : " or flops");
    for (size_t depth = 0; depth < n_depths; depth++) {
        size_t n = 0;
        const struct group *groups = groups_make(page, result, &levels, depth, &n);
        if (groups == NULL) return;
        page_line(page, STYLE_PLAIN, "depth %zu:", depth);
        for (size_t i = 0; i < n_columns; i++)
            if (columns[i].ranking != NULL && column_is_there(&columns[i], result))
                write_ranking(page, result, &columns[i], groups, n, ranks);
    }
}
