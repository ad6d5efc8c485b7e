/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pairs of blocks that are alive at one step, found by a sweep over the steps, and the
 * placing of blocks one after the other beside those that they conflict with. The work is
 * bounded by the pairs, not by the square of the blocks.
 */
#include "passes/packing_fit.h"

#include <stdlib.h>

#include "support/arena.h"

#include "support/banned.h"

/* Each planner looks at every pair twice and sorts what it looks at: of so many, all of them
 * together take about a second. */
#define MAX_PAIRS ((size_t)1 << 21)

/* qsort has no context, so that the keys stand with the index. */
struct ranked {
    int64_t keys[3]; /* ascending; the index last */
    uint32_t index;
};

static int compare_ranked(const void *a, const void *b) {
    const struct ranked *left = a;
    const struct ranked *right = b;
    for (size_t i = 0; i < 3; i++)
        if (left->keys[i] != right->keys[i]) return left->keys[i] < right->keys[i] ? -1 : 1;
    return left->index < right->index ? -1 : left->index > right->index;
}

static int compare_spans(const void *a, const void *b) {
    const struct span *left = a;
    const struct span *right = b;
    return left->from < right->from ? -1 : left->from > right->from;
}

/* Most blocks have few around them: insertion is fastest there. */
static void sort_spans(struct span *spans, size_t n) {
    if (n > 48) {
        qsort(spans, n, sizeof *spans, compare_spans);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        struct span span = spans[i];
        size_t at = i;
        for (; at > 0 && spans[at - 1].from > span.from; at--) spans[at] = spans[at - 1];
        spans[at] = span;
    }
}

/* The blocks alive at a step of the sweep. */
struct sweep {
    const struct packing *packing;
    const uint32_t *by_first;
    uint32_t *alive;
    uint32_t n;
};

static void sweep_drop(struct sweep *sweep, uint32_t step) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < sweep->n; i++)
        if (sweep->packing->blocks[sweep->alive[i]].last >= step)
            sweep->alive[kept++] = sweep->alive[i];
    sweep->n = kept;
}

/* Counts pairs in `from`, or, where `fill` says how far each list is, lists them. */
static bool sweep_pairs(struct sweep *sweep, uint32_t *fill) {
    const struct packing *packing = sweep->packing;
    size_t n_pairs = 0;
    sweep->n = 0;
    for (uint32_t i = 0; i < packing->n; i++) {
        uint32_t block = sweep->by_first[i];
        sweep_drop(sweep, packing->blocks[block].first);
        n_pairs += sweep->n;
        if (n_pairs > MAX_PAIRS) return false;
        for (uint32_t k = 0; k < sweep->n; k++) {
            uint32_t other = sweep->alive[k];
            if (fill) {
                packing->others[fill[block]++] = other;
                packing->others[fill[other]++] = block;
            } else {
                packing->from[block + 1]++;
                packing->from[other + 1]++;
            }
        }
        sweep->alive[sweep->n++] = block;
    }
    return true;
}

/* Bytes alive at the first step of each block. */
static int find_breadths(struct packing *packing) {
    packing->breadths = arena_array(packing->arena, packing->n, sizeof *packing->breadths);
    if (!packing->breadths) return CM_NO_MEMORY;
    for (uint32_t block = 0; block < packing->n; block++) {
        int64_t live = packing->blocks[block].bytes;
        for (uint32_t i = packing->from[block]; i < packing->from[block + 1]; i++) {
            const struct block *other = &packing->blocks[packing->others[i]];
            if (other->first <= packing->blocks[block].first) live += other->bytes;
        }
        packing->breadths[block] = live;
        if (live > packing->bound) packing->bound = live;
    }
    return CM_OK;
}

/* The most bytes alive together with a block, at any of its steps. */
static int64_t widest(const struct packing *packing, uint32_t block) {
    int64_t most = packing->breadths[block];
    for (uint32_t i = packing->from[block]; i < packing->from[block + 1]; i++) {
        uint32_t other = packing->others[i];
        if (packing->blocks[other].first < packing->blocks[block].first) continue;
        if (packing->breadths[other] > most) most = packing->breadths[other];
    }
    return most;
}

static struct ranked rank_block(const struct packing *packing, enum packing_planner planner,
                                uint32_t index) {
    const struct block *block = &packing->blocks[index];
    switch (planner) {
    case PACKING_SIZE:
        return (struct ranked){.keys = {-block->bytes, block->first}, .index = index};
    case PACKING_BREADTH:
        return (struct ranked){.keys = {-widest(packing, index), -block->bytes, block->first},
                               .index = index};
    default:
        return (struct ranked){.keys = {block->first}, .index = index};
    }
}

/* Blocks come in the order of their values, which is mostly that of their steps. */
static bool is_sorted(const struct ranked *ranks, uint32_t n) {
    for (uint32_t i = 1; i < n; i++)
        if (compare_ranked(&ranks[i - 1], &ranks[i]) > 0) return false;
    return true;
}

static void sort_ranks(struct ranked *ranks, uint32_t n, uint32_t *ret_order) {
    if (!is_sorted(ranks, n)) qsort(ranks, n, sizeof *ranks, compare_ranked);
    for (uint32_t i = 0; i < n; i++) ret_order[i] = ranks[i].index;
}

