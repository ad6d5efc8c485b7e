/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Section 2: the most expensive classes at each depth. As in DeepSpeed's listing, the costs of
 * a class are sums over its modules at that depth, so a weight that two of them share counts
 * twice.
 */
#include "report/text/sections.h"

#include <stdlib.h>

#include "costmodel/costmodel.h"
#include "report/page.h"
#include "report/table/columns.h"
#include "report/times.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/map.h"

#include "support/banned.h"

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

struct groups {
    size_t n;
    struct group *items; /* in order of first occurrence */
};

/* The value of a metric for one group. */
struct rank {
    int64_t value;
    size_t order; /* index into groups.items */
};

static size_t count_depths(const struct cm_result *result) {
    size_t n = 0;
    for (size_t i = 0; i < result->n_modules; i++) {
        size_t depth = (size_t)result->modules[i].depth;
        if (depth >= n) n = depth + 1;
    }
    return n;
}

/* Counting sort by depth: stable and linear in modules. */
static bool levels_make(struct page *page, const struct cm_result *result,
                        struct levels *levels) {
    levels->n_depths = count_depths(result);
    levels->first = arena_array(page->arena, levels->n_depths + 2, sizeof(size_t));
    levels->order = arena_array(page->arena, result->n_modules, sizeof(size_t));
    if (levels->first == NULL || levels->order == NULL) return false;
    /* first[d + 1] is the start of depth d, and after filling its end, the start of d + 1. */
    for (size_t i = 0; i < result->n_modules; i++)
        levels->first[result->modules[i].depth + 2]++;
    for (size_t d = 2; d <= levels->n_depths; d++) levels->first[d] += levels->first[d - 1];
    for (size_t i = 0; i < result->n_modules; i++)
        levels->order[levels->first[result->modules[i].depth + 1]++] = i;
    return true;
}

static bool groups_add(struct groups *groups, struct map *by_type,
                       const struct cm_module *module) {
    uint32_t existing = MAP_NONE;
    if (map_add(by_type, module->type, (uint32_t)groups->n, &existing) != CM_OK) return false;
    if (existing == MAP_NONE)
        groups->items[groups->n++] = (struct group){module->type, module->costs};
    else
        columns_add(&groups->items[existing].costs, &module->costs);
    return true;
}

static bool groups_make(struct page *page, const struct cm_result *result,
                        const struct levels *levels, size_t depth, struct groups *groups) {
    struct map by_type;
    size_t first = levels->first[depth];
    size_t end = levels->first[depth + 1];
    map_init(&by_type, page->arena);
    groups->n = 0;
    groups->items = arena_array(page->arena, end - first, sizeof(*groups->items));
    if (groups->items == NULL) return false;
    for (size_t i = first; i < end; i++) {
        if (!groups_add(groups, &by_type, &result->modules[levels->order[i]])) return false;
    }
    return true;
}

/* Largest first, equal values by first occurrence; unknown values last. */
static int compare_ranks(const void *left, const void *right) {
    const struct rank *a = left;
    const struct rank *b = right;
    if (a->value != b->value) return a->value > b->value ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* `    params      - {'Transform': '2.8 M', 'Linear': '660.87 k'}` */
static void write_ranking(struct page *page, const struct cm_result *result,
                          const struct column *column, const struct groups *groups,
                          struct rank *ranks) {
    for (size_t i = 0; i < groups->n; i++)
        ranks[i] = (struct rank){column_get(column, &groups->items[i].costs), i};
    qsort(ranks, groups->n, sizeof(*ranks), compare_ranks);
    size_t top = page->options->top <= 0 ? groups->n : (size_t)page->options->top;
    page_print(page, STYLE_PLAIN, "    %-11s - {", column->ranking);
    page_list(page, ", ", page->column);
    for (size_t i = 0; i < groups->n && i < top; i++) {
        struct text *item = page_item(page);
        text_append(item, "'");
        text_append_name(item, groups->items[ranks[i].order].type);
        text_append(item, "': '");
        text_append(item,
                    number_bound_prefix(
                        column_bound(column, &groups->items[ranks[i].order].costs), false));
        if (column->timed)
            times_append(item, page->units, ranks[i].value);
        else
            number_append(item, page->units, column->unit, ranks[i].value);
        if (column->timed) times_append_kind(item, result);
        text_append(item, "'");
        page_item_end(page, STYLE_PLAIN);
    }
    page_line(page, STYLE_PLAIN, "}");
}

static bool write_depth(struct page *page, const struct cm_result *result,
                        const struct levels *levels, size_t depth, struct rank *ranks) {
    struct groups groups;
    if (!groups_make(page, result, levels, depth, &groups)) return false;
    page_line(page, STYLE_PLAIN, "depth %zu:", depth);
    for (size_t i = 0; i < n_columns; i++)
        if (columns[i].ranking != NULL && column_is_there(&columns[i], result))
            write_ranking(page, result, &columns[i], &groups, ranks);
    return true;
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
    for (size_t depth = 0; depth < n_depths; depth++)
        if (!write_depth(page, result, &levels, depth, ranks)) return;
}
