/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The conventions of tools that watch a PyTorch model: torch.utils.flop_counter, fvcore,
 * ptflops and thop. They see modules and ATen calls, we see what the exporter made of them;
 * what they cannot see in the file's form stands in docs/conventions.md.
 */
#include "ops/flops/tables.h"

#include "ops/onnx/attention.h"
#include "ops/op_context.h"
#include "support/checked.h"
#include "support/text.h"

#include "support/banned.h"

/* Multiplications of which none of these tools knows the call: torch.fft, torch.stft,
 * torch.linalg. */
#define UNSEEN                                                                                 \
    {.op = "DFT"}, {.op = "STFT"}, {.op = "Rfft"}, {.op = "Irfft"}, {.op = "Det"}, {           \
        .op = "Inverse"                                                                        \
    }

/* A fused recurrence and torchvision's deformable convolution are no calls that it knows. */
const struct convention_row convention_torch[] = {
    {.op = "LSTM"}, {.op = "GRU"}, {.op = "RNN"}, {.op = "DeformConv"}, UNSEEN, {.op = NULL},
};

static int64_t batch_norm(const struct op_context *context, int64_t macs) {
    (void)macs;
    return checked_mul(context->training ? 5 : 2, op_elements(context, 0));
}

/* adaptive_avg_pool2d alone has a handle. */
static int64_t planar_input(const struct op_context *context, int64_t macs) {
    (void)macs;
    return term_spatial(context) == 2 ? op_elements(context, 0) : 0;
}

/* upsample_nearest2d 1, upsample_bilinear2d 4 an output element. */
static int64_t fvcore_resize(const struct op_context *context, int64_t macs) {
    (void)macs;
    if (term_spatial(context) != 2) return 0;
    const char *mode = op_attr_string(context, "mode");
    if (text_equal(mode, "cubic")) return 0;
    return checked_mul(text_equal(mode, "nearest") ? 1 : 4, op_output_elements(context, 0));
}

const struct convention_row convention_fvcore[] = {
    {.op = "BatchNormalization",
     .extra = batch_norm,
     .extra_description = "at 2 an input element, 5 in training"},
    {.op = "LayerNormalization", .per_input = 5},
    {.op = "GroupNormalization", .per_input = 5},
    {.op = "InstanceNormalization", .per_input = 5},
    {.op = "GlobalAveragePool",
     .extra = planar_input,
     .extra_description = "at 1 an input element of an image"},
    {.op = "Resize",
     .extra = fvcore_resize,
     .extra_description = "at 1 or 4 an output element of an image"},
    {.op = "Upsample",
     .extra = fvcore_resize,
     .extra_description = "at 1 or 4 an output element of an image"},
    {.op = "GridSample", .per_output = 4},
    {.op = "LSTM"},
    {.op = "GRU"},
    {.op = "RNN"},
    {.op = "DeformConv"},
    UNSEEN,
    {.op = NULL},
};

static bool is_vector_of(const struct op_context *context, size_t slot, size_t other) {
    return op_input(context, slot)->is_weight && op_rank(context, slot) == 1 &&
           !op_input(context, other)->is_constant && op_rank(context, other) > 1;
}

/*
 * A Linear of three axes leaves its exporter as a MatMul and an Add of a learned vector, which
 * is told from the additions of a model, that no tool sees, by this vector.
 */
static int64_t linear_bias(const struct op_context *context, int64_t macs) {
    (void)macs;
    const bool is_bias = is_vector_of(context, 0, 1) || is_vector_of(context, 1, 0);
    return is_bias ? op_output_elements(context, 0) : 0;
}

#define LINEAR_BIAS .extra = linear_bias, .extra_description = "biases of a Linear"

/*
 * Biases, then per cell what follows the products: RNN 1, GRU 1 + 3 + 3, LSTM 4 + 3 + 3
 * (rnn_flops of its pytorch_ops.py).
 */
static int64_t ptflops_recurrence(const struct op_context *context, int64_t macs) {
    const int64_t gates = term_gates(context);
    const int64_t after = gates == 4 ? 10 : gates == 3 ? 7 : 1;
    const int64_t biases = op_has_input(context, 3) ? 2 * gates : 0;
    return checked_mul(after + biases, term_cells(context, macs));
}

/* Its softmax. */
static int64_t ptflops_attention(const struct op_context *context, int64_t macs) {
    (void)macs;
    return attention_scores(context);
}

const struct convention_row convention_ptflops[] = {
    {.op = "Attention",
     .per_mac = 1,
     .extra = ptflops_attention,
     .extra_description = "at 1 a score"},
    {.op = "Conv", .per_mac = 1, BIASES(2)},
    {.op = "ConvTranspose", .per_mac = 1, BIASES(2)},
    {.op = "DeformConv", .per_mac = 1, BIASES(3)},
    {.op = "QLinearConv", .per_mac = 1, BIASES(8)},
    {.op = "Gemm", .per_mac = 1, BIASES(2)},
    {.op = "Add", LINEAR_BIAS},
    {.op = "Einsum"}, /* torch.einsum is not patched */
    {.op = "LSTM",
     .per_mac = 1,
     .extra = ptflops_recurrence,
     .extra_description = "for gates, states and biases of the cells"},
    {.op = "GRU",
     .per_mac = 1,
     .extra = ptflops_recurrence,
     .extra_description = "for gates, states and biases of the cells"},
    {.op = "RNN",
     .per_mac = 1,
     .extra = ptflops_recurrence,
     .extra_description = "for gates, states and biases of the cells"},
    {.op = "BatchNormalization", .per_input = 2},
    {.op = "GroupNormalization", .per_input = 2},
    {.op = "InstanceNormalization", .per_input = 2},
    {.op = "LayerNormalization", .per_input = 1},
    {.op = "MaxPool", .per_input = 1},
    {.op = "AveragePool", .per_input = 1},
    {.op = "GlobalAveragePool", .per_input = 1},
    {.op = "GlobalMaxPool", .per_input = 1},
    {.op = "Relu", .per_input = 1},
    {.op = "LeakyRelu", .per_input = 1},
    {.op = "PRelu", .per_input = 1},
    {.op = "Elu", .per_input = 1},
    {.op = "Gelu", .per_input = 1},
    {.op = "Swish", .per_input = 1},
    {.op = "Clip", .per_input = 1}, /* ReLU6 */
    {.op = "Softmax", .per_input = 1},
    {.op = "Resize", .per_output = 1},
    {.op = "Upsample", .per_output = 1},
    UNSEEN,
    {.op = NULL},
};

