/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Best fit by time without pairs, for models of which too much is alive at once to compare it
 * all: blocks are taken and given back as from a heap, in one sweep over the steps. The heap is
 * a list of chunks by address, used and free ones; no two free ones are neighbours.
 */
#include "passes/memory/arena_planner_fit.h"

#include "support/arena.h"

#include "support/banned.h"

#define NONE       UINT32_MAX
#define MAX_LOOKED 1024 /* free chunks that one block is tried in */

struct chunk {
    int64_t from;
    int64_t bytes;
    uint32_t before, after;       /* neighbours by address */
    uint32_t previous, next_free; /* among the free ones; next_free also among the unused */
    bool is_free;
};

struct heap {
    struct chunk *chunks;
    uint32_t first_free;
    uint32_t unused; /* chunks that stand for nothing now */
    uint32_t last;   /* the highest, NONE in an empty heap */
    int64_t bytes;
};

static void free_list_add(struct heap *heap, uint32_t at) {
    struct chunk *chunk = &heap->chunks[at];
    chunk->is_free = true;
    chunk->previous = NONE;
    chunk->next_free = heap->first_free;
    if (heap->first_free != NONE) heap->chunks[heap->first_free].previous = at;
    heap->first_free = at;
}

static void free_list_remove(struct heap *heap, uint32_t at) {
    struct chunk *chunk = &heap->chunks[at];
    chunk->is_free = false;
    if (chunk->previous == NONE)
        heap->first_free = chunk->next_free;
    else
        heap->chunks[chunk->previous].next_free = chunk->next_free;
    if (chunk->next_free != NONE) heap->chunks[chunk->next_free].previous = chunk->previous;
}

/* A new chunk behind one, in front of what followed it. */
static uint32_t insert_after(struct heap *heap, uint32_t before, int64_t from, int64_t bytes) {
    uint32_t at = heap->unused;
    uint32_t after = before == NONE ? NONE : heap->chunks[before].after;
    heap->unused = heap->chunks[at].next_free;
    heap->chunks[at] = (struct chunk){
        .from = from, .bytes = bytes, .before = before, .after = after, .next_free = NONE};
    if (before != NONE) heap->chunks[before].after = at;
    if (after != NONE)
        heap->chunks[after].before = at;
    else
        heap->last = at;
    return at;
}

/* Gives the bytes of `at` to the free chunk in front of it. */
static void merge_into_before(struct heap *heap, uint32_t at) {
    struct chunk *chunk = &heap->chunks[at];
    heap->chunks[chunk->before].bytes += chunk->bytes;
    heap->chunks[chunk->before].after = chunk->after;
    if (chunk->after != NONE)
        heap->chunks[chunk->after].before = chunk->before;
    else
        heap->last = chunk->before;
    chunk->next_free = heap->unused;
    heap->unused = at;
}

static void give_back(struct heap *heap, uint32_t at) {
    uint32_t after = heap->chunks[at].after;
    uint32_t before = heap->chunks[at].before;
    free_list_add(heap, at);
    if (after != NONE && heap->chunks[after].is_free) {
        free_list_remove(heap, after);
        merge_into_before(heap, after);
    }
    if (before != NONE && heap->chunks[before].is_free) {
        free_list_remove(heap, at);
        merge_into_before(heap, at);
    }
}

static uint32_t best_free(const struct heap *heap, int64_t bytes) {
    uint32_t best = NONE;
    uint32_t at = heap->first_free;
    for (int n = 0; at != NONE && n < MAX_LOOKED; n++, at = heap->chunks[at].next_free)
        if (heap->chunks[at].bytes >= bytes &&
            (best == NONE || heap->chunks[at].bytes < heap->chunks[best].bytes))
            best = at;
    return best;
}

/* On top; a free chunk that is the highest grows into the block. */
static uint32_t take_on_top(struct heap *heap, int64_t bytes) {
    uint32_t last = heap->last;
    if (last == NONE || !heap->chunks[last].is_free) {
        uint32_t at = insert_after(heap, last, heap->bytes, bytes);
        heap->bytes += bytes;
        return at;
    }
    free_list_remove(heap, last);
    heap->bytes = heap->chunks[last].from + bytes;
    heap->chunks[last].bytes = bytes;
    return last;
}

static uint32_t take(struct heap *heap, int64_t bytes) {
    uint32_t at = best_free(heap, bytes);
    bool fits_last = heap->last != NONE && heap->chunks[heap->last].is_free &&
                     heap->chunks[heap->last].bytes >= bytes;
    if (at == NONE && fits_last) at = heap->last;
    if (at == NONE) return take_on_top(heap, bytes);
    int64_t rest = heap->chunks[at].bytes - bytes;
    free_list_remove(heap, at);
    heap->chunks[at].bytes = bytes;
    if (rest > 0)
        free_list_add(heap, insert_after(heap, at, heap->chunks[at].from + bytes, rest));
    return at;
}

/* Between two used chunks is one free one at most. */
static int heap_open(struct heap *heap, const struct packing *packing) {
    size_t n = 2 * (size_t)packing->n + 2;
    *heap = (struct heap){.first_free = NONE, .last = NONE};
    heap->chunks = arena_array(packing->arena, n, sizeof *heap->chunks);
    if (!heap->chunks) return CM_NO_MEMORY;
    for (size_t i = 0; i < n; i++)
        heap->chunks[i].next_free = i + 1 < n ? (uint32_t)(i + 1) : NONE;
    return CM_OK;
}

int arena_planner_by_heap(struct packing *packing, int64_t *offsets, int64_t *ret_bytes) {
    struct heap heap;
    int64_t live = 0;
    uint32_t done = 0;
    uint32_t *ended = arena_array(packing->arena, packing->n, sizeof *ended);
    uint32_t *chunks = arena_array(packing->arena, packing->n, sizeof *chunks);
    if (!ended || !chunks || heap_open(&heap, packing) < 0) return CM_NO_MEMORY;
    if (arena_planner_order_by_last(packing, ended) < 0) return CM_NO_MEMORY;
    for (uint32_t i = 0; i < packing->n; i++) {
        const uint32_t made = packing->by_first[i];
        const struct block *block = &packing->blocks[made];
        for (; packing->blocks[ended[done]].last < block->first; done++) {
            live -= packing->blocks[ended[done]].bytes;
            give_back(&heap, chunks[ended[done]]);
        }
        chunks[made] = take(&heap, block->bytes);
        offsets[made] = heap.chunks[chunks[made]].from;
        live += block->bytes;
        if (live > packing->bound) packing->bound = live;
    }
    *ret_bytes = heap.bytes;
    return CM_OK;
}
