/* SPDX-License-Identifier: Apache-2.0 */
/* What is done to each element by itself. */
#include "ops/lowering/lowering.h"

#include "ops/op_context.h"
#include "support/text.h"

#include "support/banned.h"

static bool take_both(const struct op_context *context, struct cm_primitive *ret) {
    return lowering_take(context, 0, ret) && lowering_give(context, 0, ret);
}

static bool lower_unary(const struct op_context *context, int32_t which,
                        struct cm_primitive *ret) {
    return take_both(context, ret) && lowering_step(ret, which, 0);
}

/* The attributes are constants of the function: their values make no difference to its time,
 * but belong to what it is. */
static bool lower_scaled(const struct op_context *context, int32_t which,
                         struct cm_primitive *ret) {
    const double beta = which == CM_HARD_SIGMOID ? op_attr_float(context, "beta") : 0;
    return take_both(context, ret) &&
           lowering_scaled(ret, which, op_attr_float(context, "alpha"), beta);
}

/* Where the limits are operands their values are not looked at: any two clip as fast. */
static bool lower_clip(const struct op_context *context, int32_t which,
                       struct cm_primitive *ret) {
    return take_both(context, ret) && lowering_scaled(ret, which, 0, 1);
}

static bool lower_gelu(const struct op_context *context, int32_t which,
                       struct cm_primitive *ret) {
    const bool by_tanh = text_equal(op_attr_string(context, "approximate"), "tanh");
    return lower_unary(context, by_tanh ? CM_GELU_TANH : which, ret);
}

/* alpha elu(x / alpha) */
static bool lower_celu(const struct op_context *context, int32_t which,
                       struct cm_primitive *ret) {
    const double alpha = op_attr_float(context, "alpha");
    if (alpha == 0) return false;
    return take_both(context, ret) && lowering_scaled(ret, CM_LINEAR, 1 / alpha, 0) &&
           lowering_scaled(ret, which, 1, 0) && lowering_scaled(ret, CM_LINEAR, alpha, 0);
}

/* gamma elu(x), with the alpha of the node */
static bool lower_selu(const struct op_context *context, int32_t which,
                       struct cm_primitive *ret) {
    return lower_scaled(context, which, ret) &&
           lowering_scaled(ret, CM_LINEAR, op_attr_float(context, "gamma"), 0);
}

/* x / (1 + |x|) */
static bool lower_softsign(const struct op_context *context, int32_t which,
                           struct cm_primitive *ret) {
    return lower_unary(context, which, ret) && lowering_scaled(ret, CM_LINEAR, 1, 1) &&
           lowering_step(ret, CM_RECIPROCAL, 0) && lowering_step(ret, CM_MULTIPLY, 0);
}

/* |x| against the largest number. */
static bool lower_is_inf(const struct op_context *context, int32_t which,
                         struct cm_primitive *ret) {
    return lower_unary(context, CM_ABS, ret) && lowering_step(ret, which, 0);
}

static bool lower_binary(const struct op_context *context, int32_t which,
                         struct cm_primitive *ret) {
    return lowering_take(context, 0, ret) && lowering_take(context, 1, ret) &&
           lowering_give(context, 0, ret) && lowering_step(ret, which, 1);
}

/* One after the other; of a single operand a copy. */
static bool lower_variadic(const struct op_context *context, int32_t which,
                           struct cm_primitive *ret) {
    if (context->n_inputs > CM_MAX_STEPS + 1) return false;
    for (size_t slot = 0; slot < context->n_inputs; slot++)
        if (!lowering_take(context, slot, ret) ||
            (slot > 0 && !lowering_step(ret, which, (int32_t)slot)))
            return false;
    if (context->n_inputs == 1) ret->kind = CM_COPY;
    return lowering_give(context, 0, ret);
}

static bool lower_mean(const struct op_context *context, int32_t which,
                       struct cm_primitive *ret) {
    if (!lower_variadic(context, which, ret)) return false;
    return context->n_inputs == 1 ||
           lowering_scaled(ret, CM_LINEAR, 1.0 / (double)context->n_inputs, 0);
}

/* swish(x), times the other operand */
static bool lower_gated(const struct op_context *context, int32_t which,
                        struct cm_primitive *ret) {
    return lowering_take(context, 0, ret) && lowering_take(context, 1, ret) &&
           lowering_give(context, 0, ret) &&
           lowering_scaled(ret, which, op_attr_float(context, "alpha"), 0) &&
           lowering_step(ret, CM_MULTIPLY, 1);
}

static bool lower_select(const struct op_context *context, int32_t which,
                         struct cm_primitive *ret) {
    return lowering_take(context, 0, ret) && lowering_take(context, 1, ret) &&
           lowering_take(context, 2, ret) && lowering_give(context, 0, ret) &&
           lowering_step(ret, which, 1);
}

/*
 * As it trains: what a mask says is kept, and scaled. The mask is read, a byte an element,
 * where a kernel that draws the numbers itself writes it: as many bytes. Drawing is not in it.
 */
static bool lower_dropout(const struct op_context *context, int32_t which,
                          struct cm_primitive *ret) {
    if (!take_both(context, ret)) return false;
    ret->inputs[1] = ret->inputs[0];
    ret->inputs[1].element = CM_BOOL;
    ret->n_inputs = 2;
    return lowering_step(ret, which, 1) && lowering_scaled(ret, CM_LINEAR, 1, 0);
}

