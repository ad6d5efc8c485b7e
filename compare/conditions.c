/* SPDX-License-Identifier: Apache-2.0 */
/* Finds profiling conditions that differ between two results. Options that affect costs must be
 * equal for a comparison. Lists (dims, trip counts, custom operators) give one condition per
 * name. */
#include "compare/conditions.h"

#include <inttypes.h>

#include "costmodel/compare.h"
#include "report/types.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/map.h"
#include "support/text.h"

struct finder {
    struct arena *arena;
    struct cm_condition *items;
    size_t n;
    size_t capacity;
};

static void add(struct finder *finder, enum cm_condition_weight weight, const char *key,
                const char *was, const char *is) {
    const struct cm_condition found = {weight, key, was, is};
    (void)arena_push(finder->arena, &finder->items, &finder->n, &finder->capacity, &found,
                     sizeof found);
}

static void add_if_differs(struct finder *finder, enum cm_condition_weight weight,
                           const char *key, const char *was, const char *is) {
    if (!text_equal(was, is)) add(finder, weight, key, was, is);
}

static const char *number_text(struct finder *finder, int64_t value) {
    return is_known(value) ? arena_printf(finder->arena, "%" PRId64, value) : "none";
}

static void add_numbers(struct finder *finder, enum cm_condition_weight weight, const char *key,
                        int64_t was, int64_t is) {
    if (was != is) add(finder, weight, key, number_text(finder, was), number_text(finder, is));
}

/* As add_numbers, with the key "list.name". */
static void add_named(struct finder *finder, const char *list, const char *name, int64_t was,
                      int64_t is) {
    add_numbers(finder, CM_CONDITION_BREAKS, arena_printf(finder->arena, "%s.%s", list, name),
                was, is);
}

static const char *joined(struct finder *finder, size_t n, const char *const *items) {
    struct text text = {.arena = finder->arena};
    for (size_t i = 0; i < n; i++) text_printf(&text, "%s%s", i > 0 ? " " : "", items[i]);
    return n == 0 ? "none" : text_string(&text);
}

static const char *or_none(const char *text) {
    return text == NULL || text[0] == '\0' ? "none" : text;
}

/* As add_if_differs, for texts that may be missing. */
static void add_optional(struct finder *finder, enum cm_condition_weight weight,
                         const char *key, const char *was, const char *is) {
    add_if_differs(finder, weight, key, or_none(was), or_none(is));
}

static void index_sizes(struct finder *finder, const struct cm_named_size *sizes, size_t n,
                        struct map *ret) {
    map_init(ret, finder->arena);
    for (size_t i = 0; i < n; i++)
        if (map_set(ret, sizes[i].name, (uint32_t)i) != CM_OK) return;
}

/* Skips symbolic dims of only one side: these are differences of the models. */
static void compare_dims(struct finder *finder, const struct cm_result *was,
                         const struct cm_result *is) {
    struct map map;
    index_sizes(finder, was->options.dims, was->options.n_dims, &map);
    for (size_t i = 0; i < is->options.n_dims; i++) {
        const struct cm_named_size *dim = &is->options.dims[i];
        const uint32_t at = map_get(&map, dim->name);
        if (at == MAP_NONE) continue;
        if (was->options.dims[at].size == was->options.batch && dim->size == is->options.batch)
            continue; /* the batch is a separate condition */
        add_named(finder, "dims", dim->name, was->options.dims[at].size, dim->size);
    }
}

/* A trip count of only one side is a difference, because the user chose it. */
static void compare_trips(struct finder *finder, const struct cm_result *was,
                          const struct cm_result *is) {
    const struct cm_named_size *old = was->options.trip_counts;
    const struct cm_named_size *now = is->options.trip_counts;
    struct map in_old, in_now;
    index_sizes(finder, old, was->options.n_trip_counts, &in_old);
    index_sizes(finder, now, is->options.n_trip_counts, &in_now);
    for (size_t i = 0; i < is->options.n_trip_counts; i++) {
        const uint32_t at = map_get(&in_old, now[i].name);
        add_named(finder, "trip_counts", now[i].name,
                  at == MAP_NONE ? CM_UNKNOWN : old[at].size, now[i].size);
    }
    for (size_t i = 0; i < was->options.n_trip_counts; i++)
        if (map_get(&in_now, old[i].name) == MAP_NONE)
            add_named(finder, "trip_counts", old[i].name, old[i].size, CM_UNKNOWN);
}

/* index_ops maps operators to the indices of their descriptions, or to one of these. */
#define OP_UNKNOWN (MAP_NONE - 1)
#define OP_CUSTOM  (MAP_NONE - 2) /* custom operator without a recorded description */

