/* SPDX-License-Identifier: Apache-2.0 */
/* Checks arena layouts against a slow reference: a map of every byte at every step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "passes/memory/arena_planner.h"
#include "support/arena.h"
#include "support/checked.h"

#define MAX_STEPS 24
#define MAX_BYTES 1024

static uint32_t draw(uint64_t *state, uint32_t n) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*state >> 33) % n);
}

/* Fails if two blocks own the same byte at the same step. */
static void expect_disjoint(const struct block *blocks, size_t n,
                            const struct arena_layout *plan) {
    char map[MAX_STEPS][MAX_BYTES] = {{0}};
    assert_true(plan->bytes <= MAX_BYTES);
    for (size_t i = 0; i < n; i++)
        for (uint32_t step = blocks[i].first; step <= blocks[i].last; step++)
            for (int64_t byte = 0; byte < blocks[i].bytes; byte++) {
                int64_t at = plan->offsets[i] + byte;
                assert_in_range(at, 0, plan->bytes - 1);
                assert_int_equal(map[step][at], 0);
                map[step][at] = 1;
            }
}

static int64_t most_at_one_step(const struct block *blocks, size_t n) {
    int64_t most = 0;
    for (uint32_t step = 0; step < MAX_STEPS; step++) {
        int64_t live = 0;
        for (size_t i = 0; i < n; i++)
            if (blocks[i].first <= step && step <= blocks[i].last) live += blocks[i].bytes;
        if (live > most) most = live;
    }
    return most;
}

static struct arena_layout plan_of(struct arena *arena, const struct block *blocks, size_t n) {
    struct arena_layout plan;
    assert_int_equal(arena_layout(arena, blocks, n, true, NULL, &plan), CM_OK);
    return plan;
}

static void blocks_alive_together_do_not_overlap(void **state) {
    (void)state;
    uint64_t seed = 1;
    for (int round = 0; round < 300; round++) {
        struct arena *arena = arena_new("test", 0);
        struct block blocks[20];
        size_t n = draw(&seed, 20);
        for (size_t i = 0; i < n; i++) {
            uint32_t first = draw(&seed, MAX_STEPS);
            uint32_t more = draw(&seed, MAX_STEPS - first);
            blocks[i] = (struct block){1 + draw(&seed, 40), first,
                                       first + (draw(&seed, 3) ? more / 4 : more)};
        }
        struct arena_layout plan = plan_of(arena, blocks, n);
        expect_disjoint(blocks, n, &plan);
        assert_int_equal(plan.bound, most_at_one_step(blocks, n));
        assert_true(plan.bytes >= plan.bound);
        for (int i = 0; n > 0 && i < N_ARENA_PLANNERS; i++)
            assert_true(plan.bytes <= plan.by[i]);
        arena_free(arena);
    }
}

static void layout_is_deterministic(void **state) {
    (void)state;
    struct arena *arena = arena_new("test", 0);
    struct block blocks[40];
    uint64_t seed = 7;
    for (uint32_t i = 0; i < 40; i++) {
        uint32_t first = draw(&seed, 20);
        blocks[i] = (struct block){1 + draw(&seed, 99), first, first + draw(&seed, 4)};
    }
    struct arena_layout a = plan_of(arena, blocks, 40);
    struct arena_layout b = plan_of(arena, blocks, 40);
    assert_int_equal(a.bytes, b.bytes);
    assert_memory_equal(a.offsets, b.offsets, sizeof(*a.offsets) * 40);
    arena_free(arena);
}

static void chain(struct block *blocks, uint32_t n) {
    uint64_t seed = 3;
    for (uint32_t i = 0; i < n; i++)
        blocks[i] = (struct block){1 + draw(&seed, 1000000), i, i + (i + 1 < n)};
}

static void arena_of_a_chain_equals_its_peak(void **state) {
    (void)state;
    static const uint32_t lengths[] = {1, 2, 3, 10, 1000, 100000};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct arena *arena = arena_new("test", 0);
        struct block *blocks = arena_array(arena, lengths[i], sizeof *blocks);
        chain(blocks, lengths[i]);
        struct arena_layout plan = plan_of(arena, blocks, lengths[i]);
        assert_int_equal(plan.bytes, plan.bound);
        arena_free(arena);
    }
}

/* Residual blocks: every fourth value stays alive past the next three. */
static void lays_out_a_hundred_thousand_blocks_with_shortcuts(void **state) {
    (void)state;
    const uint32_t n = 100000;
    struct arena *arena = arena_new("test", 0);
    struct block *blocks = arena_array(arena, n, sizeof *blocks);
    uint64_t seed = 5;
    for (uint32_t i = 0; i < n; i++)
        blocks[i] = (struct block){1 + draw(&seed, 1000), i, i + (i % 4 == 0 ? 4 : 1)};
    struct arena_layout plan = plan_of(arena, blocks, n);
    assert_true(plan.bytes < plan.bound + plan.bound / 2);
    arena_free(arena);
}

static void blocks_all_alive_together_are_stacked(void **state) {
    (void)state;
    struct arena *arena = arena_new("test", 0);
    struct block blocks[3] = {{5, 0, 9}, {1, 0, 9}, {7, 9, 9}};
    struct arena_layout plan = plan_of(arena, blocks, 3);
    assert_int_equal(plan.bytes, 13);
    expect_disjoint(blocks, 3, &plan);
    arena_free(arena);
}

