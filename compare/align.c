/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs equal items, then items of equal kind in the gaps between these pairs, then the items
 * of gaps that have the same length on both sides. The first two steps pair the common prefix
 * and suffix first. In the rest, the k-th items with the same key on both sides are candidate
 * pairs; the largest set of candidate pairs without crossings is kept.
 */
#include "compare/align.h"

#include <stdlib.h>

#include "costmodel/costmodel.h"
#include "support/arena.h"

#include "support/banned.h"

/* The steps of an alignment: each pairs items by another key. */
enum step { STEP_EQUAL, STEP_KIND, STEP_POSITION };

/* A part of both sequences. */
struct span {
    size_t before, before_end;
    size_t after, after_end;
};

struct aligner {
    struct align_item *before;
    struct align_item *after;
    struct arena *arena;
};

static void pair(const struct aligner *aligner, size_t before, size_t after) {
    aligner->before[before].mate = after;
    aligner->after[after].mate = before;
}

static uint64_t key_of(const struct align_item *item, enum step step) {
    return step == STEP_KIND ? item->kind : item->content;
}

static bool have_equal_keys(const struct aligner *aligner, size_t before, size_t after,
                            enum step step) {
    return key_of(&aligner->before[before], step) == key_of(&aligner->after[after], step);
}

/* Pairs the common prefix and suffix; the span shrinks to the rest. */
static void trim(const struct aligner *aligner, enum step step, struct span *span) {
    while (span->before < span->before_end && span->after < span->after_end &&
           have_equal_keys(aligner, span->before, span->after, step))
        pair(aligner, span->before++, span->after++);
    while (span->before < span->before_end && span->after < span->after_end &&
           have_equal_keys(aligner, span->before_end - 1, span->after_end - 1, step))
        pair(aligner, --span->before_end, --span->after_end);
}

/* An item and its key. */
struct keyed {
    uint64_t key;
    size_t at;
};

static int compare_keyed(const void *a, const void *b) {
    const struct keyed *x = a;
    const struct keyed *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static size_t collect(const struct align_item *items, size_t from, size_t to, enum step step,
                      struct keyed *ret) {
    size_t n = 0;
    for (size_t i = from; i < to; i++)
        if (step != STEP_EQUAL || items[i].anchors)
            ret[n++] = (struct keyed){key_of(&items[i], step), i};
    if (n > 0) qsort(ret, n, sizeof(*ret), compare_keyed);
    return n;
}

/* The candidate of the k-th item of `after` with a key is the k-th item of `before` with this
 * key; CM_NO_INDEX: none. Keys A B A before and A A B after give the candidates 0 2 1. */
static int find_candidates(const struct aligner *aligner, enum step step,
                           const struct span *span, size_t *candidates) {
    const size_t n_before = span->before_end - span->before;
    const size_t n_after = span->after_end - span->after;
    struct keyed *before = arena_array(aligner->arena, n_before, sizeof(*before));
    struct keyed *after = arena_array(aligner->arena, n_after, sizeof(*after));
    if (!before || !after) return CM_NO_MEMORY;
    const size_t n = collect(aligner->before, span->before, span->before_end, step, before);
    const size_t m = collect(aligner->after, span->after, span->after_end, step, after);
    for (size_t i = 0; i < n_after; i++) candidates[i] = CM_NO_INDEX;
    for (size_t i = 0, k = 0; i < n && k < m;) {
        if (before[i].key == after[k].key)
            candidates[after[k++].at - span->after] = before[i++].at;
        else if (before[i].key < after[k].key)
            i++;
        else
            k++;
    }
    return CM_OK;
}

/* Returns how many of the items ends[0 .. n) have a candidate below `value`. Their candidates
 * ascend (binary search). */
static size_t count_below(const size_t *candidates, const size_t *ends, size_t n,
                          size_t value) {
    size_t low = 0;
    while (low < n) {
        const size_t middle = low + (n - low) / 2;
        if (candidates[ends[middle]] < value)
            low = middle + 1;
        else
            n = middle;
    }
    return low;
}

/* Keeps the longest ascending subsequence of the candidates (patience sorting) and sets the
 * others to CM_NO_INDEX. */
static int keep_longest(const struct aligner *aligner, size_t *candidates, size_t n) {
    size_t *ends = arena_array(aligner->arena, n,
                               sizeof(*ends)); /* [k]: last item of the best run of k + 1 */
    size_t *previous = arena_array(aligner->arena, n, sizeof(*previous));
    size_t length = 0;
    if (!ends || !previous) return CM_NO_MEMORY;
    for (size_t i = 0; i < n; i++) {
        if (candidates[i] == CM_NO_INDEX) continue;
        const size_t place = count_below(candidates, ends, length, candidates[i]);
        previous[i] = place > 0 ? ends[place - 1] : CM_NO_INDEX;
        ends[place] = i;
        if (place == length) length++;
    }
    size_t chosen = length > 0 ? ends[length - 1] : CM_NO_INDEX;
    for (size_t i = n; i-- > 0;) {
        if (i == chosen)
            chosen = previous[i];
        else
            candidates[i] = CM_NO_INDEX;
    }
    return CM_OK;
}

static int align_span(const struct aligner *aligner, enum step step, struct span span);

/* Pairs the remaining candidates and aligns the gaps around them by `step`. */
static int align_gaps(const struct aligner *aligner, enum step step, const struct span *span,
                      const size_t *candidates) {
    struct span gap = {span->before, span->before, span->after, span->after};
    for (size_t i = span->after; i < span->after_end; i++) {
        const size_t mate = candidates[i - span->after];
        if (mate == CM_NO_INDEX) continue;
        gap.before_end = mate;
        gap.after_end = i;
        const int status = align_span(aligner, step, gap);
        if (status != CM_OK) return status;
        pair(aligner, mate, i);
        gap.before = mate + 1;
        gap.after = i + 1;
    }
    gap.before_end = span->before_end;
    gap.after_end = span->after_end;
    return align_span(aligner, step, gap);
}

/* The recursion depth is the number of steps. */
static int align_span(const struct aligner *aligner, enum step step, struct span span) {
    const struct arena_mark mark = arena_save(aligner->arena);
    if (step != STEP_POSITION) trim(aligner, step, &span);
    const size_t n_before = span.before_end - span.before;
    const size_t n_after = span.after_end - span.after;
    if (n_before == 0 || n_after == 0) return CM_OK;
    if (step == STEP_POSITION) {
        for (size_t i = 0; n_before == n_after && i < n_after; i++)
            pair(aligner, span.before + i, span.after + i);
        return CM_OK;
    }
    size_t *candidates = arena_array(aligner->arena, n_after, sizeof(*candidates));
    if (!candidates) return CM_NO_MEMORY;
    int status = find_candidates(aligner, step, &span, candidates);
    if (status == CM_OK) status = keep_longest(aligner, candidates, n_after);
    if (status == CM_OK) status = align_gaps(aligner, (enum step)(step + 1), &span, candidates);
    arena_restore(aligner->arena, mark);
    return status;
}

int align(struct align_items before, struct align_items after, struct arena *arena) {
    const struct aligner aligner = {before.items, after.items, arena};
    const struct span all = {0, before.n, 0, after.n};
    for (size_t i = 0; i < before.n; i++) before.items[i].mate = CM_NO_INDEX;
    for (size_t i = 0; i < after.n; i++) after.items[i].mate = CM_NO_INDEX;
    return align_span(&aligner, STEP_EQUAL, all);
}
