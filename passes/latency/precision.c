/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaces the dtype of fp32 tensors; others are unchanged. fp16 and bf16 apply to all tensors,
 * amp (fp16) to those of products only. 8-bit dtypes apply to the operands of products only,
 * with the output dtype of the libraries:
 *
 *     int8  i32 for cuBLASLt (CUBLAS_COMPUTE_32I); i8 for convolutions, which a deployed
 *           network requantizes in the same kernel, after adding an f32 bias
 *     fp8   f16 for cuBLASLt (e4m3 operands, CUBLAS_COMPUTE_32F)
 *
 * With int8 and fp8, all other nodes are fp16, also attention and recurrences: their 8-bit
 * forms need scales that an fp32 file does not contain.
 */
#include "passes/latency/precision.h"

#include "costmodel/backend.h"
#include "ops/op_context.h"
#include "passes/pass.h"
#include "support/arena.h"
#include "support/diag.h"

#include "support/banned.h"

struct elements {
    enum dtype factors; /* both operands of a product */
    enum dtype image;   /* output of a convolution */
    enum dtype bias;    /* bias of a convolution */
    enum dtype matrix;  /* output and addend of a matrix product */
    enum dtype rest;
};

static const struct elements precisions[CM_N_PRECISIONS] = {
    [CM_PRECISION_FP16] = {DTYPE_FLOAT16, DTYPE_FLOAT16, DTYPE_FLOAT16, DTYPE_FLOAT16,
                           DTYPE_FLOAT16},
    [CM_PRECISION_BF16] = {DTYPE_BFLOAT16, DTYPE_BFLOAT16, DTYPE_BFLOAT16, DTYPE_BFLOAT16,
                           DTYPE_BFLOAT16},
    [CM_PRECISION_INT8] = {DTYPE_INT8, DTYPE_INT8, DTYPE_FLOAT, DTYPE_INT32, DTYPE_FLOAT16},
    [CM_PRECISION_FP8] = {DTYPE_FLOAT8E4M3FN, DTYPE_FLOAT16, DTYPE_FLOAT16, DTYPE_FLOAT16,
                          DTYPE_FLOAT16},
    [CM_PRECISION_AMP] = {DTYPE_FLOAT16, DTYPE_FLOAT16, DTYPE_FLOAT16, DTYPE_FLOAT16,
                          DTYPE_FLOAT},
};

bool precision_changes(enum cm_precision precision) {
    return precisions[precision].rest != DTYPE_UNDEFINED;
}

static bool is_convolution(int32_t kind) {
    return kind == CM_CONV || kind == CM_DECONV;
}

/* Role of an operand or result in a product. */
enum part { PART_FACTOR, PART_ADDEND, PART_RESULT };

static enum dtype dtype_of(const struct elements *elements, int32_t kind, enum part part) {
    if (!is_convolution(kind) && kind != CM_GEMM) return elements->rest;
    if (part == PART_FACTOR) return elements->factors;
    if (!is_convolution(kind)) return elements->matrix;
    return part == PART_ADDEND ? elements->bias : elements->image;
}

static const struct value_info *changed(struct arena *arena, const struct value_info *info,
                                        enum dtype dtype) {
    if (info == NULL || info->kind != CM_TYPE_TENSOR || info->dtype != DTYPE_FLOAT) return info;
    struct value_info *copy = arena_alloc(arena, sizeof(*copy));
    if (copy == NULL) return NULL;
    *copy = *info;
    copy->dtype = dtype;
    return copy;
}

/* Returns true if the first two operands are fp32. If they are integers, the fp32 operands of a
 * product are scales, not factors. */
static bool has_factors(const struct op_context *context) {
    return op_dtype(context, 0) == DTYPE_FLOAT && op_dtype(context, 1) == DTYPE_FLOAT;
}

int precision_apply(const struct analysis *analysis, int32_t kind, struct op_context *context) {
    const bool factors = has_factors(context);
    const struct elements *elements = &precisions[analysis->options->precision];
    const struct value_info **inputs =
        arena_array(analysis->arena, context->n_inputs, sizeof(struct value_info *));
    if (inputs == NULL && context->n_inputs > 0) return diag_no_memory(analysis->diag);
    for (size_t i = 0; i < context->n_inputs; i++) {
        const enum dtype dtype =
            dtype_of(elements, kind, factors && i < 2 ? PART_FACTOR : PART_ADDEND);
        inputs[i] = changed(analysis->arena, context->inputs[i], dtype);
        if (inputs[i] == NULL && context->inputs[i] != NULL)
            return diag_no_memory(analysis->diag);
    }
    for (size_t i = 0; i < context->n_outputs; i++) {
        struct value_info *output = &context->outputs[i];
        if (output->kind == CM_TYPE_TENSOR && output->dtype == DTYPE_FLOAT)
            output->dtype = dtype_of(elements, kind, PART_RESULT);
    }
    context->inputs = inputs;
    return CM_OK;
}
