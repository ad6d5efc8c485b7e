/* SPDX-License-Identifier: Apache-2.0 */
/* Selects the rows of the pruned module tree. See hotspots.h. */
#include "report/text/hotspots.h"

#include <stdlib.h>
#include <string.h>

#include "costmodel/costmodel.h"
#include "report/table/columns.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/map.h"
#include "support/sort.h"
#include "support/text.h"

#define MIN_SHARE    0.01 /* min. share of the metric or of params for a separate row */
#define MIN_EXPANDED 0.1  /* min. share of the metric for a row to be expanded */
#define MAX_RATIO    2    /* max. cost ratio of siblings that are merged into one row */
#define MAX_LABEL    200  /* bytes; a longer label is not extended by a child name */

struct search {
    const struct cm_result *result;
    struct arena *arena;
    struct hotspots *found;
    int depth;       /* max. module depth; -1: unlimited */
    size_t max_rows; /* 0: unlimited */
};

/* Children of a row, grouped by name, in order of first occurrence. */
struct groups {
    size_t n;
    struct hotspot *items;
};

double hotspots_share(const struct column *column, const struct cm_costs *costs,
                      const struct cm_costs *totals) {
    const int64_t value = column_get(column, costs);
    const int64_t total = column_get(column, totals);
    return value > 0 && total > 0 ? (double)value / (double)total : 0;
}

/* Returns the first of these metrics that is available and > 0; default: MACs. */
static const struct column *choose_metric(const struct cm_result *result) {
    static const char *const keys[] = {"latency_ps", "macs", "flops", "bytes_written"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const struct column *column = column_named(keys[i]);
        if (column_is_there(column, result) && column_get(column, &result->totals) > 0)
            return column;
    }
    return column_named("macs");
}

static double share_of(const struct search *search, const struct hotspot *row) {
    return hotspots_share(search->found->metric, &row->costs, &search->result->totals);
}

/* Returns the larger of two shares of the row: of the metric and of the parameters. */
static double weight_of(const struct search *search, const struct hotspot *row) {
    const double params =
        hotspots_share(column_named("params"), &row->costs, &search->result->totals);
    const double share = share_of(search, row);
    return share > params ? share : params;
}

static const struct cm_module *module_of(const struct search *search,
                                         const struct hotspot *row) {
    return &search->result->modules[row->modules[0]];
}

/* Sets label, type and summed costs of a row whose modules have the same name. */
static void describe(const struct search *search, struct hotspot *row) {
    const struct cm_module *first = module_of(search, row);
    row->label = first->name;
    row->type = first->type_known ? first->type : "";
    row->costs = first->costs;
    for (size_t i = 1; i < row->n; i++) {
        const struct cm_module *module = &search->result->modules[row->modules[i]];
        columns_add(&row->costs, &module->costs);
        if (!text_equal(module->type, first->type)) row->type = "";
    }
}

/* Groups the children of all modules of a row by name. Example: the row "layers.0-5" gets the
 * groups "attn" and "mlp" with 6 modules each. All groups use consecutive ranges of one array,
 * so join_repeated can merge adjacent groups. */
static bool group_children(const struct search *search, const struct hotspot *row,
                           struct groups *ret) {
    const struct cm_module *modules = search->result->modules;
    struct arena *arena = search->arena;
    struct map by_name;
    size_t n = 0;
    for (size_t i = 0; i < row->n; i++) n += modules[row->modules[i]].n_children;
    size_t *group_of = arena_array(arena, n + 1, sizeof(*group_of));
    size_t *const members = arena_array(arena, n + 1, sizeof(*members));
    ret->items = arena_array(arena, n + 2, sizeof(*ret->items));
    ret->n = 0;
    if (group_of == NULL || members == NULL || ret->items == NULL) return false;
    map_init(&by_name, arena);
    size_t at = 0; /* assign each child to a group, and count the children of each group */
    for (size_t i = 0; i < row->n; i++) {
        const struct cm_module *parent = &modules[row->modules[i]];
        for (size_t k = 0; k < parent->n_children; k++) {
            uint32_t group = MAP_NONE;
            if (map_add(&by_name, modules[parent->children[k]].name, (uint32_t)ret->n,
                        &group) != CM_OK)
                return false;
            if (group == MAP_NONE) group = (uint32_t)ret->n++;
            group_of[at++] = group;
            ret->items[group].n++;
        }
    }
    size_t start = 0; /* give each group its range of members */
    for (size_t g = 0; g < ret->n; g++) {
        ret->items[g].modules = members + start;
        start += ret->items[g].n;
        ret->items[g].n = 0;
    }
    at = 0; /* fill the ranges */
    for (size_t i = 0; i < row->n; i++) {
        const struct cm_module *parent = &modules[row->modules[i]];
        for (size_t k = 0; k < parent->n_children; k++) {
            struct hotspot *group = &ret->items[group_of[at++]];
            members[(size_t)(group->modules - members) + group->n++] = parent->children[k];
        }
    }
    for (size_t g = 0; g < ret->n; g++) describe(search, &ret->items[g]);
    return true;
}

