/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One operand, one result for each element: mathematics. MACs 0, FLOPs 0 by the default
 * convention. Activations that are framework modules are in activation.c.
 */
#include <math.h>
#include <stdint.h>

#include "ops/common.h"
#include "ops/facets.h"
#include "ops/families.h"
#include "ops/fold.h"

#include "support/banned.h"

static bool number_abs(const struct op_context *context, size_t n, const struct number *x,
                       struct number *ret) {
    (void)context, (void)n;
    ret->r = fabs(x[0].r);
    if (x[0].i == INT64_MIN) return false;
    ret->i = x[0].i < 0 ? -x[0].i : x[0].i;
    return true;
}

static bool number_neg(const struct op_context *context, size_t n, const struct number *x,
                       struct number *ret) {
    (void)context, (void)n;
    ret->r = -x[0].r;
    return !__builtin_sub_overflow(INT64_C(0), x[0].i, &ret->i);
}

static bool number_sign(const struct op_context *context, size_t n, const struct number *x,
                        struct number *ret) {
    (void)context, (void)n;
    ret->i = (x[0].i > 0) - (x[0].i < 0);
    ret->r = (x[0].r > 0) - (x[0].r < 0);
    return !isnan(x[0].r);
}

static bool number_floor(const struct op_context *context, size_t n, const struct number *x,
                         struct number *ret) {
    (void)context, (void)n;
    ret->r = floor(x[0].r);
    return ret->real;
}

static bool number_ceil(const struct op_context *context, size_t n, const struct number *x,
                        struct number *ret) {
    (void)context, (void)n;
    ret->r = ceil(x[0].r);
    return ret->real;
}

/* Halves to the even neighbour, whatever the rounding mode of the process. */
static bool number_round(const struct op_context *context, size_t n, const struct number *x,
                         struct number *ret) {
    (void)context, (void)n;
    double down = floor(x[0].r);
    double rest = x[0].r - down;
    bool up = rest > 0.5 || (rest == 0.5 && fmod(down, 2) != 0);
    ret->r = up ? down + 1 : down;
    return ret->real;
}

static bool number_sqrt(const struct op_context *context, size_t n, const struct number *x,
                        struct number *ret) {
    (void)context, (void)n;
    ret->r = sqrt(x[0].r);
    return ret->real;
}

static bool number_reciprocal(const struct op_context *context, size_t n,
                              const struct number *x, struct number *ret) {
    (void)context, (void)n;
    ret->r = 1 / x[0].r;
    return ret->real;
}

#define FOLD(name)                                                                             \
    static int fold_##name(struct op_context *context) {                                       \
        return fold_elements(context, number_##name);                                          \
    }
FOLD(abs)
FOLD(neg)
FOLD(sign)
FOLD(floor)
FOLD(ceil)
FOLD(round)
FOLD(sqrt)
FOLD(reciprocal)
#undef FOLD

/* clang-format off */
FACETS(ONNX, Abs) {EXACT(.per_output = 1), ONNX_TOOL(.per_output = 1), LOWER_UNARY(CM_ABS), BOUNDS("p")};
FACETS(ONNX, Neg) {EXACT(.per_output = 1), ONNX_TOOL(.per_output = 1), LOWER_UNARY(CM_NEGATE), BOUNDS("f")};
FACETS(ONNX, Sign) {EXACT(.per_output = 1), ONNX_TOOL(.per_output = 1), LOWER_UNARY(CM_SIGN), BOUNDS("v")};
FACETS(ONNX, Floor) {EXACT(.per_output = 1), ONNX_TOOL(.per_output = 1), LOWER_UNARY(CM_FLOOR), BOUNDS("v")};
FACETS(ONNX, Ceil) {EXACT(.per_output = 1), ONNX_TOOL(.per_output = 1), LOWER_UNARY(CM_CEIL), BOUNDS("v")};
FACETS(ONNX, Round) {EXACT(.per_output = 1), ONNX_TOOL(.per_output = 1), LOWER_UNARY(CM_ROUND), BOUNDS("v")};
FACETS(ONNX, Sqrt) {EXACT(.per_output = 1), ONNX_TOOL(.per_output = TOOL_SQRT), LOWER_UNARY(CM_SQRT),
    BOUNDS("v")};
FACETS(ONNX, Reciprocal) {EXACT(.per_output = 1), ONNX_TOOL(.per_output = TOOL_DIV),
    LOWER_UNARY(CM_RECIPROCAL), BOUNDS("d")};
FACETS(ONNX, Exp) {EXACT(.per_output = 1), ONNX_TOOL(.per_output = TOOL_EXP), LOWER_UNARY(CM_EXP),
    BOUNDS("d")};
FACETS(ONNX, Log) {EXACT(.per_output = 1), ONNX_TOOL(.per_output = TOOL_LOG), LOWER_UNARY(CM_LOG),
    BOUNDS("d")};