const struct convention_row convention_ptflops_aten[] = {
    {.op = "Conv", .per_mac = 1, BIASES(2)},
    {.op = "ConvTranspose", .per_mac = 1, BIASES(2)},
    {.op = "QLinearConv", .per_mac = 1, BIASES(8)},
    {.op = "Gemm", .per_mac = 1, BIASES(2)},
    {.op = "Add", LINEAR_BIAS},
    {.op = "DeformConv"},
    {.op = "LSTM"},
    {.op = "GRU"},
    {.op = "RNN"},
    UNSEEN,
    {.op = NULL},
};

/* On the grid of the output, where it multiplies nothing: out * Cin/g * kernel. Its mistake. */
static int64_t thop_conv_transpose(const struct op_context *context, int64_t macs) {
    (void)macs;
    const int rank = op_rank(context, 1);
    if (rank < 2) return DIM_UNKNOWN;
    int64_t taps = checked_div_floor(op_dim(context, 1, 0), op_attr_int(context, "group"));
    for (int i = 2; i < rank; i++) taps = checked_mul(taps, op_dim(context, 1, i));
    return checked_mul(taps, op_output_elements(context, 0));
}

/* nn.Linear has a hook, torch.matmul has none: which of the two it was, a weight tells. */
static int64_t thop_matmul(const struct op_context *context, int64_t macs) {
    return op_input(context, 0)->is_constant || op_input(context, 1)->is_constant ? macs : 0;
}

/* n exponentials, n - 1 sums and n quotients a row; of rows without elements nothing. */
static int64_t thop_rows(int64_t elements, int64_t rows) {
    return elements == 0 ? 0 : checked_sub(checked_mul(3, elements), rows);
}

static int64_t thop_softmax(const struct op_context *context, int64_t macs) {
    (void)macs;
    return thop_rows(op_elements(context, 0), term_rows_along_axis(context));
}

/* Its softmax alone: no operand of its products is a weight. */
static int64_t thop_attention(const struct op_context *context, int64_t macs) {
    (void)macs;
    return thop_rows(attention_scores(context), attention_rows(context));
}

/* nearest 1, linear 5, bilinear 11, bicubic 259; trilinear is warned of and 0. */
static int64_t thop_resize(const struct op_context *context, int64_t macs) {
    (void)macs;
    const char *mode = op_attr_string(context, "mode");
    const int spatial = term_spatial(context);
    int64_t each = spatial == 1 ? 5 : spatial == 2 ? 11 : 0;
    if (text_equal(mode, "nearest")) each = 1;
    if (text_equal(mode, "cubic")) each = 259;
    return checked_mul(each, op_output_elements(context, 0));
}

/* A sum and two biases a gate, then GRU 1 + 3 and LSTM 3 + 1 a cell (its rnn_hooks.py). */
static int64_t thop_recurrence(const struct op_context *context, int64_t macs) {
    const int64_t gates = term_gates(context);
    const int64_t per_gate = op_has_input(context, 3) ? 3 : 1;
    return checked_mul(gates * per_gate + (gates > 1 ? 4 : 0), term_cells(context, macs));
}

const struct convention_row convention_thop[] = {
    {.op = "ConvTranspose",
     .extra = thop_conv_transpose,
     .extra_description = "for output elements, input channels of a group and kernel"},
    {.op = "DeformConv"},
    {.op = "MatMul",
     .extra = thop_matmul,
     .extra_description = "MACs of a product with a weight"},
    {.op = "Attention",
     .extra = thop_attention,
     .extra_description = "at 3 a score less 1 a row"},
    {.op = "Einsum"},
    {.op = "LSTM",
     .per_mac = 1,
     .extra = thop_recurrence,
     .extra_description = "for gates, states and biases of the cells"},
    {.op = "GRU",
     .per_mac = 1,
     .extra = thop_recurrence,
     .extra_description = "for gates, states and biases of the cells"},
    {.op = "RNN",
     .per_mac = 1,
     .extra = thop_recurrence,
     .extra_description = "for gates, states and biases of the cells"},
    {.op = "BatchNormalization", .per_input = 4},
    {.op = "LayerNormalization", .per_input = 4},
    {.op = "InstanceNormalization", .per_input = 4},
    {.op = "PRelu", .per_input = 1},
    {.op = "Softmax",
     .extra = thop_softmax,
     .extra_description = "at 3 an input element less 1 a row"},
    {.op = "AveragePool", .per_output = 1},
    {.op = "GlobalAveragePool", .per_input = 1, .per_output = 1},
    {.op = "Resize",
     .extra = thop_resize,
     .extra_description = "at 1, 5, 11 or 259 an output element"},
    {.op = "Upsample",
     .extra = thop_resize,
     .extra_description = "at 1, 5, 11 or 259 an output element"},
    UNSEEN,
    {.op = NULL},
};
