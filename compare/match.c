/* SPDX-License-Identifier: Apache-2.0 */
/* Matches the modules of two results in three steps:
 * 1. By path, from the root down: children of matched parents with equal name and class.
 *    Children with numeric names are aligned as sequences (align), because an insertion
 *    renumbers all that follow.
 * 2. By structure, largest first: unmatched modules with equal contents were renamed (same
 *    parent) or moved.
 * 3. By position: unmatched children of matched parents, by name with any class, then by class
 *    in order.
 */
#include "compare/match.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "costmodel/costmodel.h"
#include "report/table/columns.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/hash.h"
#include "support/sort.h"
#include "support/text.h"

/* Multimap from 64-bit keys to items in ascending order: a hash table with linear probing, at
 * most half full. Lookup skips taken items, each of them only once. Keys are hashes: callers
 * that need certainty compare the items. */
struct bins {
    size_t mask;
    uint64_t *keys; /* BINS_NO_KEY: free */
    size_t *heads;  /* first item of the key that is not known to be taken; CM_NO_INDEX: none */
    size_t *nexts;  /* by item: next item of its key; CM_NO_INDEX: last */
};

#define BINS_NO_KEY 0 /* key of an item that is not inserted; no hash has this value */

/* Returns a hash of the ordered pair (a, b), finalized as in MurmurHash3 (public domain). */
static uint64_t bins_mix(uint64_t a, uint64_t b) {
    uint64_t hash = (a ^ (b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2)));
    hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccdu;
    hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53u;
    hash ^= hash >> 33;
    return hash == BINS_NO_KEY ? 1 : hash;
}

static uint64_t bins_text(const char *text) {
    return bins_mix(hash_bytes(HASH_BYTES_BEGIN, text, strlen(text)), 0);
}

static size_t find_slot(const struct bins *bins, uint64_t key) {
    size_t slot = (size_t)key & bins->mask;
    while (bins->keys[slot] != BINS_NO_KEY && bins->keys[slot] != key)
        slot = (slot + 1) & bins->mask;
    return slot;
}

/* Inserts items 0 .. n - 1 by keys[item]. Returns false if out of memory. */
static bool bins_make(struct bins *bins, const uint64_t *keys, size_t n, struct arena *arena) {
    size_t capacity = 16;
    while (capacity / 2 < n) capacity *= 2;
    *bins = (struct bins){
        .mask = capacity - 1,
        .keys = arena_array(arena, capacity, sizeof(*bins->keys)),
        .heads = arena_array(arena, capacity, sizeof(*bins->heads)),
        .nexts = arena_array(arena, n, sizeof(*bins->nexts)),
    };
    if (!bins->keys || !bins->heads || !bins->nexts) return false;
    for (size_t i = n; i-- > 0;) { /* backwards, so that the first item becomes the head */
        if (keys[i] == BINS_NO_KEY) continue;
        const size_t slot = find_slot(bins, keys[i]);
        const bool is_new = bins->keys[slot] == BINS_NO_KEY;
        bins->nexts[i] = is_new ? CM_NO_INDEX : bins->heads[slot];
        bins->keys[slot] = keys[i];
        bins->heads[slot] = i;
    }
    return true;
}

/* Returns the first item of the key with taken[item] == CM_NO_INDEX; CM_NO_INDEX: none. */
static size_t bins_first(struct bins *bins, uint64_t key, const size_t *taken) {
    const size_t slot = find_slot(bins, key);
    if (key == BINS_NO_KEY || bins->keys[slot] == BINS_NO_KEY) return CM_NO_INDEX;
    size_t *head = &bins->heads[slot];
    while (*head != CM_NO_INDEX && taken[*head] != CM_NO_INDEX) *head = bins->nexts[*head];
    return *head;
}

/* align() pairs the items of two sequences without crossings, in O(n log n). The items are
 * children with numeric names, for example the layers of a Sequential. Each step aligns the
 * gaps between the pairs of the step before. STEP_EQUAL and STEP_KIND pair the common prefix
 * and suffix of a gap. In the rest, the k-th items with the same key on both sides are
 * candidate pairs; the largest set of candidate pairs without crossings is kept. */
struct align_item {
    uint64_t content; /* key: equal for identical items */
    uint64_t kind;    /* key: equal for items of the same kind */
    bool anchors;     /* false: STEP_EQUAL pairs it only in the common prefix or suffix */
    size_t module;
    size_t mate; /* index in the other sequence; CM_NO_INDEX: none */
};