/* Splits "encoder_layer_7" into the length of "encoder_layer_" and 7. Returns false if the name
 * does not end with a number. */
static bool split_number(const char *name, size_t *ret_prefix, int64_t *ret_number) {
    size_t length = strlen(name);
    *ret_prefix = length;
    while (*ret_prefix > 0 && text_is_digit(name[*ret_prefix - 1])) --*ret_prefix;
    return text_to_int64(name + *ret_prefix, length - *ret_prefix, ret_number);
}

/* Returns true if `b` is `a` with the number incremented: "layer_3" and "layer_4". */
static bool are_consecutive(const char *a, const char *b) {
    size_t prefix = 0;
    size_t other_prefix = 0;
    int64_t first = 0;
    int64_t second = 0;
    return split_number(a, &prefix, &first) && split_number(b, &other_prefix, &second) &&
           prefix == other_prefix && memcmp(a, b, prefix) == 0 && second - first == 1;
}

/* Returns true if two rows have similar costs and the same class; an unknown class is accepted
 * only if both have children. Names with a text prefix ("layer1", "layer2") also require equal
 * params; pure numbers ("0", "1") do not. */
static bool are_similar(const struct search *search, const struct hotspot *a,
                        const struct hotspot *b) {
    const int64_t cost = column_get(search->found->metric, &a->costs);
    const int64_t other = column_get(search->found->metric, &b->costs);
    const bool has_children =
        module_of(search, a)->n_children > 0 && module_of(search, b)->n_children > 0;
    if (!text_equal(a->type, b->type) || (*a->type == '\0' && !has_children)) return false;
    if (!text_is_digits(a->label) && a->costs.params != b->costs.params) return false;
    return cost / MAX_RATIO <= other && other / MAX_RATIO <= cost;
}

/* Merges adjacent similar siblings with consecutive numbers: "0-5". `whole`: of parents. */
static bool join_repeated(const struct search *search, const struct cm_costs *whole,
                          struct groups *groups) {
    size_t n = 0;
    for (size_t i = 0; i < groups->n;) {
        struct hotspot joined = groups->items[i];
        size_t end = i + 1;
        while (end < groups->n &&
               are_consecutive(groups->items[end - 1].label, groups->items[end].label) &&
               are_similar(search, &groups->items[i], &groups->items[end])) {
            joined.n += groups->items[end].n;
            columns_add(&joined.costs, &groups->items[end].costs);
            end++;
        }
        columns_limit_unions(&joined.costs, whole);
        if (end > i + 1) {
            const char *last = groups->items[end - 1].label;
            size_t prefix = 0;
            int64_t number = 0;
            (void)split_number(last, &prefix, &number);
            joined.label = arena_printf(search->arena, "%s-%s", joined.label, last + prefix);
        }
        if (joined.label == NULL) return false;
        groups->items[n++] = joined;
        i = end;
    }
    groups->n = n;
    return true;
}

/* Adds the row "(own operators)" if the modules have costs that do not belong to a child. */
static void add_own(const struct search *search, const struct cm_costs *whole,
                    struct groups *groups) {
    struct hotspot own = {.label = "(own operators)",
                          .type = "",
                          .costs = {.latency_ps = CM_UNKNOWN, .lower_bound_ps = CM_UNKNOWN},
                          .is_final = true};
    for (size_t k = 0; k < n_columns; k++) {
        int64_t rest = column_get(&columns[k], whole);
        for (size_t i = 0; i < groups->n; i++) {
            const int64_t part = column_get(&columns[k], &groups->items[i].costs);
            if (part != CM_UNKNOWN) rest = checked_sub(rest, part);
        }
        column_set(&columns[k], &own.costs, !is_known(rest) || rest < 0 ? 0 : rest);
    }
    if (weight_of(search, &own) > 0) groups->items[groups->n++] = own;
}

static int compare_weights(const void *left, const void *right) {
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return a < b ? 1 : a > b ? -1 : 0;
}

/* Rows above `weight` are selected, and the first `n_equal` rows with exactly this weight. */
struct threshold {
    double weight;
    size_t n_equal;
};

/* Returns the threshold that selects at most max_rows rows. */
static struct threshold find_threshold(const struct search *search,
                                       const struct groups *groups) {
    const struct threshold any = {MIN_SHARE, SIZE_MAX};
    if (search->max_rows == 0 || groups->n <= search->max_rows) return any;
    double *weights = arena_array(search->arena, groups->n, sizeof(*weights));
    if (weights == NULL) return any;
    for (size_t i = 0; i < groups->n; i++) weights[i] = weight_of(search, &groups->items[i]);
    sort_stable(weights, groups->n, sizeof(*weights), compare_weights);
    const double min_share = weights[search->max_rows - 1];
    if (min_share < MIN_SHARE) return any;
    size_t n_above = 0;
    while (weights[n_above] > min_share) n_above++;
    return (struct threshold){min_share, search->max_rows - n_above};
}

