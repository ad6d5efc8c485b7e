/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions, matrix products, recurrences. */
#include "ops/lowering.h"

#include <string.h>

#include "ops/rule.h"
#include "ops/window.h"

#include "support/banned.h"

/* x, weight, (bias); for a transposed convolution x and y change places in the window. */
static bool lower_conv(const struct rule *rule, int32_t which, struct cm_primitive *ret) {
    struct window window;
    const struct cm_tensor *x = &ret->inputs[0];
    const struct cm_tensor *y = &ret->outputs[0];
    (void)which;
    if (!lowering_take(rule, 0, ret) || !lowering_take(rule, 1, ret)) return false;
    if (rule_has_input(rule, 2) && !lowering_take(rule, 2, ret)) return false;
    if (!lowering_give(rule, 0, ret) || y->rank != x->rank) return false;
    const int n = x->rank - 2;
    if (n < 1 || n > CM_MAX_SPATIAL || ret->inputs[1].rank != x->rank) return false;
    if (window_read(rule, n, ret->inputs[1].dims + 2, &window) < 0) return false;
    const bool transposed = ret->kind == CM_DECONV;
    ret->window.n_spatial = n;
    for (int i = 0; i < n; i++)
        lowering_window(&window, i, (transposed ? y : x)->dims[2 + i],
                        (transposed ? x : y)->dims[2 + i], &ret->window);
    ret->groups = rule_attr_int(rule, "group");
    return true;
}

static void swap_last(struct cm_tensor *tensor) {
    const int a = tensor->rank - 2;
    const int b = tensor->rank - 1;
    const int64_t dim = tensor->dims[a];
    const int64_t stride = tensor->strides[a];
    tensor->dims[a] = tensor->dims[b];
    tensor->strides[a] = tensor->strides[b];
    tensor->dims[b] = dim;
    tensor->strides[b] = stride;
}

static bool lower_gemm(const struct rule *rule, int32_t which, struct cm_primitive *ret) {
    (void)which;
    if (!lowering_take(rule, 0, ret) || !lowering_take(rule, 1, ret)) return false;
    if (rule_has_input(rule, 2) && !lowering_take(rule, 2, ret)) return false;
    if (!lowering_give(rule, 0, ret)) return false;
    if (ret->inputs[0].rank != 2 || ret->inputs[1].rank != 2) return false;
    if (rule_attr_int(rule, "transA") != 0) swap_last(&ret->inputs[0]);
    if (rule_attr_int(rule, "transB") != 0) swap_last(&ret->inputs[1]);
    return true;
}

static void insert_one(struct cm_tensor *tensor, int at) {
    for (int i = tensor->rank; i > at; i--) tensor->dims[i] = tensor->dims[i - 1];
    tensor->dims[at] = 1;
    tensor->rank++;
    lowering_pack(tensor);
}

/* All rows of a batch in one matrix. */
static void join_rows(struct cm_tensor *tensor) {
    const int64_t last = tensor->dims[tensor->rank - 1];
    int64_t rows = 1;
    for (int i = 0; i < tensor->rank - 1; i++) rows = checked_mul(rows, tensor->dims[i]);
    memset(tensor->dims, 0, sizeof(tensor->dims));
    memset(tensor->strides, 0, sizeof(tensor->strides));
    tensor->rank = 2;
    tensor->dims[0] = rows;
    tensor->dims[1] = last;
    lowering_pack(tensor);
}

/* numpy's matmul: a vector is a row on the left, a column on the right. */
static bool lower_matmul(const struct rule *rule, int32_t which, struct cm_primitive *ret) {
    struct cm_tensor *a = &ret->inputs[0];
    struct cm_tensor *b = &ret->inputs[1];
    struct cm_tensor *y = &ret->outputs[0];
    (void)which;
    if (!lowering_take(rule, 0, ret) || !lowering_take(rule, 1, ret) ||
        !lowering_give(rule, 0, ret))
        return false;
    if (a->rank < 1 || b->rank < 1 || y->rank + 2 > CM_MAX_RANK) return false;
    if (a->rank == 1) {
        insert_one(a, 0);
        insert_one(y, b->rank > 1 ? y->rank - 1 : y->rank);
    }
    if (b->rank == 1) {
        insert_one(b, 1);
        insert_one(y, y->rank);
    }
    if (b->rank == 2 && a->rank > 2) {
        join_rows(a);
        join_rows(y);
    }
    return true;
}

/* X, W, R, (B); states and lengths are small. */
static bool lower_rnn(const struct rule *rule, int32_t which, struct cm_primitive *ret) {
    for (size_t slot = 0; slot < 4; slot++)
        if ((slot < 3 || rule_has_input(rule, slot)) && !lowering_take(rule, slot, ret))
            return false;
    const size_t result = rule_has_output(rule, 0) ? 0 : 1;
    if (!lowering_give(rule, result, ret) || ret->inputs[2].rank != 3) return false;
    ret->algorithm = which;
    ret->directions = (int32_t)ret->inputs[2].dims[0];
    ret->hidden = ret->inputs[2].dims[2];
    return true;
}

/* clang-format off */
const struct lowering_row lowering_products[] = {
    {"Conv",          lower_conv,   CM_CONV,   0},
    {"ConvTranspose", lower_conv,   CM_DECONV, 0},
    {"Gemm",          lower_gemm,   CM_GEMM,   0},
    {"MatMul",        lower_matmul, CM_GEMM,   0},
    {"RNN",           lower_rnn,    CM_RNN,    CM_RNN_TANH},
    {"LSTM",          lower_rnn,    CM_RNN,    CM_RNN_LSTM},
    {"GRU",           lower_rnn,    CM_RNN,    CM_RNN_GRU},
    {NULL, NULL, 0, 0},
};
/* clang-format on */