struct align_items {
    struct align_item *items;
    size_t n;
};

/* STEP_EQUAL pairs items of equal content, STEP_KIND items of equal kind, STEP_POSITION all
 * items of a gap that has the same length on both sides. */
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

static void pair_items(const struct aligner *aligner, size_t before, size_t after) {
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
        pair_items(aligner, span->before++, span->after++);
    while (span->before < span->before_end && span->after < span->after_end &&
           have_equal_keys(aligner, span->before_end - 1, span->after_end - 1, step))
        pair_items(aligner, --span->before_end, --span->after_end);
}

/* Returns the key of an item for finding candidates; BINS_NO_KEY: it has none. */
static uint64_t candidate_key(const struct align_item *item, enum step step) {
    return step == STEP_EQUAL && !item->anchors ? BINS_NO_KEY : key_of(item, step);
}

/* Returns the candidate in `before` of each item of `after`; CM_NO_INDEX: none. The k-th
 * items with a key on both sides are candidates: keys A B A before and A A B after give
 * 0 2 1. NULL: out of memory. */
static size_t *find_candidates(const struct aligner *aligner, enum step step,
                               const struct span *span) {
    const size_t n_before = span->before_end - span->before;
    const size_t n_after = span->after_end - span->after;
    uint64_t *keys = arena_array(aligner->arena, n_before, sizeof(*keys));
    size_t *taken = arena_array(aligner->arena, n_before, sizeof(*taken));
    size_t *candidates = arena_array(aligner->arena, n_after, sizeof(*candidates));
    struct bins bins;
    if (!keys || !taken || !candidates) return NULL;
    for (size_t i = 0; i < n_before; i++) {
        keys[i] = candidate_key(&aligner->before[span->before + i], step);
        taken[i] = CM_NO_INDEX;
    }
    if (!bins_make(&bins, keys, n_before, aligner->arena)) return NULL;
    for (size_t i = 0; i < n_after; i++) {
        const struct align_item *item = &aligner->after[span->after + i];
        const size_t found = bins_first(&bins, candidate_key(item, step), taken);
        candidates[i] = found == CM_NO_INDEX ? found : span->before + found;
        if (found != CM_NO_INDEX) taken[found] = i;
    }
    return candidates;
}

/* Returns how many i in [0, n) have candidates[ends[i]] < value; these candidates ascend. */
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
 * others to CM_NO_INDEX. Returns false if out of memory. */
static bool keep_longest(const struct aligner *aligner, size_t *candidates, size_t n) {
    /* ends[k]: last item of the best run of k + 1; previous[i]: item before i in its run */
    size_t *ends = arena_array(aligner->arena, n, sizeof(*ends));
    size_t *previous = arena_array(aligner->arena, n, sizeof(*previous));
    size_t length = 0;
    if (!ends || !previous) return false;
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
    return true;
}

static void align_span(const struct aligner *aligner, enum step step, struct span span);

/* Pairs the remaining candidates and aligns the gaps around them by `step`. */
static void align_gaps(const struct aligner *aligner, enum step step, const struct span *span,
                       const size_t *candidates) {
    struct span gap = {span->before, span->before, span->after, span->after};
    for (size_t i = span->after; i < span->after_end; i++) {
        const size_t mate = candidates[i - span->after];
        if (mate == CM_NO_INDEX) continue;
        gap.before_end = mate;
        gap.after_end = i;
        align_span(aligner, step, gap);
        pair_items(aligner, mate, i);
        gap.before = mate + 1;
        gap.after = i + 1;
    }
    gap.before_end = span->before_end;
    gap.after_end = span->after_end;
    align_span(aligner, step, gap);
}

/* Aligns a span by `step`. The recursion depth is the number of steps. */
static void align_span(const struct aligner *aligner, enum step step, struct span span) {
    const struct arena_mark mark = arena_save(aligner->arena);
    if (step != STEP_POSITION) trim(aligner, step, &span);
    const size_t n_before = span.before_end - span.before;
    const size_t n_after = span.after_end - span.after;
    if (n_before == 0 || n_after == 0) return;
    if (step == STEP_POSITION) {
        for (size_t i = 0; n_before == n_after && i < n_after; i++)
            pair_items(aligner, span.before + i, span.after + i);
        return;
    }
    size_t *candidates = find_candidates(aligner, step, &span);
    if (candidates && keep_longest(aligner, candidates, n_after))
        align_gaps(aligner, (enum step)(step + 1), &span, candidates);
    arena_restore(aligner->arena, mark);
}

