/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hill climbing over the order in which blocks are placed, each at the lowest gap: every plan
 * that cannot be pressed down comes from some order, so the best one does. What sticks out is a
 * tower of blocks that stand on one another; changing the turn of one of the tower with that of
 * a block around it is what can lower it. The choices come from a fixed sequence: the same
 * model gives the same plan, always.
 */
#include "passes/memory/arena_planner_fit.h"

#include <string.h>

#include "support/arena.h"

#include "support/banned.h"

#define BUDGET    ((int64_t)12 << 20) /* conflicts looked at, about a quarter of a second */
#define MAX_TOWER 256                 /* blocks of it that are looked at */

struct search {
    struct packing *packing;
    uint32_t *order;
    uint32_t *turns;  /* by block: its place in the order */
    int64_t *offsets; /* of the last plan that was tried */
    uint32_t tower[MAX_TOWER];
    uint32_t n_tower;
    uint64_t sequence;
};

/* Knuth's MMIX generator from a fixed start: numbers below n, which is no secret. */
static uint32_t next_choice(struct search *search, uint32_t n) {
    search->sequence = search->sequence * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((search->sequence >> 33) % n);
}

static int64_t end_of(const struct search *search, uint32_t block) {
    return search->offsets[block] + search->packing->blocks[block].bytes;
}

/* The highest block, what it stands on, what that stands on, … */
static void build_tower(struct search *search) {
    const struct packing *packing = search->packing;
    uint32_t top = 0;
    for (uint32_t i = 1; i < packing->n; i++)
        if (end_of(search, i) > end_of(search, top)) top = i;
    search->tower[0] = top;
    search->n_tower = 1;
    for (uint32_t at = 0; at < search->n_tower; at++) {
        uint32_t block = search->tower[at];
        for (uint32_t i = packing->from[block]; i < packing->from[block + 1]; i++) {
            uint32_t other = packing->others[i];
            if (end_of(search, other) == search->offsets[block] && search->n_tower < MAX_TOWER)
                search->tower[search->n_tower++] = other;
        }
    }
}

static void swap_turns(struct search *search, uint32_t a, uint32_t b) {
    uint32_t turn = search->turns[a];
    search->turns[a] = search->turns[b];
    search->turns[b] = turn;
    search->order[search->turns[a]] = a;
    search->order[search->turns[b]] = b;
}

/* One of the tower and one around it, or another of the tower. */
static void choose_pair(struct search *search, uint32_t *ret_a, uint32_t *ret_b) {
    const struct packing *packing = search->packing;
    uint32_t a = search->tower[next_choice(search, search->n_tower)];
    uint32_t n = packing->from[a + 1] - packing->from[a];
    *ret_a = a;
    *ret_b = n == 0 ? a : packing->others[packing->from[a] + next_choice(search, n)];
}

static void keep(struct search *search, int64_t *offsets, int64_t *bytes, int64_t size) {
    *bytes = size;
    memcpy(offsets, search->offsets, search->packing->n * sizeof *offsets);
}

/* Climbs on plateaus as well: as good is good enough to go on from. */
static void climb(struct search *search, int64_t *offsets, int64_t *bytes) {
    struct packing *packing = search->packing;
    int64_t here =
        arena_planner_place(packing, search->order, FIT_LOWEST, INT64_MAX, search->offsets);
    if (here < *bytes) keep(search, offsets, bytes, here);
    build_tower(search);
    while (*bytes > packing->bound && packing->work < BUDGET) {
        uint32_t a, b;
        choose_pair(search, &a, &b);
        swap_turns(search, a, b);
        int64_t size =
            arena_planner_place(packing, search->order, FIT_LOWEST, here, search->offsets);
        if (size > here) {
            swap_turns(search, a, b);
            continue;
        }
        here = size;
        build_tower(search);
        if (size < *bytes) keep(search, offsets, bytes, size);
    }
}

int arena_planner_search(struct packing *packing, int64_t *offsets, int64_t *bytes) {
    struct search search = {.packing = packing};
    if (*bytes <= packing->bound) return CM_OK;
    search.order = arena_array(packing->arena, packing->n, sizeof *search.order);
    search.turns = arena_array(packing->arena, packing->n, sizeof *search.turns);
    search.offsets = arena_array(packing->arena, packing->n, sizeof *search.offsets);
    if (!search.order || !search.turns || !search.offsets) return CM_NO_MEMORY;
    if (arena_planner_order(packing, PACKING_SIZE, search.order) < 0) return CM_NO_MEMORY;
    for (uint32_t i = 0; i < packing->n; i++) search.turns[search.order[i]] = i;
    climb(&search, offsets, bytes);
    return CM_OK;
}
