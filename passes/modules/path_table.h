/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tree of names that are written as paths: "layer1/layer1.0/conv1", "layer1.0.conv1". Each
 * prefix is an entry; entry 0 is the root, ""; parents come before children, and children of
 * one parent in the order in which they were first entered.
 *
 * An entry is its parent and its own part of the text, which is borrowed: texts that are
 * entered must live as long as the paths. Whole texts are written only for whom asks
 * (paths_text).
 */
#ifndef PASSES_MODULES_PATH_TABLE_H
#define PASSES_MODULES_PATH_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "costmodel/costmodel.h"

struct arena;

/* Deeper parts belong to their ancestor at this depth: no module is nested so deep, and walks
 * up the tree stay short whatever a file holds. */
#define PATHS_MAX_DEPTH 64

struct path {
    const char *name; /* its own part: `length` bytes, and no '\0' behind them */
    uint32_t length;
    uint32_t hash;   /* of the name, by the seed of the tree */
    uint32_t parent; /* ID_NONE for the root */
    uint32_t depth;
    uint32_t first_child; /* ID_NONE: it has none, as in the next two */
    uint32_t last_child;
    uint32_t next; /* child of its parent */
};

/* Where the text that was entered last led, part by part: the next one mostly begins with all
 * of it, or with all but its end. */
struct paths_trail {
    const char *text;
    size_t depth;
    struct {
        size_t end; /* of the part in the text */
        uint32_t entry;
    } steps[PATHS_MAX_DEPTH + 1]; /* by depth; the root's is 0, 0 */
};

struct paths_slot {
    uint32_t hash;  /* of the name and the parent */
    uint32_t entry; /* 0: free */
};

struct paths {
    struct arena *arena;
    uint64_t seed; /* of the hashes */
    char separator;
    struct path *items;
    size_t n;
    size_t capacity;
    struct paths_slot *slots; /* a hash table of the later children in large families */
    size_t n_slots;           /* a power of two, or 0 */
    size_t n_slotted;
    struct paths_trail trail;
};

int paths_init(struct paths *paths, struct arena *arena, char separator) CM_MUST_CHECK;
/* Room for so many entries in all: a tree that grows by steps leaves its old tables behind. */
int paths_reserve(struct paths *paths, size_t n) CM_MUST_CHECK;
/* The entry of text[0..length), added with its prefixes where it is new. Empty parts are left
 * out. CM_OK or CM_NO_MEMORY. */
int paths_enter(struct paths *paths, const char *text, size_t length,
                uint32_t *ret) CM_MUST_CHECK;
/* The same with the parts below an entry. */
int paths_enter_below(struct paths *paths, uint32_t base, const char *text, size_t length,
                      uint32_t *ret) CM_MUST_CHECK;
/* The entry of the same parts as another tree's. */
int paths_enter_like(struct paths *paths, const struct paths *other, uint32_t entry,
                     uint32_t *ret) CM_MUST_CHECK;
/* Without adding: the entry, or ID_NONE. A base of ID_NONE has none below. */
uint32_t paths_find_below(const struct paths *paths, uint32_t base, const char *text,
                          size_t length);
uint32_t paths_find_like(const struct paths *paths, const struct paths *other, uint32_t entry);
/* The entry's whole text. NULL: no memory. */
const char *paths_text(const struct paths *paths, uint32_t entry, struct arena *arena);
/* Nearest entry that is both, or above both. */
uint32_t paths_common(const struct paths *paths, uint32_t a, uint32_t b);

#endif