static void align(struct align_items before, struct align_items after, struct arena *arena) {
    const struct aligner aligner = {before.items, after.items, arena};
    const struct span all = {0, before.n, 0, after.n};
    for (size_t i = 0; i < before.n; i++) before.items[i].mate = CM_NO_INDEX;
    for (size_t i = 0; i < after.n; i++) after.items[i].mate = CM_NO_INDEX;
    align_span(&aligner, STEP_EQUAL, all);
}

/* Fingerprints of modules, independent of names. */
struct prints {
    uint64_t *content; /* by module: hash of class, arguments, costs and all modules inside */
    uint64_t *kind;    /* by module: hash of class; equal for all modules of unknown class */
    size_t *size;      /* by module: number of modules inside, including itself */
};

/* Computes the fingerprints. Parents precede their children, so one backward pass suffices. */
static void make_prints(const struct cm_result *result, struct arena *arena,
                        struct prints *ret) {
    const size_t n = result->n_modules;
    *ret = (struct prints){
        .content = arena_array(arena, n, sizeof(*ret->content)),
        .kind = arena_array(arena, n, sizeof(*ret->kind)),
        .size = arena_array(arena, n, sizeof(*ret->size)),
    };
    if (!ret->content || !ret->kind || !ret->size) return;
    for (size_t i = n; i-- > 0;) {
        const struct cm_module *module = &result->modules[i];
        ret->kind[i] = bins_text(module->type_known ? module->type : "");
        uint64_t print = bins_mix(ret->kind[i], bins_text(module->arguments));
        for (size_t k = 0; k < n_columns; k++)
            if (!columns[k].timed)
                print = bins_mix(print, (uint64_t)column_get(&columns[k], &module->costs));
        ret->content[i] = bins_mix(print, module->n_children);
        ret->size[i] = 1;
        for (size_t k = 0; k < module->n_children; k++) {
            ret->content[i] = bins_mix(ret->content[i], ret->content[module->children[k]]);
            ret->size[i] += ret->size[module->children[k]];
        }
    }
}

/* Returns true if the module has params or MACs, which distinguish it within its class. */
static bool is_distinctive(const struct cm_module *module) {
    return (is_known(module->costs.params) && module->costs.params > 0) ||
           (is_known(module->costs.macs) && module->costs.macs > 0);
}

struct side {
    const struct cm_result *result;
    struct prints prints;
    size_t *mate;
};

struct matcher {
    struct arena *arena;
    struct side before;
    struct side after;
    struct bins names; /* modules of `before`, by parent and name */
    size_t *queue;     /* matched modules of `after` */
    size_t n_queue;
    size_t next; /* first of the queue whose children are not matched yet */
};

static const struct cm_module *module_at(const struct side *side, size_t index) {
    return &side->result->modules[index];
}

static void pair(struct matcher *matcher, size_t before, size_t after) {
    matcher->before.mate[before] = after;
    matcher->after.mate[after] = before;
    matcher->queue[matcher->n_queue++] = after;
}

/* Returns the unmatched child of `before_parent` with the name of `after`, or CM_NO_INDEX. */
static size_t find_named(struct matcher *matcher, size_t before_parent, size_t after) {
    const char *name = module_at(&matcher->after, after)->name;
    const uint64_t key = bins_mix(bins_text(name), before_parent);
    const size_t found = bins_first(&matcher->names, key, matcher->before.mate);
    if (found == CM_NO_INDEX) return CM_NO_INDEX;
    const struct cm_module *module = module_at(&matcher->before, found);
    const bool is_it = module->parent == before_parent && text_equal(module->name, name);
    return is_it ? found : CM_NO_INDEX;
}

/* Returns the unmatched children with numeric names as a sequence; empty if out of memory. */
static struct align_items collect_numbers(const struct matcher *matcher,
                                          const struct side *side, size_t parent) {
    const struct cm_module *module = module_at(side, parent);
    struct align_items found = {.n = 0};
    found.items = arena_array(matcher->arena, module->n_children, sizeof(*found.items));
    for (size_t i = 0; found.items && i < module->n_children; i++) {
        const size_t child = module->children[i];
        if (!text_is_digits(module_at(side, child)->name) || side->mate[child] != CM_NO_INDEX)
            continue;
        found.items[found.n++] = (struct align_item){
            .content = side->prints.content[child],
            .kind = side->prints.kind[child],
            .anchors = is_distinctive(module_at(side, child)),
            .module = child,
        };
    }
    return found;
}

