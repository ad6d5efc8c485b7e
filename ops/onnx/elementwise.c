/* SPDX-License-Identifier: Apache-2.0 */
/* Unary elementwise functions. MACs 0, FLOPs 0 by the default convention. Activations that are
 * framework modules are in activation.c. */
#include <math.h>
#include <stdint.h>

#include "ops/common.h"
#include "ops/fold.h"
#include "ops/onnx/facets.h"

/* Returns x rounded, halves to the even neighbour, in any rounding mode of the process. */
static double round_even(double x) {
    double down = floor(x);
    double rest = x - down;
    bool up = rest > 0.5 || (rest == 0.5 && fmod(down, 2) != 0);
    return up ? down + 1 : down;
}

/* clang-format off */
FOLD(abs,
     if (x->i == INT64_MIN) return false;
     ret->i = x->i < 0 ? -x->i : x->i;
     ret->r = fabs(x->r);
     return true;)
FOLD(neg, ret->r = -x->r; return !__builtin_sub_overflow(INT64_C(0), x->i, &ret->i);)
FOLD(sign,
     ret->i = (x->i > 0) - (x->i < 0);
     ret->r = (x->r > 0) - (x->r < 0);
     return !isnan(x->r);)
FOLD(floor, ret->r = floor(x->r); return ret->real;)
FOLD(ceil, ret->r = ceil(x->r); return ret->real;)
FOLD(round, ret->r = round_even(x->r); return ret->real;)
FOLD(sqrt, ret->r = sqrt(x->r); return ret->real;)
FOLD(reciprocal, ret->r = 1 / x->r; return ret->real;)

/* An elementary function with the facets besides EXACT and the primitive. */
#define FORM(name, from, folds, form, keeps, function, letters, ...)                           \
    {                                                                                          \
        SIGNATURE(ONNX, name, from, EXACT(.per_output = 1), LOWER_UNARY(function),             \
                  BOUNDS(letters), __VA_ARGS__),                                               \
        .infer = common_infer_same, .fold = folds, .memory = MEMORY_IN_PLACE,                  \
        .param_roles = "x", .algebra = form, .backward.saved_for_backward = keeps              \
    }
#define UNARY(name, from, folds, keeps, function, letters, ...)                                \
    FORM(name, from, folds, ALGEBRA_NONE, keeps, function, letters, __VA_ARGS__)
/* Instructions by onnx-tool. */
#define TOOL(n) ONNX_TOOL(.per_output = n)

static const struct op rows[] = {
    SINCE2(UNARY, Abs, 1, 6,   fold_abs,   "0", CM_ABS,   "p", TOOL(1)),
    SINCE2(FORM, Neg, 1, 6,    fold_neg,   ALGEBRA_NEGATIVE, "", CM_NEGATE, "f", TOOL(1)),
    UNARY(Sign, 9,             fold_sign,  "-", CM_SIGN,  "v", TOOL(1)),
    SINCE2(UNARY, Floor, 1, 6, fold_floor, "-", CM_FLOOR, "v", TOOL(1)),
    SINCE2(UNARY, Ceil, 1, 6,  fold_ceil,  "-", CM_CEIL,  "v", TOOL(1)),
    UNARY(Round, 11,           fold_round, "-", CM_ROUND, "v", TOOL(1)),
    SINCE2(FORM, Sqrt, 1, 6,       fold_sqrt,       ALGEBRA_ROOT,       "y", CM_SQRT, "v", TOOL(TOOL_SQRT)),
    SINCE2(FORM, Reciprocal, 1, 6, fold_reciprocal, ALGEBRA_RECIPROCAL, "y", CM_RECIPROCAL, "d", TOOL(TOOL_DIV), AUTOCAST(FLOAT)),
    SINCE2(UNARY, Exp, 1, 6, NULL, "y", CM_EXP,   "d", TOOL(TOOL_EXP), AUTOCAST(FLOAT)),
    SINCE2(UNARY, Log, 1, 6, NULL, "0", CM_LOG,   "d", TOOL(TOOL_LOG), AUTOCAST(FLOAT)),
    UNARY(Erf, 9,            NULL, "0", CM_ERF,   "d", AUTOCAST(BY_MACS)),
    UNARY(Sin, 7,            NULL, "0", CM_SIN,   "d", TOOL(TOOL_SIN)),
    UNARY(Cos, 7,            NULL, "0", CM_COS,   "d", TOOL(TOOL_SIN)),
    UNARY(Tan, 7,            NULL, "y", CM_TAN,   "d", AUTOCAST(FLOAT)),
    UNARY(Asin, 7,           NULL, "0", CM_ASIN,  "d", AUTOCAST(FLOAT)),
    UNARY(Acos, 7,           NULL, "0", CM_ACOS,  "d", AUTOCAST(FLOAT)),
    UNARY(Atan, 7,           NULL, "0", CM_ATAN,  "d", TOOL(2 * TOOL_ATAN)),
    UNARY(Sinh, 9,           NULL, "0", CM_SINH,  "d", AUTOCAST(FLOAT)),
    UNARY(Cosh, 9,           NULL, "0", CM_COSH,  "d", AUTOCAST(FLOAT)),
    UNARY(Asinh, 9,          NULL, "0", CM_ASINH, "d", AUTOCAST(BY_MACS)),
    UNARY(Acosh, 9,          NULL, "0", CM_ACOSH, "d", AUTOCAST(BY_MACS)),
    UNARY(Atanh, 9,          NULL, "0", CM_ATANH, "d", AUTOCAST(BY_MACS)),
};
/* clang-format on */

OP_FAMILY(elementwise, .declines = FACETS_RARE);
