/* SPDX-License-Identifier: Apache-2.0 */
/* Constant folding. An elementwise operator defines a kernel for one element of each operand;
 * the loops over broadcast operands are shared. If a result cannot be represented in the
 * output's type (integer overflow), the contents of the whole output stay unknown. In data
 * movement each output element is an element of an operand: the operator maps output
 * coordinates to a source index. A value that cannot be folded (too many elements, strings, an
 * unknown output dim) stays unknown, which is always correct. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "costmodel/status.h"
#include "ir/constant.h"
#include "ir/shape.h"

struct op_context;

/* Sets ret->r if the output's type is a float, else ret->i. Returns false without a result. */
typedef bool fold_kernel(const struct op_context *context, size_t n, const struct number *x,
                         struct number *ret);

/* Sets the contents of output 0: applies the kernel to all operands, broadcast to its shape. If
 * all operands are splats, so is the output. */
int fold_elements(struct op_context *context, fold_kernel *kernel) CM_MUST_CHECK;

/* Defines fold_NAME from the body of its kernel, which may use context, n, x and ret. */
#define FOLD(name, ...)                                                                        \
    static bool number_##name(const struct op_context *context, size_t n,                      \
                              const struct number *x, struct number *ret) {                    \
        (void)context, (void)n;                                                                \
        __VA_ARGS__                                                                            \
    }                                                                                          \
    static int fold_##name(struct op_context *context) {                                       \
        return fold_elements(context, number_##name);                                          \
    }

/* Sets the contents of output 0 to n numbers; leaves them unknown if the output's type cannot
 * represent one of them. */
int fold_set_numbers(struct op_context *context, const struct number *numbers,
                     int64_t n) CM_MUST_CHECK;

/* Converts the number to the dtype; returns false if the dtype cannot represent the number. */
bool fold_store(enum dtype dtype, struct number *number);

/* ---- data movement ---- */

/* Elements of a new constant: `reals` if the dtype is a float, else `ints`. */
struct elements {
    enum dtype dtype;
    int64_t n;
    int64_t *ints;
    double *reals;
};

int elements_alloc(struct op_context *context, enum dtype dtype, int64_t n,
                   struct elements *ret) CM_MUST_CHECK;
/* As elements_alloc, with the dtype of `like`. Sets *ret_possible to false and returns 0 if n
 * is too large, or if `like` has neither integers nor floats in memory. */
int elements_new(struct op_context *context, const struct constant *like, int64_t n,
                 struct elements *ret, bool *ret_possible) CM_MUST_CHECK;
/* Sets elements[at] = from[index]; both indices must be valid and the dtypes equal. */
void elements_copy(struct elements *elements, int64_t at, const struct constant *from,
                   int64_t index);
/* Sets the contents of output `slot`. */
int elements_set(struct op_context *context, size_t slot,
                 const struct elements *elements) CM_MUST_CHECK;

/* Sets the contents of output `slot` to the elements of `from` in the same order. */
int remap_same(struct op_context *context, size_t slot,
               const struct constant *from) CM_MUST_CHECK;

/* Sets the contents of output 0 to those of operand 0 in the same order: `fold` of views. */
int remap_view(struct op_context *context) CM_MUST_CHECK;
/* Sets every element of output `slot` to element 0 of `from`. */
int remap_splat(struct op_context *context, size_t slot,
                const struct constant *from) CM_MUST_CHECK;

#define REMAP_FILL (-1)

/* Mapping from output coordinates to source elements: the output element at `coords` is element
 * source(context, coords) of `from`; if that is REMAP_FILL, element 0 of `fill` (NULL: zero).
 * Without `source`, it is element remap_strided(remap, rank of the output, coords). */
struct remap {
    const struct constant *from;
    int64_t (*source)(const void *context, const int64_t *coords);
    const void *context;
    bool fills; /* `source` may return REMAP_FILL */
    const struct constant *fill;
    int64_t offset, strides[SHAPE_MAX_RANK];
    const int64_t *wrap; /* by axis, the period of the coordinate; NULL: none */
};

/* Returns offset + the sum over axes of (coordinate, wrapped) * stride. */
int64_t remap_strided(const struct remap *remap, int rank, const int64_t *coords);

/* Sets the contents of output `slot` by the mapping; leaves them unknown if it is too large. */
int remap_fold(struct op_context *context, size_t slot,
               const struct remap *remap) CM_MUST_CHECK;

/* Computes the row-major strides in elements; every dim must be known. */
void remap_strides(const struct shape *shape, int64_t *strides);
/* Advances to the next coordinates in row-major order. */
void remap_advance(const struct shape *shape, int64_t *coords);
