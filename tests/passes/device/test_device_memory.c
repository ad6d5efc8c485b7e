/* SPDX-License-Identifier: Apache-2.0 */
/* The allocator: by hand, and compared with a slow one that searches a list of all blocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "passes/device/caching_allocator.h"
#include "passes/device/device_memory.h"
#include "passes/device/workspace.h"
#include "support/arena.h"
#include "support/text.h"
#include "tests/passes/model_harness.h"

#define KIB (INT64_C(1) << 10)
#define MIB (INT64_C(1) << 20)

/* Takes blocks one after the other, or releases the block of an earlier row. */
struct action {
    int64_t bytes; /* to take; < 0: release the block of row -bytes - 1 */
    int64_t size;  /* of the block */
    int64_t reserved;
};

static void follows_the_rules_of_sizes(void **state) {
    static const struct action actions[] = {
        {1, 512, 2 * MIB},
        {513, 1024, 2 * MIB},
        {MIB, MIB, 2 * MIB},
        {MIB - KIB, MIB - KIB, 4 * MIB},      /* 1,022.5 KiB of the first segment are left */
        {MIB + 1, MIB + 512, 24 * MIB},       /* large blocks have segments of their own */
        {18 * MIB, 19 * MIB - 512, 24 * MIB}, /* the rest of it, less than 1 MiB more */
        {10 * MIB, 10 * MIB, 34 * MIB},       /* a segment of its size */
        {10 * MIB + 1, 10 * MIB + 512, 46 * MIB}, /* rounded up to 2 MiB, and split */
        {-7, 0, 46 * MIB},                        /* the 10 MiB are free now */
        {9 * MIB, 10 * MIB, 46 * MIB},            /* a rest of 1 MiB is not split off */
        {-5, 0, 46 * MIB},
        {-6, 0, 46 * MIB}, /* merges with the free blocks before and after it */
        {19 * MIB + 1, 20 * MIB, 46 * MIB},
        {-13, 0, 46 * MIB},
        {2 * MIB, 2 * MIB, 46 * MIB}, /* from 20 MiB: the smallest free block that holds it */
        {18 * MIB, 18 * MIB, 46 * MIB},
    };
    uint32_t blocks[sizeof actions / sizeof *actions];
    struct arena *arena = arena_new("test", 0);
    struct caching_allocator *allocator = caching_allocator_new(arena);
    (void)state;
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        if (actions[i].bytes < 0) {
            caching_allocator_release(allocator, blocks[-actions[i].bytes - 1]);
        } else {
            blocks[i] = caching_allocator_take(allocator, actions[i].bytes);
            if (caching_allocator_size(allocator, blocks[i]) != actions[i].size)
                fail_msg("row %zu: size %lld", i,
                         (long long)caching_allocator_size(allocator, blocks[i]));
        }
        if (caching_allocator_reserved(allocator) != actions[i].reserved)
            fail_msg("row %zu: %lld reserved", i,
                     (long long)caching_allocator_reserved(allocator));
    }
    arena_free(arena);
}

#define MAX_BLOCKS 4000

/* All blocks in the order of their addresses. */
struct list {
    size_t n;
    struct {
        int64_t bytes;
        size_t segment;
        int64_t taken; /* number of the request; 0: free */
    } blocks[MAX_BLOCKS];
    size_t n_segments;
    int64_t reserved;
};

static void insert_after(struct list *list, size_t at, int64_t bytes) {
    assert_true(list->n < MAX_BLOCKS);
    memmove(&list->blocks[at + 1], &list->blocks[at], (list->n - at) * sizeof *list->blocks);
    list->n++;
    list->blocks[at + 1].bytes = list->blocks[at].bytes - bytes;
    list->blocks[at + 1].taken = 0;
    list->blocks[at].bytes = bytes;
}

static int64_t list_take(struct list *list, int64_t bytes, int64_t number) {
    const int64_t size = (bytes + 511) / 512 * 512;
    const bool is_small = size <= MIB;
    size_t best = list->n;
    for (size_t i = 0; i < list->n; i++)
        if (list->blocks[i].taken == 0 && list->blocks[i].segment % 2 == is_small &&
            list->blocks[i].bytes >= size &&
            (best == list->n || list->blocks[i].bytes < list->blocks[best].bytes))
            best = i;
    if (best == list->n) {
        int64_t segment = 2 * MIB;
        if (!is_small) segment = 20 * MIB;
        if (size >= 10 * MIB) segment = (size + 2 * MIB - 1) / (2 * MIB) * 2 * MIB;
        list->blocks[list->n].bytes = segment;
        list->blocks[list->n++].segment = 2 * list->n_segments++ + is_small; /* parity: pool */
        list->reserved += segment;
    }
    const int64_t rest = list->blocks[best].bytes - size;
    if (is_small ? rest >= 512 : rest > MIB) insert_after(list, best, size);
    list->blocks[best].taken = number;
    return list->blocks[best].bytes;
}

static void list_release(struct list *list, int64_t number) {
    for (size_t i = 0; i < list->n; i++)
        if (list->blocks[i].taken == number) list->blocks[i].taken = 0;
    for (size_t i = 0; i + 1 < list->n;) {
        if (list->blocks[i].taken || list->blocks[i + 1].taken ||
            list->blocks[i].segment != list->blocks[i + 1].segment) {
            i++;
            continue;
        }
        list->blocks[i].bytes += list->blocks[i + 1].bytes;
        list->n--;
        memmove(&list->blocks[i + 1], &list->blocks[i + 2],
                (list->n - i - 1) * sizeof *list->blocks);
    }
}

