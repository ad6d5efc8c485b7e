/* SPDX-License-Identifier: Apache-2.0 */
/* The table of fused patterns: see patterns.h. A new pattern is one row. */
#include "ops/onnx/patterns.h"

#include "ir/graph.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/text.h"

#define VARIANCE      "ReduceMean((x - ReduceMean(x))^2)"
#define SCORES        "MatMul(q [* factor_q], keys [* factor_k]) [* factor]"
#define SOFTMAX       "Softmax(" SCORES " [+ bias] [+ mask])"
#define FUSED_SOFTMAX "Softmax(MatMul(q * factor_q, keys * factor_k) [+ bias] [+ mask])"

/* At a node, the first row that matches wins, so the more specific of two patterns comes first:
 * LayerNorm before RMSNorm, since the nodes of a LayerNorm also match RMSNorm, with
 * x - ReduceMean(x) as its x. clang-format would break the patterns. */
/* clang-format off */
static const struct pattern_row patterns[] = {
    {.name = "LayerNorm", .op = "LayerNormalization", .operands = "x scale shift",
     .attributes = "epsilon=eps axis=axis", .axes = AXES_TRAILING,
     .pattern = "(x - ReduceMean(x)) / sqrt(" VARIANCE " + eps) [* scale] [+ shift]"},
    {.name = "LayerNorm", .op = "LayerNormalization", .operands = "x scale shift",
     .attributes = "epsilon=eps axis=axis", .axes = AXES_TRAILING,
     .pattern = "x * scale / sqrt(" VARIANCE " + eps) + shift"
                " - ReduceMean(x) * scale / sqrt(" VARIANCE " + eps)"},
    {.name = "RMSNorm", .op = "RMSNormalization", .operands = "x scale",
     .attributes = "epsilon=eps axis=axis", .axes = AXES_TRAILING,
     .pattern = "x / sqrt(ReduceMean(x^2) + eps) [* scale]"},
    {.name = "GroupNorm", .op = "GroupNormalization", .operands = "x scale shift",
     .attributes = "epsilon=eps num_groups=g.1", .axes = AXES_GROUPS,
     .pattern = "Reshape(InstanceNormalization(g:Reshape(x, _), 1, 0, eps), _) [* scale] [+ shift]"},

    {.name = "GELU", .op = "Gelu", .operands = "x",
     .pattern = "0.5 * x * (1 + Erf(x / 1.41421356))"},
    {.name = "GELU", .op = "Gelu", .operands = "x", .attributes = "approximate='tanh'",
     .pattern = "0.5 * x * (1 + Tanh(0.79788456 * (x + 0.044715 * x^3)))"},
    {.name = "GELU", .op = "Gelu", .operands = "x", .attributes = "approximate='tanh'",
     .pattern = "0.5 * x * (1 + Tanh(0.79788456 * x * (1 + 0.044715 * x * x)))"},
    {.name = "GELU", .op = "Gelu", .operands = "x", .attributes = "approximate='tanh'",
     .pattern = "0.5 * x * (1 + Tanh(0.79788456 * x * (1 + 0.044715 * x^2)))"},
    {.name = "QuickGELU", .op = "QuickGelu", .operands = "x",
     .pattern = "x * Sigmoid(1.702 * x)"},
    {.name = "SiLU", .op = "Swish", .operands = "x", .pattern = "x * Sigmoid(x)"},
    {.name = "Mish", .op = "Mish", .operands = "x", .pattern = "x * Tanh(Softplus(x))"},
    {.name = "Softplus", .op = "Softplus", .operands = "x", .pattern = "Log(1 + Exp(x))"},
    {.name = "Softplus", .op = "Softplus", .operands = "x",
     .pattern = "Where(Greater(x, 20), x, Softplus(x))"},
    {.name = "Hardswish", .op = "HardSwish", .operands = "x",
     .pattern = "x * HardSigmoid(x, 0.16666667, 0.5)"},
    {.name = "Hardswish", .op = "HardSwish", .operands = "x",
     .pattern = "x * Clip(x + 3, 0, 6) / 6"},
    {.name = "Hardswish", .op = "HardSwish", .operands = "x",
     .pattern = "x * Min(Relu(x + 3), 6) / 6"},
    {.name = "Hardsigmoid", .op = "HardSigmoid", .operands = "x",
     .pattern = "Clip(x + 3, 0, 6) / 6"},
    {.name = "Hardsigmoid", .op = "HardSigmoid", .operands = "x",
     .pattern = "Clip(0.16666667 * x + 0.5, 0, 1)"},
    {.name = "ReLU6", .op = "", .row = &activation_relu6, .operands = "x",
     .pattern = "Clip(x, 0, 6)"},
    {.name = "ReLU6", .op = "", .row = &activation_relu6, .operands = "x",
     .pattern = "Min(Relu(x), 6)"},

    {.name = "Softmax", .op = "Softmax", .operands = "x", .attributes = "axis=axis", .axes = AXES_ONE,
     .pattern = "Exp(x - ReduceMax(x)) / ReduceSum(Exp(x - ReduceMax(x)))"},
    {.name = "Softmax", .op = "Softmax", .operands = "x", .attributes = "axis=axis", .axes = AXES_ONE,
     .pattern = "Exp(x) / ReduceSum(Exp(x))"},
    {.name = "LogSoftmax", .op = "LogSoftmax", .operands = "x", .attributes = "axis=axis", .axes = AXES_ONE,
     .pattern = "x - ReduceMax(x) - Log(ReduceSum(Exp(x - ReduceMax(x))))"},

    /* PyTorch's exporters scale both operands of scaled_dot_product_attention. With dropout, PyTorch has a fused
     * kernel on some devices only. */
    {.name = "Attention", .op = "", .row = &attention_exported, .operands = "q keys v mask bias",
     .axes = AXES_LAST, .views = true, .untrained = true,
     .pattern = "MatMul(" FUSED_SOFTMAX ", v)"},
    {.name = "Attention", .op = "", .row = &attention_exported, .operands = "q keys v mask bias",
     .axes = AXES_LAST, .views = true, .untrained = true,
     .pattern = "MatMul(Where(IsNaN(" FUSED_SOFTMAX "), 0, " FUSED_SOFTMAX "), v)"},
    {.name = "Attention", .op = "", .row = &attention_decomposed, .operands = "q keys v mask bias",
     .axes = AXES_LAST, .views = true,
     .pattern = "MatMul(" SOFTMAX ", v)"},
    /* the Where node replaces the NaN of a fully masked row (all -inf) by 0 */
    {.name = "Attention", .op = "", .row = &attention_decomposed, .operands = "q keys v mask bias",
     .axes = AXES_LAST, .views = true,
     .pattern = "MatMul(Where(IsNaN(" SOFTMAX "), 0, " SOFTMAX "), v)"},
    {.name = "Attention", .op = "", .row = &attention_decomposed, .operands = "q keys v mask bias",
     .axes = AXES_LAST, .views = true,
     .pattern = "MatMul(Softmax(Where(mask, _, " SCORES ") [+ bias]), v)"},
    {.name = "Attention", .op = "", .row = &attention_decomposed, .operands = "q keys v mask bias",
     .axes = AXES_LAST, .views = true,
     .pattern = "MatMul(Softmax(Where(mask, " SCORES ", _) [+ bias]), v)"},

    {.name = "Conv+BN", .op = "Conv", .operands = "x constant_w constant_b", .attributes = "*", .foldable = true, .untrained = true,
     .pattern = "BatchNormalization(Conv(x, constant_w, [constant_b]), constant_s, constant_t, constant_m, constant_v)"},
    {.name = "ConvTranspose+BN", .op = "ConvTranspose", .operands = "x constant_w constant_b", .attributes = "*", .foldable = true, .untrained = true,
     .pattern = "BatchNormalization(ConvTranspose(x, constant_w, [constant_b]), constant_s, constant_t, constant_m, constant_v)"},
    {.name = "Linear+BN", .op = "Gemm", .operands = "x constant_w constant_b", .attributes = "*", .foldable = true, .untrained = true,
     .pattern = "BatchNormalization(Gemm(x, constant_w, [constant_b]), constant_s, constant_t, constant_m, constant_v)"},
};
/* clang-format on */