static void index_ops(struct finder *finder, const struct cm_coverage *coverage,
                      struct map *ret) {
    map_init(ret, finder->arena);
    for (size_t i = 0; i < coverage->n_unknown_ops; i++)
        if (map_set(ret, coverage->unknown_ops[i].name, OP_UNKNOWN) != CM_OK) return;
    for (size_t i = 0; i < coverage->n_custom_ops; i++)
        if (map_set(ret, coverage->custom_ops[i].name, OP_CUSTOM) != CM_OK) return;
    for (size_t i = 0; i < coverage->n_descriptions; i++)
        if (map_set(ret, coverage->descriptions[i].op, (uint32_t)i) != CM_OK) return;
}

static const char *op_key(struct finder *finder, const char *op) {
    return arena_printf(finder->arena, "op_costs.%s", op);
}

/* Returns true if the operator is unknown on the other side, or built in there and replaced by
 * the description here. `at`: value of the operator in the other side's map of index_ops. */
static bool lacks_description(const struct cm_description *description, uint32_t at) {
    return at == OP_UNKNOWN || (at == MAP_NONE && description->replaces);
}

/* Skips operators of only one model: these are differences of the models. */
static void compare_descriptions(struct finder *finder, const struct cm_coverage *was,
                                 const struct cm_coverage *is) {
    struct map in_old, in_now;
    index_ops(finder, was, &in_old);
    index_ops(finder, is, &in_now);
    for (size_t i = 0; i < is->n_descriptions; i++) {
        const struct cm_description *now = &is->descriptions[i];
        const uint32_t at = map_get(&in_old, now->op);
        if (at < was->n_descriptions)
            add_if_differs(finder, CM_CONDITION_BREAKS, op_key(finder, now->op),
                           was->descriptions[at].digest, now->digest);
        else if (lacks_description(now, at))
            add(finder, CM_CONDITION_BREAKS, op_key(finder, now->op), "none", now->digest);
    }
    for (size_t i = 0; i < was->n_descriptions; i++) {
        const struct cm_description *old = &was->descriptions[i];
        if (lacks_description(old, map_get(&in_now, old->op)))
            add(finder, CM_CONDITION_BREAKS, op_key(finder, old->op), old->digest, "none");
    }
}

static void compare_options(struct finder *finder, const struct cm_result *was,
                            const struct cm_result *is) {
    /* A different batch is only a note if one side has no batch axis. */
    const bool has_batches = is_known(was->options.batch) && is_known(is->options.batch);
    add_if_differs(finder, CM_CONDITION_BREAKS, "convention", was->options.convention,
                   is->options.convention);
    add_numbers(finder, CM_CONDITION_BREAKS, "counting", was->options.counting,
                is->options.counting);
    add_numbers(finder, has_batches ? CM_CONDITION_BREAKS : CM_CONDITION_NOTE, "batch",
                was->options.batch, is->options.batch);
    add_numbers(finder, CM_CONDITION_BREAKS, "micro_batches", cm_result_micro_batches(was),
                cm_result_micro_batches(is));
    if (was->options.precision && is->options.precision) /* unknown in former versions */
        add_if_differs(finder, CM_CONDITION_BREAKS, "precision", was->options.precision,
                       is->options.precision);
    compare_dims(finder, was, is);
    compare_trips(finder, was, is);
    compare_descriptions(finder, &was->coverage, &is->coverage);
    add_if_differs(finder, CM_CONDITION_BREAKS, "mode", was->options.mode, is->options.mode);
    add_if_differs(finder, CM_CONDITION_BREAKS, "schedule", was->options.schedule,
                   is->options.schedule);
    add_numbers(finder, CM_CONDITION_BREAKS, "memory_alignment", was->memory.alignment,
                is->memory.alignment);
    add_optional(finder, CM_CONDITION_NOTE, "module_source", was->options.module_source,
                 is->options.module_source);
    add_optional(finder, CM_CONDITION_NOTE, "group", was->options.group, is->options.group);
}

static int64_t or_zero(int64_t figure) { /* unknown in former versions */
    return is_known(figure) ? figure : 0;
}

static void compare_training(struct finder *finder, const struct cm_training *was,
                             const struct cm_training *is) {
    const bool both = was->present && is->present;
    add_if_differs(finder, both ? CM_CONDITION_BREAKS : CM_CONDITION_NOTE, "optimizer",
                   was->present ? was->optimizer : "none",
                   is->present ? is->optimizer : "none");
    if (!both) return;
    if (is_known(was->restored_norms)) /* unknown in former versions */
        add_numbers(finder, CM_CONDITION_NOTE, "restored_norms", was->restored_norms,
                    is->restored_norms);
    add_if_differs(finder, CM_CONDITION_BREAKS, "freeze",
                   joined(finder, was->n_freeze, was->freeze),
                   joined(finder, is->n_freeze, is->freeze));
    add_numbers(finder, CM_CONDITION_BREAKS, "shard_gpus", or_zero(was->shard_gpus),
                or_zero(is->shard_gpus));
    add_numbers(finder, CM_CONDITION_BREAKS, "zero_stage", or_zero(was->zero_stage),
                or_zero(is->zero_stage));
    add_optional(finder, CM_CONDITION_BREAKS, "offload", was->offload, is->offload);
    add_if_differs(finder, CM_CONDITION_BREAKS, "trainable",
                   joined(finder, was->n_trainable, was->trainable),
                   joined(finder, is->n_trainable, is->trainable));
    add_if_differs(finder, CM_CONDITION_BREAKS, "checkpoint",
                   joined(finder, was->n_checkpoint, was->checkpoint),
                   joined(finder, is->n_checkpoint, is->checkpoint));
}

