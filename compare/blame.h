/* SPDX-License-Identifier: Apache-2.0 */
/* Sums up blamed modules by their ancestors, so that few rows account for the whole change. */
#pragma once

#include <stddef.h>

#include "costmodel/compare.h"

struct arena;

/* Replaces the `n` blamed modules in `rows`, of a metric that is a sum, by at most `top`
 * ancestors, largest increase first: one row "layer3" if there is no room for its six blocks.
 * Decreases are dropped. `rows` has room for every module of the diff. Returns the number of
 * rows, which exceeds `top` only if more children of the root increased; 0 if out of memory
 * (sticky in the arena). */
size_t blame_roll_up(const struct cm_diff *diff, size_t n, size_t top, struct arena *arena,
                     struct cm_blame *rows);
