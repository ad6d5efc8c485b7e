/* SPDX-License-Identifier: Apache-2.0 */
/* Lowering of convolutions, matrix products, attention and quantization. Products of quantized
 * operands multiply 8-bit integers and accumulate in 32 bits. Libraries apply scales and zero
 * points in the epilogue of the product, so they are not operands of the primitive. */
#include "ops/lowering/lowering.h"

#include <string.h>

#include "ops/op_context.h"
#include "ops/product.h"
#include "ops/window.h"

/* Adds x, weight and bias (`weight` and `bias` of the row) and output 0. */
static bool add_operands(const struct op_context *context, struct cm_primitive *ret) {
    const size_t bias = context->op->bias;
    if (!lowering_add_input(context, 0, ret) ||
        !lowering_add_input(context, context->op->weight, ret))
        return false;
    if (bias > 0 && op_has_input(context, bias) && !lowering_add_input(context, bias, ret))
        return false;
    return lowering_add_output(context, 0, ret);
}

/* A transposed convolution has the window of the convolution from y to x. */
bool lower_conv(const struct op_context *context, int32_t which, struct cm_primitive *ret) {
    struct window window;
    const struct cm_tensor *x = &ret->inputs[0];
    const struct cm_tensor *y = &ret->outputs[0];
    const bool transposed = ret->kind == CM_DECONV;
    (void)which;
    if (!add_operands(context, ret)) return false;
    const int n = x->rank - 2;
    if (n < 1 || n > CM_MAX_SPATIAL || ret->inputs[1].rank != x->rank || y->rank != x->rank)
        return false;
    if (window_read(context, n, ret->inputs[1].dims + 2, &window) < 0) return false;
    ret->window.n_spatial = n;
    for (int i = 0; i < n; i++)
        if (!lowering_window(&window, i, (transposed ? y : x)->dims[2 + i],
                             (transposed ? x : y)->dims[2 + i], &ret->window))
            return false;
    ret->groups = op_attr_int(context, "group");
    return true;
}

bool lower_gemm(const struct op_context *context, int32_t which, struct cm_primitive *ret) {
    (void)which;
    if (!add_operands(context, ret)) return false;
    if (ret->inputs[0].rank != 2 || ret->inputs[1].rank != 2) return false;
    if (op_attr_int(context, "transA") != 0) lowering_swap(&ret->inputs[0], 0, 1);
    if (op_attr_int(context, "transB") != 0) lowering_swap(&ret->inputs[1], 0, 1);
    return true;
}

static void insert_one(struct cm_tensor *tensor, int at) {
    for (int i = tensor->rank; i > at; i--) tensor->dims[i] = tensor->dims[i - 1];
    tensor->dims[at] = 1;
    tensor->rank++;
    lowering_pack(tensor);
}

/* Merges the batch axes into the rows: [B, M, K] to [B * M, K]. */
static void merge_batch_into_rows(struct cm_tensor *tensor) {
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

/* As numpy.matmul: a 1-D operand becomes a row (operand 0) or a column (operand 1); if operand
 * 1 is one matrix, the batch axes of operand 0 are merged into its rows. */
bool lower_matmul(const struct op_context *context, int32_t which, struct cm_primitive *ret) {
    struct cm_tensor *a = &ret->inputs[0];
    struct cm_tensor *b = &ret->inputs[1];
    struct cm_tensor *y = &ret->outputs[0];
    (void)which;
    if (!add_operands(context, ret)) return false;
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
        merge_batch_into_rows(a);
        merge_batch_into_rows(y);
    }
    return true;
}

/* Reshapes to [batch, heads, length, width]: [2,5,48] with 6 heads to [2,6,5,8]. `heads` is 0
 * for decomposed attention, whose [batch * heads, length, width] gets 1 head. */
static bool split_heads(struct cm_tensor *tensor, int64_t heads) {
    if (tensor->rank == 4) return true;
    if (tensor->rank == 3 && heads == 0) {
        insert_one(tensor, 1);
        return true;
    }
    if (tensor->rank != 3 || heads < 1 || tensor->dims[2] % heads != 0) return false;
    const int64_t length = tensor->dims[1];
    const int64_t all = tensor->dims[2];
    tensor->rank = 4;
    tensor->dims[1] = heads;
    tensor->dims[2] = length;
    tensor->dims[3] = all / heads;
    tensor->strides[1] = tensor->dims[3];
    tensor->strides[2] = all;
    tensor->strides[3] = 1;
    return true;
}

bool lowering_attend(const struct op_context *context, const struct lowering_attention *from,
                     struct cm_primitive *ret) {
    struct cm_tensor *q = &ret->inputs[0], *k = &ret->inputs[1], past;
    for (size_t slot = 0; slot < 3; slot++)
        if (!lowering_add_input(context, slot, ret) ||
            !split_heads(&ret->inputs[slot], slot == 0 ? from->heads : from->kv_heads))
            return false;
    for (size_t i = 0; i < 2; i++) { /* keys, values */
        int64_t length = from->keys;
        if (length <= 0) { /* [B,H,S,D] and the past [B,H,P,D] give [B,H,P+S,D] */
            if (!op_has_input(context, from->past + i)) continue;
            if (!lowering_input(context, from->past + i, &past) || past.rank != 4) return false;
            length = checked_add(k[i].dims[2], past.dims[2]);
        } else if (k[i].dims[2] == length) {
            continue;
        }
        k[i].dims[2] = length;
        lowering_pack(&k[i]);
        if (!is_known(length)) return false;
    }
    if (op_has_input(context, from->mask) && !lowering_add_input(context, from->mask, ret))
        return false;
    /* Keys of a cache precede the queries; otherwise both start at the same position. A single
     * query behind a cache sees all keys. */
    ret->causal = from->is_causal ? CM_CAUSAL_FIRST : CM_CAUSAL_NONE;
    if (from->is_causal && from->has_cache && q->dims[2] != k->dims[2])
        ret->causal = q->dims[2] == 1 ? CM_CAUSAL_NONE : CM_CAUSAL_LAST;
    ret->scale = from->scale;
    return lowering_add_output(context, 0, ret) && split_heads(&ret->outputs[0], from->heads);
}

