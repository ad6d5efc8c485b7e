/* SPDX-License-Identifier: Apache-2.0 */
/* A tree of names that are written as paths: "layer1/layer1.0/conv1", "layer1.0.conv1". Each
 * prefix is an entry; entry 0 is the root, ""; parents precede children, and children of one
 * parent are in order of first use.
 *
 * An entry stores its parent and its own part of the text. It points into the entered text,
 * which must live as long as the tree. paths_text makes the whole text. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "costmodel/costmodel.h"

struct arena;

/* Deeper parts are dropped: no real module is nested so deep, and walks up the tree
 * stay short for any file. */
#define PATHS_MAX_DEPTH 64

struct path {
    const char *name; /* own part of the text: `length` bytes, without '\0' */
    uint32_t length;
    uint32_t hash;   /* of the name, with the seed of the tree */
    uint32_t parent; /* ID_NONE for the root */
    uint32_t depth;
    uint32_t first_child; /* ID_NONE if none */
    uint32_t last_child;  /* ID_NONE if none */
    uint32_t next;        /* next sibling; ID_NONE if none */
};

/* Entries along the last entered text; the next text usually shares most of them. */
struct paths_trail {
    const char *text;
    size_t depth;
    size_t ends[PATHS_MAX_DEPTH]; /* by depth: index in the text after the part */
    uint32_t entries[PATHS_MAX_DEPTH];
};

struct paths_slot {
    uint32_t hash;  /* of the name and the parent */
    uint32_t entry; /* 0 if free */
};

struct paths {
    struct arena *arena;
    uint64_t seed; /* of the hashes */
    char separator;
    struct path *items;
    size_t n;
    size_t capacity;
    struct paths_slot *slots; /* hash table of all entries but the root */
    size_t n_slots;           /* a power of two */
    struct paths_trail trail;
};

/* If out of memory, functions that add entries return an ancestor; the arena has failed. */
int paths_init(struct paths *paths, struct arena *arena, char separator) CM_MUST_CHECK;
/* Allocates room for n entries at once, because growing leaves the old arrays in the arena. */
int paths_reserve(struct paths *paths, size_t n) CM_MUST_CHECK;
/* Finds or adds the entry of text[0..length) and its prefixes; skips empty parts. */
uint32_t paths_enter(struct paths *paths, const char *text, size_t length);
/* Finds or adds the entry of the text below entry `base`. */
uint32_t paths_enter_below(struct paths *paths, uint32_t base, const char *text, size_t length);
/* Finds or adds the parts of an entry of another tree in the same arena (same hash seed). */
uint32_t paths_enter_like(struct paths *paths, const struct paths *other, uint32_t entry);
/* Return the entry that paths_enter_below or paths_enter_like would return, without adding it;
 * ID_NONE if it does not exist or `base` is ID_NONE. */
uint32_t paths_find_below(const struct paths *paths, uint32_t base, const char *text,
                          size_t length);
uint32_t paths_find_like(const struct paths *paths, const struct paths *other, uint32_t entry);
/* Returns the entry's whole text. NULL: out of memory. */
const char *paths_text(const struct paths *paths, uint32_t entry, struct arena *arena);
/* Returns the nearest common ancestor. */
uint32_t paths_common(const struct paths *paths, uint32_t a, uint32_t b);
