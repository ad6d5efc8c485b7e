/* SPDX-License-Identifier: Apache-2.0 */
/* Tests whether values and rows of a comparison changed. */
#pragma once

#include <stdbool.h>

#include "costmodel/compare.h"

/* Returns true if both sides have the same value and bounds; unknown equals unknown. */
bool diff_is_unchanged(const struct cm_change *change);

/* cm_diff_of_module or cm_diff_of_operator. */
typedef struct cm_change change_getter(const struct cm_diff *diff, size_t row, size_t metric);

/* Returns true if no metric of a row changed; times are ignored. */
bool diff_is_same(const struct cm_diff *diff, size_t row, change_getter *get);
