/* SPDX-License-Identifier: Apache-2.0 */
/* Lowering: the primitive (costmodel/backend.h) of a node, which a backend measures. The facets
 * of each operator (`lowering`, ops/op.h) name a function of this header, or why there is none
 * (docs/decisions/operator-facets.md). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/backend.h"
#include "ops/op.h"

struct op_context;
struct window;

/* Computes the primitive of a node whose types are known: all fields but flops and bytes.
 * Returns false if there is none and sets *ret_why to the reason (static text). */
bool lowering_apply(const struct op_context *context, struct cm_primitive *ret,
                    const char **ret_why);

/* Computes the matrix product of operand 0 with as many columns as the MACs of the node
 * require, for models of devices: no backend can run the node itself (packed weights, experts,
 * attention with rotation). Returns false if it is not a product or a size is unknown. */
bool lowering_model_product(const struct op_context *context, struct cm_primitive *ret);

/* Describe operand (output) `slot` as a packed tensor; return false if its shape is unknown, it
 * has too many dims, or no primitive supports its dtype. */
bool lowering_input(const struct op_context *context, size_t slot, struct cm_tensor *ret);
bool lowering_output(const struct op_context *context, size_t slot, struct cm_tensor *ret);
/* Add operand (output) `slot` to the operands (results) of the primitive; return as above. */
bool lowering_add_input(const struct op_context *context, size_t slot,
                        struct cm_primitive *ret);
bool lowering_add_output(const struct op_context *context, size_t slot,
                         struct cm_primitive *ret);
/* Swaps two axes: dims and strides. */
void lowering_swap(struct cm_tensor *tensor, int a, int b);
/* Adds operand 0 and result 0. */
bool lowering_unary(const struct op_context *context, struct cm_primitive *ret);
/* Adds operands 0 and 1, and result 0. */
bool lowering_binary(const struct op_context *context, struct cm_primitive *ret);
/* Appends a function to the elementwise chain. The first function is applied to operand 0 of
 * the primitive; `operand` is the index of the second operand of a binary function. Returns
 * false if the chain is full. */
bool lowering_step(struct cm_primitive *ret, int32_t function, int32_t operand);
/* As lowering_step, for a unary function with constants. */
bool lowering_scaled(struct cm_primitive *ret, int32_t function, double alpha, double beta);
/* Sets axis i of *ret for a window with `steps` positions over `size` elements. The pads are
 * those of the file if they give `steps` positions; else they are adjusted (SAME, ceil_mode).
 * Returns false if a number is unknown or overflows. */
bool lowering_window(const struct window *window, int i, int64_t size, int64_t steps,
                     struct cm_window *ret);
/* Sets row-major strides. */
void lowering_pack(struct cm_tensor *tensor);
/* Sets *ret to the attribute `axis`, made non-negative; returns false if it is out of range. */
bool lowering_attr_axis(const struct op_context *context, int rank, int32_t *ret);

/* Attention of operands 0 to 2: [batch, heads, length, width], or packed
 * [batch, length, heads * width]. */
struct lowering_attention {
    int64_t heads, kv_heads; /* of packed operands; 0: the batch includes the heads */
    size_t past;             /* operand with the keys of a cache; the next one has its values */
    int64_t keys;            /* length of keys and values; 0: sum of operand 1's and `past`'s */
    size_t mask;             /* operand that masks the scores */
    bool has_cache;          /* the last query has the position of the last key */
    bool is_causal;
    double scale; /* of the scores; 0: 1 / sqrt(width) */
};
/* Adds operands, mask and result 0; returns false if a tensor cannot be described or has the
 * wrong rank. `past` and `mask` may be slots of omitted operands. */
bool lowering_attend(const struct op_context *context, const struct lowering_attention *from,
                     struct cm_primitive *ret);

/* The functions that facets name: `lower` of struct op_lowering. */
typedef bool lower_function(const struct op_context *context, int32_t which,
                            struct cm_primitive *ret);
/* Products: lowering_products.c. */
lower_function lower_conv, lower_gemm, lower_matmul, lower_attention, lower_quantize,
    lower_dequantize;
/* Pools, norms, softmax, reductions, resizing: lowering_layers.c. */
lower_function lower_pool, lower_global_pool, lower_norm, lower_softmax, lower_reduce,
    lower_arg, lower_lrn, lower_mean_variance, lower_resample;
/* Elementwise operators: lowering.c. */
lower_function lower_unary, lower_scaled, lower_clip, lower_gelu, lower_celu, lower_selu,
    lower_softsign, lower_is_inf, lower_binary, lower_variadic, lower_mean, lower_gated,
    lower_select, lower_dropout;
/* Operators that move elements: lowering_moves.c. */
lower_function lower_transpose, lower_concat, lower_expand, lower_slice, lower_copy, lower_tile,
    lower_blocks, lower_gather, lower_scatter, lower_tensor_scatter;

/* Why an operator has no primitive. */
#define LIMIT_ATTENTION                                                                        \
    "attention with a window, a soft cap or scores as a result has no primitive"
#define LIMIT_FUSED_ATTENTION                                                                  \
    "attention with biases, padding, rotation, packed operands, windows or a soft cap has no " \
    "primitive"
#define LIMIT_BLOCKED_SCALES "scales of blocks have no primitive"
#define LIMIT_CELLS          "only the usual cell has a primitive: no peepholes, no other functions"
#define LIMIT_EINSUM                                                                           \
    "three operands, diagonals, or sums over one operand of two have no primitive"
#define LIMIT_OPERANDS  "more than 5 operands, 4 of a mean, have no primitive"
#define LIMIT_REDUCTION "axes that are not known before it runs have no primitive"
#define LIMIT_RESIZE    "only nearest and linear resizing of 1 to 3 spatial dims has a primitive"
#define LIMIT_SPATIAL   "only 1 to 3 spatial dims have a primitive"
#define LIMIT_SPATIAL_3 "more than 3 spatial dims have no primitive"
#define LIMIT_TILE      "more dims than 8, repeated ones counted twice, have no primitive"
#define NO_BLOCKED_LAYOUT                                                                      \
    "channels in blocks are one processor's own, which no primitive is asked for"
#define NO_CHANNELS_LAST    "its channels stand last, which no primitive is asked for"
#define NO_CONTRIB          "no primitive does what ONNX Runtime's own operator does"
#define NO_FILL             "it reads nothing: no primitive only writes"
#define NO_FOURIER          "no primitive transforms to frequencies"
#define NO_FUSED            "what ONNX Runtime fused is more than one primitive"
#define NO_LINEAR_ATTENTION "no primitive runs attention as a recurrence"
#define NO_LOSS             "a softmax, a selection and a reduction are more than one primitive"
#define NO_ML               "no primitive has the learners of ai.onnx.ml"
#define NO_OPTIMIZER        "no primitive is a step of an optimizer"
#define NO_PACKED           "no primitive has packed weights or chooses experts"
#define NO_QUANTIZED        "of integers that ONNX Runtime quantizes no primitive is known"
#define NO_RANDOM           "no primitive draws random numbers"
#define NO_ROTARY           "two products and what joins them are more than one primitive"
#define NO_SAMPLING         "it samples at places that it computes: no primitive does"
#define NO_SEQUENCE         "sequences have no primitive"
#define NO_SORT             "work is data-dependent; no sort or select primitive"
#define NO_STRING           "no primitive works on texts"
#define TWO_PRIMITIVES      "a reduction and the computation on its result are two primitives"