static void match_numbers(struct matcher *matcher, size_t before, size_t after) {
    const struct arena_mark mark = arena_save(matcher->arena);
    const struct align_items olds = collect_numbers(matcher, &matcher->before, before);
    const struct align_items news = collect_numbers(matcher, &matcher->after, after);
    align(olds, news, matcher->arena);
    for (size_t i = 0; i < news.n; i++)
        if (news.items[i].mate != CM_NO_INDEX)
            pair(matcher, olds.items[news.items[i].mate].module, news.items[i].module);
    arena_restore(matcher->arena, mark);
}

/* Matches children of a pair by name and class; children with numeric names as sequences. */
static void match_children(struct matcher *matcher, size_t before, size_t after) {
    const struct cm_module *module = module_at(&matcher->after, after);
    bool has_numbers = false;
    for (size_t i = 0; i < module->n_children; i++) {
        const size_t child = module->children[i];
        if (matcher->after.mate[child] != CM_NO_INDEX) continue;
        if (text_is_digits(module_at(&matcher->after, child)->name)) {
            has_numbers = true;
            continue;
        }
        const size_t named = find_named(matcher, before, child);
        if (named != CM_NO_INDEX &&
            (matcher->before.prints.kind[named] == matcher->after.prints.kind[child]))
            pair(matcher, named, child);
    }
    if (has_numbers) match_numbers(matcher, before, after);
}

/* Matches the children of all queued pairs. */
static void descend(struct matcher *matcher) {
    while (matcher->next < matcher->n_queue) {
        const size_t after = matcher->queue[matcher->next++];
        match_children(matcher, matcher->after.mate[after], after);
    }
}

/* Requirement for two unmatched modules besides equal contents. */
enum likeness {
    LIKE_SIBLING, /* a child of the same parent */
    LIKE_NAMED,   /* of the same name, elsewhere */
    LIKE_CONTENT, /* nothing else */
    N_LIKENESSES
};

/* Returns the key of an unmatched module; BINS_NO_KEY: it cannot match. Modules without
 * params and MACs (a ReLU among many) match only as siblings. */
static uint64_t likeness_key(const struct matcher *matcher, const struct side *side,
                             size_t index, enum likeness likeness) {
    const struct cm_module *module = module_at(side, index);
    if (side->mate[index] != CM_NO_INDEX) return BINS_NO_KEY;
    const uint64_t content = side->prints.content[index];
    if (likeness == LIKE_SIBLING) {
        const bool is_after = side == &matcher->after;
        const size_t parent = is_after ? side->mate[module->parent] : module->parent;
        return parent == CM_NO_INDEX ? BINS_NO_KEY : bins_mix(content, parent);
    }
    if (!is_distinctive(module)) return BINS_NO_KEY;
    return likeness == LIKE_CONTENT ? content : bins_mix(content, bins_text(module->name));
}

struct sized {
    size_t size;
    size_t module;
};

static int compare_sized(const void *a, const void *b) {
    const struct sized *x = a;
    const struct sized *y = b;
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    return x->module < y->module ? -1 : x->module > y->module;
}

/* Pairs unmatched modules, largest first, so that parents precede children. */
static void match_structure(struct matcher *matcher, enum likeness likeness) {
    const struct side *before = &matcher->before;
    const struct side *after = &matcher->after;
    const struct arena_mark mark = arena_save(matcher->arena);
    const size_t n_before = before->result->n_modules;
    uint64_t *keys = arena_array(matcher->arena, n_before, sizeof(*keys));
    struct sized *items = arena_array(matcher->arena, after->result->n_modules, sizeof(*items));
    struct bins bins;
    size_t n = 0;
    if (!keys || !items) return;
    for (size_t i = 0; i < n_before; i++) keys[i] = likeness_key(matcher, before, i, likeness);
    for (size_t i = 0; i < after->result->n_modules; i++)
        if (after->mate[i] == CM_NO_INDEX)
            items[n++] = (struct sized){after->prints.size[i], i};
    if (n > 0) sort_stable(items, n, sizeof(*items), compare_sized);
    if (!bins_make(&bins, keys, n_before, matcher->arena)) return;
    for (size_t i = 0; i < n; i++) {
        const uint64_t key = likeness_key(matcher, after, items[i].module, likeness);
        const size_t found = bins_first(&bins, key, before->mate);
        if (found == CM_NO_INDEX) continue;
        pair(matcher, found, items[i].module);
        descend(matcher);
    }
    arena_restore(matcher->arena, mark);
}

