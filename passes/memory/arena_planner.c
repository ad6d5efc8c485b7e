/* SPDX-License-Identifier: Apache-2.0 */
/* Two planners and a search: see arena_planner.h.
 *
 * PLANNER_TWO_ENDS sweeps over the steps with a list of free ranges and is nearly linear.
 * PLANNER_BY_SIZE places each block next to the placed blocks that it conflicts with, so it
 * lists all pairs of blocks that are alive together. If both need more than the bound, a search
 * places the blocks many times. */
#include "passes/memory/arena_planner.h"

#include <stdlib.h>
#include <string.h>

#include "passes/work.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/sort.h"

#define MAX_FREE      1024               /* free ranges that PLANNER_TWO_ENDS tracks */
#define MAX_PAIRS     ((size_t)1 << 21)  /* one placement of all blocks takes about 0.1 s */
#define SEARCH_BUDGET ((int64_t)5 << 24) /* entries visited, about 0.5 s */
#define MAX_TRIES     8192               /* times that the search places all blocks */
#define RESTART       256                /* tries after which it forgets what it learned */

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

/* Returns the highest end of a block. */
static int64_t arena_size(const struct planner *planner, const int64_t *offsets) {
    int64_t size = 0;
    for (uint32_t i = 0; i < planner->n; i++)
        if (offsets[i] + planner->blocks[i].bytes > size)
            size = offsets[i] + planner->blocks[i].bytes;
    return size;
}

/* Free ranges by address; the last one has no upper end. */
struct free_list {
    struct span spans[MAX_FREE + 2];
    uint32_t n;
};

/* Replaces free ranges. If the list is too long, drops the smallest range: unused bytes. */
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
    for (uint32_t i = 0, ended = 0; i < planner->n; i++) {
        const uint32_t id = planner->by_first[i];
        for (; blocks[by_last[ended]].last < blocks[id].first; ended++) {
            const uint32_t old = by_last[ended];
            free_list_give_back(&list,
                                (struct span){offsets[old], offsets[old] + blocks[old].bytes});
        }
        offsets[id] = free_list_allocate(&list, blocks[id].bytes, planner->bound, i % 2 == 1);
    }
    *ret_bytes = arena_size(planner, offsets);
    return CM_OK;
}

/* Lists the conflicts of each block. In the order of first steps, a block conflicts with the
 * blocks that follow it, up to the first one that begins after its last step. *ret_possible is
 * false if there are more than MAX_PAIRS. */
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
        sort_stable(spans, n, sizeof *spans, compare_spans);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        struct span span = spans[i];
        size_t at = i;
        for (; at > 0 && spans[at - 1].from > span.from; at--) spans[at] = spans[at - 1];
        spans[at] = span;
    }
}

/* Returns the offset of the smallest gap that holds the block, between the placed blocks that
 * it conflicts with. If there is none, the offset above all of these blocks. */
static int64_t find_gap(const struct planner *planner, uint32_t block, const int64_t *offsets) {
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
    sort_spans(spans, n);
    for (size_t i = 0; i < n; i++) {
        const int64_t gap = spans[i].from - end;
        if (gap >= bytes && gap < best_gap) {
            best = end;
            best_gap = gap;
        }
        if (spans[i].to > end) end = spans[i].to;
    }
    return best < 0 ? end : best;
}

