/* SPDX-License-Identifier: Apache-2.0 */
/* Names of fused layers: the nodes that a layer's name consists of. */
#ifndef BACKENDS_TIMES_TIMES_NAMES_H
#define BACKENDS_TIMES_TIMES_NAMES_H

#include "backends/times/times.h"

/* A growing list of refs in an arena. Sticky: check `failed` once. */
struct times_refs {
    struct arena *arena;
    size_t n;
    size_t capacity;
    struct times_ref *items;
    bool failed;
};

/* Adds a copy of the first `length` bytes of the name. */
void times_refs_add(struct times_refs *refs, const char *name, size_t length,
                    enum times_role role);

/*
 * Adds the nodes that a layer of TensorRT names, and returns the role of a layer that names
 * none: conv1 + PWN(PWN(sigmoid1), mul1)                  runs conv1, sigmoid1, mul1
 *     Reformatting CopyNode for Input Tensor 0 to conv1 copies for conv1
 *     {ForeignNode[a...b]}                              contains a and b
 */
enum times_role times_names_split(const char *name, struct times_refs *refs);

/* Moves the refs into the layer. */
void times_refs_finish(const struct times_refs *refs, struct times_layer *ret);

#endif