/* Returns true if position may identify the module: class known, name not an index. */
static bool has_place(const struct cm_module *module) {
    return module->type_known && !text_is_digits(module->name);
}

/* Matches the remaining children of a pair: by name with any class, then by class in order. */
static void match_place(struct matcher *matcher, struct bins *places, size_t before,
                        size_t after) {
    const struct cm_module *module = module_at(&matcher->after, after);
    for (size_t i = 0; i < module->n_children; i++) {
        const size_t child = module->children[i];
        if (matcher->after.mate[child] != CM_NO_INDEX) continue;
        const size_t named = find_named(matcher, before, child);
        if (named != CM_NO_INDEX && !text_is_digits(module_at(&matcher->after, child)->name))
            pair(matcher, named, child);
    }
    for (size_t i = 0; i < module->n_children; i++) {
        const size_t child = module->children[i];
        if (matcher->after.mate[child] != CM_NO_INDEX ||
            !has_place(module_at(&matcher->after, child)))
            continue;
        const uint64_t key = bins_mix(matcher->after.prints.kind[child], before);
        const size_t found = bins_first(places, key, matcher->before.mate);
        if (found != CM_NO_INDEX) pair(matcher, found, child);
    }
}

/* Matches the remaining children of all pairs by position. */
static void match_places(struct matcher *matcher) {
    const struct side *before = &matcher->before;
    const size_t n = before->result->n_modules;
    uint64_t *keys = arena_array(matcher->arena, n, sizeof(*keys));
    struct bins places;
    if (!keys) return;
    for (size_t i = 1; i < n; i++)
        if (before->mate[i] == CM_NO_INDEX && has_place(module_at(before, i)))
            keys[i] = bins_mix(before->prints.kind[i], module_at(before, i)->parent);
    if (!bins_make(&places, keys, n, matcher->arena)) return;
    for (size_t i = 0; i < matcher->after.result->n_modules; i++) {
        if (matcher->after.mate[i] == CM_NO_INDEX) continue;
        match_place(matcher, &places, matcher->after.mate[i], i);
        descend(matcher);
    }
}

static void make_side(struct side *side, const struct cm_result *result, size_t *mate,
                      struct arena *arena) {
    *side = (struct side){.result = result, .mate = mate};
    for (size_t i = 0; i < result->n_modules; i++) mate[i] = CM_NO_INDEX;
    make_prints(result, arena, &side->prints);
}

static void match_with(struct matcher *matcher, const struct cm_result *old_result,
                       const struct cm_result *new_result, const struct match *match) {
    struct arena *arena = matcher->arena;
    make_side(&matcher->before, old_result, match->new_of, arena);
    make_side(&matcher->after, new_result, match->old_of, arena);
    uint64_t *keys = arena_array(arena, old_result->n_modules, sizeof(*keys));
    matcher->queue = arena_array(arena, new_result->n_modules, sizeof(*matcher->queue));
    if (arena_failed(arena)) return;
    for (size_t i = 1; i < old_result->n_modules; i++)
        keys[i] =
            bins_mix(bins_text(old_result->modules[i].name), old_result->modules[i].parent);
    if (!bins_make(&matcher->names, keys, old_result->n_modules, arena)) return;
    pair(matcher, 0, 0);
    descend(matcher);
    for (int i = 0; i < N_LIKENESSES; i++) match_structure(matcher, (enum likeness)i);
    match_places(matcher);
}

void match_modules(const struct cm_result *old_result, const struct cm_result *new_result,
                   struct arena *arena, struct match *ret) {
    struct matcher matcher = {.arena = arena_new("match", 0)};
    ret->new_of = arena_array(arena, old_result->n_modules, sizeof(*ret->new_of));
    ret->old_of = arena_array(arena, new_result->n_modules, sizeof(*ret->old_of));
    if (ret->new_of && ret->old_of && matcher.arena)
        match_with(&matcher, old_result, new_result, ret);
    if (!matcher.arena || arena_end(matcher.arena, CM_OK) != CM_OK) arena_set_failed(arena);
}