/* Places the blocks in that order. Returns the size of the arena. */
static int64_t place(const struct planner *planner, const uint32_t *order, int64_t *offsets) {
    for (uint32_t i = 0; i < planner->n; i++) offsets[i] = -1;
    for (uint32_t i = 0; i < planner->n; i++)
        offsets[order[i]] = find_gap(planner, order[i], offsets);
    return arena_size(planner, offsets);
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

/* Search for a layout of at most `aim` bytes, a little less than the best so far. A try places
 * the blocks from the bottom up, each at the lowest offset that the blocks below leave it; some
 * sequence of this kind gives the smallest arena (Moffitt, "MiniMalloc", 2023). A block is
 * taken back if what is left of some section then no longer fits. If that happens to all blocks
 * that could go next, the blocks left in the full section get earlier turns in the next try.
 *
 * A section is a range of steps in which only the first step begins blocks. */
struct change {
    int64_t *where;
    int64_t before;
};

/* A block to place, and its low and turn when it was entered; its low can only rise. */
struct entry {
    int64_t low;
    int64_t turn;
    uint32_t block;
};

struct search {
    const struct planner *planner;
    const struct block *blocks; /* `first` and `last` are sections */
    uint32_t n_sections;
    /* Blocks in section s: alive[from[s]] to alive[from[s + 1] - 1]. */
    uint32_t *from;
    uint32_t *alive;
    uint32_t *n_alive; /* by section: blocks of `alive` up to the last that is not yet placed */
    int64_t *rest;     /* by section: bytes not yet placed */
    int64_t *floors;   /* by section: lowest offset for them */
    uint32_t *lowest;  /* by section: a block that had this offset */
    int64_t *offsets;  /* by block; -1: not yet placed */
    int64_t *lows;  /* by block: lowest offset above the placed blocks that it conflicts with */
    int64_t *turns; /* by block: of two with the same `lows`, the one with less goes first */
    struct entry *left; /* heap: the next block first */
    uint32_t n_left;
    uint32_t *tried;        /* blocks that do not fit next */
    struct change *changes; /* by the block placed last */
    size_t n_changes;
    uint32_t full; /* section that what is left did not fit into */
    int64_t aim;
    int64_t work;  /* entries of these lists visited so far */
    int64_t limit; /* of `work` */
    uint64_t sequence;
};

/* Returns a number below n (Knuth's MMIX generator). */
static uint32_t next_choice(struct search *search, uint32_t n) {
    search->sequence = search->sequence * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((search->sequence >> 33) % n);
}

static int list_sections(struct search *search) {
    const struct planner *planner = search->planner;
    struct arena *arena = planner->arena;
    const uint32_t n = planner->n;
    struct block *blocks = arena_copy(arena, planner->blocks, n * sizeof *blocks);
    uint32_t *section_at = arena_array(arena, planner->n_steps, sizeof *section_at);
    if (!blocks || !section_at) return CM_NO_MEMORY;
    for (uint32_t i = 0; i < n; i++) section_at[blocks[i].first] = 1;
    section_at[0] = 0;
    for (uint32_t i = 1; i < planner->n_steps; i++) section_at[i] += section_at[i - 1];
    search->n_sections = section_at[planner->n_steps - 1] + 1;
    search->from = arena_array(arena, (size_t)search->n_sections + 1, sizeof *search->from);
    if (!search->from) return CM_NO_MEMORY;
    for (uint32_t i = 0; i < n; i++) {
        blocks[i].first = section_at[blocks[i].first];
        blocks[i].last = section_at[blocks[i].last];
        for (uint32_t s = blocks[i].first; s <= blocks[i].last; s++) search->from[s]++;
    }
    for (uint32_t s = 0; s < search->n_sections; s++) search->from[s + 1] += search->from[s];
    const uint32_t n_alive = search->from[search->n_sections];
    search->alive = arena_array_raw(arena, n_alive, sizeof *search->alive);
    if (!search->alive) return CM_NO_MEMORY;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t s = blocks[i].first; s <= blocks[i].last; s++)
            search->alive[--search->from[s]] = i;
    search->blocks = blocks;
    return CM_OK;
}

/* Returns the blocks by falling product of bytes and sections. NULL: out of memory. */
static const uint32_t *order_by_area(const struct search *search) {
    struct planner by_area = *search->planner;
    struct block *areas = arena_copy(by_area.arena, search->blocks, by_area.n * sizeof *areas);
    if (!areas) return NULL;
    for (uint32_t i = 0; i < by_area.n; i++)
        areas[i].bytes = checked_mul(areas[i].bytes, areas[i].last - areas[i].first + 1);
    by_area.blocks = areas;
    return order_by_size(&by_area);
}

static void change(struct search *search, int64_t *where, int64_t value) {
    search->changes[search->n_changes++] = (struct change){where, *where};
    *where = value;
}

