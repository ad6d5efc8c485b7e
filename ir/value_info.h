/* SPDX-License-Identifier: Apache-2.0 */
/* Inferred properties of a value: its type, and its contents after constant folding. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "costmodel/result.h"
#include "ir/constant.h"
#include "ir/dtype.h"
#include "ir/shape.h"

struct arena;
struct type;

struct value_info {
    enum cm_type_kind kind; /* CM_TYPE_UNKNOWN if unknown */
    enum dtype dtype;       /* DTYPE_UNDEFINED if unknown */
    struct shape shape;
    const struct constant *value; /* contents, to be read by constant_load; NULL if unknown */
    const struct value_info
        *element;   /* info that holds for every element of a sequence, optional or map */
    size_t n_items; /* number of `items` */
    const struct value_info *items; /* elements of a sequence one by one; NULL if unknown */
    bool is_constant; /* does not depend on any graph input: contents could be computed once */
    bool is_weight;   /* is_constant, and stored in the file */
    bool varies;      /* unknown dims differ between the iterations of an executed Loop */
    bool is_data_missing; /* `value` is NULL only because the data of a stored tensor is
                             unavailable */
    /* Set by walk_upper_bounds (passes/walk/walk.h): data-dependent dims and contents are upper
     * bounds. `value` has the largest possible contents, `lower_bound` the smallest. */
    bool is_upper_bound;
    const struct constant *lower_bound; /* NULL if `value` is exact */
};

/* Returns the info of a tensor with unknown contents. */
static inline struct value_info value_info_tensor(enum dtype dtype, struct shape shape) {
    return (struct value_info){.kind = CM_TYPE_TENSOR, .dtype = dtype, .shape = shape};
}

static inline struct value_info value_info_unknown(void) {
    return (struct value_info){.shape = {RANK_UNKNOWN, NULL}};
}

/* Converts a declared type; its dims are borrowed. CM_OK, or CM_NO_MEMORY without a message. */
int value_info_of_type(struct arena *arena, const struct type *type, struct value_info *ret)
    __attribute__((warn_unused_result));

/* Returns true for a tensor, or a container of tensors, with all dims known. */
bool value_info_is_static(const struct value_info *info);

/* Returns true for a tensor with all dims known (the dtype may be unknown). */
static inline bool value_info_is_complete(const struct value_info *info) {
    return info->kind == CM_TYPE_TENSOR && shape_is_known(&info->shape);
}
