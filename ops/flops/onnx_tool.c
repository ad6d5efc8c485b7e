/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The convention of onnx-tool 1.0 (onnx_tool/node.py): MACs, and every elementwise operation at
 * the number of x86 instructions that it is taken for. Operators without a handler stop the
 * tool; here they cost their MACs.
 */
#include "ops/flops/tables.h"

#include "ops/op_context.h"
#include "support/checked.h"
#include "support/text.h"

#include "support/banned.h"

/* Its prices. */
#define DIV  4
#define EXP  32
#define LOG  43
#define SIN  39
#define SQRT 24
#define TANH (EXP + 2 + DIV)
#define ATAN (SQRT + 3 + 1 + DIV)

/* out * prod(W.shape[1:]) and the bias: its mistake, W is [Cin, Cout/g, ...] here. */
static int64_t conv_transpose(const struct op_context *context, int64_t macs) {
    const int rank = op_rank(context, 1);
    if (rank == RANK_UNKNOWN) return DIM_UNKNOWN;
    int64_t taps = 1;
    for (int i = 1; i < rank; i++) taps = checked_mul(taps, op_dim(context, 1, i));
    taps = checked_mul(taps, op_output_elements(context, 0));
    return checked_add(taps, term_bias_2(context, macs));
}

/* Of a window of three axes only the first is seen. */
static int64_t pool(const struct op_context *context, int64_t macs) {
    (void)macs;
    const size_t axes = term_spatial(context) == 2 ? 2 : 1;
    return checked_mul(term_window(context, axes), op_output_elements(context, 0));
}

static int64_t resize(const struct op_context *context, int64_t macs) {
    (void)macs;
    const char *mode = op_attr_string(context, "mode");
    if (text_equal(mode, "nearest")) return 0;
    return checked_mul(text_equal(mode, "cubic") ? 8 : 4, op_output_elements(context, 0));
}

static int64_t layer_norm_rows(const struct op_context *context, int64_t macs) {
    (void)macs;
    return checked_mul(1 + SQRT + DIV, term_rows_along_axis(context));
}

static int64_t local_response(const struct op_context *context, int64_t macs) {
    (void)macs;
    int64_t price = checked_add(DIV + EXP + 1, op_attr_int(context, "size"));
    return checked_mul(price, op_output_elements(context, 0));
}

/*
 * Biases by the elements of B at every step; the rest by steps * batch * hidden, whatever the
 * directions are.
 */
static int64_t recurrence(const struct op_context *context, int64_t macs) {
    const int64_t gates = term_gates(context);
    const int64_t biases = op_has_input(context, 3) ? 2 * gates : 0;
    const int64_t after = gates == 4 ? 4 + 3 * EXP + 2 * TANH + 4 : 3 + 2 * EXP + TANH + 5;
    int64_t cells = term_cells(context, macs);
    int64_t one_way = op_dim(context, 1, 0) == 2 ? checked_div_floor(cells, 2) : cells;
    return checked_add(checked_mul(biases, cells), checked_mul(after, one_way));
}

const struct convention_row convention_onnx_tool[] = {
    {.op = "Conv", .per_mac = 1, BIASES(2)},
    {.op = "ConvTranspose",
     .extra = conv_transpose,
     .extra_description =
         "for output elements, output channels of a group and kernel, and biases"},
    {.op = "QLinearConv", .per_mac = 1, BIASES(8)},
    {.op = "Gemm", .per_mac = 1, BIASES(2)},
    {.op = "LSTM",
     .per_mac = 1,
     .extra = recurrence,
     .extra_description = "for gates, states and biases of the cells"},
    {.op = "GRU",
     .per_mac = 1,
     .extra = recurrence,
     .extra_description = "for gates, states and biases of the cells"},
    {.op = "BatchNormalization", .per_input = 1 + SQRT + DIV + 1 + 1},
    {.op = "InstanceNormalization", .per_input = 3 + DIV},
    {.op = "LpNormalization", .per_input = EXP + 1},
    {.op = "LayerNormalization",
     .per_input = 7,
     .extra = layer_norm_rows,
     .extra_description = "at 29 a row"},
    {.op = "LRN",
     .extra = local_response,
     .extra_description = "at size + 37 an output element"},
    {.op = "MaxPool", .extra = pool, .extra_description = "at window an output element"},
    {.op = "AveragePool", .extra = pool, .extra_description = "at window an output element"},
    {.op = "GlobalAveragePool", .per_input = 1, .per_output = DIV},
    {.op = "Resize", .extra = resize, .extra_description = "at 4 or 8 an output element"},
    {.op = "Upsample", .extra = resize, .extra_description = "at 4 or 8 an output element"},
    {.op = "Relu", .per_output = 1},
    {.op = "LeakyRelu", .per_output = 2},
    {.op = "PRelu", .per_output = 2},
    {.op = "Elu", .per_output = EXP + 3},
    {.op = "Gelu", .per_output = EXP + 2},
    {.op = "Clip", .per_output = 2},
    {.op = "Sigmoid", .per_output = EXP},
    {.op = "HardSigmoid", .per_output = 4},
    {.op = "HardSwish", .per_output = 5},
    {.op = "Softplus", .per_output = EXP + 1 + LOG},
    {.op = "Softmax", .per_output = EXP + DIV},
    {.op = "LogSoftmax", .per_output = EXP + DIV + 1 + LOG},
    {.op = "Hardmax", .per_output = 1},
    {.op = "Tanh", .per_output = 2 * TANH},
    {.op = "Atan", .per_output = 2 * ATAN},
    {.op = "Exp", .per_output = EXP},
    {.op = "Pow", .per_output = EXP},
    {.op = "Log", .per_output = LOG},
    {.op = "Sqrt", .per_output = SQRT},
    {.op = "Sin", .per_output = SIN},
    {.op = "Cos", .per_output = SIN},
    {.op = "Add", .per_output = 1},
    {.op = "Sub", .per_output = 1},
    {.op = "Mul", .per_output = 1},
    {.op = "Div", .per_output = DIV},
    {.op = "Mod", .per_output = 1},
    {.op = "Reciprocal", .per_output = DIV},
    {.op = "Sum", OPERANDS},
    {.op = "Min", .per_output = 1},
    {.op = "Max", .per_output = 1},
    {.op = "Neg", .per_output = 1},
    {.op = "Abs", .per_output = 1},
    {.op = "Ceil", .per_output = 1},
    {.op = "Floor", .per_output = 1},
    {.op = "Round", .per_output = 1},
    {.op = "Sign", .per_output = 1},
    {.op = "CumSum", .per_output = 1},
    {.op = "Less", .per_output = 1},
    {.op = "LessOrEqual", .per_output = 1},
    {.op = "Greater", .per_output = 1},
    {.op = "GreaterOrEqual", .per_output = 1},
    {.op = "Equal", .per_output = 1},
    {.op = "And", .per_output = 1},
    {.op = "Or", .per_output = 1},
    {.op = "Xor", .per_output = 1},
    {.op = "Not", .per_output = 1},
    {.op = "NonZero", .per_output = 1},
    {.op = "ReduceMean", .per_input = 1},
    {.op = "ReduceSum", .per_input = 1},
    {.op = "ReduceProd", .per_input = 1},
    {.op = "ReduceMin", .per_input = 1},
    {.op = "ReduceMax", .per_input = 1},
    {.op = "ReduceL2", .per_input = 1 + SQRT},
    {.op = "QuantizeLinear", .per_output = 2},
    {.op = "DequantizeLinear", .per_output = 2},
    {.op = NULL},
};