static const char *times_of(const struct cm_result *result) {
    const struct cm_measure *measure = result->measure;
    if (!measure) return "none";
    if (measure->problem[0] != '\0') return measure->problem;
    if (measure->other_shape != NULL) return "imported, of other shapes";
    return measure->planned    ? "planned"
           : measure->modelled ? "modelled"
           : measure->invented ? "invented"
           : measure->imported ? "imported"
                               : "measured";
}

static int64_t sum_counts(const struct cm_name_count *counts, size_t n) {
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++) sum = checked_add(sum, counts[i].count);
    return sum;
}

/* Adds the numbers of nodes that sums omit, even if they are equal, unless both are 0. */
static void add_gaps(struct finder *finder, const char *key, int64_t was, int64_t is) {
    if (was != 0 || is != 0)
        add(finder, CM_CONDITION_INCOMPLETE, key, number_text(finder, was),
            number_text(finder, is));
}

/* Returns the types of the inputs, with or without names. */
static const char *inputs_of(struct finder *finder, const struct cm_result *result,
                             bool names) {
    struct text text = {.arena = finder->arena};
    for (size_t i = 0; i < result->model.n_inputs; i++) {
        if (i > 0) text_append(&text, ", ");
        if (names) text_printf(&text, "%s ", result->model.inputs[i].name);
        type_append(&text, &result->model.inputs[i].type);
    }
    return or_none(text_string(&text));
}

/* Sorts by weight, largest first; stable insertion sort for few items. */
static void sort(struct finder *finder) {
    for (size_t i = 1; i < finder->n; i++) {
        const struct cm_condition moved = finder->items[i];
        size_t at = i;
        for (; at > 0 && finder->items[at - 1].weight < moved.weight; at--)
            finder->items[at] = finder->items[at - 1];
        finder->items[at] = moved;
    }
}

void conditions_find(struct cm_diff *diff, struct arena *arena) {
    const struct cm_result *was = diff->old_result;
    const struct cm_result *is = diff->new_result;
    struct finder finder = {.arena = arena};
    compare_options(&finder, was, is);
    compare_training(&finder, &was->training, &is->training);
    add_if_differs(&finder, CM_CONDITION_TIMES, "times", times_of(was), times_of(is));
    const struct cm_measure *before = was->measure;
    const struct cm_measure *after = is->measure;
    if (before && after) {
        add_optional(&finder, CM_CONDITION_TIMES, "device", before->device, after->device);
        add_optional(&finder, CM_CONDITION_TIMES, "layout", before->layout, after->layout);
        add_optional(&finder, CM_CONDITION_NOTE, "backend_version", before->version,
                     after->version);
    }
    const struct cm_coverage *old = &was->coverage;
    const struct cm_coverage *now = &is->coverage;
    add_gaps(&finder, "unknown_operators", sum_counts(old->unknown_ops, old->n_unknown_ops),
             sum_counts(now->unknown_ops, now->n_unknown_ops));
    add_gaps(&finder, "unknown_gradients",
             sum_counts(old->unknown_gradients, old->n_unknown_gradients),
             sum_counts(now->unknown_gradients, now->n_unknown_gradients));
    add_numbers(&finder, CM_CONDITION_NOTE, "unknown_shapes", old->unknown_shapes,
                now->unknown_shapes);
    add_if_differs(&finder, CM_CONDITION_NOTE, "inputs", inputs_of(&finder, was, true),
                   inputs_of(&finder, is, true));
    sort(&finder);
    diff->conditions = finder.items;
    diff->n_conditions = finder.n;
}

bool conditions_other_inputs(const struct cm_result *was, const struct cm_result *is,
                             struct arena *arena) {
    struct finder finder = {.arena = arena};
    bool others = !text_equal(or_none(was->options.given), or_none(is->options.given));
    for (size_t i = 0; i < is->options.n_dims && !others; i++) {
        size_t k = 0;
        while (k < was->options.n_dims &&
               !text_equal(was->options.dims[k].name, is->options.dims[i].name))
            k++;
        others = k == was->options.n_dims;
    }
    return others && !text_equal(inputs_of(&finder, was, false), inputs_of(&finder, is, false));
}
