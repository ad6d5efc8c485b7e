/* SPDX-License-Identifier: Apache-2.0 */
/* The conventions of tools that count a running PyTorch model: torch.utils.flop_counter,
 * fvcore, ptflops and thop. They count modules and ATen calls, from which the exporter made the
 * nodes of the file. docs/conventions.md lists the differences. The functions of onnx-tool,
 * which counts the nodes of the file, follow at the end. */
#include "ops/flops/terms.h"

#include "ops/op_context.h"
#include "support/checked.h"
#include "support/text.h"

/* fvcore counts a global average pool only if it is two-dimensional: adaptive_avg_pool2d. */
int64_t fvcore_planar_input(const struct op_context *context) {
    return term_spatial(context) == 2 ? op_elements(context, 0) : 0;
}

/* Per output element: upsample_nearest2d 1, upsample_bilinear2d 4. */
int64_t fvcore_resize(const struct op_context *context) {
    if (term_spatial(context) != 2) return 0;
    const char *mode = op_attr_string(context, "mode");
    if (text_equal(mode, "cubic")) return 0;
    return checked_mul(text_equal(mode, "nearest") ? 1 : 4, op_output_elements(context, 0));
}

/* Returns true if operand `slot` is a learned vector and operand `other` a computed tensor. */
static bool is_vector_of(const struct op_context *context, size_t slot, size_t other) {
    return op_input(context, slot)->is_weight && op_rank(context, slot) == 1 &&
           !op_input(context, other)->is_constant && op_rank(context, other) > 1;
}

/* A Linear on a rank-3 input is exported as a MatMul and an Add of a learned vector. The vector
 * distinguishes this Add from an addition of the model, which no tool counts. */
int64_t ptflops_linear_bias(const struct op_context *context) {
    const bool is_bias = is_vector_of(context, 0, 1) || is_vector_of(context, 1, 0);
    return is_bias ? op_output_elements(context, 0) : 0;
}

/* Per cell: biases, and the operations after the products: RNN 1, GRU 1 + 3 + 3, LSTM 4 + 3 + 3
 * (rnn_flops in pytorch_ops.py of ptflops). */
int64_t ptflops_recurrence(const struct op_context *context) {
    const int64_t gates = term_gates(context);
    const int64_t after = gates == 4 ? 10 : gates == 3 ? 7 : 1;
    const int64_t biases = op_has_input(context, 3) ? 2 * gates : 0;
    return checked_mul(after + biases, term_cells(context));
}

/* Returns out * Cin/g * kernel. This reproduces a bug of thop: a transposed convolution has
 * in * Cout/g * kernel MACs. */
int64_t thop_conv_transpose(const struct op_context *context) {
    const int rank = op_rank(context, 1);
    if (rank < 2) return DIM_UNKNOWN;
    int64_t taps = checked_div_floor(op_dim(context, 1, 0), op_attr_int(context, "group"));
    for (int i = 2; i < rank; i++) taps = checked_mul(taps, op_dim(context, 1, i));
    return checked_mul(taps, op_output_elements(context, 0));
}

/* thop counts nn.Linear, not torch.matmul. A product with a constant was an nn.Linear. */
int64_t thop_matmul(const struct op_context *context) {
    return op_input(context, 0)->is_constant || op_input(context, 1)->is_constant
               ? context->macs
               : 0;
}

/* Per row of n: n exponentials, n - 1 additions, n quotients. */
int64_t thop_softmax_flops(int64_t elements, int64_t rows) {
    return elements == 0 ? 0 : checked_sub(checked_mul(3, elements), rows);
}

int64_t thop_softmax(const struct op_context *context) {
    return thop_softmax_flops(op_elements(context, 0), term_softmax_rows(context));
}

/* Per output element: nearest 1, linear 5, bilinear 11, bicubic 259; trilinear 0, as thop does
 * not support it. */
int64_t thop_resize(const struct op_context *context) {
    const char *mode = op_attr_string(context, "mode");
    const int spatial = term_spatial(context);
    int64_t each = spatial == 1 ? 5 : spatial == 2 ? 11 : 0;
    if (text_equal(mode, "nearest")) each = 1;
    if (text_equal(mode, "cubic")) each = 259;
    return checked_mul(each, op_output_elements(context, 0));
}

/* Per gate: an addition, two biases. Per cell: GRU 1 + 3, LSTM 3 + 1 (thop's rnn_hooks.py). */
int64_t thop_recurrence(const struct op_context *context) {
    const int64_t gates = term_gates(context);
    const int64_t per_gate = op_has_input(context, 3) ? 3 : 1;
    return checked_mul(gates * per_gate + (gates > 1 ? 4 : 0), term_cells(context));
}

/* onnx-tool 1.0 (onnx_tool/node.py) counts MACs, and estimates the x86 instructions of
 * elementwise operations (TOOL_EXP, ...). It fails on operators without a handler; only their
 * MACs are counted here. */

/* Returns out * prod(W.shape[1:]), plus the bias. This reproduces a bug of onnx-tool: it
 * assumes the weight layout of Conv, but W of ConvTranspose is [Cin, Cout/g, ...]. */
int64_t onnx_tool_conv_transpose(const struct op_context *context) {
    const int rank = op_rank(context, 1);
    if (rank == RANK_UNKNOWN) return DIM_UNKNOWN;
    int64_t flops = 1;
    for (int i = 1; i < rank; i++) flops = checked_mul(flops, op_dim(context, 1, i));
    flops = checked_mul(flops, op_output_elements(context, 0));
    return checked_add(flops, term_biases(context));
}

/* onnx-tool uses only the first axis of a three-dimensional window. */
int64_t onnx_tool_pool(const struct op_context *context) {
    const size_t axes = term_spatial(context) == 2 ? 2 : 1;
    return checked_mul(term_window(context, axes), op_output_elements(context, 0));
}

int64_t onnx_tool_resize(const struct op_context *context) {
    const char *mode = op_attr_string(context, "mode");
    if (text_equal(mode, "nearest")) return 0;
    return checked_mul(text_equal(mode, "cubic") ? 8 : 4, op_output_elements(context, 0));
}

int64_t onnx_tool_layer_norm(const struct op_context *context) {
    return checked_mul(1 + TOOL_SQRT + TOOL_DIV, term_rows_along_axis(context));
}

int64_t onnx_tool_local_response(const struct op_context *context) {
    int64_t per_element = checked_add(TOOL_DIV + TOOL_EXP + 1, op_attr_int(context, "size"));
    return checked_mul(per_element, op_output_elements(context, 0));
}

/* Returns the additions of the biases plus the operations of the gates. If there are two
 * directions, onnx-tool counts the gates of only one. */
int64_t onnx_tool_recurrence(const struct op_context *context) {
    const int64_t gates = term_gates(context);
    const int64_t biases = op_has_input(context, 3) ? 2 * gates : 0;
    const int64_t gate_flops =
        gates == 4 ? 4 + 3 * TOOL_EXP + 2 * TOOL_TANH + 4 : 3 + 2 * TOOL_EXP + TOOL_TANH + 5;
    int64_t cells = term_cells(context);
    int64_t one_way = op_dim(context, 1, 0) == 2 ? checked_div_floor(cells, 2) : cells;
    return checked_add(checked_mul(biases, cells), checked_mul(gate_flops, one_way));
}
