/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What fp32 becomes. Halves are halves throughout. Eight bits are for the operands of products
 * alone, and what comes out of these is what the libraries give that have them:
 *     int8  cuBLASLt adds up in i32 and gives i32 (CUBLAS_COMPUTE_32I); cuDNN's convolution f32
 *     fp8   cuBLASLt gives f16 (e4m3 operands, CUBLAS_COMPUTE_32F)
 * All else is then fp16, attention and recurrences too: their eight-bit forms want scales that
 * no file of fp32 has. What is not fp32 stays as it is.
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
    enum dtype image;   /* the result of a convolution, and what is added to it */
    enum dtype matrix;  /* the same of a matrix product */
    enum dtype rest;
};

static const struct elements precisions[CM_N_PRECISIONS] = {
    [CM_PRECISION_FP16] = {DTYPE_FLOAT16, DTYPE_FLOAT16, DTYPE_FLOAT16, DTYPE_FLOAT16},
    [CM_PRECISION_BF16] = {DTYPE_BFLOAT16, DTYPE_BFLOAT16, DTYPE_BFLOAT16, DTYPE_BFLOAT16},
    [CM_PRECISION_INT8] = {DTYPE_INT8, DTYPE_FLOAT, DTYPE_INT32, DTYPE_FLOAT16},
    [CM_PRECISION_FP8] = {DTYPE_FLOAT8E4M3FN, DTYPE_FLOAT16, DTYPE_FLOAT16, DTYPE_FLOAT16},
};

bool precision_changes(enum cm_precision precision) {
    return precisions[precision].rest != DTYPE_UNDEFINED;
}

static bool is_convolution(int32_t kind) {
    return kind == CM_CONV || kind == CM_DECONV;
}

/* The first two operands of a product are its factors. */
static enum dtype dtype_of(const struct elements *elements, int32_t kind, bool is_factor) {
    if (!is_convolution(kind) && kind != CM_GEMM) return elements->rest;
    if (is_factor) return elements->factors;
    return is_convolution(kind) ? elements->image : elements->matrix;
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

/* Not those of a product of integers, whose other operands are scales. */
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
        const enum dtype dtype = dtype_of(elements, kind, factors && i < 2);
        inputs[i] = changed(analysis->arena, context->inputs[i], dtype);
        if (inputs[i] == NULL && context->inputs[i] != NULL)
            return diag_no_memory(analysis->diag);
    }
    for (size_t i = 0; i < context->n_outputs; i++) {
        struct value_info *output = &context->outputs[i];
        if (output->kind == CM_TYPE_TENSOR && output->dtype == DTYPE_FLOAT)
            output->dtype = dtype_of(elements, kind, false);
    }
    context->inputs = inputs;
    return CM_OK;
}
