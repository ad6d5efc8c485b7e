/* SPDX-License-Identifier: Apache-2.0 */
/* Names, units and descriptions of the FLOP counting conventions. Separate from
 * ops/flops/conventions.c, which does the counting, because a report read from JSON has only
 * the name of its convention. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "costmodel/costmodel.h"

/* Returns the convention at `index`, the default first; NULL past the last. */
const struct cm_convention *conventions_at(size_t index);
size_t conventions_count(void);
/* Returns the convention with this name; NULL if unknown. */
const struct cm_convention *conventions_find(const char *name);
/* Returns true if the FLOPs of the convention exclude integer operations; false for an unknown
 * name, for example from a file of a later version. */
bool conventions_separate_integers(const char *name);