static void agrees_with_a_list_of_blocks(void **state) {
    static const int64_t sizes[] = {700, 30000, MIB, 3 * MIB, 9 * MIB, 11 * MIB, 64 * MIB};
    static struct list list;
    uint32_t blocks[200];
    int64_t numbers[200];
    size_t n = 0;
    uint64_t seed = 1;
    struct arena *arena = arena_new("test", 0);
    struct caching_allocator *allocator = caching_allocator_new(arena);
    (void)state;
    for (int64_t number = 1; number <= 5000; number++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const uint32_t draw = (uint32_t)(seed >> 33);
        if (n == 200 || (n > 0 && draw % 2 == 0)) {
            const size_t i = draw / 2 % n;
            caching_allocator_release(allocator, blocks[i]);
            list_release(&list, numbers[i]);
            blocks[i] = blocks[--n];
            numbers[i] = numbers[n];
        } else {
            const int64_t bytes = sizes[draw / 2 % 7] - (int64_t)(draw / 14 % 600);
            blocks[n] = caching_allocator_take(allocator, bytes);
            assert_int_equal(caching_allocator_size(allocator, blocks[n]),
                             list_take(&list, bytes, number));
            numbers[n++] = number;
        }
        assert_int_equal(caching_allocator_reserved(allocator), list.reserved);
    }
    arena_free(arena);
}

/* Images of 2 x 4 x 8 x 8 and 2 x 4 x 8 x 8 floats: 4,096 bytes together. */
static void workspace_depends_on_the_window(void **state) {
    static const struct {
        const char *weight, *attributes;
        int64_t bytes;
    } rows[] = {
        {"4,4,1,1", "", 4096},
        {"4,4,3,3", " pads=[1,1,1,1]", 3 * 4096},
        {"4,1,3,3", " pads=[1,1,1,1] group=4", 4096},
        {"4,2,3,3", " pads=[1,1,1,1] group=2", 3 * 4096},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct cm_options options = {.optimizer = "adam"};
        char text[256];
        (void)snprintf(text, sizeof text,
                       "opset 13\nin x float[2,4,8,8]\ninit a.w float[%s]\n"
                       "node c Conv x a.w -> y%s\nnode r Relu y -> z\nout z\n",
                       rows[i].weight, rows[i].attributes);
        struct bench *bench = bench_open_with(text, &options);
        assert_int_equal(bench->status, CM_OK);
        assert_int_equal(workspace_of_node(&bench->analysis, 0), rows[i].bytes);
        assert_int_equal(workspace_of_node(&bench->analysis, 1), 0);
        bench_close(bench);
    }
}

static int64_t part_of(const struct cm_device_memory *memory, const char *name) {
    for (size_t i = 0; i < memory->n_parts; i++)
        if (text_equal(memory->parts[i].name, name)) return memory->parts[i].bytes;
    return 0;
}

/* Each tensor has 1,024 floats, a whole number of the allocator's 512 bytes. */
static void names_what_the_options_add(void **state) {
    static const char text[] = "opset 13\nin x float[32,32]\ninit a.w float[32,32]\n"
                               "init b.w float[32,32]\nnode a MatMul x a.w -> y\n"
                               "node b MatMul y b.w -> z\nout z\n";
    static const struct {
        struct cm_options options;
        const char *part;
        int64_t bytes;
    } rows[] = {
        {{.optimizer = "sgd"}, "weights", 2 * 4096},
        {{.optimizer = "sgd"}, "optimizer states", 0},
        {{.optimizer = "momentum"}, "optimizer states", 2 * 4096},
        {{.optimizer = "adam"}, "optimizer states", 4 * 4096},
        {{.optimizer = "adam"}, "gradients", 2 * 4096},
        {{.optimizer = "adam"}, "update", 2 * 4096},
        {{.optimizer = "adam-fused"}, "update", 0},
        {{.optimizer = "adam"}, "inputs and outputs", 2 * 4096},
        {{.optimizer = "sgd", .precision = CM_PRECISION_BF16}, "weights", 2 * 2048},
        {{.optimizer = "sgd", .zero_stage = 3, .shard_gpus = 2}, "weights", 4096},
        {{.optimizer = "sgd", .zero_stage = 3, .shard_gpus = 2}, "gathered weights", 2 * 4096},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench *bench = bench_open_with(text, &rows[i].options);
        assert_int_equal(bench->status, CM_OK);
        const struct cm_device_memory *memory = &bench->analysis.device_memory->estimate;
        assert_true(memory->present);
        if (part_of(memory, rows[i].part) != rows[i].bytes)
            fail_msg("row %zu: %lld bytes of %s", i, (long long)part_of(memory, rows[i].part),
                     rows[i].part);
        bench_close(bench);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_the_rules_of_sizes),
        cmocka_unit_test(agrees_with_a_list_of_blocks),
        cmocka_unit_test(workspace_depends_on_the_window),
        cmocka_unit_test(names_what_the_options_add),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
