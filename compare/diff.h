/* SPDX-License-Identifier: Apache-2.0 */
/* Helper of a comparison. */
#ifndef COMPARE_DIFF_H
#define COMPARE_DIFF_H

#include <stdbool.h>

struct cm_change;

/* Returns true if both sides have the same value; unknown equals unknown. */
bool diff_is_unchanged(const struct cm_change *change);

#endif
