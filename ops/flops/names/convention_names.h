/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The conventions by which FLOPs are counted, as people speak of them. A report that was read
 * back bears a convention's name alone, so that its meaning is known down here; what a
 * convention counts is the business of ops/flops/conventions.c.
 */
#ifndef OPS_FLOPS_NAMES_CONVENTION_NAMES_H
#define OPS_FLOPS_NAMES_CONVENTION_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "costmodel/costmodel.h"

/* In the order of a list for people, the default first; NULL past the last. */
const struct cm_convention *conventions_at(size_t index);
size_t conventions_count(void);
/* By name; NULL: there is none. */
const struct cm_convention *conventions_find(const char *name);
/* Whether its flops have no integers among them. One of a later program is taken for one that
 * looks at no types. */
bool conventions_tell_integers(const char *name);

#endif
