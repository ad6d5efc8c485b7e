/* SPDX-License-Identifier: Apache-2.0 */
/* What holds of a value that may come from either of two places: the branches of an If, the
 * rounds of a Loop, the elements of a sequence. */
#ifndef OPS_MERGE_H
#define OPS_MERGE_H

#include <stdbool.h>
#include <stddef.h>

#include "ir/fact.h"

struct rule;

/* Dims that differ become DIM_UNKNOWN (the larger of two bounds, where such are asked for),
 * ranks that differ an unknown rank; contents are dropped. `ret` may be a or b itself. Refused:
 * another element type, a tensor against a sequence. */
int merge_facts(struct rule *rule, const struct fact *a, const struct fact *b, struct fact *ret)
    __attribute__((warn_unused_result));
/* The same type and shape; contents are not looked at. */
bool merge_is_same(const struct fact *a, const struct fact *b);

/* A sequence or an optional of such elements; *element is copied. Of what nests deeper than
 * any model's values only the outermost type is kept. */
int merge_container(struct rule *rule, enum cm_type_kind kind, const struct fact *element,
                    struct fact *ret) __attribute__((warn_unused_result));
/* A sequence of these n elements; `none` is what is known of them where n is 0. They are kept
 * one by one as long as the budget allows. */
int merge_sequence(struct rule *rule, size_t n, const struct fact *items,
                   const struct fact *none, struct fact *ret)
    __attribute__((warn_unused_result));
/* What is known of the elements of a sequence or the content of an optional. */
struct fact merge_element(const struct fact *container);

#endif
