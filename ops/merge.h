/* SPDX-License-Identifier: Apache-2.0 */
/* Joins the infos of values with two possible sources: branches of an If, iterations of a Loop,
 * elements of a sequence. */
#ifndef OPS_MERGE_H
#define OPS_MERGE_H

#include <stdbool.h>
#include <stddef.h>

#include "ir/value_info.h"

struct op_context;

/* Joins a and b: different dims give DIM_UNKNOWN (in upper-bound mode the larger one),
 * different ranks an unknown rank; contents are dropped. `ret` may alias a or b. Fails if the
 * dtypes or kinds differ. */
int merge_infos(struct op_context *context, const struct value_info *a,
                const struct value_info *b, struct value_info *ret)
    __attribute__((warn_unused_result));
/* The same type and shape; contents are not looked at. */
bool merge_is_same(const struct value_info *a, const struct value_info *b);

/* A sequence or an optional of such elements; *element is copied. Of what nests deeper than
 * any model's values only the outermost type is kept. */
int merge_container(struct op_context *context, enum cm_type_kind kind,
                    const struct value_info *element, struct value_info *ret)
    __attribute__((warn_unused_result));
/* A sequence of these n elements; `none` is what is known of them where n is 0. They are kept
 * one by one as long as the budget allows. */
int merge_sequence(struct op_context *context, size_t n, const struct value_info *items,
                   const struct value_info *none, struct value_info *ret)
    __attribute__((warn_unused_result));
/* Returns the common info of the elements of a sequence, or that of the content of an optional.
 */
struct value_info merge_element(const struct value_info *container);

#endif
