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

/* Elements of a new constant: `reals` if the dtype is a float, else `ints`. */
struct elements {
    enum dtype dtype;
    int64_t n;
    int64_t *ints;
    double *reals;
};

int elements_alloc(struct op_context *context, enum dtype dtype, int64_t n,
                   struct elements *ret) __attribute__((warn_unused_result));
/* As elements_alloc, with the dtype of `like`. Sets *ret_possible to false and returns 0 if n
 * is too large, or if `like` has neither integers nor floats in memory. */
int elements_new(struct op_context *context, const struct constant *like, int64_t n,
                 struct elements *ret, bool *ret_possible) __attribute__((warn_unused_result));
/* Sets elements[at] = from[index]; both indices must be valid and the dtypes equal. */
void elements_copy(struct elements *elements, int64_t at, const struct constant *from,
                   int64_t index);
/* Sets the contents of output `slot`. */
int elements_set(struct op_context *context, size_t slot, const struct elements *elements)
    __attribute__((warn_unused_result));

/* Sets the contents of output `slot` to the elements of `from` in the same order. */
int remap_same(struct op_context *context, size_t slot, const struct constant *from)
    __attribute__((warn_unused_result));

/* As remap_same, of operand 0: `fold` of views. */
int remap_view(struct op_context *context) __attribute__((warn_unused_result));
/* Sets every element of output `slot` to element 0 of `from`. */
int remap_splat(struct op_context *context, size_t slot, const struct constant *from)
    __attribute__((warn_unused_result));

#define REMAP_FILL (-1)

/*
 * Mapping from output coordinates to source elements: the output element at `coords` is element
 * source(context, coords) of `from`; if that is REMAP_FILL, element 0 of `fill` (NULL: zero).
 */
struct remap {
    const struct constant *from;
    int64_t (*source)(const void *context, const int64_t *coords);
    const void *context;
    bool fills; /* `source` may return REMAP_FILL */
    const struct constant *fill;
};

int remap_fold(struct op_context *context, size_t slot, const struct remap *remap)
    __attribute__((warn_unused_result));

/* Computes the row-major strides in elements; every dim must be known. */
void remap_strides(const struct shape *shape, int64_t *strides);
/* Advances to the next coordinates in row-major order. */
void remap_advance(const struct shape *shape, int64_t *coords);

#endif