/* Raises the floor of a section to the lowest offset that a block can have. Returns whether the
 * blocks that are left fit above it. */
static bool section_fits(struct search *search, uint32_t s, uint32_t trying) {
    uint32_t *lowest = &search->lowest[s];
    const int64_t floor = search->floors[s];
    if (search->rest[s] == 0) return true;
    int64_t low = search->offsets[*lowest] < 0 ? search->lows[*lowest] : INT64_MAX;
    uint32_t *alive = &search->alive[search->from[s]];
    for (uint32_t i = 0; i < search->n_alive[s] && low > floor; i++) {
        const uint32_t block = alive[i];
        search->work++;
        if (search->offsets[block] >= 0) { /* to the end, unless it may be taken back */
            if (block == trying) continue;
            alive[i--] = alive[--search->n_alive[s]];
            alive[search->n_alive[s]] = block;
            continue;
        }
        if (search->lows[block] >= low) continue;
        low = search->lows[block];
        *lowest = block;
    }
    if (low > floor) change(search, &search->floors[s], low);
    return low <= search->aim - search->rest[s];
}

/* Places a block. Takes it back and returns false if the rest does not fit above it. */
static bool try_block(struct search *search, uint32_t block) {
    const struct planner *planner = search->planner;
    const struct block *blocks = search->blocks;
    const int64_t end = search->lows[block] + blocks[block].bytes;
    uint32_t from = blocks[block].first, to = blocks[block].last;
    search->n_changes = 0;
    change(search, &search->offsets[block], search->lows[block]);
    for (uint32_t s = from; s <= to; s++) {
        change(search, &search->rest[s], search->rest[s] - blocks[block].bytes);
        change(search, &search->floors[s], end);
    }
    for (uint32_t i = planner->from[block]; i < planner->from[block + 1]; i++) {
        const uint32_t other = planner->others[i];
        if (search->offsets[other] >= 0 || search->lows[other] >= end) continue;
        change(search, &search->lows[other], end);
        if (blocks[other].first < from) from = blocks[other].first;
        if (blocks[other].last > to) to = blocks[other].last;
    }
    search->work += planner->from[block + 1] - planner->from[block] + to - from + 1;
    bool fits = section_fits(search, search->full, block);
    for (uint32_t s = from; s <= to && fits; s++) {
        fits = section_fits(search, s, block);
        if (!fits) search->full = s;
    }
    while (!fits && search->n_changes > 0) {
        const struct change *last = &search->changes[--search->n_changes];
        *last->where = last->before;
    }
    return fits;
}

static bool goes_before(const struct entry *a, const struct entry *b) {
    return a->low < b->low || (a->low == b->low && a->turn < b->turn);
}

static void push_left(struct search *search, uint32_t block) {
    struct entry *left = search->left;
    const struct entry entry = {search->lows[block], search->turns[block], block};
    uint32_t at = search->n_left++;
    for (; at > 0 && goes_before(&entry, &left[(at - 1) / 2]); at = (at - 1) / 2)
        left[at] = left[(at - 1) / 2];
    left[at] = entry;
    search->work++;
}

/* Removes the block that goes next. */
static uint32_t pop_left(struct search *search) {
    struct entry *left = search->left;
    for (;;) {
        const struct entry next = left[0], last = left[--search->n_left];
        uint32_t at = 0;
        for (uint32_t child = 1; child < search->n_left; child = 2 * at + 1) {
            if (child + 1 < search->n_left && goes_before(&left[child + 1], &left[child]))
                child++;
            if (!goes_before(&left[child], &last)) break;
            left[at] = left[child];
            at = child;
            search->work++;
        }
        left[at] = last;
        if (next.low == search->lows[next.block]) return next.block;
        push_left(search, next.block);
    }
}

/* Places one of the blocks that are left, below the end of each that was tried before: that one
 * would fit under it. Returns false if none fits. */
