/* SPDX-License-Identifier: Apache-2.0 */
/* Functions and macros for the FLOPs of a FACETS line (ops/facets.h). */
#ifndef OPS_FLOPS_TERMS_H
#define OPS_FLOPS_TERMS_H

#include <stddef.h>
#include <stdint.h>

struct op_context;

/* Returns one addition per output element if the node has the input `bias` of its operator row;
 * else 0. */
int64_t term_biases(const struct op_context *context);
#define BIASES .extra = term_biases, .extra_description = "biases"
/* Returns 2 FLOPs per input element, 5 in training. */
int64_t term_batch_norm(const struct op_context *context);
/* Returns one FLOP per output element for each of bias and SiLU. */
int64_t term_causal_conv(const struct op_context *context);
/* Returns one operation per output element for each operand after the first: 3 per output
 * element for a Sum of four operands. */
int64_t term_operands(const struct op_context *context);
#define OPERANDS                                                                               \
    .extra = term_operands,                                                                    \
    .extra_description = "output elements for each operand after the first"
/* Returns n - out, the operations of a reduction of n elements to `out` results; 0 if n < out.
 */
int64_t term_reduction(const struct op_context *context);
#define REDUCTION                                                                              \
    .extra = term_reduction, .extra_description = "input elements less output elements"

/* Functions of one convention: `extra` of struct op_flops. */
#define FLOPS_FUNCTION(name) int64_t name(const struct op_context *context)
/* exact.c */
FLOPS_FUNCTION(exact_batch_norm);
FLOPS_FUNCTION(exact_layer_norm);
FLOPS_FUNCTION(exact_rms_norm);
FLOPS_FUNCTION(exact_instance_norm);
FLOPS_FUNCTION(exact_group_norm);
FLOPS_FUNCTION(exact_local_response);
FLOPS_FUNCTION(exact_softmax);
FLOPS_FUNCTION(exact_log_softmax);
FLOPS_FUNCTION(exact_gelu);
FLOPS_FUNCTION(exact_max_pool);
FLOPS_FUNCTION(exact_average_pool);
FLOPS_FUNCTION(exact_resize);
FLOPS_FUNCTION(exact_mean);
FLOPS_FUNCTION(exact_recurrence);
FLOPS_FUNCTION(exact_butterflies);
FLOPS_FUNCTION(exact_frames);
FLOPS_FUNCTION(exact_determinant);
FLOPS_FUNCTION(exact_likelihood);
FLOPS_FUNCTION(exact_cross_entropy);
FLOPS_FUNCTION(exact_causal_convolution);
FLOPS_FUNCTION(exact_adagrad);
FLOPS_FUNCTION(exact_adam);
FLOPS_FUNCTION(exact_momentum);
FLOPS_FUNCTION(exact_intercepts);
FLOPS_FUNCTION(exact_skip_norm);
FLOPS_FUNCTION(exact_embedding_norm);
FLOPS_FUNCTION(exact_contrib_group_norm);
FLOPS_FUNCTION(exact_fast_gelu);
FLOPS_FUNCTION(exact_fused);
FLOPS_FUNCTION(exact_mean_variance);
FLOPS_FUNCTION(exact_lp_norm);
FLOPS_FUNCTION(exact_dynamic_scale);
FLOPS_FUNCTION(exact_affine_grid);
FLOPS_FUNCTION(exact_hardmax);
FLOPS_FUNCTION(exact_roi_align);
FLOPS_FUNCTION(exact_bias_dropout);
FLOPS_FUNCTION(exact_branch_norm);
FLOPS_FUNCTION(exact_gated_norm);
FLOPS_FUNCTION(exact_gemma_rotary);
FLOPS_FUNCTION(exact_gates);
/* ops/onnx/transformer.c */
FLOPS_FUNCTION(exact_rotary);
FLOPS_FUNCTION(exact_linear_attention);
/* pytorch.c */
FLOPS_FUNCTION(fvcore_planar_input);
FLOPS_FUNCTION(fvcore_resize);
FLOPS_FUNCTION(ptflops_linear_bias);
FLOPS_FUNCTION(ptflops_recurrence);
FLOPS_FUNCTION(thop_conv_transpose);
FLOPS_FUNCTION(thop_matmul);
FLOPS_FUNCTION(thop_softmax);
FLOPS_FUNCTION(thop_resize);
FLOPS_FUNCTION(thop_recurrence);
/* onnx_tool.c */
FLOPS_FUNCTION(onnx_tool_conv_transpose);
FLOPS_FUNCTION(onnx_tool_pool);
FLOPS_FUNCTION(onnx_tool_resize);
FLOPS_FUNCTION(onnx_tool_layer_norm);
FLOPS_FUNCTION(onnx_tool_local_response);
FLOPS_FUNCTION(onnx_tool_recurrence);
#undef FLOPS_FUNCTION

