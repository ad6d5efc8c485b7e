/* SPDX-License-Identifier: Apache-2.0 */
/* Which module of one result is which of another. */
#ifndef COMPARE_MATCH_H
#define COMPARE_MATCH_H

#include <stddef.h>

struct arena;
struct cm_result;

/* Both by module of the one side, an index of the other side or CM_NO_INDEX; the roots match.
 */
struct match {
    size_t *new_of;
    size_t *old_of;
};

/* Takes n log n of the modules. CM_OK, CM_NO_MEMORY. */
int match_modules(const struct cm_result *old_result, const struct cm_result *new_result,
                  struct arena *arena, struct match *ret) __attribute__((warn_unused_result));

#endif
