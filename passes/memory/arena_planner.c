/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two planners and a local search: see arena_planner.h.
 *
 * PLANNER_TWO_ENDS sweeps over the steps with a list of free ranges and is nearly linear.
 * PLANNER_BY_SIZE places each block next to the placed blocks that it conflicts with, so it
 * lists all pairs of blocks that are alive together. The local search changes the order in
 * which blocks are placed.
 */
#include "passes/memory/arena_planner.h"

#include <stdlib.h>
#include <string.h>

#include "ir/shape.h"
#include "passes/work.h"
#include "support/arena.h"

#define MAX_FREE      1024                /* free ranges that PLANNER_TWO_ENDS tracks */
#define MAX_PAIRS     ((size_t)1 << 21)   /* one placement of all blocks takes about 0.1 s */
#define SEARCH_BUDGET ((int64_t)12 << 20) /* conflicts visited, about 0.25 s */
#define MAX_TOWER     256                 /* blocks of a tower that the search considers */

struct span {
    int64_t from;
    int64_t to;
};

struct planner {
    struct arena *arena;
    const struct block *blocks;
    uint32_t n;
    uint32_t n_steps;
    int64_t bound;      /* most bytes alive at one step */
    uint32_t *by_first; /* blocks by first step */
    /* Conflicts of block b: others[from[b]] to others[from[b + 1] - 1]. */
    uint32_t *from;
    uint32_t *others;
    struct span *spans; /* scratch: placed conflicts of one block */
    int64_t work;       /* conflicts visited so far */
};

const char *arena_planner_name(enum arena_planner planner) {
    return planner == PLANNER_BY_SIZE ? "greedy_by_size" : "two_ends";
}

/* Sets n_steps and bound: the most bytes alive at one step. */
static int find_bound(struct planner *planner) {
    int64_t live = 0;
    for (uint32_t i = 0; i < planner->n; i++)
        if (planner->blocks[i].last >= planner->n_steps)
            planner->n_steps = planner->blocks[i].last + 1;
    int64_t *change = arena_array(planner->arena, (size_t)planner->n_steps + 1, sizeof *change);
    if (!change) return CM_NO_MEMORY;
    for (uint32_t i = 0; i < planner->n; i++) {
        change[planner->blocks[i].first] += planner->blocks[i].bytes;
        change[planner->blocks[i].last + 1] -= planner->blocks[i].bytes;
    }
    for (uint32_t step = 0; step < planner->n_steps; step++) {
        live += change[step];
        if (live > planner->bound) planner->bound = live;
    }
    return CM_OK;
}

/* Returns the blocks sorted by first step or, if `by_last`, by last step; equal ones by index
 * (counting sort). NULL: out of memory. */
static uint32_t *order_by_step(const struct planner *planner, bool by_last) {
    const struct block *blocks = planner->blocks;
    uint32_t *order = arena_array_raw(planner->arena, planner->n, sizeof *order);
    uint32_t *begin = arena_array(planner->arena, (size_t)planner->n_steps + 1, sizeof *begin);
    if (!order || !begin) return NULL;
    for (uint32_t i = 0; i < planner->n; i++)
        begin[(by_last ? blocks[i].last : blocks[i].first) + 1]++;
    for (uint32_t step = 0; step < planner->n_steps; step++) begin[step + 1] += begin[step];
    for (uint32_t i = 0; i < planner->n; i++)
        order[begin[by_last ? blocks[i].last : blocks[i].first]++] = i;
    return order;
}

/* Free ranges by address; the last one has no upper end. */
struct free_list {
    struct span spans[MAX_FREE + 2];
    uint32_t n;
};

/* Replaces free ranges. If the list is then too long, drops the smallest range, whose bytes
 * stay unused. */
static void free_list_replace(struct free_list *list, uint32_t at, uint32_t n_old,
                              const struct span *spans, uint32_t n_new) {
    struct span *all = list->spans;
    memmove(&all[at + n_new], &all[at + n_old], (list->n - at - n_old) * sizeof *all);
    for (uint32_t i = 0; i < n_new; i++) all[at + i] = spans[i];
    list->n += n_new - n_old;
    if (list->n <= MAX_FREE) return;
    uint32_t smallest = 0;
    for (uint32_t i = 1; i + 1 < list->n; i++)
        if (all[i].to - all[i].from < all[smallest].to - all[smallest].from) smallest = i;
    memmove(&all[smallest], &all[smallest + 1], (--list->n - smallest) * sizeof *all);
}

/* Takes `bytes` from a free range and returns their offset: if `from_above`, the highest at
 * which they end at or below `ceiling`; otherwise, or if there is none, the lowest. */
