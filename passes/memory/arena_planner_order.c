/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The orders in which planners place blocks. One of several keys is made key by key, the least
 * of them first, by a sort that leaves equal ones as they stand.
 */
#include <string.h>

#include "passes/memory/arena_planner_fit.h"
#include "support/arena.h"

#include "support/banned.h"

#define DIGIT_BITS 8
#define N_DIGITS   (1U << DIGIT_BITS)

/* What blocks are sorted by, ascending. */
typedef int64_t arena_planner_key(const struct packing *packing, uint32_t block);

static int64_t first_step(const struct packing *packing, uint32_t block) {
    return packing->blocks[block].first;
}

static int64_t last_step(const struct packing *packing, uint32_t block) {
    return packing->blocks[block].last;
}

static int64_t largest_first(const struct packing *packing, uint32_t block) {
    return -packing->blocks[block].bytes;
}

/* By the most bytes alive together with a block, at any of its steps. */
static int64_t widest_first(const struct packing *packing, uint32_t block) {
    int64_t most = packing->breadths[block];
    for (uint32_t i = packing->from[block]; i < packing->from[block + 1]; i++) {
        uint32_t other = packing->others[i];
        if (packing->blocks[other].first < packing->blocks[block].first) continue;
        if (packing->breadths[other] > most) most = packing->breadths[other];
    }
    return -most;
}

/* Bits in which keys differ; 0 where they are in order already. */
static uint64_t unsorted_bits(const uint64_t *keys, const uint32_t *order, uint32_t n) {
    uint64_t bits = 0;
    bool sorted = true;
    for (uint32_t i = 1; i < n; i++) {
        bits |= keys[order[i - 1]] ^ keys[order[i]];
        sorted = sorted && keys[order[i - 1]] <= keys[order[i]];
    }
    return sorted ? 0 : bits;
}

static void sort_by_digit(const uint64_t *keys, int shift, uint32_t *order, uint32_t *spare,
                          uint32_t n) {
    uint32_t places[N_DIGITS] = {0};
    uint32_t before = 0;
    for (uint32_t i = 0; i < n; i++) places[keys[i] >> shift & (N_DIGITS - 1)]++;
    for (uint32_t digit = 0; digit < N_DIGITS; digit++) {
        const uint32_t n_same = places[digit];
        places[digit] = before;
        before += n_same;
    }
    for (uint32_t i = 0; i < n; i++)
        spare[places[keys[order[i]] >> shift & (N_DIGITS - 1)]++] = order[i];
    memcpy(order, spare, n * sizeof *order);
}

/* By radix, digits that are the same in all keys left out: sizes differ in few bits. */
static int sort_by(const struct packing *packing, arena_planner_key *key_of, uint32_t *order) {
    const uint32_t n = packing->n;
    struct arena_mark mark = arena_save(packing->arena);
    uint64_t *keys = arena_array_raw(packing->arena, n, sizeof *keys);
    uint32_t *spare = arena_array_raw(packing->arena, n, sizeof *spare);
    if (!keys || !spare) return CM_NO_MEMORY;
    for (uint32_t i = 0; i < n; i++)
        keys[i] = (uint64_t)key_of(packing, i) ^ UINT64_C(1) << 63; /* negative ones first */
    uint64_t bits = unsorted_bits(keys, order, n);
    for (int shift = 0; bits != 0; shift += DIGIT_BITS, bits >>= DIGIT_BITS)
        if (bits & (N_DIGITS - 1)) sort_by_digit(keys, shift, order, spare, n);
    arena_restore(packing->arena, mark);
    return CM_OK;
}

static int sort_all_by(const struct packing *packing, arena_planner_key *key_of,
                       uint32_t *ret_order) {
    for (uint32_t i = 0; i < packing->n; i++) ret_order[i] = i;
    return sort_by(packing, key_of, ret_order);
}

int arena_planner_order_by_first(const struct packing *packing, uint32_t *ret_order) {
    return sort_all_by(packing, first_step, ret_order);
}

int arena_planner_order_by_last(const struct packing *packing, uint32_t *ret_order) {
    return sort_all_by(packing, last_step, ret_order);
}

int arena_planner_order(const struct packing *packing, enum arena_planner planner,
                        uint32_t *ret_order) {
    int status = CM_OK;
    memcpy(ret_order, packing->by_first, packing->n * sizeof *ret_order);
    if (planner == PACKING_SIZE || planner == PACKING_BREADTH)
        status = sort_by(packing, largest_first, ret_order);
    if (planner == PACKING_BREADTH && status == CM_OK)
        status = sort_by(packing, widest_first, ret_order);
    return status;
}
