/* SPDX-License-Identifier: Apache-2.0 */
/* The formulas of operations that exporters take apart: see composites.h. A new one is a row.
 */
#include "ops/onnx/patterns.h"

#include "ops/onnx/attention.h"
#include "support/diag.h"
#include "support/text.h"

#include "support/banned.h"

#define VARIANCE "ReduceMean((x - ReduceMean(x))^2)"
#define SCORES   "MatMul(q [* factor_q], keys [* factor_k]) [* factor]"
#define SOFTMAX  "Softmax(" SCORES " [+ bias] [+ mask])"

/* A row that another one is part of comes behind it. clang-format would break the formulas. */
/* clang-format off */
static const struct fused_pattern_pattern patterns[] = {
    {.name = "LayerNorm", .op = "LayerNormalization", .operands = "x scale shift",
     .attributes = "epsilon=eps axis=axis", .axes = AXES_TRAILING,
     .formula = "(x - ReduceMean(x)) / sqrt(" VARIANCE " + eps) [* scale] [+ shift]"},
    {.name = "LayerNorm", .op = "LayerNormalization", .operands = "x scale shift",
     .attributes = "epsilon=eps axis=axis", .axes = AXES_TRAILING,
     .formula = "x * scale / sqrt(" VARIANCE " + eps) + shift"
                " - ReduceMean(x) * scale / sqrt(" VARIANCE " + eps)"},
    {.name = "RMSNorm", .op = "RMSNormalization", .operands = "x scale",
     .attributes = "epsilon=eps axis=axis", .axes = AXES_TRAILING,
     .formula = "x / sqrt(ReduceMean(x^2) + eps) [* scale]"},
    {.name = "GroupNorm", .op = "GroupNormalization", .operands = "x scale shift",
     .attributes = "epsilon=eps num_groups=g.1", .axes = AXES_GROUPS,
     .formula = "Reshape(InstanceNormalization(g:Reshape(x, _), 1, 0, eps), _) [* scale] [+ shift]"},

    {.name = "GELU", .op = "Gelu", .operands = "x",
     .formula = "0.5 * x * (1 + Erf(x / 1.41421356))"},
    {.name = "GELU", .op = "Gelu", .operands = "x", .attributes = "approximate='tanh'",
     .formula = "0.5 * x * (1 + Tanh(0.79788456 * (x + 0.044715 * x^3)))"},
    {.name = "GELU", .op = "Gelu", .operands = "x", .attributes = "approximate='tanh'",
     .formula = "0.5 * x * (1 + Tanh(0.79788456 * x * (1 + 0.044715 * x * x)))"},
    {.name = "GELU", .op = "Gelu", .operands = "x", .attributes = "approximate='tanh'",
     .formula = "0.5 * x * (1 + Tanh(0.79788456 * x * (1 + 0.044715 * x^2)))"},
    {.name = "QuickGELU", .op = "QuickGelu", .operands = "x",
     .formula = "x * Sigmoid(1.702 * x)"},
    {.name = "SiLU", .op = "Swish", .operands = "x", .formula = "x * Sigmoid(x)"},
    {.name = "Mish", .op = "Mish", .operands = "x", .formula = "x * Tanh(Softplus(x))"},
    {.name = "Softplus", .op = "Softplus", .operands = "x", .formula = "Log(1 + Exp(x))"},
    {.name = "Softplus", .op = "Softplus", .operands = "x",
     .formula = "Where(Greater(x, 20), x, Softplus(x))"},
    {.name = "Hardswish", .op = "HardSwish", .operands = "x",
     .formula = "x * HardSigmoid(x, 0.16666667, 0.5)"},
    {.name = "Hardswish", .op = "HardSwish", .operands = "x",
     .formula = "x * Clip(x + 3, 0, 6) / 6"},
    {.name = "Hardswish", .op = "HardSwish", .operands = "x",
     .formula = "x * Min(Relu(x + 3), 6) / 6"},
    {.name = "Hardsigmoid", .op = "HardSigmoid", .operands = "x",
     .formula = "Clip(x + 3, 0, 6) / 6"},
    {.name = "Hardsigmoid", .op = "HardSigmoid", .operands = "x",
     .formula = "Clip(0.16666667 * x + 0.5, 0, 1)"},
    {.name = "ReLU6", .op = "", .row = &activation_relu6, .operands = "x",
     .formula = "Clip(x, 0, 6)"},
    {.name = "ReLU6", .op = "", .row = &activation_relu6, .operands = "x",
     .formula = "Min(Relu(x), 6)"},

    {.name = "Softmax", .op = "Softmax", .operands = "x", .attributes = "axis=axis", .axes = AXES_ONE,
     .formula = "Exp(x - ReduceMax(x)) / ReduceSum(Exp(x - ReduceMax(x)))"},
    {.name = "Softmax", .op = "Softmax", .operands = "x", .attributes = "axis=axis", .axes = AXES_ONE,
     .formula = "Exp(x) / ReduceSum(Exp(x))"},
    {.name = "LogSoftmax", .op = "LogSoftmax", .operands = "x", .attributes = "axis=axis", .axes = AXES_ONE,
     .formula = "x - ReduceMax(x) - Log(ReduceSum(Exp(x - ReduceMax(x))))"},

    {.name = "Attention", .op = "", .row = &attention_taken_apart, .operands = "q keys v mask bias",
     .axes = AXES_LAST, .views = true,
     .formula = "MatMul(" SOFTMAX ", v)"},
    /* a row of nothing but -inf is NaN, and made 0 */
    {.name = "Attention", .op = "", .row = &attention_taken_apart, .operands = "q keys v mask bias",
     .axes = AXES_LAST, .views = true,
     .formula = "MatMul(Where(IsNaN(" SOFTMAX "), 0, " SOFTMAX "), v)"},
    {.name = "Attention", .op = "", .row = &attention_taken_apart, .operands = "q keys v mask bias",
     .axes = AXES_LAST, .views = true,
     .formula = "MatMul(Softmax(Where(mask, _, " SCORES ") [+ bias]), v)"},
    {.name = "Attention", .op = "", .row = &attention_taken_apart, .operands = "q keys v mask bias",
     .axes = AXES_LAST, .views = true,
     .formula = "MatMul(Softmax(Where(mask, " SCORES ", _) [+ bias]), v)"},

    {.name = "Conv+BN", .op = "Conv", .operands = "x constant_w constant_b", .attributes = "*", .foldable = true,
     .formula = "BatchNormalization(Conv(x, constant_w, [constant_b]), constant_s, constant_t, constant_m, constant_v)"},
    {.name = "ConvTranspose+BN", .op = "ConvTranspose", .operands = "x constant_w constant_b", .attributes = "*", .foldable = true,
     .formula = "BatchNormalization(ConvTranspose(x, constant_w, [constant_b]), constant_s, constant_t, constant_m, constant_v)"},
    {.name = "Linear+BN", .op = "Gemm", .operands = "x constant_w constant_b", .attributes = "*", .foldable = true,
     .formula = "BatchNormalization(Gemm(x, constant_w, [constant_b]), constant_s, constant_t, constant_m, constant_v)"},
};
/* clang-format on */

size_t fused_pattern_n_patterns(void) {
    return sizeof patterns / sizeof *patterns;
}

const struct fused_pattern_pattern *fused_pattern_pattern_at(size_t index) {
    BUG_ON(index >= fused_pattern_n_patterns());
    return &patterns[index];
}

const char *fused_pattern_operand_attr(const char *type, size_t slot) {
    static const struct {
        const char *type;
        size_t slot;
        const char *attr;
    } rows[] = {
        {"Clip", 1, "min"},
        {"Clip", 2, "max"},
        {"HardSigmoid", 1, "alpha"},
        {"HardSigmoid", 2, "beta"},
        {"InstanceNormalization", 3, "epsilon"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].slot == slot && text_equal(rows[i].type, type)) return rows[i].attr;
    return NULL;
}
