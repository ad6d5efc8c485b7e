/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/cuda/operands.h"

#include "support/checked.h"

#include "support/banned.h"

static const int8_t element_sizes[CM_N_ELEMENTS] = {
    [CM_F64] = 8,    [CM_F32] = 4, [CM_F16] = 2, [CM_BF16] = 2, [CM_F8E4M3] = 1,
    [CM_F8E5M2] = 1, [CM_I64] = 8, [CM_I32] = 4, [CM_I16] = 2,  [CM_I8] = 1,
    [CM_U64] = 8,    [CM_U32] = 4, [CM_U16] = 2, [CM_U8] = 1,   [CM_BOOL] = 1,
};

int64_t operands_element_size(int32_t element) {
    return element > 0 && element < CM_N_ELEMENTS ? element_sizes[element] : 0;
}

/* size (1 + sum (dims - 1) strides) */
int64_t operands_bytes(const struct cm_tensor *tensor) {
    int64_t last = 0;
    for (int32_t i = 0; i < tensor->rank; i++) {
        if (tensor->dims[i] == 0) return 0;
        last = checked_add(last, checked_mul(tensor->dims[i] - 1, tensor->strides[i]));
    }
    return checked_mul(checked_add(last, 1), operands_element_size(tensor->element));
}

int64_t operands_elements(const struct cm_tensor *tensor, int32_t from, int32_t to) {
    int64_t n = 1;
    for (int32_t i = from; i < to; i++) n = checked_mul(n, tensor->dims[i]);
    return n;
}

bool operands_packed(const struct cm_tensor *tensor) {
    int64_t stride = 1;
    for (int32_t i = tensor->rank - 1; i >= 0; i--) {
        if (tensor->dims[i] != 1 && tensor->strides[i] != stride) return false;
        stride = checked_mul(stride, tensor->dims[i]);
    }
    return true;
}