FACETS(ONNX, Erf) {EXACT(.per_output = 1), LOWER_UNARY(CM_ERF), BOUNDS("d")};
FACETS(ONNX, Sin) {EXACT(.per_output = 1), ONNX_TOOL(.per_output = TOOL_SIN), LOWER_UNARY(CM_SIN),
    BOUNDS("d")};
FACETS(ONNX, Cos) {EXACT(.per_output = 1), ONNX_TOOL(.per_output = TOOL_SIN), LOWER_UNARY(CM_COS),
    BOUNDS("d")};
FACETS(ONNX, Tan) {EXACT(.per_output = 1), LOWER_UNARY(CM_TAN), BOUNDS("d")};
FACETS(ONNX, Asin) {EXACT(.per_output = 1), LOWER_UNARY(CM_ASIN), BOUNDS("d")};
FACETS(ONNX, Acos) {EXACT(.per_output = 1), LOWER_UNARY(CM_ACOS), BOUNDS("d")};
FACETS(ONNX, Atan) {EXACT(.per_output = 1), ONNX_TOOL(.per_output = 2 * TOOL_ATAN), LOWER_UNARY(CM_ATAN),
    BOUNDS("d")};
FACETS(ONNX, Sinh) {EXACT(.per_output = 1), LOWER_UNARY(CM_SINH), BOUNDS("d")};
FACETS(ONNX, Cosh) {EXACT(.per_output = 1), LOWER_UNARY(CM_COSH), BOUNDS("d")};
FACETS(ONNX, Asinh) {EXACT(.per_output = 1), LOWER_UNARY(CM_ASINH), BOUNDS("d")};
FACETS(ONNX, Acosh) {EXACT(.per_output = 1), LOWER_UNARY(CM_ACOSH), BOUNDS("d")};
FACETS(ONNX, Atanh) {EXACT(.per_output = 1), LOWER_UNARY(CM_ATANH), BOUNDS("d")};

#define UNARY(name, from, folds, keeps) FORM(name, from, folds, ALGEBRA_NONE, keeps)
#define FORM(name, from, folds, form, keeps)                                                   \
    {                                                                                          \
        SIGNATURE(ONNX, name, from), .infer = common_infer_same, .fold = folds,                \
        .memory = MEMORY_IN_PLACE, .param_roles = "x", .algebra = form,                        \
        .backward.saved_for_backward = keeps                                                   \
    }

static const struct op rows[] = {
    /*    type since fold      saved for backward */
    UNARY(Abs,    1, fold_abs, "0"),
    UNARY(Abs,    6, fold_abs, "0"),
    /*   type since fold      algebra           saved for backward */
    FORM(Neg,    1, fold_neg, ALGEBRA_NEGATIVE, ""),
    FORM(Neg,    6, fold_neg, ALGEBRA_NEGATIVE, ""),
    UNARY(Sign,   9, fold_sign,  "-"),
    UNARY(Floor,  1, fold_floor, "-"),
    UNARY(Floor,  6, fold_floor, "-"),
    UNARY(Ceil,   1, fold_ceil,  "-"),
    UNARY(Ceil,   6, fold_ceil,  "-"),
    UNARY(Round, 11, fold_round, "-"),
    FORM(Sqrt,       1, fold_sqrt,       ALGEBRA_ROOT,       "y"),
    FORM(Sqrt,       6, fold_sqrt,       ALGEBRA_ROOT,       "y"),
    FORM(Reciprocal, 1, fold_reciprocal, ALGEBRA_RECIPROCAL, "y"),
    FORM(Reciprocal, 6, fold_reciprocal, ALGEBRA_RECIPROCAL, "y"),
    UNARY(Exp,   1, NULL, "y"),
    UNARY(Exp,   6, NULL, "y"),
    UNARY(Log,   1, NULL, "0"),
    UNARY(Log,   6, NULL, "0"),
    UNARY(Erf,   9, NULL, "0"),
    UNARY(Sin,   7, NULL, "0"),
    UNARY(Cos,   7, NULL, "0"),
    UNARY(Tan,   7, NULL, "y"),
    UNARY(Asin,  7, NULL, "0"),
    UNARY(Acos,  7, NULL, "0"),
    UNARY(Atan,  7, NULL, "0"),
    UNARY(Sinh,  9, NULL, "0"),
    UNARY(Cosh,  9, NULL, "0"),
    UNARY(Asinh, 9, NULL, "0"),
    UNARY(Acosh, 9, NULL, "0"),
    UNARY(Atanh, 9, NULL, "0"),
};
/* clang-format on */

OP_FAMILY(elementwise, .declines = FACET_FOLD | FACET_ALGEBRA | FACET_MODULE | FACET_QDQ);
