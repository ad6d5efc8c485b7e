/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pairs of blocks that are alive at one step, and the placing of blocks one after the other
 * beside those that they conflict with. The work is bounded by the pairs, not by the square of
 * the blocks.
 */
#include "passes/memory/arena_planner_fit.h"

#include <stdlib.h>

#include "support/arena.h"

#include "support/banned.h"

/* Each planner looks at every pair twice and sorts what it looks at: of so many, all of them
 * together take about a second. */
#define MAX_PAIRS ((size_t)1 << 21)

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

/*
 * Pairs of each block, in `from`. In the order of their first steps a block is alive together
 * with those right behind it, up to *ret_ends of its place there. False: they are too many.
 */
static bool count_pairs(struct packing *packing, uint32_t *ret_ends) {
    const struct block *blocks = packing->blocks;
    const uint32_t *by_first = packing->by_first;
    size_t n_pairs = 0;
    for (uint32_t i = 0; i < packing->n && n_pairs <= MAX_PAIRS; i++) {
        const uint32_t last = blocks[by_first[i]].last;
        uint32_t end = i + 1;
        for (; end < packing->n && blocks[by_first[end]].first <= last; end++)
            packing->from[by_first[end] + 1]++;
        packing->from[by_first[i] + 1] += end - i - 1;
        n_pairs += end - i - 1;
        ret_ends[i] = end;
    }
    return n_pairs <= MAX_PAIRS;
}

/* `fill` is where the next one of each list goes: those in front of a block come first. */
static void fill_pairs(struct packing *packing, const uint32_t *ends, uint32_t *fill) {
    const uint32_t *by_first = packing->by_first;
    for (uint32_t i = 0; i < packing->n; i++) {
        const uint32_t block = by_first[i];
        for (uint32_t k = i + 1; k < ends[i]; k++) {
            packing->others[fill[block]++] = by_first[k];
            packing->others[fill[by_first[k]]++] = block;
        }
    }
}

/* Bytes alive at the first step of each block. */
static int find_breadths(struct packing *packing, const uint32_t *ends) {
    const struct block *blocks = packing->blocks;
    const uint32_t *by_first = packing->by_first;
    int64_t *live = arena_array_raw(packing->arena, packing->n, sizeof *live);
    if (!live) return CM_NO_MEMORY;
    packing->breadths = live;
    for (uint32_t i = 0; i < packing->n; i++) live[i] = blocks[i].bytes;
    for (uint32_t i = 0; i < packing->n; i++) {
        const uint32_t block = by_first[i];
        for (uint32_t k = i + 1; k < ends[i]; k++) {
            const uint32_t behind = by_first[k];
            live[behind] += blocks[block].bytes;
            if (blocks[behind].first == blocks[block].first)
                live[block] += blocks[behind].bytes;
        }
    }
    for (uint32_t i = 0; i < packing->n; i++)
        if (live[i] > packing->bound) packing->bound = live[i];
    return CM_OK;
}

static int allocate(struct packing *packing) {
    uint32_t *by_first = arena_array_raw(packing->arena, packing->n, sizeof *by_first);
    packing->from = arena_array(packing->arena, (size_t)packing->n + 1, sizeof *packing->from);
    packing->spans = arena_array_raw(packing->arena, packing->n, sizeof *packing->spans);
    if (!by_first || !packing->from || !packing->spans) return CM_NO_MEMORY;
    packing->by_first = by_first;
    return arena_planner_order_by_first(packing, by_first);
}

/* From counts to where each list begins. */
static int list_pairs(struct packing *packing, const uint32_t *ends) {
    uint32_t *fill = arena_array_raw(packing->arena, packing->n, sizeof *fill);
    if (!fill) return CM_NO_MEMORY;
    for (uint32_t i = 0; i < packing->n; i++) {
        packing->from[i + 1] += packing->from[i];
        fill[i] = packing->from[i];
    }
    packing->others =
        arena_array_raw(packing->arena, packing->from[packing->n], sizeof *packing->others);
    if (!packing->others) return CM_NO_MEMORY;
    fill_pairs(packing, ends, fill);
    return CM_OK;
}

int arena_planner_open(struct packing *packing, struct arena *arena, const struct block *blocks,
                       size_t n, bool *ret_possible) {
    *packing = (struct packing){.arena = arena, .blocks = blocks, .n = (uint32_t)n};
    uint32_t *ends = arena_array_raw(arena, n, sizeof *ends);
    if (!ends || allocate(packing) < 0) return CM_NO_MEMORY;
    *ret_possible = count_pairs(packing, ends);
    if (!*ret_possible) return CM_OK;
    return list_pairs(packing, ends) < 0 ? CM_NO_MEMORY : find_breadths(packing, ends);
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

int64_t arena_planner_place(struct packing *packing, const uint32_t *order, enum fit fit,
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
