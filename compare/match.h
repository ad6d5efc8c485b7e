/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the pairs of corresponding modules of two results. */
#pragma once

#include <stddef.h>

struct arena;
struct cm_result;

/* Pairs of corresponding modules; the roots are always a pair. */
struct match {
    size_t *new_of; /* by module of the old result: module of the new one; CM_NO_INDEX: none */
    size_t *old_of; /* by module of the new result: module of the old one; CM_NO_INDEX: none */
};

/* Sets *ret, in O(n log n) for n modules. If out of memory, `arena` has failed. */
void match_modules(const struct cm_result *old_result, const struct cm_result *new_result,
                   struct arena *arena, struct match *ret);