#define EXACT_RECURRENCE                                                                       \
    .extra = exact_recurrence, .extra_description = "for gates, states and biases of the "     \
                                                    "cells"
/* exact_attention and exact_tree_votes are static functions of the files that use the macros.
 */
#define EXACT_ATTENTION                                                                        \
    .extra = exact_attention,                                                                  \
    .extra_description =                                                                       \
        "operations: 6 per score, 1 more for a mask and for a bias, less 2 per row"
#define EXACT_FUSED .extra = exact_fused, .extra_description = "biases, sums and activations"
#define EXACT_BUTTERFLIES                                                                      \
    .extra = exact_butterflies, .extra_description = "additions outside MACs"
#define EXACT_INTERCEPTS .extra = exact_intercepts, .extra_description = "intercepts"
#define EXACT_TREE_VOTES                                                                       \
    .extra = exact_tree_votes, .extra_description = "additions, one per tree and row"
#define EXACT_RMS_NORM                                                                         \
    .extra = exact_rms_norm,                                                                   \
    .extra_description = "operations: 4 per input element, and 2 per row"
#define EXACT_SOFTMAX                                                                          \
    .extra = exact_softmax,                                                                    \
    .extra_description = "operations: 5 per input element, less 2 per row"
#define EXACT_MAX_POOL                                                                         \
    .extra = exact_max_pool, .extra_description = "operations: (window - 1) per output "       \
                                                  "element"
#define EXACT_AVERAGE_POOL                                                                     \
    .extra = exact_average_pool, .extra_description = "operations: window per output element"
#define EXACT_RESIZE                                                                           \
    .extra = exact_resize,                                                                     \
    .extra_description = "operations: (2 x neighbours - 1) per output element"
#define EXACT_BIAS_DROPOUT                                                                     \
    .extra = exact_bias_dropout, .extra_description = "biases and residuals"
#define EXACT_ROTARY                                                                           \
    .extra = exact_rotary, .extra_description = "operations: 3 per rotated element"
#define FVCORE_RESIZE                                                                          \
    .extra = fvcore_resize,                                                                    \
    .extra_description = "operations: 1 or 4 per output element of an image"
#define PTFLOPS_RECURRENCE                                                                     \
    .extra = ptflops_recurrence,                                                               \
    .extra_description = "for gates, states and biases of the cells"
#define THOP_RECURRENCE                                                                        \
    .extra = thop_recurrence, .extra_description = "for gates, states and biases of the cells"
#define THOP_RESIZE                                                                            \
    .extra = thop_resize, .extra_description = "operations: 1, 5, 11 or 259 per output "       \
                                               "element"
#define ONNX_TOOL_RECURRENCE                                                                   \
    .extra = onnx_tool_recurrence,                                                             \
    .extra_description = "for gates, states and biases of the cells"
#define ONNX_TOOL_POOL                                                                         \
    .extra = onnx_tool_pool, .extra_description = "operations: window per output element"
#define ONNX_TOOL_RESIZE                                                                       \
    .extra = onnx_tool_resize, .extra_description = "operations: 4 or 8 per output element"
#define LINEAR_BIAS .extra = ptflops_linear_bias, .extra_description = "biases of a Linear"

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
/* Returns the number of spatial axes of input 0, rank - 2 but at least 0; RANK_UNKNOWN if the
 * rank is unknown. */
int term_spatial(const struct op_context *context);

#endif
