/* SPDX-License-Identifier: Apache-2.0 */
/* What is done to each element by itself, and what only moves them. */
#include "ops/lowering.h"

#include <string.h>

#include "ops/rule.h"

#include "support/banned.h"

static void one_step(int32_t function, int32_t operand, struct cm_primitive *ret) {
    ret->n_steps = 1;
    ret->steps[0].function = function;
    ret->steps[0].operand = operand;
}

static bool lower_unary(const struct rule *rule, int32_t which, struct cm_primitive *ret) {
    one_step(which, 0, ret);
    return lowering_take(rule, 0, ret) && lowering_give(rule, 0, ret);
}

/* The attributes are constants of the function: their values make no difference to its time,
 * but belong to what it is. */
static bool lower_scaled(const struct rule *rule, int32_t which, struct cm_primitive *ret) {
    if (!lower_unary(rule, which, ret)) return false;
    ret->steps[0].alpha = rule_attr_float(rule, "alpha");
    if (which == CM_HARD_SIGMOID) ret->steps[0].beta = rule_attr_float(rule, "beta");
    return true;
}

/* Where the limits are operands their values are not looked at: any two clip as fast. */
static bool lower_clip(const struct rule *rule, int32_t which, struct cm_primitive *ret) {
    if (!lower_unary(rule, which, ret)) return false;
    ret->steps[0].beta = 1;
    return true;
}

static bool lower_gelu(const struct rule *rule, int32_t which, struct cm_primitive *ret) {
    const char *approximate = rule_attr_string(rule, "approximate");
    return lower_unary(rule, strcmp(approximate, "tanh") == 0 ? CM_GELU_TANH : which, ret);
}

static bool lower_swish(const struct rule *rule, int32_t which, struct cm_primitive *ret) {
    if (!lower_unary(rule, which, ret)) return false;
    ret->steps[0].alpha = 1;
    return true;
}

static bool lower_binary(const struct rule *rule, int32_t which, struct cm_primitive *ret) {
    one_step(which, 1, ret);
    return rule->n_inputs == 2 && lowering_take(rule, 0, ret) && lowering_take(rule, 1, ret) &&
           lowering_give(rule, 0, ret);
}

static bool lower_select(const struct rule *rule, int32_t which, struct cm_primitive *ret) {
    one_step(which, 1, ret);
    return lowering_take(rule, 0, ret) && lowering_take(rule, 1, ret) &&
           lowering_take(rule, 2, ret) && lowering_give(rule, 0, ret);
}

/* The operand with the strides that bring its elements where the result has them. */
static bool lower_transpose(const struct rule *rule, int32_t which, struct cm_primitive *ret) {
    size_t n = 0;
    const int64_t *order = rule_attr_ints(rule, "perm", &n);
    struct cm_tensor from;
    (void)which;
    if (!lowering_take(rule, 0, ret) || !lowering_give(rule, 0, ret)) return false;
    from = ret->inputs[0];
    for (int i = 0; i < from.rank; i++) {
        const int64_t axis = n == (size_t)from.rank ? order[i] : from.rank - 1 - i;
        if (axis < 0 || axis >= from.rank) return false;
        ret->inputs[0].dims[i] = from.dims[axis];
        ret->inputs[0].strides[i] = from.strides[axis];
    }
    return true;
}

static bool lower_concat(const struct rule *rule, int32_t which, struct cm_primitive *ret) {
    int axis = 0;
    (void)which;
    for (size_t slot = 0; slot < rule->n_inputs; slot++)
        if (!lowering_take(rule, slot, ret)) return false;
    if (!lowering_give(rule, 0, ret)) return false;
    if (!lowering_axis(rule_attr_int(rule, "axis"), ret->outputs[0].rank, &axis)) return false;
    ret->axis = axis;
    return true;
}

/* A stride of 0 where the operand repeats itself. */
static bool lower_expand(const struct rule *rule, int32_t which, struct cm_primitive *ret) {
    (void)which;
    if (!lowering_take(rule, 0, ret) || !lowering_give(rule, 0, ret)) return false;
    const struct cm_tensor from = ret->inputs[0];
    struct cm_tensor *to = &ret->inputs[0];
    const int more = ret->outputs[0].rank - from.rank;
    if (more < 0) return false;
    *to = ret->outputs[0];
    for (int i = 0; i < to->rank; i++) {
        const bool own = i >= more && from.dims[i - more] == to->dims[i];
        to->strides[i] = own ? from.strides[i - more] : 0;
    }
    return true;
}

/* A part of the operand, where it stands in it: the result's dims with the operand's strides.
 * Which part, and in which steps, is not looked at. */
static bool lower_slice(const struct rule *rule, int32_t which, struct cm_primitive *ret) {
    (void)which;
    if (!lowering_take(rule, 0, ret) || !lowering_give(rule, 0, ret)) return false;
    if (ret->inputs[0].rank != ret->outputs[0].rank) return false;
    memcpy(ret->inputs[0].dims, ret->outputs[0].dims, sizeof(ret->inputs[0].dims));
    return true;
}

/* Every part is copied: as many bytes as the whole. */
static bool lower_split(const struct rule *rule, int32_t which, struct cm_primitive *ret) {
    (void)which;
    if (!lowering_take(rule, 0, ret)) return false;
    ret->outputs[0] = ret->inputs[0];
    ret->n_outputs = 1;
    return true;
}

/* Elements from anywhere: by indices where there are some, by a formula where there are none.
 */