/* Sum of the modules without a separate row. */
struct rest {
    size_t n; /* modules */
    struct cm_costs costs;
};

/* Removes the groups below the threshold and adds their costs to `rest`. */
static void drop_small(const struct search *search, struct groups *groups,
                       struct threshold threshold, struct rest *rest) {
    size_t n = 0;
    for (size_t i = 0; i < groups->n; i++) {
        const struct hotspot *group = &groups->items[i];
        const double weight = weight_of(search, group);
        const bool is_equal = weight == threshold.weight;
        if (weight > threshold.weight || (is_equal && threshold.n_equal > 0)) {
            threshold.n_equal -= is_equal;
            groups->items[n++] = *group;
        } else {
            rest->n += group->n;
            columns_add(&rest->costs, &group->costs);
        }
    }
    groups->n = n;
}

/* Inserts the groups as rows after their parent row; at the top if `row` is NULL. */
static void insert(const struct search *search, struct hotspot *row, struct groups *groups) {
    struct hotspot **link = row == NULL ? &search->found->first : &row->next;
    for (size_t i = 0; i < groups->n; i++) {
        struct hotspot *group = &groups->items[i];
        group->indent = row == NULL ? 0 : row->indent + 1;
        group->next = *link;
        *link = group;
        link = &group->next;
    }
    search->found->n_rows += groups->n;
}

/* Expands a row, or marks it as final if it has fewer than 2 significant children or their rows
 * exceed max_rows. If only one child is significant, the child replaces the row: "layer3"
 * becomes "layer3.0-5". */
static bool expand(const struct search *search, struct hotspot *row) {
    struct hotspots *found = search->found;
    struct hotspot inner = *row;
    struct rest rest = {0};
    struct groups groups;
    for (;;) {
        if (!group_children(search, &inner, &groups) ||
            !join_repeated(search, &inner.costs, &groups))
            return false;
        add_own(search, &inner.costs, &groups);
        drop_small(search, &groups, (struct threshold){MIN_SHARE, SIZE_MAX}, &rest);
        if (groups.n != 1 || groups.items[0].n == 0 || strlen(inner.label) > MAX_LABEL) break;
        const struct hotspot *child = &groups.items[0];
        inner.label = arena_printf(search->arena, "%s.%s", inner.label, child->label);
        if (inner.label == NULL) return false;
        inner.type = child->type;
        inner.n = child->n;
        inner.modules = child->modules;
        inner.costs = child->costs;
    }
    row->is_final = true;
    if (groups.n < 2) return true;
    if (search->max_rows > 0 && found->n_rows + groups.n > search->max_rows) return true;
    *row = inner;
    row->is_expanded = true;
    found->n_rest += rest.n;
    columns_add(&found->rest, &rest.costs);
    insert(search, row, &groups);
    return true;
}

/* Returns the expandable row with the largest share; NULL if there is none. */
static struct hotspot *find_expandable(const struct search *search) {
    struct hotspot *best = NULL;
    for (struct hotspot *row = search->found->first; row != NULL; row = row->next) {
        if (row->is_expanded || row->is_final || row->n == 0) continue;
        const struct cm_module *module = module_of(search, row);
        if (module->n_children == 0) continue;
        if (search->depth >= 0 && module->depth >= search->depth) continue;
        if (share_of(search, row) < MIN_EXPANDED) continue;
        if (best == NULL || share_of(search, row) > share_of(search, best)) best = row;
    }
    return best;
}

/* Inserts the top-level rows. */
static void list_top(const struct search *search, struct groups *groups) {
    struct rest rest = {0};
    drop_small(search, groups, find_threshold(search, groups), &rest);
    search->found->n_rest = rest.n;
    search->found->rest = rest.costs;
    insert(search, NULL, groups);
}

bool hotspots_find(const struct cm_result *result, int depth, size_t max_rows,
                   struct arena *arena, struct hotspots *ret) {
    static const size_t root = 0;
    const struct hotspot whole = {.n = 1, .modules = &root};
    const struct search search = {result, arena, ret, depth, max_rows};
    struct groups groups;
    *ret = (struct hotspots){.metric = choose_metric(result)};
    if (result->modules[0].n_children == 0) { /* a row per operator, without modules */
        groups.n = result->n_operators;
        groups.items = arena_array(arena, groups.n + 1, sizeof(*groups.items));
        if (groups.items == NULL) return false;
        for (size_t i = 0; i < groups.n; i++)
            groups.items[i] = (struct hotspot){.label = result->operators[i].op,
                                               .type = "",
                                               .costs = result->operators[i].costs,
                                               .is_final = true};
        list_top(&search, &groups);
        return true;
    }
    if (!group_children(&search, &whole, &groups)) return false;
    if (!join_repeated(&search, &result->modules[0].costs, &groups)) return false;
    add_own(&search, &result->modules[0].costs, &groups);
    list_top(&search, &groups);
    for (;;) {
        struct hotspot *row = find_expandable(&search);
        if (row == NULL) return true;
        if (!expand(&search, row)) return false;
    }
}
