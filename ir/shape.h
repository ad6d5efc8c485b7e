/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes: a rank and its dims, each known or DIM_UNKNOWN (support/checked.h). Passed by value;
 * `dims` lives in an arena and is shared by shapes, so it must not be modified later. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/checked.h"

struct arena;
struct text;

#define RANK_UNKNOWN   (-1)
#define SHAPE_MAX_RANK 64 /* higher ranks are refused at import */

struct shape {
    int rank; /* RANK_UNKNOWN, else 0..SHAPE_MAX_RANK */
    int64_t *dims;
};

struct shape shape_unknown(void);
/* Copies the dims (NULL: all DIM_UNKNOWN). Returns CM_OK, CM_NO_MEMORY, or CM_REFUSED if the
 * rank exceeds SHAPE_MAX_RANK; adds no message. */
int shape_make(struct arena *arena, int rank, const int64_t *dims, struct shape *ret)
    __attribute__((warn_unused_result));
static inline bool shape_has_rank(const struct shape *shape) {
    return shape->rank != RANK_UNKNOWN;
}
bool shape_is_known(const struct shape *shape); /* rank and all dims are known */
bool shape_equal(const struct shape *a, const struct shape *b); /* unknown equals unknown */
/* Returns dims[from] * ... * dims[to - 1], 1 if from == to; DIM_UNKNOWN or DIM_OVERFLOW. */
int64_t shape_product(const struct shape *shape, int from, int to);
/* Sets *ret to the axis, plus the rank if negative; returns false outside [-rank, rank). */
bool shape_axis(int64_t axis, int rank, int *ret);
/* Returns true if the shapes are equal without their axes of size 1: [1,8,4] and [8,1,4]. */
bool shape_equal_but_units(const struct shape *a, const struct shape *b);
/* Returns the product of all dims; DIM_UNKNOWN if the rank is unknown. */
static inline int64_t shape_elements(const struct shape *shape) {
    return shape_has_rank(shape) ? shape_product(shape, 0, shape->rank) : DIM_UNKNOWN;
}
/* Prints "224", "?" or ">= 2^63". Every message that prints a dim that may be unknown or too
 * large, or a count of elements, uses it. */
void shape_print_dim(int64_t dim, struct text *out);
/* Returns the same text; "?" if out of memory. */
const char *shape_dim_text(struct arena *arena, int64_t dim);
/* Prints "[1,3,?,224]" or "[]"; "[?...]" for an unknown rank. */
void shape_print(const struct shape *shape, struct text *out);
/* Returns the same text; "?" if out of memory. */
const char *shape_text(struct arena *arena, const struct shape *shape);
