/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tree of names that are written as paths: "layer1/layer1.0/conv1", "layer1.0.conv1". Each
 * prefix is an entry; entry 0 is the root, ""; parents come before children, and children of
 * one parent in the order in which they were first entered.
 */
#ifndef PASSES_PATHS_H
#define PASSES_PATHS_H

#include <stddef.h>
#include <stdint.h>

#include "costmodel/costmodel.h"
#include "support/map.h"

struct arena;

/* Deeper parts belong to their ancestor at this depth: no module is nested so deep, and walks
 * up the tree stay short whatever a file holds. */
#define PATHS_MAX_DEPTH 64

struct path {
    const char *text;
    const char *name; /* its last part */
    uint32_t parent;  /* ID_NONE for the root */
    int depth;
};

struct paths {
    struct arena *arena;
    char separator;
    struct path *items;
    size_t n;
    size_t capacity;
    struct map index;
    char *buffer;
    size_t buffer_size;
};

int paths_init(struct paths *paths, struct arena *arena, char separator) CM_MUST_CHECK;
/* The entry of text[0..length), added with its prefixes where it is new. Empty parts are left
 * out. CM_OK or CM_NO_MEMORY. */
int paths_enter(struct paths *paths, const char *text, size_t length,
                uint32_t *ret) CM_MUST_CHECK;
/* The same of a whole text that lives as long as the paths, which need no copy of it. */
int paths_enter_kept(struct paths *paths, const char *text, uint32_t *ret) CM_MUST_CHECK;
/* Room for so many more, so that tables which would grow by steps do not; only a hint. */
int paths_reserve(struct paths *paths, size_t n) CM_MUST_CHECK;
/* The entry of that text, or ID_NONE. */
uint32_t paths_find(const struct paths *paths, const char *text);
/* Nearest entry that is both, or above both. */
uint32_t paths_common(const struct paths *paths, uint32_t a, uint32_t b);

#endif