/* Like expect_disjoint, for one step: the map of all steps would be too large. */
static void expect_disjoint_at(const struct block *blocks, size_t n, uint32_t step,
                               const struct arena_layout *plan) {
    char *map = calloc(1, (size_t)plan->bytes);
    assert_non_null(map);
    for (size_t i = 0; i < n; i++) {
        if (blocks[i].first > step || blocks[i].last < step) continue;
        for (int64_t byte = 0; byte < blocks[i].bytes; byte++) {
            int64_t at = plan->offsets[i] + byte;
            assert_in_range(at, 0, plan->bytes - 1);
            assert_int_equal(map[at], 0);
            map[at] = 1;
        }
    }
    free(map);
}

static void skips_the_planner_by_size_if_too_many_pairs_overlap(void **state) {
    (void)state;
    const uint32_t n = 20000;
    struct arena *arena = arena_new("test", 0);
    struct block *blocks = arena_array(arena, n, sizeof *blocks);
    uint64_t seed = 9;
    for (uint32_t i = 0; i < n; i++)
        blocks[i] = (struct block){1 + draw(&seed, 9), i, i + draw(&seed, 4000)};
    struct arena_layout plan = plan_of(arena, blocks, n);
    assert_int_equal(plan.by[PLANNER_BY_SIZE], DIM_UNKNOWN);
    assert_true(plan.bytes >= plan.bound && plan.bytes < plan.bound + plan.bound / 2);
    for (uint32_t step = 0; step < n; step += 500) expect_disjoint_at(blocks, n, step, &plan);
    arena_free(arena);
}

static int64_t area(const struct block *block) {
    return block->bytes * (block->last - block->first + 1);
}

/* Cuts a rectangle of 100 steps and 65536 bytes into n blocks: these bytes are enough. */
static void cut_rectangle(struct block *blocks, uint32_t n, uint64_t *seed) {
    blocks[0] = (struct block){65536, 0, 99};
    for (uint32_t i = 1; i < n;) {
        struct block *old = &blocks[draw(seed, i)], *other = &blocks[draw(seed, i)];
        if (area(other) > area(old)) old = other;
        blocks[i] = *old;
        if (draw(seed, 2) && old->bytes > 64) {
            blocks[i].bytes = 1 + draw(seed, (uint32_t)old->bytes - 1);
            old->bytes -= blocks[i++].bytes;
        } else if (old->last > old->first) {
            old->last = old->first + draw(seed, old->last - old->first);
            blocks[i++].first = old->last + 1;
        }
    }
}

static void arena_of_a_cut_rectangle_exceeds_it_by_at_most_a_twentieth(void **state) {
    (void)state;
    uint64_t seed = 1;
    for (int round = 0; round < 4; round++) {
        struct arena *arena = arena_new("test", 0);
        struct block blocks[160];
        cut_rectangle(blocks, 160, &seed);
        struct arena_layout plan = plan_of(arena, blocks, 160);
        assert_int_equal(plan.bound, 65536);
        for (int i = 0; i < N_ARENA_PLANNERS; i++) assert_true(plan.by[i] > 72089); /* 10 % */
        assert_true(plan.bytes <= 68812);                                           /* 5 % */
        for (uint32_t step = 0; step < 100; step += 9)
            expect_disjoint_at(blocks, 160, step, &plan);
        arena_free(arena);
    }
}

/* Too many blocks to place them often. */
static void search_improves_a_layout_of_twenty_thousand_blocks(void **state) {
    (void)state;
    const uint32_t n = 20000;
    struct arena *arena = arena_new("test", 0);
    struct block *blocks = arena_array(arena, n, sizeof *blocks);
    uint64_t seed = 9;
    for (uint32_t i = 0; i < n; i++)
        blocks[i] = (struct block){1 + draw(&seed, 10000), i, i + draw(&seed, 20)};
    struct arena_layout plan = plan_of(arena, blocks, n);
    for (int i = 0; i < N_ARENA_PLANNERS; i++) assert_true(plan.by[i] > plan.bound);
    assert_int_equal(plan.bytes, plan.bound);
    arena_free(arena);
}

static void many_blocks_all_alive_together_are_stacked(void **state) {
    (void)state;
    const uint32_t n = 10000;
    struct arena *arena = arena_new("test", 0);
    struct block *blocks = arena_array(arena, n, sizeof *blocks);
    for (uint32_t i = 0; i < n; i++) blocks[i] = (struct block){1, 0, 1};
    assert_int_equal(plan_of(arena, blocks, n).bytes, n);
    arena_free(arena);
}

static void arena_without_blocks_is_empty(void **state) {
    (void)state;
    struct arena *arena = arena_new("test", 0);
    assert_int_equal(plan_of(arena, NULL, 0).bytes, 0);
    arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_alive_together_do_not_overlap),
        cmocka_unit_test(layout_is_deterministic),
        cmocka_unit_test(arena_of_a_chain_equals_its_peak),
        cmocka_unit_test(lays_out_a_hundred_thousand_blocks_with_shortcuts),
        cmocka_unit_test(blocks_all_alive_together_are_stacked),
        cmocka_unit_test(skips_the_planner_by_size_if_too_many_pairs_overlap),
        cmocka_unit_test(arena_of_a_cut_rectangle_exceeds_it_by_at_most_a_twentieth),
        cmocka_unit_test(search_improves_a_layout_of_twenty_thousand_blocks),
        cmocka_unit_test(many_blocks_all_alive_together_are_stacked),
        cmocka_unit_test(arena_without_blocks_is_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
