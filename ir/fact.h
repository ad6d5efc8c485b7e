/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a value: its type, and its contents where a fold found them. */
#ifndef IR_FACT_H
#define IR_FACT_H

#include <stdbool.h>

#include "costmodel/result.h"
#include "ir/constant.h"
#include "ir/dtype.h"
#include "ir/shape.h"

struct fact {
    enum cm_type_kind kind; /* CM_TYPE_UNKNOWN: nothing is known */
    enum dtype dtype;       /* DTYPE_UNDEFINED: unknown */
    struct shape shape;
    const struct constant *value; /* the elements, loaded or a splat; NULL: not known */
    const struct fact *element;   /* of sequences and optionals */
    bool is_constant; /* does not depend on any graph input: contents could be computed once */
    bool is_weight;   /* is_constant, and stands in the file itself */
};

/* A tensor of that dtype and shape, contents unknown. */
static inline struct fact fact_tensor(enum dtype dtype, struct shape shape) {
    struct fact fact = {CM_TYPE_TENSOR, dtype, shape, NULL, NULL, false, false};
    return fact;
}

static inline struct fact fact_unknown(void) {
    struct fact fact = {
        CM_TYPE_UNKNOWN, DTYPE_UNDEFINED, {RANK_UNKNOWN, NULL}, NULL, NULL, false, false};
    return fact;
}

/* Tensor with known rank and dims (dtype may be unknown). */
static inline bool fact_is_complete(const struct fact *fact) {
    return fact->kind == CM_TYPE_TENSOR && shape_is_known(&fact->shape);
}

#endif
