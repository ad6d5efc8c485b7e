/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes and strides of operands. The backend modules compile this file themselves. */
#include "backends/primitive.h"
#include "support/checked.h"

static const int8_t element_sizes[CM_N_ELEMENTS] = {
    [CM_F64] = 8,    [CM_F32] = 4, [CM_F16] = 2, [CM_BF16] = 2, [CM_F8E4M3] = 1,
    [CM_F8E5M2] = 1, [CM_I64] = 8, [CM_I32] = 4, [CM_I16] = 2,  [CM_I8] = 1,
    [CM_U64] = 8,    [CM_U32] = 4, [CM_U16] = 2, [CM_U8] = 1,   [CM_BOOL] = 1,
};

int64_t primitive_element_size(int32_t element) {
    return element > CM_ELEMENT_NONE && element < CM_N_ELEMENTS ? element_sizes[element] : 0;
}

void primitive_pack(struct cm_tensor *tensor) {
    int64_t stride = 1;
    for (int32_t i = CM_MAX_RANK - 1; i >= 0; i--) {
        const bool used = i < tensor->rank;
        tensor->strides[i] = used ? stride : 0;
        if (used) stride = checked_mul(stride, tensor->dims[i]);
        if (!used) tensor->dims[i] = 0;
    }
}

bool primitive_is_packed(const struct cm_tensor *tensor) {
    int64_t stride = 1;
    for (int32_t i = tensor->rank - 1; i >= 0; i--) {
        if (tensor->dims[i] != 1 && tensor->strides[i] != stride) return false;
        stride = checked_mul(stride, tensor->dims[i]);
    }
    return true;
}

int64_t primitive_elements_of(const struct cm_tensor *tensor, int32_t from, int32_t to) {
    int64_t n = 1;
    for (int32_t i = from; i < to; i++) n = checked_mul(n, tensor->dims[i]);
    return n;
}

int64_t primitive_elements(const struct cm_tensor *tensor) {
    return primitive_elements_of(tensor, 0, tensor->rank);
}

int64_t primitive_bytes(const struct cm_tensor *tensor) {
    return checked_mul(primitive_elements(tensor), primitive_element_size(tensor->element));
}

/* span = element size * (1 + sum of (dim - 1) * stride over the axes) */
int64_t primitive_span(const struct cm_tensor *tensor) {
    int64_t last = 0;
    for (int32_t i = 0; i < tensor->rank; i++) {
        if (tensor->dims[i] == 0) return 0;
        checked_add_to(&last, checked_mul(tensor->dims[i] - 1, tensor->strides[i]));
    }
    return checked_mul(checked_add(last, 1), primitive_element_size(tensor->element));
}

bool primitive_kind_is_product(int32_t kind) {
    return kind == CM_CONV || kind == CM_DECONV || kind == CM_GEMM || kind == CM_RNN ||
           kind == CM_ATTENTION;
}

bool primitive_is_product(const struct cm_primitive *primitive) {
    return primitive_kind_is_product(primitive->kind);
}

enum cm_element primitive_main_element(const struct cm_primitive *primitives, size_t n) {
    double work[2][CM_N_ELEMENTS] = {{0}}; /* bytes; FLOPs of products */
    int32_t most[2] = {CM_ELEMENT_NONE, CM_ELEMENT_NONE};
    for (size_t i = 0; i < n; i++) {
        const int32_t element = primitives[i].inputs[0].element;
        const int counts = primitive_is_product(&primitives[i]) && primitives[i].flops > 0;
        work[counts][element] +=
            (double)(counts ? primitives[i].flops : primitives[i].bytes_read);
        if (work[counts][element] > work[counts][most[counts]]) most[counts] = element;
    }
    return (enum cm_element)(most[1] != CM_ELEMENT_NONE ? most[1] : most[0]);
}

bool primitive_has_bias(const struct cm_primitive *primitive) {
    for (int32_t i = 0; i < primitive->n_steps; i++)
        if (primitive->steps[i].operand == 2) return false;
    return primitive->n_inputs > 2;
}
