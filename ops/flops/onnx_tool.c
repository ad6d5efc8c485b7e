/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The convention of onnx-tool 1.0 (onnx_tool/node.py): MACs, plus onnx-tool's estimate of x86
 * instructions for elementwise operations (TOOL_EXP, ...). onnx-tool fails on operators without
 * a handler; this table counts only their MACs.
 */
#include "ops/flops/terms.h"

#include "ops/op_context.h"
#include "support/checked.h"
#include "support/text.h"

#include "support/banned.h"

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

/*
 * Returns the additions of the biases, in every direction, and the operations of the gates,
 * which onnx-tool counts for one direction even if there are two.
 */
int64_t onnx_tool_recurrence(const struct op_context *context) {
    const int64_t gates = term_gates(context);
    const int64_t biases = op_has_input(context, 3) ? 2 * gates : 0;
    const int64_t gate_flops =
        gates == 4 ? 4 + 3 * TOOL_EXP + 2 * TOOL_TANH + 4 : 3 + 2 * TOOL_EXP + TOOL_TANH + 5;
    int64_t cells = term_cells(context);
    int64_t one_way = op_dim(context, 1, 0) == 2 ? checked_div_floor(cells, 2) : cells;
    return checked_add(checked_mul(biases, cells), checked_mul(gate_flops, one_way));
}