static int64_t free_list_allocate(struct free_list *list, int64_t bytes, int64_t ceiling,
                                  bool from_above) {
    uint32_t at = list->n;
    int64_t from = -1;
    while (from_above && at > 0 && from < 0) {
        const struct span *span = &list->spans[--at];
        const int64_t end = span->to < ceiling ? span->to : ceiling;
        if (end - span->from >= bytes) from = end - bytes;
    }
    if (from < 0) {
        for (at = 0; list->spans[at].to - list->spans[at].from < bytes;) at++;
        from = list->spans[at].from;
    }
    const struct span taken = list->spans[at];
    struct span rest[2];
    uint32_t n = 0;
    if (from > taken.from) rest[n++] = (struct span){taken.from, from};
    if (from + bytes < taken.to) rest[n++] = (struct span){from + bytes, taken.to};
    free_list_replace(list, at, 1, rest, n);
    return from;
}

static void free_list_give_back(struct free_list *list, struct span span) {
    uint32_t low = 0; /* index of the first free range above */
    for (uint32_t high = list->n; low < high;) {
        const uint32_t middle = low + (high - low) / 2;
        if (list->spans[middle].from < span.from)
            low = middle + 1;
        else
            high = middle;
    }
    uint32_t end = low; /* merge with the neighbours in low..end - 1 */
    if (list->spans[low].from == span.to) span.to = list->spans[end++].to;
    if (low > 0 && list->spans[low - 1].to == span.from) span.from = list->spans[--low].from;
    free_list_replace(list, low, end - low, &span, 1);
}

/* Places the blocks by first step, alternately at the lowest and the highest free offset.
 * *ret_bytes: size of the arena. */
static int place_at_two_ends(const struct planner *planner, int64_t *offsets,
                             int64_t *ret_bytes) {
    const struct block *blocks = planner->blocks;
    const uint32_t *by_last = order_by_step(planner, true);
    struct free_list list;
    if (!by_last) return CM_NO_MEMORY;
    list.spans[0] = (struct span){0, INT64_MAX};
    list.n = 1;
    *ret_bytes = 0;
    for (uint32_t i = 0, ended = 0; i < planner->n; i++) {
        const uint32_t id = planner->by_first[i];
        for (; blocks[by_last[ended]].last < blocks[id].first; ended++) {
            const uint32_t old = by_last[ended];
            free_list_give_back(&list,
                                (struct span){offsets[old], offsets[old] + blocks[old].bytes});
        }
        offsets[id] = free_list_allocate(&list, blocks[id].bytes, planner->bound, i % 2 == 1);
        const int64_t end = offsets[id] + blocks[id].bytes;
        if (end > *ret_bytes) *ret_bytes = end;
    }
    return CM_OK;
}

/*
 * Lists the conflicts of each block. In the order of first steps, a block conflicts with the
 * blocks that follow it, up to the first one that begins after its last step. *ret_possible is
 * false if there are more than MAX_PAIRS.
 */
static int list_pairs(struct planner *planner, bool *ret_possible) {
    const struct block *blocks = planner->blocks;
    const uint32_t *by_first = planner->by_first;
    const uint32_t n = planner->n;
    size_t n_pairs = 0;
    uint32_t *ends = arena_array_raw(planner->arena, n, sizeof *ends);
    uint32_t *fill = arena_array_raw(planner->arena, n, sizeof *fill);
    planner->from = arena_array(planner->arena, (size_t)n + 1, sizeof *planner->from);
    planner->spans = arena_array_raw(planner->arena, n, sizeof *planner->spans);
    *ret_possible = false;
    if (!ends || !fill || !planner->from || !planner->spans) return CM_NO_MEMORY;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t end = i + 1;
        for (; end < n && blocks[by_first[end]].first <= blocks[by_first[i]].last; end++)
            planner->from[by_first[end] + 1]++;
        planner->from[by_first[i] + 1] += end - i - 1;
        n_pairs += end - i - 1;
        if (n_pairs > MAX_PAIRS) return CM_OK;
        ends[i] = end;
    }
    for (uint32_t i = 0; i < n; i++) {
        planner->from[i + 1] += planner->from[i];
        fill[i] = planner->from[i];
    }
    planner->others = arena_array_raw(planner->arena, 2 * n_pairs, sizeof *planner->others);
    if (!planner->others) return CM_NO_MEMORY;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = i + 1; k < ends[i]; k++) {
            planner->others[fill[by_first[i]]++] = by_first[k];
            planner->others[fill[by_first[k]]++] = by_first[i];
        }
    }
    *ret_possible = true;
    return CM_OK;
}

