/* SPDX-License-Identifier: Apache-2.0 */
/* Functions and macros for the FLOPs in the facets of an operator (ops/onnx/facets.h). */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct op_context;

/* The fields `extra` and `extra_description` of a cost. */
#define PLUS(function, text) .extra = function, .extra_description = text

/* Returns one addition per output element if the node has the input `bias` of its operator row;
 * else 0. */
int64_t term_biases(const struct op_context *context);
#define BIASES PLUS(term_biases, "biases")
/* Returns 2 FLOPs per input element, 5 in training. */
int64_t term_batch_norm(const struct op_context *context);
/* Returns one FLOP per output element for each of bias and SiLU. */
int64_t term_causal_conv(const struct op_context *context);
/* Returns one operation per output element for each operand after the first: 3 per output
 * element for a Sum of four operands. */
int64_t term_operands(const struct op_context *context);
#define OPERANDS PLUS(term_operands, "output elements for each operand after the first")
/* Returns n - out, the operations of a reduction of n elements to `out`; 0 if n < out. */
int64_t term_reduction(const struct op_context *context);
#define REDUCTION PLUS(term_reduction, "input elements less output elements")

/* Functions of one convention: `extra` of struct op_flops. */
typedef int64_t flops_function(const struct op_context *context);
/* exact.c */
flops_function exact_batch_norm, exact_layer_norm, exact_rms_norm, exact_instance_norm,
    exact_group_norm, exact_local_response, exact_softmax, exact_log_softmax, exact_gelu,
    exact_max_pool, exact_average_pool, exact_resize, exact_mean, exact_recurrence,
    exact_butterflies, exact_frames, exact_determinant, exact_likelihood, exact_cross_entropy,
    exact_causal_convolution, exact_optimizer, exact_intercepts, exact_skip_norm,
    exact_embedding_norm, exact_contrib_group_norm, exact_fast_gelu, exact_fused,
    exact_mean_variance, exact_lp_norm, exact_dynamic_scale, exact_affine_grid, exact_hardmax,
    exact_roi_align, exact_bias_dropout, exact_branch_norm, exact_gated_norm,
    exact_gemma_rotary, exact_gates, exact_rotary;
/* tools.c */
flops_function fvcore_planar_input, fvcore_resize, ptflops_linear_bias, ptflops_recurrence,
    thop_conv_transpose, thop_matmul, thop_softmax, thop_resize, thop_recurrence,
    onnx_tool_conv_transpose, onnx_tool_pool, onnx_tool_resize, onnx_tool_layer_norm,
    onnx_tool_local_response, onnx_tool_recurrence;

#define EXACT_RECURRENCE PLUS(exact_recurrence, "for gates, states and biases of the cells")
/* exact_attention and exact_tree_votes are static in the files that use the macros. */
#define EXACT_ATTENTION                                                                        \
    PLUS(exact_attention,                                                                      \
         "operations: 6 per score, 1 more for a mask and for a bias, less 2 per row")
#define EXACT_FUSED        PLUS(exact_fused, "biases, sums and activations")
#define EXACT_BUTTERFLIES  PLUS(exact_butterflies, "additions outside MACs")
#define EXACT_INTERCEPTS   PLUS(exact_intercepts, "intercepts")
#define EXACT_TREE_VOTES   PLUS(exact_tree_votes, "additions, one per tree and row")
#define EXACT_RMS_NORM     PLUS(exact_rms_norm, "operations: 4 per input element, and 2 per row")
#define EXACT_SOFTMAX      PLUS(exact_softmax, "operations: 5 per input element, less 2 per row")
#define EXACT_MAX_POOL     PLUS(exact_max_pool, "operations: (window - 1) per output element")
#define EXACT_AVERAGE_POOL PLUS(exact_average_pool, "operations: window per output element")
#define EXACT_RESIZE       PLUS(exact_resize, "operations: (2 x neighbours - 1) per output element")
#define EXACT_BIAS_DROPOUT PLUS(exact_bias_dropout, "biases and residuals")
#define EXACT_ROTARY       PLUS(exact_rotary, "operations: 3 per rotated element")
#define FVCORE_RESIZE      PLUS(fvcore_resize, "operations: 1 or 4 per output element of an image")
#define PTFLOPS_RECURRENCE PLUS(ptflops_recurrence, "for gates, states and biases of the cells")
#define THOP_RECURRENCE    PLUS(thop_recurrence, "for gates, states and biases of the cells")
#define THOP_RESIZE        PLUS(thop_resize, "operations: 1, 5, 11 or 259 per output element")
#define ONNX_TOOL_RECURRENCE                                                                   \
    PLUS(onnx_tool_recurrence, "for gates, states and biases of the cells")
#define ONNX_TOOL_POOL   PLUS(onnx_tool_pool, "operations: window per output element")
#define ONNX_TOOL_RESIZE PLUS(onnx_tool_resize, "operations: 4 or 8 per output element")
#define LINEAR_BIAS      PLUS(ptflops_linear_bias, "biases of a Linear")

/* x86 instructions per element, as onnx-tool estimates them. */
#define TOOL_DIV  4
#define TOOL_EXP  32
#define TOOL_LOG  43
#define TOOL_SIN  39
#define TOOL_SQRT 24
#define TOOL_TANH (TOOL_EXP + 2 + TOOL_DIV)
#define TOOL_ATAN (TOOL_SQRT + 3 + 1 + TOOL_DIV)

/* Returns the `exact` FLOPs of attention besides those of its MACs: (6 + masks) * scores -
 * 2 * rows, where `masks` counts masks and biases; 0 without scores. */
int64_t exact_attention_scores_flops(int masks, int64_t scores, int64_t rows);
/* Returns the `thop` FLOPs of a softmax: exponentials, sums and quotients of `rows` rows with
 * `elements` scores in all. */
int64_t thop_softmax_flops(int64_t elements, int64_t rows);
/* Returns steps * batch * directions * hidden of LSTM, GRU, RNN. */
int64_t term_cells(const struct op_context *context);
/* Returns the number of gates of LSTM, GRU, RNN: 4, 3, 1. */
int64_t term_gates(const struct op_context *context);
/* Returns the product of at most the first `max_axes` sizes of kernel_shape. */
int64_t term_window(const struct op_context *context, size_t max_axes);
/* Returns the elements of input 0 divided by its size along the attribute `axis`. */
int64_t term_rows_along_axis(const struct op_context *context);
/* Returns the product of the dims of input 0 before the attribute `axis`: the rows that a
 * LayerNormalization normalizes. */
int64_t term_rows_before_axis(const struct op_context *context);
/* Returns the number of rows that Softmax, LogSoftmax, Hardmax and QLinearSoftmax normalize:
 * along the attribute `axis`; before opset 13, of all axes from `axis` on. */
int64_t term_softmax_rows(const struct op_context *context);
/* Returns the number of spatial axes of input 0, rank - 2 but at least 0; RANK_UNKNOWN. */
int term_spatial(const struct op_context *context);
