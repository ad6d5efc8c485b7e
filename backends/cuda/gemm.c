/* SPDX-License-Identifier: Apache-2.0 */
/* Reads shapes and strides of a product as one or several strided batches. */
#include "backends/cuda/gemm.h"

#include "backends/cuda/refuse.h"
#include "backends/primitive.h"
#include "support/checked.h"

#define MAX_CALLS 1024

/* Reads the last two dims of an operand. Returns false if they are not `rows` by `columns` or
 * neither of them is contiguous. */
static bool read_matrix(const struct cm_tensor *tensor, int64_t rows, int64_t columns,
                        struct gemm_matrix *ret) {
    if (tensor->rank < 2) return false;
    const int32_t at = tensor->rank - 2;
    const int64_t down = tensor->strides[at];
    const int64_t right = tensor->strides[at + 1];
    if (tensor->dims[at] != rows || tensor->dims[at + 1] != columns) return false;
    /* The stride of a dim of size 1 is irrelevant. */
    if ((right == 1 || columns == 1) && (down >= columns || rows == 1)) {
        ret->column_major = false;
        ret->leading = rows == 1 || down < columns ? columns : down;
        return true;
    }
    if ((down == 1 || rows == 1) && (right >= rows || columns == 1)) {
        ret->column_major = true;
        ret->leading = columns == 1 || right < rows ? rows : right;
        return true;
    }
    return false;
}

/* Sets *ret to the operand's stride along batch dim `axis` of the result; 0 if broadcast.
 * Returns false if the sizes differ. */
static bool batch_stride(const struct cm_tensor *tensor, const struct cm_tensor *y,
                         int32_t axis, int64_t *ret) {
    const int32_t own = axis - (y->rank - tensor->rank);
    *ret = 0;
    if (own < 0 || tensor->dims[own] == 1) return true;
    *ret = tensor->strides[own];
    return tensor->dims[own] == y->dims[axis];
}

/* Merges batch dims into `batch`, from the innermost outwards; the rest become loops. A dim
 * continues the batch if, in every matrix, its stride is the batch stride times the batch size.
 * Returns false if sizes differ or there are more than MAX_CALLS calls. */
static bool read_batch(const struct cm_primitive *primitive, struct gemm *gemm) {
    const struct cm_tensor *y = &primitive->outputs[0];
    const bool with_c = gemm->addend == GEMM_MATRIX;
    const struct cm_tensor *tensors[GEMM_OPERANDS] = {
        &primitive->inputs[0], &primitive->inputs[1], y, with_c ? &primitive->inputs[2] : y};
    for (int32_t axis = y->rank - 3; axis >= 0; axis--) {
        int64_t strides[GEMM_OPERANDS];
        const int64_t dim = y->dims[axis];
        const bool begins = gemm->batch == 1 && gemm->n_loops == 0;
        bool continues = gemm->n_loops == 0;
        for (int i = 0; i < GEMM_OPERANDS; i++) {
            if (!batch_stride(tensors[i], y, axis, &strides[i])) return false;
            if (strides[i] != checked_mul(gemm->matrices[i].batch, gemm->batch))
                continues = false;
        }
        if (dim == 1) continue;
        if (begins || continues) {
            for (int i = 0; i < GEMM_OPERANDS && begins; i++)
                gemm->matrices[i].batch = strides[i];
            gemm->batch = checked_mul(gemm->batch, dim);
            continue;
        }
        for (int i = 0; i < GEMM_OPERANDS; i++)
            gemm->matrices[i].loops[gemm->n_loops] = strides[i];
        gemm->loops[gemm->n_loops++] = dim;
        gemm->n_calls = checked_mul(gemm->n_calls, dim);
    }
    return is_known(gemm->batch) && gemm->n_calls <= MAX_CALLS && is_known(gemm->n_calls);
}

/* Returns false if the addend is neither a row nor a row-major matrix of the result's shape. */
static bool read_addend(const struct cm_primitive *primitive, struct gemm *gemm) {
    gemm->addend = GEMM_NO_ADDEND;
    gemm->matrices[GEMM_C] = gemm->matrices[GEMM_Y];
    if (!primitive_has_bias(primitive)) return true;
    const struct cm_tensor *c = &primitive->inputs[2];
    int64_t rows = 1;
    for (int32_t i = 0; i < c->rank - 1; i++) rows = checked_mul(rows, c->dims[i]);
    const bool row = c->rank >= 1 && rows == 1 && c->dims[c->rank - 1] == gemm->n &&
                     (c->strides[c->rank - 1] == 1 || gemm->n == 1);
    if (row && (gemm->m > 1 || gemm->batch > 1)) {
        gemm->addend = GEMM_BIAS;
        return true;
    }
    gemm->addend = GEMM_MATRIX;
    if (row && c->rank == 1) {
        gemm->matrices[GEMM_C] = (struct gemm_matrix){.leading = gemm->n};
        return true;
    }
    struct gemm_matrix *matrix = &gemm->matrices[GEMM_C];
    return read_matrix(c, gemm->m, gemm->n, matrix) && !matrix->column_major;
}

int gemm_read(const struct cm_primitive *primitive, struct gemm *ret,
              struct cm_reason *reason) {
    const struct cm_tensor *a = &primitive->inputs[0];
    const struct cm_tensor *b = &primitive->inputs[1];
    const struct cm_tensor *y = &primitive->outputs[0];
    struct gemm_matrix *matrices = ret->matrices;
    if (a->rank < 2 || y->rank < 2 || b->rank < 2)
        return cuda_refuse(reason, CM_BACKEND_REFUSED, "an operand is not a matrix");
    *ret = (struct gemm){.m = y->dims[y->rank - 2],
                         .n = y->dims[y->rank - 1],
                         .k = a->dims[a->rank - 1],
                         .batch = 1,
                         .n_calls = 1};
    if (!read_matrix(a, ret->m, ret->k, &matrices[GEMM_A]) ||
        !read_matrix(b, ret->k, ret->n, &matrices[GEMM_B]) ||
        !read_matrix(y, ret->m, ret->n, &matrices[GEMM_Y]) || matrices[GEMM_Y].column_major)
        return cuda_refuse(reason, CM_BACKEND_REFUSED, "one stride of each matrix must be 1");
    if (!read_addend(primitive, ret) || !read_batch(primitive, ret))
        return cuda_refuse(reason, CM_BACKEND_REFUSED,
                           "the batches or the addend do not match");
    if (ret->m == 0 || ret->n == 0 || ret->k == 0 || ret->batch == 0 || ret->n_calls == 0)
        return cuda_refuse(reason, CM_BACKEND_REFUSED, "an operand is empty");
    return CM_BACKEND_OK;
}

int64_t gemm_offset(const struct gemm *gemm, enum gemm_operand which, int64_t index) {
    int64_t offset = 0;
    for (int32_t i = 0; i < gemm->n_loops; i++) {
        offset += index % gemm->loops[i] * gemm->matrices[which].loops[i];
        index /= gemm->loops[i];
    }
    return offset;
}
