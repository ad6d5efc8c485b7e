/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Constant folding of elementwise operators. An operator defines a kernel for one element of
 * each operand; the loops over broadcast operands are shared. If a result cannot be represented
 * in the output's type (integer overflow), the contents of the whole output stay unknown.
 */
#ifndef OPS_FOLD_H
#define OPS_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/dtype.h"

struct constant;
struct op_context;

/* One element of a tensor. */
struct number {
    bool given; /* false: the operand is omitted */
    bool real;  /* true: `r` is set (float types); false: `i` (integers and bools) */
    int64_t i;
    double r;
};

/* Sets ret->r if the output's type is a float, else ret->i. Returns false if there is no
 * result. */
typedef bool fold_kernel(const struct op_context *context, size_t n, const struct number *x,
                         struct number *ret);

/* Sets the contents of output 0: applies the kernel to all operands, broadcast to its shape. If
 * all operands are splats, so is the output.
 */
int fold_elements(struct op_context *context, fold_kernel *kernel)
    __attribute__((warn_unused_result));

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

/* Returns element i of a constant that has ints or reals. */
struct number fold_number(const struct constant *constant, int64_t i);
/* Sets the contents of output 0 to n numbers; leaves them unknown if the output's type cannot
 * represent one of them. */
int fold_set_numbers(struct op_context *context, const struct number *numbers, int64_t n)
    __attribute__((warn_unused_result));

/* Converts the number to the dtype; returns false if the dtype cannot represent the number. */
bool fold_store(enum dtype dtype, struct number *number);

#endif