size_t patterns_count(void) {
    return sizeof patterns / sizeof *patterns;
}

const struct pattern_row *patterns_at(size_t index) {
    BUG_ON(index >= patterns_count());
    return &patterns[index];
}

const char *patterns_operand_attr(const char *type, size_t slot) {
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

const struct constant *patterns_constant(const struct model *model, const struct node *node,
                                         size_t slot) {
    const uint32_t id = slot < node->n_inputs ? node->inputs[slot] : ID_NONE;
    const struct value *value = id == ID_NONE ? NULL : &model->values[id];
    const struct node *from =
        value && value->node != ID_NONE ? &model->nodes[value->node] : NULL;
    if (from && text_equal(from->type, "Identity") && from->n_inputs == 1 &&
        from->inputs[0] != ID_NONE)
        value = &model->values[from->inputs[0]];
    return value ? value->constant : NULL;
}

int64_t patterns_foldable_channels(const struct node *node, const struct shape *weight) {
    const struct attr *group = node_attr(node, "group");
    const struct attr *transposed = node_attr(node, "transB");
    if (node->domain[0] != '\0' || weight->rank < 2) return 0;
    if (text_equal(node->type, "Conv")) return weight->dims[0];
    if (text_equal(node->type, "ConvTranspose"))
        return checked_mul(weight->dims[1], group ? group->i : 1);
    if (!text_equal(node->type, "Gemm") || weight->rank != 2) return 0;
    return weight->dims[transposed && transposed->i ? 0 : 1];
}