/* clang-format off */
#define UNARY(type, function)    {type, lower_unary, CM_ELTWISE, function, IMAGES_FOLLOW, NULL}
#define BINARY(type, function)   {type, lower_binary, CM_ELTWISE, function, IMAGES_FOLLOW, NULL}
#define OTHER(type, lower, function, why) {type, lower, CM_ELTWISE, function, IMAGES_FOLLOW, why}
#define MANY "more than 5 operands, 4 of a mean, have no primitive"
const struct lowering_row lowering_elements[] = {
    UNARY("Abs",            CM_ABS),
    UNARY("Acos",           CM_ACOS),
    UNARY("Acosh",          CM_ACOSH),
    UNARY("Asin",           CM_ASIN),
    UNARY("Asinh",          CM_ASINH),
    UNARY("Atan",           CM_ATAN),
    UNARY("Atanh",          CM_ATANH),
    UNARY("BitwiseNot",     CM_NOT),
    UNARY("Cast",           CM_CAST),
    UNARY("CastLike",       CM_CAST),
    UNARY("Ceil",           CM_CEIL),
    UNARY("Cos",            CM_COS),
    UNARY("Cosh",           CM_COSH),
    UNARY("Erf",            CM_ERF),
    UNARY("Exp",            CM_EXP),
    UNARY("Floor",          CM_FLOOR),
    UNARY("HardSwish",      CM_HARD_SWISH),
    UNARY("Log",            CM_LOG),
    UNARY("Mish",           CM_MISH),
    UNARY("Neg",            CM_NEGATE),
    UNARY("Not",            CM_NOT),
    UNARY("Reciprocal",     CM_RECIPROCAL),
    UNARY("Relu",           CM_RELU),
    UNARY("Round",          CM_ROUND),
    UNARY("Sigmoid",        CM_SIGMOID),
    UNARY("Sign",           CM_SIGN),
    UNARY("Sin",            CM_SIN),
    UNARY("Sinh",           CM_SINH),
    UNARY("Softplus",       CM_SOFTPLUS),
    UNARY("Sqrt",           CM_SQRT),
    UNARY("Tan",            CM_TAN),
    UNARY("Tanh",           CM_TANH),
    BINARY("Add",            CM_ADD),
    BINARY("And",            CM_LOGIC),
    BINARY("BitShift",       CM_LOGIC),
    BINARY("BitwiseAnd",     CM_LOGIC),
    BINARY("BitwiseOr",      CM_LOGIC),
    BINARY("BitwiseXor",     CM_LOGIC),
    BINARY("Div",            CM_DIVIDE),
    BINARY("Equal",          CM_COMPARE),
    BINARY("Greater",        CM_COMPARE),
    BINARY("GreaterOrEqual", CM_COMPARE),
    BINARY("Less",           CM_COMPARE),
    BINARY("LessOrEqual",    CM_COMPARE),
    BINARY("Mod",            CM_MODULO),
    BINARY("Mul",            CM_MULTIPLY),
    BINARY("Or",             CM_LOGIC),
    BINARY("PRelu",          CM_PRELU),
    BINARY("Pow",            CM_POWER),
    BINARY("Sub",            CM_SUBTRACT),
    BINARY("Xor",            CM_LOGIC),
    OTHER("Celu",            lower_celu,     CM_ELU,          "an alpha of 0 has no primitive"),
    OTHER("Clip",            lower_clip,     CM_CLIP,         NULL),
    OTHER("Dropout",         lower_dropout,  CM_MULTIPLY,     NULL),
    OTHER("Elu",             lower_scaled,   CM_ELU,          NULL),
    OTHER("Gelu",            lower_gelu,     CM_GELU,         NULL),
    OTHER("HardSigmoid",     lower_scaled,   CM_HARD_SIGMOID, NULL),
    OTHER("IsInf",           lower_is_inf,   CM_COMPARE,      NULL),
    OTHER("IsNaN",           lower_unary,    CM_COMPARE,      NULL), /* against itself */
    OTHER("LeakyRelu",       lower_scaled,   CM_LEAKY_RELU,   NULL),
    OTHER("Max",             lower_variadic, CM_MAXIMUM,      MANY),
    OTHER("Mean",            lower_mean,     CM_ADD,          MANY),
    OTHER("Min",             lower_variadic, CM_MINIMUM,      MANY),
    OTHER("Selu",            lower_selu,     CM_ELU,          NULL),
    OTHER("Softsign",        lower_softsign, CM_ABS,          NULL),
    OTHER("Sum",             lower_variadic, CM_ADD,          MANY),
    OTHER("Swish",           lower_scaled,   CM_SWISH,        NULL),
    OTHER("SwiGLU",          lower_gated,    CM_SWISH,        NULL),
    OTHER("ThresholdedRelu", lower_scaled,   CM_THRESHOLD,    NULL),
    OTHER("Where",           lower_select,   CM_SELECT,       NULL),
    OTHER("com.microsoft:Gelu", lower_gelu,       CM_GELU,   NULL),
    OTHER("com.microsoft:QuickGelu", lower_scaled, CM_SWISH,  NULL),
    {NULL, NULL, 0, 0, IMAGES_NONE, NULL},
};
/* clang-format on */
