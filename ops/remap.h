/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Constant folding of data movement: each output element is an element of an operand. The
 * operator maps output coordinates to a source index, and the loops are shared. A value that
 * cannot be folded (too many elements, strings, an unknown output dim) stays unknown, which is
 * always correct.
 */
#ifndef OPS_REMAP_H
#define OPS_REMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/constant.h"
#include "ir/shape.h"

struct op_context;

/* Elements under construction: ints or reals, by the dtype. */
struct elements {
    enum dtype dtype;
    int64_t n;
    int64_t *ints;
    double *reals;
};

/* Room for n elements of the dtype of `like`, zeroed. *ret_possible false with 0: too many, or
 * `like` has no elements that folds can see. */
int elements_new(struct op_context *context, const struct constant *like, int64_t n,
                 struct elements *ret, bool *ret_possible) __attribute__((warn_unused_result));
/* elements[at] = from[index], both in range and of one kind. */
void elements_copy(struct elements *elements, int64_t at, const struct constant *from,
                   int64_t index);
/* Makes them the contents of output `slot`. */
int elements_set(struct op_context *context, size_t slot, const struct elements *elements)
    __attribute__((warn_unused_result));

/* Output `slot` has the elements of `from` in their order, under the shape that infer gave. */
int remap_same(struct op_context *context, size_t slot, const struct constant *from)
    __attribute__((warn_unused_result));

/* The same of operand 0: `fold` of views. */
int remap_view(struct op_context *context) __attribute__((warn_unused_result));
/* Every element of output `slot` is element 0 of `from`. */
int remap_splat(struct op_context *context, size_t slot, const struct constant *from)
    __attribute__((warn_unused_result));

#define REMAP_FILL (-1)

/*
 * Output element at `coords` is element source(context, coords) of `from`, or, where that is
 * REMAP_FILL, element 0 of `fill` (NULL: zero).
 */
struct remap {
    const struct constant *from;
    int64_t (*source)(const void *context, const int64_t *coords);
    const void *context;
    bool fills; /* source may give REMAP_FILL */
    const struct constant *fill;
};

int remap_fold(struct op_context *context, size_t slot, const struct remap *remap)
    __attribute__((warn_unused_result));

/* Row-major strides in elements; every dim known. */
void remap_strides(const struct shape *shape, int64_t *strides);
/* To the next coordinates in row-major order. */
void remap_advance(const struct shape *shape, int64_t *coords);

#endif
