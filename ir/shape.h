/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes: a rank and its dims, each known or DIM_UNKNOWN (support/checked.h). Plain values;
 * `dims` belongs to an arena, and does not change once others know of it: shapes share it. */
#ifndef IR_SHAPE_H
#define IR_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/checked.h"

struct arena;
struct text;

#define RANK_UNKNOWN   (-1)
#define SHAPE_MAX_RANK 64 /* deeper is refused at import */

struct shape {
    int rank; /* RANK_UNKNOWN, else 0..SHAPE_MAX_RANK */
    int64_t *dims;
};

struct shape shape_unknown(void);
/* rank dims, copied (dims NULL: all DIM_UNKNOWN). CM_NO_MEMORY, or CM_REFUSED past
 * SHAPE_MAX_RANK (no message); *ret untouched then. */
int shape_make(struct arena *arena, int rank, const int64_t *dims, struct shape *ret)
    __attribute__((warn_unused_result));
static inline bool shape_has_rank(const struct shape *shape) {
    return shape->rank != RANK_UNKNOWN;
}
bool shape_is_known(const struct shape *shape);                 /* rank and every dim */
bool shape_equal(const struct shape *a, const struct shape *b); /* unknown equals unknown */
/* Product of dims [from, to): 1 of none; DIM_UNKNOWN, DIM_OVERFLOW. */
int64_t shape_product(const struct shape *shape, int from, int to);
/* Of all dims; DIM_UNKNOWN where not even the rank is known. */
static inline int64_t shape_elements(const struct shape *shape) {
    return shape_has_rank(shape) ? shape_product(shape, 0, shape->rank) : DIM_UNKNOWN;
}
/* "[1,3,?,224]", "[]", "[?...]" for an unknown rank. */
void shape_print(const struct shape *shape, struct text *out);

#endif
