/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers shared by operator families: attribute tables, shapes of elementwise operators,
 * checks of dtypes. */
#ifndef OPS_COMMON_H
#define OPS_COMMON_H

#include <stdbool.h>
#include <stddef.h>

#include "ops/describe.h"
#include "ops/op_context.h"

/* Rows of an attribute table; {0} ends it. */
#define INT_ATTR(name_, value)                                                                 \
    { .name = name_, .kind = ATTR_INT, .has_default = true, .i = value }
#define FLOAT_ATTR(name_, value)                                                               \
    { .name = name_, .kind = ATTR_FLOAT, .has_default = true, .f = value }
#define STRING_ATTR(name_, value)                                                              \
    { .name = name_, .kind = ATTR_STRING, .has_default = true, .s = value }
#define OPTIONAL_ATTR(name_, kind_)                                                            \
    { .name = name_, .kind = kind_ }
#define REQUIRED_ATTR(name_, kind_)                                                            \
    { .name = name_, .kind = kind_, .required = true }

/* An optimisation hint of opset 1 that has no meaning any more. */
#define CONSUMED_INPUTS OPTIONAL_ATTR("consumed_inputs", ATTR_INTS)

/* Output 0 has the type and shape of input 0. */
int common_infer_same(struct op_context *context);
/* Output 0 has that dtype and the shape of input 0. */
int common_infer_same_shape(struct op_context *context, enum dtype dtype);
/* Output 0 is of type bool and has the shape of input 0. */
int common_infer_bool(struct op_context *context);
/* Output 0 has the type of input 0; unknown rank. */
int common_infer_unknown_rank(struct op_context *context);
/* Output 0 is all inputs broadcast together, of their common type. */
int common_infer_broadcast(struct op_context *context);
/* The same with another dtype of the output; inputs from `first` on share one type. */
int common_broadcast_to(struct op_context *context, size_t first, enum dtype dtype);
/*
 * Binary operators before opset 7: input 1 has the shape of input 0, or (broadcast=1) that of
 * axes of it from `axis` on (absent: its last). Output 0 has the shape of input 0 and `dtype`.
 */
int common_infer_legacy_broadcast(struct op_context *context, enum dtype dtype);

/* Refuses inputs [first, n) whose element types are known and differ. */
int common_check_same_type(const struct op_context *context, size_t first);
/* Checks that both inputs have one dtype and that input 1 (`what`) broadcasts to input 0, not
 * the reverse. */
int common_check_broadcasts(struct op_context *context, const char *what);
/* The first known dtype among inputs from `first` on. */
enum dtype common_dtype(const struct op_context *context, size_t first);
/* Refuses a known rank below `least` ("input 0 must have rank >= 3, got [2,3]"). */
int common_check_rank(const struct op_context *context, size_t i, int least);
/* Refuses a known rank other than `rank`. */
int common_check_rank_is(const struct op_context *context, size_t i, int rank);
/* Refuses an output of more axes than are supported. */
int common_check_n_axes(const struct op_context *context, size_t n);
/* Refuses operand i when its rank is known and not 1, or its length is known and not n. */
int common_check_length(const struct op_context *context, size_t i, int64_t n);
/* Return how output 0 views operand 0 (struct op_backward.view): always strided, or as a slice
 * between two bounds on every axis. */
enum op_view common_view_strided(const struct op_context *context);
enum op_view common_view_part(const struct op_context *context);
/* Returns dim `axis` of operand i; DIM_UNKNOWN unless the operand has that rank. */
int64_t common_dim(const struct op_context *context, size_t i, int rank, int axis);
/* Returns the last dim of operand i; DIM_UNKNOWN if its rank is unknown or 0. */
int64_t common_last_dim(const struct op_context *context, size_t i);
/* Returns the smaller of two dims; an unknown one does not count. */
int64_t common_smaller(int64_t a, int64_t b);
/* floor(a / b); DIM_UNKNOWN if b is 0. */
int64_t common_divide(int64_t a, int64_t b);
/* The nearest to value that lies in [low, high]. */
int64_t common_clamp(int64_t value, int64_t low, int64_t high);
/* The elements of operand i; NULL when they are not known or cannot be read. */
const struct constant *common_contents(const struct op_context *context, size_t i);
/* Returns the one integer in operand i; DIM_UNKNOWN if it is omitted, unknown or not an
 * integer. */
int64_t common_integer(const struct op_context *context, size_t i);
/* The same for lengths: DIM_UNKNOWN also if it is negative. */
int64_t common_length(const struct op_context *context, size_t i);
/* Reads an attribute that is a TensorProto data type; fails if the number is not a known type.
 */
int common_dtype_attr(const struct op_context *context, const char *name, enum dtype *ret)
    __attribute__((warn_unused_result));

#endif
