/* SPDX-License-Identifier: Apache-2.0 */
/* See common.h. */
#include "ops/contrib/common.h"

#include "support/banned.h"

int64_t contrib_rows(const struct op_context *context) {
    const struct shape *x = op_shape(context, 0);
    return x->rank < 1 ? DIM_UNKNOWN : shape_product(x, 0, x->rank - 1);
}

int contrib_output_last(struct op_context *context, size_t i, enum dtype dtype, int64_t n) {
    const struct shape *x = op_shape(context, 0);
    int64_t dims[SHAPE_MAX_RANK];
    int status = common_check_rank(context, 0, 1);
    if (status < 0) return status;
    for (int axis = 0; axis < x->rank; axis++) dims[axis] = x->dims[axis];
    if (x->rank > 0) dims[x->rank - 1] = n;
    return op_output_dims(context, i, dtype, x->rank, dims);
}

bool contrib_flag(const struct op_context *context, size_t i) {
    const struct constant *flag = common_contents(context, i);
    return flag && constant_has_ints(flag) && flag->n_elements > 0 &&
           constant_int_at(flag, 0) != 0;
}

int contrib_check_heads(const struct op_context *context, int64_t heads, int64_t kv_heads) {
    if (heads >= 1 && kv_heads >= 1 && heads % kv_heads == 0) return CM_OK;
    return op_fail(context, DIAG_ATTRIBUTE,
                   "query heads must be a multiple of key heads, got %lld and %lld",
                   (long long)heads, (long long)kv_heads);
}
