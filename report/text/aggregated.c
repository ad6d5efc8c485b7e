/* SPDX-License-Identifier: Apache-2.0 */
/* Section 2 of DeepSpeed's listing: the most expensive classes at each depth. The costs of a
 * class are sums over its modules at that depth, so a weight that two share counts twice. */
#include "report/text/sections.h"

#include <stdlib.h>

#include "costmodel/costmodel.h"
#include "report/page.h"
#include "report/table/columns.h"
#include "report/times.h"
#include "support/arena.h"
#include "support/map.h"
#include "support/sort.h"

/* All modules of one class at one depth. */
struct group {
    const char *type;
    struct cm_costs costs;
};

/* Finds the groups of a depth, in order of first occurrence. Returns false if out of memory. */
static bool find_groups(const struct cm_result *result, int depth, struct arena *arena,
                        struct group *groups, size_t *ret_n) {
    struct map by_type;
    map_init(&by_type, arena);
    *ret_n = 0;
    for (size_t i = 0; i < result->n_modules; i++) {
        const struct cm_module *module = &result->modules[i];
        if (module->depth != depth) continue;
        uint32_t existing = MAP_NONE;
        if (map_add(&by_type, module->type, (uint32_t)*ret_n, &existing) != CM_OK) return false;
        if (existing == MAP_NONE)
            groups[(*ret_n)++] = (struct group){module->type, module->costs};
        else
            columns_add(&groups[existing].costs, &module->costs);
    }
    for (size_t i = 0; i < *ret_n; i++) columns_limit_unions(&groups[i].costs, &result->totals);
    return true;
}

/* Writes `    params      - {'Transform': '2.8 M', 'Linear': '660.87 k'}` */
static void write_ranking(struct page *page, const struct cm_result *result,
                          const struct column *column, const struct group *groups, size_t n,
                          struct rank *ranks) {
    const char *kind = column->timed ? times_kind(result) : "";
    const size_t top = page->options->top <= 0 ? n : (size_t)page->options->top;
    for (size_t i = 0; i < n; i++)
        ranks[i] = (struct rank){column_get(column, &groups[i].costs), i};
    sort_stable(ranks, n, sizeof(*ranks), rank_compare);
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
    const int limit = page->options->depth;
    struct group *groups = arena_array(page->arena, result->n_modules, sizeof(*groups));
    struct rank *ranks = arena_array(page->arena, result->n_modules, sizeof(*ranks));
    if (groups == NULL || ranks == NULL) return;
    page_end_line(page);
    page_rule(page, "Aggregated Profile");
    if (page->options->top <= 0)
        page_print(page, STYLE_PLAIN, "All modules");
    else
        page_print(page, STYLE_PLAIN, "Top %d modules", page->options->top);
    page_line(page, STYLE_PLAIN, " in terms of params, MACs%s at different model depths:",
              cm_result_timed(result) ? ", flops or fwd latency" : " or flops");
    size_t n = 0;
    for (int depth = 0; limit < 0 || depth <= limit; depth++) {
        if (!find_groups(result, depth, page->arena, groups, &n) || n == 0) return;
        page_line(page, STYLE_PLAIN, "depth %d:", depth);
        for (size_t i = 0; i < n_columns; i++)
            if (columns[i].ranking != NULL && column_is_there(&columns[i], result))
                write_ranking(page, result, &columns[i], groups, n, ranks);
    }
}