static int compare_spans(const void *a, const void *b) {
    const struct span *left = a;
    const struct span *right = b;
    return left->from < right->from ? -1 : left->from > right->from;
}

/* Uses insertion sort for short lists; most lists are short. */
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

/* Returns the offset of a gap that holds the block, between the placed blocks that it conflicts
 * with: the smallest gap if `smallest`, else the lowest. If there is none, the offset above all
 * of these blocks. */
static int64_t find_gap(struct planner *planner, uint32_t block, bool smallest,
                        const int64_t *offsets) {
    struct span *spans = planner->spans;
    const int64_t bytes = planner->blocks[block].bytes;
    int64_t best = -1, best_gap = INT64_MAX, end = 0;
    size_t n = 0;
    for (uint32_t i = planner->from[block]; i < planner->from[block + 1]; i++) {
        const uint32_t other = planner->others[i];
        if (offsets[other] < 0) continue;
        spans[n++] =
            (struct span){offsets[other], offsets[other] + planner->blocks[other].bytes};
    }
    planner->work += planner->from[block + 1] - planner->from[block] + 1;
    sort_spans(spans, n);
    for (size_t i = 0; i < n; i++) {
        const int64_t gap = spans[i].from - end;
        if (gap >= bytes && gap < best_gap) {
            best = end;
            best_gap = gap;
            if (!smallest) return best;
        }
        if (spans[i].to > end) end = spans[i].to;
    }
    return best < 0 ? end : best;
}

/* Places the blocks in that order. Returns the size of the arena, or limit + 1 as soon as it
 * exceeds `limit`. */
static int64_t place(struct planner *planner, const uint32_t *order, bool smallest,
                     int64_t limit, int64_t *offsets) {
    int64_t size = 0;
    for (uint32_t i = 0; i < planner->n; i++) offsets[i] = -1;
    for (uint32_t i = 0; i < planner->n; i++) {
        const uint32_t block = order[i];
        offsets[block] = find_gap(planner, block, smallest, offsets);
        const int64_t end = offsets[block] + planner->blocks[block].bytes;
        if (end > size) size = end;
        if (size > limit) return limit + 1;
    }
    return size;
}

/* Returns the blocks, largest first, then by first step (radix sort; skips digits that all
 * sizes share). NULL: out of memory. */
static uint32_t *order_by_size(const struct planner *planner) {
    const struct block *blocks = planner->blocks;
    uint32_t *order = arena_array_raw(planner->arena, planner->n, sizeof *order);
    uint32_t *spare = arena_array_raw(planner->arena, planner->n, sizeof *spare);
    int64_t bits = 0;
    if (!order || !spare) return NULL;
    memcpy(order, planner->by_first, planner->n * sizeof *order);
    for (uint32_t i = 1; i < planner->n; i++) bits |= blocks[0].bytes ^ blocks[i].bytes;
    for (int shift = 0; shift < 64 && bits >> shift != 0; shift += 8) {
        uint32_t begin[257] = {0};
        if ((bits >> shift & 255) == 0) continue;
        for (uint32_t i = 0; i < planner->n; i++)
            begin[256 - (blocks[i].bytes >> shift & 255)]++;
        for (int i = 0; i < 256; i++) begin[i + 1] += begin[i];
        for (uint32_t i = 0; i < planner->n; i++)
            spare[begin[255 - (blocks[order[i]].bytes >> shift & 255)]++] = order[i];
        uint32_t *sorted = spare;
        spare = order;
        order = sorted;
    }
    return order;
}

/*
 * Local search over the order in which blocks are placed, each in the lowest gap; at least one
 * order gives the best layout. The highest block and the blocks it rests on form a tower; only
 * a change to the tower can lower the arena. Each move swaps the turns of a tower block and one
 * of its conflicts, and is undone if the arena grows. Moves come from a fixed pseudo-random
 * sequence, and the budget counts work, not time, so the result is deterministic.
 */
struct search {
    struct planner *planner;
    uint32_t *order;
    uint32_t *turns;  /* by block: index in `order` */
    int64_t *offsets; /* of the last layout tried */
    uint32_t tower[MAX_TOWER];
    uint32_t n_tower;
    uint64_t sequence;
};

/* Returns a number below n (Knuth's MMIX generator). */
static uint32_t next_choice(struct search *search, uint32_t n) {
    search->sequence = search->sequence * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((search->sequence >> 33) % n);
}

static int64_t end_of(const struct search *search, uint32_t block) {
    return search->offsets[block] + search->planner->blocks[block].bytes;
}