static struct cm_tensor matrix_of(int32_t element, int64_t rows, int64_t columns) {
    struct cm_tensor matrix = {.element = element, .rank = 2, .dims = {rows, columns}};
    lowering_pack(&matrix);
    return matrix;
}

bool lowering_model_product(const struct op_context *context, struct cm_primitive *ret) {
    const int32_t kind = op_primitive_kind(context->op);
    const int64_t macs = product_macs(context);
    const int64_t elements = op_elements(context, 0);
    struct cm_tensor x;
    if ((kind != CM_GEMM && kind != CM_ATTENTION) || !lowering_input(context, 0, &x) ||
        x.rank < 1 || !is_known(macs) || elements <= 0 || macs < elements)
        return false;
    const int64_t inner = x.dims[x.rank - 1];
    const int64_t rows = elements / inner;
    const int64_t columns = macs / elements;
    memset(ret, 0, sizeof *ret);
    ret->kind = CM_GEMM;
    ret->groups = 1;
    ret->n_inputs = 2;
    ret->n_outputs = 1;
    ret->inputs[0] = matrix_of(x.element, rows, inner);
    ret->inputs[1] = matrix_of(x.element, inner, columns);
    ret->outputs[0] = matrix_of(x.element, rows, columns);
    ret->causal = kind == CM_ATTENTION ? CM_CAUSAL_FIRST : CM_CAUSAL_NONE;
    return true;
}

enum attention_slots { MASK = 3, PAST_KEYS = 4, KEY_LENGTHS = 6, SCORES = 3 };

bool lower_attention(const struct op_context *context, int32_t which,
                     struct cm_primitive *ret) {
    const bool windowed =
        context->op->since >= 25 && (op_attr_int(context, "left_window_size") >= 0 ||
                                     op_attr_int(context, "right_window_size") >= 0);
    const struct lowering_attention attention = {
        .heads = op_attr_int(context, "q_num_heads"),
        .kv_heads = op_attr_int(context, "kv_num_heads"),
        .past = PAST_KEYS,
        .mask = MASK,
        .has_cache = op_has_input(context, PAST_KEYS) || op_has_input(context, KEY_LENGTHS),
        .is_causal = op_attr_int(context, "is_causal") != 0,
        .scale = op_attr_float(context, "scale"),
    };
    (void)which;
    return !windowed && op_attr_float(context, "softcap") == 0 &&
           !op_has_output(context, SCORES) && lowering_attend(context, &attention, ret);
}

/* Adds a scale or zero point, one per slice along `axis`, as a broadcast operand. Returns false
 * for blocked scales. */
static bool add_scale(const struct op_context *context, size_t slot, struct cm_primitive *ret) {
    int axis = 0;
    if (!lowering_add_input(context, slot, ret)) return false;
    struct cm_tensor *scale = &ret->inputs[ret->n_inputs - 1];
    const struct cm_tensor *x = &ret->inputs[0];
    if (scale->rank == 0 || (scale->rank == 1 && scale->dims[0] == 1)) return true;
    if (scale->rank != 1 || op_attr_int(context, "block_size") != 0) return false;
    if (!shape_axis(op_attr_int(context, "axis"), x->rank, &axis)) return false;
    const int64_t size = scale->dims[0];
    scale->rank = x->rank - axis;
    for (int i = 0; i < scale->rank; i++) scale->dims[i] = i == 0 ? size : 1;
    lowering_pack(scale);
    return true;
}

/* Adds x, scale and zero point. Sets *ret_zero to the index of the zero point; 0: none. */
static bool add_scales(const struct op_context *context, struct cm_primitive *ret,
                       int32_t *ret_zero) {
    *ret_zero = op_has_input(context, 2) ? 2 : 0;
    return lowering_add_input(context, 0, ret) && add_scale(context, 1, ret) &&
           (*ret_zero == 0 || add_scale(context, 2, ret)) &&
           lowering_add_output(context, 0, ret);
}

/* round(x / scale) + zero point */
bool lower_quantize(const struct op_context *context, int32_t which, struct cm_primitive *ret) {
    int32_t zero = 0;
    (void)which;
    return add_scales(context, ret, &zero) && lowering_step(ret, CM_DIVIDE, 1) &&
           lowering_step(ret, CM_ROUND, 0) && (zero == 0 || lowering_step(ret, CM_ADD, zero)) &&
           lowering_step(ret, CM_CAST, 0);
}

/* (x - zero point) scale */
bool lower_dequantize(const struct op_context *context, int32_t which,
                      struct cm_primitive *ret) {
    int32_t zero = 0;
    (void)which;
    return add_scales(context, ret, &zero) && lowering_step(ret, CM_CAST, 0) &&
           (zero == 0 || lowering_step(ret, CM_SUBTRACT, zero)) &&
           lowering_step(ret, CM_MULTIPLY, 1);
}