int packing_order(const struct packing *packing, enum packing_planner planner,
                  uint32_t *ret_order) {
    struct arena_mark mark = arena_save(packing->arena);
    struct ranked *ranks = arena_array(packing->arena, packing->n, sizeof *ranks);
    if (!ranks) return CM_NO_MEMORY;
    for (uint32_t i = 0; i < packing->n; i++) ranks[i] = rank_block(packing, planner, i);
    sort_ranks(ranks, packing->n, ret_order);
    arena_restore(packing->arena, mark);
    return CM_OK;
}

int packing_order_by_last(const struct packing *packing, uint32_t *ret_order) {
    struct arena_mark mark = arena_save(packing->arena);
    struct ranked *ranks = arena_array(packing->arena, packing->n, sizeof *ranks);
    if (!ranks) return CM_NO_MEMORY;
    for (uint32_t i = 0; i < packing->n; i++)
        ranks[i] = (struct ranked){.keys = {packing->blocks[i].last}, .index = i};
    sort_ranks(ranks, packing->n, ret_order);
    arena_restore(packing->arena, mark);
    return CM_OK;
}

static int allocate(struct packing *packing, struct sweep *sweep, uint32_t **ret_order) {
    *ret_order = arena_array(packing->arena, packing->n, sizeof **ret_order);
    sweep->alive = arena_array(packing->arena, packing->n, sizeof *sweep->alive);
    packing->from = arena_array(packing->arena, (size_t)packing->n + 1, sizeof *packing->from);
    packing->spans = arena_array(packing->arena, packing->n, sizeof *packing->spans);
    if (!*ret_order || !sweep->alive || !packing->from || !packing->spans) return CM_NO_MEMORY;
    return packing_order(packing, PACKING_TIME, *ret_order);
}

/* From counts to where each list begins; `fill` is where its next one goes. */
static int list_pairs(struct packing *packing, struct sweep *sweep) {
    uint32_t *fill = arena_array(packing->arena, packing->n, sizeof *fill);
    if (!fill) return CM_NO_MEMORY;
    for (uint32_t i = 0; i < packing->n; i++) {
        packing->from[i + 1] += packing->from[i];
        fill[i] = packing->from[i];
    }
    packing->others =
        arena_array(packing->arena, packing->from[packing->n], sizeof *packing->others);
    if (!packing->others) return CM_NO_MEMORY;
    (void)sweep_pairs(sweep, fill);
    return CM_OK;
}

int packing_open(struct packing *packing, struct arena *arena, const struct block *blocks,
                 size_t n, bool *ret_possible) {
    uint32_t *by_first = NULL;
    struct sweep sweep = {.packing = packing};
    *packing = (struct packing){.arena = arena, .blocks = blocks, .n = (uint32_t)n};
    if (allocate(packing, &sweep, &by_first) < 0) return CM_NO_MEMORY;
    sweep.by_first = by_first;
    *ret_possible = sweep_pairs(&sweep, NULL);
    if (!*ret_possible) return CM_OK;
    return list_pairs(packing, &sweep) < 0 ? CM_NO_MEMORY : find_breadths(packing);
}

/* The placed ones around a block, by offset; those overlap each other where they do not live
 * together. */
static size_t gather(struct packing *packing, uint32_t block, const int64_t *offsets) {
    size_t n = 0;
    for (uint32_t i = packing->from[block]; i < packing->from[block + 1]; i++) {
        uint32_t other = packing->others[i];
        if (offsets[other] < 0) continue;
        packing->spans[n++] =
            (struct span){offsets[other], offsets[other] + packing->blocks[other].bytes};
    }
    packing->work += packing->from[block + 1] - packing->from[block] + 1;
    sort_spans(packing->spans, n);
    return n;
}

static int64_t choose_gap(const struct packing *packing, int64_t bytes, size_t n, enum fit fit,
                          bool from_above) {
    const struct span *spans = packing->spans;
    int64_t best = -1;
    int64_t best_gap = INT64_MAX;
    int64_t end = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t gap = spans[i].from - end;
        if (gap >= bytes && from_above) best = spans[i].from - bytes;
        if (gap >= bytes && !from_above && gap < best_gap) {
            best = end;
            best_gap = gap;
            if (fit != FIT_SMALLEST) return best;
        }
        if (spans[i].to > end) end = spans[i].to;
    }
    if (from_above && packing->bound - end >= bytes) return packing->bound - bytes;
    return best < 0 ? end : best;
}

int64_t packing_place(struct packing *packing, const uint32_t *order, enum fit fit,
                      int64_t limit, int64_t *offsets) {
    int64_t size = 0;
    for (uint32_t i = 0; i < packing->n; i++) offsets[i] = -1;
    for (uint32_t i = 0; i < packing->n; i++) {
        uint32_t block = order[i];
        int64_t bytes = packing->blocks[block].bytes;
        size_t n = gather(packing, block, offsets);
        offsets[block] = choose_gap(packing, bytes, n, fit, fit == FIT_ENDS && i % 2 == 1);
        if (offsets[block] + bytes > size) size = offsets[block] + bytes;
        if (size > limit) return limit + 1;
    }
    return size;
}