static bool lower_gather(const struct rule *rule, int32_t which, struct cm_primitive *ret) {
    int axis = 0;
    if (!lowering_take(rule, 0, ret)) return false;
    if (which != 0 && !lowering_take(rule, 1, ret)) return false;
    if (!lowering_give(rule, 0, ret)) return false;
    if (rule_has_attr(rule, "axis") && which != 0 &&
        !lowering_axis(rule_attr_int(rule, "axis"), ret->inputs[0].rank, &axis))
        return false;
    ret->axis = axis;
    return true;
}

/* clang-format off */
const struct lowering_row lowering_elements[] = {
    {"Abs",             lower_unary,     CM_ELTWISE, CM_ABS},
    {"Ceil",            lower_unary,     CM_ELTWISE, CM_CEIL},
    {"Cos",             lower_unary,     CM_ELTWISE, CM_COS},
    {"Erf",             lower_unary,     CM_ELTWISE, CM_ERF},
    {"Exp",             lower_unary,     CM_ELTWISE, CM_EXP},
    {"Floor",           lower_unary,     CM_ELTWISE, CM_FLOOR},
    {"HardSwish",       lower_unary,     CM_ELTWISE, CM_HARD_SWISH},
    {"Log",             lower_unary,     CM_ELTWISE, CM_LOG},
    {"Mish",            lower_unary,     CM_ELTWISE, CM_MISH},
    {"Neg",             lower_unary,     CM_ELTWISE, CM_NEGATE},
    {"Not",             lower_unary,     CM_ELTWISE, CM_NOT},
    {"Reciprocal",      lower_unary,     CM_ELTWISE, CM_RECIPROCAL},
    {"Relu",            lower_unary,     CM_ELTWISE, CM_RELU},
    {"Round",           lower_unary,     CM_ELTWISE, CM_ROUND},
    {"Sigmoid",         lower_unary,     CM_ELTWISE, CM_SIGMOID},
    {"Sin",             lower_unary,     CM_ELTWISE, CM_SIN},
    {"Softplus",        lower_unary,     CM_ELTWISE, CM_SOFTPLUS},
    {"Sqrt",            lower_unary,     CM_ELTWISE, CM_SQRT},
    {"Tanh",            lower_unary,     CM_ELTWISE, CM_TANH},
    {"Cast",            lower_unary,     CM_ELTWISE, CM_CAST},
    {"CastLike",        lower_unary,     CM_ELTWISE, CM_CAST},
    {"Elu",             lower_scaled,    CM_ELTWISE, CM_ELU},
    {"HardSigmoid",     lower_scaled,    CM_ELTWISE, CM_HARD_SIGMOID},
    {"LeakyRelu",       lower_scaled,    CM_ELTWISE, CM_LEAKY_RELU},
    {"Clip",            lower_clip,      CM_ELTWISE, CM_CLIP},
    {"Gelu",            lower_gelu,      CM_ELTWISE, CM_GELU},
    {"Swish",           lower_swish,     CM_ELTWISE, CM_SWISH},
    {"Add",             lower_binary,    CM_ELTWISE, CM_ADD},
    {"Sub",             lower_binary,    CM_ELTWISE, CM_SUBTRACT},
    {"Mul",             lower_binary,    CM_ELTWISE, CM_MULTIPLY},
    {"Div",             lower_binary,    CM_ELTWISE, CM_DIVIDE},
    {"Max",             lower_binary,    CM_ELTWISE, CM_MAXIMUM},
    {"Min",             lower_binary,    CM_ELTWISE, CM_MINIMUM},
    {"Sum",             lower_binary,    CM_ELTWISE, CM_ADD},
    {"Pow",             lower_binary,    CM_ELTWISE, CM_POWER},
    {"PRelu",           lower_binary,    CM_ELTWISE, CM_PRELU},
    {"Equal",           lower_binary,    CM_ELTWISE, CM_COMPARE},
    {"Greater",         lower_binary,    CM_ELTWISE, CM_COMPARE},
    {"GreaterOrEqual",  lower_binary,    CM_ELTWISE, CM_COMPARE},
    {"Less",            lower_binary,    CM_ELTWISE, CM_COMPARE},
    {"LessOrEqual",     lower_binary,    CM_ELTWISE, CM_COMPARE},
    {"And",             lower_binary,    CM_ELTWISE, CM_LOGIC},
    {"Or",              lower_binary,    CM_ELTWISE, CM_LOGIC},
    {"Xor",             lower_binary,    CM_ELTWISE, CM_LOGIC},
    {"Where",           lower_select,    CM_ELTWISE, CM_SELECT},
    {"Transpose",       lower_transpose, CM_COPY,    0},
    {"Concat",          lower_concat,    CM_COPY,    0},
    {"Expand",          lower_expand,    CM_COPY,    0},
    {"Slice",           lower_slice,     CM_COPY,    0},
    {"Split",           lower_split,     CM_COPY,    0},
    {"Gather",          lower_gather,    CM_GATHER,  1},
    {"GatherElements",  lower_gather,    CM_GATHER,  1},
    {"GatherND",        lower_gather,    CM_GATHER,  1},
    {"DepthToSpace",    lower_gather,    CM_GATHER,  0},
    {"SpaceToDepth",    lower_gather,    CM_GATHER,  0},
    {"Pad",             lower_gather,    CM_GATHER,  0},
    {"Tile",            lower_gather,    CM_GATHER,  0},
    {NULL, NULL, 0, 0},
};
/* clang-format on */
