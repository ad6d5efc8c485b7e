/* SPDX-License-Identifier: Apache-2.0 */
/* Merges two infos into one that holds for both: outputs of the branches of an If, iterations
 * of a Loop, elements of a sequence. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "costmodel/status.h"
#include "ir/value_info.h"

struct op_context;

/* Merges a and b. Different dims become DIM_UNKNOWN (with OP_UPPER_BOUND the larger dim),
 * different ranks an unknown rank; contents become unknown. `ret` may alias a or b. Different
 * dtypes or kinds are an error. */
int merge_infos(struct op_context *context, const struct value_info *a,
                const struct value_info *b, struct value_info *ret) CM_MUST_CHECK;
/* Returns true if both have the same type and shape; ignores contents. */
bool merge_is_same(const struct value_info *a, const struct value_info *b);

/* Sets *ret to a sequence or optional whose elements have the info *element, which is copied.
 * If it is nested too deep, only its outermost kind is kept. */
int merge_container(struct op_context *context, enum cm_type_kind kind,
                    const struct value_info *element, struct value_info *ret) CM_MUST_CHECK;
/* Sets *ret to a sequence of these n elements; its element info is `none` if n is 0. Also
 * stores the info of each element if the budget allows. */
int merge_sequence(struct op_context *context, size_t n, const struct value_info *items,
                   const struct value_info *none, struct value_info *ret) CM_MUST_CHECK;
/* Returns the common info of a sequence's elements, or the info of an optional's content; an
 * unknown info for other kinds. */
struct value_info merge_element(const struct value_info *container);
