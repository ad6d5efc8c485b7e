/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of operator families: attribute tables, elementwise shapes, checks of dtypes. */
#pragma once

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

/* Sets output 0 to the type and shape of input 0. */
int common_infer_same(struct op_context *context);
/* Sets output 0 to the dtype and the shape of input 0. */
int common_infer_same_shape(struct op_context *context, enum dtype dtype);
/* Sets output 0 to bool and the shape of input 0. */
int common_infer_bool(struct op_context *context);
/* Sets output 0 to the dtype of input 0, this rank and these dims (NULL: unknown dims). */
int common_output(struct op_context *context, int rank, const int64_t *dims) CM_MUST_CHECK;
/* Sets output i to `dtype` and the shape of input 0, with n in place of the dim at `axis`. */
int common_output_resized(struct op_context *context, size_t i, enum dtype dtype, int axis,
                          int64_t n) CM_MUST_CHECK;
/* Sets output i to `dtype` and the shape with a last axis of n appended. */
int common_output_appended(struct op_context *context, size_t i, enum dtype dtype,
                           const struct shape *shape, int64_t n) CM_MUST_CHECK;
/* Sets output 0 to the dtype of input 0 and an unknown rank. */
int common_infer_unknown_rank(struct op_context *context);
/* Sets output 0 to the broadcast shape and the common dtype of all inputs. */
int common_infer_broadcast(struct op_context *context);
/* As common_infer_broadcast, but sets the dtype `dtype`; only the inputs from `first` on must
 * have one dtype. */
int common_broadcast_to(struct op_context *context, size_t first, enum dtype dtype);
/* Infers binary operators before opset 7. Input 1 has the shape of input 0, or with broadcast=1
 * the shape of consecutive axes of input 0 from `axis` on (absent: the last axes). Sets output
 * 0 to the shape of input 0 and `dtype`. */
int common_infer_legacy_broadcast(struct op_context *context, enum dtype dtype);

/* Checks that all known dtypes of the inputs from `first` on are equal. */
int common_check_same_type(const struct op_context *context, size_t first);
/* Checks that inputs 0 and 1 have one dtype, and that input 1 (`what` in messages) broadcasts
 * to the shape of input 0. */
int common_check_broadcasts(struct op_context *context, const char *what);
/* Returns the first known dtype of the inputs from `first` on. */
enum dtype common_dtype(const struct op_context *context, size_t first);
/* Checks that the rank of input i is unknown or >= min ("input 0 must have rank >= 3, got
 * [2,3]"). */
int common_check_rank(const struct op_context *context, size_t i, int min);
/* Checks that the rank of input i is unknown or `rank`. */
int common_check_rank_is(const struct op_context *context, size_t i, int rank);
/* Checks that an output rank of n is supported. */
int common_check_n_axes(const struct op_context *context, size_t n);
/* Checks that operand i is a vector of n elements, as far as its shape is known. */
int common_check_length(const struct op_context *context, size_t i, int64_t n);
/* Return the view kind of output 0 (struct op_backward.view): always VIEW_STRIDED; for a slice,
 * VIEW_SAME if it is contiguous, else VIEW_STRIDED. */
enum op_view common_view_strided(const struct op_context *context);
enum op_view common_view_part(const struct op_context *context);
/* Returns dim `axis` of operand i; DIM_UNKNOWN unless the operand has rank `rank`. */
int64_t common_dim(const struct op_context *context, size_t i, int rank, int axis);
/* Returns the last dim of operand i; DIM_UNKNOWN if its rank is unknown or 0. */
int64_t common_last_dim(const struct op_context *context, size_t i);
/* Returns true if both dims are known and differ. */
bool common_differ(int64_t a, int64_t b);
/* Sets *ret to entry i of a list of axes, made non-negative, or to i if the list is not given;
 * adds it to the bit set `seen`. An axis that `seen` contains is an error: "axis 1 is `used`
 * twice". */
int common_next_axis(const struct op_context *context, const struct int_list *list, size_t i,
                     int rank, const char *used, uint64_t *seen, int *ret) CM_MUST_CHECK;
/* Returns the smaller of two dims; if one is unknown, the other. */
int64_t common_smaller(int64_t a, int64_t b);
/* Returns floor(a / b); DIM_UNKNOWN if b is 0. */
int64_t common_divide(int64_t a, int64_t b);
/* Returns the value limited to [low, high]. */
int64_t common_clamp(int64_t value, int64_t low, int64_t high);
/* Returns the elements of operand i; NULL if unknown, unreadable or over LONGEST_SHORT. */
const struct constant *common_contents(const struct op_context *context, size_t i);
/* Returns the one integer in operand i; DIM_UNKNOWN if omitted, unknown or no integer. */
int64_t common_integer(const struct op_context *context, size_t i);
/* As common_integer, but returns DIM_UNKNOWN if the integer is negative. */
int64_t common_length(const struct op_context *context, size_t i);
/* Reads an attribute that is a TensorProto data type; fails if the type is not known. */
int common_dtype_attr(const struct op_context *context, const char *name,
                      enum dtype *ret) CM_MUST_CHECK;
