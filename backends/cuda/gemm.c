/* SPDX-License-Identifier: Apache-2.0 */
/* Reads shapes and strides of a product as one or several strided batches. */
#include "backends/cuda/gemm.h"

#include "backends/cuda/refuse.h"
#include "backends/primitive.h"
#include "support/checked.h"

#include "support/banned.h"

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

#define N_MATRICES 4

static struct gemm_matrix *matrix_at(struct gemm *gemm, int i) {
    struct gemm_matrix *const all[N_MATRICES] = {&gemm->a, &gemm->b, &gemm->y, &gemm->c};
    return all[i];
}

/* Returns true if a batch dim with these strides continues the batch: in every matrix, its
 * stride is the batch stride times the batch size. */
static bool continues_batch(struct gemm *gemm, const int64_t *strides) {
    for (int i = 0; i < N_MATRICES; i++)
        if (strides[i] != checked_mul(matrix_at(gemm, i)->batch, gemm->batch)) return false;
    return true;
}

static void add_loop(struct gemm *gemm, int64_t dim, const int64_t *strides) {
    gemm->loops[gemm->n_loops] = dim;
    for (int i = 0; i < N_MATRICES; i++) matrix_at(gemm, i)->loops[gemm->n_loops] = strides[i];
    gemm->n_loops++;
    gemm->n_calls = checked_mul(gemm->n_calls, dim);
}

/* Merges batch dims into `batch`, from the innermost outwards; the rest become loops. */
static bool read_batch(const struct cm_primitive *primitive, struct gemm *gemm) {
    const struct cm_tensor *y = &primitive->outputs[0];
    const bool with_c = gemm->addend == GEMM_MATRIX;
    const struct cm_tensor *tensors[N_MATRICES] = {&primitive->inputs[0], &primitive->inputs[1],
                                                   y, with_c ? &primitive->inputs[2] : y};
    for (int32_t axis = y->rank - 3; axis >= 0; axis--) {
        int64_t strides[N_MATRICES];
        for (int i = 0; i < N_MATRICES; i++)
            if (!batch_stride(tensors[i], y, axis, &strides[i])) return false;
        if (y->dims[axis] == 1) continue;
        if (gemm->batch == 1 && gemm->n_loops == 0) {
            gemm->batch = y->dims[axis];
            for (int i = 0; i < N_MATRICES; i++) matrix_at(gemm, i)->batch = strides[i];
        } else if (gemm->n_loops == 0 && continues_batch(gemm, strides)) {
            gemm->batch = checked_mul(gemm->batch, y->dims[axis]);
        } else {
            add_loop(gemm, y->dims[axis], strides);
        }
    }
    return is_known(gemm->batch) && gemm->n_calls <= MAX_CALLS && is_known(gemm->n_calls);
}

static bool read_addend(const struct cm_primitive *primitive, struct gemm *gemm) {
    gemm->addend = GEMM_NO_ADDEND;
    gemm->c = gemm->y;
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
        gemm->c = (struct gemm_matrix){.leading = gemm->n};
        return true;
    }
    return read_matrix(c, gemm->m, gemm->n, &gemm->c) && !gemm->c.column_major;
}

bool gemm_read(const struct cm_primitive *primitive, struct gemm *ret,
               struct cm_reason *reason) {
    const struct cm_tensor *a = &primitive->inputs[0];
    const struct cm_tensor *y = &primitive->outputs[0];
    struct gemm gemm = {.batch = 1, .n_calls = 1};
    if (a->rank < 2 || y->rank < 2 || primitive->inputs[1].rank < 2) {
        (void)cuda_refuse(reason, 0, "an operand is not a matrix");
        return false;
    }
    gemm.m = y->dims[y->rank - 2];
    gemm.n = y->dims[y->rank - 1];
    gemm.k = a->dims[a->rank - 1];
    bool fits = read_matrix(a, gemm.m, gemm.k, &gemm.a) &&
                read_matrix(&primitive->inputs[1], gemm.k, gemm.n, &gemm.b) &&
                read_matrix(y, gemm.m, gemm.n, &gemm.y) && !gemm.y.column_major;
    if (!fits) {
        (void)cuda_refuse(reason, 0, "one stride of each matrix must be 1");
        return false;
    }
    fits = read_addend(primitive, &gemm) && read_batch(primitive, &gemm);
    if (!fits) {
        (void)cuda_refuse(reason, 0, "the batches or the addend do not match");
        return false;
    }
    if (gemm.m == 0 || gemm.n == 0 || gemm.k == 0 || gemm.batch == 0 || gemm.n_calls == 0) {
        (void)cuda_refuse(reason, 0, "an operand is empty");
        return false;
    }
    *ret = gemm;
    return true;
}

int64_t gemm_offset(const struct gemm *gemm, const struct gemm_matrix *matrix, int64_t index) {
    int64_t offset = 0;
    for (int32_t i = 0; i < gemm->n_loops; i++) {
        offset += index % gemm->loops[i] * matrix->loops[i];
        index /= gemm->loops[i];
    }
    return offset;
}
