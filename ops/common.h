/* SPDX-License-Identifier: Apache-2.0 */
/* What several families share: rows of attributes, the shapes of elementwise operators, checks
 * of element types. */
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
/* Output 0 has the type of input 0; of its shape nothing is known. */
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
/* Inputs are of one type, and the second, `what`, broadcasts to the first, never the other way
 * round. */
int common_check_broadcasts(struct op_context *context, const char *what);
/* The first known dtype among inputs from `first` on. */
enum dtype common_dtype(const struct op_context *context, size_t first);
/* Refuses a known rank below `least` ("input 0 has rank 2, at least 3 is wanted"). */
int common_check_rank(const struct op_context *context, size_t i, int least);
/* Refuses operand i when its rank is known and not 1, or its length is known and not n. */
int common_check_length(const struct op_context *context, size_t i, int64_t n);
/* How output 0 lies in the bytes of operand 0 (struct op_backward): always strided; or as a
 * part of it, every axis cut between two bounds. */
enum op_view common_view_strided(const struct op_context *context);
enum op_view common_view_part(const struct op_context *context);
/* Dim `axis` of operand i where it has that rank, DIM_UNKNOWN of any other. */
int64_t common_dim(const struct op_context *context, size_t i, int rank, int axis);
/* floor(a / b); DIM_UNKNOWN where b is 0. */
int64_t common_divide(int64_t a, int64_t b);
/* The nearest to value that lies in [low, high]. */
int64_t common_clamp(int64_t value, int64_t low, int64_t high);
/* The elements of operand i; NULL when they are not known or cannot be read. */
const struct constant *common_contents(const struct op_context *context, size_t i);
/* The one integer in operand i; DIM_UNKNOWN where it is omitted, not known, or no integer. */
int64_t common_integer(const struct op_context *context, size_t i);
/* The same, and DIM_UNKNOWN below 0: what a file would have as a length. */
int64_t common_length(const struct op_context *context, size_t i);
/* An attribute that names an element type: that type, refused where there is none of its
 * number. */
int common_dtype_attr(const struct op_context *context, const char *name, enum dtype *ret)
    __attribute__((warn_unused_result));

#endif
