/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folds that compute: one kernel on one element of each operand, the loops over broadcast
 * operands written once. A result that the output's type cannot hold exactly as a runtime would
 * hold it (an integer overflow, a float16) leaves the whole value unknown, which is never
 * wrong.
 */
#ifndef OPS_FOLD_H
#define OPS_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/dtype.h"

struct constant;
struct op_context;

/* One element: r of floats, i of integers and bools. */
struct number {
    bool given; /* the operand is not omitted */
    bool real;
    int64_t i;
    double r;
};

/* Sets ret->r when the output's type is a float, else ret->i; false: no result. */
typedef bool fold_kernel(const struct op_context *context, size_t n, const struct number *x,
                         struct number *ret);

/* Contents of output 0: the kernel over all operands, broadcast to its shape. Splats stay so.
 */
int fold_elements(struct op_context *context, fold_kernel *kernel)
    __attribute__((warn_unused_result));

/* Defines fold_NAME by the body of its kernel, which sees context, n, x and ret. */
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
/* Makes n numbers the contents of output 0; one that its type cannot hold leaves all unknown.
 */
int fold_set_numbers(struct op_context *context, struct number *numbers, int64_t n)
    __attribute__((warn_unused_result));

/* The number as an element of that type; false when the type cannot hold it. */
bool fold_store(enum dtype dtype, struct number *number);

#endif