static void build_tower(struct search *search) {
    const struct planner *planner = search->planner;
    uint32_t top = 0;
    for (uint32_t i = 1; i < planner->n; i++)
        if (end_of(search, i) > end_of(search, top)) top = i;
    search->tower[0] = top;
    search->n_tower = 1;
    for (uint32_t at = 0; at < search->n_tower; at++) {
        const uint32_t block = search->tower[at];
        for (uint32_t i = planner->from[block]; i < planner->from[block + 1]; i++) {
            const uint32_t other = planner->others[i];
            if (end_of(search, other) == search->offsets[block] && search->n_tower < MAX_TOWER)
                search->tower[search->n_tower++] = other;
        }
    }
}

static void swap_turns(struct search *search, uint32_t a, uint32_t b) {
    const uint32_t turn = search->turns[a];
    search->turns[a] = search->turns[b];
    search->turns[b] = turn;
    search->order[search->turns[a]] = a;
    search->order[search->turns[b]] = b;
}

/* Improves a layout of *bytes until it reaches the bound or the budget is spent. Moves that
 * keep the size are accepted too. */
static int improve(struct planner *planner, struct work *work, uint32_t *order,
                   int64_t *offsets, int64_t *bytes) {
    const int64_t before = planner->work;
    const int64_t max_steps = SEARCH_BUDGET > before ? SEARCH_BUDGET - before : 0;
    const int64_t limit = before + work_share(work, WORK_ARENAS, max_steps);
    struct search search = {.planner = planner, .order = order};
    search.turns = arena_array_raw(planner->arena, planner->n, sizeof *search.turns);
    search.offsets = arena_array_raw(planner->arena, planner->n, sizeof *search.offsets);
    if (!search.turns || !search.offsets) return CM_NO_MEMORY;
    for (uint32_t i = 0; i < planner->n; i++) search.turns[order[i]] = i;
    uint32_t a = 0, b = 0;
    for (int64_t here = INT64_MAX;;) {
        const int64_t size = place(planner, order, false, here, search.offsets);
        if (size > here) {
            swap_turns(&search, a, b);
        } else {
            here = size;
            build_tower(&search);
        }
        if (size < *bytes) {
            *bytes = size;
            memcpy(offsets, search.offsets, planner->n * sizeof *offsets);
        }
        if (*bytes <= planner->bound || planner->work >= limit) break;
        a = search.tower[next_choice(&search, search.n_tower)];
        const uint32_t n = planner->from[a + 1] - planner->from[a];
        b = n == 0 ? a : planner->others[planner->from[a] + next_choice(&search, n)];
        swap_turns(&search, a, b);
    }
    if (*bytes > planner->bound)
        work_search(work, WORK_ARENAS, planner->work - before, max_steps);
    return CM_OK;
}

int arena_layout(struct arena *arena, const struct block *blocks, size_t n, bool all,
                 struct work *work, struct arena_layout *ret) {
    struct planner planner = {.arena = arena, .blocks = blocks, .n = (uint32_t)n};
    uint32_t *by_size = NULL;
    bool has_pairs = false;
    *ret = (struct arena_layout){.offsets = arena_array_raw(arena, n, sizeof *ret->offsets)};
    int64_t *offsets = arena_array_raw(arena, n, sizeof *offsets);
    if (!ret->offsets || !offsets) return CM_NO_MEMORY;
    if (n == 0) return CM_OK;
    if (find_bound(&planner) < 0) return CM_NO_MEMORY;
    planner.by_first = order_by_step(&planner, false);
    if (!planner.by_first || list_pairs(&planner, &has_pairs) < 0) return CM_NO_MEMORY;
    ret->bound = planner.bound;
    ret->bytes = INT64_MAX;
    ret->by[PLANNER_BY_SIZE] = ret->by[PLANNER_TWO_ENDS] = DIM_UNKNOWN;
    if (has_pairs) {
        by_size = order_by_size(&planner);
        if (!by_size) return CM_NO_MEMORY;
        ret->bytes = place(&planner, by_size, true, INT64_MAX, ret->offsets);
        ret->by[PLANNER_BY_SIZE] = ret->bytes;
        if (!all && ret->bytes <= ret->bound) return CM_OK;
    }
    if (place_at_two_ends(&planner, offsets, &ret->by[PLANNER_TWO_ENDS]) < 0)
        return CM_NO_MEMORY;
    if (ret->by[PLANNER_TWO_ENDS] < ret->bytes) {
        ret->bytes = ret->by[PLANNER_TWO_ENDS];
        memcpy(ret->offsets, offsets, n * sizeof *offsets);
    }
    if (!has_pairs || ret->bytes <= ret->bound) return CM_OK;
    return improve(&planner, work, by_size, ret->offsets, &ret->bytes);
}