static bool place_next(struct search *search) {
    int64_t ceiling = INT64_MAX;
    uint32_t n_tried = 0;
    while (search->n_left > 0) {
        const uint32_t block = pop_left(search);
        if (search->lows[block] >= ceiling) return false;
        if (try_block(search, block)) {
            while (n_tried > 0) push_left(search, search->tried[--n_tried]);
            return true;
        }
        const int64_t end = search->lows[block] + search->blocks[block].bytes;
        if (end < ceiling) ceiling = end;
        search->tried[n_tried++] = block;
    }
    return false;
}

/* Places all blocks anew. Returns false if the aim or the budget does not allow it. If no block
 * fits, those that are left in the full section get earlier turns. */
static bool place_all(struct search *search) {
    const uint32_t n = search->planner->n;
    uint32_t n_placed = 0;
    search->n_left = 0;
    for (uint32_t i = 0; i < n; i++) {
        search->lows[i] = 0;
        search->offsets[i] = -1;
        push_left(search, i);
    }
    for (uint32_t s = 0; s < search->n_sections; s++) {
        search->floors[s] = search->rest[s] = 0;
        search->n_alive[s] = search->from[s + 1] - search->from[s];
        search->lowest[s] = search->alive[search->from[s]];
        for (uint32_t i = search->from[s]; i < search->from[s + 1]; i++)
            search->rest[s] += search->blocks[search->alive[i]].bytes;
    }
    while (n_placed < n && search->work < search->limit && place_next(search)) n_placed++;
    for (uint32_t i = search->from[search->full]; i < search->from[search->full + 1]; i++)
        if (search->offsets[search->alive[i]] < 0)
            search->turns[search->alive[i]] -= next_choice(search, n / 5 + 1);
    return n_placed == n;
}

/* Improves a layout of *bytes until it reaches the bound or the budget is spent. */
static int improve(const struct planner *planner, struct work *work, int64_t *offsets,
                   int64_t *bytes) {
    struct arena *arena = planner->arena;
    const uint32_t n = planner->n;
    struct search search = {.planner = planner};
    if (list_sections(&search) < 0) return CM_NO_MEMORY;
    const size_t n_sections = search.n_sections;
    search.rest = arena_array_raw(arena, n_sections, sizeof *search.rest);
    search.floors = arena_array_raw(arena, n_sections, sizeof *search.floors);
    search.n_alive = arena_array_raw(arena, n_sections, sizeof *search.n_alive);
    search.lowest = arena_array_raw(arena, n_sections, sizeof *search.lowest);
    search.offsets = arena_array_raw(arena, n, sizeof *search.offsets);
    search.lows = arena_array_raw(arena, n, sizeof *search.lows);
    search.turns = arena_array_raw(arena, n, sizeof *search.turns);
    search.tried = arena_array_raw(arena, n, sizeof *search.tried);
    search.left = arena_array_raw(arena, n, sizeof *search.left);
    search.changes = arena_array_raw(arena, 1 + n + 3 * n_sections, sizeof *search.changes);
    const uint32_t *by_area = order_by_area(&search);
    if (arena_failed(arena) || !by_area) return CM_NO_MEMORY;
    search.limit = work_share(work, WORK_ARENAS, SEARCH_BUDGET);
    for (int i = 0; i<MAX_TRIES && * bytes> planner->bound && search.work < search.limit; i++) {
        for (uint32_t turn = 0; turn < n && i % RESTART == 0; turn++)
            search.turns[by_area[turn]] = turn;
        search.aim = *bytes - (*bytes - planner->bound + 7) / 8;
        if (!place_all(&search)) continue;
        *bytes = arena_size(planner, search.offsets);
        memcpy(offsets, search.offsets, n * sizeof *offsets);
    }
    if (*bytes > planner->bound) work_search(work, WORK_ARENAS, search.work, SEARCH_BUDGET);
    return CM_OK;
}

int arena_layout(struct arena *arena, const struct block *blocks, size_t n, bool all,
                 struct work *work, struct arena_layout *ret) {
    struct planner planner = {.arena = arena, .blocks = blocks, .n = (uint32_t)n};
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
        const uint32_t *by_size = order_by_size(&planner);
        if (!by_size) return CM_NO_MEMORY;
        ret->bytes = place(&planner, by_size, ret->offsets);
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
    return improve(&planner, work, ret->offsets, &ret->bytes);
}
