/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a value: its type, and its contents where a fold found them. */
#ifndef IR_VALUE_INFO_H
#define IR_VALUE_INFO_H

#include <stdbool.h>
#include <stddef.h>

#include "costmodel/result.h"
#include "ir/constant.h"
#include "ir/dtype.h"
#include "ir/shape.h"

struct arena;
struct type;

struct value_info {
    enum cm_type_kind kind; /* CM_TYPE_UNKNOWN: nothing is known */
    enum dtype dtype;       /* DTYPE_UNDEFINED: unknown */
    struct shape shape;
    const struct constant *value; /* the elements, loaded or a splat; NULL: not known */
    const struct value_info
        *element;                   /* of sequences, optionals and maps: holds of all of them */
    size_t n_items;                 /* of a sequence whose elements are known one by one */
    const struct value_info *items; /* each of them; NULL: their number is not known */
    bool is_constant; /* does not depend on any graph input: contents could be computed once */
    bool is_weight;   /* is_constant, and stands in the file itself */
    /*
     * Of the second walk (passes/infer/upper_bounds.h): dims that only data decide are upper
     * bounds, and contents too, `value` the largest and `least` the smallest that each element
     * may be.
     */
    bool is_upper_bound;
    const struct constant *least; /* NULL: `value` is exact */
};

/* A tensor of that dtype and shape, contents unknown. */
static inline struct value_info value_info_tensor(enum dtype dtype, struct shape shape) {
    return (struct value_info){.kind = CM_TYPE_TENSOR, .dtype = dtype, .shape = shape};
}

static inline struct value_info value_info_unknown(void) {
    return (struct value_info){.shape = {RANK_UNKNOWN, NULL}};
}

/* What the type says; its dims are borrowed. CM_NO_MEMORY without a message. */
int value_info_of_type(struct arena *arena, const struct type *type, struct value_info *ret)
    __attribute__((warn_unused_result));

/* Whether dims or contents are bounds. */
static inline bool value_info_is_loose(const struct value_info *info) {
    return info->is_upper_bound || info->least;
}

/* Tensor, or container of tensors, of which every dim is known. */
bool value_info_is_settled(const struct value_info *info);

/* Tensor with known rank and dims (dtype may be unknown). */
static inline bool value_info_is_complete(const struct value_info *info) {
    return info->kind == CM_TYPE_TENSOR && shape_is_known(&info->shape);
}

#endif
